"""One of a few values: radio buttons."""

from dataclasses import dataclass

import traitlets

from ...control import Control


@dataclass(frozen=True)
class Choice(Control):
    """One of the values `of`."""

    of: tuple

    def fault(self, value: object) -> str | None:
        return None if value in self.of else f"one of {list(self.of)}"

    def trait(self) -> traitlets.TraitType:
        return traitlets.Enum(self.of, self.default)
