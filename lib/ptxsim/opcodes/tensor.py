"""What all 32 lanes of a warp do with small matrices: mma and ldmatrix."""

import re

from ptxsim.opcodes import opcode
from ptxsim.opcodes.integers import memory_operand
from ptxsim.syntax import Instruction, Operand, Vector
from ptxsim.tensor import COLUMNS, WARP, Form
from ptxsim.writer import Writer

# Bits of a number, and the type of the registers that hold it.
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8, "f32": 32, "s32": 32}
BITS |= {"f64": 64}
REGISTERS = {"f32": "f32", "s32": "s32", "f64": "f64"}


def registers(w: Writer, operand: Operand, kind: str, numbers: int) -> str:
    """Return a tuple of the registers of a fragment with so many numbers."""
    own = REGISTERS.get(kind, "b32")
    count = max(1, numbers * BITS[kind] // (64 if own == "f64" else 32))
    parts = operand.parts if isinstance(operand, Vector) else (operand,)
    if len(parts) != count:
        raise w.one.unsupported(f"a fragment of .{kind} takes {count} registers here")
    return f"({''.join(f'{w.typed(part, own)}, ' for part in parts)})"


@opcode(
    4,
    "mma.sync.aligned<.m16n8k8 .m16n8k16>.row.col<.f32.f16.f16.f32 .f16.f16.f16.f16>",
    "mma.sync.aligned<.m16n8k8 .m16n8k16>.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned<.m16n8k4 .m16n8k8>.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned<.m16n8k16 .m16n8k32>.row.col[.satfinite].s32<.s8 .u8><.s8 .u8>.s32",
    "mma.sync.aligned.m8n8k4.row.col[.rn].f64.f64.f64.f64",
)
def multiply(w: Writer, one: Instruction) -> None:
    m, n, k = map(int, re.findall(r"\d+", one.words[3]))
    d, a, b, _ = kinds = one.words[-4:]
    saturates = one.has("satfinite")
    form = f"form_{m}_{k}_{d}_{a}_{b}_{saturates}"
    w.constants[form] = Form(m, k, d, a, b, saturates)
    sizes = (m * n, m * k, k * COLUMNS, m * n)
    given = [
        registers(w, operand, kind, size // WARP)
        for operand, kind, size in zip(one.operands, kinds, sizes)
    ]
    w.say(f"WHOLE({w.number}, act)")
    w.say(f"MMA({form}, {', '.join(given)}, act)")


@opcode(2, "ldmatrix.sync.aligned.m8n8<.x1 .x2 .x4>[.trans][.shared .shared::cta].b16")
def load(w: Writer, one: Instruction) -> None:
    """Without a state space the address is generic, and that of shared memory as well."""
    result, where = one.operands
    address, offset = memory_operand(w, where)
    matrices = int(next(word for word in one.words if re.match(r"x\d", word))[1:])
    outs = registers(w, result, "f16", 2 * matrices)
    w.say(f"WHOLE({w.number}, act)")
    w.say(
        f"LDMATRIX(ACCESS, {w.number}, {address}, {offset}, {one.has('trans')},"
        f" {outs}, act)"
    )
