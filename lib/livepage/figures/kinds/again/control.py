"""A button that asks for another sample: it counts from `low` to `high` and round."""

from dataclasses import dataclass
from typing import Any

import traitlets

from ...control import Control


@dataclass(frozen=True)
class Again(Control):
    """The number of a sample.

    `when` names another control and the value at which the button makes sense.
    """

    default: int
    low: int
    high: int
    when: tuple[str, Any] | None = None

    def fault(self, value: object) -> str | None:
        whole = isinstance(value, int) and self.low <= value <= self.high
        return None if whole else f"an integer from {self.low} to {self.high}"

    def trait(self) -> traitlets.TraitType:
        return traitlets.Int(self.default, min=self.low, max=self.high)
