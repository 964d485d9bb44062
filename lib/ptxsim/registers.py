"""What a register holds: types, numbers as they stand in PTX, special registers."""

import re
from typing import Any

import numpy as np

DTYPES = {
    "pred": "?", "b8": "u1", "u8": "u1", "s8": "i1", "b16": "u2", "u16": "u2",
    "s16": "i2", "f16": "f2", "bf16": "u2", "b32": "u4", "u32": "u4", "s32": "i4",
    "f32": "f4", "f16x2": "u4", "bf16x2": "u4", "b64": "u8", "u64": "u8", "s64": "i8",
    "f64": "f8",
}  # fmt: skip
# Registers that each thread finds filled.
SPECIAL = {f"%{name}.{axis}" for name in ("tid", "ctaid") for axis in "xyz"}
SPECIAL |= {f"%{name}.{axis}" for name in ("ntid", "nctaid") for axis in "xyz"}
SPECIAL |= {"%laneid", "%warpid", "%dynamic_smem_size", "%total_smem_size"}
SPECIAL |= {f"%lanemask_{which}" for which in ("eq", "lt", "le", "gt", "ge")}

# Registers with numbers that a program alone does not decide, and what they depend on.
REFUSED = dict.fromkeys(("%clock", "%clock_hi", "%clock64"), "time")
REFUSED |= dict.fromkeys(("%globaltimer", "%globaltimer_lo", "%globaltimer_hi"), "time")
REFUSED |= dict.fromkeys(("%smid", "%nsmid", "%nwarpid"), "the GPU")
REFUSED |= {"%gridid": "what was launched before"}


def literal(text: str, kind: str) -> Any:
    """Return a number written in PTX, as a NumPy number of a PTX type.

    >>> literal("0f3F800000", "f32"), literal("-1", "u32")
    (np.float32(1.0), np.uint32(4294967295))
    """
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text)
    if digits[:2] in ("0f", "0F", "0d", "0D"):
        return _of_bits(sign, digits, kind)
    if kind in ("f16", "f32", "f64"):
        if not re.fullmatch(r"\d+(\.\d*)?([eE][+-]?\d+)?", digits) or digits.isdigit():
            raise ValueError(f"text: expected a float, as 1.0 or 0f…, got {text}")
        return np.dtype(DTYPES[kind]).type(sign * float(digits))
    number = whole(text)
    if kind == "pred":
        return np.bool_(number)
    bits = np.dtype(DTYPES[kind]).itemsize * 8
    return np.array(number % 2**bits, f"u{bits // 8}").view(DTYPES[kind])[()]


def whole(text: str) -> int:
    """Return a whole number of PTX: decimal, 0x…, 0b…, or octal with a leading 0.

    >>> whole("12"), whole("-0x1F"), whole("0b101U"), whole("010")
    (12, -31, 5, 8)
    """
    octal = re.fullmatch(r"-?0[0-7]+U?", text)
    return int(text.removesuffix("U"), 8 if octal else 0)


def _of_bits(sign: int, digits: str, kind: str) -> Any:
    """Return a float that is given by its bits, in single or in double precision."""
    wide = digits[1] in "dD"
    bits = np.array(int(digits[2:], 16), "u8" if wide else "u4")
    if kind in ("b32", "b64"):
        return bits.astype(DTYPES[kind])[()]
    if kind[0] != "f":
        raise ValueError(f"text: expected a whole number for .{kind}, got {digits}")
    return (sign * bits.view("f8" if wide else "f4")[()]).astype(DTYPES[kind])
