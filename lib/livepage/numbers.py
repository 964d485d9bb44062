"""How the kit writes a number for readers. ``numbers.mjs`` has the same rule on a page.

A whole number keeps all its digits. Any other number is rounded to a few significant
digits, never before its point, and loses the zeros at its end. A number below 10⁻⁴, or
too large for a float to count it, gets a power of ten. Ties go to the even digit of the
float's exact value, as Python's own ``format`` does it, so a page agrees with the cells
beside it. Thousands are not grouped: in half of Europe 1,000 is one.

This file runs in MicroPython too, whose ``%g`` is not exact; integers are.
"""

import math

COUNTED = 2**53  # from here on a float is a rounded number itself
SMALLEST_POWER = -4
RAISED = dict(zip("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def show(value: object, digits: int = 5) -> str:
    """Return a number or a list as a reader writes it; a text stays as it is.

    Parameters
    ----------
    value : float, list, str or None
        The texts "inf", "-inf" and "nan" stand for numbers that JSON does not know.
    digits : int
        How many significant digits.

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
    """Return a number without its sign."""
    if x == math.inf:
        return "∞"
    countable = x < COUNTED
    if countable and x == int(x):
        return str(int(x))
    if countable and x >= 1:
        digits = max(digits, len(str(int(x))))
    kept, power = rounded(x, digits)
    if power < SMALLEST_POWER or not countable:
        raised = "".join([RAISED[sign] for sign in str(power)])
        return f"{pointed(kept, 1)}\u00a0×\u00a010{raised}"
    if power < 0:
        return pointed("0" * -power + kept, 1)
    return pointed(kept + "0" * (power + 1 - len(kept)), power + 1)


def pointed(figures: str, before: int) -> str:
    """Return figures with a point after the first few, and no zeros at the end."""
    behind = figures[before:].rstrip("0")
    return figures[:before] + ("." + behind if behind else "")


def rounded(x: float, count: int) -> tuple:
    """Return the first figures of a positive number, rounded, and its power of ten."""
    part, two = math.frexp(x)
    top, bottom = scaled(int(part * COUNTED), 1, 2, two - 53)
    power = (
        math.floor(math.log(x) / math.log(10)) + 1
    )  # or less: a logarithm is rounded
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
    """Return a fraction times a power of a base, as a fraction."""
    if power < 0:
        return top, bottom * base**-power
    return top * base**power, bottom
