"""Measures what the book reports, and stores it in book/data.

    python -m tools.bench            everything
    python -m tools.bench threads    one measurement

What is timed are the cells a chapter prints, run as they stand there. Those named cpu…
take turns with PyTorch, and say so where it is missing.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from tools.bench import cpu as bench_cpu
from tools.bench import peers as bench_peers
from tools.building.chapters import Page, code_cells, notebook

ROOT = Path(__file__).resolve().parents[2]
REPEATS = 200
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
OWN = 2  # a core has its first two caches to itself


@dataclass(frozen=True)
class Bench:
    """Which cell of which chapter to time, and how to make a table of it.

    `beside` are packages that it takes turns with, or needs; the book runs without them.
    What needs no cell of a chapter names none: it is given an empty dictionary.
    """

    chapter: str | None
    cell: str | None
    measure: Callable[[dict[str, Any]], dict[str, Any]]
    beside: tuple[str, ...] = ()


THREADS = (
    "Softmax-dot of {scores:,} scores by shared(), as above, on several threads:"
    " how many times as fast as on one. Best of {repeats} runs."
)


def threads(cells: dict[str, Any]) -> dict[str, Any]:
    """Softmax-dot shared between threads: how many times as fast as one."""
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
    """Bits that no block size changes: how many times as long they take."""
    tried, repeats, rows = cells["tried"], 31, []
    for n in (1024, 2048, 4096):
        given = cells["drawn"](n)
        ways = [lambda x=given, same=same: tried(x, same) for same in (False, True)]
        usual, same_bits = interleaved(ways, repeats)
        rows.append([f"{n:,}", f"{same_bits / usual:.2f}"])
    return {
        "what": EXACT.format(repeats=repeats),
        "columns": ["queries and keys", "times as long"],
        "rows": rows,
    }


def on_cpu(measure: Callable[..., dict[str, Any]], cell: str, *beside: str) -> Bench:
    """A bench of the chapter on CPUs."""

    def run(cells: dict[str, Any]) -> dict[str, Any]:
        return measure(cells, partial(interleaved, of=median))

    return Bench("tiles-on-a-cpu", cell, run, beside)


def peers(cells: dict[str, Any], taking_turns: Any) -> dict[str, Any]:
    """The library beside whoever is installed."""
    return bench_peers.beside(os.cpu_count() or 1, taking_turns)


def machines(_: dict[str, Any]) -> dict[str, Any]:
    """More keys than a worker has room for: how long, and in how much memory."""
    from tools.bench import machines as bench_machines

    return bench_machines.scale()


def cluster_run(_: dict[str, Any]) -> dict[str, Any]:
    """Three runs on a cluster, event by event."""
    from tools.bench import cluster as bench_cluster

    return bench_cluster.runs()


CLUSTER = ("distributed", "zarr", "numba")
BENCHES = {
    "threads": Bench("05-merge", "threads", threads),
    "exact": Bench("where-the-digits-go", "its-price", exact),
    "cpu": on_cpu(bench_cpu.ladder, "every-rung", "numba", "torch"),
    "cpu-lines": on_cpu(bench_cpu.lines, "by-lines"),
    "cpu-blocks": on_cpu(bench_cpu.blocks, "strips", "numba"),
    "cpu-softmax": on_cpu(bench_cpu.alone, "alone", "numba", "torch"),
    "cpu-beside": on_cpu(peers, "imports", "numba", "torch"),
    "cluster": Bench(None, None, machines, CLUSTER),
    "cluster-run": Bench(None, None, cluster_run, CLUSTER),
    "cpu-decode": on_cpu(bench_cpu.decoding, "by-lines", "numba", "torch"),
}
# NumPy's products would take all cores by themselves. It reads this when it is imported.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def interleaved(
    tasks: list[Callable[[], object]],
    repeats: int = REPEATS,
    of: Callable[[list[float]], float] = min,
    after: int = 0,
) -> list[float]:
    """The best time of each task in seconds, or another figure `of` its times.

    All take turns, so that none is lucky. Each turn begins with so many runs that are not
    timed: `after` one, a task finds the caches as it left them itself.
    """
    times: list[list[float]] = [[] for _ in tasks]
    for task in tasks:
        task()
    for _ in range(repeats):
        for task, spent in zip(tasks, times, strict=True):
            for _ in range(after):
                task()
            start = time.perf_counter()
            task()
            spent.append(time.perf_counter() - start)
    return [of(spent) for spent in times]


def run_until(chapter: str, last: str) -> dict[str, Any]:
    """Run a chapter's cells up to the one named `last`; give what they define.

    Cells that only talk to the page (figures, drills, numbers for the prose) are left
    out.
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
    """The machine, the versions, the day and the command; for a CPU its caches."""
    packages = {"numpy": "NumPy", "numba": "Numba", "torch": "PyTorch"}
    packages |= {"distributed": "Dask", "zarr": "Zarr"}
    beside = ("numpy", *BENCHES[name].beside) if name in BENCHES else ("numpy",)
    if name == "cpu-beside":
        packages |= {"onnxruntime": "ONNX Runtime", "jax": "JAX"}
        beside += tuple(each for each in ("onnxruntime", "jax") if find_spec(each))
    return {
        "machine": f"{_processor()}, {os.cpu_count()} cores",
        **({"caches": caches()} if name.startswith("cpu") else {}),
        "versions": {"Python": platform.python_version()}
        | {packages[package]: version(package) for package in beside},
        "date": date.today().isoformat(),
        "command": f"python -m tools.bench {name}",
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    return named[0] if named else platform.processor() or platform.machine()


def caches(of: Path = CACHES) -> dict[str, int]:
    """KiB of a core's own caches for numbers, as Linux tells them; elsewhere none.

    A third cache is shared, on a rented machine with strangers too: it is left out.
    """
    found = {}
    for cache in sorted(of.glob("index*")):
        kind, level, size = (
            (cache / name).read_text("utf-8").strip()
            for name in ("type", "level", "size")
        )
        if kind != "Instruction" and int(level) <= OWN:
            found[f"L{level}"] = int(size.removesuffix("K"))
    return dict(sorted(found.items()))


def take(name: str) -> None:
    """Measure, and store what is found."""
    bench = BENCHES[name]
    cells = run_until(bench.chapter, bench.cell) if bench.chapter else {}
    result = bench.measure(cells) | provenance(name)
    file = ROOT / "book" / "data" / f"{name}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(written(result), "utf-8")
    print(f"{file.relative_to(ROOT)}: {result['rows'][:40]}")


def written(result: dict[str, Any]) -> str:
    """As JSON, with each row of the table on a line of its own."""
    rows = ",\n".join(
        f"    {json.dumps(r, ensure_ascii=False)}" for r in result["rows"]
    )
    text = json.dumps(result | {"rows": []}, indent=2, ensure_ascii=False)
    return text.replace('"rows": []', f'"rows": [\n{rows}\n  ]', 1) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(BENCHES))
    names = parser.parse_args().names or list(BENCHES)
    if unknown := sorted(set(names) - set(BENCHES)):
        parser.error(f"no measurement {', '.join(unknown)}: there are {list(BENCHES)}")
    if len(names) > 1:  # each in a process of its own, so that none warms another up
        runs = [[sys.executable, "-m", "tools.bench", name] for name in names]
        return max(subprocess.run(run, check=False).returncode for run in runs)
    [name] = names
    missing = [each for each in BENCHES[name].beside if find_spec(each) is None]
    if missing:
        print(f"{name}: not measured; pip install {' '.join(missing)}")
        return 0
    if name.startswith("cpu"):
        os.environ |= ONE_THREAD
    take(name)
    return 0
