# A type checker cannot see the kinds of controls, because the module finds them in their
# folders when it runs. The list here is for type checkers only, and a test keeps it
# complete.

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .control import Control
from .kinds.again.control import Again as Again
from .kinds.choice.control import Choice as Choice
from .kinds.data.control import Numbers as Numbers
from .kinds.evidence.control import Evidence as Evidence
from .kinds.film.control import Film as Film
from .kinds.log.control import Log as Log
from .kinds.menu.control import Menu as Menu
from .kinds.pairs.control import Pairs as Pairs
from .kinds.pick.control import Pick as Pick
from .kinds.range.control import Range as Range
from .kinds.row.control import Row as Row
from .kinds.step.control import Step as Step
from .kinds.toggle.control import Toggle as Toggle
from .kinds.typed.control import Typed as Typed

Values = dict[str, Any]

@dataclass(frozen=True)
class Prediction:
    answer: int
    shown_by: tuple[Values, ...]

@dataclass(frozen=True)
class Spec:
    controls: tuple[Control, ...]
    expected: Callable[[Values], Values]
    states: Callable[[np.random.Generator], Iterable[Values]]
    still: Values = ...
    prediction: Prediction | None = None
    below: tuple[str, ...] = ()
    presets: tuple[Values, ...] = ()
    pace: int = 1600
    constants: Values = ...
    loads: Callable[[], Values] | None = None
    room: float = 0.0
    def defaults(self) -> Values: ...
    def evidence(self) -> Values: ...
    def check(self, figure: str, changes: Mapping[str, object]) -> None: ...
    def for_host(self, figure: str) -> Values: ...
