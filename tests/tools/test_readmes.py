"""The README of each package: every block of code runs, and prints what stands there."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

LIB = Path(__file__).parents[2] / "lib"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)
# Runs blocks as cells of one notebook, each a file: a kernel's text is read from it.
RUNNER = """
import contextlib, io, json, sys
names, printed = {"__name__": "__main__"}, []
for number, code in enumerate(json.load(sys.stdin)):
    file = f"block_{number}.py"
    with open(file, "w", encoding="utf-8") as out:
        out.write(code)
    with contextlib.redirect_stdout(io.StringIO()) as heard:
        exec(compile(code, file, "exec"), names)
    printed.append(heard.getvalue())
print(json.dumps(printed))
"""


def blocks(package: str) -> list[tuple[str, str]]:
    """The blocks of Python in a README, each with what it is said to print."""
    text = (LIB / package / "README.md").read_text("utf-8")
    found = BLOCK.findall(text)
    assert len(found) == text.count("```python")
    return found


def printed(codes: list[str], folder: Path, path: str, *options: str) -> list[str]:
    """What blocks print in a fresh Python that finds packages at a path."""
    command = [sys.executable, *options, "-c", RUNNER]
    env = {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        command,
        input=json.dumps(codes),
        capture_output=True,
        encoding="utf-8",
        cwd=folder,
        env=env,
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "package", ["kernellab", "onlinesoftmax", "ptxsim", "tiledattention"]
)
def test_a_package_does_what_its_readme_says(package: str, tmp_path: Path) -> None:
    pairs = blocks(package)
    heard = printed([code for code, _ in pairs], tmp_path, str(LIB))
    assert heard == [text for _, text in pairs]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of blocksim, unpacked into a folder that holds nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps"]
    command += ["--no-build-isolation", "--disable-pip-version-check"]
    command += ["-w", str(folder), str(LIB / "blocksim")]
    subprocess.run(command, check=True)
    (packed,) = folder.glob("*.whl")
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(folder / "alone")
    return folder / "alone"


def test_blocksim_does_what_its_readme_says_with_nothing_beside_it(
    wheel: Path, tmp_path: Path
) -> None:
    """-S: without site-packages, and so without numpy, Numba and the book."""
    pairs = blocks("blocksim")
    codes = [code for code, _ in pairs]
    assert printed(codes, tmp_path, str(wheel), "-S") == [text for _, text in pairs]


def test_a_wheel_holds_its_readme_once_and_as_its_description(wheel: Path) -> None:
    assert not list(wheel.rglob("README.md"))
    (metadata,) = wheel.glob("*.dist-info/METADATA")
    assert "# blocksim: a GPU in Python" in metadata.read_text("utf-8")


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
