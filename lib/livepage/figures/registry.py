"""Finds the book's figures: every folder that holds a `figure.mjs` is one."""

import json
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from livepage import book

from .spec import Spec

HERE = Path(__file__).parent


def ids() -> tuple[str, ...]:
    """Every figure's id, in alphabetical order: the names of their folders."""
    return _ids(book.current().figures)


@cache
def _ids(figures: Path) -> tuple[str, ...]:
    return tuple(sorted(path.parent.name for path in figures.glob("*/figure.mjs")))


def folder(figure: str) -> Path:
    """Where a figure lives.

    Raises
    ------
    ValueError
        If there is no such figure; the message lists those there are.
    """
    if figure not in ids():
        raise ValueError(f"no figure {figure!r}: there are {', '.join(ids())}")
    return book.current().figures / figure


def spec(figure: str) -> Spec:
    """What the figure's `figure.py` declares."""
    return module(figure).SPEC


def module(figure: str) -> ModuleType:
    """The figure's `figure.py`, loaded once."""
    return _module(folder(figure) / "figure.py")


@cache
def _module(file: Path) -> ModuleType:
    name = f"{__package__}.of_the_book.{file.parent.name}"
    found = spec_from_file_location(name, file)
    assert found and found.loader, file
    loaded = module_from_spec(found)
    found.loader.exec_module(loaded)
    return loaded


def strings(figure: str) -> dict[str, dict[str, Any]]:
    """The figure's words, by language."""
    file = folder(figure) / "strings.json"
    try:
        return json.loads(file.read_text("utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"figures/{figure}/{file.name}: {error}") from None
