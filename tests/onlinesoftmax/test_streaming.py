"""Folds over blocks: the same answer at every block size, and how near it is."""

import doctest
from math import ceil, exp

import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import exact
from exact import UNIT, allowed
from onlinesoftmax import dense, streaming
from onlinesoftmax.state import State
from onlinesoftmax.streaming import (
    normalise,
    split,
    sum_exp,
    trace,
    unnormalise,
    update,
    update_normalised,
    update_two_term,
)

INF, NAN = np.inf, np.nan
DTYPES = [np.float16, np.float32, np.float64]
NASTY = [INF, -INF, NAN, 0.0, -0.0, 1.0, 1.0, 88.0, -104.0, 750.0]
STEPPER = [0.5, -1, 1, 0.2, 2, 0, 1.5, -0.5, 1, 0.8, -2, 1.9, 4, 3, -1, 2.5]
quiet = pytest.mark.filterwarnings("ignore::RuntimeWarning")
block_sizes = st.integers(1, 41)


@st.composite
def rows(draw: st.DrawFn, some: st.SearchStrategy) -> np.ndarray:
    """Draw one row of 1 to 40 numbers, of any dtype."""
    dtype = draw(st.sampled_from(DTYPES))
    return draw(hnp.arrays(dtype, st.integers(1, 40), elements=some))


moderate = rows(st.floats(-30, 30, width=16))
nasty = rows(st.sampled_from(NASTY))


# The accuracy rule.


@given(moderate, block_sizes)
def test_softmax_obeys_the_accuracy_rule(x: np.ndarray, block: int) -> None:
    got, expected = streaming.softmax(x, block), np.array(exact.softmax(x))
    assert got.dtype == x.dtype and got.shape == x.shape
    allow = allowed(len(x), ceil(len(x) / block), x.dtype.type)
    assert np.abs(got - expected).max() <= allow * expected.max()


@given(moderate, block_sizes)
def test_softmax_dot_obeys_the_accuracy_rule(x: np.ndarray, block: int) -> None:
    """As stated where the weights decide; else with max|value| for the output.

    Where values cancel, or only a key of next to no weight has one, the output may be
    as small as one likes, and the error is not.
    """
    allow = allowed(len(x), ceil(len(x) / block), x.dtype.type)
    for v, bound in (
        (np.abs(x) + 1, exact.softmax_dot(x, np.abs(x) + 1)),
        (x[::-1], float(np.abs(x).max())),
    ):
        got, expected = streaming.softmax_dot(x, v, block), exact.softmax_dot(x, v)
        assert got.dtype == x.dtype
        smallest = float(np.finfo(x.dtype).smallest_subnormal)
        assert abs(float(got) - expected) <= allow * bound + smallest


@given(moderate, block_sizes)
def test_sum_exp_obeys_the_accuracy_rule(x: np.ndarray, block: int) -> None:
    m, l = sum_exp(split(x, block))
    assert m == x.max() and l.dtype == np.result_type(x, np.float32)
    expected = float(exact.sums(x, x)[1])
    allow = allowed(len(x), ceil(len(x) / block), l.dtype.type)
    assert abs(float(l) - expected) <= allow * expected


NORMAL, UP = np.random.default_rng(3).normal(size=1000), np.arange(1000) / 150
LONG = {
    "random": 5 * NORMAL,
    "far": 1e5 + NORMAL,
    "rising": UP,
    "falling": -UP,
    "equal": 0.1 + 0 * UP,
    "spike": np.where(UP == 0.02, 0, -1.7),
}


@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize("block", [1, 3, 64, 1000])
def test_long_rows_obey_the_accuracy_rule(kind: str, block: int) -> None:
    x = LONG[kind].astype(np.float32)
    v = np.random.default_rng(4).random((1000, 2)).astype(np.float32)
    allow = allowed(1000, ceil(1000 / block), np.float32)
    expected = dense.softmax(x.astype(np.float64))
    got = streaming.softmax(x, block)
    assert np.abs(got - expected).max() <= allow * expected.max()
    expected = dense.softmax_dot(x.astype(np.float64), v.astype(np.float64))
    got = streaming.softmax_dot(x, v, block)
    assert np.abs(got - expected).max() <= allow * expected.max()


@pytest.mark.parametrize("block", [32, 100, 512])
def test_of_many_outputs_the_error_is_about_that_of_dense(block: int) -> None:
    """Ten thousand outputs: within the rule, and 2 × dense in float32 + 4 ulp."""
    rng = np.random.default_rng(4)
    x = rng.normal(0, 3, (100, 512)).astype(np.float32)
    v = rng.normal(size=(1, 512, 100)).astype(np.float32)
    expected = dense.softmax_dot(x.astype(np.float64), v.astype(np.float64))
    error = np.abs(streaming.softmax_dot(x, v, block) - expected).max()
    ordinary = np.abs(dense.softmax_dot(x, v, compute=np.float32) - expected).max()
    top = np.abs(expected).max()
    assert error <= allowed(512, ceil(512 / block), np.float32) * top
    assert error <= 2 * ordinary + 4 * 2.0**-23 * top


# Special values.


@quiet
@given(nasty, block_sizes)
def test_softmax_is_nan_where_scipy_is(x: np.ndarray, block: int) -> None:
    theirs = scipy.special.softmax(x.astype(np.float64))
    tolerance = 2 * float(np.finfo(x.dtype).eps)
    np.testing.assert_allclose(
        streaming.softmax(x, block), theirs, rtol=tolerance, atol=max(tolerance, 1e-7)
    )


@quiet
@given(nasty, block_sizes)
def test_softmax_dot_is_nan_where_dense_is(x: np.ndarray, block: int) -> None:
    v = np.where(np.isfinite(x), 2, np.arange(len(x))).astype(x.dtype)
    np.testing.assert_allclose(
        streaming.softmax_dot(x, v, block), dense.softmax_dot(x, v), rtol=2e-3
    )


@quiet
@given(nasty, block_sizes)
def test_every_way_agrees_on_nasty_rows(x: np.ndarray, block: int) -> None:
    m, l = sum_exp(split(x, block))
    np.testing.assert_array_equal(m, x.max())
    np.testing.assert_allclose(l, State.of(x).l, rtol=1e-5)


def test_masked_blocks_are_as_if_they_were_not_there() -> None:
    x, hole = [-120.0, -123.0, -121.0], [-INF] * 2
    v, junk = [1.0, 2.0, 3.0], [NAN, INF]
    with np.errstate(all="raise", under="ignore"):
        for at in (0, 2):  # a masked block first, between
            scores, values = x[:at] + hole + x[at:], v[:at] + junk + v[at:]
            got = streaming.softmax_dot(scores, values, 2)
            assert got == streaming.softmax_dot(x, v, 2)
            assert sum_exp(split(scores, 2)) == sum_exp(split(x, 2))
            assert streaming.softmax(scores, 2)[at : at + 2].tolist() == [0, 0]
        assert streaming.softmax_dot(hole, junk, 1) == 0


def test_rows_of_nothing() -> None:
    assert sum_exp([]) == sum_exp([[], []]) == (-INF, 0)
    assert streaming.softmax(np.zeros((3, 0), np.float16), 2).shape == (3, 0)
    assert streaming.softmax([], 1).dtype == np.float64
    assert streaming.softmax_dot([], [], 1) == 0
    empty = streaming.softmax_dot(np.zeros((2, 0), "f4"), np.zeros((2, 0, 3), "f2"), 4)
    assert empty.tolist() == np.zeros((2, 3)).tolist() and empty.dtype == np.float32
    assert trace([], 3) == []


# The three updates.


@given(moderate, block_sizes)
def test_the_update_forms_agree(x: np.ndarray, block: int) -> None:
    v = np.stack([x[::-1], np.ones_like(x)], -1)  # (n, 2)
    parts = list(zip(split(x, block), np.split(v, range(block, len(x), block))))
    one = two = State.empty(width=2)
    kept = normalise(one)
    for part in parts:
        one, two = update(one, *part), update_two_term(two, *part)
        kept = update_normalised(kept, *part)
        allow = 8 * len(parts) * UNIT[np.asarray(one.l).dtype.type]
        assert one.m == two.m == kept.m
        np.testing.assert_allclose([two.l, kept.l], one.l, rtol=allow)
        for o in (two.o, unnormalise(kept).o):
            assert (np.abs(o - one.o) <= allow * one.l * np.abs(v).max()).all()
        np.testing.assert_allclose(kept.y[1], 1, rtol=allow)


def test_the_normalised_form_is_a_conversion() -> None:
    state = State.of([[1.0, 2.0]], [[[10.0, 1.0], [20.0, 2.0]]])
    kept = normalise(state)
    assert kept.m is state.m and kept.l is state.l
    assert kept.y.tolist() == state.result().tolist()
    back = unnormalise(kept)
    assert [np.shape(x) for x in back] == [(1,), (1,), (1, 2)]
    np.testing.assert_allclose(back.o, state.o)
    nothing = update_normalised(normalise(State.empty()), [-INF], [NAN])
    assert nothing == normalise(State.empty()) == (-INF, 0, 0)
    assert update_normalised(nothing, [5.0, -INF], [7.0, INF]) == (5, 1, 7)
    rising = update_normalised(normalise(State.of([1.0], [10.0])), [2.0], [20.0])
    assert rising.y == pytest.approx((10 * exp(1) + 20 * exp(2)) / (exp(1) + exp(2)))


@pytest.mark.parametrize("form", [update, update_two_term, update_normalised])
@pytest.mark.parametrize("d", [(), (4,)])
def test_one_state_serves_rows_and_columns(form, d: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    x, v = rng.normal(size=(2, 3, 6)), rng.normal(size=(2, 3, 6, *d))
    for start in (State.empty(), State.empty((2, 3), *d)):
        state = normalise(start) if form is update_normalised else start
        for keys in (slice(0, 4), slice(4, 6)):
            state = form(state, x[..., keys], v[:, :, keys])
        state = unnormalise(state) if form is update_normalised else state
        assert state.o.shape == (2, 3, *d)
        np.testing.assert_allclose(state.result(), dense.softmax_dot(x, v))


def test_update_without_values_forgets_them() -> None:
    full = State.of([1.0], [2.0])
    assert update(full, [1.0]).o is update_two_term(full, [1.0]).o is None
    assert update(full, [1.0], [2.0]).o == 4


def test_a_narrow_dtype_is_widened_before_it_is_added() -> None:
    state = update(State.empty(), np.zeros(9, np.float16), np.ones(9, np.float16))
    assert state.m.dtype == state.l.dtype == state.o.dtype == np.float32
    assert State.of(np.zeros(2, np.float16)).l.dtype == np.float32
    mixed = update(State.empty(), np.float32([0.1, 0.2]), [0.1, 0.2])
    assert mixed.l.dtype == mixed.m.dtype == np.float64
    assert streaming.softmax_dot(np.zeros(5000, "f2"), np.ones(5000, "f2"), 1) == 1
    assert sum_exp([np.zeros(2049, np.float16)])[1] == 2049


# Streams.


def test_a_stream_is_read_once_and_in_order() -> None:
    taken = []

    def stream():
        for i in range(4):
            taken.append(i)
            yield np.arange(3 * i, 3 * i + 3) / 10

    m, l = sum_exp(stream())
    assert taken == [0, 1, 2, 3] and m == 1.1
    assert l == pytest.approx(np.exp(np.arange(12) / 10 - 1.1).sum(), rel=1e-14)


def test_a_stream_may_be_of_numbers_ragged_or_of_rows() -> None:
    assert sum_exp(iter([0, 0, 0])) == sum_exp(np.zeros(3)) == (0, 3)
    assert sum_exp([[0.0], [], [0.0, 0.0]]) == (0, 3)
    m, l = sum_exp(split(np.zeros((2, 5)), 2))
    assert m.tolist() == [0, 0] and l.tolist() == [5, 5]


def test_split_gives_views_that_cover_the_row() -> None:
    x = np.arange(10.0).reshape(2, 5)
    parts = list(split(x, 2))
    assert [part.shape for part in parts] == [(2, 2), (2, 2), (2, 1)]
    assert [np.shares_memory(part, x) for part in parts] == [True] * 3
    assert np.concatenate(parts, -1).tolist() == x.tolist()


@pytest.mark.parametrize("block", [1, 2, 5, 9])
def test_many_rows_are_as_each_alone(block: int) -> None:
    rng = np.random.default_rng(0)
    x, v = rng.normal(0, 9, (3, 2, 7)), rng.normal(size=(3, 2, 7, 4))
    x[0, 0, :3] = -INF
    weights, wide = streaming.softmax(x, block), streaming.softmax_dot(x, v, block)
    narrow = streaming.softmax_dot(x, v[..., 1], block)
    shared = streaming.softmax_dot(x, v[:1, :1], block)
    for i in np.ndindex(3, 2):
        own, of_first = (streaming.softmax_dot(x[i], y, block) for y in (v[i], v[0, 0]))
        assert weights[i].tolist() == streaming.softmax(x[i], block).tolist()
        assert wide[i].tolist() == own.tolist() and narrow[i] == wide[i][1]
        assert shared[i].tolist() == of_first.tolist()


def test_inputs_are_left_alone() -> None:
    x, v = np.array([1.0, -INF, 3.0]), np.array([1.0, NAN, 3.0])
    streaming.softmax(x, 2), streaming.softmax_dot(x, v, 2), trace(x, 2, v)
    assert x.tolist() == [1, -INF, 3] and v.tolist()[::2] == [1, 3] and np.isnan(v[1])


def test_the_bits_of_the_sum_depend_on_the_block_and_m_does_not() -> None:
    x = np.random.default_rng(5).normal(0, 3, (200, 4096)).astype(np.float32)
    (m, l), (n, k) = sum_exp(split(x, 64)), sum_exp(split(x, 128))
    assert (m == n).all() and (l != k).mean() > 0.5


# The trace.


@given(moderate, block_sizes)
def test_the_trace_is_the_update_step_by_step(x: np.ndarray, block: int) -> None:
    v, state, start = x[::-1], State.of(x[:0], x[:0]), 0
    for step in trace(x, block, v):
        assert (step.start, step.stop) == (start, min(start + block, len(x)))
        assert (step.m_old, step.l_old) == state[:2]
        m_old, part = state.m, slice(step.start, step.stop)
        state = update(state, x[part], v[part])
        assert step[4:7] == state
        assert step.alpha == np.exp(m_old - state.m)
        assert step.l == step.alpha * step.l_old + step.added
        alone = trace(x[part], block)[0]
        assert alone.added == alone.l and alone.o is None
        start = step.stop
    assert start == len(x)


def test_the_trace_of_a_masked_row() -> None:
    with np.errstate(all="raise"):
        steps = trace([[-INF, -INF], [-INF, 0.0]], 1, [[NAN, NAN], [NAN, 7.0]])
    assert [step.alpha.tolist() for step in steps] == [[0, 0], [0, 0]]
    assert [step.added.tolist() for step in steps] == [[0, 0], [0, 1]]
    assert steps[1].m.tolist() == [-INF, 0] and steps[1].o.tolist() == [0, 7]


def running_sum(x: list[float], block: int) -> float:
    """Return what the sum becomes if it is never rescaled."""
    tops = np.maximum.accumulate(x)
    last = [min(i - i % block + block, len(x)) - 1 for i in range(len(x))]
    return sum(exp(x[i] - tops[last[i]]) for i in range(len(x)))


@pytest.mark.parametrize("block", [1, 2, 4, 5, 8, 16])
def test_what_goes_wrong_without_the_rescale(block: int) -> None:
    right, wrong = trace(STEPPER, block), trace(STEPPER, block, forget="l")
    assert wrong[-1].l == pytest.approx(running_sum(STEPPER, block), rel=1e-14)
    assert wrong[0].l == right[0].l
    for a, b in zip(right, wrong, strict=True):  # all but l is told as it should be
        assert (a.m_old, a.m, a.alpha, a.added) == (b.m_old, b.m, b.alpha, b.added)
        assert b.l == b.l_old + b.added


def test_forgetting_l_o_or_both_are_three_different_mistakes() -> None:
    old, new = np.exp([-1.0, 0.0]), np.exp([-7.0, 0.0])  # [1, 2 | 3, 10] by blocks of 2
    share, v = exp(-8), np.array([1.0, 2.0, 3.0, 4.0])
    answers = {}
    for forget in ("", "l", "o", "lo"):
        step = trace([1.0, 2.0, 3.0, 10.0], 2, v, forget=forget)[-1]
        l_share, o_share = (1 if x in forget else share for x in "lo")
        l, o = l_share * old.sum() + new.sum(), o_share * old @ v[:2] + new @ v[2:]
        assert (step.l, step.o) == pytest.approx((l, o), rel=1e-14)
        answers[forget] = step.o / step.l
    assert len({round(answer, 3) for answer in answers.values()}) == 4
    ones = trace([1.0, 2.0, 3.0, 10.0], 2, np.ones(4), forget="lo")[-1]
    assert ones.o / ones.l == 1  # values of 1 hide it


# Bad input.

FLOATS = "expected float16, float32, float64 or integers, got"
ROW = "expected shape (..., n), got the number 1.0"
SHAPE = (
    "values: expected shape (..., 2) or (..., 2, d) for scores of shape (2,), got (3,)"
)
BLOCK = "block: expected a positive integer, got"
TWO = np.zeros(2)
BAD = [
    (sum_exp, (3.0,), "blocks: expected an iterable of arrays, got 3.0"),
    (sum_exp, (["a"],), f"blocks: {FLOATS} <U1"),
    (sum_exp, ([[1j]],), f"blocks: {FLOATS} complex128"),
    (split, (1.0, 1), f"x: {ROW}"),
    (split, ([1.0], 0), f"{BLOCK} 0"),
    (streaming.softmax, (1.0, 1), f"x: {ROW}"),
    (streaming.softmax, ([1.0], -1), f"{BLOCK} -1"),
    (streaming.softmax, ([1.0], 2.0), f"{BLOCK} 2.0"),
    (streaming.softmax, ([1.0], None), f"{BLOCK} None"),
    (streaming.softmax_dot, (TWO, TWO, 0), f"{BLOCK} 0"),
    (streaming.softmax_dot, (TWO, np.zeros(3), 1), SHAPE),
    (streaming.softmax_dot, (TWO, None, 1), f"values: {FLOATS} object"),
    (trace, (TWO, 0), f"{BLOCK} 0"),
    (trace, (TWO, 1, np.zeros(3)), SHAPE),
    (update, (State.empty(), 1.0), f"scores: {ROW}"),
    (update, (State.empty(), TWO, np.zeros(3)), SHAPE),
    (update_two_term, (State.empty(), TWO, np.zeros(3)), SHAPE),
    (update_normalised, (normalise(State.empty()), TWO, np.zeros(3)), SHAPE),
]


@pytest.mark.parametrize(("function", "arguments", "message"), BAD)
def test_bad_input(function, arguments, message) -> None:
    with pytest.raises(ValueError) as error:
        function(*arguments)
    assert str(error.value) == message


@pytest.mark.parametrize("forget", ["m", "ol", "ll", None])
def test_bad_forget(forget) -> None:
    with pytest.raises(ValueError) as error:
        trace([1.0], 1, forget=forget)
    expected = f"forget: expected one of ['', 'l', 'o', 'lo'], got {forget!r}"
    assert str(error.value) == expected


@pytest.mark.parametrize("form", [update, update_normalised])
def test_a_state_of_other_rows(form) -> None:
    state = State.empty((3,))
    state = normalise(state) if form is update_normalised else state
    with pytest.raises(ValueError) as error:
        form(state, np.zeros((2, 5)), np.zeros((2, 5)))
    assert str(error.value) == (
        "state, scores: expected batch shapes that broadcast, got (3,) and (2,)"
    )


@pytest.mark.parametrize("block", [np.int64(2), np.uint8(2), True])
def test_any_integer_is_a_block(block) -> None:
    assert streaming.softmax([0.0, 0.0], block).tolist() == [0.5, 0.5]


def test_examples() -> None:
    assert doctest.testmod(streaming).failed == 0
