"""Products of small matrices whose numbers are spread over the lanes of a warp: mma.

A *fragment* is what one lane holds of a matrix. The manual calls ``lane // 4`` the group
of a lane and ``lane % 4`` its thread in the group. Of A, a group holds a row, and of B a
column; neighbouring numbers of it go to one register, and registers to the four threads
in turn. Of C and D, a group holds a row, and each of its threads two columns.

Sums are taken in single precision, in the order of `np.matmul`: NVIDIA publishes neither
a GPU's order nor how many bits it keeps in between. Those of 8-bit integers are exact.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptxsim.rounding import TF32

Array = NDArray[Any]
WARP, GROUPS, FOUR = 32, 8, 4  # lanes of a warp, its groups, threads of a group
COLUMNS = 8  # of B, C and D, in every shape

EACH = {"f16": 2, "bf16": 2, "s8": 4, "u8": 4}  # numbers in a register; else 1
# The numbers in registers, the lowest bits first.
NUMBERS: dict[str, Callable[[Array], Array]] = {
    "f16": lambda words: words.view("f2"),
    "bf16": lambda words: (words.view("u2").astype("u4") << np.uint32(16)).view("f4"),
    "tf32": lambda words: (words & TF32).view("f4"),
    "s8": lambda words: words.view("i1"),
    "u8": lambda words: words.view("u1"),
    "f32": lambda words: words,
    "s32": lambda words: words,
    "f64": lambda words: words,
}


class Form(NamedTuple):
    """The shape of a product, and the types of its matrices.

    Attributes
    ----------
    m, k : int
        A has m rows and k columns.
    d, a, b : str
        The types of D and C, of A and of B.
    saturates : bool
        Whether sums of integers stop at the ends of their type.
    """

    m: int
    k: int
    d: str
    a: str
    b: str
    saturates: bool


def fragments(registers: tuple[Array, ...], kind: str, act: Array | None) -> Array:
    """Return the numbers of registers: (registers, warps, groups, 4, numbers)."""
    words = np.stack([x if act is None else x.take(act) for x in registers])
    shape = len(registers), words.shape[1] // WARP, GROUPS, FOUR, EACH.get(kind, 1)
    return NUMBERS[kind](words).reshape(shape)


def multiply(
    form: Form, outs: tuple[Array, ...], a: tuple[Array, ...], b: tuple[Array, ...],
    c: tuple[Array, ...], act: Array | None,
) -> None:  # fmt: skip
    """Write A · B + C to the registers `outs`, for all warps at once."""
    wide = "f8" if form.d == "f64" else "f4"
    # Registers of A go down by eight rows, then right; those of B go down.
    left = fragments(a, form.a, act).astype(wide)
    warps, each = left.shape[1], left.shape[-1]
    down = form.m // GROUPS
    left = left.reshape(len(a) // down, down, warps, GROUPS, FOUR, each)
    left = left.transpose(2, 1, 3, 0, 4, 5).reshape(warps, form.m, form.k)
    right = fragments(b, form.b, act).astype(wide).transpose(1, 2, 0, 3, 4)
    right = right.reshape(warps, COLUMNS, form.k).swapaxes(1, 2)
    # Those of C go right within the two columns of a thread, then down.
    start = fragments(c, form.d, act)
    each = start.shape[-1]
    shape = down, 2 // each, warps, GROUPS, FOUR, each
    start = start.reshape(shape).transpose(2, 0, 3, 4, 1, 5)
    total = np.matmul(left, right).reshape(start.shape)
    total = _rounded(total, start, form.saturates).transpose(1, 4, 0, 2, 3, 5)
    words = np.ascontiguousarray(total).view(outs[0].dtype)
    words = words.reshape(len(outs), warps * WARP)
    for out, value in zip(outs, words):
        out[slice(None) if act is None else act] = value


def _rounded(total: Array, start: Array, saturates: bool) -> Array:
    """Return `total` + `start` in the type of `start`."""
    if start.dtype.kind == "f":
        return np.add(total, start, dtype=total.dtype).astype(start.dtype)
    exact = total.astype("i8") + start  # integers below 2²⁴ are exact in float32
    if saturates:
        info = np.iinfo(start.dtype)
        exact = exact.clip(info.min, info.max)
    return exact.astype(start.dtype)
