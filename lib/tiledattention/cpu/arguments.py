"""The arguments of this package, in the form that the kernels read."""

from itertools import accumulate
from math import prod
from threading import local
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onlinesoftmax import inputs
from onlinesoftmax.inputs import Array, DType
from onlinesoftmax.masks import Head
from tiledattention.cpu.steps import LOG2_E, ROWS
from tiledattention.cpu.tiles import LINE

Floats: TypeAlias = NDArray[np.float32]
SMALLEST, LARGEST = 16 * ROWS, 128 * ROWS  # queries of a block
PAGE = 2**21  # bytes of a large page of memory
TASKS = 4  # blocks for each thread, so that the last one is not waited for long


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    scale: float | None,
    softcap: float | None,
    sinks: ArrayLike | None,
) -> tuple[inputs.Attention, DType]:
    """Return the arguments of an attention, checked, and the dtype of its output."""
    kinds = [narrow(name, x) for name, x in zip("qkv", (q, k, v))]
    q, k, v = (np.asarray(x, np.float32) if is_bfloat16(x) else x for x in (q, k, v))
    asked = inputs.attention(q, k, v, scale, softcap, sinks)
    return asked, kinds[0] if len(set(kinds)) == 1 else np.dtype(np.float32)


def narrow(name: str, x: ArrayLike) -> DType:
    """Return the dtype of an array, which has to be one that float32 holds."""
    dtype = inputs.array(name, x).dtype
    if dtype.type in (np.float16, np.float32) or is_bfloat16(x):
        return dtype
    raise ValueError(f"{name}: expected float16, bfloat16 or float32, got {dtype}")


def is_bfloat16(x: ArrayLike) -> bool:
    """Return whether an array is of ml_dtypes' bfloat16."""
    dtype = np.asarray(x).dtype
    return dtype.kind == "V" and dtype.name == "bfloat16"  # the name takes its time


def plain(x: NDArray[Any]) -> Floats:
    """Return an array as float32, its rows one after another; a copy if need be."""
    return np.ascontiguousarray(x, np.float32)


def output(
    name: str,
    out: Array | None,
    shape: tuple[int, ...],
    dtype: DType,
    apart: tuple[ArrayLike, ...],
) -> Array:
    """Return where the answer goes: `out`, checked, or a new array."""
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        got = (
            f"{out.dtype} {out.shape}"
            if isinstance(out, np.ndarray)
            else inputs.shown(out)
        )
        raise ValueError(f"{name}: expected an array of {dtype} {shape}, got {got}")
    if not out.flags.writeable:
        raise ValueError(f"{name}: expected an array to write to, got a read-only one")
    if np.ma.isMaskedArray(out):
        raise ValueError(f"{name}: expected a plain array, got a masked one")
    if any(np.may_share_memory(out, np.asarray(x)) for x in apart):
        raise ValueError(f"{name}: expected memory of its own, got an argument's")
    return out


def answer(to: NDArray[Any]) -> Floats:
    """Return where a kernel can put what belongs into `to`: there, or beside it."""
    if to.dtype == np.float32 and to.flags.c_contiguous:
        return to
    return np.empty(to.shape, np.float32)


def aligned(size: int) -> Floats:
    """Return so many numbers, in few pages of memory.

    Where the system has pages of 2 MiB, NumPy asks for them from 4 MiB on. They are
    contiguous in the caches, and the processor remembers where they lie.
    """
    room = np.empty(max(4 * size + PAGE, 2 * PAGE) // 4, np.float32)
    skip = -room.ctypes.data % PAGE // 4
    return room[skip : skip + size]


class Room(local):
    """Memory of a thread, to work in. It is kept: new memory takes time to come by."""

    def __init__(self) -> None:
        self.kept = aligned(0)

    def of(self, *shapes: tuple[int, ...]) -> list[Floats]:
        """Return arrays of 0, each from a cache line on: across two, a vector is slow."""
        sizes = [prod(shape) for shape in shapes]
        line = LINE // 4  # numbers
        starts = [0, *accumulate(-(-size // line) * line for size in sizes)]
        if self.kept.size < starts[-1]:
            self.kept = aligned(starts[-1])
        self.kept[: starts[-1]] = 0
        return [
            self.kept[start : start + size].reshape(shape)
            for start, size, shape in zip(starts, sizes, shapes)
        ]


ROOM = Room()


def block_size(heads: list[Head], threads: int) -> int:
    """Return how many queries a task should have: many, but enough tasks for all."""
    if any(not seen.plain and seen.slope is None for seen in heads):
        return SMALLEST  # as their biases are laid out in memory
    queries = sum(seen.queries for seen in heads) // (threads * TASKS)
    return min(max(queries // ROWS * ROWS, SMALLEST), LARGEST)


class Rows(NamedTuple):
    """What some queries see, as the kernel reads it."""

    first: NDArray[np.int64]  # (queries,), the keys that a query sees
    stop: NDArray[np.int64]
    place: NDArray[np.int64]  # its own place among them
    slope: Floats  # (queries,)
    sink: Floats
    bias: Floats  # (queries, keys), or (0, 0)

    @classmethod
    def of(
        cls, seen: Head, rows: slice, sink: float = -np.inf, keys: slice = slice(None)
    ) -> "Rows":
        """Return what the queries of a block see; a bias for some of the keys only."""
        at = np.arange(rows.start, rows.stop)
        first, stop = np.empty((2, at.size), np.int64)
        low, high = seen.interval(at)
        np.maximum(low, 0, out=first, casting="unsafe")
        np.maximum(high, 0, out=stop, casting="unsafe")
        slope, sinks = np.empty((2, at.size), np.float32)
        slope[:], sinks[:], bias = 0, sink, np.empty((0, 0), np.float32)
        if seen.biases or seen.documents is not None and not seen.documents.whole:
            *_, n = np.empty(seen.keys)[keys].shape
            bias = seen.apply(np.zeros((at.size, n), np.float32), rows, keys)
        elif seen.slope is not None:
            slope[:] = seen.slope
        return cls(first, stop, at + seen.keys - seen.queries, slope, sinks, bias)

    @property
    def plain(self) -> bool:
        """Whether nothing is added to a score."""
        return not (self.bias.size or self.slope.any())

    def in_base_2(self) -> "Rows":
        """Return the same, with all that is added to scores multiplied by log₂ e."""
        slope, sink, bias = (x * np.float32(LOG2_E) for x in self[3:])
        return self._replace(slope=slope, sink=sink, bias=bias)

    def apply(self, scores: Array, keys: slice) -> Array:
        """Return the scores of a tile (queries, keys) as they are seen; −∞ where not."""
        j = np.arange(keys.start, keys.stop)
        hidden = (j < self.first[:, None]) | (j >= self.stop[:, None])
        if self.bias.size:
            added = self.bias[:, keys]
            hidden |= added == -np.inf
            scores = scores + added
        distance = np.abs(self.place[:, None] - j)
        scores = scores - (self.slope[:, None] * distance).astype(scores.dtype)
        return np.where(hidden, -np.inf, scores).astype(scores.dtype)
