"""Floating-point formats: what they can hold, and what rounding does to a sum.

NumPy has no bfloat16. So low precision is defined here in one way for every format:
compute in float64, then round.
"""

from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from onlinesoftmax._inputs import Numbers


class Format(NamedTuple):
    """A binary floating-point format.

    Attributes
    ----------
    bits : int
        Those of the significand, its leading 1 included.
    low : int
        The smallest normal number is 2**low.
    high : int
        Every number lies below 2**high.
    """

    bits: int
    low: int
    high: int

    @property
    def largest(self) -> float:
        """The largest number."""
        return (2.0 - 2.0 ** (1 - self.bits)) * 2.0 ** (self.high - 1)

    @property
    def smallest(self) -> float:
        """The smallest number above 0, which is subnormal."""
        return 2.0 ** (self.low - self.bits + 1)


FORMATS = {
    "float16": Format(11, -14, 16),
    "bfloat16": Format(8, -126, 128),
    "float32": Format(24, -126, 128),
    "float64": Format(53, -1022, 1024),
}


class Limits(NamedTuple):
    """For which numbers x a format cannot hold exp(x).

    Attributes
    ----------
    zero : float
        For x below it, exp(x) rounds to 0.
    subnormal : float
        For x below it, exp(x) has fewer digits than the format has elsewhere.
    overflow : float
        For x above it, exp(x) is larger than the largest number.
    """

    zero: float
    subnormal: float
    overflow: float


def find(name: str) -> Format:
    """Return a format by its name.

    Parameters
    ----------
    name : str
        One of `FORMATS`.

    Returns
    -------
    Format
    """
    if name not in FORMATS:
        raise ValueError(f"name: expected one of {sorted(FORMATS)}, got {name!r}")
    return FORMATS[name]


def exp_limits(name: str) -> Limits:
    """Return for which x exp(x) is too small for a format, and for which too large.

    Parameters
    ----------
    name : str
        One of `FORMATS`.

    Returns
    -------
    Limits

    Examples
    --------
    >>> [round(limit, 3) for limit in exp_limits("float16")]
    [-17.329, -9.704, 11.09]
    """
    bits, low, _ = form = find(name)
    # Half of the smallest number lies between it and 0, and rounds to the even one: 0.
    zero = (low - bits) * log(2.0)
    return Limits(zero, low * log(2.0), log(form.largest))


def round_to(x: ArrayLike, name: str) -> Numbers:
    """Return x with each number rounded to the nearest one of a format.

    Halfway between two, it is the one whose last bit is 0.

    Parameters
    ----------
    x : array_like, float64
    name : str
        One of `FORMATS`.

    Returns
    -------
    ndarray or number, float64, the shape of `x`
        As in the format, small numbers become subnormal and large ones infinite.

    Examples
    --------
    >>> round_to([2049.0, 65520.0, 1e-8], "float16").tolist()
    [2048.0, inf, 0.0]
    """
    bits, low, _ = form = find(name)
    x = np.asarray(x, np.float64)
    exponent = np.frexp(x)[1]  # |x| < 2**exponent
    unit = np.maximum(exponent, low + 1) - bits  # the last bit is worth 2**unit
    rounded = np.ldexp(np.rint(np.ldexp(x, -unit)), unit)
    return np.where(np.abs(rounded) > form.largest, np.copysign(np.inf, x), rounded)[()]


def add_up(term: float, count: int, name: str) -> float:
    """Return the sum of `count` equal terms, rounded to a format after each addition.

    Between two powers of two every addition moves the sum by the same step. So many
    additions are done at once, and it takes a few of such jumps instead of `count`
    additions.

    Parameters
    ----------
    term : float
        At least 0.
    count : int
        At least 1.
    name : str
        One of `FORMATS`.

    Returns
    -------
    float

    Examples
    --------
    >>> add_up(1.0, 5000, "float16")
    2048.0
    """
    if not term >= 0 or count < 1:
        raise ValueError(f"term, count: expected at least 0 and 1, got {term}, {count}")
    term = total = float(round_to(term, name))
    left = count - 1
    while left and np.isfinite(total):
        step, again = _steps(total, term, name)
        if step == 0:  # the term is too small to change the sum: it stays
            break
        if step == np.inf:  # the sum overflows
            return np.inf
        room = np.ldexp(1.0, np.frexp(total)[1]) - term - total
        jumps = min(left, np.ceil(room / step)) if step == again and room > 0 else 1
        total, left = float(total + jumps * step), left - int(jumps)
    return total


def _steps(total: float, term: float, name: str) -> tuple[float, float]:
    """Return by how much a sum moves with the next addition, and with the one after it.

    They can differ where the exact sum lies halfway between two numbers: the first step
    goes to the even one of the two, and from there the next need not be as long.
    """
    first = round_to(total + term, name)
    if np.isinf(first):
        return np.inf, np.inf
    return float(first - total), float(round_to(first + term, name) - first)
