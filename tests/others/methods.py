"""Algorithms of numerics, graphs and data: from libraries, textbooks and papers."""

import math

import numpy as np
from numba import cuda, float32, float64, int32, int64

from .catalogue import Launch, empty, kernel

# ---- linear algebra ----


@kernel("LU of a tile in shared memory, without pivots, float64")
def lu_tile(a):
    s = cuda.shared.array((16, 16), float64)
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    s[i, j] = a[cuda.blockIdx.x, i, j]
    cuda.syncthreads()
    for k in range(15):
        if i > k and j == k:
            s[i, k] /= s[k, k]
        cuda.syncthreads()
        if i > k and j > k:
            s[i, j] -= s[i, k] * s[k, j]
        cuda.syncthreads()
    a[cuda.blockIdx.x, i, j] = s[i, j]


@lu_tile.launch
def _(rng):
    a = rng.random((2, 16, 16)) + 16 * np.eye(16)
    wanted = a.copy()
    for m in wanted:
        for k in range(15):
            m[k + 1 :, k] /= m[k, k]
            m[k + 1 :, k + 1 :] -= np.outer(m[k + 1 :, k], m[k, k + 1 :])
    return Launch(2, (16, 16), (a,), changed={0: wanted}, roundings=32)


@kernel("MAGMA-like: Cholesky of a tile, float64")
def cholesky_tile(a):
    s = cuda.shared.array((16, 17), float64)
    t = cuda.threadIdx.x
    for j in range(16):
        s[t, j] = a[t, j]
    cuda.syncthreads()
    for k in range(16):
        if t == k:
            s[k, k] = math.sqrt(s[k, k])
        cuda.syncthreads()
        if t > k:
            s[t, k] /= s[k, k]
        cuda.syncthreads()
        for j in range(k + 1, t + 1):
            s[t, j] -= s[t, k] * s[j, k]
        cuda.syncthreads()
    for j in range(16):
        a[t, j] = s[t, j] if j <= t else 0.0


@cholesky_tile.launch
def _(rng):
    b = rng.random((16, 16))
    a = b @ b.T + 16 * np.eye(16)
    return Launch(1, 16, (a,), changed={0: np.linalg.cholesky(a)}, roundings=80)


@kernel("Hand-written triangular solve, a column a thread", fastmath=True)
def triangular_solve(x, l, b):
    j = cuda.grid(1)
    if j < b.shape[1]:
        for i in range(l.shape[0]):
            total = b[i, j]
            for k in range(i):
                total -= l[i, k] * x[k, j]
            x[i, j] = total / l[i, i]


@triangular_solve.launch
def _(rng):
    l = (np.tril(rng.random((10, 10))) + 4 * np.eye(10)).astype("f4")
    b = rng.random((10, 20)).astype("f4")
    wanted = np.linalg.solve(l.astype("f8"), b)
    args = empty((10, 20), "f4"), l, b
    return Launch(1, 32, args, {0: wanted}, roundings=40)


@kernel("Zhang and others: parallel cyclic reduction of tridiagonal systems")
def cyclic_reduction(x, lower, main, upper, right):
    s = cuda.shared.array((4, 32), float64)
    i = cuda.threadIdx.x
    s[0, i], s[1, i], s[2, i], s[3, i] = lower[i], main[i], upper[i], right[i]
    step = 1
    while step < 32:
        cuda.syncthreads()
        low, high = max(i - step, 0), min(i + step, 31)
        k1 = s[0, i] / s[1, low] if i >= step else 0.0
        k2 = s[2, i] / s[1, high] if i + step < 32 else 0.0
        a, b, c = -s[0, low] * k1, s[1, i] - s[2, low] * k1, -s[2, high] * k2
        b -= s[0, high] * k2
        d = s[3, i] - s[3, low] * k1 - s[3, high] * k2
        cuda.syncthreads()
        s[0, i], s[1, i], s[2, i], s[3, i] = a, b, c, d
        step *= 2
    x[i] = s[3, i] / s[1, i]


@cyclic_reduction.launch
def _(rng):
    lower, upper, right = rng.random((3, 32))
    lower[0] = upper[-1] = 0
    main = 4 + rng.random(32)
    full = np.diag(main) + np.diag(lower[1:], -1) + np.diag(upper[:-1], 1)
    args = empty(32, "f8"), lower, main, upper, right
    return Launch(1, 32, args, {0: np.linalg.solve(full, right)}, roundings=40)


@kernel("Bell and Garland: sparse matrix by vector, a row a thread", listed=True)
def spmv(y, starts, columns, values, x):
    row = cuda.grid(1)
    if row < y.size:
        total = float32(0)
        for e in range(starts[row], starts[row + 1]):
            total += values[e] * x[columns[e]]
        y[row] = total


@kernel("Bell and Garland: sparse matrix by vector, a row a warp")
def spmv_warp(y, starts, columns, values, x):
    i = cuda.grid(1)
    row, lane = i // 32, i % 32
    if row < y.size:
        total = float32(0)
        for e in range(starts[row] + lane, starts[row + 1], 32):
            total += values[e] * x[columns[e]]
        for step in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
        if lane == 0:
            y[row] = total


@kernel("Sparse matrix by vector, triples and atomic sums")
def spmv_triples(y, rows, columns, values, x):
    for e in range(cuda.grid(1), rows.size, cuda.gridsize(1)):
        cuda.atomic.add(y, rows[e], values[e] * x[columns[e]])


def sparse(rng, rows=30, columns=70):
    full = np.where(rng.random((rows, columns)) < 0.3, rng.random((rows, columns)), 0)
    full, x = full.astype("f4"), rng.random(columns).astype("f4")
    r, c = np.nonzero(full)
    starts = np.concatenate([[0], np.bincount(r, minlength=rows).cumsum()])
    parts = r.astype("i4"), starts.astype("i4"), c.astype("i4"), full[r, c], x
    return *parts, full.astype("f8") @ x


@spmv.launch
def _(rng):
    _, starts, columns, values, x, wanted = sparse(rng)
    args = empty(30, "f4"), starts, columns, values, x
    return Launch(1, 32, args, {0: wanted}, roundings=40)


@spmv_warp.launch
def _(rng):
    _, starts, columns, values, x, wanted = sparse(rng, 7, 150)
    args = empty(7, "f4"), starts, columns, values, x
    return Launch(4, 64, args, {0: wanted}, roundings=20)


@spmv_triples.launch
def _(rng):
    rows, _, columns, values, x, wanted = sparse(rng)
    args = np.zeros(30, "f4"), rows, columns, values, x
    return Launch(2, 64, args, changed={0: wanted}, roundings=40)


@kernel("Floyd and Warshall: shortest paths, a block for the matrix")
def shortest_paths(d):
    s = cuda.shared.array((12, 12), int32)
    j, i = cuda.threadIdx.x, cuda.threadIdx.y
    s[i, j] = d[i, j]
    cuda.syncthreads()
    for k in range(12):
        through = s[i, k] + s[k, j]
        cuda.syncthreads()
        if through < s[i, j]:
            s[i, j] = through
        cuda.syncthreads()
    d[i, j] = s[i, j]


@shortest_paths.launch
def _(rng):
    d = np.where(rng.random((12, 12)) < 0.3, rng.integers(1, 20, (12, 12)), 10000)
    d = d.astype("i4")
    wanted = d.copy()
    for k in range(12):
        wanted = np.minimum(wanted, wanted[:, k : k + 1] + wanted[k])
    return Launch(1, (12, 12), (d,), changed={0: wanted})


# ---- grids, signals ----


@kernel("Fourier transform of 64 numbers in shared memory, radix 2")
def fft(real, imaginary):
    re = cuda.shared.array(64, float32)
    im = cuda.shared.array(64, float32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    for i in range(t, 64, 32):
        turned = cuda.brev(int32(i)) >> 26 & 63
        re[turned], im[turned] = real[b, i], imaginary[b, i]
    half = 1
    while half < 64:
        cuda.syncthreads()
        k = t % half
        low = t // half * half * 2 + k
        high = low + half
        angle = float32(-math.pi) * float32(k) / float32(half)
        c, s = math.cos(angle), math.sin(angle)
        x, y = re[high] * c - im[high] * s, re[high] * s + im[high] * c
        re[high], im[high] = re[low] - x, im[low] - y
        re[low], im[low] = re[low] + x, im[low] + y
        half *= 2
    cuda.syncthreads()
    for i in range(t, 64, 32):
        real[b, i], imaginary[b, i] = re[i], im[i]


@fft.launch
def _(rng):
    x = rng.standard_normal((2, 2, 64)).astype("f4")
    wanted = np.fft.fft(x[0].astype("f8") + 1j * x[1])
    real, imaginary = x[0].copy(), x[1].copy()
    changed = {0: wanted.real, 1: wanted.imag}
    return Launch(2, 32, (real, imaginary), changed=changed, roundings=20)


@kernel("cuSignal-like: filter, upsampled by 3 and downsampled by 2")
def resample(out, x, taps):
    i = cuda.grid(1)
    if i < out.size:
        total = float64(0)
        at = i * 2
        for k in range(at % 3, taps.size, 3):
            j = (at - k) // 3
            if 0 <= j < x.size:
                total += taps[k] * x[j]
        out[i] = total


@resample.launch
def _(rng):
    x, taps = rng.standard_normal(30), rng.standard_normal(11)
    wide = np.zeros(90)
    wide[::3] = x
    wanted = np.convolve(wide, taps)[:90:2]
    args = empty(len(wanted), "f8"), x, taps
    return Launch(2, 32, args, {0: wanted}, roundings=20)


@kernel("cuSignal-like: Lomb and Scargle's periodogram", fastmath=True)
def periodogram(out, times, values, frequencies):
    i = cuda.grid(1)
    if i < frequencies.size:
        f = frequencies[i]
        yc = ys = cc = ss = cs = float32(0)
        for j in range(times.size):
            c, s = math.cos(f * times[j]), math.sin(f * times[j])
            yc += values[j] * c
            ys += values[j] * s
            cc += c * c
            ss += s * s
            cs += c * s
        tau = math.atan2(float32(2) * cs, cc - ss) / (float32(2) * f)
        ct, st = math.cos(f * tau), math.sin(f * tau)
        first = ct * yc + st * ys
        second = ct * ys - st * yc
        one = ct * ct * cc + float32(2) * ct * st * cs + st * st * ss
        other = ct * ct * ss - float32(2) * ct * st * cs + st * st * cc
        out[i] = float32(0.5) * (first * first / one + second * second / other)


@periodogram.launch
def _(rng):
    times = np.sort(rng.uniform(0, 5, 30)).astype("f4")
    values = rng.standard_normal(30).astype("f4")
    f = np.linspace(0.5, 3, 20).astype("f4")
    t, y, w = times.astype("f8"), values.astype("f8"), f.astype("f8")[:, None]
    tau = np.arctan2(np.sin(2 * w * t).sum(1), np.cos(2 * w * t).sum(1))[:, None] / 2
    c, s = np.cos(w * t - tau), np.sin(w * t - tau)
    wanted = ((c @ y) ** 2 / (c * c).sum(1) + (s @ y) ** 2 / (s * s).sum(1)) / 2
    # The fast sine is off by 2⁻²¹, and an angle of 15 by a rounding of 16.
    args = empty(20, "f4"), times, values, f
    return Launch(1, 32, args, {0: wanted}, roundings=1000)


@kernel("Heat: a stencil with a halo in shared memory")
def heat(out, x, rate):
    s = cuda.shared.array((10, 10), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    ny, nx = x.shape
    for e in range(ty * 8 + tx, 100, 64):
        i = (cuda.blockIdx.x * 8 + e % 10 - 1 + nx) % nx
        j = (cuda.blockIdx.y * 8 + e // 10 - 1 + ny) % ny
        s[e // 10, e % 10] = x[j, i]
    cuda.syncthreads()
    i, j = tx + 1, ty + 1
    around = s[j - 1, i] + s[j + 1, i] + s[j, i - 1] + s[j, i + 1]
    column, row = cuda.grid(2)
    out[row, column] = s[j, i] + rate * (around - float32(4) * s[j, i])


@heat.launch
def _(rng):
    x = rng.random((16, 24)).astype("f4")
    w = x.astype("f8")
    around = sum(np.roll(w, d, axis) for d in (1, -1) for axis in (0, 1))
    args = empty((16, 24), "f4"), x, np.float32(0.1)
    return Launch((3, 2), (8, 8), args, {0: w + 0.1 * (around - 4 * w)}, roundings=8)


@kernel("Conway: the game of life")
def life(out, x):
    i, j = cuda.grid(2)
    ny, nx = x.shape
    if i < nx and j < ny:
        around = 0
        for dj in range(-1, 2):
            for di in range(-1, 2):
                if di != 0 or dj != 0:
                    around += x[(j + dj) % ny, (i + di) % nx]
        out[j, i] = around == 3 or (around == 2 and x[j, i] != 0)


@life.launch
def _(rng):
    x = (rng.random((11, 13)) < 0.4).astype("u1")
    shifts = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]
    around = sum(np.roll(x, d, (0, 1)).astype(int) for d in shifts)
    wanted = (around == 3) | (around == 2) & (x > 0)
    return Launch((2, 2), (8, 8), (empty((11, 13), "u1"), x), {0: wanted.astype("u1")})


@kernel("Gauss and Seidel, red then black, in one block")
def red_black(x):
    i, j = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
    for sweep in range(4):
        if (i + j + sweep) % 2 == 0:
            around = x[j - 1, i] + x[j + 1, i] + x[j, i - 1] + x[j, i + 1]
            x[j, i] = float32(0.25) * around
        cuda.syncthreads()


@red_black.launch
def _(rng):
    x = rng.random((10, 12)).astype("f4")
    w = x.astype("f8")
    j, i = np.mgrid[1:9, 1:11]
    for sweep in range(4):
        new = (w[:-2, 1:-1] + w[2:, 1:-1] + w[1:-1, :-2] + w[1:-1, 2:]) / 4
        w[1:-1, 1:-1] = np.where((i + j + sweep) % 2 == 0, new, w[1:-1, 1:-1])
    return Launch(1, (10, 8), (x,), changed={0: w}, roundings=12)


@kernel("Spheres and rays, with the nearest hit")
def rays(out, spheres):
    i, j = cuda.grid(2)
    nx, ny = out.shape[1], out.shape[0]
    if i < nx and j < ny:
        x = (float32(i) + float32(0.5)) / float32(nx) * float32(2) - float32(1)
        y = (float32(j) + float32(0.5)) / float32(ny) * float32(2) - float32(1)
        best = float32(1e30)
        for k in range(spheres.shape[0]):
            dx, dy = x - spheres[k, 0], y - spheres[k, 1]
            inside = spheres[k, 3] * spheres[k, 3] - dx * dx - dy * dy
            if inside > 0:
                best = min(best, spheres[k, 2] - math.sqrt(inside))
        out[j, i] = best


@rays.launch
def _(rng):
    # Centres and radii in quarters keep every ray away from a rim.
    spheres = np.array(
        [[0, 0, 3, 0.77], [0.5, 0.25, 2, 0.53], [-0.5, 0, 2.5, 0.4]], "f4"
    )
    x, y = (np.arange(12) + 0.5) / 6 - 1, ((np.arange(10) + 0.5) / 5 - 1)[:, None]
    wanted = np.full((10, 12), np.float64(np.float32(1e30)))
    for a, b, z, r in spheres.astype("f8"):
        inside = r * r - (x - a) ** 2 - (y - b) ** 2
        depth = z - np.sqrt(np.maximum(inside, 0))
        wanted = np.where(inside > 0, np.minimum(wanted, depth), wanted)
    # A root near zero doubles the relative error of what goes in.
    args = empty((10, 12), "f4"), spheres
    return Launch((2, 2), (8, 8), args, {0: wanted}, roundings=30, relative=True)


# ---- clusters, neighbours, strings ----


@kernel("k-means: the nearest centre, centres in shared memory")
def kmeans_assign(labels, x, centres):
    s = cuda.shared.array((5, 3), float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t < 15:
        s[t // 3, t % 3] = centres[t // 3, t % 3]
    cuda.syncthreads()
    if i < x.shape[0]:
        best, at = float32(math.inf), 0
        for k in range(5):
            square = float32(0)
            for c in range(3):
                square += (x[i, c] - s[k, c]) ** 2
            if square < best:
                best, at = square, k
        labels[i] = at


@kernel("k-means: sums and counts by atomics, first in shared memory")
def kmeans_update(sums, counts, x, labels):
    s = cuda.shared.array((5, 3), float32)
    n = cuda.shared.array(5, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t < 15:
        s[t // 3, t % 3] = 0
    if t < 5:
        n[t] = 0
    cuda.syncthreads()
    if i < x.shape[0]:
        for c in range(3):
            cuda.atomic.add(s, (labels[i], c), x[i, c])
        cuda.atomic.add(n, labels[i], 1)
    cuda.syncthreads()
    if t < 15:
        cuda.atomic.add(sums, (t // 3, t % 3), s[t // 3, t % 3])
    if t < 5:
        cuda.atomic.add(counts, t, n[t])


@kmeans_assign.launch
def _(rng):
    x, centres = rng.random((60, 3)).astype("f4"), rng.random((5, 3)).astype("f4")
    squares = ((x[:, None].astype("f8") - centres) ** 2).sum(2)
    args = empty(60, "i4"), x, centres
    return Launch(2, 32, args, {0: squares.argmin(1)})


@kmeans_update.launch
def _(rng):
    x, labels = rng.random((60, 3)).astype("f4"), rng.integers(0, 5, 60).astype("i4")
    hot = np.eye(5)[labels]
    args = np.zeros((5, 3), "f4"), np.zeros(5, "i4"), x, labels
    changed = {0: hot.T @ x, 1: hot.sum(0)}
    return Launch(2, 32, args, changed=changed, roundings=30)


@kernel("Nearest neighbours: three of each, kept in order in local memory")
def nearest(out, x, points):
    best = cuda.local.array(3, float32)
    where = cuda.local.array(3, int32)
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    for k in range(3):
        best[k], where[k] = math.inf, -1
    for j in range(points.shape[0]):
        dx, dy = x[i, 0] - points[j, 0], x[i, 1] - points[j, 1]
        square, at = dx * dx + dy * dy, j
        for k in range(3):
            if square < best[k]:
                best[k], square = square, best[k]
                where[k], at = at, where[k]
    for k in range(3):
        out[i, k] = where[k]


@nearest.launch
def _(rng):
    x, points = rng.random((20, 2)).astype("f4"), rng.random((25, 2)).astype("f4")
    squares = ((x[:, None].astype("f8") - points) ** 2).sum(2)
    args = empty((20, 3), "i4"), x, points
    return Launch(1, 32, args, {0: np.argsort(squares, 1)[:, :3]})


@kernel("Smith and Waterman: local alignment, a diagonal at a time")
def smith_waterman(best, a, b):
    h = cuda.shared.array((3, 33), int32)
    t, n, m = cuda.threadIdx.x, a.size, b.size
    for k in range(3):
        h[k, t + 1] = 0
    if t < 3:
        h[t, 0] = 0
    cuda.syncthreads()
    top = int32(0)
    for diagonal in range(n + m - 1):
        now, one, two = diagonal % 3, (diagonal + 2) % 3, (diagonal + 1) % 3
        j = diagonal - t
        mine = int32(0)
        if t < n and 0 <= j < m:
            same = int32(2) if a[t] == b[j] else int32(-1)
            corner = h[two, t] if j > 0 else int32(0)
            left = h[one, t + 1] if j > 0 else int32(0)
            mine = max(max(0, corner + same), max(left - 1, h[one, t] - 1))
            top = max(top, mine)
        cuda.syncthreads()
        h[now, t + 1] = mine
        cuda.syncthreads()
    cuda.atomic.max(best, 0, top)


@smith_waterman.launch
def _(rng):
    a, b = rng.integers(0, 4, 25).astype("u1"), rng.integers(0, 4, 31).astype("u1")
    h = np.zeros((26, 32), int)
    for i in range(25):
        for j in range(31):
            match = h[i, j] + (2 if a[i] == b[j] else -1)
            h[i + 1, j + 1] = max(0, match, h[i, j + 1] - 1, h[i + 1, j] - 1)
    return Launch(1, 32, (np.zeros(1, "i4"), a, b), changed={0: [h.max()]})


@kernel("Edit distance, rows in local memory, a pair a thread")
def edit_distance(out, a, b):
    row = cuda.local.array(10, int32)
    i = cuda.grid(1)
    if i < a.shape[0]:
        for k in range(10):
            row[k] = k
        for j in range(a.shape[1]):
            corner, row[0] = row[0], j + 1
            for k in range(9):
                cost = corner + (0 if a[i, j] == b[i, k] else 1)
                corner = row[k + 1]
                row[k + 1] = min(cost, min(row[k], corner) + 1)
        out[i] = row[9]


@edit_distance.launch
def _(rng):
    a, b = (
        rng.integers(0, 4, (20, 8)).astype("u1"),
        rng.integers(0, 4, (20, 9)).astype("u1"),
    )
    wanted = []
    for x, y in zip(a, b):
        d = np.add.outer(np.arange(9), np.arange(10))
        for i in range(8):
            for j in range(9):
                least = min(d[i, j + 1], d[i + 1, j]) + 1
                d[i + 1, j + 1] = min(least, d[i, j] + (x[i] != y[j]))
        wanted.append(d[8, 9])
    return Launch(1, 32, (empty(20, "i4"), a, b), {0: wanted})


@kernel("Places of a word in a text")
def find_word(found, count, text, word):
    i = cuda.grid(1)
    if i + word.size <= text.size:
        for k in range(word.size):
            if text[i + k] != word[k]:
                return
        found[cuda.atomic.add(count, 0, 1)] = i


@find_word.launch
def _(rng):
    text, word = rng.integers(0, 2, 90).astype("u1"), np.array([1, 0, 1], "u1")
    windows = np.lib.stride_tricks.sliding_window_view(text, 3)
    places, wanted = np.nonzero((windows == word).all(1))[0], np.full(90, -1, "i4")
    wanted[: len(places)] = places
    args = np.full(90, -1, "i4"), np.zeros(1, "i4"), text, word
    return Launch(3, 32, args, changed={0: wanted, 1: [len(places)]}, unordered=(0,))


# ---- data frames, nested lists, series ----


@kernel("Awkward Array-like: sums of lists, by offsets")
def segment_sums(out, offsets, content):
    i = cuda.grid(1)
    if i < out.size:
        total = int64(0)
        for k in range(offsets[i], offsets[i + 1]):
            total += content[k]
        out[i] = total


@segment_sums.launch
def _(rng):
    lengths = rng.integers(0, 6, 40)
    offsets = np.concatenate([[0], lengths.cumsum()])
    content = rng.integers(-99, 99, offsets[-1])
    wanted = [content[a:b].sum() for a, b in zip(offsets, offsets[1:])]
    return Launch(2, 32, (empty(40, "i8"), offsets, content), {0: wanted})


@kernel("Awkward Array-like: a sum by parents, a scan of segments in the block")
def reduce_by_parents(out, parents, content):
    s = cuda.shared.array(64, int64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = content[i] if i < content.size else 0
    cuda.syncthreads()
    step = 1
    while step < 64:
        more = int64(0)
        if t >= step and i < content.size and parents[i] == parents[i - step]:
            more = s[t - step]
        cuda.syncthreads()
        s[t] += more
        cuda.syncthreads()
        step *= 2
    if i < content.size:
        last = t == 63 or i == content.size - 1 or parents[i] != parents[i + 1]
        if last:
            cuda.atomic.add(out, parents[i], s[t])


@reduce_by_parents.launch
def _(rng):
    parents = np.sort(rng.integers(0, 12, 150))
    content = rng.integers(0, 99, 150)
    wanted = np.bincount(parents, content, 12).astype("u8")
    args = np.zeros(12, "u8"), parents, content.astype("u8")
    return Launch(3, 64, args, changed={0: wanted})


@kernel("Awkward Array-like: flat positions of pairs of two lists")
def list_pairs(left, right, starts, counts):
    i = cuda.blockIdx.x
    n = counts[i]
    for k in range(cuda.threadIdx.x, n * (n - 1) // 2, cuda.blockDim.x):
        a, rest = 0, k
        while rest >= n - 1 - a:
            rest -= n - 1 - a
            a += 1
        left[starts[i] + k] = a
        right[starts[i] + k] = a + 1 + rest


@list_pairs.launch
def _(rng):
    counts = rng.integers(0, 7, 6)
    pairs = [np.triu_indices(n, 1) for n in counts]
    starts = np.concatenate([[0], np.cumsum([len(p[0]) for p in pairs])])
    left, right = np.concatenate(pairs, 1)
    args = empty(len(left), "i8"), empty(len(left), "i8"), starts[:-1], counts
    return Launch(6, 32, args, {0: left, 1: right})


@kernel("cuDF-like: a function of rows where no value is missing, masks as bits")
def masked_rows(out, valid, x, y, x_mask, y_mask):
    i = cuda.grid(1)
    if i < x.size:
        word, bit = i // 32, i % 32
        ok = (x_mask[word] & y_mask[word]) >> bit & 1
        out[i] = x[i] * 2 + y[i] if ok else 0.0
        mask = cuda.ballot_sync(0xFFFFFFFF, ok)
        if bit == 0:
            valid[word] = mask


@masked_rows.launch
def _(rng):
    x, y = rng.integers(0, 99, (2, 96)).astype("f8")
    x_mask, y_mask = rng.integers(0, 2**32, (2, 3)).astype("u4")
    both = x_mask & y_mask
    bits = np.unpackbits(both.view("u1"), bitorder="little")
    args = empty(96, "f8"), empty(3, "u4"), x, y, x_mask, y_mask
    return Launch(3, 32, args, {0: np.where(bits, 2 * x + y, 0), 1: both})


@kernel("cuDF-like: means of windows of rows, at least two of them")
def rolling_mean(out, x, window):
    i = cuda.grid(1)
    if i < x.size:
        total, count = float64(0), 0
        for j in range(max(0, i - window + 1), i + 1):
            if not math.isnan(x[j]):
                total += x[j]
                count += 1
        out[i] = total / count if count >= 2 else math.nan


@rolling_mean.launch
def _(rng):
    x = rng.random(50)
    x[rng.random(50) < 0.4] = np.nan
    wanted = np.full(50, np.nan)
    for i in range(50):
        part = x[max(0, i - 3) : i + 1]
        if np.isfinite(part).sum() >= 2:
            wanted[i] = np.nanmean(part)
    return Launch(2, 32, (empty(50, "f8"), x, np.int32(4)), {0: wanted}, roundings=8)


@kernel("cuDF-like: groups' counts, sums and largest values by atomics")
def group_by(counts, sums, tops, keys, values):
    for i in range(cuda.grid(1), keys.size, cuda.gridsize(1)):
        k = keys[i]
        cuda.atomic.add(counts, k, 1)
        cuda.atomic.add(sums, k, values[i])
        cuda.atomic.max(tops, k, values[i])


@group_by.launch
def _(rng):
    keys, values = rng.integers(0, 9, (2, 120)).astype("i4")
    values += 1
    hot = np.eye(9, dtype=int)[keys]
    tops = (hot * values[:, None]).max(0)
    arrays = (np.zeros(9, "i4") for _ in range(3))
    changed = {0: hot.sum(0), 1: hot.T @ values, 2: tops}
    return Launch(2, 32, (*arrays, keys, values), changed=changed)


@kernel("cuDF-like: keys of a right table found by binary search")
def binary_join(out, left, right):
    i = cuda.grid(1)
    if i < left.size:
        low, high = 0, right.size
        while low < high:
            middle = (low + high) >> 1
            if right[middle] < left[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low if low < right.size and right[low] == left[i] else -1


@binary_join.launch
def _(rng):
    left, right = rng.integers(0, 60, 50), np.unique(rng.integers(0, 60, 30))
    at = np.searchsorted(right, left)
    hit = right[np.minimum(at, len(right) - 1)] == left
    return Launch(2, 32, (empty(50, "i4"), left, right), {0: np.where(hit, at, -1)})


@kernel("STUMPY-like: a row of a matrix profile, products carried along diagonals")
def matrix_profile(profile, indices, even, odd, first, x, y, mean, spread, m, i):
    j = cuda.grid(1)
    n = mean.size
    if j < n:
        qt = even if i % 2 == 0 else odd
        out = odd if i % 2 == 0 else even
        if j == 0:
            out[j] = first[i]
        else:
            out[j] = qt[j - 1] - x[j - 1] * y[i - 1] + x[j + m - 1] * y[i + m - 1]
        if abs(i - j) > m // 4:
            rho = out[j] - m * mean[i] * mean[j]
            rho /= m * spread[i] * spread[j]
            square = 2.0 * m * max(0.0, 1.0 - rho)
            if square < profile[j]:
                profile[j] = square
                indices[j] = i


@matrix_profile.launch
def _(rng):
    m, i = 8, 5
    x = rng.standard_normal(50).cumsum()
    windows = np.lib.stride_tricks.sliding_window_view(x, m)
    mean, spread = windows.mean(1), windows.std(1)
    before, now = windows @ windows[i - 1], windows @ windows[i]
    rho = (now - m * mean[i] * mean) / (m * spread[i] * spread)
    square = 2 * m * np.maximum(0, 1 - rho)
    far = np.abs(np.arange(43) - i) > m // 4
    profile, indices = np.full(43, 12.0), np.full(43, -1)
    better = far & (square < profile)
    even, odd = np.zeros(43), before.copy()
    args = profile, indices, even, odd, windows @ windows[0], x, x.copy(), mean, spread
    changed = {
        0: np.where(better, square, profile),
        1: np.where(better, i, indices),
        2: now,
        3: before,
    }
    size = float(np.abs(now).max() / (m * spread[i] * spread.min()) * 2 * m)
    args = *args, np.int64(m), np.int64(i)
    return Launch(2, 32, args, changed=changed, roundings=40, scale=max(size, 1e3))


@kernel("PageRank: a step that gathers over edges")
def page_rank(out, starts, sources, degrees, rank):
    v = cuda.grid(1)
    if v < out.size:
        total = float32(0)
        for e in range(starts[v], starts[v + 1]):
            total += rank[sources[e]] / float32(degrees[sources[e]])
        out[v] = float32(0.15) / float32(out.size) + float32(0.85) * total


@page_rank.launch
def _(rng):
    near = rng.random((30, 30)) < 0.2
    near[np.arange(30), (np.arange(30) + 1) % 30] = True
    degrees = near.sum(0).astype("i4")  # of sources
    starts = np.concatenate([[0], near.sum(1).cumsum()]).astype("i4")
    rank = rng.random(30).astype("f4")
    wanted = 0.005 + 0.85 * (near @ (rank.astype("f8") / degrees))
    args = empty(30, "f4"), starts, np.nonzero(near)[1].astype("i4"), degrees, rank
    return Launch(1, 32, args, {0: wanted}, roundings=20)


@kernel("Bellman and Ford: distances relaxed by atomic minima until none changes")
def relax(distance, changed, sources, targets, weights):
    t = cuda.threadIdx.x
    while True:
        cuda.syncthreads()
        if t == 0:
            changed[0] = 0
        cuda.syncthreads()
        for e in range(t, sources.size, 32):
            far = cuda.atomic.add(distance, sources[e], 0) + weights[e]
            if cuda.atomic.min(distance, targets[e], far) > far:
                cuda.atomic.or_(changed, 0, 1)
        cuda.syncthreads()
        if changed[0] == 0:
            break


@relax.launch
def _(rng):
    sources, targets = rng.integers(0, 20, (2, 70)).astype("i4")
    weights = rng.integers(1, 9, 70).astype("i4")
    distance = np.full(20, 9999, "i4")
    distance[0] = 0
    wanted = distance.copy()
    for _ in range(20):
        np.minimum.at(wanted, targets, wanted[sources] + weights)
    args = distance, np.zeros(1, "i4"), sources, targets, weights
    return Launch(1, 32, args, changed={0: wanted, 1: [0]})


@kernel("Odd-even transposition sort of a row by a block")
def odd_even_sort(x):
    s = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    s[2 * t], s[2 * t + 1] = x[cuda.blockIdx.x, 2 * t], x[cuda.blockIdx.x, 2 * t + 1]
    for turn in range(32):
        cuda.syncthreads()
        i = 2 * t + turn % 2
        if i + 1 < 32 and s[i] > s[i + 1]:
            s[i], s[i + 1] = s[i + 1], s[i]
    cuda.syncthreads()
    x[cuda.blockIdx.x, 2 * t], x[cuda.blockIdx.x, 2 * t + 1] = s[2 * t], s[2 * t + 1]


@odd_even_sort.launch
def _(rng):
    x = rng.integers(0, 99, (3, 32)).astype("i4")
    return Launch(3, 16, (x,), changed={0: np.sort(x, 1)})


@kernel("Green and others: a merge path, each thread its own part")
def merge_path(out, a, b):
    t = cuda.grid(1)
    n, m, part = a.size, b.size, 4
    diagonal = min(t * part, n + m)
    low, high = max(0, diagonal - m), min(diagonal, n)
    while low < high:
        middle = (low + high) // 2
        if a[middle] <= b[diagonal - 1 - middle]:
            low = middle + 1
        else:
            high = middle
    i, j = low, diagonal - low
    for k in range(diagonal, min(diagonal + part, n + m)):
        if j >= m or (i < n and a[i] <= b[j]):
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1


@merge_path.launch
def _(rng):
    a, b = np.sort(rng.integers(0, 99, 45)), np.sort(rng.integers(0, 99, 60))
    wanted = np.sort(np.concatenate([a, b]))
    return Launch(1, 32, (empty(105, "i8"), a, b), {0: wanted})


@kernel("Counting sort: counts, offsets and places in one block")
def counting_sort(out, x):
    counts = cuda.shared.array(16, int32)
    offsets = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 16:
        counts[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(counts, x[t], 1)
    cuda.syncthreads()
    if t == 0:
        total = int32(0)
        for k in range(16):
            offsets[k] = total
            total += counts[k]
    cuda.syncthreads()
    out[cuda.atomic.add(offsets, x[t], 1)] = x[t]


@counting_sort.launch
def _(rng):
    x = rng.integers(0, 16, 96).astype("i4")
    return Launch(1, 96, (empty(96, "i4"), x), {0: np.sort(x)})


TABLE = np.array([3, 1, 4, 1, 5, 9, 2, 6], "i4")


@kernel("Numba: a table in constant memory")
def constant_table(out, x):
    table = cuda.const.array_like(TABLE)
    i = cuda.grid(1)
    if i < x.size:
        out[i] = table[x[i] % 8] * x[i]


@constant_table.launch
def _(rng):
    x = rng.integers(0, 99, 50).astype("i4")
    return Launch(2, 32, (empty(50, "i4"), x), {0: TABLE[x % 8] * x})


@kernel("Histogram of directions of gradients, as HOG's cells")
def directions(bins, x):
    s = cuda.shared.array(9, float32)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    t = j * 8 + i
    if t < 9:
        s[t] = 0
    cuda.syncthreads()
    row, column = cuda.blockIdx.y * 8 + j + 1, cuda.blockIdx.x * 8 + i + 1
    gx = x[row, column + 1] - x[row, column - 1]
    gy = x[row + 1, column] - x[row - 1, column]
    angle = math.atan2(gy, gx)
    if angle < 0:
        angle += float32(math.pi)
    k = min(8, int32(angle * float32(9 / math.pi)))
    cuda.atomic.add(s, k, math.sqrt(gx * gx + gy * gy))
    cuda.syncthreads()
    if t < 9:
        bins[cuda.blockIdx.y, cuda.blockIdx.x, t] = s[t]


@directions.launch
def _(rng):
    x = rng.random((18, 26)).astype("f4")
    w = x.astype("f8")
    gx, gy = (w[1:-1, 2:] - w[1:-1, :-2]), (w[2:, 1:-1] - w[:-2, 1:-1])
    angle = np.arctan2(gy, gx)
    k = np.minimum(
        8, (np.where(angle < 0, angle + np.pi, angle) * 9 / np.pi).astype(int)
    )
    size = np.hypot(gx, gy)
    wanted = np.zeros((2, 3, 9))
    for (j, i), b in np.ndenumerate(k):
        wanted[j // 8, i // 8, b] += size[j, i]
    args = empty((2, 3, 9), "f4"), x
    return Launch((3, 2), (8, 8), args, {0: wanted}, roundings=60)
