"""The gradients of attention, tile by tile, with recomputed weights.

The forward pass stores one number a query besides its output, the logsumexp of its
scores (LSE). With it every weight is p = exp(score − LSE), so a tile of weights can be
recomputed whenever it is needed. For one tile, with dO the gradient of the output:

    dV gets    Pᵀ · dO
    dS is      P ∘ (dO · Vᵀ − Δ)        Δ is rowsum(dO ∘ O), one number a query
    dQ gets    dS · K · scale
    dK gets    dSᵀ · Q · scale

Those are five products, with the scores Q · Kᵀ; the forward pass has two.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from onlinesoftmax import inputs
from onlinesoftmax.dense import Gradients, Sums, cap_slopes, capped
from onlinesoftmax.inputs import Array
from onlinesoftmax.masks import Head, Mask, head_of
from onlinesoftmax.state import divisor, shift
from onlinesoftmax.streaming import weigh


def attention_grad(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    o: ArrayLike | None,
    lse: ArrayLike,
    do: ArrayLike,
    *,
    block_q: int = 64,
    block_k: int = 64,
    mask: Mask | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: ArrayLike | None = None,
) -> Gradients:
    """Return the gradients of attention, with one tile of weights in memory at a time.

    Parameters
    ----------
    q, k, v, block_q, block_k, mask, scale, softcap, sinks
        As for `streaming.attention`.
    o : array_like, (..., heads, queries, columns), or None
        The output of attention. If it is None, Δ is recomputed from the weights.
    lse : array_like, (..., heads, queries), float32 or float64
        What `streaming.attention` returns with `return_lse=True`.
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

    Sums are float32 at least. The LSE is rounded, so all weights of a row are off by
    the same factor; Δ is off by the rounding of the output. For float32 the largest
    error, in units of 2⁻²⁴ of the largest gradient, was 3 with an LSE near 6, 26 with
    an LSE of 124, and 9,080 with an LSE of 10,000 (200 queries, causal). An LSE in base
    2 is no better. An LSE in float64 is hardly better, because the forward pass rounded
    the scores as well. With `o=None` the LSE and Δ of each row are recomputed in
    float64 before they are used. That takes 7 products a tile instead of 5, and the
    error was below 2 units in all three cases.

    Examples
    --------
    >>> from onlinesoftmax import streaming
    >>> q, k, v, do = [[1.0]], [[1.0], [0.0]], [[5.0], [7.0]], [[1.0]]
    >>> o, lse = streaming.attention(q, k, v, return_lse=True)
    >>> attention_grad(q, k, v, o, lse, do, block_k=1).q.round(4)
    array([[-0.3932]])
    """
    asked = inputs.attention(q, k, v, scale, softcap, sinks)
    o, lse, do = check_forward(asked, o, lse, do)
    block_k = inputs.block_size(block_k, "block_k")
    sums = Sums.zeros(asked, asked.wide)
    for head in asked.heads():
        seen = head_of(mask, asked.shape, head.at)
        for rows in inputs.blocks(seen.queries, block_q, "block_q"):
            block = Block.of(head, rows, o, lse, do)
            if o is None:
                block = recompute_sums(asked, head, seen, block, block_k)
            fold(sums, asked, head, seen, block, block_k)
    return sums.rounded(asked.dtype, sinks)


class Block(NamedTuple):
    """A block of queries, with what its gradients need."""

    rows: slice
    q: Array  # (Br, d), float64
    do: Array  # (Br, columns), float64: the gradient of the output
    lse: Array  # (Br,), float32 or float64
    delta: Array  # (Br,), float64: Δ, the mean of dP over the weights

    @classmethod
    def of(
        cls, head: inputs.OneHead, rows: slice, o: Array | None, lse: Array, do: Array
    ) -> "Block":
        """Return a block of queries; without its output, Δ is 0 for now."""
        q, do = (x[rows].astype(np.float64) for x in (head.q, do[head.at]))
        delta = np.zeros(len(q)) if o is None else (do * o[head.at][rows]).sum(1)
        return cls(rows, q, do, lse[head.at][rows], delta)


class Recomputed(NamedTuple):
    """A tile of recomputed weights, with the gradients of weights and scores."""

    keys: slice
    scores: Array  # (Br, Bc), −∞ where nothing is seen
    p: Array  # the weights
    dp: Array  # the gradients of the weights, float64
    ds: Array  # the gradients of the products q · k, float64


def fold(
    sums: Sums,
    asked: inputs.Attention,
    head: inputs.OneHead,
    seen: Head,
    block: Block,
    block_k: int,
) -> None:
    """Add what a block of queries contributes to all gradients, tile by tile."""
    dq, scale = sums.q[head.at][block.rows], asked.scale
    dk, dv = sums.k[head.shared], sums.v[head.shared]  # other heads may add to them
    for keys, scores, p, _, ds in tiles(asked, head, seen, block, block_k):
        dq += scale * weigh(ds, scores, head.k[keys])
        dk[keys] += scale * weigh(ds.T, scores.T, block.q)
        dv[keys] += weigh(p.T, scores.T, block.do)
    if head.sink != -np.inf:  # a key of value 0: its dP is 0, and there is no dV
        p_sink = np.exp(head.sink - shift(block.lse))
        sums.sinks[head.at[-1:] or 0] -= p_sink @ block.delta


def tiles(
    asked: inputs.Attention,
    head: inputs.OneHead,
    seen: Head,
    block: Block,
    block_k: int,
) -> Iterator[Recomputed]:
    """Yield the tiles of a block of queries, with their weights recomputed.

    Tiles of which the block sees nothing are skipped. Scores are computed in float64,
    and rounded as the LSE was, so a weight follows from the same score as in the
    forward pass.
    """
    for _, keys, kind in seen.tiles(block.rows, block_k):
        k, v = (x[keys].astype(np.float64) for x in (head.k, head.v))
        scores = capped(block.q @ k.T * asked.scale, asked.softcap)  # (Br, Bc)
        slopes = cap_slopes(scores, asked.softcap)
        if kind == "some":
            scores = seen.apply(scores, block.rows, keys)
        scores = scores.astype(block.lse.dtype)
        hidden = scores == -np.inf
        p = np.exp(scores - shift(block.lse)[:, None])
        p, dp = (np.where(hidden, 0, x) for x in (p, block.do @ v.T))
        ds = np.where(hidden, 0, p * (dp - block.delta[:, None]) * slopes)
        yield Recomputed(keys, scores, p, dp, ds)


def recompute_sums(
    asked: inputs.Attention,
    head: inputs.OneHead,
    seen: Head,
    block: Block,
    block_k: int,
) -> Block:
    """Return a block with its LSE and its Δ recomputed in float64.

    That takes two products more for every tile. Weights are measured from the rounded
    LSE, and the logarithm of their sum corrects it.
    """
    block = block._replace(lse=block.lse.astype(np.float64))
    l, mean = np.exp(head.sink - shift(block.lse)), np.zeros_like(block.delta)
    for _, _, p, dp, _ in tiles(asked, head, seen, block, block_k):
        l += p.sum(1)
        mean += (p * dp).sum(1)
    return block._replace(lse=block.lse + np.log(divisor(l)), delta=mean / divisor(l))


def check_forward(
    asked: inputs.Attention, o: ArrayLike | None, lse: ArrayLike, do: ArrayLike
) -> tuple[Array | None, Array, Array]:
    """Return the output, the LSE and the gradient of the output, checked."""
    like = "that of the output"
    o = None if o is None else inputs.shaped("o", o, asked.output, like)
    lse = inputs.shaped("lse", lse, asked.shape[:-1], "one number a query")
    if lse.dtype == np.float16:
        raise ValueError("lse: expected float32 or float64, got float16")
    do = inputs.shaped("do", do, asked.output, like)
    return o, lse.astype(np.result_type(lse, asked.wide)), do
