"""The definitions, all at once: the oracles everything else is held to.

Each function computes in float64 and rounds once, at the end, to the dtype that came
(integers: float64). `compute=np.float32` computes in float32 throughout instead, which
is what "the ordinary way, in the same precision" means elsewhere in the book.
"""

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from onlinesoftmax import _inputs as inputs


def softmax(
    x: ArrayLike, axis: int = -1, *, compute: DTypeLike | None = None
) -> np.ndarray:
    """Return exp(x) / sum(exp(x)) along an axis.

    Parameters
    ----------
    x : array_like, float16, float32, float64 or integers
    axis : int
    compute : dtype, optional
        What to compute in; float64 unless given.

    Returns
    -------
    ndarray, the shape and dtype of `x`
        NaN throughout a row that is all −∞ or holds +∞ or NaN.

    Examples
    --------
    >>> softmax([1.0, 2.0, 3.0]).round(4)
    array([0.09  , 0.2447, 0.6652])
    """
    x, dtype = _prepare(x, axis, compute)
    m = x.max(axis, keepdims=True, initial=-np.inf)
    weights = np.exp(x - m)
    return (weights / weights.sum(axis, keepdims=True)).astype(dtype)


def log_softmax(
    x: ArrayLike, axis: int = -1, *, compute: DTypeLike | None = None
) -> np.ndarray:
    """Return log(softmax(x)) along an axis, without ever taking log of 0.

    Parameters and result as for `softmax`; −∞ where a weight is 0.

    Examples
    --------
    >>> log_softmax([0.0, -104.0]).tolist()
    [0.0, -104.0]
    """
    x, dtype = _prepare(x, axis, compute)
    m = _finite(x.max(axis, keepdims=True, initial=-np.inf))
    with np.errstate(divide="ignore"):
        return (x - m - np.log(np.exp(x - m).sum(axis, keepdims=True))).astype(dtype)


def logsumexp(
    x: ArrayLike, axis: int = -1, *, compute: DTypeLike | None = None
) -> np.ndarray:
    """Return log(sum(exp(x))) along an axis.

    Parameters as for `softmax`. The axis goes; a row of nothing, or all −∞, gives −∞.

    Examples
    --------
    >>> logsumexp([1000.0, 1000.0])
    np.float64(1000.6931471805599)
    """
    x, dtype = _prepare(x, axis, compute)
    m = _finite(x.max(axis, keepdims=True, initial=-np.inf))
    with np.errstate(divide="ignore"):
        return (np.log(np.exp(x - m).sum(axis)) + m.squeeze(axis)).astype(dtype)


def softmax_dot(
    scores: ArrayLike, values: ArrayLike, *, compute: DTypeLike | None = None
) -> np.ndarray:
    """Return sum(softmax(scores) * values): values averaged with softmax weights.

    Parameters
    ----------
    scores : array_like, (..., n)
        A score of −∞ says that the key is not there: its value is never read.
    values : array_like, (..., n) or (..., n, d)
    compute : dtype, optional
        What to compute in; float64 unless given.

    Returns
    -------
    ndarray, (...) or (..., d)
        0 for a row that sees nothing.

    Examples
    --------
    >>> softmax_dot([0.0, 5.0], [2.0, 3.0]).round(5)
    np.float64(2.99331)
    """
    scores, values = inputs.pair(scores, values)
    dtype = np.result_type(scores, values)
    scores, _ = _prepare(scores, -1, compute)
    wide = inputs.key_axis(scores, values) == -2
    values = values.astype(scores.dtype) if wide else values[..., None]  # (..., n, d)
    m = scores.max(-1, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(m == -np.inf, 0, m))  # (..., n)
    seen = np.where(scores[..., None] == -np.inf, 0, values)  # (..., n, d)
    total = weights.sum(-1, keepdims=True)
    out = (weights[..., None, :] @ seen)[..., 0, :] / np.where(total == 0, 1, total)
    return (out if wide else out[..., 0]).astype(dtype)


def _prepare(
    x: ArrayLike, axis: int, compute: DTypeLike | None
) -> tuple[np.ndarray, np.dtype]:
    """Return `x` in the dtype to compute in, and the dtype to return."""
    x = inputs.rows("x", x)
    inputs.axis("axis", axis, x.ndim)
    compute = inputs.float_type("compute", np.float64 if compute is None else compute)
    return x.astype(compute), x.dtype


def _finite(m: np.ndarray) -> np.ndarray:
    """Return `m`, 0 where it is infinite: ∞ − ∞ would be NaN."""
    return np.where(np.isfinite(m), m, 0)
