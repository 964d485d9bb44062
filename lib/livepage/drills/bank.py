"""The bank: every drill of the book, read from ``book/drills/*.yml`` and checked.

The page, the notebook and the tests all start here. An error in a file is reported with
the names of the file, the drill and the field.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from livepage import book, yml
from livepage.drills.entry import Drill
from livepage.drills.kinds import KINDS
from livepage.words import ENGLISH, LANGUAGES

# Required and optional fields of every drill. Each kind adds its own.
COMMON = ({"id", "kind", "prompt", "solution"}, {"hints", "nudge", "page", "steps"})
WRITTEN = tuple(name for name, kind in KINDS.items() if kind.written)
LISTED = ("hints", "steps", "points")  # fields with several texts
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def bank() -> dict[str, Drill]:
    """Return every drill of the book by id, in reading order."""
    return _bank(book.current())


@cache
def _bank(current: book.Book) -> dict[str, Drill]:
    return read(current.drills)


def find(id: str) -> Drill:
    """Return the drill with this id."""
    if not isinstance(id, str):
        raise ValueError(f"id: expected the name of a drill in quotes, got {id!r:.60}")
    drills = bank()
    if id not in drills:
        near = get_close_matches(id.strip().lower(), drills, n=3, cutoff=0.6)
        names = " or ".join(repr(name) for name in near)
        hint = f"did you mean {names}?" if near else "its name stands in its cell"
        raise ValueError(f"id: no drill is called {id!r}; {hint}")
    return drills[id]


def read(path: Path) -> dict[str, Drill]:
    """Read and check every drill file of a folder.

    Parameters
    ----------
    path : Path
        A folder of ``.yml`` files, ``{drills: [...]}``, each named as a chapter. A drill
        with the field ``page`` belongs to another chapter.

    Returns
    -------
    dict of str to Drill
        Drills by id, in the order of the files and, within a file, of its entries.
    """
    drills: dict[str, Drill] = {}
    for file in sorted(path.glob("*.yml")):
        for drill in _read_file(file):
            if drill.id in drills:
                raise drill.fault("id", f"{drills[drill.id].file} has it too")
            # A drill that takes over another one's fields asks something of its own.
            for other in drills.values():
                if other.get("prompt") == drill.get("prompt"):
                    raise drill.fault("prompt", f"drill {other.id!r} has it too")
            drills[drill.id] = drill
    return drills


def _read_file(file: Path) -> list[Drill]:
    content = yml.read(file)
    if not isinstance(content, dict) or set(content) != {"drills"}:
        raise ValueError(f"{file.name}: expected the key 'drills' and no other")
    if not isinstance(content["drills"], list):
        raise ValueError(f"{file.name}: expected a list of drills")
    return [
        _checked(fields, file.name, number)
        for number, fields in enumerate(content["drills"], start=1)
    ]


def _checked(fields: Any, file: str, number: int) -> Drill:
    if not isinstance(fields, dict) or not NAME.fullmatch(str(fields.get("id"))):
        raise ValueError(
            f"{file}, drill number {number}, field 'id': expected a name such as "
            f"'rescale-hard', got {str(fields)[:60]!r}"
        )
    drill = Drill(fields["id"], str(fields.get("kind")), file, fields)
    if drill.kind not in KINDS:
        kinds = sorted(KINDS)
        raise drill.fault("kind", f"expected one of {kinds}, got {drill.kind!r}")
    kind = KINDS[drill.kind]
    required, optional = COMMON[0] | kind.needs, COMMON[1] | kind.may_have
    for field in sorted(required - set(fields)):
        raise drill.fault(field, f"missing; a {drill.kind} drill needs it")
    for field in sorted(set(fields) - required - optional):
        raise drill.fault(field, f"unknown; a {drill.kind} drill has no such field")
    _check_values(drill)
    _check_entries(drill)
    _check_texts(drill)
    return drill


def _check_values(drill: Drill) -> None:
    """Check that no field is empty, and that what holds several things is a list."""
    for field, value in drill.fields.items():
        if value is None:
            raise drill.fault(field, "expected a value; to have none, leave it out")
        is_listed = field in LISTED or field in KINDS[drill.kind].entries
        if is_listed and not isinstance(value, list):
            raise drill.fault(field, f"expected a list, got {value!r}")


def _check_entries(drill: Drill) -> None:
    """Check that each entry of a list has exactly the fields of one allowed form."""
    for field, forms in KINDS[drill.kind].entries.items():
        for number, entry in enumerate(drill.get(field, []), start=1):
            if not isinstance(entry, dict) or set(entry) not in forms:
                wanted = " or ".join(str(sorted(form)) for form in forms)
                raise drill.fault(
                    field, f"entry {number}: expected {wanted}: {entry!r}"
                )


def _check_texts(drill: Drill) -> None:
    """Check that each text is English, or a mapping by language that has English."""
    texts = [(f, drill.get(f)) for f in ("prompt", "solution", "nudge") if drill.get(f)]
    texts += [(f, text) for f in LISTED for text in drill.get(f, [])]
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
