"""The arguments of attention in the form that kernels take.

Rows are padded with zeros to the width of the kernel, all heads are in one array, and
the mask is an interval of keys for each row.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onlinesoftmax import inputs
from onlinesoftmax.inputs import Array, DType
from onlinesoftmax.masks import Mask, checked
from tiledattention.gpu.ladder import Build
from tiledattention.gpu.rung import Work

STATE = 2  # numbers of a state besides o: m and l
MOST = float(np.finfo(np.float32).max)
BITS = np.dtype(np.uint16)  # holds the bits of bfloat16, which NumPy lacks


class Task(NamedTuple):
    """The arguments that all kernels share. `rungs/naive.py` describes them."""

    q: Array  # (heads, n, d), float32, float16 or BITS
    k: Array  # (heads // group, keys, d)
    v: Array
    lengths: NDArray[np.int32]  # (heads,)
    scale: np.float32  # at least 0
    left: np.int32
    right: np.int32
    group: np.int32

    def grid(self, build: Build, parts: int = 1) -> tuple[int, ...]:
        """Return how many blocks are launched, with the keys dealt out into parts."""
        heads, n, _ = self.q.shape
        return build.grid(Work(heads, n, int(self.group), parts))

    def arguments(self, out: Array, lse: Array, parts: int = 1) -> dict[str, Any]:
        """Return all that a kernel may ask for, by the names of its arguments.

        `out` and `lse` are what the last kernel fills. `states` has a row for each
        part, head and query; `rungs/split.py` describes it.
        """
        heads, n, d = self.q.shape
        states = np.zeros((parts, heads * n, d + STATE), np.float32)
        names = ("Q", "K", "V", "lengths", "scale", "left", "right", "group")
        return dict(zip(names, self)) | {"O": out, "LSE": lse, "states": states}

    def launches(
        self, build: Build, arguments: dict[str, Any], parts: int = 1
    ) -> Iterator[tuple[Build, tuple[int, ...], list[Any]]]:
        """Yield what is launched, in order: a kernel, its grid and its arguments."""
        for each, names in launched(build):
            yield each, self.grid(each, parts), [arguments[name] for name in names]

    def visits(self) -> int:
        """Return how many numbers of K all rows together read."""
        heads, n, d = self.q.shape
        place = np.arange(n) + self.k.shape[1] - n
        stop = np.minimum(place + self.right + 1, self.lengths[:, None])
        seen = np.maximum(stop - np.maximum(place - self.left, 0), 0)
        return int(seen.sum()) * d + heads * n * d

    def mode(self) -> Literal["plain", "full"]:
        """Return the mode that the block simulator needs: "plain", or "full".

        "plain" computes in double precision. There a number too large for float32 stays
        finite, which it does not on a GPU. If such numbers can come up, the task needs
        "full", which is slow.
        """
        return "plain" if self.bound() < MOST else "full"

    def bound(self) -> float:
        """Return a bound on every score and every sum of values, of finite numbers."""
        q, k, v = (largest(x) for x in self[:3])
        score = q * abs(float(self.scale)) * k * self.q.shape[2]
        return max(score, v * self.k.shape[1])


@cache
def launched(build: Build) -> tuple[tuple[Build, tuple[str, ...]], ...]:
    """Return what a build launches, and the names of the arguments.

    All equal builds share what it returns, so a kernel of a size is made once.
    """
    return tuple((each, each.arguments) for each in build.launches)


def checked_arguments(
    q: ArrayLike, k: ArrayLike, v: ArrayLike, scale: float | None
) -> inputs.Attention:
    """Return the arguments, checked. For bfloat16, `dtype` is `BITS`."""
    kinds = [inputs.array(name, x).dtype.name for name, x in zip("qkv", (q, k, v))]
    is_bfloat16 = set(kinds) == {"bfloat16"}
    if is_bfloat16:
        q, k, v = (np.asarray(x).astype(np.float32) for x in (q, k, v))
    asked = inputs.attention(q, k, v, scale, None, None)
    if is_bfloat16:
        asked = asked._replace(dtype=BITS)
    elif asked.dtype not in (np.float32, np.float16):
        raise ValueError(
            "q, k, v: expected float32, float16 or bfloat16, which is what the"
            f" kernels take, got {asked.dtype}"
        )
    if abs(asked.scale) > MOST:
        raise ValueError(
            f"scale: expected a number that float32 can hold, got {scale!r}"
        )
    return asked


def interval(mask: Mask | None) -> Mask:
    """Return a mask that shows each row an interval of keys; kernels take no other."""
    mask = checked(mask)
    if mask.ids is not None or mask.slopes is not None or mask.biases:
        raise ValueError(
            "mask: expected one made of causal, window and padding, got"
            " documents, a bias or alibi"
        )
    return mask


def fit(asked: inputs.Attention, mask: Mask | None, width: int) -> Task:
    """Return checked arguments as a task, for a kernel with rows of `width` numbers."""
    mask = interval(mask)
    batch, n = asked.q.shape[:-2], asked.q.shape[-2]
    keys = asked.k.shape[-2]
    lengths = np.full(batch, keys, np.int32)
    if mask.lengths is not None:
        if (longest := mask.lengths.max(initial=0)) > keys:
            raise ValueError(
                f"lengths: expected at most {keys}, the keys, got {longest}"
            )
        lengths[...] = inputs.spread("lengths", mask.lengths, batch[:-1])[..., None]
    shared = asked.k.shape[-3] if batch else 1
    # A scale below 0 changes the sign of q, so that every kernel may look for maxima.
    queries = -asked.q if asked.scale < 0 else asked.q
    q, k, v = (_rows(x, asked.dtype, width) for x in (queries, asked.k, asked.v))
    left, right = (np.int32(min(reach, n + keys)) for reach in (mask.left, mask.right))
    group = np.int32((batch[-1] if batch else 1) // shared)
    scale = np.float32(abs(asked.scale))
    return Task(q, k, v, lengths.reshape(-1), scale, left, right, group)


def name_of(dtype: DType) -> str:
    """Return what a dtype of `Task` holds, such as "bfloat16"."""
    return "bfloat16" if dtype == BITS else str(dtype)


def to_bits(x: Array) -> NDArray[Any]:
    """Return the bits of bfloat16 for numbers of float32 that bfloat16 holds exactly."""
    return (np.ascontiguousarray(x, np.float32).view(np.uint32) >> 16).astype(BITS)


def from_bits(x: NDArray[Any]) -> Array:
    """Return bits of bfloat16 as float32, and other numbers as they are."""
    return (x.astype(np.uint32) << 16).view(np.float32) if x.dtype == BITS else x


def largest(x: Array) -> float:
    """Return the largest finite magnitude."""
    return float(np.abs(x[np.isfinite(x)]).max(initial=0))


def _rows(x: Array, dtype: DType, width: int) -> Array:
    """Return x (..., n, d) as (all heads, n, width), padded with zeros."""
    *batch, n, d = x.shape
    rows = np.zeros((*batch, n, width), dtype)
    rows[..., :d] = to_bits(x) if dtype == BITS else x
    return rows.reshape(int(np.prod(batch)), n, width)
