"""Softmax of rows on a CPU.

A short row is read three times from a cache: for its maximum, for its weights,
which are kept, and to divide them. A long row would come from memory each time. So its
first two reads are one, block by block, with the state (m, l); the weights are not kept
but made again, when the sum is known. A very long one is cut into parts, each with a
state of its own, which are merged.
"""

# mypy: disable-error-code="no-untyped-def"
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from onlinesoftmax._inputs import Array
from onlinesoftmax.cpu import given
from onlinesoftmax.cpu.compiled import inner, kernel
from onlinesoftmax.cpu.pool import share, threads_of
from onlinesoftmax.cpu.steps import (
    STEP,
    address,
    row_largest,
    row_scale,
    row_sum,
    row_write,
)
from onlinesoftmax.cpu.tiles import soon
from onlinesoftmax.state import State, merge

AHEAD = 2  # rows: so far ahead of its use is memory asked for
NEAR = 2**15  # numbers of a row that is asked for beforehand, at most
SHORT = 2**18  # numbers of a row that is read three times, at most
BLOCK = 4096  # numbers of a block of a longer one
FEW = BLOCK // STEP  # steps of a block
PART = 2**19  # numbers of a part of a very long one
TASK = 2**17  # numbers of a task, at least
TASKS = 4  # for each thread, so that the last one is not waited for long
NOWHERE, ONE = np.float32(-np.inf), np.float32(1)


def softmax(
    x: ArrayLike, out: Array | None = None, *, threads: int | None = None
) -> Array:
    """Return the softmax along the last axis, at the speed of this machine.

    The answer is the same, to the last bit, for any number of threads.

    Parameters
    ----------
    x : array_like, (..., n), float16, bfloat16 or float32
    out : ndarray, optional
        Where to put the answer: of the shape and dtype of `x`, apart from it.
    threads : int, optional
        As many as the process may use unless given.

    Returns
    -------
    ndarray, the shape and dtype of `x`
        A row that is all −∞, or that holds +∞ or NaN, becomes NaN throughout.

    Examples
    --------
    >>> softmax(np.array([1.0, 2.0, 3.0], np.float32)).round(4)
    array([0.09  , 0.2447, 0.6652], dtype=float32)
    """
    dtype, x = given.narrow("x", x), np.asarray(x)
    if x.ndim == 0:
        raise ValueError(f"x: expected shape (..., n), got the number {x}")
    out = given.output("out", out, x.shape, dtype, (x,))
    threads, n = threads_of(threads), x.shape[-1]
    if x.size == 0:
        return out
    rows, answers = x.reshape(-1, n), out.reshape(-1, n)
    if n > PART:
        for row, answer in zip(rows, answers):
            _in_parts(row, answer, threads)
    else:
        size = -(-max(TASK, x.size // (threads * TASKS)) // n)

        def take(start: int) -> None:
            own = slice(start, start + size)
            _written(short_rows if n <= SHORT else long_rows, rows[own], answers[own])

        share(take, range(0, len(rows), size), threads)
    if not np.may_share_memory(out, answers):  # the rows of `out` lie far apart
        out[...] = answers.reshape(out.shape)
    return out


def _in_parts(row: Array, answer: Array, threads: int) -> None:
    """Write the softmax of one very long row."""
    parts = [slice(start, start + PART) for start in range(0, len(row), PART)]
    states = [State.empty()] * len(parts)

    def read(at: int) -> None:
        states[at] = State(*state_of(given.plain(row[parts[at]])))

    share(read, range(len(parts)), threads)
    with np.errstate(invalid="ignore"):  # of infinities: the answer is NaN, and says so
        m, l, _ = reduce(merge, states)

    def write(part: slice) -> None:
        _written(long_row, row[part], answer[part], m, np.float32(l))

    share(write, parts, threads)


def _written(run, x: Array, out: Array, *more) -> None:
    """Let a kernel write an answer of float32, wherever it has to go."""
    if out.dtype == np.float32 and out.flags.c_contiguous:
        run(given.plain(x), out, *more)
    else:
        answer = np.empty(x.shape, np.float32)
        run(given.plain(x), answer, *more)
        out[...] = answer


@kernel
def short_rows(x, out):
    """Write the softmax of rows that fit a cache."""
    tail = np.empty(STEP, np.float32)
    steps = x.shape[1] // STEP
    for i in range(x.shape[0]):
        row, to = address(x[i]), address(out[i])
        rest = out[i, steps * STEP :]
        if i + AHEAD < x.shape[0] and x.shape[1] <= NEAR:
            for rows in (x, out):
                soon(address(rows[i + AHEAD]), x.shape[1] * 4)
        put_tail(x[i, steps * STEP :], tail)
        m = max(row_largest(row, steps), row_largest(address(tail), 1))
        l = np.float32(0)
        for start in range(0, steps, FEW):  # a sum of sums is off by less
            more = start * STEP * 4
            l += row_write(row + more, min(FEW, steps - start), m, ONE, to + more)
        l += row_write(address(tail), 1, m, ONE, address(tail))
        row_scale(to, steps, ONE / l)
        row_scale(address(tail), 1, ONE / l)
        for j in range(rest.size):
            rest[j] = tail[j]


@kernel
def long_rows(x, out):
    """Write the softmax of rows block by block."""
    for i in range(x.shape[0]):
        m, l = read(x[i])
        write(x[i], out[i], m, l)


@kernel
def state_of(row):
    """Return (m, l) of a part of a row."""
    return read(row)


@kernel
def long_row(row, out, m, l):
    """Write the weights of a part of a row whose state is known."""
    write(row, out, m, l)


@inner
def read(row):
    """Return the state of a row, block by block."""
    m, l = NOWHERE, np.float32(0)
    tail = np.empty(STEP, np.float32)
    for start in range(0, row.size, BLOCK):
        block = row[start : start + BLOCK]
        steps = block.size // STEP
        soon(address(block) + BLOCK * 4, BLOCK * 4)
        put_tail(block[steps * STEP :], tail)
        own = max(row_largest(address(block), steps), row_largest(address(tail), 1))
        if own > m:
            l *= np.exp(m - own)
            m = own
        l += row_sum(address(block), steps, m, ONE, 0)
        l += row_sum(address(tail), 1, m, ONE, 0)
    return m, l


@inner
def write(row, out, m, l):
    """Write the weights of a row whose state is known."""
    tail = np.empty(STEP, np.float32)
    steps = row.size // STEP
    rest = out[steps * STEP :]
    put_tail(row[steps * STEP :], tail)
    row_write(address(row), steps, m, ONE / l, address(out))
    row_write(address(tail), 1, m, ONE / l, address(tail))
    for j in range(rest.size):
        rest[j] = tail[j]


@inner
def put_tail(rest, tail):
    """Put what fills no step into one, and −∞ after it."""
    tail[:] = NOWHERE
    for j in range(rest.size):
        tail[j] = rest[j]
