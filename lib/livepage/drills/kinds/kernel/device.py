"""Runs a reader's kernel on a GPU, and wraps it for the block simulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from blocksim import webgpu
from blocksim.functions import program
from blocksim.kernel import Kernel
from blocksim.wgsl import Untranslatable
from livepage.drills.faults import new_fault, raised
from livepage.drills.kinds.kernel import grader
from livepage.drills.values import unpack

Case = dict[str, Any]


def maker(kernel: Any) -> Callable[[dict[str, Any]], Any]:
    """Return a function that builds the kernel of a case; decorators do not matter."""
    compiled = program(kernel)

    def make(names: dict[str, Any]) -> Kernel:
        compiled.names = dict(names)
        return Kernel(compiled)

    return make


DEVICE_TOLERANCE = 1e-4  # the error of float32 for any order of additions


def on_device(kernel: Any, cases: list[Case]) -> tuple[dict[str, Any] | None, str]:
    """Run a kernel on a GPU; return its fault or None, and the GPU's name.

    Numba runs it unchanged if possible. Otherwise wgpu runs it, on any GPU. A ValueError
    explains what is missing for both.
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
    """Say whether Numba finds an NVIDIA GPU or simulates one."""
    try:
        from numba import config, cuda
    except ImportError:
        return False
    return bool(config.ENABLE_CUDASIM) or cuda.is_available()


def _on_numba(kernel: Any, cases: list[Case]) -> dict[str, Any] | None:
    """Run a kernel with Numba; return its fault or None."""
    from blocksim import cudasim

    cudasim.mend()

    def run(case: Case, arguments: list[Any]) -> None:
        kernel[tuple(case["grid"]), tuple(case["block"])](*arguments)

    return _launched(run, cases)


def on_webgpu(
    make: Callable[[dict[str, Any]], Any], cases: list[Case]
) -> dict[str, Any] | None:
    """Run a kernel with wgpu; return its fault or None."""

    def run(case: Case, arguments: list[Any]) -> None:
        shape = tuple(case["grid"]), tuple(case["block"])
        webgpu.run(make(case["names"]), *shape, *arguments)

    return _launched(run, cases)


def _launched(
    run: Callable[[Case, list[Any]], None], cases: list[Case]
) -> dict[str, Any] | None:
    """Run every case; return the report of the first fault, or None."""
    for index, case in enumerate(cases):
        arguments = [_array(kind, value) for _, kind, value in case["args"]]
        try:
            run(case, arguments)
        except (Untranslatable, webgpu.Refused) as error:
            return grader.fail(index, [], _refused(error), case)
        except Exception as error:  # from the compiler, the driver or the kernel
            return grader.fail(index, [], raised(error), case)
        for (name, kind, _), value in zip(case["args"], arguments):
            if kind == "out":
                fault = grader.compare(
                    name, value.tolist(), case["expected"][name], DEVICE_TOLERANCE
                )
                if fault:
                    return grader.fail(index, [], fault, case)
    return None


def _refused(error: Any) -> dict[str, Any]:
    """Return the fault of a kernel that cannot run on a GPU, with the line."""
    key = "deviceRefused" if error.line else "deviceRefusedWhole"
    instead = getattr(error, "instead", "")
    reason = f"{error.reason}; {instead}" if instead else error.reason
    slots = {"line": error.line, "reason": reason}
    fault = new_fault("kernel", str(error), key, **slots)
    return {**fault, "line": error.line, "fields": {"kind": "compile"}}


def _array(kind: str, value: Any) -> Any:
    """Return an argument for a device: arrays and floats have 32 bits."""
    if kind == "number":
        value = unpack(value)
        return np.float32(value) if isinstance(value, float) else value
    if kind == "out":
        return np.full(value, np.nan, np.float32)
    return np.array(unpack(value), np.int32 if kind == "ints" else np.float32)
