"""The arguments of this package, in the form that the kernels read."""

from collections.abc import Iterator
from itertools import groupby
from math import prod
from threading import local
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onlinesoftmax import inputs
from onlinesoftmax.inputs import Array, DType
from onlinesoftmax.masks import Head, Mask, head_of
from tiledattention.cpu.lanes import LANES
from tiledattention.cpu.pool import share
from tiledattention.cpu.steps import LOG2_E, PANEL, ROWS
from tiledattention.cpu.tiles import LINE, PANELS, TILE, pack

Floats: TypeAlias = NDArray[np.float32]
SMALLEST, LARGEST = 16 * ROWS, 128 * ROWS  # queries of a block
TASKS = 4  # blocks for each thread, so that the last one is not waited for long
TOGETHER = 2**20  # numbers that the packed keys of a group of heads may take
CHUNK = 16  # panels that are packed at once


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
    return np.asarray(x).dtype.name == "bfloat16"


def plain(x: NDArray[Any]) -> Floats:
    """Return an array as float32, its rows one after another; a copy if need be."""
    return np.ascontiguousarray(x, np.float32)


def widened(x: NDArray[Any]) -> Floats:
    """Return rows as float32, each filled up with 0 to whole vectors."""
    columns = -(-x.shape[1] // LANES) * LANES
    if columns == x.shape[1]:
        return plain(x)
    wide = np.zeros((len(x), columns), np.float32)
    wide[:, : x.shape[1]] = x
    return wide


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


def aligned(size: int) -> Floats:
    """Return so many numbers, the first of them where a line of memory begins."""
    room = np.empty(size + LINE // 4, np.float32)
    skip = -room.ctypes.data % LINE // 4
    return room[skip : skip + size]


class Room(local):
    """Memory of a thread, to work in. It is kept: new memory takes time to come by."""

    def __init__(self) -> None:
        self.kept = aligned(0)

    def of(self, *arrays: tuple[int, int]) -> Floats:
        """Return room for arrays of these rows and columns."""
        size = sum(-(-rows * columns // 16) * 16 for rows, columns in arrays)
        if self.kept.size < size:
            self.kept = aligned(size)
        return self.kept


ROOM = Room()
Heads: TypeAlias = list[tuple[inputs.OneHead, Head]]


def groups(
    asked: inputs.Attention, mask: Mask | None
) -> Iterator[list[tuple[inputs.OneHead, Heads]]]:
    """Yield the heads, as many at a time as have room for their packed keys.

    Those that share keys come together, after the first of them.
    """
    group: list[tuple[inputs.OneHead, Heads]] = []
    for _, sharing in groupby(asked.heads(), lambda head: head.shared):
        heads = [(head, head_of(mask, asked.shape, head.at)) for head in sharing]
        if group and (len(group) + 1) * heads[0][0].k.size > TOGETHER:
            yield group
            group = []
        group.append((heads[0][0], heads))
    if group:
        yield group


def block_size(group: list[tuple[inputs.OneHead, Heads]], threads: int) -> int:
    """Return how many queries a task should have: many, but enough tasks for all."""
    heads = [seen for _, heads in group for _, seen in heads]
    if any(not seen.plain and seen.slope is None for seen in heads):
        return SMALLEST  # as their biases are laid out in memory
    queries = sum(seen.queries for seen in heads) // (threads * TASKS)
    return min(max(queries // ROWS * ROWS, SMALLEST), LARGEST)


class Panels(NamedTuple):
    """The keys of some heads, side by side in panels, all in one piece of memory."""

    own: list[Floats]  # of each head, (panels, d, PANEL)

    @classmethod
    def of(cls, keys: list[Array], threads: int) -> "Panels":
        """Return keys (n, d) of several heads, packed."""
        [(n, d)] = {k.shape for k in keys}
        count = -(-n // TILE) * PANELS
        shape = len(keys), count, d, PANEL
        own = list(aligned(prod(shape)).reshape(shape))

        def put(task: tuple[int, int]) -> None:
            head, start = task
            part = keys[head][start * PANEL : (start + CHUNK) * PANEL]
            pack(plain(part), own[head][start : start + CHUNK])

        starts = range(0, count, CHUNK)
        share(put, [(h, s) for h in range(len(keys)) for s in starts], threads)
        return cls(own)


class Rows(NamedTuple):
    """What the queries of a block see, as the kernel reads it."""

    first: NDArray[np.int64]  # (queries,)
    stop: NDArray[np.int64]
    place: int  # of the first query
    slope: np.float32
    bias: Floats  # (queries, keys), or (0, 0)

    @classmethod
    def of(
        cls, seen: Head, rows: slice, keys: slice = slice(None), base: float = LOG2_E
    ) -> "Rows":
        """Return what the queries of a block see; a bias for some of the keys only.

        What is added to scores is multiplied by `base`.
        """
        at = np.arange(rows.start, rows.stop)
        first, stop = (
            np.broadcast_to(np.maximum(x, 0), at.shape).astype(np.int64)
            for x in seen.interval(at)
        )
        slope, bias = np.float32(0), np.empty((0, 0), np.float32)
        if seen.biases or seen.documents is not None and not seen.documents.whole:
            *_, n = np.empty(seen.keys)[keys].shape
            scores = seen.apply(np.zeros((len(at), n), np.float32), rows, keys)
            bias = scores * np.float32(base)
        elif seen.slope is not None:
            slope = np.float32(seen.slope * base)
        return cls(first, stop, rows.start + seen.keys - seen.queries, slope, bias)

    def apply(self, scores: Array, keys: slice) -> Array:
        """Return the scores of a tile (queries, keys) as they are seen; −∞ where not."""
        j = np.arange(keys.start, keys.stop)
        place = self.place + np.arange(len(scores))[:, None]
        hidden = (j < self.first[:, None]) | (j >= self.stop[:, None])
        if self.bias.size:
            added = self.bias[:, keys]
            hidden |= added == -np.inf
            scores = scores + added
        scores = scores - (self.slope * np.abs(place - j)).astype(scores.dtype)
        return np.where(hidden, -np.inf, scores).astype(scores.dtype)


class Numbers(NamedTuple):
    """What multiplies scores, and what is added, in base 2."""

    factor: np.float32
    softcap: np.float32  # 0 for none
    sink: np.float32


def numbers(asked: inputs.Attention, head: inputs.OneHead) -> Numbers:
    """Return the numbers of a head."""
    softcap = asked.softcap or 0
    own = (asked.scale, softcap, head.sink)
    return Numbers(*(np.float32(x * LOG2_E) for x in own))
