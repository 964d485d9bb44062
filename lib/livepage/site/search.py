"""What search reads: every section of the book, its heading and its words.

The index is a script, not data, because a page opened from a folder may load scripts
and nothing else. It holds the words a page shows: citations by author and year, the
titles of figures, the questions of drills.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from livepage import markup
from livepage.quantities import quantities

from . import hosts

_QUIET = (
    nodes.comment,
    nodes.label,
    nodes.system_message,
    nodes.title,
    nodes.math_block,
)
NO_PROSE = (*_QUIET, nodes.raw, nodes.literal_block)
_OPERATORS = ("max", "min", "exp", "log", "tanh")
_SIGNS = {
    "approx": "≈",
    "cdot": "·",
    "dots": "…",
    "ge": "≥",
    "infty": "∞",
    "lceil": "⌈",
    "le": "≤",
    "lfloor": "⌊",
    "ne": "≠",
    "prod": "∏",
    "rceil": "⌉",
    "rfloor": "⌋",
    "square": "□",
    "sum": "∑",
    "times": "×",
}


# What TeX takes as one: braces, which may hold braces, or a command, or a character.
_BRACES = r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"
_ONE = rf"\s*(?:{_BRACES}|(\\[A-Za-z]+|[^\s\\]))"
_FRACTION = re.compile(r"\\[dt]?frac" + _ONE + _ONE)
_ROOT = re.compile(r"\\sqrt" + _ONE)
_RAISED = re.compile(r"([\^_])" + _BRACES)
_SPACE = re.compile(r"\\[,;: ]")
_COMMAND = re.compile(r"\\([A-Za-z]+)(?=(\\[A-Za-z]|\d)?)")
_SINGLE = re.compile(r"-?[\w.'∞√]+")
# What a cell takes from elsewhere does not tell what it is about.
_IMPORT = re.compile(r"^(?:from|import) .*$", re.MULTILINE)


def readable(tex: str) -> str:
    """A formula as a line of text, near enough to be found and recognised."""
    text = _FRACTION.sub(
        lambda found: _whole(found[1] or found[2]) + "/" + _whole(found[3] or found[4]),
        tex,
    )
    text = _ROOT.sub(lambda found: "√" + _whole(found[1] or found[2]), text)
    text = _RAISED.sub(lambda found: found[1] + _whole(found[2]), text)
    text = _COMMAND.sub(_sign, _SPACE.sub(" ", text.replace(r"\!", "")))
    return re.sub(r"\s+", " ", re.sub(r"[{}\\]", "", text)).strip()


def _whole(part: str) -> str:
    """What TeX holds together stays together on a line: (a + b)/c."""
    text = readable(part)
    return text if _SINGLE.fullmatch(text) else f"({text})"


def _sign(found: re.Match[str]) -> str:
    """The sign of a command; TeX parts log from what follows, text does not."""
    name = found[1]
    if name in _OPERATORS:
        return name + (" " if found[2] else "")
    return _signs().get(name, "")


@cache
def _signs() -> dict[str, str]:
    """The signs of commands, and the letters of the quantities."""
    letters = {
        tex.strip("\\"): one.letter
        for one in quantities().values()
        for tex in (one.macro, one.tex)
    }
    return _SIGNS | letters


def unmarked(line: str) -> str:
    """A line of front matter or of a drill, without its marks for code and formulas."""
    return markup.unmarked(line, readable)


def hosted(html: str, language: str) -> str:
    """What a reader sees first of an output's figures and drills: title, question.

    An unknown name is passed over here; the build stops where it cannot be drawn.
    """
    said = []
    if names := hosts.figures_on(html):
        from livepage.figures import registry

        known = [name for name in names if name in registry.ids()]
        said += [registry.strings(name)[language]["title"] for name in known]
    if names := hosts.drills_on(html):
        from livepage.drills import bank
        from livepage.drills.words import in_language

        known = [name for name in names if name in bank.bank()]
        prompts = [bank.find(name).get("prompt") for name in known]
        said += [unmarked(in_language(prompt, language)) for prompt in prompts]
    return " ".join(said)


def words(
    node: nodes.Node, quiet: tuple[type, ...] = _QUIET, language: str = "en"
) -> str:
    """Plain text of a node, without the text of the sections inside it."""
    if isinstance(node, nodes.Text):
        return node.astext()
    if isinstance(node, nodes.math):
        return readable(node.astext())
    bundle = isinstance(node, nodes.Element) and node.get("nb_element") == "mime_bundle"
    if bundle or isinstance(node, (nodes.section, *quiet)):
        return ""
    if isinstance(node, nodes.literal_block):
        return f" {_IMPORT.sub('', node.astext())} "
    if isinstance(node, nodes.raw):
        return f" {hosted(node.astext(), language)} "
    gap = "" if isinstance(node, nodes.TextElement) else " "
    return gap.join(words(child, quiet, language) for child in node.children) + gap


def sections(doctree: nodes.document) -> list[dict[str, Any]]:
    """Each section of a page: anchor and heading."""
    found = []
    for section in doctree.findall(nodes.section):
        heading = section.next_node(nodes.title)
        named = heading.astext() if heading else ""
        found.append({"anchor": section["ids"][0], "heading": named})
    return found


def shown(doctree: nodes.document, language: str) -> dict[str, str]:
    """The text of each section of a page that is ready to be written, by anchor."""
    found = {}
    for section in doctree.findall(nodes.section):
        text = " ".join(words(child, _QUIET, language) for child in section.children)
        found[section["ids"][0]] = re.sub(r"\s+", " ", text).strip()
    return found


def remember(app: Sphinx, doctree: nodes.document) -> None:
    """Keep a page's sections when it is read; unread pages keep theirs."""
    store(app.env)[app.env.docname] = sections(doctree)


def listen(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Keep a page's text once its citations are names and its sources a list."""
    texts(app.env)[docname] = shown(doctree, app.config.language)


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Drop a page that changed or went."""
    store(env).pop(docname, None)
    texts(env).pop(docname, None)


def store(env: BuildEnvironment) -> dict[str, list[dict[str, Any]]]:
    """Page name to sections."""
    if not hasattr(env, "book_sections"):
        env.book_sections = {}
    return env.book_sections


def texts(env: BuildEnvironment) -> dict[str, dict[str, str]]:
    """Page name to the texts of its sections, as the page was last written.

    They are not kept in the environment, which is stored before pages are written.
    """
    if not hasattr(env.app, "book_texts"):
        file = _file(env)
        stored = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        env.app.book_texts = stored
    return env.app.book_texts


def _file(env: BuildEnvironment) -> Path:
    return Path(env.doctreedir, "texts.json")


def text_of(env: BuildEnvironment, page: str, anchor: str) -> str:
    """What a section shows."""
    if page not in texts(env):
        env.get_and_resolve_doctree(page, env.app.builder)  # `listen` hears it
    return texts(env)[page].get(anchor, "")


def places(env: BuildEnvironment) -> list[tuple[str, int, dict[str, Any]]]:
    """Every section of the book: its page, its place there, what is known of it."""
    return [
        (page, place, section)
        for page, found in sorted(store(env).items())
        if page in env.titles
        for place, section in enumerate(found)
    ]


def address(page: str, place: int, section: dict[str, Any]) -> str:
    """Where a section is; the first one is the page itself."""
    return f"{page}.html" + (f"#{section['anchor']}" if place else "")


def entries(env: BuildEnvironment) -> list[tuple[str, str, str, str]]:
    """Address, page, heading and text of every section, and of every term explained."""
    return [*_sections(env), *_terms(env)]


def _terms(env: BuildEnvironment) -> list[tuple[str, str, str, str]]:
    """The entries of glossaries, each found by its own name."""
    found = []
    for page, doctree in _pages_with_terms(env):
        title = env.titles[page].astext()
        for item in doctree.findall(nodes.definition_list_item):
            term, text = item.next_node(nodes.term), item.next_node(nodes.definition)
            if term is not None and term["ids"] and text is not None:
                address = f"{page}.html#{term['ids'][0]}"
                found.append((address, title, term.astext(), words(text).strip()))
    return found


def _pages_with_terms(env: BuildEnvironment) -> list[tuple[str, nodes.document]]:
    objects = env.get_domain("std").get_objects()
    pages = sorted({page for _, _, kind, page, *_ in objects if kind == "term"})
    return [(page, env.get_doctree(page)) for page in pages]


def _sections(env: BuildEnvironment) -> list[tuple[str, str, str, str]]:
    return [
        (
            address(page, place, section),
            env.titles[page].astext(),
            section["heading"],
            text_of(env, page, section["anchor"]),
        )
        for page, place, section in places(env)
    ]


def headings(env: BuildEnvironment) -> list[tuple[str, str, str]]:
    """Page, heading and address of every section: search without scripts."""
    return [
        (env.titles[page].astext(), section["heading"], address(page, place, section))
        for page, place, section in places(env)
    ]


def index(env: BuildEnvironment) -> str:
    """The classic script that hands the index to `search.js`."""
    packed = json.dumps(entries(env), ensure_ascii=False, separators=(",", ":"))
    _file(env).write_text(json.dumps(texts(env)), encoding="utf-8")
    return f"window.bookIndex={packed};\n"


def setup(app: Sphinx) -> None:
    """Follow every page as it is read, and as it is written."""
    app.connect("doctree-read", remember)
    app.connect("doctree-resolved", listen)
    app.connect("env-purge-doc", forget)
