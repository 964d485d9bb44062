"""Attention on an NVIDIA GPU by Numba, or on Numba's own simulator where that is on."""

from collections.abc import Callable
from functools import cache, partial
from inspect import signature
from typing import Any

import numpy as np
from numba import config, cuda

from blocksim import cudasim
from onlinesoftmax import inputs
from onlinesoftmax.inputs import Array
from onlinesoftmax.masks import Mask
from tiledattention.gpu.ladder import LADDER, Build
from tiledattention.gpu.plans import Plan, width_of, work_of
from tiledattention.gpu.rung import Rung, Work
from tiledattention.gpu.simulator import small_plan
from tiledattention.gpu.task import Task, fit

MOST_HEADS = 65_535  # the most blocks that CUDA allows in a grid's second dimension
OTHER_CODE = (  # printed where a kernel's code differs from its stored report
    "compiled without numba-cuda's nvJitLink: registers and spills are not"
    " those of `reports.stored`"
)


class Nvidia:
    """An NVIDIA GPU, or Numba's simulator of one."""

    def plan(
        self, asked: inputs.Attention, mask: Mask, rung: str | None, named: bool
    ) -> Plan:
        """Return a plan for the GPU: the rung as it ships, or small on a simulator."""
        if config.ENABLE_CUDASIM:
            return small_plan(asked, mask, rung, self.run, device(), no_gpu(), "cuda")
        width, work = width_of(asked), work_of(asked)
        rung, why = best(work, width) if rung is None else (rung, "as asked")
        build = Build.shipped(rung, width)
        parts = build.parts(work, asked.k.shape[-2], multiprocessors())
        why = f"{why}; rows of {build.d} numbers"
        task = fit(asked, mask, build.d)
        return Plan(build, device(), why, task, parts=parts, on="cuda")

    def run(
        self, build: Build, task: Task, parts: int, out: Array, lse: Array
    ) -> tuple[Array, Array]:
        """Run a kernel, and what is launched after it; copy arrays there and back."""
        if len(task.q) > MOST_HEADS:
            raise ValueError(
                f"q: expected at most {MOST_HEADS} heads in all sequences"
                f" together, got {len(task.q)}"
            )
        arguments = task.arguments(out, lse, parts)
        arguments |= {n: cuda.to_device(x) for n, x in arguments.items() if np.ndim(x)}
        cudasim.mend()
        for run in launches(build, task, arguments, parts):
            run()
        return arguments["O"].copy_to_host(), arguments["LSE"].copy_to_host()


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


def numba_launches() -> bool:
    """Return whether Numba can launch a kernel: on a GPU, or on its own simulator."""
    return bool(config.ENABLE_CUDASIM) or has_gpu()


@cache
def has_gpu() -> bool:
    """Return whether Numba finds a GPU that it can use."""
    return not config.ENABLE_CUDASIM and cuda.is_available()


def no_gpu() -> str:
    """Return why there is no GPU to run on."""
    if config.ENABLE_CUDASIM:
        return "NUMBA_ENABLE_CUDASIM is set"
    return "Numba finds no GPU here"


def launches(
    build: Build, task: Task, arguments: dict[str, Any], parts: int = 1
) -> list[Callable[[], None]]:
    """Return calls that run a kernel on a GPU, and what is launched after it, in order.

    `arguments` are those of `Task.arguments`, with device arrays.
    """
    return [
        partial(
            compiled(each)[task.grid(each, parts), each.threads],
            *(arguments[name] for name in each.arguments),
        )
        for each in build.launches
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


def best(work: Work, width: int) -> tuple[str, str]:
    """Return the rung for a GPU, and the reason.

    It is the highest rung that Numba can compile here; where rows are few, one for few
    rows.
    """
    rung, why = _highest()
    block_q = Build.shipped(rung.name, width).block_q
    for other in LADDER.values():
        if other.for_few_rows and other.pays(work, block_q, multiprocessors()):
            return other.name, other.merit
    return rung.name, why


def _highest() -> tuple[Rung, str]:
    """Return the highest rung that Numba can compile here for a GPU, and the reason."""
    skipped = ""
    for number, rung in reversed(list(enumerate(LADDER.values(), 1))):
        if rung.for_few_rows:
            continue
        missing = rung.missing()
        if not missing:
            return rung, skipped or rung.merit
        skipped = skipped or f"rung {number} {missing}"
    raise RuntimeError(f"no kernel can run here: {skipped}")
