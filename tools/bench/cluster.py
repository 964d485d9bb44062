"""What the chapter on many machines shows: three runs on a cluster, one row an event.

Each is a real attention on three worker processes of this machine, which share its
cores. In the second run a worker is killed while it holds states that nobody has merged
yet; in the third, while it holds the only copy of a merged state.
"""

import asyncio
import os
import re
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, LocalCluster
from distributed.diagnostics.plugin import SchedulerPlugin, WorkerPlugin

from tiledattention import cluster
from tiledattention.cluster.tree import FAN
from tools.bench.machines import write_random

Given = tuple[np.ndarray, str, str]
Row = list[Any]

WORKERS = 3
COLUMNS = "run event number worker from start stop until bytes".split()
ENDINGS = ("calm", "states", "merge")  # what the worker that dies holds; one run each
TRIES = 8  # runs, until a worker has died at such a moment
SOON = 0.5  # s, after which nothing moves any more
WHAT = (
    "Attention of {queries:,} queries over {keys:,} keys and values of {width} numbers,"
    " float32, in {chunks} chunks that lie in Zarr, by Dask on {workers} worker processes"
    " of one thread, which share one machine. Who did what, from which millisecond of the"
    " run to which, and until when the state was kept. In the runs “states” and “merge” a"
    " process is killed (SIGKILL) once it holds what the run is named after, while it"
    " folds a chunk. All answers have the same bits."
)


class Size(NamedTuple):
    """How much there is to do."""

    queries: int = 2560
    width: int = 64
    chunk: int = 65536  # keys
    chunks: int = 24


def measure(size: Size | None = None) -> dict[str, Any]:
    """What happened in each run, as a table; the answers have to be one, bit by bit."""
    size = size or Size()
    rows: list[Row] = []
    answers = []
    with tempfile.TemporaryDirectory() as home:
        given = stored(Path(home), size)
        for ending in ENDINGS:
            answer, own = in_time(given, size, ending)
            answers.append(answer.tobytes())
            rows += [[ending, *row] for row in own]
    if len(set(answers)) > 1:
        raise RuntimeError("the answers of the runs differ in their bits")
    return {"what": said(size), "columns": COLUMNS, "rows": rows}


def said(size: Size) -> str:
    """One text on what was run."""
    keys = size.chunk * size.chunks
    return WHAT.format(**size._asdict(), keys=keys, workers=WORKERS)


def stored(home: Path, size: Size) -> Given:
    """Queries, and the paths of keys and values in Zarr, drawn chunk by chunk."""
    rng, shape = np.random.default_rng(16), (size.chunks, size.chunk, size.width)
    names = ("keys.zarr", "values.zarr")
    paths = [write_random(home / name, rng, *shape) for name in names]
    q = rng.standard_normal((size.queries, size.width), np.float32)
    return q, *paths


def in_time(given: Given, size: Size, ending: str) -> tuple[np.ndarray, list[Row]]:
    """An answer and its events, of the first run in which the worker died as planned."""
    for _ in range(TRIES):
        answer, rows = recorded(given, size, ending)
        if teaches(rows, ending):
            return answer, rows
    raise RuntimeError(f"{ending}: in {TRIES} runs no worker died at such a moment")


def recorded(given: Given, size: Size, ending: str) -> tuple[np.ndarray, list[Row]]:
    """One run: its answer, and its events in the order in which they began."""
    q, keys, values = given
    with tempfile.TemporaryDirectory() as folder:
        with on_workers(folder) as client:
            warm_up(client, q)
            killer = Killer(ending, client)
            began = time.time()
            answer = cluster.attention(q, keys, values, client=client, chunk=size.chunk)
            ended = time.time()
            killer.done = True
            time.sleep(SOON)
        files = sorted(Path(folder).iterdir())
        ends = [killer.at.get(int(file.name), ended) for file in files]
        found = [Event("end", start=ended, stop=ended, until=ended), *killer.events]
        for file, end in zip(files, ends, strict=True):
            own = (note for note in noted(file) if note.at >= began)
            found += events(own, killer.names, end)
    return answer, in_rows(found, size.chunk, began)


def warm_up(client: Client, q: np.ndarray) -> None:
    """Let every worker import what it needs, and Numba find what it has compiled."""
    few = np.zeros((256, q.shape[1]), np.float32)
    for _ in range(2):
        cluster.attention(q[:8], few, few, client=client, chunk=8)
    time.sleep(SOON)


@contextmanager
def on_workers(folder: str) -> Iterator[Client]:
    """A client of workers that note in a folder what they do."""
    with (
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
        ) as local,
        Client(local) as client,
    ):
        client.register_plugin(Notes(folder))
        yield client


# ---- what the workers note ----


class Note(NamedTuple):
    """A line of a worker: a task goes from one of Dask's states to another."""

    at: float
    worker: int
    key: str
    before: str
    after: str
    bytes: int
    source: str  # the address that a result is fetched from


class Notes(WorkerPlugin):
    """Writes each change at once, so that the note outlives its process."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def setup(self, worker: Any) -> None:
        """Begin a file, named after the process."""
        self.worker = worker
        self.file = open(f"{self.folder}/{os.getpid()}", "a", buffering=1)  # noqa: SIM115

    def transition(self, key: str, start: str, finish: str, **_: Any) -> None:
        """Write a line."""
        task = self.worker.state.tasks.get(key)
        size = getattr(task, "nbytes", None) or 0
        source = getattr(task, "coming_from", None) or ""
        line = (time.time(), self.worker.name, key, start, finish, size, source)
        print(*line, sep="\t", file=self.file)


def noted(file: Path) -> Iterator[Note]:
    """The lines of a process, except a last one that was cut off."""
    for line in file.read_text("utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            at, worker, key, before, after, size, source = line[:-1].split("\t")
            own = (float(at), int(worker), key, before, after, int(size), source)
            yield Note(*own)


class Event(NamedTuple):
    """What a worker did: it computed a task, or fetched a result."""

    name: str  # the key of a task, if it is one
    worker: int | str = ""
    source: int | str = ""
    start: float = 0
    stop: float = 0
    until: float = 0
    bytes: int = 0
    sent: bool = False


def events(notes: Iterator[Note], names: dict[str, int], end: float) -> Iterator[Event]:
    """What one process did until its end; what it was at then, it never finished."""
    begun: dict[str, Note] = {}
    made: dict[str, Event] = {}
    for note in notes:
        step, key = (note.before, note.after), note.key
        if note.after == "executing" or (note.after == "flight" and note.source):
            begun[key] = note
        elif step == ("executing", "memory"):
            start = begun.pop(key).at
            made[key] = Event(key, note.worker, "", start, note.at, end, note.bytes)
        elif step == ("flight", "memory"):
            since, source = begun[key].at, names[begun.pop(key).source]
            size = note.bytes
            yield Event(key, note.worker, source, since, note.at, note.at, size, True)
        elif note.before == "memory" and key in made:
            yield made.pop(key)._replace(until=note.at)
    yield from made.values()
    for key, note in begun.items():
        if note.after == "executing":
            yield Event(key, note.worker, "", note.at, end, end)


def in_rows(found: list[Event], chunk: int, began: float) -> list[Row]:
    """The events in order, with numbers for keys, letters for workers, in ms."""

    def letter(worker: int | str) -> str:
        return worker if isinstance(worker, str) else chr(65 + worker)

    rows = []
    for each in found:
        name, number = named(each.name, chunk)
        times = [round(1000 * (at - began)) for at in each[3:6]]
        who = [letter(each.worker), letter(each.source)]
        rows.append([name + " sent" * each.sent, number, *who, *times, each.bytes])
    return sorted(rows, key=lambda row: (row[4], row[5]))


def named(key: str, chunk: int) -> tuple[str, int]:
    """What a task is called here, and its number: a chunk's, or a merge's of a level."""
    found = re.match(r"(fold|merge|queries)-\w+?(?:-(\d+))?(?:-(\d+))?$", key)
    if not found or found[1] == "queries":
        return found[1] if found else key, 0
    if found[1] == "fold":
        return "fold", int(found[2]) // chunk
    return ("merge", int(found[3])) if found[2] == "1" else ("last merge", 0)


# ---- who kills ----


class Killer(SchedulerPlugin):
    """Sees what the scheduler sees, and kills a worker once it holds what it should."""

    def __init__(self, ending: str, client: Client) -> None:
        self.ending, self.done = ending, ending == "calm"
        self.pids = client.run(os.getpid)
        self.scheduler = client.cluster.scheduler
        self.names = {
            address: worker.name for address, worker in self.scheduler.workers.items()
        }
        self.made: dict[str, str] = {}  # who has folded what
        self.at: dict[int, float] = {}  # when a process was killed
        self.events: list[Event] = []
        self.scheduler.add_plugin(self)

    def add_worker(self, scheduler: Any, worker: str) -> None:
        """The nanny of the dead one has started another process."""
        self.names[worker] = scheduler.workers[worker].name
        self.note("joined", worker)

    def remove_worker(self, scheduler: Any, worker: str, **_: Any) -> None:
        """The scheduler has noticed."""
        if self.pids.get(worker) in self.at:
            self.note("noticed", worker)

    def note(self, name: str, worker: str) -> float:
        """Remember when something happened to a worker."""
        now = time.time()
        self.events.append(Event(name, self.names[worker], "", now, now, now))
        return now

    def transition(
        self, key: str, start: str, finish: str, *_: Any, **more: Any
    ) -> None:
        """A chunk is folded: is its worker the one? Then it dies in the next chunk."""
        worker = more.get("worker")
        if self.done or (start, finish) != ("processing", "memory") or not worker:
            return
        if key.startswith("fold-"):
            self.made[key] = worker
            if self.is_the_one(worker):
                self.done = True
                spans = [s for s in more["startstops"] if s["action"] == "compute"]
                long = sum(s["stop"] - s["start"] for s in spans)
                asyncio.get_running_loop().call_later(0.5 * long, self.kill, worker)

    def is_the_one(self, worker: str) -> bool:
        """Whether a worker holds what the one that dies should hold."""
        held = self.scheduler.workers[worker].has_what
        states, merged = (
            sum(task.key.startswith(kind) for task in held)
            for kind in ("fold-", "merge-")
        )
        if self.ending == "merge":
            return merged == 1
        own = sum(maker == worker for maker in self.made.values())
        return not merged and states >= 2 and own > states

    def kill(self, worker: str) -> None:
        """End the process at once, as when a machine goes down."""
        pid = self.pids[worker]
        self.at[pid] = self.note("died", worker)
        os.kill(pid, signal.SIGKILL)


# ---- what a run has to show ----


def teaches(rows: list[Row], ending: str) -> bool:
    """Whether a run shows what it is for, and nothing that its rows do not tell."""
    died = [row for row in rows if row[0] == "died"]
    if ending == "calm" or not died:
        return ending == "calm" and not died and not again(rows)
    gone, at = lost(rows), died[0][4]
    merges = [row for row in rows if row[0] == "merge" and row[6] == at]
    joined = any(row[0] == "joined" for row in rows)
    return joined and gone == again(rows) and len(merges) == (ending == "merge")


def lost(rows: list[Row]) -> list[int]:
    """The chunks that somebody had finished or begun, and of which nothing was left.

    What a merge has taken lives on in it, and dies with it, unless a copy is elsewhere.
    """
    _, _, worker, _, at, *_ = next(row for row in rows if row[0] == "died")
    copied = {
        (row[0], row[1])
        for row in rows
        if row[0].endswith(" sent") and row[3] == worker and row[5] <= at
    }
    gone = set()
    for name, number, who, _, start, stop, until, size in rows:
        if who != worker or until != at or (f"{name} sent", number) in copied:
            continue
        if name == "fold":
            gone.add(number)
        elif name == "merge" and size:
            gone |= set(range(FAN * number, FAN * number + FAN))
    return sorted(gone)


def again(rows: list[Row]) -> list[int]:
    """The chunks that were folded once more."""
    folds = [row[1] for row in rows if row[0] == "fold"]
    return sorted(number for number in set(folds) if folds.count(number) > 1)
