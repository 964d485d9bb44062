"""How far a figure has got: Prev, Play, Next, and a slider, under the picture."""

from dataclasses import dataclass

import traitlets

from ...control import Control


@dataclass(frozen=True)
class Step(Control):
    """An integer from 0 to `steps`, which is one of the figure's numbers."""

    default: int = 0

    def fault(self, value: object) -> str | None:
        whole = isinstance(value, int) and not isinstance(value, bool)
        return None if whole and value >= 0 else "an integer of at least 0"

    def trait(self) -> traitlets.TraitType:
        return traitlets.Int(self.default, min=0)
