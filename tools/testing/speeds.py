"""Which tests the quick run takes: a plugin of pytest, and the stored durations it reads.

`tests/durations.json` lists the tests that take half a second or longer. The quick run
takes every test that is not listed, the quickest listed test of each file, and every test
of a file whose sources have changed since the last full run that was green.
"""

import json
import os
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from statistics import median

import pytest

from livepage.digest import digest, files_in
from tools.common import records

ROOT = Path(__file__).resolve().parents[2]
STORED = ROOT / "tests" / "durations.json"
MEASURED = ROOT / "_build" / "durations.json"  # of every test of the last run
GREEN = ROOT / "_build" / "green.json"  # the sources of the last green full run
SLOW = 0.5  # seconds
# A test that is not listed is called slow only when it takes this many times as long, at
# the pace of the whole run, twice: a loaded machine is no reason.
GROWN = 10
# What a test rests on, by the words that it uses. The browser tests rest on the kit.
AREAS = {
    "blocksim": ["lib/blocksim"],
    "ptxsim": ["lib/ptxsim"],
    "cpu": ["lib/tiledattention/cpu"],
    "gpu": ["lib/tiledattention/gpu"],
    "cluster": ["lib/tiledattention/cluster"],
    "kernellab": ["lib/kernellab"],
    "onlinesoftmax": ["lib/onlinesoftmax/*.py"],
    "livepage": ["lib/livepage"],
    "figures": ["book/figures", "lib/livepage/figures"],
    "drills": ["book/drills", "lib/livepage/drills"],
    "rescaling": ["book/*.py"],
    "inventory": ["book/*.md", "book/inventory.yml"],
    "kernels": ["tests/kernels", "tools/kernels/gate.py"],
    "tools": ["tools"],
}
RESTS_ON = {
    "gpu": {"blocksim", "onlinesoftmax"},
    "kernellab": {"gpu", "ptxsim"},
    "cpu": {"onlinesoftmax"},
    "cluster": {"onlinesoftmax"},
    "browser": {"livepage", "figures", "drills"},
}


def stored() -> dict[str, float]:
    """Return the seconds of each test that is listed as slow."""
    return json.loads(STORED.read_text("utf-8")) if STORED.exists() else {}


def file_of(test: str) -> str:
    return test.partition("::")[0]


def left_out(slow: dict[str, float], changed: set[str]) -> set[str]:
    """Return the listed tests that the quick run leaves out.

    `changed` names the test files whose sources have changed.
    """
    files = defaultdict(list)
    for test, seconds in slow.items():
        files[file_of(test)].append((seconds, test))
    return {
        test
        for file, tests in files.items()
        if file not in changed
        for _, test in sorted(tests)[1:]
    }


# ---- what has changed


def now() -> dict[str, str]:
    """Return the digest of each file that a test may rest on."""
    files = files_in(*(ROOT / name for name in ("lib", "book", "tools", "tests")))
    return {file.relative_to(ROOT).as_posix(): digest([file]) for file in files}


def changed_files() -> set[str]:
    """Return the files that differ from the last green full run, or from the commit."""
    if green := records.load(GREEN):
        here = now()
        return {name for name in green | here if green.get(name) != here.get(name)}
    command = ["git", "status", "--porcelain", "--no-renames", "-uall", "-z"]
    try:
        said = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    except OSError:  # no git
        return set()
    return {entry[3:] for entry in said.stdout.split("\0") if entry}


def rests_on(file: Path) -> list[str]:
    """Return the files and folders that a test file rests on, as globs from the root."""
    helpers, waiting = set(), {file}
    while waiting:
        helpers.add(one := waiting.pop())
        names = re.findall(r"^(?:from|import) (\w+)", one.read_text("utf-8"), re.M)
        folders = (ROOT / "tests", one.parent)
        beside = {folder / f"{name}.py" for folder in folders for name in names}
        waiting |= {path for path in beside if path.exists()} - helpers
    words = {
        word for one in helpers for word in re.findall(r"\w+", one.read_text("utf-8"))
    }
    if "browser" in file.parts or "html" in words:
        words |= RESTS_ON["browser"]
    areas = words & set(AREAS)
    areas |= {area for word in areas for area in RESTS_ON.get(word, ())}
    own = [one.relative_to(ROOT).as_posix() for one in helpers]
    return own + [glob for area in sorted(areas) for glob in AREAS[area]]


def changed_tests() -> set[str]:
    """Return the test files whose sources have changed."""
    changed = [Path(name) for name in changed_files()]

    def touches(glob: str) -> bool:
        return any(one.match(glob) or Path(glob) in one.parents for one in changed)

    files = {ROOT / file for file in map(file_of, stored())}
    return {
        file.relative_to(ROOT).as_posix()
        for file in files
        if file.exists() and any(map(touches, rests_on(file)))
    }


# ---- what has grown


def grown(measured: dict[str, float], slow: dict[str, float]) -> list[str]:
    """Return the tests that are not listed, and took much longer than those that are."""
    paces = [measured[test] / slow[test] for test in slow if measured.get(test)]
    limit = GROWN * SLOW * max([1.0, median(paces)] if paces else [1.0])
    return sorted(t for t, s in measured.items() if t not in slow and s > limit)


def store() -> int:
    """Store which tests took half a second or longer in the last run; return how many."""
    measured = json.loads(MEASURED.read_text("utf-8"))
    slow = {test: round(s, 1) for test, s in sorted(measured.items()) if s >= SLOW}
    STORED.write_text(json.dumps(slow, indent=0, ensure_ascii=False) + "\n", "utf-8")
    return len(slow)


# ---- the plugin


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick", metavar="FILES", help="the quick run; of these files, all tests"
    )


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave out what the quick run leaves out, and begin with what takes longest."""
    slow, changed = stored(), config.getoption("--quick")
    if changed is not None:
        out = left_out(slow, set(changed.split(",")))
        config.hook.pytest_deselected(items=[i for i in items if i.nodeid in out])
        items[:] = [item for item in items if item.nodeid not in out]
    if not config.getoption("--shuffle", None):
        items.sort(key=lambda item: -slow.get(item.nodeid, 0.0))


class Seconds:
    """Writes how long the body of each test took; fixtures are shared, and left out."""

    def __init__(self) -> None:
        self.of: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.of[report.nodeid] = report.duration

    def pytest_sessionfinish(self) -> None:
        MEASURED.parent.mkdir(exist_ok=True)
        MEASURED.write_text(json.dumps(self.of), "utf-8")


def pytest_configure(config: pytest.Config) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(Seconds())
