"""What is stored of the laboratory's kernels, and how a drill's loop is looked up."""

import json

import pytest

import copy_loops
from blocksim import load
from livepage.drills import check, kernel_grader
from livepage.drills.bank import find
from livepage.drills.payload import payload
from tools import laboratory

STORED = json.loads(laboratory.STORED.read_text("utf-8"))


def test_what_is_stored_is_of_the_kernels_as_they_are():
    assert laboratory.gate() == [], "run `make kernels`"
    assert list(STORED["variants"]) == list(copy_loops.texts())


def test_lines_add_up_to_the_whole():
    for name, one in STORED["copies"].items():
        by_line = sum(sum(kinds.values()) for kinds in one["lines"].values())
        assert by_line == one["instructions"], name


def form(text: str) -> str:
    return kernel_grader.form(load(text, "copy"))


def test_own_names_layout_and_comments_make_no_other_form():
    text = next(copy_loops.texts())
    same = text.replace("k_tile", "mine").replace("(K,", "(A,").replace("K[", "A[")
    same = same.replace("r = x // D", "r=x   //  D  # row").replace("total", "sum_")
    assert same != text and form(same) == form(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [("x // D", "x // uint32(D)"), ("V[base", "K[base"), ("range(t,", "range(0,")],
)
def test_what_a_kernel_does_makes_another_form(old, new):
    text = next(copy_loops.texts())
    assert form(text.replace(old, new)) != form(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("float32, uint32", "float32, int32 as uint32"),
        ("float32, uint32", "float64 as float32, uint32"),
        ("\n\n\n@cuda", "\nfrom numba import int32\nuint32 = int32\n\n\n@cuda"),
        ("\n\n\n@cuda", "\n\n\ndef uint32(x):\n    return x\n\n\n@cuda"),
        ("@cuda.jit", "@cuda.jit(debug=True, opt=False)"),
    ],
)
def test_what_stands_around_a_kernel_belongs_to_its_form(old, new):
    text = next(text for text in copy_loops.texts() if "uint32(" in text)
    assert old in text and form(text.replace(old, new, 1)) != form(text)


def test_a_loop_that_nobody_counted_may_be_decorated_by_the_simulator(tmp_path):
    """It was handed to the compiler with the decorator around it, and that failed."""
    text = find("copy-loop").get("code").replace("+ row", "+ row + uint32(0)")
    file = tmp_path / "copies.py"
    file.write_text(text.replace("from numba", "from blocksim"))
    names = dict(copy_loops.SIZES)
    exec(compile(file.read_text(), file, "exec"), names)
    assert "It is right" in str(check("copy-loop", names["copy"]))


@pytest.mark.parametrize(
    ("meaning", "verdict"),
    [("", "Right"), ("uint32 = int32", "nobody has counted"), ("float32 = float64", "nobody has counted"),
     ("D, shape, r = 64, 3, 5", "Right")],
)  # fmt: skip
def test_in_a_notebook_a_name_s_other_meaning_is_another_kernel(
    tmp_path, meaning, verdict
):
    file = tmp_path / "copies.py"
    text = (
        find("copy-loop").get("code").replace("uint32\n", "float64, int32, uint32\n", 1)
    )
    file.write_text(text.replace("@cuda.jit", f"{meaning}\n\n\n@cuda.jit"))
    names = dict(copy_loops.SIZES)
    exec(compile(file.read_text(), file, "exec"), names)
    said = str(check("copy-loop", names["copy"]))
    assert verdict in said and ("Right" in said) == (verdict == "Right")


def counted() -> dict:
    return kernel_grader.scored_case(payload(find("copy-loop"))["cases"])["counted"]


def test_the_limit_parts_the_stored_loops():
    """The drill's own loop is over it, its answer is not, and both were counted."""
    drill, known = find("copy-loop"), counted()
    assert len(known["forms"]) == len(STORED["variants"])
    assert known["forms"][form(drill.get("starter"))] > known["limit"]
    assert known["forms"][form(drill.get("code"))] <= known["limit"]


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "uncounted"), (None, "uncounted"), (99.0, "count"), (5.0, None)],
)
def test_a_kernel_is_praised_only_for_what_was_counted(count, said):
    forms = {} if count == 0 else {"mine": count}
    fault = kernel_grader.miscounted("mine", {"limit": 15, "forms": forms})
    assert (fault and fault["fault"]) == said
