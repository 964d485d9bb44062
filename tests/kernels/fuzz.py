"""Runs random kernels and compares the races told with those of all pairs."""

from functools import cache
from typing import NamedTuple

import numpy as np

from blocksim import load, run
from kernels.grammar import viewed, wild
from kernels.oracle import Trace, racy


class Finding(NamedTuple):
    """What one program gave: the races told, those there are, its other faults."""

    told: set
    there: set
    benign_told: set  # of elements without a race
    benign: set
    faults: list
    apart: bool  # do its threads fail to meet, by design?


def arguments(launch: dict) -> list:
    """x, y and c, of which x and y may share memory."""
    size = launch["blocks"] * launch["threads"]
    pool = np.zeros(2 * size + 1, np.int32)
    y = {
        "apart": pool[size:-1],
        "same": pool[:size],
        "shifted": pool[1 : size + 1],
        "reversed": pool[:size][::-1],
    }[launch["alias"]]
    return [pool[:size], y, np.zeros(2, np.int32)]


def follow(seed: int) -> Finding:
    """Run the program of a seed, and look at it a second time."""
    source, launch = wild(seed)
    source = viewed(source, seed) if seed % 2 else source
    trace = Trace(launch["threads"])
    shape = launch["blocks"], launch["threads"]
    report = run(load(source, "kernel"), *shape, *arguments(launch), trace=trace)
    races, benign = racy(trace)
    apart = launch.get("apart", False)
    both = [found - races for found in (trace.benign, benign)]
    return Finding(trace.reported, races, *both, report.faults, apart)


@cache
def judged(seed: int) -> tuple[str, bool]:
    """What is wrong with the verdict on the program of a seed, and has it a race?"""
    told, there, benign_told, benign, faults, apart = follow(seed)
    met = [f for f in faults if f.kind in ("barrier", "barriers")]
    strange = [f for f in faults if f.kind not in ("race", "uninitialised")]
    strange = [f for f in strange if not (f in met and (apart or told))]
    if apart and not met:
        strange = ["threads that do not meet were not noticed"]
    if strange:
        return f"seed {seed}: {strange[0]}", bool(there)
    if told != there:
        return f"seed {seed}: missed {there - told}, false {told - there}", bool(there)
    if benign_told != benign:
        missed, false = benign - benign_told, benign_told - benign
        return f"seed {seed}: benign: missed {missed}, false {false}", bool(there)
    return "", bool(there)


def wrong(seed: int) -> str:
    """What is wrong with the verdict on the program of a seed, or nothing."""
    return judged(seed)[0]
