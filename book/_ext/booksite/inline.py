"""Front matter is short plain text with at most code, emphasis and a formula in it."""

from __future__ import annotations

import re
from html import escape

from .maths import typeset

_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w)")
_PIECE = re.compile(r"\$(?P<maths>[^$]+)\$|`(?P<code>[^`]+)`|\*(?P<em>[^*]+)\*")


def inline(text: str) -> str:
    """HTML of one line of front matter."""

    def piece(match: re.Match[str]) -> str:
        if match["maths"]:
            return typeset(match["maths"])
        tag = "code" if match["code"] else "em"
        return f"<{tag}>{escape(match[tag])}</{tag}>"

    text = _APOSTROPHE.sub("’", text)
    parts, end = [], 0
    for match in _PIECE.finditer(text):
        parts += [escape(text[end : match.start()], quote=False), piece(match)]
        end = match.end()
    return "".join(parts) + escape(text[end:], quote=False)
