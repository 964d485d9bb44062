"""Writes one WGSL function: its variables and its statements."""

from ..infer import assigned
from ..tree import nodes_in
from ..types import is_array, is_number, is_tuple
from .expressions import Expressions
from .pieces import (
    NOTHING,
    TYPES,
    Number,
    Parts,
    Ref,
    Untranslatable,
    bare,
    flat,
    leaves,
    mangled,
    type_of,
)

MOST_TURNS = 1000000  # of a while: an endless loop would freeze the reader's screen


class Body(Expressions):
    """Writes one function, for certain arrays among its arguments.

    In Numba a name may have different types on different ways through the text. In WGSL it
    becomes one variable for each type under which it is read. An assignment sets every
    variable whose type the value can be converted to, so that each read finds a value.

    Attributes
    ----------
    called : str
        Its name in WGSL.
    caller : Body or None
    variables : dict
        Name of a number -> its types, in the order of TYPES. An element of a tuple has a
        name of its own, "p.0".
    refs : dict
        Name of an array -> its Ref.
    free : list
        Free variables of a nested function: (name, type).
    out : list of tuple
        The lines so far, each with the line of the kernel.
    """

    def __init__(self, module, typed, called: str, caller: object):
        self.module = module
        self.typed = typed
        self.node = typed.node
        self.called = called
        self.caller = caller
        self.out = []
        self.line = self.node.line
        self.depth = 1
        self.temporaries = 0
        self.refs = {}
        self.parameters = {}  # name of a parameter -> its number
        self.free = []
        self.pointers = []  # parameters that are pointers to the caller's local arrays
        self.views = []  # parameters that are the first indices of an array
        self.heads = []  # lines at the beginning
        self.bounds = {}  # loop variable of an enclosing loop -> its largest value
        self.flags = []  # for each enclosing loop: the variable that its else tests, or ""
        self.variables = self.types_of_names()
        self.local = set(typed.names)
        self.changed = assigned(self.node.body, set())
        self.loop_names = self.names_of_loops()

    # ---- names

    def types_of_names(self) -> dict:
        """Return the WGSL types under which each name is read."""
        types = {}
        for node in nodes_in(self.node.body):
            kinds = []
            if node.kind == "Name" and hasattr(node, "got"):
                got = node.got
                if not got.known and not hasattr(got, "scalar"):
                    kinds.append(got.kind)
            if node.kind == "AugAssign" and node.target.kind == "Name":
                kinds.append(getattr(getattr(node, "old", None), "kind", None))
            name = node.id if node.kind == "Name" else ""
            name = name or getattr(getattr(node, "target", None), "id", "")
            for kind in kinds:
                for leaf, number in leaves(name, kind):
                    types.setdefault(leaf, set()).add(type_of(number))
        return {name: [t for t in TYPES if t in types[name]] for name in types}

    def names_of_loops(self) -> set:
        """Return the loop variables that are used in the bodies of their loops only."""
        nodes = nodes_in(self.node.body)
        if [node for node in nodes if node.kind in ("FunctionDef", "Lambda")]:
            return set()  # nested functions may read them anywhere
        loops = [node for node in nodes if node.kind == "For"]
        names = set()
        for name in {getattr(loop.target, "id", "") for loop in loops}:
            mine = [loop for loop in loops if getattr(loop.target, "id", "") == name]
            inside = sum([count(loop.body, name) for loop in mine])
            nested = [loop for loop in mine if name in assigned(loop.body, set())]
            types = self.variables.get(name, [])
            types = [loop for loop in mine if type_of_range(loop) not in types]
            alone = count(self.node.body, name) == inside + len(mine)
            if name and alone and not nested and not types:
                names.add(name)
        parameters = [parameter.name for parameter in self.node.parameters]
        several = [name for name in names if len(self.variables[name]) > 1]
        return {name for name in names if name not in parameters + several}

    def variable(self, name: str, type: str) -> str:
        """Return the variable that holds a name's value of this type."""
        types = self.variables.get(name, [])
        called = mangled(name)
        return called if types[:1] == [type] else f"{called}{type}"

    def declare(self) -> list:
        """Return the lines that declare the variables."""
        lines = []
        for name in sorted(self.variables):
            first = name.split(".")[0]
            if first not in self.local or name in self.loop_names:
                continue
            argument = self.parameters.get(name)
            if argument is not None and first not in self.changed:
                continue
            for type in self.variables[name]:
                start = ""
                if argument is not None and TYPES.index(type) >= TYPES.index(
                    argument.type
                ):
                    start = f" = {self.text(argument, type)}"
                line = f"  var {self.variable(name, type)}: {type}{start};"
                lines.append((line, self.node.line))
        return lines + self.heads

    def take(self, name: str, piece: object) -> None:
        """Bind a parameter to its value."""
        if isinstance(piece, Ref):
            self.refs[name] = piece
        for leaf, number in zip(names_of(name, piece), flat(piece)):
            self.parameters[leaf] = number

    def read_name(self, name: str, kind: object) -> object:
        """Return the value of a name."""
        if name.split(".")[0] not in self.local:
            return self.read_free(name, kind)
        if is_number(kind):
            if name in self.parameters and name.split(".")[0] not in self.changed:
                return self.as_type(self.parameters[name], type_of(kind))
            return Number(self.variable(name, type_of(kind)), type_of(kind))
        if is_tuple(kind):
            parts = enumerate(kind[1:])
            return Parts([self.read_name(f"{name}.{k}", part) for k, part in parts])
        if is_array(kind) and name in self.refs:
            return self.refs[name]
        raise self.refusal(f"{name} has no value that a GPU of a browser can hold")

    def read_free(self, name: str, kind: object) -> object:
        """Return the value of a name of the enclosing function."""
        if is_number(kind):
            type = type_of(kind)
            if (name, kind) not in self.free:
                self.free.append((name, kind))
            return Number(f"{mangled(name)}{type}_free", type, settled=True)
        if is_tuple(kind):
            parts = enumerate(kind[1:])
            return Parts([self.read_free(f"{name}.{k}", part) for k, part in parts])
        return self.array_around(name)

    def array_around(self, name: str) -> Ref:
        """Return an array of the enclosing function."""
        around = self.caller
        while around is not None and name not in around.refs:
            around = around.caller
        ref = around.refs[name] if around is not None else None
        if ref is None or ref.array.space == "local" or ref.at:
            raise self.refusal(
                f"{name} belongs to the function around this one",
                "hand it over as an argument",
            )
        return ref

    def refusal(self, reason: str, instead: str = "") -> Untranslatable:
        """Return the error for a line that cannot be translated."""
        return Untranslatable(self.line, reason, instead)

    # ---- lines

    def emit(self, text: str) -> None:
        """Write a line at the current depth."""
        self.out.append(("  " * self.depth + text, self.line))

    def temporary(self, code: str, type: str, at: object = None) -> Number:
        """Compute a number now, in a ``let``; ``at`` inserts it at an earlier line."""
        name = self.new_name("t")
        line = ("  " * self.depth + f"let {name} = {code};", self.line)
        self.out.insert(len(self.out) if at is None else at, line)
        return Number(name, type, settled=True)

    def new_name(self, start: str) -> str:
        """Return an unused name."""
        self.temporaries += 1
        return f"{start}{self.temporaries}"

    def inside(self, body: list) -> None:
        """Write indented statements."""
        self.depth += 1
        self.block(body)
        self.depth -= 1

    # ---- the whole function

    def kernel(self, arguments: list) -> None:
        """Write the kernel's statements."""
        for parameter, piece in zip(self.node.parameters, arguments):
            self.take(parameter.name, piece)
        self.block(self.node.body)

    def lines(self) -> list:
        """Return the lines inside the function."""
        return self.declare() + self.out

    def whole(self) -> list:
        """Return the lines of a device function."""
        result = self.typed.result.kind
        numbers = leaves("", result)
        takes = ["block: vec3i", "thread: vec3i"] + self.pointers
        takes += [f"{name}: i32" for name in self.views]
        for parameter, kind in zip(self.node.parameters, self.typed.kinds):
            for name, number in leaves(parameter.name, kind):
                takes.append(f"{mangled(name)}given: {type_of(number)}")
        for name, kind in self.free:
            type = type_of(kind)
            takes.append(f"{mangled(name)}{type}_free: {type}")
        lines, gives = [], ""
        if len(numbers) == 1:
            gives = type_of(numbers[0][1])
        elif numbers:
            gives = f"{self.called}_result"
            parts = [f"r{k}: {type_of(one[1])}" for k, one in enumerate(numbers)]
            lines.append(f"struct {gives} {{ {', '.join(parts)} }}")
        arrow = f" -> {gives}" if gives else ""
        lines.append(f"fn {self.called}({', '.join(takes)}){arrow}" + " {")
        lines = [(line, self.node.line) for line in lines] + self.lines()
        last = self.node.body[-1]
        if gives and last.kind != "Return":
            lines.append((f"  return {gives}();", last.line))
        return lines + [("}", self.node.line)]

    # ---- statements

    def block(self, body: list) -> None:
        """Write the statements that a thread can reach."""
        for node in body:
            if not getattr(node, "reached", False):
                break
            self.line = node.line
            getattr(self, "write_" + node.kind)(node)

    def write_nothing(self, node) -> None:
        """Write nothing for a statement without code in WGSL."""

    write_Pass = write_Refused = write_FunctionDef = write_nothing

    def write_Raise(self, node) -> None:
        self.line = node.line
        raise self.refusal(
            "WGSL knows no exceptions", "a mark in an array, and a return"
        )

    def write_Break(self, node) -> None:
        if self.flags[-1]:
            self.emit(f"{self.flags[-1]} = false;")
        self.emit("break;")

    def write_Continue(self, node) -> None:
        self.emit("continue;")

    def write_Expr(self, node) -> None:
        if not hasattr(node.value, "got"):  # a docstring
            return
        piece = self.value(node.value)
        for number in flat(piece):
            if not number.settled:
                self.emit(f"_ = {bare(number.code)};")

    def write_Assign(self, node) -> None:
        if hasattr(node, "function"):  # a lambda
            return
        piece = self.value(node.value)
        if node.value.got.kind == "static":
            return
        if len(node.targets) > 1 or node.targets[0].kind == "Tuple":
            piece = self.settled(piece)  # evaluate the right side before any assignment
        for target in node.targets:
            self.assign(target, piece)

    def write_AnnAssign(self, node) -> None:
        if node.value is not None:
            self.assign(node.target, self.value(node.value))

    def assign(self, target, piece: object) -> None:
        """Write an assignment to a name, an element, or a tuple of targets."""
        if target.kind == "Tuple":
            for part, one in zip(target.elts, piece.parts):
                self.assign(part, one)
        elif target.kind == "Subscript":
            mark = len(self.out)
            place = self.place(target)
            if not hasattr(place, "whole"):
                raise self.refusal("one number for a whole row", "a loop over the row")
            (piece,) = self.before(mark, [piece])
            self.store(place, piece)
        else:
            self.assign_name(target.id, piece)

    def assign_name(self, name: str, piece: object) -> None:
        """Write an assignment to all variables of a name."""
        if isinstance(piece, Ref):
            return self.assign_array(name, piece)
        if isinstance(piece, Parts):
            piece = self.settled(piece)  # the new value may use the old one
        for leaf, number in zip(names_of(name, piece), flat(piece)):
            types = self.variables.get(leaf, [])
            least = TYPES.index(number.type)
            types = [type for type in types if TYPES.index(type) >= least]
            if len(types) > 1 and not number.settled:
                number = self.temporary(number.code, number.type)
            for type in types:
                text = bare(self.text(number, type))
                self.emit(f"{self.variable(leaf, type)} = {text};")

    def assign_array(self, name: str, ref: Ref) -> None:
        """Bind a name to an array, or to a part of one."""
        known = self.refs.get(name)
        if known is not None and (
            known.array.key != ref.array.key or len(known.at) != len(ref.at)
        ):
            raise self.refusal(
                f"{name} stands for two arrays: {known.array.name} and {ref.array.name}",
                "a name for each of them",
            )
        places = []
        for number, index in enumerate(ref.at):
            place = f"{mangled(name)}at{number}"
            head = (f"  var {place}: i32;", self.node.line)
            if head not in self.heads and known is None:
                self.heads.append(head)
            elif known is not None:
                place = known.at[number].code
            self.emit(f"{place} = {bare(self.text(index, 'i32'))};")
            places.append(Number(place, "i32"))
        if known is None:
            self.refs[name] = Ref(ref.array, places)

    def write_AugAssign(self, node) -> None:
        target = node.target
        if target.kind == "Name":
            old = self.read_old(target, node.old)
            mark = len(self.out)
            by = self.value(node.value)
            (old,) = self.before(mark, [old])
            made = self.operation(node, node.op, old, by, node.result.kind)
            return self.assign_name(target.id, made)
        place = self.place(target)
        old = self.load(place)
        mark = len(self.out)
        by = self.value(node.value)
        index, old = self.before(mark, [place.at[0], old])
        place = Ref(place.array, [index])
        made = self.operation(node, node.op, old, by, node.result.kind)
        return self.store(place, made)

    def read_old(self, target, old) -> object:
        """Return the old value of a name that is changed in place."""
        if old.known or hasattr(old, "scalar"):
            return self.constant(old)
        return self.read_name(target.id, old.kind)

    def write_Return(self, node) -> None:
        piece = NOTHING if node.value is None else self.value(node.value)
        numbers = flat(piece)
        if isinstance(piece, Ref):
            raise self.refusal("a function gives back an array")
        kinds = leaves("", self.typed.result.kind)
        texts = [self.text(n, type_of(kind)) for n, (_, kind) in zip(numbers, kinds)]
        if len(texts) > 1:
            return self.emit(f"return {self.called}_result({', '.join(texts)});")
        self.emit(f"return {bare(texts[0])};" if texts else "return;")

    def write_If(self, node) -> None:
        if node.taken is not None:
            return self.block(node.body if node.taken else node.orelse)
        self.emit(f"if {braced(self.test(node.test))}" + " {")
        self.inside(node.body)
        if node.orelse and getattr(node.orelse[0], "reached", False):
            self.line = node.orelse[0].line
            self.emit("} else {")
            self.inside(node.orelse)
        self.emit("}")

    # ---- loops

    def write_While(self, node) -> None:
        line, turns = node.line, self.new_name("turns")
        flag = self.begin_else(node)
        self.emit(f"for (var {turns} = 0; ; {turns} += 1)" + " {")
        self.depth += 1
        test = self.test(node.test)
        if test != "true":
            self.emit(f"if (!{braced(test)}) {{ break; }}")
        hung = "atomicOr(&trouble, 2u); break;"
        self.emit(f"if ({turns} >= {MOST_TURNS}) {{ {hung} }}")
        self.depth -= 1
        self.end_loop(node, flag, line)

    def begin_else(self, node) -> str:
        """Declare the flag that a break clears and the else of a loop tests; return it."""
        flag = ""
        if node.orelse:
            flag = self.new_name("whole")
            self.emit(f"var {flag} = true;")
        return flag

    def end_loop(self, node, flag: str, line: int) -> None:
        """Write the body of a loop, its end and its else."""
        self.flags.append(flag)
        self.inside(node.body)
        self.flags.pop()
        self.line = line
        self.emit("}")
        if flag:
            self.emit(f"if ({flag})" + " {")
            self.inside(node.orelse)
            self.emit("}")

    def write_For(self, node) -> None:
        if is_range(node.iter):
            return self.write_range(node)
        if node.iter.got.kind[0] == "iterator":
            raise self.refusal(
                "zip and enumerate go through arrays", "range and an index"
            )
        items = self.value(node.iter)
        if isinstance(items, Ref):
            items = self.settled(items)
            several = self.extents(items)[0]
        else:
            items = self.settled(items)
            several = Number("", "i32", len(items.parts))
        flag, turn = self.begin_else(node), self.new_name("turn")
        stop = self.text(several, "i32")
        self.emit(f"for (var {turn} = 0; {turn} < {stop}; {turn} += 1)" + " {")
        self.depth += 1
        at = Number(turn, "i32")
        if isinstance(items, Ref):
            one = self.element(items, [at])
        else:
            one = self.chosen(items.parts, at, node.iter.got.kind[1])
        self.assign(node.target, one)
        self.depth -= 1
        self.end_loop(node, flag, node.line)

    def write_range(self, node) -> None:
        """Write a loop over a range."""
        start, stop, step = self.range_of(node.iter)
        type = type_of(node.iter.got.kind[1])
        name, line = getattr(node.target, "id", ""), node.line
        if start.known and stop.known and step.known:
            if not range(
                start.const, stop.const, step.const
            ):  # its shuffles do not count
                return self.block(node.orelse)
        flag = self.begin_else(node)
        own = name in self.loop_names
        counter = mangled(name) if own else self.new_name("i")
        begin, end = self.text(start, type), self.text(stop, type)
        by = self.text(step, type)
        going = f"({counter} < {end})"
        if step.known and step.const < 0:
            going = f"({counter} > {end})"
        elif not step.known:
            going = f"select(({counter} > {end}), {going}, ({by} > 0))"
        head = f"for (var {counter} = {begin}; {going}; {counter} += {by})" + " {"
        self.emit(head)
        if not own:
            self.depth += 1
            self.assign(node.target, Number(counter, type))
            self.depth -= 1
        around = dict(self.bounds)
        self.bounds.pop(name, None)
        if own and start.known and stop.known and step.known:
            self.bounds[name] = max(start.const, stop.const - (step.const > 0))
        self.end_loop(node, flag, line)
        self.bounds = around

    def range_of(self, node) -> tuple:
        """Return the start, stop and step of a range, each evaluated once."""
        arguments = [arg for arg in node.bound if arg is not None]
        pieces = [self.settled(piece) for piece in self.values(arguments)]
        zero, one = Number("", "i32", 0), Number("", "i32", 1)
        if len(pieces) == 1:
            return zero, pieces[0], one
        return pieces[0], pieces[1], pieces[2] if len(pieces) > 2 else one


def is_range(node) -> bool:
    """Return whether the iterable of a for is a call of range."""
    return node.kind == "Call" and getattr(node, "path", "") == "range"


def type_of_range(loop) -> str:
    """Return the type of a range loop's variable; "" for any other loop."""
    if not is_range(loop.iter) or not hasattr(loop.iter, "got"):
        return ""
    return type_of(loop.iter.got.kind[1])


def names_of(name: str, piece: object) -> list:
    """Return the names of the numbers in a value."""
    if isinstance(piece, Number):
        return [name]
    names = []
    if isinstance(piece, Parts):
        for number, part in enumerate(piece.parts):
            names += names_of(f"{name}.{number}", part)
    return names


def count(body: list, name: str) -> int:
    """Return how often a name occurs in some statements."""
    nodes = nodes_in(body)
    return len([n for n in nodes if n.kind == "Name" and n.id == name])


def braced(test: str) -> str:
    """Return a test in exactly one pair of brackets."""
    inside = bare(test)
    return test if inside == test and test[:1] == "(" else f"({inside})"
