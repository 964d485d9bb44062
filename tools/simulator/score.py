"""How many of numba-cuda's own tests pass on blocksim, and on Numba's simulator.

    python -m tools.simulator.score            run all, store the score
    python -m tools.simulator.score FILE …     run some test files, print what fails

It installs numba-cuda in an environment of its own, whose tests lie beside it, and runs
each file under both simulators; what Numba's simulator skips is not skipped. A test counts
if it launches a kernel and one of the two passes it. The score is stored in
tests/blocksim/score.json, with the reasons why blocksim fails tests; its README shows it.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from tools.common.environments import fresh, python_of, variables
from tools.common.paths import BUILD, ROOT

STORED = ROOT / "tests" / "blocksim" / "score.json"
README = ROOT / "lib" / "blocksim" / "README.md"
FOLDER = BUILD / "score"
PACKAGES = ("numba-cuda[cu12]==0.30.4", "numba==0.68.1", "pytest", "filecheck", "cffi")
SIMULATORS = ("cudasim", "blocksim")
# Kernels that Numba makes itself, for ufuncs and for a library, and what is written to
# files: caches and debug information.
LEFT_OUT = ("test_ufuncs", "test_libdevice", "test_caching", "test_debug")
# What stops a test, in plain words, and how the message is known.
REASONS = {
    "complex numbers": r"complex|\dj as an argument",
    "kernels made by `exec`, whose text cannot be found": "whose text Python does not find",
    "records": "records",
    "a float as the index of an atomic": "an index is a whole number, not float",
    "cooperative groups": r"cuda\.cg",
    "memory that the test itself reads unwritten": "which nobody has written",
    "a race of the test itself": "with no barrier between",
    "recursion": "calls itself",
    "`overload`, and other extensions of the compiler": "nothing that a kernel can use",
    "texts, bytes and dates": r"elements of type (\|S|<U|datetime)",
    "`reshape` and `view`": "(reshape|view) of an array",
    "random numbers": "xoroshiro|random",
}
OTHERS = "others"
MOST = 10  # reasons that the README names
WORDS = """\
How much of Numba that is, numba-cuda's own tests say: of the {tests} that launch a kernel
and pass on one of the simulators, blocksim passes {blocksim} ({percent:.0f} %), and Numba's
own simulator {cudasim}. Those that both pass take blocksim {seconds[blocksim]:g} s, and
Numba's simulator {seconds[cudasim]:g} s; the median of their ratios is {median_ratio:g}
(`python -m tools.simulator.score`, {date}).
"""
SECONDS = 300  # for a file
LEAST = 0.001  # seconds that a test takes: no row knows less
WORKERS = 2


class Row(NamedTuple):
    """What became of a test under one simulator."""

    test: str
    outcome: str  # "pass", "skip", "fail"
    seconds: float
    launches: int
    reason: str


def run(python: Path, simulator: str, name: str) -> list[Row]:
    """Run a test file under a simulator."""
    command = [python, "-m", "tools.simulator.numba_tests", simulator, name]
    environment = variables() | {"NUMBA_ENABLE_CUDASIM": "1"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, env=environment
        )
        said = done.stdout
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"").decode()
    lines = [line[4:] for line in said.splitlines() if line.startswith("ROW ")]
    return [Row(*json.loads(line)) for line in lines]


def files(python: Path) -> list[str]:
    """Return the names of numba-cuda's test files."""
    where = "import numba.cuda.tests.cudapy as t; print(t.__path__[0])"
    found = subprocess.run(
        [python, "-c", where], capture_output=True, text=True, check=True,
        env=variables() | {"NUMBA_ENABLE_CUDASIM": "1"},
    )  # fmt: skip
    names = [path.stem for path in Path(found.stdout.strip()).glob("test_*.py")]
    return sorted(name for name in names if not name.startswith(LEFT_OUT))


def table(python: Path, names: list[str]) -> dict[str, dict[str, Row]]:
    """Run files under both simulators; return the rows by test and simulator."""
    found: dict[str, dict[str, Row]] = {}
    jobs = [(simulator, name) for name in names for simulator in SIMULATORS]
    with ThreadPoolExecutor(WORKERS) as pool:
        for (simulator, _), rows in zip(
            jobs, pool.map(lambda j: run(python, *j), jobs)
        ):
            for row in rows:
                found.setdefault(row.test, {})[simulator] = row
    return found


def counted(rows: dict[str, dict[str, Row]]) -> dict[str, dict[str, Row]]:
    """Return the tests that launch a kernel, and that one of the simulators passes."""
    return {
        test: both
        for test, both in rows.items()
        if any(row.outcome == "pass" for row in both.values())
        and any(row.launches for row in both.values())
    }


def passed(rows: dict[str, dict[str, Row]], simulator: str) -> int:
    """Return how many tests a simulator passes."""
    return sum(both[simulator].outcome == "pass" for both in rows.values()
               if simulator in both)  # fmt: skip


def why(reason: str) -> str:
    """Return the plain words for a reason; what has none is one of the others."""
    return next((w for w, part in REASONS.items() if re.search(part, reason)), OTHERS)


def score(rows: dict[str, dict[str, Row]]) -> dict[str, Any]:
    """Return the score: in all, by file, by reason, and the times of what both pass."""
    tests = counted(rows)
    by_file: dict[str, dict[str, dict[str, Row]]] = {}
    for test, both in tests.items():
        by_file.setdefault(test.split(".")[0], {})[test] = both
    both_pass = [
        both for both in tests.values()
        if all(s in both and both[s].outcome == "pass" for s in SIMULATORS)
    ]  # fmt: skip
    failing = [both.get("blocksim") for both in tests.values()]
    reasons = Counter(why(r.reason) for r in failing if r and r.outcome != "pass")
    return {
        "tests": len(tests),
        **{simulator: passed(tests, simulator) for simulator in SIMULATORS},
        "seconds": {
            simulator: round(sum(both[simulator].seconds for both in both_pass), 1)
            for simulator in SIMULATORS
        },
        "median_ratio": round(
            median(
                max(both["blocksim"].seconds, LEAST)
                / max(both["cudasim"].seconds, LEAST)
                for both in both_pass
            ),
            2,
        ),
        "files": {
            name: [len(part), *(passed(part, simulator) for simulator in SIMULATORS)]
            for name, part in sorted(by_file.items())
        },
        "reasons": dict(reasons.most_common()),
    }


def words(found: dict[str, Any]) -> str:
    """Return what the README says of a score."""
    first = [row for row in found["reasons"].items() if row[0] != OTHERS][:MOST]
    rest = found["tests"] - found["blocksim"] - sum(tests for _, tests in first)
    table = "".join(f"| {w} | {tests} |\n" for w, tests in [*first, (OTHERS, rest)])
    said = WORDS.format(**found, percent=100 * found["blocksim"] / found["tests"])
    return said + "\n| what stops the others | tests |\n|---|---|\n" + table


def put(text: str, what: str, said: str) -> str:
    """Return a README with new words between two marks, of the score or the projects."""
    begin, end = f"<!-- the {what} -->\n", f"<!-- end of the {what} -->\n"
    before, _, rest = text.partition(begin)
    return before + begin + said + end + rest.partition(end)[2]


def main() -> int:
    """Run the tests; store the score, or print what fails in some files."""
    names = sys.argv[1:]
    python = python_of(FOLDER)
    if not python.exists():
        python = fresh(FOLDER, *PACKAGES)
    rows = table(python, names or files(python))
    found = score(rows)
    for test, both in sorted(counted(rows).items()) if names else ():
        mine = both.get("blocksim")
        if mine is None or mine.outcome != "pass":
            print(f"  {test}: {mine.reason[:200] if mine else 'not run'}")
    print(
        "  {tests} tests: blocksim {blocksim}, Numba's simulator {cudasim}".format(
            **found
        )
    )
    if not names:
        head = {
            "what": "numba-cuda's own tests on blocksim and on Numba's simulator",
            "packages": PACKAGES,
            "date": datetime.now(UTC).date().isoformat(),
            "command": "python -m tools.simulator.score",
        }
        STORED.write_text(json.dumps(head | found, indent=1) + "\n", "utf-8")
        text = put(README.read_text("utf-8"), "score", words(head | found))
        README.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
