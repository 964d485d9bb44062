"""The state (m, l, o) and its merge: a commutative monoid, up to stated roundings."""

import doctest
from functools import reduce
from math import log

import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import exact
from exact import UNIT, allowed
from onlinesoftmax import dense, state
from onlinesoftmax.state import State, merge, rescale

INF, NAN = np.inf, np.nan
DTYPES = [np.float16, np.float32, np.float64]
NASTY = [INF, -INF, NAN, 0.0, -0.0, 1.0, 1.0, -104.0, 750.0]
ASSOCIATES = 16  # roundings: two merges on either side, of exp, exp, times and plus
FLOATS = "expected float16, float32, float64 or integers, got"
quiet = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def bits(s: State) -> list[object]:
    """Return the dtype, shape and bits of a state; any NaN is one NaN, any zero 0."""
    arrays = [np.asarray(x) for x in s if x is not None]
    plain = [np.where(a == 0, 0, np.where(np.isnan(a), NAN, a)) for a in arrays]
    return [(a.dtype, a.shape, x.tobytes()) for a, x in zip(arrays, plain, strict=True)]


real = st.floats(-30, 30, width=16) | st.just(-INF)
nasty = real | st.sampled_from(NASTY)


@st.composite
def three_blocks(draw: st.DrawFn, scores: st.SearchStrategy = real) -> list[tuple]:
    """Draw three blocks of one dtype: scores (n,), values (n,) or (n, 2)."""
    dtype, d = draw(st.sampled_from(DTYPES)), draw(st.sampled_from([(), (2,)]))
    drawn = []
    for _ in range(3):
        x = draw(hnp.arrays(dtype, st.integers(0, 9), elements=scores))
        v = hnp.arrays(dtype, (*x.shape, *d), elements=st.floats(-9, 9, width=16))
        drawn.append((x, draw(v)))
    return drawn


@given(three_blocks(st.floats(-30, 30, width=16)))
def test_of_is_m_l_o_by_definition(drawn: list[tuple]) -> None:
    for x, v in drawn:
        got = State.of(x, v)
        dtype = np.result_type(x, np.float32)
        assert {np.asarray(y).dtype for y in got} == {dtype}
        columns = v.T if v.ndim == 2 else [v]
        for column, o in zip(columns, np.atleast_1d(got.o), strict=len(x) > 0):
            m, l, expected = map(float, exact.sums(x, column))
            allow = allowed(len(x) or 1, 1, dtype.type)
            assert got.m == m and abs(float(got.l) - l) <= allow * l
            assert abs(float(o) - expected) <= allow * l * np.abs(column).max(initial=0)


@quiet
@given(three_blocks(nasty))
def test_merge_commutes_to_the_last_bit(drawn: list[tuple]) -> None:
    a, b, _ = (State.of(*block) for block in drawn)
    assert bits(merge(a, b)) == bits(merge(b, a))


@quiet
@given(three_blocks(nasty))
def test_the_empty_state_and_a_masked_chunk_change_no_bit(drawn: list[tuple]) -> None:
    a = State.of(*drawn[0])
    masked = State.of(np.full_like(drawn[1][0], -INF), drawn[1][1])
    nothing = State.of(drawn[1][0][:0], drawn[1][1][:0])
    for identity in (State.empty(), masked, nothing):
        assert bits(merge(a, identity)) == bits(merge(identity, a)) == bits(a)
    assert bits(masked) == bits(nothing)


@given(three_blocks())
def test_merge_associates_within_the_bound(drawn: list[tuple]) -> None:
    a, b, c = (State.of(*block) for block in drawn)
    left, right = merge(merge(a, b), c), merge(a, merge(b, c))
    assert left.m == right.m
    unit = UNIT[np.asarray(left.l).dtype.type] * ASSOCIATES
    largest = max(np.abs(v).max(initial=0) for _, v in drawn)
    assert abs(left.l - right.l) <= unit * left.l
    assert (abs(left.o - right.o) <= unit * left.l * largest).all()


@given(three_blocks(), st.permutations(range(3)))
def test_m_is_the_same_in_any_order(drawn: list[tuple], order: list[int]) -> None:
    states = [State.of(*block) for block in drawn]
    m = reduce(merge, states).m
    assert m == reduce(merge, [states[i] for i in order]).m
    assert m == max((x.max(initial=-INF) for x, _ in drawn))


def test_merge_does_not_associate_to_the_last_bit() -> None:
    rng = np.random.default_rng(0)
    state_of = lambda: State.of(rng.normal(0, 3, 64).astype("f4"))  # noqa: E731
    triples = [(state_of(), state_of(), state_of()) for _ in range(200)]
    same = [merge(merge(a, b), c).l == merge(a, merge(b, c)).l for a, b, c in triples]
    assert 0.5 < np.mean(same) < 0.95


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["forward", "backward", "shuffled", "tree"])
@pytest.mark.parametrize("chunk", [1, 7, 64, 1000])
def test_any_order_and_tree_obeys_the_accuracy_rule(dtype, order, chunk) -> None:
    rng = np.random.default_rng(2)
    x, v = rng.normal(0, 5, 1000).astype(dtype), rng.random((1000, 3)).astype(dtype)
    starts = list(range(0, 1000, chunk))
    if order == "backward":
        starts.reverse()
    if order == "shuffled":
        rng.shuffle(starts)
    states = [State.of(x[i : i + chunk], v[i : i + chunk]) for i in starts]
    while order == "tree" and len(states) > 1:
        states = [reduce(merge, states[i : i + 2]) for i in range(0, len(states), 2)]
    whole = reduce(merge, states)
    expected = dense.softmax_dot(x.astype(float), v.astype(float))
    allow = allowed(1000, len(starts), dtype)
    assert abs(whole.result() - expected).max() <= allow * expected.max()
    lse = scipy.special.logsumexp(x.astype(float))
    assert abs(whole.logsumexp() - lse) <= allow + 2 * UNIT[dtype] * lse


def test_scores_that_are_very_negative_keep_their_place() -> None:
    masked, low = State.of([-INF], [1.0]), State.of([-123.0, -120.0], [1.0, 2.0])
    for whole in (merge(masked, low), merge(low, masked)):
        assert whole.m == -120 and whole.result() == low.result() > 1.9


@pytest.mark.parametrize("score", [0.0, -INF])
def test_a_value_is_read_exactly_where_there_is_a_key(score: float) -> None:
    for value in (INF, NAN):
        narrow = State.of([1.0, score], [1.0, value])
        wide = State.of([1.0, score], [[1.0, 2.0], [value, 3.0]])
        if score == -INF:
            assert narrow.o == 1 and wide.o.tolist() == [1, 2]
        else:
            assert not np.isfinite(narrow.o) and np.isfinite(wide.o).tolist() == [0, 1]


@quiet
def test_nan_never_vanishes() -> None:
    assert np.isnan(State.of([0.0, -800.0], [1.0, NAN]).result())
    for bad in (State.of([NAN, 1.0], [1.0, 1.0]), State.of([INF, 1.0], [1.0, 1.0])):
        for good in (State.of([2000.0], [1.0]), State.of([-INF], [1.0])):
            assert np.isnan(merge(bad, good).result())
            assert np.isnan(merge(good, bad).result())


@quiet
@given(st.lists(st.sampled_from(NASTY), max_size=5))
def test_logsumexp_follows_scipy(row: list[float]) -> None:
    theirs = scipy.special.logsumexp(row) if row else -INF
    ours = State.of(row).logsumexp()
    np.testing.assert_allclose(ours, theirs, rtol=1e-15, atol=1e-15)


def test_what_sees_nothing_is_zero_in_silence() -> None:
    with np.errstate(all="raise"):
        for nothing in (State.empty(), State.of([], []), State.of([-INF], [NAN])):
            assert tuple(nothing) == (-INF, 0, 0)
            assert nothing.result() == 0 and nothing.logsumexp() == -INF
        assert merge(State.empty(), State.empty()) == (-INF, 0, 0)
        half = State.of([[-INF, -INF], [0.0, 0.0]], [[1.0, 2.0], [1.0, 2.0]])
        assert half.result().tolist() == [0, 1.5]
        assert half.logsumexp().tolist() == [-INF, log(2)]


def test_the_empty_state_takes_shapes() -> None:
    m, l, o = State.empty((2, 3), 4)
    assert m.shape == l.shape == (2, 3) and o.shape == (2, 3, 4)
    assert State.empty((2,)).o.shape == (2,)
    assert State.empty((2,)).result().tolist() == [0, 0]
    assert {np.asarray(x).dtype for x in (m, l, o)} == {np.dtype("f4")}
    assert not (l.any() or o.any()) and (m == -INF).all()
    assert {type(x) for x in State.empty()} == {np.float32}


@pytest.mark.parametrize("d", [(), (3,)])
def test_rows_go_together(d: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    x, v = rng.normal(size=(2, 4, 9)), rng.normal(size=(2, 4, 9, *d))
    parts = [State.of(x[..., :5], v[:, :, :5]), State.of(x[..., 5:], v[:, :, 5:])]
    for start in (State.empty(), State.empty((2, 4), *d), State.empty((4,), *d)):
        for whole in (reduce(merge, parts, start), reduce(merge, [*parts, start])):
            assert [np.shape(y) for y in whole] == [(2, 4), (2, 4), (2, 4, *d)]
            np.testing.assert_allclose(whole.result(), dense.softmax_dot(x, v))
            np.testing.assert_allclose(whole.logsumexp(), dense.logsumexp(x))


@pytest.mark.parametrize("d", [(), (3,)])
def test_batches_broadcast(d: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    x, v = rng.normal(size=(2, 1, 9)), rng.normal(size=(4, 9, *d))[None]
    full = np.broadcast_to(x, (2, 4, 9)), np.broadcast_to(v, (2, 4, 9, *d))
    np.testing.assert_allclose(State.of(x, v).result(), dense.softmax_dot(*full))
    one, many = State.of(x[0, 0], v[0, 0]), State.of(*full)
    for whole in (merge(one, many), merge(many, one)):
        each = [merge(one, State.of(full[0][i], full[1][i])).result() for i in range(2)]
        np.testing.assert_allclose(whole.result(), each)


def test_memory_order_changes_no_bit() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 30)).astype("f4")
    v = rng.normal(size=(40, 30, 5)).astype("f4")
    turned = State.of(np.asfortranarray(x), np.asfortranarray(v))
    assert bits(State.of(x, v)) == bits(turned)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 64, 65])
def test_total_adds_everything_once_in_pairs(n: int) -> None:
    x = np.arange(3.0 * n).reshape(3, n)
    assert state.total(x, -1).tolist() == x.sum(-1).tolist()
    assert state.total(x.T, 0).tolist() == x.sum(-1).tolist()


def test_total_of_equal_numbers_is_exact() -> None:
    tenth = np.float32(0.1)  # one by one, or eight by eight, this would round
    assert state.total(np.full(2**16, tenth), 0) == 2**16 * tenth


def test_rescale_says_the_same_from_elsewhere() -> None:
    here = State.of([1.0, 3.0], [[1.0, 2.0], [3.0, 4.0]])
    there = rescale(here, 5.0)
    assert there.m == 5 and there.l == np.exp(-2.0) * here.l
    np.testing.assert_allclose(there.result(), here.result())
    np.testing.assert_allclose(there.logsumexp(), here.logsumexp())
    assert rescale(State(0.0, 1.0), 1.0).o is None
    assert state.factor(-INF, -INF) == state.factor(-INF, 3.0) == 0


def test_hand_made_states_never_add_in_less_than_float32() -> None:
    half = State(*np.float16([3, 2000, 2000]))
    whole = merge(half, State(*np.float16([3, 1, 1])))
    assert whole.l.dtype == whole.o.dtype == np.float32 and whole.l == whole.o == 2001
    assert merge(State(3, 5), State(3, 1)).l.dtype == np.float64


def test_without_values_there_is_no_result() -> None:
    bare, full = State.of([1.0]), State.of([1.0], [2.0])
    assert bare.o is None and merge(bare, bare).o is None
    assert merge(bare, full).o is None and merge(full, bare).o is None
    assert merge(bare, full).l == merge(full, bare).l == 2
    with pytest.raises(ValueError) as error:
        bare.result()
    assert str(error.value) == (
        "values: expected with every block of scores, got some without, so there is"
        " nothing to average"
    )


def test_states_that_do_not_fit() -> None:
    with pytest.raises(ValueError) as error:
        merge(State.of(np.zeros((2, 1))), State.of(np.zeros((3, 1))))
    assert str(error.value) == (
        "a, b: expected batch shapes that broadcast, got (2,) and (3,)"
    )
    with pytest.raises(ValueError) as error:
        merge(State.of([0.0], np.zeros((1, 2))), State.of([0.0], np.zeros((1, 3))))
    assert str(error.value) == (
        "values: expected the same d in every block, got outputs of shape (2,) and (3,)"
    )


@pytest.mark.parametrize(
    ("scores", "values", "message"),
    [
        (1.0, None, "scores: expected shape (..., n), got the number 1.0"),
        (["a"], None, f"scores: {FLOATS} <U1"),
        ([1.0], [1j], f"values: {FLOATS} complex128"),
        (
            [1, 2],
            [1],
            "values: expected shape (..., 2) or (..., 2, d) for scores of"
            " shape (2,), got (1,)",
        ),
    ],
)
def test_bad_input(scores, values, message) -> None:
    with pytest.raises(ValueError) as error:
        State.of(scores, values)
    assert str(error.value) == message


def test_examples() -> None:
    assert doctest.testmod(state).failed == 0
