"""Attention on a GPU of any make: the builds that fit it, and what it can compute.

It is used for `device="webgpu"`, and where Numba finds no GPU but the package wgpu
does.
"""

from contextlib import suppress
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from blocksim import webgpu
from blocksim.wgsl import FAR
from tiledattention.gpu.ladder import LADDER, PORTABLE, Build
from tiledattention.gpu.plans import Device, Plan, Request
from tiledattention.gpu.rung import Work
from tiledattention.gpu.simulator import simulated
from tiledattention.gpu.task import Task, largest

LOOPS = 3  # the most loops over the numbers of a row that any rung runs for a key
# WebGPU does not tell how many multiprocessors a GPU has, and a plan that measured them
# would change from run to run. Readers' GPUs have 8, as Apple's M1, to 128, as a GeForce
# RTX 4090. This is in between, so a plan is off by a factor of four at most.
CORES = 32


class WebGpu(Device):
    """A GPU of any make, by the package wgpu."""

    on = "webgpu"

    def plan(self, request: Request) -> Plan:
        """Return a plan for the GPU; refuse numbers that it may get wrong."""
        gpu, width, work = name(), request.width, request.work
        request.need_portable("WebGPU")
        build = fitting(request.rung or best(work, width), width)
        task = settled(request.task(build))
        if why := unfit(task):
            raise ValueError(why)
        parts = build.parts(work, request.keys, CORES)
        guess = f"; {CORES} multiprocessors assumed, for WebGPU tells none"
        few = LADDER[build.rung].for_few_rows
        why = f"tiles that fit it; rows of {build.d} numbers{guess if few else ''}"
        return Plan(build, gpu, why, task, parts=parts, on=self.on)

    def run(self, plan: Plan, arguments: dict[str, Any]) -> None:
        """Run a kernel, and what is launched after it. Its task has to be settled."""
        for build, grid, values in plan.task.launches(
            plan.build, arguments, plan.parts
        ):
            webgpu.run(simulated(build), grid, build.threads, *values)


def name() -> str:
    """Return the name of the GPU; a ValueError says what is missing for one."""
    try:
        return str(webgpu.device().name)
    except webgpu.NoDevice as error:
        raise ValueError(f'device: "webgpu" needs a GPU, and {error}') from None


@cache
def is_real() -> bool:
    """Return whether there is a GPU here that is not one in software."""
    try:
        return not webgpu.device().software
    except webgpu.NoDevice:
        return False


def best(work: Work, width: int) -> str:
    """Return the highest rung, or one for few rows where rows are few."""
    highest = [rung for rung in PORTABLE if not LADDER[rung].for_few_rows][-1]
    block_q = fitting(highest, width).block_q
    for rung in LADDER.values():
        if rung.for_few_rows and rung.pays(work, block_q, CORES):
            return rung.name
    return highest


def fitting(rung: str, width: int) -> Build:
    """Return the largest build of a rung, at most as it ships, that fits the GPU."""
    gpu, builds = webgpu.device(), builds_by_size(rung, width)
    for build in builds:
        if build.threads <= gpu.threads and room(build) <= gpu.shared:
            return build
    least = builds[-1]
    raise ValueError(
        f"kernel: {rung!r} expects at least {room(least)} bytes of shared memory for"
        f" {least.threads} threads, got {gpu.shared} for {gpu.threads}, which is what"
        f" {gpu.name} has"
    )


@cache
def builds_by_size(rung: str, width: int) -> tuple[Build, ...]:
    """Return a rung as it ships, and with fewer rows and keys, the largest first."""
    shipped = Build.shipped(rung, width)
    sizes = product(halves(shipped.block_q), halves(shipped.block_k))
    builds = []
    for block_q, block_k in sizes:
        with suppress(ValueError):  # there is no such kernel
            builds.append(Build(rung, shipped.d, block_q, block_k))
    return tuple(
        sorted(builds, key=lambda b: (b.block_q * b.block_k, b.block_k), reverse=True)
    )


def halves(extent: int) -> list[int]:
    """Return an extent, half of it, and so on."""
    return [extent >> k for k in range(extent.bit_length())]


def room(build: Build) -> int:
    """Return the most bytes of shared memory that a block takes in WGSL.

    Threads hand numbers over in eight bytes each, where a GPU of NVIDIA shuffles.
    """
    return build.shared + 8 * (build.threads + 1)


def settled(task: Task) -> Task:
    """Return a task with 0 in place of keys that no row sees, whatever they hold."""
    seen = task.lengths.reshape(len(task.k), -1).max(1, initial=0)
    hidden = np.arange(task.k.shape[1]) >= seen[:, None]
    k, v = (np.where(hidden[..., None], x.dtype.type(0), x) for x in (task.k, task.v))
    return task._replace(k=k, v=v)


def unfit(task: Task) -> str:
    """Return why the GPU cannot be trusted with a settled task; empty if it can."""
    for argument, x in {"q": task.q, "k": task.k, "v": task.v}.items():
        odd = x[~np.isfinite(x)]
        if odd.size:
            return (
                f"{argument}: expected finite numbers for WebGPU, which may assume that"
                f" there are no others, got {odd[0]}"
            )
    most = webgpu.device().turns // (LOOPS * task.q.shape[2])
    if webgpu.device().turns and task.k.shape[1] > most:
        return (
            f"k: expected at most {most} keys for {name()}, which leaves loops after"
            f" {webgpu.device().turns} turns, got {task.k.shape[1]}"
        )
    if not task.bound() < FAR:
        return (
            f"q, k, v: expected numbers for WebGPU that keep scores and sums below"
            f" {FAR:.0e}, got up to {max(map(largest, task[:3])):.0e}"
        )
    return ""
