"""Type inference for a kernel, by Numba's rules, before it runs.

Every expression of the tree gets a `Value`: its type, its constant if there is one, and a
bound on its bits. What Numba's compiler would not accept is refused, with the line, the
reason and what to write instead. A function is read again until no type changes, because
a loop can change the types at its own start.
"""

from .expressions import Expressions, function_of, number_of
from .handed import escaped, identity, literals, parts_known, seen_inside
from .things import Thing
from .tree import Node, clone, literal, nodes_in, parts_of
from .types import FLOATS, WHOLE_BITS, is_array, is_integer, is_number, is_tuple
from .values import (
    NONE,
    Closure,
    Function,
    Refusal,
    Typed,
    Value,
    either,
    element_of,
    joined,
    marked,
    merged,
    possible,
    same_value,
)

MOST_ROUNDS = 20  # how often a function is read; a type widens three times at most


def assigned(body: list, names: set) -> set:
    """Return the names that statements assign to."""
    for node in body:
        if node.kind == "FunctionDef":
            names.add(node.name)
            continue
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        for target in targets:
            add_names(target, names)
        for part in ("body", "orelse"):
            if isinstance(getattr(node, part, None), list):
                assigned(getattr(node, part), names)
    return names


def varies(value: Value) -> bool:
    """Return whether a name is anything but one constant number or None."""
    return not value.known or not (is_number(value.kind) or value.kind == "none")


def of_members(value: Value) -> str:
    """Return why a value is declined that is one member of an enum or another."""
    return "enums" if getattr(value, "members", False) else ""


def without_tuple(value: Node) -> bool:
    """Return whether Python's bytecode assigns these values without building a tuple."""
    several = value.kind == "Tuple" and len(value.elts) in (2, 3)
    return several and not all([literal(part) for part in value.elts])


def name_arrays(target: Node, value: Node) -> None:
    """Note, at each call whose result is assigned, the name that it gets."""
    if target.kind == "Name" and value.kind == "Call":
        value.named = target.id
    elif target.kind == "Tuple" and value.kind == "Tuple":
        for part, one in zip(target.elts, value.elts):
            name_arrays(part, one)


def add_names(target: object, names: set) -> None:
    """Add the names in the target of an assignment."""
    if target is None:
        return
    if target.kind == "Name":
        names.add(target.id)
    elif target.kind == "Tuple":
        for part in target.elts:
            add_names(part, names)


class Compiler:
    """Infers the types in a kernel and in all functions that it calls.

    Attributes
    ----------
    doubles : dict
        Line -> what is computed in float64 there.
    fair : bool
        May every ``while`` wait for what another thread does? Otherwise only those that
        may poll with an atomic.
    """

    def __init__(self, fair: bool = False):
        self.fair = fair
        self.known = {}
        self.main = None  # the tree of the kernel
        self.open = []  # the trees of the functions that are being read, to find recursion
        self.doubles = {}

    def kernel(self, function: Function, kinds: tuple) -> Typed:
        """Infer the types in a kernel for arguments of these types."""
        self.main = function.node
        return self.typed(function, [Value(kind) for kind in kinds])

    def typed(self, function: Function, values: list) -> Typed:
        """Infer the types in a function for these arguments.

        It is compiled once for each list of types and functions that it is handed, and
        again for other literals if its code depends on them.
        """
        values = [seen_inside(value) for value in values]
        key = (id(function.node), tuple([identity(value) for value in values]))
        exact = key + (tuple([literals(value) for value in values]),)
        for known in (key, exact):
            if known in self.known:
                return self.known[known]
        kinds = tuple([value.kind for value in values])
        if function.node in self.open:
            return Typed(function, function.node, kinds)  # it calls itself
        for value in values:
            value.argument = True
        self.open.append(function.node)
        typed = Typed(function, clone(function.node), kinds)
        typed.values = values  # kept, because the key holds numbers of objects
        Inference(self, typed, None).run(values)
        self.known[exact if typed.literal else key] = typed
        self.open.pop()
        return typed

    def double(self, line: int, text: str) -> None:
        """Note that a line computes something in float64."""
        self.doubles.setdefault(line, text)


class Inference(Expressions):
    """Infers the types in one function, for certain arguments.

    ``names`` maps the function's names to their values at the current statement; it is
    None where the statement is unreachable.
    """

    def __init__(self, compiler: Compiler, typed: Typed, outer: object):
        self.compiler = compiler
        self.typed = typed
        self.outer = outer  # the inference of the function around a closure
        self.caller = None  # the inference of the function that calls a closure
        self.find = typed.function.find
        self.local = assigned(typed.node.body, set())
        self.names = {}
        self.given = {}  # the parameters' values
        self.stored = {}  # name -> the value of the last assignment in the text so far
        # The enclosing loops, with the names at their breaks and continues.
        self.loops = []
        self.turned = {}  # loop -> the names at the end of its body, from the last reading
        self.results = []
        self.inside = []  # the functions that are nested in this one
        self.changed = False

    def run(self, arguments: list) -> None:
        """Read the function until no type changes."""
        parameters = self.typed.node.parameters
        self.given = {p.name: value for p, value in zip(parameters, arguments)}
        for _ in range(MOST_ROUNDS):
            self.names = {}
            self.loops, self.stored = [], {}
            for parameter, value in zip(parameters, arguments):
                self.local.add(parameter.name)
                self.store_name(parameter.name, value)
            self.changed = False
            self.results, self.inside = [], []
            self.block(self.typed.node.body)
            if not self.changed:
                break
        if self.names is not None:
            self.give(NONE, self.typed.node.line)
        self.typed.result = self.result()
        if self.inside and self.outer is None:
            self.check_uncalled()

    def check_uncalled(self) -> None:
        """Refuse an uncalled nested function that uses variables of this function.

        Numba compiles such a function on its own, where it sees constants only. If any
        nested function is called, Numba drops those that are not.
        """
        calls = [node for node in nodes_in(self.typed.node.body) if node.kind == "Call"]
        called = [getattr(node.func, "id", "") for node in calls]
        for node in self.inside:
            if node.copies or node.name in called or hasattr(node, "escapes"):
                return
        for node in self.inside:
            own = assigned(node.body, {one.name for one in node.parameters})
            for one in nodes_in(node.body):
                name = getattr(one, "id", None) if one.kind == "Name" else None
                if (
                    name in self.stored
                    and name not in own
                    and varies(self.stored[name])
                ):
                    raise Refusal(
                        node.line,
                        f"nobody calls {node.name}, which uses {name} from around it",
                        "call it, or take it away",
                    )

    def give(self, value: Value, line: int) -> None:
        """Note a value that the function returns on one way."""
        if value.kind != "none" and self.typed.function.node is self.compiler.main:
            raise Refusal(
                line, "a kernel returns nothing", "store the value in an array"
            )
        if isinstance(value.const, Closure) and self.outer is None:
            value = Value("static", escaped(value.const))
        elif isinstance(value.const, Closure) and value.const.outer is self:
            raise Refusal(
                line,
                f"{value.const.name} is given back by the function that it is defined in",
                f"move {value.const.name} out of it",
                "functions",
            )
        if isinstance(value.const, Thing) and self.outer is None:
            raise Refusal(
                line,
                f"a function cannot give back {value.const.path}",
                "use it in the kernel by its name",
            )
        self.results.append(self.at(value, line))

    def result(self) -> Value:
        """Return the common type of all values that the function returns."""
        if not self.results:
            return self.at(Value("none"), self.typed.node.line)
        result = self.results[0]
        for value in self.results[1:]:
            line = value.line if value.kind != "none" else result.line
            result = self.at(joined(result, value), line)
        if result.kind in ("maybe", "clash"):
            nothing = "none" in [value.kind for value in self.results]
            what = "values of several types"
            if nothing:
                what = "nothing on some of its ways"
            raise Refusal(
                result.line,
                f"the function returns {what}",
                "return a value of one type at the end of every way",
                declined="functions" if nothing else of_members(result),
            )
        return result

    def at(self, value: Value, line: int) -> Value:
        copy = marked(Value(value.kind, value.const, value.bits, value.fixed), value)
        if hasattr(value, "parts"):
            copy.parts = value.parts
        copy.line = line
        return copy

    # ---- statements

    def block(self, body: list) -> None:
        """Read statements up to a return, a break or a continue."""
        for node in body:
            if self.names is None:
                return
            node.reached = True
            read = getattr(self, "read_" + node.kind, None)
            if read is None:
                raise Refusal(node.line, f"{node.kind} has no place in a kernel")
            read(node)

    def read_Refused(self, node: Node) -> None:
        if node.what != "global" or self.local.intersection(node.words):
            self.value_Refused(node)

    def read_Pass(self, node: Node) -> None:
        """A pass has no types."""

    def read_Expr(self, node: Node) -> None:
        if node.value.kind == "Constant" and isinstance(node.value.value, str):
            return  # a docstring
        if getattr(node.value, "what", "") == "an ellipsis":
            return
        value = self.value(node.value)
        path = value.const.path if isinstance(value.const, Thing) else ""
        if path in ("cuda.syncthreads", "cuda.syncwarp"):
            raise Refusal(
                node.line, f"{path} is not called", f"{path}()", declined="mention"
            )

    def read_Assign(self, node: Node) -> None:
        if node.value.kind == "Lambda":
            return self.read_lambda(node)
        direct = [one.kind for one in node.targets] == ["Tuple"]
        node.value.direct = direct = direct and without_tuple(node.value)
        value = self.value(node.value)
        value.direct = direct
        for target in node.targets:
            name_arrays(target, node.value)
            self.store(target, value)

    def read_lambda(self, node: Node) -> None:
        """Read a lambda that is assigned to a name as a nested function.

        The function is created once, however often the statement is read.
        """
        if hasattr(node, "function"):
            return self.read_FunctionDef(node.function)
        if len(node.targets) != 1 or node.targets[0].kind != "Name":
            raise Refusal(
                node.line, "a lambda needs a name of its own here", declined="functions"
            )
        node.function = function_of(node.value, node.targets[0].id)
        self.read_FunctionDef(node.function)

    def read_AnnAssign(self, node: Node) -> None:
        if node.value is not None:
            self.store(node.target, self.value(node.value))

    def read_AugAssign(self, node: Node) -> None:
        if node.target.kind not in ("Name", "Subscript"):
            raise Refusal(
                node.line,
                "only a name or an element can be changed in place",
                declined="slices",
            )
        old = self.value(node.target)
        if is_tuple(old.kind):
            raise Refusal(
                node.line,
                "a tuple cannot be changed in place",
                "a = a + (…,), as a new tuple of another length, under its own name",
            )
        by = self.value(node.value)
        if node.op == "/" and is_integer(old.kind) and is_integer(by.kind):
            raise Refusal(
                node.line,
                "/= between whole numbers cannot put a float into one",
                "x = x / y for a float, or //= for a whole number",
            )
        value = self.operate(node, node.op, old, by)
        node.old, node.result = old, value
        self.store(node.target, value)

    def read_Return(self, node: Node) -> None:
        value = NONE if node.value is None else self.value(node.value)
        self.usable(node, value)
        if is_array(value.kind) and not self.typed.function.inline:
            self.check_given(node, value)
        self.give(value, node.line)
        self.names = None

    def read_Raise(self, node: Node) -> None:
        """Read a raise, whose exception and message are constants."""
        error, args = node.error, []
        if error.kind == "Call":
            error, args = error.func, error.args
        node.named = self.exception(node, error)
        values = [self.value(arg) for arg in args]
        for value in values:
            if not value.known or not (is_number(value.kind) or value.kind == "text"):
                raise Refusal(
                    node.line,
                    "the message of an exception is a text or a constant",
                    "a mark in an array, if it depends on the thread",
                )
        node.message = ", ".join([str(value.const) for value in values])
        self.names = None

    def exception(self, node: Node, error: Node) -> str:
        """Return the name of the exception that a raise names."""
        name = getattr(error, "id", "")
        try:
            value = None if name == "" or name in self.local else self.find(name)
        except KeyError:
            value = None
        if not hasattr(value, "raises"):
            raise Refusal(
                node.line,
                "raise takes an exception by its name",
                'raise ValueError("…")',
                declined="output",
            )
        return name

    def check_given(self, node: Node, value: Value) -> None:
        """Refuse to return an array, unless it is a parameter under its own name."""
        if value is self.given.get(getattr(node.value, "id", "")):
            return
        if hasattr(value, "made_here"):
            raise Refusal(
                node.line,
                "a function cannot give back an array that it made",
                "make it in the kernel, and pass it as an argument",
            )
        raise Refusal(
            node.line,
            "a function gives back no array but one of its parameters, by its name",
            "take the part in the caller",
        )

    def read_If(self, node: Node) -> None:
        test = self.truth(node.test)
        true, false = possible(node.test)
        node.taken = bool(test.const) if test.known else None
        before, self.names = self.names, dict(self.names)
        if not true:
            self.names = None
        self.block(node.body)
        after = self.names
        self.names = before if false else None
        self.block(node.orelse)
        self.names = merged(after, self.names)

    def read_While(self, node: Node) -> None:
        self.typed.loops = True
        self.typed.atomics = self.typed.atomics or self.compiler.fair
        self.truth(node.test)
        if not possible(node.test)[0]:  # false already before the first iteration
            return self.block(node.orelse)
        self.enter(node)
        self.truth(node.test)
        out = dict(self.names) if possible(node.test)[1] else None
        self.leave(node, out)

    def read_For(self, node: Node) -> None:
        item = self.items(node)
        if not all([part.kind in ("Name", "Tuple") for part in parts_of(node.target)]):
            raise Refusal(
                node.line,
                "a for gives its turns to a name",
                "a name, and an assignment on the first line of the loop",
                declined="statements",
            )
        self.enter(node)
        out = dict(self.names)
        self.store(node.target, item)
        self.leave(node, out)

    def enter(self, node: Node) -> None:
        """Begin a loop: its names join those before it and those after an iteration."""
        self.names = merged(self.names, self.turned.get(id(node)))
        self.loops.append({"breaks": None, "continues": None})

    def leave(self, node: Node, out: object) -> None:
        """Read a loop's body and its else; set the names after the loop."""
        head = dict(self.names)
        self.block(node.body)
        loop = self.loops.pop()
        turn = merged(self.names, loop["continues"])
        if turn is not None:
            self.turned[id(node)] = self.widen(head, turn)
            out = out and merged(out, self.turned[id(node)])
        self.names = out
        self.block(node.orelse)
        self.names = merged(self.names, loop["breaks"])

    def widen(self, head: dict, turn: dict) -> dict:
        """Return the names after an iteration; a bound that grew becomes the type's."""
        names = {}
        for name in turn:
            value = turn[name]
            if name in head:
                both = either(head[name], value)
                grows = both.bits > head[name].bits
                if grows:
                    both.bits = WHOLE_BITS.get(both.kind, 0)
                if (
                    both.kind != head[name].kind
                    or grows
                    or (head[name].known and not both.known)
                    or both.computed != head[name].computed
                    or both.branch != head[name].branch
                    or hasattr(both, "parts") != hasattr(head[name], "parts")
                    or hasattr(both, "mixed") != hasattr(head[name], "mixed")
                    or hasattr(both, "scalar") != hasattr(head[name], "scalar")
                ):
                    self.changed = True
                names[name] = both
            else:
                names[name] = value
                self.changed = True
        return names

    def items(self, node: Node) -> Value:
        """Return the value of the target of a for, in every iteration."""
        return self.item(node.iter)

    def item(self, node: Node) -> Value:
        """Return the value of what is gone through, in every iteration."""
        node.looped = True
        value = self.value(node)
        if hasattr(value, "item"):
            return value.item
        if isinstance(value.kind, tuple) and value.kind[0] == "range":
            return Value(value.kind[1], bits=value.bits)
        if is_array(value.kind):
            return self.element(value.kind, 1)
        if is_tuple(value.kind):
            parts = value.kind[1:]
            if not parts or [part for part in parts if part != parts[0]]:
                raise Refusal(
                    node.line,
                    "the parts of this tuple have several types",
                    "give all of them one type, such as float32(…)",
                )
            return self.some_part(node, value)
        self.usable(node, value)
        raise Refusal(
            node.line,
            f"{self.named(value)} has no parts to go through",
            "for i in range(n)",
            declined="" if is_number(value.kind) else "tuples",
        )

    def read_Break(self, node: Node) -> None:
        self.loops[-1]["breaks"] = merged(self.loops[-1]["breaks"], self.names)
        self.names = None

    def read_Continue(self, node: Node) -> None:
        self.loops[-1]["continues"] = merged(self.loops[-1]["continues"], self.names)
        self.names = None

    def read_FunctionDef(self, node: Node) -> None:
        if node.decorators:
            raise Refusal(
                node.line,
                "a function inside a kernel has no decorator",
                "take the decorator away, or move the function out",
            )
        self.defaults(node)
        node.copies = {}
        self.store_name(node.name, Value("static", Closure(node.name, node, self)))
        self.inside.append(node)

    def defaults(self, node: Node) -> None:
        """Read the defaults of a nested function, which are constants."""
        for parameter in node.parameters:
            if parameter.default and not self.value(parameter.default).known:
                raise Refusal(
                    parameter.line,
                    "a default of a function inside a kernel has to be a constant",
                    "hand the value over in the call",
                    declined="functions",
                )

    # ---- assignments

    def store(self, target: Node, value: Value) -> None:
        """Assign a value to a name, to an element, or to a tuple of targets."""
        if target.kind == "Tuple":
            return self.unpack(target, value)
        if target.kind == "Subscript":
            return self.store_element(target, value)
        if target.kind != "Name":
            raise Refusal(
                target.line,
                "only names and elements of arrays have values",
                declined="statements",
            )
        if value.kind in ("clash", "maybe"):
            self.usable(target, value)
        before = getattr(target, "got", None)  # the value from the last reading
        if before is None or not same_value(before, value):
            target.got = before = value
        self.store_name(target.id, before)

    def store_name(self, name: str, value: Value) -> None:
        self.names[name] = value
        self.stored[name] = value
        self.typed.names.setdefault(name, set()).add(str(value.kind))

    def unpack(self, target: Node, value: Value) -> None:
        for part in target.elts:
            if part.kind == "Refused":
                self.value(part)
        self.usable(target, value)
        if not is_tuple(value.kind):
            several = isinstance(value.kind, tuple)  # an array, a range
            raise Refusal(
                target.line,
                f"{self.named(value)} cannot be unpacked",
                "its elements one by one" if several else number_of(value),
                "tuples" if several else self.choice(value),
            )
        if len(value.kind) - 1 != len(target.elts):
            raise Refusal(
                target.line,
                f"{len(value.kind) - 1} values for {len(target.elts)} names",
            )
        for number, part in enumerate(target.elts):
            self.store(part, self.part(value, number))

    def part(self, value: Value, number: int) -> Value:
        """Return one element of a tuple."""
        parts = parts_known(value)
        if parts is None:
            return Value(value.kind[1 + number])
        element = parts[number]
        if not element.known or element.computed or getattr(value, "direct", False):
            return element
        return element_of(element)

    def store_element(self, target: Node, value: Value) -> None:
        array = self.value(target.value)
        if not is_array(array.kind):
            what = self.named(array)
            fixed = is_tuple(array.kind) or array.kind == "text"
            choice = "none" if array.kind == "maybe" else self.choice(array)
            raise Refusal(
                target.line,
                f"{what} has no elements that can be changed",
                "cuda.local.array(n, float32)" if is_tuple(array.kind) else "",
                "" if fixed else choice,
            )
        if len(array.kind) > 3:
            raise Refusal(
                target.line,
                "an array around the kernel is a constant",
                "pass it as an argument",
            )
        part = self.index(target, array.kind).kind
        kind = array.kind[1]
        if is_tuple(value.kind) and not is_number(part):
            value = self.number_for_each(target, part, value)
        if is_tuple(value.kind):
            raise Refusal(target.line, "an element holds a number, not a tuple")
        if is_array(value.kind) and not is_number(part):
            raise Refusal(
                target.line,
                "a slice takes one number for all of its elements, not an array",
                "a loop over the elements",
            )
        self.number(target, value, f"an element of {kind} holds a number")
        if kind == "bool":
            self.no_half(target, value)
        if kind in FLOATS:
            self.no_member(target, value)
        self.note_narrowing(target.line, value, kind)

    def number_for_each(self, target: Node, part: tuple, value: Value) -> Value:
        """Return what a slice of one dimension takes of a tuple: numbers of one type."""
        kinds = value.kind[1:]
        if not kinds or part[2] > 1 or [kind for kind in kinds if kind != kinds[0]]:
            raise Refusal(
                target.line,
                "a slice of one dimension takes numbers of one type",
                "element by element",
            )
        return Value(kinds[0])

    def note_narrowing(self, line: int, value: Value, kind: str) -> None:
        """Note a float64 that is converted to another type, unless it is a constant."""
        if value.kind == "float64" and kind != "float64" and not value.fixed:
            self.compiler.double(line, f"a float64 becomes {kind}")
