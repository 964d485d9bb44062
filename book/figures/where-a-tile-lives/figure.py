"""Where the numbers of a block and a tile live: in registers, in a cache, in memory.

A model, not a measurement: what is used again is still in a cache if everything that is
used in between fits there beside it. The cores are examples, with sizes that are common;
one has the caches of the core that was measured.

Prediction. A first cache of 32 KiB; queries and outputs of a block, keys and values of a
tile take 16 KiB each, the scores 8. Where do the queries come from when the next tile
comes? Why wrong answers tempt. "From L1": 16 KiB fit into 32. "From memory": that is
where they came from at first. What settles it: that very block, all of whose things
together take more than L1 and less than L2.
"""

from collections.abc import Iterator

import numpy as np

from livepage.figures.spec import Choice, Prediction, Range, Spec, Values
from livepage.measurements import measured
from onlinesoftmax import costs

KIB = 1024
OWN = measured("cpu-blocks.json").caches
# Bytes of all vector registers; KiB of each cache, the nearest first.
CORES = {
    "older": [512, 32, 256, 8 * KIB],
    "newer": [2048, 32, 1024, 32 * KIB],
    "laptop": [512, 128, 16 * KIB],
    "measured": [2048, OWN["L1"], OWN["L2"]],
}
LENGTHS = (1024, 4096, 16384)
ASKED = {"block": 64, "tile": 32, "d": 64, "core": "newer"}


def things(block: int, tile: int, d: int, n: int) -> list[float]:
    """KiB of a query with its output, q, o, s, K and V, these together; all K and V, and
    the dense table."""
    tables = [(block, d), (block, d), (block, tile), (tile, 2 * d)]
    sizes = [costs.dense_footprint(a, keys=b, itemsize=4) for a, b in tables]
    alone = costs.dense_footprint(1, keys=2 * d, itemsize=4)
    whole = costs.dense_footprint(n, keys=2 * d, itemsize=4)
    table = costs.dense_footprint(n, itemsize=4)
    return [size / KIB for size in (alone, *sizes, sum(sizes), whole, table)]


def places(sizes: list[float], core: list[int]) -> list[int]:
    """The first place that holds each: 0 are the registers, which hold but one query."""
    levels = [core[0] / KIB, *core[1:]]
    found = [sum(size > level for level in levels) for size in sizes]
    return [found[0], *(max(1, place) for place in found[1:])]


def expected(state: Values) -> Values:
    """The lib's sizes, and where they fit."""
    sizes = things(state["block"], state["tile"], state["d"], state["n"])
    return {"sizes": sizes, "places": places(sizes, CORES[state["core"]])}


def states(random: np.random.Generator) -> Iterator[Values]:
    """Sizes of all kinds on every core."""
    for core in CORES:
        for _ in range(60):
            yield {
                "block": 16 * int(random.integers(1, 65)),
                "tile": 8 * int(random.integers(1, 129)),
                "d": int(random.choice([32, 64, 128])),
                "n": int(random.choice(LENGTHS)),
                "core": core,
            }


SPEC = Spec(
    controls=(
        Range("block", 16, low=16, high=1024, step=16),
        Range("tile", 16, low=8, high=1024, step=8),
        Choice("d", 64, of=(32, 64, 128)),
        Choice("n", 4096, of=LENGTHS),
        Choice("core", "newer", of=tuple(CORES)),
    ),
    still=ASKED,
    prediction=Prediction(answer=1, shown_by=(ASKED,) * 3),
    presets=(
        {"block": 16, "tile": 16},
        {"block": 64, "tile": 32},
        {"block": 128, "tile": 96},
        {"block": 1024, "tile": 1024},
    ),
    constants={"CORES": CORES},
    expected=expected,
    states=states,
)
