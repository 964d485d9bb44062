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


DIRECTED = "<.rz .rm .rp>"
TESTS = {"finite": "np.isfinite({})", "infinite": "np.isinf({})"}
TESTS |= {"number": "~np.isnan({})", "notanumber": "np.isnan({})"}
TESTS |= {
    "normal": "np.isfinite({0}) & ~is_subnormal({0})",
    "subnormal": "is_subnormal({})",
}


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
    "<add sub mul>[.rn].f64",
)
@opcode(
    2,
    "<neg abs>[.ftz].f32",
    "<neg abs>.f64",
    "<sqrt rcp><.approx .rn>[.ftz].f32",
    "<sqrt rcp>.rn.f64",
    "rsqrt.approx.f64",
    "<rsqrt ex2 lg2 sin cos>.approx[.ftz].f32",
    "tanh.approx.f32",
)
def plain(w: Writer, one: Instruction) -> None:
    call = f"{NAMES[one.words[0]]}({arguments(w, one)}"
    w.compute(one.operands[0], one.kind, call, *changes(w, one))


@opcode(4, "<fma mad>.rn[.ftz][.sat].f32", "<fma mad>.rn.f64")
def fused(w: Writer, one: Instruction) -> None:
    name = f"fma_{one.kind}{'_flushed' if one.has('ftz') else ''}"
    call = f"{name}({arguments(w, one)}"
    w.compute(one.operands[0], one.kind, call, *changes(w, one))


@opcode(2, f"<sqrt rcp>{DIRECTED}[.ftz].f32", f"<sqrt rcp>{DIRECTED}.f64")
@opcode(
    3,
    f"<add sub mul>{DIRECTED}[.ftz][.sat].f32",
    f"div{DIRECTED}[.ftz].f32",
    f"<add sub mul div>{DIRECTED}.f64",
)
@opcode(4, f"<fma mad>{DIRECTED}[.ftz][.sat].f32", f"<fma mad>{DIRECTED}.f64")
def directed(w: Writer, one: Instruction) -> None:
    """Round toward zero, down or up."""
    name = one.words[0].replace("mad", "fma")
    given = [w.value(word, one.kind) for word in one.operands[1:]]
    if one.has("ftz"):
        given = [f"subnormal_to_zero({value})" for value in given]
    call = f"directed({name!r}, {one.words[1]!r}, {', '.join(given)}"
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


@opcode(2, "<rcp rsqrt>.approx.ftz.f64")
def of_the_upper_word(w: Writer, one: Instruction) -> None:
    w.put(one.operands[0], "f64", f"gross({one.words[0]!r}, {arguments(w, one)})")


@opcode(3, "<min max>[.ftz][.NaN].xorsign.abs.f32")
def extreme_by_size(w: Writer, one: Instruction) -> None:
    flags = tuple(word for word in ("NaN", "xorsign") if one.has(word))
    given = [f"np.atleast_1d({w.value(word, 'f32')})" for word in one.operands[1:]]
    if one.has("ftz"):
        given = [f"subnormal_to_zero({value})" for value in given]
    call = f"extremes({one.words[0]!r}, {flags}, {', '.join(given)})"
    w.put(one.operands[0], "f32", call)


@opcode(3, "<min max>[.ftz][.NaN].f32", "<min max>.f64")
def extreme(w: Writer, one: Instruction) -> None:
    call = f"{'extreme_or_nan' if one.has('NaN') else 'extreme'}("
    call += f"{arguments(w, one)}, largest={one.words[0] == 'max'}"
    w.compute(one.operands[0], one.kind, call, *changes(w, one))


@opcode(3, "copysign<.f32 .f64>")
def copy_sign(w: Writer, one: Instruction) -> None:
    sign, size = (w.value(word, one.kind) for word in one.operands[1:])
    w.compute(one.operands[0], one.kind, f"np.copysign({size}, {sign}")


@opcode(2, f"testp<{' '.join(f'.{name}' for name in TESTS)}><.f32 .f64>")
def test_property(w: Writer, one: Instruction) -> None:
    """Zero is a normal number here, as the manual has it."""
    value = w.value(one.operands[1], one.kind)
    w.put(one.operands[0], "pred", TESTS[one.words[1]].format(value))
