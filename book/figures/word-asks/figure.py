"""A word asks: what attention is for, in one sentence of six words.

One word asks with its query. Its score with each word's key is their dot product, softmax
turns the scores into shares, and the answer is the average of the values by these shares.

Prediction. "bank" asks, and "river" has the highest score. Where will the average of the
values be? Why wrong answers tempt. "At 10": attention is often told as a search that
finds the best match. "Near 6": all six words are heard, and that is their plain average.
What settles it: the last step. The average is 7.525: "river" has the largest share, and
all the others have one too.
"""

from collections.abc import Iterator

import numpy as np

from livepage.figures.spec import Choice, Numbers, Prediction, Spec, Step, Values
from onlinesoftmax import dense
from rescaling import sentence

WORDS, QUERIES, KEYS, VALUES = sentence()
STEPS = 3  # scores, shares, the average
ANSWERED = {"step": STEPS}


def expected(state: Values) -> Values:
    """The lib's softmax of the word's row of scores, and its softmax-dot."""
    queries, keys = (
        np.reshape(state[name], (len(WORDS), -1)).astype(float) for name in "QK"
    )
    scores = keys @ queries[WORDS.index(state["word"])]
    return {
        "steps": STEPS,
        "scores": scores,
        "shares": dense.softmax(scores),
        "answer": dense.softmax_dot(scores, np.array(state["values"], float)),
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """The sentence as it is, then random and tied vectors, and scores far apart."""
    n = len(WORDS)
    tables = [(np.ravel(QUERIES), np.ravel(KEYS))]
    tables += [(np.zeros(2 * n), np.ones(2 * n)), (np.ones(2 * n), np.ones(2 * n))]
    tables += [(30 * random.normal(size=2 * n), 30 * random.normal(size=2 * n))]
    tables += [random.integers(-2, 4, (2, 2 * n)) for _ in range(6)]
    for queries, keys in tables:
        values = random.integers(0, 11, n)
        for word in WORDS:
            for step in range(STEPS + 1):
                yield {
                    "word": word,
                    "step": step,
                    "Q": queries.tolist(),
                    "K": keys.tolist(),
                    "values": values.tolist(),
                }


SPEC = Spec(
    controls=(
        Choice("word", "bank", of=WORDS),
        Step("step", 1),
        Numbers("Q", [x for row in QUERIES for x in row]),
        Numbers("K", [x for row in KEYS for x in row]),
        Numbers("values", [row[0] for row in VALUES]),
    ),
    still=ANSWERED,
    prediction=Prediction(answer=1, shown_by=(ANSWERED,) * 3),
    expected=expected,
    states=states,
    constants={"WORDS": WORDS, "STEPS": STEPS},
)
