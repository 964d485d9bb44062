"""A drill as a piece of the page, and what the page needs to mark it.

The HTML is whole before any script runs. The script wakes the form, and fetches Python
only when the reader first runs code.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from blocksim import portable
from livepage import markup, modules
from livepage.drills import benches
from livepage.drills.bank import find
from livepage.drills.forms import Card
from livepage.drills.kinds import graders, scripts
from livepage.drills.words import foreign, in_language, table, word
from livepage.quantities import letters

HERE = Path(__file__).parent
# What makes a module of MicroPython's loader, and what stands for it in a script. The
# last is its command line, for Node.
NO_MODULE = {
    r"import\.meta\.url": "self.location.href",
    r"export default \w+;export ": "",
    r"if\(globalThis\.loadMicroPython=.*?(?=class PyProxy\{)": "",
}


def page_html(
    id: str, lang: str = "en", maths: markup.Maths = markup.plain_maths
) -> str:
    """Return a drill as one group of the page.

    Parameters
    ----------
    id : str
        Its name in the bank.
    lang : str
        The page's language; English where a text has no other.
    maths : callable
        ``maths(tex, display)`` turns TeX into HTML.

    Returns
    -------
    str
        With its data in a JSON block that no browser executes.
    """
    return Card(find(id), lang, maths).section()


def progress_html(
    lang: str = "en",
    ids: Sequence[str] = (),
    maths: markup.Maths = markup.plain_maths,
    pages: Mapping[str, str] = MappingProxyType({}),
    whole: str = "",
    page: str = "",
) -> str:
    """Return the panel with the reader's progress: due list, save, load, forget.

    Parameters
    ----------
    lang : str
    ids : sequence of str
        The drills to count and list; none counts whatever the reader has met.
    maths : callable
        As for ``page_html``.
    pages : mapping of str to str
        The address of the page a drill stands on, if it is not this one.
    whole : str
        The address of the page with all drills, if there is one.
    page : str
        The name under which it is kept that this page was read; none keeps nothing.
    """
    listed = {
        id: {
            "title": _title(id, lang, maths),
            "href": f"{pages.get(id, '')}#drill-{id}",
        }
        for id in ids
    }
    packed = json.dumps(listed, ensure_ascii=False, sort_keys=True)
    return (
        f'<section class="os-progress" aria-label="{escape(word("progress", lang))}"'
        f' data-whole="{escape(whole)}" data-page="{escape(page)}" hidden>'
        '<script type="application/json">'
        + packed.replace("</", "<\\/")
        + "</script></section>\n"
    )


def _title(id: str, lang: str, maths: markup.Maths) -> str:
    """Return the first sentence of a drill's prompt."""
    prompt = find(id).get("prompt")
    first = re.split(r"(?<=[.?!])\s", in_language(prompt, lang), maxsplit=1)[0]
    return markup.inline(first, maths, foreign(prompt, lang))


@cache
def page_script() -> str:
    """Return the script of all drills: classic, to be deferred."""
    return f"(() => {{\n{bundle('main.mjs')}}})();\n"


@cache
def road_script() -> str:
    """Return the script of the page that shows the road: how far its reader has come."""
    return f"(() => {{\n{modules.script(HERE / 'page' / 'road.mjs')}}})();\n"


def bundle(entry: str) -> str:
    """Return a module of the page after all it imports, and what they are given."""
    given = {
        "quantities": letters(),
        "words": table(),
    }
    script = modules.script(
        HERE / "page" / entry,
        {"livepage/drills": "$given"},
        gathered={"livepage/drill-kinds": scripts()},
    )
    return f"const $given = {modules.to_json(given)};\n{script}"


@cache
def stylesheet() -> str:
    """Return the style of drills; every colour is one of the book's tokens."""
    return _source("page/drills.css")


@cache
def page_assets() -> dict[str, str]:
    """Return the files to lay beside the script, fetched when a reader asks for them.

    These are Python and the simulator, on the first run, and what runs on a GPU.

    One classic script carries MicroPython's loader, its WebAssembly as text, the worker
    and what marks an answer there, because a page on ``file://`` may load a script and
    nothing else.
    """
    folder = HERE.parent / "vendor" / "micropython"
    loader = _classic((folder / "micropython.mjs").read_text(encoding="utf-8"))
    wasm = gzip.compress((folder / "micropython.wasm").read_bytes(), mtime=0)
    bundle = {
        "loader": loader,
        "wasm": base64.b64encode(wasm).decode(),
        "worker": _source("page/worker.js"),
        "graders": _graders(),
        "interpreters": _played(),
    }
    script = f"globalThis.livepagePython = {json.dumps(bundle)};\n"
    return {
        "micropython.js": script,
        "simulator.js": _simulator(),
        "gpu.js": benches.script(),
        "gpu.css": _source("page/gpu/gpu.css"),
    }


def _classic(module: str) -> str:
    """Return MicroPython's loader as a classic script that defines `loadMicroPython`.

    Where a page was opened from a disk, WebKit's workers import no module, and no blob
    either. The page therefore lays the loader before the worker's own text.
    """
    for text, instead in NO_MODULE.items():
        module, times = re.subn(text, instead, module, flags=re.DOTALL)
        if not times:
            raise ValueError(
                f"micropython.mjs has changed: it has no {text!r} any more"
            )
    return module


def _played() -> dict[str, str]:
    """Return what each of a worker's two interpreters begins with."""
    return {name: _python(f"page/{name}.py") for name in ("player", "judge")}


def _graders() -> dict[str, str]:
    """Return what marks a code drill: modules by their path, as Python looks for it."""
    shared = ("blocks", "faults", "meter", "syntax", "values")
    files = _modules([*shared, *graders(simulated=False)])
    return _in_packages(
        files | {"livepage/numbers": python_text(HERE.parent / "numbers.py")}
    )


def _simulator() -> str:
    """Return the script that brings the block simulator, and what marks a kernel."""
    files = portable.sources() | _in_packages(_modules(graders(simulated=True)))
    packed = json.dumps(files, ensure_ascii=False)
    return f"globalThis.livepageSimulator = {packed};\n"


def _modules(names: Sequence[str]) -> dict[str, str]:
    return {f"livepage/drills/{name}": _python(f"{name}.py") for name in names}


def _in_packages(files: Mapping[str, str]) -> dict[str, str]:
    """Return modules with an empty `__init__` for every package that holds one."""
    folders = {str(folder) for name in files for folder in PurePosixPath(name).parents}
    return {**files} | {f"{each}/__init__": "" for each in sorted(folders - {"."})}


def _python(name: str) -> str:
    return python_text(HERE / name)


def python_text(file: Path) -> str:
    """Return a module of Python's without what only its own readers need."""
    return portable.code_only(file.read_text(encoding="utf-8"))


def _source(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
