"""Rescales that can be skipped: a maximum that has risen by no more than a threshold.

Prediction. 64 scores rise by 1/4 each, and the threshold is 1: how many of the 63
rescales are left? Why wrong answers tempt. "None": every step is below the threshold, if
one compares with the maximum before. "31": a threshold seems to save every second one.
"63": the maximum rises with every score. What settles it: the rising scores with a
threshold of 1, where the reference stays for five scores.
"""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise, product

import numpy as np

from livepage.figures.generator import generator
from livepage.figures.spec import Choice, Prediction, Range, Spec, Values
from onlinesoftmax import precision, streaming

ORDERS = ("shuffled", "rising", "normal")
NAMES = ("float16", "bfloat16", "float32")
COUNT, HIGHEST = 64, 12
SEEDS = {
    "shuffled": 143,
    "normal": 222,
}  # many would do; these rescale five or six times


@cache
def stream(order: str) -> np.ndarray:
    """The scores in the figure's own order, from the figure's own generator."""
    random = generator(SEEDS.get(order, 0))
    if order == "normal":  # twelve uniform numbers have a variance of 1
        return np.array(
            [3 * (sum(random() for _ in range(12)) - 6) for _ in range(COUNT)]
        )
    scores = [i / 4 for i in range(COUNT)]
    if order == "shuffled":
        for i in range(COUNT - 1, 0, -1):
            j = int(random() * (i + 1))
            scores[i], scores[j] = scores[j], scores[i]
    return np.array(scores)


def references(order: str, threshold: float) -> list[int]:
    """Which scores become the reference, the first one included."""
    scores = stream(order)
    found = [0]
    while True:
        beyond = np.flatnonzero(scores - scores[found[-1]] > threshold)
        later = beyond[beyond > found[-1]]
        if not later.size:
            return found
        found.append(int(later[0]))


@cache
def rounded(order: str, threshold: float, name: str) -> np.ndarray:
    """The sum after each score, each operation rounded to a format, by the lib's sums."""
    scores, sums, before = stream(order), [0.0], -np.inf
    with np.errstate(over="ignore", invalid="ignore"):
        for start, stop in pairwise([*references(order, threshold), COUNT]):
            alpha = precision.round_to(np.exp(before - scores[start]), name)
            before = scores[start]
            terms = np.exp(scores[start:stop] - before)
            kept = precision.round_to(sums[-1] * alpha, name)
            sums.extend(precision.running_sum([kept, *terms], name)[1:])
    return np.array(sums[1:])


def error(order: str, threshold: float, name: str) -> float:
    """How far these sums are off at most, relative to those in real arithmetic."""
    right = np.array(exact(order, threshold)["sums"])
    return np.abs(rounded(order, threshold, name) / right - 1).max()


@cache
def exact(order: str, threshold: float) -> Values:
    """Where it rescales, and every sum, added up anew from the scores."""
    scores, found = stream(order), references(order, threshold)
    from_ = scores[found][np.searchsorted(found, np.arange(COUNT), side="right") - 1]
    sums = [np.exp(scores[: i + 1] - m).sum() for i, m in enumerate(from_)]
    return {
        "references": found,
        "sums": sums,
        "peak": max(sums),
        "weight": np.exp(scores - from_).max(),
    }


def expected(state: Values) -> Values:
    """The lib's trace for the ordinary loop, and its number formats."""
    order, threshold = state["order"], state["threshold"]
    ordinary = streaming.trace(stream(order), 1)
    return exact(order, threshold) | {
        "scores": stream(order),
        "rises": sum(step.m > step.m_old for step in ordinary) - 1,
        "ordinary": [step.l for step in ordinary],
        "formats": [
            {
                "name": name,
                "total": rounded(order, threshold, name)[-1],
                "error": error(order, threshold, name),
                "before": error(order, 0, name),
            }
            for name in NAMES
        ],
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every order, from no threshold to one beyond what float16 holds."""
    for order, step in product(ORDERS, range(68)):
        yield {"order": order, "threshold": round(HIGHEST * step / 67, 1)}


RISING = {"order": "rising", "threshold": 1}

SPEC = Spec(
    controls=(
        Choice("order", "shuffled", of=ORDERS),
        Range("threshold", 0.0, low=0, high=HIGHEST, step=0.1),
    ),
    still=RISING,
    prediction=Prediction(
        answer=2, shown_by=(RISING, RISING | {"threshold": 0.3}, RISING, RISING)
    ),
    constants={
        "COUNT": COUNT,
        "HIGHEST": HIGHEST,
        "SEEDS": SEEDS,
        "FORMATS": {
            name: precision.find(name)._asdict()
            | {"largest": precision.find(name).largest}
            for name in NAMES
        },
    },
    expected=expected,
    states=states,
    room=1e-14,  # an error is a difference of nearly equal numbers
)
