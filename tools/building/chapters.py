"""The pages of the book: which there are, and their sources as notebooks."""

import ast
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

from livepage import yml
from livepage.road import Part, Stop, stops

HEADING = re.compile(r"^# (.+)$", re.M)
# The head of a code cell: its fence and its options.
CODE = re.compile(r"^```\{code-cell\}.*\n(?::.*\n)*", re.M)


@dataclass(frozen=True)
class Page:
    """A page of `_toc.yml`, with the path of its source in `book/`."""

    name: str
    source: Path

    @property
    def is_chapter(self) -> bool:
        """Whether the page has code to run."""
        return bool(self.notebook_header or self.title_and_line[1])

    @property
    def notebook_header(self) -> dict:
        """The `jupytext` entry of the front matter; empty where there is none."""
        return self.head.get("jupytext", {})

    @property
    def title_and_line(self) -> tuple[str, str]:
        """The page's title and its line on the map, which is empty if it has none."""
        text = self.source.read_text("utf-8")
        heading = HEADING.search(text)
        return heading[1] if heading else "", self.head.get("line", "")

    @property
    def head(self) -> dict:
        """The front matter."""
        return front_matter(self.source.read_text("utf-8"), self.source.name)


@cache
def front_matter(text: str, name: str = "a page") -> dict:
    """Return the YAML between the two `---` at the head of a page."""
    # The first `---` is included, so that an error has the page's own line number.
    match = re.match(r"---\n.*?(?=\n---\n)", text, re.S)
    try:
        return yaml.safe_load(match[0]) if match else {}
    except yaml.YAMLError as error:
        message = str(error).replace("<unicode string>", name)
        raise ValueError(f"{name}: front matter: {message}") from None


def pages(toc: Path, book: Path) -> list[Page]:
    """Return every page that the table of contents names, in reading order."""
    named = [Page(name, book / f"{name}.md") for name in _files(_load(toc))]
    for page in named:
        if not page.source.exists():
            raise ValueError(f"{toc.name} names {page.name!r}: no {page.source}")
    return named


def road(toc: Path, book: Path) -> list[Stop]:
    """Return the chapters of the book, written or planned, in order."""

    def describe(name: str) -> tuple[str, str]:
        return Page(name, book / f"{name}.md").title_and_line

    site_map = parse_toc_yaml(toc)
    subtrees = site_map.root.subtrees
    parts = [Part(tree.caption, list(map(str, tree.items))) for tree in subtrees]
    return stops(parts, site_map.meta.get("planned", []), describe)


def _load(toc: Path) -> dict:
    content = yml.read(toc)
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
    """Return the source of a chapter as a notebook without outputs.

    A code cell's id is its `:name:`, or else its index among the code cells and the digest
    of its code: an edit of the prose changes no id.
    """
    if not page.notebook_header:
        raise ValueError(f"{page.source}: a chapter needs a `jupytext` front matter")
    nb = deepcopy(_parsed(page.source.read_text("utf-8")))
    for index, cell in enumerate(code_cells(nb)):
        digest = hashlib.sha256(cell.source.encode()).hexdigest()[:8]
        cell.id = cell.metadata.get("name", f"code-{index:02d}-{digest}")
    for index, cell in enumerate(c for c in nb.cells if c.cell_type != "code"):
        cell.id = f"text-{index:02d}"
    ids = [cell.id for cell in nb.cells]
    repeated = sorted({id for id in ids if ids.count(id) > 1})
    if repeated:
        raise ValueError(f"{page.source}: cell names used twice: {', '.join(repeated)}")
    return nb


@cache
def _parsed(text: str) -> NotebookNode:
    return jupytext.reads(text, fmt="md:myst")


def code_cells(nb: NotebookNode) -> list[NotebookNode]:
    """Return the cells that run."""
    return [cell for cell in nb.cells if cell.cell_type == "code"]


def plain(source: str) -> str:
    """Return `source` without IPython's magic lines, which Python cannot parse."""
    lines = source.splitlines()
    return "\n".join("" if re.match(r"\s*[%!]", line) else line for line in lines)


def check_code(page: Page) -> None:
    """Raise if Python cannot parse a cell of a chapter."""
    for cell in code_cells(notebook(page)):
        try:
            ast.parse(plain(cell.source))
        except SyntaxError as error:
            line = line_of(page, cell) + (error.lineno or 1) - 1
            where = f"{page.source.name}:{line}, cell {cell.id!r}"
            code = (error.text or "").strip()
            message = f"{where}\n    {code}\n  SyntaxError: {error.msg}"
            raise ValueError(message) from None


def line_of(page: Page, cell: NotebookNode) -> int:
    """Return the line of `page`'s source on which the text of `cell` starts."""
    ids = [each.id for each in notebook(page).cells]
    return _first_lines(page)[ids.index(cell.id)]


def _first_lines(page: Page) -> list[int]:
    """Return the line on which each cell starts, searched in order: texts may repeat."""
    text, at, lines = page.source.read_text("utf-8"), 0, []
    for cell in notebook(page).cells:
        if cell.cell_type == "code" and (block := CODE.search(text, at)):
            at = block.end()
        at = max(text.find(cell.source, at), at)
        lines.append(text.count("\n", 0, at) + 1)
        at += len(cell.source)
    return lines


def in_source(messages: str, staged: Path, pages: list[Page]) -> str:
    """Return a renderer's messages with the paths and lines of the sources.

    MyST-NB numbers a line of a notebook 10,000 times the number of its cell, plus its line
    in that cell.
    """
    by_name = {page.name: page for page in pages}

    def locate(match: re.Match[str]) -> str:
        page, line = by_name[match[1]], int(match[3] or 0)
        if match[2] == "ipynb" and line >= 10_000:
            cell, within = divmod(line, 10_000)
            line = _first_lines(page)[cell - 1] + max(within, 1) - 1
        return f"{page.source.parent.name}/{page.source.name}" + f":{line}" * bool(line)

    names = "|".join(map(re.escape, by_name))
    place = rf"{re.escape(str(staged))}/({names})\.(ipynb|md)(?::(\d+))?"
    return re.sub(place, locate, messages)
