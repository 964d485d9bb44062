"""Kernel race: the threads of one block over time, from the log of a kernel that ran.

Prediction. Eight threads find the largest of eight scores in rounds; the barrier after
each round is taken out: what can happen? Why wrong answers tempt. "Nothing": threads
are pictured as marching in step. "They wait for ever": barriers are where waiting
happens. "Outside the array": whatever is wrong in a kernel seems to end there. What
settles it: the kernel without the barrier in its loop, second phase, where thread 0
reads what thread 2 writes.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations

import numpy as np

import blocksim
from livepage.figures.spec import Choice, Log, Prediction, Spec, Step, Values
from livepage.quantities import quantities

# The kernel of chapter 8, line by line; the tests hold the two together.
KERNEL = """\
def block_max(scores, largest):
    t = cuda.threadIdx.x
    m = cuda.shared.array(8, float32)
    m[t] = scores[cuda.grid(1)]
    cuda.syncthreads()
    half = 4
    while half > 0:
        if t < half:
            m[t] = max(m[t], m[t + half])
        cuda.syncthreads()
        half //= 2
    if t == 0:
        largest[cuda.blockIdx.x] = m[0]
"""
LOAD, ROUND = "\n    cuda.syncthreads()", "\n        cuda.syncthreads()"
REMOVED = "\n    # no barrier here"


def example(source: str) -> Values:
    """The log of eight scores, shared memory only, with the text that ran."""
    kernel = blocksim.load(source, "block_max", whole=False)
    scores, largest = np.arange(8, dtype=np.float32), np.zeros(1, np.float32)
    log = blocksim.run(kernel, 1, 8, scores, largest, log=True).log
    return shared_only(log) | {"source": source}


def shared_only(log: Values) -> Values:
    """Without what the picture does not show, to keep the page light."""
    (block,) = log["blocks"]
    shared = [k for k, each in enumerate(log["arrays"]) if each["space"] == "shared"]
    phases = [
        phase | {"touches": [touch for touch in phase["touches"] if touch[2] in shared]}
        for phase in block["phases"]
    ]
    return log | {"blocks": [block | {"phases": phases}]}


EXAMPLES = {
    "right": example(KERNEL),
    "load": example(KERNEL.replace(LOAD, REMOVED)),
    "round": example(KERNEL.replace(ROUND, REMOVED)),
}


# ---- what the picture has to find: the simulator's own findings ----


def expected(state: Values) -> Values:
    """Every phase's collisions, from all pairs of its touches, that are races."""
    own = state["kernel"] == "yours"
    log = state["log"] if own else EXAMPLES[state["kernel"]]
    phases = log["blocks"][-1]["phases"] if log.get("blocks") else []
    threads = log["block"][0] * log["block"][1] if phases else 0
    kept = [[t for t in each["touches"] if is_shared(log, t)] for each in phases]
    races = [fault for fault in log.get("faults", []) if fault["kind"] == "race"]
    names = [each["name"] for each in log.get("arrays", [])]
    raced = partial(is_race, names=names, races=races)
    found = [collisions(touches, raced) for touches in kept]
    clashing = [list(filter(raced, some)) for some in found]
    return {
        "steps": len(kept),
        "phases": [
            {
                "clashes": clashes,
                "ordered": len(clashes) < len(some),
                "share": len({t[0] for t in touches}) / max(1, threads),
            }
            for touches, some, clashes in zip(kept, found, clashing)
        ],
        "race": bool(races),
    }


def is_shared(log: Values, touch: list) -> bool:
    return log["arrays"][touch[2]]["space"] == "shared"


def is_race(pair: Values, names: list[str], races: list[Values]) -> bool:
    """Whether the simulator names the two lines that a pair of touches stands on."""
    lines = {pair["before"]["at"], pair["now"]["at"]}
    return any(
        {race["line"], race["earlier"]} == lines
        and race["array"] == names[pair["now"]["array"]]
        for race in races
    )


def collisions(touches: list, raced: Callable[[Values], bool]) -> list[Values]:
    """For every touch the first earlier one that it collides with.

    Writes that are no race were ordered, or wrote the same number.
    """
    found: dict[int, Values] = {}
    for i, j in sorted(combinations(range(len(touches)), 2), key=lambda ij: ij[::-1]):
        before, now = touches[i], touches[j]
        pair = {"before": named(before), "now": named(now)}
        meet = before[0] != now[0] and before[2:4] == now[2:4]
        both = before[1] + now[1]
        if meet and both != "rr" and (both != "ww" or raced(pair)):
            found.setdefault(j, pair)
    return [found[j] for j in sorted(found)]


def named(touch: list) -> Values:
    return dict(zip(("thread", "how", "array", "index", "at"), touch))


# A kernel that does what an array tells it: read, write or leave alone an element.
ANYTHING = """\
def anything(orders, out):
    t = cuda.threadIdx.x
    a = cuda.shared.array(SIZE, float32)
    b = cuda.shared.array((2, 2), float32)
    a[t] = 0.0
    if t < 4:
        b[t // 2, t % 2] = 0.0
    cuda.syncthreads()
    for phase in range(orders.shape[0]):
        for k in range(orders.shape[2]):
            order = int(orders[phase, t, k])
            if order >= 0 and order < SIZE:
                out[t] = a[order]
            if order >= SIZE and order < 2 * SIZE:
                a[order - SIZE] = 1.0
            if order == 2 * SIZE:
                out[t] = b[1, 0]
            if order == 2 * SIZE + 1:
                b[1, 0] = 1.0
        cuda.syncthreads()
"""


def states(random: np.random.Generator) -> Iterator[Values]:
    """The examples, then random threads, often and seldom in each other's way."""
    yield from ({"kernel": name, "step": k} for name in EXAMPLES for k in range(6))
    yield {"kernel": "yours", "log": {}}
    for _ in range(190):
        size = int(random.integers(4, 9))
        shape = int(random.integers(1, 4)), size, 3
        orders = random.integers(-1, 2 * size + 2, shape)
        idle = random.random(orders.shape) < random.choice([0.1, 0.6, 0.9])
        orders = np.where(idle, -1, orders)
        yield {"kernel": "yours", "log": obeyed(orders), "step": 1}


def obeyed(orders: np.ndarray) -> Values:
    """The log of threads that did as they were told."""
    size = orders.shape[1]
    kernel = blocksim.load(ANYTHING, "anything", {"SIZE": size}, whole=False)
    out = np.zeros(size, np.float32)
    orders = orders.astype(np.float32)
    return blocksim.run(kernel, 1, size, orders, out, log=True).log


LOOP = {"kernel": "round", "step": 2}

SPEC = Spec(
    controls=(
        Choice("kernel", "right", of=("right", "load", "round", "yours")),
        Step("step"),
        Log("log", {}),
        Log("examples", EXAMPLES),
    ),
    still=LOOP,
    prediction=Prediction(answer=2, shown_by=(LOOP,) * 4),
    constants={"QUANTITIES": tuple(quantities())},
    expected=expected,
    states=states,
    pace=2000,
)
