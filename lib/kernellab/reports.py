"""What the compiler made of each kernel, stored in `kernels.json`.

`make kernels` compiles every kernel for every architecture, as a launch does (with
LTO), and writes that file. It takes no GPU.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from kernellab import limits
from kernellab.devices import multiprocessor

ARCHS = ("sm_75", "sm_80", "sm_90a", "sm_100", "sm_120")
DTYPES = ("float32", "float16", "bfloat16")


class Report(NamedTuple):
    """What the compiler says about one kernel in one size on one architecture.

    Attributes
    ----------
    rung, d, block_q, block_k
        The kernel and its size, as for a `Build`.
    dtype : str
        That of q, k, v and the output in memory.
    arch : str
        The architecture, such as "sm_80".
    threads : int
        Threads of a block.
    registers : int or None
        Registers of a thread; None if a block takes more shared memory than there is.
    spills : int or None
        Bytes that are written to memory and read back, because they do not fit in
        registers. An instruction in a loop counts once.
    shared : int
        Bytes of shared memory of a block.
    float64 : int
        How many instructions compute in double precision.
    local : int
        How many instructions read or write a local array that is in memory.
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
    def occupancy(self) -> limits.Occupancy:
        """How many blocks fit on a multiprocessor, and why not more."""
        on = multiprocessor(capability(self.arch))
        return limits.occupancy(self.threads, self.registers or 255, self.shared, on)

    def faults(self) -> list[str]:
        """Return what is wrong with a kernel that ships; empty if nothing is."""
        from tiledattention.gpu.ladder import Build  # only here: Numba takes its time

        if self.registers is None:
            return [f"{self.shared} bytes of shared memory: more than a block has"]
        build = Build(self.rung, self.d, self.block_q, self.block_k)
        found = {
            "float64 instructions": self.float64,
            "local arrays in memory": self.local,
            "bytes spilled": 0 if build.spills else self.spills,
        }
        return [f"{count} {what}" for what, count in found.items() if count]


def compiled_for(rung: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the architectures and the dtypes that a rung is compiled for."""
    from tiledattention.gpu.ladder import rung_named  # only here, as above

    found = rung_named(rung)
    least = 10 * found.capability[0] + found.capability[1]
    archs = [x for x in ARCHS if int(x.removeprefix("sm_").rstrip("a")) >= least]
    return tuple(archs), found.dtypes


def capability(arch: str) -> str:
    """Return the compute capability of an architecture.

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
    """Return a stored report.

    Parameters
    ----------
    rung : str
    d : int
    arch : str
        One of `ARCHS`.
    dtype : {"float32", "float16", "bfloat16"}
    tile : (int, int), optional
        `block_q` and `block_k`; those in which the rung ships, unless given.

    Returns
    -------
    Report
    """
    for report in all_stored():
        asked = report[:4] == (rung, d, dtype, arch)
        if asked and tile in (None, (report.block_q, report.block_k)):
            return report
    raise ValueError(
        f"rung, d, arch, dtype, tile: nothing stored for {rung!r}, {d},"
        f" {arch!r}, {dtype!r}, {tile}"
    )


def all_stored() -> list[Report]:
    """Return every stored report; the size in which a kernel ships comes first."""
    return [Report(*row) for row in _file()["rows"]]


def versions() -> dict[str, str]:
    """Return the versions of the packages that compiled the kernels."""
    return _file()["versions"]


@cache
def _file() -> dict[str, Any]:
    file = Path(__file__).with_name("kernels.json")
    content = json.loads(file.read_text("utf-8"))
    if tuple(content["columns"]) != Report._fields:
        raise ValueError(
            "kernels.json: its columns are not those of a Report: run `make kernels`"
        )
    return content
