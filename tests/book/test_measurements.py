"""What is measured is stored with its source, and comes from a chapter's own cells."""

import json
import re
from datetime import date
from types import SimpleNamespace

import pytest

from kernellab import devices
from livepage import book
from livepage.measurements import Measurement, measured
from rescaling import published
from tools.bench import measure as bench
from tools.building.chapters import Page, code_cells, notebook

# Published by others, counted by `make kernels`, tried by `tools.faults.unseen`, launched by
# `tools.kernels.barrier`, or trained by `make model`: not timed.
OTHERWISE = {
    "barriers.json", "laboratory.json", "published.json", "speaker.json", "tensor.json",
    "unseen.json",
}  # fmt: skip
DATA = book.current().data
GPUS = {file.name for file in DATA.glob("gpu-*.json")}  # by `make gpu`
STORED = sorted({file.name for file in DATA.glob("*.json")} - OTHERWISE - GPUS)
CHAPTER = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3}
---

```{code-cell} ipython3
:name: first
x = 1
```

```{code-cell} ipython3
:tags: [remove-input]
:name: for-the-page
raise RuntimeError
```

```{code-cell} ipython3
:name: second
x += 1
```

```{code-cell} ipython3
:name: third
raise RuntimeError
```
"""


def test_there_are_measurements():
    assert STORED


@pytest.mark.parametrize("name", STORED)
def test_a_measurement_says_where_it_comes_from(name):
    stored = measured(name)
    assert stored.machine and "cores" in stored.machine
    assert {"Python", "NumPy"} <= set(stored.versions)
    assert date.fromisoformat(stored.date)
    assert not [row for row in stored.rows if len(row) != len(stored.columns)]
    for shown in (str(stored), stored._repr_html_()):
        assert stored.machine in shown and stored.command in shown


@pytest.mark.parametrize("name", STORED)
def test_its_command_measures_a_cell_that_exists(name):
    stored = measured(name)
    assert stored.command == f"python -m tools.bench {name.removesuffix('.json')}"
    planned = bench.BENCHES[name.removesuffix(".json")]
    if planned.chapter is None:  # the library's own run, of no cell
        assert planned.cell is None
        return
    page = Page(planned.chapter, bench.ROOT / "book" / f"{planned.chapter}.md")
    assert planned.cell in {cell.id for cell in code_cells(notebook(page))}


def test_what_is_said_of_the_threads_is_what_the_command_would_say():
    """The size and the statistic are the cells' own: nothing is said twice by hand."""
    (file,) = (bench.ROOT / "book").glob("05-*.md")
    cells = {c.id: c.source for c in code_cells(notebook(Page(file.stem, file)))}
    size = re.search(r"standard_normal\(2 \*\* (\d+)\)", cells["without-threads"])[1]
    said = bench.THREADS.format(scores=2 ** int(size), repeats=bench.REPEATS)
    assert measured("threads.json").what == said
    assert "Best of" in said and "return min(times)" in cells["timing"]


def test_a_name_that_is_not_stored_raises():
    with pytest.raises(ValueError, match="expected one of .*'threads.json'.*'none'"):
        measured("none")


def test_a_table_escapes_what_it_shows():
    source = ("m>", {"Python": "3"}, "2026-01-01", "c")
    html = Measurement("<b>", ["a<"], [["1&"]], *source)._repr_html_()
    assert "&lt;b&gt;" in html and "a&lt;" in html and "1&amp;" in html


def test_under_an_empty_heading_stand_the_names_of_the_rows():
    source = ("m", {"Python": "3"}, "2026-01-01", "c")
    named = Measurement("w", ["", "ms"], [["slow & <old>", 2]], *source)._repr_html_()
    assert '<tr><th scope="row">slow &amp; &lt;old&gt;</th><td>2</td></tr>' in named
    assert '<tr><td></td><th scope="col">ms</th></tr>' in named  # nobody reads a blank
    assert 'scope="row"' not in Measurement("w", ["n"], [[1]], *source)._repr_html_()


def test_cells_run_up_to_the_one_asked_for(tmp_path, monkeypatch):
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "01-a.md").write_text(CHAPTER)
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    assert bench.run_until("01-a", "second")["x"] == 2
    with pytest.raises(RuntimeError):
        bench.run_until("01-a", "third")


def test_a_cell_that_is_not_there_raises(tmp_path, monkeypatch):
    (tmp_path / "book").mkdir()
    whole = CHAPTER.replace("raise RuntimeError", "")
    (tmp_path / "book" / "01-a.md").write_text(whole)
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    with pytest.raises(ValueError, match="01-a has no cell named 'none'"):
        bench.run_until("01-a", "none")


def test_the_best_of_turns_is_taken(monkeypatch):
    ticks = iter(range(10_000))
    clock = SimpleNamespace(perf_counter=lambda: next(ticks))
    monkeypatch.setattr(bench, "time", clock)
    assert bench.interleaved([lambda: next(ticks), lambda: None]) == [2, 1]


def test_caches_are_those_of_a_core_that_hold_numbers(tmp_path):
    told = [("Data", 1, "48K"), ("Instruction", 1, "64K"), ("Unified", 3, "64M")]
    for i, (kind, level, size) in enumerate([*told, ("Unified", 2, "2048K")]):
        cache = tmp_path / f"index{i}"
        cache.mkdir()
        for name, text in (("type", kind), ("level", level), ("size", size)):
            (cache / name).write_text(f"{text}\n")
    assert bench.caches(tmp_path) == {"L1": 48, "L2": 2048}
    assert bench.caches(tmp_path / "none") == {}
    shown = measured("threads.json")._replace(caches=bench.caches(tmp_path))
    assert "L1 48 KiB, L2 2,048 KiB" in shown.source()


def test_what_is_stored_can_be_read_back(tmp_path):
    record = {"what": "w", "columns": ["a"], "rows": [[1]]}
    record |= bench.provenance("threads")
    assert Measurement(**json.loads(json.dumps(record))).rows == [[1]]


@pytest.mark.parametrize("program", json.loads((DATA / "published.json").read_text()))
def test_what_is_published_names_its_source_and_can_be(program):
    found = published(program)
    assert "arXiv" in found.source
    assert 0 < found.rate < getattr(devices.gpu(found.gpu), found.format)


def test_a_program_that_is_not_stored_raises():
    with pytest.raises(ValueError, match="program: expected .*'FlashAttention-3'.*'x'"):
        published("x")
