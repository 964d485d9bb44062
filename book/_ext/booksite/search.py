"""What search reads: every section of the book, its heading and its words.

The index is a script, not data, because a page opened from a folder may load scripts
and nothing else.
"""

from __future__ import annotations

import json
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from .quantities import QUANTITIES

_QUIET = (
    nodes.raw,
    nodes.comment,
    nodes.system_message,
    nodes.title,
    nodes.math_block,
)
_NO_PROSE = (*_QUIET, nodes.literal_block)
_SIGNS = {
    "cdot": "·",
    "dots": "…",
    "ge": "≥",
    "infty": "∞",
    "le": "≤",
    "ne": "≠",
    "prod": "∏",
    "sum": "∑",
    "times": "×",
}
_SIGNS |= {name: name for name in ("max", "min", "exp", "log")}
_SIGNS |= {one.macro.strip("\\"): one.letter for one in QUANTITIES.values()}
_SIGNS |= {one.tex.strip("\\"): one.letter for one in QUANTITIES.values()}


def readable(tex: str) -> str:
    """A formula as a line of text, near enough to be found and recognised."""
    text = re.sub(r"\\([A-Za-z]+)\s*", lambda found: _SIGNS.get(found[1], ""), tex)
    return re.sub(r"[{}\\]", "", text)


def words(node: nodes.Node, quiet: tuple[type, ...] = _QUIET) -> str:
    """Plain text of a node, without the text of the sections inside it."""
    if isinstance(node, nodes.Text):
        return node.astext()
    if isinstance(node, nodes.math):
        return readable(node.astext())
    bundle = isinstance(node, nodes.Element) and node.get("nb_element") == "mime_bundle"
    if bundle or isinstance(node, (nodes.section, *quiet)):
        return ""
    gap = "" if isinstance(node, nodes.TextElement) else " "
    return gap.join(words(child, quiet) for child in node.children) + gap


def sections(doctree: nodes.document) -> list[dict[str, Any]]:
    """Each section of a page: anchor, heading, text, and how many words are prose."""
    found = []
    for section in doctree.findall(nodes.section):
        heading = section.next_node(nodes.title)
        text = " ".join(words(child) for child in section.children)
        prose = " ".join(words(child, _NO_PROSE) for child in section.children)
        found.append(
            {
                "anchor": section["ids"][0],
                "heading": heading.astext() if heading else "",
                "text": re.sub(r"\s+", " ", text).strip(),
                "words": len(prose.split()),
            }
        )
    return found


def remember(app: Sphinx, doctree: nodes.document) -> None:
    """Keep a page's sections when it is read; unread pages keep theirs."""
    store(app.env)[app.env.docname] = sections(doctree)


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Drop a page that changed or went."""
    store(env).pop(docname, None)


def store(env: BuildEnvironment) -> dict[str, list[dict[str, Any]]]:
    """Page name to sections."""
    if not hasattr(env, "book_sections"):
        env.book_sections = {}
    return env.book_sections


def entries(env: BuildEnvironment) -> list[tuple[str, str, str, str]]:
    """Address, page, heading and text of every section of the book."""
    return [
        (
            f"{page}.html" + ("" if place == 0 else f"#{section['anchor']}"),
            env.titles[page].astext(),
            section["heading"],
            section["text"],
        )
        for page, found in sorted(store(env).items())
        if page in env.titles
        for place, section in enumerate(found)
    ]


def headings(env: BuildEnvironment) -> list[tuple[str, str, str]]:
    """Page, heading and address of every section: search without scripts."""
    return [(page, heading, href) for href, page, heading, _ in entries(env)]


def index(env: BuildEnvironment) -> str:
    """The classic script that hands the index to `search.js`."""
    packed = json.dumps(entries(env), ensure_ascii=False, separators=(",", ":"))
    return f"window.bookIndex={packed};\n"


def setup(app: Sphinx) -> None:
    """Follow every page as it is read."""
    app.connect("doctree-read", remember)
    app.connect("env-purge-doc", forget)
