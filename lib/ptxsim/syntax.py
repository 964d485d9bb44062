"""The text of PTX as basic blocks of instructions.

A basic block ends at a label, a branch, a barrier or an exit: threads that begin it
together end it together. An instruction for some lanes of a warp is a block of its own.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ptxsim.faults import Unsupported
from ptxsim.registers import whole

# The types of PTX, and their bytes.
SIZES = {
    **dict.fromkeys(["pred", "b8", "u8", "s8"], 1),
    **dict.fromkeys(["b16", "u16", "s16", "f16", "bf16"], 2),
    **dict.fromkeys(["b32", "u32", "s32", "f32", "f16x2", "bf16x2"], 4),
    **dict.fromkeys(["b64", "u64", "s64", "f64"], 8),
}
TOKEN = re.compile(
    r'"[^"]*"'
    r"|0[fF][\da-fA-F]{8}|0[dD][\da-fA-F]{16}"  # the bits of a float
    r"|0[xX][\da-fA-F]+U?|0[bB][01]+U?"
    r"|\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+U?"
    r"|[.%$A-Za-z_](?:[\w$%.]|::)*"
    r"|[^\s\w]"
)
DECLARED = re.compile(
    r"(?:\.align (\w+) )?\.(\w+) ([\w$%.]+)( \[ (?:(\w+) )?\])?(?: = (.*))?"
)
PARAMETER = re.compile(
    r"\.param (?:\.align (\w+) )?\.(\w+) "
    r"(?:\.ptr (?:\.(?:const|global|local|shared) )?(?:\.align (\w+) )?)?"
    r"([\w$%.]+)(?: \[ (\w+) \])?"
)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
ENDS = ("bra", "brx", "ret", "exit", "trap", "bar", "barrier")
COLLECTIVE = ("shfl", "vote", "redux", "match", "bar.warp")  # of lanes in a mask
WHOLE_WARP = ("mma", "ldmatrix")  # of all 32 lanes
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
    source : (str, int) or None
        File and line of Python, where the PTX has line information.
    """

    opcode: str
    operands: tuple[Operand, ...]
    guard: str | None
    negated: bool
    line: int
    text: str
    source: tuple[str, int] | None

    @property
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
    def is_collective(self) -> bool:
        """Whether lanes of a warp do it together: those that its mask names, or all."""
        return self.opcode.startswith(COLLECTIVE + WHOLE_WARP)

    @property
    def is_for_some(self) -> bool:
        """Whether a mask, its last operand, may leave lanes of the warp out."""
        if not self.opcode.startswith(COLLECTIVE) or not self.operands:
            return False
        return str(self.operands[-1]).lower().rstrip("u") not in ALL_LANES

    def unsupported(self, why: str = "") -> Unsupported:
        """Return an error that names it."""
        return Unsupported(self.line, self.text, why)


@dataclass
class Block:
    """A basic block.

    Attributes
    ----------
    label : str
        Empty if nothing jumps to it.
    instructions : list of Instruction
    target : int
        The number of the block to which its last instruction jumps; −1 if none.
    """

    label: str
    instructions: list[Instruction] = field(default_factory=list)
    target: int = -1

    @property
    def end(self) -> Instruction | None:
        """The instruction that decides where threads go on, if there is one."""
        last = self.instructions[-1] if self.instructions else None
        return last if last and last.words[0] in ENDS else None


@dataclass(frozen=True)
class Variable:
    """What is declared in a state space; `size` is −1 if the launch decides it."""

    space: str
    name: str
    align: int
    size: int
    content: bytes | None = None


@dataclass(frozen=True)
class Parameter:
    """What a kernel takes.

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
    """

    name: str
    kind: str
    size: int
    align: int
    is_array: bool = False
    target: int = 1


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
    variables : list of Variable
    blocks : list of Block
        In the order of the text.
    """

    name: str = ""
    parameters: dict[str, Parameter] = field(default_factory=dict)
    threads: tuple[int, ...] = ()
    required: bool = False
    registers: dict[str, str] = field(default_factory=dict)
    numbered: dict[str, int] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
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


def parse(text: str, name: str | None = None) -> Kernel:
    """Return the kernel of a PTX module; `name` chooses it among several."""
    if not isinstance(text, str):
        raise TypeError(f"text: expected PTX as a str, got {type(text).__name__}")
    parser = _Parser(text)
    parser.module()
    found = {kernel.name: kernel for kernel in parser.kernels}
    if name is None and len(found) == 1:
        name = next(iter(found))
    if name not in found:
        raise ValueError(f"name: expected one of {list(found)}, got {name!r}")
    found[name].variables = parser.variables + found[name].variables
    return found[name]


class _Parser:
    """Reads a module token by token."""

    def __init__(self, text: str) -> None:
        blank = COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        self.text = blank
        matches = list(TOKEN.finditer(blank))
        self.tokens = [found[0] for found in matches]
        self.spans = [found.span() for found in matches]
        self.lines = _line_numbers(blank, [start for start, _ in self.spans])
        self.at = 0
        self.kernels: list[Kernel] = []
        self.variables: list[Variable] = []
        self.files = dict(re.findall(r'\.file\s+(\d+)\s+"([^"]*)"', blank))
        self.source: tuple[str, int] | None = None

    # ---- tokens ----

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        if self.at >= len(self.tokens):
            raise Unsupported(
                self.lines[-1] if self.lines else 0, "the text ends early"
            )
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, token: str) -> None:
        start = self.at
        if self.next() != token:
            raise self.unsupported(start, f"expected {token}")

    def until(self, *stops: str) -> list[str]:
        """Return the tokens before the next of `stops`, and step over that one."""
        found = []
        while (token := self.next()) not in stops:
            found.append(token)
        return found

    def said(self, start: int) -> str:
        """Return the text from a token to where the parser is."""
        last = max(start, min(self.at, len(self.spans)) - 1)
        return " ".join(self.text[self.spans[start][0] : self.spans[last][1]].split())

    def unsupported(self, start: int, why: str = "") -> Unsupported:
        return Unsupported(self.lines[start], self.said(start), why)

    # ---- a module ----

    def module(self) -> None:
        while self.peek():
            start, word = self.at, self.next()
            if word in (".version", ".target", ".address_size", ".file"):
                self.rest_of_line()
            elif word in (".visible", ".weak", ".extern", ".common"):
                continue
            elif word == ".entry":
                self.kernels.append(self.entry())
            elif word in (".section", ".func"):  # a call of it is not supported
                self.until("{", ";")
                if self.tokens[self.at - 1] == "{":
                    self.skip_braces()
            elif word[1:] in SPACES:
                self.variables.append(self.variable(start, word[1:]))
            else:
                raise self.unsupported(start)
        if not self.kernels:
            raise ValueError("text: expected PTX with an .entry, got none")

    def rest_of_line(self) -> list[str]:
        line, start = self.lines[self.at - 1], self.at
        while self.at < len(self.tokens) and self.lines[self.at] == line:
            self.at += 1
        return self.tokens[start : self.at]

    def skip_braces(self) -> None:
        depth = 1
        while depth:
            depth += {"{": 1, "}": -1}.get(self.next(), 0)

    def variable(self, start: int, space: str) -> Variable:
        """Read the declaration of a variable, after the name of its space."""
        found = DECLARED.fullmatch(" ".join(self.until(";")))
        if not found or found[2] not in SIZES:
            raise self.unsupported(start)
        align, kind, name, many, count, initial = found.groups()
        each = SIZES[kind]
        size = self.whole(start, count or "1") * each if count or not many else -1
        aligned = self.alignment(start, align, each)
        if size == 0 or (size < 0 and space != "shared"):  # only a launch adds memory
            raise self.unsupported(start, "it has no size")
        content = self.content(start, initial, each, size) if initial else None
        if space in ("global", "const") and not initial:
            content = bytes(size)  # zeros, unless the text says otherwise
        return Variable(space, name, aligned, size, content)

    def alignment(self, start: int, word: str | None, otherwise: int) -> int:
        """Return the number after ``.align``."""
        aligned = self.whole(start, word) if word else otherwise
        if aligned < 1 or aligned & (aligned - 1):
            raise self.unsupported(start, "the alignment is no power of two")
        return aligned

    def whole(self, start: int, word: str) -> int:
        """Return a whole number that stands in a statement."""
        try:
            return whole(word)
        except ValueError as problem:
            raise self.unsupported(start, f"{word} is no whole number") from problem

    def content(self, start: int, initial: str, each: int, size: int) -> bytes:
        """Return the bytes that a variable begins with."""
        numbers = []
        for word in self.signed([x for x in initial.split() if x not in "{},"]):
            digits = word[2:] if word[1:2] in ("f", "F", "d", "D") else ""
            value = int(digits, 16) if digits else self.whole(start, word)
            numbers.append(value % 256**each)
        found = b"".join(number.to_bytes(each, "little") for number in numbers)
        if len(found) > size:
            raise self.unsupported(start, f"it has room for {size} bytes")
        return found.ljust(size, b"\0")

    # ---- a kernel ----

    def entry(self) -> Kernel:
        kernel = Kernel(self.next())
        self.kernel = kernel
        if self.peek() == "(":
            self.next()
            self.parameters()
        while (word := self.next()) != "{":
            if word in (".maxntid", ".reqntid"):
                kernel.required = word == ".reqntid"
                while self.peek() == "," or self.peek().isdigit():
                    number = self.next()
                    kernel.threads += () if number == "," else (int(number),)
            elif word not in (".minnctapersm", ".maxnreg") and not re.match(
                r"\d+$|,$", word
            ):
                raise self.unsupported(self.at - 1)
        self.scopes: list[dict[str, str]] = [{}]
        self.flat: list[Instruction] = []
        self.labels: dict[str, int] = {}
        while self.scopes:
            self.statement()
        kernel.blocks = _basic_blocks(self.flat, self.labels)
        return kernel

    def parameters(self) -> None:
        """Read ``.param .u64 name`` until the closing parenthesis."""
        while self.peek() != ")":
            start = self.at
            words = []
            while self.peek() not in (",", ")"):
                words.append(self.next())
            found = PARAMETER.fullmatch(" ".join(words))
            if not found or found[2] not in SIZES:
                raise self.unsupported(start)
            align, kind, target, name, count = found.groups()
            size = SIZES[kind] * (self.whole(start, count) if count else 1)
            self.kernel.parameters[name] = Parameter(
                name,
                kind,
                size,
                self.alignment(start, align, SIZES[kind]),
                count is not None,
                self.alignment(start, target, 1),
            )
            if self.peek() == ",":
                self.next()
        self.next()

    def statement(self) -> None:
        """Read a statement, or the brace that opens or closes a scope."""
        start, word = self.at, self.next()
        if word == "{":
            self.scopes.append({})
        elif word == "}":
            self.scopes.pop()
        elif self.peek() == ":" and not word.startswith((".", "@")):
            self.next()
            if word in self.labels:
                raise self.unsupported(start, "the label stands twice")
            self.labels[word] = len(self.flat)
        elif word == ".reg":
            self.declare_registers(start)
        elif word == ".loc":
            self.locate()
        elif word == ".pragma":
            self.until(";")
        elif word[1:] in SPACES and word[0] == ".":
            self.kernel.variables.append(self.variable(start, word[1:]))
        elif word[0] == "." and word != ".":
            raise self.unsupported(start)
        elif word != ";":
            self.instruction(start, word)

    def declare_registers(self, start: int) -> None:
        kind = self.next().removeprefix(".")
        if kind not in SIZES:
            raise self.unsupported(start)
        for declared in "".join(self.until(";")).split(","):
            found = re.fullmatch(r"([\w$%.]+)(?:<(\d+)>)?", declared)
            if not found:
                raise self.unsupported(start)
            name, many = found.groups()
            own = f"{name}<" if many else name
            if len(self.scopes) > 1:  # several scopes may declare the same name
                if many:
                    raise self.unsupported(start, "numbered registers in a scope")
                own = f"{name}.{self.lines[start]}.{self.spans[start][0]}"
                self.scopes[-1][name] = own
            if own in self.kernel.registers:
                raise self.unsupported(start, f"{name} is declared twice")
            self.kernel.registers[own] = kind
            self.kernel.numbered |= {own: int(many)} if many else {}

    def locate(self) -> None:
        """Read ``.loc file line column``; line 0 is the compiler's own code."""
        words = self.rest_of_line()
        file, line = self.files.get(words[0], ""), int(words[1])
        self.source = (file, line) if line else None

    def instruction(self, start: int, word: str) -> None:
        guard, negated = None, False
        if word == "@":
            negated = self.peek() == "!"
            if negated:
                self.next()
            guard, word = self.named(self.next()), self.next()
        if not re.match(r"[a-z]", word):
            raise self.unsupported(start)
        operands = self.operands(start)
        said = self.said(start).rstrip("; ")
        line = self.lines[start]
        opcode = _ordered(word)
        one = Instruction(opcode, operands, guard, negated, line, said, self.source)
        self.flat.append(one)

    def named(self, word: str) -> str:
        """Return a register's own name; scopes may have several of one name."""
        for scope in reversed(self.scopes):
            if word in scope:
                return scope[word]
        return word

    def operands(self, start: int) -> tuple[Operand, ...]:
        """Read operands, with commas between them, up to the semicolon."""
        found: list[Operand] = []
        stop = ","
        if self.peek() == ";":
            stop = self.next()
        while stop == ",":
            one = self.operand(start, self.next())
            if self.peek() == "|" and isinstance(one, str):
                self.next()
                one = Pair(one, self.named(self.next()))
            found.append(one)
            stop = self.next()
        if stop != ";":
            raise self.unsupported(start, "expected a comma or a semicolon")
        return tuple(found)

    def operand(self, start: int, word: str) -> Operand:
        if word == "{":
            parts = self.signed(self.until("}"))
            names, commas = parts[::2], parts[1::2]
            if len(names) == len(commas) or "," in names or set(commas) - {","}:
                raise self.unsupported(start, "expected commas between parts")
            return Vector(tuple(self.named(x) for x in names))
        if word == "[":
            return self.memory(start, self.until("]"))
        if word in "-!":
            return word + self.named(self.next())
        if not re.match(r"[\w%$]", word):
            raise self.unsupported(start)
        return self.named(word)

    def signed(self, words: list[str]) -> list[str]:
        """Join a minus to the number after it."""
        return re.sub(r"- (?=\d)", "-", " ".join(words)).split()

    def memory(self, start: int, words: list[str]) -> Memory:
        base, *rest = self.signed([x for x in words if x != "+"])
        if len(rest) > 1:
            raise self.unsupported(start)
        return Memory(self.named(base), self.whole(start, rest[0]) if rest else 0)


def _line_numbers(text: str, places: list[int]) -> list[int]:
    """Return the lines on which places of a text are, which come in order."""
    found, line, last = [], 1, 0
    for place in places:
        line += text.count("\n", last, place)
        last = place
        found.append(line)
    return found


def _ordered(opcode: str) -> str:
    """Return the opcode of an access with its words in the order of the manual.

    ``.shared::cta`` is the same as ``.shared``.
    """
    name, *words = opcode.split(".")
    if name not in ACCESSES:
        return opcode
    words = [word.removesuffix("::cta") for word in words]
    first = [word for kind in ORDER for word in words if word in kind]
    return ".".join([name, *first, *(word for word in words if word not in first)])


def _basic_blocks(flat: list[Instruction], labels: dict[str, int]) -> list[Block]:
    """Return basic blocks in the order of the text."""
    starts = {0, *labels.values()}
    starts |= {i + 1 for i, one in enumerate(flat) if one.words[0] in ENDS}
    some = {i for i, one in enumerate(flat) if one.is_for_some}
    starts |= some | {i + 1 for i in some}
    order = sorted(start for start in starts if start < len(flat))
    number = {start: i for i, start in enumerate(order)}
    label = {start: name for name, start in labels.items()}
    blocks = []
    for start, stop in zip(order, [*order[1:], len(flat)]):
        block = Block(label.get(start, ""), flat[start:stop])
        end = block.end
        if end and end.words[0] == "bra":
            target = end.operands[0] if end.operands else None
            if not isinstance(target, str) or labels.get(target, -1) not in number:
                raise end.unsupported("no such label")
            block.target = number[labels[target]]
        blocks.append(block)
    if flat and (flat[-1].guard or flat[-1].words[0] not in ("ret", "exit", "bra")):
        flat_end = flat[-1]
        raise flat_end.unsupported("threads run past the end")
    return blocks
