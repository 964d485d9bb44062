"""A solution ends in the number that the drill asks for."""

import re
from math import isnan

import pytest

from figure_words import tells
from livepage.drills.bank import bank
from livepage.drills.expression import evaluate

NUMERIC = [id for id, drill in bank().items() if drill.kind == "numeric"]
SPELT = {"one": "1", "two": "2", "three": "3", "four": "4", "six": "6", "half": "0.5"}
NUMBER = re.compile(r"(?<![\w.])−?\d[\d,]*(?:\.\d+)?(?: × 10\^\d+)?…?")
FRACTION = re.compile(r"(?<![\d.])(\d+)/(\d+)(?![\d.])")


def numbers(solution: str) -> list[str]:
    """The numbers of a solution, formulas and words alike, as a figure would write them."""
    text = solution.replace("\\cdot", "×").replace("\\ldots", "…")
    text = re.sub(r"[{}]", "", text)
    fractions = (f"{int(a) / int(b):.12f}" for a, b in FRACTION.findall(text))
    spelt = (SPELT.get(word) for word in re.findall(r"\w+", text.lower()))
    found = (number.rstrip(",") for number in NUMBER.findall(text.replace("-", "−")))
    return [*found, *fractions, *filter(None, spelt)]


@pytest.mark.parametrize("id", NUMERIC)
def test_a_solution_states_the_answer(id: str) -> None:
    asked, solution = bank()[id].get("answer"), bank()[id].get("solution")
    answer = evaluate(str(asked["value"]))
    if isnan(answer):
        assert "nan" in solution
    else:
        found = numbers(solution)
        assert [number for number in found if states(number, float(answer))], found


def states(number: str, answer: float) -> bool:
    """Whether a number is the answer; a whole one only if the answer is whole too.

    "92.881…" is cut off, and not rounded.
    """
    if number.endswith("…"):
        number = number[:-1]
        answer -= 0.5 * 10 ** -len(number.partition(".")[2])
    rounded = "." in number or answer == round(answer)
    return rounded and tells(number, answer)
