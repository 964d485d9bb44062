"""Loops of the drill `copy-loop` whose instructions are counted beforehand.

A reader's kernel cannot be compiled on a page. So loops that readers are likely to write
are written here, and counted by `make kernels`. Of any other loop the page shows an
estimate.
"""

import json
import linecache
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

SIZES = {"D": 64, "KEYS": 32, "THREADS": 128}
ROWS, BASE = 96, 32  # of K and V; where their tiles begin
TEXT = """\
from numba import cuda, float32, uint32


@cuda.jit
def copy(K, V, sums, base):
    t = cuda.threadIdx.x
    k_tile = cuda.shared.array((KEYS, D), float32)
    v_tile = cuda.shared.array((KEYS, D), float32)
{loop}
    cuda.syncthreads()
    if t < D:
        total = float32(0)
        for j in range(KEYS):
            total += k_tile[j, t] * v_tile[j, t]
        sums[t] = total
"""
COPY = """\
    k_tile[r, c] = K[uint32(base) + r, c]
    v_tile[r, c] = V[uint32(base) + r, c]
"""
PLACE = "row = uint32(t) // uint32(D)\nc = uint32(t) % uint32(D)\n"
EVEN = "for start in range(0, KEYS, THREADS // D):\n    r = uint32(start) + row\n"
FLAT = "for start in range(0, KEYS * D, THREADS):\n    x = uint32(start + t)\n"
OURS, THEIRS = COPY.splitlines(True)
LOOPS = {
    "hoisted": PLACE + EVEN + COPY,
    "widths named": PLACE.replace("uint32(D)", "width").replace(
        "row", "width = uint32(D)\nrow", 1
    )
    + "down = THREADS // D\n"
    + EVEN.replace("THREADS // D", "down")
    + COPY,
    "base named": "begin = uint32(base)\n"
    + PLACE
    + EVEN
    + COPY.replace("uint32(base)", "begin"),
    "two loops": PLACE + EVEN + OURS + EVEN + THEIRS,
    "sum of signs": PLACE + EVEN.replace("uint32(start)", "start") + COPY,
    "row grows": PLACE.replace("row", "r")
    + "for turn in range(KEYS * D // THREADS):\n"
    + COPY
    + "    r += uint32(THREADS // D)\n",
    "uneven": PLACE + "for r in range(row, KEYS, THREADS // D):\n" + COPY,
    "uneven, signed": PLACE.replace("uint32(t)", "t").replace("uint32(D)", "D")
    + "for r in range(row, KEYS, THREADS // D):\n"
    + COPY,
    "unsigned": FLAT + "    r = x // uint32(D)\n    c = x % uint32(D)\n" + COPY,
    "unsigned, width signed": FLAT + "    r = x // D\n    c = x % D\n" + COPY,
    "fours": """\
width, down = uint32(D // 4), THREADS * 4 // D
row = uint32(t) // width
c = uint32(t) % width * uint32(4)
for start in range(0, KEYS, down):
    r = uint32(start) + row
    for e in range(4):
        k_tile[r, c + uint32(e)] = K[uint32(base) + r, c + uint32(e)]
        v_tile[r, c + uint32(e)] = V[uint32(base) + r, c + uint32(e)]
""",
}


def texts() -> list[str]:
    """Return the text of a kernel with each of the loops."""
    indented = [
        "".join(f"    {line}" for line in loop.splitlines(True))
        for loop in LOOPS.values()
    ]
    return [TEXT.format(loop=loop.rstrip("\n")) for loop in indented]


def stored() -> dict[str, float]:
    """Return the count of each kernel, as `make kernels` has stored it."""
    from rescaling import HERE

    file = HERE.data / "laboratory.json"
    return json.loads(file.read_text("utf-8"))["variants"]


def count(text: str) -> float:
    """Return how many instructions a thread executes to copy a number.

    Parameters
    ----------
    text : str
        The drill's kernel.

    Returns
    -------
    float
        Warp instructions of all that stands before the barrier, times 32, for each
        number of the two tiles.

    Notes
    -----
    It needs the packages of requirements-gpu.txt; without them it raises an error. So it
    does if the machine code has the loop written out several times over: which of them
    run PTX does not say.
    """
    from kernellab import lab

    kernel = _made(text)
    rng = np.random.default_rng(0)
    K, V = rng.standard_normal((2, ROWS, SIZES["D"])).astype(np.float32)
    sums = np.zeros(SIZES["D"], np.float32)
    given = K, V, sums, np.int32(BASE)
    found = lab.count(kernel, 1, SIZES["THREADS"], *given, outputs=[2])
    if _written_out(found.code):
        raise ValueError(f"text: expected a loop that is written out once, got\n{text}")
    tile = slice(BASE, BASE + SIZES["KEYS"])
    np.testing.assert_allclose(sums, (K[tile] * V[tile]).sum(0), atol=1e-4)
    lines = text.splitlines()
    stop = 1 + next(i for i, line in enumerate(lines) if "syncthreads" in line)
    before = [kinds for line, kinds in found.by_line().items() if 0 < line < stop]
    executed = sum(sum(kinds.values()) for kinds in before)
    return executed * 32 / (2 * SIZES["KEYS"] * SIZES["D"])


def _written_out(code: Any) -> bool:
    """Return whether an access of the PTX stands in several places of the machine code."""
    from kernellab import sass

    accesses = [
        one.ptx
        for one in sass.disassemble(code.machine)
        if one.ptx and one.name in ("LDG", "STS")
    ]
    return len(accesses) > len(set(accesses))


def _made(text: str) -> Callable[..., None]:
    """Return the kernel as a function, in the sizes that are counted."""
    file = f"<copy {abs(hash(text))}>"
    names: dict = {"__name__": "copy", **SIZES}
    exec(compile(text, file, "exec"), names)
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    bare = names["copy"].py_func
    return FunctionType(bare.__code__, names, "copy")
