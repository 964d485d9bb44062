"""The little markup of drill texts and of front matter, as HTML or as bare words.

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
    """Return maths as a notebook reads it; the site passes KaTeX instead."""
    return f"${escape(tex)}$"


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield the pieces of one run of text: what each is, and what it holds.

    Examples
    --------
    >>> list(pieces("Write `x` *now*."))
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


def inline(text: str, maths: Maths = plain_maths, lang: str = "") -> str:
    """Return one run of text as HTML, marked with its language if that is given.

    Examples
    --------
    >>> inline("Write `x < 1` *now*.")
    'Write <code>x &lt; 1</code> <em>now</em>.'
    """
    html = "".join(_marked(kind, content, maths) for kind, content in pieces(text))
    return f'<span lang="{lang}">{html}</span>' if lang and html else html


def _marked(kind: str, content: str, maths: Maths) -> str:
    if kind == "maths":
        return maths(content, False)
    if kind == "text":
        return escape(content, quote=False)
    inner = escape(content, quote=False) if kind == "code" else inline(content, maths)
    return f"<{kind}>{inner}</{kind}>"


def unmarked(text: str, maths: Callable[[str], str]) -> str:
    """Return one run of text without its marks; `maths` says what a formula reads as.

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
        for kind, content in pieces(text)
    )


def blocks(text: str, maths: Maths = plain_maths, lang: str = "") -> str:
    """Return a whole text as HTML: paragraphs, lists and fenced code."""
    spoken = f' lang="{lang}"' if lang else ""
    return "\n".join(_block(part, maths, spoken) for part in _parts(text))


def _parts(text: str) -> list[str]:
    """Split at blank lines, except inside fenced code."""
    parts = re.split(r"(```.*?```)", text.strip(), flags=re.DOTALL)
    return [
        piece.strip("\n")
        for part in parts
        for piece in ([part] if part.startswith("```") else re.split(r"\n\s*\n", part))
        if piece.strip()
    ]


def _block(part: str, maths: Maths, spoken: str) -> str:
    if part.startswith("```"):
        return code(part.strip("`").partition("\n")[2])
    if all(line.startswith("- ") for line in part.splitlines()):
        items = (inline(line[2:], maths) for line in part.splitlines())
        listed = "".join(f"<li>{item}</li>" for item in items)
        return f"<ul{spoken}>{listed}</ul>"
    return f"<p{spoken}>{inline(part, maths)}</p>"


def code(source: str) -> str:
    """Return a listing; one too wide can be scrolled by keyboard."""
    shown = escape(source.rstrip(), quote=False)
    return f'<pre tabindex="0"><code>{shown}</code></pre>'
