"""Golden states: the library's numbers for a figure, to compare with its JavaScript."""

import math
from collections.abc import Iterator

import numpy as np

from livepage.figures import registry


def cases(figure: str) -> list[dict]:
    """Return complete states to compare, among them the initial and the still one."""
    spec = registry.spec(figure)
    drawn = [{}, spec.still, *spec.states(np.random.default_rng(0))]
    return [spec.defaults() | changes for changes in drawn]


def differences(
    wanted: object, got: object, at: str = "", room: float = 0.0
) -> Iterator[str]:
    """Yield where `got`, from JavaScript, differs from `wanted`, from the library.

    The relative tolerance is 1e-12, the absolute one `room`.
    """
    if isinstance(wanted, dict):
        for name, each in wanted.items():
            yield from differences(each, got.get(name), f"{at}.{name}", room)
    elif isinstance(wanted, (list, tuple, np.ndarray)):
        if len(wanted) != len(got):
            yield f"{at}: {len(wanted)} wanted, {len(got)} got"
        for i, (one, other) in enumerate(zip(wanted, got)):
            yield from differences(one, other, f"{at}[{i}]", room)
    elif not _same(wanted, got, room):
        yield f"{at}: {wanted!r} wanted, {got!r} got"


def _same(wanted: object, got: object, room: float) -> bool:
    if wanted is None or got is None or isinstance(wanted, (str, bool)):
        return wanted == got
    wanted, got = float(wanted), float(got)
    if math.isnan(wanted):
        return math.isnan(got)
    return math.isclose(wanted, got, rel_tol=1e-12, abs_tol=max(room, 1e-300))
