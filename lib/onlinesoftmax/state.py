"""The state (m, l, o), and the two things to do with it: rescale and merge.

A block of scores and values is summarised by three numbers:

    m   the largest score
    l   the sum of the weights exp(score − m)
    o   the sum of weight · value

Its answer, the softmax-weighted average of the values, is o / l. Two such summaries
measured from the same m simply add. So `rescale` brings both to the larger m, and
`merge` adds. Everything else in this library is that merge, over other things.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from onlinesoftmax import inputs
from onlinesoftmax.inputs import Array, Numbers


class State(NamedTuple):
    """The summary of a block of scores and values.

    Attributes
    ----------
    m : ndarray or number, (...)
        The largest score.
    l : ndarray or number, (...)
        The sum of the weights exp(score − m).
    o : ndarray or number, (...) or (..., d), or None
        The sum of weight · value; None for scores without values.

    Examples
    --------
    >>> m, l, o = State.of([1.0, 2.0, 3.0], [10.0, 20.0, 30.0])
    >>> m, l.round(4), (o / l).round(4)
    (np.float64(3.0), np.float64(1.5032), np.float64(25.7521))
    """

    m: Numbers
    l: Numbers
    o: Numbers | None = None

    @classmethod
    def empty(cls, batch: tuple[int, ...] = (), width: int | None = None) -> "State":
        """Return (−∞, 0, 0), the state of a block with no scores, in float32.

        That is the narrowest dtype of a state, so a merge with it widens nothing.
        `batch` is the shape of m and l, and `width` the d of an output (..., d). The
        default merges with states of any shape.
        """
        inputs.instance("batch", batch, tuple)
        batch = tuple(inputs.size("batch", size) for size in batch)
        columns = () if width is None else (inputs.size("width", width),)
        m = np.full(batch, -np.inf, np.float32)
        l = np.zeros(batch, np.float32)
        o = np.zeros((*batch, *columns), np.float32)
        return cls(m[()], l[()], o[()])

    @classmethod
    def of(cls, scores: ArrayLike, values: ArrayLike | None = None) -> "State":
        """Return the state of a block.

        Parameters
        ----------
        scores : array_like, (..., n)
            Where a score is −∞ there is no key, and its value is not read.
        values : array_like, (..., n) or (..., n, d), optional

        Returns
        -------
        State, float32 or float64
            The wider dtype of the two, at least float32; integers count as float64.
        """
        scores, values = inputs.block_of(scores, values)
        return measure(scores, values, largest(scores))

    def result(self) -> Numbers:
        """Return the softmax-weighted average, o / l; 0 where nothing was seen."""
        if self.o is None:
            raise ValueError(
                "values: expected with every block of scores, got some"
                " without, so there is nothing to average"
            )
        return self.o / across(divisor(self.l), self.m, self.o)

    def logsumexp(self) -> Numbers:
        """Return log(sum(exp(scores))), which is m + log(l); −∞ where nothing was seen."""
        with np.errstate(divide="ignore"):
            return np.where(np.isposinf(self.m), self.m, self.m + np.log(self.l))[()]


def merge(a: State, b: State) -> State:
    """Return the state of two blocks together, from the state of each.

    Parameters
    ----------
    a, b : State
        Their shapes broadcast.

    Returns
    -------
    State
        Without an output if one of the two has none.

    Notes
    -----
    Commutative to the last bit, associative up to rounding, and `State.empty()` changes
    nothing: blocks may be merged in any order, along any tree.

    Examples
    --------
    >>> merged = merge(State.of([1.0, 2.0], [10.0, 20.0]), State.of([3.0], [30.0]))
    >>> np.allclose(merged, State.of([1.0, 2.0, 3.0], [10.0, 20.0, 30.0]))
    True
    """
    for name, each in (("a", a), ("b", b)):
        inputs.instance(name, each, State)
    m = larger("a, b", a.m, b.m)
    return add(rescale(a, m), rescale(b, m))


def rescale(state: State, m: Numbers) -> State:
    """Return the same state, measured from a larger `m`: the rescaling trick.

    Every weight exp(s − state.m) has to become exp(s − m). One factor does that for all
    of them, and so it does it for their sums, when the weights themselves are gone.

    Parameters
    ----------
    state : State
    m : ndarray or number, (...)
        At least `state.m`.

    Returns
    -------
    State

    Examples
    --------
    >>> rescale(State(m=3.0, l=5.0), 5.0).l.round(4)
    np.float64(0.6767)
    """
    inputs.instance("state", state, State)
    inputs.floats("m", m)
    alpha = factor(state.m, m)
    o = None if state.o is None else across(alpha, state.m, state.o) * state.o
    return State(m, alpha * state.l, o)


def factor(m_old: Numbers, m: Numbers) -> Numbers:
    """Return alpha = exp(m_old − m), by which an old state is rescaled.

    It is 1 where the maximum stays, and 0 where there was none: m_old is −∞.
    """
    return np.exp(m_old - shift(m))


def measure(scores: Array, values: Array | None, m: Numbers) -> State:
    """Return the state of a block, measured from `m` in place of its own maximum."""
    weights, seen = np.exp(scores - shift(m)[..., None]), scores != -np.inf  # (..., n)
    l = total(weights, -1)
    if values is None:
        return State(m, l)
    if values.ndim == scores.ndim + 1:
        weights, seen = weights[..., None], seen[..., None]  # (..., n, 1)
    products = weights * np.where(seen, values, 0)  # 0 · ∞ would be NaN
    return State(m, l, total(products, scores.ndim - products.ndim - 1))


def total(x: Array, axis: int) -> Numbers:
    """Return the sum along an axis, added up in pairs.

    Each number goes through about log₂ n additions, and so through that many roundings.
    One after another it would be n.
    """
    x = np.moveaxis(x, axis, 0)
    while len(x) > 1:
        half = len(x) // 2
        x = np.concatenate([x[:half] + x[half : 2 * half], x[2 * half :]])
    return x.sum(0)


def add(a: State, b: State) -> State:
    """Return the sum of two states that are measured from the same m."""
    if a.o is None or b.o is None:
        return State(a.m, a.l + b.l)
    return State(a.m, a.l + b.l, add_outputs(a.o, b.o))


def add_outputs(o: Numbers, other: Numbers) -> Numbers:
    """Return the sum of two outputs; one without columns is added to each column."""
    o, other = across(o, o, other), across(other, other, o)
    if not inputs.agree(o.shape, other.shape):
        raise ValueError(
            "values: expected the same d in every block, got outputs of"
            f" shape {o.shape} and {other.shape}"
        )
    return o + other


def largest(scores: Array) -> Numbers:
    """Return the maximum along the last axis; −∞ if there is nothing."""
    return scores.max(-1, initial=-np.inf)


def larger(names: str, m: Numbers, other: Numbers) -> Numbers:
    """Return the larger of two maxima; an error calls their arguments `names`."""
    m, other = np.asarray(m), np.asarray(other)
    if not inputs.agree(m.shape, other.shape):
        raise ValueError(
            f"{names}: expected batch shapes that broadcast, got {m.shape}"
            f" and {other.shape}"
        )
    return np.maximum(m, other, dtype=np.result_type(m, other, np.float32))


def shift(m: Numbers) -> Array:
    """Return what to subtract from scores: m, but 0 where m is −∞.

    Otherwise −∞ − (−∞) would be NaN. Only the shift is guarded, never the stored maximum: a
    stored 0 would outrank real scores below it.
    """
    # As an array: NumPy 2.5 refuses a Python int past int64 here.
    return np.where(np.equal(m, -np.inf), 0, np.asarray(m))


def divisor(l: Numbers) -> Array:
    """Return what to divide an output by: l, but 1 where l is 0.

    Nothing was seen there, so o is 0 as well, and the answer should be 0 and not NaN.
    """
    return np.where(np.equal(l, 0), 1, np.asarray(l))


def across(x: Numbers, m: Numbers, o: Numbers) -> Array:
    """Return x in a shape that multiplies the output `o` of a state with maximum `m`.

    An output with one axis more than m has columns (..., d), so x becomes (..., 1).
    """
    return np.asarray(x)[..., None] if np.ndim(o) > np.ndim(m) else np.asarray(x)
