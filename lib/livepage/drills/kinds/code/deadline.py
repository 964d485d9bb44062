"""A reader's function may never end; here it is ended when its time is over.

What runs is put into a thread of its own, because an exception can be raised in a
thread from outside, on every system and in a notebook too. Only what never comes back
to Python, such as a sum over an endless iterator in C, cannot be ended like that: it is
left behind, and the caller is told.
"""

from __future__ import annotations

import contextvars
import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any

STACK_BYTES = 64 << 20  # a deep recursion is Python's to refuse, not the system's
PATIENCE_S = 1.0  # for a thread that is told to end


class OutOfTime(BaseException):
    """The time is over. No `except Exception` of the reader's catches it.

    Attributes
    ----------
    ended : bool
        Whether what ran has ended.
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
        except BaseException as error:  # whatever it is, it is raised below
            box["error"] = error

    thread = _thread(run)
    try:
        thread.start()
    except RuntimeError:  # no threads, as in a browser: then without a limit
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
    """Return a thread that prints where its cell does, and has room for recursion."""
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
    """Raise `OutOfTime` in a thread until it ends; say whether it did."""
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    until = time.monotonic() + PATIENCE_S
    while thread.is_alive() and time.monotonic() < until:
        raise_in(ctypes.c_ulong(thread.ident), ctypes.py_object(OutOfTime))
        thread.join(0.02)
    return not thread.is_alive()
