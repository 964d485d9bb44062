# The types of the public names; see the stub of blocksim for why they are in a stub.

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import Kernel, _Extents

__all__ = [
    "FAR",
    "STAND_IN",
    "Untranslatable",
    "cut",
    "explained",
    "kinds_of",
    "translate",
    "words",
]

FAR: float
STAND_IN: float

_Kind = str | tuple[str, str, int]

class Untranslatable(ValueError):
    line: int
    reason: str
    instead: str
    def __init__(self, line: int, reason: str, instead: str = "") -> None: ...

def translate(
    kernel: Kernel | Callable[..., Any],
    block: _Extents,
    kinds: Sequence[_Kind],
    shared: int = 0,
    subgroup: int = 0,
    uniform: Iterable[int] = (),
    ieee: bool = False,
) -> dict[str, Any]: ...
def words(
    made: dict[str, Any], grid: _Extents, arguments: Iterable[Any], first: int = 0
) -> list[int]: ...
def kinds_of(
    kernel: Kernel | Callable[..., Any], arguments: Iterable[Any]
) -> list[_Kind]: ...
def explained(
    made: dict[str, Any], messages: Iterable[tuple[str, str, int]]
) -> list[dict[str, Any]]: ...
def cut(value: float) -> float: ...
