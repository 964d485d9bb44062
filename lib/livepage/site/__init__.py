"""The book's pages: a Sphinx extension and theme without a stock look.

One builder (`builder`) writes pages from the templates in `theme/`, one translator
(`translator`) turns the document tree into HTML. Maths is typeset here, at build time
(`maths`), figures and drills are drawn here (`hosts`), and what every page shares is
gathered here: one stylesheet (`stylesheet`), the letters the book uses (`fonts`), and
the index that search reads (`search`).
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

from livepage.drills.bank import bank

from . import (
    ahead,
    citations,
    contents,
    deck,
    fingerprint,
    keep,
    label,
    links,
    maths,
    page,
    quantities,
    reference,
    road,
    search,
    sittings,
    times,
    translated,
)
from .builder import BookBuilder
from .translator import BookTranslator, register_nodes

PARTS = (
    citations,
    contents,
    deck,
    fingerprint,
    keep,
    label,
    links,
    maths,
    quantities,
    reference,
    road,
    search,
    sittings,
    times,
    page,
    translated,
    ahead,
)
THEME = Path(__file__).parent / "theme"
# What a book need not say in its configuration: its pages have no other form.
SETTINGS = {
    "html_theme": "livepage",
    "html_math_renderer": "katex",
    "nb_mime_priority_overrides": [("html", "text/html", 0)],
}


def settle(app: Sphinx, config: Config) -> None:
    """Give each setting that the book leaves out the value that its pages need."""
    title = {"html_title": config.project}  # Sphinx would add "documentation"
    for name, value in (SETTINGS | title).items():
        if name not in config.overrides and name not in config._raw_config:
            config[name] = value


def tidy(app: Sphinx, error: Exception | None) -> None:
    """Remove the stylesheet that myst-nb leaves although no page loads it."""
    for stray in Path(app.outdir, "_static").glob("mystnb.*.css"):
        stray.unlink()


def open_book(app: Sphinx) -> None:
    """Import the module that opens the book; it may lie beside `conf.py`."""
    module = app.config.book_module
    if not module:
        expected = "the name of the module that opens the book, in conf.py"
        raise ExtensionError(f"book_module: expected {expected}; got nothing")
    sys.path.append(str(app.confdir))
    try:
        import_module(module)
    finally:
        sys.path.remove(str(app.confdir))


def read_drills(app: Sphinx) -> None:
    """Read all drills before a page runs, so that a fault in a file is told as one."""
    try:
        bank()
    except ValueError as error:
        raise ExtensionError(f"drills/{error}") from error


def setup(app: Sphinx) -> dict[str, object]:
    """Register the builder, the translator, the theme and the book's settings."""
    app.setup_extension("myst_nb")
    app.connect("config-inited", settle, priority=10)
    app.add_config_value("book_module", "", "env", str)
    open_book(app)
    app.add_config_value("book_build", "", "html", str)
    app.add_config_value("book_licence", "", "html", str)
    app.add_config_value("book_notebooks", "", "html", str)
    app.add_config_value("book_handouts", [], "env", list)
    app.add_config_value("book_notebook_branch", "notebooks", "html", str)
    app.add_config_value("book_translations", {}, "html", dict)
    # Jupyter Book sets this for an extension that the book does not use.
    app.add_config_value("comments_config", {}, "")
    app.add_html_theme("livepage", str(THEME))
    app.add_builder(BookBuilder, override=True)
    app.set_translator("html", BookTranslator, override=True)
    register_nodes(app)
    app.connect("builder-inited", read_drills)
    for part in PARTS:
        part.setup(app)
    app.connect("build-finished", tidy, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": False}
