"""Attention on a CPU: blocks of queries, each folded over the keys by `folding`."""

# mypy: disable-error-code="no-untyped-def"
import numpy as np
from numpy.typing import ArrayLike

from onlinesoftmax import inputs, streaming
from onlinesoftmax.dense import capped
from onlinesoftmax.inputs import Array
from onlinesoftmax.masks import Mask, head_of
from onlinesoftmax.state import State
from tiledattention.cpu import arguments, decoding, folding
from tiledattention.cpu.pool import share, threads_of
from tiledattention.cpu.steps import LOG2_E
from tiledattention.cpu.tiles import TILE


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: ArrayLike | None = None,
    out: Array | None = None,
    return_lse: bool = False,
    threads: int | None = None,
) -> Array | tuple[Array, Array]:
    """Return softmax(q kᵀ · scale) v, at the speed of this machine.

    The answer is the same, to the last bit, for any number of threads.

    Parameters
    ----------
    q, k, v, mask, scale, softcap, sinks
        As for `streaming.attention`, but float16, bfloat16 or float32.
    out : ndarray, optional
        Where to put the output: of its shape and dtype, apart from the arguments.
    return_lse : bool
        Whether to return the logsumexp of each row of scores as well.
    threads : int, optional
        As many as the process may use unless given.

    Returns
    -------
    out : ndarray, (..., heads, queries, columns)
        In the widest dtype of the three; 0 for a row that sees nothing.
    lse : ndarray, (..., heads, queries), float32
        −∞ for a row that sees nothing.

    Notes
    -----
    Where a head has too few queries to share them out, `decode` does the work: threads
    share the keys. Scores and sums are of float32. A block of queries whose answer is not
    finite is computed again by `streaming`, slowly: the value that is not finite may be
    hidden from some of them.

    Examples
    --------
    >>> q = k = np.array([[1.0], [2.0]], np.float32)
    >>> attention(q, k, k).round(4)
    array([[1.7311],
           [1.8808]], dtype=float32)
    """
    inputs.flag("return_lse", return_lse)
    asked, dtype = arguments.attention(q, k, v, scale, softcap, sinks)
    out = arguments.output("out", out, asked.output, dtype, (q, k, v))
    lse = np.empty(asked.shape[:-1], np.float32)
    threads = threads_of(threads)
    if decoding.pays(asked):
        decoding.write(asked, mask, out, lse, threads)
    else:
        _by_tiles(asked, mask, out, lse, threads)
    return (out, lse) if return_lse else out


def _by_tiles(
    asked: inputs.Attention, mask: Mask | None, out: Array, lse: Array, threads: int
) -> None:
    """Write the output and the logsumexp of each row, block by block of queries."""
    # Every block reads all keys and values: what a kernel cannot read is copied once.
    asked = asked._replace(k=arguments.plain(asked.k), v=arguments.plain(asked.v))
    heads = [(head, head_of(mask, asked.shape, head.at)) for head in asked.heads()]
    size = arguments.block_size([seen for _, seen in heads], threads)
    blocks = [
        (head, seen, rows)
        for head, seen in heads
        for rows in inputs.blocks(seen.queries, size)
    ]
    blocks.reverse()  # under a causal mask the last queries see most: they go first
    share(lambda block: _attend(asked, *block, out, lse), blocks, threads)


def _attend(asked, head, seen, rows, out, lse) -> None:
    """Write the output and the logsumexp of a block of queries."""
    own = arguments.Rows.of(seen, rows, head.sink)
    to, sums = out[head.at][rows], lse[head.at][rows]
    answer = arguments.answer(to)
    m, l, o = *np.empty((2, 1, len(to)), np.float32), answer[None]
    problem = folding.Problem.of(asked, head.q[rows], own, few=False)
    problem.fold(head.k, head.v, 0, m[0], l[0], o[0])
    if not folding.unite(m, l, o, 0, answer, sums):
        answer, sums[...] = streaming.answer(asked, head, seen, rows, TILE)
    if answer is not to:
        to[...] = answer


def state_of(
    asked: inputs.Attention, head: inputs.OneHead, rows: slice, own: arguments.Rows
) -> State:
    """Return the states of a block of queries over some of the keys, in float64.

    `asked` and `head` hold only these keys and their values. `own` says what the queries
    see of them. A worker of a cluster folds its chunk so. An m may lie a little below the
    largest score: l and o are measured from it all the same.
    """
    m, l, o = (
        x[0] for x in folding.room_for_states(1, own.first.size, head.v.shape[-1])
    )
    few = len(head.q) <= folding.MOST
    problem = folding.Problem.of(asked, head.q[rows], own, few)
    problem.fold(head.k, head.v, 0, m, l, o)
    wide = State(*(x.astype(np.float64) for x in (m, l, o)))
    if np.isfinite(l).all() and np.isfinite(o).all() and (m < np.inf).all():
        return wide._replace(m=wide.m / LOG2_E)
    return _state_by_streaming(asked, head, rows, own)


def _state_by_streaming(asked, head, rows, own) -> State:
    """Fallback for non-finite sums, by `streaming`. Hidden keys are never read."""
    q = head.q[rows].astype(np.float64)
    state = State.empty((len(q),), head.v.shape[-1])
    for keys in inputs.blocks(len(head.k), TILE):
        scores = q @ head.k[keys].astype(np.float64).T * asked.scale
        scores = own.apply(capped(scores, asked.softcap).astype(np.float32), keys)
        state = streaming.update_tile(state, scores, head.v[keys])
    return State(*(np.asarray(x, np.float64) for x in state))
