"""Shares work between threads.

Compiled kernels release Python's lock, so Python's own threads will do. The thread that
calls works as well, so it never waits for a helper that has not started.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from onlinesoftmax import inputs

Task = TypeVar("Task")

HELPERS = ThreadPoolExecutor(max(os.cpu_count() or 1, 2), "onlinesoftmax")


def threads_of(threads: int | None) -> int:
    """Return how many threads to use; None is as many as this process may."""
    if threads is None:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    return inputs.integer("threads", threads, 1, float("inf"), "a positive integer")


def share(work: Callable[[Task], None], tasks: Iterable[Task], threads: int) -> None:
    """Run `work` on every task, in up to `threads` threads; return when all are done.

    The tasks start in this order, and the calling thread is one of the threads.
    """
    waiting = deque(tasks)

    def run() -> None:
        while waiting:
            try:
                task = waiting.popleft()
            except IndexError:  # another thread was faster
                return
            try:
                work(task)
            except BaseException:
                waiting.clear()  # the answer is lost, so the other tasks are useless
                raise

    helpers = [HELPERS.submit(run) for _ in range(min(threads, len(waiting)) - 1)]
    try:
        run()
    finally:
        # Helpers that have not started are cancelled: there is no work left for them.
        started = [helper for helper in helpers if not helper.cancel()]
    for helper in started:
        helper.result()
