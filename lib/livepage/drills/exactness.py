"""The precision of an answer: the sentence about it, and the numbers that graders use.

A drill says ``to: 3 digits``, ``to: 2 decimals``, ``to: exact`` or ``to: whole``. Where
the answer is a limit, the drill also says on which ``side`` of it an answer is safe. This
module derives from these both the sentence under the prompt and the accepted range.
"""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from livepage.drills.words import word

SLACK = 1e-9  # relative error of computing in floats
NEARLY = 1e-2  # relative error of rounding intermediate results
SHORT = 5e-2  # the farthest that a rounded answer may be off
ROUGH = 1e-1  # the same where the exact answer is wanted, or a whole number
WORTH_ROUNDING = 1000  # nobody rounds a smaller count
# How people shorten a number. Nobody truncates to a single digit.
ROUNDINGS = [decimal.ROUND_HALF_UP, decimal.ROUND_HALF_EVEN, decimal.ROUND_DOWN]


class Rule(NamedTuple):
    """A precision: 3 digits, 2 decimals, exact or whole; below or above a limit."""

    kind: str
    count: int = 0
    side: str = ""


def rule(to: str, side: str = "") -> Rule:
    """Parse the precision that a drill states.

    Raises
    ------
    ValueError
        If the drill states none.
    """
    if to in ("exact", "whole") and not side:
        return Rule(to)
    match = re.fullmatch(r"([1-6]) (digits|decimals)", str(to))
    if match is None or side not in ("", "below", "above"):
        raise ValueError(
            'expected to: "3 digits", "2 decimals", "exact" or "whole", and perhaps'
            f' side: "below" or "above", got to: {to!r}, side: {side!r}'
        )
    return Rule(match[2], int(match[1]), side)


def asked(rule: Rule, language: str = "en") -> str:
    """Return the sentence that tells the reader the precision."""
    key = f"asked{(rule.side or rule.kind).capitalize()}"
    count = word("counts", language).split()[rule.count]
    return word(key, language, n=count)


def goal(value: float, rule: Rule) -> dict[str, Any]:
    """Return the numbers with which an answer is compared.

    Parameters
    ----------
    value : float
        The right answer.
    rule : Rule

    Returns
    -------
    dict
        ``low`` and ``high``, the ends of the accepted range; ``rounded``, the values
        that are right to fewer digits than required; ``short``, the largest error of a
        number typed with fewer digits; ``nearly``, the largest error of a close number;
        ``unsafe``, the end of the range on the wrong side of a limit; ``counted``,
        whether the answer is a count. If the value is not finite, only ``value``.

        Where digits are asked for, every number that is nearer than a close number is
        close as well. So one digit is rarely enough: 0.5 is far from 0.475, and 20 from 16.
    """
    if not math.isfinite(value):
        return {"value": str(float(value))}
    slack = SLACK * abs(value)
    low, high = _around(value, rule)
    rounded = sorted(set(_rounded(value, rule)))
    nearly, short = NEARLY * abs(value) if rule.count else 0.0, SHORT * abs(value)
    if rule.kind == "digits":
        two = [abs(value - number) for number in rounded if _has_two_digits(number)]
        nearly = short = max([nearly, *(gap for gap in two if gap <= short)])
    far = short if rule.kind == "digits" else ROUGH * abs(value)
    if rule.kind != "decimals":
        rounded = [number for number in rounded if abs(value - number) <= far]
    result = {
        "value": float(value),
        "low": low - slack,
        "high": high + slack,
        "rounded": rounded,
        "short": short,
        "nearly": nearly,
        "counted": rule.kind == "whole",
    }
    if rule.side:
        unit = _unit(value, rule)
        result["unsafe"] = value + (unit if rule.side == "below" else -unit)
    return result


def _has_two_digits(value: float) -> bool:
    return len(Decimal(repr(value)).normalize().as_tuple().digits) > 1


def safe(value: float, rule: Rule, digits: int) -> float:
    """Return a limit rounded to its safe side, so that the printed number holds."""
    if not rule.side:
        return value
    exact = Decimal(repr(value))
    rounding = decimal.ROUND_FLOOR if rule.side == "below" else decimal.ROUND_CEILING
    last = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return float(exact.quantize(last, rounding))


def _around(value: float, rule: Rule) -> tuple[float, float]:
    """Return the accepted range.

    The prompt says that the last digit may be off by one. The range allows that from the
    exact value and from the rounded value.
    """
    unit = _unit(value, rule)
    if rule.side == "below":
        return value - unit, value
    if rule.side == "above":
        return value, value + unit
    rounded = round(value / unit) * unit if unit else value
    return min(value, rounded) - unit, max(value, rounded) + unit


def _unit(value: float, rule: Rule) -> float:
    """Return the accepted error: one unit in the last required digit."""
    if rule.kind == "decimals":
        return 10.0**-rule.count
    if rule.kind == "digits" and value:
        return 10.0 ** (Decimal(repr(value)).adjusted() - rule.count + 1)
    return 0.0


def _rounded(value: float, rule: Rule) -> Iterator[float]:
    """Yield the value rounded or truncated to fewer digits than required."""
    if not value or rule.kind == "whole" and abs(value) < WORTH_ROUNDING:
        return
    exact = Decimal(repr(float(value)))
    first = 2 if rule.kind == "whole" else 1
    for power, digits in _coarser(exact, rule):
        for rounding in ROUNDINGS if digits > 1 else ROUNDINGS[:2]:
            short = exact.quantize(Decimal(1).scaleb(power), rounding)
            if digits >= first and short and short != exact:
                yield float(short)


def _coarser(exact: Decimal, rule: Rule) -> Iterator[tuple[int, int]]:
    """Yield the last power of ten and the number of digits of each coarser rounding."""
    lead = exact.adjusted()
    if rule.kind == "decimals":
        for power in range(-1, -rule.count, -1):
            yield power, lead - power + 1
    else:
        if lead < -1:
            yield lead + 1, 1  # 0.09 is 0.1 to one decimal
        most = rule.count or len(exact.normalize().as_tuple().digits)
        for digits in range(1, most):
            yield lead - digits + 1, digits
