"""The head of a page: its heading, what its front matter says, how long it takes."""

from __future__ import annotations

import json
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ThemeError

from livepage import markup
from livepage.translations import unsigned
from livepage.words import table

from . import hosts, road, sittings, times
from .maths import typeset

_HEADING = re.compile(r"\A(.*?)<h1[^>]*>(.*?)</h1>\s*", re.DOTALL)
_PERMALINK = re.compile(r'<a class="headerlink".*?</a>')
_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w)")


def split_heading(pagename: str, body: str) -> tuple[str, str, str]:
    """What precedes the page's h1, what the h1 holds, and what follows it."""
    found = _HEADING.match(body)
    if found is None:
        raise ThemeError(f"{pagename}: a page needs a heading of the first level")
    return found[1], _PERMALINK.sub("", found[2]).strip(), body[found.end() :]


def front_list(meta: dict[str, Any], key: str) -> list[str]:
    """A list of the front matter, which reaches us as JSON."""
    value = meta.get(key) or []
    return json.loads(value) if isinstance(value, str) else value


def moved(app: Sphinx, pagename: str) -> str:
    """Pages that took over a part of this one, each with the names of its anchors."""
    given = app.env.metadata.get(pagename, {}).get("moved", "")
    pages = json.loads(given) if isinstance(given, str) and given else given or {}
    uri = app.builder.get_relative_uri
    named = {uri(pagename, page): names for page, names in pages.items()}
    return json.dumps(named) if named else ""


def inline(line: str, language: str) -> str:
    """HTML of a line of front matter."""
    text, attributes = unsigned(line, language)
    return markup.inline(_APOSTROPHE.sub("’", text), typeset, attributes)


def on_this_page(app: Sphinx, pagename: str) -> str:
    """The page's own headings below its title, as a list of links; may be empty."""
    outline = app.env.tocs.get(pagename)
    if outline is None or not outline.children or len(outline[0].children) < 2:
        return ""
    below = outline[0][1].deepcopy()
    for reference in below.findall(nodes.reference):
        reference["refuri"] = reference["anchorname"] or "#"
    return app.builder.render_partial(below)["fragment"]


def head(app: Sphinx, pagename: str, body: str) -> dict[str, Any]:
    """All that the template says before the text, and the text without its heading."""
    before, heading, rest = split_heading(pagename, body)
    meta = app.env.metadata.get(pagename, {})
    description = meta.get("description", "")
    language = app.config.language
    words = table("site", language)
    return {
        "opening": before,
        "heading": heading,
        "body": rest,
        "number": road.number(app.env, pagename),
        "times": [
            *times.of(app.env, pagename).said(words),
            *sittings.said(app.env, pagename, words),
        ],
        "description": unsigned(description, language)[0],
        "lede": inline(description, language),
        "learn": [inline(line, language) for line in front_list(meta, "learn")],
        "need": [inline(line, language) for line in front_list(meta, "need")],
        "local_toc": on_this_page(app, pagename),
        "moved": moved(app, pagename),
        "progress": hosts.progress(
            body, language, road.all_drills(app, pagename), pagename
        ),
    }
