"""On a GPU: checks every kernel, times it beside torch, and stores the times.

    python -m tools.gpu            check, then time; writes book/data/gpu-<device>.json
    python -m tools.gpu --check    check only

It works in .venv-gpu, the environment of `make kernels`. Times beside torch's need
torch there as well (`.venv-gpu/bin/pip install torch`); without it only the kernels are
timed. Exit status 3 says that there is no GPU.
"""

import json
import math
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
NO_GPU = 3
HEADS, LENGTHS = 16, (512, 1024, 2048, 4096, 8192, 16384)
RUNS, WINDOW = 10, 20  # windows of so many milliseconds
SHOWN = "  {:32} n={:6} d={:4} {:8} causal={!s:6} {:10} ms {:8} TFLOP/s"
WHAT = (
    "Milliseconds of one attention with 16 heads, forward, run back to back with"
    " warm caches in windows of 20 ms between two CUDA events: the middle of 10."
)


# ---- is it right? ----


def checks() -> Iterator[tuple[str, str]]:
    """Yield each case's name and what is wrong with it, empty if nothing."""
    from onlinesoftmax import masks
    from onlinesoftmax.gpu import RUNGS

    seen = {
        "all": None,
        "causal": masks.causal(),
        "window": masks.window(70, 3),
        "padding": masks.padding([150, 0]),
        "causal, window, padding": masks.causal()
        & masks.window(40)
        & masks.padding([199, 31]),
    }
    shapes = [
        (4, 4, 200, 200),
        (4, 2, 77, 200),
        (2, 1, 200, 200),
        (2, 2, 1, 200),
        (2, 1, 230, 200),
    ]
    grid = product(RUNGS, (64, 128, 40), ("float32", "float16"), seen.items(), shapes)
    for rung, d, dtype, (name, mask), shape in grid:
        yield f"{rung} d={d} {dtype} {name} {shape}", check(rung, d, dtype, mask, shape)


def check(rung: str, d: int, dtype: str, mask: Any, shape: tuple[int, ...]) -> str:
    """What is wrong with a kernel's answer; against float64, by the accuracy rule."""
    from onlinesoftmax import dense, gpu

    heads, shared, n, keys = shape
    rng = np.random.default_rng(9)
    sizes = [(2, heads, n, d), (2, shared, keys, d), (2, shared, keys, d)]
    q, k, v = (rng.standard_normal(size) for size in sizes)
    q *= 8  # so that the maximum rises, and rescaling matters
    if mask is not None and mask.lengths is not None:
        for sequence, length in enumerate(mask.lengths):  # filling may hold anything
            k[sequence, :, length:] = v[sequence, :, length:] = np.nan
    q, k, v = (x.astype(dtype) for x in (q, k, v))
    out, lse = gpu.attention(q, k, v, mask=mask, kernel=rung, return_lse=True)
    wide = (x.astype(np.float64) for x in (q, k, v))
    truth, true_lse = dense.attention(*wide, mask=mask, return_lse=True)
    largest = np.abs(truth).max()
    # Blocks of one key: so many roundings; fast exponentials add two bits; then half.
    allowed = (keys + np.log2(keys) + 4) * 4 * 2.0**-24 * largest
    allowed += 2.0**-11 * largest if dtype == "float16" else 0
    off = np.abs(out.astype(np.float64) - truth).max()
    if not off <= allowed:
        return f"off by {off:.2e}, allowed {allowed:.2e}"
    same = np.array_equal(np.isinf(lse), np.isinf(true_lse))
    seen = np.isfinite(true_lse)
    if not same or not np.allclose(lse[seen], true_lse[seen], rtol=1e-5, atol=1e-5):
        return "lse is off"
    return ""


# ---- how long does it take? ----

Way = Callable[[int], None]  # does the same thing so many times


def milliseconds(way: Way) -> float:
    """Of one run: many back to back between two events, so that no device waits."""
    way(2)
    count = math.ceil(WINDOW / max(between_events(way, 1), 0.001))
    return statistics.median(between_events(way, count) / count for _ in range(RUNS))


def between_events(way: Way, count: int) -> float:
    """Milliseconds that the device takes for `count` runs."""
    from numba import cuda

    start, stop = cuda.event(), cuda.event()
    start.record()
    way(count)
    stop.record()
    stop.synchronize()
    return cuda.event_elapsed_time(start, stop)


def again(run: Callable[[], object], count: int) -> None:
    for _ in range(count):
        run()


def kernels(n: int, d: int, dtype: str, causal: bool) -> Iterator[tuple[str, Way]]:
    """Yield every rung, ready to run on arrays that are on the device already."""
    from numba import cuda

    from onlinesoftmax import _inputs as inputs
    from onlinesoftmax import masks
    from onlinesoftmax.gpu import RUNGS, Build
    from onlinesoftmax.gpu.launch import compiled, fit

    rng = np.random.default_rng(1)
    q, k, v = (rng.standard_normal((HEADS, n, d)).astype(dtype) for _ in range(3))
    asked = inputs.attention(q, k, v, None, None, None)
    task = fit(asked, masks.causal() if causal else None, d)
    *arrays, lengths = (cuda.to_device(x) for x in task[:4])
    out = cuda.device_array_like(arrays[0])
    lse = cuda.device_array((HEADS, n), np.float32)
    for rung in RUNGS:
        build = Build.shipped(rung, d)
        launch = compiled(build)[task.grid(build), build.threads]
        run = partial(launch, *arrays, out, lse, lengths, *task[4:])
        yield rung, partial(again, run)


def library(n: int, d: int, dtype: str, causal: bool) -> Iterator[tuple[str, Way]]:
    """Yield torch's ways to attend: three steps in plain torch, and its back ends."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    q, k, v = (
        torch.randn(1, HEADS, n, d, dtype=getattr(torch, dtype), device="cuda")
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
    for name in filter(partial(hasattr, SDPBackend), backends):
        label = f"torch SDPA, {name.lower().replace('_', ' ')}"
        yield label, partial(attend, getattr(SDPBackend, name))


def on_one_stream(way: Way, count: int) -> None:
    """Torch's work on the stream that Numba's events are recorded on."""
    import torch

    with torch.cuda.stream(torch.cuda.default_stream()), torch.no_grad():
        way(count)


def ways(*size: Any) -> Iterator[tuple[str, Way]]:
    """Yield the kernels, and torch's ways where torch is."""
    yield from kernels(*size)
    if has_torch():
        import torch

        for name, way in library(*size):
            yield name, partial(on_one_stream, way)
        torch.cuda.empty_cache()


def times(n: int) -> Iterator[list[Any]]:
    """Yield a row for each way, width, dtype, mask: milliseconds, TFLOP/s."""
    for size in product((n,), (64, 128), ("float32", "float16"), (False, True)):
        try:
            for name, way in ways(*size):
                if row := timed(name, way, *size):
                    yield row
        except refusals() as error:  # no memory for the inputs
            print(f"  {size}: {first_line(error)}")


def timed(
    name: str, way: Way, n: int, d: int, dtype: str, causal: bool
) -> list[Any] | None:
    """Return the row of one way, or None where it declines."""
    try:
        took = milliseconds(way)
    except refusals() as error:  # a back end that cannot, or no memory
        print(f"  {name} n={n} d={d} {dtype}: {first_line(error)}")
        return None
    work = 4 * HEADS * n * n * d
    if "alone" in name or causal:
        work /= 2
    return [name, n, d, dtype, causal, round(took, 4), round(work / took / 1e9, 2)]


def refusals() -> tuple[type[Exception], ...]:
    from numba.cuda.cudadrv.driver import CudaAPIError

    return RuntimeError, MemoryError, CudaAPIError


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:60]


def has_torch() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


# ---- what is stored ----


def provenance() -> dict[str, Any]:
    """The device, its driver, the versions, the day and the command."""
    from numba import cuda

    from onlinesoftmax.gpu import device

    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    done = subprocess.run(query, capture_output=True, encoding="utf-8")
    versions = {"driver": done.stdout.split("\n")[0] or "unknown"}
    versions["CUDA"] = ".".join(map(str, cuda.runtime.get_version()))
    for name in ("numba-cuda", "numba", "torch"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "absent"
    return {
        "machine": device(),
        "versions": versions,
        "date": date.today().isoformat(),
        "command": "make gpu",
    }


def store(rows: list[list[Any]]) -> Path:
    """Write the times where pages and figures find them."""
    columns = ["way", "n", "d", "dtype", "causal", "milliseconds", "TFLOP/s"]
    record = {"what": WHAT, "columns": columns, "rows": rows} | provenance()
    name = re.sub(r"[^a-z0-9]+", "-", record["machine"].lower()).strip("-")
    file = ROOT / "book" / "data" / f"gpu-{name}.json"
    file.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return file


def work() -> int:
    """Check, then time; runs in .venv-gpu."""
    from onlinesoftmax.gpu.launch import device, has_gpu

    if not has_gpu():
        print("no GPU: Numba finds none here, so nothing was checked and nothing timed")
        return NO_GPU
    print(f"on {device()}")
    wrong = 0
    for count, (name, said) in enumerate(checks(), 1):
        wrong += bool(said)
        if said:
            print(f"  {name}: {said}")
    print(f"{count - wrong} of {count} cases are right")
    if wrong or "--check" in sys.argv:
        return bool(wrong)
    rows = []
    for n in LENGTHS:
        for row in times(n):
            rows.append(row)
            print(SHOWN.format(*row), flush=True)
        print(f"written: {store(rows).relative_to(ROOT)}")
    return 0


def main() -> int:
    from tools import kernels as gate

    if not sys.platform.startswith(gate.SUPPORTED):
        print("no GPU: kernels run on Linux and Windows only")
        return NO_GPU
    gate.environment()
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "lib")))
    env = {**os.environ, "PYTHONPATH": paths}
    command = [gate.PYTHON, "-m", "tools.gpu", "--here", *sys.argv[1:]]
    return subprocess.call(command, cwd=ROOT, env=env)


if __name__ == "__main__":
    sys.exit(work() if "--here" in sys.argv else main())
