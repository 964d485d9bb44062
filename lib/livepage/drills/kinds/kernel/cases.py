"""Kernel drills: launches, what to expect of them, and what known mistakes do.

A drill's ``launch`` says how a case is launched, and its ``oracle`` asks the lib what
every output should hold. ``ideal`` returns the bytes that would do, of which ``most``
times as many are allowed, and ``share`` how many numbers of an array one thread may
read, or write of an output: {"scores": 3}. ``shared`` is how many bytes of shared
memory a block may take. All of them run here, at build time; the page receives numbers.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from blocksim import webgpu
from blocksim.wgsl import Untranslatable
from livepage.drills import grader, kernel_grader
from livepage.drills.entry import Drill
from livepage.drills.kinds.code import cases as code

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
    drawn = code.drawn(drill, _function)
    cases = [_case(drill, case) for case in [*drill.get("cases"), *drawn]]
    if "most" in drill.fields:
        scored = kernel_grader.scored_case(cases)
        scored["most"] = int(drill.get("most") * scored["ideal"])
    if "counts" in drill.fields:
        kernel_grader.scored_case(cases)["counted"] = _counted(drill, cases)
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
        "slips": [_signs(drill, cases, m, tolerance) for m in code.mutants(drill)],
    }


def _counted(drill: Drill, cases: list[Case]) -> dict[str, Any]:
    """Return how many instructions each form takes that was counted beforehand."""
    case, forms = kernel_grader.scored_case(cases), {}
    for text, count in _function(drill, "counts", "counts")().items():
        make, fault = kernel_grader.defined(text, drill.get("function"))
        if fault:
            raise drill.fault("counts", f"{fault['value']!r}, of\n{text}")
        loops = kernel_grader.play(make, case, "log", lambda: None)["loops"]
        forms[loops["form"]] = round(count, 1)
    return {"sizes": drill.get("sizes"), "forms": forms}


def _larger(drill: Drill, larger: Any) -> Case:
    """Return a case for the button only: nothing is counted or drawn from it."""
    case = _case(drill, {"name": "larger", **inputs(drill, larger)})
    return {**case, "drawn": True}


def inputs(drill: Drill, larger: Any) -> Case:
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
            name: grader.pack(np.asarray(value, float).tolist())
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
    """Return an argument's kind and its value in JSON."""
    if isinstance(value, Out):
        return "out", list(value.shape)
    if isinstance(value, Ints):
        return "ints", np.asarray(value.value, int).tolist()
    if isinstance(value, (list, tuple, np.ndarray)):
        return "floats", grader.pack(np.asarray(value, float).tolist())
    return "number", grader.pack(value.item() if hasattr(value, "item") else value)


def _signs(drill: Drill, cases: list[Case], source: str, tolerance: float) -> str:
    """Return how a mutant fails in each case, as the grader compares it."""
    make, fault = kernel_grader.defined(source, drill.get("function"))
    if fault:
        raise drill.fault("mutants", f"{fault['value']!r}, of\n{source}")
    play = player(make, cases)
    signs = []
    for index, case in enumerate(cases):
        played = play(index, "")
        fault = kernel_grader.judge(played, case, tolerance)
        signs.append(kernel_grader.sign(played, fault))
    return ";".join(signs)


def player(
    make: Callable[[dict[str, Any]], Any], cases: list[Case]
) -> Callable[[int, str], dict[str, Any]]:
    """Return what launches a kernel in a case."""

    def play(index: int, how: str) -> dict[str, Any]:
        return kernel_grader.play(make, cases[index], how, lambda: None)

    return play


def _function(drill: Drill, field: str, name: str) -> Callable[..., Any]:
    """Return a function written in one of the drill's fields."""
    return code.function(drill, field, name, np=np, math=math, out=out, ints=Ints)


# ---- in a notebook


def maker(kernel: Any) -> Callable[[dict[str, Any]], Any]:
    """Return what makes the kernel of a case from a function, decorated or not."""
    from blocksim.functions import program
    from blocksim.kernel import Kernel

    made = program(kernel)

    def make(names: dict[str, Any]) -> Kernel:
        made.names = dict(names)
        return Kernel(made)

    return make


DEVICE_TOLERANCE = 1e-4  # float32, in whatever order the device adds


def on_device(kernel: Any, cases: list[Case]) -> tuple[dict[str, Any] | None, str]:
    """Return the fault of a kernel on the GPU at hand, or None, and the GPU's name.

    Numba launches it as it is, if it can; or else wgpu, on a GPU of any make. A
    ValueError says what is missing for both.
    """
    if _numba_launches():
        if not type(kernel).__module__.startswith("numba"):
            raise ValueError(
                'on: "device" needs a kernel under `@cuda.jit` of numba, got'
                f" {getattr(kernel, '__name__', kernel)!r}, which is not"
            )
        return _on_numba(kernel, cases), ""
    try:
        name = webgpu.device().name
    except webgpu.NoDevice as error:
        raise ValueError(
            'on: "device" needs an NVIDIA GPU and its driver, or Numba\'s simulator'
            " (NUMBA_ENABLE_CUDASIM=1, set before Python starts), or any GPU by the"
            f" package wgpu, and there is none of them: {error}"
        ) from None
    return on_webgpu(maker(kernel), cases), name


def _numba_launches() -> bool:
    """Return whether Numba finds a GPU of NVIDIA, or plays one."""
    try:
        from numba import config, cuda
    except ImportError:
        return False
    return bool(config.ENABLE_CUDASIM) or cuda.is_available()


def _on_numba(kernel: Any, cases: list[Case]) -> dict[str, Any] | None:
    """Return the fault of a kernel that Numba launches, or None."""
    from blocksim import cudasim

    cudasim.mend()

    def run(case: Case, arguments: list[Any]) -> None:
        kernel[tuple(case["grid"]), tuple(case["block"])](*arguments)

    return _launched(run, cases)


def on_webgpu(
    make: Callable[[dict[str, Any]], Any], cases: list[Case]
) -> dict[str, Any] | None:
    """Return the fault of a kernel on a GPU of any make, or None."""

    def run(case: Case, arguments: list[Any]) -> None:
        shape = tuple(case["grid"]), tuple(case["block"])
        webgpu.run(make(case["names"]), *shape, *arguments)

    return _launched(run, cases)


def _launched(
    run: Callable[[Case, list[Any]], None], cases: list[Case]
) -> dict[str, Any] | None:
    """Return the first fault of launches on a device, or None."""
    for index, case in enumerate(cases):
        arguments = [_array(kind, value) for _, kind, value in case["args"]]
        try:
            run(case, arguments)
        except (Untranslatable, webgpu.Refused) as error:
            return kernel_grader.fail(index, [], _refused(error), case)
        except Exception as error:  # the compiler's, the driver's or the kernel's own
            return kernel_grader.fail(index, [], grader.raised(error), case)
        for (name, kind, _), value in zip(case["args"], arguments):
            if kind == "out":
                fault = kernel_grader.compare(
                    name, value.tolist(), case["expected"][name], DEVICE_TOLERANCE
                )
                if fault:
                    return kernel_grader.fail(index, [], fault, case)
    return None


def _refused(error: Any) -> dict[str, Any]:
    """Return the fault of a kernel that cannot run on a GPU, at the reader's line."""
    key = "deviceRefused" if error.line else "deviceRefusedWhole"
    instead = getattr(error, "instead", "")
    reason = f"{error.reason}; {instead}" if instead else error.reason
    slots = {"line": error.line, "reason": reason}
    fault = grader.new_fault("kernel", str(error), key, **slots)
    return {**fault, "line": error.line, "fields": {"kind": "compile"}}


def _array(kind: str, value: Any) -> Any:
    """Return an argument as a device takes it: arrays and numbers of 32 bits."""
    if kind == "number":
        value = grader.unpack(value)
        return np.float32(value) if isinstance(value, float) else value
    if kind == "out":
        return np.full(value, np.nan, np.float32)
    return np.array(grader.unpack(value), np.int32 if kind == "ints" else np.float32)
