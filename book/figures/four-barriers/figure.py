"""Four barriers: one turn of rung 3, from the simulator's record of the kernel itself.

Prediction. `kv_tile` holds keys and then values; the third barrier, after the scores, is
taken away: who reads what it should not? Why wrong answers tempt. "Nobody": the scores
are made by then, if all are equally fast. "Weights too early": they too are written
before that barrier and read after it. "They wait for ever": barriers are where waiting
happens. What settles it: without barrier 3, third piece of the turn, where a fast
thread writes values while a slow one still reads keys.

How long each thread takes is made up, and differs from run to run. Who touches what, in
which line, is what the simulator saw.
"""

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from itertools import product
from textwrap import dedent

import numpy as np

import blocksim
from livepage.figures.spec import Again, Choice, Prediction, Spec, Step, Values
from tiledattention.gpu.rungs.registers import registers

SIZE = (8, 8, 8)  # d, rows of a block, keys of a tile: four threads
KEYS = 16  # two tiles
THREADS = 4
PIECES = 5  # a turn has four; the next turn begins with the fifth
BARRIER = "cuda.syncthreads()"
GONE = ("none", "1", "2", "3", "4")


# ---- the kernel, and what the simulator saw of it ----


def text_of_the_kernel() -> tuple[str, dict[str, int]]:
    """Return the text of the kernel, and the sizes it was made for."""
    kernel = registers(*SIZE)
    seen = inspect.getclosurevars(kernel)
    names = seen.nonlocals | seen.globals
    sizes = {name: x for name, x in names.items() if isinstance(x, int)}
    return dedent(inspect.getsource(kernel)), sizes


TEXT, SIZES = text_of_the_kernel()


def without(barrier: str) -> str:
    """Return the text without one of its barriers; its lines keep their numbers."""
    if barrier == "none":
        return TEXT
    parts = TEXT.split(BARRIER)
    at = int(barrier)
    return BARRIER.join(parts[:at]) + "pass" + BARRIER.join(parts[at:])


@cache
def record(barrier: str) -> Values:
    """Return the simulator's log of a block with two tiles of keys."""
    d, rows, _ = SIZE
    kernel = blocksim.load(without(barrier), "kernel", SIZES, whole=False)
    query, keys = np.ones((1, rows, d), np.float32), np.ones((1, KEYS, d), np.float32)
    out, lse = np.zeros_like(query), np.zeros((1, rows), np.float32)
    report = blocksim.run(
        kernel, (1, 1), THREADS, query, keys, keys.copy(), out, lse,
        np.array([KEYS], np.int32), 1.0, KEYS, KEYS, 1, log=True,
    )  # fmt: skip
    return report.log


def phases(barrier: str) -> list[Values]:
    """Return what happens between barriers, from the first barrier of the kernel on."""
    (block,) = record(barrier)["blocks"]
    return block["phases"]


def pieces() -> list[Values]:
    """Return the first pieces of the loop: which lines touch what, and whose threads."""
    found = []
    for before, piece in zip(phases("none"), phases("none")[1:]):
        touched: dict[tuple[str, str], list[int]] = {}
        lines: dict[int, str] = {}
        for thread, how, number, place, at in piece["touches"]:
            array = record("none")["arrays"][number]
            if array["space"] == "shared":
                places = [0] * int(np.prod(array["shape"]))
                places = touched.setdefault((array["name"], how), places)
                places[place] |= 1 << thread
                if array["name"] != "q_tile":
                    lines[at] = how
        found.append(
            {
                "barrier": raw_line(before["barrier"]),
                "lines": [[statement(at), how] for at, how in sorted(lines.items())],
                "touches": [
                    [name, how, "".join(f"{who:x}" for who in places)]
                    for (name, how), places in touched.items()
                ],
                **brought(piece),
            }
        )
    return found[:PIECES]


def brought(piece: Values) -> Values:
    """Return whose rows a piece copies from global memory, K's or V's, and which."""
    arrays = record("none")["arrays"]
    rows: dict[str, set[int]] = {}
    for _, how, number, place, _ in piece["touches"]:
        array = arrays[number]
        if array["space"] == "global" and array["name"] in "KV" and how == "r":
            rows.setdefault(array["name"], set()).add(place // array["shape"][2])
    if not rows:
        return {"brings": "", "first": 0, "last": 0}
    ((name, which),) = rows.items()
    return {"brings": name, "first": min(which), "last": max(which)}


def raw_line(at: int) -> str:
    """Return a line of the kernel, with its comment."""
    return TEXT.splitlines()[at - 1].strip()


def statement(at: int) -> str:
    """Return the statement that stands on a line, in one line."""
    inside = [
        node
        for node in ast.walk(ast.parse(TEXT))
        if isinstance(node, (ast.Assign, ast.AugAssign))
        and node.lineno <= at <= (node.end_lineno or at)
    ]
    return ast.unparse(inside[-1])


# ---- how long each thread takes: made up ----

RUNS = 6
IN_STEP = 4  # the run in which all threads happen to be equally fast


def durations() -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return how long each thread takes for each piece, in each run."""
    random = np.random.default_rng(3)
    drawn = random.integers(4, 10, (RUNS, PIECES, THREADS))
    drawn[IN_STEP - 1] = 7
    return tuple(tuple(tuple(map(int, row)) for row in run) for run in drawn)


DURATIONS = durations()


# ---- what the picture has to find ----


def expected(state: Values) -> Values:
    """The schedule of a run; and, of the kernel as changed, the simulator's findings."""
    gone, took = state["gone"], np.array(DURATIONS[state["run"] - 1])
    ends = np.zeros(THREADS)
    spans = []
    for k, piece in enumerate(took):
        joined = gone == str(k % 4 + 1)
        starts = ends if joined else np.full(THREADS, ends.max())
        ends = starts + piece
        spans.append([starts.tolist(), ends.tolist()])
    faults = record(gone)["faults"]
    return {
        "steps": PIECES,
        "spans": spans,
        "waiting": 1 - took.sum() / (THREADS * ends.max()),
        "race": [fault["array"] for fault in faults[:1]],
        "risky": risky(gone),
    }


@cache
def risky(gone: str) -> int:
    """In how many places two threads collide, from all touches between two barriers."""
    log = record(gone)
    for phase in phases(gone)[1 : PIECES + 1]:
        by_place: dict[tuple[int, int], set[tuple[int, bool]]] = {}
        for thread, how, array, place, _ in phase["touches"]:
            if log["arrays"][array]["space"] == "shared":
                by_place.setdefault((array, place), set()).add((thread, how == "w"))
        found = sum(map(collide, by_place.values()))
        if found:
            return found
    return 0


def collide(touches: set[tuple[int, bool]]) -> bool:
    """Whether one thread writes where another one reads or writes."""
    return any(
        one != other and (writes or writes_too)
        for (one, writes), (other, writes_too) in product(touches, touches)
    )


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every barrier, in every run, at every step."""
    for gone, run, step in product(GONE, range(1, RUNS + 1), range(PIECES + 2)):
        yield {"gone": gone, "run": run, "step": step}


THIRD = {"gone": "3", "step": 3}

SPEC = Spec(
    controls=(
        Choice("gone", "none", of=GONE),
        Again("run", 1, low=1, high=RUNS),
        Step("step"),
    ),
    still={"step": PIECES},
    prediction=Prediction(
        answer=1, shown_by=(THIRD, THIRD, {"gone": "3", "step": 4}, THIRD)
    ),
    constants={"PIECES": pieces(), "DURATIONS": DURATIONS},
    expected=expected,
    states=states,
    pace=2000,
)
