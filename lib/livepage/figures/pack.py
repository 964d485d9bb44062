"""Joins the JavaScript modules into what a page, a notebook and V8 can load.

The sources are ES modules. Each of the three wants them in another form, made from the
same text: a classic script for the page (`file://` blocks module scripts), one
self-contained ES module for anywidget (its `_esm` cannot import a sibling), one
script for V8 at build time. Each module becomes a function that is called at once;
what it imports becomes constants at its top, what it exports becomes the object it
returns.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from livepage.modules import expression, script, to_json
from livepage.words import ENGLISH, section

from . import kinds
from .registry import HERE, folder, spec, strings

HOST = HERE / "host"


def page_script(figure: str, lang: str = "en") -> str:
    """A figure for the page: it registers itself with the host, whichever loads first.

    It has the words of one language, and English ones where a translation lacks them.
    """
    entry = json.dumps(figure)
    module = expression(folder(figure) / "figure.mjs", given(figure))
    words = strings(figure)
    spoken = {lang: words[ENGLISH] | words.get(lang, {})}
    make = f"($given) => ({{...{module}, ...{_said(figure, spoken)}}})"
    source = ", document.currentScript.src" if spec(figure).loads else ""
    return f"(window.osFigures ??= []).push([{entry}, {make}{source}]);\n"


def loaded_script(figure: str) -> str | None:
    """What a page loads when the figure is first used; None where it needs no more."""
    if not spec(figure).loads:
        return None
    name, loaded = json.dumps(figure), _loaded(figure, folder(figure))
    return f"(window.osLoaded ??= {{}})[{name}] = {loaded};\n"


@cache
def host_script() -> str:
    """The host for the page: wakes every figure and sweep."""
    return f'"use strict";(() => {{\n{_host("page.mjs")}$page.begin();\n}})();\n'


@cache
def widget_module(figure: str) -> str:
    """A figure with its host, as one ES module for anywidget."""
    make = f"($given) => {_whole(figure)}"
    return f"{_host('notebook.mjs')}export default $notebook.widget({make});\n"


def v8_script(figure: str) -> str:
    """A figure for V8: an expression that makes it, given that."""
    return f"(($given) => {_whole(figure)})($given)"


@cache
def v8_host() -> str:
    """What draws stills in V8: `$given`, `$still`, and nothing that needs a page."""
    return _host("still.mjs")


def _host(entry: str) -> str:
    """A module of the host after all that it imports, the kit's own words among it."""
    words = f"{{ default: {to_json(section('figures'))} }}"
    given = {"livepage/words.json": words}
    return script(HOST / entry, given, gathered={"livepage/kinds": kinds.scripts()})


def given(figure: str) -> dict[str, str]:
    """What a figure's module may import, and the expression for it."""
    constants = to_json(spec(figure).constants)
    beside = folder(figure).parent.glob("*.mjs")
    return {
        **{f"../{file.name}": expression(file) for file in beside},
        "livepage/picture.mjs": "$given.picture",
        "livepage/shapes.mjs": "$given.shapes",
        "livepage/text.mjs": "$given.text",
        "livepage/constants": constants,
    }


def functions(figure: str, home: Path) -> str:
    """An expression for a figure's functions, from modules that lie in `home`; they have
    what a page would load later."""
    made = expression(home / "figure.mjs", given(figure))
    if not spec(figure).loads:
        return made
    loaded = _loaded(figure, home)
    return f"((f) => ({{...f, ...$loaded.completed(f, {loaded})}}))({made})"


def _loaded(figure: str, home: Path) -> str:
    """An expression for what a figure loads: what its `loaded.mjs` exports."""
    loads = spec(figure).loads
    assert loads, figure
    known = given(figure) | {"livepage/data": to_json(loads())}
    return expression(home / "loaded.mjs", known)


def _whole(figure: str) -> str:
    """An expression that makes a figure for where nothing is loaded later."""
    made = functions(figure, folder(figure))
    return f"({{...{made}, ...{_said(figure, strings(figure))}}})"


def _said(figure: str, words: Mapping[str, Mapping]) -> str:
    """Spec and words of a figure, by language."""
    return to_json({"spec": spec(figure).for_host(figure), "strings": words})
