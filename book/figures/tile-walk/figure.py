"""The tile walk: which tiles of the score table are computed, and in which order.

Prediction. A causal mask, 16 tokens, tiles of 4 by 4: how many of the 16 tiles have to
be computed? Why wrong answers tempt. "8": half of the pairs are hidden, so half of the
work. "6": those are the tiles without a hidden pair. "16": every block of queries sees
something. What settles it: the end of that walk, with the four tiles on the diagonal
computed whole although nearly half of each is hidden.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from livepage.figures.spec import Choice, Prediction, Spec, Step, Values
from onlinesoftmax import masks

SQUARES = 16  # the plane is drawn on so many squares a side
SIZES = (1, 2, 3, 4, 8)
MASKS = ("open", "causal", "recent", "padded", "packed")
KINDS = ("all", "some", "none")
END = {"step": 16}


def mask_of(name: str, n: int) -> masks.Mask:
    """The lib's mask, with its lengths in sixteenths of n."""
    unit = n // SQUARES
    return {
        "open": masks.Mask(),
        "causal": masks.causal(),
        "recent": masks.window(4 * unit, 0),
        "padded": masks.padding(11 * unit),
        "packed": masks.documents(np.repeat([0, 1, 2], [5 * unit, 7 * unit, 4 * unit])),
    }[name]


def expected(state: Values) -> Values:
    """The lib's walk so far. A tile carries in a block of the inner loop."""
    n, unit = state["n"], state["n"] // SQUARES
    mask = mask_of(state["mask"], n)
    sizes = state["rows"] * unit, state["columns"] * unit
    tiles = masks.walk(mask, n, n, *sizes)
    if state["order"] == "keys":
        tiles.sort(key=lambda tile: (tile.keys.start, tile.rows.start))
    met = tiles[: state["step"]]
    done = [tile for tile in met if tile.kind != "none"]
    carried = [len(done), len({tile.rows.start for tile in done})]
    if state["order"] == "keys":
        carried = [len({tile.keys.start for tile in done}), len(done)]
    shown = mask.head((n, n)).apply(np.zeros((n, n), np.float32)) == 0
    return {
        "tiles": [_as_dict(tile) for tile in tiles],
        "done": [_as_dict(tile) for tile in done],
        "now": _as_dict(met[-1]) if met else None,
        "steps": len(tiles),
        "counts": [sum(t.kind == kind for t in met) for kind in KINDS],
        "work": sum(shown[t.rows, t.keys].size for t in done) / n**2,
        "seen": shown.sum() / n**2,
        "carried": carried,
    }


def _as_dict(tile: masks.Tile) -> Values:
    rows, keys, kind = tile
    ends = {"rows": [rows.start, rows.stop], "keys": [keys.start, keys.stop]}
    return ends | {"kind": kind}


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every mask and tile of the small table, and some of the large one."""
    for mask, rows, columns in product(MASKS, SIZES, SIZES):
        for order in ("queries", "keys"):
            state = {"mask": mask, "rows": rows, "columns": columns, "order": order}
            yield state | {"n": 16, "step": int(random.integers(0, 300))}
        if random.random() < 0.3:
            yield state | {"n": 1024, "step": 200}


SPEC = Spec(
    controls=(
        Choice("mask", "causal", of=MASKS),
        Choice("rows", 4, of=SIZES),
        Choice("columns", 4, of=SIZES),
        Choice("order", "queries", of=("queries", "keys")),
        Choice("n", 16, of=(16, 1024)),
        Step("step"),
    ),
    still=END,
    prediction=Prediction(answer=2, shown_by=(END, END, END, END)),
    presets=(
        {"mask": "causal", "rows": 1, "columns": 1, "n": 16, "step": 0},
        {"mask": "causal", "rows": 2, "columns": 1, "n": 1024, "step": 0},
        {"mask": "recent", "rows": 3, "columns": 3, "n": 16, "step": 0},
    ),
    constants={"KINDS": KINDS, "SQUARES": SQUARES},
    expected=expected,
    states=states,
    pace=400,
)
