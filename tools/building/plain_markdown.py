"""Translates MyST Markdown into the Markdown that every notebook program renders.

Jupyter knows neither the book's roles nor its admonitions, so they become ordinary
Markdown here. MyST's own parser finds roles, directives, links and formulas, with their
positions. Only these spans are rewritten; the rest of the text is copied unchanged.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from itertools import groupby

from docutils.parsers.rst.directives import admonitions
from markdown_it.token import Token
from myst_parser.parsers.directives import parse_directive_text
from pybtex.database import BibliographyData

from livepage.quantities import checked, quantities
from livepage.road import Stop
from livepage.words import ENGLISH, table
from tools.building import citing
from tools.building.spans import DIRECTIVE, Located

PAGE = re.compile(r"([\w-]+)\.md(#.*)?")
ASIDES = {
    "admonition": admonitions.Admonition,
    "note": admonitions.Note,
    "tip": admonitions.Tip,
    "important": admonitions.Important,
    "warning": admonitions.Warning,
}
ONLY_ON_THE_PAGE = {"bibliography", "drills"}
REFUSED = {"footnote_ref": "a footnote", "math_block_label": "a numbered equation"}

Edit = tuple[int, int, str]  # start and end of a span, and the text that replaces it


@dataclass(frozen=True)
class Context:
    """What a notebook uses of the book besides its chapter."""

    bibliography: BibliographyData
    notebooks: frozenset[str] = frozenset()  # the pages that can be downloaded too
    road: tuple[Stop, ...] = ()
    site: str | None = None  # the address of the published pages
    extensions: frozenset[str] = frozenset({"dollarmath", "amsmath"})  # of MyST
    language: str = ENGLISH

    @property
    def words(self) -> Mapping[str, str]:
        """The site's words in the language of the book."""
        return table("site", self.language)


def plain_markdown(text: str, values: dict, book: Context) -> str:
    """Return a cell's MyST Markdown as every notebook program renders it.

    `values` are those that the chapter glued, by name. Raise `ValueError` if a value is
    missing, or if a notebook has no form for something in the text.
    """
    edits = _Translation(text, values, book).edits()
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


class _Translation:
    """The translation of one text."""

    def __init__(self, text: str, values: dict, book: Context) -> None:
        self.text, self.values, self.book = text, values, book
        self.located = Located(text, book.extensions)
        self.roles: dict[str, Callable[[str], str]] = {
            "glue:text": self._number,
            "label": lambda word: f"({word})",
            "term": lambda word: re.sub(r"\s*<[^>]*>$", "", word),
            "q": lambda name: quantities()[checked(name, "the role q got")].letter,
            "cite:p": lambda keys: citing.in_brackets(keys, book.bibliography),
            "cite:t": lambda keys: citing.in_a_sentence(keys, book.bibliography),
        }

    def edits(self) -> Iterator[Edit]:
        """Yield what to rewrite; no two spans overlap."""
        before = None
        for token in self.located.tokens:
            _refuse(token)
            if token.type == "inline":
                cell = before is not None and before.type in ("th_open", "td_open")
                yield from self._inline(token, cell)
            elif token.type == "fence" and token.info.startswith("{"):
                yield self._block(token, self._directive(token))
            elif token.type == "myst_target":
                yield self._block(token, f'<a id="{token.content}"></a>')
            elif token.type == "myst_line_comment":
                yield self._block(token, "")
            elif token.type in ("math_block", "amsmath"):
                start, end = self.located.span(token)
                yield start, end, _without_macros(self.text[start:end])
            before = token

    def _block(self, token: Token, new: str) -> Edit:
        """Replace a block, with the margin of the quotation or the list around it."""
        start, end = self.located.span(token)
        margin = re.match("[^`(%]*", self.text[start:end])[0]
        following = re.sub("[^> ]", " ", margin)
        return start + len(margin), end, new.replace("\n", f"\n{following}")

    def _inline(self, token: Token, cell: bool) -> Iterator[Edit]:
        """Yield the edits of a paragraph, a heading or the cell of a table."""
        offsets = self.located.offsets(token, cell)
        for start, end, new in self._inline_edits(token):
            new = new.replace("|", r"\|") if cell else new
            yield offsets[start], offsets[end - 1] + 1, new

    def _inline_edits(self, token: Token) -> Iterator[Edit]:
        """Yield the edits with offsets in the token's own text."""
        for child in token.children:
            _refuse(child)
            start, end = child.meta.get("span", (0, 0))
            if child.type == "myst_role":
                yield start, end, self._role(child)
            elif child.type.startswith("math_inline"):
                yield start, end, _without_macros(token.content[start:end])
            elif child.type == "link_open" and (
                page := PAGE.fullmatch(child.attrs["href"])
            ):
                label = child.meta["label"]
                address = self._address(page[1], page[2] or "")
                yield start, start + 1, "[" if address else ""
                yield label, end, f"]({address})" if address else ""

    def _address(self, page: str, anchor: str) -> str:
        """Return the address of a page's notebook, else of the page, else nothing."""
        if page in self.book.notebooks:
            return f"{page}.ipynb{anchor}"
        if self.book.site:
            return f"{self.book.site.rstrip('/')}/{page}.html{anchor}"
        return ""

    def _role(self, token: Token) -> str:
        name = token.meta["name"]
        if name not in self.roles:
            raise ValueError(
                f"{{{name}}}`{token.content}`: a notebook has no form for this role; "
                f"expected one of {', '.join(self.roles)}"
            )
        return self.roles[name](token.content)

    def _number(self, role: str) -> str:
        name, _, form = role.partition(":")
        if name not in self.values:
            raise ValueError(f"{{glue:text}}`{role}`: nothing named {name!r} was glued")
        value = self.values[name]
        try:
            return format(value, form) if form else str(value)
        except ValueError as error:
            raise ValueError(f"{{glue:text}}`{role}`: {error}: {value!r}") from None

    def _directive(self, token: Token) -> str:
        """Translate an admonition or the road; omit what only a page can show."""
        name, first = DIRECTIVE.fullmatch(token.info).groups()
        if name in ONLY_ON_THE_PAGE:
            return ""
        if name == "road":
            return plain_markdown(_road(self.book), {}, self.book)
        if name not in ASIDES:
            known = ", ".join([*ASIDES, "road", *sorted(ONLY_ON_THE_PAGE)])
            raise ValueError(
                f"{{{name}}}: a notebook has no form for this directive; "
                f"expected one of {known}"
            )
        aside = parse_directive_text(ASIDES[name], first, token.content)
        title = "".join(aside.arguments) or self.book.words.get(name, name.capitalize())
        body = plain_markdown("\n".join(aside.body), self.values, self.book).strip()
        folded = "dropdown" in aside.options.get("class", ())
        return _folded(title, body) if folded else _quoted(title, body)


def _refuse(token: Token) -> None:
    """Raise at syntax that a notebook would show as it is written."""
    if token.type in REFUSED:
        raise ValueError(f"a notebook has no form for {REFUSED[token.type]}")


def _without_macros(maths: str) -> str:
    """Replace the book's macros in a formula by the letters of the quantities."""
    for quantity in quantities().values():
        macro = re.escape(quantity.macro) + "(?![a-zA-Z])"
        maths = re.sub(macro, quantity.tex.replace("\\", r"\\"), maths)
    return maths


def _quoted(title: str, body: str) -> str:
    lines = f"**{title}**\n\n{body}".splitlines()
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _folded(title: str, body: str) -> str:
    """Return `body` folded away: it may answer a question."""
    # The blank lines end the HTML, so that the text between them is Markdown.
    summary = f"<summary>{escape(title, quote=False)}</summary>"
    return f"<details>{summary}\n\n{body}\n\n</details>"


def _road(book: Context) -> str:
    """Return the map of the cover as one list for each part."""
    parts = groupby(book.road, key=lambda stop: stop.part)
    return "\n\n".join(
        f"**{part}**\n\n" + "\n".join(_stop(stop, book) for stop in stops)
        for part, stops in parts
    )


def _stop(stop: Stop, book: Context) -> str:
    there = f"[{stop.title}]({stop.file}.md)"
    name = there if stop.file else f"{stop.title} ({book.words['soon']})"
    return f"{stop.number}. {name}. {stop.line}"
