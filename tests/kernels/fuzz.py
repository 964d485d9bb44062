"""Runs random kernels and compares the races told with those of all pairs."""

from functools import cache
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from blocksim import load, run
from kernels.grammar import wild
from kernels.oracle import Trace, racy
from kernels.rewritings import rewritten


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


LAST = "    z[cuda.grid(1)] = v * 10 + w\n"  # what a thread has read shows there


class Launched(NamedTuple):
    """What a launch gave: its trace, its faults, and its arrays."""

    trace: Trace
    faults: list
    numbers: list


def launched(
    source: str, launch: dict, shared: int = 0, mode: str = "race"
) -> Launched:
    """Run a program, and keep what it does."""
    trace = Trace(launch["threads"])
    shape, given = (launch["blocks"], launch["threads"]), arguments(launch)
    given.append(np.zeros(shape[0] * shape[1], np.int32))
    pair = [tuple(given[:2]), *given[2:]]
    report = run(
        load(source, "kernel"),
        *shape,
        *(pair if "def kernel(both" in source else given),
        mode=mode,
        trace=trace,
        shared=shared,
        negative="wraps",
    )
    return Launched(trace, report.faults, [array.tolist() for array in given])


@cache
def judged(seed: int) -> tuple[str, bool]:
    """What is wrong with the verdict on the program of a seed, and has it a race?

    The accesses of a program written otherwise are judged by those of its first form, so
    that a new way to reach an element is never its own witness.
    """
    source, launch = wild(seed)
    source = source.replace("(x, y, c)", "(x, y, c, z)") + LAST
    own = launched(source, launch)
    races, benign = racy(own.trace)
    apart = launch.get("apart", False)
    complaint = misjudged(own, races, benign, apart)
    if seed % 2 and not complaint:
        text, shared = rewritten(source, seed)
        again = launched(text, launch, shared)
        complaint = misjudged(again, races, benign, apart) or different(own, again)
        for mode in [] if complaint else ["full", "plain"]:
            numbers = own.numbers  # a launch with faults may end early in one mode only
            if own.faults:
                numbers = launched(source, launch, mode=mode).numbers
            if launched(text, launch, shared, mode).numbers != numbers:
                complaint = f"other numbers in mode {mode}"
    return complaint and f"seed {seed}: {complaint}", bool(races)


def different(own: Launched, again: Launched) -> str:
    """How a program written otherwise differs in what it does, or nothing."""
    pairs = zip_longest(own.trace.events, again.trace.events)
    for number, (one, other) in enumerate(pairs):
        if one != other:
            return f"event {number} is {other} in place of {one}"
    return "" if own.numbers == again.numbers else "other numbers"


def misjudged(found: Launched, races: set, benign: set, apart: bool) -> str:
    """What is wrong with a verdict, given the elements with a race and a benign one."""
    told = found.trace.reported
    met = [f for f in found.faults if f.kind in ("barrier", "barriers")]
    strange = [f for f in found.faults if f.kind not in ("race", "uninitialised")]
    strange = [f for f in strange if not (f in met and (apart or told))]
    if apart and not met:
        strange = ["threads that do not meet were not noticed"]
    if strange:
        return str(strange[0])
    if told != races:
        return f"missed {races - told}, false {told - races}"
    benign_told, benign = found.trace.benign - races, benign - races
    if benign_told != benign:
        return f"benign: missed {benign - benign_told}, false {benign_told - benign}"
    return ""


def wrong(seed: int) -> str:
    """What is wrong with the verdict on the program of a seed, or nothing."""
    return judged(seed)[0]
