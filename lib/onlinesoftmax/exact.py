"""Attention whose bits do not depend on the sizes of its tiles.

The last digits of `streaming.attention` depend on its tiles for three reasons. Sums are
cut where tiles end. The maximum moves where tiles end, and each rescale rounds. And a
row of a matrix product may be rounded differently when the number of rows changes. Here
none of the three depends on the tiles:

    leaves  Keys come in leaves of 64, queries in panels of 16, counted from the first,
            whatever the tiles are. A tile that ends inside a leaf leaves that leaf to
            the next tile. Every product is of one panel and one leaf.
    order   Each leaf is summed by itself, and the sums of leaves are added in the order
            of the keys.
    powers  A score s is split as e^s = 2^p · e^r, with p a whole number, and m is the
            largest p so far. The factor of a rescale, 2^(m_old − m), is a power of two:
            it moves an exponent, and rounds nothing.

Notes
-----
Why the bits are the same for all tiles, on one machine and with one NumPy:

Scores, powers and exponentials are computed number by number, and a maximum has no
rounding, so tiles cannot change them. Products of matrices may depend on their shape.
Here all of them have the same shape, and a query or a key has the same index in it each
time, with zeros where a panel or a leaf is not full. So the weights and the sums of a
leaf follow from the leaf and from m at its end, which is the largest p up to there; and
the state after the leaf follows from that and from the state before it. Step by step,
then, the state after any leaf is the same whatever the tiles. They decide only how many
leaves are computed at a time, and whether a leaf of which a query sees nothing is
skipped or not. If it is not, m stays, the weights are 0, and 0 is added. That can turn
−0 into 0, so `answer` drops the sign of a zero, and the sign of NaN.

The leaves alone make the bits the same. The powers of two add that no error grows with
the number of rescales. Since they round nothing, m could almost move anywhere, once for
each tile, say, and no bit would change. The exception is a number below the smallest
normal one, 2^−1022, which loses digits when it is scaled. A column of o can hold such
numbers where the key of most weight has the value 0. That is why m moves at the ends of
leaves only.

From about 6 · 10^15 up, the p of a score has no digits after the point to round off.
Such a score is not split: its p is twice the score, and beside it only equal scores
have much weight. From 2^1023 up the score counts as infinite.
"""

from collections.abc import Iterator

import numpy as np

from onlinesoftmax import inputs
from onlinesoftmax.dense import capped
from onlinesoftmax.inputs import Array
from onlinesoftmax.masks import Head, Tile
from onlinesoftmax.state import State

LEAF = 64  # keys
PANEL = 16  # queries

LOG2_E = 1.4426950408889634
# log 2 in two parts: the first has so few bits that its product with p is not rounded.
LOG_2_HIGH = float.fromhex("0x1.62e42p-1")
LOG_2_LOW = float.fromhex("0x1.fdf473de6af28p-22")
WHOLE = 2.0**53  # from here on float64 has no digits after the point
GONE = -2200  # 2^GONE times any number of float64 is 0


def whole_panels(block_q: int) -> int:
    """Return the number of queries in a block of whole panels, at least `block_q`."""
    return -(-block_q // PANEL) * PANEL


def fold(
    asked: inputs.Attention, head: inputs.OneHead, seen: Head, rows: slice, block_k: int
) -> Iterator[State]:
    """Yield the state of a block of queries: the first one, and that after each tile.

    The block begins with a panel. m and l are (panels, 16), o is (panels, 16, columns),
    all in float64. Weights are measured from 2^m.
    """
    q = _stack(head.q[rows], PANEL)[:, None]  # (panels, 1, 16, d)
    m, fraction = split(np.full((len(q), PANEL), head.sink))
    l = np.where(m == -np.inf, 0, fraction)
    state = State(m, l, np.zeros((*l.shape, head.v.shape[1])))  # a key of value 0
    yield state
    for tile in seen.tiles(rows, block_k, LEAF):
        keys, values = (_stack(x[tile.keys], LEAF) for x in (head.k, head.v))
        with np.errstate(all="ignore"):
            scores = _scores(asked, q, keys)
            state = _update(state, _masked(scores, seen, tile), values)
        yield state


def answer(
    asked: inputs.Attention, head: inputs.OneHead, seen: Head, rows: slice, block_k: int
) -> tuple[Array, Array]:
    """Return the output (Br, columns) and the logsumexp (Br,) of a block of queries."""
    for state in fold(asked, head, seen, rows, block_k):
        pass  # only the last state is used
    m, l = np.asarray(state.m), np.asarray(state.l)  # (panels, 16)
    with np.errstate(all="ignore"):
        lse = m * LOG_2_HIGH + (m * LOG_2_LOW + np.log(l))
        lse = np.where(np.abs(m) < WHOLE, lse, m / 2)
        out = np.where((m < np.inf)[..., None], state.result(), np.nan)
    out = np.where(np.isnan(out), np.nan, out + 0.0)  # one NaN, and one 0
    size = rows.stop - rows.start
    return np.concatenate(out)[:size], np.concatenate(lse)[:size]


def split(scores: Array) -> tuple[Array, Array]:
    """Return e^scores as a whole power of two and what is left of it.

    Parameters
    ----------
    scores : ndarray, (...), float64

    Returns
    -------
    power : ndarray, (...)
        A whole number p; or ±∞ or NaN, as the score.
    fraction : ndarray, (...)
        e^s / 2^p, between √½ and √2.

    Examples
    --------
    >>> power, fraction = split(np.array([0.0, 1.0, -700.0]))
    >>> power.tolist(), fraction.round(4).tolist()
    ([0.0, 1.0, -1010.0], [1.0, 1.3591, 1.0818])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        power = np.rint(scores * LOG2_E)
        rest = (scores - power * LOG_2_HIGH) - power * LOG_2_LOW
        small = np.abs(power) < WHOLE
        if not small.all():
            power = np.where(small, power, 2 * scores)
            rest = np.where(small, rest, 0)
    return power, np.exp(rest)


def _stack(x: Array, size: int) -> Array:
    """Return rows (n, d) as a stack (…, size, d) in float64, filled up with zeros.

    It is a copy, so that memory lies in the same way each time.
    """
    stack = np.zeros((-(-len(x) // size), size, x.shape[1]))
    stack.ravel()[: x.size] = x.ravel()
    return stack


def _scores(asked: inputs.Attention, q: Array, keys: Array) -> Array:
    """Return the scores (panels, leaves, 16, 64) of a tile."""
    scores = q @ keys.swapaxes(-1, -2) * asked.scale
    return capped(scores, asked.softcap)


def _masked(scores: Array, seen: Head, tile: Tile) -> Array:
    """Return the scores of a tile as the mask has them, and −∞ where no key is."""
    panels, leaves = scores.shape[:2]
    rows, keys = (part.stop - part.start for part in (tile.rows, tile.keys))
    if tile.kind == "all" and keys == leaves * LEAF:
        return scores
    table = scores.swapaxes(1, 2).reshape(panels * PANEL, leaves * LEAF)
    masked = np.full_like(table, -np.inf)
    masked[:rows, :keys] = seen.apply(table[:rows, :keys], tile.rows, tile.keys)
    masked = masked.reshape(panels, PANEL, leaves, LEAF).swapaxes(1, 2)
    return np.ascontiguousarray(masked)


def _update(state: State, scores: Array, values: Array) -> State:
    """Return the state after one more tile, leaf by leaf."""
    powers, fractions = split(scores)
    ms = np.concatenate([np.expand_dims(state.m, 1), powers.max(-1)], 1)
    ms = np.maximum.accumulate(ms, 1)[:, 1:]  # (panels, leaves, 16), after each leaf
    weights = _scaled(fractions, powers - ms[..., None])
    ls, os = weights.sum(-1), _weigh(weights, powers != -np.inf, values)
    m, l, o = (np.asarray(x) for x in state)
    for leaf in range(scores.shape[1]):
        gap, m = m - ms[:, leaf], ms[:, leaf]
        l = _scaled(l, gap) + ls[:, leaf]
        o = _scaled(o, gap[..., None]) + os[:, leaf]
    return State(m, l, o)


def _scaled(x: Array, gap: Array) -> Array:
    """Return x · 2^gap. For a gap of −∞ it is 0, and for NaN, which is ∞ − ∞."""
    return np.ldexp(x, np.fmax(gap, GONE).astype(np.intc))


def _weigh(weights: Array, seen: Array, values: Array) -> Array:
    """Return weights · values (panels, leaves, 16, columns), as `streaming` does it.

    Values that are not finite are added one key at a time, to the rows that see it.
    """
    finite = np.isfinite(values).all(-1, keepdims=True)  # (leaves, 64, 1)
    if finite.all():
        return weights @ values
    o = weights @ np.where(finite, values, 0)
    for leaf, key, _ in zip(*np.nonzero(~finite)):
        products = weights[:, leaf, :, key, None] * values[leaf, key]
        o[:, leaf] += np.where(seen[:, leaf, :, key, None], products, 0)
    return o
