"""Records three runs on a cluster, event by event, for the chapter on many machines.

Each run is a real attention on three worker processes, which share this machine's cores.
In the second run a worker is killed while it holds states that are not merged yet; in the
third, while it holds the only copy of a merged state.
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

Inputs = tuple[np.ndarray, str, str]
Row = list[Any]

WORKERS = 3
COLUMNS = "run event number worker from start stop until bytes".split()
ENDINGS = ("calm", "states", "merge")  # what the killed worker holds; one run each
TRIES = 8  # runs, until a worker has been killed at the right moment
SOON = 0.5  # s, after which all events have been recorded
WHAT = (
    "Attention of {queries:,} queries over {keys:,} keys and values of {width} numbers,"
    " float32, in {chunks} chunks that lie in Zarr, by Dask on {workers} worker processes"
    " of one thread, which share one machine. Who did what, from which millisecond of the"
    " run to which, and until when the state was kept. In the runs “states” and “merge” a"
    " process is killed (SIGKILL) once it holds what the run is named after, while it"
    " folds a chunk. All answers have the same bits."
)


class Size(NamedTuple):
    """The size of the attention."""

    queries: int = 2560
    width: int = 64
    chunk: int = 65536  # keys
    chunks: int = 24


def measure(size: Size = Size()) -> dict[str, Any]:  # noqa: B008  (immutable)
    """Return a table of the events of each run; raise if the answers' bits differ."""
    rows: list[Row] = []
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        inputs = store_inputs(Path(folder), size)
        for ending in ENDINGS:
            answer, own = record_as_planned(inputs, size, ending)
            answers.append(answer.tobytes())
            rows += [[ending, *row] for row in own]
    if len(set(answers)) > 1:
        raise RuntimeError("the answers of the runs differ in their bits")
    return {"what": describe(size), "columns": COLUMNS, "rows": rows}


def describe(size: Size) -> str:
    """Return the description of the runs."""
    keys = size.chunk * size.chunks
    return WHAT.format(**size._asdict(), keys=keys, workers=WORKERS)


def store_inputs(folder: Path, size: Size) -> Inputs:
    """Return queries, and the paths of random keys and values in Zarr."""
    rng, shape = np.random.default_rng(16), (size.chunks, size.chunk, size.width)
    names = ("keys.zarr", "values.zarr")
    paths = [write_random(folder / name, rng, *shape) for name in names]
    q = rng.standard_normal((size.queries, size.width), np.float32)
    return q, *paths


def record_as_planned(
    inputs: Inputs, size: Size, ending: str
) -> tuple[np.ndarray, list[Row]]:
    """Record runs until a worker is killed as planned; return that run."""
    for _ in range(TRIES):
        answer, rows = record(inputs, size, ending)
        if is_as_planned(rows, ending):
            return answer, rows
    raise RuntimeError(f"{ending}: in {TRIES} runs no worker died at the right moment")


def record(inputs: Inputs, size: Size, ending: str) -> tuple[np.ndarray, list[Row]]:
    """Return the answer of one run, and its events in the order of their start."""
    q, keys, values = inputs
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
        events = [Event("end", start=ended, stop=ended, until=ended), *killer.events]
        for file, end in zip(files, ends, strict=True):
            own = (note for note in read_notes(file) if note.at >= began)
            events += worker_events(own, killer.names, end)
    return answer, table(events, size.chunk, began)


def warm_up(client: Client, q: np.ndarray) -> None:
    """Let every worker import its modules and load Numba's compiled code."""
    few = np.zeros((256, q.shape[1]), np.float32)
    for _ in range(2):
        cluster.attention(q[:8], few, few, client=client, chunk=8)
    time.sleep(SOON)


@contextmanager
def on_workers(folder: str) -> Iterator[Client]:
    """Yield a client whose workers write their notes to a folder."""
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


# ---- the workers' notes ----


class Note(NamedTuple):
    """A line of a worker: a transition of a task between two of Dask's states."""

    at: float
    worker: int
    key: str
    before: str
    after: str
    bytes: int
    source: str  # the address from which a result is fetched


class Notes(WorkerPlugin):
    """Writes each transition at once, so that the note outlives its process."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def setup(self, worker: Any) -> None:
        """Open a file, named after the process."""
        self.worker = worker
        self.file = open(f"{self.folder}/{os.getpid()}", "a", buffering=1)  # noqa: SIM115

    def transition(self, key: str, start: str, finish: str, **_: Any) -> None:
        """Write a line."""
        task = self.worker.state.tasks.get(key)
        size = getattr(task, "nbytes", None) or 0
        source = getattr(task, "coming_from", None) or ""
        line = (time.time(), self.worker.name, key, start, finish, size, source)
        print(*line, sep="\t", file=self.file)


def read_notes(file: Path) -> Iterator[Note]:
    """Yield the notes of a process, except a last line that was cut off."""
    for line in file.read_text("utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            at, worker, key, before, after, size, source = line[:-1].split("\t")
            own = (float(at), int(worker), key, before, after, int(size), source)
            yield Note(*own)


class Event(NamedTuple):
    """A worker has computed a task, or fetched a result."""

    name: str  # the key of a task, if it is one
    worker: int | str = ""
    source: int | str = ""
    start: float = 0
    stop: float = 0
    until: float = 0
    bytes: int = 0
    sent: bool = False


def worker_events(
    notes: Iterator[Note], names: dict[str, int], end: float
) -> Iterator[Event]:
    """Yield the events of one process until its end, its unfinished task too."""
    begun: dict[str, Note] = {}
    computed: dict[str, Event] = {}
    for note in notes:
        step, key = (note.before, note.after), note.key
        if note.after == "executing" or (note.after == "flight" and note.source):
            begun[key] = note
        elif step == ("executing", "memory"):
            start = begun.pop(key).at
            computed[key] = Event(key, note.worker, "", start, note.at, end, note.bytes)
        elif step == ("flight", "memory"):
            since, source = begun[key].at, names[begun.pop(key).source]
            size = note.bytes
            yield Event(key, note.worker, source, since, note.at, note.at, size, True)
        elif note.before == "memory" and key in computed:
            yield computed.pop(key)._replace(until=note.at)
    yield from computed.values()
    for key, note in begun.items():
        if note.after == "executing":
            yield Event(key, note.worker, "", note.at, end, end)


def table(events: list[Event], chunk: int, began: float) -> list[Row]:
    """Return the events in order, with numbers for keys, letters for workers, in ms."""

    def letter(worker: int | str) -> str:
        return worker if isinstance(worker, str) else chr(65 + worker)

    rows = []
    for event in events:
        name, number = parse_key(event.name, chunk)
        times = [round(1000 * (at - began)) for at in event[3:6]]
        workers = [letter(event.worker), letter(event.source)]
        rows.append(
            [name + " sent" * event.sent, number, *workers, *times, event.bytes]
        )
    return sorted(rows, key=lambda row: (row[4], row[5]))


def parse_key(key: str, chunk: int) -> tuple[str, int]:
    """Return the name of a task, and the number of its chunk or of its merge."""
    match = re.match(r"(fold|merge|queries)-\w+?(?:-(\d+))?(?:-(\d+))?$", key)
    if not match or match[1] == "queries":
        return match[1] if match else key, 0
    if match[1] == "fold":
        return "fold", int(match[2]) // chunk
    return ("merge", int(match[3])) if match[2] == "1" else ("last merge", 0)


# ---- the killer ----


class Killer(SchedulerPlugin):
    """Watches the scheduler, and kills a worker once it holds what `ending` names."""

    def __init__(self, ending: str, client: Client) -> None:
        self.ending, self.done = ending, ending == "calm"
        self.pids = client.run(os.getpid)
        self.scheduler = client.cluster.scheduler
        self.names = {
            address: worker.name for address, worker in self.scheduler.workers.items()
        }
        self.folded: dict[str, str] = {}  # the worker of each folded chunk
        self.at: dict[int, float] = {}  # the time at which a process was killed
        self.events: list[Event] = []
        self.scheduler.add_plugin(self)

    def add_worker(self, scheduler: Any, worker: str) -> None:
        """Record that the nanny of the killed worker has started another process."""
        self.names[worker] = scheduler.workers[worker].name
        self.note("joined", worker)

    def remove_worker(self, scheduler: Any, worker: str, **_: Any) -> None:
        """Record that the scheduler has noticed the loss."""
        if self.pids.get(worker) in self.at:
            self.note("noticed", worker)

    def note(self, name: str, worker: str) -> float:
        """Record an event of a worker; return its time."""
        now = time.time()
        self.events.append(Event(name, self.names[worker], "", now, now, now))
        return now

    def transition(
        self, key: str, start: str, finish: str, *_: Any, **more: Any
    ) -> None:
        """After a folded chunk, kill its worker in the next one if it is the right one."""
        worker = more.get("worker")
        if self.done or (start, finish) != ("processing", "memory") or not worker:
            return
        if key.startswith("fold-"):
            self.folded[key] = worker
            if self.holds_enough(worker):
                self.done = True
                spans = [s for s in more["startstops"] if s["action"] == "compute"]
                took = sum(s["stop"] - s["start"] for s in spans)
                asyncio.get_running_loop().call_later(0.5 * took, self.kill, worker)

    def holds_enough(self, worker: str) -> bool:
        """Return whether a worker holds what `ending` names."""
        held = self.scheduler.workers[worker].has_what
        states, merged = (
            sum(task.key.startswith(kind) for task in held)
            for kind in ("fold-", "merge-")
        )
        if self.ending == "merge":
            return merged == 1
        own = sum(other == worker for other in self.folded.values())
        return not merged and states >= 2 and own > states

    def kill(self, worker: str) -> None:
        """Kill the process, as if its machine had crashed."""
        pid = self.pids[worker]
        self.at[pid] = self.note("died", worker)
        os.kill(pid, signal.SIGKILL)


# ---- what a run has to show ----


def is_as_planned(rows: list[Row], ending: str) -> bool:
    """Return whether a run shows its loss, and whether the rows explain all of it."""
    died = [row for row in rows if row[0] == "died"]
    if ending == "calm" or not died:
        return ending == "calm" and not died and not refolded(rows)
    gone, at = lost(rows), died[0][4]
    merges = [row for row in rows if row[0] == "merge" and row[6] == at]
    joined = any(row[0] == "joined" for row in rows)
    return joined and gone == refolded(rows) and len(merges) == (ending == "merge")


def lost(rows: list[Row]) -> list[int]:
    """Return the chunks that the killed worker had begun, and that no other worker holds.

    A merged state holds its chunks; it is lost unless it was sent to another worker.
    """
    _, _, worker, _, at, *_ = next(row for row in rows if row[0] == "died")
    copied = {
        (row[0], row[1])
        for row in rows
        if row[0].endswith(" sent") and row[3] == worker and row[5] <= at
    }
    gone = set()
    for name, number, owner, _, start, stop, until, size in rows:
        if owner != worker or until != at or (f"{name} sent", number) in copied:
            continue
        if name == "fold":
            gone.add(number)
        elif name == "merge" and size:
            gone |= set(range(FAN * number, FAN * number + FAN))
    return sorted(gone)


def refolded(rows: list[Row]) -> list[int]:
    """Return the chunks that were folded more than once."""
    folds = [row[1] for row in rows if row[0] == "fold"]
    return sorted(number for number in set(folds) if folds.count(number) > 1)
