# The types of the public names; see the stub of blocksim for why they are in a stub.

from collections.abc import Callable, Sequence
from typing import Any

from . import Kernel, _Extents

class NoDevice(ValueError): ...

class Refused(ValueError):
    line: int | None
    reason: str
    def __init__(self, line: int | None, reason: str) -> None: ...

class Device:
    name: str
    software: bool
    shared: int
    threads: int
    largest: int
    info: dict[str, str]
    tick: float
    turns: int

class Launch:
    def __init__(
        self,
        kernel: Kernel | Callable[..., Any],
        grid: _Extents,
        block: _Extents,
        arguments: Sequence[Any],
        shared: int = 0,
        on: Device | None = None,
        held: dict[Any, Any] | None = None,
    ) -> None: ...
    def go(self) -> None: ...
    def fetch(self) -> None: ...
    def free(self) -> None: ...

def run(
    kernel: Kernel | Callable[..., Any],
    grid: _Extents,
    block: _Extents,
    *arguments: Any,
    shared: int = 0,
) -> None: ...
def device() -> Device: ...
