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

# Packages whose modules lean on each other: whoever imports one depends on all of it.
WHOLE = {"blocksim", "livepage", "ptxsim"}
# What only the page sees: scripts and styles reach it when it is rendered.
RENDERED = {".mjs", ".js", ".css"}
FOR_THE_SITE = {"site", "vendor"}
BRANCHES = (ast.stmt, ast.excepthandler, ast.match_case)
NAME = re.compile(r"""["']([\w-]+)["']""")
DATA = re.compile(r"[\w./-]*[\w-]\*?\.(?:json|yml|csv)")


@dataclass(frozen=True, eq=False)
class Ours:
    """What is ours below `root`: packages in `lib`, the book's module in `book`.

    One is made for each build: it looks each part up once.
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
        """One word for all that a chapter may depend on, besides its own text."""
        files = (
            _whole(self.lib) | _whole(self.book) | files_in(Path(__file__).parents[1])
        )
        texts = {file for file in files if file.suffix == ".md"}
        return digest([*(files - texts), self.lock], platform.python_version())

    @cache  # noqa: B019  (as the next)
    def has(self, name: str) -> bool:
        """Whether a name of an import is one of ours."""
        top = name.partition(".")[0]
        return (self.lib / top / "__init__.py").exists() or self._own(top).exists()

    @cache  # noqa: B019  (it lives as long as a build)
    def files_of(self, part: str) -> set[Path]:
        """The files of a part, such as `onlinesoftmax.state` or `blocksim`.

        The data that a module names stand beside it: `devices.py` reads
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
        """The file in which each drill is written."""
        folder = self.book / "drills"
        return {id: folder / drill.file for id, drill in bank.read(folder).items()}

    def _own(self, top: str) -> Path:
        return self.book / f"{top}.py"


@cache
def imported(code: str) -> frozenset[str]:
    """The dotted names that `code` imports.

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
    """Every statement, also inside others; expressions import nothing."""
    for part in ast.iter_child_nodes(tree):
        if isinstance(part, BRANCHES):
            yield part
            yield from _statements(part)


def lib_files(code: str, ours: Ours) -> set[Path]:
    """Every file of ours that `code` names or imports, itself or through another."""
    seen = content_files(code, ours)
    parts: set[str] = set()
    waiting = _parts(imported(code), ours) | _imported_parts(seen, ours)
    while waiting:
        parts.add(part := waiting.pop())
        new = ours.files_of(part) - seen
        seen |= new
        waiting |= _imported_parts(new, ours) - parts
    return seen


def content_files(code: str, ours: Ours) -> set[Path]:
    """The figures and the files of drills that `code` names, or a figure it names."""
    found: set[Path] = set()
    names, waiting = set(), set(NAME.findall(code))
    while waiting:
        names.add(name := waiting.pop())
        for file in (figure := _whole(ours.book / "figures" / name)):
            if file.suffix == ".py":
                waiting |= set(NAME.findall(file.read_text("utf-8"))) - names
        found |= figure
    return found | {ours.drills[name] for name in names & set(ours.drills)}


def _imported_parts(files: Iterable[Path], ours: Ours) -> set[str]:
    names = (_imported_by(file) for file in files if file.suffix == ".py")
    return _parts(set().union(*names), ours)


def _imported_by(file: Path) -> frozenset[str]:
    try:
        return imported(file.read_text("utf-8"))
    except SyntaxError as error:
        line = (error.text or "").strip()
        said = f"{file}:{error.lineno}\n    {line}\n  SyntaxError: {error.msg}"
        raise ValueError(said) from None


def _parts(names: Iterable[str], ours: Ours) -> set[str]:
    """The parts of ours that dotted names belong to: modules, folders, packages."""
    return {".".join(name.split(".")[:2]) for name in names if ours.has(name)}


def _whole(folder: Path) -> set[Path]:
    return {
        file
        for file in files_in(folder)
        if file.suffix not in RENDERED
        and not FOR_THE_SITE & set(file.relative_to(folder).parts)
    }


def data_files(code: str, book: Path, files: Iterable[Path] = ()) -> set[Path]:
    """What `code`, or the `files` it uses, name in the folder of data in `book`.

    A name such as `gpu-*.json` is that of every file that begins so.
    """
    texts = [file.read_text("utf-8") for file in files if file.suffix == ".py"]
    named = _named_data(code).union(*map(_named_data, texts))
    return {file for name in named for file in (book / "data").glob(Path(name).name)}


@cache
def _named_data(text: str) -> frozenset[str]:
    return frozenset(DATA.findall(text))


def key(nb: NotebookNode, ours: Ours) -> str:
    """What the outputs of `nb` depend on, as one digest."""
    cells = [[cell.source, cell.metadata.get("tags", [])] for cell in code_cells(nb)]
    code = "\n".join(plain(cell.source) for cell in code_cells(nb))
    files = lib_files(code, ours)
    files |= data_files(code, ours.book, files)
    return digest([*files, ours.lock], json.dumps(cells), platform.python_version())
