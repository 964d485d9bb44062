"""After NVIDIA's CUDA samples: reductions, scans, transposes, sorts, transforms, finance."""

import math

import numpy as np
from numba import cuda, float32, float64, int32, uint32

from .catalogue import Launch, empty, kernel, zeros_and


def drawn(rng, *shape, dtype="f4"):
    return rng.random(shape).astype(dtype)


# ---- vectors, matrices ----


@kernel("CUDA samples: vectorAdd")
def vector_add(out, x, y):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@vector_add.launch
def _(rng):
    x, y = drawn(rng, 100), drawn(rng, 100)
    return Launch(4, 32, (empty(100, "f4"), x, y), {0: x + y})


@kernel("CUDA samples: matrixMul", listed=True)
def matrix_mul(c, a, b):
    sa = cuda.shared.array((8, 8), float32)
    sb = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    total = float32(0)
    for tile in range((a.shape[1] + 7) // 8):
        k = tile * 8
        inside = y < a.shape[0] and k + tx < a.shape[1]
        sa[ty, tx] = a[y, k + tx] if inside else float32(0)
        inside = x < b.shape[1] and k + ty < b.shape[0]
        sb[ty, tx] = b[k + ty, x] if inside else float32(0)
        cuda.syncthreads()
        for i in range(8):
            total += sa[ty, i] * sb[i, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


@matrix_mul.launch
def _(rng):
    a, b = drawn(rng, 13, 19), drawn(rng, 19, 10)
    wanted = a.astype("f8") @ b
    c = empty((13, 10), "f4")
    return Launch((2, 2), (8, 8), (c, a, b), {0: wanted}, roundings=20)


@kernel("CUDA samples: transpose, naive")
def transpose_naive(out, x):
    i, j = cuda.grid(2)
    if i < x.shape[1] and j < x.shape[0]:
        out[i, j] = x[j, i]


@kernel("CUDA samples: transpose, padded tiles", listed=True)
def transpose(out, x):
    tile = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.blockIdx.x * 16 + tx, cuda.blockIdx.y * 16 + ty
    for j in range(0, 16, 4):
        if row + j < x.shape[0] and column < x.shape[1]:
            tile[ty + j, tx] = x[row + j, column]
    cuda.syncthreads()
    column, row = cuda.blockIdx.y * 16 + tx, cuda.blockIdx.x * 16 + ty
    for j in range(0, 16, 4):
        if row + j < out.shape[0] and column < out.shape[1]:
            out[row + j, column] = tile[tx, ty + j]


@kernel("CUDA samples: transpose, diagonal blocks")
def transpose_diagonal(out, x):
    tile = cuda.shared.array((8, 9), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    by = cuda.blockIdx.x
    bx = (cuda.blockIdx.x + cuda.blockIdx.y) % cuda.gridDim.x
    tile[ty, tx] = x[by * 8 + ty, bx * 8 + tx]
    cuda.syncthreads()
    out[bx * 8 + ty, by * 8 + tx] = tile[tx, ty]


@transpose_naive.launch
def _(rng):
    x = drawn(rng, 20, 30)
    return Launch((4, 3), (8, 8), (empty((30, 20), "f4"), x), {0: x.T})


@transpose.launch
def _(rng):
    x = drawn(rng, 20, 35)
    return Launch((3, 2), (16, 4), (empty((35, 20), "f4"), x), {0: x.T})


@transpose_diagonal.launch
def _(rng):
    x = drawn(rng, 24, 24)
    return Launch((3, 3), (8, 8), (empty((24, 24), "f4"), x), {0: x.T})


# ---- reductions ----


@kernel("CUDA samples: reduction 0, interleaved, divergent")
def reduce0(out, x):
    s = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    step = 1
    while step < cuda.blockDim.x:
        if t % (2 * step) == 0:
            s[t] += s[t + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@kernel("CUDA samples: reduction 1, interleaved, bank conflicts")
def reduce1(out, x):
    s = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    step = 1
    while step < cuda.blockDim.x:
        at = 2 * step * t
        if at < cuda.blockDim.x:
            s[at] += s[at + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@kernel("CUDA samples: reduction 2, sequential addresses")
def reduce2(out, x):
    s = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step >>= 1
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@kernel("CUDA samples: reduction 3, first addition at the load")
def reduce3(out, x):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 128 + t
    mine = x[i] if i < x.size else float32(0)
    if i + 64 < x.size:
        mine += x[i + 64]
    s[t] = mine
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            mine += s[t + step]
            s[t] = mine
        cuda.syncthreads()
        step >>= 1
    if t == 0:
        out[cuda.blockIdx.x] = mine


@kernel("CUDA samples: reduction 4, the last warp shuffles")
def reduce4(out, x):
    s = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    mine = x[i] if i < x.size else float32(0)
    s[t] = mine
    cuda.syncthreads()
    step = 64
    while step > 32:
        if t < step:
            mine += s[t + step]
            s[t] = mine
        cuda.syncthreads()
        step >>= 1
    if t < 32:
        mine += s[t + 32]
        step = 16
        while step > 0:
            mine += cuda.shfl_down_sync(0xFFFFFFFF, mine, step)
            step >>= 1
    if t == 0:
        out[cuda.blockIdx.x] = mine


@kernel("CUDA samples: reduction 5, unrolled, warp-synchronous with syncwarp")
def reduce5(out, x):
    s = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    if t < 64:
        s[t] += s[t + 64]
    cuda.syncthreads()
    if t < 32:
        mine = s[t] + s[t + 32]
        cuda.syncwarp()
        s[t] = mine
        cuda.syncwarp()
        for step in (16, 8, 4, 2, 1):
            if t < step:
                mine += s[t + step]
            cuda.syncwarp()
            if t < step:
                s[t] = mine
            cuda.syncwarp()
        if t == 0:
            out[cuda.blockIdx.x] = mine


@kernel("CUDA samples: reduction 6, many elements a thread")
def reduce6(out, x):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 128 + t
    mine = float32(0)
    while i < x.size:
        mine += x[i]
        if i + 64 < x.size:
            mine += x[i + 64]
        i += cuda.gridDim.x * 128
    s[t] = mine
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            mine += s[t + step]
            s[t] = mine
        cuda.syncthreads()
        step >>= 1
    if t == 0:
        out[cuda.blockIdx.x] = mine


@kernel("CUDA samples: reduction 7, warps, then the warps' sums", listed=True)
def reduce7(out, x):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    mine = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        mine += x[i]
    for step in (16, 8, 4, 2, 1):
        mine += cuda.shfl_down_sync(0xFFFFFFFF, mine, step)
    if t % 32 == 0:
        s[t // 32] = mine
    cuda.syncthreads()
    if t < 32:
        mine = s[t] if t < cuda.blockDim.x // 32 else float32(0)
        for step in (16, 8, 4, 2, 1):
            mine += cuda.shfl_down_sync(0xFFFFFFFF, mine, step)
        if t == 0:
            out[cuda.blockIdx.x] = mine


def reduction(rng, threads, each=1, grid=3, size=None, stride=None):
    per = threads * each
    x = drawn(rng, size or grid * per - 5)
    padded = np.zeros(-(-x.size // (grid * per)) * grid * per)
    padded[: x.size] = x
    wanted = padded.reshape(-1, grid, per).sum((0, 2))
    args = empty(grid, "f4"), x
    return Launch(grid, threads, args, {0: wanted}, roundings=12)


reduce0.launch(lambda rng: reduction(rng, 64))
reduce1.launch(lambda rng: reduction(rng, 64))
reduce2.launch(lambda rng: reduction(rng, 64))
reduce3.launch(lambda rng: reduction(rng, 64, 2))
reduce4.launch(lambda rng: reduction(rng, 128))
reduce5.launch(lambda rng: reduction(rng, 128))
reduce6.launch(lambda rng: reduction(rng, 64, 2, 2, 1000))
reduce7.launch(lambda rng: reduction(rng, 96, 1, 2, 1000))


@kernel("CUDA samples: threadFenceReduction, the last block adds up")
def fence_reduction(out, partial, ticket, x):
    s = cuda.shared.array(64, float32)
    last = cuda.shared.array(1, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step >>= 1
    if t == 0:
        partial[cuda.blockIdx.x] = s[0]
        cuda.threadfence()
        last[0] = cuda.atomic.inc(ticket, 0, cuda.gridDim.x - 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0]:
        cuda.threadfence()
        if t == 0:
            total = float32(0)
            for b in range(cuda.gridDim.x):
                total += partial[b]
            out[0] = total


@fence_reduction.launch
def _(rng):
    x = drawn(rng, 300)
    partial = np.zeros(320)
    partial[:300] = x
    partial = partial.reshape(5, 64).sum(1)
    args = empty(1, "f4"), empty(5, "f4"), np.zeros(1, "u4"), x
    outputs = {0: [partial.sum()], 1: partial}
    return Launch(5, 64, args, outputs, {2: np.zeros(1, "u4")}, roundings=12)


@kernel("CUDA samples: scalarProd")
def scalar_product(out, x, y):
    s = cuda.shared.array(64, float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    while row < out.size:
        mine = float32(0)
        for i in range(t, x.shape[1], 64):
            mine += x[row, i] * y[row, i]
        cuda.syncthreads()
        s[t] = mine
        step = 32
        while step > 0:
            cuda.syncthreads()
            if t < step:
                s[t] += s[t + step]
            step >>= 1
        if t == 0:
            out[row] = s[0]
        row += cuda.gridDim.x


@scalar_product.launch
def _(rng):
    x, y = drawn(rng, 5, 200), drawn(rng, 5, 200)
    wanted = (x.astype("f8") * y).sum(1)
    return Launch(2, 64, (empty(5, "f4"), x, y), {0: wanted}, roundings=12)


@kernel("CUDA samples: simpleAtomicIntrinsics")
def simple_atomics(words, exchanged):
    i = cuda.grid(1)
    cuda.atomic.add(words, 0, 10)
    cuda.atomic.sub(words, 1, 10)
    cuda.atomic.exch(exchanged, 0, i)
    cuda.atomic.max(words, 3, i)
    cuda.atomic.min(words, 4, i)
    cuda.atomic.inc(words, 5, 17)
    cuda.atomic.dec(words, 6, 137)
    cuda.atomic.cas(words, 7, i - 1, i)
    cuda.atomic.and_(words, 8, 2 * i + 7)
    cuda.atomic.or_(words, 9, 1 << (i % 32))
    cuda.atomic.xor(words, 10, i)


@simple_atomics.launch
def _(rng):
    words = np.array([0, 5000, 0, 0, 999, 0, 0, 2**31, 0xFF, 0, 0xFF], "u4")
    n, left = 96, words.copy()
    left[[0, 1, 3, 4]] = n * 10, 5000 - n * 10, n - 1, 0
    left[5], down = n % 18, 0
    for i in range(n):
        down = 137 if down == 0 or down > 137 else down - 1
        left[8] &= 2 * i + 7
        left[10] ^= i
    left[6], left[9] = down, 2**32 - 1
    return Launch(3, 32, (words, np.zeros(1, "u4")), changed={0: left, 1: None})


# ---- scans ----


@kernel("GPU Gems 3: naive scan, two buffers", listed=True)
def scan_naive(out, x):
    s = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    now = 0
    s[0, t] = x[t - 1] if t > 0 else float32(0)
    cuda.syncthreads()
    step = 1
    while step < 64:
        then, now = now, 1 - now
        mine = s[then, t]
        if t >= step:
            mine += s[then, t - step]
        s[now, t] = mine
        cuda.syncthreads()
        step *= 2
    out[t] = s[now, t]


@kernel("GPU Gems 3: work-efficient scan, up and down a tree", listed=True)
def scan_efficient(out, x):
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    s[2 * t], s[2 * t + 1] = x[2 * t], x[2 * t + 1]
    offset, d = 1, 64
    while d > 0:
        cuda.syncthreads()
        if t < d:
            s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1]
        offset *= 2
        d >>= 1
    if t == 0:
        s[127] = 0
    d = 1
    while d < 128:
        offset >>= 1
        cuda.syncthreads()
        if t < d:
            a, b = offset * (2 * t + 1) - 1, offset * (2 * t + 2) - 1
            left = s[a]
            s[a] = s[b]
            s[b] += left
        d *= 2
    cuda.syncthreads()
    out[2 * t], out[2 * t + 1] = s[2 * t], s[2 * t + 1]


def exclusive(rng, size, threads):
    x = drawn(rng, size)
    wanted = np.concatenate([[0], np.cumsum(x[:-1], dtype="f8")])
    return Launch(1, threads, (empty(size, "f4"), x), {0: wanted}, roundings=16)


scan_naive.launch(lambda rng: exclusive(rng, 64, 64))
scan_efficient.launch(lambda rng: exclusive(rng, 128, 64))


@kernel("CUDA samples: shfl_scan")
def shuffle_scan(out, sums, x):
    warps = cuda.shared.array(32, int32)
    t, lane = cuda.threadIdx.x, cuda.laneid
    mine = x[cuda.grid(1)]
    for step in (1, 2, 4, 8, 16):
        other = cuda.shfl_up_sync(0xFFFFFFFF, mine, step)
        if lane >= step:
            mine += other
    if lane == 31:
        warps[t // 32] = mine
    cuda.syncthreads()
    if t < 32:
        total = warps[t] if t < cuda.blockDim.x // 32 else int32(0)
        for step in (1, 2, 4, 8, 16):
            other = cuda.shfl_up_sync(0xFFFFFFFF, total, step)
            if lane >= step:
                total += other
        warps[t] = total
    cuda.syncthreads()
    if t >= 32:
        mine += warps[t // 32 - 1]
    out[cuda.grid(1)] = mine
    if t == cuda.blockDim.x - 1:
        sums[cuda.blockIdx.x] = mine


@shuffle_scan.launch
def _(rng):
    x = rng.integers(-9, 9, 256).astype("i4")
    wanted = np.cumsum(x.reshape(2, 128), 1)
    args = empty(256, "i4"), empty(2, "i4"), x
    return Launch(2, 128, args, {0: wanted.ravel(), 1: wanted[:, -1]})


@kernel("CUDA samples: scan, Hillis and Steele in place with a padded half")
def scan_padded(out, x):
    s = cuda.shared.array(128, uint32)
    t = cuda.threadIdx.x
    s[t] = 0
    at = t + 64
    s[at] = x[cuda.grid(1)]
    step = 1
    while step < 64:
        cuda.syncthreads()
        mine = s[at] + s[at - step]
        cuda.syncthreads()
        s[at] = mine
        step <<= 1
    out[cuda.grid(1)] = s[at]


@scan_padded.launch
def _(rng):
    x = rng.integers(0, 2**32, 128, dtype="u4")
    wanted = np.cumsum(x.reshape(2, 64), 1, dtype="u4").ravel()
    return Launch(2, 64, (empty(128, "u4"), x), {0: wanted})


# ---- histograms, sorts ----


@kernel("CUDA samples: histogram, a part for each warp, then merged", listed=True)
def histogram(bins, data):
    parts = cuda.shared.array((2, 64), uint32)
    t = cuda.threadIdx.x
    for i in range(t, 128, cuda.blockDim.x):
        parts[i // 64, i % 64] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
        cuda.atomic.add(parts, (t // 32, data[i] >> 2), uint32(1))
    cuda.syncthreads()
    for i in range(t, 64, cuda.blockDim.x):
        cuda.atomic.add(bins, i, parts[0, i] + parts[1, i])


@histogram.launch
def _(rng):
    data = rng.integers(0, 256, 500).astype("u1")
    wanted = np.bincount(data >> 2, minlength=64).astype("u4")
    return Launch(2, 64, (zeros_and(wanted), data), changed={0: wanted})


@kernel("CUDA samples: sortingNetworks, bitonic", listed=True)
def bitonic(x):
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    s[t], s[t + 64] = x[t], x[t + 64]
    size = 2
    while size <= 128:
        up = (t & (size // 2)) == 0 or size == 128
        stride = size // 2
        while stride > 0:
            cuda.syncthreads()
            at = 2 * t - (t & (stride - 1))
            a, b = s[at], s[at + stride]
            if (a > b) == up:
                s[at], s[at + stride] = b, a
            stride >>= 1
        size <<= 1
    cuda.syncthreads()
    x[t], x[t + 64] = s[t], s[t + 64]


@bitonic.launch
def _(rng):
    x = drawn(rng, 128)
    wanted = np.sort(x)
    return Launch(1, 64, (x,), changed={0: wanted})


@kernel("CUDA samples: sortingNetworks, odd-even merge with payloads")
def odd_even_merge(keys, values):
    k = cuda.shared.array(128, uint32)
    v = cuda.shared.array(128, uint32)
    t = cuda.threadIdx.x
    for i in range(t, 128, 64):
        k[i], v[i] = keys[i], values[i]
    size = 2
    while size <= 128:
        stride = size // 2
        offset = t & (stride - 1)
        while stride > 0:
            cuda.syncthreads()
            at = 2 * t - (t & (stride - 1))
            low, high = at, at + stride
            compare = True
            if stride < size // 2:
                low, high = at - stride, at
                compare = offset >= stride
            if compare and k[low] > k[high]:
                k[low], k[high] = k[high], k[low]
                v[low], v[high] = v[high], v[low]
            stride >>= 1
        size <<= 1
    cuda.syncthreads()
    for i in range(t, 128, 64):
        keys[i], values[i] = k[i], v[i]


@odd_even_merge.launch
def _(rng):
    keys = rng.permutation(128).astype("u4") * 7
    values = np.arange(128, dtype="u4")
    order = np.argsort(keys)
    return Launch(1, 64, (keys, values), changed={0: keys[order], 1: order})


@kernel("CUDA samples: mergeSort, ranks by binary search")
def merge_ranks(out, x):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    stride = 1
    while stride < 64:
        cuda.syncthreads()
        mine, at = s[t], t & (stride - 1)
        upper = (t & stride) != 0
        base = (t - at) ^ stride
        low, high = 0, stride
        while low < high:
            middle = (low + high) // 2
            other = s[base + middle]
            if other < mine or (upper and other == mine):
                low = middle + 1
            else:
                high = middle
        cuda.syncthreads()
        s[(t & ~(2 * stride - 1)) + at + low] = mine
        stride *= 2
    cuda.syncthreads()
    out[t] = s[t]


@merge_ranks.launch
def _(rng):
    x = rng.integers(0, 40, 64).astype("i4")
    return Launch(1, 64, (empty(64, "i4"), x), {0: np.sort(x)})


# ---- images, transforms ----


@kernel("CUDA samples: convolutionSeparable, rows", listed=True)
def convolution_rows(out, x, taps):
    s = cuda.shared.array((4, 24), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, first = cuda.blockIdx.y * 4 + ty, cuda.blockIdx.x * 16 - 4
    for i in range(tx, 24, 16):
        at = first + i
        s[ty, i] = x[row, at] if 0 <= at < x.shape[1] else float32(0)
    cuda.syncthreads()
    total = float32(0)
    for j in range(-4, 5):
        total += taps[4 - j] * s[ty, tx + 4 + j]
    out[row, first + 4 + tx] = total


@kernel("CUDA samples: convolutionSeparable, columns")
def convolution_columns(out, x, taps):
    s = cuda.shared.array((16, 9), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, first = cuda.blockIdx.x * 8 + tx, cuda.blockIdx.y * 8 - 4
    for i in range(ty, 16, 8):
        at = first + i
        s[i, tx] = x[at, column] if 0 <= at < x.shape[0] else float32(0)
    cuda.syncthreads()
    total = float32(0)
    for j in range(-4, 5):
        total += taps[4 - j] * s[ty + 4 + j, tx]
    out[first + 4 + ty, column] = total


def convolved(x, taps, axis):
    full = np.apply_along_axis(np.convolve, axis, x.astype("f8"), taps.astype("f8"))
    return full[:, 4:-4] if axis else full[4:-4]


@convolution_rows.launch
def _(rng):
    x, taps = drawn(rng, 8, 32), drawn(rng, 9)
    args = empty((8, 32), "f4"), x, taps
    wanted = convolved(x, taps, 1)
    return Launch((2, 2), (16, 4), args, {0: wanted}, roundings=10)


@convolution_columns.launch
def _(rng):
    x, taps = drawn(rng, 24, 16), drawn(rng, 9)
    args = empty((24, 16), "f4"), x, taps
    wanted = convolved(x, taps, 0)
    return Launch((2, 3), (8, 8), args, {0: wanted}, roundings=10)


@kernel("CUDA samples: SobelFilter")
def sobel(out, x):
    i, j = cuda.grid(2)
    if 0 < i < x.shape[1] - 1 and 0 < j < x.shape[0] - 1:
        across = int32(0)
        down = int32(0)
        for k in range(-1, 2):
            weight = 2 - abs(k)
            across += weight * (int32(x[j + k, i + 1]) - int32(x[j + k, i - 1]))
            down += weight * (int32(x[j + 1, i + k]) - int32(x[j - 1, i + k]))
        out[j, i] = min(255, (abs(across) + abs(down)) // 2)
    elif i < x.shape[1] and j < x.shape[0]:
        out[j, i] = 0


@sobel.launch
def _(rng):
    x = rng.integers(0, 256, (14, 21)).astype("u1")
    y, wanted = x.astype(int), np.zeros(x.shape, "u1")
    c = y[:-2] + 2 * y[1:-1] + y[2:]
    r = y[:, :-2] + 2 * y[:, 1:-1] + y[:, 2:]
    size = abs(c[:, 2:] - c[:, :-2]) + abs(r[2:] - r[:-2])
    wanted[1:-1, 1:-1] = np.minimum(255, size // 2)
    return Launch((3, 2), (8, 8), (empty((14, 21), "u1"), x), {0: wanted})


@kernel("CUDA samples: dct8x8")
def dct8x8(out, x, basis):
    s = cuda.shared.array((8, 8), float32)
    h = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    s[ty, tx] = x[row, column] - float32(128)
    cuda.syncthreads()
    total = float32(0)
    for k in range(8):
        total += basis[ty, k] * s[k, tx]
    h[ty, tx] = total
    cuda.syncthreads()
    total = float32(0)
    for k in range(8):
        total += h[ty, k] * basis[tx, k]
    out[row, column] = total


@dct8x8.launch
def _(rng):
    x = rng.integers(0, 256, (16, 24)).astype("f4")
    k, i = np.mgrid[:8, :8]
    basis = np.cos((2 * i + 1) * k * np.pi / 16) * np.where(k, 0.5, 0.5**1.5)
    tiles = x.reshape(2, 8, 3, 8).swapaxes(1, 2) - 128.0
    wanted = (basis @ tiles @ basis.T).swapaxes(1, 2).reshape(16, 24)
    args = empty((16, 24), "f4"), x, basis.astype("f4")
    return Launch((3, 2), (8, 8), args, {0: wanted}, roundings=40, scale=1024)


@kernel("CUDA samples: fastWalshTransform")
def fast_walsh(x):
    s = cuda.shared.array(0, float32)
    t, n = cuda.threadIdx.x, x.size
    for i in range(t, n, cuda.blockDim.x):
        s[i] = x[i]
    stride = n >> 2
    while stride > 0:
        low = t & (stride - 1)
        i = ((t - low) << 2) + low
        cuda.syncthreads()
        a, b, c, d = s[i], s[i + stride], s[i + 2 * stride], s[i + 3 * stride]
        a, c = a + c, a - c
        b, d = b + d, b - d
        s[i], s[i + stride] = a + b, a - b
        s[i + 2 * stride], s[i + 3 * stride] = c + d, c - d
        stride >>= 2
    cuda.syncthreads()
    for i in range(t, n, cuda.blockDim.x):
        x[i] = s[i]


@fast_walsh.launch
def _(rng):
    x = rng.integers(-50, 50, 256).astype("f4")
    i = np.arange(256)
    signs = 1 - 2 * (np.bitwise_count(i[:, None] & i) % 2).astype(int)
    return Launch(1, 64, (x,), changed={0: signs @ x}, dynamic=1024)


@kernel("CUDA samples: boxFilter, running sums along rows")
def box_rows(out, x, radius):
    row = cuda.grid(1)
    if row >= x.shape[0]:
        return
    n = x.shape[1]
    total = x[row, 0] * radius
    for i in range(radius + 1):
        total += x[row, i]
    out[row, 0] = total
    for i in range(1, n):
        total += x[row, min(i + radius, n - 1)] - x[row, max(i - radius - 1, 0)]
        out[row, i] = total


@box_rows.launch
def _(rng):
    x = rng.integers(0, 99, (10, 12)).astype("i4")
    wide = np.pad(x, ((0, 0), (2, 2)), "edge")
    wanted = sum(wide[:, i : i + 12] for i in range(5))
    return Launch(2, 8, (empty((10, 12), "i4"), x, np.int32(2)), {0: wanted})


# ---- finance, physics ----


@cuda.jit(device=True)
def normal_cdf(d):
    k = float32(1) / (float32(1) + float32(0.2316419) * abs(d))
    tail = float32(1.330274429)
    tail = float32(-1.821255978) + k * tail
    tail = float32(1.781477937) + k * tail
    tail = float32(-0.356563782) + k * tail
    tail = k * (float32(0.31938153) + k * tail)
    tail *= float32(0.39894228) * math.exp(float32(-0.5) * d * d)
    return float32(1) - tail if d > 0 else tail


@kernel("CUDA samples: BlackScholes")
def black_scholes(call, put, price, strike, years, rate, volatility):
    i = cuda.grid(1)
    if i < price.size:
        root = math.sqrt(years[i])
        d1 = math.log(price[i] / strike[i])
        d1 += (rate + float32(0.5) * volatility * volatility) * years[i]
        d1 /= volatility * root
        d2 = d1 - volatility * root
        discounted = strike[i] * math.exp(-rate * years[i])
        n1, n2 = normal_cdf(d1), normal_cdf(d2)
        call[i] = price[i] * n1 - discounted * n2
        put[i] = discounted * (float32(1) - n2) - price[i] * (float32(1) - n1)


def black_scholes_price(price, strike, years, rate, volatility):
    cdf = np.vectorize(lambda d: math.erfc(-d / math.sqrt(2)) / 2)
    price, strike, years = (x.astype("f8") for x in (price, strike, years))
    d1 = np.log(price / strike) + (rate + volatility**2 / 2) * years
    d1 /= volatility * np.sqrt(years)
    n1, n2 = cdf(d1), cdf(d1 - volatility * np.sqrt(years))
    discounted = strike * np.exp(-rate * years)
    return price * n1 - discounted * n2, discounted * (1 - n2) - price * (1 - n1)


@black_scholes.launch
def _(rng):
    price = rng.uniform(5, 30, 70).astype("f4")
    strike = rng.uniform(1, 50, 70).astype("f4")
    years = rng.uniform(0.25, 5, 70).astype("f4")
    rate, volatility = np.float32(0.02), np.float32(0.3)
    args = empty(70, "f4"), empty(70, "f4"), price, strike, years, rate, volatility
    call, put = black_scholes_price(price, strike, years, 0.02, 0.3)
    # The polynomial of the distribution is off by 7.5e-8, of at most 50.
    return Launch(3, 32, args, {0: call, 1: put}, roundings=40, scale=50)


@kernel("CUDA samples: binomialOptions, float64")
def binomial_option(out, price, strike, up, down, discounted_up, discounted_down):
    v = cuda.shared.array(65, float64)
    t = cuda.threadIdx.x
    steps = 64
    for i in range(t, steps + 1, cuda.blockDim.x):
        at_end = price * math.pow(up, float64(i)) * math.pow(down, float64(steps - i))
        v[i] = max(at_end - strike[cuda.blockIdx.x], 0.0)
    cuda.syncthreads()
    for end in range(steps, 0, -1):
        mine = discounted_up * v[t + 1] + discounted_down * v[t] if t < end else 0.0
        cuda.syncthreads()
        if t < end:
            v[t] = mine
        cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = v[0]


@binomial_option.launch
def _(rng):
    strike = np.array([80.0, 100.0, 120.0])
    up, rate = math.exp(0.3 / 8), math.exp(0.03 / 64)
    chance = (rate - 1 / up) / (up - 1 / up)
    i = np.arange(65)
    ways = np.array([math.comb(64, k) for k in i], "f8")
    weights = ways * chance**i * (1 - chance) ** (64 - i) / rate**64
    ends = np.maximum(100 * up ** (2.0 * i - 64) - strike[:, None], 0)
    scalars = np.float64(100), up, 1 / up, chance / rate, (1 - chance) / rate
    price, *rest = map(np.float64, scalars)
    args = empty(3, "f8"), price, strike, *rest
    return Launch(3, 64, args, {0: ends @ weights}, roundings=400)


@kernel("CUDA samples: MonteCarlo, option prices", listed=True)
def monte_carlo_option(out, normals, price, strike, drift, volatility):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for i in range(t, normals.size, cuda.blockDim.x):
        end = price * math.exp(drift + volatility * normals[i])
        total += max(end - strike[cuda.blockIdx.x], float32(0))
    s[t] = total
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0] / float32(normals.size)


@monte_carlo_option.launch
def _(rng):
    normals = rng.standard_normal(400).astype("f4")
    strike = np.array([90, 110], "f4")
    price, drift, volatility = map(np.float32, (100, 0.01, 0.25))
    args = empty(2, "f4"), normals, price, strike, drift, volatility
    ends = 100 * np.exp(np.float64(drift) + np.float64(volatility) * normals)
    wanted = np.maximum(ends - strike[:, None], 0).mean(1)
    return Launch(2, 64, args, {0: wanted}, roundings=30, scale=100)


@kernel("CUDA samples: nbody, tiles in shared memory", listed=True)
def nbody(force, bodies):
    s = cuda.shared.array((32, 4), float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    x, y, z = bodies[i, 0], bodies[i, 1], bodies[i, 2]
    ax = ay = az = float32(0)
    for tile in range(cuda.gridDim.x):
        for k in range(4):
            s[t, k] = bodies[tile * 32 + t, k]
        cuda.syncthreads()
        for j in range(32):
            dx, dy, dz = s[j, 0] - x, s[j, 1] - y, s[j, 2] - z
            square = dx * dx + dy * dy + dz * dz + float32(0.01)
            inverse = float32(1) / math.sqrt(square)
            pull = s[j, 3] * inverse * inverse * inverse
            ax += dx * pull
            ay += dy * pull
            az += dz * pull
        cuda.syncthreads()
    force[i, 0], force[i, 1], force[i, 2] = ax, ay, az


@nbody.launch
def _(rng):
    bodies = drawn(rng, 64, 4)
    wide = bodies.astype("f8")
    d = wide[:, :3] - wide[:, None, :3]
    pulls = wide[:, 3] / ((d**2).sum(2) + np.float32(0.01)) ** 1.5
    each = d * pulls[..., None]
    args = empty((64, 3), "f4"), bodies
    most = abs(each).sum(1).max()
    return Launch(2, 32, args, {0: each.sum(1)}, roundings=80, scale=most)


@kernel("CUDA samples: quasirandomGenerator, Sobol by bits of a Gray code")
def quasirandom(out, directions):
    i = cuda.grid(1)
    dimension = cuda.blockIdx.y
    if i < out.shape[1]:
        gray, bits, bit = i ^ (i >> 1), uint32(0), 0
        while gray:
            if gray & 1:
                bits ^= directions[dimension, bit]
            gray >>= 1
            bit += 1
        out[dimension, i] = float32(bits) * float32(2.0**-32)


@quasirandom.launch
def _(rng):
    v = np.zeros((2, 32), "u4")
    v[0] = 1 << np.arange(31, -1, -1)
    m = [1]
    for _ in range(31):
        m.append(m[-1] * 2 ^ m[-1])
    v[1] = [(x << (31 - i)) & 0xFFFFFFFF for i, x in enumerate(m)]
    wanted = np.zeros((2, 50), "u4")
    for i in range(50):
        for bit in range(8):
            if (i ^ i >> 1) >> bit & 1:
                wanted[:, i] ^= v[:, bit]
    args = empty((2, 50), "f4"), v
    return Launch((2, 2), 32, args, {0: wanted.astype("f4") * np.float32(2.0**-32)})


@kernel("CUDA samples: FDTD3d, a stencil along z in registers")
def stencil_3d(out, x):
    i, j = cuda.grid(2)
    if not (0 < i < x.shape[2] - 1 and 0 < j < x.shape[1] - 1):
        return
    below, now = x[0, j, i], x[1, j, i]
    for k in range(1, x.shape[0] - 1):
        above = x[k + 1, j, i]
        around = x[k, j, i - 1] + x[k, j, i + 1] + x[k, j - 1, i] + x[k, j + 1, i]
        out[k, j, i] = float32(0.4) * now + float32(0.1) * (below + above + around)
        below, now = now, above


@stencil_3d.launch
def _(rng):
    x = drawn(rng, 6, 9, 10)
    y, out = x.astype("f8"), np.zeros(x.shape)
    c = y[1:-1, 1:-1, 1:-1]
    near = y[:-2, 1:-1, 1:-1] + y[2:, 1:-1, 1:-1]
    near = near + y[1:-1, :-2, 1:-1] + y[1:-1, 2:, 1:-1]
    near = near + y[1:-1, 1:-1, :-2] + y[1:-1, 1:-1, 2:]
    out[1:-1, 1:-1, 1:-1] = 0.4 * c + 0.1 * near
    args = np.zeros(x.shape, "f4"), x
    return Launch((2, 2), (8, 8), args, changed={0: out}, roundings=10)


@kernel("CUDA samples: mandelbrot", listed=True)
def mandelbrot(out, x0, y0, step):
    i, j = cuda.grid(2)
    if i < out.shape[1] and j < out.shape[0]:
        cx, cy = x0 + step * i, y0 + step * j
        zx = zy = float64(0)
        n = 0
        while n < 50 and zx * zx + zy * zy <= 4.0:
            zx, zy = zx * zx - zy * zy + cx, 2.0 * zx * zy + cy
            n += 1
        out[j, i] = n


@mandelbrot.launch
def _(rng):
    x0, y0, step = -2.03, -1.21, 0.25
    c = x0 + step * np.arange(12) + 1j * (y0 + step * np.arange(10))[:, None]
    z, wanted = np.zeros_like(c), np.zeros(c.shape, "i4")
    for _ in range(50):
        going = abs(z) <= 2
        wanted += going
        z = np.where(going, z * z + c, z)
    args = empty((10, 12), "i4"), *map(np.float64, (x0, y0, step))
    return Launch((2, 2), (8, 8), args, {0: wanted})
