"""Floating-point formats: what they can hold, and what rounding does to a sum.

NumPy has no bfloat16. So low precision is defined here in one way for every format:
compute in float64, then round.
"""

from decimal import Decimal, localcontext
from math import inf, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from onlinesoftmax import inputs
from onlinesoftmax.inputs import Array, Integers, Numbers


class Format(NamedTuple):
    """A binary floating-point format.

    Attributes
    ----------
    bits : int
        Bits of the significand, its leading 1 included.
    low : int
        The smallest normal number is 2**low.
    high : int
        Every number lies below 2**high.
    infinity : bool
        Whether the format has one. If not, its largest code is NaN instead.
    """

    bits: int
    low: int
    high: int
    infinity: bool = True

    @property
    def largest(self) -> float:
        """The largest number."""
        missing = 1 if self.infinity else 2  # of the last bit, to 2**high
        return (2.0 - missing * 2.0 ** (1 - self.bits)) * 2.0 ** (self.high - 1)

    @property
    def smallest(self) -> float:
        """The smallest number above 0, which is subnormal."""
        return 2.0 ** (self.low - self.bits + 1)

    @property
    def smallest_normal(self) -> float:
        """The smallest number above 0 that has all its digits."""
        return 2.0**self.low

    @property
    def beyond(self) -> float:
        """What a number that is too large becomes: infinity, or NaN if there is none."""
        return inf if self.infinity else nan


FORMATS = {
    "float16": Format(11, -14, 16),
    "bfloat16": Format(8, -126, 128),
    "float32": Format(24, -126, 128),
    "float64": Format(53, -1022, 1024),
}
# The first has one digit more, the second more range. No sum is stored in either.
EIGHT_BITS = {
    "float8_e4m3fn": Format(4, -6, 9, infinity=False),
    "float8_e5m2": Format(3, -14, 16),
}
NUMPYS = ("float16", "float32", "float64")
ORDERS = ("serial", "blocks", "pairs", "tree", "kahan")


class Limits(NamedTuple):
    """The numbers beyond which a format cannot hold exp(x).

    Below `zero`, exp(x) rounds to 0; below `subnormal` it has fewer digits than the
    format has elsewhere; above `overflow` it is larger than the largest number.
    """

    zero: float
    subnormal: float
    overflow: float


class Inputs(NamedTuple):
    """The numbers of a format next to the limits of exp.

    The largest whose exp rounds to 0, the largest whose exp has fewer digits than the
    format has elsewhere, and the largest whose exp is finite.
    """

    zero: float
    subnormal: float
    finite: float


def find(name: str) -> Format:
    """Return a format of `FORMATS` or `EIGHT_BITS` by its name."""
    known = FORMATS | EIGHT_BITS
    return known[inputs.one_of("name", name, sorted(known))]


def exp_limits(name: str) -> Limits:
    """Return for which x exp(x) is too small for a format, and for which too large.

    >>> [round(limit, 3) for limit in exp_limits("float16")]
    [-17.329, -9.704, 11.09]
    """
    zero, subnormal, overflow = map(float, _exact_limits(name))
    return Limits(zero, subnormal, overflow)


def exp_inputs(name: str) -> Inputs:
    """Return the last number of a format before each limit of `exp_limits`.

    >>> [round(x, 3) for x in exp_inputs("float16")]
    [-17.344, -9.711, 11.086]
    """
    zero, subnormal, finite = (_floor(x, name) for x in _exact_limits(name))
    return Inputs(zero, subnormal, finite)


def _exact_limits(name: str) -> list[Decimal]:
    """Return the three limits of exp with more digits than any format has."""
    form = find(name)
    with localcontext(prec=40):
        # Half of the smallest number lies between it and 0, and rounds to the even: 0.
        half = Decimal(form.smallest) / 2
        bounds = (half, Decimal(form.smallest_normal), Decimal(form.largest))
        return [bound.ln() for bound in bounds]


def _floor(limit: Decimal, name: str) -> float:
    """Return the largest number of a format that is not above a limit."""
    near = float(round_to(float(limit), name))
    return near if Decimal(near) <= limit else near - float(ulp(float(limit), name))


def ulp(x: ArrayLike, name: str) -> Numbers:
    """Return the unit in the last place: the gap between a format's numbers at x.

    Parameters
    ----------
    x : array_like, float64
    name : str
        One of `FORMATS` or `EIGHT_BITS`.

    Returns
    -------
    ndarray or number, float64, the shape of `x`
        From a power of two it is the distance to the next larger number. NaN where x is
        not finite.

    Examples
    --------
    >>> ulp([1.0, 1.5, 2.0, 0.0], "float16").tolist()
    [0.0009765625, 0.0009765625, 0.001953125, 5.960464477539063e-08]
    """
    x = inputs.doubles("x", x)
    return np.where(np.isfinite(x), np.ldexp(1.0, _last_bit(x, find(name))), nan)[()]


def _last_bit(x: Array, form: Format) -> Integers:
    """Return the power of two that the last bit of numbers is worth."""
    exponent = np.where(x == 0, form.low, np.frexp(x)[1])  # |x| < 2**exponent
    return np.maximum(exponent, form.low + 1) - form.bits


def round_to(x: ArrayLike, name: str) -> Numbers:
    """Return x with each number rounded to the nearest one of a format.

    Halfway between two numbers, the one whose last bit is 0 is chosen.

    Parameters
    ----------
    x : array_like, float64
    name : str
        One of `FORMATS` or `EIGHT_BITS`.

    Returns
    -------
    ndarray or number, float64, the shape of `x`
        As in the format, small numbers become subnormal, and large ones infinite, or
        NaN where there is no infinity.

    Examples
    --------
    >>> round_to([2049.0, 65520.0, 1e-8], "float16").tolist()
    [2048.0, inf, 0.0]
    """
    form, x = find(name), inputs.doubles("x", x)
    unit = _last_bit(x, form)
    rounded = np.ldexp(np.rint(np.ldexp(x, -unit)), unit)
    beyond = np.copysign(form.beyond, x)
    return np.where(np.abs(rounded) > form.largest, beyond, rounded)[()]


def add_up(term: float, count: int, name: str) -> float:
    """Return the sum of `count` equal terms, rounded to a format after each addition.

    Between two powers of two every addition moves the sum by the same step. So a few
    jumps of many steps each replace `count` additions.

    Parameters
    ----------
    term : float
        At least 0.
    count : int
        At least 1.
    name : str
        One of `FORMATS` or `EIGHT_BITS`.

    Returns
    -------
    float

    Examples
    --------
    >>> add_up(1.0, 5000, "float16")
    2048.0
    """
    if not inputs.real(term) >= 0:
        raise ValueError(f"term: expected at least 0, got {inputs.shown(term)}")
    inputs.integer("count", count, 1, inputs.LARGEST, "a positive integer")
    term = total = float(round_to(term, name))
    left = count - 1
    while left and np.isfinite(total):
        step, again = _steps(total, term, name)
        if step == 0:  # the term is too small to change the sum: it stays
            break
        if not np.isfinite(step):  # the sum overflows
            return find(name).beyond
        top = min(np.ldexp(1.0, np.frexp(total)[1]), find(name).largest)
        room = top - term - total
        jumps = min(left, np.ceil(room / step)) if step == again and room > 0 else 1
        total, left = float(total + jumps * step), left - int(jumps)
    return total


def _steps(total: float, term: float, name: str) -> tuple[float, float]:
    """Return by how much a sum moves with the next addition, and with the one after it.

    They can differ where the exact sum lies halfway between two numbers: the first step
    goes to the even one of the two, and from there the next need not be as long.
    """
    first = round_to(total + term, name)
    if not np.isfinite(first):
        return inf, inf
    return float(first - total), float(round_to(first + term, name) - first)


def running_sum(x: ArrayLike, name: str) -> Numbers:
    """Return the running sums along the last axis, added one number after another.

    Parameters
    ----------
    x : array_like, (..., n), float64
        They are rounded to the format first.
    name : str
        One of `FORMATS` or `EIGHT_BITS`.

    Returns
    -------
    ndarray, float64, the shape of `x`
        Each is rounded to the format before the next number is added.

    Examples
    --------
    >>> running_sum([15.0, 1.0, 1.0, 1.0], "float8_e4m3fn").tolist()
    [15.0, 16.0, 16.0, 16.0]
    """
    return _accumulate(_terms(x, name), name).astype(np.float64)


def sum_in(
    x: ArrayLike, name: str, order: str = "serial", *, block: int = 256
) -> Numbers:
    """Return the sum along the last axis, rounded to a format after each operation.

    Parameters
    ----------
    x : array_like, (..., n), float64
        The numbers are rounded to the format first. To add narrow numbers in a wide
        format, pass them through `round_to` before.
    name : str
        One of `FORMATS` or `EIGHT_BITS`.
    order : {"serial", "blocks", "pairs", "tree", "kahan"}
        serial: one after another. blocks: each block serially, then the sums of blocks
        serially. pairs: neighbours, then neighbouring sums, and so on. tree: each block
        serially, then the sums of blocks in pairs. kahan: serially, and the rounding
        error of each addition is subtracted from the next number.
    block : int
        The length of a block; the last one may be shorter.

    Returns
    -------
    ndarray or number, float64, the shape of `x` without its last axis

    Examples
    --------
    >>> [float(sum_in([1.0] * 4096, "float16", order)) for order in ("serial", "pairs")]
    [2048.0, 4096.0]
    """
    inputs.one_of("order", order, ORDERS)
    inputs.block_size(block, "block")
    terms = _terms(x, name)
    if order in ("blocks", "tree"):
        terms = _accumulate(_in_blocks(terms, block), name)[..., -1]
    with np.errstate(over="ignore", invalid="ignore"):
        if order in ("pairs", "tree"):
            total = _pairs(terms, name)
        elif order == "kahan":
            total = _kahan(terms, name)
        else:
            total = _accumulate(terms, name)[..., -1]
    return total.astype(np.float64)[()]


def _terms(x: ArrayLike, name: str) -> Array:
    """Return x in a format, as an array of NumPy's own where NumPy has the format."""
    find(name)
    terms = inputs.rows("x", x)
    if terms.shape[-1] == 0:
        raise ValueError(f"x: expected at least one number, got shape {terms.shape}")
    with np.errstate(over="ignore"):
        narrow = terms.astype(name) if name in NUMPYS else round_to(terms, name)
    return np.asarray(narrow)


def _plus(a: Array, b: Array, name: str) -> Array:
    """Return a + b in a format.

    Of the formats that NumPy lacks, float64 has more than twice the digits. So it does
    no harm that their sums are rounded twice.
    """
    return a + b if name in NUMPYS else np.asarray(round_to(a + b, name))


def _accumulate(terms: Array, name: str) -> Array:
    """Return the running sums along the last axis (..., n)."""
    sums = terms.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        if name in NUMPYS:
            return np.add.accumulate(terms, -1, out=sums)
        for i in range(1, terms.shape[-1]):
            sums[..., i] = _plus(sums[..., i - 1], terms[..., i], name)
    return sums


def _in_blocks(terms: Array, block: int) -> Array:
    """Return terms (..., blocks, block), with zeros to fill the last block."""
    return _padded(terms, block).reshape(*terms.shape[:-1], -1, block)


def _padded(terms: Array, multiple: int) -> Array:
    """Return terms with zeros after them, up to a multiple of a length."""
    missing = -terms.shape[-1] % multiple
    return np.pad(terms, [(0, 0)] * (terms.ndim - 1) + [(0, missing)])


def _pairs(terms: Array, name: str) -> Array:
    """Return the sum of neighbours, then of neighbours among the sums, and so on."""
    while terms.shape[-1] > 1:
        terms = _padded(terms, 2)
        terms = _plus(terms[..., ::2], terms[..., 1::2], name)
    return terms[..., 0]


def _kahan(terms: Array, name: str) -> Array:
    """Return the serial sum; the excess of each addition comes off the next number."""
    total = excess = np.zeros_like(terms[..., 0])
    for i in range(terms.shape[-1]):
        term = _plus(terms[..., i], -excess, name)
        after = _plus(total, term, name)
        excess = _plus(_plus(after, -total, name), -term, name)
        total = after
    return total
