"""Numbers with a type: what ``float32(x)`` is, and what mathematics makes of it.

Two modes. In race mode ``float32(x)`` is a Python float: fast, and good enough to find
faults. In full mode it is a `Float`, whose every result is rounded. Integers are
Python's in both: Numba widens int32 + int32 to int64 at once; they wrap where they are
converted or stored. An operation between a `Float` and a wider number is a float64 one,
which a GPU does slowly: it is reported.
"""

import math

SIZES = {
    "bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
    "int64": 8, "uint64": 8, "float16": 2, "float32": 4, "float64": 8,
}
# Binary digits, and the exponent below which a format has fewer; then the largest.
FORMATS = {
    "float16": (11, -13, 65504.0),
    "float32": (24, -125, 3.4028234663852886e38),
}
INF = float("inf")
NAN = float("nan")


def rounded(value: float, name: str) -> float:
    """Return the nearest number that a float type holds, or an infinity."""
    if name == "float64" or value - value != 0 or value == 0:
        return value
    digits, lowest, largest = FORMATS[name]
    step = math.ldexp(1.0, max(math.frexp(value)[1], lowest) - digits)
    near = math.copysign(round(value / step) * step, value)
    return near if abs(near) <= largest else math.copysign(INF, value)


def wrapped(value: object, name: str) -> int:
    """Return an integer as a type holds it: the lowest bits."""
    if name == "bool":
        return bool(value)
    bits = 8 * SIZES[name]
    low = int(value) & ((1 << bits) - 1)
    return low - (1 << bits) if name[0] == "i" and low >> (bits - 1) else low


class Type:
    """A type of Numba's, by name: converts, and tells arrays what they hold."""

    def __init__(self, name: str, full: bool = False):
        self.name = name
        self.size = SIZES[name]
        self.is_float = name[0] == "f"
        self.full = full

    def __call__(self, value: object) -> object:
        """Convert a number."""
        if not self.is_float:
            return wrapped(value, self.name)
        if self.full and self.name != "float64":
            return Float(rounded(float(value), self.name), self.name)
        return float(value)

    def __repr__(self) -> str:
        return self.name


def type_name(dtype: object) -> str:
    """Return the name of a type: this module's, Numba's, numpy's or Python's."""
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", str(dtype))
    name = {"float": "float64", "int": "int64", "boolean": "bool"}.get(name, name)
    if name not in SIZES:
        raise ValueError(f"dtype: expected one of {sorted(SIZES)}, got {name!r}")
    return name


class Float:
    """A float32 or float16 in full mode. ``watch`` is told of float64 results."""

    watch = None

    def __init__(self, value: float, name: str):
        self.value = value
        self.name = name

    def join(self, other: object, function: object) -> object:
        """Return function(value, other) in the type that both go into."""
        if isinstance(other, Float):
            name = max(self.name, other.name)  # "float16" < "float32"
            return Float(rounded(function(self.value, other.value), name), name)
        if isinstance(other, bool):
            return Float(rounded(function(self.value, other), self.name), self.name)
        if not isinstance(other, (int, float)):
            raise TypeError(f"{self.name} with {other!r}")
        if Float.watch:
            Float.watch(self.name, other)
        return function(self.value, float(other))

    def __add__(self, other):
        return self.join(other, lambda a, b: a + b)

    def __radd__(self, other):
        return self.join(other, lambda a, b: b + a)

    def __sub__(self, other):
        return self.join(other, lambda a, b: a - b)

    def __rsub__(self, other):
        return self.join(other, lambda a, b: b - a)

    def __mul__(self, other):
        return self.join(other, lambda a, b: a * b)

    def __rmul__(self, other):
        return self.join(other, lambda a, b: b * a)

    def __truediv__(self, other):
        return self.join(other, divided)

    def __rtruediv__(self, other):
        return self.join(other, lambda a, b: divided(b, a))

    def __floordiv__(self, other):
        return self.join(other, lambda a, b: a // b)

    def __mod__(self, other):
        return self.join(other, lambda a, b: a % b)

    def __pow__(self, other):
        if isinstance(other, int):  # stays float32, as in Numba
            return Float(rounded(self.value**other, self.name), self.name)
        return self.join(other, lambda a, b: a**b)

    def __neg__(self):
        return Float(-self.value, self.name)

    def __abs__(self):
        return Float(abs(self.value), self.name)

    def __lt__(self, other):
        return self.value < float(other)

    def __le__(self, other):
        return self.value <= float(other)

    def __gt__(self, other):
        return self.value > float(other)

    def __ge__(self, other):
        return self.value >= float(other)

    def __eq__(self, other):
        return self.value == float(other)

    def __ne__(self, other):
        return self.value != float(other)

    def __bool__(self):
        return self.value != 0

    def __float__(self):
        return self.value

    def __int__(self):
        return int(self.value)

    def __hash__(self):
        return hash(self.value)

    def __repr__(self):
        return f"{self.name}({self.value})"


def divided(a: float, b: float) -> float:
    """Return a / b as a GPU does: infinity or NaN where b is 0."""
    if b != 0:
        return a / b
    return NAN if a == 0 or a != a else math.copysign(INF, a) * math.copysign(1, b)


def typed(choose: object) -> object:
    """Return ``min`` or ``max`` for numbers with a type; as on a GPU, NaN loses."""

    def function(a, b):
        return b if a != a else a if b != b else choose(a, b)

    def call(best, *others):
        for number in others:
            if isinstance(best, Float):
                best = best.join(number, function)
            elif isinstance(number, Float):
                best = number.join(best, lambda b, a: function(a, b))
            else:
                best = function(best, number)
        return best

    return call


class Maths:
    """``math`` as a kernel sees it: infinities instead of errors, types kept."""

    def __getattr__(self, name: str) -> object:
        if name == "exp2" and not hasattr(math, name):  # MicroPython
            return _on_gpu(name, lambda x: 2.0**x)
        value = getattr(math, name)
        return _on_gpu(name, value) if callable(value) else value


def _on_gpu(name: str, function: object) -> object:
    def call(*numbers):
        typed = [n for n in numbers if isinstance(n, Float)]
        try:
            value = function(*[n.value if isinstance(n, Float) else n for n in numbers])
        except (ValueError, OverflowError):
            value = _limit(name, float(numbers[0]))
        if typed and type(value) is float:
            return Float(rounded(value, "float32"), "float32")
        return value

    return call


def _limit(name: str, x: float) -> float:
    """Return what a GPU gives where Python raises."""
    if name in ("exp", "exp2", "expm1", "cosh", "pow") and x > 0:
        return INF
    return -INF if name[:3] == "log" and x == 0 else NAN
