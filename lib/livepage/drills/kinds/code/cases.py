"""Code drills: their cases, the expected results, and the signs of known mistakes.

A drill's ``oracle`` computes every step of every case with the lib. The ``mutants`` run
here, in the grader that also marks readers. So the page receives numbers and no
mathematics.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from livepage.drills.entry import Drill
from livepage.drills.faults import ANSWER
from livepage.drills.kinds.code import grader
from livepage.drills.values import pack, unpack

Case = dict[str, Any]

TOLERANCE = 1e-9


def payload(drill: Drill) -> dict[str, Any]:
    """Return the function's name, the drive, and every case with its expected rows."""
    cases = [_case(drill, case) for case in [*_named(drill), *drawn(drill, function)]]
    tolerance = float(drill.get("tolerance", TOLERANCE))
    return {
        "function": drill.get("function"),
        "drive": drill.get("drive", DRIVE),
        "tolerance": tolerance,
        "cases": cases,
        "slips": slips(drill, cases, tolerance, _signs),
    }


def slips(
    drill: Drill, cases: list[Case], tolerance: float, signs: Callable[..., str]
) -> list[str]:
    """Return the signs of each mutant.

    A page must not refuse a right answer or praise a wrong one: it is an error if the
    drill's own answer fails in a case, or if a mutant passes them all.
    """
    if signs(drill, cases, drill.get("code"), tolerance).strip(";"):
        raise drill.fault("code", "it does not compute what `oracle` expects")
    found = [signs(drill, cases, source, tolerance) for source in mutants(drill)]
    for mutant, its in zip(drill.get("mutants"), found):
        if not its.strip(";"):
            raise drill.fault("mutants", f"{mutant['name']!r} passes every case")
    return found


# The default: one call of the function per case.
DRIVE = """
def drive(function, **args):
    yield function(**args)
"""


def names(drill: Drill) -> list[str]:
    """Return the names of a drill's cases."""
    return [case["name"] for case in _named(drill)] if drill.get("cases") else []


def _named(drill: Drill) -> list[Case]:
    """Return the named cases, listed or returned by the drill's `cases()`."""
    cases = drill.get("cases")
    if isinstance(cases, str):
        cases = function(drill, "cases", "cases")()
    if not isinstance(cases, list) or not all("name" in case for case in cases):
        raise drill.fault("cases", "expected a list of {name: …, …}, or its source")
    return cases


def drawn(drill: Drill, read: Callable[..., Any]) -> Iterator[Case]:
    """Yield the cases of the drill's `examples(rng)`, the same in each build."""
    if drill.get("random"):
        yield from read(drill, "random", "examples")(random.Random(drill.id))


def _case(drill: Drill, case: Case) -> Case:
    """Add the expected results: the columns to show and the columns to compare."""
    args = {name: _plain(value) for name, value in case.items() if name != "name"}
    rows = function(drill, "oracle", "oracle")(**args)
    compared = drill.get("compared")
    try:
        given = [[c, [_plain(row[c]) for row in rows]] for c in drill.get("given", [])]
        expected = [[_plain(row[c]) for c in compared] for row in rows]
    except KeyError as error:
        raise drill.fault("oracle", f"its rows have no {error}") from None
    return {
        "name": case["name"],
        "drawn": case["name"] == "random",
        "args": {name: pack(value) for name, value in args.items()},
        "given": pack(given),
        "compared": compared,
        "expected": pack(expected),
    }


def _plain(value: Any) -> Any:
    """Convert arrays to lists and numbers to floats, except integers."""
    return value if isinstance(value, (int, str)) else np.asarray(value).tolist()


def mutants(drill: Drill) -> list[str]:
    """Return the source of every mutant, with its changes applied to the answer."""
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
    """Return a mutant's signs in all cases, joined by ";"."""
    play = grader.player(drill.get("drive", DRIVE), answer(drill, source), cases)
    signs = []
    for index, case in enumerate(cases):
        played = play(index)
        rows, fault = grader.judge(played, case, tolerance)
        signs.append(grader.sign(unpack(played["rows"]), rows, fault))
    return ";".join(signs)


def answer(drill: Drill, source: str) -> Callable[..., Any]:
    """Return the function that an answer defines. `exp` and `inf` are predefined."""
    space: dict[str, Any] = {}
    exec("from math import exp, inf", space)
    exec(compile(source, ANSWER, "exec"), space)
    if not callable(space.get(drill.get("function"))):
        raise drill.fault("function", f"{drill.get('function')!r} is not in {source!r}")
    return space[drill.get("function")]


def function(drill: Drill, field: str, name: str, **names: Any) -> Callable[..., Any]:
    """Return the function defined by a field of the drill, which may use the names."""
    try:
        exec(compile(drill.get(field), f"{drill.file}, {field}", "exec"), names)
        return names[name]
    except (SyntaxError, KeyError, TypeError) as error:
        raise drill.fault(field, f"expected a function {name}: {error}") from None
