"""What a warp does together, and what ends a basic block."""

from typing import TYPE_CHECKING

from ptxsim.opcodes import opcode
from ptxsim.registers import DTYPES
from ptxsim.syntax import Instruction, Operand, Pair

if TYPE_CHECKING:
    from ptxsim.translate import Writer

ALL = {"-1", "0xffffffff", "4294967295"}


def need_all(w: "Writer", one: Instruction, mask: Operand) -> None:
    """Refuse a mask that leaves lanes of the warp out."""
    if isinstance(mask, str) and w.is_register(mask):
        w.say(f"ALL_LANES({w.number}, {w.view(mask, 'b32')}, act)")
    elif str(mask).lower().rstrip("u") not in ALL:
        raise one.unsupported("only masks of the whole warp")


@opcode("shfl.sync<.up .down .bfly .idx>.b32")
def shuffle(w: "Writer", one: Instruction) -> None:
    result, a, b, c, mask = one.operands
    need_all(w, one, mask)
    first = result.first if isinstance(result, Pair) else result
    valid = w.view(result.second, "pred") if isinstance(result, Pair) else None
    a, b, c = (w.value(word, "b32") for word in (a, b, c))
    w.say(
        f"SHUFFLE({w.number}, {one.words[2]!r}, {w.view(first, 'b32')}, {valid},"
        f" {a}, {b}, {c}, act)"
    )


@opcode("vote.sync<.all .any .uni>.pred", "vote.sync.ballot.b32")
def vote(w: "Writer", one: Instruction) -> None:
    result, p, mask = one.operands
    need_all(w, one, mask)
    w.put(result, one.kind, f"VOTE({one.words[2]!r}, {w.predicate(p)}, act)")


@opcode("redux.sync<.add .min .max><.u32 .s32>", "redux.sync<.and .or .xor>.b32")
def reduce(w: "Writer", one: Instruction) -> None:
    result, a, mask = one.operands
    need_all(w, one, mask)
    value = f"REDUCE({one.words[2]!r}, {w.value(a, one.kind)}, act)"
    w.put(result, one.kind, f"{value}.astype({DTYPES[one.kind]!r})")


@opcode("bra[.uni]")
def branch(w: "Writer", one: Instruction) -> None:
    """The machine reads where it leads."""


@opcode("ret", "exit")
def leave(w: "Writer", one: Instruction) -> None:
    """The machine takes the threads out."""


@opcode("trap")
def trap(w: "Writer", one: Instruction) -> None:
    """The machine raises a fault."""


@opcode(
    "bar.sync", "barrier.sync[.aligned]", "bar.cta.sync", "barrier.cta.sync[.aligned]"
)
def barrier(w: "Writer", one: Instruction) -> None:
    """The machine holds the threads; all of the block have to come."""
    if not 0 <= w.whole_number(one.operands[0]) <= 15:
        raise one.unsupported("barriers have the numbers 0 to 15")
    if len(one.operands) > 1:
        raise one.unsupported("a barrier of some of the threads")


@opcode("bar.warp.sync")
def warp_barrier(w: "Writer", one: Instruction) -> None:
    mask = one.operands[0]
    if str(mask).lower().rstrip("u") not in ALL:
        raise one.unsupported("only masks of the whole warp")
