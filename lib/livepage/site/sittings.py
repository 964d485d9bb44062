"""The sittings of a chapter on its page, on the road, and where the reader goes on.

The line at the end of a sitting and the marks stand in the page without a script. The
script `drills/page/sittings.mjs` says of each mark whether its part is done or begun.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.writers.html5 import HTML5Translator

from livepage import modules
from livepage.sittings import Sitting, sittings
from livepage.words import table

from . import hosts, times


class place_to_stop(nodes.General, nodes.Element):
    """The end of a sitting in a page."""


_divided = cache(sittings)  # every page asks for all chapters


def of(env: BuildEnvironment, page: str) -> list[Sitting]:
    """The sittings of a chapter; none on other pages."""
    is_chapter = env.metadata.get(page, {}).get("line")
    return _divided(tuple(times.stretches_of(env, page))) if is_chapter else []


def counts(env: BuildEnvironment) -> dict[str, int]:
    """How many sittings each chapter has: all that other pages show of them."""
    return {page: len(found) for page in sorted(env.titles) if (found := of(env, page))}


def script(env: BuildEnvironment) -> str:
    """The classic script that gives the sections and drills of each sitting."""
    data = {
        page: [[one.sections, one.drills] for one in of(env, page)]
        for page in counts(env)
    }
    return f"globalThis.bookSittings={modules.to_json(data)};\n"


def marks(page: str, count: int, words: Mapping[str, str]) -> str:
    """A mark for each sitting of a chapter; empty without sittings."""
    if not count:
        return ""
    return (
        f'<span class="parts" data-page="{escape(page)}" role="img"'
        f' aria-label="{escape(counted(count, words))}">{"<i></i>" * count}</span>'
    )


def counted(count: int, words: Mapping[str, str]) -> str:
    """The number of sittings in words."""
    return words["parts_one" if count == 1 else "parts"].format(parts=count)


def said(env: BuildEnvironment, page: str, words: Mapping[str, str]) -> list[str]:
    """How many sittings a page has, for its head: nothing of fewer than two."""
    count = len(of(env, page))
    return [counted(count, words)] if count > 1 else []


def about(sitting: Sitting, words: Mapping[str, str]) -> str:
    """How long a sitting takes, in words, and whether it may be left out."""
    key = "about_optional" if sitting.optional else "about"
    return words[key].format(minutes=times.rounded(sitting.minutes))


def listed(
    env: BuildEnvironment, page: str, href: str, words: Mapping[str, str]
) -> str:
    """The sittings of a chapter, folded: each a link to where it begins."""
    found = of(env, page)
    if not found:
        return ""
    rows = "".join(
        f'<li><a href="{escape(address(href, place, one))}">{escape(one.title)}</a>'
        f' <span class="map-minutes">{escape(about(one, words))}</span></li>'
        for place, one in enumerate(found)
    )
    return (
        f'<details class="fold map-parts"><summary>{marks(page, len(found), words)} '
        f"{escape(counted(len(found), words))}</summary><ol>{rows}</ol></details>"
    )


def address(href: str, place: int, sitting: Sitting) -> str:
    """Where a sitting begins; the first one begins with its page."""
    return f"{href}#{sitting.anchor}" if place else href


def begin(app: Sphinx, pagename: str, first: Mapping[str, Any]) -> dict[str, str]:
    """A link to the first sitting of a book's first chapter."""
    words = table("site", app.config.language)
    [one, *_] = of(app.env, first["name"])
    at = {"number": first["number"], "part": 1, "title": one.title}
    text = words["part_at"].format(**at, about=about(one, words))
    return {"href": first["href"], "text": text}


def mark(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put a place to stop at the end of each sitting of a page."""
    found = of(app.env, page)
    for part, (one, following) in enumerate(zip(found, [*found[1:], None]), 1):
        end = _end(doctree, one)
        if end is not None:
            place = place_to_stop(
                "", page=page, part=part, parts=len(found), following=following
            )
            parent, index = end
            parent.insert(index, place)


def _end(doctree: nodes.document, sitting: Sitting) -> tuple[nodes.Element, int] | None:
    """Where a sitting ends: after a section, or after a drill within one."""
    last = [each for each in sitting.stretches if each.stops][-1]
    for section in doctree.findall(nodes.section):
        if last.section in section["ids"]:
            return section, len(section)
        for index, part in enumerate(section.children):
            if not last.section and last.drills[-1] in _drills(part):
                return section, index + 1
    return None


def _drills(part: nodes.Node) -> list[str]:
    if isinstance(part, nodes.section):
        return []
    found = part.findall(nodes.raw)
    return [name for node in found for name in hosts.drills_on(node.astext())]


def visit_place_to_stop(self: HTML5Translator, node: place_to_stop) -> None:
    """Say which part ends, and what comes next."""
    words = table("site", self.config.language)
    page, part, parts = node["page"], node["part"], node["parts"]
    key = "stop_next" if part < parts else "stop_last" if parts > 1 else "stop_whole"
    # The script says here how far the reader has come with the drills.
    slots = {"part": part, "parts": parts, "said": '<span class="stop-said"></span>'}
    if following := node["following"]:
        title = escape(following.title)
        slots["title"] = f'<a href="#{escape(following.anchor)}">{title}</a>'
        slots["about"] = escape(about(following, words))
    said = words[key].format(**slots)
    self.body.append(
        f'<p class="stop" data-page="{escape(page)}" data-part="{part}">'
        f"{marks(page, parts, words)} <strong>{escape(words['stop'])}</strong> {said}</p>\n"
    )
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Mark the end of each sitting before a page is written."""
    app.connect("doctree-resolved", mark)
    app.add_node(place_to_stop, html=(visit_place_to_stop, None))
