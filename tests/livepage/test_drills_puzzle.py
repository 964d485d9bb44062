"""The puzzle of each code drill: the lines of its solution, to be put in order."""

import json
from functools import cache

import pytest
from py_mini_racer import MiniRacer

from livepage import modules
from livepage.drills.bank import WRITTEN, bank
from livepage.drills.entry import Drill
from livepage.drills.kinds.code import puzzle as puzzles
from livepage.drills.page import HERE
from livepage.engine import new_engine as engine
from marking import run

DRILLS = [d for d in bank().values() if d.kind in WRITTEN]
each_drill = pytest.mark.parametrize("d", DRILLS, ids=lambda d: d.id)
# Their mutants do not change a single statement, or change it into another one.
FEWER_WRONG = {
    "lost-tail": 0,
    "even-turns": 0,
    "one-table-for-two": 0,
    "output-left-behind": 1,
    "divided-too-often": 1,
    "stored-zero": 1,
    "barrier-in-a-branch": 1,
}


@cache
def puzzle(d: Drill) -> puzzles.Puzzle:
    found = puzzles.puzzle(d)
    assert found, f"{d.id}: there is nothing to put in order"
    return found


def without_comments(source: str) -> str:
    """Return a source without its blank lines and the lines of its comments."""
    lines = (line.rstrip() for line in source.splitlines())
    return "\n".join(
        line for line in lines if line and not line.lstrip().startswith("#")
    )


# ---- the bank


@each_drill
def test_in_the_true_order_it_is_the_solution(d: Drill) -> None:
    true = puzzle(d).program(range(len(puzzle(d).pieces)))
    assert true == without_comments(d.get("code"))


@each_drill
def test_it_is_not_solved_as_it_is_shown(d: Drill) -> None:
    """Neither the fixed lines alone pass, nor the right lines in the order shown."""
    its = puzzle(d)
    shown = [n for unit in its.pool for n in unit if n < len(its.pieces)]
    assert sorted(shown) == [*range(len(its.pieces))]
    for program in (its.text(its.fixed), its.program(shown)):
        assert not run(d, program)["passed"]


@each_drill
def test_a_wrong_line_earns_the_hint_of_its_mutant(d: Drill) -> None:
    its = puzzle(d)
    for wrong in its.wrong:
        [number] = its.pieces[wrong.place]
        texts = [statement.text for statement in its.statements]
        texts[number] = wrong.text
        report = run(d, "\n".join(texts))
        assert not report["passed"] and report["slip"] == wrong.mutant
        [unit] = [unit for unit in its.pool if wrong.place in unit]
        assert len(its.pieces) + its.wrong.index(wrong) in unit


def test_all_but_these_have_two_wrong_lines() -> None:
    fewer = {d.id: len(puzzle(d).wrong) for d in DRILLS if len(puzzle(d).wrong) != 2}
    assert fewer == FEWER_WRONG


@each_drill
def test_no_more_is_moved_than_is_good(d: Drill) -> None:
    its = puzzle(d)
    assert 2 < len(its.pieces) <= puzzles.MOST
    assert len(its.pieces) + len(its.wrong) <= 12
    statements = [number for piece in its.pieces for number in piece]
    assert statements == sorted(set(statements))
    for piece in its.pieces:
        assert piece == [*range(piece[0], piece[-1] + 1)], "neighbours, or one alone"


def test_the_shuffle_is_the_same_each_time() -> None:
    for d in DRILLS:
        assert puzzles.puzzle(d).data() == puzzle(d).data()
    assert len({puzzle(d).data()["key"] for d in DRILLS}) == len(DRILLS)


# ---- pieces of a small program

SOURCE = '''\
from math import exp

# what follows is a function

def f(x):
    """Return
    nothing.
    """
    a = [
        exp(x),  # one
        # and no other
    ]

    return a  # done
'''


def drill_of(code: str, starter: str = "", changes=()) -> Drill:
    mutants = [
        {"name": old, "hint": "No.", "change": {old: new}} for old, new in changes
    ]
    fields = {"code": code, "starter": starter, "mutants": mutants}
    return Drill("small", "code", "small.yml", fields)


def test_a_statement_of_several_lines_is_one_piece() -> None:
    its = puzzles.puzzle(drill_of(SOURCE))
    assert [its.text(piece) for piece in its.pieces] == [
        "    a = [\n        exp(x),  # one\n        # and no other\n    ]",
        "    return a  # done",
    ]
    assert len(its.fixed) == 3, "the import, the head and the docstring"


def test_what_the_starter_has_stays_where_it_is() -> None:
    code = "def f(x):\n" + "".join(f"    x += {n}\n" for n in range(9))
    starter = "def f(x):\n    x += 7  # add the others\n"
    its = puzzles.puzzle(drill_of(code, starter))
    assert its.text(its.fixed) == "def f(x):\n    x += 7"
    assert len(its.pieces) == 8


def test_where_the_starter_lacks_one_line_its_neighbours_are_moved_too() -> None:
    code = "def f(x):\n" + "".join(f"    x += {n}\n" for n in range(9))
    starter = code.replace("    x += 4\n", "")
    its = puzzles.puzzle(drill_of(code, starter))
    assert len(its.pieces) == puzzles.LEAST
    assert "    x += 4" in [its.text(piece) for piece in its.pieces]
    assert its.pieces == [[n] for n in range(its.pieces[0][0], its.pieces[0][0] + 4)]


CHANGES = [
    ("x += 1", "x += 2"),  # this line is in the solution, too
    ("    x += 1\n    x += 2\n", "    x += 3\n"),  # two lines become one
    ("x += 5", "x += 6"),
    ("x += 7", "x += 8"),
]


def test_only_a_mutant_of_one_line_gives_a_wrong_line() -> None:
    code = "def f(x):\n    x += 1\n    x += 2\n    x += 5\n    x += 7\n    return x\n"
    its = puzzles.puzzle(drill_of(code, "def f(x):\n", CHANGES))
    assert [(w.text, w.place, w.mutant) for w in its.wrong] == [
        ("    x += 6", 2, 2),
        ("    x += 8", 3, 3),
    ]
    one = puzzles.puzzle(drill_of(code, "def f(x):\n", CHANGES[:3]))
    assert [w.text for w in one.wrong] == ["    x += 6"]


def test_a_long_solution_is_moved_in_blocks() -> None:
    code = "def f(x):\n" + "    if x:\n        x += 1\n        x -= 2\n" * 8
    its = puzzles.puzzle(drill_of(code))
    assert len(its.pieces) == puzzles.MOST
    assert its.program(range(puzzles.MOST)) == code.rstrip()
    heads = [its.text(piece).startswith("    if") for piece in its.pieces]
    assert sum(heads) == 8, "a head is joined to its own block"


@pytest.mark.parametrize("code", ["x = 1\n", "def f(x):\n    return x\n", ""])
def test_where_there_is_nothing_to_put_in_order_there_is_no_puzzle(code: str) -> None:
    assert puzzles.puzzle(drill_of(code)) is None


@pytest.mark.parametrize(
    ("program", "fails"),
    [
        ("def f(x):\n    return a\n    a = x\n", True),
        ("def f(x):\n    return x\n    x = 1\n", False),
        ("def f(x):\n    a = x\n    return a\n", False),
        ("def f(x):\nreturn x\n", True),
        ("def f(x):\n    return [\n        a\n        for a in x]\n", False),
    ],
)
def test_a_program_that_fails_is_known_without_running_it(program, fails) -> None:
    assert puzzles._fails(program) == fails


# ---- what the page does with them


@pytest.fixture(scope="module")
def page() -> MiniRacer:
    """The page's module, with functions that a test calls."""
    context = engine()
    source = modules.script(HERE / "page" / "puzzle" / "lines.mjs")
    context.eval(source + "let lines; const open = (data) => new $lines.Lines(data); 0")
    return context


def ask(page: MiniRacer, expression: str) -> object:
    return json.loads(page.eval(f"JSON.stringify({expression} ?? null)"))


def solve(page: MiniRacer, d: Drill) -> None:
    """Open a puzzle, and place each piece where it belongs."""
    data = json.dumps(puzzle(d).data())
    page.eval(f"lines = open({data}); 0")
    for number, (_, before) in enumerate(puzzle(d).data()["pieces"]):
        page.eval(f"lines.place({number}, {number + before}); 0")


@each_drill
def test_the_page_puts_the_solution_together(page: MiniRacer, d: Drill) -> None:
    solve(page, d)
    solution = without_comments(d.get("code")) + "\n"
    assert ask(page, "lines.read()") == solution
    assert ask(page, "lines.lacking") == 0
    wrong, joins = len(puzzle(d).wrong), len(puzzle(d).joins)
    told = []
    while ask(page, "lines.canBeEasier"):
        told.append(ask(page, "lines.ease()"))
    assert [*map(list, told)] == [["gone"]] * wrong + [["joined"]] * joins
    assert ask(page, "lines.read()") == solution, "help leaves what is right alone"
    assert ask(page, "lines.placed.length") == len(puzzle(d).pieces) - joins >= 3


SMALL = {
    "fixed": ["def f(x):", "    return x"],
    "pieces": [["    a = 1", 1], ["    b = 2", 1], ["    x = a + b", 1], ["# end", 2]],
    "wrong": ["    a = 0", "    x = a - b"],
    "pool": [[2, 5], [1], [4, 0], [3]],
    "joins": [[0, 1]],
}


@pytest.fixture
def small(page: MiniRacer) -> MiniRacer:
    page.eval(f"lines = open({json.dumps(SMALL)}); 0")
    return page


def test_a_line_enters_at_the_gap_and_the_next_behind_it(small: MiniRacer) -> None:
    small.eval("lines.step(1, -1), lines.step(3, -1); 0")
    assert ask(small, "lines.program") == [-1, 1, 3, -2]
    assert ask(small, "lines.pool") == [[2, 5], [], [4, 0], []]
    assert ask(small, "lines.lacking") == 2


def test_a_line_goes_up_and_down_and_out_at_the_end(small: MiniRacer) -> None:
    small.eval("lines.step(1, -1); 0")
    assert ask(small, "[1, 2, 3].map(() => lines.step(1, 1))") == [True, True, False]
    assert ask(small, "lines.program") == [-1, -2]
    small.eval("lines.step(1, -1); 0")
    assert ask(small, "[1, 2].map(() => lines.step(1, -1))") == [True, False]
    assert ask(small, "lines.program") == [1, -1, -2]


def test_of_two_lines_of_which_one_is_right_one_is_in_the_program(small) -> None:
    small.eval("lines.step(1, -1), lines.step(2, -1), lines.step(5, -1); 0")
    assert ask(small, "lines.program") == [-1, 1, 5, -2]
    small.eval("lines.place(2, 1); 0")
    assert ask(small, "lines.program") == [-1, 2, 1, -2]
    small.eval("lines.restore({order: '- 5 1 2 -'}); 0")
    assert ask(small, "lines.program") == [-1, 5, 1, -2]
    assert ask(small, "lines.lacking") == 2


def test_the_wrong_line_that_was_used_goes_first(small: MiniRacer) -> None:
    small.eval("lines.step(5, -1); 0")
    assert ask(small, "lines.ease()") == {"gone": "    x = a - b"}
    assert ask(small, "lines.program") == [-1, -2]
    assert ask(small, "lines.ease()") == {"gone": "    a = 0"}
    assert ask(small, "lines.wrong") == []


@pytest.mark.parametrize(
    ("placed", "program"),
    [([], [-1, -2]), ([0], [-1, 0, -2]), ([1], [-1, 0, -2]), ([1, 0], [-1, 0, -2])],
)
def test_two_lines_are_joined_where_one_of_them_stands(small, placed, program) -> None:
    for row in placed:
        small.eval(f"lines.step({row}, -1); 0")
    small.eval("lines.ease(), lines.ease(); 0")
    assert ask(small, "lines.ease()") == {"joined": ["    a = 1", "    b = 2"]}
    assert ask(small, "lines.program") == program
    assert ask(small, "lines.text(0)") == "    a = 1\n    b = 2"
    assert not ask(small, "lines.canBeEasier")


def test_what_was_done_is_written_and_read_again(small: MiniRacer) -> None:
    small.eval("lines.ease(), lines.ease(), lines.step(3, -1), lines.step(0, -1); 0")
    for _ in range(2):
        state = json.dumps(ask(small, "lines.write()"))
        small.eval(f"lines = open({json.dumps(SMALL)}); lines.restore({state}); 0")
        assert ask(small, "lines.write()") == json.loads(state)
        small.eval("lines.canBeEasier && lines.ease(); 0")


@pytest.mark.parametrize(
    "order",
    ["", "- 9 -", "- 1 1 -", "- 1", "1 - - -", "one - -", "- 4 -"]
    + ["-9 1 - -", "-0 - -", "-Infinity - -", "- 1.5 -", "-  -", "- 0x1 -"],
)
def test_an_order_of_other_lines_is_left_out(small: MiniRacer, order: str) -> None:
    state = json.dumps({"order": order, "wrong": "5", "joined": "7"})
    small.eval(f"lines.restore({state}); 0")
    assert ask(small, "lines.program") == [-1, -2]
    assert ask(small, "lines.wrong") == [5]
    assert ask(small, "lines.joined") == 0, "as long as there is a wrong line"
