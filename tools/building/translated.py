"""Writes a page in another language: paragraph by paragraph, before Sphinx reads it.

Cells run once, for the English page; the translated page takes their code and outputs. A
paragraph without a current translation stays English, behind a sign that the site turns
into a mark.
"""

import ast
import re
import unicodedata
from collections.abc import Iterator
from copy import deepcopy
from html import escape, unescape
from pathlib import Path
from typing import Any

import yaml
from nbformat import NotebookNode

from livepage.prose import HIDDEN
from livepage.translations import UNTRANSLATED, in_english, regrouped, translation
from tools.building.spans import Span, spans

FRONT = ("description", "line")  # front matter that readers read
FRONT_LISTS = ("learn", "need")
FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.S)
DISPLAYED = re.compile(r"^([ >]*)\$\$\n.*?^\1\$\$$", re.M | re.S)
IN_FORMULA = re.compile(r"(\\text\{\s*)([^{}]*?)(\s*\})")
INCLUDE = re.compile(
    r"^```\{include\} (?P<file>\S+)\n"
    r'(?::start-after: "(?P<after>[^"]+)"\n)?(?::end-before: "(?P<before>[^"]+)"\n)?```$',
    re.M,
)
GLOSSARY = re.compile(r"^```\{glossary\}\n(.*?)^```$", re.M | re.S)
NAMED = re.compile(r'(\b(?:aria-label|alt|data-label)=")([^"]*)(?=")')
SHOWN = re.compile(
    r"(?P<before><(?!pre|code)[^<>]*>\s*)(?P<text>[^<>\s][^<>]*?)(?=\s*<)"
    r"|(?P<tag><[^<>]*>)"
)
OPENING = re.compile(r"<\w[^<>]*(?<!/)(?=>)")
MACHINE = re.compile(r"; \d{4}-\d\d-\d\d;")  # names, versions and a date
GLUED = f"{HIDDEN}text/plain"
QUANTITY = re.compile(r"[\d.,]+ ?\w{0,4}")  # a number, and perhaps its unit
HOST = re.compile(r'class="os-(?:figure|drill|use)"')


def markdown(text: str, language: str, extensions: frozenset[str]) -> str:
    """Return a Markdown text in a language."""
    for span in reversed(spans(text, extensions)):
        text = text[: span.start] + _in(span, text, language) + text[span.end :]
    text = DISPLAYED.sub(lambda formula: _formula(formula[0], language), text)
    return GLOSSARY.sub(_sorted, text)


def _formula(formula: str, language: str) -> str:
    """Return a formula with its numbers and the words in it as a language has them."""

    def new(match: re.Match[str]) -> str:
        return match[1] + (translation(match[2], language) or match[2]) + match[3]

    return IN_FORMULA.sub(new, regrouped(formula))


def texts_of_markdown(
    text: str, extensions: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """Yield the kind and the words of each text, those in formulas too."""
    yield from ((span.kind, span.text) for span in spans(text, extensions))
    for formula in DISPLAYED.finditer(text):
        for words in IN_FORMULA.finditer(formula[0]):
            yield "in a formula", words[2]


def _in(span: Span, text: str, language: str) -> str:
    new = translation(span.text, language)
    if span.kind == "glossary-term":
        # The English term is what other pages link to, and what readers may look for.
        return span.text if new in (None, span.text) else f"{new}\n{span.text}"
    if new is None:
        return UNTRANSLATED + text[span.start : span.end]
    return new.replace("|", r"\|") if span.kind in ("th", "td") else new


def _sorted(glossary: re.Match[str]) -> str:
    """Sort the entries of a glossary anew: the alphabet knows no accents."""
    entries = re.split(r"\n\s*\n", glossary[1].strip())
    return "```{glossary}\n" + "\n\n".join(sorted(entries, key=_plain)) + "\n```"


def _plain(entry: str) -> str:
    letters = unicodedata.normalize("NFD", entry.casefold())
    return "".join(one for one in letters if not unicodedata.combining(one))


def with_included(text: str, folder: Path) -> str:
    """Return a page with the parts of other files that it includes; `folder` is its own."""

    def part(found: re.Match[str]) -> str:
        whole = (folder / found["file"].lstrip("/")).read_text("utf-8")
        after = whole.partition(found["after"])[2] if found["after"] else whole
        return after.partition(found["before"])[0] if found["before"] else after

    return INCLUDE.sub(part, text)


def front(head: dict[str, Any], language: str) -> dict[str, Any]:
    """Return front matter, a page's own or a notebook's, in a language."""
    new = dict(head)
    for key in set(FRONT) & set(new):
        new[key] = _line(new[key], language)
    for key in set(FRONT_LISTS) & set(new):
        new[key] = [_line(one, language) for one in new[key]]
    return new


def _line(text: str, language: str) -> str:
    new = translation(text, language)
    return UNTRANSLATED + text if new is None else new


def page(text: str, language: str, extensions: frozenset[str]) -> str:
    """Return the text of a page that has no cells."""
    found = FRONT_MATTER.match(text)
    if not found:
        return markdown(text, language, extensions)
    head = front(yaml.safe_load(found[1]), language)
    packed = yaml.safe_dump(head, allow_unicode=True, sort_keys=False, width=10_000)
    body = markdown(text[found.end() :], language, extensions)
    return f"---\n{packed}---\n{body}"


def notebook(
    nb: NotebookNode, language: str, extensions: frozenset[str]
) -> NotebookNode:
    """Return an executed notebook with its texts in a language."""
    new = deepcopy(nb)
    new.metadata.update(front(nb.metadata, language))
    for cell in new.cells:
        if cell.cell_type == "code":
            for data in _shown(cell):
                data["text/html"] = html(data["text/html"], language)
            if "fold" in cell.metadata:
                fold = cell.metadata["fold"]
                cell.metadata["fold"] = _line(fold, language)
            for data, words in _glued(cell):
                data[GLUED] = repr(_line(words, language))
        else:
            cell.source = markdown(cell.source, language, extensions)
    return new


def _shown(cell: NotebookNode) -> Iterator[dict[str, str]]:
    """The HTML that a cell gave, besides figures and drills, which speak by themselves."""
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "text/html" in data and not HOST.search(data["text/html"]):
            yield data


def _glued(cell: NotebookNode) -> Iterator[tuple[dict[str, str], str]]:
    """The words that a cell hands to the prose, with the output that holds them."""
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        words = ast.literal_eval(data[GLUED]) if GLUED in data else None
        if isinstance(words, str) and not QUANTITY.fullmatch(words):
            yield data, words


def html(text: str, language: str) -> str:
    """Return the HTML of an output in a language; what is not translated is marked."""

    def named(match: re.Match[str]) -> str:
        was = unescape(match[2])
        found = translation(was, language)
        return match[0] if found in (None, was) else match[1] + escape(found)

    def new(match: re.Match[str]) -> str:
        start = NAMED.sub(named, match["before"] or match["tag"])
        if not match["text"]:
            return start
        was = unescape(match["text"])
        found = regrouped(was) if MACHINE.search(was) else translation(was, language)
        if found is None:
            return _marked(start, match["text"], in_english(language))
        return start + (match["text"] if found == was else escape(found))

    return SHOWN.sub(new, text)


def _marked(start: str, text: str, english: str) -> str:
    """Mark an English text behind a tag: the element itself, if the tag opens it."""
    tag = OPENING.match(start)
    if tag and "lang=" not in tag[0]:
        return f"{tag[0]} {english}{start[tag.end() :]}{text}"
    return f"{start}<span {english}>{text}</span>"


def texts_of_page(source: str, extensions: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the kind and the words of each text of a page without cells."""
    found = FRONT_MATTER.match(source)
    yield from texts_of_front(yaml.safe_load(found[1]) if found else {})
    body = source[found.end() :] if found else source
    yield from texts_of_markdown(body, extensions)


def texts_of_notebook(
    nb: NotebookNode, extensions: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """Yield the kind and the words of each text of an executed notebook."""
    yield from texts_of_front(nb.metadata)
    for cell in nb.cells:
        if cell.cell_type == "code":
            for data in _shown(cell):
                yield from texts_of_html(data["text/html"])
            yield from (("in a sentence", words) for _, words in _glued(cell))
            if "fold" in cell.metadata:
                yield "fold", cell.metadata["fold"]
        else:
            yield from texts_of_markdown(cell.source, extensions)


def texts_of_html(text: str) -> Iterator[tuple[str, str]]:
    """Yield the texts of an output: what it shows, and what it says to screen readers."""
    for match in SHOWN.finditer(text):
        named = (words for _, words in NAMED.findall(match["before"] or match["tag"]))
        for words in (*named, match["text"] or ""):
            shown = unescape(words).strip()
            if shown and not MACHINE.search(shown):
                yield "output", shown


def texts_of_front(head: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the texts of front matter."""
    for key in FRONT:
        if head.get(key):
            yield key, head[key]
    for key in FRONT_LISTS:
        for one in head.get(key, []):
            yield key, one
