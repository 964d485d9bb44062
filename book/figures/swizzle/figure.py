"""Swizzle: how squares of 16-bit numbers lie in the banks, padded, swizzled or neither.

Prediction. A row of the tile has 64 numbers of 16 bits, which fill all 32 banks once.
`ldmatrix` reads 8 × 8 of them, 16 bytes of each of eight rows: how many wavefronts? Why
wrong answers tempt. "One": the square has 128 bytes, and so many do the banks hand out at
once. "Four": wide loads are served in four parts. What settles it: the plain tile,
where the eight pieces of 16 bytes lie in the same four banks. The tile is there at
first, with one square marked; its queue waits for the answer. The banks and places in
them are no quantity of the book.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from kernellab import banks
from livepage.figures.spec import Choice, Pick, Prediction, Spec, Values

TILES = ("plain", "padded", "swizzled")
WIDTHS = (32, 64, 128)
ACCESSES = ("square", "copy")
ROWS = 8  # of a square
PIECE = 16  # bytes, eight numbers
LINE = banks.BANKS * banks.WORD // PIECE  # pieces in all banks
SQUARE = {"access": "square", "tile": "plain", "d": 64}
FIRST = SQUARE | {"at": "0"}  # where the rows begin


def address(tile: str, d: int, row: int, piece: int) -> int:
    """Return the byte at which a piece begins; `tensor` swizzles rows of 64 and 128 so."""
    pieces = 2 * d // PIECE
    if tile == "padded":
        return (row * (pieces + 1) + piece) * PIECE
    if tile == "swizzled":
        # A row of 32 has only four pieces, and two rows lie in one line of the banks.
        piece ^= row % 8 if pieces >= LINE else row // 2 % 4
    return (row * pieces + piece) * PIECE


def eight(state: Values) -> list[tuple[int, int]]:
    """Return the pieces that are read or copied together, as (row, piece)."""
    pieces = 2 * state["d"] // PIECE
    names = [str(k) for k in range(pieces)]
    k = names.index(state["at"]) if state["at"] in names else 0
    if state["access"] == "square":
        return [(row, k) for row in range(ROWS)]
    return [divmod(LINE * k + i, pieces) for i in range(LINE)]


def expected(state: Values) -> Values:
    """The lib's wavefronts for eight pieces, and the bytes of padding in eight rows."""
    tile, d = state["tile"], state["d"]
    starts = [address(tile, d, *piece) for piece in eight(state)]
    used = {address(tile, d, *at) for at in product(range(ROWS), range(d // 8))}
    whole = address(tile, d, ROWS, 0)  # where the next rows begin
    return {
        "eight": eight(state),
        "starts": starts,
        "wavefronts": banks.wavefronts(starts, PIECE),
        "padding": whole - PIECE * len(used),
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every eight pieces of every tile, and names of pieces that a tile lacks."""
    for tile, d, access in product(TILES, WIDTHS, ACCESSES):
        names = [str(k) for k in range(d // 8)]
        for at in [*names, "", "none", "-1", str(random.integers(16, 99))]:
            yield {"tile": tile, "d": d, "access": access, "at": at}


SPEC = Spec(
    controls=(
        Choice("access", "square", of=ACCESSES),
        Choice("tile", "plain", of=TILES),
        Choice("d", 64, of=WIDTHS),
        Pick("at", "4"),
    ),
    still=SQUARE | {"tile": "swizzled"},
    prediction=Prediction(answer=2, shown_by=(FIRST,) * 3),
    presets=(
        SQUARE,
        SQUARE | {"tile": "padded"},
        SQUARE | {"tile": "swizzled"},
        {"access": "copy", "tile": "padded", "d": 32},
    ),
    expected=expected,
    states=states,
)
