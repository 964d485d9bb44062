"""How the kit formats numbers for readers. ``numbers.mjs`` has the same rule on a page.

An integer keeps all its digits. Any other number is rounded to a few significant digits,
but never left of the decimal point, and trailing zeros are dropped. A number below 10⁻⁴,
or from 2⁵³ on, gets a power of ten. The float's exact value is rounded, ties to even, as
Python's ``format`` does, so a page agrees with the cells beside it. Thousands are not
grouped: in half of Europe 1,000 means one.

This file runs in MicroPython too. MicroPython's ``%g`` is not exact, so the digits are
computed with integers.
"""

import math

COUNTED = 2**53  # from here on, floats cannot represent every integer
SMALLEST_POWER = -4
RAISED = dict(zip("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def show(value: object, digits: int = 5) -> str:
    """Return a number or a list as text for readers; other text stays as it is.

    Parameters
    ----------
    value : float, list, str or None
        The strings "inf", "-inf" and "nan" stand for numbers that JSON lacks.
    digits : int
        The number of significant digits.

    Examples
    --------
    >>> show([2.0, 0.1353352832, "-inf", 123456.7])
    '2, 0.13534, −∞, 123457'
    """
    if isinstance(value, (list, tuple)):
        return ", ".join([show(part, digits) for part in value])
    if value is None:
        return "–"
    if isinstance(value, str) and value not in ("inf", "-inf", "nan"):
        return value
    value = float(value)
    if value != value:
        return "NaN"
    return ("−" if value < 0 else "") + positive(abs(value), digits)


def positive(x: float, digits: int) -> str:
    """Return a positive number as text."""
    if x == math.inf:
        return "∞"
    countable = x < COUNTED
    if countable and x == int(x):
        return str(int(x))
    if countable and x >= 1:
        digits = max(digits, len(str(int(x))))
    figures, power = rounded(x, digits)
    if power < SMALLEST_POWER or not countable:
        raised = "".join([RAISED[sign] for sign in str(power)])
        return f"{with_point(figures, 1)}\u00a0×\u00a010{raised}"
    if power < 0:
        return with_point("0" * -power + figures, 1)
    return with_point(figures + "0" * (power + 1 - len(figures)), power + 1)


def with_point(figures: str, before: int) -> str:
    """Return digits with a decimal point after `before` of them, without trailing zeros."""
    after = figures[before:].rstrip("0")
    return figures[:before] + ("." + after if after else "")


def rounded(x: float, count: int) -> tuple:
    """Return the leading digits of a positive number, rounded, and its power of ten."""
    part, two = math.frexp(x)
    top, bottom = scaled(int(part * COUNTED), 1, 2, two - 53)
    power = (
        math.floor(math.log(x) / math.log(10)) + 1
    )  # an upper bound, because the logarithm is rounded
    high, low = scaled(top, bottom, 10, -power)
    while high < low:
        power -= 1
        high *= 10
    high, low = scaled(top, bottom, 10, count - 1 - power)
    whole, rest = divmod(high, low)
    if 2 * rest > low or (2 * rest == low and whole % 2 == 1):
        whole += 1
    figures = str(whole)
    return figures[:count], power + len(figures) - count


def scaled(top: int, bottom: int, base: int, power: int) -> tuple:
    """Return top / bottom times base**power, as a fraction."""
    if power < 0:
        return top, bottom * base**-power
    return top * base**power, bottom
