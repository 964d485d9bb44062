"""Counts what the steps to tensor cores execute: the kernels of book/tensor_steps.py.

`tools.kernels.laboratory` stores the counts. Tests plant faults in the PTX that `texts`
returns.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tools.common import environments, records
from tools.common.paths import ROOT
from tools.kernels import gate as kernels

D, KEYS, WARPS = 64, 64, 4
TILES = 4  # of keys, in a run
ARCH = "sm_80"
SOURCES = (
    ROOT / "book" / "tensor_steps.py",
    kernels.RUNGS / "rungs" / "_ptx.py",
)
READS = ("ld.shared", "ldmatrix")
SEED = 15


class Step(NamedTuple):
    """A kernel that multiplies: the function that makes it, and its sizes.

    Attributes
    ----------
    make : str
    padding : int or None
        What the function is given beside `D`, `KEYS` and `WARPS`, if anything.
    strips : int
        Strips of 16 queries for each warp.
    """

    make: str
    padding: int | None = None
    strips: int = 1

    @property
    def queries(self) -> int:
        return 16 * self.strips * WARPS


PRODUCTS = {
    "loads": Step("loads"),
    "loads_padded": Step("loads", padding=8),
    "ldmatrix": Step("ldmatrix"),
    "padded": Step("padded"),
    "swizzled": Step("swizzled"),
    "strips": Step("strips", strips=2),
    "two_tiles": Step("two_tiles", strips=2),
}
# Copies: the function, and the bits of what an instruction loads.
COPIES = {
    "uint16": ("through_registers", 16),
    "uint32": ("through_registers", 32),
    "uint64": ("through_registers", 64),
    "asynchronous": ("asynchronous", None),
}


# ---- in the book's environment ----


def sources() -> list[str]:
    """Return the code that determines the kernels."""
    return [kernels.code_only(file.read_text("utf-8")) for file in SOURCES]


def cache_file() -> Path:
    """Return where the PTX of the kernels is, or will be, with the lines of Python."""
    inputs = [kernels.LOCK.read_text("utf-8"), *(x.read_text("utf-8") for x in SOURCES)]
    return kernels.CACHE / f"tensor-steps-{kernels.digest_of(inputs)}.json"


def texts() -> dict[str, str]:
    """Return the PTX of every kernel with the lines of Python, compiled if need be."""
    name = "tools.kernels.tensor_steps"
    return records.cached(cache_file(), lambda: environments.ask(kernels.PYTHON, name))


def gate() -> list[str]:
    """Compile the kernels where there is a compiler: tests execute their PTX."""
    if kernels.PYTHON.exists():
        texts()
    return []


def case(name: str) -> tuple[list[Any], Any]:
    """Return the arguments of a kernel, the last of them its output, and the truth.

    Numbers are small integers, so that every sum is exact.
    """
    import numpy as np

    rng = np.random.default_rng(SEED)
    if name in COPIES:
        bits = COPIES[name][1] or 32
        K = rng.integers(0, 2**16, (KEYS, D)).astype("u2").view(f"u{bits // 8}")
        return [K, np.zeros_like(K)], K
    sizes = (PRODUCTS[name].queries, D), (TILES * KEYS, D)
    Q, K = (rng.integers(-4, 5, size).astype(np.float16) for size in sizes)
    truth = Q.astype(np.float32) @ K.astype(np.float32).T
    return [Q, K, np.zeros_like(truth)], truth


def execute(name: str, text: str, **options: Any) -> Any:
    """Run a kernel's PTX; return the machine's counts, or raise what is wrong."""
    import numpy as np

    import ptxsim

    args, truth = case(name)
    ran = ptxsim.check(text, 1, *args, outputs=[len(args) - 1], **options)
    np.testing.assert_array_equal(args[-1], truth)
    return ran


# ---- in the environment with the compiler ----


def compute() -> dict[str, Any]:
    """Return the counts of all kernels."""
    return {
        "sizes": {"d": D, "keys": KEYS, "warps": WARPS, "tiles": TILES},
        "products": {name: product(name) for name in PRODUCTS},
        "copies": {name: copied(name) for name in COPIES},
    }


def product(name: str) -> dict[str, Any]:
    """Return the resources of a kernel, and what its products execute."""
    code, counted = _count(name)
    text = code.ptx.splitlines()
    first, last = _products(text)
    kinds: Counter[str] = Counter()
    for (line, kind), count in counted.machine.warps.items():
        kinds[kind] += count * (first < line <= last)
    ran = counted.ran.counts
    reads = [x for x in ran if x.instruction.opcode.startswith(READS)]
    mma = [x for x in ran if x.instruction.opcode.startswith("mma")]
    return resources(code) | {
        "queries": PRODUCTS[name].queries,
        "mma": sum(x.warps for x in mma),
        "multiply_adds": sum(x.multiply_adds for x in mma),
        "kinds": dict(+kinds),
        "reads": sum(x.warps for x in reads),
        "wavefronts": sum(x.wavefronts for x in reads),
        "overlapping": overlapping(name, code.ptx),
    }


def _products(text: list[str]) -> tuple[int, int]:
    """Return the lines of PTX between which the products are made.

    Before them, the last of what starts a copy or waits.
    """
    reads = next(i for i, x in enumerate(text) if x.strip().startswith(READS))
    starts = [i for i, x in enumerate(text[:reads]) if re.search("bar.sync|commit", x)]
    ends = [i for i, x in enumerate(text, 1) if x.strip().startswith("mma.")]
    return starts[-1] + 1, ends[-1]


def overlapping(name: str, text: str) -> int:
    """Return how many products a warp makes while copies that it started are under way."""
    import ptxsim

    args, _ = case(name)
    moments = ptxsim.trace(text, 1, args, outputs=[2])
    under_way = found = 0
    for opcode in (x.instruction.opcode for x in moments):
        if opcode.startswith("cp.async.cg"):
            under_way += 1
        elif opcode.startswith("cp.async.wait"):
            under_way = 0
        found += opcode.startswith("mma") and under_way > 0
    return found


def copied(name: str) -> dict[str, Any]:
    """Return the resources of a copy, and what it executes before the barrier."""
    code, counted = _count(name)
    text = code.ptx.splitlines()
    barrier = next(code.python[i] for i, x in enumerate(text, 1) if "bar.sync" in x)
    kinds: Counter[str] = Counter()
    for line, found in counted.by_line().items():
        if 0 < line < barrier:
            kinds.update(found)
    opcodes = ("ld.global", "cp.async.cg")
    loads = [x for x in counted.ran.counts if x.instruction.opcode.startswith(opcodes)]
    return resources(code) | {
        "pieces": KEYS * 2 * D // 16,
        "kinds": dict(+kinds),
        "instructions": kinds.total(),
        "loads": sum(x.warps for x in loads),
        "sectors": sum(x.sectors for x in loads),
    }


def resources(code: Any) -> dict[str, int]:
    """Return what a kernel takes of a multiprocessor."""
    return {
        "registers": int(re.findall(r"Used (\d+) registers", code.log)[-1]),
        "spilled": sum(map(int, re.findall(r"(\d+) bytes spill", code.log))),
        "shared": code.shared,
    }


def _count(name: str) -> tuple[Any, Any]:
    """Compile a kernel, execute it, and count."""
    from kernellab import lab

    code = _compiled(name)
    ran = execute(name, code.with_lines(), profile=True)
    return code, lab.in_machine_code(code, ran)


def _compiled(name: str) -> Any:
    from numba import float32, types

    import tensor_steps
    from kernellab.compile import code_of

    if name in COPIES:
        make, bits = COPIES[name]
        number = getattr(types, f"uint{bits or 32}")
        given = [KEYS, 32 * WARPS] + [number] * (bits is not None)
        arguments = (number[:, ::1],) * 2
    else:
        make, padding, _ = PRODUCTS[name]
        given = [KEYS, WARPS] + [padding] * (padding is not None)
        arguments = (types.float16[:, ::1],) * 2 + (float32[:, ::1],)
    kernel = getattr(tensor_steps, make)(D, *given)
    options = {"fastmath": True, "launch_bounds": (32 * WARPS,)}
    return code_of(kernel, arguments, ARCH, options)


def main() -> int:
    found: Mapping[str, str] = {
        name: _compiled(name).with_lines() for name in (*PRODUCTS, *COPIES)
    }
    json.dump(found, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
