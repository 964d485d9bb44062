"""Attention on an NVIDIA GPU by Numba, or on Numba's own simulator where that is on."""

from collections.abc import Callable
from functools import cache, partial
from inspect import signature
from typing import Any

import numpy as np
from numba import config, cuda

from blocksim import cudasim
from tiledattention.gpu.ladder import LADDER, Build
from tiledattention.gpu.plans import Device, Plan, Request
from tiledattention.gpu.rung import Rung, Work
from tiledattention.gpu.simulator import no_gpu, small_plan
from tiledattention.gpu.task import Task

MOST_HEADS = 65_535  # the most blocks that CUDA allows in a grid's second dimension
OTHER_CODE = (  # printed where a kernel's code differs from its stored report
    "compiled without numba-cuda's nvJitLink: registers and spills are not"
    " those of `reports.stored`"
)


class Nvidia(Device):
    """An NVIDIA GPU."""

    on = "cuda"

    def plan(self, request: Request) -> Plan:
        """Return a plan for the GPU: the rung as it ships."""
        if not numba_launches():
            raise ValueError(
                'device: "cuda" needs an NVIDIA GPU, and Numba finds none here'
            )
        rung, why = request.rung, "as asked"
        if rung is None:
            rung, why = best(request.work, request.width, request.dtype)
        need_capability(LADDER[rung])
        build = Build.shipped(rung, request.width)
        parts = build.parts(request.work, request.keys, multiprocessors())
        why = f"{why}; rows of {build.d} numbers"
        task = request.task(build)
        return Plan(build, device(), why, task, parts=parts, on=self.on)

    def run(self, plan: Plan, arguments: dict[str, Any]) -> None:
        """Run a kernel, and what is launched after it; copy arrays there and back."""
        if len(plan.task.q) > MOST_HEADS:
            raise ValueError(
                f"q: expected at most {MOST_HEADS} heads in all sequences"
                f" together, got {len(plan.task.q)}"
            )
        copies = {n: cuda.to_device(x) for n, x in arguments.items() if np.ndim(x)}
        cudasim.mend()
        for run in launches(plan.build, plan.task, arguments | copies, plan.parts):
            run()
        for name in ("O", "LSE"):
            copies[name].copy_to_host(arguments[name])


class NumbaSimulator(Nvidia):
    """Numba's own simulator of an NVIDIA GPU, where that is on."""

    def plan(self, request: Request) -> Plan:
        """Return a plan for small tiles: the simulator is slow."""
        return small_plan(self, request, device(), no_gpu())


DEVICE = NumbaSimulator() if config.ENABLE_CUDASIM else Nvidia()


def device() -> str:
    """Return what kernels under Numba's `cuda.jit` run on: a GPU, or a simulator.

    Returns
    -------
    str
    """
    if config.ENABLE_CUDASIM:
        return "Numba's simulator"
    if not has_gpu():
        return "the block simulator"
    gpu = cuda.get_current_device()
    name = gpu.name.decode() if isinstance(gpu.name, bytes) else gpu.name
    return f"{name} (sm_{''.join(map(str, gpu.compute_capability))})"


@cache
def multiprocessors() -> int:
    """Return how many multiprocessors the GPU has."""
    return int(cuda.get_current_device().MULTIPROCESSOR_COUNT)


def capability() -> tuple[int, int]:
    """Return the compute capability of the GPU."""
    major, minor = cuda.get_current_device().compute_capability
    return int(major), int(minor)


def need_capability(rung: Rung) -> None:
    """Refuse a rung that the GPU is too old for."""
    if rung.capability > (0, 0) and rung.capability > capability():
        least, here = (
            ".".join(map(str, one)) for one in (rung.capability, capability())
        )
        raise ValueError(
            f"kernel: {rung.name!r} needs a GPU of compute capability {least} or"
            f" higher, got {here}"
        )


def numba_launches() -> bool:
    """Return whether Numba can launch a kernel: on a GPU, or on its own simulator."""
    return bool(config.ENABLE_CUDASIM) or has_gpu()


@cache
def has_gpu() -> bool:
    """Return whether Numba finds a GPU that it can use."""
    return not config.ENABLE_CUDASIM and cuda.is_available()


def launches(
    build: Build, task: Task, arguments: dict[str, Any], parts: int = 1
) -> list[Callable[[], None]]:
    """Return calls that run a kernel on a GPU, and what is launched after it, in order.

    `arguments` are those of `Task.arguments`, with device arrays.
    """
    return [
        partial(compiled(each)[grid, each.threads], *values)
        for each, grid, values in task.launches(build, arguments, parts)
    ]


@cache
def compiled(build: Build) -> Any:
    """Return a kernel to launch on a GPU, by `compiled(build)[grid, threads](…)`.

    It is compiled with `Build.options`, as for its stored report, where Numba can do
    that. Elsewhere its answers are the same, but the compiler may choose other
    registers; then a sentence about it is printed, once.
    """
    known = {"fastmath", *signature(cuda.jit).parameters}
    options = {name: x for name, x in build.options.items() if name in known}
    try:
        jit = cuda.jit(**options)
    except RuntimeError:  # numba-cuda raises it if there is no nvJitLink
        jit = cuda.jit(**options | {"lto": False})
        known.discard("lto")
    if has_gpu() and not build.options.keys() <= known:
        print_once(OTHER_CODE)
    return jit(build.kernel)


@cache
def print_once(text: str) -> None:
    """Print a sentence, if it was not printed before."""
    print(text)


def best(work: Work, width: int, dtype: str = "float32") -> tuple[str, str]:
    """Return the rung for a GPU, and the reason.

    It is the highest rung that Numba can compile here; where rows are few, one for few
    rows. A rung that no simulator runs is taken only if it is proven.
    """
    rung, why = _highest(dtype)
    block_q = Build.shipped(rung.name, width).block_q
    for other in LADDER.values():
        few = other.for_few_rows and dtype in other.dtypes
        if few and other.pays(work, block_q, multiprocessors()):
            return other.name, other.merit
    return rung.name, why


def _highest(dtype: str) -> tuple[Rung, str]:
    """Return the highest rung that Numba can compile here for a GPU, and the reason."""
    skipped = ""
    for number, rung in reversed(list(enumerate(LADDER.values(), 1))):
        if rung.for_few_rows or dtype not in rung.dtypes:
            continue
        missing = unproven(rung) or rung.missing()
        if not missing:
            return rung, skipped or rung.merit
        skipped = skipped or f"rung {number} {missing}"
    raise RuntimeError(f"no kernel can run here: {skipped}")


def unproven(rung: Rung) -> str:
    """Return why a rung is not picked that no simulator runs; empty if it may be."""
    if rung.portable:
        return ""
    here = ".".join(map(str, capability()))
    if here in rung.proven:
        return ""
    asked = f"kernel={rung.name!r} asks for it"
    return f"was found right on no GPU of compute capability {here} yet; {asked}"
