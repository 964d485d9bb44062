"""ptxsim on kernels that its authors did not design, from stored PTX, against NumPy.

`python -m tools.kernels.others` makes the PTX again.
"""

from functools import cache

import numpy as np
import pytest

import ptxsim
from others import catalogue
from tools.kernels import others, stored

CASES = catalogue.cases()
# Kernels that ptxsim cannot run yet, by the feature that it lacks.
MISSING = {
    "order by fences, flags and tickets": """
        fence_reduction lookback_flags chained_scan producer_consumer ring_buffer
        grid_barrier grid_barrier_flags warp_flag split_k_semaphore spin_lock mutex_bins
        ticket_lock readers_writer attention_split""",
    "atomic operations on floats that load and then compare": """
        atomic_extremes atomic_nanmax""",
    "syncwarp between reads of a word by several threads": "syncwarp_scan",
}
# Basic blocks: a kernel that waits for ever where a feature is missing ends soon.
LIMIT = 2_000
LACKS = {name: why for why, names in MISSING.items() for name in names.split()}


@cache
def archive() -> tuple[dict, dict[str, str]]:
    return stored.read(others.STORED)


def run(name: str) -> tuple[catalogue.Launch, ptxsim.Result]:
    launch = CASES[name].made()
    result = ptxsim.run(
        archive()[1][name],
        launch.grid,
        launch.args,
        threads=launch.threads,
        outputs=list(launch.outputs),
        changed=list(launch.changed),
        dynamic=launch.dynamic,
        limit=LIMIT if name in LACKS else 1_000_000,
    )
    return launch, result


def lacking(name: str) -> object:
    """Return a name as a parameter, which has to fail where a feature is missing."""
    if name not in LACKS:
        return name
    mark = pytest.mark.xfail(reason=LACKS[name], strict=True)
    return pytest.param(name, marks=mark)


@pytest.mark.parametrize("name", list(map(lacking, CASES)))
def test_a_kernel_gives_what_numpy_gives(name: str) -> None:
    launch, _ = run(name)
    assert not launch.complaint()


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
        assert all(np.array_equal(x, y, equal_nan=True) for x, y in pairs), name
        # Before it runs, its results are wrong.
        compared = [x for x in (one.outputs | one.changed).values() if x is not None]
        assert compared and one.complaint(), name


@pytest.mark.xfail(reason="24 are right so far", strict=True)
def test_of_the_first_27_kernels_25_are_right_and_the_others_are_refused() -> None:
    listed = [name for name, case in CASES.items() if case.listed]
    assert len(listed) == 27
    left = [name for name in listed if name in LACKS]
    assert len(left) <= 2
    for name in left:
        with pytest.raises(ptxsim.Unsupported):
            run(name)
