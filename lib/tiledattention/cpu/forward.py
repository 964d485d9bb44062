"""Attention on a CPU: the fold over tiles, in an order that suits the caches.

Keys lie side by side in panels, so that a row of scores is a whole number of vectors.
Each tile meets all strips of a block of queries in turn: the scores of a strip are
computed and folded into its states, (m, l, o); then the tile's values are added,
weighted. So all strips but the first read the tile from the nearest caches. The sum l
has a number for each lane of a vector; the lanes are added up at the end.
"""

# mypy: disable-error-code="no-untyped-def"
import numpy as np
from numpy.typing import ArrayLike

from onlinesoftmax import inputs, streaming
from onlinesoftmax.dense import capped
from onlinesoftmax.inputs import Array
from onlinesoftmax.masks import Mask
from onlinesoftmax.state import State
from tiledattention.cpu import arguments, decoding
from tiledattention.cpu.compiled import inner, kernel
from tiledattention.cpu.lanes import LANES
from tiledattention.cpu.pool import share, threads_of
from tiledattention.cpu.steps import (
    LOG2_E,
    PANEL,
    ROWS,
    VECTORS,
    absorb,
    address,
    product_set,
)
from tiledattention.cpu.tiles import (
    NOWHERE,
    PANELS,
    TILE,
    add_rows,
    carve,
    copy,
    dress,
    soon,
    whole,
)


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: ArrayLike | None = None,
    out: Array | None = None,
    return_lse: bool = False,
    threads: int | None = None,
) -> Array | tuple[Array, Array]:
    """Return softmax(q kᵀ · scale) v, at the speed of this machine.

    The answer is the same, to the last bit, for any number of threads.

    Parameters
    ----------
    q, k, v, mask, scale, softcap, sinks
        As for `streaming.attention`, but float16, bfloat16 or float32.
    out : ndarray, optional
        Where to put the output: of its shape and dtype, apart from the arguments.
    return_lse : bool
        Whether to return the logsumexp of each row of scores as well.
    threads : int, optional
        As many as the process may use unless given.

    Returns
    -------
    out : ndarray, (..., heads, queries, columns)
        In the widest dtype of the three; 0 for a row that sees nothing.
    lse : ndarray, (..., heads, queries), float32
        −∞ for a row that sees nothing.

    Notes ----- A few queries over many keys are left to `decode`, which reads the keys
    as they lie. Scores and sums are of float32. A block of queries whose answer is not
    finite is computed again by `streaming`, slowly: the value that is not finite may be
    hidden from some of them.

    Examples
    --------
    >>> q = k = np.array([[1.0], [2.0]], np.float32)
    >>> attention(q, k, k).round(4)
    array([[1.7311],
           [1.8808]], dtype=float32)
    """
    inputs.flag("return_lse", return_lse)
    asked, dtype = arguments.attention(q, k, v, scale, softcap, sinks)
    out = arguments.output("out", out, asked.output, dtype, (q, k, v))
    lse = np.empty(asked.shape[:-1], np.float32)
    threads = threads_of(threads)
    if decoding.pays(asked):
        decoding.write(asked, mask, out, lse, threads)
    else:
        _by_tiles(asked, mask, out, lse, threads)
    return (out, lse) if return_lse else out


def _by_tiles(
    asked: inputs.Attention, mask: Mask | None, out: Array, lse: Array, threads: int
) -> None:
    """Write the output and the logsumexp of each row, block by block of queries."""
    for group in arguments.groups(asked, mask):
        keys = arguments.Panels.of([own.k for own, _ in group], threads)
        size = arguments.block_size(group, threads)
        blocks = [
            (head, seen, keys.own[at], rows)
            for at, (_, heads) in enumerate(group)
            for head, seen in heads
            for rows in inputs.blocks(seen.queries, size)
        ]
        share(lambda block: _attend(asked, *block, out, lse), blocks, threads)


def _attend(asked, head, seen, panels, rows, out, lse) -> None:
    """Write the output and the logsumexp of a block of queries."""
    own = arguments.Rows.of(seen, rows)
    answer = np.empty((rows.stop - rows.start, head.v.shape[-1]), np.float32)
    numbers = arguments.numbers(asked, head)
    q, v = arguments.plain(head.q[rows]), arguments.plain(head.v)
    if attend(q, panels, v, *own, *numbers, answer, lse[head.at][rows], _room(q, v)):
        out[head.at][rows] = answer
    else:
        slow = streaming.answer(asked, head, seen, rows, TILE)
        out[head.at][rows], lse[head.at][rows] = slow


def _room(q: Array, v: Array) -> arguments.Floats:
    """Return working memory for `take`."""
    height, columns = whole(len(q), ROWS), whole(v.shape[1], LANES)
    return arguments.ROOM.of(
        (height, q.shape[1]), (height, LANES), (height, columns), (height, TILE),
        (TILE, columns),
    )  # fmt: skip


def state_of(
    asked: inputs.Attention,
    head: inputs.OneHead,
    panels: arguments.Floats,
    rows: slice,
    own: arguments.Rows,
) -> State:
    """Return the states of a block of queries over some of the keys, in float64.

    `asked` and `head` hold only these keys and their values, and `panels` the same
    keys, packed. `own` says what the queries see of them, in base e. A worker of a
    cluster folds its chunk so.
    """
    q, v = arguments.plain(head.q[rows]), arguments.plain(head.v)
    m, l = np.empty((2, len(q)), np.float32)
    o = np.empty((len(q), v.shape[1]), np.float32)
    in_base_2 = own._replace(
        slope=np.float32(own.slope * LOG2_E), bias=own.bias * np.float32(LOG2_E)
    )
    numbers = arguments.numbers(asked, head)
    leave(q, panels, v, *in_base_2, *numbers, m, l, o, _room(q, v))
    wide = State(*(x.astype(np.float64) for x in (m, l, o)))
    if np.isfinite(l).all() and np.isfinite(o).all() and (m < np.inf).all():
        return wide._replace(m=wide.m / LOG2_E)
    return _state_by_streaming(asked, head, rows, own)


def _state_by_streaming(asked, head, rows, own) -> State:
    """Fallback for non-finite sums, by `streaming`. Hidden keys are never read."""
    q = head.q[rows].astype(np.float64)
    state = State.empty((len(q),), head.v.shape[-1])
    for keys in inputs.blocks(len(head.k), TILE):
        scores = q @ head.k[keys].astype(np.float64).T * asked.scale
        scores = own.apply(capped(scores, asked.softcap).astype(np.float32), keys)
        state = streaming.update_tile(state, scores, head.v[keys])
    return State(*(np.asarray(x, np.float64) for x in state))


@kernel
def attend(q, keys, values, first, stop, place, slope, bias, factor, softcap, sink, out,
           lse, room):  # fmt: skip
    """Write output and logsumexp of a block of queries; return whether all is finite.

    The arguments are those of `take`.
    """
    m, l, o = take(q, keys, values, first, stop, place, slope, bias, factor, softcap,
                   sink, room)  # fmt: skip
    finite = True
    for i in range(q.shape[0]):
        total = sum_of(l[i])
        lse[i] = (m[i] + np.log2(np.float64(total))) / LOG2_E
        inverse = np.float32(1) / total if total != 0 else np.float32(0)
        check = np.float32(0)
        for c in range(out.shape[1]):
            answer = o[i, c] * inverse
            out[i, c] = answer
            check += answer * np.float32(0)  # NaN for anything that is not finite
        finite &= check == 0 and lse[i] < np.inf
    return finite


@kernel
def leave(q, keys, values, first, stop, place, slope, bias, factor, softcap, sink, tops,
          sums, out, room):  # fmt: skip
    """Write the states of a block of queries: m, in base 2, l and o.

    The arguments are those of `take`.
    """
    m, l, o = take(q, keys, values, first, stop, place, slope, bias, factor, softcap,
                   sink, room)  # fmt: skip
    for i in range(q.shape[0]):
        tops[i], sums[i] = m[i], sum_of(l[i])
        for c in range(out.shape[1]):
            out[i, c] = o[i, c]


@inner
def sum_of(lanes):
    """Return the sum of a row's lanes."""
    total = np.float32(0)
    for lane in range(LANES):
        total += lanes[lane]
    return total


@inner
def take(q, keys, values, first, stop, place, slope, bias, factor, softcap, sink, room):
    """Return the states of a block of queries, m, l by lanes, and o, in whole strips.

    q (queries, d), to be multiplied by `factor`; keys (panels, d, PANEL); values (n,
    columns); first, stop (queries,), the keys that each query sees; place, the index of
    the first query; bias (queries, n) or empty; sink, the score of one more key, whose
    value is 0, or −∞. Scores, and all that is added to them, are in base 2. `room` is
    working memory.
    """
    queries, d = q.shape
    height, columns = whole(queries, ROWS), whole(values.shape[1], LANES)
    m = np.full(height + LANES, sink, np.float32)  # vectors reach beyond the last row
    scaled, at = carve(room, 0, height // ROWS, d * ROWS)
    scaled = scaled.reshape((height // ROWS, d, ROWS))
    l, at = carve(room, at, height, LANES)
    o, at = carve(room, at, height, columns)
    scores, at = carve(room, at, height, TILE)
    tile, at = carve(room, at, TILE, columns)
    for i in range(queries):
        l[i, 0] = sink > NOWHERE  # the weight of the sink, measured from its own score
        strip, r = scaled[i // ROWS], i % ROWS
        for c in range(d):
            strip[c, r] = q[i, c] * factor
    fold(scaled, keys, values, first, stop, place, slope, bias, softcap, m, l, o,
         scores, tile)  # fmt: skip
    return m, l, o


@inner
def fold(q, keys, values, first, stop, place, slope, bias, softcap, m, l, o, scores,
         tile):  # fmt: skip
    """Fold all keys that a block of queries sees into its states.

    As for `take`, but q is in base 2 and in strips, (strips, d, ROWS). The state is m
    (queries,), l (queries, LANES) and o (queries, columns), in whole strips; scores
    (queries, TILE) and tile (TILE, columns) are working memory.
    """
    queries, d, n = first.size, q.shape[1], values.shape[0]
    panel, lines = d * PANEL * 4, whole(TILE * d * 4 * ROWS // queries, 64)
    for start in range(first[0] // TILE * TILE, stop[queries - 1], TILE):
        end = min(start + TILE, n)
        for j in range(end - start):
            copy(values[start + j], tile[j])
        own = address(keys) + start // PANEL * panel
        for top in range(0, queries, ROWS):
            last = min(top + ROWS, queries) - 1
            width = min(stop[last], end) - start
            if width <= 0 or first[top] >= end:
                continue
            soon(own + PANELS * panel + top // ROWS * lines, lines)  # of the next tile
            panels = whole(width, PANEL) // PANEL
            strip = address(scores) + top * TILE * 4
            for p in range(panels):
                product_set(
                    address(q) + top * d * 4, 4, ROWS * 4, own + p * panel, PANEL * 4,
                    strip + p * PANEL * 4, TILE * 4, d,
                )  # fmt: skip
            plain = softcap == 0 and slope == 0 and bias.size == 0
            if not plain or first[last] > start or stop[top] < start + panels * PANEL:
                for i in range(top, last + 1):
                    row = scores[i, : panels * PANEL]
                    added = bias[i, start:end] if bias.size > 0 else row[:0]
                    dress(row, softcap, slope, place + i - start, added,
                          first[i] - start, stop[i] - start)  # fmt: skip
            absorb(
                strip, TILE * 4, panels * VECTORS, address(m) + top * 4,
                address(l) + top * LANES * 4, address(o) + top * o.shape[1] * 4,
                o.shape[1] // LANES,
            )  # fmt: skip
        for top in range(0, queries, ROWS):
            last = min(top + ROWS, queries) - 1
            # Keys that no row of the strip sees are skipped: their values may be NaN.
            low, high = max(first[top], start) - start, min(stop[last], end) - start
            if low < high:
                weights = address(scores) + (top * TILE + low) * 4
                add_rows(weights, TILE * 4, 4, tile[low:high], o[top:])
