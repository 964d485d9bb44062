"""The definitions, computed all at once: what every other answer is compared with.

They compute in float64 and round once, at the end, to the dtype of the arguments
(float64 for integers). With `compute=np.float32` they compute in float32 throughout,
as ordinary code does: that is the fair comparison for streaming in float32.
"""

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from onlinesoftmax import _inputs as inputs
from onlinesoftmax._inputs import Array, DType, Numbers
from onlinesoftmax.masks import Mask, head_of


def softmax(x: ArrayLike, axis: int = -1, *, compute: DTypeLike | None = None) -> Array:
    """Return exp(x) / sum(exp(x)) along an axis.

    Parameters
    ----------
    x : array_like, float16, float32, float64 or integers
    axis : int
    compute : dtype, optional
        What to compute in, float64 unless given.

    Returns
    -------
    ndarray, the shape and dtype of `x`
        A row that is all −∞, or that holds +∞ or NaN, becomes NaN throughout.

    Examples
    --------
    >>> softmax([1.0, 2.0, 3.0]).round(4)
    array([0.09  , 0.2447, 0.6652])
    """
    x, dtype = _prepare(x, axis, compute)
    weights = np.exp(x - _max(x, axis))
    return (weights / weights.sum(axis, keepdims=True)).astype(dtype)


def log_softmax(
    x: ArrayLike, axis: int = -1, *, compute: DTypeLike | None = None
) -> Array:
    """Return log(softmax(x)) along an axis, finite even where the softmax is 0.

    Parameters
    ----------
    x : array_like, float16, float32, float64 or integers
    axis : int
    compute : dtype, optional
        What to compute in, float64 unless given.

    Returns
    -------
    ndarray, the shape and dtype of `x`

    Examples
    --------
    >>> log_softmax([0.0, -1000.0]).tolist()
    [0.0, -1000.0]
    """
    x, dtype = _prepare(x, axis, compute)
    x = x - _finite(_max(x, axis))
    return (x - _log(np.exp(x).sum(axis, keepdims=True))).astype(dtype)


def logsumexp(
    x: ArrayLike, axis: int = -1, *, compute: DTypeLike | None = None
) -> Numbers:
    """Return log(sum(exp(x))) along an axis.

    Parameters
    ----------
    x : array_like, float16, float32, float64 or integers
    axis : int
    compute : dtype, optional
        What to compute in, float64 unless given.

    Returns
    -------
    ndarray or number, the shape of `x` without that axis, and its dtype
        −∞ for a row that is empty or all −∞.

    Examples
    --------
    >>> logsumexp([1000.0, 1000.0])
    np.float64(1000.6931471805599)
    """
    x, dtype = _prepare(x, axis, compute)
    m = _finite(_max(x, axis))
    return (_log(np.exp(x - m).sum(axis)) + m.squeeze(axis)).astype(dtype)


def softmax_dot(
    scores: ArrayLike, values: ArrayLike, *, compute: DTypeLike | None = None
) -> Numbers:
    """Return softmax(scores) · values, the softmax-weighted average of the values.

    Parameters
    ----------
    scores : array_like, (..., n)
        Where a score is −∞ there is no key, and its value is not read.
    values : array_like, (..., n) or (..., n, d)
    compute : dtype, optional
        What to compute in, float64 unless given.

    Returns
    -------
    ndarray or number, (...) or (..., d)
        In the wider dtype of the two; 0 for a row that sees nothing.

    Examples
    --------
    >>> softmax_dot([0.0, 5.0], [2.0, 3.0]).round(5)
    np.float64(2.99331)
    """
    scores, values, dtype = inputs.pair(scores, values)
    compute = inputs.float_type("compute", compute)
    scores, values = scores.astype(compute), values.astype(compute)
    wide = values.ndim > scores.ndim
    columns = values if wide else values[..., None]  # (..., n, d)
    columns = np.where(scores[..., None] == -np.inf, 0, columns)
    weights = np.exp(scores - _finite(_max(scores, -1)))  # (..., n)
    total = weights.sum(-1, keepdims=True)  # (..., 1)
    weights = weights / np.where(total == 0, 1, total)
    out = (weights[..., None, :] @ columns)[..., 0, :]  # (..., d)
    return (out if wide else out.squeeze(-1)[()]).astype(dtype)


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: ArrayLike | None = None,
    compute: DTypeLike | None = None,
    return_lse: bool = False,
) -> Array | tuple[Array, Array]:
    """Return softmax(q kᵀ · scale) v, with the whole matrix of scores in memory.

    Parameters
    ----------
    q : array_like, (..., heads, queries, d) or (queries, d)
    k : array_like, (..., heads, keys, d) or (keys, d)
        It may have fewer heads than q: neighbouring heads of q then share one.
    v : array_like, (..., heads, keys, columns) or (keys, columns)
    mask : Mask, optional
        From `onlinesoftmax.masks`. What is hidden is not read.
    scale : float, optional
        1/√d unless given.
    softcap : float, optional
        Scores s become softcap · tanh(s / softcap), before the mask.
    sinks : array_like, () or (heads,), optional
        The score of one more key, which every query sees and whose value is 0.
    compute : dtype, optional
        What to compute in, float64 unless given.
    return_lse : bool
        Whether to return the logsumexp of each row of scores as well.

    Returns
    -------
    out : ndarray, (..., heads, queries, columns)
        In the widest dtype of the three; 0 for a row that sees nothing.
    lse : ndarray, (..., heads, queries), float32 at least
        −∞ for a row that sees nothing.

    Examples
    --------
    >>> attention([[1.0], [2.0]], [[1.0], [0.0]], [[5.0], [7.0]]).round(4)
    array([[5.5379],
           [5.2384]])
    """
    asked = inputs.attention(q, k, v, scale, softcap, sinks)
    compute = inputs.float_type("compute", compute)
    out = np.empty((*asked.q.shape[:-1], asked.v.shape[-1]), asked.dtype)
    lse = np.empty(asked.shape[:-1], asked.wide)
    for head in asked.heads():
        q, k, v = (x.astype(compute) for x in (head.q, head.k, head.v))
        scores = q @ k.T * asked.scale  # (queries, keys)
        if asked.softcap:
            scores = asked.softcap * np.tanh(scores / asked.softcap)
        scores = head_of(mask, asked.shape, head.at).apply(scores)
        scores = np.pad(scores, ((0, 0), (0, 1)), constant_values=head.sink)
        values = np.pad(v, ((0, 1), (0, 0)))  # the sink's value is 0
        lse[head.at] = logsumexp(scores, compute=compute)
        for row, own in enumerate(scores):
            out[head.at][row] = softmax_dot(own, values, compute=compute)
    return (out, lse) if return_lse else out


def _prepare(x: ArrayLike, axis: int, compute: DTypeLike | None) -> tuple[Array, DType]:
    """Return `x` in the dtype to compute in, and the dtype of the answer."""
    x = inputs.rows("x", x)
    n = x.ndim
    inputs.integer("axis", axis, -n, n - 1, f"an integer from {-n} to {n - 1}")
    return x.astype(inputs.float_type("compute", compute)), x.dtype


def _max(x: Array, axis: int) -> Array:
    """Return the maximum along an axis, kept as length 1; −∞ if it is empty."""
    return x.max(axis, keepdims=True, initial=-np.inf)


def _finite(m: Array) -> Array:
    """Return `m`, but 0 where it is infinite, since ∞ − ∞ is NaN."""
    return np.where(np.isinf(m), 0, m)


def _log(x: Numbers) -> Numbers:
    """Return log(x); log(0) is −∞, and NumPy's warning of it is not shown."""
    with np.errstate(divide="ignore"):
        return np.log(x)
