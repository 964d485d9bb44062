"""Formats against NumPy's own float16, float32 and float64, and against bit patterns."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlinesoftmax.precision import FORMATS, add_up, exp_limits, find, round_to

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
        (lambda: add_up(1.0, 0, "float16"), "term, count: .* got 1.0, 0"),
        (lambda: add_up(-1.0, 2, "float16"), "term, count: .* got -1.0, 2"),
        (lambda: add_up(math.nan, 2, "float16"), "term, count: .* got nan, 2"),
    ],
)
def test_errors_name_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call()
