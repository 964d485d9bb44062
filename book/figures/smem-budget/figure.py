"""The budget: what a block of a kernel takes, and how many blocks fit at once.

Registers are as the compiler reported them (`make kernels`); the limits are published.

Prediction. Rung 2 on an A100, d = 64, 128 rows, 32 keys. You halve the tile to 16 keys,
so that a block takes half of the shared memory. How many more blocks fit at once? Why
wrong answers tempt. "Twice as many": half the memory, twice the blocks. "A few more":
something else may run out on the way. What settles it: that very state, where registers
had run out before; the table was never full.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from kernellab import devices, reports
from livepage.figures.spec import Choice, Numbers, Prediction, Spec, Values
from onlinesoftmax import costs

N = 8192  # tokens, for the bytes moved
MOST_SHARED = 48 * 1024  # bytes of shared memory that a block gets without asking
ARCHS = {"T4": "sm_75", "A100": "sm_80", "H100": "sm_90a"}
SIZES = {"kernel": ("tiled", "registers"), "d": (64, 128), "rows": (32, 64, 128),
         "tile": (16, 32, 64), "device": tuple(ARCHS)}  # fmt: skip
RESOURCES = ("threads", "blocks", "registers", "shared")
HALF = {"kernel": "tiled", "d": 64, "rows": 128, "tile": 16, "device": "A100"}


def found(state: Values) -> reports.Report:
    """What the compiler said about the kernel in this size."""
    tile = state["rows"], state["tile"]
    arch = ARCHS[state["device"]]
    return reports.stored(state["kernel"], state["d"], arch, tile=tile)


def limits(device: str) -> list[int]:
    """What a multiprocessor of a device holds, as its maker publishes it."""
    on = devices.multiprocessor(devices.gpu(device).capability)
    return [
        on.threads,
        on.blocks,
        on.registers,
        on.shared,
        on.shared_unit,
        on.shared_reserved,
    ]


def expected(state: Values) -> Values:
    """The compiler's figures and the lib's account of them."""
    report = found(state)
    moved = costs.tiled_traffic(N, state["d"], state["rows"], itemsize=4)
    numbers = {
        "shared": report.shared,
        "threads": report.threads,
        "moved": moved,
        "reads": costs.key_reads(N, state["rows"]),
        "fits": report.registers is not None,
    }
    if report.registers is None:
        return numbers | {"registers": 0, "at_once": 0}
    fit = report.occupancy
    share = fit.blocks * report.threads / limits(state["device"])[0]
    return numbers | {
        "registers": report.registers,
        "at_once": fit.blocks,
        "share": share,
        "allowed": [fit.limits[name] for name in RESOURCES],
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every size on every device, twice, since there are 108."""
    for _ in range(2):
        for values in product(*SIZES.values()):
            yield dict(zip(SIZES, values))


SPEC = Spec(
    controls=(
        Choice("kernel", "tiled", of=SIZES["kernel"]),
        Choice("rows", 128, of=SIZES["rows"]),
        Choice("tile", 32, of=SIZES["tile"]),
        Choice("d", 64, of=SIZES["d"]),
        Choice("device", "A100", of=SIZES["device"]),
        Numbers(
            "compiled",
            [
                found(dict(zip(SIZES, values))).registers or 0
                for values in product(*SIZES.values())
            ],
        ),
        Numbers("limits", sum(map(limits, ARCHS), [])),
    ),
    still={"kernel": "registers", "rows": 64, "tile": 32},
    prediction=Prediction(answer=2, shown_by=(HALF,) * 3),
    presets=(
        {"kernel": "tiled", "rows": 128, "tile": 32, "d": 64},
        {"kernel": "registers", "rows": 64, "tile": 32, "d": 64},
        {"kernel": "registers", "rows": 64, "tile": 32, "d": 128},
    ),
    constants={"N": N, "MOST_SHARED": MOST_SHARED, "SIZES": SIZES},
    expected=expected,
    states=states,
)
