"""The state (m, l, o), and the two things to do with it: rescale and merge.

A block of scores and values is remembered as three numbers:

    m   the largest score
    l   the sum of the weights exp(score − m)
    o   the sum of weight · value

Its answer, the softmax-weighted average of the values, is o / l. Two such summaries,
measured from the same m, simply add; so `rescale` brings both to the larger m, and
`merge` adds. Everything else in this library is this merge, over other things.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from onlinesoftmax import _inputs as inputs


class State(NamedTuple):
    """What a block of scores leaves behind.

    Attributes
    ----------
    m : float or ndarray, (...)
        The largest score; −∞ where nothing was seen.
    l : float or ndarray, (...)
        The sum of the weights exp(score − m).
    o : float or ndarray, (...) or (..., d), optional
        The sum of weight · value; None for scores without values.

    Examples
    --------
    >>> state = State.of([1.0, 2.0, 3.0], [10.0, 20.0, 30.0])
    >>> state.m, state.l.round(4), state.result().round(4)
    (np.float64(3.0), np.float64(1.5032), np.float64(25.7521))
    """

    m: ArrayLike
    l: ArrayLike  # noqa: E741 the papers' letter
    o: ArrayLike | None = None

    @classmethod
    def empty(cls, batch: tuple[int, ...] = (), width: int | None = None) -> Self:
        """Return (−∞, 0, 0), the state before anything is seen: merge's identity.

        Parameters
        ----------
        batch : tuple of int
            The shape of m and l. The default, (), broadcasts to any.
        width : int, optional
            The d of o (..., d).

        Returns
        -------
        State, float32
            The narrowest dtype a state has, so that merging widens nothing.
        """
        columns = batch if width is None else (*batch, width)
        m = np.full(batch, -np.inf, np.float32)
        return cls(m, np.zeros_like(m), np.zeros(columns, np.float32))

    @classmethod
    def of(cls, scores: ArrayLike, values: ArrayLike | None = None) -> Self:
        """Return the state of a block, measured from the block's own maximum.

        Parameters
        ----------
        scores : array_like, (..., n)
            A score of −∞ says that the key is not there: its value is never read.
        values : array_like, (..., n) or (..., n, d), optional

        Returns
        -------
        State, float32 or float64
            The dtype of the input, float32 at least; integers count as float64.
        """
        return measure(scores, values, peak(scores))

    def result(self) -> np.ndarray:
        """Return o / l, the weighted average (...) or (..., d); 0 if nothing was seen."""
        if self.o is None:
            raise ValueError(
                "values: expected them wherever scores were summarised, got none, so"
                " this state has no result; State.of(scores, values) has one"
            )
        l = np.where(np.equal(self.l, 0), 1, self.l)  # then o is 0, and so is 0 / 1
        return self.o / _across(l, self)

    def logsumexp(self) -> np.ndarray:
        """Return m + log(l) = log(sum(exp(scores))), (...); −∞ if nothing was seen."""
        with np.errstate(divide="ignore"):
            return np.where(np.isposinf(self.m), self.m, self.m + np.log(self.l))[()]


def merge(a: State, b: State) -> State:
    """Return the state of two blocks together, from the state of each.

    Parameters
    ----------
    a, b : State
        Batch shapes broadcast. Where either has no values the result has none.

    Returns
    -------
    State

    Notes
    -----
    Commutative to the last bit, associative up to rounding, with identity
    `State.empty()`: so blocks may be merged in any order, along any tree.

    Examples
    --------
    >>> whole = merge(State.of([1.0, 2.0], [1.0, 2.0]), State.of([3.0], [3.0]))
    >>> np.allclose(whole, State.of([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]))
    True
    """
    m = np.maximum(a.m, b.m)
    return add(rescale(a, m), rescale(b, m))


def rescale(state: State, m: ArrayLike) -> State:
    """Return the same state measured from `m`, a larger maximum: the rescaling trick.

    Every weight exp(s − state.m) becomes exp(s − m) by the same factor alpha, and so,
    without looking at them again, do their sums.

    Examples
    --------
    >>> rescale(State(m=3.0, l=5.0), 5.0).l.round(4)
    np.float64(0.6767)
    """
    alpha = factor(state.m, m)
    l = alpha * state.l
    o = None if state.o is None else _across(alpha, state) * state.o
    return State(m, l, o)


def factor(old: ArrayLike, new: ArrayLike) -> np.ndarray:
    """Return alpha = exp(old − new): 1 if the maximum stays, 0 if it was −∞."""
    return np.exp(old - shift(new))


def measure(scores: ArrayLike, values: ArrayLike | None, m: ArrayLike) -> State:
    """Return the state of a block measured from `m`, not less than its maximum.

    Parameters
    ----------
    scores : array_like, (..., n)
    values : array_like, (..., n) or (..., n, d), or None
    m : array_like, (...)
    """
    if values is None:
        scores = inputs.rows("scores", scores)
        return State(m, _weights(scores, m).sum(-1))
    scores, values = inputs.pair(scores, values)
    weights, seen = _weights(scores, m), scores != -np.inf  # (..., n)
    total = weights.sum(-1)
    if values.ndim > scores.ndim:
        # Keys last, and next to each other in memory: NumPy then sums pairwise.
        values = np.ascontiguousarray(np.swapaxes(values, -1, -2))  # (..., d, n)
        weights, seen = weights[..., None, :], seen[..., None, :]
    return State(m, total, (weights * np.where(seen, values, 0)).sum(-1))


def add(a: State, b: State) -> State:
    """Return the sum of two states measured from the same m."""
    return State(a.m, a.l + b.l, None if a.o is None or b.o is None else a.o + b.o)


def peak(scores: ArrayLike) -> np.ndarray:
    """Return the largest of scores (..., n) as (...), float32 at least; −∞ for none."""
    scores = inputs.rows("scores", scores)
    return scores.max(-1, initial=-np.inf).astype(inputs.accumulator(scores))


def shift(m: ArrayLike) -> np.ndarray:
    """Return what to subtract: m, or 0 where m is −∞, since −∞ − (−∞) is NaN.

    Only the shift is guarded. Storing 0 as the maximum would outrank real scores.
    """
    return np.where(np.equal(m, -np.inf), 0, m)


def _weights(scores: np.ndarray, m: ArrayLike) -> np.ndarray:
    """Return exp(scores − m), (..., n)."""
    return np.exp(scores - shift(m)[..., None])


def _across(x: np.ndarray, state: State) -> np.ndarray:
    """Return `x` (...) ready to multiply the o of `state`, (...) or (..., d)."""
    return x[..., None] if np.ndim(state.o) > np.ndim(state.m) else x
