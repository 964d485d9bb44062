"""The notebooks that readers download: plain Markdown, no outputs, they run anywhere.

Jupyter knows neither the book's roles nor its admonitions, so they become ordinary
Markdown here. Numbers that the prose takes from the build are written out.
"""

import ast
import re
import textwrap
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import groupby
from pathlib import Path

import nbformat
import yaml
from nbformat import NotebookNode
from pybtex.database import BibliographyData, Entry, parse_file
from pybtex.richtext import Text

from tools.chapters import code_cells, front_matter, pages

SYMBOLS = {"m": "m", "l": "ℓ", "alpha": "α", "o": "o", "s": "s", "p": "p"}
MACROS = {r"\qm": "m", r"\ql": r"\ell", r"\qa": r"\alpha", r"\qo": "o"}
MACROS |= {r"\qs": "s", r"\qp": "p"}
FENCE = re.compile(
    r"^(`{3,}|:{3,})\{([\w:-]+)\}[ \t]*(.*?)\n(.*?)^\1[ \t]*$", re.M | re.S
)
LINK = re.compile(r"\[([^\[\]]*)\]\(([\w-]+)\.md(#[^)]*)?\)")
PROSE_BLOCKS = {"note", "tip", "important", "admonition", "warning", "seealso"}
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


@dataclass(frozen=True)
class Around:
    """What a notebook takes from the book around its chapter."""

    sources: BibliographyData
    notebooks: frozenset[str] = frozenset()  # the pages that can be downloaded too
    road: tuple[dict, ...] = ()
    site: str | None = None  # where the pages are published


def around(book: Path) -> Around:
    """The book whose pages are in the folder `book`."""
    config = yaml.safe_load((book.parent / "_config.yml").read_text("utf-8"))
    road = book / "road.yml"
    all_pages = pages(book.parent / "_toc.yml", book)
    return Around(
        sources=_sources(book / "references.bib"),
        notebooks=frozenset(page.name for page in all_pages if page.is_chapter),
        road=tuple(yaml.safe_load(road.read_text("utf-8")) if road.exists() else ()),
        site=(config.get("html") or {}).get("baseurl") or None,
    )


def _sources(file: Path) -> BibliographyData:
    """The sources that the chapters cite; none, where there is no such file."""
    return parse_file(str(file)) if file.exists() else BibliographyData()


def glued(nb: NotebookNode) -> dict[str, object]:
    """The values that an executed notebook glued, by name."""
    values: dict[str, object] = {}
    for cell in code_cells(nb):
        for output in cell.get("outputs", []):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            if name:
                values[name] = _value(output.data)
    return values


def _value(data: dict) -> object:
    text = next((data[mime] for mime in data if mime.endswith("text/plain")), "")
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def plain_markdown(text: str, values: dict, book: Around) -> str:
    """`text` in the Markdown that every notebook program shows."""
    text = FENCE.sub(partial(_block, book), text)
    roles: dict[str, Callable[[str], str]] = {
        "glue:text": partial(_number, values),
        "q": lambda name: SYMBOLS[name],
        "cite:p": lambda keys: f"({_cite(keys, book, _in_brackets)})",
        "cite:t": lambda keys: _cite(keys, book, _in_a_sentence),
    }
    text = re.sub(
        r"\{([\w:]+)\}`([^`]+)`",
        lambda m: roles[m[1]](m[2]) if m[1] in roles else m[2],
        text,
    )
    text = re.sub(r"^\(([\w-]+)\)=$", r'<a id="\1"></a>', text, flags=re.M)
    text = LINK.sub(partial(_link, book), text)
    for macro, plain in MACROS.items():
        text = re.sub(
            re.escape(macro) + r"(?![a-zA-Z])", plain.replace("\\", r"\\"), text
        )
    return text


def _number(values: dict, role: str) -> str:
    name, _, form = role.partition(":")
    if name not in values:
        raise ValueError(f"{{glue:text}}`{role}`: nothing named {name!r} was glued")
    try:
        return format(values[name], form) if form else str(values[name])
    except ValueError as error:
        raise ValueError(f"{{glue:text}}`{role}`: {error}: {values[name]!r}") from None


def _cite(keys: str, book: Around, style: Callable[[Entry], str]) -> str:
    entries = (book.sources.entries[key.strip()] for key in keys.split(","))
    return "; ".join(map(style, entries))


def _in_a_sentence(entry: Entry) -> str:
    """Who, and the year in brackets: the sentence around it stays a sentence."""
    return f"{_who(entry)} ({_linked(_year(entry), entry)})"


def _in_brackets(entry: Entry) -> str:
    return _linked(f"{_who(entry)}, {_year(entry)}", entry)


def _who(entry: Entry) -> str:
    """The authors; without any, the title. As the page's style prints them."""
    authors = entry.persons.get("author", [])
    people = [_unmarked(" ".join(person.last_names)) for person in authors]
    if not people:
        return f"*{_unmarked(entry.fields.get('title', entry.key))}*"
    return " and ".join(people) if len(people) < 3 else f"{people[0]} *et al.*"


def _unmarked(text: str) -> str:
    """`text` without BibTeX's own marks: braces, backslashes."""
    return str(Text.from_latex(text))


def _year(entry: Entry) -> str:
    return entry.fields.get("year", "n.d.")


def _linked(text: str, entry: Entry) -> str:
    """`text` as a link to the source, where the source has an address."""
    fields = entry.fields
    if "url" in fields:
        return f"[{text}]({fields['url']})"
    if "doi" in fields:
        return f"[{text}](https://doi.org/{fields['doi']})"
    if fields.get("archiveprefix") == "arXiv":
        return f"[{text}](https://arxiv.org/abs/{fields['eprint']})"
    return text


def _link(book: Around, match: re.Match) -> str:
    """A link to another page: its notebook, else where it is published, else none."""
    text, page, place = match[1], match[2], match[3] or ""
    if page in book.notebooks:
        return f"[{text}]({page}.ipynb{place})"
    if book.site:
        return f"[{text}]({book.site.rstrip('/')}/{page}.html{place})"
    return text


def _block(book: Around, match: re.Match) -> str:
    """An admonition, or the road; other directives belong to the page alone."""
    kind, title, body = match[2], match[3], match[4]
    if kind == "road":
        return _road(book)
    if kind not in PROSE_BLOCKS:
        return ""
    options, body = re.match(r"((?::[\w-]+:[^\n]*\n)*)(.*)", body, re.S).groups()
    title, body = title.strip() or kind.capitalize(), body.strip()
    if re.search(r"^:class:.*\bdropdown\b", options, re.M):
        return _folded(title, body)
    return "\n".join(f"> {x}".rstrip() for x in f"**{title}**\n\n{body}".splitlines())


def _folded(title: str, body: str) -> str:
    """`body` out of sight until it is asked for: it may answer a question."""
    # The blank lines end the HTML, so that what is between them is Markdown.
    summary = f"<summary>{escape(title, quote=False)}</summary>"
    return f"<details>{summary}\n\n{body}\n\n</details>"


def _road(book: Around) -> str:
    """The map of the cover as lists, a part each."""
    parts = groupby(book.road, key=lambda row: row["part"])
    return "\n\n".join(
        f"**{part}**\n\n" + "\n".join(_stop(row, book) for row in rows)
        for part, rows in parts
    )


def _stop(row: dict, book: Around) -> str:
    there = row["file"] in book.notebooks
    title = row["title"]
    name = f"[{title}]({row['file']}.md)" if there else f"{title} (not yet written)"
    return f"{row['number']}. {name}. {row['line']}"


def without_glue(source: str) -> str:
    """`source` without the lines that hand numbers to the page.

    >>> without_glue("x = 1\\nfrom myst_nb import glue\\nglue('x', x, display=False)")
    'x = 1'
    """
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if _is_glue(node):
            for i in range(node.lineno - 1, node.end_lineno):
                lines[i] = None
    return "\n".join(line for line in lines if line is not None).strip()


def _is_glue(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module == "myst_nb"
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") == "glue"


def install_cell(wheel: str, site: str | None) -> str:
    """The first cell: the lib is there, or it is installed and the cell says so."""
    if site:
        elsewhere = f'"{site.rstrip("/")}/notebooks/{wheel}"'
    else:
        elsewhere = "None"
    return textwrap.dedent(f"""\
        # The book's small library: used if it is here, installed if it is not.
        import importlib.util, pathlib, subprocess, sys

        if importlib.util.find_spec("onlinesoftmax") is None:
            beside = pathlib.Path("{wheel}")
            source = str(beside.resolve()) if beside.exists() else {elsewhere}
            if source is None:
                raise ModuleNotFoundError(
                    f"The library is missing. Put {{beside}} next to this notebook: "
                    "it is in the .zip that the chapter's page offers."
                ) from None
            print("installing the book's library from", source)
            wanted = f"onlinesoftmax[reading] @ {{source}}"
            if beside.exists():
                wanted = f"{{source}}[reading]"
            command = [sys.executable, "-m", "pip", "install", "-q", wanted]
            subprocess.run(command, check=True)

        import onlinesoftmax

        print("onlinesoftmax", onlinesoftmax.__version__)""")


def reader_notebook(
    executed: NotebookNode, source: str, first: str, book: Around
) -> NotebookNode:
    """What a reader downloads of the chapter `executed`, whose text is `source`."""
    values = glued(executed)
    cells = [nbformat.v4.new_code_cell(first, id="install")]
    for cell in executed.cells:
        if cell.cell_type == "markdown":
            text = plain_markdown(cell.source, values, book)
            cells.append(nbformat.v4.new_markdown_cell(text, id=cell.id))
        elif cell.cell_type == "code" and (code := without_glue(cell.source)):
            cells.append(_code(cell, code))
    cells[1:1] = [_lede(front_matter(source))]
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def _code(cell: NotebookNode, code: str) -> NotebookNode:
    new = nbformat.v4.new_code_cell(code, id=cell.id)
    tags = cell.metadata.get("tags", [])
    if {"remove-input", "hide-input", "remove-cell"} & set(tags):
        new.metadata["jupyter"] = {"source_hidden": True}
    return new


def _lede(front: dict) -> NotebookNode:
    text = f"*{front.get('description', '')}*"
    if learn := "\n".join(f"- {item}" for item in front.get("learn", [])):
        text += f"\n\nYou will learn\n\n{learn}"
    return nbformat.v4.new_markdown_cell(text, id="lede")


def write(nb: NotebookNode, wheel: Path, folder: Path, name: str) -> None:
    """The notebook, and the notebook with the lib beside it as one archive."""
    file = folder / f"{name}.ipynb"
    nbformat.write(nb, file)
    with zipfile.ZipFile(folder / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for member in (file, wheel):
            info = zipfile.ZipInfo(member.name, date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, member.read_bytes())
