"""The bank: every drill of the book, read from ``book/drills/*.yml`` and checked.

The page, the notebook and the tests all start here. A mistake in a file is reported
with the file, the drill and the field it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from livepage import book, yml
from livepage.words import ENGLISH, LANGUAGES

# Fields of every drill, then the further fields of each kind: (required, optional).
COMMON = ({"id", "kind", "prompt", "solution"}, {"hints", "nudge", "steps"})
KINDS: dict[str, tuple[set[str], set[str]]] = {
    "numeric": ({"answer"}, {"wrong", "unit"}),
    "choice": ({"choices"}, set()),
    "order": ({"lines"}, {"wrong", "needs", "also"}),
    "recall": (set(), {"answer", "points", "wrong"}),
    "trace": ({"scores", "block", "columns", "oracle"}, {"values", "wrong"}),
    "code": (
        {"function", "starter", "code", "oracle", "cases", "compared", "mutants"},
        {"drive", "given", "tolerance", "random"},
    ),
    "kernel": (
        {"function", "starter", "code", "launch", "oracle", "cases", "mutants"},
        {"tolerance", "random", "larger", "ideal", "most", "together"}
        | {"share", "shared"}  # what one thread may take on, and what one block
        | {"single"}  # no arithmetic in float64
        | {"lean", "counts", "sizes"}  # rules for its loops, and what some of them take
        | {"bench"},  # that times it on the reader's GPU
    ),
}
WRITTEN = ("code", "kernel")  # answered with a text that is run
# Entries of the lists among them, each with the fields it may consist of.
HINTED = {"hint"}
ENTRIES: dict[tuple[str, str], list[set[str]]] = {
    ("numeric", "wrong"): [HINTED | {"value"}],
    ("choice", "choices"): [HINTED | {"text"}, {"text", "correct"}],
    ("order", "wrong"): [HINTED | {"first", "then"}],
    ("recall", "wrong"): [HINTED | {"value"}],
    ("trace", "wrong"): [
        HINTED | {"cell", "value"},
        HINTED | {"cell", "value", "rows"},
    ],
    ("code", "mutants"): [HINTED | {"name", "code"}, HINTED | {"name", "change"}],
    ("kernel", "mutants"): [HINTED | {"name", "code"}, HINTED | {"name", "change"}],
}
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True, eq=False)
class Drill:
    """One drill as its file gives it.

    Attributes
    ----------
    id : str
        Its name, the same in every language.
    kind : str
        numeric, choice, order, recall, trace, code or kernel.
    file : str
        Where it is written, for error messages: named as the chapter it belongs to.
    fields : mapping
        The rest, as in the file.
    """

    id: str
    kind: str
    file: str
    fields: Mapping[str, Any]

    @property
    def chapter(self) -> str:
        """The chapter it belongs to."""
        return self.file.removesuffix(".yml")

    def get(self, field: str, default: Any = None) -> Any:
        """Return a field, or the default where the file has none."""
        return self.fields.get(field, default)

    @property
    def mistakes(self) -> list[Mapping[str, Any]]:
        """The wrong answers it lists; graders know each by its number in this list."""
        field = {"choice": "choices", "code": "mutants", "kernel": "mutants"}
        return self.get(field.get(self.kind, "wrong"), [])

    def fault(self, field: str, message: str) -> ValueError:
        """Return the error that names this drill's file, id and field."""
        return ValueError(f"{self.file}, drill {self.id!r}, field {field!r}: {message}")


def in_language(text: Any, language: str = "en") -> str:
    """Return a text of the bank in a language, English where it has no other."""
    if isinstance(text, Mapping):
        return str(text.get(language, text[ENGLISH])).strip()
    return str(text).strip()


def foreign(text: Any, language: str) -> str:
    """Return the language of a text that is not in the page's own, else nothing."""
    translated = isinstance(text, Mapping) and language in text
    return "" if translated or language == ENGLISH else ENGLISH


def bank() -> dict[str, Drill]:
    """Return every drill of the book by id, in reading order."""
    return _bank(book.current().drills)


@cache
def _bank(folder: Path) -> dict[str, Drill]:
    return read(folder)


def find(id: str) -> Drill:
    """Return the drill with this id."""
    if not isinstance(id, str):
        raise ValueError(f"id: expected the name of a drill in quotes, got {id!r:.60}")
    if id not in bank():
        near = get_close_matches(id.strip().lower(), bank(), n=3, cutoff=0.6)
        names = " or ".join(repr(name) for name in near)
        hint = f"did you mean {names}?" if near else "its name stands in its cell"
        raise ValueError(f"id: no drill is called {id!r}; {hint}")
    return bank()[id]


def read(path: Path) -> dict[str, Drill]:
    """Read and check every drill file of a folder.

    Parameters
    ----------
    path : Path
        A folder of ``.yml`` files, each named as a chapter: ``{drills: [...]}``.

    Returns
    -------
    dict of str to Drill
        By id, in the order of the files and of the drills in them.
    """
    drills: dict[str, Drill] = {}
    for file in sorted(path.glob("*.yml")):
        for drill in _read_file(file):
            if drill.id in drills:
                raise drill.fault("id", f"{drills[drill.id].file} has it too")
            drills[drill.id] = drill
    return drills


def _read_file(file: Path) -> list[Drill]:
    content = yml.read(file)
    if not isinstance(content, dict) or set(content) != {"drills"}:
        raise ValueError(f"{file.name}: expected the key 'drills' and no other")
    return [
        _checked(fields, file.name, place)
        for place, fields in enumerate(content["drills"], start=1)
    ]


def _checked(fields: Any, file: str, place: int) -> Drill:
    if not isinstance(fields, dict) or not NAME.fullmatch(str(fields.get("id"))):
        raise ValueError(
            f"{file}, drill number {place}, field 'id': expected a name such as "
            f"'rescale-hard', got {str(fields)[:60]!r}"
        )
    drill = Drill(fields["id"], str(fields.get("kind")), file, fields)
    if drill.kind not in KINDS:
        kinds = sorted(KINDS)
        raise drill.fault("kind", f"expected one of {kinds}, got {drill.kind!r}")
    required, optional = (a | b for a, b in zip(COMMON, KINDS[drill.kind]))
    for field in sorted(required - set(fields)):
        raise drill.fault(field, f"missing; a {drill.kind} drill needs it")
    for field in sorted(set(fields) - required - optional):
        raise drill.fault(field, f"unknown; a {drill.kind} drill has no such field")
    _check_entries(drill)
    _check_texts(drill)
    return drill


def _check_entries(drill: Drill) -> None:
    """Every entry of a list has the fields one of its forms has, and no others."""
    for (kind, field), forms in ENTRIES.items():
        for place, entry in enumerate(drill.get(field, []), start=1):
            if kind == drill.kind and set(entry) not in forms:
                wanted = " or ".join(str(sorted(form)) for form in forms)
                raise drill.fault(field, f"entry {place}: expected {wanted}: {entry!r}")


def _check_texts(drill: Drill) -> None:
    """Every text is English, or a mapping from language to text that has English."""
    texts = [(f, drill.get(f)) for f in ("prompt", "solution", "nudge") if drill.get(f)]
    listed = ("hints", "steps", "points")
    texts += [(f, text) for f in listed for text in drill.get(f, [])]
    texts += [
        (field, entry[text])
        for field in ("wrong", "choices", "mutants")
        for entry in drill.get(field, [])
        for text in ("hint", "text")
        if text in entry
    ]
    for field, text in texts:
        if isinstance(text, str) and text.strip():
            continue
        if (
            not isinstance(text, dict)
            or ENGLISH not in text
            or set(text) - {*LANGUAGES}
        ):
            raise drill.fault(field, f"expected text or {{en: …, es: …}}, got {text!r}")
