"""The sentences and labels of drills, in every language of the book."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from livepage.numbers import show
from livepage.quantities import letters
from livepage.translations import in_english, translation
from livepage.words import ENGLISH, section


def table() -> Mapping[str, Mapping[str, str]]:
    """Return the texts of drills: language → key → text."""
    return section("drills")


def in_language(text: Any, language: str = "en") -> str:
    """Return a text of the bank in a language, or in English if it is not translated."""
    if isinstance(text, Mapping):
        return str(text.get(language, text[ENGLISH])).strip()
    return (translation(str(text), language) or str(text)).strip()


def foreign(text: Any, language: str) -> str:
    """Return the attributes of a text in another language than the page's, else ""."""
    if isinstance(text, Mapping):
        translated = language in text
    else:
        translated = translation(str(text), language) is not None
    return "" if translated else in_english(language)


def word(key: str, language: str = "en", **values: Any) -> str:
    """Return one text with its {slots} filled."""
    text = table().get(language, {}).get(key) or table()[ENGLISH][key]
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def column(name: str, language: str = "en") -> str:
    """Return the heading of a column, such as ℓ for l or a translation of "block"."""
    return letters().get(name) or table()[language].get(name) or name


def sentence(key: str, slots: Mapping[str, Any], language: str) -> str:
    """Return a sentence with its slots filled; ``faults.py`` describes their values."""

    def render(part: Any) -> str:
        if isinstance(part, dict):
            return column(part["column"], language)
        return part if isinstance(part, str) else show(*part)

    filled = {
        name: "".join(map(render, value)) if isinstance(value, list) else value
        for name, value in slots.items()
    }
    return word(key, language, **filled)


class Say(NamedTuple):
    """A sentence whose language is chosen later: its key and its slots."""

    key: str
    slots: Mapping[str, Any] = {}
    around: str = "{}"  # the markup around it


def write(lines: Iterable[Any], language: str) -> tuple[str, ...]:
    """Render lines in a language.

    A line is a text of the bank, a `Say`, or a list of these.
    """
    return tuple(_rendered(line, language) for line in lines)


def _rendered(part: Any, language: str) -> str:
    if isinstance(part, Say):
        return part.around.replace("{}", sentence(part.key, part.slots, language), 1)
    if isinstance(part, list):
        return " ".join(_rendered(each, language) for each in part)
    return in_language(part, language)
