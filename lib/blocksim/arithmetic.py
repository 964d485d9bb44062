"""Arithmetic that gives a GPU's results; the generated code of a kernel calls it.

Where Python raises an error, a GPU continues with an infinity or a NaN. Integer division
by 0 gives 0 here, and so does a quotient that overflows 64 bits.
"""

import builtins
import math

from .scalars import FORMATS, INF, NAN, Type, c_float, cast, cast_half, rounded, wrapped
from .types import HALF, ONE, SIZES, TESTS

LEAST = -(1 << 63)
ERRORS = (ValueError, OverflowError, ZeroDivisionError)


def divided(a: float, b: float) -> float:
    """Return a / b; a division by 0 gives an infinity or NaN."""
    if b != 0:
        return a / b
    return NAN if a == 0 or a != a else math.copysign(INF, a) * math.copysign(1.0, b)


def whole_quotient(a: int, b: int) -> int:
    """Return a // b of integers."""
    return 0 if b == 0 or (b == -1 and a == LEAST) else a // b


def whole_rest(a: int, b: int) -> int:
    """Return a % b of integers."""
    return a % b if b else 0


def whole_both(a: int, b: int) -> tuple:
    """Return a // b and a % b of integers."""
    return whole_quotient(a, b), whole_rest(a, b)


def shifted_left(a: int, b: int) -> int:
    """Return a << b of integers."""
    return a << distance(b)


def shifted_right(a: int, b: int) -> int:
    """Return a >> b of integers."""
    return a >> distance(b)


def distance(b: int) -> int:
    """Return the distance of a shift, 64 bits at most; a negative one counts as large."""
    return min(b & 0xFFFFFFFF, 64)


def whole_power(a: int, b: int, name: str) -> int:
    """Return a ** b of integers as Numba's own code does, through a float64."""
    a, b = wrapped(a, name), wrapped(b, name)
    if b > 0x10000:
        power = real_power(a, b)
    elif b >= 0:
        power = wrapped(pow(a % (1 << 64), b, 1 << 64), name)
    elif a == 0:
        power = LEAST
    else:
        power = a ** (b % 2) if a in (1, -1) else 0
    return cast(float(power), name)


def real_quotient(a: float, b: float) -> float:
    """Return a // b of floats."""
    if b == 0:
        return divided(a, b)
    return a // b if a - a == b - b == 0 else NAN


def real_rest(a: float, b: float) -> float:
    """Return a % b of floats."""
    return a % b if b != 0 and a - a == b - b == 0 else NAN


def real_both(a: float, b: float, name: str) -> tuple:
    """Return a // b and a % b of floats, rounded to a type."""
    a, b = float(a), float(b)
    return rounded(real_quotient(a, b), name), rounded(real_rest(a, b), name)


def real_power(a: float, b: float) -> float:
    """Return a ** b of floats."""
    try:
        power = float(a) ** b
    except ERRORS:
        odd = b == int(b) and int(b) % 2 == 1
        return -INF if odd and math.copysign(1.0, a) < 0 else INF
    return NAN if isinstance(power, complex) else power


def smaller(a: float, b: float) -> float:
    """Return the smaller, of two zeros the negative one; NaN counts as missing."""
    if a != a or b != b:
        return b if a != a else a
    return -larger(-a, -b) if a == b == 0 else min(a, b)


def larger(a: float, b: float) -> float:
    """Return the larger, of two zeros the positive one; NaN counts as missing."""
    if a != a or b != b:
        return b if a != a else a
    return a + b if a == b == 0 else max(a, b)


def nearest(value: float) -> int:
    """Return the nearest integer; a tie goes to the even one."""
    inside = abs(value) < 1 << 63
    return round(value) if inside else cast(float(value), "int64")


def nearest_at(value: float, digits: int) -> float:
    """Return a number rounded to decimal digits, as Numba's own code computes it.

    That code goes through an integer of 64 bits, so what exceeds one is cut off.
    """
    value, down, large = float(value), 1.0, 1.0
    if digits > 22:
        large = 1e22
    elif digits < 0:
        down = real_power(10.0, -digits)
    up = real_power(10.0, max(digits, 0) - (22 if digits > 22 else 0))
    moved = value / down * up * large
    if value - value != 0 or abs(moved) == INF:
        return value
    whole = float(nearest(moved))
    if abs(moved - whole) == 0.5:
        whole = 2.0 * nearest(moved / 2.0)
    return whole / large / up * down


def part(parts: tuple, index: int, name: str) -> object:
    """Return one element of a tuple; a negative index counts from the end."""
    if not -len(parts) <= index < len(parts):
        asked = f"{name}[{index}] is asked for"
        raise IndexError(f"{asked}; there are {len(parts)} parts")
    return parts[index]


# ---- bit intrinsics, and other functions of ``cuda``


def popc(value: int, bits: int) -> int:
    """Return how many bits are set."""
    return len([bit for bit in range(bits) if value >> bit & 1])


def ffs(value: int, bits: int) -> int:
    """Return the position of the lowest set bit, counted from 1; 0 if none is set."""
    return min([bit + 1 for bit in range(bits) if value >> bit & 1] or [0])


def clz(value: int, bits: int) -> int:
    """Return the number of leading zero bits."""
    return bits - max([bit + 1 for bit in range(bits) if value >> bit & 1] or [0])


def brev(value: int, bits: int) -> int:
    """Return the bits in reverse order."""
    return sum([(value >> bit & 1) << (bits - 1 - bit) for bit in range(bits)])


def fma(a: float, b: float, c: float) -> float:
    return a * b + c


def cbrt(x: float) -> float:
    """Return the cube root."""
    return math.copysign(abs(x) ** (1 / 3), x) if x - x == 0 else x


def selp(test: bool, a: object, b: object) -> object:
    return a if test else b


# ---- mathematics


def instead_of_error(name: str, x: float) -> float:
    """Return a GPU's result where Python raises an error."""
    if name in ("exp", "exp2", "expm1", "cosh"):
        return INF
    if name == "sinh":
        return math.copysign(INF, x)
    if name in ("log", "log2", "log10"):
        return -INF if x == 0 else NAN
    if name == "log1p":
        return -INF if x == -1 else NAN
    if name == "atanh" and abs(x) == 1:
        return math.copysign(INF, x)
    if name == "gamma":
        return math.copysign(INF, x) if x >= 0 else NAN
    return INF if name == "lgamma" else NAN


def without_errors(name: str, function: object) -> object:
    """Return a function of one number that never raises an error."""

    def call(x):
        try:
            return function(x)
        except ERRORS:
            return instead_of_error(name, float(x))

    return call


def whole_float(function: object) -> object:
    """Return floor, ceil or trunc as a GPU has them: floats stay floats."""
    return lambda x: math.copysign(float(function(x)), x) if x - x == 0 else x


def exp2(x: float) -> float:
    return 2.0**x


def log1p(x: float) -> float:
    """Return log(1 + x), accurate for small x; MicroPython has no such function."""
    u = 1.0 + x
    if u == 1.0:
        return x
    if u - u != 0:  # an infinity or a NaN
        return math.log(u)
    return math.log(u) * x / (u - 1.0)


def hypot(x: float, y: float) -> float:
    """Return the length of (x, y); the scaling keeps the squares from overflowing."""
    largest = max(abs(x), abs(y))
    if largest == 0:
        return 0.0
    if largest - largest != 0:  # an infinity or a NaN
        return INF if INF in (abs(x), abs(y)) else x + y
    return largest * math.sqrt((x / largest) ** 2 + (y / largest) ** 2)


def fmod(x: float, y: float) -> float:
    try:
        return math.fmod(x, y)
    except ERRORS:
        return NAN


def remainder(x: float, y: float) -> float:
    """Return x - n * y for the integer n that is nearest to x / y, an even one at a tie."""
    x, y = float(x), float(y)
    if x - x != 0 or y == 0 or y != y:
        return NAN
    size, width = abs(x), abs(y)
    if width == INF:
        return x
    rest = math.fmod(size, width)
    other = width - rest
    if rest > other or (rest == other and math.fmod(size - rest, 2.0 * width)):
        rest = -other
    return rest * math.copysign(1.0, x)


def frexp(x: float) -> tuple:
    """Return m and e with x = m * 2 ** e; an infinity or a NaN has the exponent 0."""
    return math.frexp(x) if x - x == 0 else (float(x), 0)


def ldexp(x: float, exponent: int) -> float:
    """Return x * 2 ** exponent; a GPU takes the exponent as an int32."""
    try:
        return math.ldexp(x, wrapped(exponent, "int32"))
    except ERRORS:
        return math.copysign(INF, x)


def nextafter(x: float, y: float, name: str) -> float:
    """Return the number of a type that follows x in the direction of y."""
    x, y = rounded(float(x), name), rounded(float(y), name)
    if x == y or x != x or y != y:
        return y if x == y else NAN
    digits, lowest, largest = FORMATS[name]
    if abs(x) == INF:
        return math.copysign(largest, x)
    least = math.ldexp(1.0, lowest - digits)
    if x == 0:
        return math.copysign(least, y)
    part, exponent = math.frexp(x)
    inwards = (x > 0) == (y < x)
    exponent -= abs(part) == 0.5 and inwards
    step = max(math.ldexp(1.0, exponent - digits), least)
    moved = x + step if y > x else x - step
    return math.copysign(rounded(moved, name), x)


OWN = {"exp2": exp2, "log1p": log1p}  # used where this Python's math lacks them


class Maths:
    """``math`` as a kernel sees it."""

    def __init__(self):
        for name in ONE:
            function = getattr(math, name, None) or OWN.get(name)
            if function:
                setattr(self, name, without_errors(name, function))
        for name in ("floor", "ceil", "trunc"):
            setattr(self, name, whole_float(getattr(math, name)))
        for name in TESTS + ("atan2", "copysign"):
            setattr(self, name, getattr(math, name))
        self.hypot = getattr(math, "hypot", hypot)
        self.pow, self.fmod, self.remainder = real_power, fmod, remainder
        self.modf, self.frexp, self.ldexp = math.modf, frexp, ldexp


# ---- half precision


def unequal(a: float, b: float) -> bool:
    """Return whether two numbers differ; NaN is in no order, so it does not count."""
    return a < b or a > b


def rint(x: float) -> float:
    """Return the nearest integer as a float; a tie goes to the even one."""
    return math.copysign(float(round(x)), x) if x - x == 0 else x


def of_halves(function: object) -> object:
    """Return a function whose result is rounded to float16, once."""
    return lambda *numbers: rounded(function(*numbers), "float16")


class Halves:
    """``cuda.fp16`` as a kernel sees it; the arguments are float16 already.

    A float64 holds the sum, the product and the ``fma`` of float16 exactly enough that
    rounding it is rounding the exact result.
    """

    def __init__(self, maths: Maths):
        for name in HALF:
            setattr(self, "h" + name, of_halves(getattr(maths, name)))
        self.hadd = of_halves(lambda a, b: a + b)
        self.hsub = of_halves(lambda a, b: a - b)
        self.hmul = of_halves(lambda a, b: a * b)
        self.hdiv, self.hfma = of_halves(divided), of_halves(fma)
        self.hrcp = of_halves(lambda x: divided(1.0, x))
        self.hrsqrt = of_halves(lambda x: divided(1.0, maths.sqrt(x)))
        self.hexp10 = of_halves(lambda x: real_power(10.0, x))
        self.hneg, self.habs, self.hrint = lambda x: -x, abs, rint
        self.hmax, self.hmin, self.hne = larger, smaller, unequal
        self.heq, self.hlt = lambda a, b: a == b, lambda a, b: a < b
        self.hgt, self.hle = lambda a, b: a > b, lambda a, b: a <= b
        self.hge = lambda a, b: a >= b


def rounds_to(name: str) -> object:
    if name == "float32" and c_float is not None:
        return lambda value: c_float(value).value
    return lambda value: rounded(value, name)


def wraps_to(name: str) -> object:
    """Return a function that wraps integers to a type; most are in range already."""
    if name == "bool":
        return bool
    high = (1 << (8 * SIZES[name] - (name[0] == "i"))) - 1
    low = -high - 1 if name[0] == "i" else 0

    def wrap(value):
        return int(value) if low <= value <= high else wrapped(value, name)

    return wrap


def wrapped_mask(answer: tuple) -> tuple:
    """Return a pair whose first element, a mask of lanes, is wrapped to int32."""
    return wrapped(answer[0], "int32"), answer[1]


def casts_half_to(name: str) -> object:
    return lambda value: cast_half(value, name)


def casts_to(name: str) -> object:
    return lambda value, wide=False: cast(value, name, wide)


OPERATIONS = (  # functions of this file
    "divided whole_quotient whole_rest whole_both whole_power shifted_left shifted_right"
    " real_quotient real_rest real_both real_power nearest nearest_at nextafter smaller"
    " larger part popc ffs clz brev fma cbrt selp"
).split()


def device_names() -> dict:
    """Return the names that the generated code may use, besides ``__rt``."""
    names = {"__inf": INF, "__nan": NAN, "__math": Maths(), "__wrap_mask": wrapped_mask}
    names["__half"] = Halves(names["__math"])
    for name in OPERATIONS:
        names["__" + name] = globals()[name]
    for name in ("range", "len", "min", "max", "abs", "int", "float", "bool"):
        names["__" + name] = getattr(builtins, name)
    for name in SIZES:
        names["__type_" + name] = Type(name)
        if name[0] == "f":
            names["__round_" + name] = rounds_to(name)
        else:
            names["__wrap_" + name] = wraps_to(name)
            names["__cast_" + name] = casts_to(name)
            names["__cast_half_" + name] = casts_half_to(name)
    return names
