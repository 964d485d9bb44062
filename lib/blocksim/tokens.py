"""Cuts the text of a kernel into tokens, as Python does, in both Pythons.

MicroPython has no ``tokenize`` and no ``ast``; this file and ``tree`` replace them.
Python itself has compiled every text before they read it, so they need not find syntax
errors.
"""

WORDS = (
    "False None True and as assert async await break class continue def del elif else"
    " except finally for from global if import in is lambda nonlocal not or pass raise"
    " return try while with yield"
).split()
WORDS = set(WORDS)
# those of several characters
SIGNS = (
    "**= //= <<= >>= ... ** // << >> <= >= == != -> := += -= *= /= %= &= |= ^= @="
).split()
OPEN, CLOSE = "([{", ")]}"
PREFIXES = "rRbBuUfF"
TAB = 8


class Token:
    """A piece of text.

    Attributes
    ----------
    kind : str
        "name", "word" (a reserved one), "number", "string", "sign", "newline",
        "indent", "dedent" or "end".
    text : str
    line : int
    start, stop : int
        Where it lies in the text.
    """

    def __init__(self, kind, text, line, start, stop):
        self.kind = kind
        self.text = text
        self.line = line
        self.start = start
        self.stop = stop


def plain(source: str) -> str:
    """Return a text whose lines end as Python's own do."""
    return source.replace("\r\n", "\n").replace("\r", "\n")


def tokens(source: str) -> list:
    """Return the tokens of a text with plain line ends."""
    return Scanner(source).scan()


class Scanner:
    """Walks through a text once."""

    def __init__(self, source: str):
        # A list, because MicroPython walks a text from its start to find a letter.
        self.source = list(source) + [" ", " "]
        self.size = len(source)
        self.at = 0
        self.line = 1
        self.depth = 0  # of brackets: inside them a line end means nothing
        self.columns = [0]  # of the blocks around, the outermost first
        self.found = []

    def scan(self) -> list:
        """Return all tokens."""
        source, size = self.source, self.size
        fresh = True  # is the next token the first of its line?
        while self.at < size:
            sign = source[self.at]
            if sign in " \t\f":
                self.at += 1
            elif sign == "#":
                self.skip_comment()
            elif sign == "\\" and source[self.at + 1] == "\n":
                self.at += 2
                self.line += 1
            elif sign == "\n":
                if not fresh and not self.depth:
                    self.add("newline", self.at + 1)
                    fresh = True
                else:
                    self.at += 1
                self.line += 1
            else:
                if fresh and not self.depth:
                    self.indent()
                    fresh = False
                self.take(sign)
        if not fresh:
            self.add("newline", self.at)
        for _ in self.columns[1:]:
            self.add("dedent", self.at)
        self.add("end", self.at)
        return self.found

    def add(self, kind: str, stop: int) -> None:
        """Add the token that reaches from here to ``stop``."""
        text = "".join(self.source[self.at : stop])
        self.found.append(Token(kind, text, self.line, self.at, stop))
        self.at = stop

    def skip_comment(self) -> None:
        """Go to the end of the line."""
        while self.at < self.size and self.source[self.at] != "\n":
            self.at += 1

    def indent(self) -> None:
        """Compare the column of a line's first token with those of the blocks."""
        column = 0
        start = self.at
        while start and self.source[start - 1] != "\n":
            start -= 1
        for sign in self.source[start : self.at]:
            if sign == "\t":
                column = column // TAB * TAB + TAB
            else:
                column = 0 if sign == "\f" else column + 1
        while column < self.columns[-1]:
            self.columns.pop()
            self.add("dedent", self.at)
        if column > self.columns[-1]:
            self.columns.append(column)
            self.add("indent", self.at)

    def take(self, sign: str) -> None:
        """Add a token that is no space."""
        if self.quote() is not None:
            self.take_string()
        elif sign.isdigit() or (sign == "." and self.next().isdigit()):
            self.add("number", self.end_of_number())
        elif in_name(sign):
            stop = self.at
            while in_name(self.source[stop]):
                stop += 1
            self.add("name", stop)
            if self.found[-1].text in WORDS:
                self.found[-1].kind = "word"
        else:
            self.take_sign()

    def next(self) -> str:
        """Return the character behind this one, or a space."""
        return self.source[self.at + 1]

    def take_sign(self) -> None:
        three = "".join(self.source[self.at : self.at + 3])
        for size in (3, 2):
            if three[:size] in SIGNS:
                return self.add("sign", self.at + size)
        sign = three[0]
        self.depth += (sign in OPEN) - (sign in CLOSE)
        self.add("sign", self.at + 1)

    def quote(self) -> int | None:
        """Return where the quote of a string is that starts here, with its prefix."""
        for at in (self.at, self.at + 1, self.at + 2):
            sign = self.source[at]
            if sign in ('"', "'"):
                return at
            if sign not in PREFIXES:
                return None
        return None

    def take_string(self) -> None:
        at = self.quote()
        prefix = self.source[self.at : at]
        stop = self.end_of_string(at, "f" in prefix or "F" in prefix)
        lines = self.source[self.at : stop].count("\n")
        self.add("string", stop)
        self.line += lines

    def end_of_string(self, at: int, fields: bool) -> int:
        """Return where a string ends whose first quote is here; may it have fields?"""
        source = self.source
        mark = [source[at]]
        if source[at : at + 3] == 3 * mark:
            mark = 3 * mark
        stop = at + len(mark)
        while stop < self.size and source[stop : stop + len(mark)] != mark:
            if fields and source[stop] == "{":
                stop = self.end_of_field(stop)
            else:
                stop += 2 if source[stop] == "\\" else 1
        return min(stop + len(mark), self.size)

    def end_of_field(self, at: int) -> int:
        """Return where a field of an f-string ends, in which strings may stand."""
        source, start, depth = self.source, at, 0
        if source[at + 1] == "{":  # two are a letter
            return at + 2
        # Behind a colon stands how the field is written; a quote is a letter there.
        told = False
        while at < self.size:
            sign = source[at]
            if sign == "{" and at > start and told:
                at = self.end_of_field(at)
                continue
            if sign in "\"'" and not told:
                before, last = source[at - 2 : at]
                fields = last in "fF" or (last in "rR" and before in "fF")
                at = self.end_of_string(at, fields)
                continue
            depth += (sign in OPEN) - (sign in CLOSE)
            told = told or (depth == 1 and sign == ":")
            at += 1
            if depth == 0:
                break
        return at

    def end_of_number(self) -> int:
        """Return where a number ends: 0x1f, 1_000, 1.5e-3, 2j."""
        stop = self.at + 1
        hexadecimal = self.source[stop] in "xX"
        dotted = hexadecimal or self.source[self.at] == "."
        while True:
            sign, before = self.source[stop], self.source[stop - 1]
            exponent = before in "eE" and not hexadecimal
            # A second dot, or one behind an exponent, asks for an attribute.
            dot = sign == "." and not (dotted or exponent)
            dotted = dotted or dot or sign in "eE"
            if not (in_name(sign) or dot or (sign in "+-" and exponent)):
                break
            stop += 1
        return stop


def in_name(sign: str) -> bool:
    """Return whether a character may stand in a name; all letters beyond ASCII may."""
    return sign.isalpha() or sign.isdigit() or sign == "_" or ord(sign) > 127
