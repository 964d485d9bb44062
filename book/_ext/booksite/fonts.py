"""The book's fonts, cut down to the characters the book uses."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

FEATURES = ["kern", "liga", "calt", "ccmp", "locl", "mark", "mkmk", "tnum", "pnum"]
ALWAYS = "".join(map(chr, range(0x20, 0x7F))) + " «»¿¡áéíñóúüÁÉÍÑÓÚ–—‘’“”…·×−→←↑↓"


def characters(texts: Iterable[str]) -> str:
    """Every character of the texts, and those any page may come to need."""
    return "".join(sorted(set(ALWAYS).union(*texts)))


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
    key = hashlib.sha256(whole + wanted.encode() + repr(FEATURES).encode()).hexdigest()
    kept = keep / f"{key}.woff2"
    if not kept.exists():
        keep.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(_cut(whole, wanted))
    return kept.read_bytes() or None


def _cut(whole: bytes, wanted: str) -> bytes:
    options = subset.Options(
        flavor="woff2", layout_features=FEATURES, hinting=False, notdef_outline=True
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
