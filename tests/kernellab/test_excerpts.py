"""The figure that steps through PTX: its kernels, what is stored of them, what it says."""

import json
import re

import numpy as np
import pytest

import blocksim
import laboratory
from figure_words import said
from livepage.figures import registry
from tools.kernels import excerpts
from tools.kernels.excerpts import Row

STORED = json.loads(excerpts.STORED.read_text("utf-8"))
D, KEYS, THREADS, BASE = excerpts.D, excerpts.KEYS, excerpts.THREADS, excerpts.BASE
loops = pytest.mark.parametrize("name", excerpts.LOOPS)


@loops
def test_the_kernels_add_up_the_columns_of_a_tile(name: str) -> None:
    rows = np.random.default_rng(0).standard_normal((96, D)).astype(np.float32)
    sums = np.zeros(D, np.float32)
    kernel = getattr(laboratory, name)(D, KEYS, THREADS)
    report = blocksim.run(kernel, 1, THREADS, rows, sums, BASE)
    assert not report.faults, report
    wanted = rows[BASE : BASE + KEYS].sum(0, dtype=np.float64)
    np.testing.assert_allclose(sums, wanted, atol=1e-5)


def test_what_is_stored_is_of_the_kernels_as_they_are() -> None:
    assert STORED["sources"] == excerpts.sources(), "run `make kernels`"


@loops
def test_the_stored_turn_copies_its_number(name: str) -> None:
    """The place it is read from and the one it goes to are those of the Python."""
    steps = STORED["loops"][name]["steps"]
    row, column = divmod(excerpts.THREAD, D)
    number = BASE + row + column / 100
    fetched = next(wrote for text, _, wrote in steps if text.startswith("ld.global"))
    assert list(fetched.values()) == [pytest.approx(number)]
    spoken = " ".join(told(name))
    assert f"K[{BASE + row}, {column}]: {number}" in spoken
    assert f"k_tile[{row}, {column}]" in spoken


def told(name: str, language: str = "en") -> list[str]:
    steps = len(STORED["loops"][name]["steps"])
    return [
        said("ptx-steps", {"loop": name, "step": k}, language) for k in range(steps + 1)
    ]


@loops
@pytest.mark.parametrize("language", ["en", "es"])
def test_every_step_is_told_in_words(name: str, language: str) -> None:
    steps = STORED["loops"][name]["steps"]
    for sentence, (text, _, _) in zip(told(name, language)[1:], steps, strict=True):
        assert not re.search(r"undefined|NaN|[{%]", sentence), sentence
        for register in re.findall(r"%(\w+)", text):
            assert re.search(rf"\b{register}\b", sentence), (text, sentence)


def test_the_question_is_answered_by_what_is_stored() -> None:
    """`r = x // d` and `c = x % d` take as many as the options and a hint say."""
    loop = STORED["loops"]["plain"]
    counts = [sum(line == k for _, line, _ in loop["steps"]) for k in range(4)]
    assert [text.strip() for text in loop["lines"][1:3]] == ["r = x // d", "c = x % d"]
    spec = registry.spec("ptx-steps")
    for words in registry.strings("ptx-steps").values():
        assert words["options"][spec.prediction.answer] == str(counts[1])
        assert words["options"][1] == str(counts[2])
    assert spec.still["step"] == counts[1]
    assert {line for _, line, _ in loop["steps"][: counts[1]]} == {1}


# ---- cutting out a turn, by hand ----

PTX = """\
$L_before:
	mov.u64 %rd1, _cudapy_smem_1;
$L_turn:
	add.s64 %rd2, %rd1, %rd3;
	st.shared.f32 [%rd2], %f1;
	add.s64 %rd3, %rd3, 8;
	add.s64 %rd5, %rd5, 1;
	add.s64 %rd4, %rd1, %rd3;
	st.shared.f32 [%rd4], %f1;
$L_after:
	st.shared.f32 [%rd4], %f1;
"""
ROWS = [
    Row(2, 1, "mov.u64 %rd1, _cudapy_smem_1", {"%rd1": 4096}),
    Row(4, 3, "add.s64 %rd2, %rd1, %rd3", {"%rd2": 4100}),
    Row(5, 3, "st.shared.f32 [%rd2], %f1", {}),
    Row(6, 2, "add.s64 %rd3, %rd3, 8", {"%rd3": 12}),
    Row(7, 4, "add.s64 %rd5, %rd5, 1", {"%rd5": 1}),
    Row(8, 3, "add.s64 %rd4, %rd1, %rd3", {"%rd4": 4108}),
    Row(9, 3, "st.shared.f32 [%rd4], %f1", {}),
]


def test_a_turn_ends_where_the_same_line_begins_again() -> None:
    assert excerpts.turn(ROWS, PTX) == (1, 5)
    assert excerpts.copies(PTX, 4) == 2


def test_a_register_is_needed_if_it_is_read_before_it_is_written() -> None:
    assert excerpts.needed(ROWS) == ["%rd3", "%f1", "%rd5"]
    assert excerpts.needed(ROWS[3:]) == ["%rd3", "%rd5", "%rd1", "%f1"]


def test_an_address_is_told_from_the_start_of_its_array() -> None:
    told = excerpts.with_addresses(ROWS)
    assert [list(each.values()) for each in told] == [
        ["k_tile"],
        ["k_tile + 4"],
        [],
        [12],
        [1],
        ["k_tile + 12"],
        [],
    ]


def test_a_register_that_is_used_again_holds_an_address_no_more() -> None:
    rows = [
        ROWS[0],
        Row(2, 1, "ld.shared.u64 %rd1, [%rd1]", {"%rd1": 5}),
        Row(3, 1, "add.s64 %rd2, %rd1, 1", {"%rd2": 6}),
    ]
    assert excerpts.with_addresses(rows) == [
        {"%rd1": "k_tile"},
        {"%rd1": 5},
        {"%rd2": 6},
    ]


def test_a_number_that_a_page_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="9007199254740993 is more than"):
        excerpts.plain(2**53 + 1, None)


def test_a_register_is_not_called_what_it_does_not_hold() -> None:
    lines = ["while x < tile:", "    r = x // d"]
    assert excerpts.targets(lines) == {1: "r"}
    step = ["shr.u64 %rd1, %rd2, 6", 1, {"%rd1": 1}]
    assert excerpts.results([step], {1: "r"}) == {"%rd1": "r"}
    with pytest.raises(ValueError, match="%rd1 is 2, not r"):
        excerpts.results([[*step[:2], {"%rd1": 2}]], {1: "r"})
