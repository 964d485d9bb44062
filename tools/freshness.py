"""When a chapter has to run again: a key over all that its outputs depend on.

The key covers the code cells, every file of the lib that they import (directly or
through another module), the data files they name, the locked packages and the Python
that runs them. It does not cover the prose.
"""

import ast
import hashlib
import json
import platform
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from nbformat import NotebookNode

from tools.chapters import code_cells

LIB = "onlinesoftmax"
# Scripts and styles reach the page when it is rendered; no kernel sees them.
RENDERED = {".mjs", ".js", ".css"}
DATA = re.compile(r"[\w./-]+\.(?:json|yml|csv)")


@lru_cache(maxsize=None)
def imported(code: str) -> frozenset[str]:
    """The dotted names that `code` imports from the lib.

    >>> sorted(imported("import numpy\\nfrom onlinesoftmax.state import State"))
    ['onlinesoftmax.state', 'onlinesoftmax.state.State']
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(name for name in names if name.split(".")[0] == LIB)


def lib_files(code: str, lib: Path) -> set[Path]:
    """Every file of the lib that `code` reaches, in `lib` (the folder on the path).

    A folder counts whole, but for what only the page uses. A name that is no module,
    such as `from onlinesoftmax import merge`, may come from any module.
    """
    seen: set[Path] = set()
    parts: set[str] = set()
    waiting = _parts(imported(code))
    while waiting:
        parts.add(part := waiting.pop())
        new = _files_of(part, lib) - seen
        seen |= new
        for file in new:
            if file.suffix == ".py":
                waiting |= _parts(imported(file.read_text("utf-8"))) - parts
    return seen


def _parts(names: Iterable[str]) -> set[str]:
    """The parts of the lib that dotted names belong to: its modules and folders."""
    return {".".join(name.split(".")[:2]) for name in names}


def _files_of(part: str, lib: Path) -> set[Path]:
    root = lib / LIB
    first = lib.joinpath(*part.split("."))
    if first == root:
        return {root / "__init__.py"}
    if first.with_suffix(".py").exists():
        return {root / "__init__.py", first.with_suffix(".py")}
    if first.is_dir():
        return {root / "__init__.py", *_whole(first)}
    return set(root.glob("*.py"))


def _whole(folder: Path) -> set[Path]:
    files = {file for file in folder.rglob("*") if file.is_file()}
    return {
        file
        for file in files
        if "__pycache__" not in file.parts and file.suffix not in RENDERED
    }


def data_files(code: str, book: Path, files: Iterable[Path] = ()) -> set[Path]:
    """What `code` or the `files` it uses name in `book`; all drills, where it drills."""
    texts = [file.read_text("utf-8") for file in files if file.suffix == ".py"]
    named = {match for text in (code, *texts) for match in DATA.findall(text)}
    found = {f for name in named for f in book.rglob(Path(name).name) if f.is_file()}
    if f"{LIB}.drills" in imported(code):
        found |= set((book / "drills").glob("*.yml"))
    return found


def key(nb: NotebookNode, book: Path, lib: Path, lock: Path) -> str:
    """What the outputs of `nb` depend on, as one digest."""
    cells = [[cell.source, cell.metadata.get("tags", [])] for cell in code_cells(nb)]
    code = "\n".join(_plain(cell.source) for cell in code_cells(nb))
    files = lib_files(code, lib)
    files |= data_files(code, book, files)
    what = [cells, platform.python_version(), _digests([*files, lock])]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()


def _plain(source: str) -> str:
    """`source` without IPython's own lines, which Python cannot parse."""
    lines = source.splitlines()
    return "\n".join("" if re.match(r"\s*[%!]", line) else line for line in lines)


def _digests(files: Iterable[Path]) -> list[list[str]]:
    return sorted(
        [file.name, hashlib.sha256(file.read_bytes()).hexdigest()] for file in files
    )
