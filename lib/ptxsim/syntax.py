"""A kernel as the machine reads it: basic blocks of instructions.

A basic block ends at a label, a branch, a barrier or an exit: threads that begin it
together end it together. An instruction for some lanes of a warp is a block of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ptxsim.faults import Frame, Malformed, Unsupported, place

# The types of PTX, and their bytes.
SIZES = {
    **dict.fromkeys(["pred", "b8", "u8", "s8"], 1),
    **dict.fromkeys(["b16", "u16", "s16", "f16", "bf16"], 2),
    **dict.fromkeys(["b32", "u32", "s32", "f32", "f16x2", "bf16x2"], 4),
    **dict.fromkeys(["b64", "u64", "s64", "f64"], 8),
}
ENDS = ("bra", "brx", "ret", "exit", "trap", "bar", "barrier")
COLLECTIVE = ("shfl", "vote", "redux", "match")  # of lanes in a mask
WHOLE_WARP = ("mma", "ldmatrix")  # of all 32 lanes
# Loads and stores that do not race with other strong ones; volatile ones are relaxed.
STRONG = ("volatile", "relaxed", "acquire", "release")
ALL_LANES = ("-1", "0xffffffff", "4294967295")
SPACES = ("shared", "local", "global", "const")
# The words of an access to memory in the order of the manual: how, in which scope, where.
# ptxas takes them in others, too.
ACCESSES = ("ld", "st", "atom", "red")
HOW = ("weak", "volatile", "relaxed", "acquire", "release", "acq_rel")
ORDER = (HOW, ("cta", "cluster", "gpu", "sys"), SPACES)


@dataclass(frozen=True)
class Memory:
    """An operand in brackets: a register or the name of a variable, and an offset."""

    base: str
    offset: int = 0


@dataclass(frozen=True)
class Vector:
    """An operand in braces."""

    parts: tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """Two results, as in ``%p1|%p2``."""

    first: str
    second: str


Operand = str | Memory | Vector | Pair


@dataclass(frozen=True)
class Instruction:
    """One instruction.

    Attributes
    ----------
    opcode : str
        With all its modifiers: ``ld.shared.v4.f32``.
    operands : tuple
        Names of registers and variables, and numbers, as they stand in the text.
    guard : str or None
        The predicate without which a thread skips it.
    negated : bool
        Whether it is skipped with the predicate instead.
    line : int
    text : str
    frames : tuple of (str, int)
        Files and lines of the source, where the PTX has line information: the line that
        the compiler made it of, and if that was inlined, the lines of the calls.
    """

    opcode: str
    operands: tuple[Operand, ...]
    guard: str | None
    negated: bool
    line: int
    text: str
    frames: tuple[Frame, ...] = ()

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The opcode and its modifiers, one by one."""
        return tuple(self.opcode.split("."))

    @property
    def kind(self) -> str:
        """The type it works on: the last word."""
        return self.opcode.rpartition(".")[2]

    def has(self, word: str) -> bool:
        """Return whether a modifier is among its words."""
        return word in self.words

    @property
    def is_end(self) -> bool:
        """Whether a basic block ends with it. A call does if some threads skip it."""
        word = self.words[0]
        return word in ENDS or (word == "call" and self.guard is not None)

    @property
    def is_collective(self) -> bool:
        """Whether lanes of a warp do it together: those that its mask names, or all."""
        return self.opcode.startswith(COLLECTIVE + WHOLE_WARP)

    @cached_property
    def is_strong(self) -> bool:
        """Whether it may access memory at the same time as others of its kind."""
        return self.words[0] in ("atom", "red") or any(map(self.has, STRONG))

    @property
    def is_for_some(self) -> bool:
        """Whether a mask, its last operand, may leave lanes of the warp out."""
        if not self.opcode.startswith(COLLECTIVE) or not self.operands:
            return False
        return str(self.operands[-1]).lower().rstrip("u") not in ALL_LANES

    @property
    def source(self) -> Frame | None:
        """The innermost line in the file of the kernel."""
        return innermost(self.frames)

    @property
    def inlined(self) -> Frame | None:
        """The line of another file that was inlined into `source`."""
        first = self.frames[0] if self.frames else None
        return first if first != self.source else None

    @property
    def place(self) -> str:
        """Its line, and that of the source, in words."""
        return place(self.line, self.source, self.inlined)

    def unsupported(self, why: str = "") -> Unsupported:
        """Return an error that names it."""
        return Unsupported(self.line, self.text, why, self.source)

    def malformed(self, why: str) -> Malformed:
        """Return an error for what is no PTX."""
        return Malformed(self.line, self.text, why)


def innermost(frames: tuple[Frame, ...]) -> Frame | None:
    """Return the innermost line in the file of the kernel: the reader's own.

    What is inlined may be of a library, as ``tl.sum`` is.
    """
    own = frames[-1][0] if frames else ""
    return next((frame for frame in frames if frame[0] == own), None)


def needs_warp(one: Instruction) -> bool:
    """Return whether all of a warp has to execute an instruction, or some by a mask."""
    if one.opcode == "bar.warp.sync" or one.words[0] == "barrier":
        return one.has("aligned")
    return one.is_collective or one.words[0] == "bar"


def counts_threads(one: Instruction) -> bool:
    """Return whether an instruction is a barrier for a number of threads."""
    if one.words[0] not in ("bar", "barrier") or one.has("warp"):
        return False
    return one.has("arrive") or len(one.operands) == (4 if one.has("red") else 2)


@dataclass
class Block:
    """A basic block.

    Attributes
    ----------
    label : str
        Empty if nothing jumps to it.
    instructions : list of Instruction
    targets : tuple of int
        The numbers of the blocks to which its last instruction may jump. The ``ret`` of
        a function jumps behind the call, and so do threads that skip a call.
    """

    label: str
    instructions: list[Instruction] = field(default_factory=list)
    targets: tuple[int, ...] = ()

    @property
    def end(self) -> Instruction | None:
        """The instruction that decides where threads go on, if there is one."""
        last = self.instructions[-1] if self.instructions else None
        return last if last and last.is_end else None


@dataclass(frozen=True)
class Variable:
    """What is declared in a state space.

    Attributes
    ----------
    space, name : str
    align, size : int
        In bytes; `size` is −1 if the launch decides it.
    content : bytes or None
        What it holds before the launch.
    addresses : tuple of (int, str, int)
        Where the content holds addresses: the first byte, the variable to which the
        address leads, and what is added to it.
    """

    space: str
    name: str
    align: int
    size: int
    content: bytes | None = None
    addresses: tuple[tuple[int, str, int], ...] = ()


@dataclass(frozen=True)
class Parameter:
    """What a kernel takes, or what a function takes or returns.

    Attributes
    ----------
    name : str
    kind : str
        Its type, or that of an array's elements.
    size, align : int
        In bytes.
    is_array : bool
        Whether it is an array: a struct that is passed by value.
    target : int
        The alignment of what it points to, as ``.ptr`` says; 1 unless it does.
    space : str
        "param", or "reg" if a function takes or returns it in a register.
    """

    name: str
    kind: str
    size: int
    align: int
    is_array: bool = False
    target: int = 1
    space: str = "param"


@dataclass
class Kernel:
    """A kernel as the machine reads it.

    Attributes
    ----------
    name : str
    parameters : dict of str to Parameter
        By name.
    threads : tuple of int
        Of a block, as ``.reqntid`` or ``.maxntid`` says; empty if neither does.
    required : bool
        Whether it has to be so many: ``.reqntid``.
    registers : dict of str to str
        Type by name, or by the part of a name before its number and a ``<``.
    numbered : dict of str to int
        By such a part: how many there are.
    slots : dict of str to Parameter
        What calls pass in ``.param`` variables, which each thread has for itself.
    variables : list of Variable
    functions : list of str
        Those that it calls, or that they call.
    blocks : list of Block
        In the order of the text.
    """

    name: str = ""
    parameters: dict[str, Parameter] = field(default_factory=dict)
    threads: tuple[int, ...] = ()
    required: bool = False
    registers: dict[str, str] = field(default_factory=dict)
    numbered: dict[str, int] = field(default_factory=dict)
    slots: dict[str, Parameter] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)

    def type_of(self, register: str) -> str | None:
        """Return the declared type of a register; None if there is none."""
        if found := self.registers.get(register):
            return found
        stem = register.rstrip("0123456789")
        number, count = register.removeprefix(stem), self.numbered.get(f"{stem}<", 0)
        if not number or str(int(number)) != number or int(number) >= count:
            return None
        return self.registers[f"{stem}<"]

    def instructions(self) -> Iterator[Instruction]:
        """Yield all instructions in the order of the text."""
        for block in self.blocks:
            yield from block.instructions


def ordered(opcode: str) -> str:
    """Return the opcode of an access with its words in the order of the manual.

    ``.shared::cta`` is the same as ``.shared``.
    """
    name, *words = opcode.split(".")
    if name not in ACCESSES:
        return opcode
    words = [word.removesuffix("::cta") for word in words]
    first = [word for kind in ORDER for word in words if word in kind]
    return ".".join([name, *first, *(word for word in words if word not in first)])
