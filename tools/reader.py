"""The notebooks that readers download: plain Markdown, no outputs, they run anywhere.

Jupyter knows neither the book's roles nor its admonitions, so they become ordinary
Markdown here. Numbers that the prose takes from the build are written out.
"""

import ast
import re
import textwrap
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from pybtex.database import BibliographyData, parse_file

from tools.chapters import code_cells, front_matter

SYMBOLS = {"m": "m", "l": "ℓ", "alpha": "α", "o": "o", "s": "s", "p": "p"}
MACROS = {r"\qm": "m", r"\ql": r"\ell", r"\qa": r"\alpha", r"\qo": "o"}
MACROS |= {r"\qs": "s", r"\qp": "p"}
FENCE = re.compile(r"^(`{3,}|:{3,})\{([\w:-]+)\}[ \t]*(.*?)\n(.*?)^\1[ \t]*$", re.M | re.S)
PROSE_BLOCKS = {"note", "tip", "important", "admonition", "warning", "seealso"}
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


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


def plain_markdown(text: str, values: dict, sources: BibliographyData) -> str:
    """`text` in the Markdown that every notebook program shows."""
    text = FENCE.sub(_block, text)
    roles: dict[str, Callable[[str], str]] = {
        "glue:text": partial(_number, values),
        "q": lambda name: SYMBOLS[name],
        "cite:p": lambda keys: f"({_cite(keys, sources)})",
        "cite:t": lambda keys: _cite(keys, sources),
    }
    text = re.sub(
        r"\{([\w:]+)\}`([^`]+)`",
        lambda m: roles[m[1]](m[2]) if m[1] in roles else m[2],
        text,
    )
    text = re.sub(r"^\(([\w-]+)\)=$", r'<a id="\1"></a>', text, flags=re.M)
    text = re.sub(r"\]\((\d\d-[\w-]+|index)\.md", r"](\1.ipynb", text)
    text = re.sub(r"\]\(([\w-]+)\.md", r"](../\1.html", text)
    for macro, plain in MACROS.items():
        text = re.sub(re.escape(macro) + r"(?![a-zA-Z])", plain.replace("\\", r"\\"), text)
    return text


def _number(values: dict, role: str) -> str:
    name, _, form = role.partition(":")
    if name not in values:
        raise ValueError(f"{{glue:text}}`{role}`: nothing named {name!r} was glued")
    try:
        return format(values[name], form) if form else str(values[name])
    except ValueError as error:
        raise ValueError(f"{{glue:text}}`{role}`: {error}: {values[name]!r}") from None


def _cite(keys: str, sources: BibliographyData) -> str:
    return "; ".join(_author_year(key.strip(), sources) for key in keys.split(","))


def _author_year(key: str, sources: BibliographyData) -> str:
    entry = sources.entries[key]
    people = [" ".join(p.last_names) for p in entry.persons.get("author", [])]
    names = " and ".join(people) if len(people) < 3 else f"{people[0]} et al."
    title = re.sub(r"[{}]", "", entry.fields.get("title", key))  # BibTeX's own marks
    return f"{names or title}, {entry.fields.get('year', 'n.d.')}"


def _block(match: re.Match) -> str:
    """An admonition as a quotation; other directives belong to the page alone."""
    kind, title, body = match[2], match[3], match[4]
    if kind not in PROSE_BLOCKS:
        return ""
    body = re.sub(r"\A(?::[\w-]+:.*\n)+", "", body).strip()
    lines = f"**{title.strip() or kind.capitalize()}**\n\n{body}".splitlines()
    return "\n".join(f"> {line}".rstrip() for line in lines)


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
                raise SystemExit(
                    f"The library is missing. Put {{beside}} next to this notebook: "
                    "it is in the .zip that the chapter's page offers."
                )
            print("installing the book's library from", source)
            wanted = f"onlinesoftmax[reading] @ {{source}}"
            if beside.exists():
                wanted = f"{{source}}[reading]"
            command = [sys.executable, "-m", "pip", "install", "-q", wanted]
            subprocess.run(command, check=True)

        import onlinesoftmax

        print("onlinesoftmax", onlinesoftmax.__version__)""")


def reader_notebook(
    executed: NotebookNode, source: str, first: str, sources: BibliographyData
) -> NotebookNode:
    """What a reader downloads of the chapter `executed`, whose text is `source`."""
    values = glued(executed)
    cells = [nbformat.v4.new_code_cell(first, id="install")]
    for cell in executed.cells:
        if cell.cell_type == "markdown":
            text = plain_markdown(cell.source, values, sources)
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
    learn = "\n".join(f"- {item}" for item in front.get("learn", []))
    text = f"*{front.get('description', '')}*\n\nYou will learn\n\n{learn}".strip()
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


def bibliography(file: Path) -> BibliographyData:
    """The sources that the chapters cite; none, where there is no such file."""
    return parse_file(str(file)) if file.exists() else BibliographyData()
