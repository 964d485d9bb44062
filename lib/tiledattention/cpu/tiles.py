"""What the kernels do with a tile besides multiplying, in plain loops that vectorise.

A tile is some keys, in panels, against the strips of a block of queries. Scores are in
base 2: the queries, and whatever is added to a score, are multiplied by log₂ e
beforehand.
"""

# mypy: disable-error-code="no-untyped-def"
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tiledattention.cpu.compiled import inner
from tiledattention.cpu.lanes import LANES
from tiledattention.cpu.steps import (
    PANEL,
    address,
    fetch,
    few_add,
    few_add_one,
    product_add,
    product_add_one,
    row_add,
    row_add_one,
    turn,
)

LINE = 64  # bytes of a cache line
TILE = 64  # keys
NOWHERE = np.float32(-np.inf)
Intrinsic: TypeAlias = Callable[..., None]


@inner
def whole(n, size):
    """Return n, rounded up to a multiple of a size."""
    return (n + size - 1) // size * size


@inner
def rows_of(x, start, room):
    """Return the address of as many rows of x as `room` has, of whole vectors.

    Where x has not so many rows, or other ones, they are copied to `room`.
    """
    if x.shape[1] == room.shape[1] and start + room.shape[0] <= x.shape[0]:
        return address(x) + start * x.shape[1] * 4
    for j in range(min(room.shape[0], x.shape[0] - start)):
        copy(x[start + j], room[j])
    return address(room)


@inner
def side_by_side(rows, count, wide, panels):
    """Lay `count` rows of `wide` numbers side by side in panels (…, wide, PANEL).

    Both are addresses; the rows are whole vectors, and as many as whole panels have.
    """
    for top in range(0, count, LANES):
        to = panels + (top // PANEL * wide * PANEL + top % PANEL) * 4
        for c in range(0, wide, LANES):
            turn(rows + (top * wide + c) * 4, wide * 4, to + c * PANEL * 4, PANEL * 4)


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


def adding(panel: Intrinsic, vector: Intrinsic) -> Intrinsic:
    """Return a function that adds a strip of factors times rows to a strip of `to`.

    `panel` adds a panel of columns, and `vector` a vector of them.
    """

    @inner
    def add(factors, row, step, rows, count, to, columns):
        # All are addresses. The stride of the factors is `row` bytes by row of the strip
        # and `step` bytes by row of `rows`: there are `count`, as long as those of `to`.
        wide = columns * 4
        while columns >= PANEL:
            panel(factors, row, step, rows, wide, to, wide, count)
            rows, to, columns = rows + PANEL * 4, to + PANEL * 4, columns - PANEL
        while columns > 0:
            vector(factors, row, step, rows, wide, to, wide, count)
            rows, to, columns = rows + LANES * 4, to + LANES * 4, columns - LANES

    return add


add_rows = adding(product_add, product_add_one)
few_add_rows = adding(few_add, few_add_one)
row_add_rows = adding(row_add, row_add_one)
