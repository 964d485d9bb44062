"""Folds over blocks: what is read once, and what is remembered meanwhile.

There are three ways to take in one more block, equal in real arithmetic:

    update             rescale the history, measure the block from the new maximum
    update_two_term    summarise the block by itself, rescale both: this is `merge`
    update_normalised  as `update`, with the output kept divided by the sum
"""

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from onlinesoftmax import _inputs as inputs
from onlinesoftmax._inputs import Array, Numbers
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
        −∞ says that there is no such key: its value is not read.
    values : array_like, (..., n) or (..., n, d), optional

    Examples
    --------
    >>> m, l, _ = update(State(m=3.0, l=5.0), [5.0, 4.0])
    >>> m, l.round(4)
    (np.float64(5.0), np.float64(2.0446))
    """
    scores, values = inputs.block_of(scores, values)
    m = larger("state, scores", state.m, largest(scores))
    return add(rescale(state, m), measure(scores, values, m))


def update_two_term(
    state: State, scores: ArrayLike, values: ArrayLike | None = None
) -> State:
    """Return the state after one more block, by way of the block's own state.

    Parameters as for `update`. It costs one exponential more, and works wherever two
    states meet: threads, machines.
    """
    return merge(state, State.of(scores, values))


class Normalised(NamedTuple):
    """A state whose output is kept divided: y = o / l, the answer so far."""

    m: Numbers
    l: Numbers
    y: Numbers


def normalise(state: State) -> Normalised:
    """Return (m, l, o / l); y is 0 where nothing was seen."""
    return Normalised(state.m, state.l, state.result())


def unnormalise(state: Normalised) -> State:
    """Return (m, l, l · y)."""
    m, l, y = state
    return State(m, l, across(l, m, y) * y)


def update_normalised(
    state: Normalised, scores: ArrayLike, values: ArrayLike
) -> Normalised:
    """Return the normalised state after one more block.

    Parameters as for `update`. The old answer keeps the share of the new sum that is
    old. That is a division for every block; `update` leaves one for the end.

    Examples
    --------
    >>> first = normalise(State.of([1.0], [10.0]))
    >>> update_normalised(first, [2.0], [20.0]).y.round(4)
    np.float64(17.3106)
    """
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
        Read once and in order, so a generator will do. A number is a block of one.

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
    if not isinstance(blocks, Iterable):
        raise ValueError(f"blocks: expected an iterable of arrays, got {blocks!r}")
    arrays = (np.atleast_1d(inputs.floats("blocks", block)) for block in blocks)
    m, l, _ = reduce(update, arrays, State.empty())
    return m, l


def softmax(x: ArrayLike, block: int) -> Array:
    """Return the softmax of x (..., n) in two reads, a block at a time.

    The first read finds (m, l); the second turns scores into weights. Special values
    and dtypes as for `dense.softmax`.

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
    """Return softmax(scores) · values in one read, a block at a time.

    Shapes, special values and dtypes as for `dense.softmax_dot`.

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
) -> Array | tuple[Array, Array]:
    """Return softmax(q kᵀ · scale) v, with one tile of scores in memory at a time.

    Parameters
    ----------
    block_q, block_k : int
        The tile: so many queries, so many keys.

    The other parameters, shapes, special values and the answer as for
    `dense.attention`. It adds up in float32 at least; a score, or a bias, that does not
    fit there is infinite.

    Examples
    --------
    >>> attention([[1.0], [2.0]], [[1.0], [0.0]], [[5.0], [7.0]], block_k=1).round(4)
    array([[5.5379],
           [5.2384]])
    """
    asked = inputs.attention(q, k, v, scale, softcap, sinks)
    block_k = inputs.block_size(block_k, "block_k")
    out = np.empty((*asked.q.shape[:-1], asked.v.shape[-1]), asked.dtype)
    lse = np.empty(asked.shape[:-1], asked.wide)
    for head in asked.heads():
        seen = head_of(mask, asked.shape, head.at)
        for rows in inputs.blocks(seen.queries, block_q, "block_q"):
            for state in fold(asked, head, seen, rows, block_k):
                pass  # only the last one matters, and only it is kept
            out[head.at][rows] = state.result()
            lse[head.at][rows] = state.logsumexp()
    return (out, lse) if return_lse else out


def fold(
    asked: inputs.Attention, head: inputs.OneHead, seen: Head, rows: slice, block_k: int
) -> Iterator[State]:
    """Yield the states of a block of queries: at first, and after each tile it sees.

    Scores are made in float64 and rounded once. They stand in an exponent, where the
    roundings of a product of matrices in float32, d in a row, would be the largest
    error of all.
    """
    wide, size, columns = asked.wide, rows.stop - rows.start, head.v.shape[-1]
    sinks = np.full((size, 1), head.sink, wide)
    state = State.of(sinks, np.zeros((size, 1, columns), wide))  # one key of value 0
    yield state
    q = head.q[rows].astype(np.float64)  # (Br, d)
    for _, keys, kind in seen.tiles(rows, block_k):
        scores = q @ head.k[keys].astype(np.float64).T * asked.scale  # (Br, Bc)
        if asked.softcap:
            scores = asked.softcap * np.tanh(scores / asked.softcap)
        if kind == "some":
            scores = seen.apply(scores, rows, keys)
        state = update_tile(state, scores.astype(wide), head.v[keys])
        yield state


def update_tile(state: State, scores: Array, values: Array) -> State:
    """Return the states of a block of queries after one more tile.

    As `update`, for rows that share their values: then weights · values is a product
    of matrices, and nothing of shape (Br, Bc, d) is made.

    Parameters
    ----------
    state : State
        m and l (Br,), o (Br, d).
    scores : ndarray, (Br, Bc)
    values : ndarray, (Bc, d)
    """
    m = np.maximum(state.m, largest(scores))  # (Br,)
    weights = np.exp(scores - shift(m)[:, None])  # (Br, Bc)
    new = State(m, weights.sum(-1), _weigh(weights, scores, values))
    return add(rescale(state, m), new)


def _weigh(weights: Array, scores: Array, values: Array) -> Array:
    """Return weights · values (Br, d); a row does not read what it does not see."""
    wide, values = weights.astype(np.float64), values.astype(np.float64)
    finite = np.isfinite(values).all(-1, keepdims=True)  # (Bc, 1)
    o = wide @ np.where(finite, values, 0)
    for j in np.flatnonzero(~finite):
        rows = scores[:, j] != -np.inf  # elsewhere, 0 · ∞ would be NaN
        o[rows] += wide[rows, j, None] * values[j]
    return o.astype(weights.dtype)


class Step(NamedTuple):
    """One step of a trace.

    The block is scores[..., start:stop]. Before it the state was (m_old, l_old), after
    it (m, l, o); alpha = exp(m_old − m) is what everything old is multiplied by, and
    added is the block's part of l: its weights, measured from m.
    """

    start: int
    stop: int
    m_old: Numbers
    l_old: Numbers
    m: Numbers
    l: Numbers
    o: Numbers | None
    alpha: Numbers
    added: Numbers


def trace(
    scores: ArrayLike, block: int, values: ArrayLike | None = None, *, forget: str = ""
) -> list[Step]:
    """Return every step of `update` over a row: what figures and drills show.

    Parameters
    ----------
    scores : array_like, (..., n)
    block : int
        1 gives the recurrence element by element.
    values : array_like, (..., n) or (..., n, d), optional
    forget : {"", "l", "o", "lo"}
        What not to rescale, to see what goes wrong.

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
    scores, values = inputs.block_of(scores, values)
    blocks = _blocks(scores, values, block)
    state, stop, steps = State.of(*next(blocks)), 0, []
    for s, v in blocks:
        m = np.maximum(state.m, largest(s))
        old, new = rescale(state, m), measure(s, v, m)
        after = add(old._replace(**{x: getattr(state, x) for x in forget}), new)
        start, stop, alpha = stop, stop + s.shape[-1], factor(state.m, m)
        steps.append(Step(start, stop, state.m, state.l, *after, alpha, new.l))
        state = after
    return steps


class TileStep(NamedTuple):
    """One step of a row of an attention: a tile, and the row's state after it.

    Before it the maximum was m_old, and alpha = exp(m_old − m). A tile of which nothing
    is seen is skipped: the state stays.
    """

    tile: Tile
    m_old: Numbers
    m: Numbers
    l: Numbers
    o: Numbers | None
    alpha: Numbers


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
    """Return what one query remembers after each tile of its block, skipped ones too.

    Parameters
    ----------
    q, k, v : array_like, (queries, d), (keys, d), (keys, columns)
    row : int

    The others as for `attention`, which goes through the same states.

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
    """Return views of x (..., n), each `block` long; the last may be shorter.

    Examples
    --------
    >>> [part.tolist() for part in split([1, 2, 3, 4, 5], 2)]
    [[1.0, 2.0], [3.0, 4.0], [5.0]]
    """
    x = inputs.rows("x", x)
    return (x[..., part] for part in inputs.blocks(x.shape[-1], block))


def _blocks(
    scores: Array, values: Array | None, block: int
) -> Iterator[tuple[Array, Array | None]]:
    """Yield blocks of scores and of values, the first one empty, to start from."""
    for keys in (slice(0), *inputs.blocks(scores.shape[-1], block)):
        if values is None:
            yield scores[..., keys], None
        elif values.ndim > scores.ndim:
            yield scores[..., keys], values[..., keys, :]
        else:
            yield scores[..., keys], values[..., keys]
