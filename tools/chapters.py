"""The pages of the book: which there are, and their sources as notebooks."""

import hashlib
import re
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jupytext
import yaml
from nbformat import NotebookNode
from sphinx_external_toc.parsing import parse_toc_yaml

from livepage.road import Stop, stops

HEADING = re.compile(r"^# (.+)$", re.M)


@dataclass(frozen=True)
class Page:
    """A page of `_toc.yml`: its name, and its source in `book/`."""

    name: str
    source: Path

    @property
    def is_chapter(self) -> bool:
        """Whether the page has code to run."""
        return bool(self.notebook_header or self.told[1])

    @property
    def notebook_header(self) -> dict:
        """The `jupytext` entry of the front matter; empty where there is none."""
        return front_matter(self.source.read_text("utf-8")).get("jupytext", {})

    @property
    def told(self) -> tuple[str, str]:
        """The page's title, and what the map says of it: nothing if it is not there."""
        text = self.source.read_text("utf-8")
        heading = HEADING.search(text)
        return heading[1] if heading else "", front_matter(text).get("line", "")


@cache
def front_matter(text: str) -> dict:
    """The YAML between the two `---` at the head of a page."""
    match = re.match(r"---\n(.*?)\n---\n", text, re.S)
    return yaml.safe_load(match[1]) if match else {}


def pages(toc: Path, book: Path) -> list[Page]:
    """Every page that the table of contents names, in reading order."""
    found = [Page(name, book / f"{name}.md") for name in _files(_load(toc))]
    for page in found:
        if not page.source.exists():
            raise ValueError(f"{toc.name} names {page.name!r}: no {page.source}")
    return found


def road(toc: Path, book: Path) -> list[Stop]:
    """The chapters of the book, written or planned, in order."""
    return stops(parse_toc_yaml(toc), lambda name: Page(name, book / f"{name}.md").told)


def _load(toc: Path) -> dict:
    content = yaml.safe_load(toc.read_text("utf-8"))
    if not isinstance(content, dict) or "root" not in content:
        raise ValueError(f"{toc}: expected a mapping with a `root`, got {content!r}")
    return content


def _files(entry: dict) -> list[str]:
    own = [entry[key] for key in ("root", "file") if key in entry]
    parts = ("parts", "chapters", "sections", "entries", "subtrees")
    return own + [
        name
        for part in parts
        for child in entry.get(part, [])
        for name in _files(child)
    ]


def notebook(page: Page) -> NotebookNode:
    """The source of a chapter as a notebook without outputs.

    A code cell's id is its `:name:`, or else its place among the code cells and its
    text: an edit of the prose moves no id.
    """
    if not page.notebook_header:
        raise ValueError(f"{page.source}: a chapter needs a `jupytext` front matter")
    nb = deepcopy(_parsed(page.source.read_text("utf-8")))
    for place, cell in enumerate(code_cells(nb)):
        digest = hashlib.sha256(cell.source.encode()).hexdigest()[:8]
        cell.id = cell.metadata.get("name", f"code-{place:02d}-{digest}")
    for place, cell in enumerate(c for c in nb.cells if c.cell_type != "code"):
        cell.id = f"text-{place:02d}"
    ids = [cell.id for cell in nb.cells]
    twice = sorted({id for id in ids if ids.count(id) > 1})
    if twice:
        raise ValueError(f"{page.source}: cell names used twice: {', '.join(twice)}")
    return nb


@cache
def _parsed(text: str) -> NotebookNode:
    return jupytext.reads(text, fmt="md:myst")


def code_cells(nb: NotebookNode) -> list[NotebookNode]:
    """The cells that run."""
    return [cell for cell in nb.cells if cell.cell_type == "code"]


def line_of(page: Page, cell: NotebookNode) -> int:
    """The line of `page`'s source on which the text of `cell` starts."""
    text = page.source.read_text("utf-8")
    start = text.find(cell.source)
    return text.count("\n", 0, max(start, 0)) + 1
