"""Softmax of rows on a CPU.

A row is processed block by block. While a block is in the cache it is read twice: for
its largest score, and for its weights, which are measured from that score and written.
So each block leaves a state (m, l). Once the states are merged, each block's weights
are rescaled to the whole row. Threads share the parts of a very long row; its blocks
stay the same.
"""

# mypy: disable-error-code="no-untyped-def"
import numpy as np
from numpy.typing import ArrayLike

from onlinesoftmax.inputs import Array
from tiledattention.cpu import arguments
from tiledattention.cpu.compiled import inner, kernel
from tiledattention.cpu.lanes import LANES
from tiledattention.cpu.pool import share, threads_of
from tiledattention.cpu.steps import (
    FEW,
    address,
    few_largest,
    few_sums,
    row_largest,
    row_scale,
    row_write,
)

BLOCK = 4096  # numbers of a block
PART = 128 * BLOCK  # numbers of a part of a very long row
TASK = 2**17  # numbers of a task, at least
TASKS = 4  # for each thread, so that the last task is short
NOWHERE = np.float32(-np.inf)


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
    dtype, x = arguments.narrow("x", x), np.asarray(x)
    if x.ndim == 0:
        raise ValueError(f"x: expected shape (..., n), got the number {x}")
    out = arguments.output("out", out, x.shape, dtype, (x,))
    threads, n = threads_of(threads), x.shape[-1]
    if x.size == 0:
        return out
    rows, answers = x.reshape(-1, n), out.reshape(-1, n)
    if n > PART and len(rows) < 2 * threads:
        for row, answer in zip(rows, answers):
            _write_in_parts(row, answer, threads)
    else:
        size = -(-max(TASK, x.size // (threads * TASKS)) // n)

        def write(start: int) -> None:
            own = slice(start, start + size)
            _write(rows[own], answers[own])

        share(write, range(0, len(rows), size), threads)
    if not np.may_share_memory(out, answers):  # `reshape` had to copy `out`
        out[...] = answers.reshape(out.shape)
    return out


def _write_in_parts(row: Array, answer: Array, threads: int) -> None:
    """Write the softmax of one very long row."""
    weights = answer if _is_writable(answer) else np.empty(row.shape, np.float32)
    m, l = np.empty((2, -(-len(row) // BLOCK)), np.float32)

    def weigh(start: int) -> None:
        own = slice(start, start + PART)
        blocks = slice(start // BLOCK, (start + PART) // BLOCK)
        weigh_part(arguments.plain(row[own]), weights[own], m[blocks], l[blocks])

    def rescale(start: int) -> None:
        own = slice(start, start + PART)
        rescale_part(weights[own], m, l, start)
        if weights is not answer:
            answer[own] = weights[own]

    share(weigh, range(0, len(row), PART), threads)
    share(rescale, range(0, len(row), PART), threads)


def _write(x: Array, out: Array) -> None:
    """Write the softmax of whole rows, in whatever format `out` has."""
    weights = out if _is_writable(out) else np.empty(x.shape, np.float32)
    whole_rows(arguments.plain(x).ravel(), weights.ravel(), x.shape[1])
    if weights is not out:
        out[...] = weights


def _is_writable(out: Array) -> bool:
    """Return whether a kernel can write to `out` directly."""
    return out.dtype == np.float32 and out.flags.c_contiguous


@kernel
def whole_rows(x, out, n):
    """Write the softmax of rows of n numbers, one after the other."""
    blocks = -(-n // BLOCK)
    most = max(blocks, FEW)
    m, l = np.empty(most, np.float32), np.empty(most, np.float32)
    room = np.empty((FEW, LANES), np.float32)
    size = n if blocks > 1 else FEW * n  # short rows are computed together
    for start in range(0, x.size, size):
        own, to = x[start : start + size], out[start : start + size]
        weigh(own, to, m, l, min(n, BLOCK), room)
        if blocks > 1:
            merge(m, l, blocks)
        else:
            for i in range(own.size // n):
                m[i] = 1 / l[i]
        rescale(to, m, min(n, BLOCK))


@kernel
def weigh_part(row, out, m, l):
    """Write the weights of a part of a row, and the states of its blocks."""
    weigh(row, out, m, l, BLOCK, np.empty((FEW, LANES), np.float32))


@kernel
def rescale_part(out, m, l, start):
    """Rescale the weights of a part of a row, from the states of all its blocks."""
    factors = m.copy()
    merge(factors, l, m.size)
    rescale(out, factors[start // BLOCK :], BLOCK)


@inner
def weigh(row, out, m, l, size, room):
    """Write the weights of blocks, each measured from the largest score of its own.

    The states of the blocks go to `m` and `l`. FEW blocks are computed at a time, so that
    none waits for the sums of another; `room` (FEW, LANES) holds these.
    """
    source, to, lanes = address(row), address(out), address(room)
    for first in range(0, row.size, FEW * size):
        stop, block = min(first + FEW * size, row.size), first // size
        place = lanes
        for start in range(first, stop, size):
            row_largest(source + start * 4, min(size, stop - start), place)
            place += LANES * 4
        few_largest(lanes)
        for b in range(block, -(-stop // size)):
            m[b] = room[0, b - block]
        place = lanes
        for start in range(first, stop, size):
            row_write(source + start * 4, min(size, stop - start), m[start // size],
                      to + start * 4, place)  # fmt: skip
            place += LANES * 4
        few_sums(lanes)
        for b in range(block, -(-stop // size)):
            l[b] = room[0, b - block]


@inner
def merge(m, l, blocks):
    """Turn each block's `m` into the factor that rescales its weights to the whole."""
    top, whole = NOWHERE, np.float64(0)
    for b in range(blocks):
        top = max(top, m[b])
    for b in range(blocks):
        m[b] = np.exp(m[b] - top)
        whole += l[b] * m[b]
    for b in range(blocks):
        m[b] /= whole


@inner
def rescale(out, factors, size):
    """Multiply the weights of each block by its factor."""
    for start in range(0, out.size, size):
        count = min(size, out.size - start)
        row_scale(address(out) + start * 4, count, factors[start // size])
