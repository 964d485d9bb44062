"""The page of all drills: every chapter's, under the chapter's name."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from . import hosts, page


class drill_deck(nodes.General, nodes.Element):
    """The place of the list in a page."""


class DrillsDirective(SphinxDirective):
    """Lists the drills of all chapters that the book has."""

    def run(self) -> list[nodes.Node]:
        """Remember that this is the page; its rows are known once all are read."""
        self.env.metadata[self.env.docname]["deck"] = "yes"
        return [drill_deck("")]


def visit_drill_deck(self: HTML5Translator, node: drill_deck) -> None:
    """Write the list."""
    pagename = self.builder.current_docname
    parts = page.road(self.builder.app, pagename)
    pages = [one for part in parts for one in part["pages"] if one["number"]]
    try:
        self.body.append(hosts.deck(pages, self.config.language))
    except hosts.HostError as error:
        raise ExtensionError(f"{pagename}: {error}") from error
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_node(drill_deck, html=(visit_drill_deck, None))
    app.add_directive("drills", DrillsDirective)
