"""Numbers the reader may change one at a time: which one, then a slider for it.

The picture may have a handle for each; see `host/drag.mjs`.
"""

from dataclasses import dataclass

from ..data.control import Numbers


@dataclass(frozen=True)
class Row(Numbers):
    """A list of 1 to `most` numbers from `low` to `high`."""

    low: float
    high: float
    step: float = 1
    most: int = 8
    offered = True

    def fault(self, value: object) -> str | None:
        fits = super().fault(value) is None and len(value) <= self.most
        if fits and all(self.low <= number <= self.high for number in value):
            return None
        return f"a list of 1 to {self.most} numbers from {self.low} to {self.high}"
