"""What a worker does: it reads a chunk of keys, folds it, and leaves a state.

Such a task has no side effects: while the store does not change, any worker gets the
same state, any number of times. So a dead worker's chunks can simply be computed again.
A chunk that changed after the run began is an error.
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
from tiledattention.cpu import arguments, forward


class Seen(NamedTuple):
    """What the queries of one head see of a chunk; indices count from its first key."""

    first: NDArray[np.int64]  # (queries,): a query sees the keys first … stop − 1
    stop: NDArray[np.int64]
    place: int  # the index of the first query, which may lie beyond the chunk
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
        """Whether some query sees a key of the chunk."""
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
    """Return the state of all queries over one chunk, in float64.

    `keys` and `values` may have fewer heads than q: neighbours then share one. `seen`
    has an entry for each head, and `at` says where the chunk lies among all keys.
    """
    try:
        return _fold(q, read(keys), read(values), seen, scale)
    except ClusterError:
        raise
    except Exception as error:
        raise ClusterError(f"{span(at)}: {reason(error)}") from error


def _fold(q: Array, k: Array, v: Array, seen: list[Seen], scale: float) -> State:
    """As `fold`, for numbers that have been read."""
    asked, _ = arguments.attention(q, k, v, scale, None, None)
    m, l = np.empty((2, *asked.shape[:-1]))
    o = np.empty(asked.output)
    for head, own in zip(asked.heads(), seen, strict=True):
        bias = own.bias()
        for rows in inputs.blocks(head.q.shape[0], arguments.LARGEST):
            place = own.place + np.arange(rows.start, rows.stop)
            slope, sink = np.full((2, place.size), [[own.slope], [-np.inf]], np.float32)
            visible = arguments.Rows(
                own.first[rows], own.stop[rows], place, slope, sink, bias[rows]
            )
            state = forward.state_of(asked, head, rows, visible)
            m[head.at][rows], l[head.at][rows], o[head.at][rows] = state
    return State(m, l, o)


def fold_row(scores: Part, values: Part, *, at: slice) -> State:
    """Return the state of one chunk of scores and values, in float64."""
    try:
        return State.of(*(read(part).astype(np.float64) for part in (scores, values)))
    except ClusterError:
        raise
    except Exception as error:
        raise ClusterError(f"{span(at)}: {reason(error)}") from error
