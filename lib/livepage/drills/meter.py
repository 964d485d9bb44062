"""Sees whether a function takes more memory the further a stream goes, or reads it twice.

Like the graders this runs in CPython and in the page's MicroPython, where the drills
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
from array import array

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


# ---- rows that are read once

TWICE = "your code goes over the {} more than once"
GROWS = (
    "the more {} there are, the more memory your code takes; what it carries must not "
    "grow with their number"
)


class Rows:
    """Rows that hand out copies, and tell which of them is read."""

    def __init__(self, rows, read):
        self.rows = rows
        self.read = read

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, key):
        places = range(len(self.rows))[key]
        if not isinstance(places, int):
            return [self[place] for place in places]
        self.read(places)
        return [x + 0.0 for x in self.rows[places]]

    def __iter__(self):
        for place in range(len(self.rows)):
            yield self[place]

    def __add__(self, more):
        return Rows(self.rows + more, self.read)


class Walk:
    """Counts the rows that have been read, and the returns to rows left behind.

    A row is left behind when a quarter of all rows has been read after it for the first
    time. Rows that were added at the end are not counted.
    """

    def __init__(self, count, at):
        self.at = at
        self.last = array("H", [0] * count)  # how many were known when each was read
        self.known = self.returns = 0

    def read(self, place):
        if place >= len(self.last):
            return
        if not self.last[place]:
            self.at(self.known)
            self.known += 1
        elif self.known - self.last[place] > len(self.last) // 4:
            self.returns += 1
        self.last[place] = self.known


def walked(run, rows: list, name: str) -> tuple:
    """Return what ``run(rows)`` returns, and what is wrong with how it reads them.

    Parameters
    ----------
    run : callable
        Has to read the rows once, in any order, and to keep no more as it goes.
    rows : list
        Some hundred, each a list of numbers.
    name : str
        What they are called, in the plural.
    """
    walks = []

    def watched(at):
        walks.append(Walk(len(rows), at))
        return run(Rows(rows, walks[-1].read))

    result, grows = metered(watched, len(rows))
    if grows:
        return result, GROWS.format(name)
    again = 4 * walks[-1].returns > len(rows)
    return result, TWICE.format(name) if again else None
