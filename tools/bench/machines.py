"""Measures attention over more keys than a worker can hold, for the chapter on machines.

The keys are random numbers in Zarr, written for each measurement. Workers are processes of
this machine, each with a memory limit. “Read” runs the same tasks, but each of them only
reads its chunk.
"""

import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

QUERIES, KEYS, WIDTH, CHUNK = 256, 2**23, 64, 2**16
LIMIT = 10**9  # bytes
CLUSTERS = (1, 2)  # workers
REPEATS = 3
NAMES = ("keys", "values")
SCALE = (
    "Attention of {queries} queries over {keys:,} keys and values of {width} numbers,"
    " float32: {size:.1f} GB in Zarr, in {tasks} tasks, by workers with one thread and"
    " {limit:.0f} GB each. “Read” is how long it takes to read the bytes alone, by the"
    " same workers, chunk by chunk. “Disk”: the system's cache of files is emptied before"
    " each run; “cache”: it holds them all. Medians of {repeats} runs, all taking turns."
)
COLUMNS = ["bytes from", "workers", "read, s", "attention, s"]
COLUMNS += ["times as long", "MiB a worker"]


def write_random(path: Path, rng: Any, chunks: int, chunk: int, width: int) -> str:
    """Write random rows to an array of Zarr, chunk by chunk; return its path."""
    import zarr

    layout = {"shape": (chunks * chunk, width), "chunks": (chunk, width)}
    array = zarr.create_array(path, **layout, dtype="float32", compressors=None)
    for start in range(0, chunks * chunk, chunk):
        rows = rng.standard_normal((chunk, width), dtype=np.float32)
        array[start : start + chunk] = rows
    return str(path)


def evict(folder: Path) -> None:
    """Remove a folder's files from the system's cache: the next read is from the disk."""
    os.sync()
    for file in folder.rglob("*"):
        if file.is_file():
            with file.open("rb") as opened:
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def preload(folder: Path) -> None:
    """Load a folder's files into the system's cache."""
    for file in folder.rglob("*"):
        if file.is_file():
            file.read_bytes()


PREPARE = {"disk": evict, "cache": preload}


def read_only(client: Any, folder: Path, chunk: int) -> float:
    """Read all bytes by the same workers, in the chunks of the attention."""
    from dask import delayed

    from tiledattention.cluster.sources import source

    arrays = [source(name, str(folder / name), -2) for name in NAMES]
    starts = range(0, arrays[0].keys, chunk)
    read = delayed(read_parts, pure=False)
    parts = [read(*(each.part(slice(i, i + chunk)) for each in arrays)) for i in starts]
    return client.compute(delayed(sum)(parts)).result()


def read_parts(*parts: Any) -> float:
    """Read the parts; return the sum of their last numbers, so that all is read."""
    from tiledattention.cluster.sources import read

    return sum(float(read(part)[-1, -1]) for part in parts)


def attend(client: Any, folder: Path, q: Any, chunk: int) -> Any:
    """Compute the attention."""
    from tiledattention import cluster

    keys, values = (str(folder / name) for name in NAMES)
    return cluster.attention(q, keys, values, chunk=chunk, client=client)


def peak() -> float:
    """Return the peak memory of this process in MiB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def seconds(task: Callable[[], Any], prepare: Callable[[], Any]) -> float:
    """Return the seconds of a task, after a preparation that is not timed."""
    prepare()
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def measure() -> dict[str, Any]:
    """Return a table with rows for disk and cache, each with one worker and with two."""
    q = np.random.default_rng(2).standard_normal((QUERIES, WIDTH), dtype=np.float32)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        rng = np.random.default_rng(1)
        for name in NAMES:
            write_random(folder / name, rng, KEYS // CHUNK, CHUNK, WIDTH)
        clients = {each: stack.enter_context(start(each)) for each in CLUSTERS}
        rows = interleave(folder, q, clients)
    what = SCALE.format(
        queries=QUERIES,
        keys=KEYS,
        width=WIDTH,
        size=8 * KEYS * WIDTH / 1e9,
        tasks=count_tasks(KEYS // CHUNK),
        limit=LIMIT / 1e9,
        repeats=REPEATS,
    )
    return {"what": what, "columns": COLUMNS, "rows": rows}


def count_tasks(leaves: int) -> int:
    """Return the number of tasks of a run: the queries, the chunks, the merges."""
    from tiledattention.cluster.tree import tree

    merges: list[int] = []
    tree(range(leaves), lambda own, level, place: merges.append(level) or 0)
    return 1 + leaves + len(merges)


@contextmanager
def start(workers: int) -> Iterator[Any]:
    """Yield the client of a cluster with this number of workers."""
    from distributed import Client, LocalCluster

    options = {
        "n_workers": workers,
        "threads_per_worker": 1,
        "memory_limit": LIMIT,
        "dashboard_address": "127.0.0.1:0",
    }
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        yield client


def interleave(folder: Path, q: Any, clients: dict[int, Any]) -> list[list[Any]]:
    """Return the rows. Clusters take turns, because a disk may be slow for minutes."""
    attentions = {
        n: partial(attend, each, folder, q, CHUNK) for n, each in clients.items()
    }
    for attention in attentions.values():
        attention()  # compiles the kernels and imports modules
    times = defaultdict(list)
    for _, (origin, prepare), n in product(range(REPEATS), PREPARE.items(), clients):
        reading = partial(read_only, clients[n], folder, CHUNK)
        pair = [seconds(x, partial(prepare, folder)) for x in (reading, attentions[n])]
        times[origin, n].append(pair)
    rows = []
    for (origin, n), pairs in sorted(times.items()):
        alone, whole = map(median, zip(*pairs))
        most = max(clients[n].run(peak).values())
        columns = [f"{x:.2f}" for x in (alone, whole, whole / alone)]
        rows.append([origin, n, *columns, f"{most:.0f}"])
    return rows
