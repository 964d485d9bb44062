"""Two chunks: a sum measured from one maximum meets a chunk that brings a larger one.

Prediction. The pocket holds 5, measured from 3; the scores 5 and 4 arrive: is the new
sum larger or smaller? Why wrong answers tempt. "Larger": only positive terms are
added. "Equal": nothing old is lost. "Unknowable": the old scores are gone. What
settles it: the merged state with the chunk's maximum at 5, whose sum is 2.0446.
"""

from collections.abc import Iterator

import numpy as np

from livepage.figures.spec import Numbers, Prediction, Range, Spec, Step, Toggle, Values
from onlinesoftmax import State, merge
from onlinesoftmax.state import rescale

LOWEST, HIGHEST = -2, 8  # of the score that is dragged
MERGED = {"top": 5, "step": 2}


def expected(state: Values) -> Values:
    """The lib's merge of the two chunks; without the rescale, only their sum."""
    first = np.array(state["first"], np.float64)
    second = state["top"] + np.array(state["offsets"], np.float64)
    old, new = State.of(first), State.of(second)
    both = merge(old, new)
    added = rescale(new, both.m).l
    kept = old.l if state["forget"] else rescale(old, both.m).l
    sums = (old.l, kept, kept + added)
    return {
        "old": {"m": old.m, "l": old.l},
        "m": both.m,
        "alpha": rescale(State(old.m, 1.0), both.m).l,
        "added": added,
        "kept": kept,
        "truth": both.l,
        "shown": sums[state["step"]],
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every position of the slider, then other chunks: ties, huge jumps, one score."""
    for top in np.linspace(-2, 8, 101).round(9):
        for forget in (False, True):
            step = int(random.integers(0, 3))
            yield {"top": float(top), "forget": forget, "step": step}
    for first in (
        [3.0],
        [3.0, 3.0],
        [700.0, -700.0],
        [-1e6],
        list(random.normal(0, 5, 9)),
    ):
        for offsets in ([0.0], [0.0, 0.0], [0.0, -800.0], [-3.0, 0.0, -1e9]):
            yield {"first": first, "offsets": offsets, "step": 2}


SPEC = Spec(
    controls=(
        Range("top", 5, low=LOWEST, high=HIGHEST, step=0.1),
        Toggle("forget"),
        Step("step"),
        Numbers("first", [3.0] * 5),
        Numbers("offsets", [0.0, -1.0]),
    ),
    still=MERGED,
    prediction=Prediction(answer=2, shown_by=(MERGED,) * 4),
    constants={"LOWEST": LOWEST, "HIGHEST": HIGHEST},
    expected=expected,
    states=states,
    pace=1700,
)
