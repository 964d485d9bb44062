"""The block stepper: the same answer at every block size.

Prediction. The old sum is never rescaled: at which block size does nobody notice?
Why wrong answers tempt. "B = 1": one score at a time feels safest. "B = 4": the data is
shown in fours. "None": a bug must show. What settles it: at B = 16 the forgetful sum is
2.169, the true one, because no old sum exists; at 1 and at 4 it is too large.
"""

from collections.abc import Iterator

import numpy as np

from livepage.figures.spec import Numbers, Prediction, Range, Spec, Step, Toggle, Values
from onlinesoftmax import State, streaming
from onlinesoftmax.state import rescale

# The maximum rises within the stream and again near its end, so α is not always 1.
SCORES = [0.5, -1, 1, 0.2, 2, 0, 1.5, -0.5, 1, 0.8, -2, 1.9, 4, 3, -1, 2.5]


def expected(state: Values) -> Values:
    """The lib's trace, positions as values; and each score as a block of its own."""
    scores = np.array(state["scores"], np.float64)
    forget = "lo" if state["forget"] else ""
    positions = np.arange(1.0, len(scores) + 1)
    steps = streaming.trace(scores, state["block"], positions, forget=forget)
    now = steps[min(state["step"], len(steps)) - 1] if state["step"] else None
    seen = steps[: state["step"]]
    blocks = [rescale(State(scores[s.start : s.stop], 1.0), s.m).l for s in seen]
    due = rescale(State(scores[: now.stop], 1.0), now.m).l if now else []
    return {
        "steps": len(steps),
        "trace": [{"l": 0.0, "m": -np.inf}, *map(_as_dict, steps)],
        "now": _as_dict(now) if now else {"l": 0.0, "o": 0.0, "m": -np.inf},
        "weights": np.concatenate(blocks) if state["forget"] and seen else due,
        "truth": {"l": streaming.sum_exp([scores])[1], "m": scores.max()},
    }


def _as_dict(step: streaming.Step) -> Values:
    return {name: getattr(step, name) for name in ("m", "alpha", "added", "l", "o")}


def states(random: np.random.Generator) -> Iterator[Values]:
    """Random rows, then ties, −∞ at the front, ragged ends, huge jumps."""
    nasty = [
        [3.0, 3.0, 3.0, 3.0],
        [-np.inf, -np.inf, 1.0, 2.0],
        [-np.inf] * 5,
        [1.0, -np.inf, 700.0, -700.0, 700.0],
        [-1e300, 0.0, 1e300],
        [0.0],
        [-745.0, 0.0, 745.0, -745.0],
    ]
    rows = nasty + [list(random.normal(0, 4, n)) for n in random.integers(1, 40, 60)]
    for row in rows:
        for block in {1, 2, 5, int(random.integers(1, 17)), 16}:
            step = int(random.integers(0, len(row) + 1))
            forget = bool(random.integers(2))
            yield {"scores": row, "block": block, "step": step, "forget": forget}


SPEC = Spec(
    controls=(
        Range("block", 4, low=1, high=16),
        Toggle("forget"),
        Toggle("output"),
        Step("step"),
        Numbers("scores", SCORES),
    ),
    still={"block": 4, "step": 4},
    prediction=Prediction(
        answer=2,
        shown_by=(
            {"forget": True, "block": 1, "step": 16},
            {"forget": True, "block": 4, "step": 4},
            {"forget": True, "block": 16, "step": 1},
            {"forget": True, "block": 16, "step": 1},
        ),
    ),
    expected=expected,
    states=states,
)
