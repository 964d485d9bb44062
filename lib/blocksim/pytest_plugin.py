"""``pytest --blocksim``: a project's CUDA tests, without a GPU.

Every kernel that the tests launch runs on the simulator. A launch with a fault fails its
test; a kernel that the simulator does not take skips it, with the reason. At the end
stands how many launches there were, and what was passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from blocksim.dropin import Policy, Session

# pytest imports this file in every project, also where neither --blocksim is given nor
# NumPy installed; so the simulator is imported when it is asked for.
MARK = "blocksim(benign=[], seconds=None): known benign faults, and a limit of time"
SESSION: pytest.StashKey[Session] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("blocksim", "CUDA kernels without a GPU")
    group.addoption(
        "--blocksim", action="store_true", help="run CUDA kernels on the simulator"
    )
    group.addoption(
        "--blocksim-policy", metavar="FILE", help="faults that are known to be benign"
    )
    group.addoption(
        "--blocksim-mode", choices=["race", "rounded", "full", "plain"],
        default="rounded",
        help='"race" does not round float32, "full" also reports float64 arithmetic,'
        ' "plain" only computes',
    )  # fmt: skip


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Install the simulator before any file of the project is imported."""
    options = early_config.known_args_namespace
    if not getattr(options, "blocksim", False):
        return
    from blocksim.dropin import install, policy

    try:
        file = options.blocksim_policy
        rules = policy.read(Path(file)) if file else policy.Policy()
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    early_config.stash[SESSION] = install(rules, options.blocksim_mode)


def pytest_configure(config: pytest.Config) -> None:
    """Describe the marker."""
    config.addinivalue_line("markers", MARK)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Judge the launches of a test by the policy and its own mark."""
    session = item.config.stash.get(SESSION, None)
    if session is None:
        return (yield)
    general = session.policy
    for mark in item.iter_markers("blocksim"):
        session.policy = _with_mark(session.policy, item, mark.args, mark.kwargs)
    try:
        return (yield)
    finally:
        session.policy = general


def _with_mark(
    rules: Policy, item: pytest.Item, args: tuple[Any, ...], given: dict[str, Any]
) -> Policy:
    unknown = set(given) - {"benign", "seconds"}
    if args or unknown:
        raise pytest.UsageError(f"{item.nodeid}: expected the mark as {MARK}")
    try:
        return rules.with_marks(given.get("benign", []), given.get("seconds"))
    except ValueError as error:
        raise pytest.UsageError(f"{item.nodeid}: {error}") from None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Iterator[pytest.TestReport]:
    """Turn what the simulator declines into a skip with its reason."""
    report = yield
    error = call.excinfo
    if error is None or SESSION not in item.config.stash:
        return report
    from blocksim.dropin import Declined

    if error.errisinstance(Declined):
        report.outcome = "skipped"
        line = (item.location[1] or 0) + 1
        report.longrepr = (str(item.path), line, f"blocksim: {error.value}")
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say how many launches there were, and what was passed over."""
    session = config.stash.get(SESSION, None)
    if session is None:
        return
    terminalreporter.section("blocksim")
    for line in session.summary():
        terminalreporter.line(line)
