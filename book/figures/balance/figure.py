"""The balance: why ℓ and o must shrink together, and why values of 1 hide so much.

Weights are masses, values are positions on a beam; o/ℓ is where it balances.

Prediction. The rescale multiplies old ℓ and old o by one factor. Skip both: where does
the balance point go? Why wrong answers tempt. "Nowhere": a common factor cancels in a
ratio. "Towards the new words": they have just arrived. What settles it: with neither
rescaled the bank sentence comes out at 6.989, nearer to the old words than the true
7.525, because the factor belongs to the old masses only.
"""

from collections.abc import Iterator

import numpy as np

from livepage.figures.spec import (
    Choice,
    Numbers,
    Prediction,
    Range,
    Spec,
    Toggle,
    Values,
)
from onlinesoftmax import dense
from onlinesoftmax import state as states_of

# "she walked along | the river bank": how much bank listens, and what each word says
# from 0, money, to 10, the edge of a river.
SCORES = [0, 1, 1, 0, 3, 2]
VALUES = [4, 6, 8, 5, 10, 2]


def expected(state: Values) -> Values:
    """The lib's sums: the first half of the words is old, the second half new."""
    scores = np.array(state["scores"], np.float64)
    values = np.ones(len(scores)) if state["ones"] else np.array(state["values"], float)
    half = len(scores) // 2
    old = states_of.State.of(scores[:half], values[:half])
    kept = states_of.rescale(old, state["m"])
    new = states_of.measure(scores[half:], values[half:], np.float64(state["m"]))
    l_old = kept.l if state["rescale"] in ("both", "l") else old.l
    o_old = kept.o if state["rescale"] in ("both", "o") else old.o
    l, o = l_old + new.l, o_old + new.o
    return {
        "mOld": old.m,
        "alpha": states_of.factor(old.m, state["m"]),
        "l": l,
        "o": o,
        "answer": o / l,
        "truth": dense.softmax_dot(scores, values),
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """The sentence, then random words, ties, switched-off words, falls and jumps."""
    nasty = [
        [1.0, 1.0, 1.0, 1.0],
        [-np.inf, -np.inf, 1.0, 2.0],
        [2.0, -np.inf, -np.inf, 3.0],
        [5.0, 4.0, 1.0, 0.0],
        [-700.0, 0.0, 3.0],
        [0.0, 3.0],
    ]
    rows = [SCORES] + nasty + [list(random.normal(1, 2, n)) for n in range(2, 21)]
    for row in rows:
        values = list(random.uniform(-3, 12, len(row)))
        for rescale in ("both", "l", "o", "neither"):
            for ones in (False, True):
                m = float(random.uniform(1, 5))
                yield {
                    "scores": row,
                    "values": values,
                    "m": m,
                    "rescale": rescale,
                    "ones": ones,
                }


SPEC = Spec(
    controls=(
        Choice("rescale", "both", of=("both", "l", "o", "neither")),
        Range("m", 3, low=1, high=5, step=0.1),
        Toggle("ones"),
        Numbers("scores", SCORES),
        Numbers("values", VALUES),
    ),
    still={"rescale": "neither"},
    prediction=Prediction(
        answer=1,
        shown_by=({"rescale": "neither"},) * 3,
    ),
    expected=expected,
    states=states,
)
