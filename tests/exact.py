"""Reference results with forty digits. This oracle shares no code with the book."""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from math import inf, log2

import numpy as np

UNIT = {np.float16: 2.0**-24, np.float32: 2.0**-24, np.float64: 2.0**-53}
ROUNDING = {np.float16: 2.0**-11, np.float32: 0.0, np.float64: 0.0}


def sums(
    scores: Sequence[float], values: Sequence[float]
) -> tuple[float, Decimal, Decimal]:
    """Return (m, l, o) of one row by definition; a score of −∞ has the weight 0."""
    m = max(map(float, scores), default=-inf)
    with localcontext(prec=40):
        gaps = [Decimal(float(s)) - Decimal(m) if s > -inf else None for s in scores]
        weights = [Decimal(0) if gap is None else gap.exp() for gap in gaps]
        pairs = zip(weights, values, strict=True)
        return m, sum(weights), sum(w * Decimal(float(v)) for w, v in pairs)


def softmax_dot(scores: Sequence[float], values: Sequence[float]) -> float:
    """Return the average of the values of one row, weighted by the softmax."""
    _, l, o = sums(scores, values)
    return float(o / l)


def softmax(scores: Sequence[float]) -> list[float]:
    """Return the softmax of one row."""
    m, l, _ = sums(scores, scores)
    with localcontext(prec=40):
        return [float((Decimal(float(s)) - Decimal(m)).exp() / l) for s in scores]


def allowed(n: int, blocks: int, dtype: type) -> float:
    """Return the accuracy rule: the largest error, relative to the largest output.

    The bound is (T + log₂ n + 4) units of the accumulator's dtype. If the output has a
    narrower dtype, its rounding is added. The bound assumes exact scores; computing large
    scores adds one more term, which the chapter on digits explains.
    """
    return (blocks + log2(n) + 4) * UNIT[dtype] + ROUNDING[dtype]
