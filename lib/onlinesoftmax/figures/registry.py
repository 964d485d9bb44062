"""Finds the figures: every folder here that holds a `figure.mjs` is one."""

import json
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from .spec import Spec

HERE = Path(__file__).parent


@cache
def ids() -> tuple[str, ...]:
    """Every figure's id, in alphabetical order."""
    folders = sorted(path.parent.name for path in HERE.glob("*/figure.mjs"))
    return tuple(name.replace("_", "-") for name in folders)


def folder(figure: str) -> Path:
    """Where a figure lives.

    Raises
    ------
    ValueError
        If there is no such figure; the message lists those there are.
    """
    if figure not in ids():
        raise ValueError(f"no figure {figure!r}: there are {', '.join(ids())}")
    return HERE / figure.replace("-", "_")


@cache
def spec(figure: str) -> Spec:
    """What the figure's `figure.py` declares."""
    name = folder(figure).name
    return import_module(f"{__package__}.{name}.figure").SPEC


def strings(figure: str) -> dict[str, dict[str, Any]]:
    """The figure's words, by language."""
    return json.loads((folder(figure) / "strings.json").read_text("utf-8"))
