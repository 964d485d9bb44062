"""The page of all drills: every chapter's, under the chapter's name, in its order."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from . import hosts, page, road


class drill_deck(nodes.General, nodes.Element):
    """The place of the list in a page."""


class DrillsDirective(SphinxDirective):
    """Lists the drills of all chapters that the book has."""

    def run(self) -> list[nodes.Node]:
        """Mark the page; its rows are known once all pages are read."""
        self.env.metadata[self.env.docname]["deck"] = "yes"
        return [drill_deck("")]


def remember(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the drills of a page as it is read."""
    cells = (node.astext() for node in doctree.findall(nodes.raw))
    found = [name for html in cells for name in hosts.drills_on(html)]
    app.env.metadata[app.env.docname]["drills"] = found


def refresh(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Write the list anew, whichever page changed."""
    return [name for name, meta in env.metadata.items() if "deck" in meta]


def chapters(app: Sphinx, pagename: str) -> list[dict[str, Any]]:
    """Every chapter the book has, seen from a page, with its drills."""
    names = [stop.file for stop in road.chapters(app.env) if stop.file]
    return [
        {**page.page_link(app, pagename, name), "drills": meta["drills"]}
        for name in names
        if "drills" in (meta := app.env.metadata[name])
    ]


def visit_drill_deck(self: HTML5Translator, node: drill_deck) -> None:
    """Write the list."""
    pagename = self.builder.current_docname
    try:
        pages = chapters(self.builder.app, pagename)
        self.body.append(hosts.deck(pages, self.config.language))
    except hosts.HostError as error:
        raise ExtensionError(f"{pagename}: {error}") from error
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the directive; follow every page as it is read."""
    app.connect("doctree-read", remember)
    app.connect("env-updated", refresh)
    app.add_node(drill_deck, html=(visit_drill_deck, None))
    app.add_directive("drills", DrillsDirective)
