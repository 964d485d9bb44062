"""Runs a test file of numba-cuda under a simulator, and prints a line for each test.

    NUMBA_ENABLE_CUDASIM=1 python -m tools.simulator.numba_tests cudasim|blocksim FILE

It runs in the environment of `tools.simulator.score`.
"""

import importlib
import io
import json
import signal
import sys
import time
import unittest
import warnings
from collections.abc import Callable, Iterator
from typing import Any

SECONDS = 60  # for a test


class Results(unittest.TestResult):
    """Prints a row for each test: its name, outcome, seconds, launches and reason."""

    def __init__(self, launches: list[None], out: Any):
        super().__init__()
        self.launches, self.out = launches, out

    def startTest(self, test: unittest.TestCase) -> None:
        """Begin a row."""
        super().startTest(test)
        self.outcome, self.reason, self.begun = "pass", "", time.monotonic()
        self.launches.clear()

    def note(self, outcome: str, reason: str) -> None:
        """Keep the outcome; of several failures the first counts."""
        if self.outcome == "pass":
            self.outcome, self.reason = outcome, reason[:300]

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        """A test with an error fails."""
        self.note("fail", f"{err[0].__name__}: {err[1]}")

    addFailure = addError

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        """A test that is skipped does not pass."""
        self.note("skip", reason)

    def addSubTest(self, test: unittest.TestCase, subtest: Any, err: Any) -> None:
        """A test fails with any of its parts."""
        if err:
            self.addError(test, err)

    def stopTest(self, test: unittest.TestCase) -> None:
        """Print the row."""
        seconds = round(time.monotonic() - self.begun, 3)
        name = test.id().split("tests.cudapy.")[-1]
        row = [name, self.outcome, seconds, len(self.launches), self.reason]
        print("ROW", json.dumps(row), file=self.out, flush=True)


def flat(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    """Yield the tests of a suite."""
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from flat(each)
        else:
            yield each


def late(*_: object) -> None:
    """Fail the test that is running."""
    raise TimeoutError(f"more than {SECONDS} seconds")


def prepare(simulator: str) -> list[None]:
    """Install a simulator; return a list that grows with each launch."""
    from numba.cuda import testing

    launches: list[None] = []
    testing.skip_on_cudasim = lambda reason: lambda test: test
    if simulator == "blocksim":
        from blocksim.dropin import kernels

        owner, name = kernels.Session, "launch"
        from blocksim.dropin import Policy, install

        install(Policy(seconds=SECONDS))
    else:
        from numba.cuda.simulator.kernel import FakeCUDAKernel

        owner, name = FakeCUDAKernel, "__call__"
    setattr(owner, name, counting(getattr(owner, name), launches))
    return launches


def counting(launch: Callable[..., Any], launches: list[None]) -> Callable[..., Any]:
    """Return a method that also counts its calls."""

    def counted(*arguments: Any) -> Any:
        launches.append(None)
        return launch(*arguments)

    return counted


def main() -> int:
    """Run the file."""
    simulator, name = sys.argv[1:]
    warnings.simplefilter("ignore")
    launches = prepare(simulator)
    module = importlib.import_module(f"numba.cuda.tests.cudapy.{name}")
    results = Results(launches, sys.stdout)
    sys.stdout = io.StringIO()  # what kernels print
    signal.signal(signal.SIGALRM, late)
    for test in flat(unittest.defaultTestLoader.loadTestsFromModule(module)):
        signal.alarm(SECONDS)
        try:
            unittest.TestSuite([test]).run(results)
        except TimeoutError:
            results.note("fail", f"more than {SECONDS} seconds")
            results.stopTest(test)
        finally:
            signal.alarm(0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
