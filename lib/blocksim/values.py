"""What the compiler knows of a name or an expression, and what remains at a join.

A **way** is a path of control flow: the messages to readers use that word. A way leads
through one arm of an ``if``, or once more around a loop.
"""

from .scalars import convert
from .things import Member, Scalar, Signature, Thing
from .tree import Node
from .types import (
    WHOLE_BITS,
    is_array,
    is_integer,
    is_number,
    is_tuple,
    tuple_tag,
    unified,
)

LITERALS = ("int64", "uint64", "bool", "text")  # types of literals
UNKNOWN = object()  # stands for the constant of a value that is not constant


class Refusal(Exception):
    """A kernel that would not compile.

    Attributes
    ----------
    line : int
    reason, instead : str
        Why the compiler refuses it; what to write instead, or "".
    declined : str
        The key of the reason in ``declined``, if only the simulator refuses it.
    """

    def __init__(self, line: int, reason: str, instead: str = "", declined: str = ""):
        super().__init__(reason)
        self.line = line
        self.reason = reason
        self.instead = instead
        self.declined = declined


class Value:
    """What is known of an expression.

    Attributes
    ----------
    kind : str or tuple
        Its type; see ``types``. "static" if only the compiler sees it, "clash" if two
        ways lead here with incompatible types.
    const : object
        Its value, if the compiler knows it, else UNKNOWN.
    bits : int
        A bound on the size of an integer: it is at most two to this power.
    fixed : bool
        Is it computed from constants only?
    unsure : bool
        Is it a name that has no value on some way to here?
    computed : bool
        Is it known here, although Numba computes it on the device?
    branch : bool or None
        The arm that Numba keeps of an ``if`` with this test, if the test is one operation
        on constants.
    """

    def __init__(self, kind, const=UNKNOWN, bits=None, fixed=False):
        self.kind = kind
        self.const = const
        self.bits = WHOLE_BITS.get(kind, 0) if bits is None else bits
        self.unsure = False
        self.computed = False
        self.branch = None
        self.fixed = fixed or const is not UNKNOWN

    @property
    def known(self) -> bool:
        """Whether it is a constant."""
        return self.const is not UNKNOWN


NONE = Value("none", None)


def computed(value: Value) -> Value:
    """Return a constant, marked as one that Numba computes on the device."""
    copy = Value(value.kind, value.const, value.bits, value.fixed)
    copy.computed = True
    return marked(copy, value)


def element_of(part: Value) -> Value:
    """Return a constant part of a tuple, whose type holds the number if the part's does."""
    copy = computed(part)
    copy.literal = not part.computed
    return copy


def marked(copy: Value, *values: Value) -> Value:
    """Return a copy with the marks of its originals.

    ``member`` is the member of an IntEnum that an integer is. ``mixed`` marks a float that
    is an integer on some way, where the running kernel has to convert it. For ``hidden``
    see there.
    """
    for value in values:
        if hasattr(value, "member"):
            copy.member = value.member
        for mark in ("mixed", "hidden"):
            if hasattr(value, mark):
                setattr(copy, mark, True)
    return copy


def hidden(value: Value) -> Value:
    """Return a part of a tuple whose type does not hold the number, as Numba gives it one.

    It does if all parts are integers, booleans or texts.
    """
    const, whole = value.const, value.known and is_integer(value.kind)
    if is_tuple(value.kind) and value.known:
        const = tuple([hidden(part) for part in const])
    elif not whole:
        return value
    copy = marked(Value(value.kind, const, value.bits, value.fixed), value)
    copy.hidden = True
    return copy


def same_value(a: Value, b: Value) -> bool:
    """Return whether two values are the same constant of the same type."""
    if a.kind != b.kind or a.computed != b.computed:
        return False
    return a.known and b.known and same_constant(a.const, b.const)


def seen(value: Value) -> object:
    """Return the constant that Numba sees before type inference, or UNKNOWN.

    Numba sees literals, the values of names around the kernel, names assigned from these,
    and arguments that are None. It computes nothing from them.
    """
    if value.kind == "none":
        return None
    if hasattr(value, "scalar"):
        return value.scalar
    return UNKNOWN if value.computed else value.const


def possible(node: Node) -> tuple[bool, bool]:
    """Return whether a typed test may be true, and whether it may be false.

    Where Numba sees the result, it prunes the other arm, which is then never typed. Each
    operand of "and" and "or" is a branch of its own; "not" is none. A result that is known
    for another reason, such as `x is None` of an array, prunes nothing.
    """
    if node.kind == "UnaryOp" and node.op == "not":
        true, false = possible(node.operand)
        return false, true
    if node.kind == "BoolOp":
        return possible_of_several(node)
    if node.kind == "Compare" and len(node.ops) > 1:
        return False not in node.links, node.links != [True] * len(node.ops)
    if node.kind == "IfExp":
        true, false = possible(node.test)
        arms = [possible(node.body)] * true + [possible(node.orelse)] * false
        return any([arm[0] for arm in arms]), any([arm[1] for arm in arms])
    branch = node.got.branch
    argument = hasattr(node.got, "argument")  # a None is seen in comparisons only
    if branch is None and seen(node.got) is not UNKNOWN and not argument:
        branch = bool(seen(node.got))
    return branch is not False, branch is not True


def possible_of_several(node: Node) -> tuple[bool, bool]:
    """Return the same for "and" and "or", which stop at the first deciding operand."""
    ends = node.op == "or"
    ended = False
    for part in node.values[: node.reached]:
        true, false = possible(part)
        ended = ended or (true if ends else false)
        on = false if ends else true
    return (ended, on) if ends else (on, ended)


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
    atomics, loops, calls_waiting : bool
        Is there an atomic in it, or in what it calls? A while? A call of a function
        that may wait?
    literal : bool
        Does its code depend on the numbers that it was handed as literals?
    names : dict
        Its variables, with all the types they ever have.
    unset : set of str
        Those that are read where they may have no value.
    """

    def __init__(self, function, node, kinds):
        self.function = function
        self.node = node
        self.kinds = kinds
        self.result = None
        self.meets = False
        self.atomics = self.loops = self.calls_waiting = self.literal = False
        self.names = {}
        self.unset = set()

    @property
    def waits(self) -> bool:
        """May a loop in it wait, by an atomic, for what another thread does?"""
        return self.calls_waiting or (self.atomics and self.loops)

    @property
    def stops(self) -> bool:
        """Can a thread stop in it, and go on later?"""
        return self.meets or self.waits


class Function:
    """A function of the text, or around it, that can be compiled.

    Attributes
    ----------
    name, node
    find : callable
        ``find(name)`` returns the value of a name around the function, or raises
        KeyError.
    inline : bool
        Does Numba put it into its caller? Then it may give back an array it made.
    """

    inline = False

    def __init__(self, name, node: Node, find, resolve=None, signature=None):
        self.name = name
        self.signature = signature  # the types given in its decorator
        self.node = node
        self.find = find
        self.resolve = resolve  # converts an attribute of a module for the compiler


def signed(function: Function) -> tuple | None:
    """Return the types that a function's decorator gives its arguments, if any."""
    signature, node = function.signature, function.node
    if signature is None:
        return None
    line = (node.decorators or [node])[0].line
    if not isinstance(signature, Signature):
        several = signature == "several"
        raise Refusal(
            line,
            "the decorator has several signatures"
            if several
            else f"the decorator's signature cannot be read: {signature}",
            "@cuda.jit alone" if several else '"void(float32[:], int32)", or none',
            "signatures" if several else "",
        )
    if len(signature.takes) != len(node.parameters):
        raise Refusal(
            line,
            f"the signature has {len(signature.takes)} types for"
            f" {len(node.parameters)} parameters",
            "@cuda.jit alone: a launch gives the types",
        )
    return signature.takes


class Closure(Function):
    """A nested function: it is compiled again for each call."""

    inline = True

    def __init__(self, name, node, outer):
        super().__init__(name, node, outer.find, outer.typed.function.resolve)
        self.outer = outer


def constant(value: object, line: int) -> Value:
    """Return the compiler's view of a value in the text or around the kernel."""
    if value is None:
        return NONE
    if isinstance(value, Value):  # an array around the kernel
        return value
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
        number.scalar = convert(value.value, value.dtype.name, True)
        return number
    if isinstance(value, (tuple, list)) and not isinstance(value, list):
        parts = [constant(part, line) for part in value]
        if not all([part.kind in LITERALS and part.known for part in parts]):
            parts = [hidden(part) for part in parts]
        kind = (tuple_tag(value),) + tuple([part.kind for part in parts])
        return Value(kind, tuple(parts))
    if isinstance(value, str):
        return Value("text", value)
    if isinstance(value, Member) and value.whole:
        number = Value("int64", value.value, bits_of(value.value))
        number.computed, number.member = True, value
        return number
    return Value("static", value)


def bits_of(value: int) -> int:
    """Return how many bits the magnitude of an integer has."""
    bits, value = 0, abs(value)
    while value:
        bits, value = bits + 1, value >> 1
    return bits


def joined(a: Value, b: Value) -> Value:
    """Return what is known of a name where two ways join."""
    if a is b or a.kind == "clash":
        return a
    if b.kind == "clash":
        return b
    if a.kind == b.kind:
        same = a.known and b.known and same_constant(a.const, b.const)
        if a.kind == "static" and not same:
            clash = Value("clash")
            clash.members = isinstance(a.const, Member)
            return clash
        if hasattr(a, "member") and hasattr(b, "member") and not same:
            return marked(Value(a.kind), a)
        if same:  # Numba sees two definitions here, even of one value
            return computed(a) if is_number(a.kind) else a
        value = Value(a.kind, bits=max(a.bits, b.bits), fixed=a.fixed and b.fixed)
        return value if is_integer(a.kind) else marked(value, a, b)
    if is_number(a.kind) and is_number(b.kind):
        kind = unified(a.kind, b.kind)
        whole = is_integer(kind)
        value = Value(kind, bits=max(a.bits, b.bits) if whole else 0)
        if not whole and [
            x for x in (a, b) if is_integer(x.kind) or hasattr(x, "mixed")
        ]:
            value.mixed = True
        return value
    if is_tuple(a.kind) and a.kind[0] == b.kind[0] and len(a.kind) == len(b.kind):
        parts = [joined(Value(x), Value(y)) for x, y in zip(a.kind[1:], b.kind[1:])]
        if not [part for part in parts if part.kind in ("clash", "maybe")]:
            return Value(a.kind[:1] + tuple([part.kind for part in parts]))
    if is_array(a.kind) and is_array(b.kind) and a.kind[:3] == b.kind[:3]:
        return Value(max(a.kind, b.kind, key=len))  # read-only if one of them is
    if "none" in (a.kind, b.kind):
        return Value("maybe")
    clash = Value("clash")
    clash.kinds = (a.kind, b.kind)
    return clash


def same_constant(a: object, b: object) -> bool:
    """Return whether two constants are equal; True differs from 1 here, −0.0 from 0.0."""
    if isinstance(a, (Thing, Member)) and type(a) is type(b):
        return a.path == b.path
    if isinstance(a, Function) and isinstance(b, Function):
        return a.node is b.node
    if type(a) is tuple and type(b) is tuple:
        return len(a) == len(b) and all(
            [
                x is y or x.known and y.known and same_constant(x.const, y.const)
                for x, y in zip(a, b)
            ]
        )
    return a is b or (type(a) is type(b) and a == b and str(a) == str(b))


def merged(a: dict | None, b: dict | None) -> dict | None:
    """Return the names where two ways join; None is a way that no thread takes."""
    if a is None or b is None:
        return b if a is None else a
    names = {}
    for name in a:
        names[name] = either(a[name], b[name]) if name in b else unsure(a[name])
    for name in b:
        if name not in a:
            names[name] = unsure(b[name])
    return names


def either(a: Value, b: Value) -> Value:
    """Return what is known of a name that one of two ways may not have set."""
    value = joined(a, b)
    return unsure(value) if a.unsure or b.unsure else value


def unsure(value: Value) -> Value:
    """Return a value, marked as one that the name has on some ways only."""
    if isinstance(value.const, Closure):
        return Value("unset")
    if value.unsure or value.kind in ("static", "none", "clash", "maybe"):
        return value
    copy = Value(value.kind, bits=value.bits, fixed=value.fixed)
    copy.unsure = True
    return marked(copy, value)


class Unusable:
    """A name's value that no kernel can use, with the reason."""

    def __init__(self, reason: str, instead: str = "", declined: str = ""):
        self.reason = reason
        self.instead = instead
        self.declined = declined
