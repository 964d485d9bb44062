"""The merge tree: any two states may merge next.

Prediction. Does the order of merging change the answer? Why wrong answers tempt. "Yes":
the states are measured from different maxima, and each merge rescales. "Not in a single
bit": the proof says that the answers are equal, and it speaks of real numbers. What
settles it: two trees over the same five states, one of which ends at the float nearest
to the exact answer, the other three floats away.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from math import exp

import numpy as np

from livepage.figures.spec import Numbers, Pairs, Prediction, Spec, Toggle, Values
from onlinesoftmax import State

SIZE = 3  # scores in a chunk
SCORES = [2.0, -0.8, -0.6, 2.5, 2.6, 2.7, 3.5, 0.5, -0.5, 1.2, 0.3, 0.0, 4.0, -0.4, 3.8]
VALUES = [2.0, 8, 5, 1, 2, 1, 7, 4, 7, 1, 1, 9, 2, 1, 6]
RIGHT_TO_LEFT, NEAREST = "DE.CD.BC.AB", "AB.AC.DE.AD"  # three floats off, and none
Single = np.float32


def rounded_exp(x: Single) -> Single:
    """exp(x), computed in float64 and rounded once: the book's low precision.

    NumPy's own float32 exp is a little less exact, and differs between machines.
    """
    return Single(exp(x))


def leaf(scores: list[float], values: list[float]) -> State:
    """The state of a chunk in float32, added up from left to right."""
    m = max(map(Single, scores))
    l = o = Single(0)
    for s, v in zip(scores, values, strict=True):
        w = rounded_exp(Single(s) - shift(m))
        l += w
        if w > 0:
            o += w * Single(v)
    return State(m, l, o)


def merge(a: State, b: State) -> State:
    """The lib's merge, with each operation rounded to float32."""
    m = max(a.m, b.m)
    alpha_a, alpha_b = (rounded_exp(side.m - shift(m)) for side in (a, b))
    return State(m, alpha_a * a.l + alpha_b * b.l, alpha_a * a.o + alpha_b * b.o)


def shift(m: Single) -> Single:
    return Single(0) if m == -np.inf else m


def grow(leaves: list[State], merges: str) -> tuple[list[State], list[State]]:
    """Merge groups pair after pair; give those that are left, and every merge in turn."""
    groups = [({chr(65 + k)}, state) for k, state in enumerate(leaves)]
    made = []
    for pair in filter(None, merges.split(".")):
        first, second = sorted(
            next(i for i, (names, _) in enumerate(groups) if letter in names)
            for letter in pair
        )
        if first == second:
            continue
        names, state = groups.pop(second)
        joined = merge(groups[first][1], state)
        groups[first] = (groups[first][0] | names, joined)
        made.append(joined)
    return [state for _, state in groups], made


def every_tree(states: list[State]) -> Iterator[State]:
    """What comes out of every tree; the two sides of a merge count as one tree."""
    if len(states) == 1:
        yield states[0]
    rest = range(1, len(states))
    for size in range(len(states) - 1):
        for chosen in combinations(rest, size):
            with_first = [states[0], *(states[i] for i in chosen)]
            others = [states[i] for i in rest if i not in chosen]
            for a in every_tree(with_first):
                for b in every_tree(others):
                    yield merge(a, b)


def answer(state: State) -> Single:
    return state.o / state.l if state.l > 0 else Single(0)


def float_number(y: Single) -> int:
    """Which float it is, counted from 0."""
    raw = int((Single(y) + Single(0)).view(np.int32))
    return raw if raw >= 0 else -(2**31) - raw


@np.errstate(over="ignore", invalid="ignore")
def expected(state: Values) -> Values:
    """Every merge in float32, the lib's exact answer, and where all the trees end."""
    scores = np.array(state["scores"]).reshape(-1, SIZE)
    values = np.array(state["values"]).reshape(-1, SIZE)
    chunks = [leaf(s, v) for s, v in zip(scores, values, strict=True)]
    masked = [leaf([-np.inf] * SIZE, [0.0] * SIZE)] if state["masked"] else []
    roots, made = grow(chunks + masked, state["merges"])
    wide = [np.ravel(x).astype(np.float32).astype(float) for x in (scores, values)]
    truth = State.of(*wide)
    nearest = Single(truth.result())
    near = float_number(nearest)
    gap = np.spacing(abs(nearest) or Single(1))
    part = round(float((truth.result() - float(nearest)) / float(gap)), 3)
    ends = Counter(float_number(answer(end)) - near for end in every_tree(chunks))
    result = None
    if len(roots) == 1:
        y = answer(roots[0])
        result = {"y": y, "off": float_number(y) - near}
    return {
        "leaves": [s._asdict() for s in chunks + masked],
        "nodes": [s._asdict() for s in made],
        "roots": [s._asdict() for s in roots],
        "truth": {"m": truth.m, "l": truth.l, "y": truth.result(), "part": part},
        "ends": [list(pair) for pair in sorted(ends.items())],
        "result": result,
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Random trees, whole and half done, over the figure's chunks and nastier ones."""
    inf = np.inf
    rows = [
        (SCORES, VALUES),
        ([1.0] * 9, [1.0, 2, 3, 4, 5, 6, 7, 8, 9]),
        ([-inf, -inf, -inf, 0.0, 1.0, 2.0], [5.0] * 3 + [1.0, 2.0, 3.0]),
        ([-inf, 1.0, -inf, -120.0, -121.0, -inf, 100.0, 0.0, 99.0], [3.0] * 9),
        ([-800.0, -801.0, -inf, -950.0, -inf, -800.5], [1.0, 2, 3, 4, 5, 6]),
        ([-inf] * 6, [1.0, 2, 3, 4, 5, 6]),
        ([0.1, 0.2, 0.3], [0.7, -0.7, 0.1]),
    ]
    for _ in range(12):
        n = SIZE * int(random.integers(2, 6))
        rows.append((list(random.normal(0, 4, n)), list(random.uniform(1, 9, n))))
    for scores, values in rows:
        row = {"scores": scores, "values": values}
        for _ in range(12):
            masked = bool(random.integers(2))
            count = len(scores) // SIZE + masked
            some = random.integers(0, count, (random.integers(0, 3 * count), 2))
            merges = ".".join(chr(65 + i) + chr(65 + j) for i, j in some)
            yield row | {"masked": masked, "merges": merges}


SPEC = Spec(
    controls=(
        Pairs("merges"),
        Toggle("masked"),
        Numbers("scores", SCORES),
        Numbers("values", VALUES),
    ),
    still={"merges": RIGHT_TO_LEFT},
    prediction=Prediction(
        answer=2,
        shown_by=(
            {"merges": NEAREST},
            {"merges": RIGHT_TO_LEFT},
            {"merges": RIGHT_TO_LEFT},
        ),
    ),
    expected=expected,
    states=states,
)
