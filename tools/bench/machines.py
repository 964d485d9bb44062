"""What the chapter on many machines reports: more keys than a worker has room for.

The keys lie in Zarr, as random numbers, and are written anew for each measurement. Workers
are processes of this machine, each with a limit to its memory. “Read” is
the same run of tasks, but each only reads its chunk and adds up what it read.
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
COLUMNS = [
    "bytes from",
    "workers",
    "read, s",
    "attention, s",
    "times as long",
    "MiB a worker",
]


def store(
    folder: Path, keys: int = KEYS, width: int = WIDTH, chunk: int = CHUNK
) -> None:
    """Write keys and values as arrays of Zarr."""
    import zarr

    rng = np.random.default_rng(1)
    for name in NAMES:
        array = zarr.create_array(
            folder / name,
            shape=(keys, width),
            chunks=(chunk, width),
            dtype="float32",
            compressors=None,
        )
        for start in range(0, keys, chunk):
            array[start : start + chunk] = rng.standard_normal(
                (min(chunk, keys - start), width), dtype=np.float32
            )


def forget(folder: Path) -> None:
    """Take a folder's files out of the system's cache: the next read is from the disk."""
    os.sync()
    for file in folder.rglob("*"):
        if file.is_file():
            with file.open("rb") as opened:
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def recall(folder: Path) -> None:
    """Have all of a folder's files in the system's cache."""
    for file in folder.rglob("*"):
        if file.is_file():
            file.read_bytes()


PLACES = {"disk": forget, "cache": recall}


def read_only(client: Any, folder: Path, chunk: int) -> float:
    """Read all bytes as the attention reads them, by the same workers."""
    from dask import delayed

    from tiledattention.cluster.sources import source

    given = [source(name, str(folder / name), -2) for name in NAMES]
    starts = range(0, given[0].keys, chunk)
    read = delayed(total, pure=False)
    parts = [read(*(each.part(slice(i, i + chunk)) for each in given)) for i in starts]
    return client.compute(delayed(sum)(parts)).result()


def total(*parts: Any) -> float:
    """Read the parts; a number to show that each was read to its end."""
    from tiledattention.cluster.sources import read

    return sum(float(read(part)[-1, -1]) for part in parts)


def attend(client: Any, folder: Path, q: Any, chunk: int) -> Any:
    """The attention itself."""
    from tiledattention import cluster

    keys, values = (str(folder / name) for name in NAMES)
    return cluster.attention(q, keys, values, chunk=chunk, client=client)


def peak() -> float:
    """The most memory that this process has had, in MiB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def seconds(task: Callable[[], Any], before: Callable[[], Any]) -> float:
    """How long a task takes, after something that is not timed."""
    before()
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def scale() -> dict[str, Any]:
    """Rows for the disk and for the cache, with one worker and with two."""
    q = np.random.default_rng(2).standard_normal((QUERIES, WIDTH), dtype=np.float32)
    with ExitStack() as stack:
        place = tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR"))
        folder = Path(stack.enter_context(place))
        store(folder)
        clients = {each: stack.enter_context(started(each)) for each in CLUSTERS}
        rows = in_turn(folder, q, clients)
    leaves = KEYS // CHUNK
    what = SCALE.format(
        queries=QUERIES,
        keys=KEYS,
        width=WIDTH,
        size=8 * KEYS * WIDTH / 1e9,
        tasks=tasks_of(leaves),
        limit=LIMIT / 1e9,
        repeats=REPEATS,
    )
    return {"what": what, "columns": COLUMNS, "rows": rows}


def tasks_of(leaves: int) -> int:
    """How many tasks a run has: the queries, the chunks, the merges."""
    from tiledattention.cluster.tree import tree

    merges: list[int] = []
    tree(range(leaves), lambda own, level, place: merges.append(level) or 0)
    return 1 + leaves + len(merges)


@contextmanager
def started(workers: int) -> Iterator[Any]:
    """The client of a cluster of so many workers."""
    from distributed import Client, LocalCluster

    options = {
        "n_workers": workers,
        "threads_per_worker": 1,
        "memory_limit": LIMIT,
        "dashboard_address": "127.0.0.1:0",
    }
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        yield client


def in_turn(folder: Path, q: Any, clients: dict[int, Any]) -> list[list[Any]]:
    """The rows. A disk may be slower for minutes: so each round asks every cluster."""
    attentions = {
        n: partial(attend, each, folder, q, CHUNK) for n, each in clients.items()
    }
    for attention in attentions.values():
        attention()  # compiled, and Python's modules loaded
    found = defaultdict(list)
    for _, (come, before), n in product(range(REPEATS), PLACES.items(), clients):
        alone = seconds(
            partial(read_only, clients[n], folder, CHUNK), partial(before, folder)
        )
        whole = seconds(attentions[n], partial(before, folder))
        found[come, n].append((alone, whole))
    rows = []
    for (come, n), spent in sorted(found.items()):
        alone, whole = map(median, zip(*spent))
        most = max(clients[n].run(peak).values())
        times = [f"{x:.2f}" for x in (alone, whole, whole / alone)]
        rows.append([come, n, *times, f"{most:.0f}"])
    return rows
