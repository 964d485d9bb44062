"""Figures and drills, filled in while the book is built.

A cell's output holds an empty host, naming a figure or a drill. Here the host gets its
picture, sentence and table, or its question and folded solution, so that the page is
whole before any script runs. An unknown id or a failing module stops the build.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

from livepage.translations import version
from livepage.words import ENGLISH

from .keep import kept
from .maths import typeset

_FIGURE = re.compile(r'<figure class="os-figure"([^>]*)></figure>')
_DRILL = re.compile(r'\s*<div class="os-drill"([^>]*)>.*</div>\s*', re.DOTALL)
_USE = re.compile(r'\s*<div class="os-use"([^>]*)>.*</div>\s*', re.DOTALL)
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')


class HostError(ValueError):
    """A figure or drill that cannot be put on the page."""


def attributes(tag: str) -> dict[str, str]:
    """Attributes of one opening tag, unescaped."""
    return {name: unescape(value) for name, value in _ATTRIBUTE.findall(tag)}


def fill_figures(html: str, still: Callable[..., str], language: str) -> str:
    """Put each figure's still into its host.

    Parameters
    ----------
    html : str
        One output of a cell.
    still : callable
        ``still(id, state, lang, asks)``, the inner HTML of a host.
    language : str
        Language of the page.

    Raises
    ------
    HostError
        If a host is not written as agreed, or its still cannot be drawn.
    """

    def fill(match: re.Match[str]) -> str:
        inner = _still(attributes(match[1]), still, language)
        return match[0].removesuffix("</figure>") + inner + "</figure>"

    filled = _FIGURE.sub(fill, html)
    if 'class="os-figure"' in html and filled == html:
        raise HostError(f"a figure's host is not empty or malformed: {html[:120]}")
    return filled


def _still(host: dict[str, str], still: Callable[..., str], language: str) -> str:
    name = host.get("data-figure", "")
    try:
        state = json.loads(host.get("data-state") or "{}")
        return still(name, state, language, host.get("data-asks") != "no")
    except Exception as error:
        raise HostError(f"figure {name!r} cannot be drawn: {error}") from error


def fill_drill(html: str, page_html: Callable[..., str], language: str) -> str:
    """Put a drill, `page_html(name, language)`, in the place of its host.

    Other outputs pass unchanged.

    Raises
    ------
    HostError
        If the drill does not exist or cannot be written.
    """
    match = _DRILL.fullmatch(html)
    if match is None:
        if 'class="os-drill"' in html:
            raise HostError(f"a drill's host is malformed: {html[:120]}")
        return html
    name = attributes(match[1]).get("data-drill", "")
    try:
        return page_html(name, language)
    except Exception as error:
        raise HostError(f"drill {name!r} cannot be written: {error}") from error


def fill(html: str, language: str) -> str:
    """Fill whatever hosts one output holds."""
    if "os-" not in html:
        return html
    return fill_drill(_filled(html, language), drill, language)


@kept
def _filled(html: str, language: str) -> str:
    if "os-figure" in html:
        from livepage import figures

        html = fill_figures(html, figures.still, language)
    if match := _USE.fullmatch(html):
        return use(attributes(match[1])["data-use"], language)
    return html


def use(name: str, language: str) -> str:
    """What a reader's kernel is put to, as a piece of the page."""
    from livepage import drills

    return drills.use_html(name, language)


def drill(name: str, language: str) -> str:
    """A drill as a piece of the page."""
    return _drill(name, language, _version(name, language))


def has_drill(name: str, language: str) -> bool:
    """Whether a drill is kept, from this build or the last one."""
    return _drill.has(name, language, _version(name, language))


def _version(name: str, language: str) -> str:
    """What a drill's translation is kept under."""
    from livepage.drills import bank
    from livepage.drills.kinds.code.cases import names

    if language == ENGLISH:
        return ""
    drill = bank.find(name)
    return version([drill.fields, names(drill)], language)


@kept
def _drill(name: str, language: str, version: str) -> str:
    from livepage import drills

    return drills.page_html(name, language, maths=typeset)


def figures_on(html: str) -> list[str]:
    """Ids of the figures on a page, each once, in the page's order."""
    hosts = re.findall(r'<figure class="os-figure"[^>]*data-figure="([^"]+)"', html)
    return list(dict.fromkeys(hosts))


def drills_on(html: str) -> list[str]:
    """Ids of the drills on a page, each once, in the page's order."""
    drills = re.findall(r'class="os-drill"[^>]*data-drill="([^"]+)"', html)
    return list(dict.fromkeys(drills))


def uses_on(html: str) -> list[str]:
    """Names of what a reader's kernel is put to on a page."""
    return re.findall(r'class="os-drill os-use"[^>]*data-use="([^"]+)"', html)


def minutes(drills: list[str]) -> list[float]:
    """The minutes of each drill; one that does not exist stops the build elsewhere."""
    from livepage.drills import bank
    from livepage.drills.kinds import KINDS

    known = [bank.bank()[name] for name in drills if name in bank.bank()]
    return [KINDS[drill.kind].minutes_of(drill) for drill in known]


def deck(pages: list[dict[str, Any]], language: str) -> str:
    """The list of all drills of some pages: number, title, address, drills of each.

    Raises
    ------
    HostError
        If it cannot be written.
    """
    names = [name for page in pages for name in page["drills"]]
    return _deck(pages, language, [_version(name, language) for name in names])


@kept
def _deck(pages: list[dict[str, Any]], language: str, versions: list[str]) -> str:
    from livepage import drills

    chapters = [
        drills.Chapter(int(page["number"]), page["title"], page["href"], page["drills"])
        for page in pages
    ]
    try:
        return drills.deck_html(chapters, language, typeset)
    except Exception as error:
        raise HostError(f"the drills cannot be listed: {error}") from error


def card(name: str, language: str) -> str:
    """The script that brings one drill to the page that lists them all."""
    from livepage import drills

    return drills.card_script(name, drill(name, language))


def deck_on(html: str) -> list[str]:
    """Ids of the drills that a page lists."""
    return re.findall(r'class="os-deck-row"[^>]*data-drill="([^"]+)"', html)


def progress(html: str, language: str, whole: str = "", page: str = "") -> str:
    """The reader's progress with a page's drills; empty where there are none.

    `whole` is the address of the page with all drills, if there is one; `page` is the
    name under which it is kept that this page was read.
    """
    ids = drills_on(html)
    if not ids:
        return ""
    from livepage import drills

    return drills.progress_html(language, ids, typeset, whole=whole, page=page)
