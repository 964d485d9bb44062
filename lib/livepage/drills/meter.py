"""Sees whether a function takes more memory the further a stream goes.

Like ``grader.py`` this runs in CPython and in the page's MicroPython, where the drills
that stream import it. The two Pythons let memory go in different ways:

* CPython frees at once what nobody holds. So what is held late in the stream is
  compared with what is held early.
* MicroPython frees nothing while the page runs an answer, but it counts what is asked
  for. So the last quarter, with all that is done after it, is compared with the second:
  an answer that has kept the stream goes through it once more at the end, and asks for
  memory for each number on that way.
"""

import gc
import sys

HELD = 10  # bytes for each place; a number in a list takes 32, or 8 in an array
CALL = 100  # bytes that a call takes, at least, while it waits for another
ASKED = 1.25  # an answer that carries three numbers asks for as much in each quarter
SLACK = 2000  # bytes
TRIES = 3  # in a notebook other threads may take memory at the same moment
TOO_DEEP = ("maximum recursion depth exceeded", "pystack exhausted")


def metered(run, length: int) -> tuple:
    """Return what ``run(at)`` returns, and whether it carries more and more.

    Parameters
    ----------
    run : callable
        Reads a stream of so many places, and calls ``at(place)`` as it goes. If it
        calls itself for every place, its calls are what it carries.
    length : int
        Some hundred. What the stream hands out has to be new each time, or nothing
        would be held by who keeps it.
    """
    measure, tries = (_asked, 1) if hasattr(gc, "mem_alloc") else (_held, TRIES)
    for _ in range(tries):
        try:
            result, grows = measure(run, length)
        except RuntimeError as error:
            if not str(error).startswith(TOO_DEEP):
                raise
            return None, True
        if not grows:
            break
    return result, grows


def _held(run, length: int) -> tuple:
    """Compare what is held after a quarter of the stream and after three."""
    import contextlib
    import tracemalloc

    def memory() -> int:
        gc.collect()  # or what CPython keeps of freed tuples would count as held
        return tracemalloc.get_traced_memory()[0] + CALL * _depth()

    ours = not tracemalloc.is_tracing()
    if ours:
        tracemalloc.start()
    gc.freeze()  # what was there before need not be looked through at each mark
    try:
        with contextlib.redirect_stdout(_Nowhere()):  # a notebook holds what is printed
            result, marks = _marked(run, length, memory)
    finally:
        gc.unfreeze()
        if ours:
            tracemalloc.stop()
    return result, len(marks) == 4 and marks[3] - marks[1] > HELD * length / 2


class _Nowhere:
    """Takes what is printed, and keeps none of it."""

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        pass


def _depth() -> int:
    """Return how many calls wait for each other."""
    frame, depth = sys._getframe(), 0
    while frame:
        frame, depth = frame.f_back, depth + 1
    return depth


def _asked(run, length: int) -> tuple:
    """Compare what is asked for in the second quarter, and from the last one on."""
    result, marks = _marked(run, length, gc.mem_alloc)
    if len(marks) < 4:
        return result, False
    early, late = marks[2] - marks[1], gc.mem_alloc() - marks[3]
    return result, late > ASKED * early + SLACK


def _marked(run, length: int, memory) -> tuple:
    """Return a result, and the memory at the start of each quarter that was reached."""
    marks = []

    def at(place: int) -> None:
        while len(marks) < 4 and 4 * place >= length * len(marks):
            marks.append(memory())

    return run(at), marks
