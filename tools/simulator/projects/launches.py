"""A pytest plugin: the property "launches" of each test, how many kernels it launched.

`tools.simulator.projects` runs a project's tests with it, under either simulator.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

LAUNCHES: list[None] = []


def counting(launch: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that also counts its calls."""

    def counted(*arguments: Any) -> Any:
        LAUNCHES.append(None)
        return launch(*arguments)

    return counted


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add an option for names that a project uses, and Numba's simulator has not."""
    parser.addoption("--lacking", action="append", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Count the launches of the simulator that is installed."""
    if config.getoption("--blocksim", False):
        from blocksim.dropin import kernels

        kernels.Session.launch = counting(kernels.Session.launch)
        return
    from numba import cuda
    from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray
    from numba.cuda.simulator.kernel import FakeCUDAKernel

    FakeCUDAKernel.__call__ = counting(FakeCUDAKernel.__call__)
    if "is_cuda_array" in config.getoption("--lacking"):
        cuda.is_cuda_array = lambda value: isinstance(value, FakeCUDAArray)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Begin to count."""
    LAUNCHES.clear()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Add the property, for the report of the test's end."""
    result = yield
    item.user_properties.append(("launches", len(LAUNCHES)))
    return result
