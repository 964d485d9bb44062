"""The definitions, computed all at once: the oracle for every other answer.

They compute in float64 and round once, at the end, to the dtype of the arguments
(float64 for integers). With `compute=np.float32` they compute in float32 throughout,
as ordinary code does: that is the fair comparison for streaming in float32.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from onlinesoftmax import inputs
from onlinesoftmax.inputs import Array, DType, Numbers
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
    inputs.flag("return_lse", return_lse)
    asked = inputs.attention(q, k, v, scale, softcap, sinks)
    compute = inputs.float_type("compute", compute)
    out = np.empty(asked.output, asked.dtype)
    lse = np.empty(asked.shape[:-1], asked.wide)
    for head in asked.heads():
        q, k, v = (x.astype(compute) for x in (head.q, head.k, head.v))
        scores = capped(q @ k.T * asked.scale, asked.softcap)  # (queries, keys)
        scores = head_of(mask, asked.shape, head.at).apply(scores)
        scores = np.pad(scores, ((0, 0), (0, 1)), constant_values=head.sink)
        values = np.pad(v, ((0, 1), (0, 0)))  # the sink's value is 0
        lse[head.at] = logsumexp(scores, compute=compute)
        for row, own in enumerate(scores):
            out[head.at][row] = softmax_dot(own, values, compute=compute)
    return (out, lse) if return_lse else out


class Gradients(NamedTuple):
    """The gradients of a loss by the arguments of attention, in their shapes.

    `sinks` is None if there were none.
    """

    q: Array
    k: Array
    v: Array
    sinks: Array | None


class Sums(NamedTuple):
    """Gradients while they are added up; `sinks` has a number for each head."""

    q: Array
    k: Array
    v: Array
    sinks: Array

    @classmethod
    def zeros(cls, asked: inputs.Attention, dtype: DType) -> "Sums":
        """Return sums of nothing."""
        arrays = asked.q, asked.k, asked.v, asked.sinks
        return cls(*(np.zeros(x.shape, dtype) for x in arrays))

    def rounded(self, dtype: DType, sinks: ArrayLike | None) -> Gradients:
        """Return the gradients; heads that share one sink add up."""
        q, k, v, own = (x.astype(dtype, copy=False) for x in self)
        if sinks is None:
            return Gradients(q, k, v, None)
        shape = np.shape(sinks)
        return Gradients(
            q, k, v, own if own.shape == shape else own.sum().reshape(shape)
        )


def attention_grad(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    do: ArrayLike,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: ArrayLike | None = None,
    compute: DTypeLike | None = None,
) -> Gradients:
    """Return the gradients of an attention, given that of its output.

    The weights p of a query are a softmax, and it has a Jacobian, diag(p) − p pᵀ. Here
    it is written out for every query.

    Parameters
    ----------
    q, k, v, mask, scale, softcap, sinks, compute
        As for `attention`.
    do : array_like, (..., heads, queries, columns)
        The gradient of the loss by the output.

    Returns
    -------
    Gradients
        In the widest dtype of q, k and v. Heads of q that share a head of k and v add
        up; a query that sees nothing adds 0.

    Notes
    -----
    Biases and slopes of a mask get no gradient: that of a bias may be as large as the
    whole matrix of scores.

    Examples
    --------
    >>> grads = attention_grad([[1.0]], [[1.0], [0.0]], [[5.0], [7.0]], [[1.0]])
    >>> grads.q.round(4).tolist(), grads.v.round(4).tolist()
    ([[-0.3932]], [[0.7311], [0.2689]])
    """
    asked = inputs.attention(q, k, v, scale, softcap, sinks)
    compute = inputs.float_type("compute", compute)
    do = inputs.shaped("do", do, asked.output, "that of the output").astype(compute)
    sums = Sums.zeros(asked, compute)
    for head in asked.heads():
        q, k, v = (x.astype(compute) for x in (head.q, head.k, head.v))
        scores = capped(q @ k.T * asked.scale, asked.softcap)
        slopes = cap_slopes(scores, asked.softcap)
        scores = head_of(mask, asked.shape, head.at).apply(scores)  # (queries, keys)
        dq, dk, dv = sums.q[head.at], sums.k[head.shared], sums.v[head.shared]
        for i, row in enumerate(scores):
            j = np.flatnonzero(row != -np.inf)  # the keys that query i sees
            p, ds, dsink = _row_grad(row[j], head.sink, v[j] @ do[head.at][i])
            ds = ds * slopes[i, j] * asked.scale  # by q · k, before scale and cap
            dq[i] = ds @ k[j]
            dk[j] += np.outer(ds, q[i])
            dv[j] += np.outer(p, do[head.at][i])
            sums.sinks[head.at[-1:] or 0] += dsink
    return sums.rounded(asked.dtype, sinks)


def capped(scores: Array, softcap: float | None) -> Array:
    """Return softcap · tanh(scores / softcap), or the scores where there is no cap."""
    return scores if softcap is None else softcap * np.tanh(scores / softcap)


def cap_slopes(scores: Array, softcap: float | None) -> Array:
    """Return the slope of the cap, 1 − tanh²(s / c), at scores after the cap."""
    return np.ones_like(scores) if softcap is None else 1 - (scores / softcap) ** 2


def _row_grad(scores: Array, sink: float, dp: Array) -> tuple[Array, Array, Numbers]:
    """Return the weights of one row, and the gradients of its scores and of its sink."""
    if not scores.size:
        return scores, scores, scores.sum()  # it sees nothing
    p = softmax(np.pad(scores, (0, 1), constant_values=sink), compute=scores.dtype)
    jacobian = np.diag(p) - np.outer(p, p)
    ds = jacobian @ np.pad(dp, (0, 1))  # the sink's value is 0, and so is its dp
    return p[:-1], ds[:-1], ds[-1]


def _prepare(x: ArrayLike, axis: int, compute: DTypeLike | None) -> tuple[Array, DType]:
    """Return `x` in the dtype to compute in, and the dtype of the answer."""
    x = inputs.rows("x", x)
    n = x.ndim
    if isinstance(axis, bool):  # NumPy takes none for an axis
        raise ValueError(f"axis: expected an integer, got {axis}")
    inputs.integer("axis", axis, -n, n - 1, f"an integer from {-n} to {n - 1}")
    return x.astype(inputs.float_type("compute", compute)), x.dtype


def _max(x: Array, axis: int) -> Array:
    """Return the maximum along an axis, which becomes length 1; −∞ if empty."""
    return x.max(axis, keepdims=True, initial=-np.inf)


def _finite(m: Array) -> Array:
    """Return `m`, but 0 where it is infinite, since ∞ − ∞ is NaN."""
    return np.where(np.isinf(m), 0, m)


def _log(x: Numbers) -> Numbers:
    """Return log(x); log(0) is −∞, and NumPy's warning of it is not shown."""
    with np.errstate(divide="ignore"):
        return np.log(x)
