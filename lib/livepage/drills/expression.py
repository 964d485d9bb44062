"""Parses and evaluates arithmetic: what readers type, and the expressions in drills.

The grammar has numbers, the four operations, powers, a few functions and the names that
the caller passes. It never calls Python's own evaluator, so an answer can contain nothing
but arithmetic. ``reading.json`` lists the spellings of signs and the notations of
numbers; the JavaScript version of this module, ``page/expression.mjs``, reads the same
file.

    >>> evaluate("1/4 + e^-1 - exp(-1)")
    0.25
    >>> evaluate("1,5 × 2")
    3.0
    >>> evaluate("1,000,000 / log2(8)")
    333333.3333333333
    >>> evaluate("l·e^(m − 5)", {"l": 5.0, "m": 5.0})
    5.0

The text 1,000 means a thousand in English and one in most of Europe. ``read`` returns
both readings.

    >>> [value for value, unit in read("1,000")]
    [1000.0, 1.0]

A reader of a Spanish page means one by it. The page writes a decimal point, so a point is
one there, too.

    >>> [value for value, unit in read("1,000", language="es")]
    [1.0, 1000.0]
    >>> evaluate("0.25 + 1,5", language="es")
    1.75
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

CONSTANTS = {"e": np.e, "pi": np.pi, "inf": np.inf, "infinity": np.inf, "nan": np.nan}


LEAST = 5e-324  # the result of an underflow that is not 0


class Reading(NamedTuple):
    """A value and its unit: the weight of the last digit typed.

    The unit is 0 if the text is more than a bare number.
    """

    value: float
    unit: float


@cache
def table() -> dict[str, Any]:
    """Return the content of ``reading.json``: signs, words, numerals and functions."""
    path = Path(__file__).with_name("reading.json")
    return json.loads(path.read_text(encoding="utf-8"))


def harmonic(n: float) -> float:
    """Return 1 + 1/2 + … + 1/n in constant time."""
    if not n > 100:
        return float(sum(1.0 / k for k in range(1, int(n) + 1))) if n > 0 else n * 0.0
    # The Euler–Maclaurin series: its next term is below the last digit of a float.
    tail = 1 / (2 * n) - 1 / (12 * n**2) + 1 / (120 * n**4)
    return float(np.log(n) + np.euler_gamma + tail)


FUNCTIONS = {name: getattr(np, name) for name in table()["functions"]}
FUNCTIONS |= {"ln": np.log, "harmonic": harmonic}


def evaluate(
    text: str, names: Mapping[str, float] | None = None, language: str = "en"
) -> float:
    """Return the value of an expression, in the notation of a language if possible.

    Parameters
    ----------
    text : str
        The expression, such as ``"5*exp(-2) + 1"``, ``"e⁻¹"``, ``"1,37"``, ``"-inf"``.
    names : mapping of str to float, optional
        Names that the expression may use.
    language : str
        The page's language, which says what a comma means first.

    Returns
    -------
    float
        IEEE arithmetic: 1/0 is inf, 0/0 is NaN, exp(1000) is inf.

    Raises
    ------
    ValueError
        If the text is no expression. The message names the position.
    """
    return read(text, names, language)[0].value


def read(
    text: str, names: Mapping[str, float] | None = None, language: str = "en"
) -> list[Reading]:
    """Return every reading of a text, first that of the language.

    Numbers may be in English or continental notation, and 2e-1 may mean 0.2 or 2·e − 1.

    Raises
    ------
    ValueError
        If no convention can read the text.
    """
    if len(text) > table()["longest"]:
        raise ValueError(f"cannot read {len(text)} characters: too long")
    result: list[Reading] = []
    fault = None
    own = table()["own"].get(language)
    for convention in [own] * bool(own) + table()["conventions"]:
        try:
            reading = _read_as(convention, text, names)
        except ValueError as error:
            fault = fault or error
            continue
        if not any(_same(one.value, reading.value) for one in result):
            result.append(reading)
    if not result:
        raise fault
    return result


def uncounted(text: str, nouns: Sequence[str]) -> str:
    """Remove nouns from the end of a text, such as "blocks" from "16 blocks".

    Parameters
    ----------
    text : str
        Such as ``"16 blocks"``.
    nouns : sequence of str
        The nouns, in the singular.
    """
    short = len(text) <= table()["longest"]
    match = short and re.fullmatch(table()["counted"], text)
    if match and _singular(match[2]) in nouns:
        return uncounted(match[1], nouns)
    return text


def _singular(word: str) -> str:
    return re.sub("(?<!s)s$", "", word.lower())


def nouns(text: str) -> list[str]:
    """Return the words of a prompt, in the singular, that may follow a typed number."""
    known = {*CONSTANTS, *table()["words"], *FUNCTIONS}
    prose = re.sub(r"\$[^$]*\$|`[^`]*`", " ", text)
    words = set(re.findall("[A-Za-zÀ-ÿ]{3,}", prose.lower())) - known
    return sorted(map(_singular, words))


def unknown(text: str, names: Mapping[str, float]) -> str:
    """Return the first unknown name in a text, or ""."""
    known = {*CONSTANTS, *table()["words"], *FUNCTIONS, *names, "frac"}
    try:
        tokens = _tokens(_plain(text[: table()["longest"]]), table()["conventions"][0])
    except ValueError:
        return ""
    typed = (name for kind, name in tokens if kind == "name")
    return next((n for n in typed if not {n, n.lower()} & known), "")


def _same(a: float, b: float) -> bool:
    return a == b or (a != a and b != b)


def _read_as(
    convention: Mapping[str, str], text: str, names: Mapping[str, float] | None
) -> Reading:
    tokens = _tokens(_plain(text), convention)
    known = {**CONSTANTS, **table()["words"], **(names or {})}
    reader = _Reader(tokens, known, text)
    with np.errstate(all="ignore"):
        value = float(reader.sum())
    if value == 0 and reader.beyond:
        value = LEAST
    if reader.kind is not None:
        raise ValueError(f"cannot read {text!r} at {reader.text!r}")
    return Reading(value, _precision(tokens, known))


def _precision(tokens: list[tuple[str, str]], known: Mapping[str, float]) -> float:
    """Return the weight of the last digit of a bare number, or 0.

    A number with a unit counts as bare: 52 KiB, 17 billion, 85 %.
    """
    kind, last = tokens[-1]
    scale = known.get(last, known.get(last.lower(), 0.0)) if kind == "name" else 1.0
    follows = kind == "name" or last == "%"
    bare = [t for t in tokens[: len(tokens) - follows] if t[1] not in ("-", "+")]
    if len(bare) != 1 or bare[0][0] != "number":
        return 0.0
    return _unit(bare[0][1]) * (0.01 if last == "%" else scale)


def _unit(number: str) -> float:
    """Return the weight of the last digit of a number with a decimal point."""
    digits, _, power = number.lower().partition("e")
    decimals = len(digits.partition(".")[2])
    return float(f"1e{int(power or 0) - decimals}")


def _plain(text: str) -> str:
    """Replace each spelling of a sign by the one in the grammar."""
    for spelling, plain in table()["spellings"]:
        text = text.replace(spelling, plain)
    fractions, (raised, lowered) = table()["fractions"], table()["raised"]
    text = re.sub(
        f"([0-9]+ ?)?([{''.join(fractions)}])",
        lambda match: f"({match[1] or 0}+{fractions[match[2]]})",
        text,
    )
    lower = str.maketrans(raised, lowered)
    text = re.sub(f"[{raised}]+", lambda run: f"^({run[0].translate(lower)})", text)
    before, _, after = text.rpartition("=")
    # "w = 0.5" is read as 0.5. Code such as "l += 1" must not be read as 1.
    stepwise = ";" in text or before.endswith(("+", "-", "*", "/"))
    return text if stepwise else after.strip(" ")


def _tokens(text: str, convention: Mapping[str, str]) -> list[tuple[str, str]]:
    """Split into (kind, text) pairs: number, name or mark."""
    tokens, index = [], 0
    while index < len(text):
        if text[index] == " ":
            index += 1
            continue
        kind, token, length = _token(text, index, convention)
        tokens.append((kind, token))
        index += length
    return tokens


def _token(
    text: str, index: int, convention: Mapping[str, str]
) -> tuple[str, str, int]:
    """Return the kind of the token at an index, its text, and its length."""
    known = table()
    if match := _match(known["hexadecimal"], text, index):
        return "number", str(int(match, 16)), len(match)
    if match := _match(convention["number"], text, index):
        return "number", _decimal(match, convention), len(match)
    if match := _match(known["times"], text, index):
        return "mark", "*", 1
    for kind in ("name", "mark"):
        if match := _match(known[kind], text, index):
            return kind, match, len(match)
    raise ValueError(f"cannot read {text!r} at {text[index:]!r}")


def _match(pattern: str, text: str, index: int) -> str:
    match = re.compile(pattern).match(text, index)
    return match[0] if match else ""


def _decimal(number: str, convention: Mapping[str, str]) -> str:
    """Rewrite a number with a decimal point and without group separators."""
    for mark in convention["groups"]:
        number = number.replace(mark, "")
    return number.replace(convention["point"], ".")


class _Reader:
    """Recursive descent: a sum of terms, a term of powers, a power of atoms."""

    def __init__(
        self, tokens: list[tuple[str, str]], names: Mapping[str, float], source: str
    ) -> None:
        self.tokens = tokens
        self.names = names
        self.source = source
        self.index = 0
        self.depth = 0
        self.beyond = False  # whether something underflowed or overflowed

    @property
    def kind(self) -> str | None:
        return self.tokens[self.index][0] if self.index < len(self.tokens) else None

    @property
    def text(self) -> str:
        return self.tokens[self.index][1] if self.index < len(self.tokens) else ""

    def take(self, *marks: str) -> str:
        """Consume the next token if it is one of these marks."""
        if self.kind == "mark" and self.text in marks:
            self.index += 1
            return self.tokens[self.index - 1][1]
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
        """Read a power and its signs. This limits the depth of nesting."""
        self.depth += 1
        if self.depth > table()["deepest"]:
            raise ValueError(f"cannot read {self.source!r}: too deeply nested")
        sign = self.take("-", "+")
        value = self.signed() if sign else self.power()
        self.depth -= 1
        return -value if sign == "-" else value

    def power(self) -> np.float64:
        value = self.atom()
        if self.take("^"):
            exponent = self.signed()
            return self.checked(np.power(value, exponent), value, exponent)
        return value / 100 if self.take("%") else value

    def atom(self) -> np.float64:
        kind, text = self.kind, self.text
        self.index += 1
        if kind == "number":
            mantissa = text.lower().partition("e")[0].strip("0.")
            return self.checked(np.float64(text), float(bool(mantissa)))
        if text == "(":
            return self.closed(self.sum())
        if kind == "name" and text == "frac":  # \frac{1}{8}, as LaTeX writes it
            return self.atom() / self.atom()
        if kind == "name" and text in self.names:
            return np.float64(self.names[text])
        if kind == "name" and text.lower() in self.names:
            return np.float64(self.names[text.lower()])
        if kind == "name" and text.lower() in FUNCTIONS:
            value = self.argument()
            result = np.float64(FUNCTIONS[text.lower()](value))
            return self.checked(result, value) if text.lower() == "exp" else result
        raise ValueError(f"cannot read {self.source!r} at {text or 'its end'!r}")

    def checked(self, value: np.float64, *parts: float) -> np.float64:
        """Return a value; record an underflow or overflow of finite operands."""
        ordinary = parts[0] != 0 and np.all(np.isfinite(parts))
        self.beyond |= bool(ordinary and (value == 0 or np.isinf(value)))
        return value

    def argument(self) -> np.float64:
        """Read the argument of a function: ``exp(2)``, ``exp -1``, ``log 2^3``."""
        if self.text == "(":
            return self.atom()  # so that exp(2)^3 is a power of exp(2)
        return self.signed()

    def closed(self, value: np.float64) -> np.float64:
        if not self.take(")"):
            raise ValueError(f"cannot read {self.source!r}: a bracket is not closed")
        return value
