"""Instructions of PTX that Numba has no name for, as functions of a kernel.

`instruction` makes a function of a line of PTX. It takes the package numba-cuda, so the
module is imported where a kernel is made. Nothing else knows how the functions are made.

Numbers of 16 bits are float16, or bfloat16, which NumPy lacks: its bits are in arrays of
uint16. Where an instruction comes in both types, the first argument is an array of the
kernel, whose dtype decides.
"""

from collections.abc import Callable, Mapping
from typing import Any

from llvmlite import ir
from numba import float32, int32, types, uint32, uint64
from numba.cuda.extending import intrinsic

Kind = Any  # a type of Numba
LETTERS = {  # how LLVM calls a type, and how its inline assembly does
    int32: (ir.IntType(32), "r"),
    uint32: (ir.IntType(32), "r"),
    uint64: (ir.IntType(64), "l"),
    float32: (ir.FloatType(), "f"),
}
NAMES = {types.float16: "f16", types.uint16: "bf16"}
TWO, FOUR = types.UniTuple(uint32, 2), types.UniTuple(uint32, 4)
PAIR, SUMS = types.UniTuple(float32, 2), types.UniTuple(float32, 4)


def instruction(
    text: str | Mapping[str, str],
    result: Kind | None,
    *arguments: Kind,
    typed: bool = False,
    memory: bool = False,
    together: bool = False,
) -> Callable[..., Any]:
    """Return a function of kernels that is one line of PTX.

    Parameters
    ----------
    text : str
        The line; `$0`, `$1` … are the registers of the result, then of the arguments.
    result : type or None
    arguments : types
        A tuple takes a register for each of its numbers.
    typed : bool
        Whether the function takes an array first, whose dtype replaces `TYPE`.
    memory : bool
        Whether it reads or writes memory. Then the compiler moves no access across it.
    together : bool
        Whether all threads of a warp execute it together. Then the compiler does not
        move it into a branch.
    """
    inputs = [one for kind in arguments for one in flat(kind)]
    outputs, returns = flat(result), result or types.none

    def typing(context: Any, *given: Kind) -> tuple[Any, Callable[..., Any]]:
        name = NAMES[given[0].dtype] if typed else ""
        line = (text if isinstance(text, str) else text[name]).replace("TYPE", name)
        signature = returns(*given[:typed], *arguments)
        return signature, lambda *parts: emit(line, *parts)

    def emit(line: str, context: Any, builder: Any, _: Any, values: Any) -> Any:
        kinds = [LETTERS[one] for one in [*outputs, *inputs]]
        letters = [f"={letter}" for _, letter in kinds[: len(outputs)]]
        letters += [letter for _, letter in kinds[len(outputs) :]]
        letters += ["~{memory}"] if memory else []
        llvm = [one for one, _ in kinds]
        made = made_type(llvm[: len(outputs)])
        function = ir.FunctionType(made, llvm[len(outputs) :])
        given = [
            register
            for kind, value in zip(arguments, values[typed:], strict=True)
            for register in registers(builder, kind, value)
        ]
        effects = memory or together or not outputs
        code = ir.InlineAsm(function, line, ",".join(letters), side_effect=effects)
        told = ("nounwind", "convergent") if together else ("nounwind",)
        call = builder.call(code, given, attrs=told)
        if not outputs:
            return context.get_dummy_value()
        if not isinstance(returns, types.UniTuple):
            return call
        parts = [builder.extract_value(call, at) for at in range(len(outputs))]
        return context.make_tuple(builder, returns, parts)

    # Numba looks at the parameters of what it asks, and takes no `*`.
    names = ", ".join(["like"] * typed + [f"x{at}" for at in range(len(arguments))])
    asked = f"lambda context{', ' * bool(names)}{names}: typing(context, {names})"
    return intrinsic(eval(asked, {"typing": typing}))


def flat(kind: Kind | None) -> list[Kind]:
    """Return the types of the registers that a type takes."""
    if kind is None:
        return []
    return list(kind) if isinstance(kind, types.UniTuple) else [kind]


def made_type(parts: list[ir.Type]) -> ir.Type:
    """Return the type in LLVM of what has these parts."""
    if not parts:
        return ir.VoidType()
    return parts[0] if len(parts) == 1 else ir.LiteralStructType(parts)


def registers(builder: Any, kind: Kind, value: Any) -> list[Any]:
    """Return the registers of an argument."""
    if not isinstance(kind, types.UniTuple):
        return [value]
    return [builder.extract_value(value, at) for at in range(len(kind))]


def address_in(space: int, kind: Kind) -> Callable[..., Any]:
    """Return a function of kernels: the address of an array's first byte in a space."""

    def address(context: Any, array: Kind) -> tuple[Any, Callable[..., Any]]:
        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            first = context.make_array(array)(context, builder, values[0]).data
            if space:
                pointer = ir.PointerType(first.type.pointee, space)
                first = builder.addrspacecast(first, pointer)
            return builder.ptrtoint(first, LETTERS[kind][0])

        return kind(array), emit

    return intrinsic(address)


# ---- tensor cores ----

# c + a · b: a is 16 × 16, b is 16 × 8, spread over the 32 threads of a warp.
mma = instruction(
    "mma.sync.aligned.m16n8k16.row.col.f32.TYPE.TYPE.f32"
    " {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};",
    SUMS, FOUR, TWO, SUMS, typed=True, together=True,
)  # fmt: skip
# Four matrices of 8 × 8 numbers of 16 bits, a row each at the addresses of the threads.
ldmatrix = instruction(
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];",
    FOUR, uint32, memory=True, together=True,
)  # fmt: skip
ldmatrix_trans = instruction(
    "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {$0, $1, $2, $3}, [$4];",
    FOUR, uint32, memory=True, together=True,
)  # fmt: skip

# ---- copies from global to shared memory, which do not wait ----

shared_address = address_in(3, uint32)
address = address_in(0, uint64)
# 16 bytes, of which so many are read and the others become 0.
copy = instruction(
    "cp.async.cg.shared.global [$0], [$1], 16, $2;",
    None, uint32, uint64, uint32, memory=True,
)  # fmt: skip
commit = instruction("cp.async.commit_group;", None, memory=True)
wait = instruction("cp.async.wait_group 0;", None, memory=True)
load = instruction("ld.global.u32 $0, [$1];", uint32, uint64, memory=True)
store = instruction("st.global.u32 [$0], $1;", None, uint64, uint32, memory=True)

# ---- numbers ----

exp2 = instruction("ex2.approx.ftz.f32 $0, $1;", float32, float32)
magnitude = instruction("and.b32 $0, $1, 0x7fffffff;", int32, float32)
# The bits of infinity. NaN has them as well, and no finite number does.
infinity = instruction(
    {"f16": "mov.b32 $0, 0x7c00;", "bf16": "mov.b32 $0, 0x7f80;"}, uint32, typed=True
)
# Two numbers, rounded, in one register: the first in its lower half.
pack = instruction(
    "cvt.rn.TYPEx2.f32 $0, $2, $1;", uint32, float32, float32, typed=True
)
# And back, exactly.
unpack = instruction(
    {
        "f16": "{\n.reg .b16 low, high;\nmov.b32 {low, high}, $2;\n"
        "cvt.f32.f16 $0, low;\ncvt.f32.f16 $1, high;\n}",
        "bf16": "{\n.reg .b16 low, high, zero;\nmov.b32 {low, high}, $2;\n"
        "mov.b16 zero, 0;\nmov.b32 $0, {zero, low};\nmov.b32 $1, {zero, high};\n}",
    },
    PAIR, uint32, typed=True,
)  # fmt: skip
