"""Low scores: what one program of the museum makes of a row that is moved downwards.

The numbers are those of the exhibit itself, run as its drill has it.

Prediction. The output is right at a level of 0 and zero at −10,000: what lies between?
Why wrong answers tempt. "It fades": zero is usually reached little by little. "It jumps":
an average does not depend on the level, so it is right as long as there is one. What
settles it: the last levels before the zero, where the weights are whole multiples of the
smallest number that there is.
"""

from collections.abc import Iterator
from math import log10
from typing import Any

import numpy as np

from exhibits import by_definition, dot, everything, lowered, wavy, written
from livepage.drills.bank import find
from livepage.figures.spec import Prediction, Range, Spec, Toggle, Values

LOWEST, LANES, KEYS = -800, 4, 9
QUERY, ALL_KEYS, VALUES = wavy(1, 4), wavy(KEYS, 4, 1), wavy(KEYS, 2, 2)
RECORD = "        kept.append((m, l))\n"  # what the exhibit holds before it divides


def recorded() -> dict[str, Any]:
    """Return the names of the exhibit, which keeps each row's m and l in `kept`."""
    before, after = find("tiny-start").get("starter").split("        O.append(")
    names: dict[str, Any] = {"kept": []}
    exec(f"{before}{RECORD}        O.append({after}", names)
    return names


def scores(level: float) -> list[float]:
    """Return the scores of the row, moved by `level`."""
    (query,), keys = lowered(QUERY, ALL_KEYS, level)
    return [dot(query, key) / len(query) ** 0.5 for key in keys]


def expected(state: Values) -> Values:
    """The exhibit's row and the definition's; a share is the output of a lone value."""
    names, sees = recorded(), everything(1, KEYS)
    q, k = lowered(QUERY, ALL_KEYS, state["level"])

    def both(values: list[list[float]]) -> tuple[list[float], list[float]]:
        (row,) = names["in_lanes"](q, k, values, sees, LANES)
        (right,) = by_definition(q, k, values, sees)
        return row, right

    alone = [[[float(i == j), 0.0] for i in range(KEYS)] for j in range(KEYS)]
    shares = [both(values) for values in alone]
    output, right = both(VALUES)
    m, l = names["kept"][-1]
    return {
        "top": max(scores(state["level"])),
        "shares": [row[0] for row, _ in shares],
        "truth": [row[0] for _, row in shares],
        "output": output,
        "right": right,
        "wrong": written([output]) != written([right]),
        "m": m,
        "decades": log10(l) if l else None,
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every level near the end of the numbers, and random ones."""
    yield from ({"level": level} for level in range(-755, -700))
    levels = random.integers(LOWEST, 1, 160)
    yield from ({"level": int(level), "inside": True} for level in levels)


LAST = {"level": -745}

SPEC = Spec(
    controls=(Range("level", 0, low=LOWEST, high=0), Toggle("inside")),
    still=LAST,
    prediction=Prediction(answer=2, shown_by=({"level": -700}, LAST, LAST)),
    constants={"LANES": LANES, "SCORES": scores(0), "VALUES": VALUES},
    expected=expected,
    states=states,
    room=1e-10,
)
