"""What each query sees, and what that makes of a tile: all, some or none of it.

    causal()             hides the keys after the query
    window(left, right)  shows that many keys before the query's place, and after it
    padding(lengths)     shows the first keys of each sequence, and hides the padding
    documents(ids)       shows the keys with the query's own id
    bias(array)          adds any numbers to the scores; −∞ hides
    alibi(slopes)        subtracts a penalty that grows with the distance

`&` combines them. A query's *place* is the index of the key it stands at: the last
query stands at the last key, the query before it at the key before that. Each query
sees an interval of keys, and from one query to the next neither end of the interval
moves back. So the first and the last query of a tile decide about the whole tile,
however large it is.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onlinesoftmax import inputs
from onlinesoftmax.inputs import Array, Integers


@dataclass(frozen=True, eq=False)
class Mask:
    """What each query sees. The functions of this module make masks.

    `Mask()` hides nothing.

    Attributes
    ----------
    left, right : int or inf
        How many keys before and after its own place a query sees.
    lengths : ndarray of int, (...), optional
        How many keys there are, for each sequence of the batch.
    ids : ndarray of int, (..., keys), optional
        The document of each key.
    slopes : ndarray, () or (heads,), optional
        What is subtracted for each key of distance.
    biases : tuple of ndarray
        What is added to the scores; each broadcasts to (..., heads, queries, keys).
    """

    left: float = np.inf
    right: float = np.inf
    lengths: NDArray[np.int64] | None = None
    ids: NDArray[np.int64] | None = None
    slopes: Array | None = None
    biases: tuple[Array, ...] = ()

    def __post_init__(self) -> None:
        for name in ("left", "right"):
            if inputs.real(reach := getattr(self, name)) != np.inf:
                inputs.count(name, reach)
        for name in ("lengths", "ids"):
            if (numbers := getattr(self, name)) is not None:
                inputs.integers(name, numbers)
        if self.slopes is not None:
            inputs.floats("slopes", self.slopes)
        inputs.instance("biases", self.biases, tuple)
        for each in self.biases:
            inputs.floats("biases", each)

    def __and__(self, other: "Mask") -> "Mask":
        """Return the mask that hides what either hides, and adds what both add."""
        if other is None:
            raise ValueError("mask: expected a mask such as causal(), got None")
        other = checked(other)
        return Mask(
            min(self.left, other.left),
            min(self.right, other.right),
            _both("lengths", np.minimum, self.lengths, other.lengths),
            _both("ids", _pairs, self.ids, other.ids),
            _both("slopes", np.add, self.slopes, other.slopes),
            self.biases + other.biases,
        )

    __rand__ = __and__  # for an error that says what came

    def head(self, shape: tuple[int, ...], index: tuple[int, ...] = ()) -> "Head":
        """Return the mask as one head sees it.

        `shape` is that of all scores, (..., heads, queries, keys) or (queries, keys),
        and `index` is (..., head), or () where there are no heads.

        >>> head = causal().head((4, 6))
        >>> head.kind(slice(0, 2), slice(4, 6)), head.kind(slice(2, 4), slice(4, 6))
        ('none', 'some')
        """
        *_, queries, keys = shape
        batch, sequence = shape[:-3], index[:-1]
        length = _own("lengths", self.lengths, batch, sequence)
        if length is not None:
            inputs.integer("lengths", int(length), 0, keys, f"at most {keys}, the keys")
        ids = _own("ids", self.ids, (*batch, keys), sequence)
        if ids is not None and queries > keys:
            raise ValueError(
                "ids: expected at most as many queries as keys, got"
                f" {queries} and {keys}"
            )
        return Head(
            queries,
            keys,
            int(min(self.left, queries + keys)),
            int(min(self.right, queries + keys)),
            keys if length is None else int(length),
            None if ids is None else _Documents.of(ids),
            _own("slopes", self.slopes, shape[-3:-2] or (1,), index[-1:] or (0,)),
            tuple(inputs.spread("bias", x, shape)[index] for x in self.biases),
        )


class Tile(NamedTuple):
    """A tile of the score matrix, and what is seen of it: "all", "some" or "none"."""

    rows: slice
    keys: slice
    kind: str


class Head(NamedTuple):
    """A mask over one matrix of scores (queries, keys): that of one head."""

    queries: int
    keys: int
    left: int  # how many keys before its own place a query sees
    right: int  # and how many after it
    length: int  # how many keys there are without the padding
    documents: "_Documents | None"
    slope: Array | None  # what is subtracted for each key of distance
    biases: tuple[Array, ...]  # what is added to the scores, each (queries, keys)

    def interval(self, row: int | NDArray[np.integer]) -> tuple[Integers, Integers]:
        """Return the interval of keys, first … stop − 1, that a query sees.

        Where a document is in several pieces, its interval reaches from the first piece
        to the last, and the query sees only some of the keys in it.
        """
        place = row + self.keys - self.queries
        first, stop = place - self.left, place + self.right + 1
        if self.documents is not None:
            first = np.maximum(first, self.documents.first[place])
            stop = np.minimum(stop, self.documents.stop[place])
        return np.maximum(first, 0), np.minimum(stop, self.length)

    @property
    def plain(self) -> bool:
        """Whether a query sees every key of its interval, its score unchanged."""
        whole = self.documents is None or self.documents.whole
        return whole and self.slope is None and not self.biases

    def kind(self, rows: slice, keys: slice) -> str:
        """Return what is seen of a tile, decided by its first and its last query.

        "none": no query sees a key of it, so the tile need not be read. "all": every
        score stays as it is. "some": the scores need `apply`.
        """
        first, first_stop = self.interval(rows.start)
        last_first, stop = self.interval(rows.stop - 1)
        if stop <= keys.start or first >= min(keys.stop, self.length):
            return "none"
        inside = last_first <= keys.start and keys.stop <= first_stop
        return "all" if inside and self.plain else "some"

    def tiles(self, rows: slice, block: int, grain: int = 1) -> Iterator[Tile]:
        """Yield the tiles of which a block of queries sees something, in order.

        A tile ends at a multiple of `grain`, and leaves what comes after to the next.
        """
        first, _ = self.interval(rows.start)
        _, stop = self.interval(rows.stop - 1)
        beyond = min(int(stop) + grain - 1, self.keys)
        for edge in range(int(first) // block * block, beyond, block):
            start, end = (x // grain * grain for x in (edge, edge + block))
            keys = slice(start, end if edge + block < self.keys else self.keys)
            if start < keys.stop and (kind := self.kind(rows, keys)) != "none":
                yield Tile(rows, keys, kind)

    def apply(
        self, scores: Array, rows: slice = slice(None), keys: slice = slice(None)
    ) -> Array:
        """Return the scores of a tile, with biases added, and −∞ where hidden."""
        i = np.arange(*rows.indices(self.queries))[:, None]  # (Br, 1)
        j = np.arange(*keys.indices(self.keys))  # (Bc,)
        place = i + self.keys - self.queries
        first, stop = self.interval(i)
        hidden = (j < first) | (j >= stop)  # (Br, Bc)
        if self.documents is not None:
            hidden |= self.documents.ids[place] != self.documents.ids[j]
        for bias in self.biases:
            added = bias[rows, keys].astype(scores.dtype)
            hidden |= added == -np.inf
            scores = scores + added
        if self.slope is not None:
            scores = scores - (self.slope * np.abs(place - j)).astype(scores.dtype)
        return np.where(hidden, -np.inf, scores)


class _Documents(NamedTuple):
    """For each key: its document, and the interval of keys that the document spans."""

    ids: NDArray[np.int64]
    first: NDArray[np.int64]
    stop: NDArray[np.int64]
    whole: bool  # whether every document is in one piece

    @classmethod
    def of(cls, ids: NDArray[np.int64]) -> "_Documents":
        names, first, own = np.unique(ids, return_index=True, return_inverse=True)
        stop = len(ids) - np.unique(ids[::-1], return_index=True)[1]
        # With documents in several pieces the ends of intervals might move back from one
        # query to the next. So intervals are widened; `apply` compares the ids themselves.
        first = np.minimum.accumulate(first[own][::-1])[::-1]
        stop = np.maximum.accumulate(stop[own])
        changes = int(np.count_nonzero(np.diff(ids)))
        return cls(ids, first, stop, changes < len(names))


def causal() -> Mask:
    """Return the mask that hides the keys after a query.

    The last query stands at the last key. So with more keys than queries the first
    query already sees several keys; with fewer, the first queries see nothing.
    """
    return Mask(right=0)


def window(left: int | None = None, right: int | None = None) -> Mask:
    """Return the mask that shows a query the keys around its place.

    Parameters
    ----------
    left, right : int, optional
        How many keys before its place, and how many after it. None is no limit:
        `window(None, 0)` is `causal()`.

    Returns
    -------
    Mask
    """
    return Mask(_reach("left", left), _reach("right", right))


def padding(lengths: ArrayLike) -> Mask:
    """Return the mask that hides the padding at the end of each sequence.

    The padding is hidden, not cut off: the last query still stands at the last key of
    the array. With fewer queries than keys, cut it off before `causal` or `window`.

    Parameters
    ----------
    lengths : array_like of int, () or (...)
        How many keys are real: one number, or one for each sequence of the batch.

    Returns
    -------
    Mask
    """
    lengths = inputs.integers("lengths", lengths)
    inputs.count("lengths", int(lengths.min(initial=0)))
    return Mask(lengths=lengths)


def documents(ids: ArrayLike) -> Mask:
    """Return the mask that hides the keys of other documents.

    Parameters
    ----------
    ids : array_like of int, (keys,) or (..., keys)
        Which document each key belongs to. Tiles are skipped if every document is in
        one piece. Otherwise the answer is the same, with more work.

    Returns
    -------
    Mask
    """
    ids = inputs.integers("ids", ids)
    if ids.ndim == 0:
        raise ValueError(f"ids: expected shape (..., keys), got the number {ids}")
    return Mask(ids=ids)


def bias(array: ArrayLike) -> Mask:
    """Return the mask that adds numbers to the scores; −∞ hides a key.

    Parameters
    ----------
    array : array_like
        Of a shape that broadcasts to (..., heads, queries, keys).

    Returns
    -------
    Mask
    """
    return Mask(biases=(inputs.rows("array", array),))


def alibi(slopes: ArrayLike) -> Mask:
    """Return the mask that subtracts slope · distance from each score.

    It hides nothing.

    Parameters
    ----------
    slopes : array_like, () or (heads,)

    Returns
    -------
    Mask
    """
    slopes = inputs.floats("slopes", slopes)
    if not np.isfinite(slopes).all():
        raise ValueError(f"slopes: expected finite numbers, got {slopes}")
    return Mask(slopes=slopes)


def walk(
    mask: Mask | None, queries: int, keys: int, block_q: int, block_k: int
) -> list[Tile]:
    """Return every tile of one matrix of scores, in the order of the streaming loop.

    >>> [tile.kind for tile in walk(causal(), 4, 4, 2, 2)]
    ['some', 'none', 'all', 'some']
    """
    shape = inputs.size("queries", queries), inputs.size("keys", keys)
    head = head_of(mask, shape, ())
    return [
        Tile(rows, columns, head.kind(rows, columns))
        for rows in inputs.blocks(queries, block_q, "block_q")
        for columns in inputs.blocks(keys, block_k, "block_k")
    ]


def head_of(mask: Mask | None, shape: tuple[int, ...], index: tuple[int, ...]) -> Head:
    """Return a mask as one head sees it; None is a mask that hides nothing."""
    return checked(mask).head(shape, index)


def checked(mask: Mask | None) -> Mask:
    """Return a mask, or `Mask()`, which hides nothing, for None."""
    if not isinstance(mask, Mask | None):
        raise ValueError(
            f"mask: expected a mask such as causal(), got {inputs.shown(mask)}"
        )
    return Mask() if mask is None else mask


def _reach(name: str, keys: int | None) -> float:
    """Return how many keys a window reaches to one side; None is no limit."""
    return np.inf if keys is None else inputs.count(name, keys)


def _own(
    name: str, x: NDArray[Any] | None, shape: tuple[int, ...], index: tuple[int, ...]
) -> NDArray[Any] | None:
    """Return one head's part of an array that broadcasts to `shape`."""
    return None if x is None else inputs.spread(name, x, shape)[index]


def _both(
    name: str,
    combine: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]],
    a: NDArray[Any] | None,
    b: NDArray[Any] | None,
) -> NDArray[Any] | None:
    """Return two attributes combined, or the one that is not None."""
    if a is None or b is None:
        return b if a is None else a
    if not inputs.agree(a.shape, b.shape):
        raise ValueError(
            f"{name}: expected shapes that broadcast, got {a.shape} and {b.shape}"
        )
    return combine(a, b)


def _pairs(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return an id for each pair of ids."""
    own, other = (np.unique(x, return_inverse=True)[1].reshape(x.shape) for x in (a, b))
    return own * b.size + other
