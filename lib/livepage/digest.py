"""What something depends on, as one word: the names and the contents of its files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

NEVER = {"__pycache__", ".DS_Store"}


def digest(files: Iterable[Path], *also: str) -> str:
    """Return one word for files and texts; where the files lie does not matter."""
    found = sorted(set(files))
    root = os.path.commonpath([file.parent for file in found]) if found else ""
    total = hashlib.sha256()
    for file in found:
        stat = file.stat()
        content = _content(file, stat.st_mtime_ns, stat.st_size)
        total.update(f"{file.relative_to(root).as_posix()}\0{content}\0".encode())
    total.update("\0".join(also).encode())
    return total.hexdigest()


def files_in(*folders: Path) -> set[Path]:
    """Return every file below the folders that is not a tool's own."""
    return {
        file
        for folder in folders
        for file in folder.rglob("*")
        if file.is_file() and not NEVER & set(file.parts)
    }


@cache
def _content(file: Path, changed: int, size: int) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
