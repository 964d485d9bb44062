"""Wrapped rows: the offset at which a row begins, kept in 32 bits.

The offsets are those of the museum's exhibit, run as its drill has it. The figure shows
no quantity of the book.

Prediction. Rows of 8,192 numbers. Row 262,144 begins at a negative offset; where does row
600,000 begin? Why wrong answers tempt. "At a negative one, too": what is too large seems
to stay so. "Where it should": two turns of the counter might cancel. What settles it: row
600,000 itself, which has wrapped to the offset of another row.
"""

from collections.abc import Iterator

import numpy as np

from livepage.drills.bank import find
from livepage.figures.spec import Choice, Prediction, Range, Spec, Values

MOST = 1000  # thousands of rows
WIDTHS = (4096, 8192, 16384)
ASKED = {"thousands": 600, "width": 8192}


def wrapped(row: int, width: int) -> int:
    """The exhibit's offset of a row, in the integers of its drill."""
    names: dict = {}
    for field in ("starter", "drive"):
        exec(find("widened-too-late").get(field), names)
    integer = names["Int"]
    zero = integer(0)
    strides = (zero, zero, integer(width))
    return names["place"](zero, zero, integer(row), zero, strides).value


def expected(state: Values) -> Values:
    """The exhibit's offset, and the row that begins there."""
    row, width = 1000 * state["thousands"], state["width"]
    found = wrapped(row, width)
    return {
        "due": row * width,
        "offset": found,
        "turn": 2**31 / width,
        "meets": found // width if found >= 0 else None,
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Both sides of each wrap, and random rows."""
    for width in WIDTHS:
        turn = 2**31 / width / 1000
        edges = [int(turn * k) for k in range(int(MOST / turn) + 1)]
        for thousands in (MOST, *edges, *(edge + 1 for edge in edges)):
            yield {"thousands": thousands, "width": width}
        for thousands in random.integers(0, MOST, 60):
            yield {"thousands": int(thousands), "width": width}


SPEC = Spec(
    controls=(
        Range("thousands", 200, low=0, high=MOST),
        Choice("width", 8192, of=WIDTHS),
    ),
    still=ASKED,
    prediction=Prediction(answer=2, shown_by=(ASKED,) * 3),
    constants={"MOST": MOST},
    expected=expected,
    states=states,
)
