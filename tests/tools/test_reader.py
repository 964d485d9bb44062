"""The notebooks that readers download: plain Markdown, and they run from the wheel."""

import ast
import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple
from urllib.error import URLError
from urllib.request import urlopen

import nbformat
import pytest
import yaml
from pybtex.database import BibliographyData, Entry, Person

from livepage.road import Stop
from patience import wait_until
from tools import lab
from tools.building.chapters import code_cells, notebook, pages
from tools.building.plain_markdown import Context, plain_markdown
from tools.building.reader import (
    context,
    install_cell,
    reader_notebook,
    wheels_at,
    without_glue,
)
from tools.environment import OURS
from tools.lab import copies

BIBLIOGRAPHY = BibliographyData(
    {
        "two": Entry(
            "article",
            fields={"year": "2018"},
            persons={"author": [Person("Milakov, M."), Person("Gimelshein, N.")]},
        ),
        "three": Entry(
            "misc",
            fields={"year": "2022", "eprint": "2205.14135", "archiveprefix": "arXiv"},
            persons={"author": [Person("Dao, T."), Person("Fu, D."), Person("Ré, C.")]},
        ),
        "maker": Entry(
            "manual",
            fields={"year": "2025", "url": "https://docs.nvidia.com/cuda/"},
            persons={"author": [Person("{NVIDIA}")]},
        ),
        "essay": Entry("misc", fields={"title": r"A Trick \& {FlashAttention}"}),
    }
)
ROAD = (
    Stop(2, "One vector", "B", "See.", "02-b"),
    Stop(3, "A GPU", "C", "Hear."),
)
PAGES = frozenset({"index", "cheat-sheet", "02-b", "03-the-online-recurrence"})
HERE = Context(BIBLIOGRAPHY, PAGES, ROAD)
PUBLISHED = Context(BIBLIOGRAPHY, PAGES, ROAD, "https://book.example/en/")

PLAIN = {
    "Five becomes {glue:text}`kept:.3f`.": "Five becomes 0.677.",
    "## Rounding {label}`optional`": "## Rounding (optional)",
    "A {term}`warp`, many {term}`warps <warp>`": "A warp, many warps",
    "the sum {q}`l` and {q}`alpha`": "the sum ℓ and α",
    r"$\ql = \qa\,\ql + \qm$": r"$\ell = \alpha\,\ell + m$",
    r"$\qmax$": r"$\qmax$",
    "(the-trick)=\n## The trick": '<a id="the-trick"></a>\n## The trick',
    "[next](03-the-online-recurrence.md#start)": (
        "[next](03-the-online-recurrence.ipynb#start)"
    ),
    "on [one page](cheat-sheet.md)": "on [one page](cheat-sheet.ipynb)",
    "[the road](index.md)": "[the road](index.ipynb)",
    "all [sources](references.md#papers), all [drills](drills.md)": (
        "all sources, all drills"
    ),
    # As the page prints them: a title in italics, and what is a sentence stays one.
    "{cite:t}`essay` asks": "*A Trick & FlashAttention* (n.d.) asks",
    "see {cite:t}`essay`. On": "see *A Trick & FlashAttention* (n.d.). On",
    "so {cite:p}`essay`": "so (*A Trick & FlashAttention*, n.d.)",
    "{cite:t}`two` show": "Milakov and Gimelshein (2018) show",
    "{cite:t}`three` count": (
        "Dao *et al.* ([2022](https://arxiv.org/abs/2205.14135)) count"
    ),
    "larger {cite:p}`maker, two`": (
        "larger ([NVIDIA, 2025](https://docs.nvidia.com/cuda/); "
        "Milakov and Gimelshein, 2018)"
    ),
    "```{note}\nMind the sign.\n```": "> **Note**\n>\n> Mind the sign.",
    "```{admonition} Proof\n:class: dropdown\nBy induction.\n```": (
        "<details><summary>Proof</summary>\n\nBy induction.\n\n</details>"
    ),
    "```{road}\n```": (
        "**One vector**\n\n2. [B](02-b.ipynb). See.\n\n"
        "**A GPU**\n\n3. C (not yet written). Hear."
    ),
    "```{drills}\n```": "",
    "```{important}\nMind the sign.\n```": "> **Keep this**\n>\n> Mind the sign.",
    "```{tip} Mind\nthe sign.\n```": "> **Tip**\n>\n> Mind\n> the sign.",
    "say {q}``l``, [{q}`l` and `[a](b.md)`](index.md 'the road') of\n[it][there]\n\n"
    "[there]: 02-b.md#it": (
        "say ℓ, [ℓ and `[a](b.md)`](index.ipynb) of\n[it](02-b.ipynb#it)\n\n"
        "[there]: 02-b.md#it"
    ),
    "- one\n\n  ```{note}\n  {q}`l`\n  ```\n\n> $$\n> \\ql\n> $$": (
        "- one\n\n  > **Note**\n  >\n  > ℓ\n\n> $$\n> \\ell\n> $$"
    ),
    "> 1. is {q}`l`,\n>    {glue:text}`kept:.1f` and {q}`l`": (
        "> 1. is ℓ,\n>    0.7 and ℓ"
    ),
    "| `{q}` | {q}`m` |\n|---|---|\n| `a\\|{q}` | {q}`m` $\\ql\\|\\ql$ |": (
        "| `{q}` | m |\n|---|---|\n| `a\\|{q}` | m $\\ell\\|\\ell$ |"
    ),
    "One.\n% Nobody reads this.\nTwo.": "One.\n\nTwo.",
    # The fence of an admonition is longer than the fences in it.
    "````{note}\n```\n{q}`l`\n```\n{q}`l`\n````": (
        "> **Note**\n>\n> ```\n> {q}`l`\n> ```\n> ℓ"
    ),
}
AS_WRITTEN = [
    "`` {q}`l` `` and `$\\ql$` and `[a](index.md)`",
    "```\n{q}`l` [a](index.md) $\\ql$\n(target)=\n```",
    "````md\n```{note}\nIn a listing.\n```\n````",
    "    {q}`l` in an indented listing\n    (target)=",
    "\\{q}`l`, \\[a](index.md), \\$\\ql\\$, (a)= in a line, % not a comment",
    "<!-- {q}`l`\n[a](index.md) -->",
    "::::{note}\nThe book does not fence with colons.\n::::",
    "[here](#below), <https://a.example/b.md> and [away](https://a.example/b.md)",
]
REFUSED = {
    "{ref}`there`": "{ref}`there`: a notebook has no form for this role; expected one",
    "```{figure} a.png\n```": "{figure}: a notebook has no form for this directive",
    "One[^1].\n\n[^1]: Two.": "no form for a footnote",
    "$$\na\n$$ (one)": "no form for a numbered equation",
}


@pytest.mark.parametrize("source", PLAIN)
def test_book_markdown_becomes_plain(source: str) -> None:
    assert plain_markdown(source, {"kept": 0.67667}, HERE) == PLAIN[source]


@pytest.mark.parametrize("source", AS_WRITTEN)
def test_what_only_looks_like_markup_stays_as_it_is_written(source: str) -> None:
    assert plain_markdown(source, {}, HERE) == source


@pytest.mark.parametrize("source", REFUSED)
def test_what_a_notebook_cannot_show_stops_the_build(source: str) -> None:
    with pytest.raises(ValueError, match=re.escape(REFUSED[source])):
        plain_markdown(source, {}, HERE)


def test_a_page_that_is_no_notebook_is_linked_where_it_is_published() -> None:
    text = plain_markdown("all [sources](references.md#papers)", {}, PUBLISHED)
    assert text == "all [sources](https://book.example/en/references.html#papers)"


def test_a_notebook_promises_no_list_that_it_does_not_have() -> None:
    front = "---\ndescription: On one page.\n{}---\n"
    for learn, lede in {
        "": "*On one page.*",
        "learn: [a, b]\n": "*On one page.*\n\nYou will learn\n\n- a\n- b",
    }.items():
        nb = reader_notebook(nbformat.v4.new_notebook(), front.format(learn), "", HERE)
        assert nb.cells[1].source == lede


@pytest.mark.parametrize(
    ("tags", "folded"),
    [
        ([], None),
        (["hide-input"], {"source_hidden": True}),
        (
            ["remove-input", "hide-output"],
            {"source_hidden": True, "outputs_hidden": True},
        ),
    ],
)
def test_what_a_page_folds_is_folded_in_the_notebook(tags, folded) -> None:
    cell = nbformat.v4.new_code_cell("1", metadata={"tags": tags})
    executed = nbformat.v4.new_notebook(cells=[cell])
    nb = reader_notebook(executed, "---\ndescription: One.\n---\n", "", HERE)
    assert nb.cells[-1].metadata.get("jupyter") == folded


def test_the_book_around_a_chapter_is_read_from_its_folder(root: Path) -> None:
    book = context(root / "book")
    assert {"index", "cheat-sheet", "05-merge"} <= book.notebooks
    assert not {"drills", "references"} & book.notebooks
    assert book.road[0].file == "01-stable-softmax"
    assert "essay0" in book.bibliography.entries


def test_a_book_without_sources_or_road_has_an_address_all_the_same(tmp_path) -> None:
    (tmp_path / "_config.yml").write_text("html: {baseurl: 'https://book.example'}")
    (tmp_path / "_toc.yml").write_text("root: index")
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "index.md").write_text("# The cover")
    book = context(tmp_path / "book")
    assert (book.site, book.road, book.notebooks) == ("https://book.example", (), set())


def test_a_number_that_nobody_glued_is_an_error() -> None:
    with pytest.raises(ValueError, match="'missing' was glued"):
        plain_markdown("{glue:text}`missing:.2f`", {}, HERE)


def test_glue_leaves_the_code_and_only_the_code() -> None:
    code = "x = 1\nglue(\n    'x',\n    x,\n)\nassert x == 1"
    assert without_glue(code) == "x = 1\nassert x == 1"


def figures_shown(root: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every call `figure("id", …)` of the book in reading order, with its page."""
    for page in pages(root / "_toc.yml", root / "book"):
        for cell in code_cells(notebook(page)) if page.is_chapter else []:
            for node in ast.walk(ast.parse(cell.source)):
                if getattr(getattr(node, "func", None), "id", "") == "figure":
                    yield page.name, node


def test_a_figure_asks_for_a_prediction_only_once(root: Path) -> None:
    seen, again = set(), []
    for page, call in figures_shown(root):
        name = call.args[0].value
        asks = [word.value.value for word in call.keywords if word.arg == "asks"]
        if name in seen and asks != [False]:
            again.append(f"{page}: {ast.unparse(call)}")
        seen.add(name)
    assert len(seen) > 10 and again == []


def published(html: Path) -> list[Path]:
    return sorted((html / "notebooks").glob("*.ipynb"))


def test_published_notebooks_are_plain_and_have_no_outputs(html: Path) -> None:
    assert published(html)
    for file in published(html):
        nb = nbformat.read(file, as_version=4)
        nbformat.validate(nb)
        assert not [cell for cell in code_cells(nb) if cell.outputs]
        assert "find_spec" in code_cells(nb)[0].source
        text = "\n".join(c.source for c in nb.cells if c.cell_type == "markdown")
        # `../`: downloaded, a notebook has no site around it.
        leftovers = ("{glue", "{q}", "{cite", "```{", r"\qm", r"\ql", ".md", "](../")
        for leftover in leftovers:
            assert leftover not in text, f"{file.name}: {leftover}"
        for name in re.findall(r"\]\(([\w-]+\.ipynb)", text):
            assert (file.parent / name).exists(), f"{file.name}: {name}"


STILLS = """
import sys
sys.modules["py_mini_racer"] = None
import rescaling
from livepage.figures.registry import ids
for id in ids():
    shown = rescaling.figure(id)._repr_mimebundle_()[0]["text/html"]
    assert "<svg" in shown and "reload this page" in shown, id
print("from", rescaling.__file__)
"""


def test_a_notebook_that_cannot_show_a_widget_shows_a_still(
    html: Path, tmp_path
) -> None:
    """Readers have no V8: the packed packages bring what it has drawn."""
    for wheel in (html / "notebooks").glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tmp_path / "site")
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "MPLBACKEND": "agg"}
    command = [sys.executable, "-c", STILLS]
    done = subprocess.run(
        command, capture_output=True, text=True, env=env, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert f"from {tmp_path / 'site'}" in done.stdout


WHEELS = sorted(Path(one).name.replace("book", "rescaling") for one in OURS)


def test_the_archive_holds_notebook_and_wheels(html: Path) -> None:
    for file in published(html):
        with zipfile.ZipFile(file.with_suffix(".zip")) as archive:
            names = archive.namelist()
        assert names[0] == file.name
        assert [name.partition("-")[0] for name in names[1:]] == WHEELS


def test_without_lib_wheel_or_address_the_first_cell_says_what_to_do(tmp_path) -> None:
    code = install_cell(["rescaling-9.whl"], None)
    missing = "import sys, importlib.util as u; u.find_spec = lambda name: None\n"
    command = [sys.executable, "-c", missing + code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert "Put the .whl files next to this notebook" in done.stderr
    # IPython wraps SystemExit in a warning and a hint at %tb.
    assert "\nModuleNotFoundError: The book's packages are missing." in done.stderr


class Here(NamedTuple):
    """What a notebook finds where it is opened, and what its first cell says there."""

    rescaling: str | None = None  # the version that is installed
    anywidget: bool = False
    colab: bool = False
    vscode: bool = False
    network: bool = True
    installs: bool = True
    says: str = ""


RELOAD = "reload this page in your browser"
FIRST = {
    "JupyterLab, nothing installed": Here(says=RELOAD),
    "widgets are there already": Here(anywidget=True),
    "Colab": Here(colab=True),
    "VS Code": Here(vscode=True),
    "an older book": Here(rescaling="0.0.9", anywidget=True),
    "this book": Here(rescaling="9", installs=False),
    "no network": Here(network=False, says="Is there a network? It said:\nno route"),
}


@pytest.mark.parametrize("here", FIRST.values(), ids=FIRST)
def test_the_first_cell_installs_and_says_when_to_reload(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    (tmp_path / "rescaling-9.whl").touch()
    found = {"rescaling": here.rescaling, "anywidget": here.anywidget or None}
    versions = [SimpleNamespace(version=here.rescaling)] if here.rescaling else []
    asked = []

    def pip(command: list[str], **options: object) -> SimpleNamespace:
        asked.append(command)
        return SimpleNamespace(returncode=not here.network, stderr="no route")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", found.get)
    monkeypatch.setattr("importlib.metadata.distributions", lambda name: versions)
    monkeypatch.setattr("subprocess.run", pip)
    monkeypatch.delenv("VSCODE_PID", raising=False)
    if here.vscode:
        monkeypatch.setenv("VSCODE_PID", "1")
    if here.colab:
        monkeypatch.setitem(sys.modules, "google.colab", SimpleNamespace())
    try:
        exec(install_cell(["rescaling-9.whl"], None), {})
    except RuntimeError as error:
        print(error)
    assert [command[-1] for command in asked] == (
        [f"{tmp_path}/rescaling-9.whl"] if here.installs else []
    )
    said = capsys.readouterr().out
    assert here.says in said and (here.says == RELOAD) == (RELOAD in said)


WHERE = {
    "{}": None,
    "{html: {baseurl: 'https://book.example/en/'}}": "https://book.example/en/notebooks/",
    "{repository: {url: 'https://github.com/one/two/'}}": (
        "https://raw.githubusercontent.com/one/two/shelf/notebooks/"
    ),
    "{repository: {url: 'https://elsewhere.example/one/two'}}": None,
}


@pytest.mark.parametrize("keys", WHERE)
def test_a_notebook_finds_its_wheels_where_it_is_published(keys, tmp_path) -> None:
    config = yaml.safe_load(keys)
    config["sphinx"] = {"config": {"book_notebook_branch": "shelf"}}
    (tmp_path / "_config.yml").write_text(yaml.safe_dump(config), "utf-8")
    assert wheels_at(tmp_path / "book") == WHERE[keys]


def folders(tmp_path: Path, **notebooks: str) -> tuple[Path, Path]:
    """A folder of published notebooks, and the reader's own, which is not there yet."""
    published = tmp_path / "published"
    published.mkdir()
    for name, text in notebooks.items():
        (published / f"{name}.ipynb").write_text(text)
    return published, tmp_path / "own"


def test_a_notebook_that_its_reader_changed_is_kept(tmp_path: Path) -> None:
    published, own = folders(tmp_path, a="new", b="new")
    own.mkdir()
    (own / "a.ipynb").write_text("mine")
    assert copies(published, own) == ["a.ipynb"]
    assert (own / "a.ipynb").read_text() == "mine"
    assert (own / "b.ipynb").read_text() == "new"


def test_an_untouched_notebook_is_renewed_and_not_named(tmp_path: Path) -> None:
    published, own = folders(tmp_path, a="old", b="old")
    assert copies(published, own) == []
    assert copies(published, own) == []
    (own / "b.ipynb").write_text("mine")
    for name in "ab":
        (published / f"{name}.ipynb").write_text("new")
    for _ in range(2):  # what is kept once is kept again
        assert copies(published, own) == ["b.ipynb"]
    assert (own / "a.ipynb").read_text() == "new"
    assert (own / "b.ipynb").read_text() == "mine"


def test_a_copy_from_before_the_record_is_no_change_of_its_reader(tmp_path) -> None:
    published, own = folders(tmp_path, a="old")
    own.mkdir()
    (own / "a.ipynb").write_text("old")
    assert copies(published, own) == []
    (published / "a.ipynb").write_text("new")
    assert copies(published, own) == []
    assert (own / "a.ipynb").read_text() == "new"


def test_without_a_build_the_lab_says_what_to_do(tmp_path, monkeypatch, capsys) -> None:
    started = []
    monkeypatch.setattr(lab, "BUILD", tmp_path / "_build")
    monkeypatch.setattr(lab.subprocess, "call", started.append)
    assert lab.main() == 1
    assert re.fullmatch(r".*tools\.build.*\n", capsys.readouterr().err)
    assert not started and not (tmp_path / "notebooks").exists()


def commands_of(monkeypatch, tmp_path: Path) -> list[list[str]]:
    """The commands that `make lab` starts, in a build that has one notebook."""
    commands: list[list[str]] = []
    monkeypatch.setattr(lab, "BUILD", tmp_path / "_build")
    monkeypatch.setattr(sys, "argv", ["lab", "--no-browser"])
    call = lambda command, **_: commands.append(command) or 0  # noqa: E731
    monkeypatch.setattr(lab.subprocess, "call", call)
    published = tmp_path / "_build" / "html" / "notebooks"
    published.mkdir(parents=True)
    (published / "a.ipynb").write_text("{}")
    assert lab.main() == 0
    return commands


@pytest.mark.parametrize("root", [True, False])
def test_root_may_open_the_lab_on_this_machine(root, monkeypatch, tmp_path) -> None:
    user = 0 if root else 1000
    monkeypatch.setattr(lab.os, "geteuid", lambda: user, raising=False)
    [[*_, last]] = commands = commands_of(monkeypatch, tmp_path)
    assert last == "--no-browser"
    assert root == ("--allow-root" in commands[0]) == ("--ip=127.0.0.1" in commands[0])


LAB = """
import sys
from pathlib import Path
from tools import lab
lab.BUILD = Path(sys.argv.pop(1))
sys.exit(lab.main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_the_lab_opens_without_a_home(tmp_path: Path, root: Path) -> None:
    """As whoever runs the tests, perhaps root: a server that answers."""
    published = tmp_path / "_build" / "html" / "notebooks"
    published.mkdir(parents=True)
    (published / "a.ipynb").write_text("{}")
    moved = ("JUPYTER_", "IPYTHONDIR", "XDG_")
    known = {k: v for k, v in os.environ.items() if not k.startswith(moved)}
    command = [sys.executable, "-c", LAB, tmp_path / "_build", "--no-browser"]
    command += ["--ServerApp.port=0"]
    said = tmp_path / "said"
    with said.open("w") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, cwd=root,
            env=known | {"HOME": "/proc/nowhere"}, start_new_session=True,
        )  # fmt: skip
    try:
        address = re.compile(r"http://127\.0\.0\.1:\S+(?=/lab)")
        wait_until(
            lambda: process.poll() is not None or address.search(said.read_text()),
            "the address of JupyterLab",
        )
        assert process.poll() is None, said.read_text()
        api = address.search(said.read_text())[0] + "/api"
        # JupyterLab prints its address before it listens there.
        answers = []

        def answered() -> bool:
            with suppress(URLError), urlopen(api) as answer:
                answers.append(json.loads(answer.read()))
            return process.poll() is not None or answers

        wait_until(answered, "an answer of JupyterLab")
        assert answers and "version" in answers[0], said.read_text()
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert "Traceback" not in said.read_text()
    assert (tmp_path / "_build" / "jupyter").is_dir()


def test_the_readme_names_the_lab_for_those_without_make(root: Path) -> None:
    without_make = (root / "README.md").read_text("utf-8").split("Without make:")[1]
    assert "-m tools.lab" in without_make.split("(On Windows")[0]
