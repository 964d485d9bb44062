"""Coalescing: the sectors of memory a warp's numbers lie in; warps that hide a wait.

Prediction. A warp reads down a column of a matrix 32 wide, where a row would have been
possible: how many times as much memory moves? Why wrong answers tempt. "As much": 32
numbers are 32 numbers. "Twice": a little disorder should cost a little. "32 times":
every thread now asks alone. What settles it: stride 32, where 32 sectors move in place
of 4. A piece holds eight numbers, so seven of eight come along for nothing.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from kernellab import banks, devices
from livepage.figures.spec import Prediction, Range, Spec, Values

# A model, not a measurement: how long a warp works on one load, how long it waits for
# the next, and how often it does both in the picture.
WORK, WAIT, ROUNDS = 2, 12, 4
TICKS = ROUNDS * (WORK + WAIT)
COLUMN = {"stride": 32, "start": 0}


def expected(state: Values) -> Values:
    """The lib's transactions, and warps that take turns, tick by tick."""
    stride, start = state["stride"], state["start"]
    sectors = banks.strided_transactions(stride, start=start)
    used = 4 * (devices.WARP if stride else 1)
    spans = turns(state["warps"])
    return {
        "transactions": sectors,
        "moved": banks.SECTOR * sectors,
        "used": used,
        "share": used / (banks.SECTOR * sectors),
        "spans": spans,
        "busy": sum(to - at for _, at, to in spans) / TICKS,
    }


def turns(warps: int) -> list[tuple[int, int, int]]:
    """Whoever has waited longest works next: [(warp, from, to)]."""
    ready, now, spans = [0] * warps, 0, []
    while now < TICKS:
        warp = min(range(warps), key=lambda w: (ready[w], w))
        if ready[warp] > now:
            now += 1
            continue
        spans.append((warp, now, min(now + WORK, TICKS)))
        now += WORK
        ready[warp] = now + WAIT
    return spans


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every stride, every number of warps, starts that straddle a piece."""
    for stride, start in product(range(33), (0, 1, 7, 8, 31)):
        yield {"stride": stride, "start": start, "warps": int(random.integers(1, 11))}
    for warps, stride in product(range(1, 11), (0, 1, 2, 8)):
        yield {"stride": stride, "start": int(random.integers(32)), "warps": warps}


SPEC = Spec(
    controls=(
        Range("stride", 1, low=0, high=32),
        Range("start", 0, low=0, high=31),
        Range("warps", 1, low=1, high=10),
    ),
    still={"stride": 32, "warps": 4},
    prediction=Prediction(answer=2, shown_by=(COLUMN,) * 4),
    presets=(
        {"stride": 1, "start": 0},
        {"stride": 1, "start": 1},
        {"stride": 2, "start": 0},
        COLUMN,
        {"stride": 0, "start": 0},
    ),
    constants={"WORK": WORK, "WAIT": WAIT, "ROUNDS": ROUNDS, "TICKS": TICKS},
    expected=expected,
    states=states,
)
