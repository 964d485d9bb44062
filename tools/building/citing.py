"""Citations in a notebook, formatted as on the pages."""

from collections.abc import Callable
from pathlib import Path

from pybtex.database import BibliographyData, Entry, parse_file
from pybtex.richtext import Text


def bibliography(file: Path) -> BibliographyData:
    """Return the works that the chapters cite; none, where there is no such file."""
    return parse_file(str(file)) if file.exists() else BibliographyData()


def in_a_sentence(keys: str, known: BibliographyData) -> str:
    """Return the authors, and the year in brackets."""
    return _each(keys, known, lambda e: f"{_authors(e)} ({_linked(_year(e), e)})")


def in_brackets(keys: str, known: BibliographyData) -> str:
    """Return the authors and the year, both in brackets."""
    works = _each(keys, known, lambda e: _linked(f"{_authors(e)}, {_year(e)}", e))
    return f"({works})"


def _each(keys: str, known: BibliographyData, style: Callable[[Entry], str]) -> str:
    return "; ".join(style(known.entries[key.strip()]) for key in keys.split(","))


def _authors(entry: Entry) -> str:
    """Return the authors, or the title of a work that names none."""
    authors = entry.persons.get("author", [])
    people = [_unmarked(" ".join(person.last_names)) for person in authors]
    if not people:
        return f"*{_unmarked(entry.fields.get('title', entry.key))}*"
    return " and ".join(people) if len(people) < 3 else f"{people[0]} *et al.*"


def _unmarked(text: str) -> str:
    """Return `text` without BibTeX's markup: braces, backslashes."""
    return str(Text.from_latex(text))


def _year(entry: Entry) -> str:
    return entry.fields.get("year", "n.d.")


def _linked(text: str, entry: Entry) -> str:
    """Return `text` as a link to the work, where the work has an address."""
    fields = entry.fields
    if "url" in fields:
        return f"[{text}]({fields['url']})"
    if "doi" in fields:
        return f"[{text}](https://doi.org/{fields['doi']})"
    if fields.get("archiveprefix") == "arXiv":
        return f"[{text}](https://arxiv.org/abs/{fields['eprint']})"
    return text
