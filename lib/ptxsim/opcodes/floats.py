"""Floating-point arithmetic.

Without ``exact``, a result is looked at for ``.ftz`` only after NumPy has reported an
underflow.
"""

from ptxsim.opcodes import opcode
from ptxsim.syntax import Instruction
from ptxsim.writer import Writer

NAMES = {"add": "np.add", "sub": "np.subtract", "mul": "np.multiply"}
NAMES |= {"neg": "np.negative", "abs": "np.abs", "sqrt": "np.sqrt", "rcp": "reciprocal"}
NAMES |= {"rsqrt": "inverse_root", "ex2": "np.exp2", "lg2": "np.log2", "sin": "np.sin"}
NAMES |= {"cos": "np.cos", "tanh": "np.tanh"}


def changes(w: Writer, one: Instruction) -> tuple[str, ...]:
    """Return what is done with a result: its subnormals, and what is beyond 0 and 1."""
    found = []
    if one.has("ftz"):
        found.append("flush({})" if w.exact else "if UNDERFLOW: flush({})")
    if one.has("sat"):
        found.append("saturate({})")
    return tuple(found)


def arguments(w: Writer, one: Instruction) -> str:
    """Return all operands that are read; subnormal ones are 0 if ``.ftz`` says so."""
    given = [w.value(word, one.kind) for word in one.operands[1:]]
    if one.has("ftz") and w.exact:
        given = [f"subnormal_to_zero({value})" for value in given]
    return ", ".join(given)


@opcode(
    3,
    "<add sub mul>[.rn][.ftz][.sat].f32",
    "<add sub mul>[.rn]<.f16 .f64>",
)
@opcode(
    2,
    "<neg abs>[.ftz].f32",
    "<neg abs><.f16 .f64>",
    "<sqrt rcp><.approx .rn>[.ftz].f32",
    "<sqrt rcp>.rn.f64",
    "<rsqrt ex2 lg2 sin cos>.approx[.ftz].f32",
    "tanh.approx.f32",
)
def plain(w: Writer, one: Instruction) -> None:
    call = f"{NAMES[one.words[0]]}({arguments(w, one)}"
    w.compute(one.operands[0], one.kind, call, *changes(w, one))


@opcode(4, "fma.rn[.ftz][.sat].f32", "fma.rn<.f16 .f64>")
def fused(w: Writer, one: Instruction) -> None:
    name = f"fma_{one.kind}{'_flushed' if one.has('ftz') else ''}"
    call = f"{name}({arguments(w, one)}"
    w.compute(one.operands[0], one.kind, call, *changes(w, one))


@opcode(3, "<add sub mul><.rz .rm .rp>[.ftz][.sat].f32")
@opcode(4, "fma<.rz .rm .rp>[.ftz][.sat].f32")
def directed(w: Writer, one: Instruction) -> None:
    """Round toward zero, down or up."""
    given = [w.value(word, one.kind) for word in one.operands[1:]]
    if one.has("ftz"):
        given = [f"subnormal_to_zero({value})" for value in given]
    call = f"directed({one.words[0]!r}, {one.words[1]!r}, {', '.join(given)}"
    then = [
        text
        for word, text in (("ftz", "flush({})"), ("sat", "saturate({})"))
        if one.has(word)
    ]
    w.compute(one.operands[0], one.kind, call, *then)


@opcode(3, "div<.approx .full .rn>[.ftz].f32", "div.rn.f64")
def divide(w: Writer, one: Instruction) -> None:
    name = "divide_approximately" if one.has("approx") else "np.divide"
    call = f"{name}({arguments(w, one)}"
    w.compute(one.operands[0], one.kind, call, *changes(w, one))


@opcode(3, "<min max>[.ftz][.NaN].f32", "<min max>[.NaN].f16", "<min max>.f64")
def extreme(w: Writer, one: Instruction) -> None:
    call = f"{'extreme_or_nan' if one.has('NaN') else 'extreme'}("
    call += f"{arguments(w, one)}, largest={one.words[0] == 'max'}"
    w.compute(one.operands[0], one.kind, call, *changes(w, one))


@opcode(3, "copysign<.f32 .f64>")
def copy_sign(w: Writer, one: Instruction) -> None:
    sign, size = (w.value(word, one.kind) for word in one.operands[1:])
    w.compute(one.operands[0], one.kind, f"np.copysign({size}, {sign}")
