"""The figure `lanes`: what its words and its picture say holds at every setting."""

import html
import re
from itertools import product

import numpy as np
import pytest

from figure_words import said
from livepage import figures
from livepage.figures import registry, v8

lanes = registry.module("lanes")
WORDS = registry.strings("lanes")["en"]
N, SCORES = lanes.N, lanes.SCORES

settings = pytest.mark.parametrize(
    ("takes", "width"), list(product(lanes.LAYOUTS, lanes.LANES))
)


def numbers(takes: str, width: int, step: int) -> dict:
    state = {"takes": takes, "lanes": width, "step": step}
    return v8.from_json(v8.run("lanes", "compute", state))


def count(takes: str, width: int) -> int:
    """The instructions, by formula."""
    halvings = int(np.log2(width))
    return {
        "one": N * N,
        "row": N * (N // width + 2 * halvings),
        "lane": N * N // width,
    }[takes]


@settings
def test_the_instructions_are_counted(takes: str, width: int) -> None:
    found = numbers(takes, width, 999)
    assert found["steps"] == found["at"] == count(takes, width)
    assert found["counts"] == [count(each, width) for each in lanes.LAYOUTS]


@settings
def test_every_score_is_compared_once(takes: str, width: int) -> None:
    steps = [numbers(takes, width, k) for k in range(1, count(takes, width) + 1)]
    loads = [each["cells"] for each in steps if each["kind"] == "load"]
    taken = [tuple(cell) for cells in loads for cell in cells]
    assert sorted(taken) == list(np.ndindex(N, N))
    for cells in loads:  # side by side in the tile, which is transposed for "lane"
        along, across = (0, 1) if takes == "lane" else (1, 0)
        assert len({cell[across] for cell in cells}) == 1
        assert np.all(np.diff([cell[along] for cell in cells]) == 1)


@settings
def test_the_sentence_is_true_of_every_instruction(takes: str, width: int) -> None:
    largest = SCORES.max(axis=1)
    for step in range(1, count(takes, width) + 1):
        found = numbers(takes, width, step)
        text = said("lanes", {"takes": takes, "lanes": width, "step": step})
        assert text.startswith(f"Instruction {step}: ")
        assert found["found"] == list(largest[: len(found["found"])])
        assert ("All 16 maxima are found." in text) == (len(found["found"]) == N)
        if named := re.search(r"of query (\d+)", text):
            the_query_is_told(text, int(named[1]), found)
        if key := re.search(r"for key (\d+)", text):
            the_queries_are_told(text, int(key[1]), found)


def the_query_is_told(text: str, query: int, found: dict) -> None:
    row, register = SCORES[query - 1], found["register"]
    seen = re.search(r"score (\d+) of", text)
    if seen:
        assert found["operand"] == [row[int(seen[1]) - 1]]
        assert register == [row[: int(seen[1])].max()]
    if many := re.search(r"(\d+) scores of", text):
        assert len(found["operand"]) == len(register) == int(many[1])
        assert max(register) == row[: 1 + max(cell[1] for cell in found["cells"])].max()
    if hold := re.search(r"but (\d+) lanes|: (\d+)\.", text):
        assert len(register) == int(hold[1] or hold[2])
    if last := re.search(r"is (\d+)\.", text):
        assert register == [row.max()] == [int(last[1])]
    if not (seen or many):
        assert max(register) == row.max()


def the_queries_are_told(text: str, key: int, found: dict) -> None:
    queries = [cell[0] for cell in found["cells"]]
    assert f"scores of {len(queries)} queries" in text
    assert found["operand"] == list(SCORES[queries, key - 1])
    assert found["register"] == list(SCORES[queries, :key].max(axis=1))


def test_the_question_and_its_hints_count_right() -> None:
    opening = registry.spec("lanes").defaults()
    assert opening["lanes"] == 8 and opening["takes"] == "one"
    assert (
        f"{N} queries" in WORDS["ask"] and f"{count('one', 8)} compar" in WORDS["ask"]
    )
    assert WORDS["options"][2].endswith(f"256 / 8 = {count('lane', 8)} instructions")
    assert count("lane", 8) < count("row", 8)
    reading = N // 8
    combining = count("row", 8) // N - reading
    assert reading == 2 < combining  # "two instructions take in a row"


def test_a_row_gains_nothing_from_wider_registers() -> None:
    """The reader is sent to 16 lanes: a query in each gains there, and a row does not."""
    rows = [count("row", width) for width in lanes.LANES]
    assert rows == sorted(rows)
    halved = [2 * count("lane", width) for width in lanes.LANES[1:]]
    assert halved == [count("lane", width) for width in lanes.LANES[:-1]]


@settings
def test_the_picture_shows_the_operand_and_the_register(takes: str, width: int) -> None:
    for step in (1, 2, 8, 11, count(takes, width)):
        state = {"takes": takes, "lanes": width, "step": step}
        found = numbers(takes=takes, width=width, step=step)
        drawn = html.unescape(figures.still("lanes", state))
        for picture in re.findall(r"<svg .*?</svg>", drawn)[:2]:
            shown = re.findall(r'data-key="o[\d-]+"[^>]*>(\d+)<', picture)
            assert shown == [f"{x:.0f}" for x in found["operand"]]
            shown = re.findall(r'data-key="m[\d-]+"[^>]*>(\d+)<', picture)
            assert shown == [f"{x:.0f}" for x in found["register"]]


@settings
def test_spanish_tells_the_same_numbers(takes: str, width: int) -> None:
    for step in range(count(takes, width) + 1):
        state = {"takes": takes, "lanes": width, "step": step}
        en, es = (
            sorted(re.findall(r"\d+", said("lanes", state, language)))
            for language in ("en", "es")
        )
        assert en == es
