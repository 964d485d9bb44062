"""Reads a program's text: finds syntax errors, and compares two programs.

MicroPython's own messages about syntax errors say little.

This file runs in MicroPython on the page, and in CPython where it is tested, so it is
plain Python.
"""

BLOCKS = "def class for while if elif else try except finally with".split()
ASKING = "if elif while assert".split()
CLOSING = {"(": ")", "[": "]", "{": "}"}


def slip(text: str, line: int | None) -> tuple | None:
    """Return the key of a syntax error, its line and its sign; None if unknown.

    Parameters
    ----------
    text : str
        The text that could not be compiled.
    line : int or None
        The line at which Python stopped reading.
    """
    whole = foreign_sign(text) or open_quote(text) or lone_bracket(text)
    return whole or slip_of_line(text, line)


def foreign_sign(text: str) -> tuple | None:
    """Return the first sign that Python does not accept, such as a typographic minus."""
    for index, letter, _ in outside(text):
        if ord(letter) > 127 and not letter.isalpha():
            return "foreignSign", line_of(text, index), letter
    return None


def open_quote(text: str) -> tuple | None:
    """Return the opening quotation mark of a string that does not end on its line."""
    before = -1
    for index in [index for index, _, _ in outside(text)] + [len(text)]:
        quoted = text[before + 1 : index]
        mark = quoted[:1]
        if mark in ("'", '"') and quoted[:3] != mark * 3 and "\n" in quoted:
            return "openQuote", line_of(text, before + 1), mark
        before = index
    return None


def lone_bracket(text: str) -> tuple | None:
    """Return the first unmatched bracket."""
    open_ones = []
    for index, letter, _ in outside(text):
        if letter in "([{":
            open_ones.append((index, letter))
        elif letter in ")]}" and (
            not open_ones or CLOSING[open_ones.pop()[1]] != letter
        ):
            return "strayBracket", line_of(text, index), letter
    if not open_ones:
        return None
    index, letter = open_ones[0]
    return "openBracket", line_of(text, index), letter


def slip_of_line(text: str, line: int | None) -> tuple | None:
    """Return a missing colon, or "=" in place of "==", in the line where Python stopped."""
    lines = text.split("\n")
    if line is None or line > len(lines):
        return None
    bare = "".join(
        [letter for _, letter, depth in outside(lines[line - 1]) if not depth]
    )
    first = bare.strip().replace(":", " ").split(" ")[0]
    compared = bare
    for sign in ("==", "!=", "<=", ">=", ":="):
        compared = compared.replace(sign, "")
    if first in ASKING and "=" in compared:
        return "oneEquals", line, "="
    if first in BLOCKS and ":" not in bare:
        return "noColon", line, ":"
    return None


def same_program(text: str, other: str) -> bool:
    """Say whether two texts have the same tokens, apart from layout and comments."""
    return program(text) == program(other)


def program(text: str) -> list:
    """Return the lines of a program, each with its depth of indentation."""
    lines, widths, line, space = [], [0], "", ""
    before, comment = -1, False
    for index, letter, depth in list(outside(text)) + [(len(text), "\n", 0)]:
        quoted = "" if comment else text[before + 1 : index]
        comment = letter == "#"
        if quoted:
            line, space = joined(line, space, quoted), ""
        if letter in " \t\r\n" or comment:
            space += "" if comment else letter
        else:
            line, space = joined(line, space, letter), ""
        before = index
        if letter == "\n" and depth == 0:
            if line.strip():
                width = len(line) - len(line.lstrip())
                while widths[-1] > width:
                    widths.pop()
                if widths[-1] < width:
                    widths.append(width)
                lines.append((len(widths), line.strip()))
            line, space = "", ""
    return lines


def joined(line: str, space: str, part: str) -> str:
    """Append to a line; spaces stay only at its start and between words."""
    if not line.strip():
        return space.replace("\t", " " * 8) + part
    words = is_of_word(line[-1]) and is_of_word(part[0])
    return line + (" " if space and words else "") + part


def is_of_word(letter: str) -> bool:
    """Say whether a letter may be part of a name or a number."""
    return letter.isalpha() or letter.isdigit() or letter == "_"


def line_of(text: str, index: int) -> int:
    """Return the line number of a letter."""
    return text[:index].count("\n") + 1


def outside(text: str, depth: int = 0):
    """Yield index, letter and bracket depth of each letter outside strings and comments."""
    quote, index, comment = "", 0, False
    while index < len(text):
        letter = text[index]
        if quote:
            if letter == "\\":
                index += 1
            elif text[index : index + len(quote)] == quote:
                index += len(quote) - 1
                quote = ""
        elif comment:
            if letter == "\n":
                comment = False
                yield index, letter, depth
        elif letter in "'\"":
            quote = text[index : index + 3]
            quote = quote if quote == letter * 3 else letter
            index += len(quote) - 1
        else:
            comment = letter == "#"
            depth -= letter in ")]}"
            yield index, letter, depth
            depth += letter in "([{"
        index += 1
