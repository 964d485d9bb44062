"""V8, for what a page's scripts do without a page."""

from concurrent.futures import ThreadPoolExecutor

from py_mini_racer import MiniRacer


def engine() -> MiniRacer:
    """Return a V8 with an event loop of its own.

    Playwright leaves its loop marked as the one that runs in this thread, between its
    calls too. V8 would take it, and wait there for a call that never comes. A thread in
    which nobody has opened a browser has no loop, so V8 makes one.
    """
    with ThreadPoolExecutor(1) as other:
        return other.submit(MiniRacer).result()
