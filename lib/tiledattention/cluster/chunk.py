"""What a worker does: it reads a chunk of keys, folds it, and leaves a state.

Such a task changes nothing, and as long as the store stays as it is, whoever runs it, and
however often, gets the same state. That is all it takes for a dead worker's chunks to be
computed again. A chunk that is no longer what it was when the run began is an error.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinesoftmax import inputs
from onlinesoftmax.inputs import Array
from onlinesoftmax.masks import Head
from onlinesoftmax.state import State
from tiledattention.cluster.faults import ClusterError, reason, span
from tiledattention.cluster.sources import Part, read
from tiledattention.cpu import forward, given


class Seen(NamedTuple):
    """What the queries of one head see of a chunk; places count from its first key."""

    first: NDArray[np.int64]  # (queries,): a query sees the keys first … stop − 1
    stop: NDArray[np.int64]
    place: int  # of the first query; the chunk may end before it
    slope: np.float32
    asking: NDArray[np.int64]  # the document of each query, or nothing
    asked: NDArray[np.int64]  # that of each key
    biases: tuple[Array, ...]  # (queries, keys)

    @classmethod
    def of(cls, head: Head) -> "Seen":
        """Return what a head sees of all its keys."""
        rows, place = np.arange(head.queries), head.keys - head.queries
        first, stop = (
            np.broadcast_to(x, rows.shape).astype(np.int64) for x in head.interval(rows)
        )
        asking = asked = np.empty(0, np.int64)
        if head.documents is not None and not head.documents.whole:
            asked = head.documents.ids
            asking = asked[rows + place]
        slope = np.float32(head.slope or 0)
        return cls(first, stop, place, slope, asking, asked, head.biases)

    def part(self, keys: slice) -> "Seen":
        """Return what they see of some of these keys."""
        first, stop = (
            np.clip(x, keys.start, keys.stop) - keys.start
            for x in (self.first, self.stop)
        )
        return self._replace(
            first=first,
            stop=np.maximum(first, stop),
            place=self.place - keys.start,
            asked=self.asked[keys],
            biases=tuple(each[:, keys] for each in self.biases),
        )

    @property
    def anything(self) -> bool:
        """Whether some query sees something of the chunk."""
        return bool((self.first < self.stop).any())

    def bias(self) -> Array:
        """Return what is added to the scores (queries, keys), −∞ for other documents."""
        if not self.biases and not self.asking.size:
            return np.empty((0, 0), np.float32)
        total = np.asarray(sum(each.astype(np.float32) for each in self.biases))
        if self.asking.size:
            other = self.asking[:, None] != self.asked
            total = np.where(other, -np.inf, total).astype(np.float32)
        return np.ascontiguousarray(total)


def fold(
    q: Array, keys: Part, values: Part, *, seen: list[Seen], scale: float, at: slice
) -> State:
    """Return the state of all queries over one chunk.

    Parameters
    ----------
    q : ndarray, (..., heads, queries, d) or (queries, d)
    keys, values : part of a source
        They may have fewer heads than q: neighbours then share one.
    seen : list of Seen
        Of each head.
    scale : float
    at : slice
        Where the chunk lies among all keys.

    Returns
    -------
    State, float64
        m and l (..., heads, queries), o (..., heads, queries, columns).
    """
    try:
        return _fold(q, read(keys), read(values), seen, scale)
    except ClusterError:
        raise
    except Exception as error:
        raise ClusterError(f"{span(at)}: {reason(error)}") from error


def _fold(q: Array, k: Array, v: Array, seen: list[Seen], scale: float) -> State:
    """The same for numbers that have been read."""
    asked, _ = given.attention(q, k, v, scale, None, None)
    m, l = np.empty((2, *asked.shape[:-1]))
    o = np.empty(asked.output)
    packed: dict[tuple[int, ...], given.Panels] = {}
    for head, own in zip(asked.heads(), seen, strict=True):
        if head.shared not in packed:  # neighbours: only the last one is needed again
            packed = {head.shared: given.Panels.of([head.k], 1)}
        panels, bias = packed[head.shared].own[0], own.bias()
        for rows in inputs.blocks(head.q.shape[0], given.LARGEST):
            visible = given.Rows(
                own.first[rows], own.stop[rows], own.place + rows.start, own.slope,
                bias[rows],
            )  # fmt: skip
            state = forward.state_of(asked, head, panels, rows, visible)
            m[head.at][rows], l[head.at][rows], o[head.at][rows] = state
    return State(m, l, o)


def fold_row(scores: Part, values: Part, *, at: slice) -> State:
    """Return the state of one chunk of scores and values.

    Parameters
    ----------
    scores : part of a source, (..., n)
    values : part of a source, (..., n) or (..., n, d)
    at : slice
        Where the chunk lies among all scores.

    Returns
    -------
    State, float64
    """
    try:
        return State.of(*(read(part).astype(np.float64) for part in (scores, values)))
    except ClusterError:
        raise
    except Exception as error:
        raise ClusterError(f"{span(at)}: {reason(error)}") from error
