"""A label: a small word beside a heading, such as *optional*."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole


class LabelRole(SphinxRole):
    """`{label}` followed by the word, for instance ``## Rounding {label}`optional` ``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Set the word apart; it stays a part of the heading, for search and for lists."""
        return [nodes.inline(self.rawtext, self.text, classes=["label"])], []


def setup(app: Sphinx) -> None:
    """Register the role."""
    app.add_role("label", LabelRole())
