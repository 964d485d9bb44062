"""Compiles the kernels, once for each kind of machine, and caches them on disk."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from hashlib import sha256
from pathlib import Path
from threading import Lock, Timer
from typing import Any

from numba import njit

from tiledattention.cpu.lanes import MACHINE

LOCK, ANNOUNCED = Lock(), set[str]()  # the kernels whose compilation was announced
PATIENCE = 0.5  # seconds until a compilation is announced
ANNOUNCEMENT = (
    "tiledattention.cpu: compiling {name} for {machine}, once; it takes some seconds"
)


def edition() -> str:
    """Return a digest of this package's source."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


EDITION = edition()
# Functions that kernels call are inlined into them; there x / 0 is no error.
inner = njit(error_model="numpy", forceinline=True)


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs compiled, without Python's lock.

    The first call compiles and caches the result on disk; a line on stderr says so.
    """
    compiled = njit(nogil=True, cache=True, error_model="numpy")(function)
    # Numba compiles again when the function's own file changes. A kernel is built from
    # other files of the package as well, so the cache depends on all of them.
    compiled._cache._cache_file._source_stamp = EDITION
    ready = False

    @wraps(function)
    def run(*arguments: Any) -> Any:
        nonlocal ready
        if ready:
            return compiled(*arguments)
        with announced(function.__name__):
            answer = compiled(*arguments)
        ready = True
        return answer

    run.compiled = compiled  # type: ignore[attr-defined]
    return run


def announce(name: str) -> None:
    """Say on stderr that a kernel is being compiled."""
    text = ANNOUNCEMENT.format(name=name, machine=MACHINE.name)
    with LOCK:
        if name not in ANNOUNCED:
            print(f"{text}\n", end="", file=sys.stderr, flush=True)  # in one piece
            ANNOUNCED.add(name)


@contextmanager
def announced(name: str) -> Iterator[None]:
    """Announce a compilation if it takes long, once for all threads that wait for it."""
    timer = Timer(PATIENCE, announce, [name])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
