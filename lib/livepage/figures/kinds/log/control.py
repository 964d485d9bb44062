"""What a kernel did, as the block simulator records it; the reader has no input."""

from dataclasses import dataclass

import traitlets

from ...control import Control


@dataclass(frozen=True)
class Log(Control):
    """A log of the block simulator."""

    offered = False

    def fault(self, value: object) -> str | None:
        return None if isinstance(value, dict) else "a log of the block simulator"

    def trait(self) -> traitlets.TraitType:
        return traitlets.Dict(default_value=self.default)
