"""Lanes: the maxima of 16 queries, with a row of scores in the lanes or a query in each.

An instruction compares a register with scores from memory or with another register, or
shuffles the upper half of a register's lanes down. So halving the lanes takes two
instructions, as on x86. (ARM can combine all lanes of a register in one, but that takes
the time of several.)

Prediction. A register compares eight scores at once: which eight should it take? Why wrong
answers tempt. "Eight of one query": they lie side by side already. "No matter": 256
comparisons, eight at a time, are 32 either way. What settles it: the first row in the
lanes. Its scores are in after two instructions, and combining the lanes takes six more.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np

from livepage.figures.spec import Choice, Prediction, Spec, Step, Values

N = 16  # queries, and keys
SCORES = np.random.default_rng(14).integers(10, 100, (N, N))  # queries, keys
LAYOUTS = ("one", "row", "lane")
LANES = (4, 8, 16)
ROW = {"takes": "row", "step": 8}
LANE = {"takes": "lane", "step": 16}


class Machine:
    """A register of maxima, and a log of all instructions."""

    def __init__(self) -> None:
        self.log: list[Values] = []
        self.found: list[int] = []

    def clear(self, width: int) -> None:
        self.m = np.full(width, -np.inf)

    def write(self, kind: str, operand: np.ndarray) -> None:
        now = {"kind": kind, "operand": list(operand), "register": list(self.m)}
        self.log.append(now | {"found": list(self.found)})

    def compare(self, kind: str, operand: np.ndarray) -> None:
        self.m = np.maximum(self.m, operand)
        self.write(kind, operand)

    def combine(self) -> None:
        """Halve the lanes until one is left."""
        while len(self.m) > 1:
            low, high = np.split(self.m, 2)
            self.write("move", high)
            self.m = low
            self.compare("compare", high)

    def finish(self) -> None:
        """The register holds maxima of whole rows, which the last instruction found."""
        self.found += list(self.m)
        self.log[-1]["found"] = list(self.found)


@cache
def run(layout: str, lanes: int) -> list[Values]:
    """All instructions of a layout, executed."""
    machine = Machine()
    width = 1 if layout == "one" else lanes
    if layout == "lane":
        for queries in np.split(SCORES, N // width):
            machine.clear(width)
            for scores in queries.T:
                machine.compare("load", scores)
            machine.finish()
        return machine.log
    for row in SCORES:
        machine.clear(width)
        for scores in np.split(row, N // width):
            machine.compare("load", scores)
        machine.combine()
        machine.finish()
    return machine.log


def expected(state: Values) -> Values:
    """What the instruction did, and how many each layout takes."""
    lanes, log = state["lanes"], run(state["takes"], state["lanes"])
    at = min(state["step"], len(log))
    width = 1 if state["takes"] == "one" else lanes
    start = {"kind": "start", "operand": [], "register": [-np.inf] * width, "found": []}
    return {
        "steps": len(log),
        "at": at,
        "counts": [len(run(layout, lanes)) for layout in LAYOUTS],
        **(log[at - 1] if at else start),
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Both ends, the first rows, and random instructions of every layout and width."""
    for layout, lanes in product(LAYOUTS, LANES):
        ends = (0, len(run(layout, lanes)), 999)
        for step in (*ends, *range(1, 20), *random.integers(20, 260, 6)):
            yield {"takes": layout, "lanes": lanes, "step": int(step)}


SPEC = Spec(
    controls=(
        Choice("takes", "one", of=LAYOUTS),
        Choice("lanes", 8, of=LANES),
        Step("step", 5),
    ),
    still=LANE | {"step": 10},
    prediction=Prediction(answer=1, shown_by=(ROW, LANE, ROW)),
    constants={"SCORES": SCORES.ravel().tolist(), "N": N, "LANES": LANES},
    pace=260,
    expected=expected,
    states=states,
)
