"""Plays a reader's function on a code drill's cases, judges it, and names its mistake.

This file runs in CPython behind ``check(...)``, and twice in MicroPython on the page:
in one interpreter that *plays* (it has the reader's code and no expected value), and in
one that *judges* (it has the expected values and no code of the reader's). So it is
plain Python, without typing or NumPy, and it holds no mathematics: the build writes
what to expect into the cases.

A case is ``{"args", "expected", "compared", "given"}``: keyword arguments for the
drill's ``drive``, the rows that ``drive`` should yield, the names of their columns, and
what is shown beside them: columns as ``[name, cells]``. A *sign* is what is left of an
answer in one case: "" where it is right, else a letter for the way it fails and a number
that other results would not give. A mistake is named if the signs are those of its
mutant in every case.
"""

from livepage.drills.faults import ANSWER, Changed, missing, misspelt, new_fault, raised
from livepage.drills.values import (
    FEW,
    as_code,
    brief,
    close,
    distinct_cells,
    fingerprint,
    finite,
    is_number,
    look_alike,
    pack,
    plain,
    unpack,
)

ALIKE = 3e-5  # signs have five decimals


# ---- playing: where the reader's code is


def defined(source: str, function: str) -> tuple:
    """Return the function that the text of an answer defines, and a fault or None."""
    space = {"__name__": "answer"}
    try:
        exec(compile(source, ANSWER, "exec"), space)
    except SyntaxError as error:
        return None, misspelt(error, source)
    except BaseException as error:
        return None, raised(error)
    if not callable(space.get(function)):
        return None, missing(function)
    return space[function], None


def load(source: str, name: str) -> object:
    """Return one function from a piece of source."""
    space = {}
    exec(compile(source, name + ".py", "exec"), space)
    return space[name]


def player(drive: str, function: object, cases: list) -> object:
    """Return ``play(index)``, which plays a function in a case."""
    driven = load(drive, "drive")

    def play_case(index):
        case = cases[index]
        return play(function, driven, case["args"], len(case["expected"]), lambda: None)

    return play_case


def play(function: object, drive: object, args: dict, most: int, beat: object) -> dict:
    """Return what a function does in one case.

    Parameters
    ----------
    function : callable
        The reader's.
    drive : callable
        ``drive(function, **args)`` yields a row of results per step.
    args : dict
    most : int
        How many rows are expected; one more is read, to see that there is one.
    beat : callable
        Called at every row, so that a watchdog stays quiet.

    Returns
    -------
    dict
        ``rows``, of numbers and lists, and ``fault``, what broke it off, or None.
    """
    rows = []
    try:
        for row in drive(watched(function), **unpack(args)):
            beat()
            rows.append(plain(row, 0))
            if len(rows) > most:
                break
    except BaseException as error:
        if type(error).__name__ == "OutOfTime":
            raise
        return {"rows": pack(rows), "fault": raised(error)}
    return {"rows": pack(rows), "fault": None}


def watched(function: object) -> object:
    """Return a function that also sees whether the lists it is given stay the same."""

    def call(*args, **named):
        lists = [arg for arg in args if isinstance(arg, list)]
        before = [copied(arg) for arg in lists]
        result = function(*args, **named)
        # Packed, because to MicroPython a list with a NaN is not equal to its copy.
        if pack(lists) != pack(before):
            raise Changed
        return result

    return call


def copied(value: object) -> object:
    """Return a copy of lists in lists; what else is in them is not copied."""
    return [copied(part) for part in value] if isinstance(value, list) else value


# ---- judging: where the expected values are


def grade(
    play: object, cases: list, slips: object, tolerance: float, settled: object
) -> dict:
    """Mark an answer.

    Parameters
    ----------
    play : callable
        ``play(index)`` returns what the function does in that case, as above.
    cases : list of dict
    slips : callable
        Returns for each mutant its signs, joined by ";". Called after a failure only.
    tolerance : float
        Relative, on every number.
    settled : callable
        Called once, as soon as the verdict is certain: with the report of the first
        failure, still without its slip, or with None where every case passes. What is
        played after that may never end, and what it prints is not shown.

    Returns
    -------
    dict
        ``passed``; on a failure also ``case`` (its place), ``rows`` (up to the faulty
        one), ``fault`` ("differs", "shape", "count", "rule", "changed", "raised",
        "missing", "differently"), ``value``, ``line`` and ``slip`` (the mutant that
        does the same, or None).
    """
    signs, report = [], None
    for index, case in enumerate(cases):
        played = play(index)
        rows, fault = judge(played, case, tolerance)
        signs.append(sign(unpack(played["rows"]), rows, fault))
        if fault and report is None:
            report = fail(index, rows, fault, case)
            settled(report)
    if report is None:
        settled(None)
        return again(play, cases, tolerance)
    report["slip"] = mistake(signs, slips())
    return report


def again(play: object, cases: list, tolerance: float) -> dict:
    """Return the report of a right answer, after playing the cases in another order."""
    for index in reversed(range(len(cases))):
        rows, fault = judge(play(index), cases[index], tolerance)
        if fault:
            fault = new_fault("differently", "", "differently")
            return fail(index, rows, fault, cases[index])
    return {"passed": True, "case": None, "rows": []}


def judge(played: dict, case: dict, tolerance: float) -> tuple:
    """Return the rows of one case up to the first fault, and that fault or None."""
    expected, rows = unpack(case["expected"]), unpack(played["rows"])
    for place, row in enumerate(rows):
        if place == len(expected):
            return rows, miscounted(rows, expected)
        fault = compare(row, expected[place], tolerance, case["compared"])
        if fault:
            if fault["fault"] == "differs" and len(expected) > 1:
                fault["word"], fault["slots"] = "differs", {"n": place + 1}
            return rows[: place + 1], fault
    if played["fault"]:
        return rows, played["fault"]
    if len(rows) < len(expected):
        return rows, miscounted(rows, expected)
    return rows, None


def miscounted(rows: list, expected: list) -> dict:
    """Return the fault of an answer that yields too few rows or too many."""
    return new_fault("count", len(rows), "count", n=len(rows), all=len(expected))


def fail(index: int | None, rows: list, fault: dict, case: dict | None = None) -> dict:
    """Return the report of a failure, with a table of the case where that says more."""
    report = {"passed": False, "case": index, "rows": pack(rows), "slip": None}
    report.update(fault)
    report["value"] = pack(fault["value"])
    # Of code that raised something of its own, a table without results shows the inputs.
    if case and (rows or fault["word"] in ("raised", "raisedAt")):
        report["table"] = table(case, rows, fault.get("column"))
    return report


def compare(row: object, expected: list, tolerance: float, names: list) -> dict | None:
    """Return None, or how a row differs from the expected one."""
    if not alike(row, expected):
        cells = row if isinstance(row, list) else [row]
        value = ", ".join([brief(cell) for cell in cells[:6]]) or "()"
        form = [shape(cell, name) for cell, name in zip(expected, names)]
        word = "shapeNumber" if form == ["#" + names[0] + "#"] else "shape"
        parts = as_code(", ".join(form)).split("#")
        parts = [{"column": p} if i % 2 else p for i, p in enumerate(parts)]
        return new_fault("shape", value, word, value=as_code(value), form=parts)
    for column, (mine, right) in enumerate(zip(row, expected)):
        if not agree(mine, right, tolerance):
            fault = new_fault("differs", mine, "differsOnce")
            fault.update({"column": column, "nudge": "codeNudge"})
            return fault
    return None


def alike(a: object, b: object) -> bool:
    """Say whether a has numbers and texts where b has them, and lists as long."""
    if isinstance(b, list):
        return (
            isinstance(a, list)
            and len(a) == len(b)
            and all([alike(x, y) for x, y in zip(a, b)])
        )
    if isinstance(b, str):
        return isinstance(a, str)
    return is_number(a) and is_number(b)


def shape(value: object, name: str) -> str:
    """Return how a value is laid out, with #name# for each number in it."""
    if not isinstance(value, list):
        return "#" + name + "#"
    parts = [shape(part, name) for part in value[:3]] + ["…"] * (len(value) > 3)
    return "[" + ", ".join(parts) + "]"


def agree(a: object, b: object, tolerance: float) -> bool:
    """Compare two values of the same shape."""
    if isinstance(b, list):
        return all([agree(x, y, tolerance) for x, y in zip(a, b)])
    return a == b if isinstance(b, str) else close(a, b, tolerance)


def table(case: dict, rows: list, faulty: int | None) -> list:
    """Return the columns up to the first fault: those given, and those compared.

    A compared column stands there twice, as "yours" and as "expected", if the two are
    not written alike in every row. A cell is a value and how many digits to show.
    """
    expected = unpack(case["expected"])
    count = min(max(len(rows), 1), len(expected))
    columns = [
        shown_column(name, "", [[cell, FEW] for cell in cells[:count]])
        for name, cells in case["given"]
    ]
    for j, name in enumerate(case["compared"]):
        pairs = [
            distinct_cells(cell_of(rows, i, j), expected[i][j]) for i in range(count)
        ]
        yours, right = [[pair[side] for pair in pairs] for side in (0, 1)]
        differs = not all([look_alike(*pair) for pair in pairs])
        if differs:
            columns.append(shown_column(name, "yours", yours, j == faulty))
        columns.append(shown_column(name, "expected" if differs else "", right))
    return columns


def shown_column(name: str, whose: str, cells: list, faulty: bool = False) -> dict:
    """Return a column of a table; the last cell of a faulty one is wrong."""
    return {"name": name, "whose": whose, "cells": cells, "faulty": faulty}


def cell_of(rows: list, i: int, j: int) -> object:
    """Return what came in a row and column, or a dash."""
    row = rows[i] if i < len(rows) else None
    return row[j] if isinstance(row, list) and j < len(row) else "–"


# ---- naming a mistake


def mistake(signs: list, slips: list) -> int | None:
    """Return the one mutant that does the same as this answer, or None."""
    found = [k for k, slip in enumerate(slips) if same_mistake(signs, slip.split(";"))]
    return found[0] if len(found) == 1 else None


def same_mistake(mine: list, theirs: list) -> bool:
    """Say whether an answer makes a mutant's mistake.

    In the case that is shown they have to fail alike, and also in every other case. Who
    makes a second mistake that ends in an error or a NaN is excused in those cases, if
    two wrong numbers are the mutant's own elsewhere: numbers prove more than errors.
    """
    shown, proofs, excused = False, 0, False
    for a, b in zip(mine, theirs):
        if same_sign(a, b):
            shown = shown or a != ""
            proofs += a[:1] == "d"
        elif not shown or a[:1] not in ("r", "n"):
            return False
        else:
            excused = True
    return shown and (proofs >= 2 or not excused)


def same_sign(a: str, b: str) -> bool:
    """Say whether two signs are the same, numbers up to rounding."""
    if a[:1] != b[:1] or len(a) < 2:
        return a == b
    return abs(float(a[1:]) - float(b[1:])) <= ALIKE


LETTERS = {
    "differs": "d",
    "raised": "r",
    "rule": "u",
    "shape": "s",
    "count": "c",
    "changed": "m",
}


def sign(rows: list, judged: list, fault: dict | None) -> str:
    """Return what two answers with the same mistake have in common in one case."""
    if fault is None:
        return ""
    kind = fault["fault"]
    letter = LETTERS.get(kind, "r")
    if kind == "differs" and not finite(judged[-1]):
        letter = "n"
    said = fault["value"] if kind == "rule" else fault.get("type", "")
    return letter + "%.5f" % fingerprint([rows, said])
