"""The runner of planted faults: it notices a fault that nothing catches."""

import pytest

from livepage.drills.bank import bank
from tools.faults import drills, runner


def halves(fault: str) -> str:
    """A check of even numbers: it does not see a change of an odd one."""
    if fault == "three":
        raise runner.Misplanted("red for another reason")
    return "" if fault == "one" else f"{fault} is off"


def test_a_fault_that_nothing_catches_is_wrong(capsys: pytest.CaptureFixture) -> None:
    tally = runner.run(["one", "two"], halves)
    assert (tally.noticed, tally.wrong) == (1, ["one: NOT NOTICED"])
    assert (
        "  one\n      NOT NOTICED\n  two\n      two is off" in capsys.readouterr().out
    )


def test_a_reason_excuses_only_a_fault_that_nothing_catches() -> None:
    tally = runner.run(["one", "two"], halves, lambda fault: "it is odd")
    assert (tally.explained, tally.noticed) == (1, 0)
    assert tally.wrong == ["two: noticed, though explained: two is off"]


def test_a_fault_that_is_not_planted_is_wrong() -> None:
    tally = runner.run(["two", "three"], halves, lambda fault: "")
    assert (tally.count, tally.wrong) == (2, ["three: red for another reason"])


def test_a_drill_lists_what_no_case_notices_and_nothing_else() -> None:
    drill = bank()["smallest-float"]
    same = "if s > m: -> if s >= m:"
    assert drills.complaints(drill, {same: "A tie has the same maximum."}) == []
    assert drills.complaints(drill, {}) == [f"smallest-float: {same}: NOT NOTICED"]
    listed = {same: "a tie", "if s: -> if m:": "no such line"}
    assert "if s: -> if m:" in drills.complaints(drill, listed)[0]
