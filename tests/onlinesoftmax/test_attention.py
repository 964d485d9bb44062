"""Attention, dense and by tiles, against a definition that goes pair by pair."""

import inspect
import tracemalloc
from functools import partial
from itertools import product
from math import ceil, inf, isclose, log, sqrt, tanh

import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

import exact
from exact import allowed
from onlinesoftmax import dense, masks, streaming
from onlinesoftmax import exact as leaves
from onlinesoftmax.masks import alibi, bias, causal, documents, padding, window
from planting import faulty
from problems import DTYPES, normal, problems

INF, NAN = np.inf, np.nan
same_bits = partial(streaming.attention, exact_blocks=True)
WAYS = (dense.attention, streaming.attention, same_bits)
quiet = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def slow(q, k, v, added, *, scale=None, softcap=inf, sink=-inf):
    """Return (out, lse) of one head, with forty digits from the scores on."""
    scale = 1 / sqrt(q.shape[1]) if scale is None else scale
    out, lse = np.zeros((len(q), v.shape[1])), np.full(len(q), -inf)
    for i, query in enumerate(np.float64(q)):
        scores, values = [sink], [[0.0] * v.shape[1]]
        for j, key in enumerate(np.float64(k)):
            score = scale * sum(query * key)
            score = score if softcap == inf else softcap * tanh(score / softcap)
            scores.append(score + added[i, j])
            values.append(v[j].tolist())
        seen = [j for j, score in enumerate(scores) if score > -inf]
        if not seen:
            continue
        own = [scores[j] for j in seen]
        for c in range(v.shape[1]):
            out[i, c] = exact.softmax_dot(own, [values[j][c] for j in seen])
        m, l, _ = exact.sums(own, own)
        lse[i] = m + log(l)
    return out, lse


# The definition.

SEEN = {
    "everything": (None, lambda place, j: 0.0),
    "causal": (causal(), lambda place, j: 0.0 if j <= place else -inf),
    "window": (window(2, 1), lambda p, j: 0.0 if p - 2 <= j <= p + 1 else -inf),
    "padding": (padding(4), lambda place, j: 0.0 if j < 4 else -inf),
    "documents": (
        documents([0, 0, 0, 1, 1, 2, 2]),
        lambda place, j: 0.0 if "aaabbcc"[place] == "aaabbcc"[j] else -inf,
    ),
    "bias": (bias(np.arange(7) / 3), lambda place, j: j / 3),
    "alibi": (
        alibi(0.4) & causal(),
        lambda place, j: -0.4 * (place - j) if j <= place else -inf,
    ),
}


@pytest.mark.parametrize("kind", SEEN)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scale": -0.3},
        {"softcap": 0.7},
        {"sinks": 0.5},
        {"sinks": -INF, "softcap": 9.0},
    ],
)
def test_both_are_what_the_definition_says(kind: str, options: dict) -> None:
    mask, rule = SEEN[kind]
    q, k, v = normal(5, 3), normal(7, 3, seed=1), normal(7, 2, seed=2)
    added = np.array([[rule(i + 2, j) for j in range(7)] for i in range(5)])
    own = {"sink" if name == "sinks" else name: x for name, x in options.items()}
    out, lse = slow(q, k, v, added, **own)
    got = dense.attention(q, k, v, mask=mask, return_lse=True, **options)
    np.testing.assert_allclose(got[0], out, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(got[1], lse, rtol=1e-13)
    for attend, block_q, block_k in product(WAYS[1:], (1, 2, 5, 9), (1, 3, 7, 64)):
        got = attend(
            q,
            k,
            v,
            mask=mask,
            block_q=block_q,
            block_k=block_k,
            return_lse=True,
            **options,
        )
        np.testing.assert_allclose(got[0], out, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(got[1], lse, rtol=1e-12)


@given(problems(), st.integers(1, 10), st.integers(1, 10), st.sampled_from(WAYS[1:]))
def test_tiles_of_any_size_give_what_dense_gives(problem, block_q, block_k, attend):
    arrays, options = problem
    out, lse = dense.attention(*arrays, **options, return_lse=True)
    got, log_sum = attend(
        *arrays, **options, block_q=block_q, block_k=block_k, return_lse=True
    )
    dtype = arrays[0].dtype
    assert got.dtype == out.dtype == dtype and got.shape == out.shape
    assert log_sum.dtype == lse.dtype == np.result_type(dtype, np.float32)
    allow = {2: 2e-3, 4: 4e-6, 8: 1e-13}[dtype.itemsize]
    np.testing.assert_allclose(got, out, rtol=0, atol=allow)
    np.testing.assert_allclose(log_sum, lse, rtol=0, atol=min(allow, 4e-6))
    empty = np.isneginf(lse)
    assert not got[empty].any()


# The accuracy rule.


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("block", [1, 16, 64, 300])
@pytest.mark.parametrize("mask", [None, causal(), window(40, 0)])
@pytest.mark.parametrize("attend", WAYS[1:])
def test_the_accuracy_rule(dtype, block: int, mask, attend) -> None:
    q, k = (normal(300, 16, seed=seed, dtype=dtype) for seed in (0, 1))
    v = np.random.default_rng(2).random((300, 8)).astype(dtype)
    expected = dense.attention(*(x.astype(float) for x in (q, k, v)), mask=mask)
    got = attend(q, k, v, mask=mask, block_q=50, block_k=block)
    allow = allowed(300, ceil(300 / block), dtype) * np.abs(expected).max()
    if dtype is not np.float64:  # there the oracle is no better
        assert np.abs(got - expected).max() <= allow
    assert np.abs(got - expected).max() <= 8 * allow


@pytest.mark.parametrize("block", [32, 100, 512])
@pytest.mark.parametrize("attend", WAYS[1:])
def test_of_many_outputs_the_error_is_about_that_of_dense(block: int, attend) -> None:
    q, k, v = (normal(512, 64, seed=seed, dtype=np.float32) for seed in range(3))
    expected = dense.attention(*(x.astype(float) for x in (q, k, v)))
    error = np.abs(attend(q, k, v, block_k=block) - expected).max()
    ordinary = dense.attention(q, k, v, compute=np.float32)
    top = np.abs(expected).max()
    assert error <= allowed(512, ceil(512 / block), np.float32) * top
    assert error <= 2 * np.abs(ordinary - expected).max() + 4 * 2.0**-23 * top


def test_the_answer_has_the_widest_dtype() -> None:
    q, k, v = (normal(4, 2, seed=seed) for seed in range(3))
    half, single = q.astype(np.float16), k.astype(np.float32)
    for attend in WAYS:
        assert attend(half, single, half).dtype == np.float32
        assert attend(half, half, v).dtype == attend(q, half, half).dtype == np.float64
        assert attend([[1]], [[1]], [[3]]).tolist() == [[3.0]]
        out, lse = attend(half, half, half, return_lse=True)
        assert (out.dtype, lse.dtype) == (np.float16, np.float32)


def test_dense_computes_in_what_it_is_told() -> None:
    q, k, v = (normal(5, 3, seed=seed) for seed in range(3))
    narrow = [x.astype(np.float32) for x in (q, k, v)]
    out, lse = dense.attention(q, k, v, scale=1, compute=np.float32, return_lse=True)
    scores = narrow[0] @ narrow[1].T
    expected = [dense.softmax_dot(row, narrow[2], compute=np.float32) for row in scores]
    np.testing.assert_allclose(out, expected, rtol=3e-7, atol=1e-8)
    assert out.dtype == lse.dtype == np.float64
    assert (out == out.astype(np.float32)).all()  # float32 throughout
    assert (lse == lse.astype(np.float32)).all()
    # All of it, to the last bit; a wider sum, rounded once, would differ.
    scores, values = (
        np.pad(scores, ((0, 0), (0, 1))),
        np.pad(narrow[2], ((0, 1), (0, 0))),
    )
    scores[:, -1] = -np.inf
    for compute, same in ((np.float32, True), (np.float64, False)):
        rows = [dense.softmax_dot(row, values, compute=compute) for row in scores]
        assert np.array_equal(out, rows) == same
        assert np.array_equal(lse, dense.logsumexp(scores, compute=compute)) == same
    scores = scores[:, :-1]
    wide = dense.attention(q, k, v, scale=1)
    assert (out != wide).all() and np.abs(scores - q @ k.T).max() > 0
    lost = np.array([[1 + 2**-30, -1]]), np.array([[2.0**20, 2**20]]), np.ones((1, 1))
    for compute, score in ((np.float32, 0), (np.float64, 2**-10)):
        _, lse = dense.attention(*lost, scale=1, compute=compute, return_lse=True)
        assert lse == score
    with pytest.raises(ValueError, match="^compute: expected .* got <class 'int'>"):
        dense.attention(q, k, v, compute=int)


def test_a_tile_of_64_by_64_unless_told() -> None:
    for function in (streaming.attention, streaming.trace_attention):
        parameters = inspect.signature(function).parameters
        assert parameters["block_q"].default == parameters["block_k"].default == 64


def test_a_state_of_tiles_keeps_its_dtype() -> None:
    state = streaming.State(*np.float32([[0, 0], [1, 1]]), np.ones((2, 3), np.float32))
    scores, values = np.ones((2, 4), np.float32), np.ones((4, 3), np.float16)
    after = streaming.update_tile(state, scores, values)
    assert [x.dtype for x in after] == [np.float32] * 3


def test_nothing_is_added_up_in_float16() -> None:
    """5,000 ones would stall at 2,048, and scores of 300² do not fit."""
    q, k, v = (np.full((n, 1), x, "f2") for n, x in ((1, 300), (5000, 300), (5000, 1)))
    out, lse = streaming.attention(q, k, v, return_lse=True, block_k=1000)
    assert out == 1 and isclose(lse[0], 90000 + log(5000), rel_tol=1e-6)


# Shapes.


def test_heads_are_each_for_themselves_and_groups_share() -> None:
    q, k, v = normal(2, 6, 5, 4), normal(2, 3, 7, 4, seed=1), normal(2, 3, 7, 2, seed=2)
    for attend in WAYS:
        out, lse = attend(q, k, v, mask=causal(), return_lse=True)
        assert out.shape == (2, 6, 5, 2) and lse.shape == (2, 6, 5)
        for b, h in np.ndindex(2, 6):
            own = attend(q[b, h], k[b, h // 2], v[b, h // 2], mask=causal())
            assert out[b, h].tolist() == own.tolist()
        repeated = attend(q, k.repeat(2, 1), v.repeat(2, 1), mask=causal())
        assert repeated.tolist() == out.tolist()


def test_the_last_query_stands_at_the_last_key() -> None:
    q, k, v = normal(9, 4), normal(9, 4, seed=1), normal(9, 3, seed=2)
    for attend in WAYS:
        whole = attend(q, k, v, mask=causal())
        np.testing.assert_allclose(attend(q[6:], k, v, mask=causal()), whole[6:])
        early = attend(q, k[:4], v[:4], mask=causal())
        assert not early[:5].any()
        np.testing.assert_allclose(early[5], v[0])


def test_nothing_to_ask_and_nothing_to_see() -> None:
    with np.errstate(all="raise"):
        for attend in WAYS:
            none = attend(np.zeros((0, 2)), np.zeros((3, 2)), np.zeros((3, 5)))
            assert none.shape == (0, 5)
            out, lse = attend(
                np.zeros((2, 2)), np.zeros((0, 2)), np.zeros((0, 5)), return_lse=True
            )
            assert out.tolist() == [[0] * 5] * 2 and lse.tolist() == [-INF] * 2
            assert attend(
                np.zeros((0, 3, 2)), np.zeros((1, 3, 2)), np.zeros((1, 3, 2))
            ).shape == (0, 3, 2)


def test_memory_order_and_views_make_no_difference() -> None:
    q, k, v = (normal(8, 6, 4, seed=seed) for seed in range(3))
    out = streaming.attention(q, k, v, block_q=4, block_k=4)
    turned = (np.asfortranarray(x) for x in (q, k, v))
    np.testing.assert_allclose(
        streaming.attention(*turned, block_q=4, block_k=4), out, rtol=1e-13
    )


def test_inputs_are_left_alone() -> None:
    q = np.array([[1.0, NAN], [2.0, 3.0]])
    before = q.tobytes()
    with np.errstate(invalid="ignore"):
        for attend in WAYS:
            attend(q, q, q, mask=causal() & bias([0.0, -INF]) & alibi(1.0), softcap=2.0)
    assert q.tobytes() == before


# What is masked, and what is not a number.


def test_a_row_that_sees_nothing_is_zero_in_silence() -> None:
    q, k, v = normal(6, 4), normal(6, 4, seed=1), normal(6, 3, seed=2)
    hidden = np.zeros((6, 6))
    hidden[2] = -INF
    with np.errstate(all="raise", under="ignore"):
        for attend, blocks in (
            (dense.attention, {}),
            (streaming.attention, {"block_q": 2, "block_k": 2}),
        ):
            out, lse = attend(q, k, v, mask=bias(hidden), return_lse=True, **blocks)
            assert out[2].tolist() == [0] * 3 and lse[2] == -INF
            assert np.abs(out[[0, 1, 3, 4, 5]]).min() > 0 and np.isfinite(lse[3])
            out, lse = attend(q, k, v, mask=padding(0), return_lse=True, **blocks)
            assert not out.any() and (lse == -INF).all()


@pytest.mark.parametrize("level", [0.0, -120.0, -4e4])
def test_a_masked_first_tile_leaves_no_trace(level: float) -> None:
    """Fact 24: the shift is guarded, and no number stands in for −∞."""
    q, k = np.ones((3, 1)), level - np.array([[9.0], [8.0], [0.0], [2.0], [3.0], [1.0]])
    v = np.array([[NAN], [INF], [1.0], [2.0], [3.0], [4.0]])
    hidden = np.zeros((3, 6))
    hidden[1, :2] = hidden[2, :4] = hidden[0] = -INF
    with np.errstate(all="raise", under="ignore"):
        for block in (1, 2, 3):
            out, lse = streaming.attention(
                q, k, v, mask=bias(hidden), scale=1, block_k=block, return_lse=True
            )
            for row, first in ((1, 2), (2, 4)):
                scores = k[first:, 0]
                expected = exact.softmax_dot(scores.tolist(), v[first:, 0].tolist())
                assert isclose(out[row, 0], expected, rel_tol=1e-12)
                assert isclose(lse[row], scipy.special.logsumexp(scores))
            assert (out[0], lse[0]) == (0, -INF)


def test_padding_with_zeros_is_not_padding() -> None:
    """Fact 25: a key of zeros scores 0, and takes nearly everything."""
    q, k, v = np.ones((1, 1)), np.full((33, 1), -5.0), np.ones((33, 1))
    padded = [np.pad(x, ((0, 31), (0, 0))) for x in (k, v)]
    share = 1 - streaming.attention(q, *padded, scale=1)[0, 0]
    assert isclose(share, 31 / (31 + 33 * np.exp(-5)))
    assert 0.99 < share < 0.995
    assert streaming.attention(q, *padded, scale=1, mask=padding(33)) == 1


@quiet
@pytest.mark.parametrize("bad", [NAN, INF, -INF])
@pytest.mark.parametrize("which", ["q", "k", "v"])
def test_nan_reaches_those_who_read_it_and_nobody_else(bad: float, which: str) -> None:
    arrays = {"q": normal(6, 4), "k": normal(6, 4, seed=1), "v": normal(6, 3, seed=2)}
    clean = dense.attention(*arrays.values(), mask=causal())
    arrays[which][3, 1] = bad
    expected = dense.attention(*arrays.values(), mask=causal())
    for attend, block_q, block_k in product(WAYS[1:], (1, 4, 6), (1, 4, 6)):
        got = attend(*arrays.values(), mask=causal(), block_q=block_q, block_k=block_k)
        np.testing.assert_allclose(got, expected, atol=1e-14)
    reached = np.isin(np.arange(6), 3) if which == "q" else np.arange(6) >= 3
    assert np.array_equal(got[~reached], clean[~reached]) or np.allclose(
        got[~reached], clean[~reached]
    )
    if which == "v":
        assert not np.isfinite(got[reached, 1]).any()
        np.testing.assert_allclose(got[:, [0, 2]], clean[:, [0, 2]])
    elif np.isnan(bad):
        assert np.isnan(got[reached]).all()


@quiet
def test_nan_in_a_sink_or_a_bias_propagates() -> None:
    q, k, v = normal(3, 2), normal(3, 2, seed=1), normal(3, 2, seed=2)
    for attend in WAYS:
        assert np.isnan(attend(q, k, v, sinks=NAN)).all()
        assert np.isnan(attend(q, k, v, mask=bias([[NAN], [0.0], [0.0]]))[0]).all()
        assert np.isfinite(attend(q, k, v, mask=bias([[NAN], [0.0], [0.0]]))[1:]).all()


# Options.


def test_a_sink_is_a_key_with_value_zero() -> None:
    q, k, v = normal(2, 5, 4), normal(2, 6, 4, seed=1), normal(2, 6, 3, seed=2)
    for attend in WAYS:
        plain, lse = attend(q, k, v, return_lse=True)
        out, all_of_it = attend(q, k, v, sinks=[0.0, 2.0], return_lse=True)
        for h, sink in enumerate((0.0, 2.0)):
            np.testing.assert_allclose(all_of_it[h], np.logaddexp(lse[h], sink))
            share = np.exp(lse[h] - all_of_it[h])[:, None]
            np.testing.assert_allclose(out[h], plain[h] * share)
        out, lse = attend(q, k, v, sinks=1.5, mask=padding(0), return_lse=True)
        assert not out.any() and (lse == 1.5).all()
        one = attend(q[0], k[0], v[0], sinks=[2.0])
        assert one.tolist() == attend(q[0], k[0], v[0], sinks=2.0).tolist()


def test_the_cap_comes_after_the_scale_and_before_the_mask() -> None:
    q, k, v = np.full((1, 1), 30.0), np.array([[1.0], [2.0]]), np.eye(2)
    for attend in WAYS:
        out, lse = attend(
            q, k, v, scale=0.1, softcap=5.0, mask=bias([0.0, 10.0]), return_lse=True
        )
        scores = [5 * tanh(3 / 5), 5 * tanh(6 / 5) + 10]
        np.testing.assert_allclose(out[0], scipy.special.softmax(scores))
        np.testing.assert_allclose(lse[0], scipy.special.logsumexp(scores))


# The work: counted.


@pytest.mark.parametrize(
    ("mask", "tiles", "touched"),
    [
        (None, 64, 0),
        (causal(), 36, 8),
        (padding(24), 24, 0),
        (padding(20), 24, 8),
        (window(8, 0), 15, 15),
        (documents(np.arange(64) // 16), 16, 0),
        (alibi(1.0), 64, 64),
        (causal() & alibi(0.5), 36, 36),
    ],
)
def test_hidden_tiles_are_skipped_and_full_ones_left_alone(
    monkeypatch, mask, tiles, touched
) -> None:
    count = {"update": 0, "apply": 0}

    def counted(name, function):
        def call(*arguments):
            count[name] += 1
            return function(*arguments)

        return call

    monkeypatch.setattr(
        streaming, "update_tile", counted("update", streaming.update_tile)
    )
    monkeypatch.setattr(masks.Head, "apply", counted("apply", masks.Head.apply))
    x = normal(64, 4)
    streaming.attention(x, x, x, mask=mask, block_q=8, block_k=8)
    kinds = [tile.kind for tile in masks.walk(mask, 64, 64, 8, 8)]
    assert count == {"update": tiles, "apply": touched}
    assert tiles == len(kinds) - kinds.count("none") and touched == kinds.count("some")


def above_its_output(n: int, block: int, mask=None, d: int = 32, **options) -> int:
    """Return how many bytes an attention needs besides its inputs and its output."""
    q, k, v = (normal(n, d, seed=seed, dtype=np.float32) for seed in range(3))
    streaming.attention(q[:2], k[:2], v[:2])  # whatever is made once
    tracemalloc.start()
    out = streaming.attention(
        q, k, v, mask=mask, block_q=block, block_k=block, **options
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak - out.nbytes


@pytest.mark.parametrize("mask", [None, causal(), window(200, 0), alibi(0.1)])
def test_memory_is_of_the_size_of_a_tile(mask) -> None:
    """O(Br · (d + Bc)), the columns of the lse aside: nothing grows with n · n."""
    for block, d in ((32, 32), (64, 32), (64, 128)):
        tile = 4 * block * (block + d)
        assert above_its_output(512, block, mask, d) - 4 * 512 < 12 * tile + 20_000


def test_sixteen_thousand_queries_in_eight_mebibytes() -> None:
    assert above_its_output(16_384, 128, causal(), d=16) < 8 * 2**20


def test_an_array_of_all_scores_would_show() -> None:
    tracemalloc.start()
    x = normal(2048, 32, dtype=np.float32)
    dense.attention(x[:, :4], x[:, :4], x[:, :4], compute=np.float32)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak > 4 * 2048**2


# The trace.


@given(st.integers(1, 9), st.integers(0, 9), st.sampled_from(DTYPES), st.data())
def test_the_trace_goes_through_the_same_states(queries, keys, dtype, data) -> None:
    q, k, v = (normal(n, 3, seed=n, dtype=dtype) for n in (queries, keys, keys))
    mask = data.draw(
        st.sampled_from(
            [
                None,
                causal(),
                window(2, 1),
                padding(keys // 2),
                alibi(0.5),
                window(1, 0) & padding(keys // 2),
            ]
        )
    )
    row = data.draw(st.integers(0, queries - 1))
    options = {
        "mask": mask,
        "block_q": data.draw(st.integers(1, 10)),
        "block_k": data.draw(st.integers(1, 10)),
        **data.draw(
            st.sampled_from([{}, {"sinks": 0.5}, {"softcap": 1.0}, {"scale": 0.3}])
        ),
    }
    out, lse = streaming.attention(q, k, v, **options, return_lse=True)
    steps = streaming.trace_attention(q, k, v, row, **options)
    walked = masks.walk(mask, queries, keys, options["block_q"], options["block_k"])
    assert [step.tile for step in steps] == [
        tile for tile in walked if tile.rows.start <= row < tile.rows.stop
    ]
    for before, step in zip(steps, steps[1:]):
        assert step.m_old == before.m
        if step.tile.kind == "none":
            assert (step.m, step.l) == (before.m, before.l)
    for step in steps:
        empty = step.m == -INF
        assert step.alpha == (0 if empty else np.exp(step.m_old - step.m))
    if steps:
        last = streaming.State(*steps[-1][2:5])
        assert last.result().astype(dtype).tolist() == out[row].tolist()
        assert last.logsumexp() == lse[row]


# The tests can fail: faults that people have made.

AS_IT_WAS = ("import numpy as np", "import numpy as np  # as it was")


def right(attend) -> bool:
    """Return whether an attention gives what dense gives, on masks of every kind."""
    q, k, v = normal(2, 9, 4), normal(2, 9, 4, seed=1), normal(2, 9, 3, seed=2)
    v = v + np.arange(9)[:, None]
    hidden = np.where(np.arange(9) < 4, -INF, 0.0)
    late = np.arange(9) >= 4
    options = [
        {"mask": causal()},
        {"mask": window(2, 1)},
        {"mask": padding(5)},
        {"scale": 3.0},
        {"mask": documents(np.arange(9) // 4)},
        {"mask": alibi([0.1, 2.0]) & causal()},
        {"mask": bias(hidden)},
        {"mask": window(1, 0) & padding(4)},
        {"softcap": 0.5, "mask": bias(np.linspace(0, 2, 9))},
        {"sinks": [0.0, 3.0]},
    ]
    low = k - 60 * np.sign(q.sum(1))[:, None]  # scores far below zero
    cases = [(q, k, v, each) for each in options]
    cases += [
        (q, low, v, {"mask": bias(hidden)}),
        (q[:, 5:], k, v, {"mask": causal()}),
        (q, k[:1], v[:1], {}),
    ]
    cases.append((q, k, np.where(late[:, None], v, NAN), {"mask": bias(hidden)}))
    many = normal(2, 150, 4, seed=3)
    cases.append((q, many * np.arange(150)[:, None], many, {}))
    for *arrays, each in cases:
        expected = dense.attention(*arrays, **each, return_lse=True)
        got = attend(*arrays, **each, block_q=2, block_k=2, return_lse=True)
        for one, other in zip(got, expected):
            if not np.allclose(one, other, rtol=1e-9, atol=1e-12):
                return False
    return True


FAULTS = {
    "the shift is not guarded": (
        "np.exp(scores - shift(m)[:, None])",
        "np.exp(scores - m[:, None])",
    ),
    "the maximum is the tile's own": (
        "np.maximum(state.m, largest(scores))  # (Br,)",
        "largest(scores)",
    ),
    "nothing is rescaled": (
        "    return add(rescale(state, m), new)\n\n\ndef weigh",
        "    return add(state, new)\n\n\ndef weigh",
    ),
    "the sum is not rescaled": (
        "    return add(rescale(state, m), new)\n\n\ndef weigh",
        "    return add(rescale(state, m)._replace(l=state.l), new)\n\n\ndef weigh",
    ),
    "the output is not rescaled": (
        "    return add(rescale(state, m), new)\n\n\ndef weigh",
        "    return add(rescale(state, m)._replace(o=state.o), new)\n\n\ndef weigh",
    ),
    "partial tiles are taken as full": ('if kind == "some":', "if False:"),
    "the scale is forgotten": ("np.float64).T * asked.scale", "np.float64).T"),
    "the cap comes after the mask": (
        "        scores = capped(scores, asked.softcap)\n"
        '        if kind == "some":\n'
        "            scores = seen.apply(scores, rows, keys)\n",
        '        if kind == "some":\n'
        "            scores = seen.apply(scores, rows, keys)\n"
        "        scores = capped(scores, asked.softcap)\n",
    ),
    "the sink has no weight": (
        "np.full((size, 1), head.sink, wide)",
        "np.full((size, 1), -np.inf, wide)",
    ),
    "hidden values are read": (
        "rows = scores[:, j] != -np.inf",
        "rows = scores[:, j] == scores[:, j]",
    ),
}
MASK_FAULTS = {
    "the window is one short": ("place - self.left,", "place - self.left + 1,"),
    "the query sees the key after it": ("+ self.right + 1", "+ self.right + 2"),
    "the first query stands at the first key": (
        "        place = row + self.keys - self.queries\n",
        "        place = row\n",
    ),
    "a tile is skipped by its first row": (
        "        _, stop = self.interval(rows.stop - 1)\n        beyond",
        "        _, stop = self.interval(rows.start)\n        beyond",
    ),
    "a tile is full if its last row is": ("<= first_stop", "<= stop"),
    "padding is seen": ("np.minimum(stop, self.length)", "np.minimum(stop, self.keys)"),
    "a finite number hides": (
        "np.where(hidden, -np.inf, scores)",
        "np.where(hidden, -50.0, scores)",
    ),
    "0 hides": ("np.where(hidden, -np.inf, scores)", "np.where(hidden, 0, scores)"),
}


def test_what_is_not_faulty_is_right() -> None:
    assert right(streaming.attention) and right(same_bits)
    assert right(faulty(streaming, AS_IT_WAS).attention)


@quiet
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name: str) -> None:
    assert not right(faulty(streaming, FAULTS[name]).attention)


LEAF_FAULTS = {
    "the sum is not rescaled": ("l = _scaled(l, gap)", "l = l"),
    "the output is not rescaled": ("o = _scaled(o, gap[..., None])", "o = o"),
    "the fraction is lost": (
        "return power, np.exp(rest)",
        "return power, 1 + 0 * rest",
    ),
    "keys that fill a leaf are seen": (
        "full_like(table, -np.inf)",
        "full_like(table, 0)",
    ),
    "what a mask hides is seen": (
        'if tile.kind == "all" and keys == leaves * LEAF:',
        "if True:",
    ),
    "the sink has no weight": ("np.where(m == -np.inf, 0, fraction)", "0 * fraction"),
    "the scale is forgotten": ("swapaxes(-1, -2) * asked.scale", "swapaxes(-1, -2)"),
    "the cap is forgotten": ("return capped(scores, asked.softcap)", "return scores"),
    "hidden values are read": ("seen[:, leaf, :, key, None]", "True"),
}


@quiet
@pytest.mark.parametrize("name", LEAF_FAULTS)
def test_a_fault_in_leaves_is_found(monkeypatch, name: str) -> None:
    monkeypatch.setattr(streaming, "exact", faulty(leaves, LEAF_FAULTS[name]))
    assert not right(same_bits)


@quiet
@pytest.mark.parametrize("name", MASK_FAULTS)
def test_a_fault_in_a_mask_is_found(monkeypatch, name: str) -> None:
    fault = faulty(masks, MASK_FAULTS[name])

    def head_of(mask, *where):
        return (
            fault.Mask(**vars(mask)).head(*where)
            if mask
            else (fault.Mask().head(*where))
        )

    monkeypatch.setattr(streaming, "head_of", head_of)
    assert not right(streaming.attention)


# Bad input.

TWO = np.zeros((2, 2))
BAD = [
    (
        (np.zeros(3), TWO, TWO),
        {},
        "q: expected shape (..., heads, queries, d) or"
        " (queries, d) with d at least 1, got (3,)",
    ),
    (
        (np.zeros((2, 0)), np.zeros((2, 0)), TWO),
        {},
        "q: expected shape (..., heads,"
        " queries, d) or (queries, d) with d at least 1, got (2, 0)",
    ),
    (
        (TWO, np.zeros((2, 3)), TWO),
        {},
        "k: expected shape (keys, 2) for q of shape (2, 2), got (2, 3)",
    ),
    (
        (TWO, TWO[None], TWO),
        {},
        "k: expected shape (keys, 2) for q of shape (2, 2), got (1, 2, 2)",
    ),
    (
        (np.zeros((3, 4, 5, 6)), np.zeros((2, 4, 5, 6)), TWO),
        {},
        "k: expected shape (3,"
        " a divisor of 4, keys, 6) for q of shape (3, 4, 5, 6), got (2, 4, 5, 6)",
    ),
    (
        (np.zeros((4, 5, 6)), np.zeros((3, 5, 6)), TWO),
        {},
        "k: expected shape (a divisor"
        " of 4, keys, 6) for q of shape (4, 5, 6), got (3, 5, 6)",
    ),
    (
        (np.zeros((4, 5, 6)), np.zeros((0, 5, 6)), TWO),
        {},
        "k: expected shape (a divisor"
        " of 4, keys, 6) for q of shape (4, 5, 6), got (0, 5, 6)",
    ),
    (
        (TWO, TWO, np.zeros((3, 2))),
        {},
        "v: expected shape (2, columns) for q of shape (2, 2), got (3, 2)",
    ),
    (
        (np.zeros((2, 4, 3)), np.zeros((2, 5, 3)), np.zeros((2, 6, 3))),
        {},
        "v: expected shape (2, 5, columns) for q of shape (2, 4, 3), got (2, 6, 3)",
    ),
    (
        (TWO, TWO, np.zeros(2)),
        {},
        "v: expected shape (2, columns) for q of shape (2, 2), got (2,)",
    ),
    (
        (["a"], TWO, TWO),
        {},
        "q: expected float16, float32, float64 or integers, got <U1",
    ),
    (
        (TWO, 1j * TWO, TWO),
        {},
        "k: expected float16, float32, float64 or integers, got complex128",
    ),
    (
        (TWO, TWO, ["a"]),
        {},
        "v: expected float16, float32, float64 or integers, got <U1",
    ),
    ((TWO, TWO, TWO), {"scale": INF}, "scale: expected a finite number, got inf"),
    ((TWO, TWO, TWO), {"scale": "a"}, "scale: expected a finite number, got 'a'"),
    (
        (TWO, TWO, TWO),
        {"softcap": 0},
        "softcap: expected a finite number above 0, got 0",
    ),
    (
        (TWO, TWO, TWO),
        {"softcap": NAN},
        "softcap: expected a finite number above 0, got nan",
    ),
    (
        (TWO, TWO, TWO),
        {"sinks": [0.0, 1.0]},
        "sinks: expected a shape that broadcasts to (1,), got (2,)",
    ),
    (
        (TWO, TWO, TWO),
        {"sinks": ["a"]},
        "sinks: expected float16, float32, float64 or integers, got <U1",
    ),
    ((TWO, TWO, TWO), {"mask": 3}, "mask: expected a mask such as causal(), got 3"),
    (
        (TWO, TWO, TWO),
        {"mask": padding(3)},
        "lengths: expected at most 2, the keys, got 3",
    ),
]


@pytest.mark.parametrize(("arrays", "options", "message"), BAD)
def test_bad_input(arrays, options, message) -> None:
    for attend in WAYS:
        with pytest.raises(ValueError) as error:
            attend(*arrays, **options)
        assert str(error.value) == message


def test_bad_blocks_and_rows() -> None:
    for name, size in product(("block_q", "block_k"), (0, -1, 1.5, None)):
        for call in (streaming.attention, streaming.trace_attention):
            row = () if call is streaming.attention else (0,)
            with pytest.raises(ValueError) as error:
                call(TWO, TWO, TWO, *row, **{name: size})
            expected = f"{name}: expected a positive integer, got {size!r}"
            assert str(error.value) == expected
    for row, arrays, message in (
        (2, [TWO] * 3, "row: expected an integer from 0 to 1, got 2"),
        (-1, [TWO] * 3, "row: expected an integer from 0 to 1, got -1"),
        (0, [TWO[None]] * 3, "q: expected shape (queries, d), got (1, 2, 2)"),
    ):
        with pytest.raises(ValueError) as error:
            streaming.trace_attention(*arrays, row)
        assert str(error.value) == message
