"""The road as a map: every chapter planned, and which of them can be read already."""

from __future__ import annotations

from html import escape
from itertools import groupby
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from . import strings

BRANCHES = "Branches"


class road_map(nodes.General, nodes.Element):
    """The map's place in a page; its rows are in `rows`."""


class RoadDirective(SphinxDirective):
    """Draws `road.yml`, which lies beside the page."""

    def run(self) -> list[nodes.Node]:
        """Read the rows; the page is written anew when the file changes."""
        file = Path(self.env.srcdir) / "road.yml"
        self.env.note_dependency(str(file))
        rows = yaml.safe_load(file.read_text(encoding="utf-8"))
        return [road_map("", rows=rows)]


def _stop(self: HTML5Translator, row: dict[str, object]) -> str:
    builder = self.builder
    title, line = escape(str(row["title"])), escape(str(row["line"]))
    there = row["file"] in builder.env.found_docs
    if there:
        href = builder.get_relative_uri(builder.current_docname, str(row["file"]))
        name = f'<a class="map-title" href="{escape(href)}">{title}</a>'
    else:
        soon = strings.table(self.config.language)["soon"]
        soon = f'<span class="map-soon">{soon}</span>'
        name = f'<span class="map-title">{title} {soon}</span>'
    return (
        f'<li class="map-stop{" map-there" if there else ""}">'
        f'<span class="map-number">{row["number"]}</span>'
        f'{name}<span class="map-line">{line}</span></li>'
    )


def visit_road_map(self: HTML5Translator, node: road_map) -> None:
    """Write the parts in order, each with its chapters."""
    self.body.append('<div class="map">\n')
    for part, rows in groupby(node["rows"], key=lambda row: row["part"]):
        branch = " map-branch" if part == BRANCHES else ""
        stops = "\n".join(_stop(self, row) for row in rows)
        self.body.append(
            f'<div class="map-part{branch}"><h3 class="map-name">{escape(part)}</h3>\n'
            f'<ol class="map-stops">{stops}</ol></div>\n'
        )
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_node(road_map, html=(visit_road_map, None))
    app.add_directive("road", RoadDirective)
