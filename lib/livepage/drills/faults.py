"""Faults: why a reader's code failed, independent of language.

This file runs in CPython behind ``check(...)`` and in the page's MicroPython, so it is
plain Python. Each fault has a ``word``, the key of a sentence, and values for the
sentence's ``slots``. The value of a slot is a text, an integer or a list of parts: texts,
numbers as ``[value, digits]``, and columns by name, as ``{"column": name}``. The notebook
and the page each render these parts themselves.
"""

import math
import sys

from livepage.drills import syntax
from livepage.drills.values import as_code

ANSWER = "answer.py"  # the reader's file, as tracebacks call it
DRIVE = "drive.py"
MICROPYTHON = hasattr(sys, "print_exception")  # CPython lacks it


def new_fault(fault: str, actual: object, word: str, **slots: object) -> dict:
    """Return a fault with the key of its sentence and the sentence's slots."""
    return {"fault": fault, "value": actual, "word": word, "slots": slots}


class Changed(Exception):
    """The function changed a list that was passed to it."""


def misspelt(error: SyntaxError, source: str) -> dict:
    """Return the fault of a text with a syntax error, with the cause if it is known."""
    fault = raised(error)
    # For a bracket that is never closed, Python reports the line after the last one.
    last = len(source.rstrip().split("\n"))
    line = min(fault["line"], last) if fault["line"] else None
    slip = syntax.slip(source, line)
    if slip:
        word, line, sign = slip
        fault.update({"word": word, "slots": {"line": line, "sign": as_code(sign)}})
    elif "line" in fault["slots"]:
        fault["slots"]["line"] = line
    fault["line"] = line
    return fault


def missing(function: str) -> dict:
    """Return the fault of an answer that does not define the function."""
    return new_fault("missing", function, "missing", value=as_code(function))


# Sentences for errors that have nothing to do with the drill's mathematics.
WORDS = {
    "SystemExit": "exits",
    "RecursionError": "recursion",
    "MemoryError": "memory",
    "EOFError": "asks",
    "StdinNotImplementedError": "asks",
    "OverflowError": "overflow",
    "unusable": "unusable",
}


# How the errors of arithmetic with a list begin, in CPython and in MicroPython.
ON_LISTS = (
    "unsupported",
    "must be real number",
    "can't convert",
    "can't multiply",
    "can only concatenate",
)


# The class that stands in for a list where a drill counts how often it is read.
STAND_IN = "'Tape'"


def raised(error: BaseException) -> dict:
    """Return the fault of an exception raised by the code or by a rule of the drill."""
    if isinstance(error, Changed):
        return new_fault("changed", "", "changed")
    trace, kind, text = traceback(error), type(error).__name__, str(error)[:400]
    text = text.replace(STAND_IN, "'list'")
    line = last_line(trace)
    if kind == "AssertionError" and text and innermost(trace, DRIVE):
        fault = new_fault("rule", text, "rule", said=text[:1].upper() + text[1:])
        fault.update({"line": line, "type": "rule"})
        return fault
    if line is None and innermost(trace, DRIVE):  # `drive` cannot use the result
        kind = "unusable"
    if text in ("maximum recursion depth exceeded", "pystack exhausted"):
        kind = "RecursionError"
    fault = thrown(kind, text, line)
    fault.update({"line": line, "type": kind})
    return fault


def thrown(kind: str, text: str, line: int | None) -> dict:
    """Return the fault of an exception, with a sentence of its own if its kind has one."""
    if kind in WORDS:
        fault = new_fault("raised", text, WORDS[kind], error=as_code(text))
    else:
        named = as_code(kind + ": " + text if text else kind)
        word = "raisedAt" if line else "raised"
        if kind == "TypeError" and is_single(text):
            word = "single"
        fault = new_fault("raised", text, word, error=named, line=line)
    if MICROPYTHON and (kind == "ImportError" or text.startswith("*x must be")):
        fault["nudge"] = "small"
    nudge = advice(kind, text)
    if nudge:
        fault["nudge"] = nudge
    return fault


def advice(kind: str, text: str) -> str:
    """Return the key of a sentence on how to avoid an error, or ""."""
    if kind == "NameError" and names_math(text):
        return "toImport"
    if kind == "TypeError" and on_list(text):
        return "listPlus" if is_addition(text) else "listAtOnce"
    if kind == "AttributeError" and of_array(text):
        return "arrayMethod"
    if kind == "IndexError" and text.startswith("list"):
        return "noPlace"
    return "divideZero" if kind == "ZeroDivisionError" else ""


def of_array(text: str) -> bool:
    """Say whether an error is about a list that should have what NumPy's arrays have."""
    names = "max min sum mean shape size tolist astype dot T".split()
    ends = ["attribute '" + name + "'" for name in names]
    return text.startswith("'list' object") and any([end in text for end in ends])


def on_list(text: str) -> bool:
    """Say whether an error is about arithmetic with a list as if it were a number."""
    named = "list" in text or "sequence" in text
    return named and any([text.startswith(way) for way in ON_LISTS])


def is_addition(text: str) -> bool:
    """Say whether an error is about a list and a plus, in whichever Python.

    Whoever writes it may mean each number of the list, or one more number at its end.
    """
    return any([sign in text for sign in ("concatenate", " +", "__add__", "__radd__")])


def is_single(text: str) -> bool:
    """Say whether an error means a number where several were expected."""
    kinds = ("int", "float")
    named = any([k + "' object" in text or "iterable " + k in text for k in kinds])
    return "iterable" in text and named


def names_math(text: str) -> bool:
    """Say whether the name that an error quotes is `math` or a member of it."""
    return any("'" + name + "'" in text for name in ["math"] + dir(math))


def traceback(error: BaseException) -> str:
    """Return an exception's traceback as text, in CPython and MicroPython."""
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
