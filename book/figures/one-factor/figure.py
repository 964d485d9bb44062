"""A film of the rescale: twenty seconds, six scores, three new maxima, one sum.

It asks for no prediction: it repeats in motion what the page has just derived. What it
shows: whatever is the largest so far counts as 1; when a larger score comes, everything
that was counted shrinks with it, in one movement, until the newcomer counts as 1; and at
the end the sum is that of all the scores at once.

Everything is measured from one number, m. In a rescale it runs from the old largest
score to the new one, and the picture follows: nothing else moves.
"""

from bisect import bisect_right
from collections.abc import Iterator

import numpy as np

from livepage.figures.spec import Film, Spec, Values
from onlinesoftmax import State, streaming
from onlinesoftmax.state import rescale

SECONDS = 20
SCORES = [2.0, 1.3, 2.7, 3.5, 5.8, 5.1]
# When each score is called, when its bar grows, when all shrinks if it is too tall, and
# when it joins the sum: the first rescale takes its time, the last is the largest.
BEATS = [
    {"call": 0.6, "grow": [0.8, 1.5], "shrink": None, "join": [2.5, 3.3]},
    {"call": 3.7, "grow": [3.9, 4.4], "shrink": None, "join": [4.9, 5.6]},
    {"call": 5.8, "grow": [6.0, 6.8], "shrink": [7.9, 10.1], "join": [10.8, 11.5]},
    {"call": 12.3, "grow": [12.5, 12.9], "shrink": [13.2, 14.1], "join": [14.2, 14.6]},
    {"call": 14.7, "grow": [14.8, 15.4], "shrink": [15.9, 16.9], "join": [17.0, 17.3]},
    {"call": 17.3, "grow": [17.3, 17.5], "shrink": None, "join": [17.5, 17.8]},
]
ALL = {"call": 17.9, "grow": [18.0, 18.4], "join": [18.5, 19.1], "equal": [19.1, 19.4]}
# When each of the captions in `strings.json` begins.
CAPTIONS = [0.0, 1.7, 3.7, 5.8, 7.5, 10.7, 12.6, 14.7, 17.8]
# The moments that tell it without motion; `stills` in `strings.json` says what they show.
STILLS = [5.75, 7.4, 10.3, 20.0]


def eased(span: list[float], t: float) -> float:
    """How much of a movement is done, from 0 to 1: it starts and ends gently."""
    part = min(1.0, max(0.0, (t - span[0]) / (span[1] - span[0])))
    return part**3 * (part * (6 * part - 15) + 10)


def measured_from(t: float) -> float:
    """The largest score so far; in a rescale, on its way to the new one."""
    m = SCORES[0]
    for score, beat in zip(SCORES, BEATS):
        if beat["shrink"]:
            m += (score - m) * eased(beat["shrink"], t)
    return m


def expected(state: Values) -> Values:
    """What is kept, by the library's stream, rescaled to what it is measured from."""
    t = state["t"]
    m, joined = measured_from(t), bisect_right([b["join"][1] for b in BEATS], t)
    called = bisect_right([b["call"] for b in BEATS], t)
    steps = streaming.trace(np.array(SCORES), 1)
    kept = [State.empty(), *(State(step.m, step.l) for step in steps)][joined]
    factors = [step.alpha for step in steps[1:called] if step.alpha < 1]
    return {
        "m": m,
        "called": called,
        "joined": joined,
        "l": rescale(kept, m).l,
        "worth": [rescale(State(score, 1.0), m).l for score in SCORES],
        "alpha": factors[-1] if factors else 1.0,
        "truth": State.of(SCORES).l,
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every tenth of a second, then moments at random."""
    for t in [*np.linspace(0, SECONDS, 201), *random.uniform(0, SECONDS, 50)]:
        yield {"t": float(t)}


SPEC = Spec(
    controls=(Film("t", seconds=SECONDS, stills=tuple(STILLS)),),
    still={"t": SECONDS},
    expected=expected,
    states=states,
    constants={
        "SCORES": SCORES,
        "BEATS": BEATS,
        "ALL": ALL,
        "CAPTIONS": CAPTIONS,
        "STILLS": STILLS,
    },
)
