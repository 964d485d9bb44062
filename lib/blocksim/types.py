"""Numba's typing rules: the types of numbers, and the type of each operation's result.

The type of a number is its name: "int64", "float32". That of an array is ``("array",
dtype, ndim)``, that of a tuple ``("tuple", types of its elements …)``; a named tuple's
begins with ``"tuple name name …"``. "none" is the type of None, and "static" the type of
modules, types and functions, which only the compiler sees.
"""

SIZES = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "uint64": 8,
    "float16": 2,
    "float32": 4,
    "float64": 8,
}
WHOLE_BITS = {  # an integer is at most two to this power
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
RANGE_BITS = 31  # of an index or an extent of a launch
MEMORY_BITS = 40  # of an index or an extent of an array
FLOATS = ("float16", "float32", "float64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
# An operation of a float with one of TINY keeps the float's type, with one of SMALL it is
# at least a float32. Any other integer makes it a float64, because a float32 cannot hold
# all of its values.
TINY = ("bool", "int8")
SMALL = TINY + ("int16", "uint8")
NARROW = SMALL + ("float16", "float32")  # a float32 holds all of their values


def is_number(kind: object) -> bool:
    """Return whether a type is a type of numbers."""
    return isinstance(kind, str) and kind in SIZES


def is_integer(kind: object) -> bool:
    """Return whether a type is an integer type; bool is one."""
    return is_number(kind) and kind not in FLOATS


def is_array(kind: object) -> bool:
    return isinstance(kind, tuple) and kind[0] == "array"


def is_tuple(kind: object) -> bool:
    return isinstance(kind, tuple) and kind[0][:5] == "tuple"


def tuple_tag(value: tuple) -> str:
    """Return the first part of a tuple's type: "tuple", and the names of its elements."""
    return " ".join(("tuple",) + getattr(value, "_fields", ()))


def in_words(kind: object) -> str:
    """Return how a message names a type."""
    if is_array(kind):
        of, count = kind[1], kind[2]
        if count == 1:
            return f"an array of {of} with 1 dimension"
        return f"an array of {of} with {count} dimensions"
    if is_tuple(kind):
        return "a tuple"
    if isinstance(kind, tuple) and kind[0] == "range":
        return "a range"
    if isinstance(kind, tuple):
        return "an iterator"
    return WORDS.get(kind, str(kind))


WORDS = {  # for types that are not numbers
    "none": "None",
    "text": "a text",
    "static": "a function, a type or a module",
    "maybe": "what is None on some way",
}


def wider(a: str, b: str) -> str:
    """Return the wider of two floats."""
    return a if SIZES[a] >= SIZES[b] else b


def with_float(integer: str, real: str) -> str:
    """Return the type of an operation between an integer and a float."""
    if integer in TINY:
        return real
    return wider(real, "float32") if integer in SMALL else "float64"


def unified(a: str, b: str) -> str:
    """Return the type of a name that holds a number of either type."""
    if a == b or b == "bool":
        return a
    if a == "bool":
        return b
    if a in FLOATS and b in FLOATS:
        return wider(a, b)
    if a in FLOATS:
        return unified(b, a)
    if b in FLOATS:
        if SIZES[a] == 1:
            return b
        return wider(b, "float32") if SIZES[a] == 2 else "float64"
    if (a in UNSIGNED) == (b in UNSIGNED):
        return a if SIZES[a] >= SIZES[b] else b
    signed, unsigned = (b, a) if a in UNSIGNED else (a, b)
    bits = 8 * max(SIZES[signed], 2 * SIZES[unsigned])
    return f"int{bits}" if bits <= 64 else "float64"


def whole(a: str, b: str) -> str:
    """Return the type of an operation between integers: Numba widens to 64 bits."""
    return "uint64" if a in UNSIGNED and b in UNSIGNED else "int64"


def operation(sign: str, a: str, b: str) -> str | None:
    """Return the type of an operation between two numbers; None if there is none."""
    both = is_integer(a) and is_integer(b)
    if sign in ("&", "|", "^", "<<", ">>"):
        if not both:
            return None
        if a == b == "bool" and sign in "&|^":
            return "bool"
        return whole(a, a if sign in ("<<", ">>") else b)
    if sign == "**":
        return power(a, b)
    if sign == "@":
        return None
    if both:
        return "float64" if sign == "/" else whole(a, b)
    if is_integer(a):
        kind = with_float(a, b)
    elif is_integer(b):
        kind = with_float(b, a)
    else:
        kind = wider(a, b)
    return wider(kind, "float32") if sign in ("//", "%") else kind


def power(a: str, b: str) -> str:
    """Return the type of a power."""
    if is_integer(a) and is_integer(b):
        odd = (a, b) == ("bool", "int32")  # a peculiarity of Numba's
        return "float32" if odd else whole(a, b)
    if is_integer(a):
        return "float32" if a in SMALL and b != "float64" else "float64"
    if is_integer(b):
        return wider(a, "float32")
    return wider(wider(a, b), "float32")


def compared(a: str, b: str) -> str:
    """Return the type in which two numbers are compared."""
    if is_integer(a) and is_integer(b):
        return unified(a, b)
    real, other = (a, b) if a in FLOATS else (b, a)
    return wider(real, other) if other in FLOATS else with_float(other, real)


def as_doubles(a: object, b: object) -> bool:
    """Return whether two integers are compared in float64: no integer type holds both."""
    return is_integer(a) and is_integer(b) and compared(a, b) == "float64"


def signed(sign: str, kind: str) -> str | None:
    """Return the type of a unary operation; None if there is none."""
    if sign == "~":
        if kind in FLOATS:
            return None
        return kind if kind == "bool" else whole(kind, kind)
    return kind if kind in FLOATS else whole(kind, kind)


# The functions of ``math`` on a GPU, by their result types. Those of HALF take float16.
HALF = tuple("ceil cos exp exp2 fabs floor log log10 log2 sin sqrt tanh trunc".split())
OTHERS = "acos acosh asin asinh atan atanh cosh degrees erf erfc expm1 gamma lgamma"
ONE = HALF + tuple((OTHERS + " log1p radians sinh tan").split())
TESTS = ("isfinite", "isinf", "isnan")
ANGLES = ("atan2", "hypot")
TWO = ("copysign", "fmod", "ldexp", "nextafter", "pow", "remainder")
HALVES = {  # functions of ``cuda.fp16`` -> the number of their arguments
    "h" + name: 1
    for name in HALF + tuple("abs exp10 neg rcp rint rsqrt".split())
    if name != "fabs"
}
HALVES.update({"h" + name: 2 for name in "add sub mul div max min".split()})
ORDERED = tuple(["h" + name for name in "eq ne ge gt le lt".split()])  # give a bool
HALVES.update({name: 2 for name in ORDERED})
HALVES["hfma"] = 3
PARTS = ("frexp", "modf")  # functions that return two numbers
CONSTANTS = ("pi", "e", "inf", "nan", "tau")


def of_math(name: str, kinds: list) -> str | None:
    """Return the result type of a ``math`` function; None if it takes no such numbers."""
    if not all([is_number(kind) for kind in kinds]):
        return None
    if name in TESTS and len(kinds) == 1:
        return "bool"
    if name in ONE and len(kinds) == 1:
        kind = "float64" if is_integer(kinds[0]) else kinds[0]
        return kind if name in HALF else wider(kind, "float32")
    if name in PARTS and len(kinds) == 1:
        return parted(name, kinds[0])
    if len(kinds) != 2 or name not in ANGLES + TWO:
        return None
    a, b = kinds
    if name == "ldexp":
        return single(a)
    if name in ANGLES:
        if is_integer(a) and is_integer(b):
            return "float64"
        return wider(operation("+", a, b), "float32")
    narrow = a in NARROW and b in NARROW
    if name == "pow" and a in NARROW:
        narrow = narrow or b == "int32" or (a, b) == ("float32", "uint16")
    return "float32" if narrow else "float64"


def single(kind: str) -> str:
    """Return the type in which a function computes that takes float32 and float64."""
    return "float32" if kind in NARROW else "float64"


def parted(name: str, kind: str) -> tuple:
    """Return the type of the two numbers that ``frexp`` or ``modf`` returns."""
    if name == "frexp":
        return ("tuple", single(kind), "int32")
    real = "float32" if kind == "float32" else "float64"  # a peculiarity of Numba's
    return ("tuple", real, real)


def of_divmod(a: str, b: str) -> str:
    """Return the type of the quotient and the rest in ``divmod``."""
    if is_integer(a) and is_integer(b):
        kind = unified(a, b)
        return kind if kind == "float64" else "uint64" if kind in UNSIGNED else "int64"
    return operation("//", a, b)
