"""Banks: what 32 threads want of a tile, and how they queue for it in shared memory.

Prediction. A tile of 32 rows of 32 numbers is read down a column, a number for each
thread: how many wavefronts? Why wrong answers tempt. "One": there are 32 banks for 32
threads. "Eight": in global memory the column moved eight times as much as a row. What
settles it: the column, whose numbers lie 32 apart, so that all of them are in bank 0.
With one number of padding they lie 33 apart, and no two are in the same bank.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from kernellab import banks, devices
from livepage.figures.spec import Choice, Prediction, Range, Spec, Values

READS = ("row", "column", "eight", "same")
AT_ONCE = (1, 2, 4)
PADDINGS = range(9)
COLUMN = {"reads": "column", "row": 32, "pad": 0, "at_once": 1}


def begins(state: Values) -> list[int]:
    """Where in shared memory each thread's numbers begin, counted in numbers."""
    row, at_once = state["row"], state["at_once"]
    loads = row // at_once  # of a row
    rows, columns = {
        "row": (lambda t: t // loads, lambda t: t % loads * at_once),
        "column": (lambda t: t, lambda t: 0),
        "eight": (lambda t: t % 8, lambda t: 0),
        "same": (lambda t: 0, lambda t: 0),
    }[state["reads"]]
    return [rows(t) * (row + state["pad"]) + columns(t) for t in range(devices.WARP)]


def expected(state: Values) -> Values:
    """The lib's wavefronts; none where a GPU would refuse the addresses."""
    width = banks.WORD * state["at_once"]
    at = begins(state)
    starts = [banks.WORD * number for number in at]
    aligned = all(start % width == 0 for start in starts)
    wanted = {k + e for k in at for e in range(state["at_once"])}
    return {
        "begins": at,
        "aligned": aligned,
        "wavefronts": banks.wavefronts(starts, width) if aligned else 0,
        "banks": len({number % banks.BANKS for number in wanted}),
        "parts": max(1, width // 4),
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every way to read with every padding, and rows that no multiple of 4 fits."""
    for reads, pad, at_once in product(READS, PADDINGS, AT_ONCE):
        row = int(random.choice([16, 32, 48, 64]))
        yield {"reads": reads, "row": row, "pad": pad, "at_once": at_once}
    for reads, row, at_once in product(READS, range(16, 65, 3), AT_ONCE):
        pad = int(random.integers(9))
        yield {"reads": reads, "row": row, "pad": pad, "at_once": at_once}


SPEC = Spec(
    controls=(
        Choice("reads", "row", of=READS),
        Choice("at_once", 1, of=AT_ONCE),
        Range("row", 32, low=16, high=64),
        Range("pad", 0, low=PADDINGS[0], high=PADDINGS[-1]),
    ),
    still=COLUMN,
    prediction=Prediction(answer=2, shown_by=(COLUMN,) * 3),
    presets=(
        COLUMN,
        COLUMN | {"pad": 1},
        {"reads": "eight", "row": 64, "pad": 0, "at_once": 4},
        {"reads": "eight", "row": 64, "pad": 4, "at_once": 4},
    ),
    expected=expected,
    states=states,
)
