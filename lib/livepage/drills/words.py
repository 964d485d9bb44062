"""The drills' own words, in every language of the book."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from livepage.numbers import show
from livepage.quantities import letters
from livepage.words import ENGLISH, section


def table() -> Mapping[str, Mapping[str, str]]:
    """Return the drills' words: language → key → text."""
    return section("drills")


def in_language(text: Any, language: str = "en") -> str:
    """Return a text of the bank in a language, English where it has no other."""
    if isinstance(text, Mapping):
        return str(text.get(language, text[ENGLISH])).strip()
    return str(text).strip()


def foreign(text: Any, language: str) -> str:
    """Return the language of a text that is not in the page's own, else nothing."""
    translated = isinstance(text, Mapping) and language in text
    return "" if translated or language == ENGLISH else ENGLISH


def word(key: str, language: str = "en", **values: Any) -> str:
    """Return one text with its {slots} filled."""
    text = table().get(language, {}).get(key) or table()[ENGLISH][key]
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def column(name: str, language: str = "en") -> str:
    """Return the heading of a column: ℓ for l, a word for block, else the name."""
    return letters().get(name) or table()[language].get(name) or name


def sentence(key: str, slots: Mapping[str, Any], language: str) -> str:
    """Return a sentence with its slots filled; ``faults.py`` says what may fill one."""

    def written(part: Any) -> str:
        if isinstance(part, dict):
            return column(part["column"], language)
        return part if isinstance(part, str) else show(*part)

    filled = {
        name: "".join(map(written, given)) if isinstance(given, list) else given
        for name, given in slots.items()
    }
    return word(key, language, **filled)


class Say(NamedTuple):
    """A sentence of the kit, to be written later: its key, and what fills its slots."""

    key: str
    slots: Mapping[str, Any] = {}
    around: str = "{}"  # the markup around it


def write(lines: Iterable[Any], language: str) -> tuple[str, ...]:
    """Return lines in a language.

    A line is a text of the bank, a sentence of the kit, or a list of these.
    """
    return tuple(_written(line, language) for line in lines)


def _written(part: Any, language: str) -> str:
    if isinstance(part, Say):
        return part.around.replace("{}", sentence(part.key, part.slots, language), 1)
    if isinstance(part, list):
        return " ".join(_written(each, language) for each in part)
    return in_language(part, language)
