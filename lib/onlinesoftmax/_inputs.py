"""What every function accepts, and what it says when it gets something else."""

from operator import index

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

FLOATS = (np.float16, np.float32, np.float64)


def floats(name: str, x: ArrayLike) -> np.ndarray:
    """Return `x` as a float16, float32 or float64 array; integers become float64."""
    try:
        x = np.asarray(x)
    except ValueError:
        raise ValueError(f"{name}: expected one array, got rows that differ") from None
    if x.dtype.kind in "iu":
        x = x.astype(np.float64)
    if x.dtype.type not in FLOATS:
        raise ValueError(
            f"{name}: expected float16, float32, float64 or integers, got {x.dtype}"
        )
    return x


def rows(name: str, x: ArrayLike) -> np.ndarray:
    """Return `x` as a float array (..., n)."""
    x = floats(name, x)
    if x.ndim == 0:
        raise ValueError(f"{name}: expected shape (..., n), got one number, {x}")
    return x


def pair(scores: ArrayLike, values: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return scores (..., n) and values (..., n) or (..., n, d), checked."""
    scores, values = rows("scores", scores), floats("values", values)
    n, axis = scores.shape[-1], key_axis(scores, values)
    try:
        if values.shape[axis] != n:
            raise ValueError
        np.broadcast_shapes(scores.shape[:-1], values.shape[:axis])
    except (ValueError, IndexError):
        raise ValueError(
            f"values: expected shape (..., {n}) or (..., {n}, d) to go with scores"
            f" {scores.shape}, got {values.shape}"
        ) from None
    return scores, values


def key_axis(scores: np.ndarray, values: np.ndarray) -> int:
    """Return the axis of `values` that runs along the scores: −1, or −2 if wide."""
    return -2 if values.ndim > scores.ndim else -1


def accumulator(*arrays: np.ndarray) -> np.dtype:
    """Return the dtype to add up in: the widest that came, float32 at least."""
    return np.result_type(np.float32, *(x.dtype for x in arrays))


def positive(name: str, number: int) -> int:
    """Return `number` as an int of at least 1."""
    try:
        if index(number) > 0:
            return index(number)
    except TypeError:
        pass
    raise ValueError(f"{name}: expected a positive integer, got {number!r}")


def float_type(name: str, dtype: DTypeLike) -> np.dtype:
    """Return `dtype` as one of the three float dtypes."""
    try:
        if np.dtype(dtype).type in FLOATS:
            return np.dtype(dtype)
    except TypeError:
        pass
    raise ValueError(f"{name}: expected float16, float32 or float64, got {dtype!r}")


def axis(name: str, number: int, ndim: int) -> int:
    """Return `number` as an axis of an array with `ndim` of them."""
    try:
        if -ndim <= index(number) < ndim:
            return index(number)
    except TypeError:
        pass
    raise ValueError(
        f"{name}: expected an integer from {-ndim} to {ndim - 1}, got {number!r}"
    )
