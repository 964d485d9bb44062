"""Floats by exact fractions, rounded by hand, and the comparisons of NVIDIA's manual."""

import math
import struct
from collections.abc import Callable
from fractions import Fraction

import numpy as np

FORMATS = {"f16": (11, -14, "<e"), "f32": (24, -126, "<f"), "f64": (53, -1022, "<d")}
FORMATS["bf16"] = (8, -126, "")
MOST = {
    "f16": 65504.0,
    "bf16": 2.0**128 - 2.0**120,
    "f32": float(np.finfo("f4").max),
    "f64": float(np.finfo("f8").max),
}
# Which of the floats around a number: by its manual, and with Python's round to even.
ROUNDINGS: dict[str, Callable[[Fraction], int]] = {
    "rn": round, "rz": math.trunc, "rm": math.floor, "rp": math.ceil
}  # fmt: skip


def nearest(x: Fraction, kind: str, flush: bool = False, how: str = "rn") -> float:
    """An exact number as a float of a type: to the nearest one, or in a direction."""
    if not x:
        return 0.0
    digits, lowest, _ = FORMATS[kind]
    exponent = abs(x.numerator).bit_length() - x.denominator.bit_length()
    exponent += abs(x) >= Fraction(2) ** (exponent + 1)
    exponent -= abs(x) < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, lowest) - digits + 1)
    found = ROUNDINGS[how](x / unit) * unit
    if flush and abs(found) < Fraction(2) ** lowest:
        return math.copysign(0.0, x)
    if abs(found) > Fraction(MOST[kind]):
        inward = how == "rz" or (how == "rm") == (x > 0) and how != "rn"
        most = MOST[kind] if inward else math.inf
        return most if x > 0 else -most
    return float(found) if found else math.copysign(0.0, x)


def same(found: float, expected: float) -> bool:
    """Whether two floats have the same bits; any NaN is the same."""
    if math.isnan(expected):
        return math.isnan(found)
    return struct.pack("<d", found) == struct.pack("<d", expected)


def decoded(bits: int, kind: str) -> float:
    """The number of a half or a bfloat, by its bits."""
    if kind == "bf16":
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    return struct.unpack("<e", struct.pack("<H", bits))[0]


def encoded(x: float, kind: str) -> int:
    """The bits of a number that its type holds; NaN as instructions return it."""
    if math.isnan(x):
        return 0x7FFF
    if kind == "bf16":
        return struct.unpack("<I", struct.pack("<f", x))[0] >> 16
    return struct.unpack("<H", struct.pack("<e", x))[0]


# ---- comparisons ----

ORDER: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip
ORDER |= {"lo": ORDER["lt"], "ls": ORDER["le"], "hi": ORDER["gt"], "hs": ORDER["ge"]}


def compared(how: str, a: float, b: float) -> bool:
    """The comparisons of the manual; those that end in u are true for NaN."""
    nan = a != a or b != b
    if how in ("num", "nan"):
        return nan == (how == "nan")
    if how not in ORDER:
        return nan or ORDER[how.removesuffix("u")](a, b)
    return not nan and ORDER[how](a, b)
