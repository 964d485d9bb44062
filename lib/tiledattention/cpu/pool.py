"""Sharing work between threads.

Compiled kernels run outside of Python's lock, so Python's own threads will do. Nobody
waits for a thread that has not begun: whoever asks takes part in the work himself.
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
    """Return how many threads to use; None is as many as this process may.

    Parameters
    ----------
    threads : int, optional

    Returns
    -------
    int
    """
    if threads is None:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    return inputs.integer("threads", threads, 1, float("inf"), "a positive integer")


def share(work: Callable[[Task], None], tasks: Iterable[Task], threads: int) -> None:
    """Do some work for every task, in several threads; return when all is done.

    Parameters
    ----------
    work : function
        Of one task.
    tasks : iterable
        They are begun in this order.
    threads : int
        How many threads work at once, the one that calls included.
    """
    left = deque(tasks)

    def take() -> None:
        while left:
            try:
                task = left.popleft()
            except IndexError:  # another thread was faster
                return
            try:
                work(task)
            except BaseException:
                left.clear()  # the answer is lost: nobody needs the rest
                raise

    others = [HELPERS.submit(take) for _ in range(min(threads, len(left)) - 1)]
    try:
        take()
    finally:
        # One that has not begun finds nothing left to do, and is not waited for.
        begun = [other for other in others if not other.cancel()]
    for other in begun:
        other.result()
