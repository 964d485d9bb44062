"""The six quantities of the book, and the marks that link their appearances.

A quantity appears as a letter in an equation, a name in code, a shape in a figure and a
word in a sentence. Each appearance carries `data-q`; `link.js` lights them together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxRole
from sphinx.writers.html5 import HTML5Translator


class Quantity(NamedTuple):
    """How one quantity is written: TeX macro, TeX letter, plain letter."""

    macro: str
    tex: str
    letter: str


QUANTITIES: dict[str, Quantity] = {
    "m": Quantity(r"\qm", "m", "m"),
    "l": Quantity(r"\ql", r"\ell", "ℓ"),
    "alpha": Quantity(r"\qa", r"\alpha", "α"),
    "o": Quantity(r"\qo", "o", "o"),
    "s": Quantity(r"\qs", "s", "s"),
    "p": Quantity(r"\qp", "p", "p"),
}

# What a name in code means unless its cell says otherwise.
IDENTIFIERS: dict[str, str] = {
    "m": "m",
    "m_new": "m",
    "l": "l",
    "alpha": "alpha",
    "o": "o",
    "s": "s",
    "scores": "s",
    "p": "p",
}

_NAME = re.compile(r'<span class="(n|nv|nb|fm)">(\w+)</span>')


class quantity(nodes.Inline, nodes.TextElement):
    """A quantity named in a sentence."""


class QuantityRole(SphinxRole):
    """`{q}` followed by a quantity's name, for instance ``{q}`alpha` ``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Check the name and give the letter, marked."""
        if self.text not in QUANTITIES:
            known = ", ".join(QUANTITIES)
            raise ExtensionError(
                f"{self.env.docname}: the role q got {self.text!r}, expected {known}"
            )
        letter = QUANTITIES[self.text].letter
        return [quantity(self.rawtext, letter, name=self.text)], []


def visit_quantity(self: HTML5Translator, node: quantity) -> None:
    """Open the span; `link.js` makes it a button where scripts run."""
    self.body.append(f'<span class="q" data-q="{escape(node["name"])}">')


def depart_quantity(self: HTML5Translator, node: quantity) -> None:
    """Close the span."""
    self.body.append("</span>")


def link_identifiers(html: str, extra: Mapping[str, str | None] | None = None) -> str:
    """Mark the names in highlighted Python that stand for a quantity.

    Parameters
    ----------
    html : str
        Pygments' spans.
    extra : mapping, optional
        Name to quantity for one cell; None frees a name of its usual meaning.

    Raises
    ------
    ValueError
        If `extra` names a quantity that does not exist.
    """
    meanings = {**IDENTIFIERS, **_checked(extra or {})}

    def mark(match: re.Match[str]) -> str:
        kind, name = match.groups()
        if meanings.get(name) is None:
            return match[0]
        return f'<span class="{kind}" data-q="{meanings[name]}">{name}</span>'

    return _NAME.sub(mark, html)


def _checked(extra: Mapping[str, str | None]) -> Mapping[str, str | None]:
    for name, meaning in extra.items():
        if meaning is not None and meaning not in QUANTITIES:
            known = ", ".join(QUANTITIES)
            raise ValueError(f"quantities: {name!r} means {meaning!r}, not in {known}")
    return extra


def setup(app: Sphinx) -> None:
    """Register the role and its node."""
    app.add_role("q", QuantityRole())
    app.add_node(quantity, html=(visit_quantity, depart_quantity))
