"""What settles the question, such as all that was measured: no input."""

from dataclasses import dataclass
from typing import ClassVar

import traitlets

from ...control import Control


@dataclass(frozen=True)
class Evidence(Control):
    """False until the question is answered or skipped, and True from then on."""

    default: bool = False
    offered: ClassVar[bool] = False

    def fault(self, value: object) -> str | None:
        return None if isinstance(value, bool) else "True or False"

    def trait(self) -> traitlets.TraitType:
        return traitlets.Bool(self.default)
