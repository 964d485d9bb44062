"""Cells that run on the page: which they are, and what their runs give there."""

import fractions
import itertools
import math
import textwrap
from operator import add, mul, sub, truediv
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from livepage.cells import plan, runner, small
from livepage.drills.words import table
from marking import in_node

IMPORTS = "from math import exp, inf\nimport numpy as np"


def runs(*cells: str) -> list[bool]:
    return [cell.runs for cell in plan([IMPORTS, *cells])[1:]]


@pytest.mark.parametrize(
    "cells, expected",
    [
        (["x = exp(1)\nprint(x)"], [True]),
        (["x = np.exp(1)"], [False]),
        (["x = 1", "print(x)"], [True, True]),
        (["x = 1", "x = np.ones(2)", "print(x)"], [True, False, False]),
        (["x = np.ones(2)", "x = 1", "print(x)"], [False, True, True]),
        (["def f():\n    return g()", "f()"], [False, False]),  # nobody defines g
        (["def f():\n    return g()\ndef g():\n    return 1", "f()"], [True, True]),
        (["total += 1"], [False]),
        (["total = 0", "total += 1"], [True, True]),
        (["for i in [1]:\n    last = i\n    print(last)"], [True]),
        (["print(last)\nlast = 1"], [False]),
        (["a = [y for y in [1]]", "print(y)"], [True, False]),
        (["y = (lambda z: z + exp(0))(1)"], [True]),
        (["from decimal import Decimal\nx = 1"], [False]),
        (["from math import erf\nx = 1"], [False]),  # not in the list
        (["import os\nx = 1"], [False]),
        (["x = [*[1], 2]"], [False]),
        (["x = {1: 2, 3: 4}"], [False]),  # the page's dictionaries have no order
        (["first, *rest = 1, 2\nprint(max(0, *rest))"], [True]),
        (["%matplotlib inline"], [False]),
        (["x = 1\nx"], [False]),  # shows a value
        (["from math import log"], [False]),  # nothing to run
        (
            [
                "if np:\n    from blocksim import cuda\nelse:\n    from numba import cuda",
                "x = cuda",
            ],
            [False, True],
        ),
    ],
)
def test_a_cell_runs_if_all_it_needs_is_on_the_page(cells, expected):
    assert runs(*cells) == expected


def test_of_a_cell_that_does_not_run_the_imports_that_work_are_kept():
    first, *_ = plan([IMPORTS])
    assert (
        first.imports == "from math import exp\nfrom math import inf" and not first.runs
    )


# ---- a run


def job(text: str, *above: str, changed: bool = False) -> dict:
    """A cell below others, as the page hands them over."""
    made = []
    for source, cell in zip([*above, text], plan([*above, text]), strict=True):
        if cell.runs:
            each = {"text": source, "binds": cell.binds, "needs": cell.needs}
        else:
            each = {"text": cell.imports or source, "binds": [], "needs": None}
        made.append({"name": str(len(made)), **each})
    if changed:
        made[-1]["needs"] = None
    return {**made.pop(), "above": made}


def fault(text: str, *above: str, changed: bool = True) -> dict | None:
    return runner.perform(job(text, *above, changed=changed), lambda: None)["fault"]


def test_only_the_cells_that_are_needed_run_before():
    never = "z = 1 / 0"
    assert fault("assert y == 2", "x = 1", never, "y = x + 1") is None
    assert fault("y = z", never)["above"] == "0"
    # A name that a cell binds itself is not taken from above, unless the text is new.
    assert fault("z = 1\nassert z", never, changed=False) is None


def test_what_a_changed_cell_binds_is_read_from_its_text():
    text = "def f(a):\n    return g(b=1)\nx, y = z == 1, 2\nfor i, j in k:\n    n += 1\nimport q as r"
    assert runner.bound(text) == {*"fxyijnqr", "def", "for", "import", "as"}
    cells = job("assert w == 3 and exp", "from math import exp", "w = exp(1)")
    cells["above"][1].update(text="w = int(exp(0)) + 2", needs=None)
    assert runner.perform(cells, lambda: None)["fault"] is None


def test_a_run_leaves_nothing_behind():
    assert fault("left = 1") is None
    assert fault("left")["kind"] == "NameError"


@pytest.mark.parametrize(
    "text, part, sides",
    [
        ("a, b = 1, 2\nassert a == b", "a == b", {"a": "1", "b": "2"}),
        ("a = 1\nassert a < 2 and a > 5  # no", "a > 5", {"a": "1"}),
        ("a = 1\nassert 2 < a < 4, 'said'", "2 < a < 4", {"a": "1"}),
        ("a = 1\nassert (a ==\n        2)", "a == 2", {"a": "1"}),
        (
            "x = 3.0\nassert abs(x - 1) < 0.5",
            "abs(x - 1) < 0.5",
            {"x": "3.0", "abs(x - 1)": "2.0"},
        ),
        (
            "from math import isclose\nx = 3.0\nassert isclose(x, x + 1, abs_tol=0.1)",
            "isclose(x, x + 1, abs_tol=0.1)",
            {"x": "3.0", "x + 1": "4.0"},
        ),
        ("a = [1]\nassert not a", "not a", {"a": "[1]"}),
        ("a = 'b == c'\nassert a == 'x, y'", "a == 'x, y'", {"a": "'b == c'"}),
        ("a = 3\nassert a in [1, 2] or a == 4", "a in [1, 2] or a == 4", {}),
        ("for i in range(3):\n    assert i < 2", "i < 2", {"i": "2"}),
        ("assert all(x > 2 for x in [3, 1])", "all(x > 2 for x in [3, 1])", {"x": "1"}),
        ("assert all(a == b for a, b in zip([1], [2]))", None, {"a, b": "(1, 2)"}),
        ("assert all(map(bool, [0]))", "all(map(bool, [0]))", {}),
        ("a = 6\nassert a >> 1 == 2", "a >> 1 == 2", {"a >> 1": "3"}),
        ("a = 6\nassert a == 6; assert a == 7", "a == 7", {"a": "6"}),
        ("a = 6\nif a: assert a == 7, 'said'", "a == 7", {"a": "6"}),
        ("a = 6\nassert 1 < a and \\\n    a == 7", "a == 7", {"a": "6"}),
    ],
)
def test_a_false_assertion_shows_what_it_compared(text, part, sides):
    compared = fault(text)["compared"]
    assert part in (compared["part"], None)
    assert sides.items() <= dict(compared["sides"]).items()
    assert not [value for _, value in compared["sides"] if value.startswith("<")]


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    assert x == 2\nf(1)",  # its names are gone
        "rows = iter([1])\nassert next(rows) == 2",  # nothing is left to compare
        "said = [1, 2]\nassert said.pop() == 1",  # true, the second time
    ],
)
def test_of_an_assertion_that_cannot_be_worked_out_again_nothing_is_claimed(text):
    assert fault(text)["compared"] is None


# A cell without a fault: the lines of its assertions that say nothing, and why.
SAYING = {
    "assert 1 < 2\nassert 2 < 3, 'said'": [],
    "for i in [1, 2]:\n    assert i > 0  # each": [],
    "if 1: assert [1] == [1]; assert 'a' in 'ab'": [],
    "def f(x):\n    assert x\n    return x\nassert f(2) == 2": [],
    "rows = [0]\nassert rows\nassert (rows, 1) == (rows, 1)": [],
    "assert 1 == 1 or 2 == 3\nassert len([])  == 0\nassert not ()": [],
    "word = 'assert'\nasserted = assertion = 1\n# assert 0\n'''\nassert 0\n'''": [],
    "assert (1 == 2, 'said')": [(1, "alwaysTuple", "(1 == 2, 'said')")],
    "x = 1\nassert (\n    x == 2,\n)": [(2, "alwaysTuple", "( x == 2, )")],
    "assert 'x is 2'": [(1, "alwaysValue", "'x is 2'")],
    "x = 1\nassert x == 2 or 3": [(2, "alwaysValue", "3")],
    "x = 1\nassert x == 2 or True": [(2, "alwaysValue", "True")],
    "assert not False\nassert (True)": [
        (1, "alwaysValue", "not False"),
        (2, "alwaysValue", "True"),
    ],
    "assert -1": [(1, "alwaysValue", "-1")],
    "true = False\nassert not true": [],
    "assert f'{1}', 'said'": [(1, "alwaysValue", "f'{1}'")],
    "assert [x > 3 for x in [1]]": [(1, "alwaysList", "[x > 3 for x in [1]]")],
    "assert (x > 3 for x in [1])": [(1, "alwaysList", "x > 3 for x in [1]")],
    "def f(): return False\nassert f": [(2, "alwaysFunction", "f")],
    "assert lambda x: x == 2": [(1, "alwaysFunction", "lambda x: x == 2")],
    "if 1 == 2:\n    assert 1 == 2": [(2, "neverRan", "")],
    "def f(x):\n    assert x == 2": [(2, "neverRan", "")],
    "for x in []: assert x\nassert 1": [(1, "neverRan", ""), (2, "alwaysValue", "1")],
    "try:\n    assert 0\nexcept AssertionError:\n    pass": [(2, "caught", "")],
    "assert 1 == \\\n    1\nassert (1,\\\n    2)": [(3, "alwaysTuple", "(1, 2)")],
}


@pytest.mark.filterwarnings("ignore:assertion is always true")
def test_only_an_assertion_that_ran_and_could_fail_is_said_to_hold():
    jobs = [job(text, changed=True) for text in SAYING]
    here = [runner.perform(each, lambda: None) for each in jobs]
    page = in_node([{"kind": "cell", "cell": each} for each in jobs])
    for (text, said), *reports in zip(SAYING.items(), here, page, strict=True):
        for report in reports:
            doubts = [(d["line"], d["word"], d["part"]) for d in report["doubts"]]
            assert (report["fault"], doubts) == (None, said), text


def test_the_words_for_what_says_nothing_are_there():
    said = {word for doubts in SAYING.values() for _, word, _ in doubts}
    for words in table().values():
        assert said <= set(words)


def test_lines_are_those_of_the_cell():
    assert fault("x = 1\n\ny = x / 0")["line"] == 3
    assert fault("def f():\n    return 1 / 0\n\n\nf()")["line"] == 2
    assert fault("x = (1,\n")["kind"] == "SyntaxError"
    said = fault("x = 1\ny = x − 1")
    assert [said[key] for key in ("word", "line", "sign")] == ["foreignSign", 2, "−"]


# ---- what MicroPython lacks


def test_what_is_ours_does_as_the_original():
    texts = ["right, and yet: thread 1 reads s[0]", "one", "", "verylongword " * 9]
    for text in texts:
        assert small.fill(text, 14) == textwrap.fill(text, 14)
    assert list(small.permutations("abcd")) == list(itertools.permutations("abcd"))
    assert [small.comb(8, k) for k in range(10)] == [math.comb(8, k) for k in range(10)]


def test_fractions_of_ours_do_as_the_original():
    values = [(3, 4), (-2, 6), (5, 1), (0, 3), (7, -2)]
    results = []
    for kind in (fractions.Fraction, small.Fraction):
        made = [kind(*value) for value in values]
        found = [
            made[0] ** -2,
            made[1] ** 3,
            kind(2) ** -1,
            sum(made),
            1 - made[0],
            1 / made[1],
        ]
        found += [
            op(a, b) for a in made for b in made[:2] for op in (add, sub, mul, truediv)
        ]
        results.append([*map(str, found), *map(float, made), made[0] > made[1]])
        assert len({kind(1, 2), kind(2, 4), kind(1)}) == 2
    assert results[0] == results[1]


# ---- on the pages, in MicroPython


def jobs_of(page: Path) -> list[tuple[str, dict, str]]:
    """Return name, job and stored output of each cell that a page says it can run."""
    soup = BeautifulSoup(page.read_text("utf-8"), "html.parser")
    above, found = [], []
    for cell in soup.select(".cell[data-binds], .cell[data-imports]"):
        made = {"name": cell["id"], "binds": [], "needs": None}
        if "data-imports" in cell.attrs:
            above.append({**made, "text": cell["data-imports"]})
            continue
        made |= {key: cell[f"data-{key}"].split() for key in ("binds", "needs")}
        made["text"] = cell.select_one(".code code").get_text()
        printed = "".join(each.get_text() for each in cell.select(".printed"))
        found.append(
            (f"{page.stem} {cell['id']}", {**made, "above": [*above]}, printed)
        )
        above.append(made)
    return found


def unlike(found: list[tuple[str, dict, str]]) -> list[str]:
    """Return the cells whose runs give something else than the page shows."""
    reports = in_node([{"kind": "cell", "cell": cell} for _, cell, _ in found])
    return [
        f"{name}: {report}"
        for (name, _, printed), report in zip(found, reports, strict=True)
        if report["fault"]
        or report["doubts"]
        or report["printed"].rstrip() != printed.rstrip()
    ]


def test_every_cell_with_a_button_runs_and_prints_what_the_page_shows(html):
    found = [each for page in sorted(html.glob("*.html")) for each in jobs_of(page)]
    assert found
    assert not unlike(found)


def test_a_cell_that_gives_something_else_is_found():
    wrong = [
        ("numpy", job("import numpy"), ""),
        ("other", job("print(0.5)"), "0.6"),
        ("right", job("print(0.5)"), "0.5\n"),
        ("empty", job("def f():\n    assert 0"), ""),
    ]
    found = [said.split(":")[0] for said in unlike(wrong)]
    assert found == ["numpy", "other", "empty"]


def test_a_kernel_of_a_cell_runs_on_the_simulator():
    kernel = (
        "from numba import cuda, float32\nimport math\n\n"
        "@cuda.jit(device=True)\ndef twice(x):\n    return 2 * math.exp(x)\n"
    )
    text = (
        "from blocksim import run\n\n@cuda.jit\ndef shift(x, y):\n"
        "    y[cuda.threadIdx.x] = twice(x[cuda.threadIdx.x])\n\n"
        "x, y = [0.0, 0.0], [0.0, 0.0]\nshift[1, 2](x, y)\nprint(y)\n"
        "print(bool(run(shift, 1, 2, x, y)))\nshift[1, 3](x, y)"
    )
    (report,) = in_node([{"kind": "cell", "cell": job(text, kernel)}])
    assert report["printed"] == "[2.0, 2.0]\nTrue\n"
    assert report["fault"]["kind"] == "Fault" and report["fault"]["line"] == 11
