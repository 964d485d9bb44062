"""What readers might write for the loop of the drill `copy-loop`, and its verdict."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from livepage.drills import check
from livepage.drills.bank import find
from livepage.drills.values import as_code
from livepage.drills.words import word
from marking import name_of, run, run_small

DRILL = find("copy-loop")
LOOPS = yaml.safe_load(
    (Path(__file__).parents[1] / "data" / "copy_loops.yml").read_text("utf-8")
)
TEXT = """\
from numba import cuda, float32, int32, int64, uint32, uint64

{above}

@cuda.jit
def copy(K, V, sums, base):
    t = cuda.threadIdx.x
    k_tile = cuda.shared.array((KEYS, D), float32)
    v_tile = cuda.shared.array((KEYS, D), float32)
{loop}
    cuda.syncthreads()
    if t < D:
        total = float32(0)
        for j in range(KEYS):
            total += k_tile[j, t] * v_tile[j, t]
        sums[t] = total
"""


def kernel(entry: dict[str, str]) -> str:
    """Return the text of a kernel."""
    loop = "".join(f"    {line}" for line in entry.get("loop", "").splitlines(True))
    text = TEXT.format(above=entry.get("above", ""), loop=loop.rstrip())
    return entry.get("code", text)


def verdict(report: dict[str, Any]) -> str:
    """Return what a report says, in the words of the data file."""
    if report["passed"]:
        return "right"
    return report["word"] if report["fault"] != "element" else "no name"


def test_there_are_enough_of_both() -> None:
    assert len(LOOPS["right"]) >= 65 and len(LOOPS["wrong"]) >= 50


@pytest.mark.parametrize("name", LOOPS["right"])
def test_a_loop_that_keeps_the_rules_is_right(name: str) -> None:
    entry = LOOPS["right"][name]
    report = run(DRILL, kernel(entry))
    assert report["passed"], report
    if "estimate" in entry:
        [(_, *shown)] = report["score"]["rows"]
        assert shown == ["scoreEstimate", {"count": entry["estimate"]}]


@pytest.mark.parametrize("name", LOOPS["wrong"])
def test_a_rule_that_is_broken_is_told_with_its_line(name: str) -> None:
    entry = LOOPS["wrong"][name]
    text = kernel(entry)
    report = run(DRILL, text)
    assert verdict(report) == entry["verdict"], (report, name_of(DRILL, report))
    if "at" in entry:
        assert entry["at"] in text.splitlines()[report["slots"]["line"] - 1]
    if "because" in entry:
        assert report["slots"]["name"] == as_code(entry["because"])


EVERY = [(group, name) for group, loops in LOOPS.items() for name in loops]


def test_the_page_says_the_same() -> None:
    texts = [kernel(LOOPS[group][name]) for group, name in EVERY[::12]]
    for text, small in zip(
        texts, run_small([(DRILL, text) for text in texts]), strict=True
    ):
        large = run(DRILL, text)
        for part in ("word", "slots", "score"):
            assert small.get(part) == large.get(part), text


@pytest.mark.parametrize(("group", "name"), EVERY[::6])
def test_a_notebook_says_the_same(group: str, name: str, tmp_path: Path) -> None:
    file = tmp_path / "copies.py"
    text = kernel(LOOPS[group][name])
    file.write_text(text, "utf-8")
    names: dict[str, Any] = {"D": 64, "KEYS": 32, "THREADS": 128}
    exec(compile(text, file, "exec"), names)
    report, said = run(DRILL, text), str(check("copy-loop", names["copy"]))
    assert (word("right") in said) == report["passed"]
    if "at" in LOOPS[group][name]:
        assert word(report["word"], **report["slots"]) in said
