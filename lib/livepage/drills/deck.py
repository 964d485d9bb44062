"""All drills of the book on one page: those due today, then all by chapter.

The HTML is a plain list: each prompt, a link to its chapter, and its folded solution. The
script turns each prompt into a button that opens the drill in place. The drill itself is
fetched then, as one small script, so the page stays light.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from livepage import markup
from livepage.drills.bank import find
from livepage.drills.forms import Card
from livepage.drills.words import word


class Chapter(NamedTuple):
    """A chapter with the ids of its drills, in reading order."""

    number: int
    title: str
    href: str
    drills: Sequence[str]


def deck_html(
    chapters: Sequence[Chapter],
    lang: str = "en",
    maths: markup.Maths = markup.plain_maths,
) -> str:
    """Return the list of the drills of all chapters.

    Parameters
    ----------
    chapters : sequence of Chapter
        In reading order. Chapters without drills are omitted.
    lang : str
        The page's language.
    maths : callable
        As for ``page_html``.
    """
    with_drills = [chapter for chapter in chapters if chapter.drills]
    total = sum(len(chapter.drills) for chapter in with_drills)
    groups = "\n".join(_group(chapter, lang, maths) for chapter in with_drills)
    return f"""\
<div class="os-deck">
<section class="os-deck-today" aria-labelledby="due-today" hidden>
<h2 id="due-today">{escape(word("dueToday", lang))}</h2>
<p class="os-deck-said" role="status"></p>
<ul class="os-deck-rows"></ul>
</section>
<section class="os-deck-all" aria-labelledby="all-drills">
<h2 id="all-drills">{escape(word("allDrills", lang))}</h2>
<p class="os-deck-total">{_count(total, lang)}</p>
<ul>
{"".join(_line(chapter, lang) for chapter in with_drills)}</ul>
</section>
{groups}
</div>
"""


def card_script(id: str, section: str) -> str:
    """Return a classic script that gives the HTML of a drill to the page of all drills."""
    card = json.dumps(section, ensure_ascii=False)
    return (
        "globalThis.livepageCards ??= {};\n"
        f"globalThis.livepageCards[{json.dumps(id)}] = {card};\n"
    )


def _line(chapter: Chapter, lang: str) -> str:
    """Return a chapter's line in the overview: number, title and count."""
    return (
        f'<li class="os-deck-line" data-chapter="{chapter.number}">'
        f'<span class="os-deck-number">{chapter.number}</span>'
        f'<a href="#drills-{chapter.number}">{escape(chapter.title)}</a>'
        f'<span class="os-deck-count">{_count(len(chapter.drills), lang)}</span>'
        "</li>\n"
    )


def _count(number: int, lang: str) -> str:
    key = "deckCountOne" if number == 1 else "deckCount"
    return escape(word(key, lang, n=number))


def _group(chapter: Chapter, lang: str, maths: markup.Maths) -> str:
    name = f"drills-{chapter.number}"
    rows = "\n".join(_row(id, chapter, lang, maths) for id in chapter.drills)
    return f"""\
<section class="os-deck-group">
<h3 id="{name}"><span class="os-deck-number">{chapter.number}</span>\
<a href="{escape(chapter.href)}">{escape(chapter.title)}</a></h3>
<ul class="os-deck-rows">
{rows}
</ul>
</section>"""


def _row(id: str, chapter: Chapter, lang: str, maths: markup.Maths) -> str:
    """Return a drill's row: prompt, kind, chapter and solution."""
    card = Card(find(id), lang, maths)
    href = f"{chapter.href}#drill-{id}"
    return f"""\
<li class="os-deck-row" id="deck-{id}" data-drill="{id}"\
 data-chapter="{chapter.number}">
<div class="os-deck-question">{card.prompt()}</div>
<p class="os-deck-facts"><span>{card.word(card.drill.kind)}</span>\
<a href="{escape(href)}">{card.word("inChapter", n=chapter.number)}</a></p>
{card.solution()}
</li>"""
