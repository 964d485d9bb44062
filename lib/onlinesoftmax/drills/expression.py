"""Arithmetic a reader may type, and the expressions answers are written in.

One small grammar serves both. It knows numbers (with a point or a comma; several commas
part thousands), the four operations, powers, a few functions and whatever names the caller passes in. It never
reaches Python's own evaluator, so an answer can hold nothing but arithmetic. Its twin
for the page is ``page/expression.js``; a test feeds both the same inputs.

    >>> evaluate("1/4 + e^-1 - exp(-1)")
    0.25
    >>> evaluate("1,5 × 2")
    3.0
    >>> evaluate("1,000,000 / log2(8)")
    333333.3333333333
    >>> evaluate("l·e^(m − 5)", {"l": 5.0, "m": 5.0})
    5.0
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d{1,3}(?:,\d{3}){2,}|\d+(?:[.,]\d+)?|[.,]\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<mark>[-+*/^()%]))"
)
# What people type, paste or find on a phone's keyboard, and what it stands for.
SPELLINGS = {
    "−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "÷": "/", "**": "^",
    "√": " sqrt ", "∞": " inf ", "ℓ": " l ", "α": " alpha ", "π": " pi ",
}
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺⁽⁾", "0123456789-+()"))
CONSTANTS = {
    "e": np.e, "pi": np.pi, "inf": np.inf, "infinity": np.inf, "nan": np.nan,
}


def harmonic(n: float) -> float:
    """Return 1 + 1/2 + … + 1/n."""
    return float(np.sum(1.0 / np.arange(1, int(n) + 1)))


FUNCTIONS = {
    "exp": np.exp, "log": np.log, "ln": np.log, "log2": np.log2, "sqrt": np.sqrt,
    "abs": np.abs, "harmonic": harmonic,
}


def evaluate(text: str, names: Mapping[str, float] | None = None) -> float:
    """Return the value of an arithmetic expression.

    Parameters
    ----------
    text : str
        The expression, such as ``"5*exp(-2) + 1"``, ``"e⁻¹"``, ``"1,37"``, ``"-inf"``.
    names : mapping of str to float, optional
        Further names the expression may use.

    Returns
    -------
    float
        IEEE arithmetic: 1/0 is inf, 0/0 is NaN, exp(1000) is inf.

    Raises
    ------
    ValueError
        If the text is no expression; it names the place.
    """
    reader = _Reader(_tokens(_plain(text)), {**CONSTANTS, **(names or {})}, text)
    with np.errstate(all="ignore"):
        value = reader.sum()
    if reader.kind is not None:
        raise ValueError(f"cannot read {text!r} at {reader.text!r}")
    return float(value)


def _plain(text: str) -> str:
    """Rewrite the many ways to type a sign into the one the grammar knows."""
    raised = "[" + "".join(RAISED) + "]+"
    text = re.sub(
        raised, lambda run: "^(" + "".join(RAISED[c] for c in run[0]) + ")", text
    )
    for spelling, plain in SPELLINGS.items():
        text = text.replace(spelling, plain)
    return text.strip()


def _tokens(text: str) -> list[tuple[str, str]]:
    """Split into (kind, text) pairs: number, name or mark."""
    tokens, place = [], 0
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            raise ValueError(f"cannot read {text!r} at {text[place:].strip()!r}")
        tokens.append((str(match.lastgroup), match[match.lastgroup]))
        place = match.end()
    return tokens


class _Reader:
    """Recursive descent: a sum of terms, a term of powers, a power of atoms."""

    def __init__(
        self, tokens: list[tuple[str, str]], names: Mapping[str, float], source: str
    ) -> None:
        self.tokens = tokens
        self.names = names
        self.source = source
        self.place = 0

    @property
    def kind(self) -> str | None:
        return self.tokens[self.place][0] if self.place < len(self.tokens) else None

    @property
    def text(self) -> str:
        return self.tokens[self.place][1] if self.place < len(self.tokens) else ""

    def take(self, *marks: str) -> str:
        """Step over the next token if it is one of these marks."""
        if self.kind == "mark" and self.text in marks:
            self.place += 1
            return self.tokens[self.place - 1][1]
        return ""

    def sum(self) -> np.float64:
        value = self.term()
        while sign := self.take("+", "-"):
            other = self.term()
            value = value + other if sign == "+" else value - other
        return value

    def term(self) -> np.float64:
        value = self.signed()
        while True:
            sign = self.take("*", "/")
            beside = self.kind == "name" or self.text == "("  # 2e^-1, 2(3 + 1)
            if not sign and not beside:
                return value
            other = self.signed()
            value = value / other if sign == "/" else value * other

    def signed(self) -> np.float64:
        if sign := self.take("-", "+"):
            return -self.signed() if sign == "-" else self.signed()
        return self.power()

    def power(self) -> np.float64:
        value = self.atom()
        if self.take("^"):
            return np.power(value, self.signed())
        return value / 100 if self.take("%") else value

    def atom(self) -> np.float64:
        kind, text = self.kind, self.text
        self.place += 1
        if kind == "number":
            return np.float64(text.replace(",", "" if text.count(",") > 1 else "."))
        if text == "(":
            return self.closed(self.sum())
        if kind == "name" and text in self.names:
            return np.float64(self.names[text])
        if kind == "name" and text.lower() in self.names:
            return np.float64(self.names[text.lower()])
        if kind == "name" and text.lower() in FUNCTIONS:
            return np.float64(FUNCTIONS[text.lower()](self.power()))
        raise ValueError(f"cannot read {self.source!r} at {text or 'its end'!r}")

    def closed(self, value: np.float64) -> np.float64:
        if not self.take(")"):
            raise ValueError(f"cannot read {self.source!r}: a bracket is not closed")
        return value
