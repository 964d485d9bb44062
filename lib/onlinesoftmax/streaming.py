"""Softmax and attention block by block: each block is read once, and leaves a state.

Three functions take in one more block. In real arithmetic they give the same:

    update             rescales the old state, and measures the block from the maximum
                       of both
    update_two_term    summarises the block by itself, and merges the two states
    update_normalised  as `update`, but stores the output divided by the sum of weights
"""

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from onlinesoftmax import exact, inputs
from onlinesoftmax.dense import capped
from onlinesoftmax.inputs import Array, Numbers
from onlinesoftmax.masks import Head, Mask, Tile, head_of
from onlinesoftmax.state import (
    State,
    across,
    add,
    add_outputs,
    divisor,
    factor,
    larger,
    largest,
    measure,
    merge,
    rescale,
    shift,
)


def update(state: State, scores: ArrayLike, values: ArrayLike | None = None) -> State:
    """Return the state after one more block: the online recurrence.

    Parameters
    ----------
    state : State
    scores : array_like, (..., n)
        Where a score is −∞ there is no key, and its value is not read.
    values : array_like, (..., n) or (..., n, d), optional

    Returns
    -------
    State

    Examples
    --------
    >>> m, l, _ = update(State(m=3.0, l=5.0), [5.0, 4.0])
    >>> m, l.round(4)
    (np.float64(5.0), np.float64(2.0446))
    """
    inputs.instance("state", state, State)
    scores, values = inputs.block_of(scores, values)
    m = larger("state, scores", state.m, largest(scores))
    return add(rescale(state, m), measure(scores, values, m))


def update_two_term(
    state: State, scores: ArrayLike, values: ArrayLike | None = None
) -> State:
    """Return the state after one more block, by merging it with the block's own state.

    It takes one exponential more than `update`. But it also works where the block was
    summarised elsewhere: by another thread, or on another machine.
    """
    inputs.instance("state", state, State)
    return merge(state, State.of(scores, values))


class Normalised(NamedTuple):
    """A state whose output is stored divided by the sum of weights: y = o / l."""

    m: Numbers
    l: Numbers
    y: Numbers


def normalise(state: State) -> Normalised:
    """Return a state with its output divided; y is 0 where nothing was seen."""
    inputs.instance("state", state, State)
    return Normalised(state.m, state.l, state.result())


def unnormalise(state: Normalised) -> State:
    """Return a normalised state as an ordinary one, with o = l · y."""
    inputs.instance("state", state, Normalised)
    m, l, y = state
    return State(m, l, across(l, m, y) * y)


def update_normalised(
    state: Normalised, scores: ArrayLike, values: ArrayLike
) -> Normalised:
    """Return the normalised state after one more block.

    The old answer is weighted with the old part of the new sum, l_old / l. That takes a
    division for every block, where `update` needs a single one at the end.

    >>> first = normalise(State.of([1.0], [10.0]))
    >>> update_normalised(first, [2.0], [20.0]).y.round(4)
    np.float64(17.3106)
    """
    inputs.instance("state", state, Normalised)
    scores, values, _ = inputs.pair(scores, values)
    m = larger("state, scores", state.m, largest(scores))
    l_old, new = factor(state.m, m) * state.l, measure(scores, values, m)
    l = l_old + new.l
    y_old = across(l_old / divisor(l), state.m, state.y) * state.y
    return Normalised(m, l, add_outputs(y_old, State(m, l, new.o).result()))


def sum_exp(blocks: Iterable[ArrayLike]) -> tuple[Numbers, Numbers]:
    """Return (m, l): the largest number of a stream and the sum of exp(x − m).

    Parameters
    ----------
    blocks : iterable of array_like, (..., n)
        They are read once and in order, so a generator will do. A single number counts
        as a block of length 1.

    Returns
    -------
    m, l : ndarray or number, (...), float32 or float64
        (−∞, 0) if there are no blocks.

    Examples
    --------
    >>> m, l = sum_exp(iter([[1.0, 2.0], [3.0]]))
    >>> m, l.round(4)
    (np.float64(3.0), np.float64(1.5032))
    """
    if not isinstance(blocks, Iterable):
        raise ValueError(
            f"blocks: expected an iterable of arrays, got {inputs.shown(blocks)}"
        )
    arrays = (np.atleast_1d(inputs.floats("blocks", block)) for block in blocks)
    m, l, _ = reduce(update, arrays, State.empty())
    return m, l


def softmax(x: ArrayLike, block: int) -> Array:
    """Return the softmax along the last axis, in two passes over the blocks.

    The first pass computes (m, l); the second turns scores into weights. Special values
    and dtypes are those of `dense.softmax`.

    Parameters
    ----------
    x : array_like, (..., n), float16, float32, float64 or integers
    block : int
        The length of a block.

    Returns
    -------
    ndarray, the shape and dtype of `x`

    Examples
    --------
    >>> softmax([1.0, 2.0, 3.0], block=2).round(4)
    array([0.09  , 0.2447, 0.6652])
    """
    x = inputs.rows("x", x)
    m, l = (np.expand_dims(each, -1) for each in sum_exp(split(x, block)))  # (..., 1)
    out = np.empty_like(x)
    for part, weights in zip(split(x, block), split(out, block)):
        weights[...] = np.exp(part - m) / l
    return out


def softmax_dot(scores: ArrayLike, values: ArrayLike, block: int) -> Numbers:
    """Return softmax(scores) · values, in one pass over the blocks.

    Special values and dtypes are those of `dense.softmax_dot`.

    Parameters
    ----------
    scores : array_like, (..., n)
    values : array_like, (..., n) or (..., n, d)
    block : int
        The length of a block.

    Returns
    -------
    ndarray or number, (...) or (..., d)

    Examples
    --------
    >>> softmax_dot([0.0, 5.0], [2.0, 3.0], block=1).round(5)
    np.float64(2.99331)
    """
    scores, values, dtype = inputs.pair(scores, values)
    blocks = _blocks(scores, values, block)
    state = State.of(*next(blocks))
    for s, v in blocks:
        state = update(state, s, v)
    return state.result().astype(dtype)


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    block_q: int = 64,
    block_k: int = 64,
    mask: Mask | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: ArrayLike | None = None,
    return_lse: bool = False,
    exact_blocks: bool = False,
) -> Array | tuple[Array, Array]:
    """Return softmax(q kᵀ · scale) v, with one tile of scores in memory at a time.

    Parameters
    ----------
    q : array_like, (..., heads, queries, d) or (queries, d)
    k : array_like, (..., heads, keys, d) or (keys, d)
        It may have fewer heads than q: neighbouring heads of q then share one.
    v : array_like, (..., heads, keys, columns) or (keys, columns)
    block_q, block_k : int
        The queries and the keys of a tile.
    mask : Mask, optional
        From `onlinesoftmax.masks`. What is hidden is not read.
    scale : float, optional
        1/√d unless given.
    softcap : float, optional
        Scores s become softcap · tanh(s / softcap), before the mask.
    sinks : array_like, () or (heads,), optional
        The score of one more key, which every query sees and whose value is 0.
    return_lse : bool
        Whether to return the logsumexp of each row of scores as well.
    exact_blocks : bool
        Whether the answer, to its last bit, is the same for every `block_q` and
        `block_k`. `onlinesoftmax.exact` explains how.

    Returns
    -------
    out : ndarray, (..., heads, queries, columns)
        In the widest dtype of the three; 0 for a row that sees nothing.
    lse : ndarray, (..., heads, queries), float32 at least
        −∞ for a row that sees nothing.

    Notes
    -----
    Sums are float32 at least. A score or a bias too large for their dtype is infinite.

    Examples
    --------
    >>> attention([[1.0], [2.0]], [[1.0], [0.0]], [[5.0], [7.0]], block_k=1).round(4)
    array([[5.5379],
           [5.2384]])
    """
    asked = inputs.attention(q, k, v, scale, softcap, sinks)
    inputs.flag("return_lse", return_lse)
    block_q = inputs.block_size(block_q, "block_q")
    block_k = inputs.block_size(block_k, "block_k")
    one_block = answer
    if inputs.flag("exact_blocks", exact_blocks):
        one_block, block_q = exact.answer, exact.whole_panels(block_q)
    out = np.empty((*asked.q.shape[:-1], asked.v.shape[-1]), asked.dtype)
    lse = np.empty(asked.shape[:-1], asked.wide)
    for head in asked.heads():
        seen = head_of(mask, asked.shape, head.at)
        for rows in inputs.blocks(seen.queries, block_q, "block_q"):
            own = one_block(asked, head, seen, rows, block_k)
            out[head.at][rows], lse[head.at][rows] = own
    return (out, lse) if return_lse else out


def answer(
    asked: inputs.Attention, head: inputs.OneHead, seen: Head, rows: slice, block_k: int
) -> tuple[Numbers, Numbers]:
    """Return the output (Br, columns) and the logsumexp (Br,) of a block of queries."""
    for state in fold(asked, head, seen, rows, block_k):
        pass  # only the last state is used
    return state.result(), state.logsumexp()


def fold(
    asked: inputs.Attention, head: inputs.OneHead, seen: Head, rows: slice, block_k: int
) -> Iterator[State]:
    """Yield the state of a block of queries: the first one, and that after each tile.

    Tiles of which the block sees nothing are skipped. The shapes of m and l are (Br,),
    that of o is (Br, columns).

    Scores are computed in float64 and rounded once. They stand in an exponent: computed
    in float32, the d roundings of each would be the largest error of all.
    """
    wide, size, columns = asked.wide, rows.stop - rows.start, head.v.shape[-1]
    sinks = np.full((size, 1), head.sink, wide)
    state = State.of(sinks, np.zeros((size, 1, columns), wide))  # a key of value 0
    yield state
    q = head.q[rows].astype(np.float64)  # (Br, d)
    for _, keys, kind in seen.tiles(rows, block_k):
        scores = q @ head.k[keys].astype(np.float64).T * asked.scale  # (Br, Bc)
        scores = capped(scores, asked.softcap)
        if kind == "some":
            scores = seen.apply(scores, rows, keys)
        state = update_tile(state, scores.astype(wide), head.v[keys])
        yield state


def update_tile(state: State, scores: Array, values: Array) -> State:
    """Return the state of a block of queries after one more tile.

    It is `update` for scores (Br, Bc) of rows that share their values (Bc, d). The sum
    of weight · value is then a product of two matrices, and needs no array (Br, Bc, d).
    """
    m = np.maximum(state.m, largest(scores))  # (Br,)
    weights = np.exp(scores - shift(m)[:, None])  # (Br, Bc)
    new = State(m, weights.sum(-1), weigh(weights, scores, values))
    return add(rescale(state, m), new)


def weigh(weights: Array, scores: Array, values: Array) -> Array:
    """Return weights (Br, Bc) · values (Bc, d); hidden values are not read.

    Values that are not finite are added one key at a time, to the rows that see it. A
    product of matrices would multiply them by weights of 0 as well, and 0 · ∞ is NaN.
    """
    wide, values = weights.astype(np.float64), values.astype(np.float64)
    finite = np.isfinite(values).all(-1, keepdims=True)  # (Bc, 1)
    o = wide @ np.where(finite, values, 0)
    for j in np.flatnonzero(~finite):
        rows = scores[:, j] != -np.inf
        o[rows] += wide[rows, j, None] * values[j]
    return o.astype(weights.dtype)


class Step(NamedTuple):
    """One step of a trace: the state before a block and after it."""

    start: int  # the block is scores[..., start:stop]
    stop: int
    m_old: Numbers  # the state before the block
    l_old: Numbers
    m: Numbers  # the state after it
    l: Numbers
    o: Numbers | None
    alpha: Numbers  # exp(m_old − m), by which everything old is multiplied
    added: Numbers  # what the block adds to l: the sum of its weights, measured from m


def trace(
    scores: ArrayLike, block: int, values: ArrayLike | None = None, *, forget: str = ""
) -> list[Step]:
    """Return every step of `update` over a row of scores.

    Parameters
    ----------
    scores : array_like, (..., n)
    block : int
        The length of a block; 1 gives the recurrence element by element.
    values : array_like, (..., n) or (..., n, d), optional
    forget : {"", "l", "o", "lo"}
        Which of l and o not to rescale, to see what goes wrong then.

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
    inputs.one_of("forget", forget, ("", "l", "o", "lo"))
    scores, values = inputs.block_of(scores, values)
    blocks = _blocks(scores, values, block)
    state, stop, steps = State.of(*next(blocks)), 0, []
    for s, v in blocks:
        m = np.maximum(state.m, largest(s))
        old, new = rescale(state, m), measure(s, v, m)
        if "l" in forget:
            old = old._replace(l=state.l)
        if "o" in forget:
            old = old._replace(o=state.o)
        after = add(old, new)
        start, stop, alpha = stop, stop + s.shape[-1], factor(state.m, m)
        steps.append(Step(start, stop, state.m, state.l, *after, alpha, new.l))
        state = after
    return steps


class TileStep(NamedTuple):
    """One step of one query through attention: a tile, and the state after it.

    A tile of which the query's block sees nothing is skipped, and the state stays.
    """

    tile: Tile
    m_old: Numbers  # the maximum before the tile
    m: Numbers  # the state after it
    l: Numbers
    o: Numbers | None  # (columns,)
    alpha: Numbers  # exp(m_old − m), by which everything old is multiplied


def trace_attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    row: int,
    *,
    block_q: int = 64,
    block_k: int = 64,
    mask: Mask | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: ArrayLike | None = None,
) -> list[TileStep]:
    """Return the states of one query, after each tile of its block of queries.

    Parameters
    ----------
    q : array_like, (queries, d)
    k : array_like, (keys, d)
    v : array_like, (keys, columns)
    row : int
        The query.
    block_q, block_k, mask, scale, softcap, sinks
        As for `attention`, which goes through the same states.

    Returns
    -------
    list of TileStep
        One for each tile, those that are skipped included.

    Examples
    --------
    >>> from onlinesoftmax.masks import causal
    >>> q = k = v = [[1.0], [2.0], [3.0], [4.0]]
    >>> for step in trace_attention(q, k, v, 1, block_q=2, block_k=2, mask=causal()):
    ...     print(step.tile.kind, step.m, step.l.round(4))
    some 4.0 1.1353
    none 4.0 1.1353
    """
    asked = inputs.attention(q, k, v, scale, softcap, sinks)
    if asked.q.ndim > 2:
        raise ValueError(f"q: expected shape (queries, d), got {asked.q.shape}")
    queries = asked.q.shape[0]
    inputs.integer("row", row, 0, queries - 1, f"an integer from 0 to {queries - 1}")
    start = row - row % inputs.block_size(block_q, "block_q")
    rows = slice(start, min(start + block_q, queries))
    [head], seen = asked.heads(), head_of(mask, asked.shape, ())
    states = fold(asked, head, seen, rows, block_k)
    state, steps, at = next(states), [], row - rows.start
    for keys in inputs.blocks(seen.keys, block_k, "block_k"):
        tile = Tile(rows, keys, seen.kind(rows, keys))
        m_old = np.take(state.m, at)
        state = state if tile.kind == "none" else next(states)
        own = _row(state, at)
        steps.append(TileStep(tile, m_old, *own, factor(m_old, own.m)))
    return steps


def _row(state: State, at: int) -> State:
    """Return the state of one row out of those of a block of rows."""
    m, l, o = state
    o_own = None if o is None else np.take(o, at, axis=0)
    return State(np.take(m, at), np.take(l, at), o_own)


def split(x: ArrayLike, block: int) -> Iterator[Array]:
    """Return views of blocks along the last axis; the last block may be shorter.

    >>> [part.tolist() for part in split([1, 2, 3, 4, 5], 2)]
    [[1.0, 2.0], [3.0, 4.0], [5.0]]
    """
    x = inputs.rows("x", x)
    return (x[..., part] for part in inputs.blocks(x.shape[-1], block))


def _blocks(
    scores: Array, values: Array | None, block: int
) -> Iterator[tuple[Array, Array | None]]:
    """Yield blocks of scores and values, the first of them empty, to start a fold."""
    for keys in (slice(0), *inputs.blocks(scores.shape[-1], block)):
        if values is None:
            yield scores[..., keys], None
        elif values.ndim > scores.ndim:
            yield scores[..., keys], values[..., keys, :]
        else:
            yield scores[..., keys], values[..., keys]
