"""The ladder: what each rung reads, takes and leaves room for; times if there are any.

Registers are as the compiler reported them (`make kernels`), times as `make gpu` stored
them; where none are stored the figure says so.

Prediction. Rung 3 follows rung 2. At d = 64, does it move fewer bytes from global
memory? Why wrong answers tempt. "Yes": a later rung has to be better, and bytes were
what rung 2 was about. "As many": both share tiles in blocks. What settles it: the first
panel, where its blocks have 64 rows, not 128, and each key is read twice as often. What
falls is the second panel.
"""

import json
from collections.abc import Iterator
from itertools import product

import numpy as np

from livepage import book
from livepage.figures import registry
from livepage.figures.spec import Choice, Numbers, Prediction, Spec, Toggle, Values
from onlinesoftmax import costs, devices
from onlinesoftmax.gpu import Build, reports
from onlinesoftmax.gpu.ladder import LADDER

WIDTHS = (64, 128)
RUNGS = ("naive", "tiled", "registers")  # those the figure compares
BUDGET = registry.module("smem-budget")
ARCHS, N = BUDGET.ARCHS, BUDGET.N  # both figures speak of the same GPUs and length
LENGTH = 4096  # tokens, of the times that are shown


def measured(d: int, device: str) -> list[float]:
    """TFLOP/s of each rung on a device, in fp32, all keys seen; 0 if not measured."""
    rates = dict.fromkeys(RUNGS, 0.0)
    wanted = LENGTH, d, "float32", False
    for file in sorted(book.current().data.glob("gpu-*.json")):
        record = json.loads(file.read_text("utf-8"))
        rows = record["rows"] if device in record["machine"] else []
        for rung, n, width, dtype, causal, _, rate in rows:
            if rung in rates and (n, width, dtype, causal) == wanted:
                rates[rung] = rate
    return list(rates.values())


def rows_per_read(rung: str, block_q: int) -> int:
    """Return how many rows make use of a key once it is read from global memory."""
    return block_q if LADDER[rung].has_tiles else 1


def row(rung: str, d: int, device: str) -> list[int]:
    """What the figure's script is given of one kernel."""
    report = reports.stored(rung, d, ARCHS[device])
    most = devices.multiprocessor(devices.gpu(device).capability).threads
    at_once = report.occupancy.blocks * report.threads
    return [
        rows_per_read(rung, report.block_q),
        report.block_k,
        report.registers,
        report.spills,
        at_once,
        most,
    ]


def expected(state: Values) -> Values:
    """The compiler's figures and the lib's account of them."""
    d = state["d"]
    found = [reports.stored(rung, d, ARCHS[state["device"]]) for rung in RUNGS]
    return {
        "reads": [
            costs.key_reads(N, rows_per_read(each.rung, each.block_q)) for each in found
        ],
        "per_product": [Build.shipped(rung, d).reads_per_product for rung in RUNGS],
        "registers": [each.registers for each in found],
        "spills": [each.spills for each in found],
        "share": [each.occupancy.share for each in found],
        "rates": measured(d, state["device"]),
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every width and device there is, again and again, with and without rung 3."""
    for _ in range(34):
        for d, device in product(WIDTHS, ARCHS):
            yield {"d": d, "device": device, "third": bool(random.integers(2))}


SPEC = Spec(
    controls=(
        Choice("d", 64, of=WIDTHS),
        Choice("device", "A100", of=tuple(ARCHS)),
        Toggle("third"),
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
    still={"third": True},
    prediction=Prediction(answer=2, shown_by=({"d": 64, "third": True},) * 3),
    constants={"N": N, "WIDTHS": WIDTHS, "DEVICES": tuple(ARCHS)},
    expected=expected,
    states=states,
)
