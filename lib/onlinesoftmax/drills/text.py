"""The little markup of drill texts, as HTML.

Paragraphs, ``- `` lists, fenced code, `code`, *em*, **strong** and $maths$: as much as
a prompt needs. Everything else is shown as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

Maths = Callable[[str, bool], str]

INLINE = re.compile(
    r"`(?P<code>[^`]+)`|\$(?P<maths>[^$]+)\$"
    r"|\*\*(?P<strong>.+?)\*\*|\*(?P<em>[^*\s](?:[^*]*[^*\s])?)\*"
)


def plain_maths(tex: str, display: bool = False) -> str:
    """Return maths as a notebook reads it; the site passes KaTeX instead."""
    return f"${escape(tex)}$"


def inline(text: str, maths: Maths = plain_maths, lang: str = "") -> str:
    """Return one run of text as HTML, marked with its language if that is given.

    Examples
    --------
    >>> inline("Write `x < 1` *now*.")
    'Write <code>x &lt; 1</code> <em>now</em>.'
    """
    parts, place = [], 0
    for match in INLINE.finditer(text):
        parts.append(escape(text[place : match.start()], quote=False))
        parts.append(_marked(match, maths))
        place = match.end()
    html = "".join(parts) + escape(text[place:], quote=False)
    return f'<span lang="{lang}">{html}</span>' if lang and html else html


def _marked(match: re.Match[str], maths: Maths) -> str:
    kind, content = str(match.lastgroup), match[str(match.lastgroup)]
    if kind == "maths":
        return maths(content, False)
    inner = escape(content, quote=False) if kind == "code" else inline(content, maths)
    return f"<{kind}>{inner}</{kind}>"


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
