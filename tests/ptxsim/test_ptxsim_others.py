"""ptxsim on kernels that its authors did not design, from stored PTX, against NumPy.

`python -m tools.kernels.others` makes the PTX again.
"""

from functools import cache

import pytest

import ptxsim
from others import catalogue
from tools.kernels import others, stored

CASES = catalogue.cases()
# Kernels that ptxsim cannot run yet, by the feature that it lacks.
MISSING = {
    "fences, flags and tickets": "fence_reduction",
}
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
        assert all((x == y).all() for x, y in zip(one.args, other.args)), name
        # As many numbers as it has to write are wrong before it runs.
        compared = [x for x in (one.outputs | one.changed).values() if x is not None]
        assert compared and one.complaint(), name
