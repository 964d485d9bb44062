"""Citations in a notebook, in the words that the page's style prints."""

from collections.abc import Callable
from pathlib import Path

from pybtex.database import BibliographyData, Entry, parse_file
from pybtex.richtext import Text


def sources(file: Path) -> BibliographyData:
    """The sources that the chapters cite; none, where there is no such file."""
    return parse_file(str(file)) if file.exists() else BibliographyData()


def in_a_sentence(keys: str, known: BibliographyData) -> str:
    """Who, and the year in brackets: the sentence around it stays a sentence."""
    return _each(keys, known, lambda one: f"{_who(one)} ({_linked(_year(one), one)})")


def in_brackets(keys: str, known: BibliographyData) -> str:
    """Who and when, in brackets."""
    who_and_when = _each(
        keys, known, lambda one: _linked(f"{_who(one)}, {_year(one)}", one)
    )
    return f"({who_and_when})"


def _each(keys: str, known: BibliographyData, style: Callable[[Entry], str]) -> str:
    return "; ".join(style(known.entries[key.strip()]) for key in keys.split(","))


def _who(entry: Entry) -> str:
    """The authors; without any, the title."""
    authors = entry.persons.get("author", [])
    people = [_unmarked(" ".join(person.last_names)) for person in authors]
    if not people:
        return f"*{_unmarked(entry.fields.get('title', entry.key))}*"
    return " and ".join(people) if len(people) < 3 else f"{people[0]} *et al.*"


def _unmarked(text: str) -> str:
    """`text` without BibTeX's own marks: braces, backslashes."""
    return str(Text.from_latex(text))


def _year(entry: Entry) -> str:
    return entry.fields.get("year", "n.d.")


def _linked(text: str, entry: Entry) -> str:
    """`text` as a link to the source, where the source has an address."""
    fields = entry.fields
    if "url" in fields:
        return f"[{text}]({fields['url']})"
    if "doi" in fields:
        return f"[{text}](https://doi.org/{fields['doi']})"
    if fields.get("archiveprefix") == "arXiv":
        return f"[{text}](https://arxiv.org/abs/{fields['eprint']})"
    return text
