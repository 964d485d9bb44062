"""The HTML of a drill, and the scripts and files that mark it on the page.

The HTML is complete before any script runs. The script activates the form, and fetches
MicroPython only when the reader first runs code.
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
from livepage import markup, modules, sentences, words
from livepage.drills import benches
from livepage.drills.bank import find
from livepage.drills.forms import Card
from livepage.drills.kinds import graders, scripts
from livepage.drills.words import foreign, in_language, table, word
from livepage.quantities import letters

HERE = Path(__file__).parent
# The parts of MicroPython's loader that only a module may contain, each with its
# replacement in a classic script. The last one is a command line for Node.
NO_MODULE = {
    r"import\.meta\.url": "self.location.href",
    r"export default \w+;export ": "",
    r"if\(globalThis\.loadMicroPython=.*?(?=class PyProxy\{)": "",
}


def page_html(
    id: str, lang: str = "en", maths: markup.Maths = markup.plain_maths
) -> str:
    """Return the HTML of a drill.

    Parameters
    ----------
    id : str
        The drill's name in the bank.
    lang : str
        The page's language. A text without a translation stays English.
    maths : callable
        ``maths(tex, display)`` turns TeX into HTML.

    Returns
    -------
    str
        One element, with the drill's data in a JSON block that no browser executes.
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
    """Return the panel with the reader's progress: drills due, export, import, delete.

    Parameters
    ----------
    lang : str
    ids : sequence of str
        The drills to count and list. Without ids, every drill in the reader's record
        counts.
    maths : callable
        As for ``page_html``.
    pages : mapping of str to str
        Maps a drill to the address of its page, if that is another page.
    whole : str
        The address of the page with all drills, if there is one.
    page : str
        The key under which the browser stores that this page was read. Without a key,
        nothing is stored.
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
    """Return the classic script that runs all drills; load it deferred."""
    return f"(() => {{\n{bundle('main.mjs')}}})();\n"


@cache
def road_script() -> str:
    """Return the script that shows the reader's progress on the page of the road."""
    return f"(() => {{\n{modules.script(HERE / 'page' / 'road.mjs')}}})();\n"


def bundle(entry: str) -> str:
    """Return a module of the page with its imports and the data from the build."""
    data = {
        "quantities": letters(),
        "words": table(),
    }
    script = modules.script(
        HERE / "page" / entry,
        {"livepage/drills": "$given"},
        gathered={"livepage/drill-kinds": scripts()},
    )
    return f"const $given = {modules.to_json(data)};\n{script}"


@cache
def stylesheet() -> str:
    """Return the style sheet of drills."""
    return _source("page/drills.css")


@cache
def page_assets() -> dict[str, str]:
    """Return the files that the page fetches on demand, by name.

    MicroPython and the block simulator are fetched with the first run, the code for the
    reader's GPU and for puzzles with the first use, the translations of what code says
    with the first such sentence. MicroPython's loader, its WebAssembly
    as text, the worker and the graders share one classic script, because a page on
    ``file://`` may load scripts and nothing else.
    """
    folder = HERE.parent / "vendor" / "micropython"
    loader = _classic((folder / "micropython.mjs").read_text(encoding="utf-8"))
    wasm = gzip.compress((folder / "micropython.wasm").read_bytes(), mtime=0)
    bundle = {
        "loader": loader,
        "wasm": base64.b64encode(wasm).decode(),
        "worker": _source("page/worker.js"),
        "graders": _graders(),
        "interpreters": _interpreters(),
    }
    script = f"globalThis.livepagePython = {json.dumps(bundle)};\n"
    return {
        "micropython.js": script,
        "simulator.js": _simulator(),
        "gpu.js": benches.script(),
        "gpu.css": _source("page/gpu/gpu.css"),
        "puzzle.js": _puzzle(),
        "puzzle.css": _source("page/puzzle/puzzle.css"),
    } | {f"sentences-{lang}.js": _sentences(lang) for lang in sentences.languages()}


def _puzzle() -> str:
    """Return the script that shows the lines of a solution, to be put in order."""
    given = {"livepage/puzzle": "$given", "livepage/drills/page": "livepageDrills"}
    main = modules.script(HERE / "page" / "puzzle" / "main.mjs", given)
    data = modules.to_json({"words": words.section("puzzle")})
    return f"(() => {{\nconst $given = {data};\n{main}}})();\n"


def _sentences(language: str) -> str:
    """Return the script that says in a language what running code says in English."""
    data = {"language": language, "pairs": sentences.pairs(language)}
    given = {"livepage/sentences": "$given"}
    main = modules.script(HERE / "page" / "sentences" / "main.mjs", given)
    return f"(() => {{\nconst $given = {modules.to_json(data)};\n{main}}})();\n"


def _classic(module: str) -> str:
    """Return MicroPython's loader as a classic script that defines `loadMicroPython`.

    On a page opened from disk, WebKit's workers can import neither a module nor a blob.
    Therefore the page puts the loader before the worker's source.
    """
    for text, replacement in NO_MODULE.items():
        module, count = re.subn(text, replacement, module, flags=re.DOTALL)
        if not count:
            raise ValueError(
                f"micropython.mjs has changed: it has no {text!r} any more"
            )
    return module


def _interpreters() -> dict[str, str]:
    """Return the first source that each of a worker's two interpreters runs."""
    return {name: _python(f"page/{name}.py") for name in ("player", "judge")}


def _graders() -> dict[str, str]:
    """Return the modules that mark a code drill, by their path for Python's import."""
    shared = ("blocks", "faults", "meter", "syntax", "values")
    files = _modules([*shared, *graders(simulated=False)])
    return _in_packages(
        files | {"livepage/numbers": python_text(HERE.parent / "numbers.py")}
    )


def _simulator() -> str:
    """Return the script with the block simulator and the grader of kernels."""
    files = portable.sources() | _in_packages(_modules(graders(simulated=True)))
    packed = json.dumps(files, ensure_ascii=False)
    return f"globalThis.livepageSimulator = {packed};\n"


def _modules(names: Sequence[str]) -> dict[str, str]:
    return {f"livepage/drills/{name}": _python(f"{name}.py") for name in names}


def _in_packages(files: Mapping[str, str]) -> dict[str, str]:
    """Add an empty `__init__` for each package that contains one of the modules."""
    folders = {str(folder) for name in files for folder in PurePosixPath(name).parents}
    return {**files} | {f"{each}/__init__": "" for each in sorted(folders - {"."})}


def _python(name: str) -> str:
    return python_text(HERE / name)


def python_text(file: Path) -> str:
    """Return the code of a Python file, without comments and docstrings."""
    return portable.code_only(file.read_text(encoding="utf-8"))


def _source(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
