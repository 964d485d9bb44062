"""The gradients of attention on a CPU, with weights recomputed tile by tile.

The keys are cut into parts, and a part into tiles. Each tile meets all queries that see
it, a block at a time: scores and dP are computed in strips, weights and dS overwrite
them, and three products add these to dV, dK and dQ. Each part has a dQ of its own, and
these are added up in the order of the parts, so the number of threads changes no bit.
"""

# mypy: disable-error-code="no-untyped-def"
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from onlinesoftmax import backward, inputs
from onlinesoftmax.dense import Gradients, Sums
from onlinesoftmax.masks import Head, Mask
from tiledattention.cpu import arguments
from tiledattention.cpu.arguments import Floats
from tiledattention.cpu.compiled import inner, kernel
from tiledattention.cpu.lanes import LANES
from tiledattention.cpu.pool import share, threads_of
from tiledattention.cpu.steps import (
    LOG2_E,
    PANEL,
    ROWS,
    address,
    differ,
    product_set,
)
from tiledattention.cpu.tiles import add_rows, carve, copy, dress, side_by_side, whole

TILE = 192  # keys: whole strips and whole panels, on any machine
BLOCK = 96  # queries: whole strips
PARTS = 8  # of all heads together, at least, if there are enough keys
NO_BIAS = np.empty((0, 0), np.float32)


def attention_grad(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    o: ArrayLike,
    lse: ArrayLike,
    do: ArrayLike,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: ArrayLike | None = None,
    threads: int | None = None,
) -> Gradients:
    """Return the gradients of an attention, at the speed of this machine.

    They are the same, to the last bit, for any number of threads.

    Parameters
    ----------
    q, k, v, mask, scale, softcap, sinks, threads
        As for `attention`.
    o : array_like, (..., heads, queries, columns)
        The output of the attention.
    lse : array_like, (..., heads, queries), float32 or float64
        What `attention` returns with `return_lse=True`.
    do : array_like, (..., heads, queries, columns)
        The gradient of the loss by the output.

    Returns
    -------
    Gradients
        In the widest dtype of q, k and v.

    Notes ----- Sums are of float32. If a gradient is not finite, all are computed once
    more, slowly, by `onlinesoftmax.backward`.

    Examples
    --------
    >>> from tiledattention.cpu import attention
    >>> q, k, v, do = (np.float32(x) for x in ([[1]], [[1], [0]], [[5], [7]], [[1]]))
    >>> o, lse = attention(q, k, v, return_lse=True)
    >>> attention_grad(q, k, v, o, lse, do).q.round(4)
    array([[-0.3932]], dtype=float32)
    """
    asked, dtype = arguments.attention(q, k, v, scale, softcap, sinks)
    if o is None:
        raise ValueError("o: expected the output of the attention, got None")
    o, lse, do = (
        x.astype("f4") if arguments.is_bfloat16(x) else x
        for x in map(inputs.array, ("o", "lse", "do"), (o, lse, do))
    )
    forward = backward.check_forward(asked, o, lse, do)
    sums, threads = Sums.zeros(asked, np.dtype(np.float32)), threads_of(threads)
    for group in arguments.groups(asked, mask):
        parts = parts_of(asked.k.shape[-2], len(group))
        sharing = [
            [Queries.of(asked, forward, *own) for own in own] for _, own in group
        ]
        added = [np.zeros((len(x), len(parts), *x[0].q.shape), "f4") for x in sharing]
        tasks = [
            (queries, dq[:, at], keys)
            for queries, dq in zip(sharing, added)
            for at, keys in enumerate(parts)
        ]
        share(lambda task: _add_part(asked, sums, *task), tasks, threads)
        for queries, dq in zip(sharing, added):
            for own, parts_of_dq in zip(queries, dq):
                own.finish(asked, sums, parts_of_dq)
    answer = sums.rounded(np.dtype(np.float32), sinks)
    if not all(x is None or np.isfinite(x).all() for x in answer):
        answer = backward.attention_grad(
            asked.q, asked.k, asked.v, *forward, mask=mask, scale=scale, softcap=softcap,
            sinks=sinks,
        )  # fmt: skip
    *of_rows, of_sinks = answer
    dq, dk, dv = (x.astype(dtype) for x in of_rows)
    return Gradients(dq, dk, dv, None if of_sinks is None else of_sinks.astype(dtype))


def parts_of(keys: int, heads: int) -> list[slice]:
    """Return the parts of the keys, in whole tiles: fewer if there are many heads."""
    parts = max(PARTS // heads, 1)
    size = -(-max(keys, 1) // (TILE * parts)) * TILE
    return list(inputs.blocks(keys, size))


class Queries(NamedTuple):
    """The queries of a head, as the kernel reads them: in whole strips and vectors."""

    head: inputs.OneHead
    seen: Head
    q: Floats  # (rows, d), times scale · log₂ e
    do: Floats  # (rows, columns)
    lse: Floats  # (rows,), in base 2; ∞ where nothing is seen
    delta: Floats  # (rows,)

    @classmethod
    def of(cls, asked, forward, head: inputs.OneHead, seen: Head) -> "Queries":
        """Return the queries of a head."""
        o, lse, do = (x[head.at] for x in forward)
        rows = -(-len(lse) // ROWS) * ROWS
        q = padded(head.q, rows)
        q *= np.float32(asked.scale * LOG2_E)
        base_2 = np.full(rows, np.inf, np.float32)
        base_2[: len(lse)] = np.where(lse == -np.inf, np.inf, lse * LOG2_E)
        delta = np.zeros(rows, np.float32)
        delta[: len(lse)] = np.einsum("ij,ij->i", o, do, dtype=np.float64)
        return cls(head, seen, q, padded(do, rows), base_2, delta)

    def finish(self, asked, sums: Sums, parts: Floats) -> None:
        """Add up the dQ of all parts of the keys, and the gradient of the sink."""
        queries, d = self.head.q.shape
        for part in parts:
            sums.q[self.head.at] += part[:queries, :d]
        sums.q[self.head.at] *= np.float32(asked.scale)
        if self.head.sink != -np.inf:  # a key of value 0: its dP is 0
            p = np.exp2(self.head.sink * LOG2_E - self.lse.astype(np.float64))
            sums.sinks[self.head.at[-1:] or 0] -= np.float32(p @ self.delta)


def padded(x, rows: int) -> Floats:
    """Return rows as float32, padded with 0 to `rows` rows and whole vectors."""
    columns = -(-x.shape[1] // LANES) * LANES
    wide = arguments.aligned(rows * columns).reshape(rows, columns)
    wide[:] = 0
    wide[: len(x), : x.shape[1]] = x
    return wide


def _add_part(
    asked, sums: Sums, sharing: list[Queries], dq: Floats, keys: slice
) -> None:
    """Add the gradients of some keys, over all heads that share them, and their dQ."""
    head = sharing[0].head
    k, v = arguments.plain(head.k[keys]), arguments.plain(head.v[keys])
    height = -(-len(k) // TILE) * TILE
    dk = np.zeros((height, sharing[0].q.shape[1]), np.float32)
    dv = np.zeros((height, sharing[0].do.shape[1]), np.float32)
    room = arguments.ROOM.of(
        (TILE, k.shape[1]), (TILE, v.shape[1]), (TILE, dk.shape[1]), (BLOCK, TILE),
        (BLOCK, TILE),
    )  # fmt: skip
    softcap = np.float32((asked.softcap or 0) * LOG2_E)
    for own, dq_own in zip(sharing, dq):
        biased = not own.seen.plain and own.seen.slope is None
        size = BLOCK if biased else max(own.seen.queries, 1)
        for rows in inputs.blocks(own.seen.queries, size):
            seen = arguments.Rows.of(own.seen, rows, keys)
            strips = -(-(rows.stop - rows.start) // ROWS)
            some = slice(rows.start, rows.start + strips * ROWS)
            accumulate(
                own.q[some], own.do[some], own.lse[some], own.delta[some], k, v,
                seen.first - keys.start, seen.stop - keys.start, seen.place - keys.start,
                seen.slope, seen.bias, softcap, dq_own[some], dk, dv, room,
            )  # fmt: skip
    sums.k[head.shared][keys] = dk[: len(k), : k.shape[1]] / np.float32(LOG2_E)
    sums.v[head.shared][keys] = dv[: len(v), : v.shape[1]]


@kernel
def accumulate(q, do, lse, delta, k, v, first, stop, place, slope, bias, softcap, dq, dk,
               dv, room):  # fmt: skip
    """Add the products of some keys and all queries to dQ, dK and dV.

    q, dq (rows, d), do (rows, columns), lse and delta (rows,), all in whole strips; k
    (n, d), v (n, columns); first, stop (queries,), place, slope, bias, softcap as for
    `attend`, counted from the first of the keys; dk (n, d) and dv (n, columns), in
    whole tiles; `room` is working memory.
    """
    n, queries = k.shape[0], first.size
    kt, at = carve(room, 0, TILE, k.shape[1])
    vt, at = carve(room, at, TILE, v.shape[1])
    tile, at = carve(room, at, TILE, dq.shape[1])
    s, at = carve(room, at, BLOCK, TILE)
    ds, at = carve(room, at, BLOCK, TILE)
    kt = kt.reshape((TILE // PANEL, k.shape[1], PANEL))
    vt = vt.reshape((TILE // PANEL, v.shape[1], PANEL))
    for start in range(0, n, TILE):
        keys = min(TILE, n - start)
        side_by_side(k[start : start + keys], kt)
        side_by_side(v[start : start + keys], vt)
        for j in range(keys):
            copy(k[start + j], tile[j])
        for top in range(0, queries, BLOCK):
            end = min(top + BLOCK, queries)
            if stop[end - 1] <= start or first[top] >= start + keys:
                continue
            height, width = whole(end - top, ROWS), whole(keys, PANEL)
            multiply(q[top : top + height], kt[: width // PANEL], s)
            multiply(do[top : top + height], vt[: width // PANEL], ds)
            plain = softcap == 0 and slope == 0 and bias.size == 0
            inside = first[end - 1] <= start and stop[top] >= start + width
            for i in range(height):
                row, own, at_i = s[i, :width], ds[i, :width], top + i
                if at_i >= end or (plain and inside):
                    differ(address(row), address(own), width // LANES, lse[at_i],
                           delta[at_i])  # fmt: skip
                else:
                    added = (
                        bias[at_i, start : start + keys] if bias.size > 0 else row[:0]
                    )
                    differ_dressed(row, own, lse[at_i], delta[at_i], softcap, slope,
                                   place + at_i - start, added, first[at_i] - start,
                                   stop[at_i] - start)  # fmt: skip
            add_products(s, ds, q[top : top + height], do[top : top + height],
                         tile[:keys], dq[top:], dk[start:], dv[start:])  # fmt: skip


@inner
def add_products(weights, ds, q, do, k, dq, dk, dv):
    """Add weightsᵀ dO to dV, dSᵀ Q to dK and dS K to dQ, for a block and a tile."""
    for key in range(0, len(k), ROWS):
        add_rows(address(weights) + key * 4, 4, TILE * 4, do, dv[key:])
        add_rows(address(ds) + key * 4, 4, TILE * 4, q, dk[key:])
    for row in range(0, len(q), ROWS):
        add_rows(address(ds) + row * TILE * 4, TILE * 4, 4, k, dq[row:])


@inner
def differ_dressed(row, own, lse, delta, softcap, slope, place, added, first, stop):
    """As `differ`, for scores that `dress` changes first."""
    bare = row.copy()
    dress(row, softcap, slope, place, added, first, stop)
    differ(address(row), address(own), row.size // LANES, lse, delta)
    if softcap > 0:
        for j in range(row.size):
            tanh = np.tanh(bare[j] / softcap)
            own[j] *= 1 - tanh * tanh


@inner
def multiply(rows, panels, to):
    """Put rows (height, d…) times panels (panels, d, PANEL) into `to` (height, TILE)."""
    d = panels.shape[1]
    row, panel = rows.shape[1] * 4, d * PANEL * 4
    for p in range(panels.shape[0]):
        for top in range(0, rows.shape[0], ROWS):
            product_set(
                address(rows) + top * row, row, 4, address(panels) + p * panel, PANEL * 4,
                address(to) + (top * TILE + p * PANEL) * 4, TILE * 4, d,
            )  # fmt: skip
