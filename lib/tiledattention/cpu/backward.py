"""The gradients of attention on a CPU, with weights recomputed tile by tile.

The keys are cut into parts, and a part into tiles. Each tile meets all queries that see
it, a block at a time: scores and dP are computed in strips, weights and dS overwrite
them, and three products add these to dV, dK and dQ. Each part has a dQ of its own, and
these are added up in the order of the parts, so the number of threads changes no bit.
"""

# mypy: disable-error-code="no-untyped-def"
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from onlinesoftmax import backward, inputs
from onlinesoftmax.dense import Gradients, Sums
from onlinesoftmax.masks import Head, Mask, head_of
from tiledattention.cpu import arguments
from tiledattention.cpu.arguments import Floats
from tiledattention.cpu.compiled import inner, kernel
from tiledattention.cpu.lanes import LANES
from tiledattention.cpu.pool import share, threads_of
from tiledattention.cpu.steps import LOG2_E, PANEL, ROWS, address, differ, product_set
from tiledattention.cpu.tiles import (
    add_rows,
    dress,
    rows_of,
    side_by_side,
    whole,
)

TILE = 128  # keys: whole panels, on any machine
WIDE = TILE + 16  # numbers of a row: a strip of keys may reach beyond the tile
BLOCK = 96  # queries: whole strips
PARTS = 8  # of all heads together, at least, if there are enough keys
TOGETHER = 2**20  # numbers of the keys of the heads that are computed together


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

    Notes
    -----
    Sums are of float32. If a gradient is not finite, all are computed once more, slowly, by
    `onlinesoftmax.backward`.

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
    for group in groups(asked, mask):
        parts = parts_of(asked.k.shape[-2], len(group))
        sharing = [[Queries.of(asked, forward, *own) for own in own] for own in group]
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
    dq, dk, dv = (x.astype(dtype, copy=False) for x in of_rows)
    return Gradients(dq, dk, dv, None if of_sinks is None else of_sinks.astype(dtype))


Heads: TypeAlias = list[tuple[inputs.OneHead, Head]]


def groups(asked: inputs.Attention, mask: Mask | None) -> Iterator[list[Heads]]:
    """Yield the heads, those that share keys together, as many as have room for dQ."""
    heads = ((head, head_of(mask, asked.shape, head.at)) for head in asked.heads())
    group: list[Heads] = []
    for _, sharing in groupby(heads, lambda own: own[0].shared):
        group.append(list(sharing))
        if len(group) * group[0][0][0].k.size >= TOGETHER:
            yield group
            group = []
    if group:
        yield group


def parts_of(keys: int, heads: int) -> list[slice]:
    """Return the parts of the keys, in whole panels: fewer if there are many heads."""
    parts = max(PARTS // heads, 1)
    return list(inputs.blocks(keys, max(-(-keys // (PANEL * parts)), 1) * PANEL))


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
        q = padded(head.q, rows, asked.scale * LOG2_E)
        base_2 = np.full(rows, np.inf, np.float32)
        base_2[: len(lse)] = np.where(lse == -np.inf, np.inf, lse * LOG2_E)
        delta = np.zeros(rows, np.float32)
        delta[: len(lse)] = np.einsum("ij,ij->i", o, do, dtype=np.float64)
        return cls(head, seen, q, padded(do, rows), base_2, delta)

    def finish(self, asked, sums: Sums, parts: Floats) -> None:
        """Add up the dQ of all parts of the keys, and the gradient of the sink."""
        queries, d = self.head.q.shape
        total = sums.q[self.head.at]
        np.add.reduce(parts[:, :queries, :d], 0, out=total)
        total *= np.float32(asked.scale)
        if self.head.sink != -np.inf:  # a key of value 0: its dP is 0
            p = np.exp2(self.head.sink * LOG2_E - self.lse.astype(np.float64))
            sums.sinks[self.head.at[-1:] or 0] -= np.float32(p @ self.delta)


def padded(x, rows: int, factor: float = 1) -> Floats:
    """Return rows times a factor, padded with 0 to `rows` rows and whole vectors."""
    wide = np.zeros((rows, -(-x.shape[1] // LANES) * LANES), np.float32)
    np.multiply(x, np.float32(factor), out=wide[: len(x), : x.shape[1]])
    return wide


def _add_part(
    asked, sums: Sums, sharing: list[Queries], dq: Floats, keys: slice
) -> None:
    """Add the gradients of some keys, over all heads that share them, and their dQ."""
    head = sharing[0].head
    k, v = arguments.plain(head.k[keys]), arguments.plain(head.v[keys])
    height = len(k) + ROWS
    dk = np.zeros((height, sharing[0].q.shape[1]), np.float32)
    dv = np.zeros((height, sharing[0].do.shape[1]), np.float32)
    tiles = (TILE, dk.shape[1]), (TILE, dv.shape[1])
    room = arguments.ROOM.of(*tiles, *tiles, (BLOCK, WIDE), (BLOCK, WIDE))
    softcap = np.float32((asked.softcap or 0) * LOG2_E)
    for own, dq_own in zip(sharing, dq):
        biased = not own.seen.plain and own.seen.slope is None
        size = BLOCK if biased else max(own.seen.queries, 1)
        for rows in inputs.blocks(own.seen.queries, size):
            seen = arguments.Rows.of(own.seen, rows, keys=keys).in_base_2()
            strips = -(-(rows.stop - rows.start) // ROWS)
            some = slice(rows.start, rows.start + strips * ROWS)
            accumulate(
                own.q[some], own.do[some], own.lse[some], own.delta[some], k, v,
                seen.plain and not asked.softcap, seen.first - keys.start,
                seen.stop - keys.start, seen.place - keys.start,
                seen.slope, seen.bias, softcap, dq_own[some], dk, dv, *room,
            )  # fmt: skip
    to = sums.k[head.shared][keys]
    np.divide(dk[: len(k), : k.shape[1]], np.float32(LOG2_E), out=to)
    sums.v[head.shared][keys] = dv[: len(v), : v.shape[1]]


@kernel
def accumulate(q, do, lse, delta, k, v, plain, first, stop, place, slope, bias, softcap,
               dq, dk, dv, k_tile, v_tile, kt, vt, s, ds):  # fmt: skip
    """Add the products of some keys and all queries to dQ, dK and dV.

    q, dq (rows, d), do (rows, columns), lse and delta (rows,), all in whole strips; k
    (n, d), v (n, columns); plain, first, stop, place, slope, bias, softcap as for
    `fold`, counted from the first of the keys; dk (n, d) and dv (n, columns), and a strip
    more. It works in tiles as rows and in panels, and in S and dS.
    """
    n, queries, d, columns = k.shape[0], first.size, dq.shape[1], dv.shape[1]
    s_at, ds_at, line = address(s), address(ds), WIDE * 4
    for start in range(0, n, TILE):
        keys = min(TILE, n - start)
        width = whole(keys, PANEL)
        k_at = rows_of(k, start, k_tile[:width])
        v_at = rows_of(v, start, v_tile[:width])
        side_by_side(k_at, width, d, address(kt))
        side_by_side(v_at, width, columns, address(vt))
        for top in range(0, queries, BLOCK):
            end = min(top + BLOCK, queries)
            if stop[end - 1] <= start or first[top] >= start + keys:
                continue
            height = whole(end - top, ROWS)
            q_at, do_at = address(q) + top * d * 4, address(do) + top * columns * 4
            multiply(q_at, height, d, address(kt), width, s_at)
            multiply(do_at, height, columns, address(vt), width, ds_at)
            inside = first[end - 1] <= start and stop[top] >= start + width
            for i in range(height):
                own, ds_own, at = s[i, :width], ds[i, :width], top + i
                if at >= end or (plain and inside):
                    differ(address(own), address(ds_own), width // LANES, lse[at],
                           delta[at])  # fmt: skip
                else:
                    added = bias[at, start : start + keys] if bias.size > 0 else own[:0]
                    differ_dressed(own, ds_own, lse[at], delta[at], softcap, slope[at],
                                   place[at] - start, added, first[at] - start,
                                   stop[at] - start)  # fmt: skip
            # dV += weightsᵀ dO, dK += dSᵀ Q and dQ += dS K, for the block and the tile.
            for key in range(0, keys, ROWS):
                to, to_v = (start + key) * d * 4, (start + key) * columns * 4
                add_rows(s_at + key * 4, 4, line, do_at, height, address(dv) + to_v,
                         columns)  # fmt: skip
                add_rows(ds_at + key * 4, 4, line, q_at, height, address(dk) + to, d)
            for i in range(0, height, ROWS):
                to = address(dq) + (top + i) * d * 4
                add_rows(ds_at + i * line, line, 4, k_at, keys, to, d)


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
def multiply(rows, height, d, panels, width, to):
    """Put rows (height, d) times panels (…, d, PANEL) into `to` (height, WIDE).

    All three are addresses; `width` is how many columns there are in all panels.
    """
    for p in range(0, width, PANEL):
        for top in range(0, height, ROWS):
            product_set(
                rows + top * d * 4, d * 4, 4, panels + p * d * 4, PANEL * 4,
                to + (top * WIDE + p) * 4, WIDE * 4, d,
            )  # fmt: skip
