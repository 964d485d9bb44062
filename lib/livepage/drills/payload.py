"""What a drill hands to its graders: numbers instead of expressions, in JSON.

``payload(drill)`` is the one form that ``grade.py`` and the page's ``grade.mjs`` read.
Expressions are computed here, traces come from the lib, code drills bring the expected
steps with them, so that no grader holds mathematics of its own. JSON knows no infinity:
such numbers travel as text.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from functools import cache
from typing import Any

from livepage.drills import code, exactness, kernels
from livepage.drills.bank import Drill, in_language
from livepage.drills.exactness import Rule
from livepage.drills.expression import evaluate, nouns

TABLE = Rule("decimals", 2)  # how exact each cell of a trace has to be

# Units that a reader may add: bytes and operations are converted, others only name what
# is counted. A lower-case name stands for any spelling; b may be bits, so B is B.
BYTES = {"bytes": 1, "byte": 1, "B": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30,
         "tib": 2**40}  # fmt: skip
SIZES = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15}
FLOPS = {
    prefix + name: size for name in ("flop", "flops") for prefix, size in SIZES.items()
}


@cache
def payload(drill: Drill) -> dict[str, Any]:
    """Return what the graders need to know about a drill; texts are not in it.

    Of a code drill every mutant is run for it, which takes seconds. So a drill's payload
    is made once, and everybody is given the same: nobody may change it.
    """
    return {"kind": drill.kind, **BUILDERS[drill.kind](drill)}


def number(value: float) -> float | str:
    """Return a float for JSON: −∞, ∞ and NaN as text."""
    return float(value) if math.isfinite(value) else str(float(value))


def compute(
    drill: Drill, field: str, text: Any, names: Mapping[str, float] | None = None
) -> float | str:
    """Return the value of one of a drill's expressions, ready for JSON."""
    try:
        return number(evaluate(str(text), names))
    except ValueError as error:
        raise drill.fault(field, str(error)) from None


def how_exact(drill: Drill) -> Rule | None:
    """Return how exact a drill's answer has to be, if it is a number."""
    if drill.kind == "trace":
        return TABLE
    if drill.kind != "numeric":
        return None
    answer = drill.get("answer")
    if not isinstance(answer, dict) or not {"value", "to"} <= set(answer):
        raise drill.fault("answer", f"expected {{value: …, to: …}}, got {answer!r}")
    try:
        return exactness.rule(answer["to"], answer.get("side", ""))
    except ValueError as error:
        raise drill.fault("answer", str(error)) from None


def _numeric(drill: Drill) -> dict[str, Any]:
    """Return what counts as right or close, the misconceptions, and known units."""
    rule = how_exact(drill)
    value = float(compute(drill, "answer", drill.get("answer")["value"]))
    listed = [entry["value"] for entry in drill.get("wrong", [])]
    return {
        "names": _units(drill.get("unit", "")),
        "nouns": _nouns(drill),
        "goal": exactness.goal(value, rule),
        "wrong": [compute(drill, "wrong", value) for value in listed],
    }


def _nouns(drill: Drill) -> list[str]:
    """Return the words of the prompt that may follow a number, unless it is a size."""
    sizes = {name.lower() for name in (*BYTES, *FLOPS)}
    if sizes & set(drill.get("unit", "").lower().split()):
        return []
    return [n for n in nouns(in_language(drill.get("prompt"))) if n not in sizes]


def _units(unit: str) -> dict[str, float]:
    """Return the names of units that may follow a number, as factors."""
    found = {}
    for name in unit.split():
        own = name.lower()
        known = next((table for table in (BYTES, FLOPS) if own in table), {own: 1})
        found |= {other: size / known[own] for other, size in known.items()}
    return found


def _choice(drill: Drill) -> dict[str, Any]:
    correct = [bool(choice.get("correct")) for choice in drill.get("choices")]
    if sum(correct) != 1:
        raise drill.fault("choices", f"expected one correct choice, got {sum(correct)}")
    return {"count": len(correct), "right": correct.index(True)}


def _order(drill: Drill) -> dict[str, Any]:
    """Lines as shown, what each needs before it, and further right orders.

    ``shown[k]`` is the right place of the k-th line on the page.
    """
    count = len(drill.get("lines"))
    needs = _needs(drill, count)
    wrong = [[pair["first"] - 1, pair["then"] - 1] for pair in drill.get("wrong", [])]
    for first, then in wrong:
        if then not in _before(needs, first):
            pair = {"first": first + 1, "then": then + 1}
            raise drill.fault("wrong", f"'first' has no need of 'then': {pair}")
    shown = list(range(count))
    random.Random(drill.id).shuffle(shown)  # the same on page, notebook and paper
    if all(shown.index(n) < shown.index(k) for k in shown for n in needs[k]):
        shown.reverse()
    also = [[line - 1 for line in order] for order in drill.get("also", [])]
    if any(sorted(order) != sorted(shown) for order in also):
        raise drill.fault("also", f"expected orders of {count} lines")
    return {"shown": shown, "needs": needs, "wrong": wrong, "also": also}


def _needs(drill: Drill, count: int) -> list[list[int]]:
    """Return the lines each line needs; if the file says nothing, the one before it."""
    given = drill.get("needs", {})
    needs = [[k - 1] if k else [] for k in range(count)]
    for line, earlier in given.items():
        if not all(0 < n < line <= count for n in earlier):
            raise drill.fault("needs", f"line {line} cannot need {earlier}")
        needs[line - 1] = [n - 1 for n in earlier]
    return needs


def _before(needs: list[list[int]], line: int) -> set[int]:
    """Return every line that has to stand before a line."""
    return {m for n in needs[line] for m in (n, *_before(needs, n))}


def _recall(drill: Drill) -> dict[str, Any]:
    """Return how many points there are to tick, or a formula at its samples."""
    if ("answer" in drill.fields) == ("points" in drill.fields):
        raise drill.fault("answer", "a recall drill has either 'answer' or 'points'")
    if "points" in drill.fields:
        return {"points": len(drill.get("points"))}
    answer = drill.get("answer")
    samples = answer["where"]

    def at_samples(field: str, text: str) -> list[float]:
        values = [compute(drill, field, text, at) for at in samples]
        if not all(isinstance(value, float) for value in values):
            raise drill.fault(field, f"{text!r} is not finite at every sample")
        return values

    listed = [entry["value"] for entry in drill.get("wrong", [])]
    return {
        "samples": samples,
        "values": at_samples("answer", answer["value"]),
        "wrong": [at_samples("wrong", text) for text in listed],
    }


def _trace(drill: Drill) -> dict[str, Any]:
    """One row per block: what is given, what is asked, what each slip would give."""
    scores = [float(score) for score in drill.get("scores")]
    columns = drill.get("columns")
    rows, wrong = [], []
    oracle = code.function(drill, "oracle", "oracle")
    inputs = {"values": drill.get("values")} if drill.get("values") else {}
    for step in oracle(scores, drill.get("block"), **inputs):
        rows.append([number(step[column]) for column in columns])
        slips = [[] for _ in columns]
        for index, slip in enumerate(drill.get("wrong", [])):
            if slip["cell"] not in columns:
                raise drill.fault("wrong", f"no column is called {slip['cell']!r}")
            if len(rows) in slip.get("rows", [len(rows)]):
                value = compute(drill, "wrong", slip["value"], step)
                slips[columns.index(slip["cell"])].append([value, index])
        wrong.append(slips)
    blocks = [
        scores[i : i + drill.get("block")]
        for i in range(0, len(scores), drill.get("block"))
    ]
    return {
        "columns": columns,
        "blocks": [[number(score) for score in block] for block in blocks],
        "rows": rows,
        "goals": [[exactness.goal(float(v), TABLE) for v in row] for row in rows],
        "wrong": wrong,
    }


BUILDERS = {
    "numeric": _numeric,
    "choice": _choice,
    "order": _order,
    "recall": _recall,
    "trace": _trace,
    "code": code.payload,
    "kernel": kernels.payload,
}
