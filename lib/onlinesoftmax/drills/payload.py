"""What a drill hands to its graders: numbers instead of expressions, in JSON.

``payload(drill)`` is the one form that ``grade.py`` and the page's ``grade.js`` read.
Expressions are computed here, traces come from the lib, code drills bring the expected
steps with them, so that no grader holds mathematics of its own. JSON knows no infinity:
such numbers travel as text.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

from onlinesoftmax.drills import code, kernels
from onlinesoftmax.drills.bank import Drill
from onlinesoftmax.drills.expression import evaluate

REL, ABS = 5.0e-3, 5.0e-4  # three digits, as a reader with a pocket calculator has them


def payload(drill: Drill) -> dict[str, Any]:
    """Return what the graders need to know about a drill; texts are not in it."""
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


def _numeric(drill: Drill) -> dict[str, Any]:
    """Answer and misconceptions at each sample of the variables (one, if none)."""
    answer = drill.get("answer")
    if not isinstance(answer, dict) or "value" not in answer:
        raise drill.fault("answer", f"expected {{value: …, rel: …}}, got {answer!r}")
    samples = answer.get("where", [{}])
    return {
        "samples": samples,
        "values": [compute(drill, "answer", answer["value"], at) for at in samples],
        "rel": float(answer.get("rel", REL)),
        "abs": float(answer.get("abs", ABS)),
        "wrong": [
            [compute(drill, "wrong", entry["value"], at) for at in samples]
            for entry in drill.get("wrong", [])
        ],
    }


def _choice(drill: Drill) -> dict[str, Any]:
    correct = [bool(choice.get("correct")) for choice in drill.get("choices")]
    if sum(correct) != 1:
        raise drill.fault("choices", f"expected one correct choice, got {sum(correct)}")
    return {"count": len(correct), "right": correct.index(True)}


def _order(drill: Drill) -> dict[str, Any]:
    """Lines as shown: ``shown[k]`` is the right place of the k-th line on the page."""
    count = len(drill.get("lines"))
    shown = list(range(count))
    random.Random(drill.id).shuffle(shown)  # the same on page, notebook and paper
    if shown == sorted(shown):
        shown.reverse()
    wrong = [[pair["first"] - 1, pair["then"] - 1] for pair in drill.get("wrong", [])]
    for pair in wrong:
        if not count > pair[0] > pair[1] >= 0:
            raise drill.fault("wrong", f"'first' has to belong after 'then': {pair}")
    return {"shown": shown, "wrong": wrong}


def _recall(drill: Drill) -> dict[str, Any]:
    if ("answer" in drill.fields) == ("points" in drill.fields):
        raise drill.fault("answer", "a recall drill has either 'answer' or 'points'")
    if "answer" in drill.fields:
        return _numeric(drill)
    if "sample" not in drill.fields:
        raise drill.fault("sample", "missing; own words need a sample that passes")
    return {
        "points": [[str(w) for w in point["words"]] for point in drill.get("points")],
        "wrong": [[str(w) for w in entry["words"]] for entry in drill.get("wrong", [])],
    }


def _trace(drill: Drill) -> dict[str, Any]:
    """One row per block: what is given, what is asked, what each slip would give."""
    scores = [float(score) for score in drill.get("scores")]
    columns = drill.get("columns")
    rows, wrong = [], []
    for step in code.steps(scores, drill.get("block"), drill.get("values")):
        rows.append([number(step[column]) for column in columns])
        slips = [[] for _ in columns]
        for index, slip in enumerate(drill.get("wrong", [])):
            if slip["cell"] not in columns:
                raise drill.fault("wrong", f"no column is called {slip['cell']!r}")
            value = compute(drill, "wrong", slip["value"], step)
            slips[columns.index(slip["cell"])].append([value, index])
        wrong.append(slips)
    blocks = [scores[i : i + drill.get("block")] for i in
              range(0, len(scores), drill.get("block"))]
    return {
        "columns": columns,
        "blocks": [[number(score) for score in block] for block in blocks],
        "rows": rows,
        "wrong": wrong,
        "rel": REL,
        "abs": ABS,
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
