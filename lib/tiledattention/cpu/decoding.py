"""One query and many keys: a model that writes a token reads its whole KV cache.

There is little to compute, and all keys and values come from memory once. So they are
read as they lie, without packing, in parts that threads share. Each part leaves a
state, and the states are merged.
"""

# mypy: disable-error-code="no-untyped-def"
from collections.abc import Iterator
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onlinesoftmax import inputs, streaming
from onlinesoftmax.inputs import Array
from onlinesoftmax.masks import Mask
from onlinesoftmax.state import State, merge
from tiledattention.cpu import arguments
from tiledattention.cpu.compiled import inner, kernel
from tiledattention.cpu.lanes import LANES
from tiledattention.cpu.pool import share, threads_of
from tiledattention.cpu.steps import (
    PANEL,
    STEP,
    address,
    dots,
    row_add,
    row_add_one,
    row_largest,
    row_write,
)
from tiledattention.cpu.tiles import TILE, copy, dress

PARTS = 16  # of the keys, at most, whatever the number of threads
SMALLEST = 8192  # keys of a part
NOWHERE = np.float32(-np.inf)
# For up to 4 queries over keys of at least 2¹⁷ numbers, decoding takes less time
# than tiles do: measured for heads of 16 to 256 numbers, with and without shared keys, and
# with all masks. Where heads share keys, tiles catch up at 4 to 6 queries a head; where
# they do not, at 6 to 24.
FEW, LARGE = 4, 2**17


def decode(
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
    """Return softmax(q kᵀ · scale) v for a few queries and many keys.

    It is `attention`, but the keys are shared between the threads, and are not packed.
    `attention` itself decodes where that is faster: see `pays`. The answer is the same,
    to the last bit, for any number of threads.

    Parameters
    ----------
    q, k, v, mask, scale, softcap, sinks, out, return_lse, threads
        As for `attention`.

    Returns
    -------
    out : ndarray, (..., heads, queries, columns)
    lse : ndarray, (..., heads, queries), float32

    Examples
    --------
    >>> q = k = np.array([[1.0], [2.0]], np.float32)
    >>> decode(q[1:], k, k).round(4)
    array([[1.8808]], dtype=float32)
    """
    inputs.flag("return_lse", return_lse)
    asked, dtype = arguments.attention(q, k, v, scale, softcap, sinks)
    out = arguments.output("out", out, asked.output, dtype, (q, k, v))
    lse = np.empty(asked.shape[:-1], np.float32)
    write(asked, mask, out, lse, threads_of(threads))
    return (out, lse) if return_lse else out


def pays(asked: inputs.Attention) -> bool:
    """Return whether decoding takes less time than tiles do."""
    *_, queries, keys = asked.shape
    return queries <= FEW and keys * asked.q.shape[-1] >= LARGE


def write(
    asked: inputs.Attention, mask: Mask | None, out: Array, lse: Array, threads: int
) -> None:
    """Write the output and the logsumexp of each row, from the states of all parts."""
    groups = [
        SharedKeys.of(asked, heads)
        for group in arguments.groups(asked, mask)
        for _, heads in group
    ]
    tasks = [(own, part) for own in groups for part in own.parts()]
    states: dict[tuple[int, int], State] = {}

    def fold(task: tuple[SharedKeys, slice]) -> None:
        own, keys = task
        states[id(own), keys.start] = own.state_of(keys)

    share(fold, tasks, threads)
    for own in groups:
        parts = [states[id(own), keys.start] for keys in own.parts()]
        _finish(asked, own, parts, out, lse)


class SharedKeys(NamedTuple):
    """The queries of all heads that share their keys, one after another."""

    heads: arguments.Heads
    k: Array  # (n, d)
    v: Array  # (n, columns)
    q: arguments.Floats  # (rows, d), of whole vectors, times the scale
    first: NDArray[np.int64]  # (rows,), the keys that each query sees
    stop: NDArray[np.int64]
    places: NDArray[np.int64]
    slopes: arguments.Floats
    bias: arguments.Floats  # (rows, n), or (0, 0)
    softcap: np.float32

    @classmethod
    def of(cls, asked: inputs.Attention, heads: arguments.Heads) -> "SharedKeys":
        """Return the queries of heads, as the kernel reads them."""
        queries = heads[0][1].queries
        q = np.concatenate([arguments.widened(head.q) for head, _ in heads])
        own = [arguments.Rows.of(seen, slice(0, queries), base=1) for _, seen in heads]
        return cls(
            heads,
            heads[0][0].k,
            heads[0][0].v,
            q * np.float32(asked.scale),
            np.concatenate([rows.first for rows in own]),
            np.concatenate([rows.stop for rows in own]),
            np.concatenate([rows.place + np.arange(queries) for rows in own]),
            np.repeat([rows.slope for rows in own], queries),
            np.concatenate([rows.bias for rows in own]),
            np.float32(asked.softcap or 0),
        )

    def parts(self) -> Iterator[slice]:
        """Yield the parts of the keys that some query sees."""
        first, stop = self.first.min(initial=0), self.stop.max(initial=0)
        size = max(-(-len(self.k) // PARTS // TILE) * TILE, SMALLEST)
        for keys in inputs.blocks(len(self.k), size):
            if first < keys.stop and keys.start < stop:
                yield keys

    def state_of(self, keys: slice) -> State:
        """Return the states of all queries, over some of the keys."""
        k, v = arguments.widened(self.k[keys]), arguments.widened(self.v[keys])
        rows, before = len(self.q), keys.start
        m, l = np.full(rows, NOWHERE), np.zeros(rows, np.float32)
        o = np.zeros((rows, v.shape[1]), np.float32)
        fold_part(
            self.q, k, v, self.first - before, self.stop - before,
            self.places - before, self.slopes, self.bias[:, keys], self.softcap, m, l, o,
        )  # fmt: skip
        return State(m, l, o[:, : self.v.shape[1]])


def _finish(asked, own, states, out, lse) -> None:
    """Write the answers of heads that share their keys."""
    queries = own.heads[0][1].queries
    sinks = np.repeat([head.sink for head, _ in own.heads], queries).astype(np.float32)
    if (sinks > NOWHERE).any() or not states:
        nothing = np.zeros((len(sinks), asked.v.shape[-1]), np.float32)
        states = [State(sinks, (sinks > NOWHERE).astype(np.float32), nothing), *states]
    with np.errstate(invalid="ignore"):
        state = reduce(merge, states)
        answers, sums = state.result(), state.logsumexp()
    for at, (head, seen) in enumerate(own.heads):
        rows = slice(at * queries, (at + 1) * queries)
        if np.isfinite(answers[rows]).all() and (sums[rows] < np.inf).all():
            out[head.at], lse[head.at] = answers[rows], sums[rows]
        else:
            slow = streaming.answer(asked, head, seen, slice(0, queries), TILE)
            out[head.at], lse[head.at] = slow


@kernel
def fold_part(q, k, v, first, stop, places, slopes, bias, softcap, m, l, o):
    """Fold some keys into the states of a few queries.

    q (rows, d); k (n, d); v (n, columns), all of whole vectors; first, stop, places and
    slopes (rows,), counted from the first of these keys; bias (rows, n) or empty. The
    state is m, l (rows,) and o (rows, columns).
    """
    n, d = k.shape
    scores, tile = np.empty(TILE, np.float32), np.zeros((TILE, d), np.float32)
    for start in range(0, n, TILE):
        end = min(start + TILE, n)
        keys = address(k) + start * d * 4
        if end - start < TILE:  # whole vectors of keys are read
            for j in range(end - start):
                copy(k[start + j], tile[j])
            keys = address(tile)
        for i in range(first.size):
            low, high = max(first[i], start) - start, min(stop[i], end) - start
            if low >= high:
                continue
            for j in range(0, TILE, LANES):
                dots(address(q) + i * d * 4, keys + j * d * 4, d * 4, d // LANES,
                     address(scores) + j * 4)  # fmt: skip
            added = bias[i, start:end] if bias.size > 0 else scores[:0]
            dress(scores, softcap, slopes[i], places[i] - start, added, low, high)
            own = row_largest(address(scores), TILE // STEP)
            if own > m[i]:
                alpha = np.exp(m[i] - own)
                m[i] = own
                l[i] *= alpha
                o[i] *= alpha
            l[i] += row_write(address(scores), TILE // STEP, m[i], address(scores))
            weights, values = address(scores) + low * 4, address(v[start + low :])
            add_values(
                weights, values, high - low, address(o) + i * o.shape[1] * 4, o.shape[1]
            )


@inner
def add_values(weights, values, count, to, columns):
    """Add `count` weights times rows of values to a row; all three are addresses."""
    row, left = columns * 4, columns
    while left >= PANEL:
        row_add(weights, 0, 4, values, row, to, row, count)
        values, to, left = values + PANEL * 4, to + PANEL * 4, left - PANEL
    while left > 0:
        row_add_one(weights, 0, 4, values, row, to, row, count)
        values, to, left = values + LANES * 4, to + LANES * 4, left - LANES
