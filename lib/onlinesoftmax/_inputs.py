"""What every function accepts, and what it says when something else comes."""

from operator import index

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

FLOATS = (np.float16, np.float32, np.float64)


def floats(name: str, x: ArrayLike) -> np.ndarray:
    """Return `x` as a float16, float32 or float64 array; integers become float64."""
    try:
        x = np.asarray(x)
    except ValueError:
        raise ValueError(f"{name}: expected an array, got uneven rows") from None
    if x.dtype.kind in ("i", "u"):
        return x.astype(np.float64)
    if x.dtype.type in FLOATS:
        return x
    expected = "float16, float32, float64 or integers"
    raise ValueError(f"{name}: expected {expected}, got {x.dtype}")


def rows(name: str, x: ArrayLike) -> np.ndarray:
    """Return `x` as a float array (..., n)."""
    x = floats(name, x)
    if x.ndim == 0:
        raise ValueError(f"{name}: expected shape (..., n), got the number {x}")
    return x


def pair(
    scores: ArrayLike, values: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray | None, np.dtype]:
    """Return scores (..., n) and values (..., n), (..., n, d) or None, and a dtype.

    Both come in the dtype to add up in, the wider of theirs and at least float32. The
    third thing is the dtype to answer in, the wider of theirs.
    """
    scores = rows("scores", scores)
    if values is None:
        return scores.astype(np.result_type(scores, np.float32)), None, scores.dtype
    values = floats("values", values)
    keys = values.shape[:-1] if values.ndim == scores.ndim + 1 else values.shape
    n = scores.shape[-1:]
    if keys[-1:] != n or len(keys) > scores.ndim or not agree(scores.shape, keys):
        raise ValueError(f"values: expected shape (..., {n[0]}) or (..., {n[0]}, d) for"
                         f" scores of shape {scores.shape}, got {values.shape}")
    answer = np.result_type(scores, values)
    dtype = np.result_type(answer, np.float32)
    return scores.astype(dtype), values.astype(dtype), answer


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
            return index(number)
    except TypeError:
        pass
    raise ValueError(f"{name}: expected {expected}, got {number!r}")


def block_size(block: int) -> int:
    """Return the length of a block, at least 1."""
    return integer("block", block, 1, np.inf, "a positive integer")


def float_type(name: str, dtype: DTypeLike) -> np.dtype:
    """Return one of the three float dtypes; None means float64."""
    try:
        if np.dtype(dtype).type in FLOATS:
            return np.dtype(dtype)
    except TypeError:
        pass
    raise ValueError(f"{name}: expected float16, float32 or float64, got {dtype!r}")
