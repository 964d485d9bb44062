"""The drills' own words, in every language of the book, and how numbers are written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

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


def show(value: Any, digits: int = 5) -> str:
    """Return a number or a list as a reader writes it; whole ones have all digits.

    Examples
    --------
    >>> show([2.0, 0.1353352832, "-inf"])
    '2, 0.13534, −∞'
    """
    if isinstance(value, (list, tuple)):
        return ", ".join(show(part, digits) for part in value)
    if value is None:
        return "–"
    if isinstance(value, str) and value not in ("inf", "-inf", "nan"):
        return value
    value = float(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "−∞"
    whole = value.is_integer() and abs(value) < 2**53
    return (f"{value:.0f}" if whole else f"{value:.{digits}g}").replace("-", "−")
