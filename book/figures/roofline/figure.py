"""Roofline: operations per byte against the two ceilings of a GPU, as published.

Prediction. An A100, 8,192 tokens, d = 64: the loop in blocks of 128 queries moves a
quarter of the bytes. In which format can it be four times as fast for that? Why wrong
answers tempt. "In both": a quarter of the bytes is a quarter. "Only in fp32": its numbers
are larger, so there is more to save. "In neither": the operations are the same. What
settles it: fp16, where both programs lie under the slope and one lies four times as high,
and fp32, where the flat part of the roof stops the loop.

No cache is in the count, and its words say so: a published rate lies above the slope.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from kernellab import devices
from livepage.figures.spec import Choice, Prediction, Spec, Values
from onlinesoftmax import costs

BYTES = {"fp16": 2, "fp32": 4}
ROWS = (16, 32, 64, 128, 256)
HALF, SINGLE = ({"format": format, "rows": 128} for format in BYTES)


def expected(state: Values) -> Values:
    """The lib's account, and the published rates."""
    n, d, rows = state["n"], state["d"], state["rows"]
    gpu, size = devices.gpu(state["gpu"]), BYTES[state["format"]]
    limits = getattr(gpu, state["format"]), gpu.bandwidth
    work = costs.flops(n, d)
    steps = costs.dense_steps(n, d, itemsize=size)
    loop = costs.tiled_traffic(n, d, rows, itemsize=size)
    times = (
        sum(costs.least_time(*step, *limits) for step in steps),
        costs.least_time(work, loop, *limits),
    )
    moved = costs.dense_traffic(n, d, itemsize=size), loop
    return {
        "peak": limits[0],
        "bandwidth": limits[1],
        "ridge": costs.ridge(*limits),
        "intensity": [costs.intensity(work, each) for each in moved],
        "rate": [work / each for each in times],
        "gain": times[0] / times[1],
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every GPU, format, width and block, and lengths that no block divides."""
    for gpu, format, d, rows in product(devices.names(), BYTES, (64, 128), ROWS):
        n = int(random.choice([1024, 8192, 65536]))
        yield {"gpu": gpu, "format": format, "n": n, "d": d, "rows": rows}
    for _ in range(130):
        yield {
            "gpu": str(random.choice(devices.names())),
            "format": str(random.choice(list(BYTES))),
            "n": int(random.integers(1, 5000)),
            "d": int(random.integers(1, 300)),
            "rows": int(random.choice(ROWS)),
        }


SPEC = Spec(
    controls=(
        Choice("gpu", "A100", of=tuple(devices.names())),
        Choice("format", "fp16", of=tuple(BYTES)),
        Choice("n", 8192, of=(1024, 8192, 65536)),
        Choice("d", 64, of=(64, 128)),
        Choice("rows", 32, of=ROWS),
    ),
    still=HALF,
    prediction=Prediction(answer=1, shown_by=(SINGLE, HALF, SINGLE, HALF)),
    expected=expected,
    states=states,
)
