"""Marks an answer in CPython, or in MicroPython in Node, as the page's worker does."""

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import playwright

from livepage import cells
from livepage.drills import page
from livepage.drills.entry import Drill
from livepage.drills.kinds.code import grader
from livepage.drills.kinds.kernel import grader as kernel_grader
from livepage.drills.payload import payload

PRELUDE = "from math import exp, inf, sqrt\n"


@cache
def packed(drill: Drill) -> str:
    """Return a drill's payload as the page gets it; cached."""
    return json.dumps(payload(drill), allow_nan=False)


def run(
    drill: Drill, source: str, settled: Any = lambda report: None
) -> dict[str, Any]:
    """Return the report of an answer."""
    data = json.loads(packed(drill))
    marks = kernel_grader if drill.kind == "kernel" else grader
    function, fault = marks.defined(source, data["function"])
    if fault:
        return grader.fail(None, [], fault)
    if drill.kind == "kernel":
        play = kernel_grader.player(function, data["cases"])
    else:
        play = grader.player(data["drive"], function, data["cases"])
    slips = data["slips"]
    return marks.grade(play, data["cases"], lambda: slips, data["tolerance"], settled)


def name_of(drill: Drill, report: dict[str, Any]) -> str | None:
    """Return the name of the mistake that a report points to, if it does."""
    slip = report.get("slip")
    return None if slip is None else mistake(drill.get("mutants")[slip])


def mistake(mutant: dict[str, Any]) -> str:
    """Return the name of a mistake, the same one for CPython and MicroPython.

    Where CPython raises an error, MicroPython may continue with ∞. Such a mistake has two
    mutants, and only the suffix of the name differs.
    """
    return str(mutant["name"]).removesuffix(", without an error")


# ---- in MicroPython

DRIVER = Path(playwright.__file__).parent / "driver"
NODE = next((str(p) for p in DRIVER.glob("node*") if p.is_file()), shutil.which("node"))
VENDOR = Path(__file__).parents[1] / "lib" / "livepage" / "vendor" / "micropython"


def run_small(asked: list[tuple[Drill, str]]) -> list[dict[str, Any]]:
    """Return the reports of answers, marked by the page's worker in Node."""
    return in_node(
        [
            {**json.loads(packed(d)), "starter": d.get("starter"), "answer": source}
            for d, source in asked
        ]
    )


def in_node(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the reports of jobs, run by the page's worker in Node."""
    worker = page._source("page/worker.js")
    cut = [worker.index("let player"), worker.index("const sent")]
    graders = page._graders()
    simulator = page._simulator().split("=", 1)[1].rstrip(";\n ")
    job = {
        "loader": (VENDOR / "micropython.mjs").as_uri(),
        "wasm": str(VENDOR / "micropython.wasm"),
        "worker": worker[: cut[0]] + worker[cut[1] :],
        "world": re.findall(
            r'"(\w+)"', worker.split("const WORLD = ")[1].split("]")[0]
        ),
        "modules": {
            "code": graders,
            "kernel": graders | json.loads(simulator),
            "cell": graders | json.loads(simulator) | cells.modules(),
        },
        "sources": page._interpreters(),
        "jobs": jobs,
    }
    script = str(Path(__file__).with_name("micropython.mjs"))
    answer = subprocess.run(
        [NODE, script], input=json.dumps(job), capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr[-2000:]
    return json.loads(answer.stdout)
