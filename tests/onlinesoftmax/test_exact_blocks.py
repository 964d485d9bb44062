"""Attention whose bits no tile changes: nasty rows, all masks, and where it would slip."""

import doctest
from functools import reduce
from itertools import product
from math import ceil, log
from operator import and_
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exact as digits
from onlinesoftmax import dense, exact, inputs, streaming
from onlinesoftmax.masks import alibi, bias, causal, documents, head_of, padding, window
from planting import faulty

INF, NAN = np.inf, np.nan
SIZES = [(1, 1), (7, 7), (16, 33), (33, 16), (64, 100), (100, 64), (256, 256)]
quiet = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def bits(q, k, v, block_q: int, block_k: int, **options) -> bytes:
    """The bytes of both answers."""
    both = streaming.attention(
        q, k, v, block_q=block_q, block_k=block_k,
        exact_blocks=True, return_lse=True, **options,
    )  # fmt: skip
    return both[0].tobytes() + both[1].tobytes()


# Rows of 150 scores, in two full leaves and one that is not. Each kind has its trap.
KEYS = 150
SPECIAL = [INF, -INF, NAN, 1e30, -1e30, 1e308, -1e308, 2.0**53, 1e15, 0.0, -0.0, 5.0]


def nasty_rows(count: int, seed: int) -> np.ndarray:
    """Rows of scores of every kind, in turn (count, KEYS)."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=(count, KEYS))
    leaf = np.arange(KEYS) // 25  # levels change within leaves and between them
    levels = rng.choice([0, -350, -700, -740, -1100, 700, 1100.0], (count, 6))[:, leaf]
    hidden = np.where(rng.random((count, KEYS)) < 0.9, -INF, 3 * normal)
    special = rng.choice(
        SPECIAL, (count, KEYS), p=[0.002, 0.2, 0.002, *[0.796 / 9] * 9]
    )
    kinds = [
        3 * normal,
        200 * normal,
        np.sort(rng.uniform(0, 3000, (count, KEYS))),  # m rises all the time
        levels + normal,
        hidden,
        np.where(rng.random((count, KEYS)) < 0.1, INF, levels),
        special,
        np.where(special == special, special, 0).clip(-1e308, 1e308) + 0.0,
        rng.choice([-1e9, -1e9, 0.0, 1.0], (count, KEYS)),
        rng.choice([-708, -709, -744, -745, -746, 0.0], (count, KEYS)) + normal,
        np.broadcast_to(normal[:, :1], normal.shape),
        np.where(leaf < 3, -INF, levels),  # nothing in the first leaf
    ]
    return np.stack([kinds[i % len(kinds)][i] for i in range(count)])


def nasty_values(seed: int) -> np.ndarray:
    """Values (KEYS, 7): ordinary, lost beside zeros, huge, subnormal, not finite."""
    rng = np.random.default_rng(seed)
    v = rng.normal(size=(KEYS, 7))
    v[100:, 1] = 0  # where late keys have all the weight, early ones decide
    v[::2, 2] = 0
    v[:, 3] *= 1e307
    v[:, 4] *= 1e-309
    v[40, 5] = INF
    v[[90, 140], 6] = -INF, NAN
    return v


@quiet
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_ten_thousand_nasty_rows(dtype) -> None:
    """Four thousand of each dtype; the ordinary way fails on most kinds of them."""
    rows, v = nasty_rows(4000, 1), nasty_values(2).astype(dtype)
    q, k = np.zeros((4000, 1), dtype), np.zeros((KEYS, 1), dtype)
    options = {"mask": bias(rows), "scale": 1.0}
    expected = bits(q, k, v, 64, 64, **options)
    for block_q, block_k in [*SIZES, (4000, KEYS)]:
        assert bits(q, k, v, block_q, block_k, **options) == expected
    plain = [streaming.attention(q, k, v, block_k=b, **options) for b in (16, 64)]
    differ = ((plain[0] != plain[1]) & ~np.isnan(plain[0])).any(-1)
    assert differ.mean() > (0 if dtype is np.float16 else 0.4)


@quiet
def test_ten_thousand_random_rows() -> None:
    rng = np.random.default_rng(3)
    q, k, v = (rng.normal(size=(n, 64)).astype(np.float32) for n in (10_000, 150, 150))
    for scale in (None, 20.0):
        expected = bits(q, k, v, 64, 64, scale=scale)
        for block_q, block_k in ((16, 1), (100, 100), (10_000, 256)):
            assert bits(q, k, v, block_q, block_k, scale=scale) == expected


@st.composite
def problems(draw: st.DrawFn) -> tuple[tuple[np.ndarray, ...], dict]:
    """Draw q, k, v of up to several leaves, of any layout, with any options."""
    heads, shared = draw(st.sampled_from([((), ()), ((4,), (2,)), ((2, 2), (2, 1))]))
    queries, keys = draw(st.integers(1, 70)), draw(st.integers(1, 200))
    d, columns = draw(st.sampled_from([1, 2, 5, 64])), draw(st.integers(1, 5))
    dtype = draw(st.sampled_from([np.float16, np.float32, np.float64]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    size = draw(st.sampled_from([1, 8, 60]))
    q = (size * rng.normal(size=(*heads, queries, d))).astype(dtype)
    k = rng.normal(size=(*shared, keys, d)).astype(dtype)
    v = rng.normal(size=(*shared, keys, columns)).astype(dtype)
    if draw(st.booleans()):
        v[..., rng.integers(keys), rng.integers(columns)] = draw(
            st.sampled_from([INF, NAN])
        )
    added = np.where(rng.random((queries, keys)) < 0.4, -INF, 0.25)
    parts = [causal(), window(30, 2), padding(keys // 2), alibi(0.5), bias(added)]
    if queries <= keys:
        parts.append(documents(rng.integers(0, 3, keys)))
    chosen = draw(st.lists(st.sampled_from(parts), max_size=2))
    options = draw(st.sampled_from([{}, {"softcap": 3.0}, {"sinks": 0.5}]))
    return (q, k, v), {"mask": reduce(and_, chosen) if chosen else None, **options}


@quiet
@given(problems(), st.integers(1, 80), st.integers(1, 220))
def test_no_block_size_changes_a_bit(problem, block_q: int, block_k: int) -> None:
    arrays, options = problem
    expected = bits(*arrays, 64, 64, **options)
    assert bits(*arrays, block_q, block_k, **options) == expected


@quiet
def test_nor_do_the_rows_beside_it() -> None:
    """A query's answer is the same wherever blocks of queries hide more or less."""
    rng = np.random.default_rng(5)
    q, k, v = rng.normal(size=(3, 300, 16))
    v[200] = NAN  # seen by the last queries only
    for mask in (causal(), window(9, 0), documents(np.arange(300) // 90)):
        whole = bits(q, k, v, 300, 300, mask=mask)
        for size in SIZES:
            assert bits(q, k, v, *size, mask=mask) == whole, size


# What the bits are: as near as those of the ordinary way, and nearer.


@quiet
@pytest.mark.parametrize("size", [(1, 1), (64, 64), (4000, 150)])
def test_nasty_rows_are_what_the_definition_says(size) -> None:
    """Wherever dense itself gives the truth: not where it overflows or underflows."""
    rows, v = nasty_rows(600, 7), nasty_values(8)[:, :3]
    q, k = np.zeros((600, 1)), np.zeros((KEYS, 1))
    kept = ((np.abs(rows) < 2.0**53) | (rows == -INF)).all(-1)
    assert kept.mean() > 0.7
    options = {"mask": bias(rows), "scale": 1.0, "return_lse": True}
    out, lse = streaming.attention(
        q, k, v, block_q=size[0], block_k=size[1], exact_blocks=True, **options
    )
    expected, log_sum = dense.attention(q, k, v, **options)
    np.testing.assert_allclose(out[kept], expected[kept], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(lse[kept], log_sum[kept], rtol=1e-15, atol=1e-14)


SCORES = {
    "random": 5 * np.random.default_rng(3).normal(size=1000),
    "rising": np.arange(1000) / 1.5,
    "falling": -np.arange(1000) / 1.5,
    "far below": -3e4 + np.random.default_rng(4).normal(size=1000),
    "far above": 1e9 + np.arange(1000) % 7,
}


@pytest.mark.parametrize("kind", SCORES)
def test_a_long_row_obeys_the_accuracy_rule_in_float64(kind: str) -> None:
    """The scores are given, so that nothing but the fold can err; forty digits say it."""
    row, v = SCORES[kind], np.random.default_rng(5).random(1000)
    q, k = np.zeros((1, 1)), np.zeros((1000, 1))
    options = {"mask": bias(row[None]), "exact_blocks": True, "return_lse": True}
    [[got]], [lse] = streaming.attention(q, k, v[:, None], **options)
    allow = digits.allowed(1000, ceil(1000 / 64), np.float64)
    if kind == "far above":  # a score so large has lost digits itself
        allow = 2.0**-24
    assert abs(got - digits.softmax_dot(row, v)) <= allow * v.max()
    m, l, _ = digits.sums(row, row)
    assert abs(lse - (m + log(l))) <= 2 * np.spacing(abs(m) + 1)


def test_scores_are_split_into_a_whole_power_and_the_rest() -> None:
    scores = np.concatenate([np.linspace(-800, 800, 2001), [1e5, -1e6, 1e9]])
    power, fraction = exact.split(scores)
    assert (power == np.rint(power)).all()
    assert (np.abs(np.log2(fraction)) <= 0.5 + 1e-6).all()
    for s, p, f in zip(scores.tolist(), power.tolist(), fraction.tolist()):
        with digits.localcontext(prec=40):
            true = (
                digits.Decimal(s) - digits.Decimal(int(p)) * digits.Decimal(2).ln()
            ).exp()
            error = abs(digits.Decimal(f) / true - 1)
        assert error < 2.0**-52 + abs(p) * 2.0**-74  # some of 1e9's last digit


def test_the_largest_scores_stand_for_themselves() -> None:
    power, fraction = exact.split(np.array([2.0**53, 1e300, -1e300, INF, -INF, 1e308]))
    assert power.tolist() == [2.0**54, 2e300, -2e300, INF, -INF, INF]
    assert (fraction == 1).all()
    first = np.rint(2.0**53 / exact.LOG2_E) + np.arange(-3, 4)
    [first] = first[np.rint(first * exact.LOG2_E) == 2.0**53]
    power, fraction = exact.split(np.array([first - 2, first]))
    assert power.tolist() == [np.rint((first - 2) * exact.LOG2_E), 2 * first]
    assert fraction[1] == 1
    q, k, v = np.zeros((3, 1)), np.zeros((3, 1)), np.array([[1.0], [2.0], [4.0]])
    least = float(np.finfo(np.float32).min)
    rows = [[least, least, -INF], [1e30, 1e30, 9e29], [least, 5.0, 5.0]]
    out, lse = streaming.attention(
        q, k, v, mask=bias(rows), exact_blocks=True, return_lse=True
    )
    assert out.tolist() == [[1.5], [1.5], [3.0]]
    assert lse.tolist() == [least, 1e30, 5 + np.log(2)]


@quiet
def test_there_is_one_zero_and_one_nan() -> None:
    """The sign of a zero could depend on what is skipped, that of NaN on the machine."""
    q, k = np.zeros((1, 1)), np.zeros((3, 1))
    v = np.array(
        [[-5e-324, -NAN, INF], [0, -NAN, 1], [0, 1, -INF]]
    )  # a third of the least
    out = streaming.attention(q, k, v, exact_blocks=True)
    assert out.tobytes() == np.array([0.0, NAN, NAN]).tobytes()


@quiet
def test_scores_without_end_and_keys_without_weight() -> None:
    q, k, v = np.zeros((4, 1)), np.zeros((3, 1)), np.array([[1.0], [1e308], [3.0]])
    rows = [[0, INF, 0], [0, NAN, INF], [0, -INF, 0], [-INF, -INF, -INF]]
    out, lse = streaming.attention(
        q, k, v, mask=bias(rows), exact_blocks=True, return_lse=True
    )
    np.testing.assert_array_equal(out[:, 0], [NAN, NAN, 2, 0])
    np.testing.assert_array_equal(lse, [INF, NAN, np.log(2), -INF])


def test_what_is_too_large_or_no_number_is_so_in_silence() -> None:
    rows = [[1e308, 1e308, 0], [INF, NAN, 0], [INF, INF, -INF], [-1e308, 0, -1e308]]
    q, k = np.array([[1e308], [1], [0], [-1e308]]), np.array([[0], [1e308], [1]])
    v = np.array([[1e308, INF], [1e308, -INF], [1e-308, 0]])
    with np.errstate(all="raise", under="ignore"):
        exact.split(np.array([1e308, -1e308, INF, -INF, NAN]))
        for mask, sinks in product((bias(rows), None), (None, 1e308, -1e308)):
            options = {"mask": mask, "sinks": sinks, "exact_blocks": True}
            streaming.attention(q, k, v, block_k=64, **options)


def test_values_may_have_no_columns() -> None:
    q, k, v = np.zeros((3, 2)), np.zeros((5, 2)), np.zeros((5, 0))
    out, lse = streaming.attention(q, k, v, exact_blocks=True, return_lse=True)
    assert out.shape == (3, 0) and (lse == np.log(5)).all()


def test_no_mask_is_put_on_what_is_seen_in_full(monkeypatch) -> None:
    masked, apply = [], streaming.Head.apply
    monkeypatch.setattr(
        streaming.Head, "apply", lambda *of: masked.append(of[3]) or apply(*of)
    )
    x = np.random.default_rng(1).normal(size=(192, 4))
    streaming.attention(x, x, x, mask=causal(), block_q=64, exact_blocks=True)
    assert len(masked) == 3  # of 9 tiles, 3 are seen in full and 3 not at all
    streaming.attention(x, x[:150], x[:150], block_q=192, exact_blocks=True)
    assert masked[3:] == [slice(128, 150)]  # its leaf is not full


# The state.


def states(k_scores: np.ndarray, v: np.ndarray, block_k: int, way=exact) -> list:
    """The states of one query whose scores are given."""
    q, k = np.ones((1, 1)), k_scores[:, None]
    asked = inputs.attention(q, k, v, 1.0, None, None)
    [head], seen = asked.heads(), head_of(None, asked.shape, ())
    return list(way.fold(asked, head, seen, slice(0, 1), block_k))


def test_m_is_a_whole_power_and_the_state_follows_the_leaves() -> None:
    scores, v = np.random.default_rng(1).normal(0, 30, 640), np.ones((640, 1))
    fine, coarse = states(scores, v, 64), states(scores, v, 128)
    for few, many in zip(coarse, fine[::2], strict=True):
        for a, b in zip(few, many):
            assert a.tobytes() == b.tobytes()
    nothing = fine[0]
    assert (nothing.m == -INF).all() and not nothing.l.any() and not nothing.o.any()
    for place, state in enumerate(fine[1:], 1):
        m, l = state.m[0, 0], state.l[0, 0]
        assert m == np.rint(scores[: 64 * place].max() * np.log2(np.e))
        assert 0.7 < l < 64 * place * 1.42
        assert np.isclose(
            m * np.log(2) + np.log(l),
            np.log(np.exp(scores[: 64 * place] - m).sum()) + m,
        )


def test_a_tile_that_ends_inside_a_leaf_leaves_it_to_the_next() -> None:
    scores, v = np.zeros(300), np.ones((300, 1))
    for block_k, sums in (
        (100, [0, 64, 192, 300]),
        (50, [0, 64, 128, 192, 300]),
        (7, [0, 64, 128, 192, 256, 300]),
        (299, [0, 256, 300]),
        (300, [0, 300]),
    ):
        assert [s.l[0, 0] for s in states(scores, v, block_k)] == sums


def test_blocks_of_queries_begin_with_a_panel(monkeypatch) -> None:
    """Here BLAS rounds every row of a panel alike; another may not."""
    begun, answer = [], exact.answer
    monkeypatch.setattr(
        exact, "answer", lambda *of: begun.append(of[3].start) or answer(*of)
    )
    for block_q, starts in ((1, range(0, 80, 16)), (20, (0, 32, 64)), (80, (0,))):
        begun.clear()
        bits(np.zeros((80, 1)), np.zeros((2, 1)), np.zeros((2, 1)), block_q, 1)
        assert begun == list(starts)


# Planted faults: each is found, and by rows of the kind that is named.


def rows_that_differ(monkeypatch, fault: ModuleType, rows, v) -> np.ndarray:
    """Which rows have other bits with other tiles, where a module has a fault."""
    monkeypatch.setattr(streaming, "exact", fault)
    q = np.zeros((len(rows), 1))
    answers = []
    for block_q, block_k in ((16, 64), (256, 33), (256, 100), (64, 200)):
        out = streaming.attention(
            q, np.zeros((KEYS, 1)), v, scale=1.0, mask=bias(rows),
            block_q=block_q, block_k=block_k, exact_blocks=True,
        )  # fmt: skip
        answers.append(out.view(np.int64))
    return (answers != answers[0]).any((0, -1))


ONE_REFERENCE = (
    "ms = np.maximum.accumulate(ms, 1)[:, 1:]",
    "ms = np.broadcast_to(ms.max(1, keepdims=True), ms.shape)[:, 1:]",
)
NO_INTEGER = ("power = np.rint(scores * LOG2_E)", "power = scores * LOG2_E")
REAL_RESCALE = (
    "return np.ldexp(x, np.fmax(gap, GONE).astype(np.intc))",
    "return x * np.exp2(np.where(gap > GONE, gap, GONE))",
)
ORDINARY = 3 * np.random.default_rng(6).normal(size=(200, KEYS))


def test_one_reference_a_tile_is_no_fault_with_whole_powers(monkeypatch) -> None:
    """Rescales are exact: where m moves makes no difference. With the maximum it does."""
    v = nasty_values(2)[:, :1]
    one = rows_that_differ(monkeypatch, faulty(exact, ONE_REFERENCE), ORDINARY, v)
    assert not one.any()
    real = faulty(exact, ONE_REFERENCE, NO_INTEGER, REAL_RESCALE)
    assert rows_that_differ(monkeypatch, real, ORDINARY, v).mean() > 0.1


@quiet
def test_but_it_is_a_fault_where_numbers_become_subnormal(monkeypatch) -> None:
    """A column in which the heavy keys have the value 0: so m moves with the leaves."""
    rows, v = ORDINARY.copy(), nasty_values(2)[:, 1:2]
    rows[:, :100] -= 715  # and late keys, whose values are 0, have all the weight
    assert rows_that_differ(monkeypatch, faulty(exact, ONE_REFERENCE), rows, v).any()
    assert not rows_that_differ(monkeypatch, exact, rows, v).any()


FAULTS = {
    "leaves begin where tiles do": (
        "seen.tiles(rows, block_k, LEAF)",
        "seen.tiles(rows, block_k)",
    ),
    "the sum is that of the tile": (
        "    for leaf in range(scores.shape[1]):\n",
        "    ls[:, -1:] += ls[:, :-1].sum(1, keepdims=True)\n    ls[:, :-1] = 0\n"
        "    for leaf in range(scores.shape[1]):\n",
    ),
}


@quiet
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(monkeypatch, name: str) -> None:
    fault, rows = faulty(exact, FAULTS[name]), nasty_rows(1200, 9)
    assert rows_that_differ(monkeypatch, fault, rows, nasty_values(2)).any()


@quiet
def test_products_of_the_size_of_a_tile_are_a_fault_that_is_found(monkeypatch) -> None:
    """Where BLAS rounds by shape; where it does not, there is nothing to find."""
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 256, 64))
    if np.array_equal((q @ k.T)[:16, :64], q[:16] @ k[:64].T):
        pytest.skip("this BLAS rounds all shapes alike")
    fault = faulty(
        exact,
        (
            "scores = q @ keys.swapaxes(-1, -2) * asked.scale",
            "scores = q.reshape(-1, q.shape[-1]) @ keys.reshape(-1, q.shape[-1]).T\n"
            "    scores = asked.scale * np.ascontiguousarray(scores.reshape("
            "len(q), PANEL, len(keys), LEAF).swapaxes(1, 2))",
        ),
    )
    monkeypatch.setattr(streaming, "exact", fault)
    assert bits(q, k, v, 16, 64) != bits(q, k, v, 256, 256)


def test_bad_input() -> None:
    two = np.zeros((2, 2))
    for bad in (1, None, "yes"):
        with pytest.raises(ValueError) as error:
            streaming.attention(two, two, two, exact_blocks=bad)
        assert str(error.value) == f"exact_blocks: expected True or False, got {bad!r}"
    for name, size in product(("block_q", "block_k"), (0, 1.5, None)):
        with pytest.raises(ValueError) as error:
            streaming.attention(two, two, two, exact_blocks=True, **{name: size})
        expected = f"{name}: expected a positive integer, got {size!r}"
        assert str(error.value) == expected


def test_the_examples() -> None:
    assert doctest.testmod(exact).failed == 0
