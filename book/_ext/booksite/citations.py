"""Citations as a sentence wants them: Dao et al. (2022), or (Dao et al., 2022)."""

from __future__ import annotations

from dataclasses import dataclass, field

from sphinx.application import Sphinx
from sphinxcontrib.bibtex.plugin import register_plugin
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle


def round_brackets() -> BracketStyle:
    """Round, where the stock style has square ones."""
    return BracketStyle(left="(", right=")")


@dataclass
class BookReferenceStyle(AuthorYearReferenceStyle):
    """Authors and year, in round brackets."""

    bracket_parenthetical: BracketStyle = field(default_factory=round_brackets)
    bracket_textual: BracketStyle = field(default_factory=round_brackets)


def setup(app: Sphinx) -> None:
    """Offer the style under the name that the configuration uses."""
    group = "sphinxcontrib.bibtex.style.referencing"
    register_plugin(group, "book", BookReferenceStyle)
