"""The code generator: from a typed tree to Python code that the simulator runs.

Python can suspend a function only at a ``yield``. So a function in which threads meet
becomes a generator: at a barrier it yields what it waits for, and it calls other such
functions with ``yield from``. A function with a loop that may poll becomes a generator
too: it yields from time to time, so that other threads continue. Each meeting has a key
that identifies the arrival: the call in the text, the iterations of the loops around it,
and the key of the call of its function. Two threads meet only if their keys are equal.

The code also sets the current line, wraps integers that can overflow their type, calls
``arithmetic`` for a GPU's results, and in some modes rounds every float.
"""

from .expressions import chained
from .infer import assigned
from .things import BITS, MEETINGS, Thing
from .tree import parts_of
from .types import FLOATS, SIZES, as_doubles, is_array, is_integer, is_tuple
from .values import Closure

STEP = "    "
MOST_NESTED = 15  # operations in a chain; a longer chain is written without nesting
WRAPPED = {  # Numba's masks are signed numbers
    "ballot_sync": "__wrap_int32",
    "match_any_sync": "__wrap_int32",
    "match_all_sync": "__wrap_mask",
}

PLAIN_CALLS = {name: "__" + name for name in ("range", "len", "int", "float", "bool")}


class Text:
    """The generated Python code of a kernel and its device functions.

    Attributes
    ----------
    lines : list of str
    sites : list of tuple
        The calls at which threads meet: the line of each, and the lines of the loops
        around it, the outermost first. Calls that create arrays are listed too.
    shared : list of tuple
        Its shared arrays: name, bytes and line.
    constants : list
        Arrays around the kernel, which have no literals.
    """

    def __init__(self, full: bool, rounds: bool):
        self.full, self.rounds = full, rounds
        self.lines = []
        self.sites = []
        self.shared = []
        self.constants = []
        self.named = []

    def name_of(self, typed: object) -> str:
        """Return the name of a device function, one for each list of types."""
        if typed not in self.named:
            self.named.append(typed)
        return f"__{typed.node.name}_{self.named.index(typed)}"


def emit(typed: object, full: bool, rounds: bool) -> Text:
    """Return the code of a kernel and of the device functions that it calls.

    Parameters
    ----------
    typed : Typed
    full : bool
        Name the iterations of the loops for the traffic?
    rounds : bool
        Round every number to its type?
    """
    text = Text(full, rounds)
    Emitter(text, typed, "__kernel", 0).function()
    done = 0
    while done < len(text.named):  # each may add others, which it calls
        function = text.named[done]
        if not isinstance(
            function.function, Closure
        ):  # a nested function is written where the kernel defines it
            Emitter(text, function, text.name_of(function), 0).function()
        done += 1
    return text


def changed_in_loops(body: list) -> list:
    """Return the names that are assigned in a while, at any depth."""
    names = set()
    for node in body:
        if node.kind == "While":
            assigned([node], names)
        for part in ("body", "orelse"):
            inner = getattr(node, part, None)
            if isinstance(inner, list):
                names.update(changed_in_loops(inner))
    return sorted(names)


class Emitter:
    """Writes one function."""

    def __init__(self, text: Text, typed: object, name: str, depth: int):
        self.text = text
        self.typed = typed
        self.called = name
        self.depth = depth
        self.loops = []  # the enclosing loops: (line, the variable of the iteration)
        self.meetings = 0  # how many calls at which threads meet have been written
        self.before = 0  # how many of them precede the outermost enclosing loop
        # For each return: the number of its line, and how many meetings precede it.
        self.exits = []
        self.unread = None  # a call whose result no one reads: it is a whole statement

    # ---- statements

    def write(self, line: str) -> None:
        self.text.lines.append(STEP * self.depth + line)

    def function(self) -> None:
        """Write the whole function."""
        node = self.typed.node
        names = ["__key"] + [safe_name(parameter.name) for parameter in node.parameters]
        self.write(f"def {self.called}({', '.join(names)}):")
        self.depth += 1
        if self.typed.stops:
            self.write("if 0: yield")  # makes it a generator even without a barrier
        if self.text.full:
            self.write(f"__rt._where = {self.where()}")
        parameters = [parameter.name for parameter in node.parameters]
        # `_look` reads the variables that change in a loop, so they need a value.
        names = set(
            [name for name in changed_in_loops(node.body) if name not in parameters]
        )
        for name in sorted(self.typed.unset | names):
            self.write(f"{safe_name(name)} = None")
        self.block(node.body)
        self.keep_exits()
        self.depth -= 1

    def block(self, body: list) -> None:
        """Write the statements that a thread can reach."""
        empty = True
        for node in body:
            if not getattr(node, "reached", False):
                break
            empty = False
            getattr(self, "write_" + node.kind)(node)
        if empty:
            self.write("pass")

    def at(self, line: int) -> None:
        self.write(f"__rt._line = {line}")

    def write_Pass(self, node) -> None:
        self.write("pass")

    def write_Refused(self, node) -> None:
        self.write("pass")  # "global" of a name that the kernel only reads does nothing

    def write_Break(self, node) -> None:
        self.write("break")

    def write_Continue(self, node) -> None:
        self.write("continue")

    def write_Expr(self, node) -> None:
        if not hasattr(node.value, "got"):  # a docstring
            return self.write("pass")
        self.at(node.line)
        self.unread = node.value
        self.write(self.expression(node.value))

    def write_Assign(self, node) -> None:
        if hasattr(node, "function"):
            return self.write_FunctionDef(node.function)
        self.at(node.line)
        value = self.expression(node.value)
        if node.value.got.kind == "static":  # the name exists at compile time only
            return self.write(value) if node.value.kind == "Call" else None
        self.assign(node.targets, node.value, value)

    def write_AnnAssign(self, node) -> None:
        if node.value is not None:
            self.at(node.line)
            self.assign([node.target], node.value, self.expression(node.value))

    def assign(self, targets: list, value: object, written: str) -> None:
        """Write an assignment to one target or to several."""
        if len(targets) == 1 and targets[0].kind == "Subscript":
            target = targets[0]
            return self.write(
                f"{self.text_Subscript(target)} = "
                f"{self.stored(written, value.got, target)}"
            )
        for target in targets:
            for part in parts_of(target):
                if part.kind == "Subscript":
                    return self.assign_parts(targets, value, written)
        names = " = ".join([self.target(target) for target in targets])
        self.write(f"{names} = {written}")

    def assign_parts(self, targets: list, value: object, written: str) -> None:
        """Write an assignment of which some targets are elements."""
        self.write(f"__v = {written}")
        for target in targets:
            self.assign_part(target, value.got, "__v")

    def assign_part(self, target, got, written: str) -> None:
        if target.kind == "Tuple":
            for number, part in enumerate(target.elts):
                self.assign_part(part, PartOf(got, number), f"{written}[{number}]")
        elif target.kind == "Subscript":
            changed = self.text_Subscript(target)
            self.write(f"{changed} = {self.stored(written, got, target)}")
        else:
            self.write(f"{safe_name(target.id)} = {written}")

    def target(self, target) -> str:
        if target.kind == "Tuple":
            parts = [self.target(part) for part in target.elts]
            return f"({', '.join(parts)},)"
        return safe_name(target.id)

    def stored(self, written: str, got: object, target) -> str:
        """Return a value converted to the type of the element that it is stored in."""
        wanted = target.value.got.kind[1]
        if not is_tuple(got.kind):
            return self.cast(written, got.kind, wanted)
        each = self.cast("__e", got.kind[1], wanted)  # the numbers of a slice
        return written if each == "__e" else f"(*[{each} for __e in {written}],)"

    def cast(self, written: str, kind: str, wanted: str) -> str:
        """Return a number converted from one type to another."""
        if kind == "float16" and wanted not in FLOATS:
            return f"__cast_half_{wanted}({written})"
        if kind in FLOATS and wanted not in FLOATS:
            wide = ", True" if kind == "float64" else ""
            return f"__cast_{wanted}({written}{wide})"
        if kind not in FLOATS and wanted in FLOATS:
            return f"__float({written})"
        return written

    def write_AugAssign(self, node) -> None:
        self.at(node.line)
        target = node.target
        if target.kind == "Name":
            old, changed = self.named(target), safe_name(target.id)
            old = f"__float({old})" if hasattr(node.old, "mixed") else old
        else:
            changed, old = self.element_to_change(target)
        value = self.expression(node.value)
        if target.kind == "Subscript":
            # Python reads the old element before it evaluates the right side.
            self.write(f"__o = {old}")
            old = "__o"
        written = self.operation(
            node, node.op, old, value, node.old, node.value.got, node.result
        )
        if target.kind == "Subscript":
            written = self.cast(written, node.result.kind, target.value.got.kind[1])
        self.write(f"{changed} = {written}")

    def element_to_change(self, target) -> tuple:
        """Return an element to read and to write; its index is evaluated once."""
        self.write(f"__a = {self.expression(target.value)}")
        self.write(f"__i = {self.index(target)}")
        return "__a[__i]", "__a[__i]"

    def write_Return(self, node) -> None:
        self.at(node.line)
        value = "" if node.value is None else " " + self.expression(node.value)
        if self.called == "__kernel":
            seen = self.before if self.loops else self.meetings
            self.exits.append((len(self.text.lines), seen))
            self.write("__rt._leave()")
        self.write(f"return{value}")

    def keep_exits(self) -> None:
        """Count a return as an early exit only if a further meeting follows it.

        A thread that returns after the last meeting has run past any that it skipped.
        """
        for number, seen in self.exits:
            if seen == self.meetings:
                line = self.text.lines[number]
                self.text.lines[number] = line.replace("__rt._leave()", "pass")

    def write_Raise(self, node) -> None:
        self.at(node.line)
        self.write(f"__rt._raise({node.named!r}, {node.message!r})")

    def write_If(self, node) -> None:
        if node.taken is not None:
            return self.block(node.body if node.taken else node.orelse)
        word = "if"
        while True:
            test = self.expression(node.test)
            self.write(f"{word} {self.with_line(node.line, test)}:")
            self.inner(node.body)
            other = node.orelse[0] if len(node.orelse) == 1 else None
            if other is None or other.kind != "If" or other.taken is not None:
                break
            node, word = other, "elif"
        if node.orelse:
            self.write("else:")
            self.inner(node.orelse)

    def with_line(self, line: int, test: str) -> str:
        return f"__rt._at({line}) and ({test})"

    def inner(self, body: list) -> None:
        self.depth += 1
        self.block(body)
        self.depth -= 1

    def write_While(self, node) -> None:
        turn = self.begin_loop(node)
        self.write(f"while {self.with_line(node.line, self.expression(node.test))}:")
        self.depth += 1
        self.count_turn(node, turn)
        self.end_loop(node)

    def write_For(self, node) -> None:
        items = node.iter
        self.at(node.line)
        if is_array(items.got.kind) or items.got.kind[0] == "iterator":
            index, names = f"__i{len(self.loops)}_{node.line}", []
            item = self.item(items, names, index)
            turn = self.begin_loop(node)
            count = ", ".join([f"__len({name})" for name in names])
            count = f"__min({count})" if names[1:] else count or "0"
            items = f"__rt._turns({node.line}, __range({count}))"
            self.write(f"for {index} in {items}:")
            self.depth += 1
            self.count_turn(node, turn)  # before the iteration reads its elements
            self.write(f"{self.target(node.target)} = {item}")
        else:
            written = self.expression(items)
            turn = self.begin_loop(node)
            items = f"__rt._turns({node.line}, {written})"
            self.write(f"for {self.target(node.target)} in {items}:")
            self.depth += 1
            self.count_turn(node, turn)
        self.end_loop(node)

    def item(self, node, names: list, index: str) -> str:
        """Write what a for goes through by an index; return what an iteration gets.

        The names of the sequences are added to ``names``: the shortest ends the loop.
        """
        path = getattr(node, "path", "")
        if path == "zip":
            parts = [self.item(part, names, index) for part in node.bound]
            return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
        if path == "enumerate":
            items, start = node.bound
            item = self.item(items, names, index)
            if start is None:
                return f"({index}, {item})"
            name = f"__s{len(self.text.lines)}"
            self.write(f"{name} = {self.expression(start)}")
            return f"(__wrap_int64({name} + {index}), {item})"
        name = f"__a{index[3:]}_{len(names)}"
        self.write(f"{name} = {self.expression(node)}")
        names.append(name)
        return f"{name}[{index}]"

    def begin_loop(self, node) -> str:
        """Write the counter of a loop's iterations; return its name."""
        if not self.loops:
            self.before = self.meetings
        turn = f"__t{len(self.loops)}_{node.line}"
        self.write(f"{turn} = -1")
        if node.kind == "While":
            self.write("__rt._begin()")
        self.loops.append((node.line, turn))
        return turn

    def count_turn(self, node, turn: str) -> None:
        """Write the start of an iteration: count it, and look at a while or yield."""
        self.write(f"{turn} += 1")
        self.at(node.line)
        if node.kind == "While":
            names = [safe_name(name) for name in sorted(assigned([node], set()))]
            state = "".join([f"{name}, " for name in names])
            self.write("if __rt._turn():")
            alone = not self.typed.stops
            self.write(f"{STEP}__rt._look({node.line}, ({state}), {alone})")
            if self.typed.stops:
                self.write(f"{STEP}if __rt._waits: yield __rt._pause({node.line})")
        if self.text.full:
            self.write(f"__rt._where = {self.where()}")

    def end_loop(self, node) -> None:
        self.block(node.body)
        self.depth -= 1
        self.loops.pop()
        if node.orelse:
            self.write("else:")
            self.inner(node.orelse)
        if self.text.full:
            self.write(f"__rt._where = {self.where()}")

    def write_FunctionDef(self, node) -> None:
        copies = sorted_by_number(node.copies)
        for typed in copies:
            name = self.text.name_of(typed)
            inside = Emitter(self.text, typed, name, self.depth)
            inside.function()
        if not copies:
            self.write("pass")

    # ---- expressions

    def expression(self, node) -> str:
        """Return the code of an expression."""
        got = node.got
        if got.known and node.kind != "Call":
            written = self.constant(got)
            if written is not None:
                return written
        written = getattr(self, "text_" + node.kind)(node)
        return f"__float({written})" if hasattr(got, "mixed") else written

    def constant(self, got: object) -> str | None:
        """Return a constant as code, or None if it has no literal."""
        if got.kind == "static":
            return "None"
        if hasattr(got, "scalar"):
            return number(got.scalar)
        if hasattr(got, "array"):
            return self.constant_array("table", got)
        if is_tuple(got.kind):
            parts = [self.constant(part) for part in got.const]
            return (
                None
                if None in parts
                else f"({', '.join(parts)}{',' * (len(parts) == 1)})"
            )
        if got.kind in FLOATS:
            return number(got.const)
        return repr(got.const)

    def text_Name(self, node) -> str:
        got = node.got
        if hasattr(got, "scalar"):
            return number(got.scalar)
        if hasattr(got, "array"):
            return self.constant_array(node.id, got)
        return self.named(node)

    def named(self, node) -> str:
        """Return a name; if it may be unset, return a call that checks it."""
        name = safe_name(node.id)
        return f"__rt._given('{node.id}', {name})" if node.unsure else name

    def text_Default(self, node) -> str:
        return self.expression(node.value)

    def constant_array(self, name: str, got: object) -> str:
        """Return the call for an array around the kernel."""
        self.text.constants.append((name, got.array))
        return f"__rt._constant({len(self.text.constants) - 1})"

    def text_Tuple(self, node) -> str:
        parts = [self.expression(part) for part in node.elts]
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"

    def text_IfExp(self, node) -> str:
        taken = node.body if node.possible[0] else node.orelse
        if node.test.got.known:
            return self.expression(node.body if node.test.got.const else node.orelse)
        test = self.expression(node.test)
        if node.possible != (True, True):
            return f"({test}, {self.expression(taken)})[1]"
        body, orelse = self.expression(node.body), self.expression(node.orelse)
        return f"({body} if {test} else {orelse})"

    def text_BoolOp(self, node) -> str:
        parts = [self.expression(part) for part in node.values[: node.reached]]
        return "(" + f" {node.op} ".join(parts) + ")"

    def text_UnaryOp(self, node) -> str:
        operand = self.expression(node.operand)
        if node.op == "not":
            return f"(not {operand})"
        if node.op == "~" and node.got.kind == "bool":
            return f"(not {operand})"
        of_bool = node.operand.got.kind == "bool"
        type_as = node.got if of_bool else node.operand.got
        return self.wrapped(node, f"({node.op}{operand})", type_as)

    def text_BinOp(self, node) -> str:
        """Return the code of a chain of operations, such as a + b + c.

        A long chain is written in steps, ``(__s := a, __s := __s + b, …)[-1]``, because
        nested brackets would overflow MicroPython's stack.
        """
        *chain, first = chained(node)
        parts = [self.expression(first)]
        for node in reversed(chain):
            if node.got.known:  # an operation on literals
                parts = [self.expression(node)]
                continue
            flat = len(chain) > MOST_NESTED
            left = "__s" if flat else parts[0]
            right, got = self.expression(node.right), node.left.got
            written = self.operation(
                node, node.op, left, right, got, node.right.got, node.got
            )
            parts = parts + [written] if flat else [written]
        if len(parts) == 1:
            return parts[0]
        return "(" + ", ".join([f"__s := {part}" for part in parts]) + ")[-1]"

    def operation(self, node, sign, left, right, a, b, got) -> str:
        """Return the code of an operation between two numbers."""
        kind = got.kind
        if is_integer(kind):
            if sign in ("//", "%") and kind == "int64":
                left, right = self.as_int64(left, a), self.as_int64(right, b)
            if sign == "**":
                return f"__whole_power({left}, {right}, '{kind}')"
            if sign in ("//", "%") and not (b.known and b.const > 0):
                name = {"//": "quotient", "%": "rest"}[sign]
                written = f"__whole_{name}({left}, {right})"
            elif sign in ("<<", ">>"):
                written = f"({left} {sign} {right})"
                if not (b.known and 0 <= b.const < 64):
                    name = "left" if sign == "<<" else "right"
                    written = f"__shifted_{name}({left}, {right})"
            else:
                written = f"({left} {sign} {right})"
            return self.wrapped(node, written, got)
        if sign == "/":
            written = (
                f"({left} / {right})"
                if b.known and b.const
                else (f"__divided({left}, {right})")
            )
        elif sign in ("//", "%", "**"):
            name = {"//": "quotient", "%": "rest", "**": "power"}[sign]
            written = f"__real_{name}({left}, {right})"
        else:
            written = f"({left} {sign} {right})"
        return self.rounded(written, kind)

    def as_int64(self, written: str, got: object) -> str:
        """Return an operand converted to int64; only a uint64 may be out of its range."""
        return f"__wrap_int64({written})" if got.kind == "uint64" else written

    def wrapped(self, node, written: str, got: object) -> str:
        """Return an integer, wrapped to its type if it may overflow it."""
        if got.kind in FLOATS:
            return written
        return f"__wrap_{got.kind}({written})" if node.wraps else written

    def rounded(self, written: str, kind: str) -> str:
        """Return a float, rounded to its type: to float32 in some modes only."""
        if kind == "float16" or (self.text.rounds and kind == "float32"):
            return f"__round_{kind}({written})"
        return written

    def text_Compare(self, node) -> str:
        parts = [node.left] + node.comparators
        kinds = [part.got.kind for part in parts]
        texts = [self.expression(part) for part in parts]
        if len(kinds) == 2 and as_doubles(*kinds):
            texts = [f"__float({text})" for text in texts]
        text = texts[0]
        for op, other in zip(node.ops, texts[1:]):
            text += f" {op} {other}"
        return f"({text})"

    def text_Attribute(self, node) -> str:
        if node.value.got.kind == "static":
            parts = []
            while node.kind == "Attribute":
                parts.insert(0, node.attr)
                node = node.value
            if node.got.kind == "static" and isinstance(node.got.const, Thing):
                path = node.got.const.path.split(".")[1:]
                parts = path + parts
            return "__rt." + ".".join(parts[-2:] if parts[-1] in "xyz" else parts[-1:])
        if is_tuple(node.value.got.kind):
            return f"{self.expression(node.value)}[{node.number}]"
        return f"{self.expression(node.value)}.{node.attr}"

    def text_Subscript(self, node) -> str:
        base = node.value.got
        if is_tuple(base.kind):
            parts, index = self.expression(node.value), self.expression(node.slice)
            if node.slice.got.known or node.slice.kind == "Slice":
                return f"{parts}[{index}]"
            name = getattr(node.value, "id", "(…)")
            return f"__part({parts}, {index}, '{name}')"
        return f"{self.expression(node.value)}[{self.index(node)}]"

    def text_Slice(self, node) -> str:
        parts = [part and self.as_int64(self.expression(part), part.got)
                 for part in node.parts]  # fmt: skip
        return ":".join([part or "" for part in parts])

    def index(self, node) -> str:
        """Return the index of an element or a view: a number, a slice, or several."""
        if node.slice.kind == "Tuple":
            parts = [self.expression(part) for part in node.slice.elts]
            if "Slice" in [part.kind for part in node.slice.elts]:
                return ", ".join(parts)
            return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
        written = self.expression(node.slice)
        if node.spread and len(node.slice.got.kind) == 2:
            return f"{written}[0]"
        return written

    # ---- calls

    def text_Call(self, node) -> str:
        if getattr(node, "same", None) is not None:  # a view that changes nothing
            return self.expression(node.same)
        if node.func.kind == "Call":  # the function is what another call returns
            return f"({self.expression(node.func)}, {self.called_by(node)})[1]"
        return self.called_by(node)

    def called_by(self, node) -> str:
        """Return the code of a call of a known function."""
        if hasattr(node, "typed"):
            return self.call(node)
        path = node.path
        head, _, name = path.rpartition(".")
        if head == "cuda" and name in MEETINGS:
            return self.meeting(node, name)
        if path in PLAIN_CALLS:
            return f"{PLAIN_CALLS[path]}({self.arguments(node)})"
        write = getattr(self, "call_" + path.replace(".", "_"), None)
        if write:
            return write(node)
        if head == "operator":
            return self.expression(node.operation)
        if head == "math":
            return self.rounded(f"__math.{name}({self.arguments(node)})", node.got.kind)
        if head == "cuda.atomic":
            return self.atomic(node, name)
        if head == "cuda.fp16":
            return f"__half.{name}({', '.join([self.half(arg) for arg in node.bound])})"
        if name in BITS and head == "cuda":
            of = node.bound[0].got if name == "ffs" else node.got
            bits = 8 * SIZES[of.kind]
            return f"__{name}({self.arguments(node)}, {bits})"
        if head == "cuda":
            where = "__" if name in ("fma", "cbrt", "selp") else "__rt."
            written = f"{where}{name}({self.arguments(node)})"
            return self.rounded(written, node.got.kind)
        return self.conversion(node)

    def half(self, node) -> str:
        """Return a number converted to float16."""
        written, kind = self.expression(node), node.got.kind
        if kind == "float16":
            return written
        return self.rounded(self.cast(written, kind, "float16"), "float16")

    def arguments(self, node) -> str:
        return ", ".join(
            [self.expression(arg) for arg in node.bound if arg is not None]
        )

    def call(self, node) -> str:
        """Return the call of a device function."""
        typed = node.typed
        args = [self.expression(arg) for arg in node.args]
        self.meetings += typed.meets
        keyed = typed.meets or self.text.full
        key = self.key(node.line) if keyed else "None"
        called = f"{self.text.name_of(typed)}({', '.join([key] + args)})"
        wait = "yield from " if typed.stops else ""
        return f"__rt._back({node.line}, ({wait}{called}){self.turns()})"

    def key(self, line: int) -> str:
        """Return the key of an arrival, for a new site."""
        self.text.sites.append((line, tuple([at for at, _ in self.loops])))
        turns = "".join([f"{name}, " for _, name in self.loops])
        return f"({len(self.text.sites) - 1}, ({turns}), __key)"

    def meeting(self, node, name: str) -> str:
        """Return the code of a call at which threads meet."""
        self.meetings += 1
        args = [self.key(node.line)]
        args += [self.expression(arg) for arg in node.bound if arg is not None]
        called = f"__rt.{name}({', '.join(args)})"
        answer = f"__rt._back({node.line}, (yield {called}){self.turns()})"
        wrap = WRAPPED.get(name)
        return f"{wrap}({answer})" if wrap else answer

    def turns(self) -> str:
        """Return a last argument for ``_back``: in full mode, the loop iterations."""
        return f", {self.where()}" if self.text.full else ""

    def where(self) -> str:
        """Return the iterations of the enclosing loops, and of the callers' loops."""
        turns = "".join([f"{name}, " for _, name in self.loops])
        return f"({turns}__key,)"

    def atomic(self, node, name: str) -> str:
        args = [self.expression(arg) for arg in node.bound]
        first = 1 if name == "compare_and_swap" else 2
        for number in range(first, len(args)):
            kind = node.bound[number].got.kind
            args[number] = self.cast(args[number], kind, node.element)
        group = "atomic_unread" if node is self.unread else "atomic"
        return f"__rt.{group}.{name}({', '.join(args)})"

    def conversion(self, node) -> str:
        """Return a conversion to another type."""
        written = self.expression(node.bound[0])
        kind, wanted = node.bound[0].got.kind, node.path
        if wanted == "bool":
            return f"__bool({written})"
        if wanted in FLOATS:
            return self.rounded(self.cast(written, kind, wanted), wanted)
        if kind in FLOATS:
            return self.cast(written, kind, wanted)
        return f"__wrap_{wanted}({written})" if node.wraps else f"__int({written})"

    def call_min(self, node) -> str:
        return self.extreme(node, "min", "smaller")

    def call_max(self, node) -> str:
        return self.extreme(node, "max", "larger")

    def extreme(self, node, name: str, chosen: str) -> str:
        """Return the code of min or max.

        A GPU has one instruction for two floats, which treats NaN as missing. All other
        numbers, and float16, are compared as in Python: of equal ones the first is the
        result.
        """
        args = [self.expression(arg) for arg in node.bound]
        kinds = [arg.got.kind for arg in node.bound]
        wide = [kind for kind in kinds if kind in ("float32", "float64")]
        if len(kinds) == len(wide) == 2:
            return f"__{chosen}({', '.join(args)})"
        wanted = node.got.kind
        args = [self.cast(arg, kind, wanted) for arg, kind in zip(args, kinds)]
        return f"__{name}({', '.join(args)})"

    def call_print(self, node) -> str:
        """Return the code of a print; its values have Python's types of their kind."""
        args = []
        for arg in node.bound:
            kind = "float" if arg.got.kind in FLOATS else arg.got.kind
            wrap = f"__{kind}" if kind in ("float", "bool") else ""
            args.append(f"{wrap}({self.expression(arg)})")
        return f"__rt._print({', '.join(args)})"

    def call_abs(self, node) -> str:
        written, kind = f"__abs({self.arguments(node)})", node.got.kind
        return f"__wrap_{kind}({written})" if kind[0] == "i" else written

    def call_pow(self, node) -> str:
        a, b = node.bound
        return self.operation(
            node, "**", self.expression(a), self.expression(b), a.got, b.got, node.got
        )

    def call_round(self, node) -> str:
        at = "_at" if len(node.args) == 2 else ""
        return self.rounded(f"__nearest{at}({self.arguments(node)})", node.got.kind)

    def call_divmod(self, node) -> str:
        kind = node.got.kind[1]
        if kind not in FLOATS:
            return f"__whole_both({self.arguments(node)})"
        wanted = kind if self.text.rounds else "float64"
        return f"__real_both({self.arguments(node)}, '{wanted}')"

    def call_math_nextafter(self, node) -> str:
        return f"__nextafter({self.arguments(node)}, '{node.got.kind}')"

    def call_cuda_grid(self, node) -> str:
        return f"__rt.{node.path[5:]}({node.ndim})"

    call_cuda_gridsize = call_cuda_grid

    def call_cuda_shared_array(self, node) -> str:
        return self.array(node, "shared")

    def call_cuda_local_array(self, node) -> str:
        return self.array(node, "local")

    def call_cuda_const_array_like(self, node) -> str:
        return self.expression(node.bound[0])

    def array(self, node, space: str) -> str:
        """Return the call that creates an array, or returns the block's shared one."""
        number = len(self.text.sites)
        self.text.sites.append((node.line, ()))
        name = getattr(node, "named", None) or "array"
        shape = ", ".join([str(size) for size in node.shape])
        if space == "shared":
            size = node.dtype.size
            for extent in node.shape:
                size *= extent
            self.text.shared.append((name, size, node.line))
        return (
            f"__rt._array('{space}', {number}, '{name}', ({shape},),"
            f" __type_{node.dtype.name})"
        )


def safe_name(name: str) -> str:
    """Return a kernel's name, changed if it could be one of the simulator's (``__v``)."""
    return "_" + name if name[:2] == "__" else name


class PartOf:
    """The type of one element of a tuple, in place of a Value."""

    def __init__(self, got: object, number: int):
        parts = got.kind[1:] if is_tuple(got.kind) else ()
        self.kind = parts[number] if number < len(parts) else got.kind


def number(value: float) -> str:
    """Return a number as code, also an infinity or NaN."""
    if isinstance(value, int):
        return repr(value)
    if value != value:
        return "__nan"
    if value - value != 0:
        return "__inf" if value > 0 else "(-__inf)"
    return repr(float(value))


def sorted_by_number(copies: dict) -> list:
    """Return a function's copies in order; MicroPython's dictionaries keep none."""
    return [copies[key] for key in sorted(copies)]
