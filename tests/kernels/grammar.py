"""A small grammar of kernels: every seed is a program of two blocks of eight threads.

Threads write their own place of a tile, meet, and read anybody's. All arithmetic is
float32, so that two simulators can be compared to the last bit.
"""

import random

HEAD = """import math
from numba import cuda, float32


@cuda.jit(device=True)
def swap(tile, t, v, k):
    tile[t] = v
    cuda.syncthreads()
    w = tile[(t + k) % 8]
    cuda.syncthreads()
    return w


@cuda.jit(device=True)
def blend(a, b):
    return a * float32(0.75) - b * float32(0.25)


@cuda.jit
def kernel(x, y):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile = cuda.shared.array(8, float32)
    grid = cuda.shared.array((2, 8), float32)
    own = cuda.local.array(3, float32)
    for c in range(3):
        own[c] = float32(c)
    v = x[i]
    w = float32(1)
"""


def program(seed: int) -> str:
    """Return the text of a kernel without a race."""
    rng = random.Random(seed)
    lines = [line for _ in range(rng.randint(1, 4)) for line in phase(rng)]
    return HEAD + "\n".join(f"    {line}" for line in [*lines, "y[i] = v + w"]) + "\n"


def phase(rng: random.Random) -> list[str]:
    """Return some lines that leave no access open."""
    form = rng.choice([plain, plain, through_tile, through_rows, helper, loop, branch])
    return form(rng)


def value(rng: random.Random) -> str:
    """Return an expression of float32 numbers."""
    a, b = rng.choice("vw"), rng.choice("vw")
    c = f"float32({rng.randint(-9, 9) / 8})"
    return rng.choice([
        f"{a} + {b}", f"{a} * {c}", f"{a} - {b} * {c}", f"max({a}, {b})", f"-{a}",
        f"float32(math.exp(-abs({a})))", f"blend({a}, {b})", f"min({a}, {c})",
        f"{a} / (float32(1) + {b} * {b})", f"own[{rng.randrange(3)}] + {b}",
        f"{a} if {a} > {b} else {c}", f"x[(i + {rng.randrange(16)}) % 16]",
    ])


def plain(rng: random.Random) -> list[str]:
    return [f"{rng.choice('vw')} = {value(rng)}", f"own[t % 3] = {value(rng)}"]


def through_tile(rng: random.Random) -> list[str]:
    k = rng.randrange(8)
    return [f"tile[t] = {value(rng)}", "cuda.syncthreads()",
            f"{rng.choice('vw')} = tile[(t + {k}) % 8]", "cuda.syncthreads()"]


def through_rows(rng: random.Random) -> list[str]:
    row = rng.choice(["0", "1", "t % 2"])
    return [f"grid[0, t], grid[1, t] = v, {value(rng)}", "cuda.syncthreads()",
            f"w = grid[{row}, (7 - t) % {rng.randint(1, 8)}]", "cuda.syncthreads()"]


def helper(rng: random.Random) -> list[str]:
    return [f"{rng.choice('vw')} = swap(tile, t, {value(rng)}, {rng.randrange(8)})"]


def loop(rng: random.Random) -> list[str]:
    inner = [line for _ in range(2) for line in rng.choice([plain, helper])(rng)]
    head = rng.choice([f"for r in range({rng.randint(1, 3)}):", "for r in (2, 1):"])
    return [head, *(f"    {line}" for line in inner)]


def branch(rng: random.Random) -> list[str]:
    inner = [f"    {line}" for line in plain(rng)]
    test = rng.choice(["t % 2 == 0", f"t < {rng.randint(1, 7)}", "v > w", "i == 3"])
    return [f"if {test}:", *inner, "else:", f"    w = {value(rng)}"]
