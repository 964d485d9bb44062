"""What the forward pass stores, and what the backward pass recomputes.

Prediction. Six queries pass six keys, tile by tile, and in the backward pass every tile
needs its weights again: how many numbers have to be stored for that? Why wrong answers
tempt. "none": scores can be recomputed. "12": a weight takes a maximum and a sum. "18":
each tile had those of its own. "36": the weights are what is wanted. What settles it: the
backward pass with one number a row. A tile recomputes its scores, and the row's number
turns them into final weights.
"""

from collections.abc import Iterator

import numpy as np

from livepage.figures.spec import Choice, Numbers, Prediction, Spec, Step, Values
from onlinesoftmax import dense, streaming
from rescaling import sentence

WORDS, QUERIES, KEYS, _ = sentence()
N, ROWS, COLUMNS = len(WORDS), 3, 2  # of the matrix; of a tile
TILES = (N // ROWS) * (N // COLUMNS)
SCORES = [int(np.dot(query, key)) for query in QUERIES for key in KEYS]
KEEPS = ("least", "weights")


def tile_at(step: int) -> tuple[int, int]:
    """The first row and the first key of a step's tile: there, then back."""
    back, at = divmod(step - 1, TILES)
    if back:  # a tile of keys stays, and the queries walk past
        return at % (N // ROWS) * ROWS, at // (N // ROWS) * COLUMNS
    return at // (N // COLUMNS) * ROWS, at % (N // COLUMNS) * COLUMNS


def expected(state: Values) -> Values:
    """The lib's weights of the tile at hand, and what is known of each row."""
    scores = np.array(state["scores"], np.float64).reshape(N, N)
    step = min(state["step"], 2 * TILES)
    ended = min(step, TILES) // (N // COLUMNS) * ROWS  # rows that are through
    known = dense.logsumexp(scores[:ended]).tolist() if ended else []
    whole = state["keep"] == "weights"
    kept = min(step, TILES) * ROWS * COLUMNS if whole else ended
    held = kept if whole else ROWS * COLUMNS * (step > 0)
    tile = weights(scores, step) if step else []
    return {"steps": 2 * TILES, "lse": known, "tile": tile, "kept": kept, "held": held}


def weights(scores: np.ndarray, step: int) -> list[list[float]]:
    """The tile's weights: measured from the maximum so far, or final on the way back."""
    first, key = tile_at(step)
    rows, keys = scores[first : first + ROWS], slice(key, key + COLUMNS)
    if step > TILES:
        nothing = np.isneginf(rows).all(1, keepdims=True)
        return np.where(nothing, 0, dense.softmax(np.where(nothing, 0, rows)))[
            :, keys
        ].tolist()
    m = [streaming.trace(row, COLUMNS)[key // COLUMNS].m for row in rows]
    return np.exp(rows[:, keys] - np.where(np.isneginf(m), 0, m)[:, None]).tolist()


def states(random: np.random.Generator) -> Iterator[Values]:
    """The sentence at every step, then random, tied, switched-off and jumping rows."""
    tables = [SCORES, [1.0] * N * N, [-np.inf] * 9 + [0.0] * (N * N - 9)]
    tables += [[-np.inf] * N * N, list(random.choice([-700.0, 0.0, 700.0], N * N))]
    tables += [list(random.normal(0, 4, N * N)) for _ in range(5)]
    for scores in tables:
        for step in range(2 * TILES + 2):
            for keep in KEEPS:
                yield {"keep": keep, "step": step, "scores": scores}


SPEC = Spec(
    controls=(
        Choice("keep", "least", of=KEEPS),
        Step("step", 0),
        Numbers("scores", SCORES),
    ),
    still={"step": 9},
    prediction=Prediction(
        answer=1,
        shown_by=(
            {"step": 7},
            {"step": 12},
            {"step": 7},
            {"step": 6},
            {"keep": "weights", "step": 12},
        ),
    ),
    expected=expected,
    states=states,
)
