"""The bank keeps its promises: answers pass, mistakes earn their hint, mutants die."""

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import isfinite, log
from pathlib import Path
from typing import Any

import pytest
from py_mini_racer import MiniRacer

from onlinesoftmax import State, dense, merge, streaming
from onlinesoftmax.drills import check, code, drill, grader, kernel_grader, page_html
from onlinesoftmax.drills.bank import WRITTEN, Drill, bank, read, say
from onlinesoftmax.drills.expression import evaluate
from onlinesoftmax.drills.feedback import earned
from onlinesoftmax.drills.grade import GRADERS, close
from onlinesoftmax.drills.page import HERE
from onlinesoftmax.drills.payload import payload
from onlinesoftmax.drills.words import table

DRILLS = list(bank().values())
NUMBER_WORDS = "zero one two three four five six seven eight nine ten".split()


def of_kind(*kinds: str) -> Any:
    """Parametrise over the drills of some kinds."""
    chosen = [d for d in DRILLS if d.kind in kinds]
    return pytest.mark.parametrize("d", chosen, ids=lambda d: d.id)


# ---- right and wrong answers, of every kind but code


def right_answer(d: Drill, data: dict[str, Any]) -> Any:
    if d.kind == "choice":
        return data["right"]
    if d.kind == "order":
        return [data["shown"].index(place) for place in range(len(data["shown"]))]
    if d.kind == "trace":
        return data["rows"]
    return d.get("sample") or d.get("answer")["value"]


def wrong_answers(d: Drill, data: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each listed misconception as an answer, with the hint it should earn."""
    if d.kind == "choice":
        for i, option in enumerate(d.get("choices")):
            if not option.get("correct"):
                yield i, option["hint"]
    for i, slip in enumerate(d.get("wrong", [])):
        if d.kind == "order":
            order = list(range(len(data["shown"])))
            order.insert(slip["then"] - 1, order.pop(slip["first"] - 1))
            yield [data["shown"].index(place) for place in order], slip["hint"]
        elif d.kind == "trace":
            yield from wrong_cells(data, i, slip["hint"])
        else:
            yield slip["value"] if "value" in slip else slip["words"][0], slip["hint"]


def wrong_cells(data: dict[str, Any], index: int, hint: Any) -> Iterator[tuple]:
    """Yield the table with one slip in it, for the first cell where the slip shows."""
    for i, row in enumerate(data["wrong"]):
        for j, slips in enumerate(row):
            for value, slip in slips:
                right = float(data["rows"][i][j])
                if slip == index and not close(float(value), right, 5e-3, 5e-4):
                    answer = [list(cells) for cells in data["rows"]]
                    answer[i][j] = value
                    if first_slip(slips, value) == index:
                        yield answer, hint
                        return
    pytest.fail(f"slip {index} shows in no cell")


def first_slip(slips: list, value: Any) -> int:
    near = (slip for v, slip in slips if close(float(value), v, 5e-3, 5e-4))
    return next(near)


@of_kind("numeric", "choice", "order", "recall", "trace")
def test_the_answer_passes(d: Drill) -> None:
    assert check(d.id, right_answer(d, payload(d)))


# The answers of chapters 2 and 3 once more, by another way: the lib's.
POCKET = State(m=3.0, l=5.0)
SIXTEEN = [0.5, -1, 1, 0.2, 2, 0, 1.5, -0.5, 1, 0.8, -2, 1.9, 4, 3, -1, 2.5]
BY_THE_LIB = {
    "rescale-hard": lambda: merge(POCKET, State.of([5.0, 4.0])).l,
    "rescale-easy": lambda: merge(POCKET, State.of([2.0, 1.0])).l,
    "alpha-tie": lambda: streaming.trace([3.0, 3.0, 2.0], 1)[1].alpha,
    "alpha-first": lambda: streaming.trace([3.0, 1.0], 2)[0].alpha,
    "smallest-sum": lambda: merge(POCKET, State.of([1000.0])).l,
    "records-16": lambda: sum(Fraction(1, i) for i in range(1, 17)),
    "stepper-shrinks": lambda: sum(
        0 < step.alpha < 1 for step in streaming.trace(SIXTEEN, 4)
    ),
    "early-weight": lambda: dense.softmax([1.0, 2.0, 3.0])[0],
    "largest-weight": lambda: dense.softmax([7.0, 7 + log(1.5)])[0],
}


@pytest.mark.parametrize("id", BY_THE_LIB)
def test_the_lib_agrees_with_the_answer(id: str) -> None:
    value = payload(bank()[id])["values"][0]
    assert close(float(BY_THE_LIB[id]()), value, 1e-12, 0)


@of_kind("numeric", "choice", "order", "recall", "trace")
def test_each_listed_mistake_earns_its_own_hint(d: Drill) -> None:
    data = payload(d)
    listed = list(wrong_answers(d, data))
    for answer, hint in listed:
        outcome = GRADERS[d.kind](data, answer)
        assert not outcome["passed"], answer
        assert earned(d, outcome) == hint, answer
    hints = [say(hint) for _, hint in listed]
    assert len(hints) == len(set(hints)), "two misconceptions share a hint"


@of_kind("numeric", "recall")
def test_tolerances_do_not_overlap(d: Drill) -> None:
    data = payload(d)
    if "values" not in data:
        return

    def apart(a: list, b: list) -> bool:
        pairs = [(float(x), float(y)) for x, y in zip(a, b, strict=True)]
        return any(gap(data, x, y) for x, y in pairs)

    for a, b in combinations([data["values"], *data["wrong"]], 2):
        assert apart(a, b), f"{a} and {b} cannot be told apart"


def gap(data: dict[str, Any], x: float, y: float) -> bool:
    """Say whether two values have disjoint tolerances."""
    if not (isfinite(x) and isfinite(y)):
        return not close(x, y, 0, 0)
    slack = [max(data["abs"], data["rel"] * abs(value)) for value in (x, y)]
    return abs(x - y) > sum(slack)


# ---- hints


def texts(d: Drill) -> list[str]:
    """Return every hint of a drill: staged ones and those of misconceptions."""
    slips = [
        entry
        for field in ("wrong", "choices", "points", "mutants")
        for entry in d.get(field, [])
    ]
    hints = [*d.get("hints", []), *(slip["hint"] for slip in slips if "hint" in slip)]
    return [say(hint) for hint in hints]


def secrets(d: Drill) -> set[str]:
    """Return what a hint must not contain: the answer, in the ways one may write it."""
    squeezed = {"".join(str(d.get("answer", {}).get("value", " ")).split())}
    if d.kind == "choice":
        return {say(c["text"]) for c in d.get("choices") if c.get("correct")}
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
            assert not says(hint, float(payload(d)["values"][0])), hint


def says(hint: str, value: float) -> bool:
    """Say whether a hint names a number, in digits or as a word; maths is free."""
    prose = re.sub(r"\$[^$]*\$|`[^`]*`|\d+-bit", " ", hint).lower()
    digits = [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", prose)]
    words = set(re.findall(r"[a-z]+", prose))
    ambiguous = {"one"}  # "the new one", "one at a time"
    named = [i for i, w in enumerate(NUMBER_WORDS) if w in words and w not in ambiguous]
    return any(close(n, value, 2e-3, 0) for n in [*digits, *map(float, named)])


# ---- code


@cache
def packed(id: str) -> str:
    return json.dumps(payload(bank()[id]), allow_nan=False)


def run(d: Drill, source: str) -> dict[str, Any]:
    data = json.loads(packed(d.id))
    if d.kind == "kernel":
        asked = source, data["function"], data["cases"], data["tolerance"]
        return kernel_grader.run(*asked, lambda case: None)
    drive = grader.load(data["drive"], "drive")
    function, tolerance = code.answer(d, source), data["tolerance"]
    return grader.grade(function, drive, data["cases"], tolerance, lambda case: None)


@of_kind("code", "kernel")
def test_the_reference_passes_and_the_starter_fails(d: Drill) -> None:
    assert run(d, d.get("code"))["passed"]
    assert not run(d, d.get("starter"))["passed"]


@of_kind("code", "kernel")
def test_every_mutant_dies_on_a_case_with_a_name_and_earns_its_hint(d: Drill) -> None:
    cases = payload(d)["cases"]
    for mutant, source in zip(d.get("mutants"), code.mutants(d), strict=True):
        report = run(d, source)
        assert not report["passed"], mutant["name"]
        assert earned(d, report) == mutant["hint"], mutant["name"]
        assert cases[report["case"]]["name"] != "random", mutant["name"]


# ---- the bank as a whole


def test_at_most_two_in_five_are_a_choice() -> None:
    for chapter in {d.chapter for d in DRILLS}:
        kinds = [d.kind for d in DRILLS if d.chapter == chapter]
        assert kinds.count("choice") <= 0.4 * len(kinds), chapter


def test_each_chapter_has_something_to_build_and_something_to_debug() -> None:
    for chapter in (2, 3):
        written = [d for d in DRILLS if d.chapter == chapter and d.kind == "code"]
        debug = [d for d in written if d.get("mutants")[0]["name"] == "as found"]
        assert debug and len(written) > len(debug), chapter


def test_both_languages_have_every_word_and_the_same_places() -> None:
    english, spanish = table()["en"], table()["es"]
    assert english.keys() == spanish.keys()
    for key in english:
        places = [sorted(re.findall(r"{(\w+)}", t[key])) for t in (english, spanish)]
        assert places[0] == places[1], key


def test_every_word_is_used() -> None:
    sources = [*HERE.glob("*.py"), *HERE.glob("page/*.js")]
    text = "\n".join(source.read_text() for source in sources)
    kinds = {"numeric", "choice", "order", "recall", "trace", "code", "kernel"}
    levels = {"full", "half", "blank"}
    how = {f"how{kind.capitalize()}" for kind in kinds}
    by_name = {"noPython", "silent", "tooLong", "missing", "block", "scores"}
    keys = table()["en"]
    unused = {k for k in keys if f'"{k}"' not in text and f"'{k}'" not in text}
    assert unused - kinds - levels - how - by_name == set()


# ---- a bank with a fault says where

GOOD = {
    "id": "sum",
    "kind": "numeric",
    "prompt": "1 + 1?",
    "answer": {"value": "1 + 1"},
    "solution": "2",
}
FAULTS = {
    "unknown": ({"hintz": ["…"]}, "field 'hintz': unknown"),
    "missing": ({"solution": None}, "field 'solution': missing"),
    "kind": ({"kind": "essay"}, "field 'kind': expected one of"),
    "name": ({"id": "No Name"}, "drill number 1, field 'id'"),
    "expression": ({"answer": {"value": "1 +"}}, "field 'answer': cannot read '1 \\+'"),
    "language": ({"prompt": {"es": "¿1 + 1?"}}, "field 'prompt': expected text"),
    "wrong": ({"wrong": [{"value": "x", "hint": "…"}]}, "field 'wrong': cannot read"),
    "entry": ({"wrong": [{"value": "3"}]}, "field 'wrong': entry 1: expected"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_a_file_is_named(fault: str, tmp_path: Path) -> None:
    change, message = FAULTS[fault]
    fields = {k: v for k, v in {**GOOD, **change}.items() if v is not None}
    file = tmp_path / "09-faulty.yml"
    file.write_text(json.dumps({"chapter": 9, "drills": [fields]}))
    with pytest.raises(ValueError, match=f"09-faulty.yml, .*{message}"):
        for d in read(tmp_path).values():
            payload(d)


def test_a_field_that_stands_twice_is_an_error(tmp_path: Path) -> None:
    text = "chapter: 9\ndrills:\n- id: a\n  kind: numeric\n  kind: choice\n"
    (tmp_path / "09-twice.yml").write_text(text)
    with pytest.raises(ValueError, match="09-twice.yml: 'kind' stands twice"):
        read(tmp_path)


def test_an_id_that_stands_twice_is_an_error(tmp_path: Path) -> None:
    for name in ("08-first.yml", "09-second.yml"):
        content = {"chapter": 9, "drills": [GOOD]}
        (tmp_path / name).write_text(json.dumps(content))
    with pytest.raises(ValueError, match="09-second.yml.*08-first.yml has it too"):
        read(tmp_path)


def test_an_unknown_drill_is_an_error() -> None:
    for ask in (drill, page_html, lambda id: check(id, 1)):
        with pytest.raises(ValueError, match="no drill is called 'nope'"):
            ask("nope")


# ---- the page's graders are the same graders


@pytest.fixture(scope="module")
def v8() -> MiniRacer:
    context = MiniRacer()
    for name in ("words.js", "expression.js", "grade.js"):
        context.eval((HERE / "page" / name).read_text())
    return context


READINGS = (
    "1/3;1,37;2.5;.5;,5;1e-3;5e^-2;5 e^-2;2e3;e^-1;exp(-1);exp -1;e⁻¹;e⁻¹⁰ + 1;2(3+1);"
    "-inf;−∞;inf;nan;1/0;0/0;-2^2;2^3^2;2**-1;66.5%;√4;ln(e);log 10;sqrt(2)/2;pi;π;"
    "harmonic(16);1 + 2 × 3 ÷ 4 − 5 · 6;(1;1);1+;;x;2 3;1,2,3;1;$;1 .5;ℓ;EXP(1);17,179,869,184;1,000,0;1,000,000.5;"
    "exp(1000);0^0;(-8)^(1/3);abs(-3);max(1);__proto__;toString;constructor(1)"
).split(";")


@pytest.mark.parametrize("text", READINGS)
def test_both_readers_read_the_same(v8: MiniRacer, text: str) -> None:
    try:
        expected = evaluate(text)
    except ValueError:
        expected = "unreadable"
    reading = f"try {{ String(evaluate({json.dumps(text)})) }} catch {{ 'unreadable' }}"
    found = v8.eval(reading)
    if expected == "unreadable" or found == "unreadable":
        assert found == expected
    else:
        found = float(found.replace("Infinity", "inf"))
        assert close(found, expected, 1e-14, 0)


def vectors(d: Drill) -> list[Any]:
    """Return answers right, wrong in known ways, wrong in others, and unreadable."""
    data = payload(d)
    known = [answer for answer, _ in wrong_answers(d, data)]
    if d.kind == "recall":
        known += [f"{deny} {answer}" for answer in known for deny in ("Never", "It has")]
    other = {
        "numeric": ["17.3", "", "9,876", "98,765,432", "banana", "1/0"],
        "choice": [9, -1, "a", "B", "ab"],
        "order": ["", "a", "abc", list(range(len(data.get("shown", "")))), "zyx"],
        "recall": ["", "l", "sum", "The MÁXIMO, and the sum; multiplied. Second!"],
        "trace": [[], [["1", "x"]], [["0", "0", "0", "0", "0"]] * 9],
    }
    return [right_answer(d, data), *known, *other[d.kind]]


@of_kind("numeric", "choice", "order", "recall", "trace")
def test_page_and_notebook_mark_alike(v8: MiniRacer, d: Drill) -> None:
    data = payload(d)
    for answer in vectors(d):
        expected = GRADERS[d.kind](data, answer)
        call = f"GRADERS.{d.kind}({json.dumps(data)}, {json.dumps(answer)})"
        found = json.loads(v8.eval(f"JSON.stringify({call})"))
        assert without_values(found) == without_values(expected), answer


def test_who_denies_a_mistake_has_not_made_it() -> None:
    """And still makes it, if it is said further on without a denial."""
    d = bank()["reduce-threads"]
    data, right, wrong = payload(d), d.get("sample"), "plain sum"
    for said, passes in (
        (f"{right} There is no {wrong}.", True),
        (f"{right} It is a {wrong}.", False),
        (f"{right} Never mind that: it is a {wrong}.", False),
        (f"{right} No {wrong} here; the {wrong} is wrong. But {wrong}.", False),
    ):
        assert GRADERS["recall"](data, said)["passed"] == passes, said


def without_values(outcome: dict[str, Any]) -> dict[str, Any]:
    """An outcome but for the values read, which JSON cannot carry when infinite."""
    return {k: v for k, v in outcome.items() if k != "read" and v is not None}


def test_numbers_are_written_alike(v8: MiniRacer) -> None:
    from onlinesoftmax.drills.words import show

    texts_and_lists = ["-inf", "nan", "–", [1, 2.5]]
    for value in [2.0446, 1, -3.0, 0.1353352832, 1e22, 1.5e-7, *texts_and_lists]:
        written = v8.eval(f"show({json.dumps(value)})")
        plain = [text.replace("e+", "e").replace("e−0", "e−") for text in
                 (written, show(value))]
        assert plain[0] == plain[1]
