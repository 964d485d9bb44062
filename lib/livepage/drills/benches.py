"""Benches: what a reader's kernel is timed against, on the reader's own GPU.

A bench is a folder `benches/<name>/` beside the book's drills, with two files. `bench.py`
has `rungs()`, the kernels to time besides the reader's: of each its ``name``, ``text``,
``function``, what it ``takes`` and their ``kinds``, and its ``builds``: the ``names`` it
is given, the threads of a ``block``, its ``rows`` and ``tile``. `bench.mjs` makes the
numbers of a launch and knows what is right. A drill names it: ``bench: {ladder: <name>,
names: …, block: …, tile: …}``, with what the reader's kernel gets in that size.
"""

from __future__ import annotations

from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from blocksim import portable
from livepage import book, modules, words

PAGE = Path(__file__).parent / "page"


def script() -> str:
    """Return the script that runs kernels on the reader's GPU, with all benches."""
    folder = book.current().drills / "benches"
    return _script(folder)


@cache
def _script(folder: Path) -> str:
    names = sorted(path.parent.name for path in folder.glob("*/bench.py"))
    given = {
        "words": words.section("gpu"),
        "modules": portable.translator(),
        "translatorSource": _python("translator.py"),
        "launcherSource": _python("launcher.py"),
    }
    benches = "".join(
        f"{modules.to_json(name)}: {{...{modules.expression(folder / name / 'bench.mjs')},"
        f" rungs: {modules.to_json(_rungs(folder / name / 'bench.py'))}}},\n"
        for name in names
    )
    made = modules.script(
        PAGE / "gpu" / "main.mjs",
        {"livepage/gpu": "$given", "livepage/drills/page": "livepageDrills"},
    )
    return (
        f"(() => {{\nconst $given = {modules.to_json(given)};\n"
        f"$given.benches = {{\n{benches}}};\n{made}}})();\n"
    )


def _python(name: str) -> str:
    return portable.code_only((PAGE / name).read_text(encoding="utf-8"))


def _rungs(file: Path) -> list[dict[str, Any]]:
    """Return the kernels of a bench."""
    name = f"{__package__}.bench_{file.parent.name}"
    found = spec_from_file_location(name, file)
    assert found and found.loader, file
    loaded = module_from_spec(found)
    found.loader.exec_module(loaded)
    return loaded.rungs()
