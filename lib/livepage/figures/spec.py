"""What a figure lets its reader change, and what it asks first.

A folder's `figure.py` says it once, with these classes, as `SPEC`; inputs on the page,
traits in a notebook, the address and the checks of an author's arguments follow.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from . import kinds
from .control import Control

Values = dict[str, Any]


def __getattr__(name: str) -> type[Control]:
    """The kinds of controls stand here too: `from ..spec import Range, Step`."""
    found = {} if name.startswith("_") else kinds.classes()
    if name not in found:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found[name]


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
    below : tuple of str
        Controls whose inputs stand under the picture: they matter less than it does.
    presets : tuple of dict
        Changes that buttons make; their names are `presets` in `strings.json`.
    expected : callable
        The lib's numbers for a state: what `compute` must give, by name.
    states : callable
        States to compare at, nasty ones included, from a random generator.
    pace : int
        Milliseconds between two steps when playing.
    constants : dict
        What the drawing imports from "livepage/constants", by name: numbers that it and
        `expected` have to agree on.
    loads : callable, optional
        What `loaded.mjs` imports from "livepage/data", by name.
    room : float
        By how much `compute` may differ from `expected`, beside the last digits: where
        the two add long rows of numbers in another order.
    """

    controls: tuple[Control, ...]
    expected: Callable[[Values], Values]
    states: Callable[[np.random.Generator], Iterable[Values]]
    still: Values = field(default_factory=dict)
    prediction: Prediction | None = None
    below: tuple[str, ...] = ()
    presets: tuple[Values, ...] = ()
    pace: int = 1600
    constants: Values = field(default_factory=dict)
    loads: Callable[[], Values] | None = None
    room: float = 0.0

    def defaults(self) -> Values:
        return {control.name: control.default for control in self.controls}

    def evidence(self) -> Values:
        """What is shown once the question is answered."""
        return {c.name: True for c in self.controls if c.kind == "evidence"}

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
            **({"below": self.below} if self.below else {}),
        }
