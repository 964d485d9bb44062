"""V8 without a browser, one engine for each process: it draws stills and parses modules."""

import asyncio
import atexit
import threading
from functools import cache
from typing import Any

lock = threading.RLock()  # a thread holds the lock while it calls into the engine


@cache
def engine() -> Any:
    """Return the engine of the process."""
    v8 = new_engine()
    atexit.register(v8.close)  # an engine left open may hang the interpreter's exit
    return v8


def new_engine() -> Any:
    """Return another engine, with an event loop of its own.

    The thread that created an engine has to close it. On processors with memory
    protection keys, closing an engine in another thread kills the process.
    """
    from py_mini_racer import MiniRacer  # late: readers' notebooks run without V8

    # MiniRacer would use a loop that is marked as running in this thread, and then wait
    # forever for a callback. Playwright leaves its loop marked as running between calls.
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        return MiniRacer()
    finally:
        asyncio._set_running_loop(running)
