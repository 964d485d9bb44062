"""Vectors of numbers, as wide as this machine's registers.

A processor adds or multiplies several float32 numbers with one instruction: 16 of them
with AVX-512, 8 with AVX2, 4 with NEON and SSE. Each number in such a vector has a
*lane*. The functions here emit instructions on vectors, from which `steps.py` builds
its loops; none of them computes anything itself.

The compiler knows the width of a vector: it translates one multiplication of 16 numbers
for this machine, and the names of the registers in its code tell.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils, config

Builder: TypeAlias = ir.IRBuilder
Value: TypeAlias = ir.Value

FLOAT, INT32, INT64 = ir.FloatType(), ir.IntType(32), ir.IntType(64)


class Machine(NamedTuple):
    """What the processor offers to a loop over numbers.

    Attributes
    ----------
    lanes : int
        How many float32 numbers an instruction takes.
    registers : int
        How many vectors it can hold without going to memory.
    fused : bool
        Whether it can multiply and add in one instruction, which rounds once.
    """

    lanes: int
    registers: int
    fused: bool

    @property
    def name(self) -> str:
        """The common name of its instructions."""
        return {16: "AVX-512", 8: "AVX2"}.get(
            self.lanes, "NEON" if self.registers == 32 else "SSE"
        )


def machine() -> Machine:
    """Return what the processor offers that Numba compiles for.

    That is this one, unless the environment says otherwise: with NUMBA_CPU_NAME=haswell
    a machine with AVX-512 runs the code of one that has AVX2 only.

    Returns
    -------
    Machine
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = config.CPU_FEATURES
    if features is None:
        own = config.CPU_NAME is None
        features = llvm.get_host_cpu_features().flatten() if own else ""
    return read(
        llvm.Target.from_default_triple().create_target_machine(
            cpu=config.CPU_NAME or llvm.get_host_cpu_name(), features=features
        )
    )


def read(target: llvm.TargetMachine) -> Machine:
    """Return what a target offers, read off its code for a multiplication and addition."""
    text = target.emit_assembly(llvm.parse_assembly(PROBE % target.triple))
    lanes = 16 if "zmm" in text else 8 if "ymm" in text else 4
    arm = "fmla" in text
    return Machine(lanes, 32 if arm or lanes == 16 else 16, arm or "vfmadd" in text)


PROBE = """
target triple = "%s"
define void @probe(<16 x float>* %%at) {
    %%x = load <16 x float>, <16 x float>* %%at
    %%y = call contract <16 x float> @llvm.fmuladd.v16f32(
        <16 x float> %%x, <16 x float> %%x, <16 x float> %%x)
    store <16 x float> %%y, <16 x float>* %%at
    ret void
}
declare <16 x float> @llvm.fmuladd.v16f32(<16 x float>, <16 x float>, <16 x float>)
"""

MACHINE = machine()
LANES = MACHINE.lanes
VECTOR = ir.VectorType(FLOAT, LANES)
INTEGERS = ir.VectorType(INT32, LANES)
BYTES = 4 * LANES  # of a vector


def constant(x: float) -> Value:
    """Return a vector that holds one number in every lane."""
    return ir.Constant(VECTOR, [float(x)] * LANES)


def number(n: int) -> Value:
    """Return an integer, for addresses and counts."""
    return ir.Constant(INT64, n)


def pointer(b: Builder, address: Value, kind: ir.Type, offset: int = 0) -> Value:
    """Return a pointer to the value `offset` bytes after an address."""
    if offset:
        address = b.add(address, number(offset))
    return b.inttoptr(address, kind.as_pointer())


def load(b: Builder, address: Value, offset: int = 0) -> Value:
    """Return the vector that stands at an address."""
    return b.load(pointer(b, address, VECTOR, offset), align=4)


def store(b: Builder, x: Value, address: Value, offset: int = 0) -> None:
    """Write a vector to an address."""
    b.store(x, pointer(b, address, VECTOR, offset), align=4)


def first(b: Builder, count: Value) -> Value:
    """Return a mask that is true for the first `count` lanes."""
    nothing = ir.Constant(INTEGERS, ir.Undefined)
    one = b.insert_element(nothing, b.trunc(count, INT32), ir.Constant(INT32, 0))
    each = b.shuffle_vector(one, nothing, ir.Constant(INTEGERS, [0] * LANES))
    return b.icmp_unsigned("<", ir.Constant(INTEGERS, list(range(LANES))), each)


def load_some(b: Builder, address: Value, mask: Value, other: float) -> Value:
    """Return the vector at an address where the mask is true, and else a number."""
    place, name = VECTOR.as_pointer(), f"llvm.masked.load.v{LANES}f32.p0"
    kind = ir.FunctionType(VECTOR, [place, INT32, mask.type, VECTOR])
    own = cgutils.get_or_insert_function(b.module, kind, name)
    at = pointer(b, address, VECTOR)
    return b.call(own, [at, ir.Constant(INT32, 4), mask, constant(other)])


def store_some(b: Builder, x: Value, address: Value, mask: Value) -> None:
    """Write the lanes of a vector where the mask is true."""
    place, name = VECTOR.as_pointer(), f"llvm.masked.store.v{LANES}f32.p0"
    kind = ir.FunctionType(ir.VoidType(), [VECTOR, place, INT32, mask.type])
    own = cgutils.get_or_insert_function(b.module, kind, name)
    b.call(own, [x, pointer(b, address, VECTOR), ir.Constant(INT32, 4), mask])


def splat(b: Builder, x: Value) -> Value:
    """Return a vector that holds the number `x` in every lane."""
    nothing = ir.Constant(VECTOR, ir.Undefined)
    first = b.insert_element(nothing, x, ir.Constant(INT32, 0))
    return pick(b, first, nothing, [0] * LANES)


def pick(b: Builder, x: Value, y: Value, lanes: list[int]) -> Value:
    """Return some lanes of two vectors; the lanes of `y` count from LANES on."""
    kind = ir.VectorType(INT32, len(lanes))
    return b.shuffle_vector(x, y, ir.Constant(kind, lanes))


def fma(b: Builder, x: Value, y: Value, z: Value) -> Value:
    """Return x · y + z, rounded once where the machine can."""
    if not MACHINE.fused:
        return b.fadd(b.fmul(x, y), z)
    kind = ir.FunctionType(VECTOR, [VECTOR] * 3)
    name = f"llvm.fma.v{LANES}f32"
    return b.call(cgutils.get_or_insert_function(b.module, kind, name), [x, y, z])


def larger(b: Builder, x: Value, y: Value) -> Value:
    """Return the larger of each two lanes; where one is NaN, that of `x`."""
    return b.select(b.fcmp_ordered("<", x, y), y, x)


def add(b: Builder, x: Value, y: Value) -> Value:
    """Return the sum of each two lanes."""
    return b.fadd(x, y)


# 2 to the power of −½ … ½, from the highest power of the argument to the lowest. Of all
# polynomials that are exactly 1 at 0 its largest relative error is the least: 9.2e-8.
POWERS = (
    0.0013264601584523916,
    0.009671511128544807,
    0.05550733953714371,
    0.24022242426872253,
    0.6931470036506653,
    1.0,
)
# Added to a number, it leaves no place for digits behind the point: the last bits of
# the sum are the number, rounded to an integer, plus 127.
ROUNDING = 1.5 * 2**23 + 127


def exp2(b: Builder, x: Value) -> Value:
    """Return 2 to the power of each lane, below 128; off by 2e-7 of it at most.

    An integer power of two is the exponent of a float32 already, so it is written there
    as 8 bits; a polynomial does the rest. Below −126.5 the answer is exactly 0, as for
    a hidden key it has to be; NaN stays NaN.
    """
    x = larger(b, x, constant(-127))  # whose exponent is 8 bits of 0: the number 0
    rounded = b.fadd(x, constant(ROUNDING))
    rest = b.fsub(x, b.fsub(rounded, constant(ROUNDING)))
    power = constant(POWERS[0])
    for factor in POWERS[1:]:
        power = fma(b, power, rest, constant(factor))
    shift = ir.Constant(INTEGERS, [23] * LANES)
    exponent = b.bitcast(b.shl(b.bitcast(rounded, INTEGERS), shift), VECTOR)
    return b.fmul(power, exponent)


def across(
    b: Builder, vectors: list[Value], combine: Callable[[Builder, Value, Value], Value]
) -> Value:
    """Return a vector whose first lanes hold each vector's lanes, all combined to one.

    Two vectors at a time are mixed, so that each step combines lanes of both at once.
    The number of vectors is a power of two, at most LANES; `combine` is `add` or
    `larger`.
    """
    nothing, step = ir.Constant(VECTOR, ir.Undefined), 1
    while len(vectors) > 1:
        pairs = zip(vectors[0::2], vectors[1::2])
        vectors = [combine(b, *mixed(b, x, y, step)) for x, y in pairs]
        step *= 2
    [x] = vectors
    while step < LANES:
        x = combine(b, x, pick(b, x, nothing, [i ^ step for i in range(LANES)]))
        step *= 2
    return x


def turned(b: Builder, square: list[Value]) -> list[Value]:
    """Return the columns of LANES vectors.

    Each step exchanges one bit of a number's row with the same bit of its lane.
    """
    square, step = list(square), 1
    while step < LANES:
        for i in range(LANES):
            if not i & step:
                pair = mixed(b, square[i], square[i ^ step], step)
                square[i], square[i ^ step] = pair
        step *= 2
    return square


def mixed(b: Builder, x: Value, y: Value, step: int) -> tuple[Value, Value]:
    """Return two vectors that have exchanged lanes, `step` apart.

    The first takes the lanes of both whose number has bit `step` at 0, those of x at
    their own places, and the second takes those that have it at 1.
    """
    lower = [not lane & step for lane in range(LANES)]
    near = [i if low else LANES + (i ^ step) for i, low in enumerate(lower)]
    far = [i ^ step if low else LANES + i for i, low in enumerate(lower)]
    return pick(b, x, y, near), pick(b, x, y, far)
