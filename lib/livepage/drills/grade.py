"""Marking an answer: what passed, and which misconception a wrong one shows.

Each grader takes a drill's payload and an answer and returns an outcome, a small
mapping without any words: ``passed``, and where it applies ``read`` (the value as
understood, or two of them), ``near`` (why an answer is close and not right), ``ask``
(the two values of which the reader has to choose one), ``hint`` (the number of the
mistake whose hint is earned), ``cell`` (the row and column of the first wrong cell) and
``slots`` (what fills the slots of a sentence about it).

``page/grade.mjs`` is the same code for the page; tests feed both the same answers. What
the two share stands in ``grading.json``: "shares", how close two numbers have to be, as
shares of the number that is compared with; "rules", in the order they are tried, each
with what has to be true of an outcome and the words it earns; "free", what makes an
outcome no miss; and "untried", how the word begins for code that did not run. Code
drills are marked by ``grader.py``, which runs in both worlds, and answers in own words
by the reader who wrote them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from livepage.drills.expression import Reading, read, uncounted, unknown

Outcome = dict[str, Any]
Payload = Mapping[str, Any]
Goal = Mapping[str, Any]

GRADING = json.loads(Path(__file__).with_name("grading.json").read_text("utf-8"))
EQUAL = GRADING["shares"]["equal"]  # two numbers are one: the rest is rounding
ALIKE = GRADING["shares"]["alike"]  # one may be the other, made from rounded parts
ROUGHLY = GRADING["shares"]["roughly"]  # from the mistake a number is taken for
SHORT = GRADING["shares"]["short"]  # one with too few digits still counts as close
SINGLE = GRADING["shares"]["single"]  # as ROUGHLY: a single digit fits many numbers

UNREADABLE: Outcome = {"passed": False, "unreadable": True}
EMPTY: Outcome = {**UNREADABLE, "empty": True}


# ---- numbers


def mark(
    goal: Goal,
    wrong: Sequence[Any],
    names: Payload,
    answer: Any,
    nouns: Sequence[str] = (),
) -> Outcome:
    """Mark a number as typed; where that may mean two, both are considered."""
    text = uncounted(str(answer), nouns)
    if not text.strip(" "):
        return EMPTY
    try:
        readings = read(text, names)
    except ValueError:
        return UNREADABLE
    outcomes = [judge(goal, wrong, reading) for reading in readings[:2]]
    first, last = outcomes[0], outcomes[-1]
    if first["passed"] or len(outcomes) == 1:
        return first
    values = [reading.value for reading in readings[:2]]
    either = (
        "," in text or "e" in text.lower()
    )  # written differently in other countries
    if last["passed"]:
        return last if either else {"passed": False, "ask": values}
    if not either:
        return first
    clearer = first if _says_why(first) or not _says_why(last) else last
    return {**clearer, "read": values}


def judge(goal: Goal, wrong: Sequence[Any], reading: Reading) -> Outcome:
    """Mark one value: right, close, a known mistake, or none of these."""
    value = reading.value
    if hits(goal, value):
        return {"passed": True, "read": [value]}
    exact = _only(i for i, slip in enumerate(wrong) if same(value, slip))
    near = _near(goal, reading, exact is not None)
    if near is None:
        hint = exact if exact is not None else mistake(goal, wrong, reading)
        if hint is None and _nearly(goal, value):
            near = "rough"
    else:
        hint = exact
    return {"passed": False, "read": [value], "near": near, "hint": hint}


def _says_why(outcome: Outcome) -> bool:
    return outcome["near"] is not None or outcome["hint"] is not None


def hits(goal: Goal, value: float) -> bool:
    """Say whether a value is right; of an infinity or NaN, only that value is."""
    if "low" not in goal:
        return same(value, goal["value"])
    return goal["low"] <= value <= goal["high"]


def same(value: float, target: float | str) -> bool:
    """Say whether two values are one number; NaN is NaN, for somebody typed it."""
    target = float(target)
    if math.isfinite(value) and math.isfinite(target):
        return abs(value - target) <= EQUAL * abs(target)
    return value == target or (math.isnan(value) and math.isnan(target))


def _near(goal: Goal, reading: Reading, listed: bool) -> str | None:
    """Say why a value is close: rounded too far, or to the unsafe side, or per cent."""
    if "low" not in goal:
        return None
    value, unit = reading
    low, high = sorted([goal["value"], goal.get("unsafe", goal["value"])])
    if low <= value <= high and low < high:
        return "side"
    if _is_short(goal, reading):
        return None if listed and goal["counted"] else "digits"
    if listed or not unit or not 0 < goal["value"] < 1:
        return None
    part = value / 100
    short = any(same(part, rounded) for rounded in goal["rounded"])
    return "share" if short or hits(goal, part) else None


def _is_short(goal: Goal, reading: Reading) -> bool:
    """Say whether a value is the answer with too few digits, in whatever unit.

    An expression such as 9/15, typed where the answer is 9/16, is not a rounded answer.
    """
    value, unit = reading
    right = goal["value"]
    if abs(value - right) <= min(unit / 2, SHORT * abs(right)):
        return True
    rounds = unit > 0 or goal["nearly"] > 0
    return rounds and any(same(value, short) for short in goal["rounded"])


def _nearly(goal: Goal, value: float) -> bool:
    return "low" in goal and abs(value - goal["value"]) <= goal["nearly"]


def mistake(goal: Goal, wrong: Sequence[Any], reading: Reading) -> int | None:
    """Return the one misconception that explains a value, better than the answer.

    A count is exact, unless somebody types it as 8.59e9. Where several explain it, it is
    the one that gives these digits when it is rounded.
    """
    value, right = reading.value, float(goal["value"])
    if not math.isfinite(value):
        return None
    far = abs(value - right) if math.isfinite(right) else math.inf
    slips = [float(slip) for slip in wrong]
    found = [
        i
        for i, slip in enumerate(slips)
        if math.isfinite(slip)
        and not (goal.get("counted") and slip == round(slip) and reading.unit <= 1)
        and abs(value - slip) < far
        and agrees(reading, slip)
    ]
    return _only([i for i in found if _rounds(reading, slips[i])] or found)


def agrees(reading: Reading, slip: float) -> bool:
    """Say whether a value is a slip's, rounded or cut off to the digits typed."""
    value, unit = reading
    gap = abs(value - slip)
    reach = SINGLE if abs(value) < 10 * unit else ROUGHLY
    if gap > reach * abs(slip):
        return False
    cut = value * slip > 0 and 0 <= abs(slip) - abs(value) < unit
    return gap <= ALIKE * abs(slip) or _rounds(reading, slip) or cut


def _rounds(reading: Reading, slip: float) -> bool:
    """Say whether a value is a slip's, rounded to the digits typed."""
    return abs(reading.value - slip) <= reading.unit / 2 * (1 + EQUAL)


def _only(found: Any) -> int | None:
    """Return the one thing found; of several, none is known to be it."""
    found = list(found)
    return found[0] if len(found) == 1 else None


def numeric(payload: Payload, answer: Any) -> Outcome:
    """Mark a number."""
    nouns = payload.get("nouns", ())
    return mark(payload["goal"], payload["wrong"], payload["names"], answer, nouns)


def formula(payload: Payload, answer: Any) -> Outcome:
    """Mark a formula by its values at each sample of its variables."""
    text = str(answer)
    if not text.strip(" "):
        return EMPTY
    try:
        values = [read(text, at)[0].value for at in payload["samples"]]
    except ValueError:
        return _unknown(text, payload["samples"][0])
    if text.count("=") > 1:  # two lines of code, of which only the last would be read
        return UNREADABLE

    def equals(targets: Sequence[float]) -> bool:
        return all(same(a, b) for a, b in zip(values, targets, strict=True))

    if equals(payload["values"]):
        return {"passed": True}
    wrong = (i for i, targets in enumerate(payload["wrong"]) if equals(targets))
    return {"passed": False, "hint": next(wrong, None)}


def _unknown(text: str, names: Payload) -> Outcome:
    """Say which name of a formula that cannot be read is not known, if it is that."""
    name = unknown(text, names)
    found = {"unknown": True, "slots": {"name": name}} if name else {}
    return {**UNREADABLE, **found}


def trace(payload: Payload, answer: Any) -> Outcome:
    """Mark a table row by row, up to the first cell that is not right."""
    for i, row in enumerate(payload["goals"]):
        for j, goal in enumerate(row):
            try:
                cell = answer[i][j]
            except (IndexError, KeyError, TypeError):
                cell = ""
            slips = payload["wrong"][i][j]
            outcome = mark(goal, [value for value, _ in slips], {}, cell)
            if not outcome["passed"]:
                hint = outcome.get("hint")
                hint = None if hint is None else slips[hint][1]
                named = {"row": i + 1, "column": [{"column": payload["columns"][j]}]}
                return {**outcome, "hint": hint, "cell": [i, j], "slots": named}
    return {"passed": True}


# ---- choices and orders


def choice(payload: Payload, answer: Any) -> Outcome:
    """Mark a choice, given as its letter or as its place counted from 0."""
    picked = letter(answer)
    if picked is None or not 0 <= picked < payload["count"]:
        return UNREADABLE
    return {"passed": picked == payload["right"], "hint": picked}


def letter(answer: Any) -> int | None:
    """Return 0 for "a" or "A", 1 for "b" …; a number stays as it is."""
    if isinstance(answer, str):
        text = answer.strip().lower()
        return ord(text) - ord("a") if len(text) == 1 and "a" <= text <= "z" else None
    whole = isinstance(answer, (int, np.integer)) and not isinstance(answer, bool)
    return int(answer) if whole else None


def order(payload: Payload, answer: Any) -> Outcome:
    """Mark an order of the shown lines: letters ("cab"), or places from 0.

    Right is every order in which each line comes after the lines it needs, and each
    that the drill names besides.
    """
    listed = isinstance(answer, (str, Sequence, np.ndarray))
    picked = [letter(part) for part in answer if part != " "] if listed else []
    shown = payload["shown"]
    if sorted(p for p in picked if p is not None) != list(range(len(shown))):
        return UNREADABLE
    lines = [shown[p] for p in picked]
    fault = next((i for i in range(len(lines)) if _missing(payload, lines, i)), None)
    if fault is None or lines in payload["also"]:
        return {"passed": True}
    early = (
        index
        for index, (first, then) in enumerate(payload["wrong"])
        if first == lines[fault] and then in lines[fault:]
    )
    hint, in_order = next(early, None), {"n": fault}
    return {"passed": False, "first": fault == 0, "hint": hint, "slots": in_order}


def _missing(payload: Payload, lines: Sequence[int], i: int) -> bool:
    """Say whether the i-th line needs one that comes after it."""
    return any(need in lines[i:] for need in payload["needs"][lines[i]])


# ---- what an outcome earns


def is_miss(outcome: Mapping[str, Any]) -> bool:
    """Say whether an outcome is a miss: what is close, or cannot be read, is none."""
    return facts(outcome).isdisjoint(GRADING["free"])


def is_unexplained(outcome: Mapping[str, Any]) -> bool:
    """Say whether an outcome names no mistake, and a hint on the computation would help.

    Of code that fails before it computes anything, the error says more.
    """
    named = outcome.get("slip", outcome.get("hint")) is not None
    broke = outcome.get("fault") == "raised"
    broke = broke or outcome.get("word", "").startswith(tuple(GRADING["untried"]))
    return not named and not (broke and not outcome.get("case"))


def facts(outcome: Mapping[str, Any]) -> set[Any]:
    """Return what is true of an outcome: the fields it has, and why it is close."""
    present = {k for k, v in outcome.items() if v is not None and v is not False}
    return {outcome.get("near"), *present}


def replies(kind: str, outcome: Mapping[str, Any]) -> list[str]:
    """Return the words an answer earns; "hint" and "nudge" are the drill's own."""
    known = facts(outcome) | {kind}
    return next(words for needs, words in GRADING["rules"] if known.issuperset(needs))


GRADERS = {
    "numeric": numeric,
    "choice": choice,
    "order": order,
    "recall": formula,
    "trace": trace,
}
