"""What each line of a kernel's Python costs, stored in `counts.json`.

`make kernels` compiles every kernel with the numbers of its lines, executes it without
a GPU, and writes that file. A warp that executes an instruction counts once, however
many of its threads take part. Of what kind an instruction is, the file says by name:
"fma", "float", "special", "shared", "global", "shuffle", "integer", "control", "tensor".
"""

import hashlib
import inspect
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from kernellab import devices

NO_LINE = 0  # what the compiler says of an instruction that belongs to no line


class Counts(NamedTuple):
    """What one kernel executes, in one size on one architecture.

    Attributes
    ----------
    rung, d, block_q, block_k, dtype, arch
        The kernel and its size, as in a `Report`.
    text : str
        `digest` of the file whose lines are counted.
    pairs : int
        How many pairs of a query and a key were computed, all in full tiles.
    warp_instructions : int
        How many instructions all warps executed.
    lines : dict of int to dict of str to int
        For the number of a line in the rung's file, or `NO_LINE`: how many of these
        belong to it, by kind.
    sectors, requests : int
        Sectors of 32 bytes that came from or went to global memory, and the
        instructions that asked for them.
    wavefronts, turns : int
        How often shared memory was busy, and how often it would have been without
        conflicts between banks.
    """

    rung: str
    d: int
    block_q: int
    block_k: int
    dtype: str
    arch: str
    text: str
    pairs: int
    warp_instructions: int
    lines: dict[int, dict[str, int]]
    sectors: int
    requests: int
    wavefronts: int
    turns: int

    def by_kind(self) -> dict[str, int]:
        """Return how many instructions all warps executed, by kind."""
        total: Counter[str] = Counter()
        for kinds in self.lines.values():
            total.update(kinds)
        return dict(total)

    def a_pair(self, warp_instructions: int) -> float:
        """Return how many instructions these are for each pair of a query and a key."""
        return warp_instructions * devices.WARP / self.pairs


def stored(rung: str, d: int, arch: str, *, dtype: str = "float32") -> Counts:
    """Return the stored counts of a kernel."""
    for counts in all_stored():
        if (counts.rung, counts.d, counts.arch, counts.dtype) == (rung, d, arch, dtype):
            return counts
    raise ValueError(
        f"rung, d, arch, dtype: nothing counted for {rung!r}, {d}, {arch!r}, {dtype!r}"
    )


@cache
def all_stored() -> tuple[Counts, ...]:
    """Return all stored counts."""
    content = _file()
    return tuple(_counts(each, content["kinds"]) for each in content["kernels"])


def language() -> str:
    """Return whose instructions are counted: "SASS", machine code, or "PTX"."""
    return _file()["of"]


def source(rung: str) -> str:
    """Return the text of the file that defines a rung's kernel."""
    from tiledattention.gpu.ladder import rung_named  # only here: Numba takes its time

    file = inspect.getsourcefile(type(rung_named(rung)))
    assert file, f"the rung {rung} comes from no file"
    return Path(file).read_text("utf-8")


def digest(text: str) -> str:
    """Return a digest of a rung's text, comments included."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _counts(kernel: dict[str, Any], kinds: list[str]) -> Counts:
    lines = {
        int(line): dict(zip(kinds, counts, strict=True))
        for line, counts in kernel["lines"].items()
    }
    fields = {name: kernel[name] for name in Counts._fields}
    return Counts(**fields | {"lines": lines})


@cache
def _file() -> dict[str, Any]:
    return json.loads(Path(__file__).with_name("counts.json").read_text("utf-8"))
