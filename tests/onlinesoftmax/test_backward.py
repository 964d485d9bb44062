"""Gradients, by their definition and by tiles, against differences and each other."""

import doctest
import inspect
import tracemalloc
from itertools import product
from math import ceil, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_attention import SEEN

from exact import ROUNDING, UNIT
from onlinesoftmax import backward, dense, streaming
from onlinesoftmax.masks import alibi, bias, causal, documents, padding, window
from planting import faulty
from problems import normal, problems

INF, NAN = np.inf, np.nan
quiet = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def by_tiles(q, k, v, do, *, keep=True, grad=backward.attention_grad, **options):
    """Return the gradients by tiles, with the output kept from the forward pass or not."""
    forward = {name: x for name, x in options.items() if not name.startswith("block")}
    o, lse = streaming.attention(q, k, v, return_lse=True, **forward)
    return grad(q, k, v, o if keep else None, lse, do, **options)


def pairs(one, other):
    """Yield the gradients of two, side by side; both have those of sinks, or none has."""
    assert (one.sinks is None) == (other.sinks is None)
    return [(a, b) for a, b in zip(one, other) if b is not None]


# The definition.


def by_differences(q, k, v, do, step=1e-5, **options) -> list[np.ndarray]:
    """Move each number a little to both sides, and see how the loss moves."""
    arguments = {"q": q, "k": k, "v": v}
    if "sinks" in options:
        arguments["sinks"] = np.asarray(options.pop("sinks"))

    def loss(**changed):
        return float(
            (dense.attention(**{**arguments, **changed}, **options) * do).sum()
        )

    grads = []
    for name, x in arguments.items():
        grads.append(np.zeros(x.shape))
        for at in np.ndindex(x.shape):
            up, down = x.copy(), x.copy()
            up[at] += step
            down[at] -= step
            slope = (loss(**{name: up}) - loss(**{name: down})) / (2 * step)
            grads[-1][at] = slope
    return grads


@pytest.mark.parametrize("kind", SEEN)
@pytest.mark.parametrize(
    "options", [{}, {"scale": -0.3}, {"softcap": 0.7}, {"sinks": 0.5, "softcap": 3.0}]
)
def test_the_definition_is_what_differences_say(kind: str, options: dict) -> None:
    q, k, v, do = normal(5, 3), normal(7, 3, seed=1), normal(7, 2, seed=2), normal(5, 2)
    options = {"mask": SEEN[kind][0], **options}
    expected = by_differences(q, k, v, do, **options)
    for got in (
        dense.attention_grad(q, k, v, do, **options),
        by_tiles(q, k, v, do, block_q=2, block_k=3, **options),
        by_tiles(q, k, v, do, keep=False, block_q=3, block_k=2, **options),
    ):
        assert (got.sinks is not None) == ("sinks" in options)
        for ours, slopes in zip(got, expected):
            np.testing.assert_allclose(ours, slopes, rtol=0, atol=2e-9)


@pytest.mark.parametrize("sinks", [0.5, [0.5], [0.5, 1.0, -1.0, 2.0]])
def test_heads_that_share_add_up(sinks) -> None:
    q, k, v = normal(2, 4, 3, 2), normal(2, 2, 4, 2, seed=1), normal(2, 2, 4, 1, seed=2)
    do, options = normal(2, 4, 3, 1, seed=3), {"sinks": sinks, "mask": causal()}
    expected = by_differences(q, k, v, do, **options)
    for got in (
        dense.attention_grad(q, k, v, do, **options),
        by_tiles(q, k, v, do, block_q=2, block_k=2, **options),
        by_tiles(q, k, v, do, keep=False, block_q=2, block_k=2, **options),
    ):
        assert got.sinks.shape == np.shape(sinks)
        for ours, slopes in zip(got, expected):
            np.testing.assert_allclose(ours, slopes, rtol=0, atol=2e-9)


# Tiles.


@given(problems(), st.integers(1, 10), st.integers(1, 10), st.booleans())
def test_tiles_of_any_size_give_what_dense_gives(problem, block_q, block_k, keep):
    (q, k, v), options = problem
    do = normal(*q.shape[:-1], v.shape[-1], seed=9, dtype=q.dtype)
    expected = dense.attention_grad(q, k, v, do, **options)
    got = by_tiles(q, k, v, do, keep=keep, block_q=block_q, block_k=block_k, **options)
    allow = {2: 8e-3, 4: 8e-6, 8: 1e-13}[q.dtype.itemsize]
    for one, other in pairs(got, expected):
        assert one.dtype == other.dtype == q.dtype and one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=allow, atol=allow)


def test_a_tile_of_64_by_64_unless_told() -> None:
    parameters = inspect.signature(backward.attention_grad).parameters
    assert parameters["block_q"].default == parameters["block_k"].default == 64


def test_hidden_tiles_are_skipped(monkeypatch) -> None:
    made, apply = [], streaming.Head.apply
    monkeypatch.setattr(
        streaming.Head, "apply", lambda *given: made.append(given[2:]) or apply(*given)
    )
    x = normal(64, 4)
    o, lse = streaming.attention(x, x, x, mask=causal(), return_lse=True)
    made.clear()
    options = {"mask": causal(), "block_q": 8, "block_k": 8}
    backward.attention_grad(x, x, x, o, lse, x, **options)
    assert len(made) == 8  # of 64 tiles, 28 are seen in full and 28 not at all


@pytest.mark.parametrize("mask", [None, causal(), alibi(0.1)])
def test_no_table_is_held_in_memory(mask) -> None:
    """Besides the gradients it is of the size of a tile, however many tiles there are."""
    arrays = [normal(1024, 16, seed=seed, dtype=np.float32) for seed in range(4)]
    q, k, v, do = arrays
    o, lse = streaming.attention(q, k, v, mask=mask, return_lse=True)
    tracemalloc.start()
    grads = backward.attention_grad(
        q, k, v, o, lse, do, mask=mask, block_q=32, block_k=32
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    held = sum(x.nbytes for x in (grads.q, grads.k, grads.v))
    assert peak - held < 40 * 4 * 32 * (32 + 16) + 40_000 < 4 * 1024**2 / 8


# Shapes and dtypes.


def test_the_gradients_have_the_widest_dtype() -> None:
    q, k, v, do = (normal(4, 2, seed=seed) for seed in range(4))
    half, single = q.astype(np.float16), k.astype(np.float32)
    for grad in (dense.attention_grad, by_tiles):
        assert {x.dtype for x in grad(half, single, half, half)[:3]} == {np.dtype("f4")}
        wide = grad(half, half, v, half, sinks=1.0)
        assert {x.dtype for x in wide} == {np.dtype("f8")}
        assert grad([[1]], [[1]], [[3]], [[2]]).v.tolist() == [[2.0]]
        assert {x.dtype for x in grad(half, half, half, do)[:3]} == {np.dtype("f2")}


def test_nothing_is_added_up_in_float16() -> None:
    """5,000 ones would stall at 2,048."""
    q, k, v, do = (
        np.full((n, 1), x, "f2") for n, x in ((5000, 1), (1, 1), (1, 1), (5000, 1))
    )
    assert by_tiles(q, k, v, do, block_q=100).v == 5000
    q, k = np.full((1, 1), 300, "f2"), np.full((5000, 1), 300, "f2")
    half = np.repeat([0, 1], 2500).astype("f2")[:, None]
    assert abs(by_tiles(q, k, half, q[:1] * 0 + 1).q) < 0.1


def test_float32_is_added_up_in_float32() -> None:
    """That halves the memory of the sums, and so 2²⁴ and twice 1 are still 2²⁴."""
    x, do = np.ones((1, 1), "f4"), np.array([[2.0**24], [1], [1]])
    for dtype, total in (("f4", 2.0**24), ("f8", 2.0**24 + 2)):
        q, k, v = np.ones((3, 1), dtype), x.astype(dtype), x.astype(dtype)
        assert by_tiles(q, k, v, do, block_q=1).v == total


def test_dense_computes_in_what_it_is_told() -> None:
    q, k, v, do = (normal(40, 8, seed=seed) for seed in range(4))
    exact = dense.attention_grad(q, k, v, do, sinks=0.5)
    single = dense.attention_grad(q, k, v, do, sinks=0.5, compute=np.float32)
    for one, other in pairs(single, exact):
        assert one.dtype == np.float64 and (one == one.astype(np.float32)).all()
        error = np.abs(one - other).max() / np.abs(other).max()
        assert 2.0**-27 < error < 2.0**-19
    with pytest.raises(ValueError, match="^compute: expected .* got <class 'int'>"):
        dense.attention_grad(q, k, v, do, compute=int)


def test_single_precision_is_kept_where_it_was_asked_for() -> None:
    """One query's dV is its weights, when dO is 1: those of a softmax in float32."""
    q, k, v, do = normal(1, 8), normal(50, 8, seed=1), np.ones((50, 1)), np.ones((1, 1))
    single = dense.attention_grad(q, k, v, do, compute=np.float32).v[:, 0]
    q, k = q.astype("f4"), k.astype("f4")
    scores = (k @ q[0] * np.float32(8**-0.5)).astype("f4")
    weights = dense.softmax(np.append(scores, -np.inf), compute=np.float32)[:-1]
    np.testing.assert_array_equal(single, weights)
    rounded = dense.attention_grad(q, k, v, np.float32(do / 3), compute=np.float32)
    plain = dense.attention_grad(q, k, v, do / 3, compute=np.float32)
    for one, other in pairs(plain, rounded):
        np.testing.assert_array_equal(one.astype("f4"), other.astype("f4"))


@pytest.mark.parametrize("wider", ["lse", "queries"])
def test_the_wider_of_scores_and_lse_is_computed_in(wider: str) -> None:
    """A narrow LSE counts as the wide number that it is; a wide one is not rounded."""
    dtype, kept = ("f4", "f8") if wider == "lse" else ("f8", "f4")
    q, k, v, do = (normal(40, 8, seed=seed).astype(dtype) for seed in range(4))
    q = q * np.array(30, dtype)  # so that the LSE is large, and so its rounding
    wide = [x.astype("f8") for x in (q, k, v)]
    o, lse = streaming.attention(*wide, return_lse=True)
    lse = lse.astype(kept)
    got = backward.attention_grad(q, k, v, o, lse, do)
    expected = backward.attention_grad(*wide, o, lse.astype("f8"), do.astype("f8"))
    for one, other in pairs(got, expected):
        allow = 2.0**-22 * np.abs(other).max() if wider == "lse" else 0
        assert np.abs(one - other).max() <= allow


def test_nothing_to_ask_and_nothing_to_see() -> None:
    with np.errstate(all="raise"):
        for grad in (dense.attention_grad, by_tiles):
            q, k, v = np.zeros((0, 2)), np.zeros((3, 2)), np.zeros((3, 5))
            none = grad(q, k, v, np.zeros((0, 5)))
            assert [x.shape for x in none[:3]] == [(0, 2), (3, 2), (3, 5)]
            none = grad(np.ones((2, 2)), k[:0], v[:0], np.ones((2, 5)))
            assert none.q.tolist() == [[0, 0]] * 2 and none.k.shape == (0, 2)


def test_inputs_are_left_alone() -> None:
    q, k, v, do = (normal(4, 3, seed=seed) for seed in range(4))
    o, lse = streaming.attention(q, k, v, return_lse=True)
    before = [x.tobytes() for x in (q, k, v, do, o, lse)]
    for kept in (o, None):
        backward.attention_grad(q, k, v, kept, lse, do, mask=causal(), softcap=1.0)
    dense.attention_grad(q, k, v, do, mask=causal(), softcap=1.0)
    assert before == [x.tobytes() for x in (q, k, v, do, o, lse)]


# What is hidden, and what is not a number.


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("block", [1, 2, 6])
def test_a_row_that_sees_nothing_adds_nothing(keep: bool, block: int) -> None:
    q, k, v, do = (normal(6, 3, seed=seed) for seed in range(4))
    hidden = np.zeros((6, 6))
    hidden[2], hidden[:, 4] = -INF, -INF
    clean = dense.attention_grad(q, k, v, do, mask=bias(hidden))
    assert not clean.q[2].any() and not clean.k[4].any() and not clean.v[4].any()
    for spoiled, bad in product(("q", "do", "k", "v"), (NAN, INF)):
        arrays = {"q": q.copy(), "k": k.copy(), "v": v.copy(), "do": do.copy()}
        arrays[spoiled][2 if spoiled in ("q", "do") else 4] = bad
        with np.errstate(invalid="ignore"):
            got = by_tiles(
                *arrays.values(),
                mask=bias(hidden),
                keep=keep,
                block_q=block,
                block_k=block,
            )
            other = dense.attention_grad(*arrays.values(), mask=bias(hidden))
            options = {"mask": bias(hidden), "keep": keep, "sinks": -INF}
            assert by_tiles(*arrays.values(), **options).sinks == 0
        for one, two, expected in zip(got[:3], other, clean):
            np.testing.assert_allclose(one, expected, rtol=1e-12, atol=1e-14)
            np.testing.assert_allclose(two, expected, rtol=1e-12, atol=1e-14)


def test_where_nothing_is_seen_the_gradients_are_0_in_silence() -> None:
    q, k, v, do = (normal(6, 3, seed=seed) for seed in range(4))
    with np.errstate(all="raise", under="ignore"):
        for keep, sinks in product((True, False), (None, 1.5)):
            options = {"mask": padding(0), "sinks": sinks}
            got = by_tiles(q, k, v, do, keep=keep, block_q=2, block_k=2, **options)
            for ours, expected in pairs(
                got, dense.attention_grad(q, k, v, do, **options)
            ):
                assert not ours.any() and not expected.any()


@quiet
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("which", ["q", "k", "v", "do"])
def test_nan_reaches_those_who_read_it_and_nobody_else(keep: bool, which: str) -> None:
    arrays = {n: normal(6, 3, seed=s) for s, n in enumerate(("q", "k", "v", "do"))}
    arrays[which][3, 1] = NAN
    expected = dense.attention_grad(*arrays.values(), mask=window(1, 0))
    for block_q, block_k in product((1, 4, 6), (1, 4, 6)):
        got = by_tiles(
            *arrays.values(),
            mask=window(1, 0),
            keep=keep,
            block_q=block_q,
            block_k=block_k,
        )
        for one, other in pairs(got, expected):
            np.testing.assert_allclose(one, other, atol=1e-14)
        assert np.isnan(got.q).any() and np.isfinite(got.q[:3]).all()


# Accuracy.

LEVELS = {
    "ordinary": (1, 0, 0),
    "large scores": (10, 0, 0),
    "large scores, keys far from 0": (10, 3, 0),
    "a large bias": (1, 0, -1e4),
}


def errors(dtype, level: str, **how) -> tuple[float, float]:
    """Return the largest error as a share of the largest gradient, and max |LSE|."""
    wider, further, added = LEVELS[level]
    q, k, v, do = (normal(200, 16, seed=seed, dtype=dtype) for seed in range(4))
    q, k, mask = q * dtype(wider), k + dtype(further), causal() & bias([added])
    got = by_tiles(q, k, v, do, mask=mask, **how)
    exact = [x.astype(np.longdouble) for x in (q, k, v, do)]
    scores = exact[0] @ exact[1].T / 4
    scores = np.where(np.tri(200) > 0, scores + added, -INF)
    top = scores.max(-1, keepdims=True)
    p = np.exp(scores - top)
    lse = top + np.log(p.sum(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    dp = exact[3] @ exact[2].T
    ds = p * (dp - (p * dp).sum(-1, keepdims=True)) / 4
    expected = ds @ exact[1], ds.T @ exact[0], p.T @ exact[3]
    shares = [abs(a - b).max() / abs(b).max() for a, b in zip(got, expected)]
    return float(max(shares)), float(abs(lse).max())


@pytest.mark.parametrize("block", [16, 64])
@pytest.mark.parametrize("level", LEVELS)
def test_the_accuracy_rule(level: str, block: int) -> None:
    """With the output kept, the LSE's rounding counts; summed again, nothing of the kind."""
    for dtype in (np.float16, np.float32):
        rule = (ceil(200 / block) + log2(200) + 4) * UNIT[dtype]
        error, lse = errors(dtype, level, block_q=block, block_k=block)
        assert error <= rule + lse * UNIT[dtype] + 3 * ROUNDING[dtype]
        error, _ = errors(dtype, level, block_q=block, block_k=block, keep=False)
        assert error <= rule + 1 * ROUNDING[dtype]


# The tests can fail: faults that people have made.

FAULTS = {
    "the Δ is forgotten": ("(dp - block.delta[:, None])", "dp"),
    "the Δ has the wrong sign": ("dp - block.delta", "dp + block.delta"),
    "the scale is taken twice": ("dq += scale *", "dq += scale * scale *"),
    "the scale is forgotten in dK": ("dk[keys] += scale *", "dk[keys] +="),
    "the mask comes before the cap": (
        "scores = capped(block.q @ k.T * asked.scale, asked.softcap)  # (Br, Bc)\n"
        "        slopes = cap_slopes(scores, asked.softcap)\n"
        '        if kind == "some":\n'
        "            scores = seen.apply(scores, block.rows, keys)\n",
        "scores = seen.apply(block.q @ k.T * asked.scale, block.rows, keys)\n"
        "        scores = capped(scores, asked.softcap)\n"
        "        slopes = cap_slopes(scores, asked.softcap)\n",
    ),
    "partial tiles are taken as full": ('if kind == "some":', "if False:"),
    "the LSE is off by a bit": ("exp(scores - shift", "exp(scores - 1e-6 - shift"),
    "the LSE is in base 2": ("exp(scores - shift", "exp2(scores - shift"),
    "heads that share do not add up": ("dk[keys] += ", "dk[keys] = "),
    "values of heads that share do not add up": ("dv[keys] += ", "dv[keys] = "),
    "the last tile gives dQ": ("dq += ", "dq[:] = "),
    "the cap has no slope": (" * slopes", ""),
    "dS is not turned": (
        "weigh(ds.T, scores.T, block.q)",
        "weigh(ds, scores, block.q)",
    ),
    "P and dS are swapped": (
        "weigh(p.T, scores.T, block.do)",
        "weigh(ds.T, scores.T, block.do)",
    ),
    "sinks get nothing": ("if head.sink != -np.inf:", "if False:"),
    "sinks grow": ("[head.at[-1:] or 0] -=", "[head.at[-1:] or 0] +="),
    "the sink is no part of the sum": (
        "np.exp(head.sink - shift(block.lse)), np",
        "0 * block.delta, np",
    ),
    "Δ is not divided": ("delta=mean / divisor(l)", "delta=mean"),
    "the LSE that came is kept": ("block.lse + np.log(divisor(l))", "block.lse"),
}


def right(grad) -> bool:
    """Return whether gradients by tiles are what dense gives, for options of all kinds."""
    q, k, v = normal(4, 8, 4), normal(2, 8, 4, seed=1), normal(2, 8, 3, seed=2)
    do = normal(4, 8, 3, seed=3)  # and square tiles: a fault is to be no error
    options = [
        {"mask": causal()},
        {"mask": window(2, 1), "scale": 2.0},
        {"mask": documents(np.arange(8) // 3), "softcap": 0.8},
        {"mask": padding(5), "sinks": [0.0, 3.0, 1.0, -1.0]},
        {"mask": alibi([0.1, 2.0, 1.0, 0.0])},
    ]
    for each, off in product(options, (None, 0.0, 3.0)):
        o, lse = streaming.attention(q, k, v, **each, return_lse=True)
        o = o if off is None else None  # then the LSE may be off
        got = grad(q, k, v, o, lse + (off or 0), do, **each, block_q=4, block_k=4)
        expected = dense.attention_grad(q, k, v, do, **each)
        for one, other in pairs(got, expected):
            if not np.allclose(one, other, rtol=1e-9, atol=1e-12):
                return False
    return True


def test_what_is_not_faulty_is_right() -> None:
    assert right(backward.attention_grad)
    assert right(
        faulty(backward, ("import numpy as np", "import numpy as np  #")).attention_grad
    )


@quiet
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name: str) -> None:
    assert not right(faulty(backward, FAULTS[name]).attention_grad)


# Bad input.

TWO, LSE = np.zeros((2, 2)), np.zeros(2)
BAD = [
    (
        (TWO, TWO, TWO, TWO, LSE, np.zeros((2, 3))),
        {},
        "do: expected shape (2, 2), that of the output, got (2, 3)",
    ),
    (
        (TWO, TWO, TWO, TWO[:1], LSE, TWO),
        {},
        "o: expected shape (2, 2), that of the output, got (1, 2)",
    ),
    (
        (TWO, TWO, TWO, TWO, TWO, TWO),
        {},
        "lse: expected shape (2,), one number a query, got (2, 2)",
    ),
    (
        (TWO, TWO, TWO, TWO, 0.0, TWO),
        {},
        "lse: expected shape (2,), one number a query, got ()",
    ),
    (
        (TWO, TWO, TWO, TWO, np.zeros(2, "f2"), TWO),
        {},
        "lse: expected float32 or float64, got float16",
    ),
    (
        (TWO, TWO, TWO, TWO, LSE, None),
        {},
        "do: expected float16, float32, float64 or integers, got object",
    ),
    (
        (TWO, TWO, TWO, TWO, None, TWO),
        {},
        "lse: expected float16, float32, float64 or integers, got object",
    ),
    (
        (TWO, TWO[None], TWO, TWO, LSE, TWO),
        {},
        "k: expected shape (keys, 2) for q of shape (2, 2), got (1, 2, 2)",
    ),
    (
        (TWO, TWO, TWO, TWO, LSE, TWO),
        {"block_q": 0},
        "block_q: expected a positive integer, got 0",
    ),
    (
        (TWO, TWO, TWO, TWO, LSE, TWO),
        {"block_k": 1.5},
        "block_k: expected a positive integer, got 1.5",
    ),
    (
        (TWO, TWO, TWO, TWO, LSE, TWO),
        {"softcap": 0},
        "softcap: expected a finite number above 0, got 0",
    ),
    (
        (TWO, TWO, TWO, TWO, LSE, TWO),
        {"mask": 3},
        "mask: expected a mask such as causal(), got 3",
    ),
]


@pytest.mark.parametrize(("arrays", "options", "message"), BAD)
def test_bad_input(arrays, options, message) -> None:
    with pytest.raises(ValueError) as error:
        backward.attention_grad(*arrays, **options)
    assert str(error.value) == message


def test_bad_input_of_the_definition() -> None:
    with pytest.raises(ValueError) as error:
        dense.attention_grad(TWO, TWO, TWO, np.zeros((3, 2)))
    message = "do: expected shape (2, 2), that of the output, got (3, 2)"
    assert str(error.value) == message


def test_the_examples() -> None:
    assert doctest.testmod(backward).failed == 0
