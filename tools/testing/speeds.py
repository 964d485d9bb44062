"""Selects the tests of the quick run: a pytest plugin, and the durations it reads.

`tests/durations.json` lists the tests that take half a second or longer. The quick run
takes every test that is not listed, the quickest listed test of each file if that takes
two seconds at most, and every test of a file whose sources have changed since the last
full run that was green. The durations are of the tests' bodies. A test is marked `slow`,
and left out like those that are listed, if its fixture takes long, or if it tries every
figure for what only a change of the figures can change.
"""

import gc
import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from statistics import median

import pytest

from livepage.digest import digest, files_in
from tools.common import records
from tools.common.paths import BUILD, ROOT

STORED = ROOT / "tests" / "durations.json"
MEASURED = BUILD / "durations.json"  # of every test of the last run
RESULTS = BUILD / "results.json"  # of the last run: counts, and the ids that failed
GREEN = BUILD / "green.json"  # the digests of the sources at the last green full run
SLOW = 0.5  # seconds
SAMPLE = 2.0  # seconds that the quick run has for a slow test of each file
# A test that is not listed counts as slow only if it takes this many times as long, at the
# pace of the whole run, and does so twice: the machine may have been busy.
GROWN = 10
# The sources that a test depends on, by the words in its file. Browser tests use the kit.
AREAS = {name: [f"lib/{name}"] for name in "blocksim ptxsim kernellab livepage".split()}
AREAS |= {name: [f"lib/tiledattention/{name}"] for name in ("cpu", "gpu", "cluster")}
AREAS |= {
    "onlinesoftmax": ["lib/onlinesoftmax/*.py"],
    "figures": ["book/figures", "lib/livepage/figures"],
    "drills": ["book/drills", "lib/livepage/drills"],
    "rescaling": ["book/*.py"],
    "inventory": ["book/*.md", "book/inventory.yml"],
    "kernels": ["tests/kernels", "tools/kernels/gate.py"],
    "tools": ["tools"],
}
DEPENDS_ON = {
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
        for i, (seconds, test) in enumerate(sorted(tests))
        if i or seconds > SAMPLE
    }


# ---- what has changed


def current_digests() -> dict[str, str]:
    """Return the digest of each file that a test may depend on."""
    files = files_in(*(ROOT / name for name in ("lib", "book", "tools", "tests")))
    return {file.relative_to(ROOT).as_posix(): digest([file]) for file in files}


def changed_files() -> set[str]:
    """Return the files that differ from the last green full run, or from the commit."""
    if green := records.load(GREEN):
        now = current_digests()
        return {name for name in green | now if green.get(name) != now.get(name)}
    command = ["git", "status", "--porcelain", "--no-renames", "-uall", "-z"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    except OSError:  # no git
        return set()
    return {entry[3:] for entry in done.stdout.split("\0") if entry}


def dependencies(file: Path) -> list[str]:
    """Return the files and folders that a test file depends on, as globs from the root."""
    helpers, words, queue = set(), set(), {file}
    while queue:
        helpers.add(helper := queue.pop())
        text = helper.read_text("utf-8")
        words |= set(re.findall(r"\w+", text))
        names = re.findall(r"^(?:from|import) (\w+)", text, re.M)
        folders = (ROOT / "tests", helper.parent)
        modules = {folder / f"{name}.py" for folder in folders for name in names}
        queue |= {path for path in modules if path.exists()} - helpers
    if "browser" in file.parts or "html" in words:
        words |= DEPENDS_ON["browser"]
    areas = words & set(AREAS)
    areas |= {area for word in areas for area in DEPENDS_ON.get(word, ())}
    own = [helper.relative_to(ROOT).as_posix() for helper in helpers]
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
        if file.exists() and any(map(touches, dependencies(file)))
    }


# ---- what has grown


def grown(measured: dict[str, float], slow: dict[str, float]) -> list[str]:
    """Return the tests that took much longer than their limit, and are not listed."""
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


def pytest_configure() -> None:
    """Look for no garbage while tests are collected: that takes half of the time."""
    gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Look for garbage again, but not among the collected tests, which all stay."""
    gc.freeze()
    gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick", metavar="FILES", help="the quick run; of these files, all tests"
    )


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Deselect what the quick run leaves out, and start with the longest files."""
    slow, changed = stored(), config.getoption("--quick")
    if changed is not None:
        files = set(changed.split(","))
        out = left_out(slow, files) | marked(items, files)
        config.hook.pytest_deselected(items=[i for i in items if i.nodeid in out])
        items[:] = [item for item in items if item.nodeid not in out]
    if not config.getoption("--shuffle", None):
        longest_files_first(items, slow)


def marked(items: list[pytest.Item], changed: set[str]) -> set[str]:
    """Return the tests marked `slow`, but for those of changed files."""
    slow = {item.nodeid for item in items if item.get_closest_marker("slow")}
    return {test for test in slow if file_of(test) not in changed}


def longest_files_first(items: list[pytest.Item], slow: dict[str, float]) -> None:
    """Sort tests by the seconds of their file, which stays together.

    Between two tests of another file pytest would end a module's fixtures, among them
    browsers and clusters, and set them up again.
    """
    seconds: dict[str, float] = defaultdict(float)
    for item in items:
        seconds[file_of(item.nodeid)] += slow.get(item.nodeid, 0.0)
    items.sort(key=lambda item: -seconds[file_of(item.nodeid)])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write the counts, the ids that failed, and the seconds of each test's body.

    Fixtures are shared between tests: their seconds are left out.
    """
    stats = terminalreporter.stats
    failed, passed = stats.get("failed", []), stats.get("passed", [])
    bodies = [test for test in failed + passed if test.when == "call"]
    BUILD.mkdir(exist_ok=True)
    MEASURED.write_text(json.dumps({test.nodeid: test.duration for test in bodies}))
    results = {
        "passed": len(passed),
        "failed": [test.nodeid for test in failed + stats.get("error", [])],
        "skipped": len(stats.get("skipped", [])) + len(stats.get("xfailed", [])),
    }
    RESULTS.write_text(json.dumps(results), "utf-8")
