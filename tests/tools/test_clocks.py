"""No test is decided by time: what has to give a reason, and what names what fails."""

import pytest

from tools.testing import clocks


@pytest.mark.parametrize(
    "line",
    [
        "time.sleep(1)",
        "page.wait_for_timeout(300)",
        "expect(box).to_be_visible(timeout=9_000)",
        "v8.eval(script, timeout_sec=30)",
        "assert time.monotonic() - start < 60",
        "start = perf_counter()",
        "assert stored.date <= date.today()",
        "threading.Timer(0.5, close).start()",
        "settings(deadline=200)",
        'script = "setTimeout(done, 10)"',
        'script = "const start = performance.now()"',
        'address = "http://127.0.0.1:8765/"',
        "server(port=8000)",
        "assert threading.active_count() == before",
        "asyncio.run(asked())",
    ],
)
def test_a_clock_wants_a_reason(line: str) -> None:
    assert len(clocks.complaints(line, True)) == 1
    assert not clocks.complaints(f"{line}  # clock: a pause between two looks", True)
    assert not clocks.complaints(f"# clock: a pause between two looks\n{line}", True)
    assert clocks.complaints(f"# clock:\n{line}", True)


@pytest.mark.parametrize(
    "line",
    [
        "from time import sleep",
        "expect(box).to_be_visible()",
        "client.wait_for_workers(2, timeout=PATIENCE)",
        "settings(max_examples=60, deadline=None)",
        "clock = SimpleNamespace(monotonic=lambda: next(ticks))",
        "server(port=0)",
    ],
)
def test_what_decides_nothing_wants_none(line: str) -> None:
    assert not clocks.complaints(line, True)


@pytest.mark.parametrize(
    ("line", "is_refused"),
    [
        ("assert all(x > 0 for x in xs)", True),
        ("assert all(x > 0 for x in xs), 'some are negative'", True),
        ("assert xs and not any(x > 0 for x in xs)", True),
        ("assert all(map(bool, xs))", True),
        ("assert any(x > 0 for x in xs)", True),
        ("assert any(x > 0 for x in xs), xs", False),
        ("assert not [x for x in xs if any(y > x for y in xs)]", False),
        ("assert (xs > 0).all() and all([1, 2])", False),
    ],
)
def test_an_assert_names_what_fails(line: str, is_refused: bool) -> None:
    assert bool(clocks.complaints(line, True)) == is_refused
