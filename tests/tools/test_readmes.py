"""The README of each package: its blocks of code run, and print what stands there."""

import re
import sys
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tools.common.readmes import (
    WITH_COMPILERS,
    Failed,
    blocks,
    build_project,
    files,
    printed,
    requirements,
)
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
    env["before"] = WITH_COMPILERS if package == "ptxsim" else ""
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


@pytest.mark.parametrize("folder", ["cpu", "gpu"])
def test_a_missing_extra_is_named(folder: str, tmp_path: Path) -> None:
    code = f"from tiledattention import {folder}\n{folder}.attention"
    needed = rf"{folder} needs \w+, .*: pip install \"tiledattention\[{folder}\]\""
    with pytest.raises(Failed, match=needed):
        allowed = modules_of(["tiledattention"])
        printed(sys.executable, [code], tmp_path, allowed, PYTHONPATH=str(LIB))


# ---- the kit: a page of an author's own, about something else

OURS = re.compile(r"softmax|rescal", re.I)

# What is added to the page: what each new file holds, or what goes at a file's end.
CHAPTER = {
    "cubes.md": """---
file_format: mystnb
kernelspec: {name: python3}
mystnb: {remove_code_source: true}
line: Six faces, one number.
---

# Cubes

```{code-cell}
from livepage import figure

from mine import drill
```
""",
    "index.md": "\n```{toctree}\ncubes\n```\n",
}
SHOWN = "\n```{{code-cell}}\n{}\n```\n"
FIGURE = {"cubes.md": SHOWN.format('figure("square", side=4)')}
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


def add(project: Path, added: dict[str, str]) -> None:
    """Append to the files of a project."""
    for name, text in added.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        with (project / name).open("a", encoding="utf-8") as file:
            file.write(text)


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the README's project, with another chapter, figure and drill."""
    folder = tmp_path_factory.mktemp("kit")
    for added in (files(text_of("livepage")), CHAPTER, FIGURE, DRILL):
        add(folder / "project", added)
    build_project(folder / "project", folder / "html", LIB)
    return folder / "html"


@pytest.mark.slow
def test_the_readme_s_page_and_what_is_added_to_it_are_built(html: Path) -> None:
    page = (html / "index.html").read_text("utf-8")
    assert 'data-label="threads in a block"' in page
    assert 'data-drill="partner"' in page and "reverses the whole array" in page
    assert "cubes.html" in page  # among the contents
    for file in html.rglob("*"):
        if file.suffix in (".html", ".js", ".css"):
            assert not OURS.search(file.read_text("utf-8")), file


@pytest.mark.slow
def test_a_chapter_a_figure_and_a_drill_are_added_in_few_places(html: Path) -> None:
    """What is new and one line where it is shown; a toctree knows the chapter."""
    assert [text.count("\n") for text in FIGURE.values()] == [4]  # a cell of one line
    assert len(DRILL) == 2 and DRILL["cubes.md"].count("\n") == 4
    page = (html / "cubes.html").read_text("utf-8")
    assert 'data-figure="square"' in page and "The area is 16." in page
    assert 'data-drill="volume"' in page and "What is its volume?" in page
    assert (html / "_static" / "figures" / "square.js").exists()


def test_the_author_of_the_readme_s_page_writes_sixty_lines() -> None:
    project = files(text_of("livepage"))
    own = [name for name in project if not name.startswith("figures/")]
    assert own == ["conf.py", "mine.py", "index.md", "drills/index.yml"]
    lines = [line for name in own for line in project[name].split("\n") if line.strip()]
    assert len(lines) < 60  # as the page of the book says
