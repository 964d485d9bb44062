"""Arithmetic of f16 and bf16, one or two in a register, and their comparisons."""

from ptxsim.opcodes import opcode
from ptxsim.opcodes.integers import FLOATS, TWO_OF, comparison, operands_of
from ptxsim.syntax import Instruction, Pair
from ptxsim.writer import Writer

F16, BF16 = "<.f16 .f16x2>", "<.bf16 .bf16x2>"
FLAGS = ("ftz", "sat", "relu", "NaN", "xorsign")


@opcode(
    3,
    f"<add sub mul>[.rn][.ftz][.sat]{F16}",
    f"<add sub mul>[.rn]{BF16}",
    f"<min max>[.ftz][.NaN][.xorsign.abs]{F16}",
    f"<min max>[.NaN][.xorsign.abs]{BF16}",
)
@opcode(
    2,
    f"<neg abs>[.ftz]{F16}",
    f"<neg abs>{BF16}",
    f"ex2.approx{F16}",
    f"ex2.approx.ftz{BF16}",
    "tanh.approx<.f16 .f16x2 .bf16 .bf16x2>",
)
@opcode(4, f"fma.rn[.ftz][.sat .relu]{F16}", f"fma.rn[.relu]{BF16}")
def arithmetic(w: Writer, one: Instruction) -> None:
    result, *words = one.operands
    given = ", ".join(w.value(word, one.kind) for word in words)
    flags = tuple(word for word in one.words if word in FLAGS)
    call = f"halves({one.words[0]!r}, {one.kind!r}, {flags}, {given})"
    w.put(result, one.kind, call)


BOTH = (f"setp{FLOATS}{{}}[.ftz].f16x2", f"setp{FLOATS}{{}}.bf16x2")


@opcode(3, *(form.format("") for form in BOTH))
@opcode(4, *(form.format("<.and .or .xor>") for form in BOTH))
def compare_both(w: Writer, one: Instruction) -> None:
    """The first predicate is for the lower half."""
    results, a, b, *more = one.operands
    if not isinstance(results, Pair):
        raise one.unsupported("it has two results, as in %p1|%p2")
    a, b = operands_of(w, one, a, b)
    w.say(f"found = {comparison(one.words[1], 'f16', a, b)}")
    other = ""
    if more:
        w.say(f"other = {w.predicate(more[0])}.copy()")
        other = f" {TWO_OF[one.words[2]]} other"
    for i, name in enumerate((results.first, results.second)):
        if name != "_":
            w.put(name, "pred", f"found[:, {i}]{other}")


TRUE = {"f16x2": "0x3C00", "bf16x2": "0x3F80", "u32": "0xFFFF", "s32": "0xFFFF"}


@opcode(
    3,
    f"set{FLOATS}[.ftz]<.f16x2 .u32 .s32>.f16x2",
    f"set{FLOATS}<.bf16x2 .u32 .s32>.bf16x2",
)
def set_both(w: Writer, one: Instruction) -> None:
    """A half of the result is all ones, or 1.0, where the comparison holds."""
    result, *words = one.operands
    a, b = operands_of(w, one, *words)
    yes = f"np.uint16({TRUE[one.words[-2]]})"
    w.say(f"found = {comparison(one.words[1], 'f16', a, b)}")
    value = f"np.where(found, {yes}, np.uint16(0)).view('u4')[:, 0]"
    w.put(result, "b32", value)
