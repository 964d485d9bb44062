"""Every idea of the inventory is in the book, and its cell notices when it is false."""

import linecache
import re
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import jupytext
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


def run(number: int, until: str | None = None, breaks: dict | None = None) -> None:
    """Run a chapter's code cells in one namespace, one of them changed if asked.

    As they stand the build has run them. An AssertionError comes back with the name of the cell it arose in.
    """
    namespace: dict = {}
    for cell in code_cells(number):
        source = cell.source
        if breaks and cell.name == breaks["cell"]:
            assert source.count(breaks["find"]) == 1, f"{breaks['find']!r} not once"
            source = source.replace(breaks["find"], breaks["replace"])
        file = f"<{cell.name or 'unnamed'}>"  # kernels are read back from their text
        lines = source.splitlines(keepends=True)
        linecache.cache[file] = (len(source), None, lines, file)
        try:
            exec(compile(source, file, "exec"), namespace)
        except AssertionError as error:
            raise AssertionError(f"in cell {cell.name}") from error
        if until and cell.name == until:
            return


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
        assert ("seed" in row) != ("fact" in row), row["id"]
        if row in DONE:
            assert {"anchor", "cell"} <= set(row), row["id"]


def test_every_fact_and_every_essay_appears():
    assert {row["fact"] for row in ROWS if "fact" in row} == set(FACTS)
    assert {row["seed"] for row in ROWS if "seed" in row} == set(SEEDS)


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


@pytest.mark.parametrize("row", BREAKING, ids=lambda row: row["id"])
def test_a_false_statement_is_noticed(row, quiet):
    breaks = {"cell": row["cell"], **row["breaks"]}
    with pytest.raises(AssertionError, match=rf"in cell {re.escape(row['cell'])}$"):
        run(row["chapter"], until=row["cell"], breaks=breaks)
