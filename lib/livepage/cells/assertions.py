"""Reads the assertions of a cell from its text, without a parser, and keeps count of them.

A cell may hold assertions that never run, whose failure it catches, or that cannot fail:
of these nobody should be told that they hold.

This file runs in MicroPython on the page, and in CPython where it is tested, so it is
plain Python.
"""

from livepage.drills.syntax import outside


class Tally:
    """How often each assertion of a text begins, and how often it holds.

    Parameters
    ----------
    text : str
    """

    def __init__(self, text: str):
        self.text, self.places = text, list(assertions(text))
        self.begun, self.held = [0] * len(self.places), [0] * len(self.places)

    def counted(self) -> str:
        """Return the text with a call before and after each assertion, line for line."""
        parts, done = [], 0
        for number, (start, end) in enumerate(self.places):
            parts += [self.text[done:start], f"__begins__({number}); "]
            parts += [self.text[start:end], f"; __holds__({number}) "]
            done = end
        return "".join(parts) + self.text[done:]

    def names(self) -> dict:
        """Return what the calls are to find among the names of a run."""
        return {"__begins__": self.begins, "__holds__": self.holds}

    def begins(self, number: int) -> None:
        self.begun[number] += 1

    def holds(self, number: int) -> None:
        self.held[number] += 1

    def doubts(self, space: dict) -> list:
        """Return the assertions that say nothing: line, why, and the part it is about."""
        found = []
        for number, (start, end) in enumerate(self.places):
            why, part = self.doubt(number, space)
            if why:
                line = self.text[:start].count("\n") + 1
                found.append({"line": line, "word": why, "part": part})
        return found

    def doubt(self, number: int, space: dict) -> tuple:
        """Return the word for why an assertion says nothing, or "", and a part of it."""
        if not self.begun[number]:
            return "neverRan", ""
        if self.held[number] < self.begun[number]:
            return "caught", ""
        return always_true(condition(self.text, self.places[number]), space)


# ---- what cannot fail


def always_true(claim: str, space: dict) -> tuple:
    """Return the word for why a condition is always true, or "", and the part that is."""
    for part in cut(claim, [" or "]):
        part = bare(part)
        why = kind_of(part, space)
        if why:
            return why, " ".join(part.split())
    return "", ""


def kind_of(part: str, space: dict) -> str:
    """Return the word for an expression that is true whatever else there is, or ""."""
    if not part:
        return ""
    whole = part[0] in "([{" and part[1:].strip() not in ("]", "}") and closes(part[1:])
    if whole and part[0] == "(":
        return "alwaysTuple"
    if whole or len(cut(part, [" for "])) > 1:
        return "alwaysList"
    if is_text(part) or is_number(part) or is_word(part):
        return "alwaysValue"
    return "alwaysFunction" if is_function(part, space) else ""


def is_text(part: str) -> bool:
    """Say whether an expression is a text with something in it, and no more."""
    left = "".join([letter for _, letter, _ in outside(part)]).strip()
    return part[-1] in "'\"" and len(part) > 2 and left in ("", "f", "r", "b")


def is_number(part: str) -> bool:
    """Say whether an expression is a number as it stands, and not 0."""
    try:
        return part[0] in "+-0123456789." and float(part) != 0
    except ValueError:
        return False


def is_word(part: str) -> bool:
    """Say whether an expression is a word of Python's that is true, and no more."""
    if part.startswith("not "):
        return bare(part[4:]) in ("False", "None", "0")
    return part in ("True", "...", "Ellipsis")


def is_function(part: str, space: dict) -> bool:
    """Say whether an expression names a function, without calling it."""
    if part.startswith("lambda"):
        return True
    name = part.replace(".", "").replace("_", "")
    if not name or [
        letter for letter in name if not (letter.isalpha() or letter.isdigit())
    ]:
        return False
    try:
        return callable(eval(part, space))
    except Exception:  # a name that the run has not left
        return False


# ---- where assertions stand


def assertions(text: str):
    """Yield the places where each assertion of a text begins and ends."""
    begun, fresh = None, True  # whether a statement may begin here
    for index, letter, depth in outside(text):
        if depth:
            continue
        ends = letter in "\n;#" and text[index - 1 : index + 1] != "\\\n"
        if begun is not None and ends:
            yield begun, index
            begun = None
        elif begun is None and fresh and text[index : index + 6] == "assert":
            after = text[index + 6 : index + 7]
            if not (after == "_" or after.isalpha() or after.isdigit()):
                begun = index
        fresh = letter in "\n;:" or (fresh and letter in " \t\r\\")
    if begun is not None:
        yield begun, len(text)


def condition(text: str, place: tuple) -> str:
    """Return what an assertion claims, without its message and comments."""
    start, end = place
    claim = uncommented(text[start + len("assert") : end])
    return cut(claim.replace("\\\n", " "), [","])[0].strip()


def conditions_at(text: str, line: int) -> list:
    """Return what the assertions on a line claim."""
    found = []
    for start, end in assertions(text):
        if text[:start].count("\n") < line <= text[:end].count("\n") + 1:
            found.append(condition(text, (start, end)))
    return found


# ---- brackets and strings


def bare(text: str) -> str:
    """Return a text without brackets around the whole of it."""
    text = text.strip()
    while (
        text.startswith("(") and closes(text[1:]) and len(cut(text[1:-1], [","])) == 1
    ):
        text = text[1:-1].strip()
    return text


def closes(rest: str) -> bool:
    """Say whether the bracket before a text closes at its very end."""
    depth = 1
    for index, letter, level in outside(rest, 1):
        depth = level
        if level == 0:
            return index == len(rest.rstrip()) - 1
    return depth == 0


def uncommented(text: str) -> str:
    """Return a text without its comments."""
    kept, done, comment = "", 0, False
    for index, letter, _ in outside(text):
        if letter == "#" and not comment:
            kept += text[done:index]
            comment = True
        elif letter == "\n" and comment:
            done, comment = index, False
    return kept if comment else kept + text[done:]


def cut(text: str, separators: list) -> list:
    """Cut a text at separators that stand outside of brackets and strings."""
    parts, start, free = [], 0, 0
    for index, letter, depth in outside(text):
        if depth or index < free:
            continue
        for separator in separators:
            if text[index : index + len(separator)] == separator:
                if text[index : index + 2] in ("<<", ">>"):
                    free = index + 2
                    break
                parts.append(text[start:index])
                start = free = index + len(separator)
                break
    return parts + [text[start:]]
