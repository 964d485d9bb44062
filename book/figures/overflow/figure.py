"""Overflow: a map of what softmax without the subtraction does, format by format.

Prediction. Softmax of 1,024 scores of 5 in float16: is it safe? Why wrong answers tempt.
"Yes": a term of 148 is far below 65,504. "A term overflows": 5 sounds large once one
knows that 12 is too much. What settles it: at 1,024 scores of 5 the sum is infinite; one
such score alone is safe, as the reader who chose the term is shown.
"""

from collections.abc import Iterator

import numpy as np

from livepage.figures.spec import Choice, Prediction, Range, Spec, Toggle, Values
from onlinesoftmax import precision

FARTHEST, MOST_POWER = 120, 26  # the ends of two controls, and of the axes
CROWD = {"logit": 5, "power": 10, "format": "float16", "subtract": False}


def expected(state: Values) -> Values:
    """The lib's rounding and adding up; the failure from what they give."""
    name, count = state["format"], 2 ** state["power"]
    with np.errstate(over="ignore", invalid="ignore"):
        score = 0.0 if state["subtract"] else state["logit"]
        term = precision.round_to(np.exp(np.float64(score)), name)
        total = np.inf if np.isinf(term) else precision.add_up(term, count, name)
        weight = precision.round_to(np.float64(term) / total, name)
    stalled = np.isfinite(total) and count > 2 ** precision.find(name).bits
    failures = (np.isinf(term), term == 0, np.isinf(total), stalled, True)
    return {
        "term": term,
        "total": total,
        "weight": weight,
        "failure": (1, 2, 3, 4, 0)[failures.index(True)],
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Both sides of every wall, in every format, then random places on the map."""
    for name in precision.FORMATS:
        zero, subnormal, overflow = precision.exp_limits(name)
        edges = [zero, subnormal, overflow, overflow - 10 * np.log(2), 0.0, 5.0]
        for edge in edges:
            for logit in (edge - 0.01, edge + 0.01):
                if abs(logit) <= 120:
                    power = int(random.integers(0, 27))
                    yield {"logit": float(logit), "power": power, "format": name}
    yield {"logit": 50.6, "power": 25, "format": "float32"}  # stalls at the very end
    for _ in range(200):
        yield {
            "logit": float(random.choice([20.0, 120.0]) * random.uniform(-1, 1)),
            "power": int(random.integers(0, 27)),
            "format": str(random.choice(list(precision.FORMATS))),
            "subtract": bool(random.integers(4) == 0),
        }


SPEC = Spec(
    controls=(
        Choice("format", "float16", of=tuple(precision.FORMATS)),
        Range("logit", 1.0, low=-FARTHEST, high=FARTHEST, step=0.1),
        Range("power", 6, low=0, high=MOST_POWER),
        Toggle("subtract"),
    ),
    still=CROWD,
    prediction=Prediction(answer=2, shown_by=(CROWD, {**CROWD, "power": 0}, CROWD)),
    constants={
        "FARTHEST": FARTHEST,
        "MOST_POWER": MOST_POWER,
        "FORMATS": {
            name: form._asdict() | {"largest": form.largest}
            for name, form in precision.FORMATS.items()
        },
    },
    expected=expected,
    states=states,
)
