"""When a chapter has to run again: a key over all that its outputs depend on.

The key covers the code cells, every file of the lib that they import (directly or
through another module), the figures, drills and data files they name, the locked
packages and the Python that runs them. It does not cover the prose.
"""

import ast
import json
import platform
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from nbformat import NotebookNode

from livepage.digest import digest, files_in
from livepage.drills import bank
from tools.building.chapters import code_cells, plain

# Packages whose modules import each other: what imports one depends on all of it.
WHOLE = {"blocksim", "livepage", "ptxsim"}
# Only the page uses these: scripts and styles are added when it is rendered.
RENDERED = {".mjs", ".js", ".css"}
TEXTS = {".md", ".po"}  # no cell depends on them
FOR_THE_SITE = {"site", "vendor"}
BRANCHES = (ast.stmt, ast.excepthandler, ast.match_case)
NAME = re.compile(r"""["']([\w-]+)["']""")
DATA = re.compile(r"[\w./-]*[\w-]\*?\.(?:json|yml|csv)")


@dataclass(frozen=True, eq=False)
class Sources:
    """The book's own code below `root`: packages in `lib`, modules in `book`.

    Each build creates one, which caches every look-up.
    """

    root: Path

    @property
    def lib(self) -> Path:
        return self.root / "lib"

    @property
    def book(self) -> Path:
        return self.root / "book"

    @property
    def lock(self) -> Path:
        return self.root / "requirements.txt"

    @cached_property
    def version(self) -> str:
        """The digest of all that a chapter may depend on, besides its own text."""
        files = _whole(self.lib) | _whole(self.book)
        files |= files_in(Path(__file__).parents[1])
        texts = {file for file in files if file.suffix in TEXTS}
        return digest([*(files - texts), self.lock], platform.python_version())

    @cache  # noqa: B019  (as the next)
    def has(self, name: str) -> bool:
        """Return whether an imported name belongs to the book."""
        top = name.partition(".")[0]
        return (self.lib / top / "__init__.py").exists() or self._own(top).exists()

    @cache  # noqa: B019  (it lives as long as a build)
    def files_of(self, part: str) -> set[Path]:
        """Return the files of a part, such as `onlinesoftmax.state` or `blocksim`.

        The data that a module names are in its folder: `devices.py` reads
        `devices.json`. A name that is no module, such as `merge` in
        `onlinesoftmax.merge`, may come from any module of its package.
        """
        top, _, inner = part.partition(".")
        if self._own(top).exists():
            return {self._own(top)}
        root = self.lib / top
        if top in WHOLE:
            return _whole(root)
        first = {root / "__init__.py"}
        module = root / f"{inner}.py"
        if not inner:
            return first
        if module.exists():
            named = (root / name for name in _named_data(module.read_text("utf-8")))
            return first | {module} | {file for file in named if file.exists()}
        if (root / inner).is_dir():
            return first | _whole(root / inner)
        return {file for file in root.glob("*.*") if file.is_file()}

    @cached_property
    def drills(self) -> dict[str, Path]:
        """Maps the id of each drill to the file that defines it."""
        folder = self.book / "drills"
        return {id: folder / drill.file for id, drill in bank.read(folder).items()}

    def _own(self, top: str) -> Path:
        return self.book / f"{top}.py"


@cache
def imported(code: str) -> frozenset[str]:
    """Return the dotted names that `code` imports.

    >>> sorted(imported("import numpy\\nfrom onlinesoftmax.state import State"))
    ['numpy', 'onlinesoftmax.state', 'onlinesoftmax.state.State']
    """
    names: set[str] = set()
    for node in _statements(ast.parse(code)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(names)


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield every statement, nested ones too; expressions import nothing."""
    for part in ast.iter_child_nodes(tree):
        if isinstance(part, BRANCHES):
            yield part
            yield from _statements(part)


def lib_files(code: str, sources: Sources) -> set[Path]:
    """Return every file of ours that `code` names or imports, directly or indirectly."""
    files = content_files(code, sources)
    parts: set[str] = set()
    queue = _parts(imported(code), sources) | _imported_parts(files, sources)
    while queue:
        parts.add(part := queue.pop())
        new = sources.files_of(part) - files
        files |= new
        queue |= _imported_parts(new, sources) - parts
    return files


def content_files(code: str, sources: Sources) -> set[Path]:
    """Return the files of the figures and drills that `code`, or such a figure, names."""
    files: set[Path] = set()
    names, queue = set(), set(NAME.findall(code))
    while queue:
        names.add(name := queue.pop())
        for file in (figure := _whole(sources.book / "figures" / name)):
            if file.suffix == ".py":
                queue |= set(NAME.findall(file.read_text("utf-8"))) - names
        files |= figure
    return files | {sources.drills[name] for name in names & set(sources.drills)}


def _imported_parts(files: Iterable[Path], sources: Sources) -> set[str]:
    names = (_imported_by(file) for file in files if file.suffix == ".py")
    return _parts(set().union(*names), sources)


def _imported_by(file: Path) -> frozenset[str]:
    try:
        return imported(file.read_text("utf-8"))
    except SyntaxError as error:
        line = (error.text or "").strip()
        message = f"{file}:{error.lineno}\n    {line}\n  SyntaxError: {error.msg}"
        raise ValueError(message) from None


def _parts(names: Iterable[str], sources: Sources) -> set[str]:
    """Return the parts that dotted names belong to: modules, folders, packages."""
    return {".".join(name.split(".")[:2]) for name in names if sources.has(name)}


def _whole(folder: Path) -> set[Path]:
    return {
        file
        for file in files_in(folder)
        if file.suffix not in RENDERED
        and not FOR_THE_SITE & set(file.relative_to(folder).parts)
    }


def data_files(code: str, book: Path, files: Iterable[Path] = ()) -> set[Path]:
    """Return the files of `book/data` that `code`, or the `files` it uses, name.

    A name may be a pattern, such as `gpu-*.json`.
    """
    texts = [file.read_text("utf-8") for file in files if file.suffix == ".py"]
    named = _named_data(code).union(*map(_named_data, texts))
    return {file for name in named for file in (book / "data").glob(Path(name).name)}


@cache
def _named_data(text: str) -> frozenset[str]:
    return frozenset(DATA.findall(text))


def key(nb: NotebookNode, sources: Sources) -> str:
    """Return the digest of all that the outputs of `nb` depend on."""
    cells = [[cell.source, cell.metadata.get("tags", [])] for cell in code_cells(nb)]
    code = "\n".join(plain(cell.source) for cell in code_cells(nb))
    files = lib_files(code, sources)
    files |= data_files(code, sources.book, files)
    return digest([*files, sources.lock], json.dumps(cells), platform.python_version())
