"""A short text that the reader types."""

from dataclasses import dataclass

import traitlets

from ...control import Control


@dataclass(frozen=True)
class Typed(Control):
    """A text of one to `most` of the `letters`.

    A text that the reader changes sets the control `rewinds` back to 0.
    """

    letters: str
    most: int = 40
    rewinds: str | None = None

    def fault(self, value: object) -> str | None:
        fits = isinstance(value, str) and 0 < len(value) <= self.most
        if fits and set(value) <= set(self.letters):
            return None
        return f"a text of 1 to {self.most} of the letters {self.letters!r}"

    def trait(self) -> traitlets.TraitType:
        return traitlets.Unicode(self.default)
