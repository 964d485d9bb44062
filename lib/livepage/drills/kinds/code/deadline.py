"""Stops a reader's function when its time is over.

The function runs in a thread of its own, because on every system, and in notebooks, an
exception can be raised in a thread from outside. Code that never returns to Python, such
as a sum over an endless iterator in C, cannot be stopped that way. It is left running,
and the caller is informed.
"""

from __future__ import annotations

import contextvars
import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any

STACK_BYTES = (
    64 << 20
)  # so deep recursion ends in Python's RecursionError, not in a crash
PATIENCE_S = 1.0  # for a thread that should end


class OutOfTime(BaseException):
    """The time is over. An `except Exception` in the reader's code does not catch this.

    Attributes
    ----------
    ended : bool
        Whether the thread has ended.
    """

    ended = True


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """Return what `work` returns, or raise `OutOfTime`.

    Parameters
    ----------
    seconds : float
    work : callable
        Called without arguments, in a thread where the system has threads.
    """
    box: dict[str, Any] = {}

    def run() -> None:
        try:
            box["result"] = work()
        except BaseException as error:  # raised again below
            box["error"] = error

    thread = _thread(run)
    try:
        thread.start()
    except RuntimeError:  # no threads, as in a browser: no limit
        return work()
    try:
        thread.join(seconds)
    finally:
        late = thread.is_alive()
        ended = _end(thread)
    if late:
        error = OutOfTime()
        error.ended = ended
        raise error
    if "error" in box:
        raise box["error"]
    return box["result"]


def _thread(run: Callable[[], None]) -> threading.Thread:
    """Return a thread with a large stack that prints to the output of its cell."""
    context = contextvars.copy_context()
    before = threading.stack_size(STACK_BYTES)
    thread = threading.Thread(target=context.run, args=(run,), daemon=True)
    original = thread.start

    def start() -> None:
        try:
            original()
        finally:
            threading.stack_size(before)

    thread.start = start  # type: ignore[method-assign]
    return thread


def _end(thread: threading.Thread) -> bool:
    """Raise `OutOfTime` in a thread until it ends; return whether it ended."""
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    until = time.monotonic() + PATIENCE_S
    while thread.is_alive() and time.monotonic() < until:
        raise_in(ctypes.c_ulong(thread.ident), ctypes.py_object(OutOfTime))
        thread.join(0.02)
    return not thread.is_alive()
