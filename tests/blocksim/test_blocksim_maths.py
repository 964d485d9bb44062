"""Functions of numbers, against NumPy's, over random and difficult numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest

from blocksim import cuda, float16, load, run
from kernels import correct
from marking import in_node

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
MODES = ["race", "full", "plain"]
HEAD = """import math
import numpy as np
from numba import cuda, types
from numba.types import int8, int16, int32, int64, uint8, uint16, uint32, uint64


@cuda.jit
def kernel(a, b, x, y):
    i = cuda.grid(1)
    if i < a.size:
"""


def computed(body: str, a, b, like, mode: str, other=None, third=None):
    """The arrays x and y that a kernel with this body leaves; y begins as ``third``."""
    x, y = np.zeros(len(a), like), np.zeros(len(a), other or like)
    y = y if third is None else third.copy()
    report = run(
        load(f"{HEAD}        {body}\n", "kernel"), 16, 64, a, b, x, y, mode=mode
    )
    assert not [f for f in report.faults if f.kind != "float64"], report.faults
    return x, y


def integers(low: int, high: int, count: int = 400, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(low, high, count)


def difficult(kind: type, seed: int = 0, count: int = 400) -> np.ndarray:
    """Random numbers of every size, subnormals, powers of two and their neighbours, ends."""
    limits, random = np.finfo(kind), np.random.default_rng(seed)
    bits = np.dtype(f"u{limits.bits // 8}")
    anywhere = random.integers(0, 2 ** (limits.bits - 1), count, bits).view(kind)
    powers = kind(2.0) ** np.arange(-10, 11).astype(kind)
    near = [np.nextafter(powers, kind(to)) for to in (-np.inf, np.inf)]
    ends = [0, limits.max, limits.tiny, limits.smallest_subnormal, np.inf, np.nan]
    halves = (np.arange(-9, 9) / 2).astype(kind)
    some = np.concatenate([powers, *near, np.array(ends, kind), halves])
    made = np.concatenate([some, anywhere])[:count]
    signs = random.choice(np.array([-1, 1], kind), count)
    return random.permutation(np.copysign(made, signs))


def same(found: np.ndarray, expected: np.ndarray) -> None:
    """Equal, down to the sign of a zero."""
    expected = np.asarray(expected, found.dtype)
    alike = (found == expected) & (np.signbit(found) == np.signbit(expected))
    alike |= np.isnan(found) & np.isnan(expected)
    assert alike.all(), (
        found[~alike][:5],
        expected[~alike][:5],
        np.flatnonzero(~alike)[:5],
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_parts_of_a_float_are_numpys(kind: type, mode: str) -> None:
    a = difficult(kind)
    part, exponent = computed(
        "x[i], y[i] = math.frexp(a[i])", a, a, kind, mode, np.int32
    )
    same(part, np.frexp(a)[0])
    assert (exponent == np.where(np.isfinite(a), np.frexp(a)[1], 0)).all()
    rest, whole = computed("x[i], y[i] = math.modf(a[i])", a, a, kind, mode)
    same(rest, np.modf(a)[0])
    same(whole, np.modf(a)[1])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_neighbour_of_a_float_is_numpys(kind: type, mode: str) -> None:
    a, b = difficult(kind), difficult(kind, 1)
    same(
        computed("x[i] = math.nextafter(a[i], b[i])", a, b, kind, mode)[0],
        np.nextafter(a, b),
    )
    same(computed("x[i] = math.nextafter(a[i], a[i])", a, b, kind, mode)[0], a)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_an_exponent_is_added_as_numpy_adds_it(kind: type, mode: str) -> None:
    a, b = difficult(kind), integers(-300, 300)
    b[::9] += 1 << 32  # a GPU takes the lowest 32 bits
    found = computed("x[i] = math.ldexp(a[i], b[i])", a, b, kind, mode)[0]
    same(found, np.ldexp(a, b.astype(np.int32)))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_remainder_is_that_of_the_nearest_quotient(kind: type, mode: str) -> None:
    a, b = difficult(kind), difficult(kind, 1)
    b[::3] = a[::3] / integers(1, 9)[::3].astype(kind)
    a[::5], a[1::5] = b[::5] * 1.5, b[1::5] * 2.5  # ties

    def expected(x: float, y: float) -> float:
        nothing = math.isinf(x) or y == 0
        return math.nan if nothing else math.remainder(x, y)

    found = computed("x[i] = math.remainder(a[i], b[i])", a, b, kind, mode)[0]
    same(found, [expected(float(x), float(y)) for x, y in zip(a, b, strict=True)])


@pytest.mark.parametrize("mode", MODES)
def test_a_quotient_comes_with_its_rest(mode: str) -> None:
    a, b = difficult(np.float64), difficult(np.float64, 1)
    a[::3] = integers(-40, 40)[::3] * b[::3]
    quotient, rest = computed("x[i], y[i] = divmod(a[i], b[i])", a, b, np.float64, mode)
    singly = "x[i] = a[i] // b[i]; y[i] = a[i] % b[i]"
    for found, alone in zip((quotient, rest), computed(singly, a, b, np.float64, mode)):
        same(found, alone)
    finite = np.isfinite(a) & np.isfinite(b) & (b != 0)
    same(rest[finite], np.divmod(a, b)[1][finite])


def by_int_power(a: int, b: int, kind: type) -> int:
    """`int_power` in numbers.py of numba-cuda 0.30.4: what it returns is a float64."""
    low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    if b < 0 and a == 0:
        power = -(2**63)
    elif b < 0:
        power = a ** (b % 2) if a in (-1, 1) else 0
    elif b > 65536:
        power = a ** (2 - b % 2) * (1 if abs(a) < 2 else math.inf)
    else:
        power = (pow(a, b, 2**64) - low) % 2**64 + low
    return int(min(max(float(power), low), high))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_a_power_of_integers_goes_through_a_float64(kind: type, mode: str) -> None:
    ends = [0, 1, 2, 3, 10, 2**31 - 1, 2**53 + 1, 2**62 - 1, 2**63 - 1]
    ends += [-number for number in ends] if kind is np.int64 else [2**64 - 1]
    powers = [0, 1, 2, 3, 5, 39, 64, 65536, 65537, 65538]
    powers += [-1, -2, -65537] if kind is np.int64 else []
    a, b = np.array([(a, b) for a in ends for b in powers], kind).T
    found, again = computed("x[i] = a[i] ** b[i]; y[i] = a[i] ** 3", a, b, kind, mode)
    expected = [by_int_power(int(m), int(n), kind) for m, n in zip(a, b, strict=True)]
    assert found.tolist() == expected
    cubes = [by_int_power(int(m), 3, np.int64) for m in a.astype(np.int64)]
    assert again.tolist() == np.array(cubes).astype(kind).tolist()


@pytest.mark.parametrize("mode", MODES)
def test_integers_without_a_common_type_are_compared_as_floats(mode: str) -> None:
    a = np.array([2**63 - 1, 2**53 + 1, -1, 5, 2**62], np.int64)
    b = np.array([2**63, 2**53, 2**64 - 1, 5, 2**62 + 1], np.uint64)
    x, y = computed("x[i] = a[i] < b[i]; y[i] = a[i] == b[i]", a, b, np.int64, mode)
    assert x.tolist() == (a.astype(float) < b.astype(float)).tolist() == [0, 0, 1, 0, 0]
    assert y.tolist() == [1, 1, 0, 1, 1]


BESIDE = {  # what a kernel does -> what it leaves of 0, 2 ** 53 + 1, 7
    "x[i] = -(a[i] if a[i] != 7 else b[i])": [-0.0, -(2.0**53), -0.5],
    "x[i] = -(a[i] or b[i]) - a[i]": [-0.5, -(2.0**54), -14.0],
    "v = a[i]\nif v == 7:\n    v = b[i]\nx[i] = -v": [-0.0, -(2.0**53), -0.5],
    "v = a[i]\nif i == 2:\n    v = b[i]\nv += 0\nx[i] = -v": [-0.0, -(2.0**53), -0.5],
    "v = b[i]\nif i < 2:\n    v = a[i]\nw = v\nx[i] = -w": [-0.0, -(2.0**53), -0.5],
    "v = 3\nfor k in range(9):\n    x[i] = v + a[i]\n    v = v + b[i]\n    v *= 0":
        [0, 2.0**53, 7],
    "x[i] = -one_of(a[i], b[i])": [-0.0, -(2.0**53), -0.5],
    "v = 10\nif i < 9:\n    v = a[i]\nelse:\n    v = b[i]\nfor k in range(400):\n"
    "    v *= 10\nx[i] = v": [0, math.inf, math.inf],
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("body", BESIDE)
def test_a_whole_number_beside_a_float_becomes_one(body: str, mode: str) -> None:
    head = HEAD.replace("@cuda.jit\n", ONE_OF)
    a, b, x = np.array([0, 2**53 + 1, 7]), np.full(3, 0.5), np.zeros(3)
    text = head + "".join(f"        {line}\n" for line in body.split("\n"))
    report = run(load(text, "kernel"), 1, 3, a, b, x, x.copy(), mode=mode)
    assert not [fault for fault in report.faults if fault.kind != "float64"]
    same(x, BESIDE[body])


ONE_OF = """@cuda.jit(device=True)
def one_of(a, b):
    if a == 7:
        return b
    return a


@cuda.jit
"""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", ["floor", "ceil", "trunc"])
def test_what_is_cut_off_leaves_the_sign(name: str, kind: type, mode: str) -> None:
    a = np.array([-0.0, 0.0, -0.5, 0.5, -1.5, np.inf, np.nan], kind)
    x, y = computed(f"x[i] = math.{name}(a[i]); y[i] = 1 / x[i]", a, a, kind, mode)
    same(x, getattr(np, name)(a))
    same(y, 1 / getattr(np, name)(a))


@pytest.mark.parametrize("mode", MODES)
def test_the_rest_of_an_infinity_is_no_number(mode: str) -> None:
    """PTX has no instruction for it: x - trunc(x / y) * y, and 0 times ∞ is NaN."""
    a, b = np.array([1.5, -1.5, np.inf]), np.array([np.inf, -np.inf, 2.0])
    for body in (
        "x[i] = a[i] // b[i]; y[i] = a[i] % b[i]",
        "x[i], y[i] = divmod(a[i], b[i])",
    ):
        for numbers in computed(body, a, b, np.float64, mode):
            assert np.isnan(numbers).all()


DIGITS = [-400, -30, -5, -1, 0, 1, 2, 5, 13, 22, 23, 300, 400]


def by_numbas_code(x: float, digits: int) -> float:
    """`round_ndigits` in cudaimpl.py of numba-cuda 0.30.4, with integers of 64 bits."""

    def power(n: int) -> float:
        return float("1e400") if n > 308 else 10.0**n

    def whole(y: float) -> int:
        if y != y:
            return -(2**63)
        return max(-(2**63), min(2**63 - 1, round(y))) if math.isfinite(y) else (
            2**63 - 1 if y > 0 else -(2**63)
        )  # fmt: skip

    if math.isinf(x) or math.isnan(x):
        return x
    up = down = large = 1.0
    if digits >= 0:
        up, large = (power(digits - 22), 1e22) if digits > 22 else (power(digits), 1.0)
        y = (x * up) * large
        if math.isinf(y):
            return x
    else:
        down = power(-digits)
        y = x / down
    z = float(whole(y))
    if abs(y - z) == 0.5:
        z = 2.0 * whole(y / 2.0)
    return z / large / up if digits >= 0 else z * down


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rounding_to_digits_is_numbas(kind: type, mode: str) -> None:
    a = difficult(kind)
    b = np.array(DIGITS, np.int32)[integers(0, len(DIGITS))]
    found = computed("x[i] = round(a[i], b[i])", a, b, kind, mode)[0]
    same(found, [by_numbas_code(float(x), int(n)) for x, n in zip(a, b, strict=True)])


@pytest.mark.parametrize("mode", MODES)
def test_a_number_of_a_launch_has_the_type_of_the_signature(mode: str) -> None:
    kernel = load(
        "from numba import cuda\n@cuda.jit('void(float64[:], float32)')\n"
        "def kernel(x, v):\n    x[0] = v\n", "kernel",
    )  # fmt: skip
    x = np.zeros(1)
    run(kernel, 1, 1, x, 0.3425, mode=mode)
    assert x[0] == np.float32(0.3425)


# ---- bits

WHOLES = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


def whole_numbers(kind: str) -> np.ndarray:
    """Random integers of every length, and the ends of the type's range."""
    limits = np.iinfo(kind)
    some = np.random.default_rng(0).integers(limits.min, limits.max, 60, kind)
    lengths = some >> np.arange(60).astype(kind) % limits.bits
    ends = np.array([0, 1, limits.max, limits.min], kind)
    return np.concatenate([some, lengths, ends])


def bits_of(a: np.ndarray, bits: int) -> list[str]:
    """The bits of each number, the highest first."""
    return [f"{int(value) & (1 << bits) - 1:0{bits}b}" for value in a]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", WHOLES)
def test_bits_are_counted_in_the_type_of_the_number(kind: str, mode: str) -> None:
    a = whole_numbers(kind)
    written = bits_of(a, np.iinfo(kind).bits)
    body = "x[i] = cuda.popc(a[i]); y[i] = cuda.clz(a[i])"
    ones, zeros = computed(body, a, a, np.int64, mode)
    assert list(ones) == [bits.count("1") for bits in written]
    assert list(zeros) == [len(bits) - len(bits.lstrip("0")) for bits in written]
    assert list(computed("x[i] = a[i].bit_count()", a, a, np.int64, mode)[0]) == list(
        ones
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", WHOLES)
def test_bits_are_reversed_in_32_of_them(kind: str, mode: str) -> None:
    """Only a uint64 has its own intrinsic; others become uint32."""
    a = whole_numbers(kind)
    written = bits_of(a, 64 if kind == "uint64" else 32)
    found = computed("x[i] = cuda.brev(a[i])", a, a, np.uint64, mode)[0]
    assert [int(value) for value in found] == [int(bits[::-1], 2) for bits in written]


@cuda.jit("void(int32[:], int32)")
def leading(x, n):
    x[0] = cuda.clz(n)


def test_a_function_is_compiled_for_the_types_of_its_signature() -> None:
    x = np.zeros(1, np.int32)
    leading[1, 1](x, 1 << 20)
    assert x[0] == 11


# ---- half precision

PAIRS = {  # an operation of two numbers of float16, and what NumPy makes of them
    "cuda.fp16.hadd(a[i], b[i])": np.add,
    "cuda.fp16.hsub(a[i], b[i])": np.subtract,
    "cuda.fp16.hmul(a[i], b[i])": np.multiply,
    "cuda.fp16.hdiv(a[i], b[i])": np.divide,
    "a[i] + b[i]": np.add,
    "a[i] - b[i]": np.subtract,
    "a[i] * b[i]": np.multiply,
    "a[i] / b[i]": np.divide,
    "-a[i] * abs(b[i])": lambda a, b: -a * abs(b),
    "cuda.fp16.heq(a[i], b[i])": np.equal,
    "cuda.fp16.hlt(a[i], b[i])": np.less,
    "cuda.fp16.hle(a[i], b[i])": np.less_equal,
    "cuda.fp16.hgt(a[i], b[i])": np.greater,
    "cuda.fp16.hge(a[i], b[i])": np.greater_equal,
    "cuda.fp16.hne(a[i], b[i])": lambda a, b: (a < b) | (a > b),
    "a[i] != b[i]": np.not_equal,
    "max(a[i], b[i])": lambda a, b: np.where(b > a, b, a),
    "min(a[i], b[i])": lambda a, b: np.where(b < a, b, a),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("expression", PAIRS)
def test_an_operation_of_halves_is_rounded_once(expression: str, mode: str) -> None:
    a, b = difficult(np.float16), difficult(np.float16, 1)
    b[::7] = a[::7]
    x = computed(f"x[i] = {expression}", a, b, np.float64, mode)[0]
    same(x, PAIRS[expression](a, b).astype(np.float64))


@pytest.mark.parametrize("mode", MODES)
def test_a_chain_of_halves_is_rounded_at_each_step(mode: str) -> None:
    a, b = difficult(np.float16), difficult(np.float16, 1)
    body = "v = a[i] * b[i]; v += a[i]; v -= b[i]; x[i] = v - a[i] * b[i] + b[i]"
    same(computed(body, a, b, np.float64, mode)[0], ((a * b + a) - b) - a * b + b)


def nearest_half(exact: Fraction) -> float:
    """The float16 next to a number; of two the one whose last bit is 0."""
    near = np.float16(float(exact))
    if not np.isfinite(near):
        return float(near)
    ways = [np.nextafter(near, np.float16(to)) for to in (-np.inf, np.inf)]
    finite = [near] + [way for way in ways if np.isfinite(way)]
    off = lambda half: (
        abs(Fraction(float(half)) - exact),
        int(half.view(np.uint16)) & 1,
    )
    return float(min(finite, key=off))


@pytest.mark.parametrize("mode", MODES)
def test_a_fused_operation_of_halves_is_rounded_once(mode: str) -> None:
    a, b = difficult(np.float16), difficult(np.float16, 1)
    c = (-a * b) * (1 + integers(-3, 4) * np.float16(2**-10))
    a[::3] = 1 + integers(0, 1024)[::3] * np.float16(2**-10)  # sums beside a tie
    b[::3] = 2.0 ** integers(-24, 4)[::3]
    c[::3] = integers(1024, 2048, seed=1)[::3] * 2.0 ** integers(-10, 4)[::3]
    c = c.astype(np.float16)
    body = "y[i] = cuda.fp16.hfma(a[i], b[i], y[i])"
    found = computed(body, a, b, np.float16, mode, third=c)[1]
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    for x, y, z, value in zip(
        a[finite], b[finite], c[finite], found[finite], strict=True
    ):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        assert value == nearest_half(exact), (x, y, z)


EACH = {  # a function of one number of float16, and what NumPy makes of it in float64
    "hsin": np.sin, "hcos": np.cos, "hexp": np.exp, "hexp2": np.exp2, "hlog": np.log,
    "hlog2": np.log2, "hlog10": np.log10, "hsqrt": np.sqrt, "hceil": np.ceil,
    "hfloor": np.floor, "htrunc": np.trunc, "hrint": np.rint, "htanh": np.tanh,
    "habs": np.abs, "hneg": np.negative, "hrcp": lambda x: 1 / x,
    "hrsqrt": lambda x: 1 / np.sqrt(x), "hexp10": lambda x: 10**x,
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", EACH)
def test_a_function_of_a_half_is_the_nearest_half(name: str, mode: str) -> None:
    a = difficult(np.float16)
    found = computed(f"x[i] = cuda.fp16.{name}(a[i])", a, a, np.float64, mode)[0]
    expected = EACH[name](a.astype(np.float64)).astype(np.float16)
    if name in ("hfloor", "hceil", "htrunc"):  # the sign of a zero is not kept
        found, expected = found + 0.0, expected + np.float16(0)
    same(found, expected.astype(np.float64))


@pytest.mark.parametrize("mode", MODES)
def test_a_half_is_the_larger_of_two_as_on_the_device(mode: str) -> None:
    """NaN counts as missing, and of two zeros the positive one is larger."""
    a = np.array([np.nan, 1, np.nan, 0.0, -0.0, 3], np.float16)
    b = np.array([2, np.nan, np.nan, -0.0, 0.0, -7], np.float16)
    body = "x[i] = cuda.fp16.hmax(a[i], b[i]); y[i] = cuda.fp16.hmin(a[i], b[i])"
    most, least = computed(body, a, b, np.float64, mode)
    same(most, np.array([2, 1, np.nan, 0.0, 0.0, 3]))
    same(least, np.array([2, 1, np.nan, -0.0, -0.0, -7]))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", WHOLES)
def test_a_half_becomes_the_nearest_integer_of_the_range(kind: str, mode: str) -> None:
    a = difficult(np.float16)
    found = computed(f"x[i] = {kind}(a[i]); y[i] = a[i]", a, a, kind, mode)
    limits = np.iinfo(kind)
    nothing = 1 << 63 if limits.bits == 64 else 0
    nothing -= (nothing << 1) * (kind == "int64")

    def expected(value: float) -> int:
        if value != value:
            return nothing
        return int(max(limits.min, min(limits.max, np.rint(value))))

    for x in found:
        assert [int(v) for v in x] == [expected(float(v)) for v in a]


TO_HALF = {  # a conversion to float16, which a[i] + 0 reads
    "x[i] = np.float16(a[i])": lambda a: a,
    "x[i] = cuda.fp16.habs(a[i])": np.abs,
    "h = cuda.local.array(1, types.float16); h[0] = a[i]; x[i] = h[0]": lambda a: a,
    "x[i] = cuda.fp16.hmul(a[i], 2)": lambda a: a.astype(np.float16) * np.float16(2),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [np.float64, np.int64, np.uint8])
@pytest.mark.parametrize("body", TO_HALF)
def test_a_number_becomes_the_nearest_half(body: str, kind: type, mode: str) -> None:
    a = np.concatenate([integers(-70000, 70000) / 7, 2.0 ** integers(-26, 17)])
    a = np.concatenate([a, np.arange(2040, 2060), [65519.9, 65520]]).astype(kind)
    expected = TO_HALF[body](a).astype(np.float16)
    same(computed(body, a, a, np.float64, mode)[0], expected.astype(np.float64))


@pytest.mark.parametrize("mode", MODES)
def test_a_half_around_a_kernel_and_of_a_launch_is_one(mode: str) -> None:
    kernel = load(
        "from numba import cuda, types\nTENTH = types.float16(0.1)\n"
        "@cuda.jit('void(float64[:], float16)')\n"
        "def kernel(x, v):\n    x[0] = v\n    x[1] = TENTH\n", "kernel",
    )  # fmt: skip
    x = np.zeros(2)
    run(kernel, 1, 1, x, 0.1, mode=mode)
    assert list(x) == [np.float16(0.1)] * 2
    plain = load("def kernel(x, v):\n    x[0] = v\n", "kernel", whole=False)
    run(plain, 1, 1, x, float16(0.3), mode=mode)
    assert x[0] == np.float16(0.3)


# ---- on a page

EVERYWHERE = """math.ldexp(v, i - 3); math.remainder(v, float32(0.6)); round(v, 2)
math.nextafter(v, float32(0)); half * half + half; half / types.float16(3); int32(half)
cuda.fp16.hfma(half, half, v); cuda.fp16.hsin(v); cuda.fp16.hrsqrt(half * half)
cuda.fp16.hrint(v); cuda.fp16.hmax(half, -half); cuda.fp16.hne(half, v)
cuda.popc(types.int8(i - 3)); cuda.clz(types.uint16(i)); int32(i).bit_count()
math.frexp(v)[0]; math.frexp(v)[1]; math.modf(v)[0]; math.modf(v)[1]
divmod(v, float32(0.75))[0]; divmod(v, float32(0.75))[1]
(i + 7) ** 21; (i - 5) ** (i - 6); (i - 5) ** 70001; math.copysign(1.0, math.ceil(v / 10))
i - 2 < types.uint64(i); -(0 if i < 3 else 0.5)"""


def test_in_micropython_the_numbers_are_the_same() -> None:
    x = [round(value / 7 + 0.05, 3) for value in range(-4, 6)]
    parts = EVERYWHERE.replace("\n", "; ").split("; ")
    body = "".join(f"    y[i, {k}] = {part}\n" for k, part in enumerate(parts))
    source, case = correct.case(
        "from numba import types\n\n@cuda.jit\ndef kernel(x, y):\n    i = cuda.grid(1)\n"
        f"    v = x[i]\n    half = types.float16(v)\n{body}",
        [1, 1], [10, 1], {"x": ["floats", x], "y": ["out", [10, len(parts)]]},
    )  # fmt: skip
    y = [[0.0] * len(parts) for _ in x]
    report = run(load(source, "kernel"), 1, 10, x, y)
    assert report, report.faults
    case["expected"] = {"y": y}
    drill = {"kind": "kernel", "function": "kernel", "tolerance": 1e-12, "slips": []}
    (report,) = in_node([{**drill, "cases": [case], "answer": source}])
    assert report["passed"], report
