"""On the GPU at hand: is every kernel right, and how long does it take beside torch?

    print(trial.check_all())     every case that is wrong; without a GPU, simulated ones
    rows = trial.time_all(6)     of every way to attend, for at most so many minutes
    trial.save(rows, folder)     a file with the times, the device and the versions

`make gpu` and the notebook `gpu.ipynb` call these. Without a GPU the smallest cases run
in the block simulator, and nothing is timed.
"""

import json
import math
import re
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from onlinesoftmax import _inputs as inputs
from onlinesoftmax import dense, masks
from onlinesoftmax.gpu.ladder import RUNGS, Build
from onlinesoftmax.gpu.launch import attention, device, fit, has_gpu, launches

HEADS, LENGTHS = 16, (512, 1024, 2048, 4096, 8192, 16384)
RUNS, WINDOW = 10, 20  # windows of so many milliseconds
TOO_LONG = 400  # milliseconds of one run: what would take longer is left out
COLUMNS = ["way", "n", "d", "dtype", "causal", "milliseconds", "TFLOP/s"]
SHOWN = "  {:32} n={:6} d={:4} {:8} causal={!s:6} {:10} ms {:8} TFLOP/s"
COMMAND = "make gpu"
WHAT = (
    "Milliseconds of one attention with 16 heads, forward, run back to back with"
    " warm caches in windows of 20 ms between two CUDA events: the middle of 10."
)


# ---- is it right? ----


class Case(NamedTuple):
    """An attention that a kernel has to get right."""

    rung: str
    d: int
    dtype: str
    mask: masks.Mask | None
    shape: tuple[int, int, int, int]  # heads of queries, of keys; queries, keys

    def __str__(self) -> str:
        seen = "all" if self.mask is None else f"{self.mask}"
        return f"{self.rung} d={self.d} {self.dtype} {self.shape} {seen}"


ON_A_GPU = [(4, 4, 200, 200), (4, 2, 77, 200), (2, 1, 200, 200), (2, 2, 1, 200),
            (2, 1, 230, 200)]  # fmt: skip
SIMULATED = [(2, 1, 11, 13)]


def cases() -> Iterator[Case]:
    """Yield the cases for the device at hand: the smallest where it is simulated."""
    real = has_gpu()
    for shape in ON_A_GPU if real else SIMULATED:
        n, keys = shape[2:]
        seen = [
            None,
            masks.causal(),
            masks.window(keys * 7 // 20, 3),
            masks.padding([keys * 3 // 4, 0]),
            masks.causal()
            & masks.window(keys // 5)
            & masks.padding([keys - 1, keys // 6]),
        ]
        widths = (64, 128, 40) if real else (8, 5)
        grid = product(RUNGS, widths, ("float32", "float16"), seen)
        yield from (Case(*each, shape) for each in grid)


def check_all() -> list[str]:
    """Check every case; return what is wrong, and say how many are right.

    Returns
    -------
    list of str
        A line for each wrong case.
    """
    print(f"on {device()}" + ("" if has_gpu() else ": the smallest cases"))
    checked = [(case, check(case)) for case in cases()]
    wrong = [f"{case}: {said}" for case, said in checked if said]
    print("".join(f"  {line}\n" for line in wrong), end="")
    print(f"{len(checked) - len(wrong)} of {len(checked)} cases are right")
    return wrong


def check(case: Case) -> str:
    """Return what is wrong with a kernel's answer, by the accuracy rule; or nothing.

    Parameters
    ----------
    case : Case

    Returns
    -------
    str
    """
    q, k, v = drawn(case)
    out, lse = attention(q, k, v, mask=case.mask, kernel=case.rung, return_lse=True)
    wide = (x.astype(np.float64) for x in (q, k, v))
    truth, true_lse = dense.attention(*wide, mask=case.mask, return_lse=True)
    allowed = tolerance(case, np.abs(truth).max())
    off = np.abs(out.astype(np.float64) - truth).max()
    if not off <= allowed:
        return f"off by {off:.2e}, allowed {allowed:.2e}"
    same = np.array_equal(np.isinf(lse), np.isinf(true_lse))
    seen = np.isfinite(true_lse)
    if not same or not np.allclose(lse[seen], true_lse[seen], rtol=1e-5, atol=1e-5):
        return "lse is off"
    return ""


def drawn(case: Case) -> list[np.ndarray]:
    """Draw queries, keys and values; what a mask of lengths cuts off is NaN."""
    heads, shared, n, keys = case.shape
    rng = np.random.default_rng(9)
    few = (2, shared, keys, case.d)
    sizes = [(2, heads, n, case.d), few, few]
    q, k, v = (rng.standard_normal(size) for size in sizes)
    q *= 8  # so that the maximum rises, and rescaling matters
    if case.mask is not None and case.mask.lengths is not None:
        for sequence, length in enumerate(case.mask.lengths):
            k[sequence, :, length:] = v[sequence, :, length:] = np.nan
    return [x.astype(case.dtype) for x in (q, k, v)]


def tolerance(case: Case, largest: float) -> float:
    """How far off a kernel may be where the largest output is this."""
    keys = case.shape[3]
    # Blocks of one key: so many roundings. Fast exponentials add two bits, and a result
    # in half precision is rounded once more.
    allowed = (keys + math.log2(keys) + 4) * 4 * 2.0**-24 * largest
    return allowed + (2.0**-11 * largest if case.dtype == "float16" else 0)


# ---- how long does it take? ----

Way = Callable[[int], None]  # does the same thing so many times
Size = tuple[int, int, str, bool]  # n, d, dtype, causal
Row = list[Any]  # of the columns COLUMNS


def milliseconds(way: Way) -> float:
    """Of one run: many back to back between two events, so that no device waits."""
    way(2)
    count = math.ceil(WINDOW / max(between_events(way, 1), 0.001))
    return statistics.median(between_events(way, count) / count for _ in range(RUNS))


def between_events(way: Way, count: int) -> float:
    """Milliseconds that the device takes for `count` runs."""
    start, stop = cuda.event(), cuda.event()
    start.record()
    way(count)
    stop.record()
    stop.synchronize()
    return cuda.event_elapsed_time(start, stop)


def again(run: Callable[[], object], count: int) -> None:
    for _ in range(count):
        run()


def in_turn(runs: list[Callable[[], None]]) -> None:
    for run in runs:
        run()


def kernels(n: int, d: int, dtype: str, causal: bool) -> Iterator[tuple[str, Way]]:
    """Yield every rung, ready to run on arrays that are on the device already."""
    rng = np.random.default_rng(1)
    q, k, v = (rng.standard_normal((HEADS, n, d)).astype(dtype) for _ in range(3))
    asked = inputs.attention(q, k, v, None, None, None)
    task = fit(asked, masks.causal() if causal else None, d)
    out, lse = np.zeros_like(task.q), np.zeros((HEADS, n), np.float32)
    given = task.given(out, lse)
    given |= {name: cuda.to_device(x) for name, x in given.items() if np.ndim(x)}
    for rung in RUNGS:
        runs = launches(Build.shipped(rung, d), task, given)
        yield rung, partial(again, partial(in_turn, runs))


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


def time_all(minutes: float = math.inf, lengths: Iterable[int] = LENGTHS) -> list[Row]:
    """Time every way to attend; short sequences first, until the time is up.

    Parameters
    ----------
    minutes : float
        When to stop; what has been timed by then is returned.
    lengths : iterable of int
        How many queries and keys, in rising order.

    Returns
    -------
    list of lists
        Rows of the columns `COLUMNS`; empty where there is no GPU to time.
    """
    if not has_gpu():
        print(f"on {device()}: nothing is timed")
        return []
    rows: list[Row] = []
    end = time.monotonic() + 60 * minutes
    for size in product(lengths, (64, 128), ("float32", "float16"), (False, True)):
        if time.monotonic() > end:
            print(f"  the time is up before {size}")
            break
        for row in times(size, {tuple(row[:5]): row[5] for row in rows}):
            rows.append(row)
            print(SHOWN.format(*row), flush=True)
    return rows


def times(size: Size, before: dict[tuple[Any, ...], float]) -> Iterator[Row]:
    """Yield a row for each way at one size, but for those that `before` calls too slow.

    Twice the length is four times the work.
    """
    n, *rest = size
    try:
        for name, way in ways(*size):
            half = before.get((name, n // 2, *rest), 0.0 if n == LENGTHS[0] else None)
            if half is None or 4 * half > TOO_LONG:
                continue  # it was left out at half the length, or would be too slow
            if row := timed(name, way, *size):
                yield row
    except refusals() as error:  # no memory for the inputs
        print(f"  {size}: {first_line(error)}")


def timed(name: str, way: Way, n: int, d: int, dtype: str, causal: bool) -> Row | None:
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
    """The device, its driver, the versions and the day."""
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
    }


def save(rows: list[Row], folder: Path | str = ".", command: str = COMMAND) -> Path:
    """Write the times, with where they come from, as the book reads them.

    Parameters
    ----------
    rows : list of lists
        As `time_all` returns them.
    folder : Path or str
        Where the file goes; to be published, to `book/data` of the repository.
    command : str
        What measured them.

    Returns
    -------
    Path
    """
    if not rows:
        raise ValueError(
            "rows: expected the rows of time_all, got none: nothing was timed"
        )
    source = provenance() | {"command": command}
    record = {"what": WHAT, "columns": COLUMNS, "rows": rows} | source
    name = re.sub(r"[^a-z0-9]+", "-", source["machine"].lower()).strip("-")
    file = Path(folder) / f"gpu-{name}.json"
    file.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return file
