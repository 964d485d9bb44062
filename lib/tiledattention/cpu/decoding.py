"""One query and many keys: a model that writes a token reads its whole KV cache.

There is little to compute, and all keys and values come from memory once. So threads
share the keys instead of the queries. Each part of the keys leaves a state for each query,
and the states are merged.
"""

# mypy: disable-error-code="no-untyped-def"
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from onlinesoftmax import inputs, streaming
from onlinesoftmax.inputs import Array
from onlinesoftmax.masks import Head, Mask, head_of
from tiledattention.cpu import arguments, folding
from tiledattention.cpu.pool import share, threads_of
from tiledattention.cpu.tiles import TILE

PARTS = 16  # of the keys, at most, whatever the number of threads
SMALLEST = 8192  # keys of a part
MOST = arguments.SMALLEST  # queries of a head that are not shared out among threads


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

    It is `attention`, but threads share the keys instead of the queries; `attention` does
    the same where a head has no more than MOST queries. The answer is the same, to the last
    bit, for any number of threads.

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
    """Return whether there are too few queries to share out among threads."""
    return asked.q.shape[-2] <= MOST


def write(
    asked: inputs.Attention, mask: Mask | None, out: Array, lse: Array, threads: int
) -> None:
    """Write the output and the logsumexp of each row, from the states of all parts."""
    heads = ((head, head_of(mask, asked.shape, head.at)) for head in asked.heads())
    if not asked.q.shape[-2]:
        return
    groups = [
        Sharing.of(asked, list(sharing))
        for _, sharing in groupby(heads, lambda own: own[0].shared)
    ]
    tasks = [(own, at) for own in groups for at in range(len(own.parts))]
    share(lambda task: task[0].fold(task[1]), tasks, threads)
    for own in groups:
        own.finish(asked, out, lse)


class Sharing(NamedTuple):
    """The queries of all heads that share their keys, one after another."""

    heads: list[tuple[inputs.OneHead, Head]]
    problem: folding.Problem
    parts: list[slice]  # of the keys, as far as some query sees them
    m: arguments.Floats  # (parts, rows), the states
    l: arguments.Floats
    o: arguments.Floats  # (parts, rows, columns)

    @classmethod
    def of(
        cls, asked: inputs.Attention, heads: list[tuple[inputs.OneHead, Head]]
    ) -> "Sharing":
        """Return the queries of heads, as the kernel reads them."""
        (first, seen), *more = heads
        all_rows = slice(0, seen.queries)
        own = [arguments.Rows.of(seen, all_rows, head.sink) for head, seen in heads]
        rows = own[0]
        if more:
            rows = arguments.Rows(*(np.concatenate(each) for each in zip(*own)))
        q = np.concatenate([head.q for head, _ in heads]) if more else first.q
        low, high = rows.first.min(initial=0), rows.stop.max(initial=0)
        size = max(-(-seen.keys // PARTS // TILE) * TILE, SMALLEST)
        parts = [
            keys
            for keys in inputs.blocks(seen.keys, size)
            if keys.start == 0 or low < keys.stop and keys.start < high
        ] or [slice(0, 0)]  # the sinks are with the first part
        states = folding.room_for_states(len(parts), len(q), first.v.shape[-1])
        problem = folding.Problem.of(asked, q, rows, few=len(q) <= folding.MOST)
        return cls(heads, problem, parts, *states)

    def fold(self, at: int) -> None:
        """Leave the states of all queries over one part of the keys."""
        (head, _), keys = self.heads[0], self.parts[at]
        states = self.m[at], self.l[at], self.o[at]
        self.problem.fold(head.k[keys], head.v[keys], keys.start, *states)

    def finish(self, asked: inputs.Attention, out: Array, lse: Array) -> None:
        """Write the answers of heads that share their keys."""
        for at, (head, seen) in enumerate(self.heads):
            to, sums, rows = out[head.at], lse[head.at], slice(0, seen.queries)
            answer, first = arguments.answer(to), at * seen.queries
            if not folding.unite(self.m, self.l, self.o, first, answer, sums):
                answer, sums[...] = streaming.answer(asked, head, seen, rows, TILE)
            if answer is not to:
                to[...] = answer
