"""Checks of arguments, for all modules.

Each function takes an argument, and returns it in the form the library works with. If
that is not possible it raises a ValueError that names the argument, what was expected
and what came.
"""

from collections.abc import Iterable, Iterator
from math import isfinite, log10, nan
from numbers import Real
from operator import index
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

Array: TypeAlias = NDArray[np.floating]
Numbers: TypeAlias = Array | np.floating  # for the shape () NumPy has numbers
Integers: TypeAlias = NDArray[np.integer] | np.integer
DType: TypeAlias = np.dtype[Any]

LONGEST = 80  # characters of a wrong argument in an error
LARGEST = np.iinfo(np.int64).max
FLOATS = (np.float16, np.float32, np.float64)


def shown(x: object) -> str:
    """Return the repr of a wrong argument for an error: short and on one line."""
    if isinstance(x, int) and abs(x) >= 10**30:  # Python writes only so many digits
        return f"an integer of about {round(x.bit_length() * log10(2))} digits"
    try:
        text = " ".join(repr(x).split())
    except ValueError:  # such an integer, in a list
        text = f"a {type(x).__name__}"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def array(name: str, x: ArrayLike) -> NDArray[Any]:
    """Return `x` as an array of any dtype."""
    if np.ma.isMaskedArray(x):  # np.asarray would drop its mask
        raise ValueError(f"{name}: expected a plain array, got a masked one")
    try:
        return np.asarray(x)
    except ValueError:
        raise ValueError(f"{name}: expected an array, got uneven rows") from None


def floats(name: str, x: ArrayLike) -> Array:
    """Return `x` as a float16, float32 or float64 array; integers become float64."""
    x = array(name, x)
    if x.dtype.kind in ("i", "u"):
        return x.astype(np.float64)
    if x.dtype.type in FLOATS:
        return x
    expected = "float16, float32, float64 or integers"
    raise ValueError(f"{name}: expected {expected}, got {x.dtype}")


def rows(name: str, x: ArrayLike) -> Array:
    """Return `x` as a float array (..., n)."""
    x = floats(name, x)
    if x.ndim == 0:
        raise ValueError(f"{name}: expected shape (..., n), got the number {x}")
    return x


def block_of(scores: ArrayLike, values: ArrayLike | None) -> tuple[Array, Array | None]:
    """Return scores (..., n), and values (..., n), (..., n, d) or None.

    Both get the dtype of sums: the wider of their dtypes, at least float32.
    """
    if values is None:
        scores = rows("scores", scores)
        return scores.astype(np.result_type(scores, np.float32)), None
    scores, values, _ = pair(scores, values)
    return scores, values


def pair(scores: ArrayLike, values: ArrayLike) -> tuple[Array, Array, DType]:
    """Return scores and values as `block_of` does, and the dtype of the answer.

    The answer has the wider of the two dtypes before conversion, which may be float16.
    """
    scores = rows("scores", scores)
    values = floats("values", values)
    paired(scores.shape, values.shape)
    answer = np.result_type(scores, values)
    dtype = np.result_type(answer, np.float32)
    return scores.astype(dtype), values.astype(dtype), answer


def paired(scores: tuple[int, ...], values: tuple[int, ...]) -> None:
    """Refuse values whose shape does not go with that of the scores."""
    keys = values[:-1] if len(values) == len(scores) + 1 else values
    n = scores[-1:]
    if keys[-1:] != n or len(keys) > len(scores) or not agree(scores, keys):
        raise ValueError(
            f"values: expected shape (..., {n[0]}) or (..., {n[0]}, d) for"
            f" scores of shape {scores}, got {values}"
        )


def agree(*shapes: tuple[int, ...]) -> bool:
    """Return whether arrays of these shapes broadcast together."""
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True


def integer(name: str, number: int, low: int, high: float, expected: str) -> int:
    """Return `number`, an integer from low to high."""
    try:
        if low <= index(number) <= high:
            return int(index(number))
    except TypeError:
        pass
    raise ValueError(f"{name}: expected {expected}, got {shown(number)}")


def at_least(name: str, number: int, low: int = 1) -> int:
    """Return `number`, an integer of at least `low`."""
    return integer(name, number, low, np.inf, f"an integer of at least {low}")


def positive(name: str, number: float) -> float:
    """Return `number`, which has to be above 0."""
    if not real(number) > 0:
        raise ValueError(f"{name}: expected a number above 0, got {shown(number)}")
    return number


def amount(name: str, number: float) -> float:
    """Return `number`, which has to be at least 0."""
    if not real(number) >= 0:
        raise ValueError(f"{name}: expected 0 or more, got {shown(number)}")
    return number


def block_size(block: int, name: str) -> int:
    """Return the length of a block, at least 1."""
    return integer(name, block, 1, np.inf, "a positive integer")


def blocks(n: int, block: int, name: str = "block") -> Iterator[slice]:
    """Return slices of length `block` that cover 0 … n; the last may be shorter."""
    block = block_size(block, name)
    return (slice(i, min(i + block, n)) for i in range(0, n, block))


def float_type(name: str, dtype: DTypeLike | None) -> DType:
    """Return one of the three float dtypes; None means float64."""
    try:
        if np.dtype(dtype).type in FLOATS:
            return np.dtype(dtype)
    except (TypeError, ValueError):
        pass
    raise ValueError(
        f"{name}: expected float16, float32 or float64, got {shown(dtype)}"
    )


def integers(name: str, x: ArrayLike) -> NDArray[np.int64]:
    """Return `x` as an array of int64."""
    x = array(name, x)
    if x.dtype.kind not in "iu":
        raise ValueError(f"{name}: expected integers, got {x.dtype}")
    if x.size and x.max() > LARGEST:
        raise ValueError(f"{name}: expected integers below 2**63, got {x.max()}")
    return x.astype(np.int64)


def count(name: str, number: int) -> int:
    """Return `number`, an integer of at least 0."""
    return integer(name, number, 0, np.inf, "an integer of at least 0")


def size(name: str, number: int) -> int:
    """Return `number`, an integer of at least 0 that an axis may have."""
    return integer(name, number, 0, LARGEST, "an integer of at least 0")


def number(name: str, x: float, expected: str, low: float = -np.inf) -> float:
    """Return `x` as a float that is finite and above `low`."""
    if isfinite(value := real(x)) and value > low:
        return value
    raise ValueError(f"{name}: expected {expected}, got {shown(x)}")


def real(x: object) -> float:
    """Return a number as a float; NaN if it is none, or too large for a float."""
    try:
        return float(x) if isinstance(x, Real) and not isinstance(x, bool) else nan
    except OverflowError:
        return nan


def flag(name: str, x: bool) -> bool:
    """Return `x`, which has to be True or False: 1 or "no" will not do."""
    if isinstance(x, bool | np.bool_):
        return bool(x)
    raise ValueError(f"{name}: expected True or False, got {shown(x)}")


def one_of(name: str, x: str, known: Iterable[str]) -> str:
    """Return `x`, which has to be one of a few texts."""
    if isinstance(x, str) and x in known:
        return x
    raise ValueError(f"{name}: expected one of {[*known]}, got {shown(x)}")


def instance(name: str, x: Any, kind: type) -> None:
    """Refuse what is not of a class."""
    if not isinstance(x, kind):
        raise ValueError(f"{name}: expected a {kind.__name__}, got {shown(x)}")


def doubles(name: str, x: ArrayLike) -> NDArray[np.float64]:
    """Return real numbers of any format that float64 holds, as float64."""
    x = array(name, x)
    if x.dtype.kind == "b" or not np.can_cast(x.dtype, np.float64):
        raise ValueError(f"{name}: expected real numbers, got {x.dtype}")
    return x.astype(np.float64, copy=False)


def shaped(name: str, x: ArrayLike, shape: tuple[int, ...], why: str) -> Array:
    """Return `x` as a float array of exactly this shape."""
    x = floats(name, x)
    if x.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, {why}, got {x.shape}")
    return x


def spread(name: str, x: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return `x` broadcast to a shape, without a copy."""
    try:
        return np.broadcast_to(x, shape)
    except ValueError:
        raise ValueError(
            f"{name}: expected a shape that broadcasts to {shape}, got {x.shape}"
        ) from None


class Attention(NamedTuple):
    """The arguments of an attention, checked."""

    q: Array  # (..., heads, queries, d) or (queries, d)
    k: Array  # (..., fewer heads, keys, d) or (keys, d)
    v: Array  # (..., fewer heads, keys, columns) or (keys, columns)
    scale: float
    softcap: float | None
    sinks: Array  # (heads,), or (1,) if there are no heads; −∞ where there is no sink
    dtype: DType  # that of the output

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of all scores, (..., heads, queries, keys)."""
        return (*self.q.shape[:-1], self.k.shape[-2])

    @property
    def output(self) -> tuple[int, ...]:
        """The shape of the output, (..., heads, queries, columns)."""
        return (*self.q.shape[:-1], self.v.shape[-1])

    @property
    def wide(self) -> DType:
        """The narrowest dtype to add up in."""
        return np.result_type(self.dtype, np.float32)

    def heads(self) -> Iterator["OneHead"]:
        """Yield every head of q; if k has fewer, neighbours share one of its heads."""
        for at in np.ndindex(self.q.shape[:-2]):
            shared = at
            if at:
                group = self.q.shape[-3] // self.k.shape[-3]
                shared = (*at[:-1], at[-1] // group)
            sink = float(self.sinks[at[-1:] or 0])
            yield OneHead(at, shared, self.q[at], self.k[shared], self.v[shared], sink)


class OneHead(NamedTuple):
    """One head of an attention: one matrix of scores."""

    at: tuple[int, ...]  # (..., head), or () where there are no heads
    shared: tuple[int, ...]  # the same in k and v, whose heads may be fewer
    q: Array  # (queries, d)
    k: Array  # (keys, d)
    v: Array  # (keys, columns)
    sink: float


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    scale: float | None,
    softcap: float | None,
    sinks: ArrayLike | None,
    names: tuple[str, str, str] = ("q", "k", "v"),
) -> Attention:
    """Return the arguments of an attention, checked; errors call the arrays by `names`."""
    q, k, v = (floats(name, x) for name, x in zip(names, (q, k, v)))
    if q.ndim < 2 or q.shape[-1] == 0:
        raise ValueError(
            "q: expected shape (..., heads, queries, d) or (queries, d)"
            f" with d at least 1, got {q.shape}"
        )
    batch, heads, d = q.shape[:-3], q.shape[-3:-2], q.shape[-1]
    alike = k.ndim == q.ndim and k.shape[:-3] == batch and k.shape[-1] == d
    if not alike or heads and (k.shape[-3] == 0 or heads[0] % k.shape[-3]):
        _misfit(
            names[1], k, (*batch, *(f"a divisor of {n}" for n in heads), "keys", d), q
        )
    if v.ndim != k.ndim or v.shape[:-1] != k.shape[:-1]:
        _misfit(names[2], v, (*k.shape[:-1], "columns"), q)
    scale = d**-0.5 if scale is None else number("scale", scale, "a finite number")
    if softcap is not None:
        softcap = number("softcap", softcap, "a finite number above 0", 0)
    sinks = floats("sinks", -np.inf if sinks is None else sinks)
    sinks = spread("sinks", sinks, heads or (1,))
    return Attention(q, k, v, scale, softcap, sinks, np.result_type(q, k, v))


def _misfit(name: str, x: Array, expected: tuple[int | str, ...], q: Array) -> None:
    """Raise a ValueError: the shape of `x` does not go with that of q."""
    shape = ", ".join(map(str, expected))
    raise ValueError(
        f"{name}: expected shape ({shape}) for q of shape {q.shape}, got {x.shape}"
    )
