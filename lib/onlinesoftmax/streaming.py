"""Folds over blocks: what is read once, and what is remembered meanwhile.

Three ways to take in the next block, equal in real arithmetic:

    update             rescale the history; measure the block from the new maximum
    update_two_term    summarise the block by itself; rescale both (this is `merge`)
    update_normalised  the same, with the output kept divided by the sum
"""

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from onlinesoftmax import _inputs as inputs
from onlinesoftmax.state import State, add, factor, measure, merge, peak, rescale


def update(state: State, scores: ArrayLike, values: ArrayLike | None = None) -> State:
    """Return `state` with one more block in it: the online recurrence.

    Parameters
    ----------
    state : State
    scores : array_like, (..., n)
    values : array_like, (..., n) or (..., n, d), optional

    Examples
    --------
    >>> m, l, _ = update(State(m=3.0, l=5.0), [5.0, 4.0])
    >>> m, l.round(4)
    (np.float64(5.0), np.float64(2.0446))
    """
    m = np.maximum(state.m, peak(scores))
    return add(rescale(state, m), measure(scores, values, m))


def update_two_term(
    state: State, scores: ArrayLike, values: ArrayLike | None = None
) -> State:
    """Return `state` with one more block in it, by way of the block's own state.

    Parameters as for `update`. One exponential more, and any two states will do: this
    is the form that also works across threads and machines.
    """
    return merge(state, State.of(scores, values))


class Normalised(NamedTuple):
    """A state whose output is kept divided: y = o / l is the answer so far.

    Attributes
    ----------
    m, l : float or ndarray, (...)
    y : float or ndarray, (...) or (..., d)
    """

    m: ArrayLike
    l: ArrayLike  # noqa: E741 the papers' letter
    y: ArrayLike


def normalise(state: State) -> Normalised:
    """Return (m, l, o / l); y is 0 where nothing was seen."""
    return Normalised(state.m, state.l, state.result())


def unnormalise(state: Normalised) -> State:
    """Return (m, l, l · y)."""
    m, l, y = state
    return State(m, l, (l if np.ndim(y) == np.ndim(m) else np.asarray(l)[..., None]) * y)


def update_normalised(
    state: Normalised, scores: ArrayLike, values: ArrayLike
) -> Normalised:
    """Return `state` with one more block in it, its output divided at every step.

    Parameters as for `update`. A division per block that `update` does only once.
    """
    return normalise(update(unnormalise(state), scores, values))


def split(x: ArrayLike, block: int, axis: int = -1) -> Iterator[np.ndarray]:
    """Yield views of `x`, `block` long along an axis; the last may be shorter.

    Examples
    --------
    >>> [part.tolist() for part in split([1, 2, 3, 4, 5], 2)]
    [[1.0, 2.0], [3.0, 4.0], [5.0]]
    """
    x, block = np.moveaxis(inputs.rows("x", x), axis, 0), inputs.positive("block", block)
    for start in range(0, len(x), block):
        yield np.moveaxis(x[start : start + block], 0, axis)


def sum_exp(blocks: Iterable[ArrayLike]) -> tuple[np.ndarray, np.ndarray]:
    """Return (m, l): the largest number of a stream and the sum of exp(x − m).

    Parameters
    ----------
    blocks : iterable of array_like, (..., n)
        Read once, in order: a generator will do. A bare number is a block of one.

    Returns
    -------
    m, l : (...), float32 or float64
        (−∞, 0) if there are no blocks.

    Examples
    --------
    >>> m, l = sum_exp(iter([[1.0, 2.0], [3.0]]))
    >>> m, l.round(4)
    (np.float64(3.0), np.float64(1.5032))
    """
    arrays = (np.atleast_1d(inputs.floats("blocks", block)) for block in blocks)
    m, l, _ = reduce(update, arrays, State.empty())
    return m, l


def softmax(x: ArrayLike, block: int) -> np.ndarray:
    """Return the softmax of x (..., n) in two reads, a block at a time.

    The first read finds (m, l), the second turns scores into weights.

    Parameters
    ----------
    x : array_like, (..., n), float16, float32, float64 or integers
    block : int

    Returns
    -------
    ndarray, the shape and dtype of `x`
        NaN throughout a row that is all −∞ or holds +∞ or NaN.

    Examples
    --------
    >>> softmax([1.0, 2.0, 3.0], block=2).round(4)
    array([0.09  , 0.2447, 0.6652])
    """
    x = inputs.rows("x", x)
    m, l = sum_exp(split(x, block))
    out = np.empty_like(x)
    for part, weights in zip(split(x, block), split(out, block), strict=True):
        weights[...] = np.exp(part - m[..., None]) / l[..., None]
    return out


def softmax_dot(scores: ArrayLike, values: ArrayLike, block: int) -> np.ndarray:
    """Return the softmax-weighted average of values in one read, a block at a time.

    Parameters
    ----------
    scores : array_like, (..., n)
        A score of −∞ says that the key is not there: its value is never read.
    values : array_like, (..., n) or (..., n, d)
    block : int

    Returns
    -------
    ndarray, (...) or (..., d)
        In the dtype of scores and values together; 0 for a row that sees nothing.

    Examples
    --------
    >>> softmax_dot([0.0, 5.0], [2.0, 3.0], block=1).round(5)
    np.float64(2.99331)
    """
    scores, values = inputs.pair(scores, values)
    axis = inputs.key_axis(scores, values)
    blocks = zip(split(scores, block), split(values, block, axis), strict=True)
    nothing = State.of(scores[..., :0], np.take(values, [], axis))
    state = reduce(lambda state, part: update(state, *part), blocks, nothing)
    return state.result().astype(np.result_type(scores, values))


class Step(NamedTuple):
    """One step of a trace: the block start:stop, before and after.

    Attributes
    ----------
    start, stop : int
        The block is scores[..., start:stop].
    m_old, l_old : (...)
        The state before it.
    m, l : (...)
        The state after it.
    alpha : (...)
        exp(m_old − m), the factor that everything old is due.
    added : (...)
        The block's own share of l: the sum of its weights, measured from m.
    o : (...) or (..., d), or None
        The output after it, if there are values.
    """

    start: int
    stop: int
    m_old: np.ndarray
    l_old: np.ndarray
    m: np.ndarray
    alpha: np.ndarray
    added: np.ndarray
    l: np.ndarray  # noqa: E741 the papers' letter
    o: np.ndarray | None


def trace(
    scores: ArrayLike,
    block: int,
    values: ArrayLike | None = None,
    *,
    forget: str = "",
) -> list[Step]:
    """Return every step of `update` over the blocks of a row.

    Parameters
    ----------
    scores : array_like, (..., n)
    block : int
        1 is the element-wise recurrence.
    values : array_like, (..., n) or (..., n, d), optional
    forget : {"", "l", "o", "lo"}
        What to leave unscaled, to see what goes wrong: the sum, the output or both.

    Returns
    -------
    list of Step

    Examples
    --------
    >>> for step in trace([1.0, 2.0, 3.0], block=1):
    ...     print(step.m, step.alpha.round(4), step.l.round(4))
    1.0 0.0 1.0
    2.0 0.3679 1.3679
    3.0 0.3679 1.5032
    """
    if forget not in ("", "l", "o", "lo"):
        raise ValueError(f"forget: expected '', 'l', 'o' or 'lo', got {forget!r}")
    scores = inputs.rows("scores", scores)
    parts = [None] * scores.shape[-1]
    if values is not None:
        scores, values = inputs.pair(scores, values)
        parts = split(values, block, inputs.key_axis(scores, values))
    state, start, steps = State.empty(), 0, []
    for s, v in zip(split(scores, block), parts):
        new = measure(s, v, np.maximum(state.m, peak(s)))
        old = rescale(state, new.m)
        old = old._replace(**{letter: getattr(state, letter) for letter in forget})
        stop = start + s.shape[-1]
        after = add(old, new)
        steps.append(
            Step(start, stop, state.m, state.l, new.m, factor(state.m, new.m), new.l,
                 after.l, after.o)
        )
        state, start = after, stop
    return steps
