"""Code that a chapter shows, put together as a reader would, passes the chapter's drill."""

import ast
import inspect
import re
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest
import yaml

import laboratory
from livepage import book
from livepage.drills.bank import find
from marking import run

SHOWN = yaml.safe_load(
    (Path(__file__).parents[1] / "data" / "page_code.yml").read_text("utf-8")
)
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n((?::[^\n]*\n)*)(.*?)^```$", re.S | re.M)


def cells(chapter: str) -> list[ast.Module]:
    """Return the trees of the cells that a page shows; each knows its text."""
    page = (book.current().folder / f"{chapter}.md").read_text("utf-8")
    shown = [text for tags, text in CELL.findall(page) if "remove" not in tags]
    trees = []
    for text in shown:
        tree = ast.parse(text)
        tree.text = text  # type: ignore[attr-defined]
        trees.append(tree)
    return trees


def function(chapter: str, name: str) -> str:
    """Return the text of a function as a page shows it, with its decorators."""
    [found] = [
        "\n".join(tree.text.splitlines()[first(node) - 1 : node.end_lineno])
        for tree in cells(chapter)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    return found


def first(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def edits(chapter: str, name: str) -> dict[str, str]:
    """Return the changes that a page makes by `name_text = edit(text, changes)`."""
    [changes] = [
        node.value.args[1]  # type: ignore[attr-defined]
        for tree in cells(chapter)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and ast.unparse(node.targets[0]) == f"{name}_text"
    ]
    return ast.literal_eval(changes)


def answer(id: str, entry: dict[str, Any]) -> str:
    """Return the text of an answer: code of a page, and what it takes to use it."""
    chapter = entry.get("chapter", find(id).chapter)
    shown = "\n\n\n".join(function(chapter, name) for name in entry["shown"])
    changes = [edits(chapter, name) for name in entry.get("edits", [])]
    for old, new in [pair for one in changes for pair in one.items()] + [
        *entry.get("change", {}).items()
    ]:
        assert shown.count(old) == 1, old
        shown = shown.replace(old, new)
    return entry["answer"].replace("{shown}", shown)


@pytest.mark.parametrize("id", SHOWN)
def test_the_code_of_a_page_passes_its_drill(id: str) -> None:
    report = run(find(id), answer(id, SHOWN[id]))
    assert report["passed"], report


# ---- the copy loops, which the page shows from the laboratory


def step(name: str) -> str:
    """Return the drill's kernel with a loop of the page, for both of its tiles.

    The names that the page works out before the kernel are worked out in it.
    """
    lines = inspect.getsource(getattr(laboratory, name)).splitlines()
    start = next(i for i, line in enumerate(lines) if "def kernel(" in line)
    stop = next(i for i, line in enumerate(lines) if "cuda.syncthreads" in line)
    doc = max(i for i, line in enumerate(lines[:start]) if line.strip() == '"""')
    sizes = {"np.uint32": "uint32", "threads": "THREADS", "keys": "KEYS"}
    text = "\n".join(
        [
            dedent("\n".join(lines[doc + 1 : start])),
            dedent("\n".join(lines[start + 1 : stop])),
        ]
    )
    for old, new in [*sizes.items(), (r"(?<!\w)d(?!\w)", "D")]:
        text = re.sub(old, new, text)
    copies = re.findall(r"^ *k_tile\[.*$|^ *k_tile = .*$", text, re.M)
    for line in copies:  # the same once more, for V
        other = line.replace("k_tile", "v_tile").replace("K[", "V[")
        text = text.replace(line, f"{line}\n{other}")
    code = find("copy-loop").get("code")
    head, _, rest = code.partition("    t = ")
    return head + indent(text, "    ") + "\n" + rest[rest.index("    cuda.sync") :]


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("plain", "kernelLoopDivision"),
        ("unsigned", None),
        ("hoisted", None),
        ("fours", None),
    ],
)
def test_a_step_of_the_page_that_reaches_the_goal_is_right(
    name: str, word: str
) -> None:
    report = run(find("copy-loop"), step(name))
    assert report.get("word") == word, (step(name), report)
    assert report["passed"] == (word is None)
