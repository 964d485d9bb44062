"""A run on a cluster: workers, chunks and states over time, and a worker that dies.

Every event is one of those that `python -m tools.bench cluster-run` stored. Nothing of
them stands here or in the words, so that another machine may record them again. It shows
no quantity of the book.

Prediction. A worker dies that had finished some chunks and was in the middle of another:
what has to be folded again? Why wrong answers tempt. "Everything": a program that
crashes is started again. "Only the chunk it was on": what is finished is finished. But
its states lay in its memory, and nowhere else. "Nothing": the scheduler knows of every
state; to know of it is not to have it.
What settles it: a run in which a worker was killed while it held states, and some of its
others had been merged elsewhere. Should another log show something else, the question
has to be asked anew, and the build stops (`moments_of_the_question`).
"""

import re
from collections.abc import Iterator
from math import ceil

import numpy as np

from livepage.figures.spec import Choice, Film, Prediction, Spec, Values
from livepage.measurements import Measurement, measured

FAN = 8  # neighbours that one merge takes
RUNS = ("calm", "states", "merge")
FOUND = measured("cluster-run.json")
# What the drawing calls an event.
CODES = {
    "fold": "f",
    "fold sent": "s",
    "merge": "m",
    "merge sent": "p",
    "last merge": "l",
    "died": "d",
    "joined": "j",
    "end": "e",
}
RUNNING, HELD, MERGED, LOST = range(4)  # what has become of a chunk that was begun
EVENTS = {
    run: [e for r in FOUND.rows if (e := dict(zip(FOUND.columns, r)))["run"] == run]
    for run in RUNS
}
WORKERS = sorted({e["worker"] for e in EVENTS["calm"] if e["event"] == "fold"})


def sizes(found: Measurement) -> tuple[int, int]:
    """How many chunks there are, and the bytes of keys and values in one."""
    said = r"([\d,]+) keys and values of ([\d,]+) numbers.* in ([\d,]+) chunks"
    figures = re.search(said, found.what).groups()
    keys, width, chunks = (int(each.replace(",", "")) for each in figures)
    return chunks, 4 * 2 * width * keys // chunks


CHUNKS, READ = sizes(FOUND)
[STATE] = {e["bytes"] for e in EVENTS["calm"] if e["event"] in ("fold", "merge")}


def columns(run: str) -> dict[str, object]:
    """A run for the drawing, a list or a text for each column."""
    shown = [e for e in EVENTS[run] if e["event"] in CODES]
    unfinished = [e["event"] == "fold" and not e["bytes"] for e in shown]
    return {
        "code": "".join(
            "u" if cut else CODES[e["event"]] for e, cut in zip(shown, unfinished)
        ),
        "worker": "".join(e["worker"] or "-" for e in shown),
        "from": "".join(e["from"] or "-" for e in shown),
        **{name: [e[name] for e in shown] for name in ("number", "start", "stop")},
    }


# ---- the same once more, event after event: what `compute` has to give ----


class Replay:
    """A run up to a moment: who has what, and what has become of each fold."""

    def __init__(self, run: str, now: float) -> None:
        self.folds: list[list] = []  # of each that has begun: [chunk, worker, status]
        self.last: dict[int, list] = {}  # of a chunk, the one that began last
        self.at: dict[tuple[str, int], set[str]] = {}  # the workers that have a state
        self.took: dict[int, list[list]] = {}  # by merge
        self.folded = self.again = self.sent = self.told = 0
        ends = [(e[end], end == "start", e) for e in EVENTS[run] for end in ENDS]
        for at, begins, event in sorted(ends, key=lambda each: each[:2]):
            name = f"{event['event']} {ENDS[begins]}".replace(" ", "_")
            if at <= now and hasattr(self, name):
                getattr(self, name)(event["number"], event["worker"], event["bytes"])

    def fold_start(self, chunk: int, worker: str, _: int) -> None:
        """A worker begins a chunk, which somebody may have folded before."""
        if chunk in self.last:
            self.told += not self.again
            self.again += 1
        self.last[chunk] = [chunk, worker, RUNNING]
        self.folds.append(self.last[chunk])

    def fold_stop(self, chunk: int, worker: str, size: int) -> None:
        """Its state is there, unless the worker has died."""
        if size:
            self.folded += 1
            self.last[chunk][2] = HELD
            self.at["fold", chunk] = {worker}

    def fold_sent_stop(self, chunk: int, worker: str, size: int) -> None:
        """A copy has come."""
        self.sent += size
        self.at["fold", chunk].add(worker)

    def merge_stop(self, place: int, worker: str, _: int) -> None:
        """Neighbours are one: nobody keeps them by themselves."""
        own = range(FAN * place, min(FAN * place + FAN, CHUNKS))
        self.took[place] = [self.last[chunk] for chunk in own]
        for fold in self.took[place]:
            fold[2] = MERGED
            del self.at["fold", fold[0]]
        self.at["merge", place] = {worker}
        self.told += 1

    def merge_sent_stop(self, place: int, worker: str, size: int) -> None:
        """A copy of a merged state has come."""
        self.sent += size
        self.at["merge", place].add(worker)

    def last_merge_stop(self, place: int, worker: str, _: int) -> None:
        """The answer is there."""
        self.at = {}
        self.told += 1

    def died_start(self, _: int, worker: str, __: int) -> None:
        """What was nowhere else is gone, and what the worker was at."""
        self.told += 1
        gone = [f for f in self.folds if f[1] == worker and f[2] == RUNNING]
        for places in self.at.values():
            places.discard(worker)
        for kind, number in [state for state, places in self.at.items() if not places]:
            del self.at[kind, number]
            gone += [self.last[number]] if kind == "fold" else self.took[number]
        for fold in gone:
            fold[2] = LOST

    def joined_start(self, *_: object) -> None:
        """Another process takes the place of the dead one."""
        self.told += 1

    def places(self, kind: str, number: int) -> str:
        """The workers that have a state, as a text of letters."""
        return "".join(sorted(self.at.get((kind, number), "")))


ENDS = ("stop", "start")  # what ends at a millisecond ends before the next begins


def expected(state: Values) -> Values:
    """Who has what at a moment, by a replay of the log, and what it has taken so far."""
    run = Replay(state["run"], 1000 * state["t"])
    return {
        "folds": run.folds,
        "chunks": [
            [run.last[c][2] if c in run.last else None, run.places("fold", c)]
            for c in range(CHUNKS)
        ],
        "nodes": [run.places("merge", k) for k in range(ceil(CHUNKS / FAN))],
        "counts": [run.folded, run.again],
        "megabytes": [run.folded * READ / 1e6, run.sent / 1e6],
        "told": run.told,
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """The moments at which something begins or ends, and some at random."""
    for run in RUNS:
        ends = [e[end] / 1000 for e in EVENTS[run] for end in ENDS]
        for t in [*ends[::2], *random.uniform(0, SECONDS, 40), SECONDS]:
            yield {"run": run, "t": float(t)}


def when(run: str, event: str) -> float:
    """The second of an event that happens once in a run."""
    return next(e["start"] / 1000 for e in EVENTS[run] if e["event"] == event)


SECONDS = ceil(max(when(run, "end") for run in RUNS))


def moments_of_the_question() -> tuple[float, float]:
    """A moment after the death, and the end, if the right answer is still right there."""
    died, end = when("states", "died"), when("states", "end")
    worker = next(e["worker"] for e in EVENTS["states"] if e["event"] == "died")
    own = [f[2] for f in Replay("states", 1000 * died).folds if f[1] == worker]
    again = expected({"run": "states", "t": end})["counts"][1]
    if not (MERGED in own and own.count(LOST) == again > 1):
        raise ValueError(
            "cluster-run.json: run “states”: expected a worker to die with a chunk begun,"
            " states that were only there, and others that had been merged elsewhere,"
            f" got folds {own} and {again} chunks folded again"
        )
    return min(ceil(10 * died + 1) / 10, SECONDS), min(ceil(10 * end) / 10, SECONDS)


DEATH, END = moments_of_the_question()

SPEC = Spec(
    controls=(Choice("run", RUNS[0], of=RUNS), Film("t", seconds=SECONDS)),
    still={"run": "states", "t": END},
    prediction=Prediction(
        answer=2,
        shown_by=tuple({"run": "states", "t": t} for t in (END, DEATH, END, DEATH)),
    ),
    expected=expected,
    states=states,
    constants={
        "LOG": {run: columns(run) for run in RUNS},
        "WORKERS": "".join(WORKERS),
        "SIZES": {"chunks": CHUNKS, "fan": FAN, "read": READ, "state": STATE},
        "SECONDS": SECONDS,
    },
)
