"""What chapters use of Python's own library, and MicroPython has not.

Only what they use, and only as they use it; the tests compare it with the original.
"""

import sys


def furnish(math: object) -> None:
    """Put it where an import looks for it; ``math`` is the module that cells get."""
    math.comb = comb
    give("textwrap", "fill", fill)
    give("fractions", "Fraction", Fraction)
    import itertools

    sys.modules["itertools"] = whole = _Module()
    for name in dir(itertools):
        setattr(whole, name, getattr(itertools, name))
    whole.permutations = permutations


class _Module:
    """A module with names of ours."""


def give(module: str, name: str, value: object) -> None:
    """Make a module that has one name."""
    sys.modules[module] = made = _Module()
    setattr(made, name, value)


def comb(n: int, k: int) -> int:
    """Return in how many ways k of n can be chosen."""
    ways = 1
    for i in range(k):
        ways = ways * (n - i) // (i + 1)
    return ways


def permutations(values: object):
    """Yield all orders of some values, in the order of their places."""
    pool = tuple(values)
    if not pool:
        yield ()
    for i, first in enumerate(pool):
        for rest in permutations(pool[:i] + pool[i + 1 :]):
            yield (first,) + rest


def fill(text: str, width: int = 70) -> str:
    """Return a text in lines of at most so many letters, cut between words."""
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = line + " " + word if line else word
    return "\n".join(lines + [line])


class Fraction:
    """An exact fraction, in lowest terms."""

    def __init__(self, numerator: int = 0, denominator: int = 1):
        common = gcd(numerator, denominator) * (1 if denominator > 0 else -1)
        self.numerator, self.denominator = numerator // common, denominator // common

    def __add__(self, other):
        other = fraction(other)
        above = self.numerator * other.denominator + other.numerator * self.denominator
        return Fraction(above, self.denominator * other.denominator)

    def __neg__(self):
        return Fraction(-self.numerator, self.denominator)

    def __sub__(self, other):
        return self + -fraction(other)

    def __rsub__(self, other):
        return fraction(other) - self

    def __mul__(self, other):
        other = fraction(other)
        below = self.denominator * other.denominator
        return Fraction(self.numerator * other.numerator, below)

    def __truediv__(self, other):
        other = fraction(other)
        return self * Fraction(other.denominator, other.numerator)

    def __rtruediv__(self, other):
        return fraction(other) / self

    def __pow__(self, power):
        above, below = self.numerator, self.denominator
        if power < 0:
            above, below, power = below, above, -power
        return Fraction(above**power, below**power)

    def __eq__(self, other):
        other = fraction(other)
        same = self.denominator == other.denominator
        return same and self.numerator == other.numerator

    def __lt__(self, other):
        return (self - other).numerator < 0

    def __gt__(self, other):
        return (self - other).numerator > 0

    def __hash__(self):
        return hash((self.numerator, self.denominator))

    def __float__(self):
        return self.numerator / self.denominator

    def __str__(self):
        if self.denominator == 1:
            return str(self.numerator)
        return f"{self.numerator}/{self.denominator}"

    def __repr__(self):
        return f"Fraction({self.numerator}, {self.denominator})"

    __radd__, __rmul__ = __add__, __mul__


def fraction(value: object) -> Fraction:
    """Return a whole number as a fraction."""
    return value if isinstance(value, Fraction) else Fraction(value)


def gcd(a: int, b: int) -> int:
    """Return the greatest common divisor of two whole numbers, positive."""
    while b:
        a, b = b, a % b
    return abs(a)
