"""The quantities that a book speaks of: a letter in an equation, a name in code, a word.

They stand in one file of the book, `data/quantities.yml`; pages, figures, drills and
notebooks all read it here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from livepage import book, yml


class Quantity(NamedTuple):
    """How one quantity is written and called; `words` by language."""

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
    """Return the quantities of a file by name; none, where there is no such file."""
    if not file.exists():
        return {}
    rows = yml.read(file)
    return {name: _quantity(name, row, file) for name, row in rows.items()}


def _quantity(name: str, row: dict[str, Any], file: Path) -> Quantity:
    row = dict(row)
    missing = [key for key in ("macro", "tex", "letter") if key not in row]
    if missing:
        raise ValueError(f"{file.name}, {name}: {', '.join(missing)} missing")
    written = (row.pop(key) for key in ("macro", "tex", "letter"))
    code, colour = tuple(row.pop("code", ())), row.pop("colour", "")
    return Quantity(*written, code, colour, row)


def checked(name: str, what: str) -> str:
    """Return `name` if it is a quantity; `what` says who asks."""
    if name not in quantities():
        known = ", ".join(quantities())
        raise ValueError(f"{what} {name!r}, expected one of {known}")
    return name


def letters() -> dict[str, str]:
    """Return the letter of each quantity."""
    return {name: one.letter for name, one in quantities().items()}
