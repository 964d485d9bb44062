"""Kernel drills: launches, what to expect of them, and what known mistakes do.

A drill's ``launch`` says how a case is launched, and its ``oracle`` asks the lib what
every output should hold. Both run here, at build time; the page receives numbers.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from onlinesoftmax.drills import code, grader, kernel_grader
from onlinesoftmax.drills.bank import Drill

Case = dict[str, Any]

TOLERANCE = 1e-6


class Out(NamedTuple):
    """An array that the kernel has to fill."""

    shape: tuple[int, ...]


class Ints(NamedTuple):
    """An array of whole numbers."""

    value: Any


def out(*shape: int) -> Out:
    """Return an argument for the kernel to fill, float32 of this shape."""
    return Out(shape)


def payload(drill: Drill) -> dict[str, Any]:
    """Return the kernel asked for and every case with what is expected of it."""
    cases = [_case(drill, case) for case in [*drill.get("cases"), *_random(drill)]]
    if "most" in drill.fields:
        scored = kernel_grader.scored(cases)
        scored["most"] = int(drill.get("most") * scored["ideal"])
    tolerance = float(drill.get("tolerance", TOLERANCE))
    for index, source in enumerate(code.mutants(drill)):
        _add_slip(drill, cases, index, source, tolerance)
    larger = drill.get("larger")
    return {
        "function": drill.get("function"),
        "tolerance": tolerance,
        "cases": cases,
        "larger": [_larger(drill, larger)] if larger else [],
    }


def _larger(drill: Drill, larger: Any) -> Case:
    """Return a case for the button only: nothing is counted or drawn from it."""
    case = _case(drill, {"name": "larger", **_inputs(drill, larger)})
    return {**case, "drawn": True}


def _random(drill: Drill) -> Iterator[Case]:
    if drill.get("random"):
        yield from _function(drill, "random", "examples")(random.Random(drill.id))


def _inputs(drill: Drill, larger: Any) -> Case:
    if isinstance(larger, str):
        return _function(drill, "larger", "larger")(random.Random(drill.id))
    return larger


def _case(drill: Drill, case: Case) -> Case:
    """Return a launch in JSON, with what the lib expects of it."""
    inputs = {name: value for name, value in case.items() if name != "name"}
    grid, block, arguments, *names = _function(drill, "launch", "launch")(**inputs)
    expected = _function(drill, "oracle", "oracle")(**inputs)
    outs = {name for name, value in arguments.items() if isinstance(value, Out)}
    if set(expected) != outs:
        raise drill.fault("oracle", f"expected {sorted(outs)}, got {sorted(expected)}")
    ideal = "ideal" in drill.fields and _function(drill, "ideal", "ideal")(**inputs)
    return {
        "name": case["name"],
        "drawn": case["name"] == "random",
        "grid": _pair(grid),
        "block": _pair(block),
        "names": names[0] if names else {},
        "args": [[name, *_argument(value)] for name, value in arguments.items()],
        "expected": {
            name: grader.pack(np.asarray(value, float).tolist())
            for name, value in expected.items()
        },
        "ideal": int(ideal) if "ideal" in drill.fields else None,
        "slips": [],
    }


def _pair(extent: Any) -> list[int]:
    x, y = extent if isinstance(extent, (tuple, list)) else (extent, 1)
    return [int(x), int(y)]


def _argument(value: Any) -> tuple[str, Any]:
    """Return an argument's kind and its value in JSON."""
    if isinstance(value, Out):
        return "out", list(value.shape)
    if isinstance(value, Ints):
        return "ints", np.asarray(value.value, int).tolist()
    if isinstance(value, (list, tuple, np.ndarray)):
        return "floats", grader.pack(np.asarray(value, float).tolist())
    return "number", grader.pack(value.item() if hasattr(value, "item") else value)


def _add_slip(
    drill: Drill, cases: list[Case], index: int, source: str, tolerance: float
) -> None:
    """Note in the first case that kills this mutant how it fails there."""
    make = kernel_grader.maker(source, drill.get("function"))
    for case in cases:
        _, fault = kernel_grader.follow(make, case, tolerance, lambda: None)
        if fault:
            sign = grader.pack(kernel_grader.signature(fault))
            case["slips"].append({"mutant": index, "sign": sign})
            return


def _function(drill: Drill, field: str, name: str) -> Callable[..., Any]:
    """Return a function written in one of the drill's fields."""
    space: dict[str, Any] = {"np": np, "math": math, "out": out, "ints": Ints}
    try:
        exec(compile(drill.get(field), f"{drill.file}, {field}", "exec"), space)
        return space[name]
    except (SyntaxError, KeyError, TypeError) as error:
        raise drill.fault(field, f"expected a function {name}: {error}") from None


# ---- in a notebook


def mark(data: dict[str, Any], kernel: Any, on: str) -> dict[str, Any]:
    """Mark a kernel that is a Python object; its cases travel through JSON too.

    Parameters
    ----------
    data : dict
        The drill's payload.
    kernel : function, or anyone's ``cuda.jit`` of one
    on : {"simulator", "device"}
        The book's simulator, or after it wherever the kernel itself is launched: a
        GPU, or Numba's simulator.
    """
    from onlinesoftmax.blocksim.functions import program
    from onlinesoftmax.blocksim.kernel import Kernel

    cases = json.loads(json.dumps(data["cases"], allow_nan=False))
    made = program(kernel)

    def make(names: dict[str, Any]) -> Kernel:
        made.names.update(names)
        return Kernel(made)

    outcome = kernel_grader.grade(make, cases, data["tolerance"], lambda case: None)
    # First here, where threads that wait for ever do not: a GPU would hang.
    if on == "device" and outcome["passed"]:
        return _on_device(kernel, cases) or outcome
    return outcome


DEVICE_TOLERANCE = 1e-4  # float32, in whatever order the device adds


def _on_device(kernel: Any, cases: list[Case]) -> dict[str, Any] | None:
    """Return what is wrong where the kernel itself is launched, if anything."""
    from onlinesoftmax.gpu import cudasim

    cudasim.mend()
    for index, case in enumerate(cases):
        arguments = [_array(kind, value) for _, kind, value in case["args"]]
        kernel[tuple(case["grid"]), tuple(case["block"])](*arguments)
        for (name, kind, _), value in zip(case["args"], arguments):
            if kind == "out":
                fault = kernel_grader.compare(
                    name, value.tolist(), case["expected"][name], DEVICE_TOLERANCE
                )
                if fault:
                    return grader.fail(index, [], fault)
    return None


def _array(kind: str, value: Any) -> Any:
    """Return an argument as a device takes it: arrays and numbers of 32 bits."""
    if kind == "number":
        value = grader.unpack(value)
        return np.float32(value) if isinstance(value, float) else value
    if kind == "out":
        return np.full(value, np.nan, np.float32)
    return np.array(grader.unpack(value), np.int32 if kind == "ints" else np.float32)
