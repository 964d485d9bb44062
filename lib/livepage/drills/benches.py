"""Benches: the kernels beside which a reader's kernel is timed on the reader's GPU.

A bench is a folder `benches/<name>/` beside the book's drills, with two files. `bench.py`
defines `rungs()`, the kernels to time. Each has a ``name``, its ``text`` and
``function``, the arguments it ``takes`` and their ``kinds``, and its ``builds``: the
values of ``names``, the threads of a ``block``, ``rows`` and ``tile``. `bench.mjs` makes
the inputs of a launch and computes the right results. A drill refers to its bench by
``bench: {ladder: <name>, names: …, block: …, tile: …}``, where the last three hold for
the reader's kernel.
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
    """Return the script that runs kernels on the reader's GPU, with every bench."""
    folder = book.current().drills / "benches"
    return _script(folder)


@cache
def _script(folder: Path) -> str:
    names = sorted(path.parent.name for path in folder.glob("*/bench.py"))
    data = {
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
    main = modules.script(
        PAGE / "gpu" / "main.mjs",
        {"livepage/gpu": "$given", "livepage/drills/page": "livepageDrills"},
    )
    return (
        f"(() => {{\nconst $given = {modules.to_json(data)};\n"
        f"$given.benches = {{\n{benches}}};\n{main}}})();\n"
    )


def _python(name: str) -> str:
    return portable.code_only((PAGE / name).read_text(encoding="utf-8"))


def _rungs(file: Path) -> list[dict[str, Any]]:
    name = f"{__package__}.bench_{file.parent.name}"
    spec = spec_from_file_location(name, file)
    assert spec and spec.loader, file
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.rungs()
