"""Attention on the block simulator, in small tiles; a plan estimates its time."""

import time
from collections.abc import Callable
from functools import cache

import numpy as np

import blocksim
from blocksim import kernel as blocksim_kernel
from onlinesoftmax import inputs
from onlinesoftmax.inputs import Array
from onlinesoftmax.masks import Mask
from tiledattention.gpu.ladder import LADDER, Build
from tiledattention.gpu.plans import Plan, width_of, work_of
from tiledattention.gpu.task import MOST, Task, fit

SIMULATED = 108  # multiprocessors of the GPU that a simulation plays: those of an A100
Run = Callable[[Build, Task, int, Array, Array], tuple[Array, Array]]


class Simulator:
    """The block simulator."""

    def __init__(self, no_gpu: Callable[[], str]) -> None:
        self.no_gpu = no_gpu  # returns why no GPU is used

    def plan(
        self, asked: inputs.Attention, mask: Mask, rung: str | None, named: bool
    ) -> Plan:
        """Return a plan for the block simulator."""
        why = "as asked" if named else self.no_gpu()
        name = "the block simulator"
        return small_plan(asked, mask, rung, self.run, name, why, "simulator")

    def run(
        self, build: Build, task: Task, parts: int, out: Array, lse: Array
    ) -> tuple[Array, Array]:
        """Run a kernel, and what is launched after it; a fault is raised."""
        arguments = task.arguments(out, lse, parts)
        for each in build.launches:
            own = (arguments[name] for name in each.arguments)
            where = simulated(each), task.grid(each, parts), each.threads
            report = blocksim.run(*where, *own, mode=task.mode())
            if report.faults:
                raise report.faults[0]
        return out, lse


def small_plan(
    asked: inputs.Attention,
    mask: Mask,
    rung: str | None,
    run: Run,
    name: str,
    why: str,
    on: str,
) -> Plan:
    """Return a plan for a simulator, the book's or Numba's, with the time it may take."""
    build = Build.small(rung or _best(), width_of(asked))
    task = fit(asked, mask, build.d)
    seconds = task.visits() * seconds_per_visit(build.rung, task.mode(), run)
    parts = build.parts(work_of(asked), asked.k.shape[-2], SIMULATED)
    return Plan(build, name, f"{why}; small tiles", task, seconds, parts, on)


def _best() -> str:
    """Return the highest rung of those for the simulator."""
    return [rung.name for rung in LADDER.values() if rung.for_simulator][-1]


@cache
def seconds_per_visit(rung: str, mode: str, run: Run) -> float:
    """Return how long a simulator takes for one number of K, by a small run."""
    rows = np.full((1, 16, 8), 0.0 if mode == "plain" else MOST, np.float32)
    lengths, far = np.array([16], np.int32), np.int32(32)
    task = Task(rows, rows, rows, lengths, np.float32(1), far, far, np.int32(1))
    start = time.perf_counter()
    run(
        Build.small(rung, 8),
        task,
        1,
        np.zeros_like(rows),
        np.zeros((1, 16), np.float32),
    )
    return (time.perf_counter() - start) / task.visits()


# The kernel of a build follows from the build alone, so it can be cached. A reader's
# function cannot: its surroundings may change.
@cache
def simulated(build: Build) -> blocksim_kernel.Kernel:
    """Return a kernel for the simulator or for WebGPU; its text is parsed once."""
    return blocksim_kernel.Kernel(function=build.kernel)
