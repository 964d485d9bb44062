"""On the GPU at hand: is every kernel right, and how long does it take?

    print(trial.check_all())     every case that is wrong; without a GPU, simulated ones
    rows = trial.time_all(6)     of every way to attend, for at most so many minutes
    trial.save(rows, folder)     a file with the times, the device and the versions

`make gpu` and the notebook `gpu.ipynb` call these. The GPU is one of NVIDIA that Numba
finds, or one of any make that the package wgpu does. On a GPU in software kernels are
checked when it is asked for, and no time is stored. Without any, the smallest cases run
in the block simulator, and nothing is timed.
"""

import json
import math
import re
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from onlinesoftmax import dense, inputs, masks
from onlinesoftmax.precision import round_to
from tiledattention.gpu import webgpu as any_gpu
from tiledattention.gpu.ladder import LADDER, PORTABLE, RUNGS
from tiledattention.gpu.launch import attention
from tiledattention.gpu.nvidia import device, has_gpu, numba_launches
from tiledattention.gpu.planner import ADAPTERS, DEVICES, plan_checked
from tiledattention.gpu.task import BITS, from_bits

HEADS, LENGTHS = 16, (512, 1024, 2048, 4096, 8192, 16384)
RUNS, WINDOW = 10, 20  # windows of so many milliseconds
TOO_LONG = 400  # milliseconds of one run: what would take longer is left out
IN_SOFTWARE = 128, 64, "float32", False  # the size at which such a GPU compares ways
COLUMNS = ["way", "n", "d", "dtype", "causal", "milliseconds", "TFLOP/s"]
SHOWN = "  {:32} n={:6} d={:4} {:8} causal={!s:6} {:10} ms {:8} TFLOP/s"
COMMAND = "make gpu"
WHAT = (
    "Milliseconds of one attention with 16 heads, forward, run back to back with"
    " warm caches in windows of 20 ms, the ways in turn: the middle of 10."
)


# ---- where? ----


def place(on: str = "auto") -> str:
    """Return on what kernels are tried: "cuda", "webgpu" or "simulator".

    "auto" takes the first of them that is here, and no GPU in software.
    """
    if on not in DEVICES:
        raise ValueError(f"on: expected one of {[*DEVICES]}, got {on!r}")
    if on != "auto":
        return on
    if has_gpu():
        return "cuda"
    real = not numba_launches() and any_gpu.is_real()
    return "webgpu" if real else "simulator"


def clock(on: str) -> Any:
    """Return the module that times kernels there."""
    return import_module(f"kernellab.timing_{on}")


def rungs_on(on: str) -> tuple[str, ...]:
    """Return the rungs that run there."""
    return RUNGS if on == "cuda" else PORTABLE


def named(on: str = "auto") -> str:
    """Return what kernels are tried on, in words."""
    on = place(on)
    return device() if on == "simulator" else str(clock(on).name())


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


WHOLE = [(4, 4, 200, 200), (4, 2, 77, 200), (2, 1, 200, 200), (2, 2, 1, 200),
            (2, 1, 230, 200)]  # fmt: skip
SHORT = [(4, 2, 77, 100), (2, 1, 130, 120)]  # for one in software, which is slow
SIMULATED = [(2, 1, 11, 13)]


def cases(on: str = "auto") -> Iterator[Case]:
    """Yield the cases for the device at hand: the smallest where it is simulated."""
    on = place(on)
    shapes = SIMULATED
    if on != "simulator":
        shapes = SHORT if clock(on).is_software() else WHOLE
    for shape in shapes:
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
        widths = (8, 5) if on == "simulator" else (64, 128, 40)
        for rung in rungs_on(on):
            grid = product([rung], widths, LADDER[rung].dtypes, seen)
            yield from (Case(*each, shape) for each in grid)


def check_all(on: str = "auto") -> list[str]:
    """Check every case; return a line for each wrong one, and say how many are right."""
    on = place(on)
    print(f"on {named(on)}" + (": the smallest cases" if on == "simulator" else ""))
    checked = [(case, check(case, on)) for case in cases(on)]
    wrong = [f"{case}: {said}" for case, said in checked if said]
    print("".join(f"  {line}\n" for line in wrong), end="")
    print(f"{len(checked) - len(wrong)} of {len(checked)} cases are right")
    return wrong


def check(case: Case, on: str = "auto") -> str:
    """Return what is wrong with a kernel's answer, by the accuracy rule; or nothing."""
    q, k, v = drawn(case)
    device = "auto" if on == "simulator" else on  # Numba may simulate as well
    try:
        out, lse = answer(case, q, k, v, device)
    except (ValueError, RuntimeError) as error:
        return f"it does not run: {first_line(error)}"
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    truth, true_lse = dense.attention(q, k, v, mask=case.mask, return_lse=True)
    # Values that cancel in the output have been rounded all the same.
    sizes = dense.attention(q, k, np.abs(v), mask=case.mask)
    allowed = tolerance(case, float(np.max(sizes)))
    off = np.abs(out.astype(np.float64) - truth).max()
    if not off <= allowed:
        return f"off by {off:.2e}, allowed {allowed:.2e}"
    same = np.array_equal(np.isinf(lse), np.isinf(true_lse))
    seen = np.isfinite(true_lse)
    if not same or not np.allclose(lse[seen], true_lse[seen], rtol=1e-5, atol=1e-5):
        return "lse is off"
    return ""


def answer(
    case: Case, q: np.ndarray, k: np.ndarray, v: np.ndarray, device: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the output and the LSE of the case's kernel."""
    if case.dtype == "bfloat16":  # without the package that has this dtype
        plan = plan_checked(asked(case, q, k, v), case.mask, case.rung, device)
        out, lse = ADAPTERS[plan.on].launch(plan)
        out = from_bits(out)[..., : case.d].reshape(q.shape)
        return out, lse.reshape(q.shape[:-1])
    how: dict[str, Any] = {"kernel": case.rung, "device": device, "return_lse": True}
    out, lse = attention(q, k, v, mask=case.mask, **how)
    return out, lse


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
    if case.dtype == "bfloat16":
        return [np.asarray(round_to(x, case.dtype), np.float32) for x in (q, k, v)]
    return [x.astype(case.dtype) for x in (q, k, v)]


def asked(case: Case, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> inputs.Attention:
    """Return queries, keys and values as a kernel takes them, in the case's dtype."""
    found = inputs.attention(q, k, v, None, None, None)
    return found._replace(dtype=BITS) if case.dtype == "bfloat16" else found


# The largest error of one rounding of 1.
ROUNDING = {"float32": 0.0, "float16": 2.0**-11, "bfloat16": 2.0**-8}


def tolerance(case: Case, largest: float) -> float:
    """How far off a kernel may be where this is the largest average of |v|."""
    keys = case.shape[3]
    # Blocks of one key: so many roundings. Fast exponentials add two bits, and a result
    # of 16 bits is rounded once more; so are weights that tensor cores multiply.
    allowed = (keys + math.log2(keys) + 4) * 4 * 2.0**-24 * largest
    roundings = 1 if LADDER[case.rung].portable else 2
    return allowed + roundings * ROUNDING[case.dtype] * largest


# ---- how long does it take? ----

Way = Callable[[int], float]  # does it so many times; the milliseconds of all of them
Size = tuple[int, int, str, bool]  # n, d, dtype, causal
Row = list[Any]  # of the columns COLUMNS


def time_all(
    minutes: float = math.inf, lengths: Iterable[int] = LENGTHS, on: str = "auto"
) -> list[Row]:
    """Time every way to attend; short sequences first, until the time is up.

    Parameters
    ----------
    minutes : float
        When to stop; what has been timed by then is returned.
    lengths : iterable of int
        How many queries and keys, in rising order.
    on : str
        As for `place`.

    Returns
    -------
    list of lists
        Rows of the columns `COLUMNS`; empty where there is no GPU to time.
    """
    on = place(on)
    if on == "simulator" or clock(on).is_software():
        print(f"on {named(on)}: nothing is timed")
        return []
    rows: list[Row] = []
    end = time.monotonic() + 60 * minutes
    lengths = tuple(lengths)
    for size in product(lengths, (64, 128), ("float32", "float16"), (False, True)):
        if time.monotonic() > end:
            print(f"  the time is up before {size}")
            break
        before = {tuple(row[:5]): row[5] for row in rows}
        for row in times(size, before if size[0] > lengths[0] else None, on):
            rows.append(row)
            print(SHOWN.format(*row), flush=True)
    return rows


def times(
    size: Size, before: dict[tuple[Any, ...], float] | None, on: str
) -> list[Row]:
    """Return a row for each way at one size, except those `before` calls too slow.

    `before` has the milliseconds by what comes before them in a row; None at the first
    length. Twice the length is four times the work. The ways run in turn, a window
    each, so that what slows the machine down for a while slows all of them.
    """
    n, *rest = size
    ready = {}  # the ways, and how often each runs in a window
    for name, way in listed(size, on):
        half = 0.0 if before is None else before.get((name, n // 2, *rest))
        if half is None or 4 * half > TOO_LONG:
            continue  # it was left out at half the length, or would be too slow
        if count := warmed(name, way, size, on):
            ready[name] = way, count
    took: dict[str, list[float]] = {name: [] for name in ready}
    for _ in range(RUNS):
        for name, (way, count) in ready.items():
            took[name].append(way(count) / count)
    return [row_of(name, size, statistics.median(took[name])) for name in ready]


def listed(size: Size, on: str) -> list[tuple[str, Way]]:
    """Return the ways to attend at one size, as far as there is memory for them."""
    found = []
    try:
        for each in clock(on).ways(HEADS, *size):
            found.append(each)
    except clock(on).refusals() as error:
        print(f"  {size}: {first_line(error)}")
    return found


def warmed(name: str, way: Way, size: Size, on: str) -> int:
    """Return how often a way runs in a window, once it is warm; 0 where it declines."""
    try:
        way(1)
        return math.ceil(WINDOW / max(way(1), 0.001))
    except clock(on).refusals() as error:  # a back end that cannot, or no memory
        n, d, dtype, _ = size
        print(f"  {name} n={n} d={d} {dtype}: {first_line(error)}")
        return 0


def row_of(name: str, size: Size, took: float) -> Row:
    """Return the row of one way, which takes so many milliseconds."""
    n, d, dtype, causal = size
    work = 4 * HEADS * n * n * d
    if "alone" in name or causal:
        work /= 2
    return [name, n, d, dtype, causal, round(took, 4), round(work / took / 1e9, 2)]


def ratios(on: str) -> dict[str, float]:
    """Return how many times as fast as the lowest rung each way is, at a small size."""
    rows = times(IN_SOFTWARE, None, place(on))
    return {row[0]: rows[0][5] / row[5] for row in rows}


def first_line(error: Exception) -> str:
    """Return the first line of what an error says, cut short."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:100]


# ---- what is stored ----


def save(
    rows: list[Row],
    folder: Path | str = ".",
    command: str = COMMAND,
    on: str = "auto",
) -> Path:
    """Write the times, with where they come from, as the book reads them.

    Parameters
    ----------
    rows : list of lists
        As `time_all` returns them.
    folder : Path or str
        Where the file goes; to be published, to `book/data` of the repository.
    command : str
        What measured them.
    on : str
        As for `time_all`.

    Returns
    -------
    Path
    """
    if not rows:
        raise ValueError(
            "rows: expected the rows of time_all, got none: nothing was timed"
        )
    timed = clock(place(on))
    if timed.is_software():
        raise ValueError(
            f"on: expected a GPU, got {timed.name()}: its times are of no use"
        )
    timed_rungs = {row[0] for row in rows}
    absent = [rung for rung in rungs_on(place(on)) if rung not in timed_rungs]
    left_out = [f"Left out: {', '.join(absent)}."] if absent else []
    record = {
        "what": " ".join([WHAT, *timed.remarks(), *left_out]),
        "columns": COLUMNS,
        "rows": rows,
        "machine": timed.name(),
        "backend": timed.BACKEND,
        "versions": timed.versions(),
        "date": date.today().isoformat(),
        "command": command,
    }
    name = re.sub(r"[^a-z0-9]+", "-", record["machine"].lower()).strip("-")
    file = Path(folder) / f"gpu-{name}.json"
    file.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return file
