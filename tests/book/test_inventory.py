"""Every idea is in the book, and its cell notices when it is false, as readers run it."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import jupytext
import pytest
import yaml

from tools.build import HERE
from tools.building.chapters import road

BOOK = Path(__file__).parents[2] / "book"
ROAD = road(BOOK.parent / "_toc.yml", BOOK)
WRITTEN = {stop.number: BOOK / f"{stop.file}.md" for stop in ROAD if stop.file}
ROWS = yaml.safe_load((BOOK / "inventory.yml").read_text(encoding="utf-8"))
DONE = [row for row in ROWS if row.get("status") != "later"]
PUBLISHED = [page.name for page in (*HERE.chapters, *HERE.handouts)]
BREAKING = [row for row in DONE if "breaks" in row]
FACTS = range(1, 36)
COMPILED = Path("tiledattention", "cpu", "__pycache__")
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


@pytest.fixture(scope="session")
def packages(html: Path, tmp_path_factory) -> Path:
    """The packed packages that travel with a notebook, unpacked."""
    folder = tmp_path_factory.mktemp("packages")
    for wheel in (html / "notebooks").glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    # Numba takes what the build has compiled, if it was of the same sources.
    (folder / COMPILED).mkdir()
    for kernel in (BOOK.parent / "lib" / COMPILED).glob("*.nb[ci]"):
        shutil.copy(kernel, folder / COMPILED)
    return folder


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_notebook_runs_and_notices_a_false_statement(
    name: str, html: Path, packages: Path, tmp_path: Path
) -> None:
    """Its cells run once, in order, and before each its false forms."""
    rows = [row for row in BREAKING if WRITTEN[row["chapter"]].stem == name]
    notebook = html / "notebooks" / f"{name}.ipynb"
    command = [sys.executable, Path(__file__).with_name("published.py"), notebook]
    env = {**os.environ, "PYTHONPATH": str(packages), "MPLBACKEND": "agg"}
    env["NUMBA_OPT"] = "0"  # the build has run the chapters with improved code
    done = subprocess.run(
        command, input=json.dumps(rows), capture_output=True, text=True, env=env,
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["noticed"] == {row["id"]: row["cell"] for row in rows}
    assert Path(said["from"]).is_relative_to(packages)
