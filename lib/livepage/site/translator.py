"""From the document tree to HTML: only what the book's pages need, named for itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.writers.html5 import HTML5Translator

from livepage.translations import in_english, unsigned
from livepage.words import ENGLISH, table

from . import code_cells, hosts
from .quantities import link_identifiers
from .translated import untranslated

_PYTHON = {"python", "python3", "ipython", "ipython3", "py"}
# What `code.css` gives no colour; names of quantities are marked by then.
_COLOURLESS = re.compile(r'<span class="(?:bp|fm|n|nb|nn|o|p|w)">([^<]*)</span>')
_EXCEPTION = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception|Interrupt)\b.*", re.M)


class BookTranslator(HTML5Translator):
    """Writes the body of one page."""

    @property
    def words(self) -> Mapping[str, str]:
        """The interface's words in the page's language."""
        return table("site", self.config.language)

    # Cells -----------------------------------------------------------------

    def visit_container(self, node: nodes.container) -> None:
        """A cell keeps its name as an anchor, so that a table can point at it."""
        kind = node.get("nb_element")
        if kind == "cell_code":
            name = node["cell_metadata"].get("name")
            anchor = f' id="cell-{escape(name)}"' if name else ""
            runs = code_cells.attributes(self.document, node)
            self.body.append(f'<div class="cell"{anchor}{runs}>\n')
        elif kind in ("cell_code_source", "cell_code_output"):
            part = "input" if kind == "cell_code_source" else "output"
            self.body.append(f'<div class="cell-{part}">\n')
        else:
            self.body.append(self.starttag(node, "div"))

    def depart_container(self, node: nodes.container) -> None:
        """Close a cell or a part of one."""
        self.body.append("</div>\n")

    def add_permalink_ref(self, node: nodes.Element, title: str) -> None:
        """A heading's own address is for the mouse: in a list of links it says nothing."""
        before = len(self.body)
        super().add_permalink_ref(node, self.words["link_here"])
        aside = '<a class="headerlink" aria-hidden="true" tabindex="-1"'
        for place in range(before, len(self.body)):
            self.body[place] = self.body[place].replace('<a class="headerlink"', aside)

    def visit_raw(self, node: nodes.raw) -> None:
        """HTML outputs: hosts are filled, the rest passes as it is."""
        if "html" not in node.get("format", "").split():
            raise nodes.SkipNode
        try:
            html = hosts.fill(node.astext(), self.config.language)
        except hosts.HostError as error:
            page = self.builder.current_docname
            raise ExtensionError(f"{page}: {error}") from error
        plain = isinstance(node.parent, nodes.TextElement) or html != node.astext()
        self.body.append(html if plain else f'<div class="rich">{html}</div>\n')
        raise nodes.SkipNode

    # Code ------------------------------------------------------------------

    def visit_literal_block(self, node: nodes.literal_block) -> None:
        """Source code, or the text a cell printed."""
        if "traceback" in node["classes"]:
            self._write_error(node.astext())
        elif "output" in node["classes"]:
            self._write_output(node)
        else:
            self._write_code(node)
        raise nodes.SkipNode

    def _write_error(self, text: str) -> None:
        # The frames above name files of the machine that ran the cell: of no use here.
        lines = list(_EXCEPTION.finditer(text))
        message = text[lines[-1].start() :] if lines else text
        self.body.append(
            f'<pre class="printed error" tabindex="0">{escape(message.strip())}</pre>\n'
        )

    def _write_output(self, node: nodes.literal_block) -> None:
        kind = " warned" if "stderr" in node["classes"] else ""
        self.body.append(
            f'<pre class="printed{kind}" tabindex="0">'
            f"{escape(node.astext().rstrip())}</pre>\n"
        )

    def _write_code(self, node: nodes.literal_block) -> None:
        language = node.get("language", "none")
        lexer = self.highlighter.get_lexer(node.astext(), language, location=node)
        html = highlight(node.astext(), lexer, HtmlFormatter(nowrap=True)).rstrip()
        if language in _PYTHON:
            html = self._link(node, html)
        html = _COLOURLESS.sub(r"\1", html)
        self.body.append(
            f'<div class="code"><pre tabindex="0"><code>{html}</code></pre></div>\n'
        )

    def _link(self, node: nodes.literal_block, html: str) -> str:
        try:
            return link_identifiers(html, _cell_metadata(node).get("quantities"))
        except ValueError as error:
            page = self.builder.current_docname
            raise ExtensionError(f"{page}: {error}") from error

    # Blocks ----------------------------------------------------------------

    def visit_admonition(self, node: nodes.Element, name: str = "") -> None:
        """A note with a heading; with the class dropdown, folded."""
        title, english = self.words.get(name, name.capitalize()), ""
        if not name and isinstance(node[0], nodes.title):
            own = node.pop(0)
            title = own.astext()
            if next(own.findall(untranslated), None):
                english = " " + in_english(self.config.language)
        folded = "dropdown" in node["classes"]
        tag, head = ("details", "summary") if folded else ("div", "p")
        role = {} if folded else {"role": "note"}
        kinds = f"aside {name or 'plain'}" + (" fold" if folded else "")
        node["folded"] = folded
        ids = node["ids"]
        node["classes"] = []
        self.body.append(self.starttag(node, tag, CLASS=kinds, ids=ids, **role))
        opened = f'<{head} class="aside-title"{english}>'
        self.body.append(f"{opened}{escape(title)}</{head}>\n")

    def depart_admonition(self, node: nodes.Element | None = None) -> None:
        """Close what `visit_admonition` opened."""
        folded = node is not None and node.get("folded")
        self.body.append("</details>\n" if folded else "</div>\n")

    def visit_note(self, node: nodes.Element) -> None:
        """A note."""
        self.visit_admonition(node, "note")

    def visit_tip(self, node: nodes.Element) -> None:
        """A tip."""
        self.visit_admonition(node, "tip")

    def visit_important(self, node: nodes.Element) -> None:
        """Something not to miss."""
        self.visit_admonition(node, "important")

    def depart_note(self, node: nodes.Element) -> None:
        """Close a note."""
        self.depart_admonition(node)

    depart_tip = depart_important = depart_note

    def visit_table(self, node: nodes.table) -> None:
        """A table scrolls within its own box, so that the page never does."""
        self.body.append('<div class="table" tabindex="0">')
        super().visit_table(node)

    def depart_table(self, node: nodes.table) -> None:
        """Close the table and its box."""
        super().depart_table(node)
        self.body.append("</div>\n")

    def visit_entry(self, node: nodes.entry) -> None:
        """A cell; an empty corner heads nothing, so it is no heading."""
        super().visit_entry(node)
        if not node.astext().strip() and self.body[-1].startswith("<th"):
            self.body[-1] = self.body[-1].replace("<th", "<td", 1)
            self.context[-1] = self.context[-1].replace("</th", "</td")

    def visit_desc(self, node: nodes.Element) -> None:
        """What a docstring says: it is English on each page."""
        super().visit_desc(node)
        self._say_english("<dl")

    def visit_paragraph(self, node: nodes.paragraph) -> None:
        """A paragraph; that of a module's docstring is English, too."""
        super().visit_paragraph(node)
        if "docstring of" in (node.source or ""):
            self._say_english("<p")

    def _say_english(self, tag: str) -> None:
        """Name the language of what begins here, on a page in another one."""
        if self.config.language != ENGLISH:
            self.body[-1] = self.body[-1].replace(tag, f'{tag} lang="{ENGLISH}"', 1)

    def visit_term(self, node: nodes.term) -> None:
        """A term; a second one for the same is the original of a translation."""
        super().visit_term(node)
        if isinstance(node.previous_sibling(), nodes.term):
            self._say_english("<dt")

    # Sources ---------------------------------------------------------------

    def visit_citation(self, node: nodes.citation) -> None:
        """One source; the sentence names it by authors and year, so no label."""
        if not isinstance(node.previous_sibling(), nodes.citation):
            self.body.append('<ul class="sources">\n')
        node.remove(node[0])
        language = {} if self.config.language == ENGLISH else {"lang": ENGLISH}
        self.body.append(self.starttag(node, "li", **language))  # a source is English

    def depart_citation(self, node: nodes.citation) -> None:
        """Close the source, and the list after the last."""
        self.body.append("</li>\n")
        following = node.next_node(descend=False, siblings=True)
        if not isinstance(following, nodes.citation):
            self.body.append("</ul>\n")


def _cell_metadata(node: nodes.Node) -> dict[str, Any]:
    """Metadata of the cell a node lies in; empty outside cells."""
    while node is not None:
        if isinstance(node, nodes.container) and "cell_metadata" in node:
            return node["cell_metadata"]
        node = node.parent
    return {}


def visit_hidden_input(self: BookTranslator, node: HideCodeCellNode) -> None:
    """Code, or what it gave, that the reader may unfold."""
    is_code = "above-input" in node["classes"]
    name = self.words["show_code" if is_code else "show_output"]
    title, english = unsigned(
        _cell_metadata(node).get("fold", name), self.config.language
    )
    summary = f"<summary{english and ' ' + english}>{escape(title)}</summary>"
    self.body.append(f'<details class="fold folded-code">{summary}\n')


def depart_hidden_input(self: BookTranslator, node: HideCodeCellNode) -> None:
    """Close the folded code."""
    self.body.append("</details>\n")


def register_nodes(app: Sphinx) -> None:
    """Take back two kinds of nodes that MyST's extensions write in their own way."""
    app.add_node(
        HideCodeCellNode,
        override=True,
        html=(visit_hidden_input, depart_hidden_input),
    )
    app.add_node(
        nodes.container,
        override=True,
        html=(BookTranslator.visit_container, BookTranslator.depart_container),
    )
