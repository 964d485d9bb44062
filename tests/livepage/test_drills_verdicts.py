"""Answers that readers give, and the verdicts they earn: `data/answers.yml`."""

from pathlib import Path
from typing import Any

import pytest
from py_mini_racer import MiniRacer
from test_drills_answers import graders, mark_both

from livepage import yml
from livepage.drills import check
from livepage.drills.bank import WRITTEN, bank
from livepage.drills.kind import hint_of as earned
from livepage.drills.payload import payload
from livepage.drills.words import in_language

FILE = Path(__file__).parents[1] / "data" / "answers.yml"
ANSWERS = yml.read(FILE)
OWN = [id for id, d in bank().items() if "points" in d.fields]
MARKED = [id for id, d in bank().items() if d.kind not in WRITTEN and id not in OWN]
VERDICTS = {"right", "close", "mistake", "not it", "ask"}


@pytest.fixture(scope="module")
def v8() -> MiniRacer:
    return graders()


def given(id: str, answer: Any) -> Any:
    """Return an answer as its grader takes it; an order is written by its lines."""
    if bank()[id].kind == "order" and isinstance(answer, list):
        return [payload(bank()[id])["shown"].index(line - 1) for line in answer]
    return answer


def verdict(id: str, outcome: dict[str, Any]) -> str:
    if outcome["passed"]:
        return "right"
    if outcome.get("unreadable") or outcome.get("ask"):
        return "ask"
    if outcome.get("near"):
        return "close"
    return "not it" if earned(bank()[id], outcome) is None else "mistake"


def test_every_drill_has_its_answers() -> None:
    assert {id for id in ANSWERS if bank()[id].kind not in WRITTEN} == {*MARKED, *OWN}
    for id in MARKED:
        assert len(ANSWERS[id]) >= 4, id
        assert {"right", "mistake"} <= {v for _, v, *_ in ANSWERS[id]} <= VERDICTS, id


@pytest.mark.parametrize("id", MARKED)
def test_an_answer_earns_its_verdict(v8: MiniRacer, id: str) -> None:
    answers = [given(id, answer) for answer, *_ in ANSWERS[id]]
    outcomes = mark_both(v8, bank()[id], answers)
    for (answer, wanted, *words), outcome in zip(ANSWERS[id], outcomes, strict=True):
        found = verdict(id, outcome)
        hint = (
            "" if outcome["passed"] else in_language(earned(bank()[id], outcome) or "")
        )
        assert found == wanted, f"{answer!r} is told {found}: {hint}"
        if wanted == "mistake":
            assert words and words[0] in hint, f"{answer!r} is told {hint}"


@pytest.mark.parametrize("id", OWN)
def test_own_words_get_the_verdict_their_owner_gives(id: str) -> None:
    assert {row[-1] for row in ANSWERS[id]} == {"compared", "right", "some", "ask"}
    for text, *had, wanted in ANSWERS[id]:
        found = check(id, text, had=had[0] if had else None)
        assert bool(found) == (wanted == "right"), text
        said = repr(found)
        assert ("had=True" in said) == (wanted == "compared"), text
        assert ("Something was missing" in said) == (wanted == "some"), text
        assert ("Write a sentence first" in said) == (wanted == "ask"), text
