"""A sum on the number line of a small format: where it stands still.

Prediction. Tenths are added in bfloat16, one after another: where does the sum stop? Why
wrong answers tempt. "25.6": 256 of them, as many as there would be ones. "256": ones stop
there. "Nowhere": a computer adds what it is given. What settles it: more tenths than are
needed, and the sum still at 32, where the numbers are 1/4 apart. At 25.6 it goes on.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np

from livepage.figures.spec import Choice, Prediction, Spec, Step, Values
from onlinesoftmax import precision

FORMATS = ("float8_e5m2", "float8_e4m3fn", "bfloat16", "float16", "float32")
ORDERS = ("serial", "blocks", "pairs")
ADDENDS = (0.1, 1, 3)
BLOCK = 16
BEYOND = 6  # the last count is 2**BEYOND times what the digits can count
FEW = 2**12  # up to so many, all are there to be added


def count(step: int) -> int:
    """How many are added after a step: at first one more each time, then 4, 5, 6, 7
    times a power of two."""
    doublings, quarter = divmod(step + 1, 4)
    return (4 + quarter) << (doublings - 1) if doublings else quarter


def steps(name: str) -> int:
    return 4 * (precision.find(name).bits + BEYOND - 1) - 1


@cache
def total(name: str, addend: float, order: str, n: int) -> float:
    """The lib's sum of n addends, in one of the orders."""
    term = float(precision.round_to(addend, name))
    if order == "serial":
        return precision.add_up(term, n, name) if n else 0.0
    if n <= FEW:
        return float(precision.sum_in([term] * n, name, order, block=BLOCK))
    if order == "blocks":
        return precision.add_up(precision.add_up(term, BLOCK, name), n // BLOCK, name)
    half = total(name, addend, order, n // 2)
    return float(precision.round_to(2 * half, name))


def last(order: str, n: int) -> int:
    """How many of n addends were one number when the last addition added them."""
    if order == "pairs" and n > 1:
        return n - (1 << (n - 1).bit_length() - 1)
    return (n - 1) % BLOCK + 1 if order == "blocks" and n > BLOCK else 1


def expected(state: Values) -> Values:
    """What the lib's sums are, and the last addition among them."""
    name, order = state["format"], state["order"]
    step = min(state["step"], steps(name))
    n = count(step)
    sums = [total(name, state["addend"], order, count(k)) for k in range(step + 1)]
    late = last(order, n)
    before = total(name, state["addend"], order, n - late) if n > late else 0.0
    term = float(precision.round_to(state["addend"], name))
    return {
        "steps": steps(name),
        "count": n,
        "before": before,
        "added": total(name, state["addend"], order, late),
        "total": sums[-1],
        "gap": precision.ulp(before, name),
        "truth": n * term,
        "path": sums,
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every format, addend and order: somewhere on the way, at its end and beyond it."""
    for name, addend, order in product(FORMATS, ADDENDS, ORDERS):
        state = {"format": name, "addend": addend, "order": order}
        end = steps(name)
        for step in (*random.integers(0, end, 3), end, end + 9):
            yield state | {"step": int(step)}


TENTHS = {"format": "bfloat16", "addend": 0.1, "order": "serial"}
GONE = TENTHS | {"step": 35}  # 1,024 of them
ON = TENTHS | {"step": 27}  # 256
END = TENTHS | {"step": 51}

SPEC = Spec(
    controls=(
        Choice("format", "bfloat16", of=FORMATS),
        Choice("addend", 0.1, of=ADDENDS),
        Choice("order", "serial", of=ORDERS),
        Step("step"),
    ),
    still=GONE,
    prediction=Prediction(answer=1, shown_by=(ON, GONE, END, END)),
    presets=(
        {"format": "float8_e5m2", "addend": 1, "order": "serial", "step": 8},
        {"format": "float16", "addend": 1, "order": "serial", "step": 51},
        {"format": "float16", "addend": 1, "order": "blocks", "step": 59},
    ),
    constants={
        "FORMATS": {
            name: precision.find(name)._asdict()
            | {"largest": precision.find(name).largest}
            for name in FORMATS
        },
        "BLOCK": BLOCK,
        "BEYOND": BEYOND,
    },
    expected=expected,
    states=states,
    pace=600,
)
