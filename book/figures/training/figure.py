"""Training: gradient descent from random queries and keys, with Δ and without.

Prediction. Leave Δ out of every step: what becomes of the loss? Why wrong answers tempt.
"It rises from the start": a wrong slope leads uphill. "It falls, only more slowly": so it
is with many approximations. What settles it: the curve without Δ falls at first, faster
than the other, then jumps about, and ends above where it began.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np

from livepage.figures.spec import Again, Prediction, Range, Spec, Step, Toggle, Values
from onlinesoftmax import backward, dense, streaming
from rescaling import sentence

VALUES = np.array(sentence().values, float)
HEARD = [1, 0, 4, 4, 2, 4]  # the word whose value each word is to hear
STEPS = 100
STARTS = [np.random.default_rng(seed).normal(size=(2, 6, 2)) for seed in range(1, 7)]
WITHOUT = {"delta": False, "step": STEPS}


@cache
def train(start: int, rate: float, delta: bool) -> tuple[list[float], np.ndarray]:
    """The lib's losses at all steps, and all weights: (steps, queries, keys)."""
    q, k = STARTS[start - 1]
    losses, weights = [], []
    for _ in range(STEPS + 1):
        o, lse = streaming.attention(q, k, VALUES, return_lse=True)
        do = o - VALUES[HEARD]
        losses.append(float((do**2).sum() / 2))
        weights.append(dense.softmax(q @ k.T / np.sqrt(2)))
        grads = backward.attention_grad(q, k, VALUES, o if delta else 0 * o, lse, do)
        q, k = q - rate * grads.q, k - rate * grads.k
    return losses, np.array(weights)


def expected(state: Values) -> Values:
    """Both curves, and how much bank hears of each word after a step."""
    start, rate = state["start"], state["rate"]
    losses, weights = train(start, rate, state["delta"])
    step = min(state["step"], STEPS)
    return {
        "steps": STEPS,
        "losses": losses,
        "other": train(start, rate, not state["delta"])[0],
        "weights": list(weights[step, 5]),
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Each beginning with three rates, with Δ and without, at several steps."""
    for start in range(1, len(STARTS) + 1):
        for rate in (0.005, 0.03, 0.05):
            for delta in (True, False):
                for step in (0, 1, 10, int(random.integers(2, STEPS)), 99, STEPS):
                    yield {"start": start, "rate": rate, "delta": delta, "step": step}


SPEC = Spec(
    controls=(
        Step("step"),
        Toggle("delta", True),
        Range("rate", 0.03, low=0.005, high=0.05, step=0.005),
        Again("start", 2, low=1, high=len(STARTS)),
    ),
    still=WITHOUT,
    prediction=Prediction(answer=2, shown_by=(WITHOUT,) * 3),
    constants={
        "VALUES": VALUES.tolist(),
        "HEARD": HEARD,
        "STEPS": STEPS,
        "STARTS": [start.tolist() for start in STARTS],
    },
    pace=60,
    room=0.05,  # without Δ a difference of 1e-16 grows to 0.002 in a hundred steps
    expected=expected,
    states=states,
)
