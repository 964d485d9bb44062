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
    carve,
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
PIECES = 7  # arrays in the working memory, each beginning with a cache line
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
        numbers = height * (LANES + columns) + GROUP * ROW + TILE * (2 * wide + columns)
        room = arguments.ROOM.of(numbers + height + LANES + PIECES * LINE // 4)
        begin = max(int(self.starts[0].min()) - origin, 0) // TILE * TILE
        end = min(int(self.stops[0].max()) - origin, len(k))
        run = fold_few if self.rows == FEW else fold
        run(self.q, arguments.plain(k), arguments.plain(v), origin, begin, end,
            self.starts, self.stops, self.plain, *self.own, self.softcap, m, l, o,
            room)  # fmt: skip


@kernel
def fold(q, keys, values, origin, begin, end, starts, stops, plain, first, stop, place,
         slope, sink, bias, softcap, m, l, o, room):  # fmt: skip
    """Fold keys and values into the states of some queries: m, in base 2, l and o.

    q, scaled, in whole strips and vectors; keys (n, d) and values (n, columns), of which
    the first has the number `origin`, and begin and end, which of them are seen at all;
    starts, stops and plain, as in `Problem`; of each query first and stop, the keys that
    it sees, its place among them, the slope of its bias, and its sink, the score of one
    more key, whose value is 0, or −∞; bias (queries, all keys) or empty. Scores, and all
    that is added to them, are in base 2. The state is m, l (queries,) and o (queries,
    columns); `room` is working memory.
    """
    queries, height, wide, d = first.size, q.shape[0], q.shape[1], keys.shape[1]
    across, vectors = whole(o.shape[1], LANES), whole(o.shape[1], LANES) // LANES
    tops, sums, outputs, scores, k_tile, v_tile, panels = rooms(
        room, height, wide, across, GROUP
    )
    enter(sink, origin, tops, sums)
    row, k_bytes, v_bytes = ROW * 4, TILE * wide * 4, TILE * across * 4
    # To prefetch with each strip, so that the next tile is there when it is wanted.
    k_near, v_near = (
        whole(k_bytes * ROWS // height, LINE),
        whole(v_bytes * ROWS // height, LINE),
    )
    for tile in range(begin, end, TILE):
        k_at, v_at = rows_of(keys, tile, k_tile), rows_of(values, tile, v_tile)
        side_by_side(k_at, TILE, wide, address(panels))
        start, beyond = tile + origin, min(tile + TILE, end) + origin
        for group in range(0, queries, GROUP):
            for top in range(group, min(group + GROUP, queries), ROWS):
                strip = top // ROWS
                width = whole(min(stops[0, strip], beyond) - start, PANEL)
                if width <= 0 or starts[0, strip] >= beyond:
                    continue
                soon(k_at + k_bytes + strip * k_near, k_near)  # of the next tile
                soon(v_at + v_bytes + strip * v_near, v_near)
                s_at = address(scores) + (top - group) * row
                for j in range(0, width, PANEL):
                    product_set(
                        address(q) + top * wide * 4, wide * 4, 4,
                        address(panels) + j * wide * 4, PANEL * 4, s_at + j * 4, row, d,
                    )  # fmt: skip
                inside = starts[1, strip] <= start and stops[1, strip] >= start + width
                if not (plain and inside):
                    dress_strip(scores[top - group :, :width], top, ROWS, start, beyond,
                                first, stop, place, slope, bias, softcap)  # fmt: skip
                absorb(
                    s_at, row, width // LANES, address(tops) + top * 4,
                    address(sums) + top * LANES * 4, address(outputs) + top * across * 4,
                    vectors,
                )  # fmt: skip
            for top in range(group, min(group + GROUP, queries), ROWS):
                # Keys that no row of the strip sees are skipped: their values may be NaN.
                low = max(starts[0, top // ROWS] - start, 0)
                high = min(stops[0, top // ROWS], beyond) - start
                if low < high:
                    weights = address(scores) + ((top - group) * ROW + low) * 4
                    add_rows(weights, row, 4, v_at + low * across * 4, high - low,
                             address(outputs) + top * across * 4, across)  # fmt: skip
    leave(tops, sums, outputs, m, l, o)


@kernel
def fold_few(q, keys, values, origin, begin, end, starts, stops, plain, first, stop, place,
             slope, sink, bias, softcap, m, l, o, room):  # fmt: skip
    """As `fold`, for so few queries that the keys had better stay as they lie."""
    queries, height, wide = first.size, q.shape[0], q.shape[1]
    across, vectors = whole(o.shape[1], LANES), whole(o.shape[1], LANES) // LANES
    tops, sums, outputs, scores, k_tile, v_tile, _ = rooms(
        room, height, wide, across, FEW
    )
    enter(sink, origin, tops, sums)
    row, k_row, s_at = ROW * 4, wide * 4, address(scores)
    for tile in range(begin, end, TILE):
        k_at, v_at = rows_of(keys, tile, k_tile), rows_of(values, tile, v_tile)
        start, beyond = tile + origin, min(tile + TILE, end) + origin
        for top in range(0, queries, FEW):
            strip, alone = top // FEW, top + 1 == queries
            low = max(starts[0, strip] - start, 0)
            high = min(stops[0, strip], beyond) - start
            if low >= high:
                continue
            width, q_at = whole(high, LANES), address(q) + top * k_row
            score_few(q_at, k_at, k_row, width, alone, s_at)
            inside = starts[1, strip] <= start and stops[1, strip] >= start + width
            if not (plain and inside):
                dress_strip(scores[:, :width], top, FEW, start, beyond, first, stop,
                            place, slope, bias, softcap)  # fmt: skip
            m_at, l_at = address(tops) + top * 4, address(sums) + top * LANES * 4
            o_at = address(outputs) + top * across * 4
            weights, v_own = s_at + low * 4, v_at + low * across * 4
            if alone:
                row_absorb(s_at, row, width // LANES, m_at, l_at, o_at, vectors)
                row_add_rows(weights, row, 4, v_own, high - low, o_at, across)
            else:
                few_absorb(s_at, row, width // LANES, m_at, l_at, o_at, vectors)
                few_add_rows(weights, row, 4, v_own, high - low, o_at, across)
    leave(tops, sums, outputs, m, l, o)


@inner
def score_few(q, k, row, width, alone, to):
    """Write the products of FEW queries, or of one alone, with `width` keys.

    q, k and `to` are addresses; queries and keys have `row` bytes each.
    """
    for j in range(0, width, FEW):
        if alone:
            row_dots(q, row, k + j * row, row, row // (LANES * 4), to + j * 4, ROW * 4)
        else:
            few_dots(q, row, k + j * row, row, row // (LANES * 4), to + j * 4, ROW * 4)


@inner
def rooms(room, height, wide, across, rows):
    """Return what `fold` works in: the states, scores of some rows, and three tiles.

    The tiles are keys and values, where they have to be copied, and keys in panels.
    """
    tops, at = carve(room, 0, 1, height + LANES)  # vectors reach beyond the last row
    sums, at = carve(room, at, height, LANES)
    outputs, at = carve(room, at, height, across)
    scores, at = carve(room, at, rows, ROW)
    k_tile, at = carve(room, at, TILE, wide)
    v_tile, at = carve(room, at, TILE, across)
    panels, at = carve(room, at, TILE, wide)
    return tops[0], sums, outputs, scores, k_tile, v_tile, panels


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
