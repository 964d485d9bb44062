"""Conversions between types: cvt."""

from collections.abc import Iterator
from itertools import product

from ptxsim.opcodes import expand, opcode
from ptxsim.registers import DTYPES
from ptxsim.syntax import SIZES, Instruction
from ptxsim.writer import Writer

WHOLE = "<.u8 .s8 .u16 .s16 .u32 .s32 .u64 .s64>"
ROUNDED = "<.rni .rzi .rmi .rpi>"


def put_whole(w: Writer, register: object, to: str, value: str) -> None:
    """Copy whole numbers to a register, which may be wider: the sign goes on."""
    own = w.kernel.type_of(str(register)) or to
    w.put(str(register), to[0] + str(SIZES[own] * 8), value)


def too_narrow() -> Iterator[tuple[str, str]]:
    """Yield types and others that do not hold all their numbers: .sat is for these."""
    for to, source in product(expand(WHOLE), expand(WHOLE)):
        room = SIZES[to[1:]] - SIZES[source[1:]]
        if room < 0 or (to[1] != source[1] and (room == 0 or source[1] == "s")):
            yield to, source


@opcode(
    2, f"cvt{WHOLE}{WHOLE}", *(f"cvt.sat{to}{source}" for to, source in too_narrow())
)
def whole_to_whole(w: Writer, one: Instruction) -> None:
    to, source = one.words[-2:]
    value = w.value(one.operands[1], source)
    name = "clamped" if one.has("sat") else "wrapped"
    put_whole(w, one.operands[0], to, f"{name}({value}, {DTYPES[to]!r})")


@opcode(2, f"cvt{ROUNDED}[.ftz]{WHOLE}.f32", f"cvt{ROUNDED}{WHOLE}<.f16 .f64>")
def float_to_whole(w: Writer, one: Instruction) -> None:
    to, source = one.words[-2:]
    value = w.value(one.operands[1], source)
    if one.has("ftz"):
        value = f"subnormal_to_zero({value})"
    call = f"to_whole({value}, {one.words[1]!r}, {DTYPES[to]!r})"
    put_whole(w, one.operands[0], to, call)


@opcode(2, f"cvt.rn<.f16 .f32 .f64>{WHOLE}")
def whole_to_float(w: Writer, one: Instruction) -> None:
    to, source = one.words[-2:]
    value = w.value(one.operands[1], source)
    if to == "f16":  # NumPy would round twice: first to single precision
        value = f"{value}.astype('f8')"
    w.put(one.operands[0], to, value)


@opcode(
    2,
    "cvt[.ftz][.sat].f32.f16",
    "cvt.rn[.ftz][.sat].f16.f32",
    "cvt.rn<.f16 .f32>.f64",
    "cvt[.ftz].f64.f32",
    "cvt.f64.f16",
)
def float_to_float(w: Writer, one: Instruction) -> None:
    to, source = one.words[-2:]
    value = w.value(one.operands[1], source)
    if one.has("ftz") and source == "f32":
        value = f"subnormal_to_zero({value})"
    if one.has("sat"):
        value = f"within_0_and_1({value})"
    w.put(one.operands[0], to, value)


@opcode(2, f"cvt{ROUNDED}[.ftz][.sat].f32.f32", f"cvt{ROUNDED}<.f16.f16 .f64.f64>")
def round_to_whole(w: Writer, one: Instruction) -> None:
    value = w.value(one.operands[1], one.kind)
    if one.has("ftz"):
        value = f"subnormal_to_zero({value})"
    value = f"rounded({value}, {one.words[1]!r})"
    if one.has("sat"):
        value = f"within_0_and_1({value})"
    w.put(one.operands[0], one.kind, value)


@opcode(2, "cvt[.ftz].sat.f32.f32", "cvt.sat.f64.f64")
def between_0_and_1(w: Writer, one: Instruction) -> None:
    value = w.value(one.operands[1], one.kind)
    if one.has("ftz"):
        value = f"subnormal_to_zero({value})"
    w.put(one.operands[0], one.kind, f"within_0_and_1({value})")


@opcode(3, "cvt.rn.f16x2.f32", "cvt.rn.bf16x2.f32")
def two_halves(w: Writer, one: Instruction) -> None:
    """The first operand fills the upper half."""
    result, high, low = one.operands
    name = "half_bits" if one.has("f16x2") else "bfloat_bits"
    high, low = (f"{name}({w.value(word, 'f32')})" for word in (high, low))
    w.put(result, "b32", f"join({low}, {high})")


@opcode(2, "cvt.rn.bf16.f32")
def to_bfloat(w: Writer, one: Instruction) -> None:
    value = w.value(one.operands[1], "f32")
    w.put(one.operands[0], "b16", f"bfloat_bits({value})")


@opcode(2, "cvt.f32.bf16")
def from_bfloat(w: Writer, one: Instruction) -> None:
    value = w.value(one.operands[1], "b16")
    w.put(one.operands[0], "b32", f"{value}.astype('u4') << np.uint32(16)")
