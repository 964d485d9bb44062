"""Plays a reader's function on a code drill's cases, judges it, and names its mistake.

This file runs in CPython behind ``check(...)``, and twice in MicroPython on the page:
in one interpreter that *plays* (it has the reader's code and no expected value), and in
one that *judges* (it has the expected values and no code of the reader's). So it is
plain Python, without typing or numpy, and it holds no mathematics: the build writes
what to expect into the cases. Numbers that JSON does not know travel as text ("-inf"),
there and back.

A case is ``{"args", "expected", "compared", "given"}``: keyword arguments for the
drill's ``drive``, the rows that ``drive`` should yield, the names of their columns, and
what is shown beside them: columns as ``[name, cells]``. A *sign* is what is left of an
answer in one case: "" where it is right, else a letter for the way it fails and a number
that other results would not give. A mistake is named if the signs are those of its
mutant in every case.

What to say is decided here too, without a language: each fault has a ``word``, the key
of a sentence, and what fills its ``slots``. In a slot stands a text, a whole number, or
a list of parts: texts, numbers as ``[value, digits]``, and columns by name, as
``{"column": name}``. The notebook and the page each write these in their own way.
"""

import math
import sys

from livepage.drills import syntax
from livepage.numbers import show

ANSWER = "answer.py"  # the reader's file, as tracebacks call it
DRIVE = "drive.py"
DEEPEST, LONGEST, WIDEST = 6, 2000, 60  # of a result: its nesting, its lists, its text
ALIKE = 3e-5  # signs have five decimals
MICROPYTHON = hasattr(sys, "print_exception")  # which CPython has not


class Changed(Exception):
    """The function changed a list that it was given."""


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


def misspelt(error: SyntaxError, source: str) -> dict:
    """Return the fault of a text that is no Python: what is wrong, if that is known."""
    fault = raised(error)
    # A bracket that never closes is blamed on the line after the last.
    last = len(source.rstrip().split("\n"))
    line = min(fault["line"], last) if fault["line"] else None
    found = syntax.slip(source, line)
    if found:
        word, line, sign = found
        fault.update({"word": word, "slots": {"line": line, "sign": code(sign)}})
    elif "line" in fault["slots"]:
        fault["slots"]["line"] = line
    fault["line"] = line
    return fault


def missing(function: str) -> dict:
    """Return the fault of an answer without the function that is asked for."""
    return new_fault("missing", function, "missing", value=code(function))


def load(source: str, name: str) -> object:
    """Return one function from a piece of source."""
    space = {}
    exec(compile(source, name + ".py", "exec"), space)
    return space[name]


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


def plain(value: object, depth: int) -> object:
    """Return a result as lists and numbers; anything else as its repr."""
    if hasattr(value, "tolist"):  # numpy, in a notebook
        value = value.tolist()
    if isinstance(value, (list, tuple)) and depth < DEEPEST:
        return [plain(part, depth + 1) for part in value[:LONGEST]]
    if isinstance(value, int) and is_number(value):
        return value if abs(value) < 1 << 1000 else math.inf * (1 if value > 0 else -1)
    return value if is_number(value) else repr(value)[:WIDEST]


# What is said of an error that is no mistake in the mathematics.
WORDS = {
    "SystemExit": "exits",
    "RecursionError": "recursion",
    "MemoryError": "memory",
    "EOFError": "asks",
    "StdinNotImplementedError": "asks",
    "OverflowError": "overflow",
    "unusable": "unusable",
}


def raised(error: BaseException) -> dict:
    """Return the fault of an exception, which a rule of the drill or the code raised."""
    if isinstance(error, Changed):
        return new_fault("changed", "", "changed")
    trace, kind, text = traceback(error), type(error).__name__, str(error)[:400]
    line = last_line(trace)
    if kind == "AssertionError" and text and innermost(trace, DRIVE):
        fault = new_fault("rule", text, "rule", said=text[:1].upper() + text[1:])
        fault.update({"line": line, "type": "rule"})
        return fault
    if line is None and innermost(trace, DRIVE):  # it takes what the answer returns
        kind = "unusable"
    if text in ("maximum recursion depth exceeded", "pystack exhausted"):
        kind = "RecursionError"
    fault = thrown(kind, text, line)
    fault.update({"line": line, "type": kind})
    return fault


def thrown(kind: str, text: str, line: int | None) -> dict:
    """Return the fault of an exception: what is known of its kind, else what it says."""
    if kind in WORDS:
        fault = new_fault("raised", text, WORDS[kind], error=code(text))
    else:
        named = code(kind + ": " + text if text else kind)
        word = "raisedAt" if line else "raised"
        fault = new_fault("raised", text, word, error=named, line=line)
    if MICROPYTHON and (kind == "ImportError" or text.startswith("*x must be")):
        fault["nudge"] = "small"
    if kind == "NameError" and names_math(text):
        fault["nudge"] = "toImport"
    return fault


def names_math(text: str) -> bool:
    """Whether the name that an error quotes is `math`, or one that it holds."""
    return any("'" + name + "'" in text for name in ["math"] + dir(math))


def traceback(error: BaseException) -> str:
    """Return an exception's traceback as text, in either Python."""
    if MICROPYTHON:
        from io import StringIO

        text = StringIO()
        sys.print_exception(error, text)
        return text.getvalue()
    from traceback import format_exception

    return "".join(format_exception(error))


def innermost(text: str, file: str) -> bool:
    """Say whether a traceback ends in this file."""
    mark = 'File "'
    return text[text.rfind(mark) + len(mark) :].startswith(file)


def last_line(text: str) -> int | None:
    """Return the last line number of the reader's file in a traceback, or None."""
    mark = '"' + ANSWER + '", line '
    digits = ""
    for character in text[text.rfind(mark) + len(mark) :] if mark in text else "":
        if not character.isdigit():
            break
        digits += character
    return int(digits) if digits else None


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
        parts = code(", ".join(form)).split("#")
        parts = [{"column": p} if i % 2 else p for i, p in enumerate(parts)]
        return new_fault("shape", value, word, value=code(value), form=parts)
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


def brief(value: object) -> str:
    """Return a result as one would write it, in a few words."""
    if isinstance(value, list):
        parts = [brief(part) for part in value[:4]] + ["…"] * (len(value) > 4)
        return "[" + ", ".join(parts) + "]"
    return show(value, FEW)


def agree(a: object, b: object, tolerance: float) -> bool:
    """Compare two values of the same shape."""
    if isinstance(b, list):
        return all([agree(x, y, tolerance) for x, y in zip(a, b)])
    return a == b if isinstance(b, str) else close(a, b, tolerance)


def close(a: float, b: float, tolerance: float) -> bool:
    """Compare two numbers; infinities and NaN equal themselves."""
    if a == b or (a != a and b != b):
        return True
    if a - a != 0 or b - b != 0:  # one of them is not finite
        return False
    return abs(a - b) <= tolerance * max(abs(b), 1e-3)


def is_number(value: object) -> bool:
    """Say whether a value is a number; True and False are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# ---- what to say


def new_fault(fault: str, came: object, word: str, **slots: object) -> dict:
    """Return a fault, with the sentence for it and what fills its slots."""
    return {"fault": fault, "value": came, "word": word, "slots": slots}


def code(text: str) -> str:
    """Return a text that is shown as code."""
    return "`" + text.replace("`", "'") + "`"


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


FEW, MANY = 5, 12  # digits


def distinct_cells(mine: object, right: object) -> list:
    """Return two values as cells, with as many digits as it takes to tell them apart."""
    few = [[pack(value), FEW] for value in (mine, right)]
    many = [[pack(value), MANY] for value in (mine, right)]
    return many if look_alike(*few) and not look_alike(*many) else few


def look_alike(a: list, b: list) -> bool:
    """Say whether two cells are written alike."""
    return show(*a) == show(*b)


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


def finite(value: object) -> bool:
    """Say whether no NaN and no infinity is in a value."""
    if isinstance(value, list):
        return all([finite(part) for part in value])
    return not is_number(value) or value - value == 0


def fingerprint(value: object) -> float:
    """Return a number that hardly any other rows of numbers have."""
    total = 0.0
    for place, leaf in enumerate(leaves(value)):
        total += (1 + place * 0.6180339887 % 1) * weight(leaf)
    return total


def leaves(value: object) -> list:
    """Return every number and text in lists of lists."""
    if not isinstance(value, list):
        return [value]
    found = []
    for part in value:
        found += leaves(part)
    return found


def weight(leaf: object) -> float:
    """Return a number as its order of magnitude, a text as a number."""
    if not is_number(leaf):
        text = leaf[:5] if leaf[:1] == "<" else leaf  # after that comes an address
        return 50 + sum([(i + 1) * ord(x) for i, x in enumerate(text)]) % 9973 / 100
    if leaf - leaf != 0:
        return 91.7 if leaf != leaf else 83.3 if leaf > 0 else -83.3
    size = math.log(1 + abs(leaf))
    return size if leaf > 0 else -size


# ---- numbers in JSON


def pack(value: object) -> object:
    """Write the numbers that JSON does not know as text."""
    if isinstance(value, list):
        return [pack(part) for part in value]
    if isinstance(value, float) and value - value != 0:
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    return value


def unpack(value: object) -> object:
    """Read them back."""
    if isinstance(value, list):
        return [unpack(part) for part in value]
    if isinstance(value, dict):
        return {key: unpack(part) for key, part in value.items()}
    return float(value) if value in ("nan", "inf", "-inf") else value
