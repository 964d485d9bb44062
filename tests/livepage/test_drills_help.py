"""Whoever comes nearer to a right answer never gets less help than before."""

import itertools
import json
import linecache
from typing import Any

import pytest
from test_drills_answers import ask, graders
from test_drills_code import PROGRAMS, source

from livepage.drills import syntax
from livepage.drills.bank import WRITTEN, bank
from livepage.drills.entry import Drill
from livepage.drills.grade import GRADING, Visit, is_unexplained
from livepage.drills.kinds import KINDS
from livepage.drills.kinds.code import cases as code
from livepage.drills.notebook import check
from livepage.drills.payload import payload
from livepage.drills.words import in_language, table
from marking import PRELUDE, run, run_small

EXPLAINED = GRADING["explained"]
DRILLS = [d for d in bank().values() if d.kind in WRITTEN]


def answers(d: Drill) -> list[dict[str, Any]]:
    """Return the reports of wrong answers that are listed, here and with the tests."""
    texts = [PRELUDE + text for text in code.mutants(d)]
    texts += [source(d.id, entry) for entry in PROGRAMS[d.id]]
    texts = texts[:: 4 if d.kind == "kernel" else 2]  # all would take too long
    reports = [run(d, text) for text in texts]
    return [r for r in reports if not r["passed"] and r["case"] is not None]


def nearer(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether one answer comes further than another: it fails in a later case."""
    return a["case"] > b["case"]


def help_given(d: Drill, lines: tuple[str, ...]) -> bool:
    """Whether a reader is told more than which case fails: a mistake, or a hint."""
    hints = [m["hint"] for m in d.get("mutants")] + d.get("hints", [])
    return any(in_language(hint) in " ".join(lines) for hint in hints)


@pytest.mark.parametrize("d", DRILLS, ids=lambda d: d.id)
def test_more_progress_never_gets_less_help(d: Drill) -> None:
    data = payload(d)
    for before, after in itertools.permutations(answers(d), 2):
        if not nearer(after, before):
            continue
        visit = Visit()
        first, _ = KINDS[d.kind].feedback(d, data, before, visit)
        second, _ = KINDS[d.kind].feedback(d, data, after, visit)
        told = after["word"] in EXPLAINED
        assert told or help_given(d, second) >= help_given(d, first), (before, after)
        hints = [h for h in d.get("hints") if in_language(h) in " ".join(first)]
        assert not [h for h in hints if in_language(h) not in " ".join(second)]
        told = after["slip"] is not None or after["word"] in EXPLAINED
        assert is_unexplained(after) != told, after


def test_the_museums_checker_gets_a_hint_for_the_fault_that_is_left() -> None:
    """Two of its three holes are mended, and no listed mistake leaves just the third."""
    d, visit = bank()["told-right"], Visit()
    found = run(d, d.get("starter"))
    mended = d.get("code").replace(
        "if len(row) != len(right)", "if len(row) < len(right)"
    )
    left = run(d, mended)
    assert left["case"] > found["case"] and left["slip"] is None
    KINDS[d.kind].feedback(d, payload(d), found, visit)
    lines, _ = KINDS[d.kind].feedback(d, payload(d), left, visit)
    assert in_language(d.get("hints")[0]) in " ".join(lines)


def test_both_worlds_call_the_same_answers_unexplained() -> None:
    page = graders()
    reports = [run(d, text) for d in DRILLS if d.kind == "code"
               for text in (d.get("starter"), "x = (", "def f(): pass", d.get("code"),
                            source(d.id, PROGRAMS[d.id][-1]))]  # fmt: skip
    untried, broke = (
        {"passed": False, "word": "kernelErrorX", "case": case} for case in (None, 2)
    )
    reports += [untried, broke]
    reports += [{"passed": False, "word": word, "case": 2} for word in EXPLAINED]
    asked = f"{json.dumps(reports)}.map((report) => isUnexplained(report))"
    assert ask(page, asked) == [is_unexplained(report) for report in reports]
    assert is_unexplained(broke) and not is_unexplained(untried)
    assert not [word for word in EXPLAINED if word not in table()["en"]]


# ---- what counts as a change

TEXT = '''
def f(x, y):
    """Two  spaces."""
    z = x if y else -1  # why
    for i in range(3):
        z += i
    return (z,
            'a b')
'''
SAME = [
    TEXT.replace("    ", "\t"),
    TEXT.replace("  # why", "\n    # another"),
    TEXT.replace("x if y else -1", "x  if y else - 1"),
    TEXT.replace("(z,\n            'a b')", "( z, 'a b' )"),
    TEXT.replace("\n", "\n\n").replace("\n\n", "\r\n"),
    "\n\n" + TEXT + "\n   \n# the end",
]
CHANGED = [
    TEXT.replace("        z += i", "        z += i\n        z += i"),
    TEXT.replace("    return", "        return"),
    TEXT.replace("'a b'", "'a  b'"),
    TEXT.replace("# why", "+ 1"),
    TEXT.replace("-1", "- 2"),
    TEXT.replace("x if", "xif"),
    "# " + TEXT.strip(),
    "",
]


@pytest.mark.parametrize("text", SAME)
def test_layout_and_comments_change_no_program(text: str) -> None:
    assert syntax.same_program(TEXT, text), syntax.program(text)


@pytest.mark.parametrize("text", CHANGED)
def test_another_token_changes_it(text: str) -> None:
    assert not syntax.same_program(TEXT, text), syntax.program(text)


@pytest.mark.parametrize("d", DRILLS, ids=lambda d: d.id)
def test_no_answer_is_taken_for_the_starter(d: Drill) -> None:
    starter = d.get("starter")
    assert syntax.same_program(starter, starter.rstrip() + "\n\n# mine\n")
    assert not syntax.same_program(starter, d.get("code"))


NUMBERS = [
    ("smallest-float", "softmax", "SMALLEST = 2", "SMALLEST = -2"),
    ("smallest-float", "softmax", "def softmax", "import numpy\nSMALLEST = numpy.ones(2)\n\n\ndef softmax"),
    ("one-loop-missing", "attention", "BR, BC, D = 8, 4, 3", "BR, BC, D = 8, 4, 4"),
]  # fmt: skip


@pytest.mark.parametrize(("id", "name", "old", "new"), NUMBERS)
def test_another_number_around_a_function_is_a_change(
    id: str, name: str, old: str, new: str
) -> None:
    starter = bank()[id].get("starter")
    said = []
    for text in (starter, starter.replace(old, new)):
        kernels = {}
        exec(compile(text, "<cell>", "exec"), kernels)
        linecache.cache["<cell>"] = len(text), None, text.splitlines(True), "<cell>"
        said.append(repr(check(id, kernels[name])))
    assert ["not changed" in words for words in said] == [True, False]


def test_in_the_small_python_what_is_unchanged_is_seen_as_well() -> None:
    asked = [(bank()[id], text) for id in ("told-right", "keys-over-values")
             for text in (bank()[id].get("starter") + "# mine", bank()[id].get("code"),
                          code.mutants(bank()[id])[1])]  # fmt: skip
    for (d, text), report in zip(asked, run_small(asked), strict=True):
        same = text == d.get("starter") + "# mine"
        assert report.get("untouched", False) == same, (d.id, report)
