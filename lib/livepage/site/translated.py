"""Pages in a second language: they keep the anchors and the times of the first.

A reader's place and progress are kept under the anchors of sections, so a section has the
same anchor in each language. Parts of a chapter end at the same drills, so the minutes
are those of the original. What is not translated is marked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.writers.html5 import HTML5Translator

from livepage.translations import UNTRANSLATED, in_english, regrouped
from livepage.words import table

NO_PROSE = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)
NUMBERED = re.compile(r"id\d+")  # what docutils counts: here it may be a citation's
UNDATED = "n.d."  # as citations have it
_originals: list[BuildEnvironment] = []


class untranslated(nodes.inline):
    """Words of a page that are still in the language of the original."""


@contextmanager
def translating(original: BuildEnvironment) -> Iterator[None]:
    """Let the pages that are read meanwhile follow those of the original."""
    _originals.append(original)
    try:
        yield
    finally:
        _originals.pop()


def keep_anchors(app: Sphinx, doctree: nodes.document) -> None:
    """Give each section the anchors that it has in the original."""
    page = app.env.docname
    if not _originals or page not in _originals[-1].found_docs:
        return
    ours = list(doctree.findall(nodes.section))
    theirs = list(_originals[-1].get_doctree(page).findall(nodes.section))
    if len(ours) != len(theirs):
        count = f"{len(ours)} sections, and the original {len(theirs)}"
        raise ExtensionError(f"{page}: the translation has {count}")
    for section, original in zip(ours, theirs):
        named = [one for one in original["ids"] if not NUMBERED.fullmatch(one)]
        section["ids"] = named or list(original["ids"])
        doctree.ids.update(dict.fromkeys(section["ids"], section))


def mark_untranslated(app: Sphinx, doctree: nodes.document) -> None:
    """Set apart what stands behind the sign of a text without a translation."""
    front = {
        id(text) for field in doctree.findall(nodes.field) for text in field.findall()
    }
    for text in list(doctree.findall(nodes.Text)):
        if not text.startswith(UNTRANSLATED) or id(text) in front:
            continue  # of front matter the head of the page takes care
        holder = text.parent
        holder.replace(text, nodes.Text(text.removeprefix(UNTRANSLATED)))
        children = holder.children
        holder.children = []
        holder += untranslated("", "", *children)


def reword(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Write what comes from elsewhere as the language does.

    That is numbers that a cell hands to the prose, and sources without a year.
    """
    if not _originals:
        return
    undated = table("site", app.config.language)["undated"]
    for text in list(doctree.findall(nodes.Text)):
        new = regrouped(text).replace(UNDATED, undated)
        if new != text and not isinstance(text.parent, NO_PROSE):
            text.parent.replace(text, nodes.Text(new))


def keep_times(app: Sphinx, doctree: nodes.document) -> None:
    """Take over the minutes of the original, and what it says may be left out."""
    page = app.env.docname
    if not _originals or page not in _originals[-1].found_docs:
        return
    about, original = app.env.metadata[page], _originals[-1].metadata[page]
    about["stretches"] = [
        one._replace(title=ours.title)
        for one, ours in zip(original["stretches"], about["stretches"], strict=True)
    ]


def visit_untranslated(self: HTML5Translator, node: untranslated) -> None:
    """Name the language, and let the style sheet write the mark."""
    self.body.append(f"<span {in_english(self.config.language)}>")


def depart_untranslated(self: HTML5Translator, node: untranslated) -> None:
    """End the words."""
    self.body.append("</span>")


def setup(app: Sphinx) -> None:
    """Change a page before others have looked at it, its times afterwards."""
    app.add_node(untranslated, html=(visit_untranslated, depart_untranslated))
    app.connect("doctree-read", mark_untranslated, priority=100)
    app.connect("doctree-read", keep_anchors, priority=100)
    app.connect("doctree-read", keep_times, priority=900)
    app.connect("doctree-resolved", reword, priority=100)
