"""The scanner: splits a kernel's source into Python's tokens.

MicroPython has neither ``tokenize`` nor ``ast``; this file and ``tree`` replace them.
They need not detect syntax errors, because Python has already compiled every text that
they read.
"""

WORDS = (
    "False None True and as assert async await break class continue def del elif else"
    " except finally for from global if import in is lambda nonlocal not or pass raise"
    " return try while with yield"
).split()
WORDS = set(WORDS)
# operators of several characters, the longest first
SIGNS = (
    "**= //= <<= >>= ... ** // << >> <= >= == != -> := += -= *= /= %= &= |= ^= @="
).split()
OPEN, CLOSE = "([{", ")]}"
PREFIXES = "rRbBuUfF"
TAB = 8


class Token:
    """A token of a kernel's source.

    Attributes
    ----------
    kind : str
        "name", "word" (a keyword), "number", "string", "sign" (an operator or bracket),
        "newline", "indent", "dedent" or "end".
    text : str
    line : int
    start, stop : int
        Its offsets in the source.
    """

    def __init__(self, kind, text, line, start, stop):
        self.kind = kind
        self.text = text
        self.line = line
        self.start = start
        self.stop = stop


def plain(source: str) -> str:
    """Return a text with line ends normalised to newlines."""
    return source.replace("\r\n", "\n").replace("\r", "\n")


def tokens(source: str) -> list:
    """Return the tokens of a text whose lines end in newlines."""
    return Scanner(source).scan()


class Scanner:
    """Scans a text in one pass."""

    def __init__(self, source: str):
        # A list, because MicroPython takes linear time to index a string.
        self.source = list(source) + [" ", " "]
        self.size = len(source)
        self.at = 0
        self.line = 1
        self.depth = 0  # of brackets: a newline inside them ends no statement
        self.columns = [0]  # the indentation of the enclosing blocks, outermost first
        self.tokens = []

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
        return self.tokens

    def add(self, kind: str, stop: int) -> None:
        """Add the token from here to ``stop``."""
        text = "".join(self.source[self.at : stop])
        self.tokens.append(Token(kind, text, self.line, self.at, stop))
        self.at = stop

    def skip_comment(self) -> None:
        """Go to the end of the line."""
        while self.at < self.size and self.source[self.at] != "\n":
            self.at += 1

    def indent(self) -> None:
        """Add indent or dedent tokens for a line's indentation."""
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
        """Add the token that starts here."""
        if self.quote() is not None:
            self.take_string()
        elif sign.isdigit() or (sign == "." and self.next().isdigit()):
            self.add("number", self.end_of_number())
        elif in_name(sign):
            stop = self.at
            while in_name(self.source[stop]):
                stop += 1
            self.add("name", stop)
            if self.tokens[-1].text in WORDS:
                self.tokens[-1].kind = "word"
        else:
            self.take_sign()

    def next(self) -> str:
        """Return the next character, or a space at the end."""
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
        """Return the offset of the opening quote if a string starts here, else None."""
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
        """Return where the string opened at ``at`` ends; ``fields`` marks an f-string."""
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
        """Return where a replacement field of an f-string ends; it may hold strings."""
        source, start, depth = self.source, at, 0
        if source[at + 1] == "{":  # an escaped brace
            return at + 2
        # After a colon comes the format specification, where a quote opens no string.
        in_format = False
        while at < self.size:
            sign = source[at]
            if sign == "{" and at > start and in_format:
                at = self.end_of_field(at)
                continue
            if sign in "\"'" and not in_format:
                before, last = source[at - 2 : at]
                fields = last in "fF" or (last in "rR" and before in "fF")
                at = self.end_of_string(at, fields)
                continue
            depth += (sign in OPEN) - (sign in CLOSE)
            in_format = in_format or (depth == 1 and sign == ":")
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
            # A second dot, or one after an exponent, begins an attribute.
            dot = sign == "." and not (dotted or exponent)
            dotted = dotted or dot or sign in "eE"
            if not (in_name(sign) or dot or (sign in "+-" and exponent)):
                break
            stop += 1
        return stop


def in_name(sign: str) -> bool:
    """Return whether a character may be part of a name; all beyond ASCII may."""
    return sign.isalpha() or sign.isdigit() or sign == "_" or ord(sign) > 127
