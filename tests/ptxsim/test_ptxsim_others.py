"""The stored PTX of kernels that the simulators' authors did not design.

`tests/simulators/test_agreement.py` runs it in ptxsim, against NumPy and blocksim.
`python -m tools.kernels.others` makes the PTX again.
"""

from functools import cache

import numpy as np

from others import catalogue
from tools.kernels import others, stored

CASES = catalogue.cases()


@cache
def archive() -> tuple[dict, dict[str, str]]:
    return stored.read(others.STORED)


def test_the_stored_ptx_is_of_the_kernels_as_they_stand() -> None:
    index, texts = archive()
    now = {name: catalogue.digest(case) for name, case in CASES.items()}
    assert index["sources"] == now, f"stale: run `{index['command']}`"
    assert texts.keys() == now.keys()
    assert others.STORED.stat().st_size < 500_000


def test_launches_are_the_same_each_time_and_their_bounds_can_fail() -> None:
    for name, case in CASES.items():
        one, other = case.made(), case.made()
        pairs = zip(one.args, other.args)
        differ = [
            i
            for i, (x, y) in enumerate(pairs)
            if not np.array_equal(x, y, equal_nan=True)
        ]
        assert not differ, name
        # Before it runs, its results are wrong.
        compared = [x for x in (one.outputs | one.changed).values() if x is not None]
        assert compared and one.complaint(), name
