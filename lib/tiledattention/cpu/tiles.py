"""What the kernels do with a tile besides multiplying, in plain loops that vectorise.

A tile is some keys, in panels, against the strips of a block of queries. Scores are in
base 2: the queries, and whatever is added to a score, are multiplied by log₂ e
beforehand.
"""

# mypy: disable-error-code="no-untyped-def"
import numpy as np

from tiledattention.cpu.compiled import inner, kernel
from tiledattention.cpu.lanes import LANES
from tiledattention.cpu.steps import (
    PANEL,
    address,
    fetch,
    product_add,
    product_add_one,
)

LINE = 64  # bytes of a cache line
TILE = 64  # keys
PANELS = TILE // PANEL  # of a tile
NOWHERE = np.float32(-np.inf)


@inner
def whole(n, size):
    """Return n, rounded up to a multiple of a size."""
    return (n + size - 1) // size * size


@inner
def carve(room, start, rows, columns):
    """Return an array (rows, columns) of 0 from `room`, and where the next one starts.

    Each array starts at a cache line if `room` does: a vector across two lines takes
    two reads.
    """
    part = room[start : start + rows * columns]
    part[:] = 0
    return part.reshape((rows, columns)), whole(start + rows * columns, LINE // 4)


@kernel
def pack(keys, panels):
    """Lay keys (n, d) side by side in panels (panels, d, PANEL), padded with 0."""
    side_by_side(keys, panels)


@inner
def side_by_side(keys, panels):
    """Lay keys (n, d) side by side in panels (panels, d, PANEL), padded with 0."""
    n, d = keys.shape
    for p in range(panels.shape[0]):
        for left in range(0, PANEL, LANES):
            top = p * PANEL + left
            for c in range(d):
                for j in range(LANES):
                    own = keys[top + j, c] if top + j < n else np.float32(0)
                    panels[p, c, left + j] = own


@inner
def copy(row, to):
    """Copy a row into one that may be longer."""
    for c in range(row.size):
        to[c] = row[c]


@inner
def soon(start, size):
    """Prefetch all cache lines of `size` bytes."""
    for offset in range(0, size, LINE):
        fetch(start + offset)


@inner
def dress(scores, softcap, slope, place, bias, first, stop):
    """Apply softcap, slope, bias and mask to the scores of one query.

    Scores before `first` and from `stop` on are hidden; the query's index is `place`;
    all three count from the tile's first key. A softcap or a slope of 0 is none, and so
    is an empty bias.
    """
    if softcap > 0:
        for j in range(scores.size):
            scores[j] = softcap * np.tanh(scores[j] / softcap)
    if slope != 0:
        for j in range(scores.size):
            scores[j] -= slope * abs(np.float32(place - j))
    for j in range(min(bias.size, scores.size)):
        scores[j] += bias[j]
    for j in range(min(max(first, 0), scores.size)):
        scores[j] = NOWHERE
    late = scores[max(min(stop, scores.size), 0) :]
    for j in range(late.size):
        late[j] = NOWHERE


@inner
def add_rows(factors, row, step, rows, to):
    """Add a strip of factors times rows (n, columns) to a strip of `to` (…, columns).

    `factors` is an address; its stride is `row` bytes by row of the strip and `step`
    bytes by row of `rows`.
    """
    wide, left = rows.shape[1] * 4, rows.shape[1]
    at, at_to = address(rows), address(to)
    while left >= PANEL:
        product_add(factors, row, step, at, wide, at_to, wide, rows.shape[0])
        at, at_to, left = at + PANEL * 4, at_to + PANEL * 4, left - PANEL
    while left > 0:
        product_add_one(factors, row, step, at, wide, at_to, wide, rows.shape[0])
        at, at_to, left = at + LANES * 4, at_to + LANES * 4, left - LANES
