"""Numbers the author may give; the reader has no input for them."""

from dataclasses import dataclass

import traitlets

from ...control import Control, is_number


@dataclass(frozen=True)
class Numbers(Control):
    """A list of at least one number."""

    offered = False

    def fault(self, value: object) -> str | None:
        numbers = isinstance(value, (list, tuple)) and all(map(is_number, value))
        return None if numbers and len(value) else "a list of at least one number"

    def trait(self) -> traitlets.TraitType:
        return traitlets.List(traitlets.Float(), list(self.default))
