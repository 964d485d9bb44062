"""Fragments: which thread of a warp holds which number of a product of small matrices.

One instruction, mma.sync.m16n8k16, multiplies A by B and adds the product to C. The
layouts here are reshaped arrays; figure.mjs has the formulas of NVIDIA's manual.

Prediction. A row of C has eight scores: how many threads hold it? Why wrong answers
tempt. "One": in the tiled kernel a thread owned a query and all of its scores. "Eight":
a thread for each number is how most kernels begin. What settles it: a score of row 3,
with the four threads that hold its row. A thread holds two neighbours of one row, and
two of the row eight below.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from livepage.figures.spec import Choice, Pick, Prediction, Range, Spec, Toggle, Values

WARP, GROUPS, FOUR = 32, 8, 4  # threads of a warp, its groups, threads of a group
VIEWS = ("one", "next")
A_ROW = {"view": "one", "thread": 14, "number": "C3,5"}


def numbered(rows: int, columns: int) -> np.ndarray:
    """A matrix of its own (row, column) pairs."""
    return np.moveaxis(np.indices((rows, columns)), 0, -1)


def layout_a() -> np.ndarray:
    """A, thread by thread: registers go down by eight rows, then right by eight columns."""
    parts = numbered(16, 16).reshape(2, GROUPS, 2, FOUR, 2, 2)
    return parts.transpose(1, 3, 2, 0, 4, 5).reshape(WARP, 8, 2)


def layout_b() -> np.ndarray:
    """B: a group holds a column, and registers go down by eight rows."""
    parts = numbered(16, 8).reshape(2, FOUR, 2, GROUPS, 2)
    return parts.transpose(3, 1, 0, 2, 4).reshape(WARP, 4, 2)


def layout_c(first: int = 0) -> np.ndarray:
    """C, whose leftmost column is `first`: two neighbours, then two eight rows below."""
    parts = (numbered(16, 8) + [0, first]).reshape(2, GROUPS, FOUR, 2, 2)
    return parts.transpose(1, 2, 0, 3, 4).reshape(WARP, 4, 2)


# S: two tiles of C side by side, the first one's registers first.
TILES = np.concatenate([layout_c(), layout_c(8)], axis=1)
LAYOUTS = {"A": layout_a(), "B": layout_b(), "C": layout_c(), "S": TILES}


def expected(state: Values) -> Values:
    """What the thread holds, or the thread that holds the picked number."""
    picked = find(state["number"], state["view"])
    thread = picked["thread"] if picked else state["thread"]
    held = {name: layout[thread].tolist() for name, layout in LAYOUTS.items()}
    return {"thread": thread, "held": held, "picked": picked, "items": items(state)}


def items(state: Values) -> list[Values]:
    """The menu of numbers."""
    sides = {"S": 16, "A": 16, "B": 8, "C": 8}
    return [{"key": ""}] + [
        {"key": f"{name}{row},{column}", "text": f"{name}[{row}, {column}]"}
        for name, columns in sides.items()
        if name != "S" or state["view"] == "next"
        for row, column in product(range(16), range(columns))
    ]


def find(number: str, view: str) -> Values | None:
    """Search every thread for a number: "C3,5" is row 3, column 5 of C."""
    name, place = number[:1], number[1:].split(",")
    if name not in LAYOUTS or (name == "S" and view == "one"):
        return None
    layout = LAYOUTS[name]
    ((thread, slot),) = np.argwhere(
        (layout == [int(x) for x in place]).all(-1)
    ).tolist()
    row, column = layout[thread, slot].tolist()
    sharing = (layout[..., 0] == row).any(1).nonzero()[0].tolist()
    at = {"name": name, "row": row, "column": column, "thread": thread, "slot": slot}
    return at | {"row_threads": sharing if name == "C" else []}


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every thread in both views, every number, and numbers that another thread holds."""
    for view, thread in product(VIEWS, range(WARP)):
        yield {"view": view, "thread": thread}
    for name, layout in LAYOUTS.items():
        for thread, row, column in holders(layout):
            number = f"{name}{row},{column}"
            other = int(random.integers(WARP))
            yield {"view": "next", "thread": other, "number": number}
            if name != "B":
                yield {"view": "one", "thread": thread, "number": number}


def holders(layout: np.ndarray) -> Iterator[tuple[int, int, int]]:
    for thread, numbers in enumerate(layout.tolist()):
        for row, column in numbers:
            yield thread, row, column


SPEC = Spec(
    controls=(
        Choice("view", "one", of=VIEWS),
        Range("thread", 0, low=0, high=WARP - 1),
        Pick("number", hover=False),
        Toggle("all"),
    ),
    still=A_ROW | {"all": True},
    prediction=Prediction(answer=1, shown_by=(A_ROW,) * 3),
    presets=(A_ROW, {"view": "next", "thread": 14, "number": "S3,12"}),
    expected=expected,
    states=states,
)
