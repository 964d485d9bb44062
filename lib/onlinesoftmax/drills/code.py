"""Code drills: cases, what to expect of them, and what known mistakes give instead.

A drill's ``oracle`` asks the lib for every step of every case; its ``mutants`` are run
here, in the same grader the reader meets. So the page receives numbers and never the
mathematics.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from onlinesoftmax import streaming
from onlinesoftmax.drills import grader
from onlinesoftmax.drills.bank import Drill

Case = dict[str, Any]

TOLERANCE = 1e-9
INF = float("inf")

# Tiny inputs first: a failure should fit into the head of the reader who meets it.
LADDER: list[Case] = [
    {"name": {"en": name, "es": es}, "scores": scores, "block": block}
    for name, es, scores, block in [
        ("one score", "un solo número", [-3.0], 1),
        ("a tie", "un empate", [1.0, 1.0], 1),
        ("a tie in one block", "un empate en un bloque", [2.0, 2.0, 1.0], 3),
        ("ascending", "creciente", [1.0, 2.0, 3.0], 1),
        ("descending", "decreciente", [3.0, 2.0, 1.0], 1),
        ("blocks of two", "bloques de dos", [1.0, 0.0, 3.0, 2.0], 2),
        ("ragged tail", "último bloque corto", [0.5, -1.0, 2.0, 0.0, 1.0], 2),
        ("huge jump", "salto enorme", [0.0, 800.0, 1.0], 1),
        ("far below zero", "muy por debajo de cero", [-800.0, -801.0, -802.0], 2),
        ("first block switched off", "primer bloque apagado", [-INF, -INF, 1, 0], 2),
        (
            "switched off in the middle",
            "apagado en medio",
            [1, 0, -INF, -INF, -INF, 2],
            2,
        ),
        ("everything switched off", "todo apagado", [-INF, -INF, -INF], 2),
        ("low after nothing", "bajo después de nada", [-INF, -120.0, -121.0], 1),
    ]
]


def steps(
    scores: list[float], block: int, values: list[float] | None = None
) -> list[dict[str, float]]:
    """Return the lib's trace of a row: per block m, alpha, l, o and what made them.

    Without values there is no o, o_old or moment (what the block adds to o).
    """
    rows, o_old = [], 0.0
    for step in streaming.trace(scores, block, values):
        row = {
            "m_old": step.m_old,
            "l_old": step.l_old,
            "m": step.m,
            "alpha": step.alpha,
            "added": step.added,
            "l": step.l,
            "block_max": max(scores[step.start : step.stop]),
        }
        if values is not None:
            moment = step.o - step.alpha * o_old
            row |= {"o_old": o_old, "moment": moment, "o": step.o}
            o_old = step.o
        rows.append({name: float(value) for name, value in row.items()})
    return rows


def payload(drill: Drill) -> dict[str, Any]:
    """Return the function asked for, how to drive it, and every case with its rows."""
    cases = [_case(drill, case) for case in [*_ladder(drill), *_random(drill)]]
    tolerance = float(drill.get("tolerance", TOLERANCE))
    return {
        "function": drill.get("function"),
        "drive": drill.get("drive", DRIVE),
        "given": drill.get("given", []),
        "compared": drill.get("compared"),
        "tolerance": tolerance,
        "cases": cases,
        "slips": [_signs(drill, cases, m, tolerance) for m in mutants(drill)],
    }


# Without a `drive` of its own a drill has its function called once per case.
DRIVE = """
def drive(function, **args):
    yield function(**args)
"""


def _ladder(drill: Drill) -> list[Case]:
    cases = drill.get("cases")
    if cases == "ladder":
        return LADDER
    if not isinstance(cases, list) or not all("name" in case for case in cases):
        raise drill.fault("cases", "expected 'ladder' or a list of {name: …, …}")
    return cases


def _random(drill: Drill) -> Iterator[Case]:
    """Yield seeded cases: so many rows of scores, or the drill's own examples(rng)."""
    rng, wanted = random.Random(drill.id), drill.get("random", 0)
    if isinstance(wanted, str):
        yield from _function(drill, "random", "examples")(rng)
        return
    for _ in range(wanted):
        size, spread = rng.randint(3, 9), rng.choice([0.5, 3.0, 30.0])
        scores = [round(rng.gauss(0, spread), 2) for _ in range(size)]
        yield {"name": "random", "scores": scores, "block": rng.randint(1, 4)}


def _case(drill: Drill, case: Case) -> Case:
    """Add what the lib gives: the columns shown, and the columns asked for."""
    args = {name: _plain(value) for name, value in case.items() if name != "name"}
    rows = _function(drill, "oracle", "oracle")(**args)
    try:
        given = [[_plain(row[c]) for c in drill.get("given", [])] for row in rows]
        expected = [[_plain(row[c]) for c in drill.get("compared")] for row in rows]
    except KeyError as error:
        raise drill.fault("oracle", f"its rows have no {error}") from None
    return {
        "name": case["name"],
        "args": {name: grader.pack(value) for name, value in args.items()},
        "given": grader.pack(given),
        "expected": grader.pack(expected),
    }


def _plain(value: Any) -> Any:
    """Return numbers and arrays as floats and lists; what is an int stays one."""
    return value if isinstance(value, (int, str)) else np.asarray(value).tolist()


def mutants(drill: Drill) -> list[str]:
    """Return the source of every mutant: in full, or as a change of the answer."""
    return [_mutant(drill, mutant) for mutant in drill.get("mutants")]


def _mutant(drill: Drill, mutant: dict[str, Any]) -> str:
    if "code" in mutant:
        return mutant["code"]
    source = drill.get("code")
    for old, new in mutant["change"].items():
        if old not in source:
            name = mutant["name"]
            raise drill.fault("mutants", f"{name!r} changes {old!r}: not there")
        source = source.replace(old, new)
    return source


def _signs(drill: Drill, cases: list[Case], source: str, tolerance: float) -> str:
    """Return how a mutant fails in each case, as the grader compares it."""
    play = player(drill.get("drive", DRIVE), answer(drill, source), cases)
    signs = []
    for index, case in enumerate(cases):
        played = play(index)
        rows, fault = grader.judge(played, case, tolerance)
        signs.append(grader.sign(grader.unpack(played["rows"]), rows, fault))
    return ";".join(signs)


def player(
    drive: str, function: Callable[..., Any], cases: list[Case]
) -> Callable[[int], dict[str, Any]]:
    """Return what plays a function in a case, whose rows travel as on the page."""
    driven = grader.load(drive, "drive")

    def play(index: int) -> dict[str, Any]:
        args, most = cases[index]["args"], len(cases[index]["expected"])
        return grader.play(function, driven, args, most, lambda: None)

    return play


def answer(drill: Drill, source: str) -> Callable[..., Any]:
    """Return the function an answer defines, with math's names at hand."""
    space: dict[str, Any] = {}
    exec("from math import exp, inf", space)
    exec(compile(source, grader.ANSWER, "exec"), space)
    if not callable(space.get(drill.get("function"))):
        raise drill.fault("function", f"{drill.get('function')!r} is not in {source!r}")
    return space[drill.get("function")]


def _function(drill: Drill, field: str, name: str) -> Callable[..., Any]:
    """Return a function written in one of the drill's fields."""
    try:
        return grader.load(drill.get(field), name)
    except (SyntaxError, KeyError) as error:
        raise drill.fault(field, f"expected a function {name}: {error}") from None
