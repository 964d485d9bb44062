"""The kinds of drills. Every folder here is a kind; there is no other list of them.

A folder contains

kind.py   ``KIND``, an instance of a subclass of `Kind`: the fields of such a drill, its
          payload, its marking and replies in a notebook, and its form on the page.
kind.mjs  The part for the page's script. ``mark(payload, answer)`` returns an outcome.
          ``forms`` has for each form ``prepare(drill)``, ``read(drill)`` and optionally
          ``restored(drill)`` and ``again(drill)``. The kind kernel has no such file: it
          uses the form of code, and Python marks it.
grader.py  For a kind whose answers are code: runs an answer, judges it and identifies its
          mistake, in CPython and in the page's MicroPython.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from livepage.drills.kind import Kind

HERE = Path(__file__).parent


def find_kinds(folder: Path, package: str) -> dict[str, Kind]:
    names = sorted(path.parent.name for path in folder.glob("*/kind.py"))
    return {name: import_module(f"{package}.{name}.kind").KIND for name in names}


def scripts() -> dict[str, Path]:
    """Return the `kind.mjs` of each kind that has one."""
    return {path.parent.name: path for path in sorted(HERE.glob("*/kind.mjs"))}


def graders(simulated: bool) -> list[str]:
    """Return the modules that judge code on the page, with the simulator or without."""
    return [
        f"kinds/{name}/{module}"
        for name, kind in KINDS.items()
        for module in kind.graders
        if kind.simulated == simulated
    ]


KINDS = find_kinds(HERE, __name__)
