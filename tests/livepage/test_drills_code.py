"""What readers might hand in to the code and kernel drills, and the verdicts it earns."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from livepage import yml
from livepage.drills import meter
from livepage.drills.bank import WRITTEN, bank
from livepage.drills.entry import Drill
from livepage.drills.kinds.code import cases as code
from livepage.drills.words import in_language, table
from marking import PRELUDE, mistake, name_of, run, run_small

PROGRAMS = yml.read(Path(__file__).parents[1] / "data" / "programs.yml")
ASKED = [(id, i) for id, listed in PROGRAMS.items() for i in range(len(listed))]
DRILLS = [d for d in bank().values() if d.kind in WRITTEN]


def source(id: str, entry: dict[str, Any]) -> str:
    """The text of a program: in full, or as a change of the answer or the starter."""
    field = "starter" if "bent" in entry else "code"
    text = entry.get("code") or bank()[id].get(field)
    for old, new in (entry.get("change") or entry.get("bent") or {}).items():
        text = text.replace(old, new)
    assert text != bank()[id].get(field), "nothing is changed"
    return text


def verdict(d: Drill, report: dict[str, Any]) -> str:
    """What a report says, in the words of the data file."""
    if report["passed"]:
        return "right"
    named = name_of(d, report)
    if named or report["fault"] in ("differs", "element"):
        return named or "no name"
    return {"raisedAt": "raised", "shapeNumber": "shape"}.get(
        report["word"], report["word"]
    )


@pytest.mark.parametrize(("id", "i"), ASKED)
def test_a_program_earns_its_verdict(id: str, i: int) -> None:
    entry, d = PROGRAMS[id][i], bank()[id]
    report = run(d, source(id, entry))
    assert verdict(d, report) == entry["verdict"], report
    for key, slots in sentences(report):
        for words in table().values():
            assert set(re.findall(r"{(\w+)}", words[key])) <= {*slots}, key


def sentences(report: dict[str, Any]) -> list[Any]:
    """Return each sentence of a report: its key, and what fills its slots."""
    said = [row[1:] for row in (report.get("score") or {"rows": []})["rows"]]
    said += [report["launched"]] if "launched" in report else []
    return said if report["passed"] else [*said, (report["word"], report["slots"])]


def test_every_drill_is_tried_and_knows_its_mistakes_by_name() -> None:
    assert set(PROGRAMS) == {d.id for d in DRILLS}
    for d in DRILLS:
        names = [mutant["name"] for mutant in d.get("mutants")]
        assert len(names) == len(set(names)), d.id


@pytest.mark.parametrize("d", DRILLS, ids=lambda d: d.id)
def test_cheats_are_refused_or_allowed_for_a_reason(d: Drill) -> None:
    cheats = [entry for entry in PROGRAMS[d.id] if "cheat" in entry]
    listed = d.file[:2] <= "10" or d.chapter in ("tiles-on-a-cpu", "many-machines")
    assert len(cheats) >= (2 if listed else 0)
    for entry in cheats:
        assert (entry["verdict"] == "right") == ("allowed" in entry), entry["cheat"]


SIZES = ("block", "block_q", "block_k", "tile")  # of what is done at a time
ELSEWHERE = (
    "museum",
    "museum-starts",
    "museum-masks",
    "museum-numbers",
    "where-the-digits-go",
)  # their sizes are among the cheats above
FAULTY = [
    (d.id, size)
    for d in DRILLS
    for size in SIZES
    if d.kind == "code"
    and d.chapter not in ELSEWHERE
    and d.get("mutants")[0]["name"] == "as found"
    and re.search(rf"def {d.get('function')}\([^)]*\b{size}\b", d.get("starter"))
]


@pytest.mark.parametrize("value", [1, 100])
@pytest.mark.parametrize(("id", "size"), FAULTY)
def test_a_fault_is_not_mended_by_another_size(id: str, size: str, value: int) -> None:
    """All at once, or one at a time: the fault is out of sight, and still there."""
    starter, function = bank()[id].get("starter"), bank()[id].get("function")
    head = rf"(def {function}\([^)]*\):\n(?: +\"\"\".*\"\"\"\n)?)( +)"
    bent, changes = re.subn(head, rf"\1\2{size} = {value}\n\2", starter)
    assert changes == 1 and not run(bank()[id], bent)["passed"]


# A number that stands in for minus infinity, and what may lie lower still. The scores of
# these count letters, and are never below 0.
NEVER_LOW = {"echo-forgets", "echo-stutters"}
STARTS = [d for d in DRILLS if "-inf" in d.get("code") or "-math.inf" in d.get("code")]


@pytest.mark.parametrize("floor", ["-1000.0", "-1e6"])
@pytest.mark.parametrize("d", STARTS, ids=lambda d: d.id)
def test_a_maximum_starts_below_every_score(d: Drill, floor: str) -> None:
    bent = re.sub(r"-(math\.)?inf\b", floor, d.get("code"))
    assert run(d, bent)["passed"] == (d.id in NEVER_LOW)


ECHOES = [  # a text to go on from, keys in a tile, what is written, and what should be
    ("echo-forgets", "abcab", 1, "bbbb", "cabc"),
    ("echo-stutters", "abacada", 4, "caca", "dada"),
]


@pytest.mark.parametrize(("id", "text", "block", "wrong", "right"), ECHOES)
def test_a_model_writes_what_its_prompt_says(
    id: str, text: str, block: int, wrong: str, right: str
) -> None:
    d = bank()[id]
    for said in (text, wrong, right):
        assert f"`{said}`" in d.get("prompt")
    assert written(d, "starter", text, block) == wrong
    assert written(d, "code", text, block) == right


def test_in_tiles_of_two_letters_are_right_and_chances_are_not() -> None:
    d = bank()["echo-forgets"]
    assert written(d, "starter", "abcab", 2) == written(d, "code", "abcab", 2)
    echo = code.answer(d, d.get("starter"))
    assert max(chance for _, chance, _ in echo("abcab", 4, 2)) > 1


def test_tiles_of_one_key_leave_no_key_out() -> None:
    d = bank()["echo-stutters"]
    for text in {case["text"] for case in d.get("cases")}:
        assert written(d, "starter", text, 1) == written(d, "code", text, 1)


def written(d: Drill, field: str, text: str, block: int) -> str:
    """The four letters with which a drill's model goes on."""
    echo = code.answer(d, d.get(field))
    return "".join(letter for letter, _, _ in echo(text, 4, block))


# ---- the small Python of the page


def test_in_micropython_the_verdicts_are_the_same() -> None:
    # A program for every second verdict; of kernels only a few: all take too long.
    one = {(id, PROGRAMS[id][i]["verdict"]): PROGRAMS[id][i] for id, i in ASKED}
    pairs = [(bank()[id], entry) for (id, _), entry in one.items()]
    few = "kernelWritesMore"
    pairs = [p for p in pairs if p[0].kind == "code" or p[1]["verdict"] == few]
    pairs = pairs[::2]
    reports = run_small([(d, source(d.id, entry)) for d, entry in pairs])
    for (d, entry), report in zip(pairs, reports, strict=True):
        assert verdict(d, report) == entry["verdict"], (d.id, entry, report)


def test_in_micropython_mutants_earn_their_names() -> None:
    asked, names = [], []
    for d in DRILLS:
        texts = [PRELUDE + text for text in code.mutants(d)]
        listed = list(zip(d.get("mutants"), texts, strict=True))
        # A kernel takes ten times as long; what marks it is the same for all its mutants.
        for mutant, text in listed[::4] if d.kind == "code" else listed[:1]:
            asked.append((d, text))
            names.append(mistake(mutant))
    deep = "(" * 20 + "cuda.threadIdx.x" + ")" * 20  # of which its stack once held 6
    text = bank()["neighbour"].get("code").replace("cuda.threadIdx.x", deep)
    asked.append((bank()["neighbour"], text))
    names.append(None)
    reports = run_small(asked)
    assert reports[-1]["passed"]
    for (d, _), name, report in zip(asked, names, reports, strict=True):
        assert name_of(d, report) == name, (d.id, report)


UPDATE = bank()["update"]
RIGHT = UPDATE.get("code")


def with_line(line: str) -> str:
    """The right answer, with a line at the start of its body."""
    return RIGHT.replace("    m_new = max", f"    {line}\n    m_new = max")


# A program: what both Pythons say to it, or "CPython / the page". What would spoil the
# Python of these tests runs on the page alone.
AWKWARD = {
    "import sys\n" + with_line("sys.exit()"): "exits",
    with_line("raise SystemExit(3)"): "exits",
    with_line("raise KeyboardInterrupt"): "raised",
    with_line("return update(m, l, block)"): "recursion",
    with_line("block = [0.0] * 10 ** 8"): "/memory",
    with_line("exp(1000.0)"): "overflow",
    "import math\n" + with_line("math.cosh(1000.0)"): "overflow",
    "import math\n" + with_line("math.fsum([m, l]), math.prod([1, 2])"): "right",
    # clock: that a program may ask for a pause is tested, not its length
    "import time\n" + with_line("time.sleep(0.001)"): "right",
    with_line("return 1 / 0, l"): "raised",
    with_line("return '1', '2'"): "shape",
    with_line("return True, l"): "shape",
    with_line("return None"): "noReturn",
    with_line("l + block"): "raised",
    with_line("max(l)"): "single",
    with_line("return max, l"): "shape",
    with_line("return {m: l}"): "shape",
    with_line("yield m, l"): "shape",
    with_line("return m, 10 ** 400"): "unnamed",
    with_line("return (m, l), l"): "shape",
    with_line("block.append(m)"): "changed",
    with_line("assert False, 'mine'"): "raised",
    with_line("block = block[99]"): "raised",
    "import sys\n" + with_line("sys.modules.clear()"): "/right",
    "import builtins\nbuiltins.abs = lambda x: 0\n" + with_line("return m, l"): "/",
    "import json\njson.dumps = lambda x: 'null'\n" + RIGHT: "/raised",
    "import math\nmath.exp = lambda x: 1.0\nfrom math import exp, inf\n"
    + RIGHT.replace("from math import exp, inf", ""): "/unnamed",
    "import numpy as np\n" + RIGHT: "right/raised",
    "import livepage.drills.kinds.code.grader\n" + RIGHT: "right/raised",
    "import js\n" + RIGHT: "raised",
    "from __main__ import judge\n" + RIGHT: "raised",
    "from __main__ import player\n" + RIGHT: "raised",
    "import micropython\n" + RIGHT: "raised",
    with_line("input()"): "/asks",
    "update = 3": "missing",
    "def update(m, l, block) -> tuple[float, float]:\n  \treturn m, l": "unchanged",
    RIGHT.replace("\n", "\r\n"): "right",
    "def update(m, l):\n    return m, l": "raised",
    "# ℓ′ = αℓ + …  ñ\n" + RIGHT: "right",
    RIGHT.replace("m_new", "größer"): "right",
}


# What is no Python: the word for what is wrong with it, its line, and the sign meant.
MISSPELT = {
    RIGHT.replace("m - m_new", "m − m_new"): ("foreignSign", 9, "−"),
    RIGHT.replace("exp(m - m_new)", "exp(m - m_new"): ("openBracket", 9, "("),
    RIGHT.rstrip() + "\n    x = (1,": ("openBracket", 12, "("),
    RIGHT.replace("exp(m - m_new)", "exp(m - m_new))"): ("strayBracket", 9, ")"),
    RIGHT.replace("block):", "block)"): ("noColon", 4, ":"),
    with_line("if m = l: pass"): ("oneEquals", 6, "="),
    with_line("print('m, m)"): ("openQuote", 6, "'"),
    with_line("while m == l\n        pass"): ("noColon", 6, ":"),
    with_line("m m"): ("raisedAt", 6, None),
    ">>> " + RIGHT: ("raisedAt", 1, None),
}


def test_of_what_is_no_python_is_said_what_is_wrong() -> None:
    small = run_small([(UPDATE, text) for text in MISSPELT])
    for (text, wanted), there in zip(MISSPELT.items(), small, strict=True):
        word, line, sign = wanted
        for report in (run(UPDATE, text), there):
            assert (report["word"], report["line"]) == (word, line), (text, report)
            assert report["slots"]["line"] == line
            assert report["slots"].get("sign") == (sign and f"`{sign}`")


def told(report: dict[str, Any]) -> str:
    said = verdict(UPDATE, report)
    return "unnamed" if said == "no name" else said


def test_awkward_programs_get_the_same_verdict_in_both_pythons() -> None:
    small = run_small([(UPDATE, text) for text in AWKWARD])
    for (text, wanted), report in zip(AWKWARD.items(), small, strict=True):
        here, _, there = wanted.partition("/")
        if there or not here:
            assert not there or told(report) == there, (text, report)
        else:
            assert told(report) == wanted, (text, report)
        if here:
            assert told(run(UPDATE, text)) == here, text


ADVISED = {  # a line with an error, and the advice that follows it
    "block - m": "listAtOnce",
    "m * [m] * block": "listAtOnce",
    "exp(block)": "listAtOnce",
    "block + m": "listPlus",
    "m + block": "listPlus",
    "w = []; w = w + exp(m)": "listPlus",  # in a loop, and one number at a time
    "block.max()": "arrayMethod",
    "block.shape[0]": "arrayMethod",
    "block.push(1)": None,
    "w = []; w[0] = m": "noPlace",
    "block[len(block)]": "noPlace",
    "1 / (l - l)": "divideZero",
    "log(1)": "toImport",
    "nothing(1)": None,
    "block[0.5]": None,
    "block()": None,
}


def test_an_error_that_beginners_make_brings_advice_in_both_pythons() -> None:
    asked = [(UPDATE, with_line(line)) for line in ADVISED]
    for (_, text), wanted, there in zip(asked, ADVISED.values(), run_small(asked)):
        for report in (run(UPDATE, text), there):
            assert report.get("nudge") == wanted, (text, report)


def test_what_stands_in_for_a_list_is_called_a_list() -> None:
    d = bank()["streaming-softmax"]
    text = "def streaming_softmax(x, block):\n    return x - 1\n"
    for report in (run(d, text), *run_small([(d, text)])):
        assert report["nudge"] == "listAtOnce" and "Tape" not in json.dumps(report)


def test_what_becomes_nan_is_told_so() -> None:
    turned = RIGHT.replace("m - m_new", "m_new - m")
    for report in (run(UPDATE, turned), *run_small([(UPDATE, turned)])):
        assert report["nudge"] == "nan"
    wrong = run(UPDATE, RIGHT.replace("alpha * l", "l"))
    assert wrong["nudge"] == "codeNudge"


VANISHED = [
    (d, mutant)
    for d in DRILLS
    for mutant in d.get("mutants")
    if "vanish" in in_language(mutant["hint"])
]


@pytest.mark.parametrize(("d", "mutant"), VANISHED, ids=lambda part: "")
def test_what_a_hint_says_has_vanished_is_0_where_it_is_shown(d, mutant) -> None:
    report = run(d, source(d.id, {"change": {}, **mutant}))
    fault = report["slots"].get("error") or report.get("rows") or report["slots"]
    zero = re.search(r"ZeroDivision|\b0(\.0)?[],]", str(fault))
    assert zero or "lose their digits" in in_language(mutant["hint"]), fault


def test_what_a_run_did_is_not_there_in_the_next() -> None:
    spoil = (
        "print('spoilt', end='')\n"
        "import builtins, json, math, sys\n"
        "sys.modules.clear(); sys.path[:] = []\n"
        "builtins.len = builtins.abs = lambda x: 0\n"
        "math.exp = lambda *x: 0\n"
        "update = lambda m, l, block: (m, l)\n"
    )
    asked = [(UPDATE, text) for text in (RIGHT, spoil, RIGHT)]
    before, spoilt, after = run_small(asked)
    assert before == after and after["passed"] and after["printed"] == ""
    assert not spoilt["passed"] and spoilt["printed"] == "spoilt"


def test_a_program_sees_nothing_of_what_marks_it() -> None:
    looks = "import builtins, sys\nimport sys as system\nprint(%s)\n"
    seen = ["sys.modules", "list(system.modules.values())", "print", "input", "dir()",
            "builtins.__import__", "globals()", "dir(builtins)", "vars() if 0 else 0",
            "sys.stdout"]  # fmt: skip
    reports = run_small([(UPDATE, looks % each + RIGHT) for each in seen])
    for each, report in zip(seen, reports, strict=True):
        assert report["passed"] and len(report["printed"]) > 1, (each, report)
        for name in ("livepage", "grader", "drive", "judge", "marks", "syntax"):
            assert name not in report["printed"], (each, report["printed"])


def test_prints_belong_to_a_run_once_and_are_cut() -> None:
    text = with_line("print('ab', m, end=' ', sep='-')")
    [report] = run_small([(UPDATE, text)])
    names = len(UPDATE.get("random")) and len(report["printed"])
    assert report["passed"] and 0 < names < 10_000
    much = with_line("print('x' * 20_000); sys.stdout.write('y' * 20_000)")
    [flood] = run_small([(UPDATE, "import sys\n" + much)])
    assert flood["passed"] and len(flood["printed"]) % 10_000 == 0


# ---- rows that are read once


def walked(run: Any) -> str | None:
    """What is said of how a function reads four hundred rows."""
    return meter.walked(run, [[float(i % 7)] for i in range(400)], "rows")[1]


def test_a_walk_over_rows_is_told_from_two_and_from_one_that_keeps_them() -> None:
    twice = meter.TWICE.format("rows")
    grows = meter.GROWS.format("rows")
    tiles = range(0, 400, 8)
    assert walked(lambda rows: sum(row[0] for row in rows)) is None
    assert (
        walked(lambda rows: sum(sum(r[0] for r in rows[i : i + 8]) for i in tiles))
        is None
    )
    assert (
        walked(lambda rows: sum(rows[i][0] * len(rows[0]) for i in range(400))) is None
    )
    assert walked(lambda rows: sum(rows[i][0] for i in range(400)[::-1])) is None
    assert walked(lambda rows: [sum(r[0] for r in rows) for _ in "ab"]) == twice
    assert walked(lambda rows: sum([row[0] + 0.5 for row in rows])) == grows
    assert walked(lambda rows: sum(row[0] for row in list(rows))) == grows
