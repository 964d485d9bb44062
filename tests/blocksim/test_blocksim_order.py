"""What the block simulator holds for ordered, against all pairs of accesses."""

import numpy as np
import pytest

from blocksim import load, run
from kernels import fuzz
from kernels.litmus import LITMUS
from kernels.oracle import Trace, racy


@pytest.mark.parametrize("name", LITMUS)
def test_a_race_is_where_nothing_orders_two_accesses(name: str) -> None:
    blocks, threads, source, expected = LITMUS[name]
    kernel, trace = load(source, "kernel"), Trace(threads)
    report = run(kernel, blocks, threads, *memory(source))
    told = {f.array for f in report.faults if f.kind in ("race", "barrier")}
    assert told == expected, [str(fault) for fault in report.faults]
    run(kernel, blocks, threads, *memory(source), trace=trace)
    races, benign = racy(trace)
    assert trace.reported == races and trace.benign - races == benign - races


def memory(source: str) -> list:
    x, y = np.zeros(16, np.int32), np.zeros(16, np.int32)
    return [x, y, np.zeros(2, np.uint32 if "inc" in source else np.int32)]


def test_the_numbers_are_those_of_the_first_order_of_blocks() -> None:
    """The second order looks for faults; nothing of it stays."""
    blocks, threads, source, _ = LITMUS["the block with the last ticket"]
    x, y, c = memory(source)
    assert run(load(source, "kernel"), blocks, threads, x, y, c)
    assert c.tolist() == [3, 0] and y.tolist() == [1] * 3 + [0] * 13


SEEDS = range(240)


def test_random_programs_have_the_races_of_all_pairs_and_no_others() -> None:
    assert not [said for said in map(fuzz.wrong, SEEDS) if said]


def test_random_programs_do_both() -> None:
    """Some race and some do not, or the test above says little."""
    races = [fuzz.judged(seed)[1] for seed in SEEDS]
    assert len(races) / 5 < sum(races) < len(races) * 4 / 5
