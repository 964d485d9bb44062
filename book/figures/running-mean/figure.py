"""Running mean: two questions about one stream, and what each makes you carry.

Prediction. Five scores have passed; the sixth is the largest so far. How many of the five
terms already added change? Why wrong answers tempt. "None": so it is with the mean, where
what is added stays added. "One": the old maximum loses its place. What settles it: with
the sixth score every earlier term has a ghost above it, because each is measured from the
new maximum.
"""

from collections.abc import Iterator

import numpy as np

from livepage.figures.spec import Numbers, Prediction, Spec, Step, Values
from onlinesoftmax import State, dense

SCORES = [2.0, 1.0, 3.0, 0.0, 2.0, 5.0, 4.0, 1.0]
RISEN = {"step": 6}


def expected(state: Values) -> Values:
    """NumPy's mean, the lib's m and l, and the terms as softmax times l."""
    seen = np.array(state["scores"][: state["step"]], np.float64)
    if seen.size == 0:
        return {"steps": len(state["scores"]), "count": 0, "sum": 0.0, "terms": []}
    old, now = State.of(seen[:-1]), State.of(seen)
    return {
        "steps": len(state["scores"]),
        "sum": seen.sum(),
        "count": seen.size,
        "mean": seen.mean(),
        "m": now.m,
        "l": now.l,
        "terms": list(dense.softmax(seen) * now.l),
        "changed": seen.size - 1 if now.m > old.m else 0,
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every step of the figure's own stream, of ties and of random ones."""
    rows = [SCORES, [1.0, 1.0, 1.0], [3.0], [-700.0, 0.0, 700.0], [5.0, 4.0, 3.0]]
    rows += [list(random.normal(0, 3, n).round(2)) for n in random.integers(1, 13, 40)]
    for scores in rows:
        for step in range(len(scores) + 1):
            yield {"scores": scores, "step": step}


SPEC = Spec(
    controls=(Step("step"), Numbers("scores", SCORES)),
    still=RISEN,
    prediction=Prediction(answer=2, shown_by=(RISEN,) * 3),
    expected=expected,
    states=states,
)
