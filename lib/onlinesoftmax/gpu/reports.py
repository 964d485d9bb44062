"""What the compiler made of each kernel: stored, so that pages and figures can show it.

`make kernels` compiles every kernel for every architecture, by the way of a launch
(LTO), and writes `book/data/kernels.json`; no GPU is needed for that, and none runs.
"""

import json
from functools import cache
from typing import Any, NamedTuple

from onlinesoftmax import costs
from onlinesoftmax.devices import multiprocessor
from onlinesoftmax.measurements import folder

ARCHS = ("sm_75", "sm_80", "sm_90a")
DTYPES = ("float32", "float16")
# A query and an output of 128 numbers each are more than a thread's 255 registers.
MAY_SPILL = (("naive", 128), ("tiled", 128))


class Report(NamedTuple):
    """What the compiler says about one kernel in one size on one architecture.

    Attributes
    ----------
    rung, d, dtype, arch, block_q, block_k
        Which kernel; `dtype` is that of q, k, v in memory.
    threads : int
        Of a block.
    registers : int or None
        Of a thread; None if the kernel does not fit at all.
    spills : int or None
        Bytes of what did not fit in registers, written to memory and read back: each
        such place in the code counts once, however often it is passed.
    shared : int
        Bytes of shared memory of a block.
    float64, local : int
        How many instructions of double precision, and on local arrays in memory.
    """

    rung: str
    d: int
    dtype: str
    arch: str
    block_q: int
    block_k: int
    threads: int
    registers: int | None
    spills: int | None
    shared: int
    float64: int
    local: int

    @property
    def occupancy(self) -> costs.Occupancy:
        """Return how many blocks fit on a multiprocessor, and why not more."""
        on = multiprocessor(capability(self.arch))
        return costs.occupancy(self.threads, self.registers or 255, self.shared, on)

    def faults(self) -> list[str]:
        """Return what a kernel that ships may not do."""
        if self.registers is None:
            return [f"{self.shared} bytes of shared memory: more than a block has"]
        found = {
            "float64 instructions": self.float64,
            "local arrays in memory": self.local,
            "bytes spilled": 0 if (self.rung, self.d) in MAY_SPILL else self.spills,
        }
        return [f"{count} {what}" for what, count in found.items() if count]


def capability(arch: str) -> str:
    """Return the compute capability of an architecture.

    Examples
    --------
    >>> capability("sm_90a")
    '9.0'
    """
    digits = arch.removeprefix("sm_").rstrip("a")
    return f"{digits[:-1]}.{digits[-1]}"


def stored(
    rung: str,
    d: int,
    arch: str,
    *,
    dtype: str = "float32",
    tile: tuple[int, int] | None = None,
) -> Report:
    """Return what `make kernels` found: a kernel as it ships, or in another tile."""
    for report in all_stored():
        asked = report[:4] == (rung, d, dtype, arch)
        if asked and tile in (None, (report.block_q, report.block_k)):
            return report
    raise ValueError(
        f"rung, d, arch, dtype, tile: nothing stored for {rung!r}, {d},"
        f" {arch!r}, {dtype!r}, {tile}"
    )


def all_stored() -> list[Report]:
    """Return every stored report; of each kernel first the size that ships."""
    return [Report(*row) for row in _file()["rows"]]


def versions() -> dict[str, str]:
    """Return what the kernels were compiled with."""
    return _file()["versions"]


@cache
def _file() -> dict[str, Any]:
    content = json.loads((folder() / "kernels.json").read_text("utf-8"))
    if tuple(content["columns"]) != Report._fields:
        raise ValueError(
            "kernels.json: its columns are not those of a Report: run `make kernels`"
        )
    return content
