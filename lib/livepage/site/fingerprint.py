"""A page must never show yesterday's figure: what pages are made with is fingerprinted.

Sphinx re-reads a page when its source changes. Our pages also depend on the kit, on the
book's figures, drills and data, on the code behind those, and on the installed
packages. Their fingerprint is a configuration value, so Sphinx re-reads everything when
any of them changes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import sphinx
from sphinx.application import Sphinx
from sphinx.config import Config

import blocksim
from livepage import book
from livepage.digest import digest, files_in

from .paths import ASSETS, EXTENSION


def ingredients() -> set[Path]:
    """Every file that pages are made with, besides their sources.

    Styles and the site's own scripts are no part of a page: whenever pages are written,
    so are they.
    """
    ours = book.current()
    code = (EXTENSION.parent, Path(blocksim.__file__).parent, *ours.made_with)
    files = files_in(*code, ours.figures, ours.drills, ours.data)
    files |= set(ours.folder.glob("*.py"))
    return {file for file in files if file.suffix != ".css"} - files_in(ASSETS)


def installed() -> list[str]:
    """Python and the packages beside Sphinx, with their versions."""
    beside = Path(sphinx.__file__).parents[1].glob("*.dist-info")
    return [sys.version, *sorted(folder.name for folder in beside)]


def remember(app: Sphinx, config: Config) -> None:
    """Put the fingerprint where Sphinx compares it with the last build's."""
    config.book_fingerprint = digest(ingredients(), *installed())


def setup(app: Sphinx) -> None:
    """Declare the configuration value; a change of it makes Sphinx read all anew."""
    app.add_config_value("book_fingerprint", "", "env", str)
    app.connect("config-inited", remember)
