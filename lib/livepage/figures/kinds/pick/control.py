"""One of the things in the picture: a menu of them, and the things, to point at."""

from dataclasses import dataclass

import traitlets

from ...control import Control


@dataclass(frozen=True)
class Pick(Control):
    """The key of one thing in the picture; empty: of none."""

    default: str = ""
    hover: bool = True  # whether a mouse picks by pointing; otherwise it has to click

    def fault(self, value: object) -> str | None:
        return None if isinstance(value, str) else "the key of a thing, as text"

    def trait(self) -> traitlets.TraitType:
        return traitlets.Unicode(self.default)
