"""The figure of padding and swizzling: its addresses, its queues, and what it says."""

import ast
import inspect
import re
from collections.abc import Callable
from itertools import product

import pytest

from figure_words import said
from golden import cases
from livepage import figures
from livepage.figures import registry, v8
from tiledattention.gpu.rungs import tensor

swizzle = registry.module("swizzle")

STATES = cases("swizzle")


def numbers(state: dict) -> dict:
    return v8.from_json(v8.run("swizzle", "compute", state))


def place_of(d: int) -> Callable[[int, int], int]:
    """The rung's own function inside its kernel, as Python on integers."""
    (found,) = [
        node
        for node in ast.walk(ast.parse(inspect.getsource(tensor.tensor)))
        if isinstance(node, ast.FunctionDef) and node.name == "place_of"
    ]
    found.decorator_list = []
    names = {"uint32": int, "row_bytes": 2 * d, "PIECE": tensor.PIECE}
    exec(compile(ast.Module([found], []), tensor.__file__, "exec"), names)
    return names["place_of"]


@pytest.mark.parametrize("d", sorted(tensor.RUNG.shipped))
def test_the_figure_swizzles_as_the_rung_of_tensor_cores_does(d: int) -> None:
    rung = place_of(d)
    for row, piece in product(range(16), range(d // 8)):
        assert swizzle.address("swizzled", d, row, piece) == rung(row, piece)


@pytest.mark.parametrize("d", swizzle.WIDTHS)
def test_only_swizzled_tiles_waste_neither_bytes_nor_wavefronts(d: int) -> None:
    thrifty = set()
    for tile in swizzle.TILES:
        states = [s for s in STATES if (s["tile"], s["d"]) == (tile, d)]
        found = [swizzle.expected(state) for state in states]
        if all(x["wavefronts"] == 1 and x["padding"] == 0 for x in found):
            thrifty.add(tile)
    assert thrifty == {"swizzled"}


def test_a_square_of_the_question_takes_as_many_wavefronts_as_its_answer_says() -> None:
    state = swizzle.SPEC.defaults() | swizzle.SQUARE
    options = registry.strings("swizzle")["en"]["options"]
    right = options[swizzle.SPEC.prediction.answer]
    assert right.startswith(f"{swizzle.expected(state)['wavefronts']}:")


def test_no_bank_serves_two_pieces_in_one_wavefront() -> None:
    for state in STATES:
        got = numbers(state)
        served = [(each["turn"], each["place"] % 8) for each in got["queue"]]
        assert len(set(served)) == len(served) == 8
        assert {turn for turn, _ in served} == set(range(got["wavefronts"]))


def test_the_pieces_drawn_are_each_where_they_lie() -> None:
    """No two in the same place, and each where `figure.py` has it."""
    for state in STATES:
        pieces = numbers(state)["pieces"]
        assert len({each["place"] for each in pieces}) == len(pieces) == state["d"]
        for each in pieces:
            at = swizzle.address(state["tile"], state["d"], each["row"], each["piece"])
            assert at == each["place"] * swizzle.PIECE


def test_the_table_has_the_wavefronts_of_every_tile() -> None:
    drawn = figures.still("swizzle", {}).partition("<table>")[2]
    cells = [re.findall(r"<t[dh][^>]*>([^<]*)</t", row) for row in drawn.split("<tr>")]
    rows = cells[2:]  # after the head
    assert len(rows) == len(swizzle.TILES) * len(swizzle.WIDTHS)
    for d, tile, *counts, padding in rows:
        state = {"d": int(d), "tile": tile, "at": "0"}
        found = [swizzle.expected(state | {"access": x}) for x in swizzle.ACCESSES]
        assert [int(x) for x in counts] == [x["wavefronts"] for x in found]
        assert int(padding) * swizzle.ROWS == found[0]["padding"]


MANY = {
    "en": (": {} wavefronts.", "one wavefront."),
    "es": (": {} tandas.", "una tanda."),
}


@pytest.mark.parametrize("language", ["en", "es"])
def test_what_is_said_is_what_the_library_finds(language: str) -> None:
    many, one = MANY[language]
    for state in STATES:
        found = swizzle.expected(state)
        first, *_, last = (f"{row},{piece}" for row, piece in found["eight"])
        count = found["wavefronts"]
        facts = [f" {first} ", f" {last}", many.format(count) if count > 1 else one]
        if state["tile"] == "padded":
            each = 2 * state["d"] + found["padding"] // swizzle.ROWS
            facts += [f" {each} bytes, 16 "]
        sentence = said("swizzle", state, language)
        assert not [fact for fact in facts if fact not in sentence], (state, sentence)
        rule = {32: "(r // 2 % 4)", 64: "(r % 8)", 128: "(r % 8)"}[state["d"]]
        told = rule in sentence.replace("\u00a0", " ")
        assert told == (state["tile"] == "swizzled" and state["access"] == "square")


@pytest.mark.parametrize("d", swizzle.WIDTHS)
def test_the_rule_that_is_said_is_the_one_that_is_drawn(d: int) -> None:
    state = {"access": "square", "tile": "swizzled", "d": d, "at": "0"}
    sentence = said("swizzle", state).replace("\u00a0", " ")
    rule = sentence.partition("where piece ")[2].partition(" would")[0]
    for row, piece in product(range(swizzle.ROWS), range(d // 8)):
        plain = eval(rule, {"r": row, "c": piece})
        wanted = swizzle.address("plain", d, row, plain)
        assert swizzle.address("swizzled", d, row, piece) == wanted
