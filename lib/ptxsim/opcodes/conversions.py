"""Conversions between types: cvt."""

from collections.abc import Iterator
from itertools import product

from ptxsim.opcodes import INTEGERS, expand, opcode
from ptxsim.registers import DTYPES
from ptxsim.syntax import SIZES, Instruction
from ptxsim.writer import Writer

WHOLE = "<.u8 .s8 .u16 .s16 .u32 .s32 .u64 .s64>"
NEAR, DIRECTIONS = "<.rn .rz .rm .rp>", ("rn", "rz", "rm", "rp")
FLAGS = ("ftz", "sat", "relu", "satfinite")
# Conversions to the nearest number that NumPy has, and by far the most usual.
QUICK = {("f32", "f16"): "{}", ("f64", "f32"): "{}", ("f32", "bf16"): "bfloat_bits({})"}
QUICK |= {(f"{sign}32", to): "{}" for sign in "su" for to in ("f32", "f64")}
QUICK["bf16", "f32"] = "({}.astype('u4') << np.uint32(16)).view('f4')"
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


def flags_of(one: Instruction) -> tuple[str, ...]:
    return tuple(word for word in one.words if word in FLAGS)


def wide(w: Writer, one: Instruction) -> str:
    """Return the float that is converted; a bfloat in single precision."""
    value = w.value(one.operands[1], one.kind)
    if one.kind == "bf16":
        return f"numbers({value}, 'bf16')[:, 0].astype('f4')"
    return f"subnormal_to_zero({value})" if one.has("ftz") else value


@opcode(
    2,
    f"cvt{ROUNDED}[.ftz]{WHOLE}.f32",
    f"cvt{ROUNDED}{WHOLE}<.f16 .f64>",
    f"cvt{ROUNDED}{INTEGERS}.bf16",
)
def float_to_whole(w: Writer, one: Instruction) -> None:
    to = one.words[-2]
    call = f"to_whole({wide(w, one)}, {one.words[1]!r}, {DTYPES[to]!r})"
    put_whole(w, one.operands[0], to, call)


@opcode(
    2,
    f"cvt{NEAR}<.f16 .f32 .f64>{WHOLE}",
    f"cvt{NEAR}.bf16{INTEGERS}",
    f"cvt{NEAR}[.ftz][.sat]<.f16.f32 .f32.f64>",
    f"cvt{NEAR}[.ftz].bf16.f32",
    "cvt<.rn .rz><.relu .satfinite .relu.satfinite><.f16 .bf16>.f32",
    f"cvt{NEAR}[.sat].f16.f64",
    f"cvt{NEAR}.bf16.f64",
    "cvt[.rn .rz .rm .rp]<.bf16.f16 .f16.bf16 .f64.bf16>",
    "cvt[.rn .rz .rm .rp][.ftz].f32.bf16",
    "cvt[.sat].f16.f16",
    "cvt.bf16.bf16",
)
def to_float(w: Writer, one: Instruction) -> None:
    to, source = one.words[-2:]
    value, flags = w.value(one.operands[1], source), flags_of(one)
    how = one.words[1] if one.words[1] in DIRECTIONS else "rn"
    if how == "rn" and not flags and (source, to) in QUICK:
        call = QUICK[source, to].format(value)
    else:
        call = f"converted({value}, {source!r}, {to!r}, {how!r}, {flags})"
    w.put(one.operands[0], to, call)


@opcode(2, "cvt[.ftz][.sat]<.f32.f16 .f64.f32>", "cvt[.sat].f64.f16")
def to_wider_float(w: Writer, one: Instruction) -> None:
    to, source = one.words[-2:]
    value = w.value(one.operands[1], source)
    if one.has("ftz") and source == "f32":
        value = f"subnormal_to_zero({value})"
    if one.has("sat"):
        value = f"within_0_and_1({value})"
    w.put(one.operands[0], to, value)


@opcode(2, "cvt.rna[.satfinite].tf32.f32", "cvt<.rn .rz>[.relu].tf32.f32")
def to_tf32(w: Writer, one: Instruction) -> None:
    value = w.value(one.operands[1], "f32")
    call = f"tf32_bits({value}, {one.words[1]!r}, {flags_of(one)})"
    w.put(one.operands[0], "b32", call)


@opcode(
    2,
    f"cvt{ROUNDED}[.ftz][.sat].f32.f32",
    f"cvt{ROUNDED}[.sat]<.f16.f16 .f64.f64>",
    f"cvt{ROUNDED}.bf16.bf16",
)
def round_to_whole(w: Writer, one: Instruction) -> None:
    value = f"rounded({wide(w, one)}, {one.words[1]!r})"
    if one.has("sat"):
        value = f"within_0_and_1({value})"
    if one.kind == "bf16":
        value = f"bfloat_bits({value})"
    w.put(one.operands[0], one.kind, value)


@opcode(2, "cvt[.ftz].sat.f32.f32", "cvt.sat.f64.f64")
def between_0_and_1(w: Writer, one: Instruction) -> None:
    w.put(one.operands[0], one.kind, f"within_0_and_1({wide(w, one)})")


@opcode(3, "cvt<.rn .rz>[.relu][.satfinite]<.f16x2 .bf16x2>.f32")
def two_halves(w: Writer, one: Instruction) -> None:
    """The first operand fills the upper half."""
    result, *words = one.operands
    to, how, flags = one.words[-2].removesuffix("x2"), one.words[1], flags_of(one)
    form = f"converted({{}}, 'f32', {to!r}, {how!r}, {flags}).view('u2')"
    if how == "rn" and not flags:
        form = "half_bits({})" if to == "f16" else "bfloat_bits({})"
    high, low = (form.format(w.value(word, "f32")) for word in words)
    w.put(result, "b32", f"join({low}, {high})")
