"""The figure of fragments, held to what ptxsim's matrix instruction multiplies."""

import re
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

import ptx
import ptxsim
from figure_words import said
from livepage.figures import registry, v8

fragments = registry.module("fragments")

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
SIDES = {"A": (16, 16), "B": (16, 8), "C": (16, 8), "S": (16, 16)}
Array = np.ndarray


def held(name: str) -> Array:
    """Rows and columns of what every thread holds, as the figure draws it."""
    opening = fragments.SPEC.defaults()
    states = [opening | {"thread": thread} for thread in range(32)]
    found = [v8.from_json(v8.run("fragments", "compute", state)) for state in states]
    return np.array([each["held"][name] for each in found])


def spread(matrix: Array, name: str) -> Array:
    """The numbers of a matrix, thread by thread."""
    rows, columns = np.moveaxis(held(name), -1, 0)
    return matrix[rows, columns]


def gathered(numbers: Array, name: str) -> Array:
    """The matrix whose numbers the threads hold."""
    matrix = np.full(SIDES[name], np.nan, "f4")
    rows, columns = np.moveaxis(held(name), -1, 0)
    matrix[rows, columns] = numbers
    return matrix


def multiply(a: Array, b: Array) -> Array:
    """One instruction, from the numbers of A and B that each thread holds to those of D."""
    halves = [
        np.ascontiguousarray(x.astype("f2")).view("u4").reshape(-1) for x in (a, b)
    ]
    out, start = np.empty(128, "u4"), np.zeros(128, "u4")
    ptxsim.run(ptx.mma_text(MMA), 1, (out, *halves, start), outputs=[0])
    return out.view("f4").reshape(32, 4)


def test_the_threads_hold_what_the_instruction_multiplies() -> None:
    random = np.random.default_rng(1)
    a, b = (random.integers(-9, 10, SIDES[name]).astype("f4") for name in "AB")
    product_of = gathered(multiply(spread(a, "A"), spread(b, "B")), "C")
    assert product_of.tolist() == (a @ b).tolist()


def test_two_tiles_of_scores_are_a_of_the_next_product_within_each_thread() -> None:
    """Registers are renamed and rounded to 16 bits; nothing goes to another thread."""
    random = np.random.default_rng(2)
    q, v = (random.integers(-2, 3, SIDES[name]).astype("f4") for name in "AB")
    keys = random.integers(-2, 3, (16, 16)).astype("f4")
    tiles = [
        multiply(spread(q, "A"), spread(k, "B")) for k in (keys[:, :8], keys[:, 8:])
    ]
    scores = np.concatenate(tiles, axis=1)
    assert gathered(scores, "S").tolist() == (q @ keys).tolist()
    output = gathered(multiply(scores, spread(v, "B")), "C")
    assert output.tolist() == (q @ keys @ v).tolist()


def test_two_shuffles_find_the_maximum_of_every_row() -> None:
    """Between neighbours, then between the two pairs: each of the four threads has it."""
    scores = np.random.default_rng(3).permutation(128).reshape(SIDES["C"])
    own = spread(scores, "C").reshape(32, 2, 2).max(-1)  # of two rows
    for distance in (1, 2):
        own = np.maximum(own, own[np.arange(32) ^ distance])
    rows = held("C")[:, ::2, 0]
    assert (own == scores.max(1)[rows]).all()


def test_the_prediction_counts_the_threads_of_a_row() -> None:
    rows = fragments.LAYOUTS["C"][..., 0]
    counts = {len((rows == row).any(1).nonzero()[0]) for row in range(16)}
    options = registry.strings("fragments")["en"]["options"]
    answer = options[fragments.SPEC.prediction.answer]
    assert [f"{count}:" for count in counts] == [answer[:2]]


# ---- what it says ----

WORDS = {
    "en": ("thread", ("lower half", "upper half"), ("first", "second"), "to"),
    "es": ("hilo", ("mitad baja", "mitad alta"), ("primera", "segunda"), "a"),
}


def facts(name: str, view: str, language: str) -> Iterator[tuple[str, list[str]]]:
    """Each number of a matrix, and what is to be said of it."""
    thread, halves, tiles, to = WORDS[language]
    layout = fragments.LAYOUTS[name]
    for (lane, slot), place in zip(
        np.ndindex(32, layout.shape[1]), layout.reshape(-1, 2)
    ):
        row, column = place.tolist()
        own = [f"[{row}, {column}]", f"{thread} {lane}"]
        if name in "ABS":
            own += [f" {'b' if name == 'B' else 'a'}{slot // 2} ", halves[slot % 2]]
        if name == "S":
            own += [f" c{slot % 4} ", tiles[slot // 4]]
        if name in "AB" and view == "one":
            partner = layout[lane, slot - 1 if slot % 2 else slot + 1].tolist()
            own += [f"{name}{partner}", halves[1 - slot % 2]]
        if name == "C":
            first = lane - lane % 4
            own += [f" c{slot} ", f" {first} {to} {first + 3}", f" {row} "]
        yield f"{name}{row},{column}", own


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize(
    ("view", "name"), [*product(("one", "next"), "ABC"), ("next", "S")]
)
def test_what_is_said_of_a_number(view: str, name: str, language: str) -> None:
    for number, wanted in facts(name, view, language):
        state = fragments.SPEC.defaults() | {"view": view, "number": number}
        sentence = said("fragments", state, language)
        plain = re.sub(r"[,.:]", " ", sentence) + sentence
        assert not [fact for fact in wanted if fact not in plain], (state, sentence)


@pytest.mark.parametrize("language", ["en", "es"])
def test_what_is_said_of_a_thread(language: str) -> None:
    a, b = fragments.LAYOUTS["A"], fragments.LAYOUTS["B"]
    for lane in range(32):
        rows, (column,) = sorted({*a[lane, :, 0]}), {*b[lane, :, 1]}
        join = "and" if language == "en" else "y"
        sentence = said(
            "fragments", fragments.SPEC.defaults() | {"thread": lane}, language
        )
        group, within = re.search(r"4·(\d+) \+ (\d+)", sentence).groups()
        assert 4 * int(group) + int(within) == lane
        assert f" {rows[0]} {join} {rows[1]}," in sentence
        assert f" {column}, {join}" in sentence
