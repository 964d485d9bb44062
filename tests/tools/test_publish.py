"""Publishing, rehearsed: the workflow's own steps, on the disk, with nothing uploaded.

What builds the book is `make book`, which other tests run; here a small `make` hands out
what has been built, with buttons as they are once the two keys are set. The whole of it
is `python -m tools.publish --rehearse`, which the weekly workflow runs.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tools import publish

ROOT = Path(__file__).resolve().parents[2]

MAKE = """\
import os, shutil
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote
import nbformat, yaml
from livepage.site.page import launch_links
from tools.building import reader

config = yaml.safe_load(Path("_config.yml").read_text("utf-8"))
branch = config["sphinx"]["config"]["book_notebook_branch"]
app = SimpleNamespace(config=SimpleNamespace(book_notebook_branch=branch))
html = Path("_build/html")
shutil.copytree({html!r} + "/notebooks", html / "notebooks")
wheels = sorted(wheel.name for wheel in (html / "notebooks").glob("*.whl"))
first = reader.install_cell(wheels, reader.wheels_at(Path("book").absolute()))
for file in (html / "notebooks").glob("*.ipynb"):
    nb = nbformat.read(file, as_version=4)
    nb.cells[0].source = first
    nbformat.write(nb, file)
    links = launch_links(app, file.stem, config["repository"]["url"]).values()
    buttons = "".join(f'<a href="{{link}}">run</a>' for link in links)
    (html / file.stem).with_suffix(".html").write_text(
        f'<ul class="head-facts">{{buttons}}</ul>build {{os.environ.get("BOOK_BUILD")}}'
    )
"""


@pytest.fixture
def copy(html: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that can be published, and a `make` that needs no time."""
    folder = tmp_path / "copy"
    for name in ("tools", ".github"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "_config.yml", folder)
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "python").symlink_to(sys.executable)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "make.py").write_text(MAKE.format(html=str(html)), "utf-8")
    make = programs / "make"
    make.write_text(f'#!/bin/sh\nexec "{sys.executable}" {programs}/make.py\n', "utf-8")
    make.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    paths = (folder, *map(Path, sys.path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, paths)))
    return folder


@pytest.mark.skipif(sys.platform == "win32", reason="the workflow runs on Linux")
def test_two_keys_and_the_workflow_publish_the_book(copy: Path, tmp_path: Path) -> None:
    remote = tmp_path / "remote.git"
    assert publish.rehearse(copy, remote) == []
    branch = yaml.safe_load((copy / "_config.yml").read_text())["sphinx"]["config"]
    files = publish.pushed(remote, branch["book_notebook_branch"])
    assert {"notebooks/01-stable-softmax.ipynb", "notebooks/gpu.ipynb"} <= files
    command = ["git", "show", "notebooks:binder/requirements.txt"]
    listed = subprocess.run(command, cwd=remote, capture_output=True, text=True).stdout
    assert listed.split() and {f.removeprefix("./") for f in listed.split()} <= files


@pytest.mark.skipif(sys.platform == "win32", reason="the workflow runs on Linux")
def test_a_workflow_that_would_publish_dead_buttons_and_no_build_is_told(
    copy: Path, tmp_path: Path
) -> None:
    workflow = copy / publish.WORKFLOW
    text = workflow.read_text("utf-8")
    for right, wrong in {
        '"$REMOTE" notebooks': '"$REMOTE" notebooks:shelf',
        "path: _build/html": "path: _build/site",
        "BOOK_BUILD:": "BUILD:",
    }.items():
        assert right in text
        text = text.replace(right, wrong)
    workflow.write_text(text, "utf-8")
    nothing, *wrong = publish.rehearse(copy, tmp_path / "remote.git")
    assert nothing == "nothing to upload in _build/site"
    kinds = {line.rpartition(" ")[0] for line in wrong if "no build" in line}
    assert kinds == {"no build named at the foot of"}
    dead = [line for line in wrong if line.startswith("a button leads nowhere: ")]
    assert dead and len(dead) + sum("no build" in line for line in wrong) == len(wrong)


def test_a_page_without_its_buttons_is_told(tmp_path: Path) -> None:
    notebook = (
        '<ul class="head-facts"><a href="notebooks/a.ipynb" download>Notebook</a>'
    )
    (tmp_path / "a.html").write_text(notebook)
    (tmp_path / "b.html").write_text("<p>No notebook.</p>")
    assert publish.dead_buttons(tmp_path, tmp_path) == [
        "a.html: a notebook, and no button that opens it"
    ]


def test_wheels_that_are_nowhere_are_told(tmp_path: Path) -> None:
    (tmp_path / "notebooks").mkdir()
    for name, text in {
        "lost": "WHEELS = ['a-1.whl'] https://book.example/notebooks/",
        "elsewhere": "WHEELS = ['b-1.whl'] https://other.example/notebooks/",
        "right": "WHEELS = ['b-1.whl'] https://book.example/notebooks/",
    }.items():
        (tmp_path / "notebooks" / f"{name}.ipynb").write_text(text)
    (tmp_path / "notebooks" / "b-1.whl").touch()
    missing = publish.wheels_missing(tmp_path, "https://book.example/")
    assert missing == ["elsewhere.ipynb", "lost.ipynb"]


def test_a_site_without_notebooks_is_not_published(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no notebooks or no wheels"):
        publish.lay_out(tmp_path, tmp_path / "branch")


def test_keys_that_are_set_already_are_not_overwritten(tmp_path: Path) -> None:
    config = tmp_path / "_config.yml"
    config.write_text("html:\n  baseurl: https://book.example/\n")
    with pytest.raises(ValueError, match="_config.yml: expected url"):
        publish.set_keys(config)


def test_what_is_published_has_passed_the_tests() -> None:
    jobs = yaml.safe_load((ROOT / publish.WORKFLOW).read_text("utf-8"))["jobs"]
    tested = [name for name, job in jobs.items() if "test.yml" in job.get("uses", "")]
    waiting = {name: job.get("needs") for name, job in jobs.items()}
    assert tested == ["test"] and waiting["build"] == "test"
    assert waiting["deploy"] == "build"
    # Loaded as YAML 1.1, the key `on` is the word for true.
    events = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())[True]
    assert "workflow_call" in events and "main" in events["push"]["branches-ignore"]
