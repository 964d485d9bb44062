"""The bank keeps its promises: answers pass, mistakes earn their hint, mutants die."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from livepage import book, cells
from livepage.drills import check, drill, page_html
from livepage.drills.bank import WRITTEN, bank, read
from livepage.drills.entry import Drill
from livepage.drills.kind import hint_of as earned
from livepage.drills.kinds.code import cases as code
from livepage.drills.page import HERE
from livepage.drills.payload import payload
from livepage.drills.words import column, in_language, table
from marking import PRELUDE, run

DRILLS = list(bank().values())
NUMBER_WORDS = "zero one two three four five six seven eight nine ten".split()


def of_kind(*kinds: str) -> Any:
    """Parametrise over the drills of some kinds."""
    chosen = [d for d in DRILLS if d.kind in kinds]
    return pytest.mark.parametrize("d", chosen, ids=lambda d: d.id)


# ---- hints


def texts(d: Drill) -> list[str]:
    """Return every hint of a drill: staged ones and those of misconceptions."""
    slips = [
        entry for field in ("wrong", "choices", "mutants") for entry in d.get(field, [])
    ]
    hints = [*d.get("hints", []), *(slip["hint"] for slip in slips if "hint" in slip)]
    return [in_language(hint) for hint in hints]


def secrets(d: Drill) -> set[str]:
    """Return what a hint must not contain: the answer, in the ways one may write it."""
    squeezed = {"".join(str(d.get("answer", {}).get("value", " ")).split())}
    if d.kind == "choice":
        return {in_language(c["text"]) for c in d.get("choices") if c.get("correct")}
    if d.kind in WRITTEN:
        lines = {line.strip() for line in d.get("code").splitlines()}
        new = {line for line in lines if line not in d.get("starter")}
        return {line for line in new if len(line) > 12}
    if d.kind == "trace":
        cells = [float(c) for row in payload(d)["rows"] for c in row]
        return {f"{c:.{n}f}" for c in cells if c % 1 for n in (3, 4)}
    return {s for s in squeezed if len(s) > 3}


@pytest.mark.parametrize("d", DRILLS, ids=lambda d: d.id)
def test_a_hint_never_contains_the_answer(d: Drill) -> None:
    for hint in texts(d):
        for secret in secrets(d):
            assert secret not in hint and secret not in "".join(hint.split())
        if d.kind == "numeric":
            assert not says(hint, float(payload(d)["goal"]["value"])), hint


def says(hint: str, value: float) -> bool:
    """Say whether a hint names a number, in digits or as a word; maths is free."""
    prose = re.sub(r"\$[^$]*\$|`[^`]*`|\d+-bit", " ", hint).lower()
    digits = [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", prose)]
    words = set(re.findall(r"[a-z]+", prose))
    ambiguous = {"one"}  # "the new one", "one at a time"
    named = [i for i, w in enumerate(NUMBER_WORDS) if w in words and w not in ambiguous]
    said = [*digits, *map(float, named)]
    return any(abs(n - value) <= 2e-3 * abs(value) for n in said)


# ---- code


@of_kind("code", "kernel")
def test_the_reference_passes_and_the_starter_fails(d: Drill) -> None:
    assert run(d, d.get("code"))["passed"], run(d, d.get("code"))
    assert not run(d, d.get("starter"))["passed"]


@of_kind("code", "kernel")
def test_every_mutant_dies_on_a_case_with_a_name_and_earns_its_hint(d: Drill) -> None:
    cases = payload(d)["cases"]
    for mutant, source in zip(d.get("mutants"), code.mutants(d), strict=True):
        report = run(d, PRELUDE + source)
        assert not report["passed"], mutant["name"]
        assert earned(d, report) == mutant["hint"], mutant["name"]
        assert cases[report["case"]]["name"] != "random", mutant["name"]


@of_kind("code")
def test_the_heading_of_a_column_is_a_name(d: Drill) -> None:
    """A column may be called like a word of the kit, but not like a sentence of it."""
    for name in [*d.get("compared"), *d.fields.get("given", [])]:
        assert "{" not in column(name) + column(name, "es"), name


# ---- the bank as a whole


def test_at_most_two_in_five_are_a_choice() -> None:
    for chapter in {d.chapter for d in DRILLS}:
        kinds = [d.kind for d in DRILLS if d.chapter == chapter]
        assert kinds.count("choice") <= 0.4 * len(kinds), chapter


def test_each_chapter_has_something_to_build_and_something_to_debug() -> None:
    for chapter in ("02-the-rescaling-trick", "03-the-online-recurrence"):
        written = [d for d in DRILLS if d.chapter == chapter and d.kind == "code"]
        debug = [d for d in written if d.get("mutants")[0]["name"] == "as found"]
        assert debug and len(written) > len(debug), chapter


ROLE = re.compile(r"\{[a-z:]+\}`")


def test_a_drill_writes_no_role_of_a_page() -> None:
    """Drills know code, emphasis and formulas; `{q}` and its like would be shown."""
    assert ROLE.search("added to {q}`l` and {glue:text}`n`")
    for file in sorted(book.current().drills.glob("*.yml")):
        assert ROLE.findall(file.read_text("utf-8")) == [], file.name


def test_every_word_is_used() -> None:
    listed = ("*.py", "kinds/*/*.py", "kinds/*/*.mjs", "page/*.mjs", "grading.json")
    folders = (HERE, Path(cells.__file__).parent)  # cells speak with the same words
    sources = [path for at in folders for each in listed for path in at.glob(each)]
    text = "\n".join(source.read_text() for source in sources)
    kinds = {"numeric", "choice", "order", "recall", "trace", "code", "kernel"}
    levels = {"full", "half", "blank"}
    how = {f"how{kind.capitalize()}" for kind in {*kinds, "own"}}
    by_name = {"noPython", "silent", "tooLong", "missing", "block", "scores"}
    asked = {k for k in table()["en"] if k.startswith("asked")}
    keys = table()["en"]
    unused = {k for k in keys if f'"{k}"' not in text and f"'{k}'" not in text}
    assert unused - kinds - levels - how - by_name - asked == set()


# ---- a bank with a fault says where

GOOD = {
    "id": "sum",
    "kind": "numeric",
    "prompt": "1 + 1?",
    "answer": {"value": "1 + 1", "to": "exact"},
    "solution": "2",
}
FAULTS = {
    "unknown": ({"hintz": ["…"]}, "field 'hintz': unknown"),
    "missing": ({"solution": None}, "field 'solution': missing"),
    "kind": ({"kind": "essay"}, "field 'kind': expected one of"),
    "name": ({"id": "No Name"}, "drill number 1, field 'id'"),
    "expression": (
        {"answer": {"value": "1 +", "to": "exact"}},
        "field 'answer': cannot read '1 \\+'",
    ),
    "precision": (
        {"answer": {"value": "1"}},
        "field 'answer': expected {value: …, to: …}",
    ),
    "digits": (
        {"answer": {"value": "1", "to": "9 digits"}},
        "field 'answer': expected to:",
    ),
    "language": ({"prompt": {"es": "¿1 + 1?"}}, "field 'prompt': expected text"),
    "wrong": ({"wrong": [{"value": "x", "hint": "…"}]}, "field 'wrong': cannot read"),
    "entry": ({"wrong": [{"value": "3"}]}, "field 'wrong': entry 1: expected"),
    "entry, a text": ({"wrong": ["3"]}, "field 'wrong': entry 1: expected"),
    "no list": ({"hints": "Think."}, "field 'hints': expected a list, got 'Think.'"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_a_file_is_named(fault: str, tmp_path: Path) -> None:
    change, message = FAULTS[fault]
    fields = {k: v for k, v in {**GOOD, **change}.items() if v is not None}
    file = tmp_path / "09-faulty.yml"
    file.write_text(json.dumps({"drills": [fields]}))
    with pytest.raises(ValueError, match=f"09-faulty.yml, .*{message}"):
        for d in read(tmp_path).values():
            payload(d)


def test_a_field_that_stands_twice_is_an_error(tmp_path: Path) -> None:
    text = "drills:\n- id: a\n  kind: numeric\n  kind: choice\n"
    (tmp_path / "09-twice.yml").write_text(text)
    with pytest.raises(ValueError, match="09-twice.yml: 'kind' stands twice"):
        read(tmp_path)


TAKEN = f"drills:\n- &sum {json.dumps(GOOD)}\n- <<: *sum\n"
TAKEN_OVER = {
    "id: more\n  asks: 2 + 2?": "drill 'more', field 'asks': unknown",
    "prompt: 2 + 2?": "drill 'sum', field 'id': 09-taken.yml has it too",
    "id: more": "drill 'more', field 'prompt': drill 'sum' has it too",
    "id: more\n  prompt:": "drill 'more', field 'prompt': expected a value",
    "id: more\n  prompt: 2 + 2?\n  hints:": "field 'hints': expected a value",
    "<<: *sum\n  id: more": "'<<' stands twice",
    "<<: *more\n  id: more": "undefined alias",
    "id: more\n  prompt: 1?\n  prompt: 2?": "'prompt' stands twice",
    "id: more\n  <<: 3": "'<<' stands twice",
}


@pytest.mark.parametrize("own", TAKEN_OVER)
def test_a_drill_takes_over_another_one_s_fields(own: str, tmp_path: Path) -> None:
    """With `<<`; what it has of its own counts, wherever it stands."""
    file = tmp_path / "09-taken.yml"
    file.write_text(TAKEN + "  id: more\n  prompt: 2 + 2?\n")
    assert read(tmp_path)["more"].fields == {**GOOD, "id": "more", "prompt": "2 + 2?"}
    file.write_text(f"{TAKEN}  {own}\n")
    with pytest.raises(
        ValueError, match=f"09-taken.yml(.|\n)*{re.escape(TAKEN_OVER[own])}"
    ):
        read(tmp_path)


@pytest.mark.parametrize("content", ["drills:", "drills: sum", "drill: []", ""])
def test_a_file_without_a_list_of_drills_is_an_error(content: str, tmp_path) -> None:
    (tmp_path / "09-none.yml").write_text(content)
    with pytest.raises(ValueError, match="09-none.yml: expected"):
        read(tmp_path)


def test_an_id_that_stands_twice_is_an_error(tmp_path: Path) -> None:
    for name in ("08-first.yml", "09-second.yml"):
        content = {"drills": [GOOD]}
        (tmp_path / name).write_text(json.dumps(content))
    with pytest.raises(ValueError, match="09-second.yml.*08-first.yml has it too"):
        read(tmp_path)


def test_an_unknown_drill_is_an_error() -> None:
    for ask in (drill, page_html, lambda id: check(id, 1)):
        with pytest.raises(ValueError, match="no drill is called 'nope'"):
            ask("nope")
