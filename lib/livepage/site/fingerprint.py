"""A page must never show yesterday's figure: what pages are made with is fingerprinted.

Sphinx re-reads a page when its source changes. Our pages also depend on the kit, and
on the book's figures and drills. Their fingerprint is a configuration value, so Sphinx
re-reads everything when any of them changes.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

from livepage import book

from .paths import EXTENSION


def ingredients() -> list[Path]:
    """Every file that pages are made with, besides their sources, in a fixed order."""
    roots = [EXTENSION.parent, book.current().figures, book.current().drills]
    files = (file for root in roots for file in root.rglob("*") if file.is_file())
    return sorted(file for file in files if "__pycache__" not in file.parts)


def digest(files: list[Path]) -> str:
    """One hash of many files' names and contents."""
    total = hashlib.sha256()
    for file in files:
        total.update(file.name.encode() + b"\0" + file.read_bytes())
    return total.hexdigest()


def remember(app: Sphinx, config: Config) -> None:
    """Put the fingerprint where Sphinx compares it with the last build's."""
    config.book_fingerprint = digest(ingredients())


def setup(app: Sphinx) -> None:
    """Declare the configuration value; a change of it makes Sphinx read all anew."""
    app.add_config_value("book_fingerprint", "", "env", str)
    app.connect("config-inited", remember)
