"""One number of attention's output: a softmax-dot of a score row and a value column.

Prediction. The first column of a row is finished: what does the next one need anew? Why
wrong answers tempt. "m, ℓ and o": it is another softmax-dot. "ℓ and o": both are sums
that shrink together. What settles it: another column at the end of the row. m and ℓ
stay as they are, because the values do not appear in them.
"""

from collections.abc import Iterator

import numpy as np

from livepage.figures.spec import (
    Choice,
    Numbers,
    Prediction,
    Spec,
    Step,
    Toggle,
    Values,
)
from onlinesoftmax import streaming
from rescaling import sentence

WORDS, QUERIES, KEYS, ROWS = sentence()
ASPECTS = ("water", "moves", "lives")
BLOCK = 2

# Row i: how much word i listens to each word. The last row is the chapter's.
SCORES = [int(np.dot(query, key)) for query in QUERIES for key in KEYS]
# Row k: what word k says, one column an aspect. The first column is the chapter's.
VALUES = [value for row in ROWS for value in row]


def expected(state: Values) -> Values:
    """The lib's trace of the row, with all columns of values at once."""
    n, d = len(WORDS), len(ASPECTS)
    scores = np.array(state["scores"], np.float64).reshape(n, n)
    values = np.array(state["values"], np.float64).reshape(n, d)
    row = scores[WORDS.index(state["row"])]
    steps = streaming.trace(row, BLOCK, values)
    at = min(state["step"], len(steps))
    if at == 0:
        now = {"m": -np.inf, "l": 0.0, "o": [0.0] * d, "out": [0.0] * d}
    else:
        step = steps[at - 1]
        now = {"m": step.m, "l": step.l, "o": step.o, "alpha": step.alpha}
        now["out"] = step.o / (step.l if step.l > 0 else 1)
    return {"steps": len(steps), "now": now}


def states(random: np.random.Generator) -> Iterator[Values]:
    """The sentence at every step, then random, tied, switched-off and jumping rows."""
    n, d = len(WORDS), len(ASPECTS)
    tables = [SCORES, [1.0] * n * n, [-np.inf] * 3 + [0.0] * (n * n - 3)]
    tables += [[-np.inf] * n * n, list(random.choice([-700.0, 0.0, 700.0], n * n))]
    tables += [list(random.normal(0, 4, n * n)) for _ in range(6)]
    for scores in tables:
        values = list(random.normal(0, 5, n * d))
        for row in WORDS:
            for step in range(4):
                column = ASPECTS[step % d]
                yield {
                    "row": row,
                    "column": column,
                    "step": step,
                    "all": step > 1,
                    "scores": scores,
                    "values": values,
                }


SPEC = Spec(
    controls=(
        Choice("row", "bank", of=WORDS),
        Choice("column", "water", of=ASPECTS),
        Toggle("all"),
        Step("step", 3),
        Numbers("scores", SCORES),
        Numbers("values", VALUES),
    ),
    still={"all": True},
    prediction=Prediction(
        answer=2,
        shown_by=({"column": "moves", "step": 3},) * 3,
    ),
    expected=expected,
    states=states,
)
