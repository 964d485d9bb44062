"""What a function knows of its arguments, and which functions can be arguments.

Functions, types and texts exist at compile time only. A function that is handed one of
them is compiled anew for it, and knows it as a constant. Of a literal number it knows the
value only where it needs a constant, such as the size of an array.
"""

from .things import Member, Thing, Type
from .tree import Node, literal, nodes_in, parts_of
from .types import is_integer, is_tuple
from .values import Closure, Function, Refusal, Value, bits_of, marked


def seen_inside(value: Value) -> Value:
    """Return what a function knows of an argument."""
    inside = marked(Value(value.kind), value)
    parts = parts_known(value)
    if parts is not None:
        inside.parts = [seen_inside(part) for part in parts]
    elif value.kind in ("static", "text"):
        inside.const, inside.computed = value.const, True
    elif hasattr(value, "handed"):
        inside.handed = value.handed
    elif literal_number(value):
        inside.handed = value.const
    return inside


def parts_known(value: Value) -> object:
    """Return the values of a tuple's elements where the compiler knows of them."""
    if not is_tuple(value.kind):
        return None
    return value.const if value.known else getattr(value, "parts", None)


def literal_number(value: Value) -> bool:
    """Return whether the type that Numba gives a value holds the number itself."""
    whole = is_integer(value.kind) and value.kind != "bool"
    whole = whole and not hasattr(value, "member")
    unseen = value.computed and not getattr(value, "literal", False)
    return whole and value.known and not unseen and not hasattr(value, "hidden")


def constant_of(value: Value) -> Value:
    """Return a number that was handed over as a literal, as a constant."""
    copy = Value(value.kind, value.handed, bits_of(value.handed))
    copy.computed = True
    return copy


def only_compiled(kind: object) -> bool:
    """Return whether the compiler alone sees values of this type, or parts of them."""
    if is_tuple(kind):
        return True in [only_compiled(part) for part in kind[1:]]
    return kind in ("static", "text")


def identity(value: Value) -> object:
    """Return a key for an argument: its type, or which function, type or text it is."""
    parts = parts_known(value)
    if parts is not None:
        return value.kind[:1] + tuple([identity(part) for part in parts])
    if hasattr(value, "member"):
        return ("member", id(value.member.family))
    if not only_compiled(value.kind):
        return value.kind
    const = value.const
    if isinstance(const, Function):
        return ("function", id(const.node))
    if isinstance(const, (Thing, Type, Member)):
        return (type(const).__name__, str(const))
    return const if isinstance(const, str) else id(const)


def literals(value: Value) -> object:
    """Return the numbers that an argument was handed over with."""
    parts = parts_known(value)
    if parts is not None:
        return tuple([literals(part) for part in parts])
    return getattr(value, "handed", None)


def escaped(closure: Closure) -> Function:
    """Return a nested function as one that stands by itself, and sees constants only.

    Numba compiles it so where it is handed over, in place of being called.
    """
    closure.node.escapes = True
    find = lambda name: captured(closure, name)
    return Function(closure.name, closure.node, find, closure.resolve)


def captured(closure: Closure, name: str) -> object:
    """Return the value of a name around a nested function, where it is a constant."""
    scope = closure.outer
    while scope is not None and name not in scope.local:
        scope = scope.outer
    if scope is None:
        return closure.find(name)
    value = fixed(scope.typed.node, name)
    if value is None:
        inside = hasattr(closure.node, "anonymous")
        raise Refusal(
            closure.node.line,
            f"{closure.name} is handed over, and {name} around it is a variable",
            f"a constant in place of {name}, or an argument",
            "functions" if inside else "",
        )
    return value


def fixed(function: Node, name: str) -> Value | None:
    """Return the number that a function gives a name, if it is one literal."""
    found = [node for node in nodes_in(function.body) if name in names_set(node)]
    if name in [one.name for one in function.parameters] or len(found) != 1:
        return None
    (node,) = found
    if node.kind != "Assign" or node.targets[0].kind != "Name":
        return None
    if node.value.kind == "Name":
        return fixed(function, node.value.id)
    return node.value.got if literal(node.value) else None


def names_set(node: Node) -> list:
    """Return the names that one statement sets."""
    if node.kind == "FunctionDef":
        return [node.name]
    targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
    parts = [part for target in targets if target for part in parts_of(target)]
    return [part.id for part in parts if part.kind == "Name"]
