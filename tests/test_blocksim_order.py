"""What the block simulator holds for ordered, against all pairs of accesses."""

import numpy as np
import pytest
from kernels import fuzz
from kernels.litmus import LITMUS
from kernels.oracle import Trace, racy

from onlinesoftmax.blocksim import load, run


@pytest.mark.parametrize("name", LITMUS)
def test_a_race_is_where_nothing_orders_two_accesses(name: str) -> None:
    blocks, threads, source, expected = LITMUS[name]
    c = np.zeros(2, np.uint32 if "inc" in source else np.int32)
    x, y = np.zeros(16, np.int32), np.zeros(16, np.int32)
    trace = Trace(threads)
    report = run(load(source, "kernel"), blocks, threads, x, y, c, trace=trace)
    told = {f.array for f in report.faults if f.kind in ("race", "barrier")}
    assert told == expected, [str(fault) for fault in report.faults]
    assert trace.reported == racy(trace)


SEEDS = range(240)


def test_random_programs_have_the_races_of_all_pairs_and_no_others() -> None:
    assert not [said for said in map(fuzz.wrong, SEEDS) if said]


def test_random_programs_do_both() -> None:
    """Some race and some do not, or the test above says little."""
    races = [fuzz.judged(seed)[1] for seed in SEEDS]
    assert len(races) / 5 < sum(races) < len(races) * 4 / 5
