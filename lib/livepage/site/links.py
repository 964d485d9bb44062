"""Links between chapters name the sources: `chapter.md#anchor`.

What is rendered are the notebooks made from those sources, so a link to a `.md` file is
one to the page of that name; or to the notebook, where that is handed out and no page.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

_SOURCE = re.compile(r"(?P<page>[\w/-]+)\.md(?:#(?P<anchor>.*))?")


def point_at_pages(app: Sphinx, doctree: nodes.document) -> None:
    """Let links to sources mean pages; MyST resolves and checks them as usual."""
    for link in list(doctree.findall(addnodes.pending_xref)):
        if link.get("reftype") != "myst" or link.get("refdomain"):
            continue
        found = _SOURCE.fullmatch(link["reftarget"])
        if found and found["page"] in app.env.found_docs:
            link["refdomain"] = "doc"
            link["reftarget"] = found["page"]
            link["reftargetid"] = found["anchor"]
        elif found and found["page"] in app.config.book_handouts:
            link.replace_self(handed_out(app, found["page"], link))


def handed_out(
    app: Sphinx, name: str, link: addnodes.pending_xref
) -> nodes.reference | list[nodes.Node]:
    """A link to a notebook; where none are packed, the words of the link alone."""
    if not app.config.book_notebooks:
        return link.children
    depth = app.env.docname.count("/")
    uri = f"{'../' * depth}{app.config.book_notebooks}{name}.ipynb"
    return nodes.reference("", "", *link.children, refuri=uri, internal=True)


def mark_terms(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Give links to the glossary a class of their own."""
    for inner in doctree.findall(nodes.inline):
        if "std-term" in inner["classes"] and isinstance(inner.parent, nodes.reference):
            inner.parent["classes"].append("term")


def setup(app: Sphinx) -> None:
    """Look at every page as it is read, and before it is written."""
    app.connect("doctree-read", point_at_pages)
    app.connect("doctree-resolved", mark_terms)
