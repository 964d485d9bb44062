"""The ladder: what a pair of a query and a key costs on each rung, and a bound.

Instructions are those of the machine code, times how often they run (`make kernels`);
registers are the compiler's. Times are as `make gpu` stored them; where none are
stored, the figure says so.

Prediction. Rung 2 is rung 1 with tiles in shared memory. Of what does it need far less?
Why wrong answers tempt. "Instructions": it is the better kernel, so it should have less
to do. "Products": attention is the same sum, so nothing can be left out, but a saving
is expected of a better kernel. What settles it: the panels, where sectors fall to less
than a tenth, instructions by less than a half, and the products not at all.
"""

import json
from collections.abc import Iterator
from itertools import product

import numpy as np

from kernellab import banks, counts, devices, limits, reports
from livepage import book
from livepage.figures import registry
from livepage.figures.spec import Choice, Numbers, Prediction, Spec, Values
from livepage.measurements import Measurement
from tiledattention.gpu.ladder import LADDER, PORTABLE

WIDTHS = (64, 128)
RUNGS = tuple(name for name in PORTABLE if LADDER[name].then is None)
BUDGET = registry.module("smem-budget")
ARCHS = {name: BUDGET.ARCHS[name] for name in ("A100", "H100")}  # those counted
LENGTH = 4096  # tokens, of the times that are shown


def stored() -> list[Measurement]:
    """What `make gpu` has measured: a record for each GPU and for each way to reach it."""
    files = sorted(book.current().data.glob("gpu-*.json"))
    return [Measurement(**json.loads(file.read_text("utf-8"))) for file in files]


def measured(d: int, device: str) -> list[float]:
    """TFLOP/s of each rung on a device, in fp32, all keys seen; 0 if not measured.

    What the figure counts is CUDA's code. By WebGPU the same GPU runs other code.
    """
    found: dict[str, float] = {}
    for record in stored():
        if device in record.machine and record.backend.startswith("CUDA"):
            found |= rates(record, d, LENGTH)
    return [found.get(rung, 0.0) for rung in RUNGS]


def rates(record: Measurement, d: int, length: int) -> dict[str, float]:
    """TFLOP/s of what was timed at a length, in fp32, all keys seen."""
    wanted = [length, d, "float32", False]
    return {row[0]: row[6] for row in record.rows if row[1:5] == wanted}


def tables() -> list[Measurement]:
    """How fast each rung is on each GPU, a line for each length: what a chapter shows."""
    return [table(record) for record in stored()]


def table(record: Measurement) -> Measurement:
    """The table of one GPU: rows of 64 numbers in fp32, all keys seen."""
    lines = {
        n: rates(record, WIDTHS[0], n) for n in sorted({r[1] for r in record.rows})
    }
    ways = [rung for rung in LADDER if any(rung in found for found in lines.values())]
    rows = [
        [f"{n:,}", *(round(found[way], 1) if way in found else "–" for way in ways)]
        for n, found in lines.items()
    ]
    how = record.what.removeprefix("Milliseconds of one attention")
    what = (
        f"TFLOP/s of each rung, by the keys: one attention, d = {WIDTHS[0]}, fp32,{how}"
    )
    return record._replace(what=what, columns=["keys", *ways], rows=rows)


def counted(rung: str, d: int, device: str) -> counts.Counts:
    """What a rung executes for the pairs of a query and a key."""
    return counts.stored(rung, d, ARCHS[device])


def bound(rung: str, d: int, device: str) -> float:
    """The most of the peak that a rung can reach, by the clocks that it needs."""
    on = devices.multiprocessor(devices.gpu(device).capability)
    found = counted(rung, d, device)
    kinds = found.by_kind()
    products = kinds.get("fma", 0) + kinds.get("float", 0)
    waves = banks.least_wavefronts(found.wavefronts, kinds.get("shared", 0))
    least = limits.bound(
        found.warp_instructions,
        products,
        waves + found.requests,
        kinds.get("special", 0),
        on,
    )
    needed = 2 * d * found.pairs / on.fp32  # as if there were nothing but products
    return needed / least.clocks


def row(rung: str, d: int, device: str) -> list[float]:
    """What the figure's script is given of one kernel: for a pair, and of a thread."""
    found, report = counted(rung, d, device), reports.stored(rung, d, ARCHS[device])
    kinds = found.by_kind()
    return [
        found.sectors / found.pairs,
        found.wavefronts / found.pairs,
        found.a_pair(found.warp_instructions),
        found.a_pair(kinds.get("fma", 0)),
        bound(rung, d, device),
        report.registers or 0,
        report.occupancy.blocks * report.threads // devices.WARP,
    ]


def expected(state: Values) -> Values:
    """The stored counts and the lib's account of them."""
    rows = [row(rung, state["d"], state["device"]) for rung in RUNGS]
    names = ("sectors", "wavefronts", "instructions", "fma", "bound")
    found = dict(zip(names, zip(*rows, strict=True)))
    shares = [fma / all_ for fma, all_ in zip(found["fma"], found["instructions"])]
    return {name: list(values) for name, values in found.items()} | {
        "share": shares,
        "registers": [each[5] for each in rows],
        "warps": [each[6] for each in rows],
        "rates": measured(state["d"], state["device"]),
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every width and device there is, again and again, up to any rung."""
    for _ in range(50):
        for d, device in product(WIDTHS, ARCHS):
            upto = int(random.integers(1, len(RUNGS) + 1))
            yield {"d": d, "device": device, "upto": upto}


SPEC = Spec(
    controls=(
        Choice("d", 64, of=WIDTHS),
        Choice("device", "H100", of=tuple(ARCHS)),
        Choice("upto", 1, of=tuple(range(1, len(RUNGS) + 1))),
        Numbers(
            "compiled",
            [
                number
                for d, device, rung in product(WIDTHS, ARCHS, RUNGS)
                for number in row(rung, d, device)
            ],
        ),
        Numbers(
            "measured",
            [
                rate
                for d, device in product(WIDTHS, ARCHS)
                for rate in measured(d, device)
            ],
        ),
    ),
    still={"upto": len(RUNGS)},
    prediction=Prediction(answer=1, shown_by=({"d": 64, "upto": 2},) * 3),
    constants={
        "WIDTHS": WIDTHS,
        "DEVICES": tuple(ARCHS),
        "RUNGS": len(RUNGS),
        "WARPS": {
            device: devices.multiprocessor(devices.gpu(device).capability).threads
            // devices.WARP
            for device in ARCHS
        },
    },
    expected=expected,
    states=states,
)
