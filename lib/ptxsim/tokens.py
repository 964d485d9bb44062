"""The text of PTX, token by token."""

import re

from ptxsim.faults import Malformed, Unsupported
from ptxsim.registers import whole

TOKEN = re.compile(
    r'"[^"\n]*"'
    r"|0[fF][\da-fA-F]{8}|0[dD][\da-fA-F]{16}"  # the bits of a float
    r"|0[xX][\da-fA-F]+U?|0[bB][01]+U?"
    r"|\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+U?"
    r"|\.reg(?=\.)"  # .reg.b32: a type may follow without a space
    r"|[.%$A-Za-z_](?:[\w$%.]|::)*"
    r"|[^\s\w]",
    re.A,
)
COMMENT = re.compile(r'("[^"\n]*")|//[^\n]*|/\*.*?\*/', re.S)
LONGEST = 200  # characters of a text that an error shows


class Tokens:
    """Reads a text from its beginning to its end; `at` is the next token."""

    def __init__(self, text: str) -> None:
        blank = COMMENT.sub(lambda x: x[1] or re.sub(r"[^\n]", " ", x[0]), text)
        self.text = blank
        matches = list(TOKEN.finditer(blank))
        self.tokens = [match[0] for match in matches]
        self.spans = [match.span() for match in matches]
        self.lines = _line_numbers(blank, [start for start, _ in self.spans])
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        if self.at >= len(self.tokens):
            last = len(self.tokens) - 1
            raise self.malformed(last, "the text ends early")
        self.at += 1
        return self.tokens[self.at - 1]

    def skip(self, token: str) -> bool:
        """Step over the next token if it is this one."""
        if self.peek() != token:
            return False
        self.at += 1
        return True

    def expect(self, token: str) -> None:
        start = self.at
        if self.next() != token:
            raise self.malformed(start, f"expected {token}")

    def until(self, *stops: str) -> list[str]:
        """Return the tokens before the next of `stops`, and step over that one."""
        found = []
        while (token := self.next()) not in stops:
            found.append(token)
        return found

    def inside(self, opening: str, closing: str) -> list[str]:
        """Return the tokens up to the one that closes what has just been opened."""
        start, depth = self.at, 1
        while depth:
            depth += {opening: 1, closing: -1}.get(self.next(), 0)
        return self.tokens[start : self.at - 1]

    def numbers(self) -> list[int]:
        """Read whole numbers with commas between them."""
        found = [self.number()]
        while self.skip(","):
            found.append(self.number())
        return found

    def number(self) -> int:
        start = self.at
        return self.whole(start, self.next())

    def whole(self, start: int, word: str) -> int:
        """Return a whole number that stands in a statement."""
        try:
            return whole(word)
        except ValueError as problem:
            raise self.malformed(start, f"{word} is no whole number") from problem

    # ---- errors ----

    def said(self, start: int) -> str:
        """Return the text from a token to where the parser is."""
        if not self.spans:
            return ""
        last = max(start, min(self.at, len(self.spans)) - 1)
        return " ".join(self.text[self.spans[start][0] : self.spans[last][1]].split())

    def quoted(self, start: int) -> str:
        """Return the same for a message: not more than its beginning."""
        text = self.said(start)
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"

    def line(self, start: int) -> int:
        return self.lines[start] if self.lines else 0

    def unsupported(self, start: int, why: str = "") -> Unsupported:
        return Unsupported(self.line(start), self.quoted(start), why)

    def malformed(self, start: int, why: str) -> Malformed:
        return Malformed(self.line(start), self.quoted(start), why)


def _line_numbers(text: str, places: list[int]) -> list[int]:
    """Return the lines on which places of a text are, which come in order."""
    found, line, last = [], 1, 0
    for place in places:
        line += text.count("\n", last, place)
        last = place
        found.append(line)
    return found


def signed(words: list[str]) -> list[str]:
    """Join a minus to the number after it."""
    return re.sub(r"- (?=\d)", "-", " ".join(words)).split()


def separated(words: list[str]) -> list[list[str]]:
    """Return what stands between the commas that are in no braces."""
    pieces: list[list[str]] = [[]]
    depth = 0
    for word in words:
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(word, 0)
        if word == "," and not depth:
            pieces.append([])
        else:
            pieces[-1].append(word)
    return pieces
