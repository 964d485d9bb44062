"""Ends a launch that takes too long, wherever it is."""

import ctypes
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from blocksim.faults import Fault

Result = TypeVar("Result")
TEXT = "kernel as the simulator runs it"  # the file name of its code


class TooLong(Fault):
    """A launch took longer than the policy allows."""


class Alarm(BaseException):
    """Raised in the thread that launches; nothing that a kernel runs catches it."""


def within(seconds: float, run: Callable[[], Result], name: str) -> Result:
    """Return what a function returns; raise TooLong if it takes longer than this.

    A loop of a kernel may run without coming back to the simulator, so another thread
    raises the exception.
    """
    thread, lock, ended = threading.get_ident(), threading.Lock(), False

    def ring() -> None:
        with lock:
            if not ended:
                _raise(thread, ctypes.py_object(Alarm))

    timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), ring)
    timer.daemon = True
    try:
        timer.start()
        try:
            return run()
        finally:
            timer.cancel()
            with lock:
                ended = True
            _raise(thread, None)  # an alarm that rang and was not heard yet
    except Alarm as alarm:
        thread_name, line = _where(alarm)
        text = f"{name} ran for more than {seconds:g} seconds{thread_name}"
    raise TooLong("endless", text, line)


def _raise(thread: int, kind: Any) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), kind)


def _where(alarm: Alarm) -> tuple[str, int | None]:
    """Return which thread of the kernel ran, and at which line."""
    entry = alarm.__traceback__
    found: tuple[str, int | None] = "", None
    while entry is not None:
        if entry.tb_frame.f_code.co_filename == TEXT:
            gpu = entry.tb_frame.f_globals["__rt"]
            found = f": {gpu._launch.here(gpu._launch.thread)}", gpu._line or None
        entry = entry.tb_next
    return found
