"""The book's fonts, cut down to the characters the book uses."""

from __future__ import annotations

import hashlib
import html
import io
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

# Prose wants its ligatures; code must show every character as it was typed.
FEATURES = {
    "source-serif-4": ["kern", "liga", "tnum"],
    "inter": ["kern", "tnum"],
    "jetbrains-mono": [],
    "katex": [],
}
ALWAYS = "".join(map(chr, range(0x20, 0x7F)))
ALWAYS += "\u00a0«»¿¡áéíñóúüÁÉÍÑÓÚ–—‘’“”…·×−→←↑↓"


def characters(texts: Iterable[str]) -> str:
    """Every character of the texts, and those any page may come to need."""
    return "".join(sorted(set(ALWAYS).union(*texts)))


_FORMULA = re.compile(r'<span [^>]*class="(?:katex-html|q)"')
_DATA = re.compile(r'<script [^>]*"application/json"[^>]*>(.*?)</script>', re.DOTALL)
_TOKEN = re.compile(r"<(/?)(\w+)[^>]*>|[^<]+")


def _strings(value: object) -> Iterator[str]:
    """Every text within a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        inner = value.values() if isinstance(value, dict) else value
        for each in inner:
            yield from _strings(each)


def formula_characters(pages: Iterable[str]) -> str:
    """The characters formulas are set in, also of those that wait in data blocks."""
    found: set[str] = set()
    for page in pages:
        found.update(*(_text(page, start.start()) for start in _FORMULA.finditer(page)))
        for data in (text for text in _DATA.findall(page) if "katex" in text):
            found.update(formula_characters(_strings(json.loads(data))))
    return "".join(sorted(found))


def _text(page: str, start: int) -> str:
    """The text of the span that starts here."""
    texts, depth = [], 0
    for token in _TOKEN.finditer(page, start):
        if token[2] is None:
            texts.append(token[0])
        elif token[2] == "span":
            depth += -1 if token[1] else 1
            if not depth:
                break
    return html.unescape("".join(texts))


def cut(font: Path, wanted: str, keep: Path) -> bytes | None:
    """A font with only the wanted characters, as woff2.

    Parameters
    ----------
    font : Path
        The font as vendored.
    wanted : str
        Characters to keep.
    keep : Path
        Folder in which cut fonts are kept from build to build.

    Returns
    -------
    bytes or None
        None if the font has none of the wanted characters.
    """
    whole = font.read_bytes()
    features = next(FEATURES[name] for name in font.parts if name in FEATURES)
    key = hashlib.sha256(whole + f"{wanted}{features}".encode()).hexdigest()
    kept = keep / f"{key}.woff2"
    if not kept.exists():
        keep.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(_cut(whole, wanted, features))
    return kept.read_bytes() or None


def _cut(whole: bytes, wanted: str, features: list[str]) -> bytes:
    options = subset.Options(
        flavor="woff2", layout_features=features, hinting=False, notdef_outline=True
    )
    font = TTFont(io.BytesIO(whole), recalcTimestamp=False)
    if not set(map(ord, wanted)) & set(font.getBestCmap()):
        return b""
    cutter = subset.Subsetter(options)
    cutter.populate(text=wanted)
    cutter.subset(font)
    font.flavor = "woff2"
    out = io.BytesIO()
    font.save(out, reorderTables=False)
    return out.getvalue()
