"""Joins the JavaScript modules into what each place can load.

The sources are ES modules. Three places want them three ways, and get them from one
text: a classic script for the page (`file://` blocks module scripts), one
self-contained ES module for anywidget (its `_esm` cannot import a sibling), one
script for V8 at build time. Each module becomes a function that is called at once;
what it imports becomes constants at its top, what it exports becomes the object it
returns.
"""

import json
import re
from collections.abc import Collection
from functools import cache
from pathlib import Path

from .registry import HERE, folder, spec, strings

HOST = HERE / "host"
IMPORT = re.compile(r'^import ([^;]+?) from "\.{1,2}/([\w./-]+)"[^;]*;\n', re.M)
COMMENT = re.compile(r"^ *(?://[^\n]*|/\*\*.*?\*/)\n", re.M | re.S)
INDENT = re.compile(r"^[ \t]+", re.M)  # readers load what is packed, and never read it
EXPORT = re.compile(r"^export (?:const|function|class) (\w+)", re.M)


def page_script(figure: str, lang: str = "en") -> str:
    """A figure for the page: registers itself with the host, loaded before or after.

    English is in it always, for words that a translation lacks.
    """
    entry = json.dumps(figure)
    make = f"($kit) => {_figure(figure, ('en', lang))}"
    return f"(window.osFigures ??= []).push([{entry}, {make}]);\n"


@cache
def host_script() -> str:
    """The host for the page: wakes every figure and sweep."""
    return f'"use strict";(() => {{\n{_bundle("page.mjs")}$page.begin();\n}})();\n'


@cache
def widget_module(figure: str) -> str:
    """A figure with its host, as one ES module for anywidget."""
    make = f"($kit) => {_figure(figure)}"
    return f"{_bundle('notebook.mjs')}export default $notebook.widget({make});\n"


def v8_script(figure: str) -> str:
    """A figure for V8: an expression that makes it, given the kit."""
    return f"(($kit) => {_figure(figure)})($kit)"


@cache
def v8_host() -> str:
    """What draws stills in V8: `$kit`, `$still`, and nothing that needs a page."""
    return _bundle("still.mjs")


def _figure(figure: str, languages: Collection[str] = ("en", "es")) -> str:
    """The body of the function that makes a figure: its module, spec and words."""
    source = (folder(figure) / "figure.mjs").read_text("utf-8")
    words = {lang: each for lang, each in strings(figure).items() if lang in languages}
    data = {"spec": spec(figure).for_host(figure), "strings": words}
    return f"({{...{_module(source)}, ...{_json(data)}}})"


def _bundle(entry: str) -> str:
    """A host module after everything it imports: `$kit`, `$frame`, …"""
    parts: dict[str, str] = {}
    _collect(entry, parts)
    return "".join(f"const ${name} = {text};\n" for name, text in parts.items())


def _collect(file: str, parts: dict[str, str]) -> None:
    if (name := Path(file).stem) in parts:
        return
    source = (HOST / file).read_text("utf-8")
    if file.endswith(".json"):
        parts[name] = _json(json.loads(source))
        return
    for _, needed in IMPORT.findall(source):
        _collect(needed, parts)
    parts[name] = _module(source)


def _module(source: str) -> str:
    """`source` as a function called at once that returns its exports."""
    body = IMPORT.sub(_constants, source)
    names = ", ".join(EXPORT.findall(source))
    body = re.sub(r"^export ", "", body, flags=re.M)
    body = INDENT.sub("", COMMENT.sub("", body))
    return f"(() => {{\n{body}return {{ {names} }};\n}})()"


def _constants(found: re.Match[str]) -> str:
    what, file = found.groups()
    return f"const {what.removeprefix('* as ')} = ${Path(file).stem};\n"


def _json(data: object) -> str:
    """JSON that may stand in a script: no infinity, no way to close the script."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("</", "<\\/")
