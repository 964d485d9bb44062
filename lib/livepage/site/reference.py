"""Pages made from docstrings: what autodoc finds, in the words that this book uses.

Of a module only the first paragraph is shown, because the rest tells who reads the file
how it is laid out. Docstrings write code between single backticks.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.domains.python import PyObject
from sphinx.environment import BuildEnvironment

_NAMES = re.compile(r"\w+(, \w+)+(?= :|$)")
_CODE = re.compile(r"(?<![`:\w])`([^`\n]+)`(?![`_])")


def _joined(names: re.Match[str]) -> str:
    return names[0].replace(", ", "/")


def prepare(
    app: Sphinx, what: str, name: str, found: object, options: object, lines: list[str]
) -> None:
    """Change the lines of a docstring in place."""
    if what == "module" and "" in lines:
        del lines[lines.index("") :]
    # Names that share a description stay together: Sphinx would repeat it for each
    # parameter, and of several attributes keep the last.
    if what in ("class", "exception", "function"):
        lines[:] = [_NAMES.sub(_joined, ln) if _NAMES.match(ln) else ln for ln in lines]
    lines[:] = [_CODE.sub(r"``\1``", line) for line in lines]


def skip(
    app: Sphinx, what: str, name: str, found: object, left_out: bool, options: object
) -> bool | None:
    """Leave out the fields of a named tuple: its docstring lists them with words."""
    return True if type(found).__name__ == "_tuplegetter" else None


def leave_words(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: nodes.Element
) -> nodes.Element | None:
    """Types are written in words: what is the name of nothing stays a word."""
    return shown if node.get("refdomain") == "py" else None


def setup(app: Sphinx) -> None:
    """Load autodoc, and change docstrings before napoleon reads them."""
    for extension in ("sphinx.ext.autodoc", "sphinx.ext.napoleon"):
        app.setup_extension(extension)
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"  # as NumPy's docstrings call them
    app.connect("autodoc-process-docstring", prepare, priority=100)
    app.connect("autodoc-skip-member", skip)
    app.connect("missing-reference", leave_words)
