"""What each query sees, and what that makes of a tile: all, some or none of it.

    causal()             nothing after the query
    window(left, right)  so many keys before and after its place
    padding(lengths)     the first keys of each sequence; the rest is filling
    documents(ids)       keys that carry the query's own id
    bias(array)          any numbers, added to the scores; −∞ hides
    alibi(slopes)        a penalty that grows with the distance

`&` puts them together. The last query stands at the last key. Each query sees an
interval of keys, and from one query to the next neither end of it moves back. So the
corners of a tile decide about all of it, however large it is.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onlinesoftmax import _inputs as inputs
from onlinesoftmax._inputs import Array, Integers


@dataclass(frozen=True, eq=False)
class Mask:
    """What queries see; `Mask()` hides nothing. The functions below make one.

    Attributes
    ----------
    left, right : int or inf
        How many keys before and after its own place a query sees.
    lengths : ndarray of int, (...), optional
        How many keys there are, for each sequence of the batch.
    ids : ndarray of int, (..., keys), optional
        The document of each key.
    slopes : ndarray, () or (heads,), optional
    biases : tuple of ndarray
        Each broadcasts to the scores (..., heads, queries, keys).
    """

    left: float = np.inf
    right: float = np.inf
    lengths: NDArray[np.int64] | None = None
    ids: NDArray[np.int64] | None = None
    slopes: Array | None = None
    biases: tuple[Array, ...] = ()

    def __and__(self, other: "Mask") -> "Mask":
        """Return the mask that hides what either hides, and adds what both add."""
        if not isinstance(other, Mask):
            return NotImplemented
        return Mask(
            min(self.left, other.left),
            min(self.right, other.right),
            _both("lengths", np.minimum, self.lengths, other.lengths),
            _both("ids", _pairs, self.ids, other.ids),
            _both("slopes", np.add, self.slopes, other.slopes),
            self.biases + other.biases,
        )

    def head(self, shape: tuple[int, ...], index: tuple[int, ...] = ()) -> "Head":
        """Return the mask as one head sees it.

        Parameters
        ----------
        shape : tuple of int
            That of all scores: (..., heads, queries, keys), or (queries, keys).
        index : tuple of int
            Which of them: (..., head), or ().

        Examples
        --------
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
    """A mask over one matrix of scores (queries, keys)."""

    queries: int
    keys: int
    left: int
    right: int
    length: int
    documents: "_Documents | None"
    slope: Array | None
    biases: tuple[Array, ...]

    def interval(self, row: int | NDArray[np.integer]) -> tuple[Integers, Integers]:
        """Return (first, stop): a row sees keys first … stop − 1, if there are any.

        Of a document in several pieces it sees nothing outside, and not all inside.
        """
        place = row + self.keys - self.queries
        first, stop = place - self.left, place + self.right + 1
        if self.documents is not None:
            first = np.maximum(first, self.documents.first[place])
            stop = np.minimum(stop, self.documents.stop[place])
        return np.maximum(first, 0), np.minimum(stop, self.length)

    @property
    def plain(self) -> bool:
        """Whether the intervals say everything."""
        whole = self.documents is None or self.documents.whole
        return whole and self.slope is None and not self.biases

    def kind(self, rows: slice, keys: slice) -> str:
        """Return what the mask makes of a tile, from its first and last row.

        "none": nobody sees a key of it, so it need not be read. "all": every score
        stays as it is. "some": `apply` is needed.
        """
        first, first_stop = self.interval(rows.start)
        last_first, stop = self.interval(rows.stop - 1)
        if stop <= keys.start or first >= min(keys.stop, self.length):
            return "none"
        inside = last_first <= keys.start and keys.stop <= first_stop
        return "all" if inside and self.plain else "some"

    def tiles(self, rows: slice, block: int) -> Iterator[Tile]:
        """Yield the tiles of which these rows see something, in order."""
        first, _ = self.interval(rows.start)
        _, stop = self.interval(rows.stop - 1)
        for start in range(int(first) // block * block, int(stop), block):
            keys = slice(start, min(start + block, self.keys))
            kind = self.kind(rows, keys)
            if kind != "none":
                yield Tile(rows, keys, kind)

    def apply(
        self, scores: Array, rows: slice = slice(None), keys: slice = slice(None)
    ) -> Array:
        """Return the scores (Br, Bc) of a tile, biased, and −∞ where hidden."""
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
    """For each place: its document, where that starts, and where it has stopped."""

    ids: NDArray[np.int64]
    first: NDArray[np.int64]
    stop: NDArray[np.int64]
    whole: bool  # no document is in several pieces

    @classmethod
    def of(cls, ids: NDArray[np.int64]) -> "_Documents":
        names, first, own = np.unique(ids, return_index=True, return_inverse=True)
        stop = len(ids) - np.unique(ids[::-1], return_index=True)[1]
        # With several pieces, an end might move back. This widens what is looked at.
        first = np.minimum.accumulate(first[own][::-1])[::-1]
        stop = np.maximum.accumulate(stop[own])
        changes = int(np.count_nonzero(np.diff(ids)))
        return cls(ids, first, stop, changes < len(names))


def causal() -> Mask:
    """Return the mask that hides the keys after a query.

    The last query stands at the last key, so with more keys than queries the first
    query already sees several, and with fewer the first ones see nothing.
    """
    return Mask(right=0)


def window(left: int | None = None, right: int | None = None) -> Mask:
    """Return the mask that shows `left` keys before a query's place, and `right` after.

    None is no limit: `window(None, 0)` is `causal()`.
    """
    return Mask(_reach("left", left), _reach("right", right))


def padding(lengths: ArrayLike) -> Mask:
    """Return the mask that hides what fills a sequence up, at its end.

    The filling is hidden, not cut off: the last query still stands at the last key of
    the array. With fewer queries than keys, cut it off before `causal` or `window`.

    Parameters
    ----------
    lengths : array_like of int, () or (...)
        How many keys are real: one number, or one for each sequence of the batch.
    """
    lengths = inputs.integers("lengths", lengths)
    inputs.count("lengths", int(lengths.min(initial=0)))
    return Mask(lengths=lengths)


def documents(ids: ArrayLike) -> Mask:
    """Return the mask that hides the keys of other documents.

    Parameters
    ----------
    ids : array_like of int, (keys,) or (..., keys)
        Which document each key is from. Tiles are skipped where each document is in
        one piece; otherwise the answer is the same, with more work.
    """
    ids = inputs.integers("ids", ids)
    if ids.ndim == 0:
        raise ValueError(f"ids: expected shape (..., keys), got the number {ids}")
    return Mask(ids=ids)


def bias(array: ArrayLike) -> Mask:
    """Return the mask that adds numbers to the scores; −∞ hides a key.

    Parameters
    ----------
    array : array_like, anything that broadcasts to (..., heads, queries, keys)
    """
    return Mask(biases=(inputs.rows("array", array),))


def alibi(slopes: ArrayLike) -> Mask:
    """Return the mask that takes slope · distance from each score; it hides nothing.

    Parameters
    ----------
    slopes : array_like, () or (heads,)
    """
    slopes = inputs.floats("slopes", slopes)
    if not np.isfinite(slopes).all():
        raise ValueError(f"slopes: expected finite numbers, got {slopes}")
    return Mask(slopes=slopes)


def walk(
    mask: Mask | None, queries: int, keys: int, block_q: int, block_k: int
) -> list[Tile]:
    """Return every tile of one matrix of scores, in the order in which they are met.

    Examples
    --------
    >>> [tile.kind for tile in walk(causal(), 4, 4, 2, 2)]
    ['some', 'none', 'all', 'some']
    """
    head = head_of(mask, (queries, keys), ())
    return [
        Tile(rows, columns, head.kind(rows, columns))
        for rows in inputs.blocks(queries, block_q, "block_q")
        for columns in inputs.blocks(keys, block_k, "block_k")
    ]


def head_of(mask: Mask | None, shape: tuple[int, ...], index: tuple[int, ...]) -> Head:
    """Return a mask, or no mask, as one head sees it."""
    return checked(mask).head(shape, index)


def checked(mask: Mask | None) -> Mask:
    """Return a mask; None is one that hides nothing."""
    if not isinstance(mask, Mask | None):
        raise ValueError(f"mask: expected a mask such as causal(), got {mask!r}")
    return Mask() if mask is None else mask


def _reach(name: str, keys: int | None) -> float:
    """Return how many keys a window reaches to one side; None is no limit."""
    return np.inf if keys is None else inputs.count(name, keys)


def _own(
    name: str, x: NDArray[Any] | None, shape: tuple[int, ...], index: tuple[int, ...]
) -> NDArray[Any] | None:
    """Return what is one head's of something that broadcasts to `shape`."""
    return None if x is None else inputs.spread(name, x, shape)[index]


def _both(
    name: str,
    combine: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]],
    a: NDArray[Any] | None,
    b: NDArray[Any] | None,
) -> NDArray[Any] | None:
    """Return the two combined, or the one that there is."""
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
