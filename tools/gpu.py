"""On a GPU: checks every kernel, times it beside torch, and stores the times.

    python -m tools.gpu            check, then time; writes book/data/gpu-<device>.json
    python -m tools.gpu --check    check only

It works in .venv-gpu, the environment of `make kernels`. Times beside torch's need
torch there as well (`.venv-gpu/bin/pip install torch`); without it only the kernels are
timed. Exit status 3 says that there is no GPU.
"""

import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
NO_GPU = 3
HEADS, LENGTHS, RUNS = 16, (512, 1024, 2048, 4096, 8192, 16384), 20
SHOWN = "  {:32} n={:6} d={:4} {:8} causal={!s:6} {:10} ms {:8} TFLOP/s"
WHAT = ("Milliseconds of one attention with 16 heads, forward, the middle of 20 runs,"
        " timed with CUDA events after a warm-up.")


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
        "causal, window, padding": masks.causal() & masks.window(40)
        & masks.padding([199, 31]),
    }
    shapes = [(4, 4, 200, 200), (4, 2, 77, 200), (2, 1, 200, 200)]
    grid = product(RUNGS, (64, 128, 40), ("float32", "float16"), seen.items(), shapes)
    for rung, d, dtype, (name, mask), shape in grid:
        yield f"{rung} d={d} {dtype} {name} {shape}", check(rung, d, dtype, mask, shape)


def check(rung: str, d: int, dtype: str, mask: Any, shape: tuple[int, ...]) -> str:
    """What is wrong with a kernel's answer; against float64, by the accuracy rule."""
    from onlinesoftmax import dense, gpu

    heads, shared, n, keys = shape
    rng = np.random.default_rng(9)
    sizes = [(2, heads, n, d), (2, shared, keys, d), (2, shared, keys, d)]
    q, k, v = (rng.standard_normal(size).astype(dtype) for size in sizes)
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


def milliseconds(run: Callable[[], object]) -> float:
    """The middle of several runs, between two events on the device."""
    from numba import cuda

    for _ in range(3):
        run()
    cuda.synchronize()
    times = []
    for _ in range(RUNS):
        start, stop = cuda.event(), cuda.event()
        start.record()
        run()
        stop.record()
        stop.synchronize()
        times.append(cuda.event_elapsed_time(start, stop))
    return statistics.median(times)


def kernels(n: int, d: int, dtype: str, causal: bool) -> Iterator[tuple[str, Callable]]:
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
    out, lse = cuda.device_array_like(arrays[0]), cuda.device_array((HEADS, n), np.float32)
    for rung in RUNGS:
        build = Build.shipped(rung, d)
        launch = compiled(build)[task.grid(build), build.threads]
        yield rung, lambda go=launch: go(*arrays, out, lse, lengths, *task[4:])


def library(n: int, d: int, dtype: str, causal: bool) -> Iterator[tuple[str, Callable]]:
    """Yield torch's ways to attend: three steps in plain torch, and its back ends."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    q, k, v = (torch.randn(1, HEADS, n, d, dtype=getattr(torch, dtype), device="cuda")
               for _ in range(3))
    hidden = torch.ones(n, n, dtype=torch.bool, device="cuda").triu(1)

    def plain() -> torch.Tensor:
        scores = q @ k.mT * d**-0.5
        if causal:
            scores = scores.masked_fill(hidden, float("-inf"))
        return scores.softmax(-1) @ v

    def attend(backend: SDPBackend) -> torch.Tensor:
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v, is_causal=causal)

    yield "torch, three steps", plain
    yield "torch, matmul alone", lambda: q @ k.mT
    backends = ("MATH", "EFFICIENT_ATTENTION", "FLASH_ATTENTION", "CUDNN_ATTENTION")
    for name in backends:
        if hasattr(SDPBackend, name):
            backend = getattr(SDPBackend, name)
            label = f"torch SDPA, {name.lower().replace('_', ' ')}"
            yield label, lambda b=backend: attend(b)


def on_one_stream(run: Callable[[], object]) -> Callable[[], object]:
    """Torch's work on the stream that Numba's events are recorded on."""
    import torch

    return lambda: _in(torch.cuda.default_stream(), run)


def _in(stream: Any, run: Callable[[], object]) -> object:
    import torch

    with torch.cuda.stream(stream), torch.no_grad():
        return run()


def times() -> Iterator[list[Any]]:
    """Yield a row for each way, length, width, dtype, mask: milliseconds, TFLOP/s."""
    grid = product(LENGTHS, (64, 128), ("float32", "float16"), (False, True))
    for n, d, dtype, causal in grid:
        ways = list(kernels(n, d, dtype, causal))
        if has_torch():
            ways += [(name, on_one_stream(run))
                     for name, run in library(n, d, dtype, causal)]
        for name, run in ways:
            try:
                took = milliseconds(run)
            except (RuntimeError, MemoryError) as error:  # a back end that declines
                first = str(error).strip().splitlines()[0][:60]
                print(f"  {name} n={n} d={d} {dtype}: {first}")
                continue
            work = 4 * HEADS * n * n * d / (2 if causal and "alone" not in name else 1)
            work /= 2 if "alone" in name else 1
            rate = work / took / 1e9
            yield [name, n, d, dtype, causal, round(took, 4), round(rate, 2)]


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
    done = subprocess.run(query, capture_output=True, text=True)
    versions = {"driver": done.stdout.split("\n")[0] or "unknown"}
    versions["CUDA"] = ".".join(map(str, cuda.runtime.get_version()))
    for name in ("numba-cuda", "numba", "torch"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "absent"
    return {"machine": device(), "versions": versions, "date": date.today().isoformat(),
            "command": "make gpu"}


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
    for row in times():
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
