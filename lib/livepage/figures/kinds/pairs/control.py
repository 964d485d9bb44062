"""Which two things were brought together, one pair after another: "AB.CD".

A button for each thing, and the same things in the picture, to tap or to drag.
"""

import re
from dataclasses import dataclass

import traitlets

from ...control import Control

PAIRS = re.compile(r"([A-Z]{2}(\.[A-Z]{2})*)?")


@dataclass(frozen=True)
class Pairs(Control):
    """Pairs of capital letters, with points between them."""

    default: str = ""

    def fault(self, value: object) -> str | None:
        fits = isinstance(value, str) and PAIRS.fullmatch(value)
        return None if fits else "pairs of capital letters, such as 'AB.CD'"

    def trait(self) -> traitlets.TraitType:
        return traitlets.Unicode(self.default)
