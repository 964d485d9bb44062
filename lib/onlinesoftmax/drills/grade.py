"""Marking an answer: what passed, and which misconception a wrong one shows.

Each grader takes a drill's payload and an answer and returns an outcome, a small
mapping without any words: ``passed``, and where it applies ``read`` (the values as
understood), ``hint`` (which of the drill's hints is earned), ``place`` (where the first
fault is). ``page/grade.js`` is the same code for the page; tests feed both the same
answers. Code drills are marked by ``grader.py``, which runs in both worlds.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onlinesoftmax.drills.expression import evaluate

Outcome = dict[str, Any]
Payload = Mapping[str, Any]


def close(value: float, target: float | str, rel: float, abs_: float) -> bool:
    """Say whether a value hits its target; infinities and NaN hit themselves."""
    target = float(target)
    if math.isnan(target) or math.isinf(target) or not math.isfinite(value):
        return value == target or (math.isnan(value) and math.isnan(target))
    return abs(value - target) <= max(rel * abs(target), abs_)


def numeric(payload: Payload, answer: Any) -> Outcome:
    """Mark a number, or a formula at each sample of its variables."""
    try:
        read = [evaluate(str(answer), at) for at in payload["samples"]]
    except ValueError:
        return {"passed": False, "unreadable": True}

    def hits(targets: Sequence[float | str]) -> bool:
        pairs = zip(read, targets, strict=True)
        return all(close(a, b, payload["rel"], payload["abs"]) for a, b in pairs)

    if hits(payload["values"]):
        return {"passed": True, "read": read}
    wrong = (i for i, values in enumerate(payload["wrong"]) if hits(values))
    hint = next(wrong, None)
    comma = hint is None and bool(re.fullmatch(r"\s*\d{1,3},\d{3}\s*", str(answer)))
    return {"passed": False, "read": read, "hint": hint, "comma": comma}


def choice(payload: Payload, answer: Any) -> Outcome:
    """Mark a choice, given as its letter or as its place counted from 0."""
    picked = letter(answer)
    if picked is None or not 0 <= picked < payload["count"]:
        return {"passed": False, "unreadable": True}
    return {"passed": picked == payload["right"], "read": picked, "hint": picked}


def letter(answer: Any) -> int | None:
    """Return 0 for "a" or "A", 1 for "b" …; a number stays as it is."""
    if isinstance(answer, str):
        text = answer.strip().lower()
        return ord(text) - ord("a") if len(text) == 1 and "a" <= text <= "z" else None
    return int(answer)


def order(payload: Payload, answer: Any) -> Outcome:
    """Mark an order of the shown lines: letters ("cab"), or places from 0."""
    picked = [letter(part) for part in answer if part != " "]
    shown = payload["shown"]
    if sorted(p for p in picked if p is not None) != list(range(len(shown))):
        return {"passed": False, "unreadable": True}
    places = [shown[p] for p in picked]
    if places == sorted(places):
        return {"passed": True, "read": picked}
    first_fault = next(i for i, place in enumerate(places) if i != place)
    early = (
        index
        for index, (first, then) in enumerate(payload["wrong"])
        if places.index(first) < places.index(then)
    )
    hint = next(early, None)
    return {"passed": False, "read": picked, "place": first_fault, "hint": hint}


def recall(payload: Payload, answer: Any) -> Outcome:
    """Mark a formula by its values, own words by the points they mention."""
    if "points" not in payload:
        return numeric(payload, answer)
    points = [mentions(str(answer), phrases) for phrases in payload["points"]]
    wrong = [claims(str(answer), phrases) for phrases in payload["wrong"]]
    hint = wrong.index(True) if any(wrong) else None
    return {"passed": all(points) and hint is None, "points": points, "hint": hint}


def mentions(answer: str, phrases: Sequence[str]) -> bool:
    """Say whether a text holds one of these phrases; letters and digits count.

    A word of four letters or more may go on: "multipl" finds "multiplied".
    """
    return any(True for _ in _before(answer, phrases))


def claims(answer: str, phrases: Sequence[str]) -> bool:
    """Say whether a text holds a phrase without a denial among the four words before."""
    return any(DENIALS.isdisjoint(words[-4:]) for words in _before(answer, phrases))


DENIALS = {"no", "not", "t", "never", "without", "neither", "nor", "cannot",
           "nunca", "sin", "ni"}  # fmt: skip


def _before(answer: str, phrases: Sequence[str]) -> Iterator[list[str]]:
    """Yield, wherever a text holds one of the phrases, the words before it."""
    text = f" {_letters(answer)} "
    for phrase in map(_letters, phrases):
        wanted = f" {phrase}" if len(phrase) > 3 else f" {phrase} "
        for found in re.finditer(re.escape(wanted), text):
            yield text[: found.start()].split()


def _letters(text: str) -> str:
    """Lower case without accents, everything but letters and digits as one space."""
    split = unicodedata.normalize("NFD", text.lower())
    base = "".join(c for c in split if not unicodedata.combining(c))
    return re.sub(r"[^a-z0-9ℓα]+", " ", base).strip()


def trace(payload: Payload, answer: Any) -> Outcome:
    """Mark a table row by row, up to the first wrong cell."""
    read: list[list[float | None]] = []
    for i, expected in enumerate(payload["rows"]):
        read.append([None] * len(expected))
        for j, target in enumerate(expected):
            try:
                cell = evaluate(str(answer[i][j]))
            except (ValueError, IndexError, KeyError):
                unread = {"passed": False, "unreadable": True}
                return {**unread, "read": read, "place": [i, j]}
            read[i][j] = cell
            if not close(cell, target, payload["rel"], payload["abs"]):
                hint = _slip(payload, i, j, cell)
                return {"passed": False, "read": read, "place": [i, j], "hint": hint}
    return {"passed": True, "read": read}


def _slip(payload: Payload, i: int, j: int, cell: float) -> int | None:
    """Return the first misconception that gives this value in this cell."""
    slips = (
        hint
        for value, hint in payload["wrong"][i][j]
        if close(cell, value, payload["rel"], payload["abs"])
    )
    return next(slips, None)


GRADERS = {
    "numeric": numeric,
    "choice": choice,
    "order": order,
    "recall": recall,
    "trace": trace,
}
