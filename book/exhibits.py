"""What the rooms of the museum share: the definition, the inputs, and the tests.

The programs themselves stand in the drills. `exhibit` loads one as it was found, `mended`
as the drill's solution has it, and `visit` puts any attention to all tests. A query, a
key and a value are lists of numbers, and `sees[i][j]` says whether query i sees key j.
"""

from collections.abc import Callable
from inspect import getsource
from math import exp, inf, nan, sin, sqrt
from typing import Any

from IPython.display import Markdown

import rescaling  # noqa: F401  (hands the drills in)
from blocksim import load
from livepage.drills.bank import find

Rows = list[list[float]]
Sees = list[list[int]]
Attention = Callable[..., Rows]


def exhibit(id: str) -> Callable[..., Any]:
    """Return the program that a drill asks to mend, as it was found."""
    return _function(id, "starter")


def program(id: str) -> str:
    """Return the text of that program."""
    return find(id).get("starter")


def mended(id: str) -> Callable[..., Any]:
    """Return the same program as the drill's solution has it."""
    return _function(id, "code")


def _function(id: str, field: str) -> Callable[..., Any]:
    text, name = find(id).get(field), find(id).get("function")
    if find(id).kind == "kernel":
        return load(text, name)
    names: dict[str, Any] = {}
    exec(text, names)
    return names[name]


def source(function: Callable[..., Any]) -> Markdown:
    """Return the text of a function, to be shown as code."""
    return Markdown(f"```python\n{getsource(function)}```")


# ---- the definition


def dot(x, y):
    return sum(a * b for a, b in zip(x, y))


def by_definition(Q, K, V, sees):
    """Attention of each query over the keys that it sees; 0 if there are none."""
    O = []
    for q, seen in zip(Q, sees):
        keys = [j for j in range(len(K)) if seen[j]]
        s = [dot(q, K[j]) / sqrt(len(q)) for j in keys]
        terms = [exp(x - max(s)) for x in s]
        sums = [sum(t * V[j][c] for t, j in zip(terms, keys)) for c in range(2)]
        O.append([x / sum(terms) if keys else 0.0 for x in sums])
    return O


def written(O: Rows) -> list[list[str]]:
    """Return an output as text, to three decimals."""
    return [[f"{x + 0.0:.3f}" for x in row] for row in O]


def row_of(O: Rows, i: int) -> str:
    return ", ".join(written(O)[i])


def as_defined(
    attention: Attention, Q: Rows, K: Rows, V: Rows, sees: Sees, block: int
) -> bool:
    """Return whether an attention gives what the definition gives."""
    truth = by_definition(Q, K, V, sees)
    return written(attention(Q, K, V, sees, block)) == written(truth)


# ---- the inputs: wavy numbers in place of random ones, so that everybody has the same


def wavy(rows: int, width: int, at: float = 0) -> Rows:
    return [[2 * sin(7 * i + 3 * c + at) for c in range(width)] for i in range(rows)]


def lowered(Q: Rows, K: Rows, level: float) -> tuple[Rows, Rows]:
    """Return queries and keys with `level` added to all scores."""
    d = len(Q[0]) + 1
    raised = [[x * sqrt(d / (d - 1)) for x in q] + [1.0] for q in Q]
    return raised, [k + [level * sqrt(d)] for k in K]


def everything(n: int, keys: int) -> Sees:
    return [[1] * keys for _ in range(n)]


def causal(n: int, padding: int = 0) -> Sees:
    """Return the causal mask of n tokens, the first few of which are padding."""
    return [[int(padding <= j <= i) for j in range(n)] for i in range(n)]


def wrong_rows(attention: Attention, n: int, sees: Sees, level: float = 0) -> list[int]:
    """Return which of n queries come out wrong, in tiles of four keys."""
    q, k = lowered(wavy(n, 4), wavy(n, 4, 1), level)
    v = wavy(n, 2, 2)
    truth = written(by_definition(q, k, v, sees))
    O = written(attention(q, k, v, sees, 4))
    return [i for i in range(n) if O[i] != truth[i]]


# ---- the tests that would have caught them


def low_rows(attention):
    """All scores far below zero; nothing is hidden, and the last tile is short."""
    q, k = lowered(wavy(3, 4), wavy(9, 4, 1), -2000)
    return as_defined(attention, q, k, wavy(9, 2, 2), everything(3, 9), 4)


def late_and_low(attention):
    """Low scores, and a first or a last tile that shows half of the queries nothing."""
    q, k = lowered(wavy(8, 4), wavy(8, 4, 1), -2000)
    return as_defined(attention, q, k, wavy(8, 2, 2), causal(8), 4)


def uneven_tiles(attention):
    """Falling scores in small tiles: all factors are 1, and only the sums matter."""
    keys = [[3.0], [2.0], [1.0], [1.0], [0.0], [0.0]]
    values = [[float(j), 1.0] for j in range(6)]
    return as_defined(attention, [[1.0]], keys, values, everything(1, 6), 2)


def rising_scores(attention):
    """Every key is a new maximum."""
    keys = [[float(j)] for j in range(8)]
    values = [[float(j + 1), 1.0] for j in range(8)]
    return as_defined(attention, [[1.0]], keys, values, everything(1, 8), 1)


def ragged_and_open(attention):
    """A short last tile that every query sees to its end."""
    return wrong_rows(attention, 9, everything(9, 9), level=-3) == []


def below_the_floor(attention):
    """Scores lower than any floor, beside a hidden key."""
    q, k = lowered(wavy(2, 4), wavy(6, 4, 1), -3e9)
    values = [[float(j), 1.0] for j in range(6)]
    sees = [[1, 1, 1, 1, 1, 0], [1] * 6]
    return as_defined(attention, q, k, values, sees, 3)


def after_hidden_tiles(attention):
    """Padded on the left by more than a tile. A query that sees nothing gets zeros."""
    q, k, v = wavy(8, 4), wavy(8, 4, 1), wavy(8, 2, 2)
    return as_defined(attention, q, k, v, causal(8, padding=5), 4)


def poisoned_values(attention):
    """Hidden values are infinite or NaN; a visible one may be, and has to show."""
    values = wavy(6, 2, 2)
    values[2], values[5] = [inf, 1.0], [nan, nan]
    sees = [[1, 1, 0, 1, 1, 0], [1, 1, 1, 1, 0, 0]]
    if not as_defined(attention, wavy(2, 4), wavy(6, 4, 1), values, sees, 3):
        return False
    # Visible, with a weight that is rounded to 0: the mask decides, not the weight.
    values, keys = [[1, 2], [4, 3], [nan, nan]], [[1.0], [0.0], [-2000.0]]
    return as_defined(attention, [[1.0]], keys, values, everything(1, 3), 3)


def every_row(attention):
    """More queries than whole blocks, more keys than whole tiles; then one large block."""
    q, k, v = wavy(5, 4), wavy(7, 4, 1), wavy(7, 2, 2)
    sees = everything(5, 7)
    return all(as_defined(attention, q, k, v, sees, block) for block in (2, 8))


def many_keys(attention):
    """Sixty keys of different weights; then the same, with scores far above zero."""
    Q, K = [[x / 10 for x in row] for row in wavy(4, 4)], wavy(60, 4, 1)
    V, sees = wavy(60, 2, 2), everything(4, 60)
    raised = (lowered(Q, K, level) for level in (0, 2000))
    return all(as_defined(attention, q, k, V, sees, 16) for q, k in raised)


def into_nan(fill: Callable[..., None]) -> Attention:
    """Return an attention from a kernel that fills its last argument, NaN at first."""

    def attention(Q, K, V, sees, block):
        O = [[nan, nan] for _ in Q]
        fill(Q, K, V, sees, block, O)
        return O

    return attention


def average(Q, K, V, sees, block):
    """No attention at all: the plain average of the values, for every query."""
    return [[sum(v[c] for v in V) / len(V) for c in range(2)] for _ in Q]


# Each test, and the exhibit that it was made for.
TESTS = {
    low_rows: exhibit("tiny-start"),
    late_and_low: exhibit("zero-kept"),
    uneven_tiles: exhibit("average-kept"),
    rising_scores: exhibit("old-maximum"),
    ragged_and_open: exhibit("last-tile-full"),
    below_the_floor: exhibit("floor-of-scores"),
    after_hidden_tiles: exhibit("cleaned-too-late"),
    poisoned_values: exhibit("leftover-values"),
    every_row: into_nan(exhibit("unwritten-rows")),
    many_keys: average,
}


def visit(attention: Attention) -> list[str]:
    """Return the names of the tests that an attention fails; an error fails, too."""
    return [test.__name__ for test in TESTS if not _passes(test, attention)]


def _passes(test: Callable[[Attention], bool], attention: Attention) -> bool:
    try:
        return test(attention)
    except Exception:
        return False
