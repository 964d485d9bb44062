"""After Numba's documentation, and answers to Sasha Rush's GPU Puzzles."""

import math

import numpy as np
from numba import cuda, float32, float64, int32, uint64

from .catalogue import Launch, empty, kernel
from .functions import next_xoroshiro, rotated

# ---- Numba's documentation ----


@kernel("Numba docs: increment a 2D array")
def increment_2d(x):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        x[i, j] += 1


@increment_2d.launch
def _(rng):
    x = rng.integers(0, 9, (10, 13)).astype("i8")
    return Launch((2, 2), (8, 8), (x,), changed={0: x + 1})


@kernel("Numba docs: matrix product, a thread an element")
def matmul_plain(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@matmul_plain.launch
def _(rng):
    a, b = rng.random((9, 6)), rng.random((6, 11))
    args = a, b, empty((9, 11), "f8")
    return Launch((2, 2), (8, 8), args, {2: a @ b}, roundings=12)


@kernel("Numba docs: Laplace's equation, buffers swapped by parity")
def laplace(edges, even, odd, steps):
    i = cuda.threadIdx.x
    n = even.size
    for step in range(steps):
        now = even if step % 2 == 0 else odd
        after = odd if step % 2 == 0 else even
        left = now[i - 1] if i > 0 else edges[0]
        right = now[i + 1] if i < n - 1 else edges[1]
        after[i] = float32(0.5) * now[i] + float32(0.25) * (left + right)
        cuda.syncthreads()


@laplace.launch
def _(rng):
    x, edges = rng.random(64).astype("f4"), np.array([1, 0], "f4")
    now, before = x.astype("f8"), None
    for _ in range(6):
        wide = np.concatenate([[1], now, [0]])
        now, before = now / 2 + (wide[:-2] + wide[2:]) / 4, now
    args = edges, x, np.zeros(64, "f4"), np.int32(6)
    return Launch(1, 64, args, changed={1: now, 2: before}, roundings=12)


@kernel("Numba docs: π by random points")
def monte_carlo_pi(out, states, each):
    i = cuda.grid(1)
    a, b = states[i, 0], states[i, 1]
    inside = 0
    for _ in range(each):
        x = float32((a + b) >> uint64(40)) * float32(2.0**-24)
        b ^= a
        a, b = rotated(a, uint64(24)) ^ b ^ (b << uint64(16)), rotated(b, uint64(37))
        y = float32((a + b) >> uint64(40)) * float32(2.0**-24)
        b ^= a
        a, b = rotated(a, uint64(24)) ^ b ^ (b << uint64(16)), rotated(b, uint64(37))
        if x * x + y * y <= 1:
            inside += 1
    out[i] = 4.0 * inside / each


@monte_carlo_pi.launch
def _(rng):
    states = rng.integers(1, 2**64, (32, 2), dtype="u8")
    s, inside = states.copy(), np.zeros(32)
    for _ in range(10):
        x, y = ((next_xoroshiro(s) >> np.uint64(40)) * 2.0**-24 for _ in range(2))
        inside += x * x + y * y <= 1
    args = empty(32, "f4"), states, np.int32(10)
    return Launch(1, 32, args, {0: inside * 0.4}, roundings=1)


@kernel("Numba docs: sessions of clicks, found in two phases of a block")
def sessions(out, user, time, timeout):
    i, n = cuda.threadIdx.x, out.size
    first = i == 0 or user[i] != user[i - 1] or time[i] - time[i - 1] > timeout
    out[i] = i if first else -1
    cuda.syncthreads()
    if first:
        ahead = i + 1
        while ahead < n and out[ahead] == -1:
            out[ahead] = i
            ahead += 1


@sessions.launch
def _(rng):
    user = np.sort(rng.integers(0, 5, 64)).astype("i4")
    time = rng.integers(0, 9, 64).cumsum().astype("i8")
    wanted = np.zeros(64, "i4")
    for i in range(1, 64):
        new = user[i] != user[i - 1] or time[i] - time[i - 1] > 6
        wanted[i] = i if new else wanted[i - 1]
    args = empty(64, "i4"), user, time, np.int64(6)
    return Launch(1, 64, args, {0: wanted})


@kernel("Numba docs: random walks, steps from a linear congruence")
def random_walk(out, seeds):
    i = cuda.grid(1)
    if i < out.shape[0]:
        word, at = seeds[i], int32(0)
        for k in range(out.shape[1]):
            word = word * uint64(6364136223846793005) + uint64(1442695040888963407)
            at += 1 if word >> uint64(63) else -1
            out[i, k] = at


@random_walk.launch
def _(rng):
    seeds = rng.integers(0, 2**64, 20, dtype="u8")
    word, steps = seeds.copy(), []
    for _ in range(12):
        word = word * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        steps.append(np.where(word >> np.uint64(63), 1, -1))
    wanted = np.cumsum(np.stack(steps, 1), 1)
    return Launch(1, 32, (empty((20, 12), "i4"), seeds), {0: wanted})


@kernel("Numba docs: a sum in shared memory")
def shared_sum(x):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 1
    while step < 64:
        if t % (2 * step) == 0:
            s[t] += s[t + step]
        step *= 2
        cuda.syncthreads()
    if t == 0:
        x[0] = s[0]


@shared_sum.launch
def _(rng):
    x = rng.integers(0, 99, 64).astype("i4")
    wanted = x.copy()
    wanted[0] = x.sum()
    return Launch(1, 64, (x,), changed={0: wanted})


@cuda.jit(device=True)
def discriminant(a, b, c):
    return b * b - 4 * a * c


@kernel("Numba docs: as a ufunc, roots of quadratic equations by a device function")
def quadratic(out, a, b, c):
    i = cuda.grid(1)
    if i < out.shape[0]:
        d = discriminant(a[i], b[i], c[i])
        if d < 0:
            out[i, 0] = out[i, 1] = math.nan
        else:
            q = -0.5 * (b[i] + math.copysign(math.sqrt(d), b[i]))
            out[i, 0], out[i, 1] = q / a[i], c[i] / q


@quadratic.launch
def _(rng):
    a, b, c = rng.uniform(0.5, 2, 40), rng.uniform(-5, 5, 40), rng.uniform(0.5, 2, 40)
    with np.errstate(invalid="ignore"):
        q = -(b + np.copysign(np.sqrt(b * b - 4 * a * c), b)) / 2
    wanted = np.stack([q / a, c / q], 1)
    # The discriminant may cancel, to 1/1000 of what it is the difference of at worst.
    args = empty((40, 2), "f8"), a, b, c
    return Launch(2, 32, args, {0: wanted}, roundings=2000)


@kernel("Numba docs: recursion by itself becomes a loop: Fibonacci by a stack of two")
def fibonacci(out):
    i = cuda.grid(1)
    if i < out.size:
        a, b = 0, 1
        for _ in range(i):
            a, b = b, a + b
        out[i] = a


@fibonacci.launch
def _(rng):
    wanted = [0, 1]
    while len(wanted) < 60:
        wanted.append(wanted[-2] + wanted[-1])
    return Launch(2, 32, (empty(60, "i8"),), {0: wanted})


# ---- GPU Puzzles ----


def numbers(rng, *shape):
    return rng.integers(0, 50, shape).astype("f4")


@kernel("GPU Puzzles 1: map")
def puzzle_map(out, a):
    i = cuda.threadIdx.x
    out[i] = a[i] + 10


@puzzle_map.launch
def _(rng):
    a = numbers(rng, 4)
    return Launch(1, 4, (empty(4, "f4"), a), {0: a + 10})


@kernel("GPU Puzzles 2: zip")
def puzzle_zip(out, a, b):
    i = cuda.threadIdx.x
    out[i] = a[i] + b[i]


@puzzle_zip.launch
def _(rng):
    a, b = numbers(rng, 2, 4)
    return Launch(1, 4, (empty(4, "f4"), a, b), {0: a + b})


@kernel("GPU Puzzles 3: guard")
def puzzle_guard(out, a, size):
    i = cuda.threadIdx.x
    if i < size:
        out[i] = a[i] + 10


@puzzle_guard.launch
def _(rng):
    a = numbers(rng, 4)
    return Launch(1, 8, (empty(4, "f4"), a, np.int64(4)), {0: a + 10})


@kernel("GPU Puzzles 4: map of two dimensions")
def puzzle_map_2d(out, a, size):
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    if i < size and j < size:
        out[i, j] = a[i, j] + 10


@puzzle_map_2d.launch
def _(rng):
    a = numbers(rng, 2, 2)
    return Launch(1, (3, 3), (empty((2, 2), "f4"), a, np.int64(2)), {0: a + 10})


@kernel("GPU Puzzles 5: broadcast")
def puzzle_broadcast(out, a, b, size):
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    if i < size and j < size:
        out[i, j] = a[i, 0] + b[0, j]


@puzzle_broadcast.launch
def _(rng):
    a, b = numbers(rng, 2, 1), numbers(rng, 1, 2)
    args = empty((2, 2), "f4"), a, b, np.int64(2)
    return Launch(1, (3, 3), args, {0: a + b})


@kernel("GPU Puzzles 6: blocks")
def puzzle_blocks(out, a, size):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < size:
        out[i] = a[i] + 10


@puzzle_blocks.launch
def _(rng):
    a = numbers(rng, 9)
    return Launch(3, 4, (empty(9, "f4"), a, np.int64(9)), {0: a + 10})


@kernel("GPU Puzzles 7: blocks of two dimensions")
def puzzle_blocks_2d(out, a, size):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    j = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if i < size and j < size:
        out[i, j] = a[i, j] + 10


@puzzle_blocks_2d.launch
def _(rng):
    a = numbers(rng, 5, 5)
    args = empty((5, 5), "f4"), a, np.int64(5)
    return Launch((2, 2), (3, 3), args, {0: a + 10})


@kernel("GPU Puzzles 8: shared memory")
def puzzle_shared(out, a, size):
    s = cuda.shared.array(4, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < size:
        s[t] = a[i]
        cuda.syncthreads()
        out[i] = s[t] + 10


@puzzle_shared.launch
def _(rng):
    a = numbers(rng, 8)
    return Launch(2, 4, (empty(8, "f4"), a, np.int64(8)), {0: a + 10})


@kernel("GPU Puzzles 9: pooling")
def puzzle_pooling(out, a, size):
    s = cuda.shared.array(8, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < size:
        s[t] = a[i]
    cuda.syncthreads()
    if i < size:
        total = s[t]
        if t > 0:
            total += s[t - 1]
        if t > 1:
            total += s[t - 2]
        out[i] = total


@puzzle_pooling.launch
def _(rng):
    a = numbers(rng, 8)
    wide = np.concatenate([[0, 0], a])
    args = empty(8, "f4"), a, np.int64(8)
    return Launch(1, 8, args, {0: wide[2:] + wide[1:-1] + wide[:-2]})


@kernel("GPU Puzzles 10: dot product")
def puzzle_dot(out, a, b, size):
    s = cuda.shared.array(8, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < size:
        s[t] = a[i] * b[i]
    cuda.syncthreads()
    if t == 0:
        total = 0.0
        for k in range(size):
            total += s[k]
        out[0] = total


@puzzle_dot.launch
def _(rng):
    a, b = numbers(rng, 2, 8)
    return Launch(1, 8, (empty(1, "f4"), a, b, np.int64(8)), {0: [a @ b]})


@kernel("GPU Puzzles 11: convolution, with the next block's first elements")
def puzzle_convolution(out, a, b, a_size, b_size):
    sa = cuda.shared.array(12, float32)
    sb = cuda.shared.array(4, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < a_size:
        sa[t] = a[i]
    if t < b_size:
        sb[t] = b[t]
    elif t < 2 * b_size and i - b_size + 8 < a_size:
        sa[8 + t - b_size] = a[i - b_size + 8]
    cuda.syncthreads()
    if i < a_size:
        total = 0.0
        for k in range(b_size):
            if i + k < a_size:
                total += sa[t + k] * sb[k]
        out[i] = total


@puzzle_convolution.launch
def _(rng):
    a, b = numbers(rng, 15), numbers(rng, 4)
    wide = np.concatenate([a, np.zeros(3)])
    wanted = [wide[i : i + 4] @ b for i in range(15)]
    args = empty(15, "f4"), a, b, np.int64(15), np.int64(4)
    return Launch(2, 8, args, {0: wanted})


@kernel("GPU Puzzles 12: sum of each block")
def puzzle_prefix_sum(out, a, size):
    s = cuda.shared.array(8, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    s[t] = a[i] if i < size else float32(0)
    cuda.syncthreads()
    for k in range(3):
        step = 2**k
        if t % (2 * step) == 0:
            s[t] += s[t + step]
        cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@puzzle_prefix_sum.launch
def _(rng):
    a = numbers(rng, 15)
    args = empty(2, "f4"), a, np.int64(15)
    return Launch(2, 8, args, {0: [a[:8].sum(), a[8:].sum()]})


@kernel("GPU Puzzles 13: sum along an axis")
def puzzle_axis_sum(out, a, size):
    s = cuda.shared.array(8, float32)
    i, t, batch = cuda.grid(1), cuda.threadIdx.x, cuda.blockIdx.y
    s[t] = a[batch, i] if i < size else float32(0)
    cuda.syncthreads()
    step = 4
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[batch, 0] = s[0]


@puzzle_axis_sum.launch
def _(rng):
    a = numbers(rng, 4, 6)
    args = empty((4, 1), "f4"), a, np.int64(6)
    return Launch((1, 4), 8, args, {0: a.sum(1, keepdims=True)})


@kernel("GPU Puzzles 14: matrix product")
def puzzle_matmul(out, a, b, size):
    sa = cuda.shared.array((3, 3), float32)
    sb = cuda.shared.array((3, 3), float32)
    i, j = cuda.grid(2)
    ti, tj = cuda.threadIdx.x, cuda.threadIdx.y
    total = float64(0)
    for k in range(0, size, 3):
        inside = i < size and k + tj < size
        sa[ti, tj] = a[i, k + tj] if inside else float32(0)
        inside = j < size and k + ti < size
        sb[ti, tj] = b[k + ti, j] if inside else float32(0)
        cuda.syncthreads()
        for q in range(min(3, size - k)):
            total += sa[ti, q] * sb[q, tj]
        cuda.syncthreads()
    if i < size and j < size:
        out[i, j] = total


@puzzle_matmul.launch
def _(rng):
    a, b = numbers(rng, 2, 8, 8)
    args = empty((8, 8), "f4"), a, b, np.int64(8)
    return Launch((3, 3), (3, 3), args, {0: a @ b})
