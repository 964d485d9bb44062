"""The arguments of a launch, and the kernel's parameters that compilers make of them.

Compilers pass an array in different ways, and the number of the kernel's parameters
tells which compiler it was. C, Triton and CuTe pass a pointer; numba-cuda and
numba-cuda-mlir pass its shape and strides as well.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxsim.access import Access
from ptxsim.arithmetic import TINY
from ptxsim.memory import Array
from ptxsim.registers import DTYPES
from ptxsim.syntax import Kernel, Parameter

ALIGNED = 256  # bytes: how memory for an array is aligned on a GPU
ARGUMENT = "an array, a number, bytes or None"


def is_whole(number: Any) -> bool:
    """Return whether something is a whole number, and no truth value."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def has_subnormals(value: Any) -> bool:
    """Return whether a number, or one of an array, is subnormal in single precision.

    Structs count if any four bytes of them are such a number.
    """
    if isinstance(value, bytes | np.void):
        raw = _raw(value)
        value = np.frombuffer(raw[: len(raw) & ~3], "f4")
    elif isinstance(value, float) and not isinstance(value, np.generic):
        return 0 < abs(value) < TINY
    if getattr(value, "dtype", None) != np.float32:
        return False
    size = np.abs(value)
    return bool(((size > 0) & (size < np.float32(TINY))).any())


def _raw(value: Any) -> bytes:
    """Return the bytes of a struct."""
    return value if isinstance(value, bytes) else value.tobytes()


# ---- what may be an argument ----


def find_arrays(
    args: Sequence[Any], outputs: Sequence[int], changed: Sequence[int]
) -> dict[int, Array]:
    """Return the arrays among the arguments, by their place."""
    for what, given in (("args", args), ("outputs", outputs), ("changed", changed)):
        if not isinstance(given, Sequence) or isinstance(given, str | bytes):
            raise TypeError(f"{what}: expected a sequence, got {type(given).__name__}")
    arrays: dict[int, Array] = {}
    for i, value in enumerate(args):
        _check_argument(f"args[{i}]", value)
        if isinstance(value, np.ndarray):
            if any(np.shares_memory(value, other) for other in arrays.values()):
                raise ValueError(f"args[{i}]: it shares memory with another argument")
            arrays[i] = value
    for what, chosen in (("outputs", outputs), ("changed", changed)):
        if strange := [i for i in chosen if not (is_whole(i) and i in arrays)]:
            raise ValueError(f"{what}: expected places of arrays, got {strange[0]!r}")
        if locked := [i for i in chosen if not arrays[i].flags.writeable]:
            raise ValueError(
                f"{what}: expected arrays that may be written, got args[{locked[0]}]"
            )
    if both := set(outputs) & set(changed):
        raise ValueError(
            f"changed: expected none of the outputs, got {min(both)}, which is one"
        )
    return arrays


def _check_argument(name: str, value: Any) -> None:
    """Raise an error for what no kernel takes."""
    if value is None or isinstance(value, int | float | bytes):
        return
    if not isinstance(value, np.ndarray | np.generic) or isinstance(
        value, np.ma.MaskedArray
    ):
        raise TypeError(f"{name}: expected {ARGUMENT}, got {type(value).__name__}")
    kind = value.dtype
    if isinstance(value, np.void) and kind.isnative and not kind.hasobject:
        return
    if kind.kind not in "biuf" or kind.itemsize > 8 or not kind.isnative:
        raise TypeError(
            f"{name}: expected whole numbers, floats or bools of up to 8 bytes, in this"
            f" machine's order, got {kind.str}"
        )
    if isinstance(value, np.ndarray) and not (value.flags.c_contiguous and value.ndim):
        raise ValueError(
            f"{name}: expected a C-contiguous array of one or more"
            f" dimensions, got shape {value.shape}, strides {value.strides}"
        )


# ---- how compilers pass arrays ----


def _as_pointer(array: Array, address: int) -> list[int]:
    """Return an array's only parameter in C, Triton and CuTe."""
    return [address]


def _by_numba(array: Array, address: int) -> list[int]:
    """Return an array's parameters as numba-cuda passes them; two objects stay empty."""
    return [0, 0, array.size, array.itemsize, address, *array.shape, *array.strides]


def _by_mlir(array: Array, address: int) -> list[int]:
    """Return an array's parameters as numba-cuda-mlir passes them: strides in elements."""
    strides = [stride // array.itemsize for stride in array.strides]
    return [address, address, 0, *array.shape, *strides]


LAYOUTS = {
    "pointers": _as_pointer,
    "numba-cuda": _by_numba,
    "numba-cuda-mlir": _by_mlir,
}


def pass_arguments(
    kernel: Kernel, args: Sequence[Any], arrays: dict[int, Array], access: Access
) -> tuple[dict[str, Array], str]:
    """Return the bytes of each parameter, and the name of the layout.

    The arrays get their places in global memory.
    """
    wanted = list(kernel.parameters.values())
    layout = _layout(wanted, args, arrays)
    found: dict[str, Array] = {}
    for i, value in enumerate(args):
        where, first = f"args[{i}]", wanted[len(found)]
        if i not in arrays:
            found[first.name] = _bytes(where, value, first)
            continue
        align = max(ALIGNED, first.target)
        address = access.spaces["GLOBAL"].place(where, value.nbytes, align, False)
        for number in LAYOUTS[layout](value, address):
            parameter = wanted[len(found)]
            found[parameter.name] = _word_of_array(where, number, parameter)
    return found, layout


def _layout(
    wanted: Sequence[Parameter], args: Sequence[Any], arrays: dict[int, Array]
) -> str:
    """Return the layout that makes as many parameters as the kernel has."""
    owners = {}  # for each layout the argument that each parameter belongs to
    for name, layout in LAYOUTS.items():
        counts = [len(layout(x, 0)) if i in arrays else 1 for i, x in enumerate(args)]
        owners[name] = [i for i, count in enumerate(counts) for _ in range(count)]
    missing = {name: len(wanted) - len(owner) for name, owner in owners.items()}
    nearest = min(missing, key=lambda name: abs(missing[name]))
    if not missing[nearest]:
        return nearest
    made = ", ".join(f"{len(owner)} ({name})" for name, owner in owners.items())
    most = len(owners[nearest])
    lacks = (
        f"parameter {wanted[most].name} has no argument"
        if missing[nearest] > 0
        else (f"args[{owners[nearest][len(wanted)]}] has no parameter")
    )
    raise ValueError(
        f"args: the kernel has {len(wanted)} parameters, and these arguments make {made};"
        f" by {nearest}, {lacks}"
    )


# ---- one parameter ----


def _word_of_array(where: str, number: int, parameter: Parameter) -> Array:
    """Return the bytes of one of the words that stand for an array."""
    if parameter.size != 8 or parameter.kind[0] == "f":
        raise TypeError(f"{_expected(where, parameter)}, got an array")
    return np.array([number], "u8").view("u1")


def _bytes(where: str, value: Any, parameter: Parameter) -> Array:
    """Return an argument that is no array as the bytes of its parameter."""
    kind, size = parameter.kind, parameter.size
    if value is None and size == 8 and kind[0] != "f":
        return np.zeros(8, "u1")
    if parameter.is_array or value is None or isinstance(value, bytes | np.void):
        if not isinstance(value, bytes | np.void) or not parameter.is_array:
            got = type(value).__name__
            raise TypeError(f"{_expected(where, parameter)}, got {got}")
        if len(raw := _raw(value)) != size:
            raise TypeError(f"{_expected(where, parameter)}, got {len(raw)} bytes")
        return np.frombuffer(raw, "u1")
    if not isinstance(value, np.generic):
        value = _converted(where, value, parameter)
    wanted = np.dtype(DTYPES[kind])
    floats = (value.dtype.kind == "f") == (kind[0] == "f")
    bits = kind[0] == "b" or value.dtype.kind == "b"
    if value.dtype.itemsize != wanted.itemsize or not (floats or bits):
        raise TypeError(f"{_expected(where, parameter)}, got {value.dtype}")
    return np.array([value]).view("u1")


def _converted(where: str, value: float, parameter: Parameter) -> Any:
    """Return a Python number as the type of a parameter, if that can hold it.

    Compilers declare integers without a sign, so those take negative numbers as well.
    """
    kind, bits = parameter.kind, parameter.size * 8
    number: Any
    if kind in ("f16", "f32", "f64") and isinstance(value, float):
        with np.errstate(over="ignore"):
            number = np.array(value).astype(DTYPES[kind])[()]
        if np.isfinite(number) or not math.isfinite(value):
            return number
    elif kind in ("f16", "f32", "f64") and not isinstance(value, bool):
        number = np.dtype(DTYPES[kind]).type(0)
        if abs(value) <= np.finfo(number.dtype).max.item():
            number += number.dtype.type(value)
        if number.item() == value:
            return number
    elif kind not in ("f16", "f32", "f64", "pred") and not isinstance(value, float):
        least, most = -(2 ** (bits - 1)), 2 ** (bits - (kind[0] == "s"))
        if least <= value < most:
            number = np.array(value % 2**bits, f"u{parameter.size}")
            return number.view(DTYPES[kind])[()]
    else:
        raise TypeError(f"{_expected(where, parameter)}, got {type(value).__name__}")
    raise ValueError(f"{_expected(where, parameter)}, got {value!r}")


def _expected(where: str, parameter: Parameter) -> str:
    """Return the beginning of an error: what a parameter takes."""
    number = f"a number for .{parameter.kind}"
    if parameter.is_array:
        number = f"bytes or a structured scalar of {parameter.size} bytes"
    return f"{where}, parameter {parameter.name}: expected {number}"
