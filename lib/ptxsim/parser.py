"""Reads a kernel of a PTX module, with the functions that it calls in their places.

A call becomes the body of the function, right behind the call: threads that call it
together meet again where the body ends. Each call has registers, labels and local
memory of its own; their names begin with that of the function and a number.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ptxsim.faults import Frame, Unsupported
from ptxsim.module import LIMITS, Function, Module
from ptxsim.registers import SPECIAL
from ptxsim.syntax import (
    SIZES,
    SPACES,
    Block,
    Instruction,
    Kernel,
    Memory,
    Operand,
    Pair,
    Parameter,
    Variable,
    Vector,
    innermost,
    needs_warp,
    ordered,
)
from ptxsim.tokens import separated, signed

CALL = re.compile(
    r"(?:\( (?:([^()]*) )?\) , )?([\w$%.]+)(?: , \( (?:([^()]*) )?\))?(?: , ([\w$%.]+))?"
)
ADDRESS = re.compile(r"([\w$%.]+)(?: \+ (-?\w+))?")
MOST_INSTRUCTIONS = 100_000  # with those of all calls
MOST_CALLS = 100  # of a function in a function in a function …


def parse(text: str, name: str | None = None) -> Kernel:
    """Return the kernel of a PTX module; `name` chooses it among several."""
    module = _module(text)
    if name is None and len(module.entries) == 1:
        name = next(iter(module.entries))
    if name not in module.entries:
        raise ValueError(f"name: expected one of {list(module.entries)}, got {name!r}")
    return module.entry(name)


def parse_all(text: str) -> Iterator[tuple[Kernel, list[Unsupported]]]:
    """Yield each kernel of a PTX module without its unknown statements, and these."""
    module = _module(text)
    for name in module.entries:
        module.unknown = unknown = []
        try:
            module.entry(name)
        except Unsupported as problem:  # outside of the body
            unknown.append(problem)
        yield module.kernel, unknown


def _module(text: str) -> "_Parser":
    if not isinstance(text, str):
        raise TypeError(f"text: expected PTX as a str, got {type(text).__name__}")
    module = _Parser(text)
    if not module.entries:
        raise ValueError("text: expected PTX with an .entry, got none")
    return module


@dataclass
class Scope:
    """What is declared between two braces.

    Attributes
    ----------
    prefix : str
        What the machine's names of registers and variables begin with.
    names : dict of str to str
        The machine's name of each; of numbered registers, the parts before the numbers
        and a ``<``.
    labels : dict of str to int
        The instruction before which each stands.
    lists : dict of str to tuple of str
        The labels of each ``.branchtargets``.
    results : set of str
        What a function returns in ``.param`` variables that are registers of its caller.
    """

    prefix: str
    names: dict[str, str] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
    results: set[str] = field(default_factory=set)


@dataclass
class Jump:
    """A branch whose labels may still come: the scopes that may hold them."""

    index: int
    label: str
    scopes: list[Scope]


class _Parser(Module):
    """Reads the bodies of a kernel and of its functions.

    Attributes
    ----------
    unknown : list of Unsupported or None
        The statements that it has left out because they are unknown; an unknown statement
        raises an error if there is no list.
    """

    unknown: list[Unsupported] | None = None
    frames: tuple[Frame, ...] = ()  # of the instructions that come

    # ---- a kernel ----

    def entry(self, name: str) -> Kernel:
        self.at, self.frames = self.entries[name] + 1, ()
        self.kernel = kernel = Kernel(name)
        start = self.at
        if self.skip("("):
            kernel.parameters = self.parameters()
            if any(one.space == "reg" for one in kernel.parameters.values()):
                raise self.malformed(start, "a kernel takes no registers")
        while (word := self.next()) != "{":
            self._limit(word)
        self.flat: list[Instruction] = []
        self.starts: dict[int, str] = {}  # where a label stands, or a call ends
        self.targets: dict[int, tuple[int, ...]] = {}
        self.jumps: list[Jump] = []
        self.calls: list[str] = []  # the functions that the parser is in
        self.returns: list[int] = []  # from the innermost
        self.found: list[tuple[int, Variable]] = []  # by the place of the declaration
        self.static: dict[int, list[Variable]] = {}
        self.located: dict[tuple[str, int, int], tuple[Frame, ...]] = {}
        self.count = 0  # of scopes and calls
        self.body(Scope("", {name: name for name in kernel.parameters}))
        self.resolve()
        kernel.variables = [one for _, one in sorted(self.found, key=lambda x: x[0])]
        kernel.blocks = _basic_blocks(self.flat, self.starts, self.targets)
        return kernel

    def _limit(self, word: str) -> None:
        """Read what stands between the parameters and the body."""
        start = self.at - 1
        if word in (".maxntid", ".reqntid"):
            self.kernel.required = word == ".reqntid"
            self.kernel.threads = tuple(self.numbers())
        elif word in LIMITS:
            self.numbers()
        elif word == ".pragma":
            self.until(";")
        elif word == ".attribute":
            self.until(")")
        elif word == ".reqnctapercluster" and set(self.numbers()) == {1}:
            pass
        elif word[0] == "." and word != ".noreturn":
            raise self.unsupported(start)
        elif word != ".noreturn":
            raise self.malformed(start, "expected the body of the kernel")

    def body(self, scope: Scope) -> None:
        """Read statements up to the brace that closes a scope."""
        self.scopes = [scope]
        while self.scopes:
            start = self.at
            try:
                self.statement()
            except Unsupported as problem:
                if self.unknown is None:
                    raise
                self.unknown.append(problem)
                self.at = start
                self.until(";")

    def resolve(self) -> None:
        """Find the labels that branches lead to."""
        for jump in self.jumps:
            one = self.flat[jump.index]
            labels = (jump.label,)
            if one.words[0] == "brx":
                found = [scope.lists[jump.label] for scope in jump.scopes[::-1]
                         if jump.label in scope.lists]  # fmt: skip
                if not found:
                    raise one.malformed(f"no .branchtargets {jump.label}")
                labels = found[0]
            self.targets[jump.index] = tuple(
                self.label(one, jump.scopes, label) for label in labels
            )

    def label(self, one: Instruction, scopes: list[Scope], label: str) -> int:
        for scope in reversed(scopes):
            if label in scope.labels:
                return scope.labels[label]
        raise one.malformed(f"no label {label}")

    def unsupported(self, start: int, why: str = "") -> Unsupported:
        source = innermost(self.frames)
        return Unsupported(self.line(start), self.quoted(start), why, source)

    # ---- statements ----

    def statement(self) -> None:
        """Read a statement, or the brace that opens or closes a scope."""
        start, word = self.at, self.next()
        if word == "{":
            self.count += 1
            self.scopes.append(Scope(f"{self.scopes[0].prefix}scope.{self.count}:"))
        elif word == "}":
            self.scopes.pop()
        elif self.peek() == ":" and re.match(r"[%$A-Za-z_]", word):
            self.next()
            self.labelled(start, word)
        elif word == ".reg":
            self.declare_registers(start)
        elif word == ".param":
            self.declare_slot(start)
        elif word == ".loc":
            self.locate(start)
        elif word == ".pragma":
            self.until(";")
        elif word[0] == "." and word[1:] in SPACES:
            self.declare_variables(start, word[1:])
        elif word[0] == "." and word != ".":
            raise self.unsupported(start)
        elif word != ";":
            self.instruction(start, word)

    def labelled(self, start: int, word: str) -> None:
        """Read what a label stands before: a place, or a list."""
        scope = self.scopes[-1]
        if word in scope.labels or word in scope.lists:
            raise self.malformed(start, "the label stands twice")
        if self.skip(".branchtargets"):
            labels = [" ".join(piece) for piece in separated(self.until(";"))]
            scope.lists[word] = tuple(labels)
        elif self.peek() in (".calltargets", ".callprototype"):
            self.until(";")
        else:
            scope.labels[word] = len(self.flat)
            self.starts.setdefault(len(self.flat), self.scopes[0].prefix + word)

    def declare(self, start: int, name: str, own: str) -> None:
        """Enter a name in the innermost scope."""
        if name in self.scopes[-1].names:
            raise self.malformed(start, f"{name} is declared twice")
        self.scopes[-1].names[name] = own

    def declare_registers(self, start: int) -> None:
        kind = self.next().removeprefix(".")
        if kind not in SIZES:
            raise self.unsupported(start)
        prefix = self.scopes[-1].prefix
        for declared in separated(self.until(";")):
            match = re.fullmatch(
                r"([%$A-Za-z_][\w$%.]*)(?: < (\d+) >)?", " ".join(declared)
            )
            if not match:
                raise self.malformed(start, "expected names of registers")
            name, many = match.groups()
            name += "<" * bool(many)
            self.declare(start, name, prefix + name)
            self.kernel.registers[prefix + name] = kind
            self.kernel.numbered |= {prefix + name: int(many)} if many else {}

    def declare_slot(self, start: int) -> None:
        """Read a ``.param`` variable of a body: what a call passes."""
        self.slot(start, self.parameter(start, [".param", *self.until(";")]))

    def slot(self, start: int, declared: Parameter) -> str:
        own = self.scopes[-1].prefix + declared.name
        self.declare(start, declared.name, own)
        self.kernel.slots[own] = replace(declared, name=own)
        return own

    def declare_variables(self, start: int, space: str) -> None:
        """Read variables of a body; all calls share those that are not local."""
        found = self.static.get(start)
        if found is None or space == "local":
            prefix = self.scopes[-1].prefix
            found = [
                replace(one, name=prefix + one.name)
                for one in self.variables_of(start, space)
            ]
            self.static[start] = found
            self.found += [(start, one) for one in found]
        else:
            self.until(";")
        for one in found:
            self.declare(start, one.name.rpartition(":")[2], one.name)

    def locate(self, start: int) -> None:
        """Read ``.loc file line column``; line 0 is the compiler's own code.

        ``inlined_at`` says where that line was inlined: at the place of an earlier
        ``.loc``, which may be inlined itself.
        """
        at, outer = self.position(), ()
        while self.skip(","):
            word = self.next()
            if word == "function_name":
                self.next()
                if self.skip("+"):
                    self.number()
            elif word == "inlined_at":
                call = self.position()
                outer = self.located.get(call, self.frame(call))
            else:
                raise self.malformed(start, f"{word} is unknown")
        self.frames = self.located[at] = self.frame(at) + outer

    def position(self) -> tuple[str, int, int]:
        """Read the number of a file, a line and a column."""
        return self.next(), self.number(), self.number()

    def frame(self, at: tuple[str, int, int]) -> tuple[Frame, ...]:
        file, line, _ = at
        return ((self.files.get(file, ""), line),) if line else ()

    # ---- instructions ----

    def instruction(self, start: int, word: str) -> None:
        guard, negated = None, False
        if word == "@":
            negated = self.skip("!")
            guard, word = self.named(self.next()), self.next()
        if not re.match(r"[a-z]", word):
            raise self.malformed(start, "expected an instruction")
        if word.split(".")[0] == "call":
            self.call(start, word, guard, negated)
            return
        operands = self.operands(start)
        if word.startswith("st.param") and operands:
            self.check_slot(start, operands[0])
        if word.split(".")[0] in ("bra", "brx") and operands:
            label = self.tokens[self.at - 2]
            self.jumps.append(Jump(len(self.flat), label, list(self.scopes)))
        elif self.calls and word.split(".")[0] == "ret":
            self.returns.append(len(self.flat))
        self.add(start, word, operands, guard, negated)

    def check_slot(self, start: int, where: Operand) -> None:
        """Raise an error if the address of a ``.param`` variable is in a register."""
        names = {self.scopes[0].names[name] for name in self.scopes[0].results}
        if isinstance(where, Memory) and where.base not in {*self.kernel.slots, *names}:
            raise self.unsupported(start, "it stores to no .param variable")

    def add(
        self,
        start: int,
        word: str,
        operands: tuple[Operand, ...],
        guard: str | None,
        negated: bool,
    ) -> None:
        said = self.said(start).rstrip("; ")
        line = self.lines[start]
        opcode = ordered(word)
        one = Instruction(opcode, operands, guard, negated, line, said, self.frames)
        self.flat.append(one)

    def named(self, word: str) -> str:
        """Return the machine's name of what a word means in the innermost scope."""
        stem = word.rstrip("0123456789")
        number = word.removeprefix(stem)
        numbered = re.fullmatch("0|[1-9][0-9]{0,8}", number) is not None
        for scope in reversed(self.scopes):
            if word in scope.names:
                return scope.names[word]
            own = scope.names.get(f"{stem}<", "") if numbered else ""
            if own and int(number) < self.kernel.numbered[own]:
                return own[:-1] + number
        if word in self.variables:
            self.use(word)
            return word
        if word == "WARP_SZ":
            return "32"
        if word in SPECIAL or word == "_" or not re.match(r"[$%A-Za-z_]", word):
            return word
        return self.scopes[0].prefix + word

    def use(self, name: str) -> None:
        """Let the kernel have a variable of the module, and those it leads to."""
        declared = self.variables[name]
        if declared.at in self.static:
            return
        found = self.variables_at(declared.at, declared.external)
        self.static[declared.at] = found
        self.found += [(declared.at, one) for one in found]
        for one in found:
            for _, other, _ in one.addresses:
                self.use(other)

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
            raise self.malformed(start, "expected a comma or a semicolon")
        return tuple(found)

    def operand(self, start: int, word: str) -> Operand:
        if word == "{":
            parts = signed(self.until("}"))
            names, commas = parts[::2], parts[1::2]
            if len(names) == len(commas) or "," in names or set(commas) - {","}:
                raise self.malformed(start, "expected commas between parts")
            return Vector(tuple(self.named(x) for x in names))
        if word == "[":
            return self.memory(start, self.until("]"))
        if word in "-!":
            return word + self.named(self.next())
        if not re.match(r"[\w%$]", word):
            raise self.malformed(start, "expected an operand")
        name = self.named(word)
        if name == self.scopes[0].prefix + word and (
            word in self.functions or word in self.elsewhere
        ):
            raise self.unsupported(start, f"the address of the function {word}")
        self.take_address(start, name)
        if self.peek() in ("+", "-"):
            return name + self.next() + str(self.number())
        return name

    def take_address(self, start: int, name: str) -> None:
        """Let a parameter, or a ``.param`` variable, lie in memory."""
        one = self.kernel.parameters.get(name) or self.kernel.slots.get(name)
        if one is None or any(variable.name == name for _, variable in self.found):
            return
        if name in self.kernel.slots:
            variable = Variable("local", name, one.align, one.size)
        else:
            variable = Variable("const", name, one.align, one.size, bytes(one.size))
        self.found.append((start, variable))

    def memory(self, start: int, words: list[str]) -> Memory:
        if "," in words or "(" in words:
            raise self.unsupported(start)
        match = ADDRESS.fullmatch(" ".join(signed(words)))
        if not match:
            raise self.malformed(start, "expected an address")
        base, offset = match.groups()
        return Memory(self.named(base), self.whole(start, offset) if offset else 0)

    # ---- calls ----

    def call(self, start: int, word: str, guard: str | None, negated: bool) -> None:
        """Read a call, and the function in its place."""
        match = CALL.fullmatch(" ".join(signed(self.until(";"))))
        if not match:
            raise self.malformed(start, "expected a function and its arguments")
        results, name, given, prototype = match.groups()
        if prototype or self.named(name) in self.kernel.registers:
            raise self.unsupported(start, f"an indirect call, by {name}")
        if name not in self.kernel.functions:
            self.kernel.functions.append(name)
        if name in self.calls:
            raise self.unsupported(start, f"{name} calls itself")
        if len(self.calls) >= MOST_CALLS or len(self.flat) > MOST_INSTRUCTIONS:
            raise self.unsupported(start, f"{name} makes the kernel too long")
        function = self.function(start, name)
        self.count += 1
        inner = Scope(f"{name}.{self.count}:")
        pairs = self.bind(start, inner, function, results, given)
        # What skips a call is what its machine sees as a branch.
        self.add(start, word, pairs, guard, guard is not None and not negated)
        self.enter(len(self.flat) - 1, function, inner)

    def bind(
        self,
        start: int,
        inner: Scope,
        function: Function,
        results: str | None,
        given: str | None,
    ) -> tuple[Pair, ...]:
        """Enter what a function takes and returns in its scope.

        A result is the caller's variable under another name, and so is an argument in a
        ``.param`` variable. Return the other arguments, which the call copies.
        """
        pairs = []
        for what, formals, words in (
            ("result", function.results, results),
            ("argument", function.parameters, given),
        ):
            actual = [x.strip() for x in words.split(" , ")] if words else []
            if len(actual) != len(formals):
                raise self.malformed(
                    start,
                    f"{function.name} has {len(formals)} {what}s, not {len(actual)}",
                )
            for formal, one in zip(formals.values(), map(self.named, actual)):
                slot = self.kernel.slots.get(one)
                if slot and slot.size != formal.size:
                    raise self.malformed(
                        start, f"{formal.name} has {formal.size} bytes, not {slot.size}"
                    )
                if what == "result" and slot and formal.space == "reg":
                    raise self.unsupported(start, f"{formal.name} is in a register")
                same = slot and formal.space == "param"
                if same or (what == "result" and one != "_"):
                    inner.names[formal.name] = one
                    if what == "result" and not slot and formal.space == "param":
                        inner.results.add(formal.name)
                    continue
                own = inner.prefix + formal.name
                inner.names[formal.name] = own
                if formal.space == "reg":
                    self.kernel.registers[own] = formal.kind
                else:
                    self.kernel.slots[own] = replace(formal, name=own)
                if what == "argument":
                    pairs.append(Pair(own, one))
        return tuple(pairs)

    def enter(self, index: int, function: Function, inner: Scope) -> None:
        """Read the body of a function behind its call."""
        before = (self.at, self.scopes, self.frames, self.returns)
        self.at, self.frames, self.returns = function.body, (), []
        self.calls.append(function.name)
        self.body(inner)
        self.calls.pop()
        after = len(self.flat)
        for leaving in [index] * bool(self.flat[index].guard) + self.returns:
            self.targets[leaving] = (after,)
        self.starts.setdefault(after, "")
        self.at, self.scopes, self.frames, self.returns = before


def _basic_blocks(
    flat: list[Instruction], labels: dict[int, str], targets: dict[int, tuple[int, ...]]
) -> list[Block]:
    """Return basic blocks in the order of the text."""
    starts = {0, *labels}
    starts |= {i + 1 for i, one in enumerate(flat) if one.is_end}
    some = {i for i, one in enumerate(flat) if one.is_for_some}
    if any(one.is_strong and one.words[0] in ("atom", "ld") for one in flat):
        # A thread may have to go on for others of its warp to come to such an instruction.
        some |= {i for i, one in enumerate(flat) if needs_warp(one)}
    starts |= some | {i + 1 for i in some}
    order = sorted(start for start in starts if start < len(flat))
    number = {start: i for i, start in enumerate(order)}
    blocks = []
    for start, stop in zip(order, [*order[1:], len(flat)]):
        block = Block(labels.get(start, ""), flat[start:stop])
        if stop - 1 in targets:
            if any(target not in number for target in targets[stop - 1]):
                raise flat[stop - 1].unsupported("threads run past the end")
            block.targets = tuple(number[target] for target in targets[stop - 1])
        blocks.append(block)
    ends = ("ret", "exit", "bra", "brx", "trap")
    if flat and (flat[-1].guard or flat[-1].words[0] not in ends):
        raise flat[-1].unsupported("threads run past the end")
    return blocks
