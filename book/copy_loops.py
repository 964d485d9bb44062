"""The loop of the drill `copy-loop`, in the ways in which readers write it; its count.

A reader's kernel cannot be compiled on a page. So the loops that readers are likely to
write are written here, and counted beforehand by `make kernels`. A loop that is none of
them is counted in a notebook, where the compiler is, by the same `count`.
"""

import inspect
import json
import linecache
from collections.abc import Callable, Iterator
from itertools import product
from types import FunctionType
from typing import Any

import numpy as np

SIZES = {"D": 64, "KEYS": 32, "THREADS": 128}
ROWS, BASE = 96, 32  # of K and V; where their tiles begin
TEXT = """\
from numba import cuda, float32, uint32


@cuda.jit
def copy(K, V, sums, base):
    t = {me}
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
k_tile[r, c] = K[{base} + r, c]
v_tile[r, c] = V[{base} + r, c]
"""
# How the loop goes on, and where a thread then finds its number.
LOOPS = {
    "range": "for {i} in range({t}, KEYS * D, THREADS):\n{own}{where}{copy}",
    "while": "x = {t}\nwhile x < KEYS * D:\n{where}{copy}    x += {step}\n",
    "even": "for start in range(0, KEYS * D, THREADS):\n    x = {even}\n{where}{copy}",
    "rows": "{row}for start in range(0, KEYS, THREADS // D):\n    r = {down}\n{copy}",
}
WHERE = "    r = x // {d}\n    c = x % {d}\n", "    r, c = x // {d}, x % {d}\n"
ROW = "row = {t} // {d}\nc = {t} % {d}\n", "row, c = {t} // {d}, {t} % {d}\n"
SIGNED = {"t": "t", "i": "x", "own": "", "step": "THREADS", "even": "start + t",
          "down": "start + row"}  # fmt: skip
UNSIGNED = {"t": "uint32(t)", "i": "i", "own": "    x = uint32(i)\n",
            "step": "uint32(THREADS)", "even": "uint32(start + t)",
            "down": "uint32(start) + row"}  # fmt: skip
ME = "cuda.threadIdx.x", "cuda.threadIdx.x & 1023"
WIDTH, FIRST = ("D", "uint32(D)"), ("base", "uint32(base)")


def texts() -> Iterator[str]:
    """Yield the text of each variant, the drill's own first."""
    kinds = [(ME[0], SIGNED), (ME[1], SIGNED), (ME[0], UNSIGNED)]
    layouts = range(len(WHERE))
    for name, (me, words), d, base, k in product(LOOPS, kinds, WIDTH, FIRST, layouts):
        if words is UNSIGNED or (d, base) == (WIDTH[0], FIRST[0]):
            yield _text(name, me, words | {"d": d, "base": base}, k)


def _text(name: str, me: str, words: dict[str, str], layout: int) -> str:
    parts = {
        "copy": "".join(f"    {line}" for line in COPY.splitlines(True)),
        "where": WHERE[layout],
        "row": ROW[layout],
    }
    loop = LOOPS[name]
    for _ in range(2):  # the parts have slots of their own
        loop = loop.format(**words, **parts) if "{" in loop else loop
    body = "".join(f"    {line}" for line in loop.splitlines(True))
    return TEXT.format(me=me, loop=body.rstrip("\n"))


def stored() -> dict[str, float | None]:
    """Return the count of each variant, as `make kernels` has stored it."""
    from rescaling import HERE

    file = HERE.data / "laboratory.json"
    return json.loads(file.read_text("utf-8"))["variants"]


def count(kernel: str | Callable[..., None]) -> float | None:
    """Return how many instructions a thread executes to copy a number.

    Parameters
    ----------
    kernel : str or function
        The drill's kernel; as a function, with or without its decorator.

    Returns
    -------
    float or None
        Warp instructions of all that stands before the barrier, times 32, for each
        number of the two tiles. None if it cannot be told: then the machine code has a
        loop written out several times over, and which of them run PTX does not say.

    Notes
    -----
    It needs the packages of requirements-gpu.txt; without them it raises an error.
    """
    from onlinesoftmax.gpu import counting, lab

    made = _made(kernel)
    rng = np.random.default_rng(0)
    K, V = rng.standard_normal((2, ROWS, SIZES["D"])).astype(np.float32)
    sums = np.zeros(SIZES["D"], np.float32)
    given = K, V, sums, np.int32(BASE)
    try:
        found = lab.count(made, 1, SIZES["THREADS"], *given, outputs=[2])
    except counting.Mismatch:
        return None
    if _written_out(found.code):
        return None
    tile = slice(BASE, BASE + SIZES["KEYS"])
    np.testing.assert_allclose(sums, (K[tile] * V[tile]).sum(0), atol=1e-4)
    lines, first = inspect.getsourcelines(made)
    stop = first + next(i for i, line in enumerate(lines) if "syncthreads" in line)
    before = [n for n in found.by_line().items() if first <= n[0] < stop]
    executed = sum(sum(kinds.values()) for _, kinds in before)
    return executed * 32 / (2 * SIZES["KEYS"] * SIZES["D"])


def _written_out(code: Any) -> bool:
    """Return whether an access of the PTX stands in several places of the machine code."""
    from onlinesoftmax.gpu import sass

    accesses = [
        one.ptx
        for one in sass.disassemble(code.machine)
        if one.ptx and one.name in ("LDG", "STS")
    ]
    return len(accesses) > len(set(accesses))


def _made(kernel: str | Callable[..., None]) -> FunctionType:
    """Return the kernel as a function of its own, in the sizes that are counted."""
    if isinstance(kernel, str):
        file = f"<copy {abs(hash(kernel))}>"
        names: dict = {"__name__": "copy"}
        exec(compile(kernel, file, "exec"), names)
        linecache.cache[file] = len(kernel), None, kernel.splitlines(True), file
        kernel = names["copy"]
    bare = getattr(kernel, "py_func", kernel)
    return FunctionType(bare.__code__, {**bare.__globals__, **SIZES}, "copy")
