"""The marks that link the appearances of a quantity.

A quantity appears as a letter in an equation, a name in code, a shape in a figure and a
word in a sentence. Each appearance carries `data-q`; `link.js` lights them together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxRole
from sphinx.writers.html5 import HTML5Translator

from livepage.quantities import checked, quantities

_NAME = re.compile(r'<span class="(n|nv|nb|fm)">(\w+)</span>')


class quantity(nodes.Inline, nodes.TextElement):
    """A quantity named in a sentence."""


class QuantityRole(SphinxRole):
    """`{q}` followed by a quantity's name, for instance ``{q}`alpha` ``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Check the name and give the letter, marked."""
        try:
            letter = quantities()[checked(self.text, "the role q got")].letter
        except ValueError as error:
            raise ExtensionError(f"{self.env.docname}: {error}") from error
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
    meanings: dict[str, str | None] = {
        word: name for name, one in quantities().items() for word in one.code
    }
    for word, name in (extra or {}).items():
        meanings[word] = name and checked(name, f"quantities: {word!r} means")

    def mark(match: re.Match[str]) -> str:
        kind, name = match.groups()
        if meanings.get(name) is None:
            return match[0]
        return f'<span class="{kind}" data-q="{meanings[name]}">{name}</span>'

    return _NAME.sub(mark, html)


def setup(app: Sphinx) -> None:
    """Register the role and its node."""
    app.add_role("q", QuantityRole())
    app.add_node(quantity, html=(visit_quantity, depart_quantity))
