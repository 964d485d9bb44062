"""blocksim and ptxsim on the same kernels: one runs the source, the other what Numba made.

The kernels are those of tests/others, all of them and then with a barrier or a fence left
out, and the short programs of tests/kernels/litmus.py.
`python -m tools.kernels.agreement` makes the PTX again.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import blocksim
import ptxsim
from kernels.litmus import LITMUS, visible
from others import catalogue
from others.mutants import mutants
from tools.kernels import agreement, others, stored

CASES = catalogue.cases()
MUTATED = [name for name, case in CASES.items() if any(mutants(case))]
# What blocksim declines, by the key of its reason.
DECLINED = {"library": {"rsqrt_float32", "quantise"}, "views": {"two_unsized"}}
# Who finds the fault alone, and why the other does not.
ALONE = {
    "lookback_flags-19": "ptxsim",  # in blocksim's order no block sees a flag of 1
    "ring_buffer-24": "blocksim",  # in ptxsim's order the writer waits for later rounds
}
# Only the second order of blocks, which blocksim tries, comes to the race.
ONE_ORDER = {
    "a fence after the flag",
    "the block with the last number, whatever its ticket",
    "a barrier of the whole grid that one passes too early",
    "the last block by its number resets the counter",
}
PARTS = 8  # of the slow tests; the quick run takes one part


class Outcome(NamedTuple):
    """What a simulator says of a launch.

    Attributes
    ----------
    faulty : bool
    complaint : str
        What is wrong with the numbers, if there is no fault.
    benign : set of int
        The lines on which several threads store the same.
    said : str
    """

    faulty: bool
    complaint: str
    benign: set[int]
    said: str


def by_blocksim(function: Callable[..., None], launch: catalogue.Launch) -> Any:
    """Return the outcome, or the key of the reason for which it declines the kernel."""
    shape = launch.grid, launch.threads
    how = {"shared": launch.dynamic, "mode": "full", "turns": 20_000}
    report = blocksim.run(function, *shape, *launch.args, **how)
    faults = [fault for fault in report.faults if fault.kind != "float64"]
    if faults and faults[0].kind == "compile":
        return faults[0].declined
    benign = {note.line for note in report.notes if note.severity == "benign"}
    complaint = "" if faults else launch.complaint()
    return Outcome(bool(faults), complaint, benign, str(report))


def by_ptxsim(text: str, launch: catalogue.Launch) -> Outcome:
    roles = {"outputs": [*launch.outputs], "changed": [*launch.changed]}
    shape = {"threads": launch.threads, "dynamic": launch.dynamic}
    try:
        result = ptxsim.run(text, launch.grid, launch.args, **shape, **roles)
    except ptxsim.Fault as fault:
        return Outcome(True, "", set(), str(fault))
    benign = {note.source[1] for note in result.notes if note.severity == "benign"}
    return Outcome(False, launch.complaint(), benign, "")


def part(names: Any, number: int) -> list[str]:
    return [*names][number::PARTS]


@cache
def ptx() -> dict[str, dict[str, str]]:
    return agreement.read()[1]


@pytest.mark.parametrize("number", range(PARTS))
def test_both_give_the_right_numbers_and_find_no_fault(number: int) -> None:
    """A kernel that blocksim declines is declined for the reason that is listed."""
    _, texts = stored.read(others.STORED)
    for name in part(CASES, number):
        case = CASES[name]
        theirs = by_ptxsim(texts[name], case.made())
        assert not (theirs.faulty or theirs.complaint), (name, theirs)
        reason = next((key for key in DECLINED if name in DECLINED[key]), None)
        mine = by_blocksim(case.function, case.made())
        if reason or isinstance(mine, str):
            assert mine == reason, name
            continue
        assert mine[:3] == theirs[:3], (name, mine, theirs)


@pytest.mark.parametrize("number", range(PARTS))
def test_without_a_barrier_or_a_fence_both_find_a_fault_or_none_does(number) -> None:
    for kernel in part(MUTATED, number):
        case = CASES[kernel]
        for name, function in mutants(case):
            mine = by_blocksim(function, case.made())
            if isinstance(mine, str):
                assert kernel in DECLINED[mine], name
                continue
            theirs = by_ptxsim(ptx()[kernel][name], case.made())
            both = {"blocksim": mine, "ptxsim": theirs}
            finders = [who for who, outcome in both.items() if outcome.faulty]
            if name in ALONE:
                assert finders == [ALONE[name]], (name, both)
                continue
            assert len(finders) in (0, 2), (name, both)
            assert bool(mine.complaint) == bool(theirs.complaint), (name, both)
            assert finders or mine.benign == theirs.benign, (name, both)


def memory(source: str) -> tuple[Any, ...]:
    counters = np.zeros(512, "u4" if "inc" in source else "i4")
    return np.zeros(512, "i4"), np.zeros(512, "i4"), counters


def test_both_say_the_same_of_short_programs_about_order() -> None:
    for name, (blocks, threads, source, expected) in LITMUS.items():
        kernel = blocksim.load(visible(source), "kernel")
        report = blocksim.run(kernel, blocks, threads, *memory(source))
        assert bool(report.faults) == bool(expected), (name, report)
        args, text = memory(source), ptx()[agreement.LITMUS][name]
        launch = catalogue.Launch(
            blocks, threads, args, changed=dict.fromkeys(range(3))
        )
        outcome = by_ptxsim(text, launch)
        faulty = bool(expected) and name not in ONE_ORDER
        assert outcome.faulty == faulty, (name, outcome)


def test_the_stored_ptx_is_of_the_kernels_as_they_stand() -> None:
    index, texts = agreement.read()
    assert index["sources"] == agreement.sources(), f"stale: run `{agreement.COMMAND}`"
    names = {kernel: [name for name, _ in mutants(CASES[kernel])] for kernel in MUTATED}
    assert {kernel: [*texts[kernel]] for kernel in MUTATED} == names
    assert agreement.STORED.stat().st_size < 300_000


def test_no_exception_is_out_of_date() -> None:
    for reason, names in DECLINED.items():
        for name in names:
            assert by_blocksim(CASES[name].function, CASES[name].made()) == reason, name
    assert ALONE.keys() <= {
        name for kernel in MUTATED for name, _ in mutants(CASES[kernel])
    }
    assert ONE_ORDER <= LITMUS.keys()
