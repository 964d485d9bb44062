"""What a warp does together, and what ends a basic block."""

from ptxsim.opcodes import opcode
from ptxsim.registers import DTYPES
from ptxsim.syntax import Instruction, Operand, Pair
from ptxsim.writer import Writer


def lanes_of(w: Writer, mask: Operand) -> str:
    """Return an expression for the mask of the lanes that take part."""
    return w.value(mask, "b32")


@opcode(5, "shfl.sync<.up .down .bfly .idx>.b32")
def shuffle(w: Writer, one: Instruction) -> None:
    result, a, b, c, mask = one.operands
    first = result.first if isinstance(result, Pair) else result
    valid = w.typed(result.second, "pred") if isinstance(result, Pair) else None
    a, b, c = (w.value(word, "b32") for word in (a, b, c))
    w.say(
        f"SHUFFLE({w.number}, {one.words[2]!r}, {w.typed(first, 'b32')}, {valid},"
        f" {a}, {b}, {c}, {lanes_of(w, mask)}, act)"
    )


@opcode(3, "vote.sync<.all .any .uni>.pred", "vote.sync.ballot.b32")
def vote(w: Writer, one: Instruction) -> None:
    result, p, mask = one.operands
    call = f"VOTE({w.number}, {one.words[2]!r}, {w.predicate(p)}, {lanes_of(w, mask)}, act)"
    w.put(result, one.kind, call)


@opcode(3, "redux.sync<.add .min .max><.u32 .s32>", "redux.sync<.and .or .xor>.b32")
def reduce(w: Writer, one: Instruction) -> None:
    result, a, mask = one.operands
    given = f"{w.value(a, one.kind)}, {lanes_of(w, mask)}"
    value = f"REDUCE({w.number}, {one.words[2]!r}, {given}, act)"
    w.put(result, one.kind, f"{value}.astype({DTYPES[one.kind]!r})")


@opcode(3, "match.any.sync<.b32 .b64>", "match.all.sync<.b32 .b64>")
def match(w: Writer, one: Instruction) -> None:
    result, a, mask = one.operands
    given = f"{w.value(a, one.kind)}, {lanes_of(w, mask)}"
    w.say(f"found = MATCH({w.number}, {one.words[1]!r}, {given}, act)")
    if isinstance(result, Pair):
        w.put(result.first, "b32", "found")
        w.put(result.second, "pred", "found != 0")
    else:
        w.put(result, "b32", "found")


@opcode(1, "activemask.b32")
def active(w: Writer, one: Instruction) -> None:
    w.put(one.operands[0], "b32", "ACTIVE(act)")


@opcode(1, "bra[.uni]")
def branch(w: Writer, one: Instruction) -> None:
    """The machine reads where it leads."""


@opcode(2, "brx.idx[.uni]")
def branch_by_index(w: Writer, one: Instruction) -> None:
    """The machine reads where it leads."""
    w.typed(one.operands[0], "u32")


@opcode(range(1000), "call[.uni]")
def call(w: Writer, one: Instruction) -> None:
    """Copies arguments; the function stands behind it."""
    for pair in one.operands:
        assert isinstance(pair, Pair)
        formal = w.kernel.slots.get(pair.first)
        kind = formal.kind if formal else w.kernel.type_of(pair.first) or ""
        if pair.second in w.kernel.slots:
            value = w.slot(pair.second, 0, kind)
        else:
            value = w.value(pair.second, kind)
        to = w.slot(pair.first, 0, kind)
        w.say(f"np.copyto({to}, {value}{', where=mask' if w.masked else ''})")


@opcode(0, "ret", "exit")
def leave(w: Writer, one: Instruction) -> None:
    """The machine takes the threads out."""


@opcode(0, "trap")
def trap(w: Writer, one: Instruction) -> None:
    """The machine raises a fault."""


@opcode(
    (1, 2),
    "bar.sync",
    "barrier.sync[.aligned]",
    "bar.cta.sync",
    "barrier.cta.sync[.aligned]",
)
def barrier(w: Writer, one: Instruction) -> None:
    """The machine holds the threads; all of the block have to come."""
    if not 0 <= w.whole_number(one.operands[0]) <= 15:
        raise one.unsupported("barriers have the numbers 0 to 15")
    if len(one.operands) > 1:
        raise one.unsupported("a barrier of some of the threads")


@opcode(
    (3, 4),
    "bar[.cta].red.popc.u32",
    "bar[.cta].red<.and .or>.pred",
    "barrier[.cta].red.popc[.aligned].u32",
    "barrier[.cta].red<.and .or>[.aligned].pred",
)
def counting_barrier(w: Writer, one: Instruction) -> None:
    """The machine writes the result, when all of the block have come."""
    result, number, *_, p = one.operands
    if len(one.operands) != 3:
        raise one.unsupported("a barrier of some of the threads")
    if not 0 <= w.whole_number(number) <= 15:
        raise one.unsupported("barriers have the numbers 0 to 15")
    w.typed(result, one.kind)
    w.predicate(p)


@opcode(1, "bar.warp.sync")
def warp_barrier(w: Writer, one: Instruction) -> None:
    """The machine lets the lanes of the mask meet."""
    lanes_of(w, one.operands[0])
