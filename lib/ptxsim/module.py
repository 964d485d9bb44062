"""A module: what a text declares, read when a kernel needs it.

So what one kernel needs may be unknown to the machine and the others still run.
"""

import math
import re
from dataclasses import dataclass
from typing import Any

from ptxsim.registers import literal
from ptxsim.syntax import SIZES, SPACES, Parameter, Variable
from ptxsim.tokens import Tokens, separated, signed

PARAMETER = re.compile(
    r"\.(param|reg) (?:\.align (\w+) )?\.(\w+) "
    r"(?:\.ptr (?:\.(?:const|global|local|shared) )?(?:\.align (\w+) )?)?"
    r"([\w$%.]+)(?: \[ (\w+) \])?"
)
# A variable: what stands before its name, and its name with dimensions and content.
DECLARED = re.compile(
    r"((?:\.attribute \( .*? \) )*)(?:\.align (\w+) )?(?:\.v([24]) )?\.(\w+) (.+)"
)
NAMED = re.compile(r"([\w$%.]+)((?: \[ (?:\w+ )?\])*)(?: = (.+))?")
NAME = re.compile(r"(?!\d)[\w$%.]+")
ADDRESS = re.compile(r"(?:generic \( ([\w$%.]+) \)|([\w$%.]+))(?: \+ (\w+))?")
MOST_BYTES = 1 << 30  # of a variable
MOST_DIMENSIONS = 16
# What begins a declaration, and the method that steps over it.
HEADS = {
    f".{word}": f"_{word}"
    for word in ("version", "target", "address_size", "file", "entry", "func", "alias")
}
HEADS |= {".pragma": "_pragma", ".section": "_section"}
LINKAGE = (".visible", ".weak", ".extern", ".common")
# What stands between a kernel's parameters and its body: how many threads and registers
# it may have, which changes no number.
LIMITS = (".minnctapersm", ".maxnctapersm", ".maxnreg", ".maxclusterrank")


@dataclass(frozen=True)
class Function:
    """The head of a function; `body` is the first token of its body."""

    name: str
    results: dict[str, Parameter]
    parameters: dict[str, Parameter]
    body: int


@dataclass(frozen=True)
class Declaration:
    """Where a variable of the module is declared, and whether that is elsewhere."""

    at: int
    external: bool


class Module(Tokens):
    """The declarations of a text.

    Attributes
    ----------
    entries, functions : dict of str to int
        By name: the token after ``.entry``, and after ``.func``.
    elsewhere : dict of str to int
        Functions that the text declares, or is an alias for, and has no body of.
    variables : dict of str to Declaration
    files : dict of str to str
        The names of source files by their numbers.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.entries: dict[str, int] = {}
        self.functions: dict[str, int] = {}
        self.elsewhere: dict[str, int] = {}
        self.variables: dict[str, Declaration] = {}
        self.files: dict[str, str] = {}
        external = False
        while self.peek():
            start, word = self.at, self.next()
            self._declaration(start, word, external)
            external = word == ".extern" or (external and word in LINKAGE)

    def _declaration(self, start: int, word: str, external: bool) -> None:
        """Note where something is declared, and step over it."""
        if word in HEADS:
            getattr(self, HEADS[word])(start)
        elif word[0] == "." and word[1:] in SPACES:
            self._variable(start, external)
        elif word[0] == "." and word not in LINKAGE:
            raise self.unsupported(start)
        elif word not in (*LINKAGE, ";"):
            raise self.malformed(start, "expected a declaration")

    def _version(self, start: int) -> None:
        self.next()

    def _target(self, start: int) -> None:
        self.next()
        while self.skip(","):
            self.next()

    def _address_size(self, start: int) -> None:
        if self.next() != "64":
            raise self.unsupported(start)

    def _entry(self, start: int) -> None:
        name = self.next()
        if self._skip_body():
            self.entries[name] = start + 1

    def _alias(self, start: int) -> None:
        self.elsewhere[self.next()] = start
        self.until(";")

    def _pragma(self, start: int) -> None:
        self.until(";")

    def _section(self, start: int) -> None:
        self.until("{")
        self.inside("{", "}")

    def _file(self, start: int) -> None:
        """Read ``.file number "directory" "name", time, size``."""
        number = self.next()
        parts = [self.next().strip('"')]
        if self.peek().startswith('"'):
            parts.append(self.next().strip('"'))
        self.files[number] = "/".join(parts)
        while self.skip(","):
            self.next()

    def _func(self, start: int) -> None:
        self._attributes()
        if self.skip("("):
            self.inside("(", ")")
        name = self.next()
        where = self.functions if self._skip_body() else self.elsewhere
        where[name] = start + 1

    def _skip_body(self) -> bool:
        """Step over the rest of an entry or a function; return whether it has a body."""
        self.until("{", ";")
        if self.tokens[self.at - 1] == ";":
            return False
        self.inside("{", "}")
        return True

    def _attributes(self) -> None:
        while self.skip(".attribute"):
            self.expect("(")
            self.inside("(", ")")

    def _variable(self, start: int, external: bool) -> None:
        for piece in separated(self.until(";")):
            head = " ".join(piece).split(" = ")[0].split(" [")[0].split()
            if not head or not NAME.fullmatch(head[-1]):
                raise self.malformed(start, "expected a name")
            if head[-1] not in self.variables or not external:
                self.variables[head[-1]] = Declaration(start, external)

    # ---- parameters ----

    def parameters(self) -> dict[str, Parameter]:
        """Read parameters until the closing parenthesis."""
        found: dict[str, Parameter] = {}
        while not self.skip(")"):
            start, words = self.at, []
            while self.peek() not in (",", ")"):
                words.append(self.next())
            one = self.parameter(start, words)
            if one.name in found:
                raise self.malformed(start, f"{one.name} is declared twice")
            found[one.name] = one
            if self.skip(",") and self.peek() == ")":
                raise self.malformed(start, "expected a parameter after the comma")
        return found

    def parameter(self, start: int, words: list[str]) -> Parameter:
        """Return a parameter, or a ``.param`` variable."""
        match = PARAMETER.fullmatch(" ".join(words))
        if not match or not NAME.fullmatch(match[5]):
            whole = (
                words and words[0] in (".param", ".reg") and NAME.fullmatch(words[-1])
            )
            if whole or words[-2:] == ["[", "]"]:  # of a type that is not known
                raise self.unsupported(start)
            raise self.malformed(start, "expected a parameter")
        space, align, kind, target, name, count = match.groups()
        if kind not in SIZES:
            raise self.unsupported(start, f".{kind}")
        size = SIZES[kind] * (self.whole(start, count) if count else 1)
        if not 0 < size <= MOST_BYTES:
            raise self.malformed(start, "it has no size")
        own = self.alignment(start, align, SIZES[kind])
        to = self.alignment(start, target, 1)
        return Parameter(name, kind, size, own, count is not None, to, space)

    def alignment(self, start: int, word: str | None, otherwise: int) -> int:
        """Return the number after ``.align``."""
        aligned = self.whole(start, word) if word else otherwise
        if aligned < 1 or aligned & (aligned - 1):
            raise self.malformed(start, "the alignment is no power of two")
        return aligned

    def function(self, start: int, name: str) -> Function:
        """Return the head of a function that an instruction calls."""
        if name not in self.functions:
            if name in self.elsewhere:
                raise self.unsupported(start, f"the text has no body of {name}")
            raise self.malformed(start, f"{name} is not declared")
        before, self.at = self.at, self.functions[name]
        self._attributes()
        results = self.parameters() if self.skip("(") else {}
        self.next()
        parameters = self.parameters() if self.skip("(") else {}
        self.until("{")
        found = Function(name, results, parameters, self.at)
        self.at = before
        return found

    # ---- variables ----

    def variables_at(self, start: int, external: bool) -> list[Variable]:
        """Return the variables of a declaration that begins at a token."""
        before, self.at = self.at, start + 1
        found = self.variables_of(start, self.tokens[start][1:], external)
        self.at = before
        return found

    def variables_of(
        self, start: int, space: str, external: bool = False
    ) -> list[Variable]:
        """Read the declaration of variables, after the name of their space."""
        match = DECLARED.fullmatch(" ".join(self.until(";")))
        if not match:
            raise self.malformed(start, "expected a type and a name")
        _, align, vector, kind, rest = match.groups()
        if kind not in SIZES:
            raise self.unsupported(start, f".{kind}")
        each = SIZES[kind] * int(vector or 1)
        aligned = self.alignment(start, align, each)
        pieces = separated(rest.split())
        names = [NAMED.fullmatch(" ".join(piece)) for piece in pieces]
        found = []
        for one in names:
            if not one or not NAME.fullmatch(one[1]):
                raise self.malformed(start, "expected a name")
            shape = self._shape(start, one[2], one[3], int(vector or 1))
            size = SIZES[kind] * math.prod(shape) if -1 not in shape else -1
            if external and not (space == "shared" and size < 0):
                raise self.unsupported(start, f"the text only declares {one[1]}")
            if size > MOST_BYTES or (size < 0 and space != "shared"):
                raise self.malformed(
                    start, "it has no size"
                )  # that a launch may choose
            if space not in ("global", "const") and one[3]:
                raise self.malformed(start, f".{space} memory begins with nothing")
            content, addresses = None, ()
            if space in ("global", "const"):  # zeros, unless the text says otherwise
                content, addresses = self._content(start, one[3], kind, shape)
            found.append(Variable(space, one[1], aligned, size, content, addresses))
        return found

    def _shape(
        self, start: int, dimensions: str, initial: str | None, vector: int
    ) -> list[int]:
        """Return the lengths of an array; the first is negative if the launch decides."""
        words = re.findall(r"\[ (?:(\w+) )?\]", dimensions)
        if len(words) > MOST_DIMENSIONS:
            raise self.unsupported(start, "so many dimensions")
        shape = [self.whole(start, word) if word else -1 for word in words]
        if any(length < 1 for length in shape[1:]) or (
            shape and words[0] and shape[0] < 1
        ):
            raise self.malformed(start, "it has no size")
        if shape and shape[0] < 0 and initial:
            shape[0] = len(separated(initial.split()[1:-1]))
        return [*shape, vector] if vector > 1 else shape

    def _content(
        self, start: int, initial: str | None, kind: str, shape: list[int]
    ) -> tuple[bytes, tuple[tuple[int, str, int], ...]]:
        """Return the bytes that a variable begins with, and the addresses in them."""
        found = bytearray(SIZES[kind] * math.prod(shape))
        addresses: list[tuple[int, str, int]] = []
        for at, words in self._elements(start, (initial or "{ }").split(), shape, 0):
            place = at * SIZES[kind]
            if place >= len(found):
                raise self.malformed(start, f"it has room for {len(found)} bytes")
            value = self._element(start, words, kind)
            if isinstance(value, bytes):
                found[place : place + SIZES[kind]] = value
            else:
                addresses.append((place, *value))
        return bytes(found), tuple(addresses)

    def _elements(
        self, start: int, words: list[str], shape: list[int], at: int
    ) -> list[tuple[int, list[str]]]:
        """Return what an initialiser holds: the number of each element, and its words."""
        if words[0] != "{":
            return [(at, words)]
        if words[-1] != "}" or (not shape and words != ["{", "}"]):
            raise self.malformed(start, "expected a number")
        found = []
        inner = math.prod(shape[1:])
        for piece in separated(words[1:-1]) if words[1:-1] else []:
            if not piece:
                raise self.malformed(start, "expected a number")
            found += self._elements(start, piece, shape[1:], at)
            at += inner if piece[0] == "{" else 1
        return found

    def _element(self, start: int, words: list[str], kind: str) -> Any:
        """Return the bytes of a number, or the variable of an address and an offset."""
        text = " ".join(signed(words))
        if re.fullmatch(r"-?\d[\w.+-]*", text):
            try:
                return literal(text, kind).tobytes()
            except ValueError as problem:
                raise self.malformed(start, f"{text} is no .{kind}") from problem
        match = ADDRESS.fullmatch(text)
        if not match:
            raise self.unsupported(start, "it begins with an expression")
        name = match[1] or match[2]
        if name not in self.variables:
            if name in self.functions or name in self.elsewhere:
                raise self.unsupported(start, f"the address of the function {name}")
            raise self.malformed(start, f"{name} is not declared")
        if SIZES[kind] != 8:
            raise self.unsupported(start, "an address has 8 bytes")
        return name, self.whole(start, match[3]) if match[3] else 0
