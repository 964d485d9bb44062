"""Citations as a sentence wants them: Dao et al. (2022), or (Dao et al., 2022)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pybtex.database import Entry
from pybtex.plugin import find_plugin
from pybtex.plugin import register_plugin as register_bibtex_plugin
from pybtex.style.formatting.plain import Style as PlainStyle
from pybtex.style.labels import BaseLabelStyle
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinxcontrib.bibtex.plugin import register_plugin
from sphinxcontrib.bibtex.style.referencing import BracketStyle, PersonStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle

from livepage.digest import digest
from livepage.words import ENGLISH, table


def round_brackets() -> BracketStyle:
    """Round, where the stock style has square ones."""
    return BracketStyle(left="(", right=")")


@dataclass
class BookReferenceStyle(AuthorYearReferenceStyle):
    """Authors and year, in round brackets."""

    language: str = ENGLISH

    def __post_init__(self) -> None:
        conjunction = f" {table('site', self.language)['and']} "
        last = f",{conjunction}" if self.language == ENGLISH else conjunction
        self.person = PersonStyle(sep2=conjunction, last_sep=last)
        if self.language != ENGLISH:
            self.bracket_parenthetical.sep = "; "
        super().__post_init__()

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
    app.connect("config-inited", settle, priority=100)


def settle(app: Sphinx, config: Config) -> None:
    """Join the names of authors by the word of the book's language."""
    group = "sphinxcontrib.bibtex.style.referencing"
    style = partial(BookReferenceStyle, language=config.language or ENGLISH)
    register_plugin(group, "book", style, force=True)
