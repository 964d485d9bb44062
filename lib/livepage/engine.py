"""V8 without a browser, one for the process: it draws stills and reads modules."""

import asyncio
import atexit
import threading
from functools import cache
from typing import Any

lock = threading.RLock()  # held by whoever calls into the engine


@cache
def engine() -> Any:
    """Return the engine of the process."""
    started = new_engine()
    atexit.register(started.close)  # left to the interpreter's own end, it may hang
    return started


def new_engine() -> Any:
    """Return another engine, with an event loop of its own.

    It has to be closed in the thread that made it: elsewhere that ends the process on
    processors with memory protection keys.
    """
    from py_mini_racer import MiniRacer  # late, because readers' notebooks go without

    # V8 would take a loop that runs in this thread, and wait there for a call that never
    # comes. Playwright leaves its own marked so between its calls.
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        return MiniRacer()
    finally:
        asyncio._set_running_loop(running)
