"""Kernel drills: their files, their marks, and the same in a notebook."""

import os
import runpy
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import test_drills_code as programs

import marking
from blocksim import cuda, float32
from livepage.drills import notebook
from livepage.drills.bank import bank, read
from livepage.drills.entry import Drill
from livepage.drills.grade import is_unexplained
from livepage.drills.kind import hint_of as earned
from livepage.drills.kinds.code import cases as code
from livepage.drills.kinds.kernel import grader as kernel_grader
from livepage.drills.payload import payload

ROOT = Path(__file__).parents[2]
DRILL = read(Path(__file__).parents[1] / "kernels")["neighbour"]
KERNELS = [d for d in bank().values() if d.kind == "kernel"]
B = 4


def run(source: str, d: Drill = DRILL) -> dict:
    return marking.run(d, source)


# ---- launches

FIRST = {  # what a kernel asks for, and what it would be in the first block alone
    "cuda.grid(1)": "cuda.threadIdx.x",
    "cuda.grid(2)": "(cuda.threadIdx.x, cuda.threadIdx.y)",
    "cuda.blockIdx.x": "0",
    "cuda.blockIdx.y": "0",
}
ASKED = [(d.id, name) for d in KERNELS for name in FIRST if name in d.get("code")]


@pytest.mark.parametrize(("id", "name"), ASKED)
def test_a_kernel_that_takes_every_block_for_the_first_is_refused(
    id: str, name: str
) -> None:
    d = bank()[id]
    assert not run(d.get("code").replace(name, FIRST[name]), d)["passed"]


# ---- marks


def test_a_pass_brings_the_log_of_a_whole_launch_and_the_score() -> None:
    report = run(DRILL.get("code"))
    assert report["passed"]
    assert report["log"]["faults"] == [] and report["log"]["block"] == [4, 1]
    assert report["score"]["case"] == "ragged"
    assert scored(report, "Bytes") == {"bytes": 48, "ideal": 48, "times": [[1.0, 3]]}
    assert scored(report, "Shared") == {"bytes": 16}
    assert scored(report, "Precision") == {"line": None}


def scored(report: dict[str, Any], name: str) -> dict[str, Any]:
    """Return what a row of the score card is filled with."""
    rows = {row[0]: row[2] for row in report["score"]["rows"]}
    return rows[f"score{name}"]


def test_threads_that_write_the_same_number_are_on_the_card() -> None:
    said = {row[0]: row[1] for row in run(DRILL.get("code"))["score"]["rows"]}
    assert said["scoreRaces"] == "scoreNoRace"
    d = bank()["tiled-attention"]  # a thread without a row takes the last one
    clamped = d.get("code").replace("BR + t\n", "BR + t\n    i = min(i, n - 1)\n")
    said = {row[0]: row[1] for row in run(clamped, d)["score"]["rows"]}
    assert said["scoreRaces"] == "scoreSame"


def test_bytes_are_counted_as_the_kernel_moves_them() -> None:
    twice = DRILL.get("code").replace("tile[t] = x[i]", "tile[t] = max(x[i], x[i])")
    assert scored(run(twice), "Bytes")["bytes"] == 6 * 4 * (2 + 1)
    renamed = twice.replace("(x, y, n)", "(given, y, n)").replace("x[i]", "given[i]")
    assert scored(run(renamed), "Bytes")["bytes"] == 6 * 4 * (2 + 1)


def test_double_precision_is_on_the_card() -> None:
    wide = DRILL.get("code").replace("= x[i]", "= x[i] * 1.0")
    assert scored(run(wide), "Precision") == {"line": 10}


def test_a_right_kernel_may_still_move_too_much() -> None:
    d = Drill(DRILL.id, "kernel", "99-test.yml", {**DRILL.fields, "most": 1.25})
    assert run(DRILL.get("code"), d)["passed"]
    lavish = DRILL.get("code").replace("tile[t] = x[i]", "tile[t] = max(x[i], x[i])")
    report = run(lavish, d)
    assert (report["fault"], report["case"]) == ("traffic", None)  # all are right
    assert report["slots"] == {"bytes": 72, "ideal": 48, "most": 60}
    hasty = "y[i] = tile[(t + 1) % last]"
    wrong = lavish.replace(hasty, f"{hasty} if n < 11 else float32(0)")
    assert run(wrong, d)["word"] == "elementDiffers"


def test_a_right_kernel_may_still_leave_the_work_to_one_thread() -> None:
    share = "def share(x): return {'x': 1, 'y': 1}"
    d = Drill(DRILL.id, "kernel", "99-test.yml", {**DRILL.fields, "share": share})
    assert run(DRILL.get("code"), d)["passed"]
    greedy = DRILL.get("code").replace("    if i < n:\n        tile[t] = x[i]", (
        "    if t == 0:\n        for j in range(min(B, n - i)):\n"
        "            tile[j] = x[i + j]"
    ))  # fmt: skip
    report = run(
        greedy.replace("(x, y, n)", "(given, y, n)").replace("x[", "given["), d
    )
    slots = {"now": "0", "mine": 4, "array": "`given`", "most": 1, "all": 4}
    assert (report["fault"], report["case"]) == ("share", None)
    assert (report["word"], report["slots"]) == ("kernelReadsMore", slots)
    assert report["log"]["faults"] == []


def test_a_right_kernel_may_still_compute_in_double_precision() -> None:
    d = Drill(DRILL.id, "kernel", "99-test.yml", {**DRILL.fields, "single": True})
    assert run(DRILL.get("code"), d)["passed"]
    wide = DRILL.get("code").replace("= x[i]", "= x[i] * 1.0")
    report = run(wide, d)
    assert (report["fault"], report["case"]) == ("double", None)  # all are right
    assert (report["word"], report["slots"]) == ("kernelDouble", {"line": 10})
    assert report["log"]["faults"] == []
    wrong = run(wide.replace("(t + 1)", "(t - 1)"), d)
    assert wrong["word"] == "elementDiffers"


def test_the_same_mistake_in_another_layout_earns_its_hint_too() -> None:
    backwards = DRILL.get("code").replace("    cuda.syncthreads()\n", "")
    backwards = backwards.replace("tile[t]", "tile[B - 1 - t]")
    backwards = backwards.replace("tile[(t + 1)", "tile[B - 1 - (t + 1)")
    report = run(backwards)
    assert report["word"] == "raceEarly" and report["slip"] == 0


def test_the_barrier_is_blamed_and_not_the_race_that_follows_from_it() -> None:
    some = DRILL.get("code").replace(
        "    cuda.syncthreads()", "    if t < 2:\n        cuda.syncthreads()"
    )
    report = run(some)
    assert (report["word"], report["nudge"]) == ("kernelBarrier", "barrierForAll")
    assert not is_unexplained(report)
    twice = "    if t < 2:\n        cuda.syncthreads()\n    else:\n        cuda.syncthreads()"
    report = run(DRILL.get("code").replace("    cuda.syncthreads()", twice))
    assert (report["word"], report["nudge"]) == ("kernelBarriers", "barrierForAll")


def test_a_kernel_without_tiles_is_told_to_share() -> None:
    d = Drill(DRILL.id, "kernel", "99-test.yml", {**DRILL.fields, "most": 1.25})
    lavish = DRILL.get("code").replace("tile[t] = x[i]", "tile[t] = max(x[i], x[i])")
    assert "nudge" not in run(lavish, d)
    d = bank()["tiled-attention"]
    [without] = [
        programs.source(d.id, e)
        for e in programs.PROGRAMS[d.id]
        if e.get("code", "").count("values")
    ]
    report = run(without, d)
    assert (report["word"], report["nudge"]) == ("kernelTraffic", "notShared")


def test_a_number_that_is_none_is_told_so() -> None:
    undefined = DRILL.get("code").replace(
        "y[i] = tile", "y[i] = (math.inf - math.inf) * tile"
    )
    assert run("import math\n" + undefined)["nudge"] == "nan"
    assert run(DRILL.get("starter"))["nudge"] == "kernelNudge"


def test_every_mutant_earns_its_hint_and_a_fault_brings_its_log() -> None:
    for mutant, source in zip(DRILL.get("mutants"), code.mutants(DRILL), strict=True):
        report = run(source)
        assert earned(DRILL, report) == mutant["hint"], mutant["name"]
        if report["fault"] == "kernel":
            assert report["log"]["faults"][0] == report["fields"]


def test_a_place_that_nobody_wrote_is_told_apart_from_a_wrong_number() -> None:
    idle = DRILL.get("code").replace("y[i] = tile", "z = tile")
    assert run(idle)["word"] == "elementUnwritten"
    assert run(DRILL.get("starter"))["word"] == "elementDiffers"


@pytest.mark.parametrize(
    ("source", "fault", "line"),
    [
        ("x = (", "raised", 1),
        ("x = 1", "missing", None),
        ("def neighbour(x):\n    pass", "raised", None),
    ],
)
def test_what_is_no_kernel_is_named(source: str, fault: str, line: object) -> None:
    report = run(source)
    assert (report["fault"], report.get("line")) == (fault, line)


def test_a_loop_without_end_is_told_with_its_line() -> None:
    waits = "    while True:\n        cuda.syncthreads()\n"
    loops = "    while t >= 0:\n        t += 0\n"
    for body, said in ((waits, "come to a barrier"), (loops, "loops for ever")):
        text = DRILL.get("code").rstrip() + "\n" + body
        report = run(text)
        line = text[: text.index(body)].count("\n") + (2 if body == waits else 1)
        assert report["word"] == "kernelEndless" and said in report["slots"]["said"]
        assert report["slots"]["line"] == line


def test_what_only_the_simulator_declines_is_not_called_uncompilable() -> None:
    words = {"print(n)": "kernelDeclinedBut", "cuda.cg.this_grid()": "kernelDeclined",
             "zz": "kernelCompile"}  # fmt: skip
    for line, word in words.items():
        report = run(
            DRILL.get("code").replace("if i < n:", f"{line}\n    if i < n:", 1)
        )
        assert (report["word"], report["case"]) == (word, None)


def test_every_turn_of_a_thread_beats() -> None:
    make, _ = kernel_grader.defined(DRILL.get("code"), "neighbour")
    for case in payload(DRILL)["cases"]:
        beats = []
        kernel_grader.play(make, case, "", partial(beats.append, case))
        assert len(beats) >= 2 * 4 * case["grid"][0]


# ---- files

FAULTS = {
    "oracle": ({"oracle": "def oracle(x): return {'z': x}"}, r"expected \['y'\]"),
    "launch": ({"launch": "def start(x): pass"}, "expected a function launch"),
    "random": ({"random": 3}, "expected a function examples"),
    "share": (
        {"share": "def share(x): return {'X': 1}"},
        r"\['x', 'y', 'n'\], got \['X'",
    ),
    "mutants": ({"mutants": [{"name": "m", "hint": "h", "change": {"zz": ""}}]}, "zz"),
    "code": ({"code": DRILL.get("starter")}, "does not compute what `oracle` expects"),
}
RIGHT = {"name": "right", "hint": "h", "code": DRILL.get("code")}


@pytest.mark.parametrize("field", FAULTS)
def test_a_fault_in_a_file_is_named(field: str) -> None:
    change, message = FAULTS[field]
    faulty = Drill(DRILL.id, "kernel", "99-test.yml", {**DRILL.fields, **change})
    with pytest.raises(ValueError, match=f"99-test.yml.*'{field}'.*{message}"):
        payload(faulty)


def test_a_mutant_that_is_right_is_named() -> None:
    faulty = Drill(DRILL.id, "kernel", "t.yml", {**DRILL.fields, "mutants": [RIGHT]})
    with pytest.raises(ValueError, match="'mutants': 'right' passes every case"):
        payload(faulty)


@pytest.mark.parametrize("d", KERNELS, ids=lambda d: d.id)
def test_a_prompt_says_how_much_shared_memory_has_to_do(d: Drill) -> None:
    prompt = " ".join(d.get("prompt").split())
    assert ("shared" in d.fields) == ("bytes of shared memory must be enough" in prompt)
    assert "shared" not in d.fields or f"{d.get('shared')} bytes of" in prompt


@pytest.mark.parametrize("d", KERNELS, ids=lambda d: d.id)
def test_launches_of_the_bank_are_small_enough_for_a_phone(d: Drill) -> None:
    for case in payload(d)["cases"]:
        assert case["block"][0] * case["block"][1] <= 64, case["name"]
        given = [kernel_grader.argument(*arg[1:]) for arg in case["args"]]
        sizes = [len(a) for a in given if isinstance(a, list)]
        assert max(sizes) <= 64, case["name"]


# ---- in a notebook


@cuda.jit
def neighbour(x, y, n):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile = cuda.shared.array(B, float32)
    if i < n:
        tile[t] = x[i]
    cuda.syncthreads()
    last = min(B, n - cuda.blockIdx.x * B)
    if i < n:
        y[i] = tile[(t + 1) % last]


@cuda.jit
def forgetful(x, y, n):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile = cuda.shared.array(B, float32)
    if i < n:
        tile[t] = x[i]
        y[i] = tile[(t + 1) % min(B, n - cuda.blockIdx.x * B)]


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(notebook, "find", lambda id: DRILL)
    return lambda kernel, **options: notebook.check("neighbour", kernel, **options)


def test_a_kernel_of_a_notebook_is_marked_on_the_simulator(check) -> None:
    verdict = check(neighbour)
    assert verdict and "48; 48 would do (× 1)" in verdict._repr_markdown_()
    verdict = check(forgetful)
    assert not verdict
    assert "Thread 0 reads `tile[1]` on line" in repr(verdict)
    with pytest.raises(ValueError, match='on: expected "simulator" or "device"'):
        check(neighbour, on="gpu")
    with pytest.raises(ValueError, match="expects a kernel, got int 3"):
        check(3)


@pytest.mark.parametrize("d", KERNELS, ids=lambda d: d.id)
def test_a_starter_left_as_it_is_gets_a_verdict(d: Drill, tmp_path: Path) -> None:
    file = tmp_path / "cell.py"
    file.write_text(d.get("starter").replace("from numba", "from blocksim"))
    space = runpy.run_path(str(file))
    verdict = notebook.check(d.id, space[d.get("function")])
    assert not verdict and "None" not in repr(verdict)


ON_NUMBAS_SIMULATOR = """
import linecache
import sys
sys.path[:0] = ["tests", "tests/livepage"]
import rescaling
import test_drills_kernel as t
from livepage.drills import notebook

notebook.find = lambda id: t.DRILL
space = {"B": 4}
for source in (t.DRILL.get("code"), t.DRILL.get("starter")):
    linecache.cache["cell"] = len(source), None, source.splitlines(True), "cell"
    exec(compile(source, "cell", "exec"), space)
    print(bool(notebook.check("neighbour", space["neighbour"], on="device")))

from livepage.drills.kinds.kernel import grader as kernel_grader
kernel_grader.grade = lambda *_: {"passed": True}  # only a device shows it
print(bool(notebook.check("neighbour", space["neighbour"], on="device")))
"""


def test_the_same_kernel_runs_on_numbas_simulator() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", ON_NUMBAS_SIMULATOR],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
    )
    assert answer.stdout.split() == ["True", "False", "False"], answer.stderr
