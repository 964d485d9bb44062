"""The README of each package: its blocks of code run, and print what stands there."""

import os
import re
import subprocess
import sys
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tools.common.readmes import Failed, blocks, printed, requirements
from tools.environment import LIB as PACKAGES

LIB = Path(__file__).parents[2] / "lib"


def text_of(package: str) -> str:
    return (LIB / package / "README.md").read_text("utf-8")


def installed_by(names: list[str]) -> set[str]:
    """The distributions that pip installs for these requirements."""
    waiting, installed = [(Requirement(name), "") for name in names], set()
    while waiting:
        requirement, extra = waiting.pop()
        marker = requirement.marker
        if marker and not marker.evaluate({"extra": extra}):
            continue
        for wanted in ("", *requirement.extras):
            if (key := (requirement.name, wanted)) not in installed:
                installed.add(key)
                further = distribution(requirement.name).requires or []
                waiting += [(Requirement(each), wanted) for each in further]
    return {name.lower().replace("_", "-") for name, _ in installed}


def modules_of(names: list[str]) -> tuple[str, ...]:
    """The modules that can be imported where only these requirements are installed."""
    installed = installed_by(names)
    theirs = {
        module
        for module, owners in packages_distributions().items()
        if {owner.lower().replace("_", "-") for owner in owners} & installed
    }
    return tuple(sorted(theirs | (installed & set(PACKAGES))))


@pytest.mark.parametrize("package", [name for name in PACKAGES if name != "livepage"])
def test_a_package_does_what_its_readme_says_with_nothing_beside_it(
    package: str, tmp_path: Path
) -> None:
    codes, expected = blocks(text_of(package))
    allowed = modules_of(requirements(text_of(package)))
    env = {"PYTHONPATH": str(LIB)}
    assert printed(sys.executable, codes, tmp_path, allowed, **env) == expected


def test_an_example_that_needs_what_its_package_does_not_is_noticed(
    tmp_path: Path,
) -> None:
    allowed = modules_of(["ptxsim"])
    assert "numpy" in allowed and not {"numba", "blocksim"} & set(allowed)
    env = {"PYTHONPATH": str(LIB)}
    for code in (
        "import numba",
        "import blocksim",
        "import numpy\nimport scipy.linalg",
    ):
        with pytest.raises(Failed, match="No module named"):
            printed(sys.executable, [code], tmp_path, allowed, **env)


# ---- the kit: another book, which is about something else

FILE = re.compile(r"`([\w./]+\.\w+)`[^`]*\n\n(```+)\w+\n(.*?)^\2\n", re.M | re.S)
OURS = re.compile(r"softmax|rescal", re.I)

# What is added to the smallest book: what each file then holds, or what goes at its end.
CHAPTER = {
    "cubes.md": """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3}
---

# Cubes

```{code-cell} ipython3
from tiny import drill, figure
```
""",
    "_toc.yml": "chapters: [{file: cubes}]\n",
}
SHOWN = "\n```{{code-cell}} ipython3\n{}\n```\n"
FIGURE = {"cubes.md": SHOWN.format('figure("cube", side=2)')}
DRILL = {
    "drills/cubes.yml": """drills:

- id: volume
  kind: numeric
  prompt: A cube has sides of 2. What is its volume?
  answer: {value: "2**3", to: exact}
  solution: It is $2^3 = 8$.
""",
    "cubes.md": SHOWN.format('drill("volume")'),
}


def add(book: Path, added: dict[str, str]) -> set[str]:
    """Append to the files of a book; return the names of the files that changed."""
    for name, text in added.items():
        (book / name).parent.mkdir(parents=True, exist_ok=True)
        with (book / name).open("a", encoding="utf-8") as file:
            file.write(text)
    return set(added)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The smallest book with another chapter, another figure and another drill."""
    folder = tmp_path_factory.mktemp("kit") / "tiny"
    text = (LIB / "livepage" / "README.md").read_text("utf-8")
    add(folder, {name: content for name, _, content in FILE.findall(text)})
    for added in (CHAPTER, FIGURE, DRILL):
        add(folder, added)
    for name in ("figure.py", "figure.mjs", "strings.json"):
        square = (folder / "figures" / "square" / name).read_text("utf-8")
        add(folder, {f"figures/cube/{name}": square.replace("area", "volume")})
    start = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", start, "build", str(folder), "-W", "-q"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(LIB)])}
    done = subprocess.run(
        command, capture_output=True, text=True, env=env, cwd=folder.parent
    )
    assert not done.returncode, done.stderr
    return folder


def test_the_smallest_book_of_the_kit_s_readme_is_built(tiny: Path) -> None:
    html = tiny / "_build" / "html"
    page = (html / "index.html").read_text("utf-8")
    assert 'data-figure="square"' in page and "The area is 16." in page
    assert 'data-drill="area"' in page and "That is the way around it." in page
    assert "executablebooks" not in page  # nor the links that Jupyter Book puts in
    for file in html.rglob("*"):
        if file.suffix in (".html", ".js", ".css"):
            assert not OURS.search(file.read_text("utf-8")), file


def test_a_chapter_a_figure_and_a_drill_are_added_in_few_places(tiny: Path) -> None:
    """What is new and one line where it is shown; the order of pages knows a chapter."""
    assert len(CHAPTER) == 2
    assert [text.count("\n") for text in FIGURE.values()] == [4]  # a cell of one line
    assert len(DRILL) == 2 and DRILL["cubes.md"].count("\n") == 4
    html = tiny / "_build" / "html"
    page = (html / "cubes.html").read_text("utf-8")
    assert 'data-figure="cube"' in page and "The volume is 4." in page
    assert 'data-drill="volume"' in page and "What is its volume?" in page
    assert (html / "_static" / "figures" / "cube.js").exists()
    assert "cubes.html" in (html / "index.html").read_text("utf-8")
