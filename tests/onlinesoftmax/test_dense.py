"""The definitions, held to SciPy, to forty digits, and to what they promise."""

import doctest
from itertools import product

import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

import exact
from onlinesoftmax import dense

INF, NAN = np.inf, np.nan
DTYPES = [np.float16, np.float32, np.float64]
NAMES = ["softmax", "log_softmax", "logsumexp"]
NASTY = [INF, -INF, NAN, 0.0, -0.0, 1.0, 1.0, 88.0, -104.0, 6e4, -6e4]
quiet = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@quiet
@pytest.mark.parametrize("name", NAMES)
@given(row=st.lists(st.sampled_from(NASTY), min_size=1, max_size=6))
def test_follows_scipy_on_nasty_rows(name: str, row: list[float]) -> None:
    ours, theirs = getattr(dense, name)(row), getattr(scipy.special, name)(row)
    np.testing.assert_allclose(ours, theirs, rtol=1e-15, atol=1e-16)


@quiet
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_follows_scipy_along_any_axis(name: str, axis: int) -> None:
    x = np.random.default_rng(0).normal(0, 30, (3, 4, 5))
    x[1, 2] = -INF
    ours, theirs = getattr(dense, name)(x, axis), getattr(scipy.special, name)(x, axis)
    np.testing.assert_allclose(ours, theirs, rtol=4e-14, atol=1e-300)


@quiet
@pytest.mark.parametrize("row", list(product([INF, -INF, NAN, 0.0], repeat=3)))
def test_where_scipy_says_nan_so_does_a_softmax_dot(row: tuple[float, ...]) -> None:
    expected = scipy.special.softmax(row) @ [1.0, 2.0, 3.0]
    expected = 0.0 if set(row) == {-INF} else expected  # the row that sees nothing
    np.testing.assert_allclose(dense.softmax_dot(row, [1.0, 2.0, 3.0]), expected)


def test_the_empty_row_and_the_masked_row_are_silent() -> None:
    with np.errstate(all="raise"):
        assert dense.softmax([]).shape == dense.log_softmax([]).shape == (0,)
        assert dense.logsumexp([]) == dense.logsumexp([-INF, -INF]) == -INF
        assert dense.softmax_dot([], []) == dense.softmax_dot([-INF], [5.0]) == 0
        assert dense.softmax_dot([[], []], np.zeros((2, 0, 3))).shape == (2, 3)


def test_a_value_without_a_key_is_not_read() -> None:
    with np.errstate(all="raise"):
        assert dense.softmax_dot([0.0, -INF, 0.0], [1.0, NAN, 3.0]) == 2
        columns = dense.softmax_dot([0.0, -INF], [[1.0, 2.0], [INF, NAN]])
    assert columns.tolist() == [1, 2]


def test_a_value_with_a_key_is_read_however_small_its_weight() -> None:
    assert np.isnan(dense.softmax_dot([0.0, -50.0], [1.0, NAN]))


@given(
    rows=st.lists(
        st.tuples(st.floats(-700, 700), st.floats(-9, 9)), min_size=1, max_size=9
    )
)
def test_softmax_dot_has_sixteen_digits(rows: list[tuple[float, float]]) -> None:
    scores, values = zip(*rows, strict=True)
    error = abs(dense.softmax_dot(scores, values) - exact.softmax_dot(scores, values))
    assert error <= 16 * 2.0**-53 * max(map(abs, values))


def test_each_row_has_its_own_maximum() -> None:
    x = np.array([[[0.0, 0.0]], [[-5000.0, -5000.0]]])  # (2, 1, 2)
    assert dense.softmax(x).tolist() == [[[0.5, 0.5]], [[0.5, 0.5]]]
    assert dense.log_softmax(x).ravel().tolist() == [-np.log(2)] * 4
    assert dense.logsumexp(x).tolist() == [[np.log(2)], [np.log(2) - 5000]]
    assert dense.softmax_dot(x, x).tolist() == [[0], [-5000]]


def test_softmax_dot_takes_rows_and_columns() -> None:
    rng = np.random.default_rng(0)
    scores, values = rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 3, 5, 4))
    weights = scipy.special.softmax(scores, -1)
    wide = np.einsum("abn,abnd->abd", weights, values)
    np.testing.assert_allclose(dense.softmax_dot(scores, values), wide)
    narrow = dense.softmax_dot(scores, values[..., 0])
    np.testing.assert_allclose(narrow, wide[..., 0])
    shared = np.einsum("abn,bnd->abd", weights, values[0])
    np.testing.assert_allclose(dense.softmax_dot(scores, values[:1]), shared)
    np.testing.assert_allclose(
        dense.softmax_dot(scores, values[0, 0, :, 0]), weights @ values[0, 0, :, 0]
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_computes_in_float64_and_rounds_once(name: str, dtype: type) -> None:
    x = np.random.default_rng(1).normal(0, 4, 1000).astype(dtype)
    function = getattr(dense, name)
    assert function(x).dtype == function(x, compute=np.float32).dtype == dtype
    theirs = getattr(scipy.special, name)(x.astype(np.float64)).astype(dtype)
    np.testing.assert_array_max_ulp(function(x), theirs, maxulp=1)
    assert np.array_equal(function(x), function(x, compute=np.float64))


def test_computes_in_float32_when_told_to() -> None:
    x = np.random.default_rng(1).normal(0, 4, 1000).astype(np.float32)
    weights = np.exp(x - x.max())
    np.testing.assert_array_equal(
        dense.softmax(x, compute=np.float32), weights / weights.sum()
    )
    sums = {c: dense.logsumexp(x, compute=c) for c in DTYPES}
    assert sums[np.float16] != sums[np.float64]
    assert dense.log_softmax(x, compute="float32").dtype == np.float32
    outs = [dense.softmax_dot(x, x, compute=c) for c in DTYPES]
    assert outs[0] != outs[2] and {out.dtype for out in outs} == {np.dtype("f4")}
    x64 = x.astype(np.float64)  # what is summed in float32 tells in every digit
    ours = dense.softmax_dot(x64, x64, compute=np.float32)
    assert ours == dense.softmax_dot(x, x, compute=np.float32) == outs[1]
    for mixed in ((x64 + 1e-9, x64), (x64, x64 + 1e-9)):
        assert dense.softmax_dot(*mixed, compute=np.float32) == outs[1]


def test_integers_are_float64() -> None:
    for name in NAMES:
        for dtype in (np.int8, np.uint64):
            assert getattr(dense, name)(np.array([1, 2], dtype)).dtype == np.float64
    assert dense.softmax_dot([1, 2], np.array([3, 4], np.float16)).dtype == np.float64


@pytest.mark.parametrize("dtypes", list(product(DTYPES, DTYPES)))
def test_softmax_dot_answers_in_the_wider_dtype(dtypes: tuple[type, type]) -> None:
    scores, values = np.ones(2, dtypes[0]), np.ones((2, 3), dtypes[1])
    assert dense.softmax_dot(scores, values).dtype == np.result_type(*dtypes)


EXPECTED = "expected float16, float32, float64 or integers, got"
BAD = [
    (dense.softmax, (3.0,), "x: expected shape (..., n), got the number 3.0"),
    (dense.softmax, ([1j],), f"x: {EXPECTED} complex128"),
    (dense.log_softmax, (["a"],), f"x: {EXPECTED} <U1"),
    (dense.logsumexp, ([True],), f"x: {EXPECTED} bool"),
    (dense.logsumexp, (None,), f"x: {EXPECTED} object"),
    (dense.softmax, ([[1.0], [1.0, 2.0]],), "x: expected an array, got uneven rows"),
    (dense.softmax, ([1.0], 1), "axis: expected an integer from -1 to 0, got 1"),
    (dense.softmax, ([[1.0]], -3), "axis: expected an integer from -2 to 1, got -3"),
    (dense.logsumexp, ([1.0], 0.5), "axis: expected an integer from -1 to 0, got 0.5"),
    (dense.softmax_dot, (1, []), "scores: expected shape (..., n), got the number 1.0"),
    (dense.softmax_dot, (["a"], [1.0]), f"scores: {EXPECTED} <U1"),
    (dense.softmax_dot, ([1.0], [None]), f"values: {EXPECTED} object"),
]
COMPUTE = "compute: expected float16, float32 or float64, got"


@pytest.mark.parametrize(("function", "arguments", "message"), BAD)
def test_bad_input(function, arguments, message) -> None:
    with pytest.raises(ValueError) as error:
        function(*arguments)
    assert str(error.value) == message


@pytest.mark.parametrize("name", NAMES)
def test_bad_compute(name: str) -> None:
    for compute, came in [(np.int32, repr(np.int32)), ("so", "'so'")]:
        with pytest.raises(ValueError) as error:
            getattr(dense, name)([1.0], compute=compute)
        assert str(error.value) == f"{COMPUTE} {came}"
        with pytest.raises(ValueError) as error:
            dense.softmax_dot([1.0], [1.0], compute=compute)
        assert str(error.value) == f"{COMPUTE} {came}"


@pytest.mark.parametrize(
    ("scores", "values"),
    [
        ((3,), ()),
        ((3,), (1,)),
        ((3,), (4,)),
        ((3,), (4, 2)),
        ((3,), (2, 3)),
        ((3,), (2, 3, 4)),
        ((2, 3), (3, 3)),
        ((2, 3), (4, 3, 5)),
        ((2, 3), (2, 2, 3, 1)),
    ],
)
def test_values_that_do_not_fit(scores: tuple, values: tuple) -> None:
    with pytest.raises(ValueError) as error:
        dense.softmax_dot(np.zeros(scores), np.zeros(values))
    assert str(error.value) == (
        f"values: expected shape (..., 3) or (..., 3, d) for scores of shape {scores},"
        f" got {values}"
    )


def test_examples() -> None:
    assert doctest.testmod(dense).failed == 0
