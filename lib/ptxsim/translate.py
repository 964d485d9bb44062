"""Basic blocks of PTX as Python functions over NumPy arrays, an element a thread.

Each block becomes two functions. One computes for every lane; that is right if all the
threads that still run are in the block. The other keeps, of the registers that other
blocks can see, what belongs to threads that are elsewhere. A register that a single
block defines and uses needs no such care.
"""

from dataclasses import replace
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from ptxsim.faults import Malformed, Unsupported
from ptxsim.opcodes import (
    COUNTS,
    OPCODES,
    control,
    conversions,
    floats,
    halves,
    integers,
    memory,
    tensor,
    unordered,
)
from ptxsim.parser import parse
from ptxsim.syntax import Instruction, Kernel
from ptxsim.writer import Writer

# They fill OPCODES.
TRANSLATORS = (control, conversions, floats, halves, integers, memory, tensor)


ACCESSES = ("ld", "st", "atom", "red", "cp")
HINTS = {f"L2::{word}" for word in ("cache_hint", "64B", "128B", "256B")}
HINTS |= {
    f"{cache}::{word}"
    for cache in ("L1", "L2")
    for word in ("evict_normal", "evict_unchanged", "evict_first", "evict_last")
}
HINTS.add("L1::no_allocate")


class Program(NamedTuple):
    """A kernel, translated."""

    kernel: Kernel
    code: CodeType  # defines two functions for each basic block
    source: str  # the same as text
    # Array name in the code: its register, type, and first byte in there.
    views: dict[str, tuple[str, str, int]]
    constants: dict[str, Any]
    instructions: tuple[Instruction, ...]  # the code calls them by their number


@lru_cache(maxsize=64)
def translated(text: str, name: str | None, stepping: bool, exact: bool) -> Program:
    """Return the program of a kernel of a text; `name` chooses it among several.

    With `stepping` it calls STEP after each instruction. With `exact`, ``.ftz`` looks
    at every number that goes in or comes out.
    """
    kernel = parse(text, name)
    writer = Writer(kernel, exact)
    source = write(writer, stepping)
    code = compile(source, "<ptx>", "exec")
    views, constants = writer.views, writer.constants
    return Program(kernel, code, source, views, constants, tuple(kernel.instructions()))


def write(writer: Writer, stepping: bool) -> str:
    """Return the text of all functions."""
    first = 0
    for b, block in enumerate(writer.kernel.blocks):
        for writer.masked in (False, True):
            name = f"block_{b}_{'part' if writer.masked else 'full'}"
            writer.lines.append(f"def {name}(act, mask):")
            for writer.number, writer.one in enumerate(block.instructions, first):
                translate(writer, writer.one, stepping)
            writer.lines.append(" return")
        first += len(block.instructions)
    return "\n".join(writer.lines)


def problems(kernel: Kernel) -> list[Unsupported | Malformed]:
    """Return why instructions of a kernel cannot be translated."""
    writer = Writer(kernel, exact=False)
    found: list[Unsupported | Malformed] = []
    for writer.number, writer.one in enumerate(kernel.instructions()):
        try:
            translate(writer, writer.one, False)
        except (Unsupported, Malformed) as problem:
            found.append(problem)
    return found


def plain(writer: Writer, one: Instruction) -> Instruction:
    """Return an access without what it tells the caches, which are not modelled."""
    if one.words[0] not in ACCESSES or not HINTS & {*one.words}:
        return one
    words = [word for word in one.words if word not in HINTS]
    operands = one.operands
    if one.has("L2::cache_hint"):
        writer.value(operands[-1], "b64")
        operands = operands[:-1]
    return replace(one, opcode=".".join(words), operands=operands)


def translate(writer: Writer, one: Instruction, stepping: bool) -> None:
    """Write an instruction; a guard hides the threads for which it is false."""
    one = plain(writer, one)
    emitter = OPCODES.get(unordered(one.opcode))
    if emitter is None:
        raise one.unsupported()
    check(writer, one)
    writer.guarded = one.guard is not None and not one.is_end
    if writer.guarded:
        test = writer.predicate(f"{'!' * one.negated}{one.guard}")
        writer.say("every, all_act = mask, act")
        writer.say(f"mask = mask & {test}; act = np.flatnonzero(mask)")
    try:
        emitter(writer, one)
    except (Unsupported, Malformed):
        raise
    except (ValueError, IndexError, KeyError, TypeError, AttributeError) as problem:
        raise one.unsupported(f"{problem}") from problem
    if writer.guarded:
        writer.say("mask, act = every, all_act")
    if stepping:
        writer.say(f"STEP({writer.number}, act)")


def check(writer: Writer, one: Instruction) -> None:
    """Raise an error if the number of operands is wrong, or the guard no predicate."""
    if (count := len(one.operands)) not in COUNTS[unordered(one.opcode)]:
        takes = " or ".join(map(str, COUNTS[unordered(one.opcode)]))
        raise one.unsupported(f"it takes {takes} operands, and has {count}")
    guard = one.guard
    if guard and writer.typed(guard, "pred") and guard not in writer.written:
        raise one.unsupported(f"nothing writes {guard}")
