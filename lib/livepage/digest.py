"""One digest for all inputs of a build product: the names and contents of its files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

IGNORED = {"__pycache__", ".DS_Store"}


def digest(files: Iterable[Path], *texts: str) -> str:
    """Return the digest of files and texts; it does not depend on the files' location."""
    ordered = sorted(set(files))
    root = os.path.commonpath([file.parent for file in ordered]) if ordered else ""
    total = hashlib.sha256()
    for file in ordered:
        stat = file.stat()
        content = _content_digest(file, stat.st_mtime_ns, stat.st_size)
        total.update(f"{file.relative_to(root).as_posix()}\0{content}\0".encode())
    total.update("\0".join(texts).encode())
    return total.hexdigest()


def files_in(*folders: Path) -> set[Path]:
    """Return every file below the folders, except caches of Python and of macOS."""
    return {
        file
        for folder in folders
        for file in folder.rglob("*")
        if file.is_file() and not IGNORED & set(file.parts)
    }


@cache
def _content_digest(file: Path, changed: int, size: int) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
