"""Finds the texts of a page that a reader reads: paragraphs, headings, cells of tables.

MyST's own parser says where they stand. What is between them, code, formulas and markup
of blocks, is nobody's text and stays as it is.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from livepage.fixed import has_words

DIRECTIVE = re.compile(r"\{([\w:-]+)\}\s*(.*)")
ASIDES = {"admonition", "note", "tip", "important", "warning"}  # they hold Markdown
OPTION = re.compile(r"\s*(:[\w-]+:.*)?")
STRAY = re.compile(r"[*$`\[\]]")  # a sign of Markdown that marks nothing


@dataclass(frozen=True)
class Span:
    """A text in a source: where it starts and ends, and its words on one line."""

    start: int
    end: int
    text: str
    kind: str = "paragraph"  # the type of the block: paragraph, heading, td, term, …


class Located:
    """A Markdown text with MyST's tokens, and where they stand in the source."""

    def __init__(self, text: str, extensions: frozenset[str]) -> None:
        self.text = text
        self.tokens = parser(extensions).parse(text)
        lines = text.split("\n")
        self.line_starts = [*accumulate((len(x) + 1 for x in lines), initial=0)]
        self.read = 0  # the offset up to which inline tokens have been located

    def span(self, token: Token) -> tuple[int, int]:
        """Return the offsets at which a block starts and ends."""
        assert token.map, token
        first, after = token.map
        return self.line_starts[first], self.line_starts[after] - 1

    def offsets(self, token: Token, cell: bool) -> list[int]:
        """Return the offset in the text of each character of an inline token.

        The token's lines lack the margin of a quotation or a list, and those of a table's
        cell lack the backslash before each bar.
        """
        offsets: list[int] = []
        assert token.map, token
        for number, line in enumerate(token.content.split("\n"), token.map[0]):
            start = max(self.line_starts[number], self.read)
            written = line.replace("|", r"\|") if cell else line
            offset = self.text.index(written, start)
            for character in line:
                offset += cell and character == "|"
                offsets.append(offset)
                offset += 1
            offsets.append(offset)  # the end of the line
            self.read = offset
        return offsets


@cache
def parser(extensions: frozenset[str]) -> MarkdownIt:
    """Return MyST's parser, whose inline tokens carry their position in `meta`."""
    config = MdParserConfig(enable_extensions=set(extensions))
    made = create_md_parser(config, RendererHTML)
    inline = made.inline.ruler
    rules = zip(inline.get_active_rules(), inline.getRules(""), strict=True)
    for name, rule in list(rules):
        inline.at(name, partial(_located, rule))
    return made


def _located(rule: Callable, state: StateInline, silent: bool) -> bool:
    """Apply a rule of the inline parser, and record the span of its tokens."""
    start, before = state.pos, len(state.tokens)
    matches = rule(state, silent)
    if matches and not silent:
        for token in state.tokens[before:]:
            token.meta.setdefault("span", (start, state.pos))
            if token.type == "link_open":
                label = state.md.helpers.parseLinkLabel(state, start)
                token.meta.setdefault("label", label)
    return matches


def changed_markup(text: str, new: str, extensions: frozenset[str]) -> list[str]:
    """Say in which marks of Markdown a translation differs from a text.

    It may have more emphasis: it tells the English term so. Its words stand on as few
    lines, since what is around them may be a list or a table.
    """
    found = []
    ours, theirs = (parser(extensions).parse(each) for each in (new, text))
    if new.strip() != new or [one.type for one in ours] != [one.type for one in theirs]:
        found.append("is no longer the same kind of block")
    elif new.count("\n") > text.count("\n"):
        found.append("has more lines")
    wanted, given = _marks(theirs), _marks(ours)
    lacks, adds = wanted - given, given - wanted
    del adds["em"]
    found += [f"lacks the mark {one}" for one in lacks.elements()]
    return found + [f"adds the mark {one}" for one in adds.elements()]


def _marks(tokens: list[Token]) -> Counter[str]:
    found: Counter[str] = Counter()
    for token in (one for block in tokens for one in block.children or ()):
        if token.type == "text":
            found.update(STRAY.findall(token.content))
        elif token.type == "html_inline":
            found[token.content] += 1
        elif not token.type.endswith(("_close", "break")):
            target = token.attrGet("href") or token.attrGet("src") or ""
            found[f"{token.type.removesuffix('_open')} {target}".strip()] += 1
    return found


def spans(text: str, extensions: frozenset[str]) -> list[Span]:
    """Return the texts of a Markdown source, in order; no two overlap."""
    return [span for span in _spans(text, extensions) if has_words(span.text)]


def _spans(text: str, extensions: frozenset[str]) -> Iterator[Span]:
    located, before = Located(text, extensions), None
    for token in located.tokens:
        if token.type == "inline" and token.content.strip():
            assert before
            kind = before.type.removesuffix("_open")
            cell = kind in ("th", "td")
            offsets = located.offsets(token, cell)
            line = " ".join(token.content.split())
            yield Span(offsets[0], offsets[len(token.content) - 1] + 1, line, kind)
        elif token.type == "fence" and (
            head := DIRECTIVE.fullmatch(token.info.strip())
        ):
            yield from _in_directive(located, token, head, extensions)
        before = token


def _in_directive(
    located: Located, token: Token, head: re.Match[str], extensions: frozenset[str]
) -> Iterator[Span]:
    """The title and the body of an admonition, and the entries of a glossary."""
    name, title = head[1], head[2].strip()
    if name not in ASIDES | {"glossary"}:
        return
    start, _ = located.span(token)
    if title:
        at = located.text.index(title, start)
        yield Span(at, at + len(title), title, "title")
    body = token.content
    at = located.text.index(body, start)
    options = 0
    for line in body.splitlines(keepends=True):
        if not OPTION.fullmatch(line.rstrip("\n")):
            break
        options += len(line)
    rest = body[options:]
    inner = _entries(rest) if name == "glossary" else _spans(rest, extensions)
    for span in inner:
        shift = at + options
        yield Span(span.start + shift, span.end + shift, span.text, span.kind)


def _entries(text: str) -> Iterator[Span]:
    """The terms of a glossary and what is said of each."""
    for line in re.finditer(r"^( *)(\S.*)$", text, re.M):
        kind = "definition" if line[1] else "glossary-term"
        yield Span(line.start(2), line.end(2), line[2], kind)
