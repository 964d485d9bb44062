"""What every kind of control has. Each kind has a folder of its own in `kinds/`."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from traitlets import TraitType


@dataclass(frozen=True)
class Control:
    """One part of a figure's state.

    Attributes
    ----------
    kind : str
        The folder of its class, which the host knows it by.
    offered : bool
        Whether the reader has an input for it, and `strings.json` a label.
    """

    name: str
    default: Any
    kind: ClassVar[str]
    offered: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        cls.kind = cls.__module__.split(".")[-2]

    def fault(self, value: object) -> str | None:
        """What was expected instead of `value`; None if it will do."""
        raise NotImplementedError

    def trait(self) -> TraitType:
        """What holds it in a notebook."""
        raise NotImplementedError


def is_number(value: object) -> bool:
    """Whether a value is a number that can be compared: no truth value, no NaN."""
    return isinstance(value, (int, float)) and not (
        isinstance(value, bool) or math.isnan(value)
    )
