"""Converts numbers to a type as a GPU does: integers wrap, floats are rounded."""

import math

try:
    from ctypes import c_float
except ImportError:  # MicroPython has none
    c_float = None

from .things import Scalar, Type
from .types import SIZES

# The significand's bits, the exponent below which numbers are subnormal, and the largest
# number of each format.
FORMATS = {
    "float16": (11, -13, 65504.0),
    "float32": (24, -125, 3.4028234663852886e38),
    "float64": (53, -1021, 1.7976931348623157e308),
}
INF = float("inf")
NAN = INF - INF


def rounded(value: float, name: str) -> float:
    """Return the nearest number of a float type, or an infinity."""
    if name == "float32" and c_float is not None:
        return c_float(value).value
    if name == "float64" or value - value != 0 or value == 0:
        return value
    digits, lowest, largest = FORMATS[name]
    step = math.ldexp(1.0, max(math.frexp(value)[1], lowest) - digits)
    near = math.copysign(round(value / step) * step, value)
    return near if abs(near) <= largest else math.copysign(INF, value)


def wrapped(value: object, name: str) -> int:
    """Return an integer's lowest bits as a number of a type."""
    if name == "bool":
        return bool(value)
    bits = 8 * SIZES[name]
    low = int(value) & ((1 << bits) - 1)
    return low - (1 << bits) if name[0] == "i" and low >> (bits - 1) else low


def convert(value: object, name: str, full: bool) -> object:
    """Return a number converted to the type of an array or an argument."""
    if name[0] == "f":
        exact = full or name == "float16"
        return rounded(float(value), name) if exact else float(value)
    return cast(value, name) if isinstance(value, float) else wrapped(value, name)


def cast(value: float, name: str, wide: bool = False) -> int:
    """Return a float as an integer: truncated, and clamped to the type's range.

    For a type of 8 bits the range is that of 16 bits, and the result is then wrapped. NaN
    is 0 "if source is not .f64 and destination is not .s64, .u64. Otherwise
    1 << (BitWidth(dst) - 1)" (PTX ISA, cvt); ``wide`` says that the source is a float64.
    """
    if name == "bool":
        return value != 0
    bits = 8 * max(SIZES[name], 2)
    if value != value:
        return wrapped(1 << (bits - 1), name) if wide or bits == 64 else 0
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    if name[0] == "u":
        low, high = 0, (1 << bits) - 1
    if value - value != 0 or not low <= value <= high:
        return wrapped(high if value > 0 else low, name)
    return wrapped(int(value), name)


def cast_half(value: float, name: str) -> int:
    """Return a float16 as an integer, as Numba converts it: it rounds to the nearest.

    Unlike `cast`, it also clamps to the range of a type of 8 bits.
    """
    if value - value == 0:
        value = float(round(value))
    if SIZES[name] == 1 and value == value:
        low, high = (-128.0, 127.0) if name[0] == "i" else (0.0, 255.0)
        value = min(max(value, low), high)
    return cast(value, name)


def type_name(dtype: object) -> str:
    """Return the name of a type of this package, Numba, NumPy or Python."""
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", str(dtype))
    name = {"float": "float64", "int": "int64", "boolean": "bool"}.get(name, name)
    if name not in SIZES:
        raise ValueError(f"dtype: expected one of {sorted(SIZES)}, got {name!r}")
    return name


__all__ = ["Scalar", "Type", "cast", "cast_half", "convert", "rounded"]
__all__ += ["type_name", "wrapped"]
