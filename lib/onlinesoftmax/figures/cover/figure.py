"""The cover: scores pass a gate, one at a time, and three numbers stay behind.

No prediction: it is the reader's first touch of the book, and asks for nothing but a
hand. What it lets one see before a word is read: the past is gone, and when a larger
score arrives everything old shrinks together.
"""

from collections.abc import Iterator

import numpy as np

from onlinesoftmax import streaming

from ..spec import Scores, Spec, Step, Values

# Four times a new maximum, further and further apart: at 1, 4, 12 and 26.
SCORES = [
    1.4, 0.9, 1.1, 2.3, 1.7, 0.6, 2.0, 1.2, 2.2, 1.5, 1.9, 3.2, 2.4, 1.0, 2.9, 1.8,
    2.6, 0.7, 2.1, 3.0, 1.6, 2.5, 1.3, 2.8, 2.2, 4.3, 3.1, 1.9, 3.6, 2.7, 0.8, 3.3,
    2.0, 3.9, 2.4, 1.1, 3.5, 2.9, 1.7, 3.0,
]  # fmt: skip
VALUES = [
    2, 5, 9, 3, 7, 1, 8, 4, 6, 2, 9, 5, 3, 8, 1, 7, 6, 4, 2, 9,
    5, 8, 3, 6, 1, 7, 4, 9, 2, 5, 8, 6, 3, 1, 7, 5, 9, 4, 2, 6,
]  # fmt: skip


def expected(state: Values) -> Values:
    """The lib's trace of single scores with their values."""
    steps = streaming.trace(state["scores"], 1, state["values"])
    at = min(state["step"], len(steps))
    if at == 0:
        return {"steps": len(steps), "now": {"m": -np.inf, "l": 0.0, "o": 0.0}}
    now = steps[at - 1]
    weights = np.exp(np.array(state["scores"][:at], np.float64) - now.m)
    names = ("m", "l", "o", "alpha", "added")
    return {
        "steps": len(steps),
        "now": {name: getattr(now, name) for name in names},
        "weights": weights.tolist(),
        "widest": max(step.l for step in steps),
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every step of the cover's own data, then random rows with ties and jumps."""
    for step in range(len(SCORES) + 1):
        yield {"step": step}
    jumps = [[0.0, 700.0, -700.0, 700.0], [3.0, 3.0, 3.0], [5.0]]
    rows = jumps + [
        random.normal(2, 3, n).round(1).tolist() for n in random.integers(1, 60, 60)
    ]
    for row in rows:
        values = random.uniform(-5, 15, len(row)).tolist()
        for step in {0, 1, int(random.integers(0, len(row) + 1)), len(row)}:
            yield {"scores": row, "values": values, "step": step}


SPEC = Spec(
    controls=(
        Step("step", 11),
        Scores("scores", SCORES),
        Scores("values", VALUES),
    ),
    still={"step": 12},
    expected=expected,
    states=states,
    pace=700,
)
