"""Renders the small markup language of drill texts and front matter, as HTML or plain text.

Paragraphs, ``- `` lists, fenced code, `code`, *em*, **strong** and $maths$: as much as
a prompt needs. Everything else is shown as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape

Maths = Callable[[str, bool], str]

INLINE = re.compile(
    r"`(?P<code>[^`]+)`|\$(?P<maths>[^$]+)\$"
    r"|\*\*(?P<strong>.+?)\*\*|\*(?P<em>[^*\s](?:[^*]*[^*\s])?)\*"
)


def plain_maths(tex: str, display: bool = False) -> str:
    """Return maths in the notation of notebooks; the site passes KaTeX instead."""
    return f"${escape(tex)}$"


def spans(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the content of each span of one run of text.

    Examples
    --------
    >>> list(spans("Write `x` *now*."))
    [('text', 'Write '), ('code', 'x'), ('text', ' '), ('em', 'now'), ('text', '.')]
    """
    end = 0
    for match in INLINE.finditer(text):
        if match.start() > end:
            yield "text", text[end : match.start()]
        yield str(match.lastgroup), match[str(match.lastgroup)]
        end = match.end()
    if text[end:]:
        yield "text", text[end:]


def inline(text: str, maths: Maths = plain_maths, attributes: str = "") -> str:
    """Return one run of text as HTML; with attributes, in an element of its own.

    Examples
    --------
    >>> inline("Write `x < 1` *now*.")
    'Write <code>x &lt; 1</code> <em>now</em>.'
    """
    html = "".join(_element(kind, content, maths) for kind, content in spans(text))
    return f"<span {attributes}>{html}</span>" if attributes and html else html


def _element(kind: str, content: str, maths: Maths) -> str:
    if kind == "maths":
        return maths(content, False)
    if kind == "text":
        return escape(content, quote=False)
    inner = escape(content, quote=False) if kind == "code" else inline(content, maths)
    return f"<{kind}>{inner}</{kind}>"


def unmarked(text: str, maths: Callable[[str], str]) -> str:
    """Return one run of text without its markup; `maths` gives the text of a formula.

    Examples
    --------
    >>> unmarked("**Write `x`**, $2$ times.", lambda tex: tex)
    'Write x, 2 times.'
    """
    return "".join(
        maths(content)
        if kind == "maths"
        else unmarked(content, maths)
        if kind in ("strong", "em")
        else content
        for kind, content in spans(text)
    )


def blocks(text: str, maths: Maths = plain_maths, attributes: str = "") -> str:
    """Return a whole text as HTML: paragraphs, lists and fenced code."""
    own = f" {attributes}" if attributes else ""
    return "\n".join(_block(block, maths, own) for block in _split_blocks(text))


def _split_blocks(text: str) -> list[str]:
    """Split at blank lines, except inside fenced code."""
    parts = re.split(r"(```.*?```)", text.strip(), flags=re.DOTALL)
    return [
        block.strip("\n")
        for part in parts
        for block in ([part] if part.startswith("```") else re.split(r"\n\s*\n", part))
        if block.strip()
    ]


def _block(block: str, maths: Maths, attribute: str) -> str:
    if block.startswith("```"):
        return code(block.strip("`").partition("\n")[2])
    if all(line.startswith("- ") for line in block.splitlines()):
        items = (inline(line[2:], maths) for line in block.splitlines())
        html = "".join(f"<li>{item}</li>" for item in items)
        return f"<ul{attribute}>{html}</ul>"
    return f"<p{attribute}>{inline(block, maths)}</p>"


def code(source: str) -> str:
    """Return a code listing; a listing that is too wide can be scrolled by keyboard."""
    text = escape(source.rstrip(), quote=False)
    return f'<pre tabindex="0"><code>{text}</code></pre>'
