"""Every idea of the inventory is in the book, and its cell notices when it is false."""

import linecache
import re
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import jupytext
import numpy as np
import pytest
import yaml

from livepage import figures
from tools.chapters import road

BOOK = Path(__file__).parents[1] / "book"
ROAD = road(BOOK.parent / "_toc.yml", BOOK)
WRITTEN = {stop.number: BOOK / f"{stop.file}.md" for stop in ROAD if stop.file}
ROWS = yaml.safe_load((BOOK / "inventory.yml").read_text(encoding="utf-8"))
DONE = [row for row in ROWS if row.get("status") != "later"]
BREAKING = [row for row in DONE if "breaks" in row]
FACTS = range(1, 36)
SEEDS = ("000", "001", "002", "003", "004")


@cache
def code_cells(number: int) -> tuple[SimpleNamespace, ...]:
    """The chapter's code cells in order, each with `name` and `source`."""
    cells = jupytext.read(WRITTEN[number]).cells
    return tuple(
        SimpleNamespace(name=cell.metadata.get("name"), source=cell.source)
        for cell in cells
        if cell.cell_type == "code"
    )


def cell_source(number: int, name: str) -> str:
    """The source of the one cell with this name."""
    (source,) = [cell.source for cell in code_cells(number) if cell.name == name]
    return source


def perform(cell: SimpleNamespace, source: str, namespace: dict) -> None:
    """Run the source of a cell, which may be another than its own."""
    file = f"<{cell.name or 'unnamed'}>"  # kernels are read back from their text
    lines = source.splitlines(keepends=True)
    linecache.cache[file] = (len(source), None, lines, file)
    exec(compile(source, file, "exec"), namespace)


def noticed_in(row: dict, namespace: dict) -> str | None:
    """The name of the cell whose assert fails once a row's statement is false.

    The namespace is as before its false cell, and is left so; its random generators too.
    """
    breaks = {"cell": row["cell"], **row["breaks"]}
    cells = code_cells(row["chapter"])
    names = [cell.name for cell in cells]
    before = dict(namespace)
    drawing = [x for x in namespace.values() if isinstance(x, np.random.Generator)]
    states = [each.bit_generator.state for each in drawing]
    try:
        for cell in cells[names.index(breaks["cell"]) : names.index(row["cell"]) + 1]:
            source = cell.source
            if cell.name == breaks["cell"]:
                count = source.count(breaks["find"])
                if count != 1:
                    raise ValueError(f"{breaks['find']!r}: {count} times in the cell")
                source = source.replace(breaks["find"], breaks["replace"])
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


@pytest.fixture
def quiet(monkeypatch):
    """Code cells run without drawing, asking or gluing anything."""
    for module in ("livepage.prose", "livepage.drills"):
        monkeypatch.setitem(sys.modules, module, MagicMock())
    for name in ("plot", "sweep"):
        monkeypatch.setattr(figures, name, MagicMock())


def test_rows_are_complete_and_distinct():
    ids = [row["id"] for row in ROWS]
    assert len(ids) == len(set(ids))
    for row in ROWS:
        assert {"id", "idea", "chapter"} <= set(row), row["id"]
        assert len({"seed", "fact", "met"} & set(row)) == 1, row["id"]
        if row in DONE:
            assert {"anchor", "cell"} <= set(row), row["id"]


def test_every_fact_and_every_essay_appears():
    assert {row["fact"] for row in ROWS if "fact" in row} == set(FACTS)
    assert {row["seed"] for row in ROWS if "seed" in row} == set(SEEDS)


def test_a_mistake_is_met_in_a_source_that_its_chapter_cites():
    for row in (row for row in DONE if "met" in row):
        text = WRITTEN[row["chapter"]].read_text(encoding="utf-8")
        cited = re.findall(r"{cite:[pt]}`([^`]+)`", text)
        assert row["met"] in ",".join(cited).split(","), row["id"]
        assert "breaks" in row, row["id"]


def test_a_row_waits_only_for_a_chapter_that_is_not_written():
    for row in ROWS:
        later = row.get("status") == "later"
        assert later != (row["chapter"] in WRITTEN), row["id"]


@pytest.mark.parametrize("row", DONE, ids=lambda row: row["id"])
def test_the_place_exists(row):
    text = WRITTEN[row["chapter"]].read_text(encoding="utf-8")
    assert re.search(rf"^\({re.escape(row['anchor'])}\)=$", text, re.M), row["anchor"]
    source = cell_source(row["chapter"], row["cell"])
    if "fact" in row:
        assert re.search(r"^\s*assert\b", source, re.M), "a fact needs an assert"
        assert "breaks" in row, "a fact needs a change that would make it false"


@pytest.mark.parametrize("number", sorted({row["chapter"] for row in BREAKING}))
def test_a_false_statement_is_noticed(number, quiet):
    """A chapter's cells run once, in order, and before each its false forms."""
    namespace: dict = {}
    rows = [row for row in BREAKING if row["chapter"] == number]
    wanted, found = {row["id"]: row["cell"] for row in rows}, {}
    for cell in code_cells(number):
        for row in rows:
            if row["breaks"].get("cell", row["cell"]) == cell.name:
                found[row["id"]] = noticed_in(row, namespace)
        if len(found) == len(rows):
            break
        perform(cell, cell.source, namespace)
    assert found == wanted
