"""Finds the table of contents where the command line says it is.

Jupyter Book takes a relative `--toc` from the folder it is called in, and then looks
for it in the folder of the sources.
"""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config


def locate(app: Sphinx, config: Config) -> None:
    """Make the path absolute, unless it is right as it is."""
    given = Path(config.external_toc_path)
    if not (Path(app.srcdir) / given).exists() and given.exists():
        config.external_toc_path = str(given.resolve())


def setup(app: Sphinx) -> None:
    """Run before the table of contents is read."""
    app.connect("config-inited", locate, priority=100)
