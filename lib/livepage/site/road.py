"""The road: the chapters' numbers, and a map of those written and those planned."""

from __future__ import annotations

from html import escape
from itertools import groupby

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from livepage.road import Stop, stops
from livepage.words import table


class road_map(nodes.General, nodes.Element):
    """The map's place in a page."""


class RoadDirective(SphinxDirective):
    """Draws the road; `page.refresh` sees to it that the map is up to date."""

    def run(self) -> list[nodes.Node]:
        """Mark the place: the chapters are known once all pages are read."""
        return [road_map("")]


def chapters(env: BuildEnvironment) -> list[Stop]:
    """The chapters of the book in order."""

    def about(page: str) -> tuple[str, str]:
        title = env.titles[page].astext() if page in env.titles else ""
        return title, env.metadata.get(page, {}).get("line", "")

    return stops(env.external_site_map, about)


def number(env: BuildEnvironment, page: str) -> str:
    """The number of a chapter; empty for other pages."""
    numbers = {stop.file: str(stop.number) for stop in chapters(env)}
    return numbers.get(page, "")


def _stop(self: HTML5Translator, stop: Stop) -> str:
    builder = self.builder
    title, line = escape(stop.title), escape(stop.line)
    if stop.file:
        href = builder.get_relative_uri(builder.current_docname, stop.file)
        name = f'<a class="map-title" href="{escape(href)}">{title}</a>'
    else:
        soon = table("site", self.config.language)["soon"]
        soon = f'<span class="map-soon">{soon}</span>'
        name = f'<span class="map-title">{title} {soon}</span>'
    return (
        f'<li class="map-stop{" map-there" if stop.file else ""}">'
        f'<span class="map-number">{stop.number}</span>'
        f'{name}<span class="map-line">{line}</span></li>'
    )


def visit_road_map(self: HTML5Translator, node: road_map) -> None:
    """Write the parts in order, each with its chapters."""
    self.body.append('<div class="map">\n')
    env = self.builder.env
    for part, here in groupby(chapters(env), key=lambda stop: stop.part):
        branches = env.external_site_map.meta.get("branches", [])
        branch = " map-branch" if part in branches else ""
        listed = "\n".join(_stop(self, stop) for stop in here)
        self.body.append(
            f'<div class="map-part{branch}"><h3 class="map-name">{escape(part)}</h3>\n'
            f'<ol class="map-stops">{listed}</ol></div>\n'
        )
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_node(road_map, html=(visit_road_map, None))
    app.add_directive("road", RoadDirective)
