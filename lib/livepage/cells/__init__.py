"""Code cells of a chapter that the reader can run, change and run again on the page.

`rule` decides at build time which cells the page's Python can run, `runner` runs one
there, after the cells it needs, and `page/` is what the reader sees and presses. Nobody
lists the cells: a cell that can run has a button.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from livepage import modules as scripts
from livepage.drills.page import python_text

from .rule import Cell, plan

__all__ = ["Cell", "modules", "page_script", "plan", "stylesheet"]

HERE = Path(__file__).parent


def modules() -> dict[str, str]:
    """Return what the page's Python needs to run cells, by path."""
    names = ("assertions", "runner", "small")
    files = {name: python_text(HERE / f"{name}.py") for name in names}
    named = {f"livepage/cells/{name}": text for name, text in files.items()}
    return {"livepage/cells/__init__": "", **named}


@cache
def page_script() -> str:
    """Return the script behind the buttons, fetched when one is first pressed.

    The script of all drills has to be there: its editor and its Python are used.
    """
    given = {"livepage/cells": "$given", "livepage/drills/page": "livepageDrills"}
    script = scripts.script(HERE / "page" / "cells.mjs", given)
    modules_json = scripts.to_json({"modules": modules()})
    return f"(() => {{\nconst $given = {modules_json};\n{script}}})();\n"


@cache
def stylesheet() -> str:
    """Return the style of buttons and of what a run gives."""
    return (HERE / "page" / "cells.css").read_text(encoding="utf-8")
