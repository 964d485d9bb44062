"""The fold of keys and values into the states of some queries: (m, l, o) of each.

A tile of keys meets the strips of the queries in turn. The scores of a strip are computed,
become weights that are folded into its states, and the tile's values are added,
weighted. For that the keys of a tile are laid side by side in panels, so that a row of
scores is a whole number of vectors. A few queries take less time if the keys stay as they
lie. The sum l has a number for each lane of a vector; the lanes are added up at the end.
"""

# mypy: disable-error-code="no-untyped-def"
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinesoftmax import inputs
from onlinesoftmax.inputs import Array
from tiledattention.cpu import arguments
from tiledattention.cpu.arguments import Floats
from tiledattention.cpu.compiled import inner, kernel
from tiledattention.cpu.lanes import LANES
from tiledattention.cpu.steps import (
    FEW,
    LOG2_E,
    PANEL,
    ROWS,
    absorb,
    address,
    few_absorb,
    few_dots,
    product_set,
    row_absorb,
    row_dots,
)
from tiledattention.cpu.tiles import (
    LINE,
    NOWHERE,
    TILE,
    add_rows,
    dress,
    few_add_rows,
    row_add_rows,
    rows_of,
    side_by_side,
    soon,
    whole,
)

GROUP = 8 * ROWS  # queries whose scores are computed before any value is added
MOST = 2 * FEW  # queries that are not worth laying the keys side by side
ROW = TILE + LANES  # numbers of a row of scores: `few_dots` writes beyond the tile


def room_for_states(
    parts: int, rows: int, columns: int
) -> tuple[Floats, Floats, Floats]:
    """Return arrays for the states of some rows over parts of the keys."""
    m, l = np.empty((2, parts, rows), np.float32)
    return m, l, np.empty((parts, rows, columns), np.float32)


class Problem(NamedTuple):
    """Some queries, what they see of the keys, and the numbers of an attention."""

    q: Floats  # scaled for base 2, in whole strips and vectors, filled up with 0
    rows: int  # of a strip
    own: arguments.Rows
    starts: NDArray[np.int64]  # (2, strips), from where on some, and all, rows see keys
    stops: NDArray[np.int64]  # (2, strips), and up to where
    plain: bool  # whether scores are as the products make them
    softcap: np.float32  # 0 for none

    @classmethod
    def of(
        cls, asked: inputs.Attention, q: Array, own: arguments.Rows, few: bool
    ) -> "Problem":
        """Return the problem of some rows of queries, in base 2; `few` chooses the fold.

        The two folds round differently. So what is asked decides between them, and never
        the number of threads, on which the size of a block depends.
        """
        (queries, d), softcap = q.shape, asked.softcap or 0
        rows = FEW if few else ROWS
        height, wide = -(-queries // rows) * rows, -(-d // LANES) * LANES
        scaled = np.zeros((height, wide), np.float32)
        np.multiply(q, np.float32(asked.scale * LOG2_E), out=scaled[:queries, :d])
        strips, low, high = range(0, queries, rows), np.minimum, np.maximum
        starts = [x.reduceat(own.first, strips) for x in (low, high)]
        stops = [x.reduceat(own.stop, strips) for x in (high, low)]
        plain = own.plain and not softcap
        return cls(
            scaled, rows, own.in_base_2(), np.array(starts), np.array(stops), plain,
            np.float32(softcap * LOG2_E),
        )  # fmt: skip

    def fold(self, k, v, origin: int, m, l, o) -> None:
        """Leave the states over the keys from `origin` on: m, in base 2, l and o."""
        height, wide = self.q.shape
        columns = -(-v.shape[1] // LANES) * LANES
        room = arguments.ROOM.of(
            (height + LANES,),  # vectors reach beyond the last row
            (height, LANES), (height, columns), (GROUP, ROW), (TILE, wide),
            (TILE, columns), (TILE, wide),
        )  # fmt: skip
        begin = max(int(self.starts[0].min()) - origin, 0) // TILE * TILE
        end = min(int(self.stops[0].max()) - origin, len(k))
        fold(self.q, arguments.plain(k), arguments.plain(v), origin, begin, end,
             self.rows == FEW, self.starts, self.stops, self.plain, *self.own,
             self.softcap, m, l, o, *room)  # fmt: skip


@kernel
def fold(q, keys, values, origin, begin, end, few, starts, stops, plain, first, stop,
         place, slope, sink, bias, softcap, m, l, o, tops, sums, outputs, scores, k_tile,
         v_tile, panels):  # fmt: skip
    """Fold keys and values into the states of some queries: m, in base 2, l and o.

    q, scaled, in whole strips and vectors; keys (n, d) and values (n, columns), of which
    the first has the number `origin`, and begin and end, which of them are seen at all;
    few, whether the keys stay as they lie; starts, stops and plain, as in `Problem`; of
    each query first and stop, the keys that it sees, its place among them, the slope of
    its bias, and its sink, the score of one more key, whose value is 0, or −∞; bias
    (queries, all keys) or empty. Scores, and all that is added to them, are in base 2.
    The state is m, l (queries,) and o (queries, columns). The rest is what `fold` works
    in: the states, the scores of a group, and tiles of keys and values, if they have to
    be copied, and of keys in panels.
    """
    queries, wide, across, row = first.size, q.shape[1], outputs.shape[1], ROW * 4
    rows, together, step = (FEW, FEW, LANES) if few else (ROWS, GROUP, PANEL)
    enter(sink, origin, tops, sums)
    for tile in range(begin, end, TILE):
        k_at, v_at = rows_of(keys, tile, k_tile), rows_of(values, tile, v_tile)
        start, beyond = tile + origin, min(tile + TILE, end) + origin
        if not few:
            side_by_side(k_at, TILE, wide, address(panels))
        for group in range(0, queries, together):
            for top in range(group, min(group + together, queries), rows):
                strip, s_at = top // rows, address(scores) + (top - group) * row
                width = whole(min(stops[0, strip], beyond) - start, step)
                if width <= 0 or starts[0, strip] >= beyond:
                    continue
                q_at = address(q) + top * wide * 4
                if few:
                    score_few(queries - top, q_at, k_at, wide * 4, width, s_at)
                else:
                    soon_some(k_at, TILE * wide * 4, strip, len(q))
                    soon_some(v_at, TILE * across * 4, strip, len(q))
                    score(q_at, address(panels), wide, keys.shape[1], width, s_at)
                inside = starts[1, strip] <= start and stops[1, strip] >= start + width
                if not (plain and inside):
                    dress_strip(scores[top - group :, :width], top, rows, start, beyond,
                                first, stop, place, slope, bias, softcap)  # fmt: skip
                take(height_of(few, queries - top), s_at, row, width // LANES,
                     address(tops) + top * 4, address(sums) + top * LANES * 4,
                     address(outputs) + top * across * 4, across // LANES)  # fmt: skip
            for top in range(group, min(group + together, queries), rows):
                # Keys that no row of the strip sees are skipped: their values may be NaN.
                low = max(starts[0, top // rows] - start, 0)
                count = min(stops[0, top // rows], beyond) - start - low
                s_at = address(scores) + (top - group) * row
                weigh(height_of(few, queries - top), s_at + low * 4, row,
                      v_at + low * across * 4, count,
                      address(outputs) + top * across * 4, across)  # fmt: skip
    leave(tops, sums, outputs, m, l, o)


@inner
def height_of(few, left):
    """Return how many rows a strip has, if so many queries are left: ROWS, FEW or 1."""
    return ROWS if not few else FEW if left > 1 else 1


@inner
def score(q, panels, wide, d, width, to):
    """Write the products of a strip of queries with `width` keys, in panels.

    q, panels and `to` are addresses; d of the `wide` numbers of a query or key count.
    """
    for j in range(0, width, PANEL):
        k = panels + j * wide * 4
        product_set(q, wide * 4, 4, k, PANEL * 4, to + j * 4, ROW * 4, d)


@inner
def score_few(left, q, k, row, width, to):
    """Write the products of FEW queries, or of one if only one is left, with `width` keys.

    q, k and `to` are addresses; queries and keys have `row` bytes each.
    """
    for j in range(0, width, FEW):
        if left > 1:
            few_dots(q, row, k + j * row, row, row // (LANES * 4), to + j * 4, ROW * 4)
        else:
            row_dots(q, row, k + j * row, row, row // (LANES * 4), to + j * 4, ROW * 4)


@inner
def take(height, scores, row, vectors, m, l, o, columns):
    """Take a strip of scores into the states of its rows, as `absorb` does."""
    if height == ROWS:
        absorb(scores, row, vectors, m, l, o, columns)
    elif height == FEW:
        few_absorb(scores, row, vectors, m, l, o, columns)
    else:
        row_absorb(scores, row, vectors, m, l, o, columns)


@inner
def weigh(height, weights, row, values, count, o, across):
    """Add `count` values, weighted, to the outputs of a strip."""
    if height == ROWS:
        add_rows(weights, row, 4, values, count, o, across)
    elif height == FEW:
        few_add_rows(weights, row, 4, values, count, o, across)
    else:
        row_add_rows(weights, row, 4, values, count, o, across)


@inner
def soon_some(tile, size, strip, height):
    """Prefetch a part of the tile after this one, which is then there when wanted."""
    part = whole(size * ROWS // height, LINE)
    soon(tile + size + strip * part, part)


@inner
def dress_strip(
    scores, top, rows, start, end, first, stop, place, slope, bias, softcap
):
    """Apply to a strip of scores what is added to them; `top` is its first query."""
    for i in range(top, min(top + rows, first.size)):
        own = scores[i - top]
        added = bias[i, start:end] if bias.size > 0 else own[:0]
        dress(own, softcap, slope[i], place[i] - start, added, first[i] - start,
              stop[i] - start)  # fmt: skip


@inner
def enter(sink, origin, tops, sums):
    """Begin the states: with the sinks, if these are the first keys, and else empty."""
    for i in range(tops.size):
        tops[i] = NOWHERE
    if origin == 0:
        for i in range(sink.size):
            tops[i], sums[i, 0] = sink[i], sink[i] > NOWHERE  # the sink's weight is 1


@inner
def leave(tops, sums, outputs, m, l, o):
    """Write the states of the queries, without the rows and columns that fill up."""
    for i in range(m.size):
        m[i], l[i] = tops[i], 0
        for lane in range(LANES):
            l[i] += sums[i, lane]
        for c in range(o.shape[1]):
            o[i, c] = outputs[i, c]


@kernel
def unite(m, l, o, at, out, lse):
    """Merge the states of parts of the keys; write output and logsumexp of some rows.

    m, l (parts, rows) and o (parts, rows, columns) are what `fold` leaves; out (some,
    columns) and lse (some,) are for the rows from `at` on; `out` may be the rows of the
    first part themselves. Returns whether all is finite.
    """
    finite, parts = True, m.shape[0]
    for i in range(out.shape[0]):
        row, top, total = at + i, NOWHERE, np.float32(0)
        for part in range(parts):
            top = max(top, m[part, row])
        for part in range(parts):
            # A part that has seen nothing weighs nothing, and −∞ − (−∞) would be NaN.
            factor = np.float32(m[part, row] > NOWHERE)
            if factor != 0 and m[part, row] != top:
                factor = np.float32(np.exp2(m[part, row] - top))
            total += l[part, row] * factor
            for c in range(out.shape[1]):
                before = np.float32(0) if part == 0 else out[i, c]
                out[i, c] = before + o[part, row, c] * factor
        inverse = np.float32(1) / total if total != 0 else np.float32(0)
        lse[i] = (top + np.log2(np.float64(total))) / LOG2_E
        check = np.float32(0)
        for c in range(out.shape[1]):
            out[i, c] *= inverse
            check += out[i, c] * np.float32(0)  # NaN for anything that is not finite
        finite &= check == 0 and lse[i] < np.inf
    return finite
