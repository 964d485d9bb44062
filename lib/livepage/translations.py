"""A book's texts in another language, read from the `.po` files under `locale/<language>/`.

A text is looked up by its English words. An entry that is marked fuzzy, because the
English has changed, is not shown: until somebody translates it anew, readers see the
English with a mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, partial
from html import escape
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from livepage import book
from livepage.digest import digest
from livepage.fixed import has_words
from livepage.words import ENGLISH, table

if TYPE_CHECKING:
    from babel.messages.catalog import Message

_PO_TEXT = r'"(?:[^"\\\n]|\\.)*"'
_PO_LINE = re.compile(rf"\s*(?:#.*|(?:(?:msgctxt|msgid|msgstr)\s*)?{_PO_TEXT}\s*)?")
_PO_ID = re.compile(rf"^[ \t]*msgid((?:\s*{_PO_TEXT})+)", re.M)
_PO_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_GROUPED = r"(?<![\d.,])[1-9]\d{0,2}(?:%s\d{3})+(?!\d|,\d)"
_KEPT = r"(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)|\]\([^)\s]*|<(?!\s)[^<>]*>|https?://\S+"
_NUMBERS = re.compile(
    rf"(?P<kept>{_KEPT})|(?P<formula>\$[^$]+\$)|" + _GROUPED % ",", re.DOTALL
)
_IN_FORMULA = re.compile(_GROUPED % r"\{,\}")
# Stands before a text of a page that is not translated, until the page is rendered.
UNTRANSLATED = "\u2e3f"


def translation(text: str, language: str) -> str | None:
    """Return a text in a language; None if there is no current translation."""
    if language == ENGLISH:
        return text
    found = catalogue(language).get(text.strip()) if has_words(text) else text
    return found and regrouped(found)


def regrouped(text: str) -> str:
    """Return a text with its thousands grouped by thin spaces, from 10,000 on.

    A comma would be read as a decimal comma. Code and addresses keep their commas.
    """

    def spaced(match: re.Match[str]) -> str:
        if match["kept"]:
            return match[0]
        if match["formula"]:
            return _IN_FORMULA.sub(partial(_joined, space=r"\,"), match[0])
        return _joined(match, "\u202f")

    return _NUMBERS.sub(spaced, text)


def _joined(number: re.Match[str], space: str) -> str:
    groups = re.split(r"\{?,\}?", number[0])
    return (space if len("".join(groups)) > 4 else "").join(groups)


def catalogue(language: str) -> Mapping[str, str]:
    """Return every current translation of the book into a language, by English text.

    The files are read once; `forget` has them read again.
    """
    return _read(book.current(), language)


def forget() -> None:
    """Let the files be read again: they may have changed."""
    _read.cache_clear()


def po_files(language: str) -> list[Path]:
    """Return the files of a language, one for each page."""
    return sorted((book.current().folder / "locale" / language).glob("*.po"))


@cache
def _read(current: book.Book, language: str) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for file in po_files(language):
        found |= dict(_entries(file))
    return found


def _entries(file: Path) -> Iterator[tuple[str, str]]:
    for message in read_file(file):
        if message.string and not message.fuzzy:
            yield message.id, message.string


def read_file(file: Path) -> list[Message]:
    """Return the entries of a `.po` file; raise if it is damaged, and say on which line."""
    from babel.messages import pofile  # what a notebook shows needs no Babel

    content = file.read_bytes()
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{file}:{line}: this is not UTF-8") from None
    for number, line in enumerate(text.split("\n"), 1):
        if not _PO_LINE.fullmatch(line):
            wanted = "expected msgid, msgstr, a text in quotation marks or a # comment"
            raise ValueError(f"{file}:{number}: {wanted}, got {line.strip()!r}")
    seen: dict[str, int] = {}
    for entry in _PO_ID.finditer(text):
        words = "".join(_PO_STRING.findall(entry[1]))
        number = text.count("\n", 0, entry.start()) + 1
        if words in seen:
            again = f"this text has an entry already, on line {seen[words]}"
            raise ValueError(f"{file}:{number}: {again}: {words[:70]!r}")
        seen[words] = number
    try:
        found = pofile.read_po(StringIO(text), abort_invalid=True)
    except pofile.PoFileError as error:
        raise ValueError(f"{file}:{error.lineno + 1}: {error}") from None
    return [message for message in found if message.id]


def version(texts: Any, language: str) -> str:
    """Return a digest of the translations of all texts within lists and mappings."""
    found = catalogue(language)
    return digest([], *(found.get(text.strip(), "") for text in strings(texts)))


def strings(value: Any) -> Iterator[str]:
    """Yield every string within lists and mappings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from strings(each)


def unsigned(text: str, language: str) -> tuple[str, str]:
    """Return a text without the sign of one that is not translated, and its attributes."""
    if not text.startswith(UNTRANSLATED):
        return text, ""
    return text.removeprefix(UNTRANSLATED), in_english(language)


def in_english(language: str) -> str:
    """Return the attributes of a text that has no translation yet."""
    words = escape(table("site", language)["untranslated"])
    return f'lang="{ENGLISH}" data-untranslated="{words}"'
