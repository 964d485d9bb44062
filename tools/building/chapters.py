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
from livepage.road import Stop, stops

HEADING = re.compile(r"^# (.+)$", re.M)
# The head of a code cell: its fence and its options.
CODE = re.compile(r"^```\{code-cell\}.*\n(?::.*\n)*", re.M)


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
        return self.head.get("jupytext", {})

    @property
    def told(self) -> tuple[str, str]:
        """The page's title, and what the map says of it: nothing if it is not there."""
        text = self.source.read_text("utf-8")
        heading = HEADING.search(text)
        return heading[1] if heading else "", self.head.get("line", "")

    @property
    def head(self) -> dict:
        """The front matter."""
        return front_matter(self.source.read_text("utf-8"), self.source.name)


@cache
def front_matter(text: str, name: str = "a page") -> dict:
    """The YAML between the two `---` at the head of a page."""
    # With the line of the first `---`, so that a fault is told with the page's own line.
    match = re.match(r"---\n.*?(?=\n---\n)", text, re.S)
    try:
        return yaml.safe_load(match[0]) if match else {}
    except yaml.YAMLError as error:
        said = str(error).replace("<unicode string>", name)
        raise ValueError(f"{name}: front matter: {said}") from None


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


def plain(source: str) -> str:
    """`source` without IPython's own lines, which Python cannot parse."""
    lines = source.splitlines()
    return "\n".join("" if re.match(r"\s*[%!]", line) else line for line in lines)


def check_code(page: Page) -> None:
    """Refuse a chapter with a cell that Python cannot read."""
    for cell in code_cells(notebook(page)):
        try:
            ast.parse(plain(cell.source))
        except SyntaxError as error:
            line = line_of(page, cell) + (error.lineno or 1) - 1
            where = f"{page.source.name}:{line}, cell {cell.id!r}"
            said = (
                f"{where}\n    {(error.text or '').strip()}\n  SyntaxError: {error.msg}"
            )
            raise ValueError(said) from None


def line_of(page: Page, cell: NotebookNode) -> int:
    """The line of `page`'s source on which the text of `cell` starts."""
    ids = [each.id for each in notebook(page).cells]
    return _first_lines(page)[ids.index(cell.id)]


def _first_lines(page: Page) -> list[int]:
    """The line on which each cell starts. Texts may repeat, so one after the other."""
    text, at, lines = page.source.read_text("utf-8"), 0, []
    for cell in notebook(page).cells:
        if cell.cell_type == "code" and (block := CODE.search(text, at)):
            at = block.end()
        at = max(text.find(cell.source, at), at)
        lines.append(text.count("\n", 0, at) + 1)
        at += len(cell.source)
    return lines


def in_source(said: str, staged: Path, pages: list[Page]) -> str:
    """What a renderer said of staged pages, said of their sources.

    In a notebook MyST-NB counts 10,000 lines for each cell before.
    """
    sources = {page.name: page for page in pages}

    def there(found: re.Match[str]) -> str:
        page, line = sources[found[1]], int(found[3] or 0)
        if found[2] == "ipynb" and line >= 10_000:
            cell, within = divmod(line, 10_000)
            line = _first_lines(page)[cell - 1] + max(within, 1) - 1
        return f"{page.source.parent.name}/{page.source.name}" + f":{line}" * bool(line)

    names = "|".join(map(re.escape, sources))
    place = rf"{re.escape(str(staged))}/({names})\.(ipynb|md)(?::(\d+))?"
    return re.sub(place, there, said)
