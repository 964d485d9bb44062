"""How often the running maximum rises, and with it how often anything is rescaled.

Prediction. How many new maxima have 1,024 scores in random order? Why wrong answers
tempt. 32: square roots fit sums. 512: each score seems to have an even chance. 1,024:
the code rescales at every step, so every step seems to matter. What settles it:
n = 1,024 and many shuffles, which gather around H_1024 = 7.51; ascending, 1,024.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np

from livepage.figures.generator import generator
from livepage.figures.spec import Again, Choice, Prediction, Spec, Values
from onlinesoftmax import streaming

SEED = 40503  # one of many whose forty orders are typical ones


def arrival(order: str, n: int, sample: int) -> list[int]:
    """The scores 1 … n in the figure's own order, from the figure's own generator."""
    scores = list(range(1, n + 1))
    if order == "random":
        random = generator(sample * SEED + n)
        for i in range(n - 1, 0, -1):
            j = int(random() * (i + 1))
            scores[i], scores[j] = scores[j], scores[i]
    return scores[::-1] if order == "descending" else scores


def expected(state: Values) -> Values:
    """Where the lib's trace sees m rise, and the sum of the chances that it does."""
    n, block, sample = state["n"], state["block"], state["sample"]
    tried = range(1, sample + 1) if state["order"] == "random" else [1]
    counts = [len(_rises(state["order"], n, block, each)) for each in tried]
    rises = _rises(state["order"], n, block, sample)
    ends = np.minimum(np.arange(block, n + block, block), n)
    return {
        "records": rises,
        "count": len(rises),
        "counts": counts,
        "mean": sum(counts) / len(counts),
        "expected": float((np.diff(ends, prepend=0) / ends).sum()),
    }


@cache
def _rises(order: str, n: int, block: int, sample: int) -> list[Values]:
    steps = streaming.trace(np.array(arrival(order, n, sample), np.float64), block)
    return [{"stop": s.stop, "m": s.m} for s in steps if s.m > s.m_old]


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every order and size; many samples of small ones, a few of large ones."""
    for order in ("random", "ascending", "descending"):
        for n in (16, 64, 256, 1024):
            for block in (1, 4, 16, 64):
                yield {"order": order, "n": n, "block": block, "sample": 1}
    for sample in range(2, 42):
        for n, block in ((16, 1), (16, 4), (64, 16), (16, 64)):
            yield {"order": "random", "n": n, "block": block, "sample": sample}
    yield {"order": "random", "n": 4096, "block": 64, "sample": 3}


MANY = {"order": "random", "n": 1024, "block": 1, "sample": 40}

SPEC = Spec(
    controls=(
        Choice("order", "random", of=("random", "ascending", "descending")),
        Again("sample", 1, low=1, high=40, when=("order", "random")),
        Choice("n", 16, of=(16, 64, 256, 1024, 4096)),
        Choice("block", 1, of=(1, 4, 16, 64)),
    ),
    still=MANY,
    prediction=Prediction(
        answer=0,
        shown_by=(MANY, MANY, MANY, MANY | {"order": "ascending", "sample": 1}),
    ),
    constants={"SEED": SEED},
    expected=expected,
    states=states,
)
