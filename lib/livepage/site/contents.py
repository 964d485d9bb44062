"""Reads the table of contents: from `_toc.yml`, or from the toctrees of the first page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

from livepage.road import Part


def parts(env: BuildEnvironment) -> list[Part]:
    """Return the parts of the book, each with its pages, in order."""
    if site_map := getattr(env, "external_site_map", None):
        subtrees = site_map.root.subtrees
        return [Part(tree.caption, list(map(str, tree.items))) for tree in subtrees]
    root = env.get_doctree(env.config.root_doc)
    return [
        Part(tree["caption"], list(tree["includefiles"]))
        for tree in root.findall(addnodes.toctree)
    ]


def meta(env: BuildEnvironment) -> dict[str, Any]:
    """Return the `meta` entry of `_toc.yml`: planned chapters, and parts off the road."""
    site_map = getattr(env, "external_site_map", None)
    return site_map.meta if site_map else {}


def hide(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Remove toctrees from a page: the theme lists the pages beside every page."""
    for tree in list(doctree.findall(addnodes.toctree)):
        tree.parent.remove(tree)


def locate(app: Sphinx, config: Config) -> None:
    """Make the path of `_toc.yml` absolute, unless it is right as it is.

    Jupyter Book takes a relative `--toc` from the folder it is called in, and then looks
    for it in the folder of the sources.
    """
    if "external_toc_path" not in config:
        return
    given = Path(config.external_toc_path)
    if not (Path(app.srcdir) / given).exists() and given.exists():
        config.external_toc_path = str(given.resolve())


def setup(app: Sphinx) -> None:
    """Run before the table of contents is read, and before a page is written."""
    app.connect("config-inited", locate, priority=100)
    app.connect("doctree-resolved", hide)
