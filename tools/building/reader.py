"""Makes the notebooks that readers download: plain Markdown, without outputs.

Numbers that the build computes for the prose are written out.
"""

import ast
import zipfile
from pathlib import Path
from urllib.parse import urlparse

import nbformat
import yaml
from nbformat import NotebookNode

from livepage.words import ENGLISH
from tools.building import citing
from tools.building.chapters import code_cells, front_matter, pages, road
from tools.building.plain_markdown import Context, plain_markdown

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def read_config(book: Path) -> dict:
    """Return the configuration of the book whose pages are in the folder `book`."""
    return yaml.safe_load((book.parent / "_config.yml").read_text("utf-8"))


def sphinx_config(book: Path) -> dict:
    """Return the part of the configuration that goes to Sphinx."""
    return (read_config(book).get("sphinx") or {}).get("config") or {}


def site(book: Path) -> str | None:
    """Return the address of the published pages; None for an unpublished book."""
    return (read_config(book).get("html") or {}).get("baseurl") or None


def context(book: Path) -> Context:
    """Return the context of the chapters in the folder `book`."""
    toc, settings = book.parent / "_toc.yml", sphinx_config(book)
    chapters = [page.name for page in pages(toc, book) if page.is_chapter]
    return Context(
        bibliography=citing.bibliography(book / "references.bib"),
        notebooks=frozenset([*chapters, *handouts(book)]),
        road=tuple(road(toc, book)),
        site=site(book),
        extensions=extensions(book),
        language=settings.get("language", ENGLISH),
    )


def extensions(book: Path) -> frozenset[str]:
    """Return the extensions of Markdown that the pages use."""
    return frozenset(sphinx_config(book).get("myst_enable_extensions", ()))


def handouts(book: Path) -> list[str]:
    """Return the names of the sources that are notebooks for readers, but no pages."""
    return sphinx_config(book).get("book_handouts", [])


def wheels_at(book: Path) -> str | None:
    """Return the address of the published wheels; None for an unpublished book.

    Wheels are published beside the pages, or on the branch whose notebooks Colab opens.
    """
    config = read_config(book)
    if address := site(book):
        return f"{address.rstrip('/')}/notebooks/"
    repository = urlparse((config.get("repository") or {}).get("url") or "")
    if repository.netloc != "github.com":
        return None
    branch = config["sphinx"]["config"]["book_notebook_branch"]
    path = f"{repository.path.rstrip('/')}/{branch}/notebooks/"
    return f"https://raw.githubusercontent.com{path}"


def glued(nb: NotebookNode) -> dict[str, object]:
    """Return the values that an executed notebook glued, by name."""
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


def without_glue(source: str) -> str:
    """Return `source` without the lines that glue numbers for the prose.

    >>> without_glue("x = 1\\nfrom rescaling import glue\\nglue('x', x)")
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
        return [alias.name for alias in node.names] == ["glue"]
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") == "glue"


FIRST_CELL = """\
# The book's own packages: used if they are here, installed if they are not.
import importlib.metadata, importlib.util, os, pathlib, subprocess, sys

VERSION, WHEELS = {version!r}, [{listed}
]
here = [one.version for one in importlib.metadata.distributions(name="rescaling")]
if importlib.util.find_spec("rescaling") is None or here[:1] not in ([], [VERSION]):
    beside, site = pathlib.Path(WHEELS[0]).exists(), {elsewhere}
    if not beside and site is None:
        raise ModuleNotFoundError(
            "The book's packages are missing. Put the .whl files next to this "
            "notebook: they are in the .zip of its name, published beside it."
        )
    print("installing the book's packages from", "here" if beside else site)
    folder = str(pathlib.Path.cwd()) + "/" if beside else site
    loads_widgets = "google.colab" in sys.modules or "VSCODE_PID" in os.environ
    was_there = importlib.util.find_spec("anywidget")
    command = [sys.executable, "-m", "pip", "install", "-q"]
    done = subprocess.run(
        command + [folder + wheel for wheel in WHEELS], capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(
            "pip could not install the book's packages, or what they need (numpy, "
            "matplotlib, numba, anywidget …). Is there a network? It said:\\n"
            + done.stderr
        )
    importlib.invalidate_caches()
    if not (loads_widgets or was_there):
        print(
            "Installed. Now reload this page in your browser and run all cells again: "
            "a page that was open before cannot show a figure that moves."
        )

import rescaling

print("rescaling", rescaling.__version__)"""


def install_cell(wheels: list[str], site: str | None) -> str:
    """Return the first cell, which installs the book's packages where they are missing.

    The wheels are beside the notebook, or else at the address `site`.
    """
    listed = "".join(f"\n    {wheel!r}," for wheel in wheels)
    # The name of the book's wheel holds its version.
    own = next(name for name in wheels if "rescaling-" in name)
    version = Path(own).stem.split("-")[1]
    return FIRST_CELL.format(version=version, listed=listed, elsewhere=repr(site))


def reader_notebook(
    executed: NotebookNode, source: str, first: str, book: Context
) -> NotebookNode:
    """Return what a reader downloads of the chapter `executed`, whose text is `source`."""
    values = glued(executed)
    folded = {"jupyter": {"source_hidden": True}}
    cells = [nbformat.v4.new_code_cell(first, id="install", metadata=folded)]
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
    tags = set(cell.metadata.get("tags", []))
    folded = {
        "source_hidden": bool({"remove-input", "hide-input", "remove-cell"} & tags),
        "outputs_hidden": "hide-output" in tags,
    }
    if any(folded.values()):
        new.metadata["jupyter"] = {
            part: True for part, hidden in folded.items() if hidden
        }
    return new


def _lede(front: dict) -> NotebookNode:
    text = f"*{front.get('description', '')}*"
    if learn := "\n".join(f"- {item}" for item in front.get("learn", [])):
        text += f"\n\nYou will learn\n\n{learn}"
    return nbformat.v4.new_markdown_cell(text, id="lede")


def write(nb: NotebookNode, wheels: list[Path], file: Path, packed: Path) -> None:
    """Write the notebook, and the notebook with the wheels beside it as one archive."""
    nbformat.write(nb, file)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in (file, *wheels):
            info = zipfile.ZipInfo(member.name, date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, member.read_bytes())
