"""What a figure lets its reader change, and what it asks first.

A folder's `figure.py` says it once, with these classes, as `SPEC`; inputs on the page,
traits in a notebook, the address and the checks of an author's arguments follow.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

Values = dict[str, Any]
PAIRS = re.compile(r"([A-Z]{2}(\.[A-Z]{2})*)?")


@dataclass(frozen=True)
class Control:
    """One part of a figure's state. `kind` names its input in `host/controls.mjs`."""

    name: str
    default: Any

    def fault(self, value: object) -> str | None:
        """What is wrong with `value`: what was expected; None if it will do."""
        return None


@dataclass(frozen=True)
class Range(Control):
    """A number between two ends: a slider with a number box, perhaps also a handle."""

    low: float
    high: float
    step: float = 1
    kind = "range"

    def fault(self, value: object) -> str | None:
        if _is_number(value) and self.low <= value <= self.high:
            return None
        return f"a number from {self.low} to {self.high}"


@dataclass(frozen=True)
class Choice(Control):
    """One of a few values: radio buttons."""

    of: tuple
    kind = "choice"

    def fault(self, value: object) -> str | None:
        return None if value in self.of else f"one of {list(self.of)}"


@dataclass(frozen=True)
class Toggle(Control):
    """On or off: a check box."""

    default: bool = False
    kind = "toggle"

    def fault(self, value: object) -> str | None:
        return None if isinstance(value, bool) else "True or False"


@dataclass(frozen=True)
class Step(Control):
    """How far the figure has got, 0 … `numbers.steps`: Prev, Play, Next, a slider."""

    default: int = 0
    kind = "step"

    def fault(self, value: object) -> str | None:
        whole = isinstance(value, int) and not isinstance(value, bool)
        return None if whole and value >= 0 else "an integer of at least 0"


@dataclass(frozen=True)
class Again(Control):
    """A button that asks for another sample: counts from `low` to `high` and round.

    `when` names another control and the value at which the button makes sense.
    """

    default: int
    low: int
    high: int
    when: tuple[str, Any] | None = None
    kind = "again"

    def fault(self, value: object) -> str | None:
        whole = isinstance(value, int) and self.low <= value <= self.high
        return None if whole else f"an integer from {self.low} to {self.high}"


@dataclass(frozen=True)
class Scores(Control):
    """Numbers the author may give; the reader has no input for them."""

    kind = "data"

    def fault(self, value: object) -> str | None:
        numbers = isinstance(value, (list, tuple)) and all(map(_is_number, value))
        return None if numbers and len(value) else "a list of at least one number"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not (
        isinstance(value, bool) or math.isnan(value)
    )


@dataclass(frozen=True)
class Log(Control):
    """What a kernel did, as the block simulator tells it; the reader has no input."""

    kind = "log"

    def fault(self, value: object) -> str | None:
        return None if isinstance(value, dict) else "a log of the block simulator"


@dataclass(frozen=True)
class Row(Scores):
    """Numbers the reader may change one at a time: which one, then a slider for it.

    The picture may have a handle for each; see `host/drag.mjs`.
    """

    low: float
    high: float
    step: float = 1
    most: int = 8
    kind = "row"

    def fault(self, value: object) -> str | None:
        fits = super().fault(value) is None and len(value) <= self.most
        if fits and all(self.low <= number <= self.high for number in value):
            return None
        return f"a list of 1 to {self.most} numbers from {self.low} to {self.high}"


@dataclass(frozen=True)
class Pairs(Control):
    """Which two things were brought together, one pair after another: "AB.CD".

    A button for each thing, and the same things in the picture; see `host/pick.mjs`.
    """

    default: str = ""
    kind = "pairs"

    def fault(self, value: object) -> str | None:
        fits = isinstance(value, str) and PAIRS.fullmatch(value)
        return None if fits else "pairs of capital letters, such as 'AB.CD'"


@dataclass(frozen=True)
class Prediction:
    """The question the reader answers before the controls unlock.

    Its words are in `strings.json`: `ask`, `options`, `hints` (why each wrong option
    tempts; null for the right one) and `because`.

    Attributes
    ----------
    answer : int
        Which option is right.
    shown_by : tuple of dict
        For each option the state that settles it: refutes a wrong one, shows the right.
    """

    answer: int
    shown_by: tuple[Values, ...]


@dataclass(frozen=True)
class Spec:
    """A figure, without its drawing.

    Attributes
    ----------
    controls : tuple of Control
        The whole state, in the order the inputs stand.
    still : dict
        The state that makes the figure's point in print.
    prediction : Prediction or None
        What the reader predicts first.
    presets : tuple of dict
        Changes that buttons make; their names are `presets` in `strings.json`.
    expected : callable
        The lib's numbers for a state: what `compute` must give, by name.
    states : callable
        States to compare at, nasty ones included, from a random generator.
    pace : int
        Milliseconds between two steps when playing.
    """

    controls: tuple[Control, ...]
    expected: Callable[[Values], Values]
    states: Callable[[np.random.Generator], Iterator[Values]]
    still: Values = field(default_factory=dict)
    prediction: Prediction | None = None
    presets: tuple[Values, ...] = ()
    pace: int = 1600

    def defaults(self) -> Values:
        return {control.name: control.default for control in self.controls}

    def check(self, figure: str, changes: Mapping[str, object]) -> None:
        """Raise a ValueError that names the first control which cannot be so."""
        known = {control.name: control for control in self.controls}
        for name, value in changes.items():
            if name not in known:
                has = ", ".join(known)
                raise ValueError(f"figure {figure!r} has no {name!r}: it has {has}")
            wanted = known[name].fault(value)
            if wanted:
                raise ValueError(
                    f"figure {figure!r}: {name} is {value!r}, expected {wanted}"
                )

    def for_host(self, figure: str) -> Values:
        """The part of it that the host reads, as plain data."""
        return {
            "id": figure,
            "controls": [{"kind": c.kind, **asdict(c)} for c in self.controls],
            "still": self.still,
            "prediction": asdict(self.prediction) if self.prediction else None,
            "presets": self.presets,
            "pace": self.pace,
        }
