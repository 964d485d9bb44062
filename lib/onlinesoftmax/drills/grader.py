"""Runs a reader's function over a code drill's cases and says where it first differs.

This file runs twice: in CPython behind ``check(...)``, and in MicroPython in a worker
of the page. So it is plain Python, without typing or numpy, and it holds no
mathematics: the build writes what to expect into the cases. Numbers that JSON does not
know travel as text ("-inf"), there and back.

A case is ``{"args", "expected", "slips"}``: keyword arguments for the drill's
``drive``, the rows that ``drive`` should yield, and what known mutants yield instead.
"""

import sys

ANSWER = "answer.py"  # the reader's file, as tracebacks call it
SLIP_REL = 1e-6  # slips are stored to eight digits


def run(
    source: str,
    function: str,
    drive: str,
    cases: list[dict],
    tolerance: float,
    beat: object,
) -> dict:
    """Mark the source text of an answer; see ``grade``."""
    space = {}
    try:
        exec(compile(source, ANSWER, "exec"), space)
    except Exception as error:
        return fail(None, [], raised(error))
    if not callable(space.get(function)):
        return fail(None, [], {"fault": "missing", "value": function})
    return grade(space[function], load(drive, "drive"), cases, tolerance, beat)


def load(source: str, name: str) -> object:
    """Return one function from a piece of source."""
    space = {}
    exec(compile(source, name + ".py", "exec"), space)
    return space[name]


def grade(
    function: object, drive: object, cases: list[dict], tolerance: float, beat: object
) -> dict:
    """Mark a function.

    Parameters
    ----------
    function : callable
        The reader's.
    drive : callable
        ``drive(function, **args)`` yields a row of results per step.
    cases : list of dict
    tolerance : float
        Relative, on every number.
    beat : callable
        ``beat(case)`` is called before every step, so that a watchdog stays quiet.

    Returns
    -------
    dict
        ``passed``; on a failure also ``case`` (its place), ``rows`` (up to the faulty
        one), ``fault`` ("differs", "shape", "count", "rule", "raised", "missing"),
        ``value``, ``line`` and ``slip`` (the mutant that does the same, or None).
    """
    for index, case in enumerate(cases):
        beat(index)
        rows, fault = follow(function, drive, case, tolerance, lambda: beat(index))
        if fault:
            return fail(index, rows, fault, case.get("slips", []))
    return {"passed": True, "case": None, "rows": []}


def follow(
    function: object, drive: object, case: dict, tolerance: float, beat: object
) -> tuple:
    """Return the rows of one case, and the first fault or None."""
    expected, rows = unpack(case["expected"]), []
    try:
        for row in drive(function, **unpack(case["args"])):
            beat()
            rows.append(plain(row))
            fault = compare(rows[-1], expected[len(rows) - 1], tolerance)
            if fault:
                return rows, fault
            if len(rows) == len(expected):
                expected.append(None)  # a further row will differ in shape
    except Exception as error:
        return rows, raised(error)
    if len(rows) < len(case["expected"]):
        return rows, {"fault": "count", "value": len(rows)}
    return rows, None


def fail(
    index: int | None,
    rows: list,
    fault: dict,
    slips: object = (),
    sign: list | None = None,
) -> dict:
    """Return the report of a failure, with the mutant that fails in the same way."""
    report = {"passed": False, "case": index, "rows": pack(rows), "slip": None}
    report.update(fault)
    report["value"] = pack(fault["value"])
    sign = sign or signature(rows, fault)
    for slip in slips:
        if report["slip"] is None and same(sign, unpack(slip["sign"])):
            report["slip"] = slip["mutant"]
    return report


def signature(rows: list, fault: dict) -> list:
    """Return what two answers with the same mistake have in common."""
    if fault["fault"] == "differs":
        return [len(rows), "differs", rows[-1]]
    # CPython overflows where MicroPython has a domain error.
    kind = {"OverflowError": "ValueError"}.get(fault.get("type"), fault.get("type"))
    return [len(rows), fault["fault"], kind]


def same(a: object, b: object) -> bool:
    """Say whether two signatures agree, numbers up to rounding."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if is_number(a) and is_number(b):
        return close(a, b, SLIP_REL)
    return a == b


def compare(row: object, expected: list | None, tolerance: float) -> dict | None:
    """Return None, or how a row differs from the expected one."""
    if not alike(row, expected):
        return {"fault": "shape", "value": row}
    for column, (mine, right) in enumerate(zip(row, expected)):
        if not agree(mine, right, tolerance):
            return {"fault": "differs", "value": mine, "column": column}
    return None


def alike(a: object, b: object) -> bool:
    """Say whether a has numbers where b has them, and lists of the same length."""
    if isinstance(b, list):
        return (
            isinstance(a, list)
            and len(a) == len(b)
            and all(alike(x, y) for x, y in zip(a, b))
        )
    return is_number(a) and is_number(b)


def agree(a: object, b: object, tolerance: float) -> bool:
    """Compare two values of the same shape."""
    if isinstance(b, list):
        return all(agree(x, y, tolerance) for x, y in zip(a, b))
    return close(a, b, tolerance)


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


def plain(value: object) -> object:
    """Return a result as lists and numbers; anything else as its repr."""
    if hasattr(value, "tolist"):  # numpy, in a notebook
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value if is_number(value) else repr(value)


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


def raised(error: Exception) -> dict:
    """Return an exception as a fault: a rule of the drill, or the reader's own."""
    line = last_line(traceback(error))
    if isinstance(error, AssertionError) and str(error):
        return {"fault": "rule", "value": str(error), "line": line, "type": "rule"}
    kind = type(error).__name__
    return {"fault": "raised", "value": str(error), "line": line, "type": kind}


def traceback(error: Exception) -> str:
    """Return an exception's traceback as text, in either Python."""
    if hasattr(sys, "print_exception"):
        from io import StringIO

        text = StringIO()
        sys.print_exception(error, text)
        return text.getvalue()
    from traceback import format_exception

    return "".join(format_exception(error))


def last_line(text: str) -> int | None:
    """Return the last line number of the reader's file in a traceback, or None."""
    mark = '"' + ANSWER + '", line '
    digits = ""
    for character in text[text.rfind(mark) + len(mark) :] if mark in text else "":
        if not character.isdigit():
            break
        digits += character
    return int(digits) if digits else None
