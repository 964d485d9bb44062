"""The recorder of the runs on a cluster: what it notes is what happened.

No time is asserted. One run is made here, on a small scale, and a worker is killed in it;
the rest goes over rows that are written by hand, and those that the book stores.
"""

from pathlib import Path
from typing import Any

import pytest

from livepage.measurements import measured
from tiledattention import cluster
from tiledattention.cluster.tree import FAN
from tools.bench import cluster as bench_cluster
from tools.bench.cluster import Event, Killer, Note, Size, is_as_planned, lost, refolded

SMALL = Size(queries=512, chunk=8192, chunks=24)
STORED = measured("cluster-run.json")
CHUNKS = 24


def stored(run: str) -> list[list]:
    return [row[1:] for row in STORED.rows if row[0] == run]


def of(rows: list[list], name: str) -> list[list]:
    return [row for row in rows if row[0] == name]


# ---- a run ----


class KillsAtOnce(Killer):
    """Kills the first worker that holds two states.

    Of the first four folded chunks, one of three workers holds two; no merge can have
    begun, because each needs eight. So a worker dies in every run, however slow the
    machine is, and no other worker has fetched a state from it.
    """

    def transition(
        self, key: str, start: str, finish: str, *_: Any, **more: Any
    ) -> None:
        """Kill within the scheduler's event loop: nothing else happens meanwhile."""
        worker = more.get("worker")
        if self.done or (start, finish) != ("processing", "memory") or not worker:
            return
        held = self.scheduler.workers[worker].has_what
        if sum(task.key.startswith("fold-") for task in held) == 2:
            self.done = True
            self.kill(worker)


def test_what_a_dead_worker_had_is_folded_again_and_the_bits_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_cluster, "Killer", KillsAtOnce)
    given = bench_cluster.store_inputs(tmp_path, SMALL)
    wanted = cluster.attention(*given, chunk=SMALL.chunk)  # on threads, nobody dies
    answer, rows = bench_cluster.record(given, SMALL, "states")
    assert answer.tobytes() == wanted.tobytes()
    folded = {row[1] for row in of(rows, "fold") if row[-1]}
    assert folded == set(range(SMALL.chunks))
    assert len(of(rows, "died")) == 1 and len(lost(rows)) >= 2
    assert set(lost(rows)) <= set(refolded(rows))
    whole(rows, SMALL.chunks)


def whole(rows: list[list], chunks: int) -> None:
    """Every merge has been given all of its states; every result has its bytes."""
    merges = {row[1] for row in of(rows, "merge")}
    assert merges == set(range(-(-chunks // FAN))) and of(rows, "last merge")
    for name, place, worker, _, start, *_ in of(rows, "merge"):
        for chunk in range(FAN * place, min(FAN * place + FAN, chunks)):
            there = [r for r in rows if r[0] in ("fold", "fold sent") and r[1] == chunk]
            on_time = [r for r in there if r[2] == worker and r[5] <= start]
            assert on_time, (place, chunk, there)
    sizes = {r[-1] for r in rows if r[0] in ("fold", "merge", "fold sent") and r[-1]}
    assert len(sizes) == 1  # a state is as large as another


# ---- the runs that the book stores ----


@pytest.mark.parametrize("run", bench_cluster.ENDINGS)
def test_a_stored_run_shows_what_it_is_for(run: str) -> None:
    rows = stored(run)
    assert is_as_planned(rows, run)
    assert [row[4] for row in rows] == sorted(row[4] for row in rows)
    assert {row[1] for row in of(rows, "fold")} == set(range(CHUNKS))
    whole(rows, CHUNKS)


@pytest.mark.parametrize("run", bench_cluster.ENDINGS)
def test_a_worker_does_one_thing_at_a_time(run: str) -> None:
    work = [row for row in stored(run) if row[0] in ("fold", "merge", "last merge")]
    for worker in "ABC":
        own = [row for row in work if row[2] == worker]
        assert own and not [(a, b) for a, b in zip(own, own[1:]) if a[5] > b[4]]


def test_the_stored_runs_are_of_the_size_that_is_said() -> None:
    size = Size()
    assert STORED.what == bench_cluster.describe(size)
    numbers = 8 * (2 + size.width) * size.queries  # m, l and o, in float64
    for row in of(stored("calm"), "fold"):
        assert row[-1] == pytest.approx(numbers, rel=0.01)


# ---- what is lost ----

# name, number, worker, from, start, stop, until, bytes
RUN = [
    ["fold", 0, "A", "", 0, 10, 40, 8],
    ["fold", 1, "B", "", 0, 10, 40, 8],
    ["fold", 2, "A", "", 10, 20, 50, 8],
    ["fold sent", 1, "A", "B", 12, 14, 14, 8],
    ["fold", 3, "A", "", 45, 50, 50, 0],
    ["died", 0, "A", "", 50, 50, 50, 0],
    ["fold", 2, "B", "", 60, 70, 90, 8],
    ["fold", 3, "B", "", 70, 80, 90, 8],
    ["joined", 0, "A", "", 75, 75, 75, 0],
]


def test_what_was_only_with_the_dead_worker_is_lost() -> None:
    assert lost(RUN) == refolded(RUN) == [2, 3]
    assert is_as_planned(RUN, "states") and not is_as_planned(RUN, "merge")
    assert not is_as_planned(RUN, "calm")


def test_what_had_been_fetched_by_another_is_not_lost() -> None:
    fetched = ["fold sent", 2, "B", "A", 30, 50, 50, 8]
    assert lost([fetched, *RUN]) == [3]
    assert not is_as_planned([fetched, *RUN], "states"), (
        "2 was folded again for nothing"
    )
    too_late = ["fold sent", 2, "B", "A", 30, 51, 51, 8]
    assert lost([too_late, *RUN]) == [2, 3]


def test_a_merge_takes_its_chunks_with_it() -> None:
    merge = ["merge", 1, "A", "", 30, 32, 50, 8]
    assert lost([merge, *RUN]) == [2, 3, *range(8, 16)]
    broken_off = ["merge", 1, "A", "", 49, 50, 50, 0]
    assert lost([broken_off, *RUN]) == [2, 3]
    assert not is_as_planned([merge, *RUN], "merge"), "nobody has folded them again"


def test_a_run_in_which_nobody_dies_or_comes_teaches_nothing() -> None:
    calm = [row for row in RUN if row[0] != "died"]
    assert not is_as_planned(calm, "states") and not is_as_planned(
        calm, "calm"
    )  # 2, 3 twice
    alone = [row for row in RUN if row[0] != "joined"]
    assert not is_as_planned(alone, "states")


# ---- notes ----


def test_a_line_that_was_cut_off_says_nothing(tmp_path: Path) -> None:
    file = tmp_path / "1"
    file.write_text(
        "1.5\t0\tfold-x-0\tready\texecuting\t0\t\n"
        "2.5\t0\tfold-x-0\texecuting\tmemory\t8\ttcp://b\n3.5\t0\tfol"
    )
    assert list(bench_cluster.read_notes(file)) == [
        Note(1.5, 0, "fold-x-0", "ready", "executing", 0, ""),
        Note(2.5, 0, "fold-x-0", "executing", "memory", 8, "tcp://b"),
    ]


def test_events_of_a_process_that_dies() -> None:
    def note(at: float, key: str, step: str, size: int = 0, source: str = "") -> Note:
        return Note(at, 0, key, *step.split(), size, source)

    notes = [
        note(1, "a", "ready executing"),
        note(2, "a", "executing memory", 8),
        note(3, "b", "fetch flight", 0, "tcp://b"),
        note(3.5, "b", "flight fetch"),
        note(4, "b", "flight memory", 8),
        note(5, "c", "ready executing"),
        note(6, "c", "executing memory", 8),
        note(7, "a", "memory released"),
        note(8, "d", "ready executing"),
        note(8, "e", "fetch flight", 0, "tcp://b"),
    ]
    assert list(bench_cluster.worker_events(iter(notes), {"tcp://b": 1}, 9)) == [
        Event("b", 0, 1, 3, 4, 4, 8, True),
        Event("a", 0, "", 1, 2, 7, 8),
        Event("c", 0, "", 5, 6, 9, 8),
        Event("d", 0, "", 8, 9, 9),
    ]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("fold-0f3c-65536", ("fold", 8)),
        ("merge-0f3c-1-2", ("merge", 2)),
        ("merge-0f3c-2-0", ("last merge", 0)),
        ("queries-0f3c", ("queries", 0)),
        ("died", ("died", 0)),
    ],
)
def test_tasks_are_named_after_what_they_do(key: str, name: tuple[str, int]) -> None:
    assert bench_cluster.parse_key(key, 8192) == name
