"""Builds the book, whose chapters run as tests, and tests the rest.

    python -m tools.test [PYTEST OPTIONS]          the quick run: `make test`
    python -m tools.test --all [PYTEST OPTIONS]    every test: `make test-all`
    python -m tools.test --all --store             and stores which tests are slow

Which tests the quick run leaves out is decided in tools/testing/speeds.py. The full run
also compiles the GPU kernels, in an environment of its own.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.build import ROOT, Book
from tools.common import records
from tools.kernels import excerpts, laboratory
from tools.kernels import gate as kernels
from tools.testing import speeds

BUILD = ROOT / "_build"
PYTEST = [sys.executable, "-m", "pytest", "-p", "tools.testing.speeds", "-q"]


def counts(report: Path) -> tuple[int, int, int]:
    """Passed, failed and skipped of a JUnit report."""
    suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
    total = sum(int(suite.get("tests", 0)) for suite in suites)
    failed = sum(
        int(suite.get("failures", 0)) + int(suite.get("errors", 0)) for suite in suites
    )
    skipped = sum(int(suite.get("skipped", 0)) for suite in suites)
    return total - failed - skipped, failed, skipped


def failures(report: Path) -> list[str]:
    """The ids of the tests that failed, as pytest takes them on its command line."""
    ids = []
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("failure") is None and case.find("error") is None:
            continue
        # A file that could not even be imported has its own name and no class.
        module = case.get("classname") or case.get("name", "")
        file = f"{module.replace('.', '/')}.py"
        ids.append(f"{file}::{case.get('name')}" if case.get("classname") else file)
    return ids


def alone(test: str) -> str:
    """The command line that runs one test."""
    python = os.path.relpath(sys.executable, ROOT)
    return shlex.join([python, "-m", "pytest", "-n0", test])


def stopped(*said: str) -> int:
    """Say why no test ran; return the exit status."""
    print(*said, "0 passed, 1 failed, 0 skipped", sep="\n")
    return 1


def build(everything: bool) -> list[str]:
    """Build the book and, for the full run, compile the kernels; return complaints."""

    def compiled() -> list[str]:
        return (
            kernels.gate() + excerpts.gate() + laboratory.gate() if everything else []
        )

    # The pages are rendered by one process; the compiler has the other core meanwhile.
    with ThreadPoolExecutor() as beside:
        complaints = beside.submit(compiled)
        if subprocess.call([sys.executable, "-m", "tools.build"], cwd=ROOT):
            return ["the book could not be built"]
        return complaints.result()


def test(options: list[str]) -> int:
    """Run the tests; return pytest's exit status."""
    command = [*PYTEST, "--durations=12"]
    command += ["-n", "3"]  # on two cores: often one of them waits for its browser
    command += ["--dist", "worksteal"]  # no core idles while the other has a queue
    return subprocess.call([*command, *options], cwd=ROOT)


def grown() -> list[str]:
    """Return the tests that are slow, alone too, and not listed as slow."""
    slow = speeds.stored()
    suspects = speeds.grown(json.loads(speeds.MEASURED.read_text("utf-8")), slow)
    if not suspects:
        return []
    subprocess.call([*PYTEST, "-n0", *suspects], cwd=ROOT, stdout=subprocess.DEVNULL)
    again = json.loads(speeds.MEASURED.read_text("utf-8"))
    return speeds.grown(again, slow)


def slow_list(store: bool) -> list[str]:
    """Store the list of slow tests, or return those that are missing from it."""
    if store:
        print(f"\n{speeds.store()} slow tests are listed in {speeds.STORED.name}")
        return []
    slower = grown()
    if slower:
        print("\nNew slow tests; `python -m tools.test --all --store` lists them:")
        print(*slower, sep="\n  ")
    return slower


def summary(report: Path, slower: list[str], out: set[str], took: float) -> None:
    """Print the tests that failed, and in the last lines how many ran."""
    passed, failed, skipped = counts(report)
    if failed:
        print("\nOne that failed, alone:", *map(alone, failures(report)), sep="\n  ")
    chapters, failed = len(Book(ROOT, BUILD).chapters), failed + len(slower)
    print(f"\n{chapters} chapters ran and are among those that passed; {took:.0f} s")
    print(f"{passed + chapters} passed, {failed} failed, {skipped} skipped")
    if out:
        print(f"{len(out)} slow tests were left out; `make test-all` runs them too")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every test")
    parser.add_argument("--store", action="store_true", help="store which are slow")
    asked, options = parser.parse_known_args()
    start = time.perf_counter()
    if complaints := build(asked.all):
        return stopped(*complaints)
    changed = set() if asked.all else speeds.changed_tests()
    out = set() if asked.all else speeds.left_out(speeds.stored(), changed)
    quick = [] if asked.all else [f"--quick={','.join(sorted(changed))}"]
    report = BUILD / "tests.xml"
    report.unlink(missing_ok=True)
    code = test([f"--junitxml={report}", *quick, *options])
    if not report.exists():
        return stopped()
    whole = asked.all and not options
    slower = slow_list(asked.store) if whole else []
    if whole and not code:
        records.store(speeds.GREEN, speeds.now())
    took = time.perf_counter() - start
    name = "test-all" if asked.all else "test"
    (BUILD / f"{name}.seconds").write_text(f"{took:.0f}\n", "utf-8")
    summary(report, slower, out, took)
    return code or bool(slower)


if __name__ == "__main__":
    sys.exit(main())
