"""How long kernels take on a GPU of any make, which the package wgpu reaches.

`trial` asks this module where Numba finds no GPU, or where it is told to.
"""

import platform
import time
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import numpy as np

from blocksim import stopwatch, webgpu
from onlinesoftmax import inputs, masks
from tiledattention.gpu import webgpu as any_gpu
from tiledattention.gpu.ladder import PORTABLE, WIDTHS, Build
from tiledattention.gpu.simulator import simulated
from tiledattention.gpu.task import Task, fit

BACKEND = "WebGPU, by wgpu"
TOO_LONG = 1.0  # seconds of one run: drivers reset a GPU that is busy for two


def name() -> str:
    """Return the name of the GPU, and by what wgpu reaches it."""
    return f"{any_gpu.name()} ({webgpu.device().info['backend_type']})"


def is_software() -> bool:
    """Return whether the GPU is a program that simulates one."""
    return bool(webgpu.device().software)


class Attention:
    """A rung at one size, in the memory of the GPU: called, it runs and is timed.

    Parameters
    ----------
    rung : str
    task : Task
    given : dict of str to ndarray or number
        As `Task.arguments` returns it.
    held : dict
        What of it is in the GPU's memory already.
    """

    clocks: set[str] = set()  # by which times have been taken

    def __init__(
        self, rung: str, task: Task, given: dict[str, Any], held: dict[Any, Any]
    ):
        self.rung, self.task, self.given, self.held = rung, task, given, held
        self.burst: stopwatch.Burst | None = None

    def __call__(self, count: int) -> float:
        """Run so many times; return the milliseconds of all of them."""
        self.burst = self.burst or self.prepared()
        took = float(self.burst.milliseconds(count))
        self.clocks.add(self.burst.how)
        return took

    def prepared(self) -> stopwatch.Burst:
        """Return the launches, after a first run in slices, which no driver resets."""
        build = any_gpu.fitting(self.rung, self.task.q.shape[2])
        launches = [
            webgpu.Launch(simulated(each), grid, each.threads, values, held=self.held)
            for each, grid, values in self.task.launches(build, self.given)
        ]
        start = time.perf_counter()
        for launch in launches:
            launch.go()
        took = time.perf_counter() - start
        if took > TOO_LONG:
            raise ValueError(f"{took:.1f} s, too long to run in one piece")
        return stopwatch.Burst(launches)


def ways(
    heads: int, n: int, d: int, dtype: str, causal: bool
) -> Iterator[tuple[str, Attention]]:
    """Yield the kernels, for `n` queries and keys in rows of `d` numbers."""
    rng = np.random.default_rng(1)
    q, k, v = (rng.standard_normal((heads, n, d)).astype(dtype) for _ in range(3))
    asked = inputs.attention(q, k, v, None, None, None)
    task = fit(asked, masks.causal() if causal else None, d)
    given = task.arguments(np.zeros_like(task.q), np.zeros((heads, n), np.float32))
    held: dict[Any, Any] = {}
    for rung in PORTABLE:
        yield rung, Attention(rung, task, given, held)


def refusals() -> tuple[type[Exception], ...]:
    """Return what a way raises that cannot attend at a size, or has no memory for it."""
    import wgpu

    return ValueError, MemoryError, RuntimeError, wgpu.GPUError


def versions() -> dict[str, str]:
    """Return the versions of the driver, the system and of what reaches the GPU."""
    return {
        "driver": webgpu.device().info["description"] or "the system's",
        "system": f"{platform.system()} {platform.release()}",
        "wgpu": version("wgpu"),
    }


def remarks() -> list[str]:
    """Return what a reader of the times should know: how they are taken, and of what."""
    clocks = " or ".join(sorted(Attention.clocks))
    smaller = [
        f"{build.rung} (d = {d}) {build.block_q} × {build.block_k}"
        for d in WIDTHS
        for build in map(any_gpu.fitting, PORTABLE, [d] * len(PORTABLE))
        if build != Build.shipped(build.rung, d)
    ]
    fit = "Tiles are smaller than they ship where the GPU has no room: "
    tiles = [f"{fit}{', '.join(smaller)}."] if smaller else []
    return [f"Timed {clocks}.", *tiles, "PyTorch is not timed beside them."]
