"""Faults: what stopped a reader's code, without a language.

This file runs in CPython behind ``check(...)`` and in the page's MicroPython, so it is
plain Python. Each fault has a ``word``, the key of a sentence, and what fills its
``slots``: a text, a whole number, or a list of parts: texts, numbers as ``[value,
digits]``, and columns by name, as ``{"column": name}``. The notebook and the page each
write these in their own way.
"""

import math
import sys

from livepage.drills import syntax
from livepage.drills.values import as_code

ANSWER = "answer.py"  # the reader's file, as tracebacks call it
DRIVE = "drive.py"
MICROPYTHON = hasattr(sys, "print_exception")  # which CPython has not


def new_fault(fault: str, came: object, word: str, **slots: object) -> dict:
    """Return a fault, with the sentence for it and what fills its slots."""
    return {"fault": fault, "value": came, "word": word, "slots": slots}


class Changed(Exception):
    """The function changed a list that it was given."""


def misspelt(error: SyntaxError, source: str) -> dict:
    """Return the fault of a text that is no Python: what is wrong, if that is known."""
    fault = raised(error)
    # A bracket that never closes is blamed on the line after the last.
    last = len(source.rstrip().split("\n"))
    line = min(fault["line"], last) if fault["line"] else None
    found = syntax.slip(source, line)
    if found:
        word, line, sign = found
        fault.update({"word": word, "slots": {"line": line, "sign": as_code(sign)}})
    elif "line" in fault["slots"]:
        fault["slots"]["line"] = line
    fault["line"] = line
    return fault


def missing(function: str) -> dict:
    """Return the fault of an answer without the function that is asked for."""
    return new_fault("missing", function, "missing", value=as_code(function))


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
        fault = new_fault("raised", text, WORDS[kind], error=as_code(text))
    else:
        named = as_code(kind + ": " + text if text else kind)
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
