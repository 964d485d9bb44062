"""Measures what the book reports, and stores it in book/data.

    python -m tools.bench            everything
    python -m tools.bench threads    one measurement

It times the cells that a chapter prints. Those named cpu… take turns with PyTorch, and are
skipped where it is missing.
"""

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from tools.bench import cpu as bench_cpu
from tools.bench import peers as bench_peers
from tools.building.chapters import Page, code_cells, notebook
from tools.common import records
from tools.common.paths import ROOT

REPEATS = 200
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
OWN = 2  # the levels of cache that a core does not share


@dataclass(frozen=True)
class Bench:
    """A cell of a chapter to time, and the function that makes a table of it.

    `packages` are those that it is compared with, or needs, besides the book's. A bench
    without a cell gets an empty dictionary.
    """

    chapter: str | None
    cell: str | None
    measure: Callable[[dict[str, Any]], dict[str, Any]]
    packages: tuple[str, ...] = ()


THREADS = (
    "Softmax-dot of {scores:,} scores by shared(), as above, on several threads:"
    " how many times as fast as on one. Best of {repeats} runs."
)


def threads(cells: dict[str, Any]) -> dict[str, Any]:
    """The speed of softmax-dot on several threads, compared with one."""
    shared, scores, values = (cells[name] for name in ("shared", "scores", "values"))
    counts = [1, 2, 4]
    seconds = interleaved([lambda n=n: shared(scores, values, n) for n in counts])
    return {
        "what": THREADS.format(scores=len(scores), repeats=REPEATS),
        "columns": ["threads", "times as fast"],
        "rows": [[n, f"{seconds[0] / s:.2f}"] for n, s in zip(counts, seconds)],
    }


EXACT = (
    "An attention in tiles of 64 queries and 64 keys of 64 numbers, as above: how many"
    " times as long it takes with exact_blocks. Best of {repeats} runs."
)


def exact(cells: dict[str, Any]) -> dict[str, Any]:
    """The price of results whose bits no block size changes."""
    tried, repeats, rows = cells["tried"], 31, []
    for n in (1024, 2048, 4096):
        inputs = cells["drawn"](n)
        tasks = [lambda x=inputs, same=same: tried(x, same) for same in (False, True)]
        usual, same_bits = interleaved(tasks, repeats)
        rows.append([f"{n:,}", f"{same_bits / usual:.2f}"])
    return {
        "what": EXACT.format(repeats=repeats),
        "columns": ["queries and keys", "times as long"],
        "rows": rows,
    }


def on_cpu(measure: Callable[..., dict[str, Any]], cell: str, *packages: str) -> Bench:
    """Return a bench of the chapter on CPUs."""

    def run(cells: dict[str, Any]) -> dict[str, Any]:
        return measure(cells, partial(interleaved, of=median))

    return Bench("tiles-on-a-cpu", cell, run, packages)


def on_cluster(module: str) -> Bench:
    """Return a bench of the chapter on many machines, whose module imports Dask."""

    def run(_: dict[str, Any]) -> dict[str, Any]:
        return import_module(f"tools.bench.{module}").measure()

    return Bench(None, None, run, ("distributed", "zarr", "numba"))


BENCHES = {
    "threads": Bench("05-merge", "threads", threads),
    "exact": Bench("where-the-digits-go", "its-price", exact),
    "cpu": on_cpu(bench_cpu.ladder, "every-rung", "numba", "torch"),
    "cpu-lines": on_cpu(bench_cpu.lines, "by-lines"),
    "cpu-blocks": on_cpu(bench_cpu.blocks, "strips", "numba"),
    "cpu-softmax": on_cpu(bench_cpu.alone, "alone", "numba", "torch"),
    "cpu-beside": on_cpu(bench_peers.compare, "imports", "numba", "torch"),
    "cluster": on_cluster("machines"),
    "cluster-run": on_cluster("cluster"),
}
# NumPy, which reads these variables when it is imported, would use all cores.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def interleaved(
    tasks: list[Callable[[], object]],
    repeats: int = REPEATS,
    of: Callable[[list[float]], float] = min,
    after: int = 0,
    warm: float = 0,
) -> list[float]:
    """Return the best time of each task in seconds, or another statistic `of` its times.

    The tasks take turns, so that a slow moment affects all of them. Each turn begins with
    `after` runs that are not timed, or with as many as take `warm` seconds: they fill the
    caches with the task's own data, and outlast the threads of others, which may go on
    waiting at full speed for some milliseconds.
    """
    times: list[list[float]] = [[] for _ in tasks]
    for task in tasks:
        task()
    for _ in range(repeats):
        for task, spent in zip(tasks, times, strict=True):
            begun, count = time.perf_counter(), 0
            while count < after or time.perf_counter() - begun < warm:
                task()
                count += 1
            start = time.perf_counter()
            task()
            spent.append(time.perf_counter() - start)
    return [of(spent) for spent in times]


def run_until(chapter: str, last: str) -> dict[str, Any]:
    """Run a chapter's cells up to the cell `last`; return the names they define.

    Cells that only produce output for the page (figures, drills, glue) are skipped.
    """
    nb = notebook(Page(chapter, ROOT / "book" / f"{chapter}.md"))
    names: dict[str, Any] = {}
    for cell in code_cells(nb):
        if not {"remove-cell", "remove-input"} & set(cell.metadata.get("tags", [])):
            exec(compile(cell.source, cell.id, "exec"), names)
        if cell.id == last:
            return names
    raise ValueError(f"{chapter} has no cell named {last!r}")


def provenance(name: str) -> dict[str, Any]:
    """Return the machine, the versions, the date and the command; for a CPU its caches."""
    titles = {"numpy": "NumPy", "numba": "Numba", "torch": "PyTorch"}
    titles |= {"distributed": "Dask", "zarr": "Zarr"}
    packages = ("numpy", *BENCHES[name].packages) if name in BENCHES else ("numpy",)
    if name == "cpu-beside":
        titles |= {"onnxruntime": "ONNX Runtime", "jax": "JAX"}
        packages += tuple(each for each in ("onnxruntime", "jax") if find_spec(each))
    return {
        "machine": f"{_processor()}, {os.cpu_count()} cores",
        **({"caches": caches()} if name.startswith("cpu") else {}),
        "versions": {"Python": platform.python_version()}
        | {titles[package]: version(package) for package in packages},
        "date": date.today().isoformat(),
        "command": f"python -m tools.bench {name}",
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.processor() or platform.machine()


def caches(folder: Path = CACHES) -> dict[str, int]:
    """Return the KiB of a core's own data caches, as Linux reports them; elsewhere none.

    The third level is shared, on a rented machine with other tenants: it is left out.
    """
    sizes = {}
    for cache in sorted(folder.glob("index*")):
        kind, level, size = (
            (cache / name).read_text("utf-8").strip()
            for name in ("type", "level", "size")
        )
        if kind != "Instruction" and int(level) <= OWN:
            sizes[f"L{level}"] = int(size.removesuffix("K"))
    return dict(sorted(sizes.items()))


def measure(name: str) -> None:
    """Run a bench, and store its table."""
    bench = BENCHES[name]
    cells = run_until(bench.chapter, bench.cell) if bench.chapter else {}
    table = bench.measure(cells)
    rows = table.pop("rows")
    file = ROOT / "book" / "data" / f"{name}.json"
    text = records.with_rows(table | provenance(name), "rows", rows)
    file.write_text(text, "utf-8")
    print(f"{file.relative_to(ROOT)}: {rows[:40]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(BENCHES))
    names = parser.parse_args().names or list(BENCHES)
    if unknown := sorted(set(names) - set(BENCHES)):
        parser.error(f"no measurement {', '.join(unknown)}: there are {list(BENCHES)}")
    if len(names) > 1:  # each in a new process, so that none warms up another
        runs = [[sys.executable, "-m", "tools.bench", name] for name in names]
        return max(subprocess.run(run, check=False).returncode for run in runs)
    [name] = names
    missing = [each for each in BENCHES[name].packages if find_spec(each) is None]
    if missing:
        print(f"{name}: not measured; pip install {' '.join(missing)}")
        return 0
    if name.startswith("cpu"):
        os.environ |= ONE_THREAD
    measure(name)
    return 0
