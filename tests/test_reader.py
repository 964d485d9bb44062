"""The notebooks that readers download: plain Markdown, and they run from the wheel."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from pybtex.database import BibliographyData, Entry, Person

from tools.chapters import code_cells
from tools.lab import copies
from tools.reader import install_cell, plain_markdown, without_glue

SOURCES = BibliographyData(
    {
        "two": Entry(
            "article",
            fields={"year": "2018"},
            persons={"author": [Person("Milakov, M."), Person("Gimelshein, N.")]},
        ),
        "essay": Entry("misc", fields={"title": "A Trick Powering {FlashAttention}"}),
    }
)

PLAIN = {
    "Five becomes {glue:text}`kept:.3f`.": "Five becomes 0.677.",
    "the sum {q}`l` and {q}`alpha`": "the sum ℓ and α",
    r"$\ql = \qa\,\ql + \qm$": r"$\ell = \alpha\,\ell + m$",
    r"$\qmax$": r"$\qmax$",
    "(the-trick)=\n## The trick": '<a id="the-trick"></a>\n## The trick',
    "[next](03-the-online-recurrence.md#start)": (
        "[next](03-the-online-recurrence.ipynb#start)"
    ),
    "all [sources](references.md)": "all [sources](../references.html)",
    "{cite:t}`essay` asks": "A Trick Powering FlashAttention, n.d. asks",
    "{cite:t}`two` show": "Milakov and Gimelshein, 2018 show",
    "```{note}\nMind the sign.\n```": "> **Note**\n>\n> Mind the sign.",
    "```{admonition} Proof\n:class: dropdown\nBy induction.\n```": (
        "> **Proof**\n>\n> By induction."
    ),
    "```{road}\n```": "",
}


@pytest.mark.parametrize("source", PLAIN)
def test_book_markdown_becomes_plain(source: str) -> None:
    assert plain_markdown(source, {"kept": 0.67667}, SOURCES) == PLAIN[source]


def test_a_number_that_nobody_glued_is_an_error() -> None:
    with pytest.raises(ValueError, match="'missing' was glued"):
        plain_markdown("{glue:text}`missing:.2f`", {}, SOURCES)


def test_glue_leaves_the_code_and_only_the_code() -> None:
    code = "x = 1\nglue(\n    'x',\n    x,\n    display=False,\n)\nassert x == 1"
    assert without_glue(code) == "x = 1\nassert x == 1"


def published(html: Path) -> list[Path]:
    return sorted((html / "notebooks").glob("*.ipynb"))


def test_published_notebooks_are_plain_and_have_no_outputs(html: Path) -> None:
    assert published(html)
    for file in published(html):
        nb = nbformat.read(file, as_version=4)
        nbformat.validate(nb)
        assert not any(cell.outputs for cell in code_cells(nb))
        assert "find_spec" in code_cells(nb)[0].source
        text = "\n".join(c.source for c in nb.cells if c.cell_type == "markdown")
        for leftover in ("{glue", "{q}", "{cite", "```{", r"\qm", r"\ql", ".md)"):
            assert leftover not in text, f"{file.name}: {leftover}"


def test_published_notebooks_run_from_the_wheel_alone(html: Path, tmp_path) -> None:
    wheel = next((html / "notebooks").glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    runner = (
        "import linecache, sys, types, nbformat\n"
        "sys.modules['myst_nb'] = None\n"
        "for file in sys.argv[1:]:\n"
        "    space = {'__name__': '__main__'}\n"
        "    for cell in nbformat.read(file, as_version=4).cells:\n"
        "        if cell.cell_type == 'code':\n"
        # Jupyter, too, keeps the text of a cell where `inspect` looks for it.
        "            name = f'{file}, cell {cell.id}'\n"
        "            lines = cell.source.splitlines(keepends=True)\n"
        "            linecache.cache[name] = (len(cell.source), None, lines, name)\n"
        "            exec(compile(cell.source, name, 'exec'), space)\n"
        "import onlinesoftmax\n"
        "print('from', onlinesoftmax.__file__)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "MPLBACKEND": "agg"}
    command = [sys.executable, "-c", runner, *map(str, published(html))]
    done = subprocess.run(
        command, capture_output=True, text=True, env=env, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert f"from {tmp_path / 'site'}" in done.stdout


def test_the_archive_holds_notebook_and_lib(html: Path) -> None:
    for file in published(html):
        with zipfile.ZipFile(file.with_suffix(".zip")) as archive:
            names = archive.namelist()
        assert names[0] == file.name and names[1].endswith(".whl")


def test_without_lib_wheel_or_address_the_first_cell_says_what_to_do(tmp_path) -> None:
    code = install_cell("onlinesoftmax-9.whl", None)
    missing = "import sys, importlib.util as u; u.find_spec = lambda name: None\n"
    command = [sys.executable, "-c", missing + code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert "Put onlinesoftmax-9.whl next to this notebook" in done.stderr


def test_a_notebook_that_its_reader_changed_is_kept(tmp_path: Path) -> None:
    published, own = tmp_path / "published", tmp_path / "own"
    published.mkdir()
    (published / "a.ipynb").write_text("new")
    own.mkdir()
    (own / "a.ipynb").write_text("mine")
    (published / "b.ipynb").write_text("new")
    assert copies(published, own) == ["a.ipynb"]
    assert (own / "a.ipynb").read_text() == "mine"
    assert (own / "b.ipynb").read_text() == "new"
