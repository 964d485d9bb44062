"""How exact an answer has to be: what the reader is told, and what is graded.

A drill says ``to: 3 digits``, ``to: 2 decimals``, ``to: exact`` or ``to: whole``, and
where a limit is asked for, on which ``side`` of it an answer is safe. Both the sentence
under the prompt and the numbers that the graders compare with are made from that, here.
"""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from livepage.drills.words import word

SLACK = 1e-9  # what computing in floats may cost
NEARLY = 1e-2  # as a part of the answer: somebody rounded on the way
WORTH_ROUNDING = 1000  # nobody rounds a smaller count
# How people shorten a number; nobody cuts it off to a single digit.
ROUNDINGS = [decimal.ROUND_HALF_UP, decimal.ROUND_HALF_EVEN, decimal.ROUND_DOWN]


class Rule(NamedTuple):
    """How exact: 3 digits, 2 decimals, exact, or whole; below or above a limit."""

    kind: str
    count: int = 0
    side: str = ""


def rule(to: str, side: str = "") -> Rule:
    """Return the rule a drill states.

    Raises
    ------
    ValueError
        If it states none.
    """
    if to in ("exact", "whole") and not side:
        return Rule(to)
    found = re.fullmatch(r"([1-6]) (digits|decimals)", str(to))
    if found is None or side not in ("", "below", "above"):
        raise ValueError(
            'expected to: "3 digits", "2 decimals", "exact" or "whole", and perhaps'
            f' side: "below" or "above", got to: {to!r}, side: {side!r}'
        )
    return Rule(found[2], int(found[1]), side)


def asked(rule: Rule, language: str = "en") -> str:
    """Return the sentence that tells the reader how exact the answer has to be."""
    key = f"asked{(rule.side or rule.kind).capitalize()}"
    count = word("counts", language).split()[rule.count]
    return word(key, language, n=count)


def goal(value: float, rule: Rule) -> dict[str, Any]:
    """Return the numbers that an answer is compared with.

    Parameters
    ----------
    value : float
        The right answer.
    rule : Rule

    Returns
    -------
    dict
        ``low`` and ``high``, between which an answer is right; ``rounded``, the values
        that are right to fewer digits than are asked for; ``nearly``, how far from the
        answer somebody ends who rounds on the way; ``unsafe``, the end of the values on
        the wrong side of a limit; ``counted``, whether the answer is a count, which
        nobody rounds. Of a value that is not finite, only ``value``.
    """
    if not math.isfinite(value):
        return {"value": str(float(value))}
    slack = SLACK * abs(value)
    low, high = _around(value, rule)
    found = {
        "value": float(value),
        "low": low - slack,
        "high": high + slack,
        "rounded": sorted(set(_rounded(value, rule))),
        "nearly": NEARLY * abs(value) if rule.count else 0.0,
        "counted": rule.kind == "whole",
    }
    if rule.side:
        unit = _unit(value, rule)
        found["unsafe"] = value + (unit if rule.side == "below" else -unit)
    return found


def safe(value: float, rule: Rule, digits: int) -> float:
    """Return a limit rounded to its safe side, so that what is printed holds."""
    if not rule.side:
        return value
    exact = Decimal(repr(value))
    rounding = decimal.ROUND_FLOOR if rule.side == "below" else decimal.ROUND_CEILING
    last = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return float(exact.quantize(last, rounding))


def _around(value: float, rule: Rule) -> tuple[float, float]:
    """Return between which numbers an answer is right.

    The prompt says that the last digit may be off by one. A reader may count that from
    the exact value, or from the value rounded to these digits: both are right.
    """
    unit = _unit(value, rule)
    if rule.side == "below":
        return value - unit, value
    if rule.side == "above":
        return value, value + unit
    rounded = round(value / unit) * unit if unit else value
    return min(value, rounded) - unit, max(value, rounded) + unit


def _unit(value: float, rule: Rule) -> float:
    """Return by how much an answer may be off: one in the last digit asked for."""
    if rule.kind == "decimals":
        return 10.0**-rule.count
    if rule.kind == "digits" and value:
        return 10.0 ** (Decimal(repr(value)).adjusted() - rule.count + 1)
    return 0.0


def _rounded(value: float, rule: Rule) -> Iterator[float]:
    """Yield the value rounded, or cut off, to fewer digits than are asked for."""
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
    """Yield each coarser rounding: the power of ten of its last digit, and its digits."""
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
