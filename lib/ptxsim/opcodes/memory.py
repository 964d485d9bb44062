"""Loads and stores, atomic operations, asynchronous copies.

An access names its state space; without one its address is generic, and tells the
space.
"""

from ptxsim.opcodes import opcode
from ptxsim.opcodes.integers import memory_operand
from ptxsim.registers import DTYPES
from ptxsim.syntax import SIZES, SPACES, Instruction, Operand, Vector
from ptxsim.writer import Writer

NARROW = "<.b8 .u8 .s8 .b16 .u16 .s16 .b32 .u32 .s32 .f32>"
WIDE = "<.b64 .u64 .s64 .f64>"
MOVED = (f"[.v2 .v4]{NARROW}", f"[.v2]{WIDE}")  # 16 bytes at most


def space_of(one: Instruction) -> str:
    """Return the name of a state space in the translated code."""
    found = [word for word in one.words if word in SPACES]
    return found[0].upper() if found else "GENERIC"


def parts(w: Writer, one: Instruction, operand: Operand) -> tuple[str, ...]:
    """Return the registers of an operand, as many as the opcode says."""
    found = operand.parts if isinstance(operand, Vector) else (operand,)
    count = next((int(word[1]) for word in one.words if word in ("v2", "v4")), 1)
    if len(found) != count:
        raise one.unsupported(f"it takes {count} registers")
    return tuple(map(str, found))


@opcode(2, *(f"ld.param{moved}" for moved in MOVED))
def load_parameter(w: Writer, one: Instruction) -> None:
    where, kind, size = one.operands[1], one.kind, SIZES[one.kind]
    name, at = getattr(where, "base", ""), getattr(where, "offset", 0)
    registers = parts(w, one, one.operands[0])
    declared = w.kernel.parameters.get(name)
    if declared is None:
        for offset, register in enumerate(registers):
            w.typed(register, kind)
            w.put(
                register,
                wide(w, register, kind),
                w.slot(name, at + offset * size, kind),
            )
        return
    if not 0 <= at <= declared.size - size * len(registers):
        raise one.unsupported(f"{name} has {declared.size} bytes")
    if at % (size * len(registers)):
        raise one.unsupported(f"the offset is no multiple of {size * len(registers)}")
    for offset, register in enumerate(registers):
        w.typed(register, kind)
        first = at + offset * size
        value = f"PARAMETER[{name!r}][{first}:{first + size}].view({DTYPES[kind]!r})"
        w.put(register, wide(w, register, kind), value)


def wide(w: Writer, register: str, kind: str) -> str:
    """Return the type that fills a register to which a narrower number may go."""
    own = w.kernel.type_of(register) or kind
    return kind if kind[0] == "f" else f"{kind[0]}{SIZES[own] * 8}"


@opcode(2, *(f"st.param{moved}" for moved in MOVED))
def store_parameter(w: Writer, one: Instruction) -> None:
    """Hands a number to a function, or back to its caller."""
    where, kind = one.operands[0], f"u{SIZES[one.kind] * 8}"
    name, at = getattr(where, "base", ""), getattr(where, "offset", 0)
    for offset, word in enumerate(parts(w, one, one.operands[1])):
        to = w.slot(name, at + offset * SIZES[kind], kind)
        keeps = ", where=mask" if w.masked or w.guarded else ""
        w.say(f"np.copyto({to}, {bits_of(w, one, word)}{keeps})")


@opcode(
    2,
    *(f"ld[.volatile]<.global .shared>{moved}" for moved in MOVED),
    *(f"ld.global<.ca .cg .cs .lu .cv .nc>{moved}" for moved in MOVED),
    *(f"<ld.const ld.local ld ld.volatile>{moved}" for moved in MOVED),
)
def load(w: Writer, one: Instruction) -> None:
    registers = parts(w, one, one.operands[0])
    address, offset = memory_operand(w, one.operands[1])
    outs = []
    for register in registers:
        w.typed(register, one.kind)
        own = SIZES[w.kernel.type_of(register) or one.kind]
        kind = one.kind if own == SIZES[one.kind] else f"{one.kind[0]}{own * 8}"
        outs.append(w.view(register, kind.replace("f", "u").replace("b", "u")))
    kind = one.kind.replace("f", "u")
    w.say(
        f"LOAD({w.number}, {space_of(one)}, {address}, {offset}, {DTYPES[kind]!r},"
        f" ({''.join(f'{out}, ' for out in outs)}), act)"
    )


@opcode(
    2,
    *(f"st[.volatile]<.global .shared>{moved}" for moved in MOVED),
    *(f"st.global<.wb .cg .cs .wt>{moved}" for moved in MOVED),
    *(f"<st.local st st.volatile>{moved}" for moved in MOVED),
)
def store(w: Writer, one: Instruction) -> None:
    address, offset = memory_operand(w, one.operands[0])
    kind = f"u{SIZES[one.kind] * 8}"
    given = (bits_of(w, one, word) for word in parts(w, one, one.operands[1]))
    w.say(
        f"STORE({w.number}, {space_of(one)}, {address}, {offset}, {DTYPES[kind]!r},"
        f" ({''.join(f'{value}, ' for value in given)}), act)"
    )


def bits_of(w: Writer, one: Instruction, word: str) -> str:
    """Return an operand as whole numbers with the same bits."""
    if w.is_register(word):
        w.typed(word, one.kind)
        return w.view(word, f"u{SIZES[one.kind] * 8}")
    return f"{w.value(word, one.kind)}.view('u{SIZES[one.kind]}')"


WHERE = "[.relaxed .acquire .release .acq_rel][.cta .gpu .sys]<.global .shared>"
OPERATIONS = (
    ".add<.u32 .s32 .u64 .f32 .f64>",
    "<.min .max><.u32 .s32 .u64 .s64>",
    "<.and .or .xor><.b32 .b64>",
    "<.inc .dec>.u32",
)


@opcode(2, *(f"red{WHERE}{operation}" for operation in OPERATIONS))
@opcode(
    3,
    *(f"atom{WHERE}{operation}" for operation in OPERATIONS),
    f"atom{WHERE}.exch<.b32 .b64>",
)
@opcode(4, f"atom{WHERE}.cas<.b32 .b64>")
def atomic(w: Writer, one: Instruction) -> None:
    result, operands = None, one.operands
    if one.words[0] == "atom":
        result, operands = w.typed(operands[0], one.kind), operands[1:]
    address, offset = memory_operand(w, operands[0])
    given = "".join(f"{w.value(word, one.kind)}, " for word in operands[1:])
    w.say(
        f"ATOMIC({w.number}, {space_of(one)}, {address}, {offset}, {one.words[-2]!r},"
        f" {DTYPES[one.kind]!r}, {result}, ({given}), act)"
    )


HINTS = "[.L2::64B .L2::128B .L2::256B]"


@opcode((3, 4), f"cp.async<.ca .cg><.shared .shared::cta>.global{HINTS}")
def copy(w: Writer, one: Instruction) -> None:
    to, source, size, *some = one.operands
    to, offset = memory_operand(w, to)
    source, beyond = memory_operand(w, source)
    count = w.whole_number(size)
    if count not in ((16,) if one.has("cg") else (4, 8, 16)):
        raise one.unsupported("it copies 16 bytes, or with .ca 4 or 8")
    filled = w.value(some[0], "u32") if some else None
    w.say(
        f"COPY({w.number}, {to}, {offset}, {source}, {beyond}, {count}, {filled}, act)"
    )


@opcode(0, "cp.async.commit_group")
def commit(w: Writer, one: Instruction) -> None:
    w.say("COMMIT(act)")


@opcode(1, "cp.async.wait_group")
@opcode(0, "cp.async.wait_all")
def wait(w: Writer, one: Instruction) -> None:
    left = w.whole_number(one.operands[0]) if one.operands else -1
    w.say(f"WAIT({left}, act)")


@opcode(0, "membar<.cta .gl .sys>", "fence[.sc .acq_rel]<.cta .gpu .sys>")
def fence(w: Writer, one: Instruction) -> None:
    """Does nothing: only barriers order accesses here."""


@opcode(
    1,
    "prefetch[.global .local]<.L1 .L2>",
    "prefetch.global<.L2::evict_last .L2::evict_normal>",
    "prefetchu.L1",
    "pmevent[.mask]",
    "nanosleep.u32",
)
@opcode(2, "applypriority[.global].L2::evict_normal")
def hint(w: Writer, one: Instruction) -> None:
    """Does nothing: caches, counters and time are not modelled."""
