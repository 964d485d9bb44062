"""Which tests the quick run leaves out, and which test is called slow."""

import json
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools import test as tools_test
from tools.testing import speeds

SLOW = {"tests/test_a.py::x": 3.0, "tests/test_a.py::y": 1.5, "tests/test_b.py::z": 9.0}


def test_the_quick_run_takes_a_slow_test_of_each_file_if_it_is_not_very_slow() -> None:
    assert speeds.left_out(SLOW, set()) == {"tests/test_a.py::x", "tests/test_b.py::z"}


def test_the_quick_run_takes_every_test_of_a_file_whose_sources_changed() -> None:
    assert speeds.left_out(SLOW, {"tests/test_a.py", "tests/test_b.py"}) == set()


def test_the_quick_run_leaves_out_what_is_marked_unless_its_sources_changed() -> None:
    def item(test: str, *marks: str) -> SimpleNamespace:
        return SimpleNamespace(
            nodeid=test, get_closest_marker=lambda name: name in marks
        )

    items = [item("tests/a.py::x", "slow"), item("tests/a.py::y", "browser")]
    assert speeds.marked(items, set()) == {"tests/a.py::x"}
    assert speeds.marked(items, {"tests/a.py"}) == set()


def test_the_longest_file_comes_first_and_each_stays_together() -> None:
    """Else a module's fixtures would be set up for one test after the other."""
    items = [SimpleNamespace(nodeid=x) for x in "a::w a::x b::y b::z a::y".split()]
    speeds.longest_files_first(items, {"a::w": 5.0, "a::y": 6.0, "b::z": 9.0})
    assert [x.nodeid for x in items] == "a::w a::x a::y b::y b::z".split()


@pytest.mark.parametrize(
    ("test", "source"),
    [
        ("tests/tiledattention/test_cpu.py", "lib/tiledattention/cpu/fold.py"),
        ("tests/tiledattention/test_cpu.py", "lib/onlinesoftmax/masks.py"),
        ("tests/tiledattention/test_cpu.py", "tests/tiledattention/test_cpu.py"),
        ("tests/tiledattention/test_cpu.py", "tests/problems.py"),
        ("tests/tiledattention/test_gpu.py", "lib/blocksim/memory.py"),
        ("tests/browser/test_figures.py", "book/figures/two-chunks/figure.mjs"),
        ("tests/browser/test_site.py", "lib/livepage/site/theme/layout.html"),
        ("tests/ptxsim/test_ptxsim.py", "lib/ptxsim/memory.py"),
        ("tests/book/test_inventory.py", "book/05-merge.md"),
        ("tests/tools/test_reader.py", "tools/building/reader.py"),
    ],
)
def test_a_changed_source_is_a_reason(test, source, monkeypatch) -> None:
    monkeypatch.setattr(speeds, "stored", lambda: {f"{test}::slow": 2.0})
    monkeypatch.setattr(speeds, "changed_files", lambda: {source})
    assert speeds.changed_tests() == {test}


def test_what_no_test_of_a_file_rests_on_is_no_reason(monkeypatch) -> None:
    monkeypatch.setattr(
        speeds, "stored", lambda: {"tests/ptxsim/test_ptxsim.py::slow": 2.0}
    )
    changed = {"lib/tiledattention/cpu/fold.py", "README.md", "book/museum.md"}
    monkeypatch.setattr(speeds, "changed_files", lambda: changed)
    assert speeds.changed_tests() == set()


def test_what_changed_since_the_last_green_run(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(speeds, "GREEN", tmp_path / "green.json")
    here = {"lib/a.py": "1", "lib/b.py": "2", "lib/new.py": "3"}
    monkeypatch.setattr(speeds, "current_digests", lambda: here)
    green = {"lib/a.py": "1", "lib/b.py": "0", "lib/old.py": "4"}
    speeds.GREEN.write_text(json.dumps(green))
    assert speeds.changed_files() == {"lib/b.py", "lib/new.py", "lib/old.py"}


def test_a_new_slow_test_is_called_so_at_the_pace_of_the_run() -> None:
    new = "tests/test_c.py::new"
    assert speeds.grown({**SLOW, new: 6.0}, SLOW) == [new]
    assert speeds.grown({**SLOW, new: 4.0}, SLOW) == []
    loaded = {test: 4 * seconds for test, seconds in SLOW.items()}
    assert speeds.grown({**loaded, new: 16.0}, SLOW) == []
    assert speeds.grown({**loaded, new: 24.0}, SLOW) == [new]


@pytest.mark.parametrize(("again", "found"), [(0.5, []), (7.0, ["tests/c.py::new"])])
def test_a_test_is_called_slow_only_if_it_is_slow_alone_too(
    again, found, tmp_path, monkeypatch
) -> None:
    measured = tmp_path / "durations.json"
    monkeypatch.setattr(speeds, "MEASURED", measured)
    monkeypatch.setattr(speeds, "stored", dict)
    measured.write_text(json.dumps({"tests/c.py::new": 7.0}))

    def run_again(command, **more) -> None:
        assert command[-1] == "tests/c.py::new"
        measured.write_text(json.dumps({"tests/c.py::new": again}))

    monkeypatch.setattr(tools_test.subprocess, "call", run_again)
    assert tools_test.grown() == found


def test_the_summary_is_of_the_whole_run_though_suspects_ran_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(speeds, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(tools_test, "BUILD", tmp_path)

    def leave(status: int, **results: object) -> int:
        speeds.RESULTS.write_text(json.dumps({"skipped": 0, **results}))
        return status

    def run_suspects(store: bool) -> list[str]:
        leave(0, passed=4, failed=[])
        return []

    whole = partial(leave, 1, passed=90, failed=["tests/test_a.py::test_b"])
    monkeypatch.setattr(tools_test, "build", lambda whole: [])
    monkeypatch.setattr(tools_test, "test", lambda arguments: whole())
    monkeypatch.setattr(tools_test, "slow_list", run_suspects)
    monkeypatch.setattr(sys, "argv", ["test", "--all"])
    assert tools_test.main() == 1
    printed = capsys.readouterr().out
    assert "tests/test_a.py::test_b" in printed
    assert f"{90 + len(tools_test.HERE.chapters)} passed, 1 failed" in printed
