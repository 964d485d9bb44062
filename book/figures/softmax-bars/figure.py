"""Softmax bars: scores to pull on, and the shares they turn into.

Prediction. The scores are 1, 2, 3; the third is pulled down to 1. What do the weights
look like? Why wrong answers tempt. "A third each": 1, 2 and 1 look nearly the same. "A
quarter, a half, a quarter": that is what dividing the scores themselves would give. What
settles it: at 1, 2, 1 the weights are 0.212, 0.576, 0.212.
"""

from collections.abc import Iterator

import numpy as np

from livepage.figures.spec import Again, Prediction, Range, Row, Spec, Values
from onlinesoftmax import dense

LOWEST, HIGHEST = -2, 6  # scores
PULLED = {"scores": [1.0, 2.0, 1.0], "shift": 0, "temperature": 1.0}


def expected(state: Values) -> Values:
    """The lib's softmax of the scores, all raised alike and divided alike."""
    shown = np.array(state["scores"]) + state["shift"]
    return {
        "shown": list(shown),
        "weights": list(dense.softmax(shown / state["temperature"])),
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """The presets, ties and the ends of every control, then random rows."""
    rows = [
        [1.0, 2.0, 3.0],
        [1.0, 2.0, 1.0],
        [6.0],
        [-2.0] * 8,
        [-2.0, 6.0],
        [0.0, 0.0, 6.0],
    ]
    for scores in rows:
        for shift in (-100, -3, 0, 1, 100):
            for temperature in (0.25, 1.0, 4.0):
                yield {"scores": scores, "shift": shift, "temperature": temperature}
    for n in random.integers(1, 9, 150):
        yield {
            "scores": list(random.uniform(-2, 6, n).round(1)),
            "shift": int(random.integers(-100, 101)),
            "temperature": round(float(random.uniform(0.25, 4)), 2),
        }


SPEC = Spec(
    controls=(
        Row("scores", [1.0, 2.0, 3.0], low=LOWEST, high=HIGHEST, step=0.1),
        Range("shift", 0, low=-100, high=100),
        Range("temperature", 1.0, low=0.25, high=4.0, step=0.05),
        Again("sample", 1, low=1, high=1000),
    ),
    still={"scores": [1.0, 2.0, 1.0]},
    presets=(
        {"scores": [1.0, 2.0, 3.0], "shift": 0, "temperature": 1.0},
        PULLED,
        {"scores": [1.0, 2.0, 3.0], "shift": 100, "temperature": 1.0},
    ),
    prediction=Prediction(answer=2, shown_by=(PULLED,) * 3),
    constants={"LOWEST": LOWEST, "HIGHEST": HIGHEST},
    expected=expected,
    states=states,
)
