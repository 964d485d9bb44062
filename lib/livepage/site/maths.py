"""Maths, typeset while the book is built: KaTeX in V8, no script on the page.

Each formula becomes HTML for the eye and MathML for screen readers. The macro of a
quantity prints its letter and marks it, so that a page can light the same quantity in
the code, the figure and the sentence.
"""

from __future__ import annotations

import atexit
import json
import re
from functools import lru_cache
from html import escape

from docutils import nodes
from py_mini_racer import JSEvalException, MiniRacer
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from livepage.engine import new_engine
from livepage.quantities import quantities
from livepage.words import table

from .keep import kept
from .paths import VENDOR

SHORT = 24  # characters of TeX; such a formula fits the narrowest phone

# Only \htmlData may add attributes; every other doubt KaTeX has is an error.
RENDER = """
const macros = %s;
const options = {
  throwOnError: true, output: "htmlAndMathml",
  trust: ({command}) => {
    if (command === "\\\\htmlData") return true;
    throw new Error(command + " is not allowed");
  },
  strict: (code) => (code === "htmlExtension" ? "ignore" : "error"),
};
function typeset(tex, displayMode) {
  return katex.renderToString(tex, {...options, displayMode, macros: {...macros}});
}
"""


class MathsError(ValueError):
    """A formula KaTeX refuses."""


@lru_cache(maxsize=1)
def engine() -> MiniRacer:
    """V8 with KaTeX loaded and `typeset` defined."""
    macros = {
        quantity.macro: rf"\htmlData{{q={name}}}{{{quantity.tex}}}"
        for name, quantity in quantities().items()
    }
    context = new_engine()
    atexit.register(context.close)  # V8 left open can hang Python at its end
    context.eval((VENDOR / "katex" / "katex.min.js").read_text(encoding="utf-8"))
    context.eval(RENDER % json.dumps(macros))
    return context


@kept
def typeset(tex: str, display: bool = False) -> str:
    """HTML and MathML of one formula.

    Parameters
    ----------
    tex : str
        The formula in TeX, without dollars.
    display : bool
        Set on a line of its own, or within a sentence.

    Raises
    ------
    MathsError
        If KaTeX cannot read the formula; the message holds the formula.
    """
    try:
        return engine().eval(f"typeset({json.dumps(tex)}, {json.dumps(display)})")
    except JSEvalException as error:
        reason = re.search(r"\w*Error: (.*)", str(error))
        why = reason[1] if reason else str(error)
        raise MathsError(f"KaTeX cannot set the formula {tex!r}: {why}") from error


def _typeset_on_page(self: HTML5Translator, tex: str, display: bool) -> str:
    try:
        return typeset(tex, display)
    except MathsError as error:
        page = self.builder.current_docname
        raise ExtensionError(f"{page}: {error}") from error


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a sentence; a short one is never broken."""
    html = _typeset_on_page(self, node.astext(), display=False)
    short = len(node.astext()) <= SHORT
    self.body.append(f'<span class="whole">{html}</span>' if short else html)
    raise nodes.SkipNode


def visit_display(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own: reachable by keyboard, scrollable."""
    number = node.get("number")
    ids = f' id="{escape(node["ids"][0])}"' if node["ids"] else ""
    label = table("site", self.config.language)["equation"]
    counter = ""
    if number is not None:
        shown = get_node_equation_number(self, node)
        label += f" {shown}"
        counter = f'<span class="eqno">({escape(str(shown))})</span>'
    formula = _typeset_on_page(self, node.astext(), display=True)
    self.body.append(
        f'<div class="equation"{ids}>'
        f'<div class="math" role="group" tabindex="0" aria-label="{label}">'
        f"{formula}</div>{counter}</div>\n"
    )
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Make this the book's way to write maths."""
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_display, None))
