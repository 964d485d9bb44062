"""Attention on a CPU: the fold over tiles, in the order a CPU likes.

A tile is a panel of keys and a strip of queries: a few rows of scores, which never leave
the nearest cache. The keys of a panel stand in it side by side, so that a strip's scores
are a product whose rows are whole vectors. The state of every query, (m, l, o), stays
beside its block of queries while all panels pass; l is kept as one sum for each lane of
a vector, and added up at the end.

Scores are in base 2: log₂ e is multiplied into the queries, and weights are powers of 2.
"""

from collections.abc import Iterator
from math import e, log2
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from onlinesoftmax import _inputs as inputs
from onlinesoftmax.cpu.compiled import kernel
from onlinesoftmax.cpu.lanes import LANES
from onlinesoftmax.cpu.pool import share, threads_of
from onlinesoftmax.cpu.steps import (
    PANEL,
    ROWS,
    VECTORS,
    absorb,
    address,
    product_add,
    product_add_one,
    product_set,
)
from onlinesoftmax.masks import Head, Mask, head_of

Rows32 = NDArray[np.float32]
LOG2_E = log2(e)
TILE = 64  # keys of a tile
PANELS = TILE // PANEL  # of a tile
BLOCK = 192  # queries of a task
NOWHERE = np.float32(-np.inf)


@njit
def aligned(rows, columns):
    """Return an array (rows, columns) that begins where a line of the cache does."""
    whole = np.empty(rows * columns + 16, np.float32)
    skip = (-address(whole) % 64) // 4
    return whole[skip : skip + rows * columns].reshape((rows, columns))


@njit
def copy(row, to):
    """Copy a row; what it is copied to may be longer."""
    for c in range(row.size):
        to[c] = row[c]


@njit
def cap(scores, softcap):
    """Replace each score s by softcap · tanh(s / softcap)."""
    for j in range(scores.size):
        scores[j] = softcap * np.tanh(scores[j] / softcap)


@njit
def penalise(scores, slope, place):
    """Subtract slope · distance from each score; the query stands at `place`."""
    for j in range(scores.size):
        scores[j] -= slope * abs(np.float32(place - j))


@njit
def shift(scores, bias):
    """Add a bias to each score."""
    for j in range(scores.size):
        scores[j] += bias[j]


@njit
def hide(scores, first, stop):
    """Replace the scores before `first` and from `stop` on by −∞."""
    for j in range(min(max(first, 0), scores.size)):
        scores[j] = NOWHERE
    late = scores[max(min(stop, scores.size), 0) :]
    for j in range(late.size):
        late[j] = NOWHERE


@njit
def fold(q, keys, values, first, stop, bias, slope, softcap, place, state_m, state_l,
         state_o):  # fmt: skip
    """Take a block of queries through all keys it sees.

    q (strips, d, ROWS), in base 2; keys (panels, d, PANEL); values (n, columns); first,
    stop (queries,), the keys each sees;
    bias (queries, keys) or empty; place is where the first query stands. The state is m
    (queries,), l (queries, LANES), o (queries, columns).
    """
    _, d, _ = q.shape
    n, columns = values.shape[0], state_o.shape[1]
    seen = first.size
    scores, tile = aligned(ROWS, TILE), aligned(TILE, columns)
    tile[:] = 0
    at_q, at_keys, at_tile = address(q), address(keys), address(tile)
    at_m, at_l, at_o = address(state_m), address(state_l), address(state_o)
    at_scores = address(scores)
    row, o_row, panel = TILE * 4, columns * 4, d * PANEL * 4
    for start in range(first[0] // TILE * TILE, stop[seen - 1], TILE):
        end = min(start + TILE, n)
        for j in range(end - start):
            copy(values[start + j], tile[j])
        for top in range(0, seen, ROWS):
            last = min(top + ROWS, seen) - 1
            low, high = max(first[top], start), min(stop[last], end)
            if low >= high:
                continue
            begin, used = start // PANEL, (high - start + PANEL - 1) // PANEL
            for p in range(used):
                product_set(
                    at_q + top * d * 4, 4, ROWS * 4,
                    at_keys + (begin + p) * panel, PANEL * 4,
                    at_scores + p * PANEL * 4, row, d,
                )  # fmt: skip
            width = used * PANEL
            if softcap > 0:
                for r in range(ROWS):
                    cap(scores[r, :width], softcap)
            if slope != 0 or bias.size > 0:
                for r in range(last + 1 - top):
                    i = top + r
                    near = scores[r, : end - start]
                    if slope != 0:
                        penalise(near, slope, place + i - start)
                    if bias.size > 0:
                        shift(near, bias[i, start:end])
            if first[last] > start or stop[top] < start + width:
                for r in range(last + 1 - top):
                    hide(scores[r, :width], first[top + r] - start, stop[top + r] - start)
            absorb(
                at_scores, row, used * VECTORS,
                at_m + top * 4, at_l + top * LANES * 4, at_o + top * o_row, columns // LANES,
            )  # fmt: skip
            # Keys that no row of the strip sees are left out: their values are not read.
            at_p = at_scores + (low - start) * 4
            at_v = at_tile + (low - start) * o_row
            column = 0
            while column + PANEL <= columns:
                product_add(
                    at_p, row, 4, at_v + column * 4, o_row,
                    at_o + top * o_row + column * 4, o_row, high - low,
                )  # fmt: skip
                column += PANEL
            while column < columns:
                product_add_one(
                    at_p, row, 4, at_v + column * 4, o_row,
                    at_o + top * o_row + column * 4, o_row, high - low,
                )  # fmt: skip
                column += LANES


@kernel
def attend(q, keys, values, first, stop, bias, slope, softcap, place, sink, factor, out,
           lse):  # fmt: skip
    """Write the output and the logsumexp of a block of queries.

    As for `fold`; q is as it came, to be multiplied by `factor`. The sink is the score,
    in base 2, of one more key, whose value is 0; −∞ is none.
    """
    queries, d = q.shape
    height = (queries + ROWS - 1) // ROWS * ROWS
    scaled = aligned(height, d).reshape((height // ROWS, d, ROWS))
    m = np.full(height + LANES, sink, np.float32)  # vectors reach beyond the last row
    l = aligned(height, LANES)
    o = aligned(height, (values.shape[1] + LANES - 1) // LANES * LANES)
    l[:] = 0
    o[:] = 0
    scaled[-1] = 0
    for i in range(queries):
        l[i, 0] = sink > NOWHERE  # the weight of the sink, measured from its own score
        for c in range(d):
            scaled[i // ROWS, c, i % ROWS] = q[i, c] * factor
    fold(scaled, keys, values, first, stop, bias, slope, softcap, place, m, l, o)
    for i in range(queries):
        total = np.float32(0)
        for lane in range(LANES):
            total += l[i, lane]
        lse[i] = (m[i] + np.log2(np.float64(total))) / LOG2_E
        inverse = np.float32(1) / total if total != 0 else np.float32(0)
        for c in range(out.shape[1]):
            out[i, c] = o[i, c] * inverse


@kernel
def pack(keys, panels):
    """Put keys (n, d) side by side: panels (panels, d, PANEL), filled up with 0."""
    n, d = keys.shape
    for p in range(panels.shape[0]):
        for left in range(0, PANEL, LANES):
            top = p * PANEL + left
            for c in range(d):
                for j in range(LANES):
                    own = keys[top + j, c] if top + j < n else np.float32(0)
                    panels[p, c, left + j] = own


class Packed(NamedTuple):
    """The keys and values of a head, as the kernel reads them."""

    keys: Rows32  # (panels, d, PANEL)
    values: Rows32  # (n, columns), filled up to whole vectors


class Work(NamedTuple):
    """A block of queries of one head."""

    head: inputs.OneHead
    seen: Head
    packed: Packed
    rows: slice


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: ArrayLike | None = None,
    out: Rows32 | None = None,
    return_lse: bool = False,
    threads: int | None = None,
):
    asked = inputs.attention(q, k, v, scale, softcap, sinks)
    threads = threads_of(threads)
    out = np.empty(asked.output, asked.dtype)
    lse = np.empty(asked.shape[:-1], np.float32)
    packed = None
    shared = None
    for head in asked.heads():
        seen = head_of(mask, asked.shape, head.at)
        if shared != head.shared:
            packed = packed_head(head, threads); shared = head.shared
        blocks = [Work(head, seen, packed, rows) for rows in inputs.blocks(seen.queries, BLOCK)]
        share(lambda work: block(asked, work, out[work.head.at], lse[work.head.at]), blocks, threads)
    return (out, lse) if return_lse else out

def packed_head(head, threads):
    n, d = head.k.shape
    panels = -(-n // TILE) * PANELS
    whole = np.empty(panels * d * PANEL + 16, np.float32)
    skip = -whole.ctypes.data % 64 // 4
    keys = whole[skip : skip + panels * d * PANEL].reshape(panels, d, PANEL)
    def one(at):
        own = head.k[at * PANEL:(at + 16) * PANEL]
        pack(np.ascontiguousarray(own, np.float32), keys[at:at + 16])
    share(one, range(0, panels, 16), threads)
    return Packed(keys, np.ascontiguousarray(head.v, np.float32))

EMPTY = np.empty((0, 0), np.float32)
def block(asked, work, out, lse):
    head, seen, packed, rows = work
    first, stop = seen.interval(np.arange(rows.start, rows.stop))
    q = np.ascontiguousarray(head.q[rows], np.float32)
    slope = 0.0 if seen.slope is None else float(seen.slope) * LOG2_E
    bias = EMPTY
    if seen.biases or not (seen.documents is None or seen.documents.whole):
        bias = seen.apply(np.zeros((rows.stop-rows.start, seen.keys), np.float32), rows) * np.float32(LOG2_E)
        slope = 0.0
    first = np.broadcast_to(first, stop.shape).astype(np.int64); stop = np.maximum(stop, 0).astype(np.int64)
    attend(q, packed.keys, packed.values, first, stop, bias, np.float32(slope),
        np.float32((asked.softcap or 0) * LOG2_E), rows.start + seen.keys - seen.queries, np.float32(head.sink * LOG2_E),
        np.float32(asked.scale * LOG2_E), out[rows], lse[rows])
