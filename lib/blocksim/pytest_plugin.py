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

from blocksim.faults import Fault
from blocksim.kernel import MODES

if TYPE_CHECKING:
    from blocksim.dropin import Policy, Session

# pytest imports this file in every project, also where neither --blocksim is given nor
# NumPy installed; so `dropin`, which needs NumPy, is imported when it is asked for.
MARK = "blocksim(benign=[], seconds=None): known benign faults, and a limit of time"
SESSION: pytest.StashKey[Session] = pytest.StashKey()
WORKERS: pytest.StashKey[list[str]] = pytest.StashKey()  # what they said
POLICY: pytest.StashKey[Policy] = pytest.StashKey()  # of a test
BEFORE: pytest.StashKey[tuple[int, int]] = pytest.StashKey()  # declined, launched


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
        "--blocksim-mode", choices=MODES, default="rounded",
        help='"race" does not round float32, "full" also reports float64 arithmetic,'
        ' "plain" only computes',
    )  # fmt: skip


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Install the simulator before any file of the project is imported."""
    options = early_config.known_args_namespace
    if not getattr(options, "blocksim", False):
        return
    try:
        from blocksim.dropin import install, policy
    except ModuleNotFoundError as error:
        raise pytest.UsageError(f"--blocksim needs {error.name}") from None
    try:
        file = options.blocksim_policy
        rules = policy.read(Path(file)) if file else policy.Policy()
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    early_config.stash[SESSION] = install(rules, options.blocksim_mode)


def pytest_configure(config: pytest.Config) -> None:
    """Describe the marker."""
    config.addinivalue_line("markers", MARK)


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    """Read the marks of all tests, so that a wrong one is told before any test runs."""
    session = config.stash.get(SESSION, None)
    for item in items if session else []:
        item.stash[POLICY] = session.policy
        for mark in item.iter_markers("blocksim"):
            item.stash[POLICY] = _with_mark(
                item.stash[POLICY], item, mark.args, mark.kwargs
            )


def _with_mark(
    rules: Policy, item: pytest.Item, args: tuple[Any, ...], given: dict[str, Any]
) -> Policy:
    if args or set(given) - {"benign", "seconds"}:
        raise pytest.UsageError(f"{item.nodeid}: expected the mark as {MARK}")
    try:
        return rules.with_marks(given.get("benign", []), given.get("seconds"))
    except ValueError as error:
        raise pytest.UsageError(f"{item.nodeid}: {error}") from None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Judge the launches of a test by the policy and its own mark."""
    session = item.config.stash.get(SESSION, None)
    if session is None:
        return (yield)
    general, session.policy = session.policy, item.stash.get(POLICY, session.policy)
    item.stash[BEFORE] = len(session.declined), len(session.launches)
    try:
        return (yield)
    finally:
        session.policy = general


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Iterator[pytest.TestReport]:
    """Turn what the simulator declines into a skip with its reason.

    So it does where the test caught the exception, or where it was raised in a thread:
    such a test has not run its kernel. A fault that was caught, or raised in a thread,
    fails its test.
    """
    report = yield
    session = item.config.stash.get(SESSION, None)
    if session is None:
        return report
    declined, launched = item.stash.get(BEFORE, (0, 0))
    caught = session.declined[declined:]
    reasons = _declined(call.excinfo) or (caught if call.when == "call" else [])
    if reasons and not hasattr(report, "wasxfail") and not _is_fault(call.excinfo):
        report.outcome = "skipped"
        line = (item.location[1] or 0) + 1
        report.longrepr = (str(item.path), line, f"blocksim: {reasons[0]}")
    elif call.when != "setup" and report.passed and not _expects_faults(item):
        if lost := session.unexpected(launched):
            report.outcome = "failed"
            report.longrepr = f"blocksim.faults.Fault: caught or lost: {lost[0]}"
    if call.when == "call" or not report.passed:  # the teardown answers for its own
        item.stash[BEFORE] = declined, len(session.launches)
    return report


def _expects_faults(item: pytest.Item) -> bool:
    """Return whether a test's file imports blocksim, and so may catch its faults."""
    names = vars(getattr(item, "module", None) or object).values()
    return any(each is Fault or getattr(each, "Fault", None) is Fault for each in names)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: Any) -> Iterator[pytest.CollectReport]:
    """Skip a module that launches what is declined when it is imported."""
    report = yield
    session = collector.config.stash.get(SESSION, None)
    reasons = _declined(report.call.excinfo) if session and report.failed else []
    if reasons:
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 1, f"blocksim: {reasons[0]}")
    return report


def _declined(raised: Any) -> list[str]:
    """Return why a kernel was declined, if that was raised."""
    from blocksim.dropin import Declined

    is_declined = raised is not None and raised.errisinstance(Declined)
    return [str(raised.value)] if is_declined else []


def _is_fault(raised: Any) -> bool:
    return raised is not None and raised.errisinstance(Fault)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Under pytest-xdist, a worker hands on what it has to say at the end."""
    ours, output = session.config.stash.get(SESSION, None), "workeroutput"
    if ours is not None and hasattr(session.config, output):
        getattr(session.config, output)["blocksim"] = ours.summary()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Keep what a worker of pytest-xdist has to say."""
    said = getattr(node, "workeroutput", {}).get("blocksim", [])
    workers = node.config.stash.setdefault(WORKERS, [])
    workers.extend(f"{node.gateway.id}: {line}" for line in said)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say how many launches there were, and what was passed over."""
    session = config.stash.get(SESSION, None)
    if session is None:
        return
    terminalreporter.section("blocksim")
    for line in sorted(config.stash.get(WORKERS, [])) or session.summary():
        terminalreporter.line(line)
