"""V8 without a browser, one for the process: it draws stills and reads modules."""

import atexit
import threading
from functools import cache
from typing import Any

lock = threading.RLock()  # held by whoever calls into the engine


@cache
def engine() -> Any:
    """Return the engine; imported late, because readers' notebooks go without."""
    from py_mini_racer import MiniRacer

    started = MiniRacer()
    atexit.register(started.close)  # left to the interpreter's own end, it may hang
    return started
