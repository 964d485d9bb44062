"""Marks typed numbers, for every kind of drill that asks for numbers.

``page/marking.mjs`` is the same code for the page; tests give both the same answers. Both
read the relative tolerances, "shares" in ``grading.json``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from livepage.drills.expression import LEAST, Reading, read, uncounted
from livepage.drills.grade import GRADING, Outcome

Payload = Mapping[str, Any]
Goal = Mapping[str, Any]

EQUAL = GRADING["shares"]["equal"]  # rounding of floats
ALIKE = GRADING["shares"]["alike"]  # rounding of intermediate results
ROUGHLY = GRADING["shares"]["roughly"]  # the farthest that a rounded mistake may be off
SINGLE = GRADING["shares"]["single"]  # ROUGHLY for one digit, which fits many numbers

UNREADABLE: Outcome = {"passed": False, "unreadable": True}
EMPTY: Outcome = {**UNREADABLE, "empty": True}


def mark(
    goal: Goal,
    wrong: Sequence[Any],
    names: Payload,
    answer: Any,
    nouns: Sequence[str] = (),
    language: str = "en",
) -> Outcome:
    """Mark a typed number. If the text is ambiguous, both readings are considered."""
    text = uncounted(str(answer), nouns)
    if not text.strip(" "):
        return EMPTY
    try:
        readings = read(text, names, language)
    except ValueError:
        said = text.strip().lower()
        return {**UNREADABLE, "stops": True} if said == "error" else UNREADABLE
    outcomes = [judge(goal, wrong, reading) for reading in readings[:2]]
    first, last = outcomes[0], outcomes[-1]
    if first["passed"] or len(outcomes) == 1:
        return first
    values = [reading.value for reading in readings[:2]]
    either = "," in text or "e" in text.lower()  # ambiguous between conventions
    if last["passed"]:
        return last if either else {"passed": False, "ask": values}
    if not either:
        return first
    clearer = first if _says_why(first) or not _says_why(last) else last
    return {**clearer, "read": values}


def judge(goal: Goal, wrong: Sequence[Any], reading: Reading) -> Outcome:
    """Mark one reading: right, close, a known mistake, or none of these."""
    value = reading.value
    if hits(goal, value):
        return {"passed": True, "read": [value]}
    kept = 0.0 if value == LEAST else value  # as a float keeps it
    exact = _only(i for i, slip in enumerate(wrong) if same(kept, slip))
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
    """Say whether a value is right; an infinity or NaN has to be met exactly."""
    if "low" not in goal:
        return same(value, goal["value"])
    return goal["low"] <= value <= goal["high"]


def same(value: float, target: float | str) -> bool:
    """Say whether two values are equal up to rounding. NaN equals NaN."""
    target = float(target)
    if math.isfinite(value) and math.isfinite(target):
        return abs(value - target) <= EQUAL * abs(target)
    return value == target or (math.isnan(value) and math.isnan(target))


def _near(goal: Goal, reading: Reading, listed: bool) -> str | None:
    """Say why a value is close: too few digits, the unsafe side, or per cent."""
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
    """Say whether a value is the answer with too few digits.

    An expression is not a rounded answer: 9/15 is not taken for 9/16.
    """
    value, unit = reading
    right = goal["value"]
    if abs(value - right) <= min(unit / 2, goal["short"]):
        return True
    rounds = unit > 0 or goal["nearly"] > 0
    return rounds and any(same(value, short) for short in goal["rounded"])


def _nearly(goal: Goal, value: float) -> bool:
    return "low" in goal and abs(value - goal["value"]) <= goal["nearly"]


def mistake(goal: Goal, wrong: Sequence[Any], reading: Reading) -> int | None:
    """Return the index of the mistake that explains a value, or None.

    A value closer to the answer than to a mistake is not explained by it. Counts are
    compared exactly, unless the reader rounds one, as in 8.59e9. If several mistakes
    explain a value, the one that rounds to its digits is taken.
    """
    value, right = reading.value, float(goal["value"])
    if not math.isfinite(value):
        return None
    far = abs(value - right) if math.isfinite(right) else math.inf
    slips = [float(slip) for slip in wrong]
    matches = [
        i
        for i, slip in enumerate(slips)
        if math.isfinite(slip)
        and not (goal.get("counted") and slip == round(slip) and reading.unit <= 1)
        and abs(value - slip) < far
        and agrees(reading, slip)
    ]
    return _only([i for i in matches if _rounds(reading, slips[i])] or matches)


def agrees(reading: Reading, slip: float) -> bool:
    """Say whether a mistake's value, rounded or truncated, gives the digits typed."""
    value, unit = reading
    gap = abs(value - slip)
    reach = SINGLE if abs(value) < 10 * unit else ROUGHLY
    if gap > reach * abs(slip):
        return False
    cut = value * slip > 0 and 0 <= abs(slip) - abs(value) < unit
    return gap <= ALIKE * abs(slip) or _rounds(reading, slip) or cut


def _rounds(reading: Reading, slip: float) -> bool:
    """Say whether a mistake's value rounds to the digits typed."""
    return abs(reading.value - slip) <= reading.unit / 2 * (1 + EQUAL)


def _only(matches: Any) -> int | None:
    """Return the match if there is exactly one, else None."""
    matches = list(matches)
    return matches[0] if len(matches) == 1 else None


def letter(answer: Any) -> int | None:
    """Return 0 for "a" or "A", 1 for "b" …; a number stays as it is."""
    if isinstance(answer, str):
        text = answer.strip().lower()
        return ord(text) - ord("a") if len(text) == 1 and "a" <= text <= "z" else None
    whole = isinstance(answer, (int, np.integer)) and not isinstance(answer, bool)
    return int(answer) if whole else None
