"""Formats against NumPy's own float16, float32 and float64, and against bit patterns."""

import doctest
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlinesoftmax import precision
from onlinesoftmax.precision import (
    EIGHT_BITS,
    FORMATS,
    ORDERS,
    add_up,
    exp_inputs,
    exp_limits,
    find,
    round_to,
    running_sum,
    sum_in,
    ulp,
)

EVERY = [*FORMATS, *EIGHT_BITS]
NUMPY = {"float16": np.float16, "float32": np.float32, "float64": np.float64}


def every_float16() -> np.ndarray:
    """All finite numbers of float16 from 0 up, as float64."""
    return np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)


def cut_to_bfloat16(x: np.ndarray) -> np.ndarray:
    """Round float32 to bfloat16 on its bits: add a half, keep the upper sixteen."""
    bits = x.view(np.uint32).astype(np.uint64)
    bits += 0x7FFF + ((bits >> 16) & 1)
    return ((bits >> 16) << 16).astype(np.uint32).view(np.float32)


def one_by_one(term: float, count: int, name: str) -> float:
    """The definition of add_up."""
    total = term = round_to(term, name)
    for _ in range(count - 1):
        total = round_to(total + term, name)
    return total


@pytest.mark.parametrize("name", NUMPY)
def test_a_format_is_numpys(name):
    info = np.finfo(NUMPY[name])
    assert find(name).bits == info.nmant + 1
    assert find(name).largest == info.max
    assert find(name).smallest == info.smallest_subnormal
    assert 2.0 ** find(name).low == info.smallest_normal


def test_bfloat16_has_the_range_of_float32():
    largest = np.uint32(0x7F7F0000).view(np.float32)
    smallest = np.uint32(0x00010000).view(np.float32)
    assert find("bfloat16").largest == largest
    assert find("bfloat16").smallest == smallest


def test_rounding_finds_every_float16_and_the_even_one_between_two():
    numbers = every_float16()
    assert np.array_equal(round_to(numbers, "float16"), numbers)
    between = (numbers[1:] + numbers[:-1]) / 2
    around = [
        between,
        np.nextafter(between, 0),
        np.nextafter(between, np.inf),
        -between,
    ]
    for x in around:
        assert np.array_equal(round_to(x, "float16"), x.astype(np.float16))


@given(st.floats())
def test_rounding_is_numpys(x):
    with np.errstate(over="ignore"):
        for name, dtype in NUMPY.items():
            expected = np.float64(x).astype(dtype)
            assert np.array_equal(round_to(x, name), expected, equal_nan=True)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_rounding_to_bfloat16_is_cutting_bits(x):
    with np.errstate(over="ignore"):
        expected = cut_to_bfloat16(np.array([x], np.float32))[0]
    assert round_to(x, "bfloat16") == expected


def test_rounding_keeps_signs_shapes_and_the_special():
    x = np.array([[-0.0, np.nan], [-np.inf, -1e9]])
    rounded = round_to(x, "float16")
    assert rounded.shape == x.shape
    assert math.copysign(1, rounded[0, 0]) == -1
    assert np.isnan(rounded[0, 1])
    assert rounded[1].tolist() == [-np.inf, -np.inf]


def codes_of(name: str) -> list[Fraction | float]:
    """Every number from 0 up that a format's bits can say, in the order of its codes.

    The codes are those of the Open Compute Project's specification of 8-bit formats,
    and of IEEE 754's for the others: exponent, then fraction; an exponent of 0 has no
    leading 1.
    """
    exponent, fraction, bias = {
        "float8_e4m3fn": (4, 3, 7),
        "float8_e5m2": (5, 2, 15),
        "float16": (5, 10, 15),
        "bfloat16": (8, 7, 127),
    }[name]
    codes = []
    for code in range(2 ** (exponent + fraction)):
        e, f = divmod(code, 2**fraction)
        lead = 1 if e else 0
        size = Fraction(2) ** (max(e, 1) - bias)
        codes.append((lead + Fraction(f, 2**fraction)) * size)
    if name == "float8_e4m3fn":
        return [*codes[:-1], math.nan]  # only the last code is no number
    return codes[: -(2**fraction)] + [math.inf]  # and the rest are no numbers


def nearest(x: float, codes: list[Fraction | float]) -> float:
    """The number nearest to x, of two the one with the even code; x at least 0.

    The first code that is no number stands where the next number would.
    """
    top = 2 * codes[-2] - codes[-3]
    numbers = [*codes[:-1], top]
    near = min(
        range(len(numbers)), key=lambda i: (abs(numbers[i] - Fraction(x)), i % 2)
    )
    return float(codes[near])


@pytest.mark.parametrize("name", EIGHT_BITS)
def test_eight_bits_are_what_their_codes_say(name):
    codes, form = codes_of(name), find(name)
    numbers = np.array(codes[:-1], np.float64)
    assert np.array_equal(round_to(numbers, name), numbers)
    assert np.array_equal(ulp(numbers[:-1], name), np.diff(numbers))
    between = (numbers[1:] + numbers[:-1]) / 2
    beyond = numbers[-1] + np.diff(numbers)[-1] * np.array([0.49, 0.5, 0.51, 1, 9])
    for x in (between, np.nextafter(between, 0), np.nextafter(between, 999), beyond):
        expected = np.array([nearest(each, codes) for each in x])
        np.testing.assert_array_equal(round_to(x, name), expected)
        np.testing.assert_array_equal(round_to(-x, name), -expected)
    assert (form.largest, form.smallest) == (numbers[-1], numbers[1])
    assert form.smallest_normal == numbers[2 ** (form.bits - 1)]  # exponent 1
    np.testing.assert_array_equal(
        [form.beyond, round_to(np.inf, name)], [codes[-1]] * 2
    )


@pytest.mark.parametrize("name", FORMATS)
def test_limits_separate(name):
    form, limits = find(name), exp_limits(name)
    for x, here, there in (
        (limits.zero, 0.0, form.smallest),
        (limits.overflow, form.largest, np.inf),
    ):
        room = abs(x) * 2.0 ** -min(form.bits, 40)
        with np.errstate(over="ignore"):
            assert round_to(np.exp(x - room), name) <= here
            assert round_to(np.exp(x + room), name) >= there
    assert math.isclose(math.exp(limits.subnormal), 2.0**form.low, rel_tol=1e-12)


def test_limits_are_those_of_numpys_exp():
    """Every float16, and for the wider types the two nearest to each limit."""
    numbers = np.concatenate([-every_float16()[:0:-1], every_float16()])
    with np.errstate(over="ignore"):
        values = np.exp(numbers).astype(np.float16)
    zero, subnormal, overflow = exp_limits("float16")
    assert np.array_equal(np.isinf(values), numbers > overflow)
    assert np.array_equal(values == 0, numbers < zero)
    normal = values >= np.finfo(np.float16).smallest_normal
    assert np.array_equal(normal, numbers > subnormal)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
@given(term=st.floats(1e-9, 1e5), count=st.integers(1, 6000))
def test_jumps_arrive_where_single_steps_do(name, term, count):
    if name != "bfloat16":
        with np.errstate(over="ignore"):
            terms = np.full(count, term, NUMPY[name])
            expected = terms.cumsum(dtype=NUMPY[name])[-1]
    else:
        count = min(count, 700)
        expected = one_by_one(term, count, name)
    assert add_up(term, count, name) == expected


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
@given(share=st.floats(1e-3, 1), count=st.integers(1, 200))
def test_a_sum_that_overflows_is_infinite(name, share, count):
    term = share * find(name).largest
    assert add_up(term, count, name) == one_by_one(term, count, name)


@pytest.mark.parametrize("term", [1.0, 0.1, 1e300, 5e-324, 1.5 + 2**-52])
def test_jumps_in_float64(term):
    expected = np.full(5000, term).cumsum()[-1]
    assert add_up(term, 5000, "float64") == expected


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_ones_stall_where_the_digits_end(name):
    stall = 2.0 ** find(name).bits
    assert add_up(1.0, int(stall), name) == stall
    assert add_up(1.0, int(stall) + 1, name) == stall
    assert add_up(1.0, 2**30, name) == stall


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: find("fp8"), "name: expected one of .*float16.*, got 'fp8'"),
        (lambda: ulp(1.0, "fp8"), "name: expected one of .*float8_e4m3fn.*, got 'fp8'"),
        (lambda: sum_in([1.0], "float16", "up"), "order: .*'kahan'.*, got 'up'"),
        (lambda: sum_in([1.0], "fp8"), "name: expected one of .*, got 'fp8'"),
        (lambda: sum_in([[]], "float16"), r"x: .* one number, got shape \(1, 0\)"),
        (lambda: sum_in(1.0, "float16"), r"x: .* \(..., n\), got the number 1.0"),
        (lambda: sum_in([1.0], "float16", "tree", block=0), "block: .*, got 0"),
        (
            lambda: add_up(1.0, 0, "float16"),
            "count: expected a positive integer, got 0",
        ),
        (lambda: add_up(-1.0, 2, "float16"), "term: .* got -1.0"),
        (lambda: add_up(math.nan, 2, "float16"), "term: .* got nan"),
    ],
)
def test_errors_name_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("name", EVERY)
def test_the_last_inputs_of_exp_are_numbers_of_the_format_next_to_the_limits(name):
    """Their neighbours fall on the other side, by exponentials of forty digits."""
    form, inputs = find(name), exp_inputs(name)
    with localcontext(prec=40):
        half = Decimal(form.smallest) / 2
        bounds = half, Decimal(form.smallest_normal), Decimal(form.largest)
        for x, bound in zip(inputs, bounds):
            above = float(x + ulp(np.nextafter(x, np.inf), name))
            assert round_to([x, above], name).tolist() == [x, above]
            assert Decimal(x).exp() <= bound < Decimal(above).exp()


@pytest.mark.parametrize(
    "name", ["float8_e4m3fn", "float8_e5m2", "float16", "bfloat16"]
)
def test_the_last_inputs_are_the_last_of_all_numbers(name):
    """Every number of the format, its exponential rounded to the format."""
    numbers = np.array(codes_of(name)[:-1], np.float64)
    numbers = np.concatenate([-numbers[:0:-1], numbers])
    with np.errstate(over="ignore", under="ignore"):
        values = round_to(np.exp(numbers), name)
    zero, subnormal, finite = exp_inputs(name)
    assert zero == numbers[values == 0].max()
    assert subnormal == numbers[values < find(name).smallest_normal].max()
    assert finite == numbers[np.isfinite(values)].max()


@given(st.floats(width=16, allow_nan=False, allow_infinity=False, min_value=0))
def test_an_ulp_is_numpys_spacing(x):
    for name, dtype in NUMPY.items():
        if x < find(name).largest:
            assert ulp(x, name) == ulp(-x, name) == np.spacing(dtype(x))
    assert np.isnan(ulp([np.inf, np.nan], "float32")).all()


def rounded(x: Fraction, name: str) -> Fraction:
    """x in a format, by whole numbers only; it must not be too large."""
    form = find(name)
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    exponent += abs(x) >= Fraction(2) ** exponent  # now 2**exponent is above |x|
    unit = Fraction(2) ** (max(exponent, form.low + 1) - form.bits)
    return round(x / unit) * unit  # Python rounds a half to the even


def plainly(x: list[Fraction], name: str, order: str, block: int) -> Fraction:
    """The definition of sum_in, in fractions."""
    total = excess = Fraction(0)
    if order in ("blocks", "tree"):
        cut = [x[i : i + block] for i in range(0, len(x), block)]
        x = [plainly(part, name, "serial", 1) for part in cut]
    if order in ("pairs", "tree"):
        while len(x) > 1:
            pairs = zip(x[::2], [*x[1::2], Fraction(0)])
            x = [rounded(a + b, name) for a, b in pairs]
        return x[0]
    for term in x:
        if order == "kahan":
            term = rounded(term - excess, name)
        after = rounded(total + term, name)
        excess = rounded(rounded(after - total, name) - term, name)
        total = after
    return total


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", EVERY)
@given(
    st.lists(st.integers(-5, 40), min_size=1, max_size=30),
    st.sampled_from([1.0, 0.1, 0.37]),
    st.integers(1, 31),
)
def test_a_sum_is_rounded_after_each_operation(name, order, numbers, size, block):
    terms = [size * number / 16 for number in numbers]
    exact = [rounded(Fraction(term), name) for term in terms]
    expected = plainly(exact, name, order, block)
    got = sum_in([terms, terms[::-1]], name, order, block=block)
    assert Fraction(float(got[0])) == expected
    assert Fraction(float(got[1])) == plainly(exact[::-1], name, order, block)
    if order == "serial":
        sums = running_sum(terms, name)
        assert sums[-1] == got[0] and len(sums) == len(terms)
        assert sums[0] == exact[0]


def test_kahan_needs_no_wider_format():
    """0.1 ten thousand times: the plain sum is wrong in the fourth digit."""
    terms = np.full(10_000, np.float32(0.1), np.float64)
    plain, careful = (sum_in(terms, "float32", o) for o in ("serial", "kahan"))
    assert abs(plain / terms.sum() - 1) > 9e-5
    assert abs(careful / terms.sum() - 1) < 2**-23


@pytest.mark.parametrize("name", EIGHT_BITS)
@pytest.mark.parametrize("term", [2**-9, 0.3, 1.0, 7.0, 20.0, 32.0, 56.0, 450.0, 5e3])
def test_jumps_of_eight_bits_arrive_where_single_steps_do(name, term):
    sums = running_sum([term] * 40, name)
    for count, expected in enumerate(sums, 1):
        np.testing.assert_array_equal(add_up(term, count, name), expected)
        np.testing.assert_array_equal(one_by_one(term, count, name), expected)


@pytest.mark.parametrize("name", EVERY)
def test_what_is_too_large_in_a_sum_is_beyond(name):
    large = find(name).largest
    for order in ORDERS:
        got = sum_in([large, large, 1.0], name, order, block=2)
        assert not np.isfinite(got)
    np.testing.assert_array_equal(running_sum([large] * 2, name)[1], find(name).beyond)


def test_the_examples():
    assert doctest.testmod(precision).failed == 0
