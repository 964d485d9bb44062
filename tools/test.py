"""Builds the book (its chapters run as tests), compiles the kernels, tests the rest.

    python -m tools.test [PYTEST OPTIONS]

The last line counts them all: `N passed, N failed, N skipped`.
"""

import os
import shlex
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools import excerpts, kernels, laboratory
from tools.build import ROOT, Book

BUILD = ROOT / "_build"


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


def main() -> int:
    start = time.perf_counter()
    # The pages are rendered by one process; the compiler has the other core meanwhile.
    with ThreadPoolExecutor() as beside:
        compiled = beside.submit(
            lambda: kernels.gate() + excerpts.gate() + laboratory.gate()
        )
        if subprocess.call([sys.executable, "-m", "tools.build"], cwd=ROOT):
            print("0 passed, 1 failed, 0 skipped")
            return 1
    if said := compiled.result():
        print("the kernels are not what they should be:", *said, sep="\n  ")
        print("0 passed, 1 failed, 0 skipped")
        return 1
    chapters = len(Book(ROOT, BUILD).chapters)
    report = BUILD / "tests.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "--durations=12"]
    command += ["-n", "3"]  # on two cores: often one of them waits for its browser
    command += ["--dist", "worksteal"]  # no core idles while the other has a queue
    command += [f"--junitxml={report}", *sys.argv[1:]]
    code = subprocess.call(command, cwd=ROOT)
    if not report.exists():
        print("0 passed, 1 failed, 0 skipped")
        return code or 1
    passed, failed, skipped = counts(report)
    if failed:
        print("\nOne that failed, alone:", *map(alone, failures(report)), sep="\n  ")
    took = time.perf_counter() - start
    (BUILD / "tests.seconds").write_text(f"{took:.0f}\n", "utf-8")
    print(
        f"\n{chapters} chapters ran and are among those that passed; {took:.0f} s in all"
    )
    print(f"{passed + chapters} passed, {failed} failed, {skipped} skipped")
    return code


if __name__ == "__main__":
    sys.exit(main())
