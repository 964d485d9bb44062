"""Kernels without a fault, each with a launch and what it should give.

They run in CPython and in MicroPython, so they come as text. A launch is a case of
``drills/kinds/kernel/grader.py``.
"""

import math
import random

import numpy as np

HEAD = """import math
from numba import cuda, float32, int32

"""


def case(source, grid, block, args, expected=None, **names):
    """Return a kernel's text with its case; an argument is (kind, value)."""
    return HEAD + source, {
        "name": "case",
        "drawn": False,
        "grid": grid,
        "block": block,
        "names": names,
        "args": [[name, *value] for name, value in args.items()],
        "expected": expected or {},
        "ideal": None,
        "slips": [],
    }


def numbers(*shape):
    """Return an argument of drawn numbers."""
    rng = random.Random(str(shape))
    draw = [round(rng.uniform(-2, 2), 3) for _ in range(math.prod(shape))]
    return ["floats", np.reshape(draw, shape).tolist()]


X, ROWS, A, B = numbers(10), numbers(5, 6), numbers(6, 5), numbers(5, 7)
Q, K, V = numbers(7, 3), numbers(7, 4), numbers(7, 2)
x, rows = np.array(X[1]), np.array(ROWS[1])


def softmax(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


CORRECT = {}

CORRECT["map with a guard"] = case(
    """@cuda.jit
def kernel(x, y, n):
    i = cuda.grid(1)
    if i < n:
        y[i] = float32(2.0) * x[i]
""",
    [3, 1],
    [4, 1],
    {"x": X, "y": ["out", [10]], "n": ["number", 10]},
    {"y": (2 * x).tolist()},
)

CORRECT["two dimensions, a stride over the grid"] = case(
    """@cuda.jit
def kernel(x, y):
    i, j = cuda.grid(2)
    across, down = cuda.gridsize(2)
    while i < x.shape[0]:
        for c in range(j, x.shape[1], down):
            y[i, c] = x[i, c] + i - c
        i += across
""",
    [1, 2],
    [2, 2],
    {"x": ROWS, "y": ["out", [5, 6]]},
    {"y": (rows + np.arange(5)[:, None] - np.arange(6)).tolist()},
)

CORRECT["a neighbour through shared memory"] = case(
    """@cuda.jit
def kernel(x, y, n):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile = cuda.shared.array(PADDED, float32)
    if i < n:
        tile[t] = x[i]
        if t == B - 1 or i == n - 1:
            tile[t + 1] = x[i + 1] if i + 1 < n else float32(0)
    cuda.syncthreads()
    if i < n:
        y[i] = tile[t + 1]
""",
    [3, 1],
    [4, 1],
    {"x": X, "y": ["out", [10]], "n": ["number", 10]},
    {"y": [*x[1:].tolist(), 0]},
    B=4,
    PADDED=5,
)

CORRECT["the sum of a block, by halves"] = case(
    """@cuda.jit
def kernel(x, y, n):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile = cuda.shared.array(8, float32)
    tile[t] = x[i] if i < n else float32(0)
    step = 4
    while step > 0:
        cuda.syncthreads()
        if t < step:
            tile[t] += tile[t + step]
        step //= 2
    if t == 0:
        y[cuda.blockIdx.x] = tile[0]
""",
    [2, 1],
    [8, 1],
    {"x": X, "y": ["out", [2]], "n": ["number", 10]},
    {"y": [x[:8].sum(), x[8:].sum()]},
)

CORRECT["merge of (m, l), a tree on threads"] = case(
    """@cuda.jit(device=True)
def merge(ms, ls, i, j):
    m = max(ms[i], ms[j])
    shift = m if m > -math.inf else float32(0)
    ls[i] = ls[i] * math.exp(ms[i] - shift) + ls[j] * math.exp(ms[j] - shift)
    ms[i] = m

@cuda.jit
def kernel(x, y, n):
    t = cuda.threadIdx.x
    ms = cuda.shared.array(16, float32)
    ls = cuda.shared.array(16, float32)
    ms[t] = x[t] if t < n else float32(-math.inf)
    ls[t] = float32(1) if t < n else float32(0)
    step = 8
    while step:
        cuda.syncthreads()
        if t < step:
            merge(ms, ls, t, t + step)
        step //= 2
    if t == 0:
        y[0], y[1] = ms[0], ls[0]
""",
    [1, 1],
    [16, 1],
    {"x": X, "y": ["out", [2]], "n": ["number", 10]},
    {"y": [x.max(), np.exp(x - x.max()).sum()]},
)

CORRECT["tiled matmul"] = case(
    """@cuda.jit
def kernel(a, b, c):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    left = cuda.shared.array((T, T), float32)
    right = cuda.shared.array((T, T), float32)
    s = float32(0)
    for start in range(0, a.shape[1], T):
        inside = i < a.shape[0] and start + x < a.shape[1]
        left[y, x] = a[i, start + x] if inside else float32(0)
        inside = j < b.shape[1] and start + y < b.shape[0]
        right[y, x] = b[start + y, j] if inside else float32(0)
        cuda.syncthreads()
        for k in range(T):
            s += left[y, k] * right[k, x]
        cuda.syncthreads()
    if i < a.shape[0] and j < b.shape[1]:
        c[i, j] = s
""",
    [3, 2],
    [3, 3],
    {"a": A, "b": B, "c": ["out", [6, 7]]},
    {"c": (np.array(A[1]) @ np.array(B[1])).tolist()},
    T=3,
)

CORRECT["a row's softmax, barriers in helpers"] = case(
    """@cuda.jit(device=True)
def tree(tile, t, largest):
    '''Leaves max or sum in tile[0].'''
    step = 4
    while step > 0:
        cuda.syncthreads()
        if t < step:
            a, b = tile[t], tile[t + step]
            tile[t] = max(a, b) if largest else a + b
        step //= 2
    cuda.syncthreads()
    return tile[0]

@cuda.jit(device=True)
def whole(tile, t, value, largest):
    tile[t] = value
    total = tree(tile, t, largest)
    cuda.syncthreads()  # before anybody writes again
    return total

@cuda.jit
def kernel(x, y):
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    tile = cuda.shared.array(8, float32)
    s = x[row, t] if t < x.shape[1] else float32(-math.inf)
    m = whole(tile, t, s, True)
    p = math.exp(s - m)
    l = whole(tile, t, p, False)
    if t < x.shape[1]:
        y[row, t] = p / l
""",
    [5, 1],
    [8, 1],
    {"x": ROWS, "y": ["out", [5, 6]]},
    {"y": softmax(rows).tolist()},
)

CORRECT["tiled attention"] = case(
    """@cuda.jit
def kernel(Q, K, V, O, n, scale):
    t = cuda.threadIdx.x
    row = cuda.grid(1)
    keys = cuda.shared.array((B, D), float32)
    values = cuda.shared.array((B, D), float32)
    o = cuda.local.array(D, float32)
    for c in range(D):
        o[c] = float32(0)
    m, l = float32(-math.inf), float32(0)
    for start in range(0, n, B):
        for c in range(D):
            if start + t < n:
                keys[t, c] = K[start + t, c]
                values[t, c] = V[start + t, c]
        cuda.syncthreads()
        if row < n:
            for j in range(min(B, n - start)):
                s = float32(0)
                for c in range(D):
                    s += Q[row, c] * keys[j, c]
                s *= scale
                m_new = max(m, s)
                alpha, p = math.exp(m - m_new), math.exp(s - m_new)
                l = l * alpha + p
                for c in range(D):
                    o[c] = o[c] * alpha + p * values[j, c]
                m = m_new
        cuda.syncthreads()
    if row < n:
        for c in range(D):
            O[row, c] = o[c] / l
""",
    [3, 1],
    [3, 1],
    {
        "Q": numbers(7, 2),
        "K": numbers(7, 2),
        "V": V,
        "O": ["out", [7, 2]],
        "n": ["number", 7],
        "scale": ["number", 0.5],
    },
    {
        "O": (
            softmax(np.array(numbers(7, 2)[1]) @ np.array(numbers(7, 2)[1]).T / 2)
            @ np.array(V[1])
        ).tolist()
    },
    B=3,
    D=2,
)

CORRECT["a warp's sum, by shuffles"] = case(
    """@cuda.jit(device=True)
def total(v):
    for k in range(5):
        v += cuda.shfl_xor_sync(0xffffffff, v, 1 << k)
    return v

@cuda.jit
def kernel(x, y):
    i = cuda.grid(1)
    y[i] = total(x[i]) if i < 64 else float32(0)
""",
    [1, 1],
    [64, 1],
    {"x": numbers(64), "y": ["out", [64]]},
    {"y": np.repeat(np.reshape(numbers(64)[1], (2, 32)).sum(1), 32).tolist()},
)

CORRECT["a histogram, by atomics"] = case(
    """@cuda.jit
def kernel(places, y):
    t = cuda.threadIdx.x
    count = cuda.shared.array(3, float32)
    if t < 3:
        count[t] = float32(0)
    cuda.syncthreads()
    cuda.atomic.add(count, places[cuda.grid(1)], float32(1))
    cuda.syncthreads()
    if t < 3:
        if cuda.blockIdx.x == 0:
            cuda.atomic.add(y, t, count[t])
        else:
            cuda.atomic.add(y, t, count[t])
""",
    [2, 1],
    [5, 1],
    {"places": ["ints", [0, 2, 1, 2, 2, 0, 0, 1, 2, 0]], "y": ["floats", [0, 0, 0]]},
)

CORRECT["threads that leave together, a part of an array"] = case(
    """@cuda.jit
def kernel(x, y, n):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if b >= n:
        return
    tile = cuda.shared.array(6, float32)
    row = x[b]
    tile[5 - t] = row[t]
    cuda.syncthreads()
    y[b][t] = tile[t]
""",
    [8, 1],
    [6, 1],
    {"x": ROWS, "y": ["out", [5, 6]], "n": ["number", 5]},
    {"y": rows[:, ::-1].tolist()},
)

CORRECT["a shuffle among those that stay"] = case(
    """@cuda.jit
def kernel(x, y):
    t = cuda.threadIdx.x
    if t >= 8:
        return
    y[t] = cuda.shfl_xor_sync(0xffffffff, x[t], 4)
""",
    [1, 1],
    [32, 1],
    {"x": X, "y": ["out", [8]]},
    {"y": [*x[4:8].tolist(), *x[:4].tolist()]},
)

CORRECT["some leave before a barrier, and have nothing to bring"] = case(
    """@cuda.jit
def kernel(x, y, n):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i >= n:
        return
    tile = cuda.shared.array(4, float32)
    tile[t] = x[i]
    cuda.syncthreads()
    y[i] = tile[0]
""",
    [3, 1],
    [4, 1],
    {"x": X, "y": ["out", [10]], "n": ["number", 10]},
    {"y": np.repeat(x[::4], 4)[:10].tolist()},
)

CORRECT["functions, types and sizes as arguments"] = case(
    """
import operator


@cuda.jit(device=True)
def halved(tile, op, n):
    t = cuda.threadIdx.x
    step = n // 2
    while step > 0:
        if t < step:
            tile[t] = op(tile[t], tile[t + step])
        cuda.syncthreads()
        step //= 2
    return tile[0]


@cuda.jit(device=True)
def of_block(x, op, dtype, n, *last):
    t = cuda.threadIdx.x
    tile = cuda.shared.array(n, dtype)
    tile[t] = dtype(x[t])
    cuda.syncthreads()
    return op(halved(tile, op, n), *last)


@cuda.jit(device=True)
def larger(a, b):
    return a if a > b else b


@cuda.jit
def kernel(x, y):
    sums = of_block(x, operator.add, float32, 8, 1)
    most = of_block(x, larger, float32, 8, -9)
    least = of_block(x, lambda a, b: operator.neg(max(-a, -b)), float32, 8, 9)
    if cuda.threadIdx.x == 0:
        y[0], y[1], y[2] = sums, most, least
""",
    [1, 1],
    [8, 1],
    {"x": numbers(8), "y": ["floats", [0.0] * 3]},
    {"y": (lambda x: [sum(x) + 1, max(x), min(x)])(numbers(8)[1])},
)

UNTRANSLATED = {}  # right kernels that blocksim.wgsl declines

UNTRANSLATED["shared memory in two halves"] = case(
    """@cuda.jit(device=True)
def reversed_into(out, row):
    for c in range(row.shape[0]):
        out[c] = row[row.size - 1 - c]

@cuda.jit
def kernel(x, y, n):
    t = cuda.threadIdx.x
    both = cuda.shared.array(16, float32)
    a, b = both[:n], both[n:2 * n]
    grid = cuda.local.array((3, 4), float32)
    grid[:] = 0
    grid[1:, ::-2] = float32(1)
    a[t] = x[t]
    cuda.syncthreads()
    if t == 0:
        reversed_into(b, a)
        b[-1:] = 5
    cuda.syncthreads()
    part = both[n:][:n]
    cuda.atomic.add(part, t, grid[2, 3] + grid[..., 1][2])
    y[t] = part[t]
""",
    [1, 1],
    [8, 1],
    {"x": X, "y": ["out", [8]], "n": ["number", 8]},
    {"y": [*(x[7:0:-1] + 2).tolist(), 7.0]},
)

UNTRANSLATED["pairs of neighbours, by zip and enumerate"] = case(
    """@cuda.jit
def kernel(x, y, n):
    i = cuda.grid(1)
    s = float32(0)
    for k, (a, b) in enumerate(zip(x[:n], x[1:]), 1):
        s += a * b * k
    for (k, row), w in zip(enumerate(y), (1, 2, 3)):
        row[i] = s * w + k
""",
    [1, 1],
    [2, 1],
    {"x": X, "y": ["out", [3, 2]], "n": ["number", 9]},
    {
        "y": [
            [float(w * (x[:9] * x[1:] * range(1, 10)).sum() + w - 1)] * 2
            for w in (1, 2, 3)
        ]
    },
)
