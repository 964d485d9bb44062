"""Types of everything in a kernel, found before it runs, as Numba's compiler finds them.

Every expression of the tree gets a `Value`: its type, what is known of it already, and
how many bits it may need. What the compiler would not accept is refused, with the line,
the reason and what to write instead. Loops are read until no type changes any more.
"""

from .things import (
    ALIASES,
    ATOMICS,
    BITS,
    COUNTS,
    DIMS,
    FENCES,
    SHUFFLES,
    VOTES,
    Scalar,
    Thing,
    Type,
    type_of_name,
)
from .tree import Node
from .types import (
    FLOATS,
    SIZES,
    SMALL,
    UNSIGNED,
    compared,
    in_words,
    is_array,
    is_integer,
    is_number,
    is_tuple,
    of_math,
    operation,
    signed,
    unified,
)

MOST_ROUNDS = 20  # of a loop, until its types stand; a type widens three times at most
RANGE_BITS = 31  # of an index or an extent that a launch can have
MEMORY_BITS = 40  # of a place in an array
WHOLE_BITS = {
    "bool": 1,
    "int8": 7,
    "uint8": 8,
    "int16": 15,
    "uint16": 16,
    "int32": 31,
    "uint32": 32,
    "int64": 63,
    "uint64": 64,
}
UNKNOWN = object()  # the constant of a value that is no constant


class Refusal(Exception):
    """A kernel that would not compile.

    Attributes
    ----------
    line : int
    reason, instead : str
        What the compiler cannot do; what to write, or "".
    declined : str
        If only the simulator refuses it: which of the sentences in ``declined`` says
        why.
    """

    def __init__(self, line: int, reason: str, instead: str = "", declined: str = ""):
        super().__init__(reason)
        self.line = line
        self.reason = reason
        self.instead = instead
        self.declined = declined


class NotYet(Refusal):
    """A name that has no value where the text is read for the first time."""


class Value:
    """What is known of an expression.

    Attributes
    ----------
    kind : str or tuple
        Its type; see ``types``. "static" if only the compiler sees it, "clash" if two
        ways lead here with types that do not go together.
    const : object
        What the compiler knows it to be, or UNKNOWN.
    bits : int
        How large a whole number can be: no larger than two to this power.
    fixed : bool
        Is it made of constants only?
    """

    def __init__(self, kind, const=UNKNOWN, bits=None, fixed=False):
        self.kind = kind
        self.const = const
        self.bits = WHOLE_BITS.get(kind, 0) if bits is None else bits
        self.fixed = fixed or const is not UNKNOWN

    @property
    def known(self) -> bool:
        """Is it a constant?"""
        return self.const is not UNKNOWN


NONE = Value("none", None)


class Typed:
    """A function for arguments of certain types.

    Attributes
    ----------
    function : Function or Closure
    node : Node
        Its tree, whose expressions have a ``value``.
    kinds : tuple
        The types of its parameters.
    result : Value or None
        What it returns; None before that is known.
    meets : bool
        Do threads meet in it, or in what it calls?
    names : dict
        Its variables, with all the types they ever have.
    """

    def __init__(self, function, node, kinds):
        self.function = function
        self.node = node
        self.kinds = kinds
        self.result = None
        self.meets = False
        self.names = {}


class Function:
    """A function of the text, or around it, that can be compiled.

    Attributes
    ----------
    name, node
    find : callable
        ``find(name)`` returns what a name around the function stands for, or raises
        KeyError.
    """

    def __init__(self, name: str, node: Node, find: object, resolve: object = None):
        self.name = name
        self.node = node
        self.find = find
        self.resolve = resolve  # what an attribute of a module stands for


class Closure(Function):
    """A function inside of another: compiled anew wherever it is called."""

    def __init__(self, name, node, outer):
        super().__init__(name, node, outer.find, outer.typed.function.resolve)
        self.outer = outer


def constant(value: object, line: int) -> Value:
    """Return what a value around a kernel, or in its text, is to the compiler."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return Value("bool", value, 1)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise Refusal(line, f"{value} has more than 64 bits")
        kind = "int64" if value < 2**63 else "uint64"
        return Value(kind, value, bits_of(value))
    if isinstance(value, float):
        return Value("float64", value)
    if isinstance(value, Scalar):
        number = Value(value.dtype.name, fixed=True)
        number.scalar = value.dtype(value.value).value
        return number
    if isinstance(value, (tuple, list)) and not isinstance(value, list):
        parts = [constant(part, line) for part in value]
        return Value(("tuple",) + tuple([part.kind for part in parts]), tuple(parts))
    if isinstance(value, str):
        return Value("text", value)
    return Value("static", value)


def bits_of(value: int) -> int:
    """Return the bits of a whole number, without its sign."""
    bits, value = 0, abs(value)
    while value:
        bits, value = bits + 1, value >> 1
    return bits


def joined(a: Value, b: Value) -> Value:
    """Return what is known of a name that two ways lead to."""
    if a is b:
        return a
    if a.kind == b.kind:
        same = a.known and b.known and same_constant(a.const, b.const)
        if a.kind == "static" and not same:
            return Value("clash")
        if same:
            return a
        return Value(a.kind, bits=max(a.bits, b.bits), fixed=a.fixed and b.fixed)
    if is_number(a.kind) and is_number(b.kind):
        kind = unified(a.kind, b.kind)
        whole = is_integer(kind)
        return Value(kind, bits=max(a.bits, b.bits) if whole else 0)
    if is_tuple(a.kind) and is_tuple(b.kind) and len(a.kind) == len(b.kind):
        parts = [joined(Value(x), Value(y)) for x, y in zip(a.kind[1:], b.kind[1:])]
        if not [part for part in parts if part.kind in ("clash", "maybe")]:
            return Value(("tuple",) + tuple([part.kind for part in parts]))
    if "none" in (a.kind, b.kind) and "clash" not in (a.kind, b.kind):
        return Value("maybe")
    clash = Value("clash")
    clash.kinds = (a.kind, b.kind)
    return clash


def same_constant(a: object, b: object) -> bool:
    """Say whether two constants are one; True is not 1 here."""
    if isinstance(a, Thing) and isinstance(b, Thing):
        return a.path == b.path
    if isinstance(a, Function) and isinstance(b, Function):
        return a.node is b.node
    if type(a) is tuple and type(b) is tuple:
        return len(a) == len(b) and all(
            [same_constant(x.const, y.const) for x, y in zip(a, b)]
        )
    return a is b or (type(a) is type(b) and a == b)


def merged(a: dict | None, b: dict | None) -> dict | None:
    """Return the names where two ways meet; None is a way that nobody goes."""
    if a is None or b is None:
        return b if a is None else a
    found = dict(a)
    for name in b:
        found[name] = joined(a[name], b[name]) if name in a else b[name]
    return found


def clone(part: object) -> object:
    """Return a copy of a tree, for the types of another call."""
    if isinstance(part, list):
        return [clone(one) for one in part]
    if isinstance(part, tuple):
        return tuple([clone(one) for one in part])
    if not isinstance(part, Node):
        return part
    copy = Node(part.kind, part.line)
    for name in part.__dict__:
        if name not in ("kind", "line", "got", "copies"):
            setattr(copy, name, clone(part.__dict__[name]))
    return copy


def assigned(body: list, found: set) -> set:
    """Return the names that statements give a value to."""
    for node in body:
        if node.kind == "FunctionDef":
            found.add(node.name)
            continue
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        for target in targets:
            add_names(target, found)
        for part in ("body", "orelse"):
            if isinstance(getattr(node, part, None), list):
                assigned(getattr(node, part), found)
    return found


def parts_of(target: Node) -> list:
    """Return the targets in a target."""
    if target.kind != "Tuple":
        return [target]
    found = []
    for part in target.elts:
        found += parts_of(part)
    return found


def name_arrays(target: Node, value: Node) -> None:
    """Tell the calls that make arrays which names their arrays get."""
    if target.kind == "Name" and value.kind == "Call":
        value.named = target.id
    elif target.kind == "Tuple" and value.kind == "Tuple":
        for part, one in zip(target.elts, value.elts):
            name_arrays(part, one)


def add_names(target: object, found: set) -> None:
    """Add the names in the target of an assignment."""
    if target is None:
        return
    if target.kind == "Name":
        found.add(target.id)
    elif target.kind == "Tuple":
        for part in target.elts:
            add_names(part, found)


class Compiler:
    """Finds the types of a kernel and of all that it calls.

    Attributes
    ----------
    doubles : dict
        Line -> what is computed in float64 there.
    """

    def __init__(self):
        self.known = {}
        self.doubles = {}

    def kernel(self, function: Function, kinds: tuple) -> Typed:
        """Return a kernel for arguments of these types."""
        typed = self.typed(function, kinds)
        if typed.result.kind != "none":
            line = typed.result.line
            raise Refusal(
                line, "a kernel returns nothing", "store the value in an array"
            )
        return typed

    def typed(self, function: Function, kinds: tuple) -> Typed:
        """Return a function for arguments of these types."""
        key = (id(function.node), kinds)
        if key not in self.known:
            typed = Typed(function, clone(function.node), kinds)
            self.known[key] = typed
            Inference(self, typed, None).run([Value(kind) for kind in kinds])
        return self.known[key]

    def double(self, line: int, text: str) -> None:
        """Note what is computed in float64."""
        self.doubles.setdefault(line, text)


class Inference:
    """Finds the types in one function, for certain arguments.

    Names are looked up where the text stands: ``names`` holds those of the function at
    this point, or is None where nobody comes.
    """

    def __init__(self, compiler: Compiler, typed: Typed, outer: object):
        self.compiler = compiler
        self.typed = typed
        self.outer = outer  # the inference of the function around a closure
        self.find = typed.function.find
        self.local = assigned(typed.node.body, set())
        self.names = {}
        self.loops = []  # around this point, with the names at their breaks
        self.turned = {}  # a loop -> the names as its last turn left them
        self.results = []
        self.changed = False

    def run(self, arguments: list) -> None:
        """Read the function until no type changes."""
        parameters = self.typed.node.parameters
        for self.round in range(MOST_ROUNDS):
            self.names = {}
            self.loops, self.branches = [], 0
            for parameter, value in zip(parameters, arguments):
                self.local.add(parameter.name)
                self.store_name(parameter.name, value)
            self.changed = False
            self.results = []
            self.block(self.typed.node.body)
            if not self.changed:
                break
        if self.names is not None:
            self.give(NONE, self.typed.node.line)
        self.typed.result = self.result()

    def give(self, value: Value, line: int) -> None:
        """Note what the function returns on one of its ways."""
        if hasattr(value, "made_here") and not isinstance(self.typed.function, Closure):
            raise Refusal(
                line,
                "a function cannot give back an array that it made",
                "make it in the kernel, and pass it as an argument",
            )
        self.results.append(self.at(value, line))

    def result(self) -> Value:
        """Return what the function returns on all of its ways."""
        if not self.results:
            return self.at(Value("none"), self.typed.node.line)
        found = self.results[0]
        for value in self.results[1:]:
            line = value.line if value.kind != "none" else found.line
            found = self.at(joined(found, value), line)
        if found.kind in ("maybe", "clash"):
            what = (
                "nothing on some of its ways"
                if found.kind == "maybe"
                else ("values of different types")
            )
            raise Refusal(
                found.line,
                f"the function returns {what}",
                "return a value of one type at the end of every way",
                declined="functions",
            )
        return found

    def at(self, value: Value, line: int) -> Value:
        value = Value(value.kind, value.const, value.bits, value.fixed)
        value.line = line
        return value

    # ---- statements

    def block(self, body: list) -> None:
        """Read statements; those behind a return are read by nobody."""
        for node in body:
            if self.names is None:
                return
            node.reached = True
            read = getattr(self, "read_" + node.kind, None)
            if read is None:
                raise Refusal(node.line, f"{node.kind} has no place in a kernel")
            try:
                read(node)
            except NotYet:
                sure = len(self.loops) + self.branches == 1  # to come here at once
                if not self.loops or sure or self.round > 2:
                    raise
                self.changed = True  # a later line of the loop may give it one

    def read_Refused(self, node: Node) -> None:
        raise Refusal(
            node.line,
            f"{node.what} has no place in a kernel",
            INSTEAD.get(node.what, ""),
            OWN_CHOICE.get(node.what, ""),
        )

    def read_Pass(self, node: Node) -> None:
        """Nothing to do."""

    def read_Expr(self, node: Node) -> None:
        if node.value.kind == "Constant" and isinstance(node.value.value, str):
            return  # a docstring
        value = self.value(node.value)
        path = value.const.path if isinstance(value.const, Thing) else ""
        if path in ("cuda.syncthreads", "cuda.syncwarp"):
            raise Refusal(
                node.line, f"{path} is not called", f"{path}()", declined="mention"
            )

    def read_Assign(self, node: Node) -> None:
        if node.value.kind == "Lambda":
            return self.read_lambda(node)
        value = self.value(node.value)
        for target in node.targets:
            name_arrays(target, node.value)
            self.store(target, value)

    def read_lambda(self, node: Node) -> None:
        """Read a lambda with a name as the function that it is."""
        if len(node.targets) != 1 or node.targets[0].kind != "Name":
            raise Refusal(
                node.line, "a lambda needs a name of its own here", declined="functions"
            )
        back = Node("Return", node.line, value=node.value.body)
        function = Node(
            "FunctionDef",
            node.line,
            name=node.targets[0].id,
            decorators=[],
            parameters=node.value.parameters,
            body=[back],
        )
        node.function = function
        self.read_FunctionDef(function)

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
        if node.op == "/" and is_integer(old.kind):
            raise Refusal(
                node.line,
                "/= cannot put a float into a whole number",
                "x = x / y for a float, or //= for a whole number",
            )
        value = self.operate(node, node.op, old, self.value(node.value))
        node.old, node.result = old, value
        self.store(node.target, value)

    def read_Return(self, node: Node) -> None:
        value = NONE if node.value is None else self.value(node.value)
        self.usable(node, value)
        self.give(value, node.line)
        self.names = None

    def read_If(self, node: Node) -> None:
        test = self.truth(node.test)
        node.taken = bool(test.const) if test.known and test.kind != "static" else None
        before, self.names = self.names, dict(self.names)
        self.branches += 1
        if node.taken is False:
            self.names = None
        self.block(node.body)
        after = self.names
        self.names = None if node.taken is True else before
        self.block(node.orelse)
        self.branches -= 1
        self.names = merged(after, self.names)

    def read_While(self, node: Node) -> None:
        self.enter(node)
        test = self.truth(node.test)
        node.taken = bool(test.const) if test.known and test.kind != "static" else None
        out = None if node.taken is True else dict(self.names)
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
        """Come to a loop's head: from before it, and from its last turn."""
        self.names = merged(self.names, self.turned.get(id(node)))
        self.loops.append({"breaks": None, "turns": None})

    def leave(self, node: Node, out: object) -> None:
        """Read a loop's body; go on where it ends."""
        head = dict(self.names)
        self.block(node.body)
        loop = self.loops.pop()
        turn = merged(self.names, loop["turns"])
        if turn is not None:
            self.turned[id(node)] = self.widened(head, turn)
            out = out and merged(out, self.turned[id(node)])
        self.names = out
        self.block(node.orelse)
        self.names = merged(self.names, loop["breaks"])

    def widened(self, head: dict, turn: dict) -> dict:
        """Return the names after a turn; what grows there may grow without end."""
        found = {}
        for name in turn:
            value = turn[name]
            if name in head:
                both = joined(head[name], value)
                grows = both.bits > head[name].bits
                if grows:
                    both = Value(both.kind)
                if (
                    both.kind != head[name].kind
                    or grows
                    or (head[name].known and not both.known)
                ):
                    self.changed = True
                found[name] = both
            else:
                found[name] = value
                self.changed = True
        return found

    def items(self, node: Node) -> Value:
        """Return what a for gives its name, turn by turn."""
        value = self.value(node.iter)
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
            return Value(parts[0])
        self.usable(node, value)
        raise Refusal(
            node.line,
            f"{in_words(value.kind)} has no parts to go through",
            "for i in range(n)",
            declined="tuples",
        )

    def read_Break(self, node: Node) -> None:
        self.loops[-1]["breaks"] = merged(self.loops[-1]["breaks"], self.names)
        self.names = None

    def read_Continue(self, node: Node) -> None:
        self.loops[-1]["turns"] = merged(self.loops[-1]["turns"], self.names)
        self.names = None

    def read_FunctionDef(self, node: Node) -> None:
        if node.decorators:
            raise Refusal(
                node.line,
                "a function inside a kernel has no decorator",
                "take the decorator away, or move the function out",
            )
        node.copies = {}
        closure = Closure(node.name, node, self)
        self.store_name(node.name, Value("static", closure))

    # ---- assignments

    def store(self, target: Node, value: Value) -> None:
        """Give a value to a name, an element, or to several."""
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
        target.got = value
        self.store_name(target.id, value)

    def store_name(self, name: str, value: Value) -> None:
        self.names[name] = value
        self.typed.names.setdefault(name, set()).add(str(value.kind))

    def unpack(self, target: Node, value: Value) -> None:
        if not is_tuple(value.kind):
            raise Refusal(
                target.line,
                f"{in_words(value.kind)} cannot be unpacked",
                declined="tuples",
            )
        if len(value.kind) - 1 != len(target.elts):
            raise Refusal(
                target.line,
                f"{len(value.kind) - 1} values for {len(target.elts)} names",
            )
        for place, part in enumerate(target.elts):
            self.store(part, self.part(value, place))

    def part(self, value: Value, place: int) -> Value:
        """Return one part of a tuple."""
        if value.known:
            return value.const[place]
        known = getattr(value, "parts", None)
        return known[place] if known else Value(value.kind[1 + place])

    def store_element(self, target: Node, value: Value) -> None:
        array = self.value(target.value)
        if not is_array(array.kind):
            what = in_words(array.kind)
            raise Refusal(
                target.line,
                f"{what} has no elements that can be changed",
                "",
                "none" if array.kind == "maybe" else self.choice(array),
            )
        if len(array.kind) > 3:
            raise Refusal(
                target.line,
                "an array around the kernel is a constant",
                "pass it as an argument",
            )
        kind = self.index(target, array.kind).kind
        if not is_number(kind):
            raise Refusal(
                target.line,
                "a row cannot be changed at once",
                "give all indices, element by element",
                declined="slices",
            )
        self.number(target, value, f"an element of {array.kind[1]} holds a number")
        self.narrowed(target.line, value, kind)
        target.value_kind = value.kind

    def narrowed(self, line: int, value: Value, kind: str) -> None:
        """Note a float64 that is made smaller; a constant costs nothing."""
        if value.kind == "float64" and kind != "float64" and not value.fixed:
            self.compiler.double(line, f"a float64 becomes {kind}")

    # ---- expressions

    def value(self, node: Node) -> Value:
        """Return what is known of an expression."""
        read = getattr(self, "value_" + node.kind, None)
        if read is None:
            raise Refusal(node.line, f"{node.kind} has no place in a kernel")
        found = read(node)
        node.got = found
        return found

    def usable(self, node: Node, value: Value) -> Value:
        """Refuse what has no one type."""
        if value.kind == "clash":
            kinds = getattr(value, "kinds", None)
            which = (
                "values of different types"
                if kinds is None
                else " and ".join([in_words(kind) for kind in kinds])
            )
            raise Refusal(
                node.line,
                f"two ways lead here, with {which} under one name",
                "give it one type on all ways",
            )
        if value.kind == "maybe":
            raise Refusal(
                node.line,
                "on some way this is None",
                "start with a number, such as float32(-math.inf)",
                declined="none",
            )
        return value

    def number(self, node: Node, value: Value, wanted: str) -> Value:
        """Refuse what is no number."""
        self.usable(node, value)
        if not is_number(value.kind):
            raise Refusal(
                node.line, f"{wanted}, not {self.named(value)}", "", self.choice(value)
            )
        return value

    def choice(self, value: Value) -> str:
        """Return the sentence on a value that Numba can do more with."""
        if value.kind in ("text", "unicode_type"):
            return "texts"
        if str(value.kind)[:7] == "complex":
            return "complex"
        odd = isinstance(value.kind, str) and "(" in value.kind  # records and the like
        return "tuples" if odd or is_tuple(value.kind) else ""

    def named(self, value: Value) -> str:
        """Return a value that is no number as one says it."""
        if value.kind == "static":
            if isinstance(value.const, Function):
                return f"the function {value.const.name}"
            return f"{type_or_thing(value.const)}"
        return "a text" if value.kind == "text" else in_words(value.kind)

    def truth(self, node: Node) -> Value:
        """Return the value of a test."""
        value = self.usable(node, self.value(node))
        if value.kind == "none":
            return value
        if is_array(value.kind):
            raise Refusal(
                node.line,
                "a whole array is neither true nor false",
                "test one of its elements",
            )
        if is_tuple(value.kind) or value.kind in ("static", "text"):
            raise Refusal(
                node.line, f"{self.named(value)} is no test", declined="tuples"
            )
        if value.kind == "float16":
            raise Refusal(node.line, "a float16 is no test", "compare it with 0")
        return value

    def value_Refused(self, node: Node) -> Value:
        raise Refusal(
            node.line,
            f"{node.what} has no place in a kernel",
            INSTEAD.get(node.what, ""),
            OWN_CHOICE.get(node.what, ""),
        )

    def value_Constant(self, node: Node) -> Value:
        return constant(node.value, node.line)

    def value_Name(self, node: Node) -> Value:
        name = node.id
        if name in self.local:
            if name not in self.names:
                raise NotYet(node.line, f"{name} has no value yet")
            return self.usable_name(node, self.names[name])
        if self.outer is not None:
            return self.outer.value_Name(node)
        return self.around(node)

    def usable_name(self, node: Node, value: Value) -> Value:
        if value.kind == "clash":
            kinds = getattr(value, "kinds", None)
            if kinds:
                a, b = [in_words(kind) for kind in kinds]
                raise Refusal(
                    node.line,
                    f"{node.id} is {a} on one way and {b} on another",
                    "give it one type on all ways",
                )
        return value

    def around(self, node: Node) -> Value:
        """Return what a name around the function stands for."""
        try:
            found = self.find(node.id)
        except KeyError:
            raise Refusal(
                node.line,
                f"the name {node.id} is not defined",
                MISSING.get(node.id, ""),
            ) from None
        if isinstance(found, Unusable):
            raise Refusal(
                node.line,
                found.reason.replace("{name}", node.id),
                found.instead,
                found.declined,
            )
        return constant(found, node.line) if not isinstance(found, Value) else found

    def value_Tuple(self, node: Node) -> Value:
        parts = [self.usable(part, self.value(part)) for part in node.elts]
        kind = ("tuple",) + tuple([part.kind for part in parts])
        if all([part.known for part in parts]):
            return Value(kind, tuple(parts))
        found = Value(kind)
        found.parts = parts
        return found

    def value_NamedExpr(self, node: Node) -> Value:
        raise Refusal(
            node.line,
            "Numba finds no type for what := gives",
            "an assignment on a line of its own",
            declined="statements",
        )

    def value_Lambda(self, node: Node) -> Value:
        raise Refusal(
            node.line, "a lambda needs a name", "f = lambda x: …", declined="functions"
        )

    def value_Slice(self, node: Node) -> Value:
        raise Refusal(
            node.line,
            "a slice has no place in a kernel",
            "go through the elements in a loop",
            declined="slices",
        )

    def value_IfExp(self, node: Node) -> Value:
        test = self.truth(node.test)
        if test.known:  # Numba cuts off what nobody comes to
            return self.value(node.body if test.const else node.orelse)
        body, orelse = self.value(node.body), self.value(node.orelse)
        return self.usable(node, joined(body, orelse))

    def value_BoolOp(self, node: Node) -> Value:
        found = self.truth(node.values[0])
        for place, part in enumerate(node.values[1:]):
            if found.known and bool(found.const) == (node.op == "or"):
                node.values = node.values[: place + 1]  # nobody comes to the others
                return found
            if found.known:
                found = self.truth(part)
                continue
            found = self.usable(node, joined(found, self.truth(part)))
            found = Value(found.kind, bits=found.bits)
        return found

    def value_UnaryOp(self, node: Node) -> Value:
        if node.op == "not":
            value = self.value(node.operand)
            value = value if value.kind == "float16" else self.truth(node.operand)
            if value.known:
                return Value("bool", not value.const, 1)
            return Value("bool")
        value = self.number(
            node, self.value(node.operand), f"{node.op} stands before a number"
        )
        if literal(node.operand) and value.kind != "bool":
            return constant(apply_sign(node.op, value.const), node.line)
        kind = signed(node.op, value.kind)
        if kind is None:
            raise Refusal(
                node.line, f"~ turns the bits of whole numbers, not of {value.kind}"
            )
        bits = value.bits + (1 if node.op == "~" or kind in UNSIGNED else 0)
        if kind in UNSIGNED:
            bits = 65  # below 0 it starts again at the top
        return self.limited(node, Value(kind, bits=bits, fixed=value.fixed))

    def value_BinOp(self, node: Node) -> Value:
        a, b = self.value(node.left), self.value(node.right)
        if literal(node.left) and literal(node.right):
            folded = fold(node.op, a.const, b.const)
            if folded is not UNKNOWN:
                return constant(folded, node.line)
            a = Value(a.kind, bits=a.bits)  # 1 / 0: left to the device
        return self.operate(node, node.op, a, b)

    def operate(self, node: Node, sign: str, a: Value, b: Value) -> Value:
        """Return the value of an operation between two numbers."""
        self.usable(node, a), self.usable(node, b)
        if is_tuple(a.kind) and is_tuple(b.kind) and sign == "+":
            return Value(a.kind + b.kind[1:])
        for value in (a, b):
            if not is_number(value.kind):
                raise Refusal(
                    node.line,
                    f"{sign} needs two numbers, not {self.named(value)}",
                    "take one of its elements" if is_array(value.kind) else "",
                    self.choice(value) if self.choice(value) != "none" else "",
                )
        kind = operation(sign, a.kind, b.kind)
        multiplied = b.known and node.kind == "BinOp"  # a constant power
        if (
            sign == "**"
            and is_integer(b.kind)
            and not (multiplied or a.fixed and b.fixed)
        ):
            self.compiler.double(
                node.line, f"{a.kind} ** {b.kind} is computed in float64"
            )
        if kind is None:
            raise Refusal(
                node.line,
                f"{a.kind} {sign} {b.kind} does not exist",
                "convert first, as in int32(x)" if sign != "@" else "",
            )
        fixed = a.fixed and b.fixed
        if kind == "float64" and not fixed:
            self.compiler.double(
                node.line, f"{a.kind} {sign} {b.kind} is computed in float64"
            )
        if not is_integer(kind):
            return Value(kind, fixed=fixed)
        bits = bits_after(sign, a, b, kind)
        return self.limited(node, Value(kind, bits=bits, fixed=fixed))

    def limited(self, node: Node, value: Value) -> Value:
        """Note whether a whole number can leave its type, and so has to wrap."""
        most = WHOLE_BITS[value.kind] if is_integer(value.kind) else 0
        node.wraps = bool(most) and value.bits >= most + (value.kind in UNSIGNED)
        if node.wraps:
            value.bits = most
        return value

    def value_Compare(self, node: Node) -> Value:
        left = self.value(node.left)
        values = [left]
        for op, other in zip(node.ops, node.comparators):
            right = self.value(other)
            values.append(right)
            if op in ("in", "not in"):
                raise Refusal(
                    node.line,
                    f"{op} has no place in a kernel",
                    "compare with each of them",
                    declined="identity",
                )
            if op in ("is", "is not"):
                return self.identity(node, op, left, right)
            self.comparable(node, op, left, right)
            left = right
        if len(values) == 2 and values[0].known and values[1].known:
            known = COMPARED[node.ops[0]](values[0].const, values[1].const)
            return Value("bool", known, 1)
        return Value("bool")

    def identity(self, node: Node, op: str, left: Value, right: Value) -> Value:
        """Return whether something is None: known before the kernel runs."""
        if len(node.ops) > 1 or "none" not in (left.kind, right.kind):
            raise Refusal(
                node.line,
                f"{op} has no place in a kernel",
                "compare with ==",
                declined="identity",
            )
        for value in (left, right):
            if value.kind in ("maybe", "clash"):
                self.usable(node, value)
        return Value("bool", (left.kind == right.kind) == (op == "is"), 1)

    def comparable(self, node: Node, op: str, a: Value, b: Value) -> None:
        """Refuse a comparison that means nothing; note one in float64."""
        self.usable(node, a), self.usable(node, b)
        for value in (a, b):
            if not is_number(value.kind):
                none = "none" if "none" in (a.kind, b.kind) else ""
                raise Refusal(
                    node.line,
                    f"{op} compares numbers, not {self.named(value)}",
                    "",
                    none or self.choice(value),
                )
        if compared(a.kind, b.kind) != "float64" or (a.fixed and b.fixed):
            return
        if a.kind in FLOATS or b.kind in FLOATS:
            if not (self.exact(a, b) or self.exact(b, a)):
                self.compiler.double(
                    node.line, f"{a.kind} {op} {b.kind} is compared in float64"
                )

    def exact(self, number: Value, other: Value) -> bool:
        """Say whether a constant can be compared in float32 just as well."""
        if not number.known or other.kind not in ("float16", "float32"):
            return False
        value = float(number.const)
        if value != value or value - value != 0:
            return True
        step = abs(value)
        while step >= 2**24:
            step /= 2
        while 0 < step < 2**23:
            step *= 2
        return step == int(step)

    # ---- attributes and elements

    def value_Attribute(self, node: Node) -> Value:
        base = self.usable(node, self.value(node.value))
        if base.kind == "static":
            return self.static_attribute(node, base.const)
        if is_array(base.kind):
            kind, name = base.kind, node.attr
            if name == "shape":
                return Value(("tuple",) + ("int64",) * kind[2], bits=MEMORY_BITS)
            if name == "size":
                return Value("int64", bits=MEMORY_BITS)
            if name == "ndim":
                return constant(kind[2], node.line)
            if name == "dtype":
                return Value("static", Type(kind[1]))
            raise Refusal(
                node.line,
                f"{name} of an array has no place in a kernel",
                "go through the elements in a loop",
                declined="views",
            )
        raise Refusal(
            node.line,
            f"{self.named(base)} has no {node.attr}",
            "",
            "views" if is_number(base.kind) else self.choice(base),
        )

    def static_attribute(self, node: Node, const: object) -> Value:
        if isinstance(const, Thing):
            child = const.child(node.attr)
            if child is None:
                raise Refusal(
                    node.line,
                    f"a kernel knows no {const.path}.{node.attr}",
                    REPLACED.get(const.path, ""),
                    "library" if node.attr in LIBRARY else "",
                )
            return self.thing(child)
        found = getattr(const, node.attr, None) if is_module(const) else None
        if found is None:
            what = type_or_thing(const)
            raise Refusal(
                node.line, f"{what} has no {node.attr} for a kernel", "", "library"
            )
        return self.around_value(node, found)

    def around_value(self, node: Node, found: object) -> Value:
        """Return an attribute of a module around the kernel."""
        holder = Node("Name", node.line, id=node.attr)
        resolve = self.typed.function.resolve or resolve_or_raise
        wanted, self.find = self.find, lambda name: resolve(found)
        try:
            return self.around(holder)
        finally:
            self.find = wanted

    def thing(self, child: object) -> Value:
        """Return the value of something by its path."""
        path = child.path if isinstance(child, Thing) else ""
        parts = path.split(".")
        if len(parts) == 3 and parts[1] in DIMS:
            return Value("int32", bits=RANGE_BITS)
        if path in ("cuda.laneid", "cuda.warpsize"):
            return Value("int32", bits=6)
        if parts[0] in ("math", "numpy") and parts[-1] in NUMBERS:
            return Value("float64", NUMBERS[parts[-1]])
        return Value("static", child)

    def value_Subscript(self, node: Node) -> Value:
        base = self.usable(node, self.value(node.value))
        if is_array(base.kind):
            return self.index(node, base.kind)
        if is_tuple(base.kind):
            return self.tuple_part(node, base)
        raise Refusal(
            node.line, f"{self.named(base)} has no elements", "", self.choice(base)
        )

    def tuple_part(self, node: Node, base: Value) -> Value:
        """Return the part of a tuple; which one, if not known, must not matter."""
        place = self.number(node, self.value(node.slice), "an index is a whole number")
        if not is_integer(place.kind):
            raise Refusal(node.line, "an index is a whole number")
        parts = base.kind[1:]
        if place.known:
            if not -len(parts) <= place.const < len(parts):
                raise Refusal(
                    node.line, f"a tuple of {len(parts)} has no part {place.const}"
                )
            found = self.part(base, place.const % len(parts))
            most = base.bits if base.bits and is_integer(found.kind) else found.bits
            return found if found.known else Value(found.kind, bits=most)
        if not parts or [part for part in parts if part != parts[0]]:
            raise Refusal(
                node.line,
                "the parts of this tuple have several types",
                "use a constant index",
            )
        return Value(parts[0])

    def index(self, node: Node, kind: tuple) -> Value:
        """Return an element of an array, or a part of it with fewer dimensions."""
        several = node.slice.kind == "Tuple"
        indices = node.slice.elts if several else [node.slice]
        value = self.value(node.slice)
        if is_tuple(value.kind) and not several:  # a name that stands for a tuple
            kinds = list(value.kind[1:])
        else:
            kinds = list(value.kind[1:]) if several else [value.kind]
        for given in kinds:
            if not is_integer(given) or given == "bool":
                self.usable(node, value)
                what = given if is_number(given) else in_words(given)
                raise Refusal(
                    node.line,
                    f"an index is a whole number, not {what}",
                    "int32(…)" if given in FLOATS else "",
                )
        if len(kinds) > kind[2]:
            raise Refusal(node.line, f"{len(kinds)} indices for {in_words(kind)}")
        node.spread = is_tuple(value.kind) and not several
        node.indices = len(indices)
        return self.element(kind, len(kinds))

    def element(self, kind: tuple, indices: int) -> Value:
        """Return what so many indices leave of an array."""
        if indices == kind[2]:
            return Value(kind[1])
        return Value((kind[0], kind[1], kind[2] - indices) + kind[3:])

    # ---- calls

    def value_Call(self, node: Node) -> Value:
        called = self.usable(node, self.value(node.func)).const
        if isinstance(called, Function):
            return self.call_function(node, called)
        if isinstance(called, Type):
            return self.convert(node, called)
        if not isinstance(called, Thing):
            value = node.func.got
            raise Refusal(node.line, f"{self.named(value)} cannot be called")
        path = called.path
        node.path = path
        group, _, name = path.rpartition(".")
        read = CALLS.get(path) or GROUPS.get(group)
        if read is None:
            raise Refusal(node.line, f"{path} cannot be called")
        return getattr(self, read)(node, name)

    def take(self, node: Node, *wanted: str) -> list:
        """Return the arguments' values in order; those named last can be left out.

        A name in brackets, as in "[mask]", need not be given.
        """
        names = [name.strip("[]") for name in wanted]
        given = {}
        known = node.path.endswith(".array") or node.path in ALIASES
        if node.keywords and not known:
            raise Refusal(
                node.line,
                f"{node.path} takes no names of parameters",
                "the values in order",
            )
        for place, arg in enumerate(node.args):
            if place >= len(names):
                raise Refusal(
                    node.line,
                    f"{node.path} takes {len(names)} values, not"
                    f" {len(node.args) + len(node.keywords)}",
                )
            given[names[place]] = arg
        for name, arg in node.keywords:
            if name not in names or name in given:
                raise Refusal(node.line, f"{node.path} takes no {name} here")
            given[name] = arg
        node.bound = [given.get(name) for name in names]
        for name, full in zip(names, wanted):
            if name not in given and full[0] != "[":
                raise Refusal(node.line, f"{node.path} needs {', '.join(names)}")
        return [
            None if arg is None else self.usable(node, self.value(arg))
            for arg in node.bound
        ]

    def numbers(self, node: Node, *wanted: str) -> list:
        """Return the arguments' values, all of which have to be numbers."""
        found = self.take(node, *wanted)
        for value in found:
            if value is not None:
                self.number(node, value, f"{node.path} takes numbers")
        return found

    def integer(self, node: Node, value: Value, what: str) -> None:
        """Refuse what is no whole number."""
        if value is not None and not is_integer(value.kind):
            raise Refusal(
                node.line,
                f"{what} is a whole number, not {self.named(value)}",
                "int32(…)",
                "floats" if value.kind in FLOATS else "",
            )

    def call_function(self, node: Node, function: Function) -> Value:
        """Return what a device function, or one inside the kernel, gives back."""
        if node.keywords and isinstance(function, Closure):
            raise Refusal(
                node.line,
                "a function inside a kernel takes no names of parameters in its call",
                "the values in order",
            )
        node.args = self.arranged(node, function)
        node.keywords = []
        values = [self.usable(node, self.value(arg)) for arg in node.args]
        if isinstance(function, Closure):
            typed = self.inlined(node, function, values)
        else:
            for value in values:
                if value.kind in ("static", "text"):
                    raise Refusal(
                        node.line,
                        f"{self.named(value)} cannot be handed to a function",
                        "use it there by its name",
                        declined="functions",
                    )
            kinds = tuple([value.kind for value in values])
            typed = self.compiler.typed(function, kinds)
        if typed.result is None:
            raise Refusal(node.line, f"{function.name} calls itself", "use a loop")
        node.typed = typed
        if typed.meets:
            self.meet()
        return Value(typed.result.kind, bits=typed.result.bits)

    def arranged(self, node: Node, function: Function) -> list:
        """Return the arguments of a call in the order of the parameters."""
        parameters = function.node.parameters
        for parameter in parameters:
            if parameter.stars:
                raise Refusal(
                    parameter.line,
                    "a star before a parameter has no place in a kernel",
                    "name every parameter",
                    declined="functions",
                )
        for arg in node.args:
            if arg.kind == "Refused":
                self.value(arg)
        given = dict(zip([p.name for p in parameters], node.args))
        names = [parameter.name for parameter in parameters]
        for name, arg in node.keywords:
            if name not in names or name in given:
                raise Refusal(node.line, f"{function.name} takes no {name} here")
            given[name] = arg
        missing = [p for p in parameters if p.name not in given and p.default is None]
        if missing or len(node.args) > len(parameters):
            raise Refusal(
                node.line,
                f"{function.name} takes {', '.join(names)};"
                f" {len(node.args) + len(node.keywords)} given",
            )
        return [given.get(p.name, p.default) for p in parameters]

    def inlined(self, node: Node, closure: Closure, values: list) -> Typed:
        """Return a function inside the kernel, for this call of it."""
        if closure.node in self.around_me():
            raise Refusal(node.line, f"{closure.name} calls itself", "use a loop")
        typed = Typed(closure, clone(closure.node), tuple([v.kind for v in values]))
        Inference(self.compiler, typed, self).run(values)
        closure.node.copies[id(node)] = typed
        return typed

    def around_me(self) -> list:
        """Return the functions inside the kernel that are being read."""
        found, inference = [], self
        while inference.outer is not None:
            found.append(inference.typed.function.node)
            inference = inference.outer
        return found

    def meet(self) -> None:
        """Threads meet here, and so in the function."""
        self.typed.meets = True

    def convert(self, node: Node, dtype: Type) -> Value:
        """Return a number in another type: float32(x)."""
        node.path = dtype.name
        (value,) = self.numbers(node, "x")
        self.narrowed(node.line, value, dtype.name)
        if dtype.name == "bool":
            self.no_half(node, value)
        if dtype.name == "float64" and not value.fixed:
            self.compiler.double(node.line, f"a {value.kind} becomes float64")
        if is_integer(dtype.name) and is_integer(value.kind):
            bits = min(value.bits, WHOLE_BITS[dtype.name])
            node.wraps = value.bits >= WHOLE_BITS[dtype.name] or (
                dtype.name in UNSIGNED and value.kind not in UNSIGNED
            )
            return Value(dtype.name, bits=bits, fixed=value.fixed)
        node.wraps = True
        return Value(dtype.name, fixed=value.fixed)

    def call_range(self, node: Node, name: str) -> Value:
        given = len(node.args)
        if node.keywords or not 1 <= given <= 3:
            raise Refusal(
                node.line, "range takes a stop, or a start, a stop and a step"
            )
        values = self.numbers(node, "start", "[stop]", "[step]")
        values = [value for value in values if value is not None]
        for value in values:
            self.integer(node, value, "a bound of range")
        kinds = [value.kind for value in values]
        if len(values) == 3 and values[2].known and values[2].const == 0:
            raise Refusal(node.line, "range takes a step that is not 0")
        kind = "int64"
        if not [
            k
            for k in kinds
            if k not in ("bool", "int8", "int16", "int32", "uint8", "uint16")
        ] and not all([value.known for value in values]):
            kind = "int32"
        if [k for k in kinds if k in UNSIGNED]:
            kind = "uint64"
        return Value(("range", kind), bits=max([v.bits for v in values[:2]]) + 1)

    def call_len(self, node: Node, name: str) -> Value:
        (value,) = self.take(node, "x")
        if is_tuple(value.kind) or is_array(value.kind):
            return Value("int64", bits=MEMORY_BITS)
        raise Refusal(
            node.line, f"{self.named(value)} has no length", declined="tuples"
        )

    def call_extreme(self, node: Node, name: str) -> Value:
        if node.keywords or len(node.args) < 2:
            raise Refusal(
                node.line,
                f"{name} takes two numbers or more",
                "go through the elements in a loop",
                declined="loops",
            )
        node.bound = node.args
        values = [
            self.number(node, self.value(arg), f"{name} takes numbers")
            for arg in node.args
        ]
        kind, fixed = values[0].kind, values[0].fixed
        for value in values[1:]:
            if "bool" in (kind, value.kind) and (kind != value.kind or len(values) > 2):
                raise Refusal(
                    node.line, f"{name} takes no bool beside other numbers", "int32(…)"
                )
            fixed = fixed and value.fixed
            wide = unified(kind, value.kind)
            if wide == "float64" and not fixed:
                self.compiler.double(
                    node.line, f"{name}({kind}, {value.kind}) is computed in float64"
                )
            kind = wide
        return Value(kind, bits=max([value.bits for value in values]), fixed=fixed)

    def call_abs(self, node: Node, name: str) -> Value:
        (value,) = self.numbers(node, "x")
        kind = "int8" if value.kind == "bool" else value.kind
        return Value(kind, bits=value.bits, fixed=value.fixed)

    def call_int(self, node: Node, name: str) -> Value:
        (value,) = self.numbers(node, "x")
        if value.kind in FLOATS:
            node.path = "int64"
            return Value("int64", fixed=value.fixed)
        kind = "int64" if value.kind == "bool" else value.kind
        return Value(kind, bits=value.bits, fixed=value.fixed)

    def call_float(self, node: Node, name: str) -> Value:
        (value,) = self.take(node, "x")
        if value.kind == "text" and value.const.strip().lower() in SPELLED:
            return Value("float64", float(value.const))
        self.number(node, value, "float takes numbers")
        if value.kind == "bool":
            raise Refusal(node.line, "float takes no bool", "float32(…)")
        kind = value.kind if value.kind in FLOATS else "float64"
        if kind == "float64" and not value.fixed:
            self.compiler.double(node.line, f"a {value.kind} becomes float64")
        return Value(kind, fixed=value.fixed)

    def call_bool(self, node: Node, name: str) -> Value:
        (value,) = self.numbers(node, "x")
        self.no_half(node, value)
        return Value("bool")

    def no_half(self, node: Node, value: Value) -> None:
        if value.kind == "float16":
            raise Refusal(node.line, "a float16 is no test", "compare it with 0")

    def call_round(self, node: Node, name: str) -> Value:
        value, digits = self.numbers(node, "x", "[digits]")
        if digits is None:
            if not value.fixed:
                self.compiler.double(node.line, "round is computed in float64")
            return Value("int64", fixed=value.fixed)
        raise Refusal(
            node.line, "round to digits has no place in a kernel", declined="small"
        )

    def call_pow(self, node: Node, name: str) -> Value:
        a, b = self.numbers(node, "x", "y")
        return self.operate(node, "**", a, b)

    def call_divmod(self, node: Node, name: str) -> Value:
        a, b = self.numbers(node, "x", "y")
        if "bool" in (a.kind, b.kind) or unified(a.kind, b.kind) in FLOATS:
            raise Refusal(
                node.line, "divmod takes whole numbers here", "x // y, x % y", "small"
            )
        quotient = self.operate(node, "//", a, b)
        found = Value(("tuple", quotient.kind, quotient.kind))
        found.parts = [quotient, self.operate(node, "%", a, b)]
        return found

    def call_math(self, node: Node, name: str) -> Value:
        node.bound = node.args
        values = [
            self.number(node, self.value(arg), f"math.{name} takes numbers")
            for arg in node.args
        ]
        kind = of_math(name, [value.kind for value in values])
        if kind is None or node.keywords:
            raise Refusal(node.line, f"math.{name} takes no {len(values)} numbers")
        fixed = not [value for value in values if not value.fixed]
        if kind == "float64" and not fixed:
            self.compiler.double(
                node.line, f"math.{name} of {values[0].kind} is computed in float64"
            )
        return Value(kind, fixed=fixed)

    def call_grid(self, node: Node, name: str) -> Value:
        (value,) = self.take(node, "ndim")
        if not value.known or value.const not in (1, 2, 3) or value.kind == "bool":
            raise Refusal(
                node.line,
                f"cuda.{name} takes the number of dimensions, 1, 2 or 3",
                f"cuda.{name}(1)",
            )
        if value.const == 1:
            return Value("int64", bits=MEMORY_BITS)
        found = Value(("tuple",) + ("int64",) * value.const, bits=MEMORY_BITS)
        found.parts = [Value("int64", bits=MEMORY_BITS)] * value.const
        return found

    def call_array(self, node: Node, name: str) -> Value:
        """Return a shared or local array, whose size is a constant."""
        space = node.path.split(".")[1]
        shape, dtype, alignment = self.take(node, "shape", "dtype", "[alignment]")
        node.shape = self.extents(node, shape, space)
        node.dtype = self.dtype(node, dtype)
        if alignment is not None and not (
            alignment.known
            and is_integer(alignment.kind)
            and alignment.const > 0
            and alignment.const & (alignment.const - 1) == 0
        ):
            raise Refusal(node.line, "alignment is a power of two", "alignment=16")
        found = Value(("array", node.dtype.name, len(node.shape)))
        found.made_here = True
        return found

    def extents(self, node: Node, shape: Value, space: str) -> tuple:
        """Return the shape of an array, if the compiler knows it."""
        parts = [shape]
        if is_tuple(shape.kind):
            parts = [self.part(shape, i) for i in range(len(shape.kind) - 1)]
        instead = (
            "compute it outside the kernel, or give the number a name there, and use"
            " the name alone"
        )
        for part in parts:
            if part.kind in ("static", "text", "none") or not is_integer(part.kind):
                raise Refusal(
                    node.line,
                    f"the size of a {space} array is a whole"
                    f" number, not {self.named(part)}",
                    instead,
                )
            if not part.known or part.kind == "bool":
                raise Refusal(
                    node.line,
                    f"the size of a {space} array has to be a constant",
                    instead,
                )
        sizes = tuple([part.const for part in parts])
        least = 0 if space == "shared" and len(sizes) == 1 else 1
        if not sizes or min(sizes) < least:
            raise Refusal(
                node.line,
                f"a {space} array of {list(sizes)} elements",
                "a size from 1 on",
            )
        return sizes

    def dtype(self, node: Node, value: Value) -> Type:
        """Return the type of an array's elements."""
        const = value.const
        if value.kind == "text":
            const = type_of_name(const)
        if not isinstance(const, Type):
            raise Refusal(
                node.line, "the elements of an array need a type of Numba's", "float32"
            )
        return const

    def call_constant_array(self, node: Node, name: str) -> Value:
        (value,) = self.take(node, "array")
        if not is_array(value.kind) or len(value.kind) < 4:
            raise Refusal(
                node.line, "cuda.const.array_like takes an array around the kernel"
            )
        return value

    def call_meeting(self, node: Node, name: str) -> Value:
        """Return what threads give each other where they meet."""
        self.meet()
        if name == "syncthreads":
            self.take(node)
            return Value("none")
        if name == "syncwarp":
            (mask,) = self.take(node, "[mask]")
            self.integer(node, mask, "a mask")
            return Value("none")
        if name in COUNTS:
            (test,) = self.numbers(node, "predicate")
            self.integer(node, test, "what is counted")
            if test.kind == "bool":
                raise Refusal(
                    node.line, f"cuda.{name} takes a whole number, not bool", "int32(…)"
                )
            return Value("int32")
        if name in VOTES:
            mask, value = self.numbers(node, "mask", "predicate")
            self.integer(node, mask, "a mask")
            takes, kind = VOTES[name]
            if takes == "test":
                self.integer(node, value, "what is asked")
            if is_tuple(kind):
                return Value(kind)
            return Value(kind)
        mask, value, lane = self.numbers(node, "mask", "value", SHUFFLE_NAMES[name])
        if mask.kind not in ("int32", "uint32", "int64", "uint64"):
            raise Refusal(
                node.line,
                f"a mask is a whole number of 32 bits, not {mask.kind}",
                "0xffffffff",
            )
        self.integer(node, lane, "a lane")
        if value.kind not in ("int32", "int64", "float32", "float64"):
            raise Refusal(
                node.line,
                f"a shuffle hands on int32, int64, float32 or"
                f" float64, not {value.kind}",
                "float32(…)",
            )
        return Value(value.kind, bits=value.bits)

    def call_atomic(self, node: Node, name: str) -> Value:
        """Return what was in the element that an atomic changes."""
        takes, count = ATOMICS[name]
        names = ("old", "value") if count == 2 else ("value",)
        array, index, *values = self.take(node, "array", "index", *names)
        if not is_array(array.kind) or len(array.kind) > 3:
            raise Refusal(
                node.line,
                f"cuda.atomic.{name} changes an element of an"
                " argument or of shared memory",
                "",
                "constants" if is_array(array.kind) else "",
            )
        dtype = array.kind[1]
        known = {
            "numbers": ("int32", "uint32", "int64", "uint64", "float32", "float64"),
            "integers": ("int32", "uint32", "int64", "uint64"),
            "unsigned": ("uint32", "uint64"),
        }[takes]
        if dtype not in known:
            raise Refusal(
                node.line,
                f"cuda.atomic.{name} knows no arrays of {dtype},"
                f" only of {', '.join(known)}",
            )
        self.atomic_index(node, index, array.kind)
        for value in values:
            self.number(node, value, f"cuda.atomic.{name} takes numbers")
            self.narrowed(node.line, value, dtype)
        node.element = dtype
        return Value(dtype)

    def atomic_index(self, node: Node, index: Value, kind: tuple) -> None:
        kinds = index.kind[1:] if is_tuple(index.kind) else (index.kind,)
        for given in kinds:
            if not is_integer(given) or given == "bool":
                raise Refusal(
                    node.line,
                    f"an index is a whole number, not {in_words(given)}",
                    "int32(…)",
                    "floats" if given in FLOATS else "",
                )
        if len(kinds) != kind[2] or (kind[2] == 1 and is_tuple(index.kind)):
            raise Refusal(
                node.line,
                f"{len(kinds)} indices for {in_words(kind)}",
                "an integer" if kind[2] == 1 else "a tuple of all indices",
            )

    def call_swap(self, node: Node, name: str) -> Value:
        array, old, value = self.take(node, "array", "old", "value")
        if not is_array(array.kind) or array.kind[1] not in (
            "int32",
            "uint32",
            "int64",
            "uint64",
        ):
            raise Refusal(
                node.line,
                "cuda.atomic.compare_and_swap changes an array of"
                " int32, uint32, int64 or uint64",
            )
        self.number(node, old, "old is a number")
        self.number(node, value, "a value is a number")
        node.element = array.kind[1]
        return Value(array.kind[1])

    def call_cuda(self, node: Node, name: str) -> Value:
        """Return what the other functions of ``cuda`` give."""
        if name in FENCES:
            values = self.numbers(node, *(["ns"] if name == "nanosleep" else []))
            for value in values:
                self.integer(node, value, "a time")
            return Value("none")
        if name in ("activemask", "lanemask_lt"):
            self.take(node)
            if name == "activemask":  # which lanes come together is found out there
                self.meet()
            return Value("uint32")
        if name in BITS:
            (value,) = self.numbers(node, "x")
            return Value(self.one_of(node, name, BITS[name], value.kind))
        if name == "cbrt":
            (value,) = self.numbers(node, "x")
            kind = (
                "float64"
                if value.kind not in SMALL + ("float16", "float32")
                else ("float32")
            )
            self.doubled(node, kind, name)
            return Value(kind)
        if name == "fma":
            values = self.numbers(node, "a", "b", "c")
            wide = [v for v in values if v.kind not in SMALL + ("float16", "float32")]
            kind = "float64" if wide else "float32"
            self.doubled(node, kind, name)
            return Value(kind)
        return self.call_selp(node)

    def call_selp(self, node: Node) -> Value:
        """Return one of two numbers of the same type."""
        if node.path != "cuda.selp":
            raise Refusal(node.line, f"{node.path} has no place in a kernel")
        test, a, b = self.numbers(node, "test", "a", "b")
        if (
            test.kind != "bool"
            or a.kind != b.kind
            or a.kind in ("bool", "float16")
            or (SIZES[a.kind] == 1)
        ):
            raise Refusal(
                node.line,
                "cuda.selp takes a test and two numbers of one type",
                "a if test else b",
            )
        return joined(Value(a.kind, bits=a.bits), b)

    def one_of(self, node: Node, name: str, kinds: dict, kind: str) -> str:
        """Return the type of an answer; refuse what is not among the questions'."""
        if kind not in kinds:
            raise Refusal(
                node.line,
                f"cuda.{name} takes {', '.join(sorted(kinds))}, not {kind}",
                "int32(…)",
                declined="small",
            )
        return kinds[kind]

    def doubled(self, node: Node, kind: str, name: str) -> None:
        if kind == "float64":
            self.compiler.double(node.line, f"cuda.{name} is computed in float64")


def type_or_thing(const: object) -> str:
    """Return something that only the compiler sees as one says it."""
    if isinstance(const, (Thing, Type)):
        return str(const)
    return f"a {type(const).__name__}"


def literal(node: Node) -> bool:
    """Say whether Python computes an expression when it reads the text."""
    if node.kind == "Constant":
        return isinstance(node.value, (int, float, bool))
    if node.kind == "UnaryOp":
        return node.op != "~" and literal(node.operand)
    if node.kind == "BinOp":
        return literal(node.left) and literal(node.right)
    return False


def apply_sign(sign: str, value: object) -> object:
    return {"-": -value, "+": value}[sign] if sign in "+-" else ~value


def fold(sign: str, a: object, b: object) -> object:
    """Return what Python makes of an operation between constants, or UNKNOWN."""
    try:
        if sign == "**" and not (abs(b) <= 64 and abs(a) <= 2**64):
            return UNKNOWN
        return FOLDED[sign](a, b) if sign in FOLDED else UNKNOWN
    except (ArithmeticError, TypeError, ValueError):
        return UNKNOWN


FOLDED = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
    "<<": lambda a, b: a << b if b < 64 else UNKNOWN,
    ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


COMPARED = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def bits_after(sign: str, a: Value, b: Value, kind: str) -> int:
    """Return how many bits a whole number may need after an operation."""
    x, y = a.bits, b.bits
    positive = [v.bits for v in (a, b) if v.known and v.const >= 0]
    if sign in ("+", "-"):
        bits = 65 if sign == "-" and kind in UNSIGNED else max(x, y) + 1
    elif sign == "*":
        bits = x + y
    elif sign == "&":
        bits = min(positive) if positive else max(x, y)
    elif sign == "<<":
        bits = x + b.const if b.known and 0 <= b.const < 64 else 65
    elif sign == "**":
        bits = 65
    elif sign == "%":
        bits = y
    else:
        bits = x if sign in ("//", ">>") else max(x, y)
    return max(bits, 1)


class Unusable:
    """What a name around a kernel stands for, where no kernel can use it."""

    def __init__(self, reason: str, instead: str = "", declined: str = ""):
        self.reason = reason
        self.instead = instead
        self.declined = declined


def resolve_or_raise(found: object) -> object:
    return found


def is_module(value: object) -> bool:
    """Say whether a value is a module of Python's."""
    return type(value).__name__ == "module"


INF = float("inf")
SPELLED = ("inf", "+inf", "-inf", "nan", "infinity", "-infinity")
NUMBERS = {
    "pi": 3.141592653589793,
    "e": 2.718281828459045,
    "tau": 6.283185307179586,
    "inf": INF,
    "nan": INF - INF,
}
SHUFFLE_NAMES = {
    "shfl_sync": "src_lane",
    "shfl_xor_sync": "lane_mask",
    "shfl_up_sync": "delta",
    "shfl_down_sync": "delta",
}
CALLS = {
    "range": "call_range",
    "len": "call_len",
    "min": "call_extreme",
    "max": "call_extreme",
    "abs": "call_abs",
    "int": "call_int",
    "float": "call_float",
    "bool": "call_bool",
    "round": "call_round",
    "pow": "call_pow",
    "divmod": "call_divmod",
    "cuda.grid": "call_grid",
    "cuda.gridsize": "call_grid",
    "cuda.shared.array": "call_array",
    "cuda.local.array": "call_array",
    "cuda.const.array_like": "call_constant_array",
    "cuda.atomic.compare_and_swap": "call_swap",
}
CALLS.update({"cuda." + name: "call_meeting" for name in SHUFFLES + COUNTS})
CALLS.update({"cuda." + name: "call_meeting" for name in VOTES})
CALLS.update({"cuda.syncthreads": "call_meeting", "cuda.syncwarp": "call_meeting"})
GROUPS = {"math": "call_math", "cuda.atomic": "call_atomic", "cuda": "call_cuda"}
MISSING = {
    "math": "import math",
    "cuda": "from numba import cuda",
    "float32": "from numba import float32",
    "int32": "from numba import int32",
    "np": "import numpy as np",
}
LIBRARY = (  # what Numba knows of these modules besides
    "frexp",
    "modf",
    "ldexp",
    "remainder",
    "cg",
    "fp16",
    "libdevice",
    "float32x2",
    "float32x4",
    "float64x2",
    "int32x2",
    "int32x4",
    "newaxis",
    "maximum",
    "minimum",
    "sum",
    "sin",
    "cos",
    "exp",
    "sqrt",
    "abs",
    "complex64",
    "complex128",
)
REPLACED = {"numpy": "math has what a kernel needs", "math": "see math in the manual"}
OWN_CHOICE = {
    "raise": "output",
    "assert": "output",
    "match": "statements",
    "async": "statements",
    "global": "statements",
    "nonlocal": "statements",
    "an ellipsis": "slices",
    "a bytes literal": "texts",
    "a complex number": "complex",
    "a star before an expression": "functions",
}
INSTEAD = {
    "a list": "cuda.local.array(n, float32), or a tuple",
    "a list comprehension": "a loop, into cuda.local.array(n, float32)",
    "a generator": "a loop that adds up in a variable",
    "a dictionary": "an array",
    "a set": "an array",
    "try": "test before, with if",
    "raise": "write a mark into an array",
    "assert": "write a mark into an array",
    "an import inside a kernel": "move it to the top of the file",
    "global": "pass an array",
    "a class": "separate arrays",
    "an f-string": "write numbers into an array",
}
