"""The book's pages: a Sphinx extension and theme without a stock look.

One builder (`builder`) writes pages from the templates in `theme/`, one translator
(`translator`) turns the document tree into HTML. Maths is typeset here, at build time
(`maths`), figures and drills are drawn here (`hosts`), and what every page shares is
gathered here: one stylesheet (`stylesheet`), the letters the book uses (`fonts`), and
the index that search reads (`search`).
"""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

from . import fingerprint, maths, page, quantities, search
from .builder import BookBuilder
from .translator import BookTranslator, register_nodes

THEME = Path(__file__).parent / "theme"


def setup(app: Sphinx) -> dict[str, object]:
    """Register the builder, the translator, the theme and the book's settings."""
    app.add_config_value("book_notebooks", False, "html", bool)
    app.add_config_value("book_notebook_branch", "gh-pages", "html", str)
    app.add_config_value("book_translations", [], "html", list)
    app.add_html_theme("rescaling", str(THEME))
    app.add_builder(BookBuilder, override=True)
    app.set_translator("html", BookTranslator, override=True)
    register_nodes(app)
    for part in (fingerprint, maths, quantities, search, page):
        part.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": False}
