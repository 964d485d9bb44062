"""Marking a number as typed, for every kind of drill that asks for numbers.

``page/grade.mjs`` is the same code for the page; tests feed both the same answers. Both
read "shares" in ``grading.json``: how close two numbers have to be, as shares of the
number that is compared with.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from livepage.drills.expression import Reading, read, uncounted
from livepage.drills.grade import GRADING, Outcome

Payload = Mapping[str, Any]
Goal = Mapping[str, Any]

EQUAL = GRADING["shares"]["equal"]  # two numbers are one: the rest is rounding
ALIKE = GRADING["shares"]["alike"]  # one may be the other, computed from rounded parts
ROUGHLY = GRADING["shares"]["roughly"]  # from the mistake a number is taken for
SHORT = GRADING["shares"]["short"]  # one with too few digits still counts as close
SINGLE = GRADING["shares"]["single"]  # as ROUGHLY: a single digit fits many numbers

UNREADABLE: Outcome = {"passed": False, "unreadable": True}
EMPTY: Outcome = {**UNREADABLE, "empty": True}


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


def letter(answer: Any) -> int | None:
    """Return 0 for "a" or "A", 1 for "b" …; a number stays as it is."""
    if isinstance(answer, str):
        text = answer.strip().lower()
        return ord(text) - ord("a") if len(text) == 1 and "a" <= text <= "z" else None
    whole = isinstance(answer, (int, np.integer)) and not isinstance(answer, bool)
    return int(answer) if whole else None
