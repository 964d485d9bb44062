"""Runs a notebook as its readers do, from the packed packages alone, and without V8.

    python published.py NOTEBOOK  <  rows of the inventory, as JSON

Before a cell runs, each false form of it does: a row's statement is made false, and the
cells up to that of the row run, one of which has to notice. Prints which cell noticed,
row by row, and where the book's module was found.
"""

import json
import linecache
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from planting import planted


def perform(cell: SimpleNamespace, source: str, namespace: dict) -> None:
    """Run the source of a cell, which may be another than its own."""
    # Jupyter, too, keeps the text of a cell where `inspect` looks for it.
    file = f"<{cell.name}>"
    lines = source.splitlines(keepends=True)
    linecache.cache[file] = (len(source), None, lines, file)
    exec(compile(source, file, "exec"), namespace)


def noticed_in(row: dict, cells: list[SimpleNamespace], namespace: dict) -> str | None:
    """The name of the cell whose assert fails once a row's statement is false.

    The namespace is as before its false cell, and is left so; its random generators too.
    """
    breaks = {"cell": row["cell"], **row["breaks"]}
    names = [cell.name for cell in cells]
    before = dict(namespace)
    drawing = [x for x in namespace.values() if isinstance(x, np.random.Generator)]
    states = [each.bit_generator.state for each in drawing]
    try:
        for cell in cells[names.index(breaks["cell"]) : names.index(row["cell"]) + 1]:
            source = cell.source
            if cell.name == breaks["cell"]:
                source = planted(source, breaks["find"], breaks["replace"])
            try:
                perform(cell, source, namespace)
            except AssertionError:
                return cell.name
        return None
    finally:
        namespace.clear()
        namespace.update(before)
        for each, state in zip(drawing, states, strict=True):
            each.bit_generator.state = state


def run(notebook: str, rows: list[dict]) -> dict[str, str | None]:
    """Run all cells; return which cell noticed each false statement."""
    cells = [
        SimpleNamespace(name=cell["id"], source="".join(cell["source"]))
        for cell in json.loads(Path(notebook).read_text("utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    namespace: dict = {"__name__": "__main__"}
    noticed = {}
    for cell in cells:
        for row in rows:
            if row["breaks"].get("cell", row["cell"]) == cell.name:
                noticed[row["id"]] = noticed_in(row, cells, namespace)
        perform(cell, cell.source, namespace)
    return noticed


def main() -> None:
    sys.modules["py_mini_racer"] = None  # type: ignore[assignment]
    if "trial" in Path(sys.argv[1]).read_text("utf-8"):
        from kernellab import trial

        # Of the simulated kernels every seventh: each rung, width, type and mask is met.
        cases = list(trial.cases())
        trial.cases = lambda *_: cases[::7]
    noticed = run(sys.argv[1], json.load(sys.stdin))
    import rescaling

    print(json.dumps({"noticed": noticed, "from": rescaling.__file__}))


if __name__ == "__main__":
    main()
