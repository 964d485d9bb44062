"""Attention on the block simulator, in small tiles; a plan estimates its time."""

import time
from functools import cache
from typing import Any

import numpy as np
from numba import config

import blocksim
from blocksim import kernel as blocksim_kernel
from tiledattention.gpu.ladder import LADDER, Build
from tiledattention.gpu.plans import Device, Plan, Request
from tiledattention.gpu.task import MOST, Task

SIMULATED = 108  # multiprocessors of the GPU that a simulation plays: those of an A100


class Simulator(Device):
    """The block simulator."""

    on = "simulator"

    def plan(self, request: Request) -> Plan:
        """Return a plan for the block simulator."""
        why = "as asked" if request.device == self.on else no_gpu()
        return small_plan(self, request, "the block simulator", why)

    def run(self, plan: Plan, arguments: dict[str, Any]) -> None:
        """Run a kernel, and what is launched after it; a fault is raised."""
        mode = plan.task.mode()
        for build, grid, values in plan.task.launches(
            plan.build, arguments, plan.parts
        ):
            where = simulated(build), grid, build.threads
            report = blocksim.run(*where, *values, mode=mode)
            if report.faults:
                raise report.faults[0]


def no_gpu() -> str:
    """Return why there is no GPU to run on."""
    if config.ENABLE_CUDASIM:
        return "NUMBA_ENABLE_CUDASIM is set"
    return "Numba finds no GPU here"


def small_plan(simulator: Device, request: Request, name: str, why: str) -> Plan:
    """Return a plan for a simulator, the book's or Numba's, with the time it may take."""
    request.need_portable(name)
    build = Build.small(request.rung or _best(), request.width)
    task = request.task(build)
    seconds = task.visits() * seconds_per_visit(build.rung, task.mode(), simulator)
    parts = build.parts(request.work, request.keys, SIMULATED)
    why = f"{why}; small tiles"
    return Plan(build, name, why, task, seconds, parts, simulator.on)


def _best() -> str:
    """Return the highest rung of those for the simulator."""
    return [rung.name for rung in LADDER.values() if rung.for_simulator][-1]


@cache
def seconds_per_visit(rung: str, mode: str, simulator: Device) -> float:
    """Return how long a simulator takes for one number of K, by a small run."""
    rows = np.full((1, 16, 8), 0.0 if mode == "plain" else MOST, np.float32)
    lengths, far = np.array([16], np.int32), np.int32(32)
    task = Task(rows, rows, rows, lengths, np.float32(1), far, far, np.int32(1))
    start = time.perf_counter()
    simulator.launch(Plan(Build.small(rung, 8), "", "", task))
    return (time.perf_counter() - start) / task.visits()


# The kernel of a build follows from the build alone, so it can be cached. A reader's
# function cannot: its surroundings may change.
@cache
def simulated(build: Build) -> blocksim_kernel.Kernel:
    """Return a kernel for the simulator or for WebGPU; its text is parsed once."""
    return blocksim_kernel.Kernel(function=build.kernel)
