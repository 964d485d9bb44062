"""What translators of opcodes write: operands as expressions, results as statements."""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from ptxsim.registers import DTYPES, REFUSED, SPECIAL, literal, whole
from ptxsim.syntax import SIZES, Instruction, Kernel, Memory, Operand, Pair, Vector

NO_RESULT = {"st", "red", "bra", "ret", "exit", "trap", "bar", "barrier", "cp", "fence"}
NO_RESULT |= {
    "membar",
    "brx",
    "prefetch",
    "prefetchu",
    "applypriority",
    "pmevent",
    "nanosleep",
}
# Registers of PTX that each thread finds filled; the machine knows some of them.
FILLED = re.compile(
    r"%(n?tid|n?ctaid|n?smid|n?warpid|laneid|gridid|lanemask_\w+|clock(_hi|64)?|\w+_smem_size"
    r"|\w*cluster\w*|pm\d(_64)?|envreg\d+|globaltimer(_lo|_hi)?|reserved_smem_offset_\w+"
    r"|current_graph_exec)(\.[xyz])?"
)


class Writer:
    """Collects the lines of a kernel's functions; `one` is the instruction at hand."""

    one: Instruction

    def __init__(self, kernel: Kernel, exact: bool) -> None:
        self.kernel = kernel
        self.exact = exact  # whether ``.ftz`` looks at every number in and out
        self.views: dict[str, tuple[str, str, int]] = {}  # as in `Program`
        self.constants: dict[str, Any] = {}
        self.variables = {variable.name for variable in kernel.variables}
        self.shared_by_blocks = _shared_by_blocks(kernel)
        self.written = set().union(*map(results, kernel.instructions()))
        self.lines: list[str] = []
        self.number = 0  # of the instruction at hand
        self.masked = self.guarded = False

    # ---- operands ----

    def is_register(self, word: Operand) -> bool:
        """Return whether an operand is a declared register."""
        return isinstance(word, str) and self.kernel.type_of(word) is not None

    def view(self, register: Operand, kind: str) -> str:
        """Return the name of the array that is a register, read as a type."""
        own = self.kernel.type_of(register) if isinstance(register, str) else None
        if own is None:
            raise self.unknown(register, "no register")
        if SIZES[kind] > SIZES[own] or (kind == "pred") != (own == "pred"):
            raise self.one.unsupported(f"{register} is a .{own}")
        return self._array(str(register), kind, 0)

    def _array(self, register: str, kind: str, first: int) -> str:
        """Return a name for a part of a register, or of a slot of a call."""
        name = re.sub(r"\W", "_", f"r{register}_{kind}")
        name += f"_{first}" if first else ""
        while self.views.setdefault(name, (register, kind, first)) != (
            register,
            kind,
            first,
        ):
            name += "_"  # names differ in other characters
        return name

    def slot(self, name: str, first: int, kind: str) -> str:
        """Return the name of the array that is a part of a ``.param`` variable.

        Where the caller gave a register, that is the variable.
        """
        declared = self.kernel.slots.get(name)
        if declared is None:
            if first:
                raise self.one.unsupported(f"{name} is a register")
            return self.view(name, kind)
        size = SIZES[kind]
        if first % size or not 0 <= first <= declared.size - size:
            raise self.one.unsupported(f"the variable has {declared.size} bytes")
        return self._array(name, kind, first)

    def unknown(self, word: Operand, what: str) -> Exception:
        """Return an error for a word that is not what an instruction needs."""
        if not isinstance(word, str):
            return self.one.unsupported(f"it needs something else than {word}")
        name, known = word.rpartition(":")[2], {*self.variables, *self.kernel.slots}
        known |= {*self.kernel.parameters, "_"}
        if (
            word in known
            or FILLED.fullmatch(name)
            or not re.match(r"[$%A-Za-z_]", name)
        ):
            return self.one.unsupported(f"{name} is {what}")
        return self.one.malformed(f"{name} is not declared")

    def typed(self, register: Operand, kind: str) -> str:
        """Return the same for an operand whose type has to agree with the register's.

        Only what is loaded, stored or converted may be narrower than its register.
        """
        name = self.view(register, kind)
        own = self.kernel.type_of(str(register)) or kind
        families = {own[0], kind[0]}
        narrow = SIZES[kind] < SIZES[own]
        relaxed = self.one.words[0] in ("ld", "st", "cvt") and families != {"f"}
        if families in ({"f", "u"}, {"f", "s"}) or (narrow and not relaxed):
            raise self.one.unsupported(f"{register} is a .{own}, and no .{kind}")
        return name

    def value(self, word: Operand, kind: str) -> str:
        """Return an expression for an operand that is read."""
        if not isinstance(word, str):
            raise self.one.unsupported()
        if word in SPECIAL:
            return self.special(word, kind)
        if self.is_register(word):
            return self.typed(word, kind)
        if re.match(r"-?\d", word):
            return self.constant(literal(word, kind))
        if word in self.variables:
            return f"ADDRESS[{word!r}].astype({DTYPES[kind]!r})"
        sum_ = re.fullmatch(r"(.+?)([+-]\d+)", word)
        if sum_ and sum_[1] in self.variables:
            return f"(ADDRESS[{sum_[1]!r}] {sum_[2]}).astype({DTYPES[kind]!r})"
        if word in REFUSED:
            raise self.one.unsupported(f"{word} depends on {REFUSED[word]}")
        raise self.unknown(word, "neither a register nor a variable")

    def special(self, word: str, kind: str) -> str:
        """Return an expression for a special register."""
        name = f"special_{word[1:].replace('.', '_')}"
        if kind[0] not in "bus" or SIZES[kind] > 4:
            raise self.one.unsupported(f"{word} is a .u32")
        return f"{name}.astype({DTYPES[kind]!r})" if kind != "u32" else name

    def predicate(self, word: Operand) -> str:
        """Return an expression for a predicate, perhaps negated by an ``!``."""
        if isinstance(word, str) and word[0] == "!":
            return f"~{self.typed(word[1:], 'pred')}"
        return self.value(word, "pred")

    def constant(self, value: Any) -> str:
        """Return the name of a number."""
        name = f"c_{value.dtype.str[1:].replace('?', 'p')}_{value.tobytes().hex()}"
        self.constants[name] = value
        return name

    def whole_number(self, word: Operand) -> int:
        """Return an operand that has to be a number in the text."""
        if not isinstance(word, str) or not re.match(r"-?\d", word):
            raise self.one.unsupported("it needs a number here")
        return whole(word)

    # ---- statements ----

    def say(self, line: str) -> None:
        """Add a line to the function."""
        self.lines.append(f" {line}")

    def _keeps(self, register: Operand) -> bool:
        """Return whether a register has to survive where a thread does not write it."""
        return self.guarded or (self.masked and register in self.shared_by_blocks)

    def compute(self, register: Operand, kind: str, call: str, *then: str) -> None:
        """Let a call write a register: its result goes where ``out=`` says.

        Each of `then` is the name of a function that changes the result afterwards.
        """
        keeps, own = self._keeps(register), self.typed(register, kind)
        target = f"spare_{kind}" if keeps else own
        self.say(f"{call}, out={target})")
        for change in then:
            self.say(change.format(target))
        if keeps:
            self.say(f"np.copyto({own}, {target}, where=mask)")

    def put(self, register: Operand, kind: str, value: str) -> None:
        """Copy an expression to a register."""
        where = ", where=mask" if self._keeps(register) else ""
        own = self.typed(register, kind)
        self.say(f"np.copyto({own}, {value}, casting='unsafe'{where})")


def results(one: Instruction) -> set[str]:
    """Return the registers that an instruction writes."""
    if one.words[0] == "call":
        return {pair.first for pair in one.operands if isinstance(pair, Pair)}
    return set(_words(one.operands[: _count_of_results(one)]))


def reads(one: Instruction) -> set[str]:
    """Return the words that an instruction reads, registers among them."""
    read = set(_words(one.operands[_count_of_results(one) :]))
    return read | ({one.guard} if one.guard else set())


def _count_of_results(one: Instruction) -> int:
    """Return 1 if the first operand is what the instruction writes, else 0."""
    counts = one.words[0] in ("bar", "barrier") and one.has("red")
    return int(counts or one.words[0] not in NO_RESULT)


def _words(operands: Iterable[Operand]) -> Iterable[str]:
    for operand in operands:
        if isinstance(operand, Memory):
            yield operand.base
        elif isinstance(operand, Vector):
            yield from (part.lstrip("!") for part in operand.parts)
        elif isinstance(operand, Pair):
            yield from (operand.first, operand.second)
        else:
            yield operand.lstrip("!")


def _shared_by_blocks(kernel: Kernel) -> set[str]:
    """Return the registers that hold something from one basic block to another."""
    where, early = defaultdict(set), set()
    for b, block in enumerate(kernel.blocks):
        defined: set[str] = set()
        for one in block.instructions:
            early |= reads(one) - defined
            if one.guard:  # what is not written keeps what it had
                early |= results(one)
            for register in results(one) | reads(one):
                where[register].add(b)
            defined |= results(one)
    return early | {register for register, places in where.items() if len(places) > 1}
