"""Traffic: what attention holds at once, and what it moves, with the table and without.

Prediction. 65,536 tokens, heads 128 wide, blocks of 64 queries, no table: how many bytes
are moved, compared with the three steps? Why wrong answers tempt. "500 times fewer": the
table is gone, and each key is read once, as one hears. "64 times fewer": 64 queries
share what is read. "Half": keys and values instead of scores and weights. What
settles it: that very state, where each of 1,024 query blocks reads all keys and values.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from livepage.figures.spec import Choice, Prediction, Spec, Values
from onlinesoftmax import costs

ROWS = (16, 32, 64, 128, 256)
TILE = 64  # keys in a tile
LEVEL = {"n": 65536, "d": 128, "rows": 64}


def expected(state: Values) -> Values:
    """The lib's account."""
    n, d, rows, size = (state[name] for name in ("n", "d", "rows", "bytes"))
    kept = 4 * n * d * size  # q, k, v and the output
    dense = costs.dense_traffic(n, d, itemsize=size)
    tiled = [costs.tiled_traffic(n, d, each, itemsize=size) for each in ROWS]
    moved = costs.tiled_traffic(n, d, rows, itemsize=size)
    return {
        "reads": costs.key_reads(n, rows),
        "held": [
            kept + costs.dense_footprint(n, itemsize=size),
            kept + costs.tiled_footprint(rows, TILE, d),
        ],
        "moved": [dense, moved],
        "ratio": moved / dense,
        "curve": [each / dense for each in tiled],
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every size, and lengths that no block divides."""
    for n, d, rows, size in product(
        (1024, 8192, 65536, 2**20), (64, 128), ROWS, (2, 4)
    ):
        yield {"n": n, "d": d, "rows": rows, "bytes": size}
    for _ in range(140):
        yield {
            "n": int(random.integers(1, 5000)),
            "d": int(random.integers(1, 300)),
            "rows": int(random.choice(ROWS)),
            "bytes": int(random.choice([2, 4])),
        }


SPEC = Spec(
    controls=(
        Choice("n", 8192, of=(1024, 8192, 65536, 1048576)),
        Choice("d", 64, of=(64, 128)),
        Choice("rows", 128, of=ROWS),
        Choice("bytes", 2, of=(2, 4)),
    ),
    still=LEVEL,
    prediction=Prediction(answer=3, shown_by=(LEVEL,) * 4),
    presets=(
        LEVEL,
        {"n": 8192, "d": 64, "rows": 16},
        {"n": 8192, "d": 64, "rows": 128},
    ),
    constants={"ROWS": ROWS, "TILE": TILE},
    expected=expected,
    states=states,
)
