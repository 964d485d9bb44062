"""Kernel drills: their launches, the expected results, and the signs of known mistakes.

A drill's ``launch`` returns the launch of a case, and its ``oracle`` computes the
expected outputs with the lib. ``ideal`` returns the bytes of global memory that suffice;
``most`` times as many are allowed. ``share`` limits how many numbers of an array one
thread may read, or write in case of an output: {"scores": 3}. ``shared`` limits the
bytes of shared memory of a block. All of these run at build time; the page receives
numbers.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from livepage.drills.entry import Drill
from livepage.drills.kinds.code import cases as code
from livepage.drills.kinds.kernel import grader
from livepage.drills.values import pack

Case = dict[str, Any]

TOLERANCE = 1e-6


class Out(NamedTuple):
    """An array that the kernel has to fill."""

    shape: tuple[int, ...]


class Ints(NamedTuple):
    """An int32 array."""

    value: Any


def out(*shape: int) -> Out:
    """Return a float32 array of this shape for the kernel to fill."""
    return Out(shape)


def payload(drill: Drill) -> dict[str, Any]:
    """Return the kernel's name and every case with its expected results."""
    drawn = code.drawn(drill, _function)
    cases = [_case(drill, case) for case in [*drill.get("cases"), *drawn]]
    if "most" in drill.fields:
        scored = grader.scored_case(cases)
        scored["most"] = int(drill.get("most") * scored["ideal"])
    if "counts" in drill.fields:
        grader.scored_case(cases)["counted"] = _counted(drill, cases)
    if drill.get("together"):
        most = drill.get("together")
        cases = [{**case, "together": not case["drawn"] and most} for case in cases]
    tolerance = float(drill.get("tolerance", TOLERANCE))
    larger = drill.get("larger")
    bench = {"bench": drill.get("bench")} if "bench" in drill.fields else {}
    return {
        **bench,
        "function": drill.get("function"),
        "tolerance": tolerance,
        "cases": cases,
        "larger": [_larger(drill, larger)] if larger else [],
        "slips": code.slips(drill, cases, tolerance, _signs),
    }


def _counted(drill: Drill, cases: list[Case]) -> dict[str, Any]:
    """Return the instructions per number of each kernel form counted beforehand."""
    case, forms = grader.scored_case(cases), {}
    for text, count in _function(drill, "counts", "counts")().items():
        make, fault = grader.defined(text, drill.get("function"))
        if fault:
            raise drill.fault("counts", f"{fault['value']!r}, of\n{text}")
        loops = grader.play(make, case, "log", lambda: None)["loops"]
        forms[loops["form"]] = round(count, 1)
    return {"sizes": drill.get("sizes"), "forms": forms}


def _larger(drill: Drill, larger: Any) -> Case:
    """Return the case of the button "larger launch", which is not part of marking."""
    case = _case(drill, {"name": "larger", **inputs(drill, larger)})
    return {**case, "drawn": True}


def inputs(drill: Drill, larger: Any) -> Case:
    if isinstance(larger, str):
        return _function(drill, "larger", "larger")(random.Random(drill.id))
    return larger


def _case(drill: Drill, case: Case) -> Case:
    """Return a launch as JSON, with its expected results."""
    inputs = {name: value for name, value in case.items() if name != "name"}
    grid, block, arguments, *names = _function(drill, "launch", "launch")(**inputs)
    expected = _function(drill, "oracle", "oracle")(**inputs)
    outs = {name for name, value in arguments.items() if isinstance(value, Out)}
    if set(expected) != outs:
        raise drill.fault("oracle", f"expected {sorted(outs)}, got {sorted(expected)}")
    ideal = "ideal" in drill.fields and _function(drill, "ideal", "ideal")(**inputs)
    share = "share" in drill.fields and _function(drill, "share", "share")(**inputs)
    if share and not set(share) <= set(arguments):
        raise drill.fault("share", f"expected some of {[*arguments]}, got {[*share]}")
    return {
        "name": case["name"],
        "drawn": case["name"] == "random",
        "grid": _pair(grid),
        "block": _pair(block),
        "names": names[0] if names else {},
        "args": [[name, *_argument(value)] for name, value in arguments.items()],
        "expected": {
            name: pack(np.asarray(value, float).tolist())
            for name, value in expected.items()
        },
        "ideal": int(ideal) if "ideal" in drill.fields else None,
        "share": share or None,
        "shared": drill.get("shared"),
        "single": drill.get("single"),
        "lean": drill.get("lean"),
    }


def _pair(extent: Any) -> list[int]:
    x, y = extent if isinstance(extent, (tuple, list)) else (extent, 1)
    return [int(x), int(y)]


def _argument(value: Any) -> tuple[str, Any]:
    """Return an argument's kind and its value for JSON."""
    if isinstance(value, Out):
        return "out", list(value.shape)
    if isinstance(value, Ints):
        return "ints", np.asarray(value.value, int).tolist()
    if isinstance(value, (list, tuple, np.ndarray)):
        return "floats", pack(np.asarray(value, float).tolist())
    return "number", pack(value.item() if hasattr(value, "item") else value)


def _signs(drill: Drill, cases: list[Case], source: str, tolerance: float) -> str:
    """Return a mutant's signs in all cases, joined by ";"."""
    make, fault = grader.defined(source, drill.get("function"))
    if fault:
        raise drill.fault("mutants", f"{fault['value']!r}, of\n{source}")
    play = grader.player(make, cases)
    signs = []
    for index, case in enumerate(cases):
        played = play(index, "")
        fault = grader.judge(played, case, tolerance)
        signs.append(grader.sign(played, fault))
    return ";".join(signs)


def _function(drill: Drill, field: str, name: str) -> Callable[..., Any]:
    """Return the function defined by a field of the drill."""
    return code.function(drill, field, name, np=np, math=math, out=out, ints=Ints)
