"""Masks against their definitions, pair by pair; tiles against the pairs in them."""

import doctest
import sys
import tracemalloc
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlinesoftmax import masks
from onlinesoftmax.masks import (
    Mask,
    alibi,
    bias,
    causal,
    documents,
    padding,
    walk,
    window,
)

INF = np.inf
reach = st.none() | st.integers(0, 4)


class Case(NamedTuple):
    """A mask, and for each pair (query, key) what it should add: −∞ hides."""

    mask: Mask
    added: np.ndarray
    whole: bool


def by_definition(queries: int, keys: int, rule) -> np.ndarray:
    """Return rule(place of the query, query, key) for all pairs, one by one."""
    return np.array(
        [[rule(i + keys - queries, i, j) for j in range(keys)] for i in range(queries)],
        float,
    ).reshape(queries, keys)


def hides(hidden: bool) -> float:
    return -INF if hidden else 0.0


@st.composite
def parts(draw: st.DrawFn, queries: int, keys: int, kinds: str) -> Case:
    """Draw one mask, and apply its definition to each pair."""
    kind = draw(st.sampled_from(kinds.split()))
    whole = True
    if kind == "causal":
        mask, rule = causal(), lambda place, i, j: hides(j > place)
    elif kind == "window":
        left, right = draw(reach), draw(reach)
        mask = window(left, right)
        rule = lambda place, i, j: hides(  # noqa: E731
            left is not None
            and j < place - left
            or right is not None
            and j > place + right
        )
    elif kind == "padding":
        length = draw(st.integers(0, keys))
        mask, rule = padding(length), lambda place, i, j: hides(j >= length)
    elif kind in ("documents", "pieces"):
        ids = draw(st.lists(st.integers(-2, 2), min_size=keys, max_size=keys))
        ids = sorted(ids) if kind == "documents" else ids
        changes = sum(a != b for a, b in zip(ids, ids[1:]))
        whole = changes < max(len(set(ids)), 1)
        mask = documents(np.array(ids, int))
        rule = lambda place, i, j: hides(ids[place] != ids[j])  # noqa: E731
    elif kind == "bias":
        numbers = st.sampled_from([0.0, -INF, 1.5, -3.0])
        array = np.array(draw(st.lists(numbers, min_size=keys, max_size=keys)), float)
        mask, rule = bias(array), lambda place, i, j: array[j]
    else:
        slope = draw(st.sampled_from([0.0, 0.5]))
        mask, rule = alibi(slope), lambda place, i, j: -slope * abs(place - j)
    return Case(mask, by_definition(queries, keys, rule), whole)


@st.composite
def cases(
    draw: st.DrawFn, kinds: str = "causal window padding documents pieces bias alibi"
) -> Case:
    """Draw up to three masks, combined."""
    keys = draw(st.integers(0, 13))
    queries = draw(st.integers(1, 13))
    if "documents" in kinds:
        queries = min(queries, keys) or 0
    drawn = draw(st.lists(parts(queries, keys, kinds), min_size=1, max_size=3))
    mask, added, whole = drawn[0]
    for other in drawn[1:]:
        mask, added = mask & other.mask, added + other.added
        whole = whole and other.whole
    return Case(mask, added, whole)


intervals = "causal window padding documents"
blocks = st.integers(1, 14)


@given(cases())
def test_apply_adds_and_hides_as_defined(case: Case) -> None:
    scores = np.random.default_rng(0).normal(size=case.added.shape)
    got = case.mask.head(scores.shape).apply(scores)
    np.testing.assert_allclose(got, scores + case.added, rtol=1e-15)


@given(cases(intervals))
def test_each_row_sees_its_interval(case: Case) -> None:
    head = case.mask.head(case.added.shape)
    for i, row in enumerate(case.added):
        first, stop = head.interval(i)
        inside = [first <= j < stop for j in range(len(row))]
        assert inside == [x == 0 for x in row]
    first, stop = head.interval(np.arange(len(case.added)))
    assert (np.diff(first) >= 0).all() and (np.diff(stop) >= 0).all()


@given(cases(), blocks, blocks)
def test_a_tile_is_what_its_pairs_are(case: Case, block_q: int, block_k: int) -> None:
    """Exactly, for intervals; else a tile may be looked at in vain, never missed."""
    queries, keys = case.added.shape
    plain = not (case.mask.biases or case.mask.slopes is not None)
    tiles = walk(case.mask, queries, keys, block_q, block_k)
    for rows, columns, kind in tiles:
        own = case.added[rows, columns]
        truth = "none" if (own == -INF).all() else "some" if own.any() else "all"
        if plain and case.whole:
            assert kind == truth
        assert kind in ("some", truth) and (plain or kind != "all")


@given(cases(), blocks, blocks)
def test_the_walk_meets_every_pair_once_and_in_order(case, block_q, block_k) -> None:
    queries, keys = case.added.shape
    met, order = np.zeros((queries, keys), int), []
    for rows, columns, _ in walk(case.mask, queries, keys, block_q, block_k):
        assert columns.stop - columns.start <= block_k
        assert rows.stop - rows.start <= block_q
        met[rows, columns] += 1
        order.append((rows.start, columns.start))
    assert (met == 1).all() and order == sorted(order)


@given(cases(), blocks, blocks)
def test_what_is_not_none_is_visited(case: Case, block_q: int, block_k: int) -> None:
    queries, keys = case.added.shape
    head = case.mask.head((queries, keys))
    tiles = walk(case.mask, queries, keys, block_q, block_k)
    rows = {tile.rows.start: tile.rows for tile in tiles}.values()
    visited = [tile for own in rows for tile in head.tiles(own, block_k)]
    assert visited == [tile for tile in tiles if tile.kind != "none"]


@given(cases(), st.data())
def test_a_tile_is_applied_as_a_part_of_the_whole(case: Case, data) -> None:
    queries, keys = case.added.shape
    rows, columns = (
        slice(*sorted(data.draw(st.tuples(*[st.integers(0, n)] * 2))))
        for n in (queries, keys)
    )
    scores = np.arange(float(queries * keys)).reshape(queries, keys)
    head = case.mask.head(scores.shape)
    tile = head.apply(scores[rows, columns], rows, columns)
    assert tile.tolist() == head.apply(scores)[rows, columns].tolist()


@given(cases(), st.data())
def test_and_is_a_meet(case: Case, data) -> None:
    shape = case.added.shape
    kinds = "causal window padding documents pieces bias alibi"
    b, c = (data.draw(parts(*shape, kinds)).mask for _ in range(2))
    zeros = np.zeros(shape)
    hidden = lambda mask: np.isinf(mask.head(shape).apply(zeros))  # noqa: E731
    a = case.mask
    for one, other in (((a & b) & c, a & (b & c)), (a & b, b & a), (a, a & Mask())):
        assert hidden(one).tolist() == hidden(other).tolist()
    both = hidden(a) | hidden(b)
    assert hidden(a & b).tolist() == both.tolist()


# Shares of the work.


@pytest.mark.parametrize(
    ("n", "block_q", "block_k", "counts"),
    [(16, 4, 4, (6, 4, 6)), (1024, 128, 64, (56, 16, 56)), (10, 4, 4, (3, 3, 3))],
)
def test_tiles_of_a_causal_mask(n, block_q, block_k, counts) -> None:
    kinds = Counter(tile.kind for tile in walk(causal(), n, n, block_q, block_k))
    assert tuple(kinds[kind] for kind in ("all", "some", "none")) == counts


@pytest.mark.parametrize("tiles", [1, 2, 4, 16, 50])
def test_causal_does_more_than_half_of_the_tiles(tiles: int) -> None:
    walked = walk(causal(), 8 * tiles, 8 * tiles, 8, 8)
    done = sum(tile.kind != "none" for tile in walked)
    assert done * 2 * tiles == (tiles + 1) * len(walked)


def test_a_window_makes_the_work_linear() -> None:
    done = []
    for n in (1000, 2000, 4000):
        head = window(40, 0).head((n, n))
        rows = (slice(i, min(i + 10, n)) for i in range(0, n, 10))
        done.append(sum(len(list(head.tiles(own, 10))) for own in rows))
    assert done == [n // 10 * 5 - 10 for n in (1000, 2000, 4000)]


def test_documents_of_equal_length_leave_their_squares() -> None:
    kinds = Counter(t.kind for t in walk(documents(np.arange(64) // 16), 64, 64, 8, 8))
    assert kinds == {"all": 4 * 4, "none": 64 - 16}


# A tile in O(1): counted, not timed.


def calls(work) -> int:
    """Return how many functions are called, those written in C too."""
    count = 0

    def see(frame, event, _) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("kind", ["causal", "window", "padding", "documents", "all"])
def test_a_tile_costs_the_same_in_a_matrix_of_a_million_by_a_million(kind) -> None:
    """As many calls as in a small matrix, and no array."""

    def mask(n: int) -> Mask:
        each = {
            "causal": causal(),
            "window": window(n // 10, n // 3),
            "padding": padding(n // 2),
            "documents": documents(np.arange(n) // 7),
        }
        return (
            each[kind]
            if kind in each
            else (each["causal"] & each["window"] & each["padding"] & each["documents"])
        )

    counts = []
    for n in (20, 10**6):
        head = mask(n).head((n, n))
        half = slice(n // 4, 3 * n // 4)
        counts.append(calls(lambda: head.kind(half, half)))  # noqa: B023
        head.kind(half, half)
        tracemalloc.start()
        head.kind(half, half)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 2000
    assert counts[0] == counts[1] < 60


def test_masking_a_tile_takes_the_memory_of_a_tile() -> None:
    scores, tile = np.zeros((8, 8), np.float32), slice(500_000, 500_008)
    mask = causal() & window(9, 0) & documents(np.arange(10**6) // 9)
    head = mask.head((10**6, 10**6))
    head.apply(scores, tile, tile)
    tracemalloc.start()
    head.apply(scores, tile, tile)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5000


def test_the_memory_that_shows_an_array_would_show_one() -> None:
    tracemalloc.start()
    np.arange(10**6)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak > 10**6


# Batches and heads.


def test_every_sequence_has_its_length_and_its_documents() -> None:
    shape, zeros = (2, 3, 4, 4), np.zeros((4, 4))
    ids = np.array([[0, 0, 1, 1], [5, 6, 6, 6]])
    for mask, own in (
        (padding([1, 3]), [padding(1), padding(3)]),
        (documents(ids), [documents(ids[0]), documents(ids[1])]),
        (padding(2), [padding(2)] * 2),
        (documents(ids[0]), [documents(ids[0])] * 2),
    ):
        for index in np.ndindex(2, 3):
            got = mask.head(shape, index).apply(zeros)
            expected = own[index[0]].head((4, 4)).apply(zeros)
            assert got.tolist() == expected.tolist()


def test_every_head_has_its_slope_and_its_bias() -> None:
    shape, zeros = (2, 3, 4, 4), np.zeros((4, 4))
    slopes, array = np.arange(3.0), np.random.default_rng(0).normal(size=(2, 3, 4, 4))
    for index in np.ndindex(2, 3):
        got = alibi(slopes).head(shape, index).apply(zeros)
        own = alibi(slopes[index[1]]).head((4, 4))
        assert got.tolist() == own.apply(zeros).tolist()
        for part in (array, array[:1], array[0], array[0, 0], array[:, :, :1]):
            got = bias(part).head(shape, index).apply(zeros)
            assert got.tolist() == np.broadcast_to(part, shape)[index].tolist()


def test_one_head_without_an_axis_may_have_its_slope_in_a_list() -> None:
    one, other = (
        alibi(slope).head((3, 4)).apply(np.zeros((3, 4))) for slope in ([0.5], 0.5)
    )
    assert one.tolist() == other.tolist()


def test_places_count_from_the_end_of_the_array_filling_and_all() -> None:
    """With fewer queries than keys: the filling is hidden, and moves nobody."""
    assert (causal() & padding(5)).head((2, 8)).interval(0) == (0, 5)
    first, stop = (window(2, 0) & padding(4)).head((1, 8)).interval(0)
    assert first >= stop  # the query stands at key 7
    cut = window(2, 0).head((1, 4)).interval(0)
    assert cut == (1, 4)


def test_a_document_in_two_pieces_is_no_whole_one() -> None:
    [tile] = walk(documents([0, 1, 0]), 3, 3, 3, 3)
    assert tile.kind == "some"
    assert [t.kind for t in walk(documents([0, 1, 1]), 3, 3, 1, 3)] == ["some"] * 3


def test_documents_of_two_kinds_meet_in_each_sequence() -> None:
    both = documents([[0, 1], [2, 0]]) & documents([0, 1])
    for sequence in range(2):
        seen = both.head((2, 1, 2, 2), (sequence, 0)).apply(np.zeros((2, 2))) == 0
        assert seen.tolist() == [[True, False], [False, True]]


def test_a_batch_of_no_sequences_has_no_lengths() -> None:
    assert padding(np.zeros(0, int)).lengths.shape == (0,)
    assert padding(np.uint8([3])).lengths.dtype == np.int64


def test_slopes_add_and_lengths_shorten() -> None:
    both = alibi([1.0, 2.0]) & alibi(0.5) & padding([3, 1]) & padding(2)
    assert both.slopes.tolist() == [1.5, 2.5] and both.lengths.tolist() == [2, 1]


def test_scores_keep_their_dtype() -> None:
    scores = np.zeros((2, 3), np.float32)
    for mask in (causal(), alibi(0.1), bias(np.zeros(3)), alibi([0.1]) & causal()):
        shape = (1, 2, 3)
        assert mask.head(shape, (0,)).apply(scores).dtype == np.float32
    assert not scores.any()


def test_a_hidden_score_is_gone_whatever_it_is() -> None:
    scores = np.array([[np.nan, 1.0]])
    assert bias([-INF, 2.0]).head((1, 2)).apply(scores).tolist() == [[-INF, 3.0]]
    assert padding(1).head((1, 2)).apply(scores[:, ::-1]).tolist() == [[1.0, -INF]]
    assert np.isnan(bias([0.0, 0.0]).head((1, 2)).apply(scores)[0, 0])


# Bad input.

SPREAD = "expected a shape that broadcasts to"
BAD = [
    (lambda: window(-1, 0), "left: expected an integer of at least 0, got -1"),
    (lambda: window(0, 1.5), "right: expected an integer of at least 0, got 1.5"),
    (lambda: padding(-3), "lengths: expected an integer of at least 0, got -3"),
    (lambda: padding([2.0]), "lengths: expected integers, got float64"),
    (lambda: documents([0.5]), "ids: expected integers, got float64"),
    (lambda: documents(4), "ids: expected shape (..., keys), got the number 4"),
    (lambda: bias(1.0), "array: expected shape (..., n), got the number 1.0"),
    (
        lambda: alibi(["a"]),
        "slopes: expected float16, float32, float64 or integers, got <U1",
    ),
    (lambda: alibi([1.0, INF]), "slopes: expected finite numbers, got [ 1. inf]"),
    (lambda: alibi(np.nan), "slopes: expected finite numbers, got nan"),
    (lambda: padding(7).head((5, 6)), "lengths: expected at most 6, the keys, got 7"),
    (
        lambda: padding([1, 2]).head((3, 2, 5, 6), (0, 0)),
        f"lengths: {SPREAD} (3,), got (2,)",
    ),
    (lambda: documents([1, 2]).head((2, 3)), f"ids: {SPREAD} (3,), got (2,)"),
    (
        lambda: documents([1, 2]).head((3, 2)),
        "ids: expected at most as many queries as keys, got 3 and 2",
    ),
    (
        lambda: alibi([1.0, 2.0]).head((3, 4, 4), (0,)),
        f"slopes: {SPREAD} (3,), got (2,)",
    ),
    (lambda: bias(np.zeros((3, 4))).head((4, 4)), f"bias: {SPREAD} (4, 4), got (3, 4)"),
    (
        lambda: padding([1, 2]) & padding([1, 2, 3]),
        "lengths: expected shapes that broadcast, got (2,) and (3,)",
    ),
    (
        lambda: documents([1, 2]) & documents([[1, 2, 3]]),
        "ids: expected shapes that broadcast, got (2,) and (1, 3)",
    ),
    (
        lambda: alibi([1.0, 2.0]) & alibi([1.0, 2.0, 3.0]),
        "slopes: expected shapes that broadcast, got (2,) and (3,)",
    ),
    (lambda: alibi([1.0, 2.0]).head((4, 4)), f"slopes: {SPREAD} (1,), got (2,)"),
    (lambda: walk(None, 2, 2, 0, 1), "block_q: expected a positive integer, got 0"),
    (lambda: walk(None, 2, 2, 1, 0), "block_k: expected a positive integer, got 0"),
    (lambda: walk(3, 2, 2, 1, 1), "mask: expected a mask such as causal(), got 3"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input(call, message: str) -> None:
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == message


def test_a_mask_goes_with_masks_only() -> None:
    for other in (3, None, np.ones((2, 2))):
        with pytest.raises(ValueError, match="^mask: expected a mask such as causal"):
            causal() & other
    with pytest.raises(ValueError, match="^mask: expected a mask such as causal"):
        3 & causal()


def test_examples() -> None:
    assert doctest.testmod(masks).failed == 0
