"""The drills' own words, in every language of the book."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from livepage.numbers import show
from livepage.quantities import letters
from livepage.words import ENGLISH, section


def table() -> Mapping[str, Mapping[str, str]]:
    """Return the drills' words: language → key → text."""
    return section("drills")


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
    """Return a sentence with its slots filled; ``grader.py`` says what may fill one."""

    def written(part: Any) -> str:
        if isinstance(part, dict):
            return column(part["column"], language)
        return part if isinstance(part, str) else show(*part)

    filled = {
        name: "".join(map(written, given)) if isinstance(given, list) else given
        for name, given in slots.items()
    }
    return word(key, language, **filled)
