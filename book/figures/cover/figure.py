"""The cover: a stream of scores passes one reading head, and two numbers are kept.

It asks for no prediction: it invites. What it shows: whatever passes, the pocket holds
m and ℓ and nothing else; when a larger score comes, everything old shrinks at once.
"""

from collections.abc import Iterator

import numpy as np

from livepage.figures.spec import Numbers, Spec, Step, Values
from onlinesoftmax import State, streaming
from onlinesoftmax.state import rescale

# A skyline whose largest tower grows four times.
SCORES = [
    0.9, 0.5, 1.2, 0.7, 0.4, 0.9, 0.6, 1.1, 2.1, 1.4, 0.8, 1.2,
    1.7, 0.9, 0.6, 1.3, 1.9, 1.1, 0.7, 3.0, 2.2, 1.5, 2.6, 1.2,
    0.8, 1.6, 2.4, 2.8, 1.9, 1.1, 3.9, 3.2, 2.1, 3.4, 1.7, 2.5,
]  # fmt: skip


def expected(state: Values) -> Values:
    """The lib's trace, score by score."""
    scores = np.array(state["scores"], np.float64)
    steps = streaming.trace(scores, 1)
    rows = [{name: getattr(s, name) for name in ("m", "alpha", "l")} for s in steps]
    return {
        "steps": len(rows),
        "trace": [{"m": -np.inf, "l": 0.0}, *rows],
        "weights": _worth(scores[: state["step"]]),
        "now": rows[state["step"] - 1] if state["step"] else {"l": 0.0},
    }


def _worth(scores: np.ndarray) -> np.ndarray:
    """Each score as a block of its own, measured from the largest of them."""
    return rescale(State(scores, 1.0), scores.max()).l if len(scores) else scores


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every moment of the cover, then other streams: ties, huge jumps, one score."""
    for step in range(len(SCORES) + 1):
        yield {"step": step}
    nasty = [[2.0] * 6, [-700.0, 700.0, 0.0], [5.0], [-1e9, 1e9], [0.0, -800.0, 800.0]]
    for row in nasty + [
        list(random.normal(1, 3, n)) for n in random.integers(2, 50, 160)
    ]:
        yield {"scores": row, "step": int(random.integers(0, len(row) + 1))}


SPEC = Spec(
    controls=(Step("step"), Numbers("scores", SCORES)),
    still={"step": 20},
    expected=expected,
    states=states,
    pace=520,
)
