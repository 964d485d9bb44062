"""Detects functions whose memory grows with a stream, or that read the stream twice.

Like the graders, this module runs in CPython and in the page's MicroPython. The code of
streaming drills imports it. The two Pythons manage memory differently:

* CPython frees an object as soon as nothing refers to it. So the memory held late in the
  stream is compared with the memory held early.
* MicroPython frees nothing while the page runs an answer, but it counts allocations. So
  the allocations from the last quarter on, up to the end, are compared with those of the
  second quarter. An answer that stores the stream goes through it again at the end and
  allocates memory for each number.
"""

import gc
import sys
from array import array

HELD = 10  # bytes for each item; a number in a list takes 32, or 8 in an array
CALL = 100  # bytes that a nested call takes at least
ASKED = 1.25  # an answer with constant state allocates the same in each quarter
SLACK = 2000  # bytes
TRIES = 3  # in a notebook, other threads may allocate memory meanwhile
TOO_DEEP = ("maximum recursion depth exceeded", "pystack exhausted")


def metered(run, length: int) -> tuple:
    """Return what ``run(at)`` returns, and whether its memory grows.

    Parameters
    ----------
    run : callable
        Reads a stream of ``length`` items and calls ``at(index)`` on the way. Nested
        calls count as memory.
    length : int
        A few hundred. The stream has to yield new objects each time, because only new
        objects take memory when they are stored.
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
    """Compare the memory held after one quarter of the stream and after three."""
    import contextlib
    import tracemalloc

    def memory() -> int:
        gc.collect()  # else CPython's free lists would count as held
        return tracemalloc.get_traced_memory()[0] + CALL * _depth()

    ours = not tracemalloc.is_tracing()
    if ours:
        tracemalloc.start()
    gc.freeze()  # so that each collection skips the objects that exist already
    try:
        with contextlib.redirect_stdout(_Nowhere()):  # a notebook stores the output
            result, marks = _marked(run, length, memory)
    finally:
        gc.unfreeze()
        if ours:
            tracemalloc.stop()
    return result, len(marks) == 4 and marks[3] - marks[1] > HELD * length / 2


class _Nowhere:
    """Discards what is printed."""

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        pass


def _depth() -> int:
    """Return the depth of the call stack."""
    frame, depth = sys._getframe(), 0
    while frame:
        frame, depth = frame.f_back, depth + 1
    return depth


def _asked(run, length: int) -> tuple:
    """Compare the allocations of the second quarter with those from the last one on."""
    result, marks = _marked(run, length, gc.mem_alloc)
    if len(marks) < 4:
        return result, False
    early, late = marks[2] - marks[1], gc.mem_alloc() - marks[3]
    return result, late > ASKED * early + SLACK


def _marked(run, length: int, memory) -> tuple:
    """Return the result, and the memory at the start of each quarter reached."""
    marks = []

    def at(index: int) -> None:
        while len(marks) < 4 and 4 * index >= length * len(marks):
            marks.append(memory())

    return run(at), marks


# ---- rows that are read once

TWICE = "your code goes over the {} more than once"
GROWS = (
    "the more {} there are, the more memory your code takes; what it carries must not "
    "grow with their number"
)


class Rows:
    """Rows that return copies and report each read."""

    def __init__(self, rows, read):
        self.rows = rows
        self.read = read

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, key):
        index = range(len(self.rows))[key]
        if not isinstance(index, int):
            return [self[i] for i in index]
        self.read(index)
        return [x + 0.0 for x in self.rows[index]]

    def __iter__(self):
        for index in range(len(self.rows)):
            yield self[index]

    def __add__(self, more):
        return Rows(self.rows + more, self.read)


class Walk:
    """Counts the rows that have been read, and the returns to earlier rows.

    A read is a return if a quarter of all rows has been read for the first time since
    the last read of that row. Rows added at the end are not counted.
    """

    def __init__(self, count, at):
        self.at = at
        self.last = array("H", [0] * count)  # `known` at the last read of each row
        self.known = self.returns = 0

    def read(self, index):
        if index >= len(self.last):
            return
        if not self.last[index]:
            self.at(self.known)
            self.known += 1
        elif self.known - self.last[index] > len(self.last) // 4:
            self.returns += 1
        self.last[index] = self.known


def walked(run, rows: list, name: str) -> tuple:
    """Return what ``run(rows)`` returns, and what is wrong with its reads or None.

    Parameters
    ----------
    run : callable
        Has to read each row once, in any order, with memory that does not grow.
    rows : list
        A few hundred, each a list of numbers.
    name : str
        The plural noun for the rows.
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
