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
from livepage.translations import unsigned
from livepage.words import table

from . import contents, sittings, times


class road_map(nodes.General, nodes.Element):
    """The map's place in a page."""


class RoadDirective(SphinxDirective):
    """Draws the road."""

    def run(self) -> list[nodes.Node]:
        """Mark the place: the chapters are known once all pages are read."""
        self.env.metadata[self.env.docname]["road"] = "yes"
        return [road_map("")]


def chapters(env: BuildEnvironment) -> list[Stop]:
    """The chapters of the book in order."""

    def about(page: str) -> tuple[str, str]:
        title = env.titles[page].astext() if page in env.titles else ""
        return title, env.metadata.get(page, {}).get("line", "")

    planned = contents.meta(env).get("planned", [])
    return stops(contents.parts(env), planned, about)


def number(env: BuildEnvironment, page: str) -> str:
    """The number of a chapter; empty for other pages."""
    numbers = {stop.file: str(stop.number) for stop in chapters(env)}
    return numbers.get(page, "")


def _stop(self: HTML5Translator, stop: Stop) -> str:
    title = escape(stop.title)
    line, attributes = unsigned(stop.line, self.config.language)
    number = f'<span class="map-number">{stop.number}</span>'
    line = f'<span class="map-line" {attributes}>{escape(line)}</span>'
    if stop.file:
        return _written(self, stop.file, number, title, line)
    soon = table("site", self.config.language)["soon"]
    soon = f'<span class="map-soon">{soon}</span>'
    title = f'<span class="map-title">{title} {soon}</span>'
    return f'<li class="map-stop">{number}{title}{line}</li>'


def _written(
    self: HTML5Translator, page: str, number: str, title: str, line: str
) -> str:
    """A stop that can be read: its address, how long it takes, what drills it has."""
    builder = self.builder
    href = escape(builder.get_relative_uri(builder.current_docname, page))
    words = table("site", self.config.language)
    took = times.of(builder.env, page).said(words)
    drills = " ".join(builder.env.metadata[page].get("drills", []))
    return (
        f'<li class="map-stop map-there" data-page="{page}" data-drills="{drills}">'
        f'{number}<a class="map-title" href="{href}">{title}</a>{line}'
        f'<span class="map-times">{escape(" · ".join(took))}</span>'
        f"{sittings.listed(builder.env, page, href, words)}</li>"
    )


def visit_road_map(self: HTML5Translator, node: road_map) -> None:
    """Write the parts in order, each with its chapters."""
    self.body.append(f'<div class="map"{_whole(self)}>\n')
    env = self.builder.env
    for part, here in groupby(chapters(env), key=lambda stop: stop.part):
        branches = contents.meta(env).get("branches", [])
        branch = " map-branch" if part in branches else ""
        listed = "\n".join(_stop(self, stop) for stop in here)
        self.body.append(
            f'<div class="map-part{branch}"><h3 class="map-name">{escape(part)}</h3>\n'
            f'<ol class="map-stops">{listed}</ol></div>\n'
        )
    rule = times.rule(table("site", self.config.language))
    self.body.append(f'<p class="map-rule">{escape(rule)}</p></div>\n')
    raise nodes.SkipNode


def _whole(self: HTML5Translator) -> str:
    """Where all drills are listed, as an attribute."""
    builder = self.builder
    href = all_drills(builder.app, builder.current_docname)
    return f' data-whole="{escape(href)}"' if href else ""


def all_drills(app: Sphinx, pagename: str) -> str:
    """Address of the page that lists all drills; empty without one."""
    found = [name for name, meta in app.env.metadata.items() if "deck" in meta]
    return app.builder.get_relative_uri(pagename, found[0]) if found else ""


def refresh(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Write the map anew, whichever page changed: it says how long each takes."""
    return [name for name, meta in env.metadata.items() if "road" in meta]


def setup(app: Sphinx) -> None:
    """Register the directive; draw the map anew with every build."""
    app.connect("env-updated", refresh)
    app.add_node(road_map, html=(visit_road_map, None))
    app.add_directive("road", RoadDirective)
