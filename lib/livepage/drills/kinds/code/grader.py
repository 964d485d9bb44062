"""Runs a reader's function on a code drill's cases, judges it, and names its mistake.

This file runs in CPython behind ``check(...)``, and in two MicroPython interpreters on
the page: one *plays* (it has the reader's code and no expected values), the other
*judges* (it has the expected values and none of the reader's code). So it is plain
Python, without typing or NumPy, and contains no mathematics: the build writes the
expected results into the cases.

A case is ``{"args", "expected", "compared", "given"}``: keyword arguments for the
drill's ``drive``, the rows that ``drive`` should yield, the names of their columns, and
columns to show beside them, as ``[name, cells]``. A *sign* summarises an answer in one
case: "" if it is right, else a letter for the kind of failure and a fingerprint of the
results. A mistake is recognised if the signs equal those of its mutant in every case.
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
    leaves,
    look_alike,
    pack,
    plain,
    unpack,
)

ALIKE = 3e-5  # signs have five decimals


# ---- playing: in the interpreter with the reader's code


def defined(source: str, function: str) -> tuple:
    """Run an answer's text; return its function, and a fault or None."""
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
    """Run a source and return one function of it."""
    space = {}
    exec(compile(source, name + ".py", "exec"), space)
    return space[name]


def player(drive: str, function: object, cases: list) -> object:
    """Return ``play(index)``, which runs a function in a case."""
    driven = load(drive, "drive")

    def play_case(index):
        case = cases[index]
        return play(function, driven, case["args"], len(case["expected"]), lambda: None)

    return play_case


def play(function: object, drive: object, args: dict, most: int, beat: object) -> dict:
    """Run a function in one case.

    Parameters
    ----------
    function : callable
        The reader's function.
    drive : callable
        ``drive(function, **args)`` yields a row of results per step.
    args : dict
    most : int
        The number of expected rows. One more is read, to detect surplus rows.
    beat : callable
        Called at every row, to reset the watchdog.

    Returns
    -------
    dict
        ``rows``, of numbers and lists, and ``fault``, the exception's fault or None.
    """
    rows, results = [], []
    try:
        for row in drive(watched(function, results), **unpack(args)):
            beat()
            rows.append(plain(row, 0))
            if len(rows) > most:
                break
    except BaseException as error:
        if type(error).__name__ == "OutOfTime":
            raise
        fault = raised(error)
        if fault["word"] == "unusable" and results and results[0] is None:
            fault["word"] = "noReturn"
        return {"rows": pack(rows), "fault": fault}
    return {"rows": pack(rows), "fault": None}


def watched(function: object, results: list) -> object:
    """Wrap a function so that it raises if a list passed to it is changed.

    Its last result is kept in ``results``.
    """

    def call(*args, **named):
        lists = [arg for arg in args if isinstance(arg, list)]
        before = [copied(arg) for arg in lists]
        result = function(*args, **named)
        results[:] = [result]
        # Packed, because in MicroPython a list with a NaN does not equal its copy.
        if pack(lists) != pack(before):
            raise Changed
        return result

    return call


def copied(value: object) -> object:
    """Return a deep copy of nested lists."""
    return [copied(part) for part in value] if isinstance(value, list) else value


# ---- judging: in the interpreter with the expected values


def grade(
    play: object, cases: list, slips: object, tolerance: float, settled: object
) -> dict:
    """Mark an answer.

    Parameters
    ----------
    play : callable
        ``play(index)`` runs a case, as the function `play` does.
    cases : list of dict
    slips : callable
        Returns for each mutant its signs, joined by ";". Called only after a failure.
    tolerance : float
        The relative tolerance of every number.
    settled : callable
        Called once, as soon as the verdict is certain, with the report of the first
        failure, still without its slip, or with None if every case passes. Later runs
        may never end, and their output is not shown.

    Returns
    -------
    dict
        ``passed``; on a failure also ``case`` (its index), ``rows`` (up to the first
        wrong one), ``fault`` ("differs", "shape", "count", "rule", "changed", "raised",
        "missing", "differently"), ``value``, ``line`` and ``slip`` (the index of the
        mutant with the same signs, or None).
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
    """Return the report of a right answer after running the cases in reverse order."""
    for index in reversed(range(len(cases))):
        rows, fault = judge(play(index), cases[index], tolerance)
        if fault:
            fault = new_fault("differently", "", "differently")
            return fail(index, rows, fault, cases[index])
    return {"passed": True, "case": None, "rows": []}


def judge(played: dict, case: dict, tolerance: float) -> tuple:
    """Return the rows of one case up to the first fault, and that fault or None."""
    expected, rows = unpack(case["expected"]), unpack(played["rows"])
    for index, row in enumerate(rows):
        if index == len(expected):
            return rows, miscounted(rows, expected)
        fault = compare(row, expected[index], tolerance, case["compared"])
        if fault:
            if fault["fault"] == "differs" and len(expected) > 1:
                fault["word"], fault["slots"] = "differs", {"n": index + 1}
            return rows[: index + 1], fault
    if played["fault"]:
        return rows, played["fault"]
    if len(rows) < len(expected):
        return rows, miscounted(rows, expected)
    return rows, None


def miscounted(rows: list, expected: list) -> dict:
    """Return the fault of an answer that yields too few rows or too many."""
    return new_fault("count", len(rows), "count", n=len(rows), all=len(expected))


def fail(index: int | None, rows: list, fault: dict, case: dict | None = None) -> dict:
    """Return the report of a failure, with a table of the case where that helps."""
    report = {"passed": False, "case": index, "rows": pack(rows), "slip": None}
    report.update(fault)
    report["value"] = pack(fault["value"])
    # If the code itself raised an error, a table without results shows the inputs.
    if case and (rows or fault["word"] in ("raised", "raisedAt")):
        report["table"] = table(case, rows, fault.get("column"))
    return report


def compare(row: object, expected: list, tolerance: float, names: list) -> dict | None:
    """Return the fault of a row that differs from the expected one, or None."""
    if not alike(row, expected):
        cells = row if isinstance(row, list) else [row]
        value = ", ".join([brief(cell) for cell in cells[:6]]) or "()"
        form = [shape(cell, name) for cell, name in zip(expected, names)]
        word = "shapeNumber" if form == ["#" + names[0] + "#"] else "shape"
        word = "noReturn" if cells == ["None"] else word
        parts = as_code(", ".join(form)).split("#")
        parts = [{"column": p} if i % 2 else p for i, p in enumerate(parts)]
        return new_fault("shape", value, word, value=as_code(value), form=parts)
    for column, (mine, right) in enumerate(zip(row, expected)):
        if not agree(mine, right, tolerance):
            fault = new_fault("differs", mine, "differsOnce")
            nan = has_nan(mine) and not has_nan(right)
            fault.update({"column": column, "nudge": "nan" if nan else "codeNudge"})
            return fault
    return None


def has_nan(value: object) -> bool:
    """Say whether nested lists hold a NaN."""
    return any([leaf != leaf for leaf in leaves(value)])


def alike(a: object, b: object) -> bool:
    """Say whether two values have the same structure."""
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
    """Return the structure of a value as text, with #name# for each number."""
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
    """Return the given and the compared columns, up to the first fault.

    A compared column appears twice, as "yours" and as "expected", unless both print the
    same in every row. A cell is a value and the number of digits to show.
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
    """Return a column of a table. In a faulty column the last cell is wrong."""
    return {"name": name, "whose": whose, "cells": cells, "faulty": faulty}


def cell_of(rows: list, i: int, j: int) -> object:
    """Return the reader's result in a row and column, or a dash."""
    row = rows[i] if i < len(rows) else None
    return row[j] if isinstance(row, list) and j < len(row) else "–"


# ---- naming a mistake


def mistake(signs: list, slips: list) -> int | None:
    """Return the index of the one mutant with the same signs as this answer, or None."""
    same = [k for k, slip in enumerate(slips) if same_mistake(signs, slip.split(";"))]
    return same[0] if len(same) == 1 else None


def same_mistake(mine: list, theirs: list) -> bool:
    """Say whether an answer makes a mutant's mistake.

    Both have to fail in the same way in the first failing case, which is shown, and in
    every other case. A second mistake that ends in an error or a NaN is excused if two
    other cases have the mutant's wrong numbers, because numbers prove more than errors.
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
    """Say whether two signs are equal up to rounding."""
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
    """Return the sign of an answer in one case, equal for answers with one mistake."""
    if fault is None:
        return ""
    kind = fault["fault"]
    letter = LETTERS.get(kind, "r")
    if kind == "differs" and not finite(judged[-1]):
        letter = "n"
    said = fault["value"] if kind == "rule" else fault.get("type", "")
    return letter + "%.5f" % fingerprint([rows, said])
