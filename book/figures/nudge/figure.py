"""Nudge: how far the answer moves with a score, and how far the slope reaches.

Prediction. The slope for the score of *river* is 1.4. Raise that score by 3: where does the
answer go? Why wrong answers tempt. "To nearly 12": three times the slope. "To 10": river
outweighs everything. What settles it: the weight grows to 0.97, no further than 1, so that
the answer comes near to 10, river's own value, and never reaches it.
"""

from collections.abc import Iterator

import numpy as np

from livepage.figures.spec import Prediction, Row, Spec, Values
from onlinesoftmax import dense

# "she walked along the river bank", as in chapter 4: how much bank listens to each word,
# and what each says from 0, money, to 10, the edge of a river.
SCORES = [0, 1, 1, 0, 3, 2]
VALUES = [4, 6, 8, 5, 10, 2]
RAISED = {"scores": [0, 1, 1, 0, 6, 2]}


def answer(scores: np.ndarray) -> float:
    """The average of the values, by the lib."""
    return float(dense.softmax_dot(scores, np.array(VALUES, float)))


def expected(state: Values) -> Values:
    """The lib's answer and weights; slopes by the Jacobian of softmax."""
    scores, start = np.array(state["scores"], float), np.array(SCORES, float)

    def slopes(at: np.ndarray) -> np.ndarray:
        p = dense.softmax(at)
        return (np.diag(p) - np.outer(p, p)) @ VALUES

    return {
        "y": answer(scores),
        "weights": list(dense.softmax(scores)),
        "slopes": list(slopes(scores)),
        "line": answer(start) + float(slopes(start) @ (scores - start)),
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """The sentence, each score moved alone, and random scores."""
    rows = [SCORES, [0] * 6, [-2] * 5 + [6]]
    for j in range(6):
        for score in (-2, 6):
            rows.append([*SCORES[:j], score, *SCORES[j + 1 :]])
    rows += [list(random.uniform(-2, 6, 6).round(1)) for _ in range(190)]
    for scores in rows:
        yield {"scores": scores}


SPEC = Spec(
    controls=(Row("scores", SCORES, low=-2, high=6, step=0.1, most=6),),
    still=RAISED,
    prediction=Prediction(answer=1, shown_by=(RAISED,) * 3),
    constants={"START": SCORES, "VALUES": VALUES},
    expected=expected,
    states=states,
)
