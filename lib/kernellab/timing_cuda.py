"""How long kernels take on a GPU of NVIDIA, beside torch's ways to attend.

`trial` asks this module where Numba finds a GPU.
"""

import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numba import cuda

from onlinesoftmax import inputs, masks
from tiledattention.gpu.ladder import LADDER, Build
from tiledattention.gpu.nvidia import device, launches
from tiledattention.gpu.task import fit

BACKEND = "CUDA, by Numba"

Way = Callable[[int], float]  # does it so many times; the milliseconds of all of them
Work = Callable[[int], None]  # does it so many times


def name() -> str:
    """Return the name of the GPU."""
    return device()


def is_software() -> bool:
    """Return whether the GPU is a program that simulates one."""
    return False


def ways(heads: int, *size: Any) -> Iterator[tuple[str, Way]]:
    """Yield the kernels, and torch's ways where torch is installed.

    `size` is the number of queries and keys, the numbers in a row, the dtype, and
    whether the mask is causal.
    """
    for rung, work in kernels(heads, *size):
        yield rung, partial(between_events, work)
    if has_torch():
        import torch

        torch.cuda.empty_cache()  # what the size before has left
        for way, work in library(heads, *size):
            yield way, partial(between_events, partial(on_one_stream, work))


def between_events(work: Work, count: int) -> float:
    """Return the milliseconds that the GPU takes for so many runs."""
    start, stop = cuda.event(), cuda.event()
    start.record()
    work(count)
    stop.record()
    stop.synchronize()
    return float(cuda.event_elapsed_time(start, stop))


def again(run: Callable[[], object], count: int) -> None:
    """Call it so many times."""
    for _ in range(count):
        run()


def in_turn(runs: list[Callable[[], None]]) -> None:
    """Call one after the other."""
    for run in runs:
        run()


def kernels(
    heads: int, n: int, d: int, dtype: str, causal: bool
) -> Iterator[tuple[str, Work]]:
    """Yield every rung, ready to run on arrays that are on the device already."""
    rng = np.random.default_rng(1)
    q, k, v = (rng.standard_normal((heads, n, d)).astype(dtype) for _ in range(3))
    asked = inputs.attention(q, k, v, None, None, None)
    task = fit(asked, masks.causal() if causal else None, d)
    out, lse = np.zeros_like(task.q), np.zeros((heads, n), np.float32)
    given = task.arguments(out, lse)
    given |= {name: cuda.to_device(x) for name, x in given.items() if np.ndim(x)}
    for rung in (name for name, rung in LADDER.items() if dtype in rung.dtypes):
        runs = launches(Build.shipped(rung, d), task, given)
        yield rung, partial(again, partial(in_turn, runs))


def library(
    heads: int, n: int, d: int, dtype: str, causal: bool
) -> Iterator[tuple[str, Work]]:
    """Yield torch's ways to attend: three steps in plain torch, and its back ends."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    q, k, v = (
        torch.randn(1, heads, n, d, dtype=getattr(torch, dtype), device="cuda")
        for _ in range(3)
    )
    hidden = torch.ones(n, n, dtype=torch.bool, device="cuda").triu(1)

    def plain() -> torch.Tensor:
        scores = q @ k.mT * d**-0.5
        if causal:
            scores = scores.masked_fill(hidden, float("-inf"))
        return scores.softmax(-1) @ v

    def attend(backend: SDPBackend, count: int) -> None:
        run = partial(scaled_dot_product_attention, q, k, v, is_causal=causal)
        with sdpa_kernel(backend):
            again(run, count)

    yield "torch, three steps", partial(again, plain)
    yield "torch, matmul alone", partial(again, lambda: q @ k.mT)
    backends = ("MATH", "EFFICIENT_ATTENTION", "FLASH_ATTENTION", "CUDNN_ATTENTION")
    for backend in filter(partial(hasattr, SDPBackend), backends):
        label = f"torch SDPA, {backend.lower().replace('_', ' ')}"
        yield label, partial(attend, getattr(SDPBackend, backend))


def on_one_stream(work: Work, count: int) -> None:
    """Do torch's work on the stream that Numba's events are recorded on."""
    import torch

    with torch.cuda.stream(torch.cuda.default_stream()), torch.no_grad():
        work(count)


def refusals() -> tuple[type[Exception], ...]:
    """Return what a way raises that cannot attend at a size, or has no memory for it."""
    from numba.cuda.cudadrv.driver import CudaAPIError

    return RuntimeError, MemoryError, CudaAPIError


def has_torch() -> bool:
    """Return whether torch is here, and finds the GPU."""
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def versions() -> dict[str, str]:
    """Return the versions of the driver and of what is timed."""
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    done = subprocess.run(query, capture_output=True, encoding="utf-8")
    found = {"driver": done.stdout.split("\n")[0] or "unknown"}
    found["CUDA"] = ".".join(map(str, cuda.runtime.get_version()))
    for package in ("numba-cuda", "numba", "torch"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "absent"
    return found


def remarks() -> list[str]:
    """Return what a reader of the times should know: how they are taken."""
    return ["Timed between two CUDA events."]
