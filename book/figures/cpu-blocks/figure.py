"""Blocks and tiles on a CPU: how long each choice took, and where what it uses fits.

Times, sizes and caches are those that `python -m tools.bench cpu-blocks` stored. Nothing
of them stands here or in the words, so that another machine may measure them again.

Prediction. The largest block of queries in place of the smallest, the same tiles of keys:
what becomes of the time? Why wrong answers tempt. "Much shorter": each key is fetched
from far away much less often. "Shorter": not all of the time is fetching.
What settles it: both blocks among all that were measured. Should other times say
otherwise, the question has to be asked anew, and the build stops
(`tile_of_the_question`).
"""

import re
from collections.abc import Iterator
from itertools import product

import numpy as np

from livepage.figures.spec import Choice, Evidence, Numbers, Prediction, Spec, Values
from livepage.measurements import Measurement, measured
from onlinesoftmax import costs

HARDLY = 0.9  # times as long: "hardly shorter", in the words of the right answer
FOUND = measured("cpu-blocks.json")


def whole(text: str) -> int:
    """The number that a text begins with: 3,072 keys."""
    return int(text.split(" ")[0].replace(",", ""))


BLOCKS = tuple(whole(row[0]) for row in FOUND.rows)
TILES = tuple(whole(column) for column in FOUND.columns[1:])
N, D = map(whole, re.findall(r"([\d,]+) (?:queries and keys|numbers)", FOUND.what))


def times(found: Measurement) -> np.ndarray:
    """Milliseconds (blocks, tiles) of a measurement."""
    return np.array([row[1:] for row in found.rows], float)


def own_caches(found: Measurement) -> list[int]:
    """KiB of the first two caches of the core that was measured."""
    if missing := {"L1", "L2"} - set(found.caches):
        raise ValueError(
            f"cpu-blocks.json: caches: expected L1 and L2, got {found.caches}:"
            f" {' and '.join(sorted(missing))} missing; measure under Linux"
        )
    return [found.caches["L1"], found.caches["L2"]]


def tile_of_the_question(found: Measurement) -> int:
    """The tile of the quickest time, if the right answer is still right there."""
    ms = times(found)
    tile = int(ms.min(0).argmin())
    smallest, largest = ms[0, tile], ms[-1, tile]
    if largest < HARDLY * smallest:
        raise ValueError(
            f"cpu-blocks.json: tile of {TILES[tile]} keys: expected the largest block to"
            f" take {HARDLY} times as long as the smallest, or longer, as the answer and"
            f" the chapter say, got {largest} and {smallest} ms"
        )
    return TILES[tile]


def parts(queries: int, keys: int) -> list[float]:
    """KiB of queries, outputs, scores, keys and values of a block and a tile."""
    tables = [(queries, D), (queries, D), (queries, keys), (keys, 2 * D)]
    return [costs.dense_footprint(n, keys=m, itemsize=4) / 1024 for n, m in tables]


def expected(state: Values) -> Values:
    """What was measured of the choice and of all, and the lib's account of it."""
    ms = np.reshape(state["times"], (len(BLOCKS), len(TILES)))
    block, tile = state["block"], state["tile"]
    chosen = ms[BLOCKS.index(block), TILES.index(tile)]
    best = np.unravel_index(ms.argmin(), ms.shape)
    totals = [sum(parts(*sizes)) for sizes in product(BLOCKS, TILES)]
    return {
        "ms": chosen,
        "best": [BLOCKS[best[0]], TILES[best[1]], ms.min()],
        "ratio": chosen / ms.min(),
        "rank": 1 + int((ms < chosen).sum()),
        "parts": parts(block, tile),
        "total": sum(parts(block, tile)),
        "fetched": costs.key_reads(N, block),
        "totals": totals,
        "places": [sum(total > size for size in state["caches"]) for total in totals],
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every choice with the stored times, with ties, and on machines of other sizes."""
    for block, tile in product(BLOCKS, TILES):
        choice = {"block": block, "tile": tile}
        yield from ({**choice, "all": shown} for shown in (False, True))
        for of in (random.uniform(9, 90, count), random.integers(3, 6, count)):
            yield {**choice, "times": [float(x) for x in of], "all": True}
        for l1, l2 in ((32, 1024), (64, 512), (0, 68)):
            yield {**choice, "caches": [l1, l2], "all": bool(random.integers(2))}


count = len(BLOCKS) * len(TILES)
LARGEST = {"block": BLOCKS[-1], "all": True}

SPEC = Spec(
    controls=(
        Choice("block", BLOCKS[0], of=BLOCKS),
        Choice("tile", tile_of_the_question(FOUND), of=TILES),
        Evidence("all"),
        Numbers("times", times(FOUND).ravel().tolist()),
        Numbers("caches", own_caches(FOUND)),
    ),
    still=LARGEST,
    prediction=Prediction(answer=2, shown_by=(LARGEST,) * 3),
    presets=(
        {"block": BLOCKS[0], "tile": TILES[0]},
        {"block": BLOCKS[0], "tile": TILES[-1]},
        {"block": BLOCKS[-1], "tile": TILES[0]},
        {"block": BLOCKS[-1], "tile": TILES[-1]},
    ),
    constants={"BLOCKS": BLOCKS, "TILES": TILES, "N": N, "D": D},
    expected=expected,
    states=states,
)
