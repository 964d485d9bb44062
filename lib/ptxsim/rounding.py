"""Floats that are rounded once: halves, bfloats, conversions, and directed roundings.

Exact results are a pair in double precision, a number and the rest that it lacks. Before
it is rounded to a narrower type, the number is made odd if there is a rest: rounded to an
even neighbour it could end halfway between two numbers of that type, and go wrong there.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Pair = tuple[Array, Array]
NARROW = {"f16": "f2", "f32": "f4"}
SMALLEST = {"f16": 2.0**-14, "f32": 2.0**-126, "f64": 2.0**-1022}  # of normal numbers
LOW_32 = np.uint64(0xFFFFFFFF)
NAN = np.uint16(0x7FFF)  # of f16 and bf16, as instructions return it
TF32 = np.uint32(0xFFFFE000)  # the bits that a number of 19 bits keeps


# ---- exact sums and products ----


def two_sum(a: Array, b: Array) -> Pair:
    """Return a + b and the rest that the sum lacks."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def _two_product(a: Array, b: Array) -> Pair:
    """Return a · b and the rest, by halves of 26 bits (Dekker, Veltkamp)."""
    high, low = zip(*((x, y - x) for x, y in ((_upper(y), y) for y in (a, b))))
    product = a * b
    rest = ((high[0] * high[1] - product) + high[0] * low[1]) + low[0] * high[1]
    return product, rest + low[0] * low[1]


def _upper(x: Array) -> Array:
    scaled = 134217729.0 * x
    return scaled - (scaled - x)


def odd(total: Array, rest: Array) -> Array:
    """Move sums that are not exact to the neighbour whose last bit is 1."""
    total = np.atleast_1d(total)
    wrong = np.isfinite(rest) & (rest != 0) & (total.view("i8") & 1 == 0)
    return np.where(wrong, np.nextafter(total, np.copysign(np.inf, rest)), total)


def product_sum(a: Array, b: Array, c: Array) -> Pair:
    """Return a · b + c, rounded once to double precision, and the sign of the rest.

    (Boldo and Melquiond, *Emulation of FMA and correctly rounded sums*.) Where a factor
    or the sum is near the ends of the type, it is computed by fractions.
    """
    a, b, c = np.broadcast_arrays(*(np.atleast_1d(x) for x in (a, b, c)))
    product, error = _two_product(a, b)
    upper, left = two_sum(c, error)
    upper, right = two_sum(product, upper)
    lower, lost = two_sum(left, right)
    near, rest = two_sum(upper, made := odd(lower, lost))
    rest = np.where(rest == 0, np.sign(lost) * np.where(made == lower, 1, -1), rest)
    near = np.where(near == 0, product + c, near)  # with the sign of a zero
    for i in np.flatnonzero(~_safe(a, b, c)).tolist():
        near[i], rest[i] = _by_fractions(float(a[i]), float(b[i]), float(c[i]))
    return near, rest


def _safe(a: Array, b: Array, c: Array) -> Array:
    """Return where neither a product nor its rest leaves double precision."""
    found = np.abs(c) < 2.0**1000
    for x in np.abs(a), np.abs(b):
        found &= (x == 0) | ((x > 2.0**-480) & (x < 2.0**490))
    return found


def _by_fractions(a: float, b: float, c: float) -> tuple[float, float]:
    if not np.isfinite([a, b, c]).all():
        return a * b + c, 0.0
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if not exact:
        return a * b + c, 0.0
    try:
        near = float(exact) if exact > 0 else -float(-exact)
    except OverflowError:
        return (np.inf, -1.0) if exact > 0 else (-np.inf, 1.0)
    rest = exact - Fraction(near)
    return near, float((rest > 0) - (rest < 0))


def fma_f64(a: Array, b: Array, c: Array, out: Array) -> None:
    """a · b + c in double precision, rounded once."""
    near, _ = product_sum(*(np.broadcast_to(x, out.shape) for x in (a, b, c)))
    np.copyto(out, near)


# ---- directions ----


def stepped(near: Array, rest: Array, how: str) -> Array:
    """Return the nearest numbers as those next to them toward zero, down or up.

    `rest` is what they lack, or its sign.
    """
    down = (rest < 0) & ((how == "rm") | ((how == "rz") & (near > 0)))
    up = (rest > 0) & ((how == "rp") | ((how == "rz") & (near < 0)))
    infinity = near.dtype.type(np.inf)
    near = np.where(down, np.nextafter(near, -infinity), near)
    return np.where(up, np.nextafter(near, infinity), near)


def directed(name: str, how: str, *given: Array, out: Array) -> None:
    """Arithmetic in single or double precision that rounds toward zero, down or up."""
    a, *more = (np.broadcast_to(x, out.shape).astype("f8") for x in given)
    if name == "rcp":
        a, more, name = np.ones_like(a), [a], "div"
    exact = _directed_32 if out.dtype == np.float32 else _directed_64
    near, rest = exact(name, a, *more)
    finite = np.isfinite(a)
    for x in more:
        finite &= np.isfinite(x)
    if name == "div":
        finite &= more[0] != 0
    rest = np.where(finite & np.isfinite(rest), rest, 0)
    rest = np.where(finite & np.isinf(near), -np.sign(near), rest)
    result = stepped(near, rest, how)
    if how == "rm" and name in ("add", "sub", "fma"):  # x − x is −0
        first = a * more[0] if name == "fma" else a
        last = -more[-1] if name == "sub" else more[-1]
        plus = (first == 0) & (last == 0) & ~np.signbit(first) & ~np.signbit(last)
        result = np.where((near == 0) & (rest == 0) & ~plus, -0.0, result)
    np.copyto(out, result, casting="same_kind")


def _directed_32(name: str, a: Array, b: Any = None, c: Any = None) -> Pair:
    """Return the nearest numbers in single precision, and what they lack.

    Products of two such numbers are exact in double precision.
    """
    if name in ("div", "sqrt"):
        near = (a / b if name == "div" else np.sqrt(a)).astype("f4")
        if name == "div":
            return near, (a - near.astype("f8") * b) * np.sign(b)
        return near, a - near.astype("f8") ** 2
    first = a * b if name in ("mul", "fma") else a
    last = {"add": b, "sub": -b, "mul": np.zeros_like(a), "fma": c}[name]
    total, error = two_sum(first, last) if name != "mul" else (first, last)
    near = total.astype("f4")
    return near, (total - near) + np.where(np.isfinite(error), error, 0)


def _directed_64(name: str, a: Array, b: Any = None, c: Any = None) -> Pair:
    """Return the same in double precision."""
    if name in ("add", "sub"):
        return two_sum(a, b if name == "add" else -b)
    if name in ("mul", "fma"):
        near, rest = product_sum(a, b, np.zeros_like(a) if name == "mul" else c)
        return (a * b if name == "mul" else near), rest
    near = a / b if name == "div" else np.sqrt(a)
    left, _ = product_sum(-near, b if name == "div" else near, a)
    return near, left * np.sign(b) if name == "div" else left


# ---- types ----


def numbers(x: Array, kind: str, ftz: bool = False) -> Array:
    """Return the numbers of registers in double precision: (threads, one or two)."""
    x = np.ascontiguousarray(np.atleast_1d(x))
    if kind[:2] == "bf":
        values = (x.view("u2").astype("u4") << np.uint32(16)).view("f4")
    else:
        values = x.view("f2")
    values = values.reshape(len(x), -1).astype("f8")
    smallest = "f32" if kind[0] == "b" else "f16"
    return without_subnormals(values, smallest) if ftz else values


def is_subnormal(x: Array) -> Array:
    x = np.asarray(x)
    return (x != 0) & (np.abs(x) < np.finfo(x.dtype).smallest_normal)


def without_subnormals(x: Array, kind: str) -> Array:
    """Return zeros with the same sign for the subnormal numbers of a type."""
    return np.where(np.abs(x) < SMALLEST[kind], np.copysign(x.dtype.type(0), x), x)


def narrowed(x: Array, kind: str, how: str) -> Array:
    """Round double precision to a narrower type; bfloats are returned as bits."""
    if kind in NARROW:
        near = x.astype(NARROW[kind])
        return near if how == "rn" else stepped(near, x - near, how)
    near = x.astype("f4")  # toward zero, and odd if it is not exact
    near = stepped(near, np.where(np.isinf(x), 0, x - near), "rz")
    bits = near.view("u4") | (near != x).astype("u4")
    if how == "rn":
        bits = bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
    elif how != "rz":
        away = (bits & np.uint32(0xFFFF) != 0) & ((x < 0) == (how == "rm"))
        bits = bits + (away.astype("u4") << np.uint32(16))
    return (bits >> np.uint32(16)).astype("u2")


def packed(
    values: Array, kind: str, how: str = "rn", then: tuple[str, ...] = ()
) -> Array:
    """Return halves or bfloats as registers hold them, from (threads, one or two)."""
    short = kind.removesuffix("x2")
    if "sat" in then:
        values = np.where(np.isnan(values), 0, np.clip(values, 0, 1)) + 0.0
    if "relu" in then:
        values = np.where(values <= 0, 0, values)
    bits = np.ascontiguousarray(narrowed(values, short, how)).view("u2")
    infinity = np.uint16(0x7C00 if short == "f16" else 0x7F80)
    size = bits & np.uint16(0x7FFF)
    if "satfinite" in then:
        bits = np.where(
            (size == infinity) & ~np.isnan(values), bits - np.uint16(1), bits
        )
    if "ftz" in then:
        least = np.uint16(0x0400 if short == "f16" else 0x0080)
        bits = np.where(size < least, bits & np.uint16(0x8000), bits)
    bits = np.ascontiguousarray(np.where(np.isnan(values), NAN, bits))
    if kind != short:
        return bits.view("u4")[:, 0]
    return (bits.view("f2") if kind == "f16" else bits)[:, 0]


def converted(x: Array, source: str, to: str, how: str, then: tuple[str, ...]) -> Array:
    """cvt: return whole numbers or floats as floats of a type, rounded once."""
    if source == "bf16":
        total = numbers(x, source)[:, 0]
        rest = np.zeros_like(total)
    elif source[0] == "f":
        total = np.atleast_1d(x).astype("f8")
        rest = np.zeros_like(total)
        if "ftz" in then and source == "f32":
            total = without_subnormals(total, "f32")
    else:  # two words of a 64-bit number are exact
        x = np.atleast_1d(x)
        bits = x.astype("i8" if x.dtype.kind == "i" else "u8")
        half = bits.dtype.type(32)
        low = (bits & bits.dtype.type(0xFFFFFFFF)).astype("f8")
        total, rest = two_sum((bits >> half).astype("f8") * 2.0**32, low)
    if to in ("f16", "bf16"):  # subnormal halves stay: ftz is for single precision
        kept = tuple(word for word in then if word != "ftz")
        return packed(odd(total, rest)[:, None], to, how, kept)
    exact = to == "f64"
    result = stepped(total, rest, how) if exact else narrowed(odd(total, rest), to, how)
    if "ftz" in then and to == "f32":
        result = without_subnormals(result, "f32")
    if "sat" in then:
        result = np.where(np.isnan(result), 0, np.clip(result, 0, 1)) + 0
    return result


def tf32_bits(x: Array, how: str, then: tuple[str, ...]) -> Array:
    """Return single precision with 10 bits behind the point; ``.rna`` breaks ties away."""
    x = np.atleast_1d(x)
    bits = np.ascontiguousarray(np.where(x <= 0, 0, x) if "relu" in then else x, "f4")
    bits = bits.view("u4")
    last = bits >> np.uint32(13) & np.uint32(1)
    more = {"rna": np.uint32(0x1000), "rn": np.uint32(0xFFF) + last, "rz": np.uint32(0)}
    found = bits + more[how] & TF32
    if "satfinite" in then:
        infinite = found & np.uint32(0x7FFFFFFF) == np.uint32(0x7F800000)
        found = np.where(infinite, found - np.uint32(0x2000), found)
    return np.where(np.isnan(x), np.uint32(0x7FFFFFFF), found)


# ---- arithmetic of halves ----

OPERATIONS: dict[str, Any] = {
    "neg": np.negative, "abs": np.abs, "ex2": np.exp2, "tanh": np.tanh,
    "mul": np.multiply, "sub": lambda a, b: odd(*two_sum(a, -b)),
    "add": lambda a, b: odd(*two_sum(a, b)),
    "fma": lambda a, b, c: odd(*two_sum(a * b, c)),  # the product is exact
}  # fmt: skip


def halves(name: str, kind: str, then: tuple[str, ...], *given: Array) -> Array:
    """Return arithmetic of f16, bf16 or pairs of them, rounded once."""
    values = [numbers(x, kind, "ftz" in then) for x in given]
    values = list(np.broadcast_arrays(*values))
    result = extremes(name, then, *values) if name in ("min", "max") else None
    if result is None:
        result = OPERATIONS[name](*values)
    return packed(np.asarray(result), kind, "rn", then)


def extremes(name: str, then: tuple[str, ...], a: Array, b: Array) -> Array:
    """min, max: a NaN loses, or wins with ``.NaN``; −0 is below +0.

    With ``.xorsign.abs`` magnitudes are compared, and the sign is that of the product.
    """
    signs = np.signbit(a) ^ np.signbit(b)
    if "xorsign" in then:
        a, b = np.abs(a), np.abs(b)
    largest = name == "max"
    pick: Any = np.fmax if largest else np.fmin
    if "NaN" in then:
        pick = np.maximum if largest else np.minimum
    found = pick(a, b)
    minus = [np.signbit(a), np.signbit(b)]
    minus_zero = minus[0] & minus[1] if largest else minus[0] | minus[1]
    zero = np.where(minus_zero, -found.dtype.type(0), found.dtype.type(0))
    found = np.where((a == 0) & (b == 0), zero, found)
    return np.where(signs, -found, found) if "xorsign" in then else found


# ---- approximations in double precision ----


def gross(name: str, x: Array) -> Array:
    """rcp, rsqrt with .approx.ftz: of the upper 32 bits, and only these are returned."""
    x = np.ascontiguousarray(np.atleast_1d(x))
    x = without_subnormals((x.view("u8") & ~LOW_32).view("f8"), "f64")
    exact = 1 / (x if name == "rcp" else np.sqrt(x))
    bits = exact.view("u8") + np.uint64(0x80000000) & ~LOW_32
    return without_subnormals(bits.view("f8"), "f64")


FUNCTIONS = {
    function.__name__: function
    for function in (
        converted, directed, extremes, fma_f64, gross, halves, is_subnormal,
        numbers, tf32_bits,
    )
}  # fmt: skip
