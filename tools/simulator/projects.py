"""How public projects' own CUDA tests do on blocksim, and on Numba's simulator.

    python -m tools.simulator.projects                   what there is, and where
    python -m tools.simulator.projects NAME FOLDER …     run them, store what became of it

FOLDER is a checkout of the project's commit: `git clone SOURCE FOLDER`, and in it
`git checkout COMMIT`. Nothing in it is changed. Its tests run under Numba's simulator, then
under `pytest --blocksim`. A test counts if it launches a kernel and Numba's simulator
passes it. tests/blocksim/projects.json keeps, of those, what blocksim made of each.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tools.common.environments import fresh, python_of
from tools.common.paths import ROOT
from tools.simulator.score import FOLDER, PACKAGES, README, SIMULATORS, put

STORED = ROOT / "tests" / "blocksim" / "projects.json"
BESIDE = Path(__file__).with_suffix("")  # the policies, and the plugin that counts
TABLE = """\
| | tests | pass | have a fault | declined | fail | blocksim | Numba's simulator |
|---|---|---|---|---|---|---|---|
"""
FAULT = "blocksim.faults.Fault: "
DECLINED = "blocksim: "


@dataclass(frozen=True)
class Project:
    """A project with CUDA tests.

    Attributes
    ----------
    source, commit : str
    tests : tuple of str
        The arguments of pytest; a name with a star is one of several files.
    packages : tuple of str
        What the tests need beside Numba and pytest.
    paths : tuple of str
        Folders of the checkout that Python imports from.
    policy : bool
        Is there a policy, NAME.toml?
    lacking : tuple of str
        Names of numba.cuda that it uses and Numba's simulator has not: it gets them, since
        it passes no test without them.
    """

    source: str
    commit: str
    tests: tuple[str, ...]
    packages: tuple[str, ...] = ()
    paths: tuple[str, ...] = (".",)
    policy: bool = False
    lacking: tuple[str, ...] = ()


PROJECTS = {
    "stumpy": Project(
        "https://github.com/stumpy-dev/stumpy",
        "60283ff60ecc0ed8ac0a98fab2aa4b06e3eb1987",
        ("tests/test_gpu*.py",),
        ("scipy", "pandas", "polars-lts-cpu"),
        policy=True,
    ),
    "cubie": Project(
        "https://github.com/ccam80/cubie",
        "0dfe92b4e59e834f54e261cfb77d7738abc62bbe",
        # As its own workflow for machines without a GPU, but in one process.
        ("-o", "addopts=--import-mode=importlib",
         "-m", "not nocudasim and not cupy and not specific_algos",
         "tests"),
        ("attrs", "sympy", "lxml", "networkx", "pandas", "Pint", "rdflib", "scipy"),
        paths=("src",),
        policy=True,
    ),
    "minitorch": Project(
        "https://github.com/minitorch/minitorch-module-3-larryzhang23",
        "799bb346f72366c2fbbed3b0663e1524c7222873",
        # Not those that launch blocks of 1024 threads by the thousand: they take Numba's
        # simulator half an hour and more.
        ("tests/test_tensor_general.py", "--hypothesis-seed=0",
         "-k", "practice or cuda and (create or args)"),
        ("hypothesis", "typing_extensions"),
        lacking=("is_cuda_array",),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """What became of a test under one simulator."""

    outcome: str  # "pass", "fault", "declined", "skip", "fail"
    seconds: float
    launches: int
    reason: str


def run(
    python: Path, name: str, folder: Path, simulator: str
) -> tuple[dict[str, Row], float]:
    """Run a project's tests under a simulator; return the rows, and the seconds."""
    project = PROJECTS[name]
    paths = [folder / path for path in project.paths]
    with tempfile.TemporaryDirectory() as made:
        report = Path(made) / "report.xml"
        command = [python, "-m", "pytest", "-q", "-p", "launches", "-p",
                   "no:cacheprovider", f"--junitxml={report}"]  # fmt: skip
        for each in project.tests:
            files = sorted(folder.glob(each)) if "*" in each else [each]
            command += map(str, files)
        if project.lacking:
            command += [f"--lacking={name}" for name in project.lacking]
        if simulator == "blocksim":
            # The plugin of this checkout, in place of one that is installed.
            command += ["-p", "no:blocksim", "-p", "blocksim.pytest_plugin"]
            command += ["--blocksim"]
            paths.append(ROOT / "lib")
            if project.policy:
                command += ["--blocksim-policy", BESIDE / f"{name}.toml"]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, [*paths, BESIDE])),
            "NUMBA_ENABLE_CUDASIM": "1",
            "HYPOTHESIS_STORAGE_DIRECTORY": made,
        }
        begun = time.monotonic()
        subprocess.run(command, cwd=folder, env=environment)
        return rows(report), time.monotonic() - begun


def rows(report: Path) -> dict[str, Row]:
    """Return the tests of a report in JUnit's format."""
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        outcome, reason = "pass", ""
        for kind in ("failure", "error", "skipped"):
            each = case.find(kind)
            if each is not None:
                message = each.get("message", "")
                # of an error, pytest writes: failed on setup with "…"
                reason = message.removeprefix('failed on setup with "')
                outcome = outcome_of(kind, reason)
        launches = [p.get("value") for p in case.iter("property")]
        seconds = float(case.get("time", 0))
        name = f"{case.get('classname')}.{case.get('name')}"
        found[name] = Row(outcome, seconds, int((launches or [0])[-1] or 0), reason)
    return found


def outcome_of(kind: str, reason: str) -> str:
    """Return what a failure or a skip is."""
    if kind == "skipped":
        return "declined" if reason.startswith(DECLINED) else "skip"
    return "fault" if reason.startswith(FAULT) else "fail"


def compared(theirs: dict[str, Row], mine: dict[str, Row]) -> dict[str, Any]:
    """Return what blocksim makes of the tests that count."""
    nothing = Row("fail", 0, 0, "did not run")
    tests = {
        name: (row, mine.get(name, nothing))
        for name, row in theirs.items()
        if row.outcome == "pass" and row.launches
    }
    both = [(a.seconds, b.seconds) for a, b in tests.values() if b.outcome == "pass"]
    others = {name: b for name, (_, b) in tests.items() if b.outcome != "pass"}
    outcomes = [b.outcome for _, b in tests.values()]
    further = [n for n, row in mine.items() if row.outcome == "pass" and row.launches
               and n in theirs and theirs[n].outcome != "pass"]  # fmt: skip
    return {
        "tests": len(tests),
        **{
            what: outcomes.count(what) for what in ("pass", "fault", "declined", "fail")
        },
        "only blocksim passes": len(further),
        "launches": sum(row.launches for row in mine.values()),
        "seconds of what both pass": {
            simulator: round(sum(each[at] for each in both), 1)
            for at, simulator in enumerate(SIMULATORS)
        },
        "median ratio": round(statistics.median(b / a for a, b in both if a), 3)
        if both
        else None,
        "not passed": {name: row.reason[:200] for name, row in others.items()},
    }


def versions(python: Path, packages: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of packages in an environment."""
    names = [package.split("[")[0].split("=")[0] for package in packages]
    code = f"import importlib.metadata as m; print(*map(m.version, {names!r}))"
    done = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=True
    )
    return dict(zip(names, done.stdout.split(), strict=True))


def store(name: str, result: dict[str, Any]) -> None:
    """Put a project's result into the file."""
    stored = json.loads(STORED.read_text("utf-8")) if STORED.exists() else {}
    head = {
        "what": "tests of public projects on blocksim and on Numba's simulator",
        "command": "python -m tools.simulator.projects NAME FOLDER",
    }
    projects = stored.get("projects", {}) | {name: result}
    stored = head | {"projects": dict(sorted(projects.items()))}
    STORED.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
    text = put(README.read_text("utf-8"), "projects", words(stored))
    README.write_text(text, "utf-8")


def words(stored: dict[str, Any]) -> str:
    """Return the table of the projects, as the README shows it."""
    table = TABLE
    for name, found in stored["projects"].items():
        mine, theirs = (found["seconds of what both pass"][s] for s in SIMULATORS[::-1])
        table += (
            f"| [{name}]({found['source']}) | {found['tests']} | {found['pass']} |"
            f" {found['fault']} | {found['declined']} | {found['fail']} |"
            f" {mine:.0f} s | {theirs:.0f} s |\n"
        )
    return table


def measure(name: str, folder: Path) -> dict[str, Any]:
    """Run a project's tests under both simulators, one after the other."""
    project = PROJECTS[name]
    python = python_of(FOLDER)
    if not python.exists():
        python = fresh(FOLDER, *PACKAGES)
    install = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    if project.packages:
        subprocess.run([*install, *project.packages], check=True)
    found = {
        simulator: run(python, name, folder, simulator) for simulator in SIMULATORS
    }
    return {
        "source": project.source,
        "commit": project.commit,
        "pytest": list(project.tests),
        "added to cudasim": list(project.lacking),
        **compared(found["cudasim"][0], found["blocksim"][0]),
        "seconds of all": {s: round(seconds, 1) for s, (_, seconds) in found.items()},
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "versions": {"python": platform.python_version()}
        | versions(
            python, ("numba", "numba-cuda", "numpy", "pytest", *project.packages)
        ),
    }


def main() -> int:
    """Run the projects that are named, or say which there are."""
    words = sys.argv[1:]
    if len(words) % 2 or set(words[::2]) - set(PROJECTS):
        print(__doc__)
        return 2
    for name, project in PROJECTS.items() if not words else ():
        print(f"  {name}: {project.source} at {project.commit}")
    for name, folder in zip(words[::2], words[1::2], strict=True):
        result = measure(name, Path(folder).resolve())
        if not result["tests"]:
            print(f"  {name}: Numba's simulator passes no test; nothing is stored")
            return 1
        store(name, result)
        print("  {tests} tests that cudasim passes: {pass} pass, {fault} have a fault,"
              " {declined} are declined, {fail} fail".format(**result))  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
