"""What is stored of the laboratory's kernels, and what the page says of a drill's loop."""

import json
from functools import cache

import pytest

import copy_loops
from livepage.drills.bank import find
from livepage.drills.kinds.kernel import grader as kernel_grader
from livepage.drills.payload import payload
from marking import run
from tools.kernels import laboratory

STORED = json.loads(laboratory.STORED.read_text("utf-8"))


def test_what_is_stored_is_of_the_kernels_as_they_are():
    assert laboratory.gate() == [], "run `make kernels`"
    assert list(STORED["variants"]) == list(copy_loops.texts())


def test_lines_add_up_to_the_whole():
    for name, one in STORED["copies"].items():
        by_line = sum(sum(kinds.values()) for kinds in one["lines"].values())
        assert by_line == one["instructions"], name


DRILL = find("copy-loop")
COUNTS = [*STORED["variants"].items()]


@cache
def case() -> dict:
    return kernel_grader.scored_case(payload(DRILL)["cases"])


def card(text: str) -> tuple[str, dict]:
    """Return what the score card of a kernel that passes says: a word and its slots."""
    report = run(DRILL, text)
    assert report["passed"], report
    [(_, word, slots)] = report["score"]["rows"]
    return word, slots


@pytest.mark.parametrize(("text", "count"), COUNTS, ids=list(copy_loops.LOOPS))
def test_a_loop_counted_beforehand_is_shown_its_count(text, count):
    same = (
        text.replace("k_tile", "mine")
        .replace("row", "down_there")
        .replace("total", "s")
    )
    same = same.replace("    cuda.sync", "    # all of it\n    cuda.sync")
    assert case()["counted"]["sizes"] == DRILL.get("sizes")
    for one in (text, same):
        assert card(one) == ("scoreEach", {"count": [[round(count, 1), 3]]})


@pytest.mark.parametrize(("text", "count"), COUNTS, ids=list(copy_loops.LOOPS))
def test_an_estimate_is_near_the_count(text, count):
    make, _ = kernel_grader.defined(text, "copy")
    loops = kernel_grader.play(make, case(), "log", lambda: None)["loops"]
    assert count / 1.5 < loops["estimate"] < count * 1.5


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("uint32(start) + row", "row + uint32(start)"),
        ("@cuda.jit", "@cuda.jit(debug=True, opt=False)"),
        ("float32, uint32", "float32, uint64 as uint32"),
        ("        r = ", "        e = start\n        r = "),
    ],
)
def test_another_loop_is_shown_an_estimate(old, new):
    text = DRILL.get("code")
    assert old in text
    assert card(text.replace(old, new, 1)) == ("scoreEstimate", {"count": "5"})
