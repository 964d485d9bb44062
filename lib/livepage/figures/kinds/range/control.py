"""A number between two ends: a slider with a number box, perhaps also a handle."""

from dataclasses import dataclass

import traitlets

from ...control import Control, is_number


@dataclass(frozen=True)
class Range(Control):
    """A number from `low` to `high`, in steps from `low` on."""

    low: float
    high: float
    step: float = 1

    def fault(self, value: object) -> str | None:
        if is_number(value) and self.low <= value <= self.high:
            return None
        return f"a number from {self.low} to {self.high}"

    def trait(self) -> traitlets.TraitType:
        whole = all(isinstance(x, int) for x in (self.low, self.step, self.default))
        number = traitlets.Int if whole else traitlets.Float
        return number(self.default, min=self.low, max=self.high)
