"""On or off: a check box."""

from dataclasses import dataclass

import traitlets

from ...control import Control


@dataclass(frozen=True)
class Toggle(Control):
    """True or False."""

    default: bool = False

    def fault(self, value: object) -> str | None:
        return None if isinstance(value, bool) else "True or False"

    def trait(self) -> traitlets.TraitType:
        return traitlets.Bool(self.default)
