"""The kinds of drills: every folder here is one, and nothing else lists them.

A folder holds

kind.py   ``KIND``, an object of a subclass of `Kind`: the fields of a drill of this kind,
          what marks an answer, how a notebook marks it and what it says, and the form on
          the page.
kind.mjs  What the page's script needs: ``mark(payload, answer)`` returns an outcome, and
          ``forms`` has for each form ``prepare(drill)``, ``read(drill)`` and, if there is
          more to do, ``restored(drill)`` and ``again(drill)``. A kernel has none: its form
          is that of code, and Python marks it.
grader.py  Of a kind whose answers are code: plays an answer, judges it and names its
          mistake, in a notebook and, in MicroPython, on the page.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from livepage.drills.kind import Kind

HERE = Path(__file__).parent


def find_kinds(folder: Path, package: str) -> dict[str, Kind]:
    """Return the kinds of a folder, by name."""
    names = sorted(path.parent.name for path in folder.glob("*/kind.py"))
    return {name: import_module(f"{package}.{name}.kind").KIND for name in names}


def scripts() -> dict[str, Path]:
    """Return the page's module of each kind that has one."""
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
