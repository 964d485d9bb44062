"""Brings `book/locale/<language>/*.po` up to date, and says how much is translated.

    python -m tools.translations             what `make translations` calls, after a build
    python -m tools.translations --check     changes nothing; refuses broken translations

A text that is new has no translation yet. A text that has changed keeps the old
translation as a proposal, marked fuzzy; readers see the English until somebody removes
the mark. Poedit, Weblate and other editors of `.po` files show both.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import nbformat
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import write_po

from livepage import sentences, yml
from livepage.drills.bank import read
from livepage.drills.entry import Drill
from livepage.drills.kinds.code.cases import names
from livepage.drills.words import in_language
from livepage.fixed import differences, has_words
from livepage.translations import read_file
from tools.build import FAILURES, HERE, Book, write
from tools.building import reader
from tools.building.chapters import Page
from tools.building.spans import changed_markup
from tools.building.translated import texts_of_notebook, texts_of_page, with_included

WITHOUT_PAGE = "book"  # the file of what belongs to no page: the title, the parts
# Lines that Babel writes into the head of a file, and that say nothing of this book.
EMPTY = re.compile(
    rb'^"(?:Report|POT-|PO-|Last-|Language-Team|Generated|Project).*\n', re.M
)
Text = tuple[str, str]  # where it stands, and its words


class Counts(NamedTuple):
    """How many texts of a page there are, and how many are translated."""

    texts: int
    translated: int
    fuzzy: int

    @property
    def missing(self) -> int:
        return self.texts - self.translated - self.fuzzy


def texts(book: Book) -> dict[str, list[Text]]:
    """Return the texts of each file: every text once, where it stands first."""
    found: dict[str, list[Text]] = {WITHOUT_PAGE: list(_of_the_book(book))}
    extensions = reader.extensions(book.book)
    for page in book.pages:
        found[page.name] = (
            list(texts_of_notebook(_executed(book.chapter(page)), extensions))
            if page.is_chapter
            else list(texts_of_page(_whole(page), extensions))
        )
    for drill in read(book.book / "drills").values():
        found[drill.file.removesuffix(".yml")] += texts_of_drill(drill)
    seen: set[str] = set()
    return {name: list(_new(each, seen)) for name, each in found.items()}


def _new(found: Iterable[Text], seen: set[str]) -> Iterator[Text]:
    for where, text in found:
        if has_words(text) and text not in seen:
            seen.add(text)
            yield where, text


def _executed(file: Path) -> nbformat.NotebookNode:
    if not file.exists():
        raise ValueError(f"no {file}: the outputs of cells are texts, too; build first")
    return nbformat.read(file, as_version=4)


def _whole(page: Page) -> str:
    return with_included(page.source.read_text("utf-8"), page.source.parent)


def _of_the_book(book: Book) -> Iterator[Text]:
    config, toc = yml.read(book.config), yml.read(book.toc)
    own = config["sphinx"]["config"]
    yield "title", config["title"]
    yield "short title", own["html_short_title"]
    yield "licence", own["book_licence"]
    for part in toc["parts"]:
        yield "part", part["caption"]


def texts_of_drill(drill: Drill) -> Iterator[Text]:
    """Yield every text of a drill that a reader reads, and where it stands."""
    fields = drill.fields

    def of(where: str, text: str | dict) -> Text:
        return f"drill {fields['id']}, {where}", in_language(text)

    yield of("prompt", fields["prompt"])
    for entry in fields.get("choices", []):
        yield of("choice", entry["text"])
    for field in ("lines", "points"):
        for text in fields.get(field, []):
            yield of(field.removesuffix("s"), text)
    for name in names(drill):
        yield of("name of a case", name)
    if "sizes" in fields:
        yield of("sizes", fields["sizes"])
    for field in ("wrong", "choices", "mutants"):
        for entry in fields.get(field, []):
            if "hint" in entry:
                answer = (
                    entry.get("value") or entry.get("text") or entry.get("name", "")
                )
                yield of(f"to the answer {str(answer)[:60]!r}", entry["hint"])
    for field in ("hints", "steps"):
        for text in fields.get(field, []):
            yield of(field.removesuffix("s"), text)
    for text in sentences.of_code(fields.get("drive", "")):
        yield of("said by its code", text)
    if "nudge" in fields:
        yield of("nudge", fields["nudge"])
    yield of("solution", fields["solution"])


def stored(folder: Path) -> dict[str, dict[str, Message]]:
    """Return the entries of each file of a language, by English text."""
    found = {}
    for file in sorted(folder.glob("*.po")):
        found[file.stem] = {one.id: one for one in read_file(file)}
    return found


def updated(
    page: str, wanted: list[Text], old: dict[str, dict[str, Message]], language: str
) -> Catalog:
    """Return the entries of a page: its texts in their order, with what is translated."""
    everywhere = {id: one for entries in old.values() for id, one in entries.items()}
    ids = {text for _, text in wanted}
    gone = [id for id in old.get(page, {}) if id not in ids and everywhere[id].string]
    new = Catalog(locale=language, header_comment="", fuzzy=False)
    for where, text in wanted:
        if was := everywhere.get(text):
            entry = new.add(text, was.string, auto_comments=[where])
            entry.flags |= was.flags & {"fuzzy"}
        elif near := get_close_matches(text, gone, n=1, cutoff=0.6):
            entry = new.add(text, everywhere[near[0]].string, auto_comments=[where])
            entry.flags.add("fuzzy")
            gone.remove(near[0])
        else:
            entry = new.add(text, auto_comments=[where])
        entry.flags -= {"python-brace-format", "python-format"}
    return new


def packed(catalog: Catalog) -> bytes:
    """Return the content of a `.po` file; each text stands on one line."""
    file = BytesIO()
    write_po(file, catalog, width=0)
    return EMPTY.sub(b"", file.getvalue()).lstrip()


def faults(page: str, entries: Iterable[Message]) -> Iterator[str]:
    """Yield what is wrong with translations that readers would see."""
    extensions = reader.extensions(HERE.book)
    for one in entries:
        if not one.id or one.fuzzy or not one.string:
            continue
        found = differences(one.id, one.string)
        found += changed_markup(one.id, one.string, extensions)
        if found:
            yield f"{page}.po: {one.id[:70]!r}: {'; '.join(found)}"


def contradictions(found: dict[str, dict[str, Message]]) -> Iterator[str]:
    """Yield the texts that two files translate in different ways."""
    first: dict[str, tuple[str, str]] = {}
    for page, entries in found.items():
        for one in entries.values():
            if one.fuzzy or not one.string:
                continue
            other, string = first.setdefault(one.id, (page, one.string))
            if string != one.string:
                yield f"{page}.po: {one.id[:70]!r}: {other}.po translates it otherwise"


def counted(entries: Iterable[Message]) -> Counts:
    """Count the texts of a page."""
    entries = [one for one in entries if one.id]
    fuzzy = sum(one.fuzzy for one in entries)
    done = sum(bool(one.string) and not one.fuzzy for one in entries)
    return Counts(len(entries), done, fuzzy)


def table(rows: dict[str, Counts]) -> str:
    """Return the report as lines of text: the pages, and all of them."""
    rows = rows | {"all": Counts(*map(sum, zip((0, 0, 0), *rows.values())))}
    width = max(map(len, rows))
    head = f"{'page':{width}}  texts  translated  fuzzy  missing"
    lines = [
        f"{name:{width}}  {c.texts:5}  {c.translated:10}  {c.fuzzy:5}  {c.missing:7}"
        for name, c in rows.items()
    ]
    return "\n".join([head, *lines])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only look for faults")
    options = parser.parse_args()
    try:
        return bring_up_to_date(options.check)
    except FAILURES as error:
        print(error, file=sys.stderr)
        return 1


def bring_up_to_date(only_check: bool) -> int:
    """Write the files, print the report; return 1 if a translation is broken."""
    complaints: list[str] = []
    for language in HERE.languages:
        folder = HERE.book / "locale" / language
        old = stored(folder)
        if not only_check:
            for page, wanted in texts(HERE).items():
                new = updated(page, wanted, old, language)
                write(folder / f"{page}.po", packed(new))
            old = stored(folder)
        print(table({page: counted(found.values()) for page, found in old.items()}))
        for page, found in old.items():
            complaints += faults(page, found.values())
        complaints += contradictions(old)
    print("\n".join(complaints))
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
