"""Citations as a sentence wants them: Dao et al. (2022), or (Dao et al., 2022)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pybtex.database import Entry
from pybtex.plugin import find_plugin
from pybtex.plugin import register_plugin as register_bibtex_plugin
from pybtex.style.formatting.plain import Style as PlainStyle
from pybtex.style.labels import BaseLabelStyle
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinxcontrib.bibtex.plugin import register_plugin
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle

from livepage.digest import digest


def round_brackets() -> BracketStyle:
    """Round, where the stock style has square ones."""
    return BracketStyle(left="(", right=")")


@dataclass
class BookReferenceStyle(AuthorYearReferenceStyle):
    """Authors and year, in round brackets."""

    bracket_parenthetical: BracketStyle = field(default_factory=round_brackets)
    bracket_textual: BracketStyle = field(default_factory=round_brackets)


class KeyLabels(BaseLabelStyle):
    """Labels that no reader sees: unique even where a page has two lists."""

    def format_labels(self, entries: Iterable[Entry]) -> Iterator[str]:
        """The label of a source is its key."""
        return (entry.key for entry in entries)


class BookStyle(PlainStyle):
    """Sources as plain BibTeX prints them, by author."""

    default_label_style = KeyLabels


def refresh(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Any page may cite: when the sources change, write all pages anew."""
    files = [
        Path(app.srcdir, name) for name in getattr(app.config, "bibtex_bibfiles", ())
    ]
    now = digest(file for file in files if file.exists())
    if getattr(env, "book_sources", None) == now:
        return []
    env.book_sources = now
    return sorted(env.found_docs)


def setup(app: Sphinx) -> None:
    """Offer both styles under the name that the configuration uses."""
    app.connect("env-updated", refresh)
    register_bibtex_plugin("pybtex.style.formatting", "book", BookStyle)
    # Each citation looks its backends up among all installed packages, unless they are
    # registered: a tenth of a build.
    for name in ("plaintext", "docutils"):
        backend = find_plugin("pybtex.backends", name)
        register_bibtex_plugin("pybtex.backends", name, backend, force=True)
    group = "sphinxcontrib.bibtex.style.referencing"
    register_plugin(group, "book", BookReferenceStyle)
