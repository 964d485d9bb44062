"""Builds the book, whose chapters run as tests, and runs the other tests.

    python -m tools.test [PYTEST OPTIONS]          the quick run: `make test`
    python -m tools.test --all [PYTEST OPTIONS]    every test: `make test-all`
    python -m tools.test --all --store             and stores which tests are slow

tools/testing/speeds.py decides which tests the quick run leaves out. The full run also
compiles the GPU kernels, in an environment of its own.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tools.build import HERE
from tools.check import shell_command
from tools.common import options, records
from tools.common.paths import BUILD, ROOT
from tools.kernels import excerpts, laboratory, tensor, tensor_steps
from tools.kernels import gate as kernels
from tools.testing import speeds

PYTEST = [sys.executable, "-m", "pytest", "-p", "tools.testing.speeds", "-q"]
NONE_RAN = "0 passed, 1 failed, 0 skipped"


def command_for(test: str) -> str:
    """Return the command line that runs one test alone."""
    return shell_command([sys.executable, "-m", "pytest", "-n0", test])


def build(everything: bool) -> list[str]:
    """Build the book and, for the full run, compile the kernels; return complaints."""

    def compile_kernels() -> list[str]:
        return [
            *kernels.gate(),
            *excerpts.gate(),
            *laboratory.gate(),
            *tensor.gate(),
            *tensor_steps.gate(),
        ]

    # One process renders the pages; the compiler uses the other core meanwhile.
    with ThreadPoolExecutor() as pool:
        complaints = pool.submit(compile_kernels if everything else list)
        if subprocess.call([sys.executable, "-m", "tools.build"], cwd=ROOT):
            return ["the book could not be built"]
        return complaints.result()


def test(arguments: list[str]) -> int:
    """Run the tests; return pytest's exit status."""
    command = [*PYTEST, "--durations=12"]
    command += ["-n", "3"]  # for two cores: one process often waits for its browser
    command += ["--dist", "worksteal"]  # no core idles while the other has a queue
    return subprocess.call([*command, *arguments], cwd=ROOT)


def grown() -> list[str]:
    """Return the tests that are slow, also alone, and not listed as slow."""
    slow = speeds.stored()
    suspects = speeds.grown(json.loads(speeds.MEASURED.read_text("utf-8")), slow)
    if not suspects:
        return []
    subprocess.call([*PYTEST, "-n0", *suspects], cwd=ROOT, stdout=subprocess.DEVNULL)
    again = json.loads(speeds.MEASURED.read_text("utf-8"))
    return speeds.grown(again, slow)


def slow_list(store: bool) -> list[str]:
    """Store the list of slow tests, or return the slow tests it lacks."""
    if store:
        print(f"\n{speeds.store()} slow tests are listed in {speeds.STORED.name}")
        return []
    slower = grown()
    if slower:
        print("\nNew slow tests; `python -m tools.test --all --store` lists them:")
        print(*slower, sep="\n  ")
    return slower


def summarize(
    results: dict[str, Any], slower: list[str], out: set[str], took: float
) -> None:
    """Print the tests that failed, and in the last lines how many ran."""
    failed = results["failed"]
    if failed:
        print("\nTo run a failed test alone:", *map(command_for, failed), sep="\n  ")
    chapters = len(HERE.chapters)
    print(f"\nThe {chapters} chapters ran and count as tests; {took:.0f} s")
    counts = results["passed"] + chapters, len(failed + slower), results["skipped"]
    print("{} passed, {} failed, {} skipped".format(*counts))
    if out:
        print("Slow tests were left out; `make test-all` runs them too")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every test")
    parser.add_argument("--store", action="store_true", help="store which are slow")
    own, arguments = parser.parse_known_args()
    start = time.perf_counter()
    # Without compiled modules each process would compile every test module anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if complaints := build(own.all):
        return options.report(complaints, NONE_RAN)
    changed = set() if own.all else speeds.changed_tests()
    out = set() if own.all else speeds.left_out(speeds.stored(), changed)
    quick = [] if own.all else [f"--quick={','.join(sorted(changed))}"]
    speeds.RESULTS.unlink(missing_ok=True)
    status = test([*quick, *arguments])
    if not speeds.RESULTS.exists():
        return options.report(["pytest stopped"], NONE_RAN)
    # Read at once: suspects that run again leave results of their own.
    results = json.loads(speeds.RESULTS.read_text("utf-8"))
    whole = own.all and not arguments
    slower = slow_list(own.store) if whole else []
    if whole and not status:
        records.store(speeds.GREEN, speeds.current_digests())
    took = time.perf_counter() - start
    name = "test-all" if own.all else "test"
    (BUILD / f"{name}.seconds").write_text(f"{took:.0f}\n", "utf-8")
    summarize(results, slower, out, took)
    return status or bool(slower)


if __name__ == "__main__":
    sys.exit(main())
