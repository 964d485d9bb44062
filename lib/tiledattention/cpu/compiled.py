"""Compiling the kernels: once for a machine, then kept on disk."""

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

LOCK, ANNOUNCED = Lock(), set[str]()  # the kernels of which it was said
PATIENCE = 0.5  # seconds until a compilation is announced
ANNOUNCEMENT = (
    "tiledattention.cpu: compiling {name} for {machine}, once; it takes some seconds"
)


def edition() -> str:
    """Return a digest of this package's source."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


EDITION = edition()
# What kernels call becomes part of them; x / 0 is no error there.
inner = njit(error_model="numpy", forceinline=True)


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs compiled, free of Python's lock.

    The first call compiles, and keeps the result on disk; a line on stderr says so.

    Parameters
    ----------
    function : function

    Returns
    -------
    function
    """
    compiled = njit(nogil=True, cache=True, error_model="numpy")(function)
    # Numba compiles again if the function's own file has changed. A kernel is made of
    # other files as well, so the whole package stands for it.
    compiled._cache._cache_file._source_stamp = EDITION

    @wraps(function)
    def run(*given: Any) -> Any:
        if compiled.nopython_signatures:
            return compiled(*given)
        with announced(function.__name__):
            return compiled(*given)

    run.compiled = compiled  # type: ignore[attr-defined]
    return run


def announce(name: str) -> None:
    """Say on stderr that a kernel is being compiled.

    Parameters
    ----------
    name : str
        Of the kernel.
    """
    text = ANNOUNCEMENT.format(name=name, machine=MACHINE.name)
    with LOCK:
        if name not in ANNOUNCED:
            print(f"{text}\n", end="", file=sys.stderr, flush=True)  # in one piece
            ANNOUNCED.add(name)


@contextmanager
def announced(name: str) -> Iterator[None]:
    """Say on stderr what is being compiled, if that takes its time.

    It is said once, however many threads wait for the same kernel.

    Parameters
    ----------
    name : str
        Of the kernel.
    """
    timer = Timer(PATIENCE, announce, [name])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
