"""The quantities of a book: each has a letter in equations, names in code, and a word.

A book lists its quantities in `data/quantities.yml`. Pages, figures, drills and notebooks
all read that file through this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from livepage import book, yml


class Quantity(NamedTuple):
    """The notation of one quantity, and its name in each language (`words`)."""

    macro: str
    tex: str
    letter: str
    code: tuple[str, ...]
    colour: str
    words: Mapping[str, str]


def quantities() -> dict[str, Quantity]:
    """Return the book's quantities by name."""
    return read(book.current().data / "quantities.yml")


@cache
def read(file: Path) -> dict[str, Quantity]:
    """Return the quantities of a file by name; an empty dict if the file is missing."""
    if not file.exists():
        return {}
    rows = yml.read(file)
    return {name: _quantity(name, row, file) for name, row in rows.items()}


def _quantity(name: str, row: dict[str, Any], file: Path) -> Quantity:
    row = dict(row)
    missing = [key for key in ("macro", "tex", "letter") if key not in row]
    if missing:
        raise ValueError(f"{file.name}, {name}: {', '.join(missing)} missing")
    notation = (row.pop(key) for key in ("macro", "tex", "letter"))
    code, colour = tuple(row.pop("code", ())), row.pop("colour", "")
    return Quantity(*notation, code, colour, row)


def checked(name: str, what: str) -> str:
    """Return `name` if it is a quantity; `what` begins the message if it is not."""
    if name not in quantities():
        known = ", ".join(quantities())
        raise ValueError(f"{what} {name!r}, expected one of {known}")
    return name


def letters() -> dict[str, str]:
    """Return the letter of each quantity."""
    return {name: one.letter for name, one in quantities().items()}
