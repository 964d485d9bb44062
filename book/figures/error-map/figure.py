"""Error map: how far off a sum is, by the size of its blocks and the type it is kept in.

Weights e^(s − m) are added up, each block one after another, then the blocks' sums; m is
known from the start, so that nothing is rescaled, and every rounding is that of an
addition. A weight passes B − 1 additions in its block and up to N/B − 1 after it: most at
both ends, where B = 1 and B = N are one and the same row of additions, and least at √N.
That is the worst case. Errors of different blocks are independent and cancel in part, so
the smallest error that is measured lies near there, most often to the right of it,
towards N^(2/3).

Prediction. 4,096 weights, a sum kept in bf16: in which blocks is the error smallest? Why
wrong answers tempt. "One by one": no block, so nothing is put together twice. "All in
one": the fewest sums to merge. "It makes no difference": the same numbers are added the
same number of times, and in real arithmetic the order is all one. What settles it: the
three sizes, one after the other, and then all.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np

from livepage.figures.generator import generator
from livepage.figures.spec import (
    Again,
    Choice,
    Evidence,
    Prediction,
    Range,
    Spec,
    Values,
)
from onlinesoftmax import precision

FORMATS = ("bfloat16", "float16", "float32")
SIZES = (64, 256, 1024, 4096)
NUMBERS = 2**14  # in all rows together: the longer they are, the fewer
FARTHEST = 2  # scores lie between −FARTHEST and FARTHEST
SEED = 7919


@cache
def rows(n: int, sample: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights and values (rows, n), from the figure's own generator."""
    random = generator(sample * SEED + n)
    drawn = np.array([random() for _ in range(2 * NUMBERS)]).reshape(-1, 2, n)
    scores, values = FARTHEST * (2 * drawn[:, 0] - 1), 2 * drawn[:, 1] - 1
    return np.exp(scores - scores.max(-1, keepdims=True)), values


@cache
def errors(name: str, n: int, sample: int, of: str, order: str) -> list[float]:
    """The relative error for B = 1, 2, 4, …, N: the root of its mean square over rows."""
    weights, values = rows(n, sample)
    kept = np.asarray(precision.round_to(weights, name))
    exact = weights.sum(-1)
    output = (weights * values).sum(-1) / exact
    found = []
    for power in range(n.bit_length()):
        total = precision.sum_in(kept, name, order, block=2**power)
        if of == "l":
            off = total / exact - 1
        else:
            o = precision.sum_in(kept * values, name, order, block=2**power)
            off = precision.round_to(o / total, name) - output
            off /= np.sqrt(np.mean(output**2))
        found.append(float(np.sqrt(np.mean(off**2))))
    return found


def expected(state: Values) -> Values:
    """The lib's sums in each format and block, and how many additions a weight passes."""
    n, sample, order = state["n"], state["sample"], state["order"]
    powers = range(n.bit_length())
    block = min(state["power"], powers[-1])
    shown = powers if state["all"] else [block]
    across = [n >> k for k in powers]
    return {
        "block": 2**block,
        "inside": 2**block - 1,
        "after": across[block] - 1 if order == "blocks" else powers[-1] - block,
        "shown": list(shown),
        "errors": [
            [errors(name, n, sample, state["of"], order)[k] for k in shown]
            for name in FORMATS
        ],
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Many short rows, some of middle length, one long row; every block and order."""
    for of, order in product(("l", "out"), ("blocks", "tree")):
        state = {"of": of, "order": order}
        for sample in range(1, 11):
            for all_sizes in (True, False):
                power = int(random.integers(0, 13))
                short = {"n": 64, "sample": sample, "power": power, "all": all_sizes}
                yield state | short
        for power in range(9):
            for sample in range(1, 4):
                yield state | {"n": 256, "sample": sample, "power": power}
        yield state | {"n": 1024, "sample": 40, "all": True}
    yield {"n": 4096, "all": True, "sample": 2}
    yield {"n": 4096, "all": True, "of": "out", "order": "tree"}
    for _ in range(20):
        yield {"n": 64, "power": int(random.integers(0, 7)), "all": True}


ALL = {"n": 4096, "all": True}

SPEC = Spec(
    controls=(
        Choice("of", "l", of=("l", "out")),
        Choice("order", "blocks", of=("blocks", "tree")),
        Choice("n", 4096, of=SIZES),
        Range("power", 0, low=0, high=12),
        Evidence("all"),
        Again("sample", 1, low=1, high=40),
    ),
    still=ALL | {"power": 7},
    prediction=Prediction(
        answer=1,
        shown_by=(
            ALL,
            ALL | {"power": 7},
            ALL | {"power": 12},
            ALL | {"power": 6},
        ),
    ),
    constants={
        "FORMATS": {
            name: precision.find(name)._asdict()
            | {"largest": precision.find(name).largest}
            for name in FORMATS
        },
        "NUMBERS": NUMBERS,
        "FARTHEST": FARTHEST,
        "SEED": SEED,
        "MOST": 12,
    },
    expected=expected,
    states=states,
    room=1e-13,
)
