"""Swizzle: in which banks the pieces of a tile of float16 lie, and who wants them.

Prediction. A tile has rows of 64 numbers of 16 bits, one after the other. `ldmatrix` reads
a square of it, eight rows of eight numbers: how many wavefronts? Why wrong answers tempt.
"One": a square has 128 bytes, as many as one line of all banks. "Two": a row of 128 bytes
is as long as all banks, and the figure `banks` made columns of fours take two. What
settles it: the plain layout, where the eight rows lie in the same four banks.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from kernellab import banks
from livepage.figures.spec import Choice, Prediction, Range, Spec, Values

LAYOUTS = ("plain", "padded", "swizzled")
READS = ("square", "row")
PIECE = 16  # bytes: eight numbers
WIDTH = 64  # numbers in a row
SIDE = 8  # rows of a square, and pieces that a quarter of a warp reads
PLAIN = {"stored": "plain", "reads": "square", "which": 0}


def address(state: Values, row: int, piece: int) -> int:
    """The byte of shared memory where a piece of a row begins."""
    numbers = WIDTH + (SIDE if state["stored"] == "padded" else 0)
    if state["stored"] == "swizzled":
        piece ^= row % SIDE
    return row * numbers * 2 + piece * PIECE


def wanted(state: Values) -> list[int]:
    """Where the eight pieces begin that are read together."""
    which = state["which"]
    square = state["reads"] == "square"
    pairs = [(k, which) if square else (which, k) for k in range(SIDE)]
    return [address(state, row, piece) for row, piece in pairs]


def expected(state: Values) -> Values:
    """The lib's wavefronts, and what the padding of the eight rows takes."""
    starts = wanted(state)
    first = {start // banks.WORD % banks.BANKS for start in starts}
    return {
        "starts": starts,
        "wavefronts": banks.wavefronts(starts, PIECE),
        "banks": len(first) * PIECE // banks.WORD,
        "unused": SIDE * PIECE * (state["stored"] == "padded"),
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every layout and way to read, for each piece, again and again."""
    for stored, reads, which, _ in product(LAYOUTS, READS, range(SIDE), range(5)):
        yield {"stored": stored, "reads": reads, "which": which}


SPEC = Spec(
    controls=(
        Choice("stored", "plain", of=LAYOUTS),
        Choice("reads", "row", of=READS),
        Range("which", 0, low=0, high=SIDE - 1),
    ),
    still=PLAIN | {"stored": "swizzled", "which": 2},
    prediction=Prediction(answer=2, shown_by=(PLAIN,) * 3),
    presets=(
        PLAIN,
        PLAIN | {"stored": "padded"},
        PLAIN | {"stored": "swizzled"},
    ),
    expected=expected,
    states=states,
)
