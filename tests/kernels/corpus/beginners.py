import math
import operator

import numba
import numpy as np
from numba import (boolean, cuda, float32, float64, int8, int16, int32, int64, types,
                   uint8, uint16, uint32, uint64)


# %% index-below-a-whole-shape
# args: float32[::1]
@cuda.jit
def kernel(out):
    i = cuda.threadIdx.x
    if i < out.shape:
        out[i] = 1


# %% index-in-small-letters
# args: float32[::1]
@cuda.jit
def kernel(out):
    i = cuda.threadidx.x
    out[i] = 1


# %% barrier-of-the-host
# args: float32[::1]
@cuda.jit
def kernel(out):
    cuda.synchronize()
    out[0] = 1


# %% tile-of-zeros
# args: float32[::1]
@cuda.jit
def kernel(out):
    s = cuda.shared.zeros(32, float32)
    out[0] = s[0]


# %% tile-shape-in-a-list
# args: float32[::1]
@cuda.jit
def kernel(out):
    s = cuda.shared.array([4, 4], float32)
    out[0] = s[0, 0]


# %% tile-shape-in-two-arguments
# args: float32[::1]
@cuda.jit
def kernel(out):
    s = cuda.shared.array(4, 4, float32)
    out[0] = s[0, 0]


# %% sum-by-powers-of-two
# args: float32[::1], float32[::1], int64
TPB = 32
@cuda.jit
def kernel(out, a, size):
    cache = cuda.shared.array(TPB, float32)
    i = cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x
    local_i = cuda.threadIdx.x
    cache[local_i] = a[i] if i < size else 0.0
    cuda.syncthreads()
    for k in range(5):
        p = 2 ** k
        if local_i % (p * 2) == 0:
            cache[local_i] = cache[local_i] + cache[local_i + p]
        cuda.syncthreads()
    if local_i == 0:
        out[cuda.blockIdx.x] = cache[0]


# %% sum-by-halves-that-are-floats
# args: float32[::1], float32[::1]
TPB = 32
@cuda.jit
def kernel(out, a):
    cache = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    cache[t] = a[t]
    cuda.syncthreads()
    s = TPB / 2
    while s > 0:
        if t < s:
            cache[t] += cache[t + s]
        cuda.syncthreads()
        s /= 2
    out[0] = cache[0]


# %% sum-by-shifts-as-tests
# args: float32[::1], float32[::1]
TPB = 32
@cuda.jit
def kernel(out, a):
    cache = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    cache[t] = a[t]
    cuda.syncthreads()
    s = TPB >> 1
    while s:
        if t < s:
            cache[t] += cache[t + s]
        cuda.syncthreads()
        s >>= 1
    if not t:
        out[0] = cache[0]


# %% product-by-tiles-of-a-guide
# args: float32[:, ::1], float32[:, ::1], float32[:, ::1]
TPB = 16
@cuda.jit
def kernel(A, B, C):
    sA = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    sB = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    if x >= C.shape[0] and y >= C.shape[1]:
        return
    tmp = 0.
    for i in range(int(A.shape[1] / TPB)):
        sA[tx, ty] = A[x, ty + i * TPB]
        sB[tx, ty] = B[tx + i * TPB, y]
        cuda.syncthreads()
        for j in range(TPB):
            tmp += sA[tx, j] * sB[j, ty]
        cuda.syncthreads()
    C[x, y] = tmp


# %% range-of-a-quotient
# args: float32[:, ::1]
TPB = 16
@cuda.jit
def kernel(A):
    for i in range(A.shape[1] / TPB):
        A[0, i] = 1


# %% range-of-a-ceiling
# args: float32[:, ::1]
TPB = 16
@cuda.jit
def kernel(A):
    for i in range(math.ceil(A.shape[1] / TPB)):
        A[0, i] = 1


# %% bin-of-a-floor
# args: float32[::1], int32[::1]
@cuda.jit
def kernel(x, out):
    i = cuda.grid(1)
    b = math.floor(x[i] * 10)
    out[b] += 1


# %% scan-with-two-rows
# args: float32[::1], float32[::1]
N = 32
@cuda.jit
def kernel(x, y):
    s = cuda.shared.array((2, N), float32)
    t = cuda.threadIdx.x
    pout, pin = 0, 1
    s[pout, t] = x[t]
    cuda.syncthreads()
    offset = 1
    while offset < N:
        pout = 1 - pout
        pin = 1 - pout
        if t >= offset:
            s[pout, t] = s[pin, t] + s[pin, t - offset]
        else:
            s[pout, t] = s[pin, t]
        cuda.syncthreads()
        offset *= 2
    y[t] = s[pout, t]


# %% scan-with-swapped-tiles
# args: float32[::1], float32[::1]
N = 32
@cuda.jit
def kernel(x, y):
    a = cuda.shared.array(N, float32)
    b = cuda.shared.array(N, float32)
    t = cuda.threadIdx.x
    a[t] = x[t]
    cuda.syncthreads()
    d = 1
    while d < N:
        b[t] = a[t] + a[t - d] if t >= d else a[t]
        cuda.syncthreads()
        a, b = b, a
        d <<= 1
    y[t] = a[t]


# %% range-of-a-logarithm
# args: float32[::1], float32[::1]
N = 32
@cuda.jit
def kernel(x, y):
    t = cuda.threadIdx.x
    for d in range(math.log2(N)):
        y[t] = d


# %% range-of-a-logarithm-made-whole
# args: float32[::1], float32[::1]
N = 32
@cuda.jit
def kernel(x, y):
    t = cuda.threadIdx.x
    for d in range(int(math.log2(N))):
        if t >= 1 << d:
            y[t] += x[t - (1 << d)]


# %% transpose-at-once
# args: float32[:, ::1], float32[:, ::1]
@cuda.jit
def kernel(out, a):
    out[:] = a.T


# %% two-running-values-in-one-line
# args: float32[::1]
@cuda.jit
def kernel(x):
    m, l = 0.0, 0.0
    for i in range(4):
        m, l = max(m, x[i]), l + x[i]
    x[0], x[1] = m, l


# %% smallest-single-of-numpy
# args: float32[:, ::1], float32[:, ::1]
@cuda.jit
def kernel(x, y):
    r = cuda.grid(1)
    m = np.finfo(np.float32).min
    for j in range(x.shape[1]):
        m = max(m, x[r, j])
    y[r, 0] = m


# %% smallest-single-around
# args: float32[:, ::1], float32[:, ::1]
LOWEST = np.finfo(np.float32).min
@cuda.jit
def kernel(x, y):
    r = cuda.grid(1)
    m = LOWEST
    for j in range(x.shape[1]):
        m = max(m, x[r, j])
    y[r, 0] = m


# %% shuffles-over-a-tuple-without-a-mask
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, y):
    v = x[cuda.grid(1)]
    for offset in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(v, offset)
    y[0] = v


# %% sum-of-a-block-by-warps
# args: float32[::1], float32[::1]
FULL = 0xffffffff
@cuda.jit(device=True)
def warp_sum(v):
    for i in range(5):
        v += cuda.shfl_xor_sync(FULL, v, 1 << i)
    return v

@cuda.jit
def kernel(x, y):
    t = cuda.threadIdx.x
    s = cuda.shared.array(32, float32)
    v = warp_sum(x[t])
    if t % 32 == 0:
        s[t // 32] = v
    cuda.syncthreads()
    if t < 32:
        v = warp_sum(s[t])
        if t == 0:
            y[0] = v


# %% warp-size-with-a-capital
# args: float32[::1]
@cuda.jit
def kernel(x):
    lane = cuda.threadIdx.x % cuda.warpsize
    warp = cuda.threadIdx.x // cuda.warpSize
    x[warp] = lane


# %% largest-of-a-generator-in-a-call
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = max(x[i] for i in range(4))


# %% print-of-a-formatted-text-with-a-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    print(f"thread {i}")


# %% pair-or-number-returned
# args: float32[::1]
@cuda.jit(device=True)
def f(a, b):
    if a > b:
        return a, 0
    return a

@cuda.jit
def kernel(x):
    v = f(x[0], x[1])
    x[0] = v


# %% counter-around-changed
# args: float32[::1]
count = 0
@cuda.jit
def kernel(x):
    global count
    count += 1
    x[0] = count


# %% lambda-called-on-an-element
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = (lambda a: a * a)(x[i])


# %% length-misspelled
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    if i < x.lenght:
        x[i] = 1


# %% length-as-a-method
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    if i < x.length():
        x[i] = 1


# %% size-called
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    if i < x.size():
        x[i] = 1


# %% shape-called
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    if i < x.shape(0):
        x[i, 0] = 1


# %% grid-below-a-shape
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(2)
    if i < x.shape:
        x[i] = 1


# %% thread-index-under-a-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.threadIdx
    x[i.x] = 1


# %% thread-index-as-a-number
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.threadIdx
    x[i] = 1


# %% index-in-a-list
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    idx = [cuda.threadIdx.x, cuda.threadIdx.y]
    x[idx] = 1


# %% sums-in-a-tuple
# args: float32[::1]
@cuda.jit
def kernel(x):
    acc = (0.0, 0.0)
    acc[0] += x[0]
    x[0] = acc[0]


# %% powers-and-roots-of-mixed-numbers
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    x[0] = math.pow(x[0], n) + math.sqrt(n) + math.fabs(x[1]) + math.sin(n)


# %% clamp-of-math
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = math.clamp(x[0], 0, 1)


# %% clip-of-numpy
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = np.clip(x[0], 0, 1)


# %% walrus-of-an-argument
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if (y := n) > 3:
        x[0] = y


# %% global-read-by-statement
# args: float32[::1]
N = 4
@cuda.jit
def kernel(x):
    global N
    x[0] = N


# %% sum-in-a-closure
# args: float32[::1]
@cuda.jit
def kernel(x):
    acc = 0.0
    def add(v):
        nonlocal acc
        acc += v
    add(x[0])
    x[0] = acc


# %% index-equal-to-a-shape
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    if i == x.shape:
        x[i, 0] = 1


# %% tuple-repeated-under-a-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = (1, 2)
    t = t * 2
    x[0] = t[0]


# %% number-added-to-a-tuple
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = (1.0, 2.0)
    x[0] = t + 1


# %% tuple-lengthened-in-place
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = (1.0, 2.0)
    t += (3.0,)
    x[0] = t[2]


# %% print-of-a-formatted-text-without-fields
# args: float32[::1]
@cuda.jit
def kernel(x):
    print(f"hello")
    x[0] = 1


# %% range-with-a-step-of-zero
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(0, n, 0):
        x[i] = i


# %% loop-over-a-length
# args: float32[::1]
@cuda.jit
def kernel(x):
    for i in len(x):
        x[i] = i


# %% loop-over-two-ranges
# args: float32[::1]
@cuda.jit
def kernel(x):
    for i in range(4), range(3):
        x[0] = 1


# %% decorator-with-nopython
# args: float32[::1]
@cuda.jit(nopython=True)
def kernel(x):
    x[0] = 1


# %% decorator-with-bounds-checks
# args: float32[::1]
@cuda.jit(boundscheck=True)
def kernel(x):
    x[0] = 1


# %% decorator-with-a-carveout
# args: float32[::1]
@cuda.jit(shared_memory_carveout=50)
def kernel(x):
    x[0] = 1


# %% signature-in-a-text
# args: float32[::1]
@cuda.jit("void(float32[:])")
def kernel(x):
    x[0] = 1


# %% signature-with-too-many-types
# args: float32[::1]
@cuda.jit("void(float32[:], int32)")
def kernel(x):
    x[0] = 1


# %% signature-without-void
# args: float32[::1]
@cuda.jit("(float32[:],)")
def kernel(x):
    x[0] = 1


# %% signature-that-gives-a-number
# args: float32[::1]
@cuda.jit("float32(float32[:])")
def kernel(x):
    x[0] = 1


# %% signature-as-a-tuple
# args: float32[::1]
@cuda.jit((float32[:],))
def kernel(x):
    x[0] = 1


# %% signature-of-types
# args: float32[::1]
@cuda.jit(types.void(float32[:]))
def kernel(x):
    x[0] = 1


# %% signature-that-does-not-fit-the-text
# args: float32[::1]
@cuda.jit("void(float32)")
def kernel(x):
    x[0] = 1


# %% signature-of-other-types
# args: float32[::1]
@cuda.jit("void(float64[:])")
def kernel(x):
    x[0] = 1


# %% signature-of-pythons-float
# args: float32[::1]
@cuda.jit("void(float[:])")
def kernel(x):
    x[0] = 1


# %% signature-in-short
# args: float32[::1]
@cuda.jit("void(f4[:])")
def kernel(x):
    x[0] = 1


# %% signature-as-in-c
# args: float32[::1]
@cuda.jit("void(float32*)")
def kernel(x):
    x[0] = 1


# %% signature-of-a-function-that-rounds
# args: float32[::1]
@cuda.jit("int32(int32)", device=True)
def half(v):
    return v / 2

@cuda.jit
def kernel(x):
    x[0] = half(3)


# %% signature-of-a-function-that-narrows
# args: float32[::1]
@cuda.jit("float32(float32)", device=True)
def half(v):
    return v / 2

@cuda.jit
def kernel(x):
    x[0] = half(x[0])


# %% signature-of-a-function-with-too-many
# args: float32[::1]
@cuda.jit("float32(float32, float32)", device=True)
def half(v):
    return v / 2

@cuda.jit
def kernel(x):
    x[0] = half(x[0])


# %% signature-of-a-function-of-types
# args: float32[::1]
@cuda.jit(float32(float32), device=True)
def half(v):
    return v * float32(2)

@cuda.jit
def kernel(x):
    x[0] = half(x[0])


# %% signature-of-a-smaller-integer
# args: float32[::1], int64
@cuda.jit("void(float32[:], int32)")
def kernel(x, n):
    x[0] = n


# %% attention-of-a-beginner
# args: float32[:, :, ::1], float32[:, :, ::1], float32[:, :, ::1], float32[:, :, ::1]
D = 32
BR = 16
BC = 16
@cuda.jit
def kernel(Q, K, V, O):
    b = cuda.blockIdx.y
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x * BR + t
    q = cuda.local.array(D, float32)
    acc = cuda.local.array(D, float32)
    kt = cuda.shared.array((BC, D), float32)
    vt = cuda.shared.array((BC, D), float32)
    for d in range(D):
        q[d] = Q[b, row, d]
        acc[d] = 0
    m = -math.inf
    l = 0
    for start in range(0, K.shape[1], BC):
        for d in range(D):
            kt[t, d] = K[b, start + t, d]
            vt[t, d] = V[b, start + t, d]
        cuda.syncthreads()
        for j in range(BC):
            s = 0
            for d in range(D):
                s += q[d] * kt[j, d]
            s *= 1 / math.sqrt(D)
            m_new = max(m, s)
            alpha = math.exp(m - m_new)
            p = math.exp(s - m_new)
            l = l * alpha + p
            for d in range(D):
                acc[d] = acc[d] * alpha + p * vt[j, d]
            m = m_new
        cuda.syncthreads()
    for d in range(D):
        O[b, row, d] = acc[d] / l


# %% row-by-column
# args: float32[:, ::1], float32[:, ::1]
@cuda.jit
def kernel(Q, O):
    i, j = cuda.grid(2)
    O[i, j] = Q[i, :] @ Q[:, j]


# %% states-merged-as-tuples
# args: float32[:, ::1], float32[:, ::1]
@cuda.jit(device=True)
def merge(a, b):
    m = max(a[0], b[0])
    return m, a[1] * math.exp(a[0] - m) + b[1] * math.exp(b[0] - m)

@cuda.jit
def kernel(Q, O):
    i = cuda.grid(1)
    state = (-math.inf, 0.0)
    for j in range(Q.shape[1]):
        state = merge(state, (Q[i, j], 1.0))
    O[i, 0] = state[0]
    O[i, 1] = state[1]


# %% states-merged-as-tuples-of-integers
# args: float32[:, ::1], float32[:, ::1]
@cuda.jit(device=True)
def merge(a, b):
    m = max(a[0], b[0])
    return m, a[1] * math.exp(a[0] - m) + b[1] * math.exp(b[0] - m)

@cuda.jit
def kernel(Q, O):
    i = cuda.grid(1)
    state = (-math.inf, 0)
    for j in range(Q.shape[1]):
        state = merge(state, (Q[i, j], 1))
    m, l = state
    O[i, 0] = m / l


# %% shared-called
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    s = cuda.shared(32, float32)
    s[t] = x[t]


# %% tile-type-of-numpys-float
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    s = cuda.shared.array(32, dtype=np.float)
    s[t] = x[t]


# %% tile-type-of-cuda
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    s = cuda.shared.array(32, dtype=cuda.float32)
    s[t] = x[t]


# %% tile-name-given-to-an-argument
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    s = cuda.shared.array(32, float32)
    s = x
    s[t] = x[t] + 1


# %% maximum-under-the-name-of-max
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    max = x[0]
    for i in range(4):
        max = max(max, x[i])
    x[t] = max


# %% maximum-under-the-name-of-max-by-a-test
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    max = x[0]
    for i in range(4):
        if x[i] > max:
            max = x[i]
    x[t] = max


# %% atomic-addition-of-an-array
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.add(x, 0, x)


# %% lock-by-compare-and-swap
# args: int32[::1]
@cuda.jit
def kernel(lock):
    while cuda.atomic.compare_and_swap(lock, 0, 1) != 0:
        pass
    lock[0] = 0


# %% size-of-a-class
# args: float32[::1]
class Config:
    BLOCK = 32
@cuda.jit
def kernel(x):
    s = cuda.shared.array(Config.BLOCK, float32)
    x[0] = Config.BLOCK


# %% mode-of-an-enumeration-compared
# args: float32[::1]
import enum
class Mode(enum.IntEnum):
    FAST = 1
@cuda.jit
def kernel(x):
    if x[0] == Mode.FAST:
        x[0] = 3


# %% integer-halved-in-place
# args: int32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    n = 4
    n /= 2
    x[i] = n


# %% tangent-of-numpy
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = np.tanh(x[0])


# %% largest-integer-of-numpy
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = np.iinfo(np.int32).max


# %% conversion-of-cuda-types
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = cuda.types.float32(3)


# %% conversion-of-cuda
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = cuda.int32(3)


# %% index-of-the-largest-by-numpy
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = np.argmax(x)


# %% bounds-joined-without-brackets
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    if i < x.shape[0] & i > 0:
        x[i] = 1


# %% pairs-of-a-table
# args: float32[::1], int32[:, ::1]
@cuda.jit
def kernel(x, pairs):
    for a, b in pairs:
        x[a] += x[b]


# %% inner-function-without-a-value-stored
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, y):
    def add(i):
        y[i] += 1
    add(0)
    v = add(1)


# %% inner-function-without-a-value-used
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, y):
    def add(i):
        y[i] += 1
    y[0] = add(1)


# %% element-or-default
# args: float32[::1], float32[::1]
@cuda.jit(device=True)
def load(x, i, default=0.0):
    if i < 0 or i >= x.size:
        return default
    return x[i]

@cuda.jit
def kernel(x, y):
    y[0] = load(x, 3) + load(x, 4, 1.0) + load(x, i=2) + load(x=x, i=2, default=3)


# %% sum-begun-by-one-thread
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, y):
    if cuda.threadIdx.x == 0:
        total = 0.0
    total += x[cuda.threadIdx.x]
    y[0] = total


# %% sum-begun-around
# args: float32[::1], float32[::1]
total = 0.0
@cuda.jit
def kernel(x, y):
    total += x[cuda.threadIdx.x]
    y[0] = total


# %% shuffle-with-two-arguments
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, y):
    i = cuda.grid(1)
    y[i] = cuda.shfl_sync(x[i], 0)


# %% gray-of-colours
# args: uint8[:, :, ::1], uint8[:, ::1]
@cuda.jit
def kernel(rgb, gray):
    x, y = cuda.grid(2)
    h, w, _ = rgb.shape
    if x < h and y < w:
        r, g, b = rgb[x, y, 0], rgb[x, y, 1], rgb[x, y, 2]
        gray[x, y] = int(0.21 * r + 0.72 * g + 0.07 * b)


# %% points-that-escape
# args: float32[:, ::1], int32
@cuda.jit
def kernel(img, iters):
    x, y = cuda.grid(2)
    zr = zi = 0.0
    n = 0
    while zr * zr + zi * zi < 4 and n < iters:
        zr, zi = zr * zr - zi * zi + x, 2 * zr * zi + y
        n += 1
    img[x, y] = n


# %% random-bits-by-shifts
# args: int32[::1], uint32
@cuda.jit
def kernel(x, seed):
    i = cuda.grid(1)
    s = uint32(seed + i)
    s ^= s << 13
    s ^= s >> 17
    s ^= s << 5
    x[i] = s % 100


# %% binary-search-with-a-float-middle
# args: int32[::1], int32[::1]
@cuda.jit
def kernel(a, out):
    lo, hi = 0, len(a)
    v = out[0]
    while lo < hi:
        mid = (lo + hi) / 2
        if a[mid] < v:
            lo = mid + 1
        else:
            hi = mid
    out[0] = lo


# %% bias-or-none
# args: float32[::1], none
@cuda.jit
def kernel(x, bias):
    i = cuda.grid(1)
    v = x[i]
    if bias is not None:
        v += bias[i]
    x[i] = v


# %% bias-or-none-under-a-name
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, bias):
    i = cuda.grid(1)
    b = None
    if bias is not None:
        b = bias[i]
    x[i] += b


# %% not-of-a-bias
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, bias):
    i = cuda.grid(1)
    if not bias:
        x[i] = 0


# %% truth-by-identity
# args: float32[::1], boolean
@cuda.jit
def kernel(x, causal):
    i = cuda.grid(1)
    if causal is True:
        x[i] = 0


# %% none-until-a-number-comes
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    a = None
    while a is None:
        a = x[0]
    x[0] = a


# %% previous-element-or-none
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    prev = None
    for i in range(n):
        if prev is not None:
            x[i] = x[i] - prev
        prev = x[i]


# %% local-size-chosen-by-a-global
# args: float32[::1], int64
UNROLL = 4
@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    if UNROLL == 4:
        acc = cuda.local.array(4, float32)
    else:
        acc = cuda.local.array(8, float32)
    acc[0] = x[i]
    x[i] = acc[0]


# %% local-size-by-a-conditional-global
# args: float32[::1], int64
UNROLL = 4
@cuda.jit
def kernel(x, n):
    size = 4 if UNROLL == 4 else 8
    acc = cuda.local.array(size, float32)
    acc[0] = x[0]


# %% local-size-by-a-conditional-argument
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    size = 4 if n == 4 else 8
    acc = cuda.local.array(size, float32)
    acc[0] = x[0]


# %% maximum-begun-in-the-first-turn
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(n):
        if i == 0:
            m = x[0]
        elif x[i] > m:
            m = x[i]
    x[0] = m


# %% continue-in-the-else-of-a-loop
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(n):
        for j in range(i):
            if x[j] > x[i]:
                break
        else:
            x[i] = 0
            continue
        x[i] = 1


# %% two-tiles-in-a-tuple
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    bufs = (cuda.shared.array(32, float32), cuda.shared.array(32, float32))
    i = cuda.grid(1)
    bufs[i % 2][i] = x[i]
    x[i] = bufs[0][i]


# %% element-converted-by-a-method
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    v = x[i]
    v = v.astype(np.float64)
    x[i] = v


# %% item-of-an-element
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    v = x[i].item()
    x[i] = v


# %% element-appended
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    x.append(3)


# %% gelu-by-a-tanh
# args: float32[::1], float32
@cuda.jit
def kernel(x, p):
    i = cuda.grid(1)
    x[i] = 0.5 * x[i] * (1 + math.tanh(math.sqrt(2 / math.pi) * (x[i] + 0.044715 * x[i] ** 3)))


# %% normalised-rows
# args: float32[:, ::1], float32[::1], float32
@cuda.jit
def kernel(x, gamma, eps):
    r = cuda.grid(1)
    mean = 0.0
    for v in x[r]:
        mean += v
    mean /= x.shape[1]
    var = 0.0
    for v in x[r]:
        var += (v - mean) ** 2
    inv = 1 / math.sqrt(var / x.shape[1] + eps)
    for j in range(x.shape[1]):
        x[r, j] = (x[r, j] - mean) * inv * gamma[j]


# %% largest-of-a-block-by-warps-and-a-list
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, out):
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    partial = cuda.shared.array(32, float32)
    v = x[t]
    for d in [16, 8, 4, 2, 1]:
        v = max(v, cuda.shfl_down_sync(0xFFFFFFFF, v, d))
    if lane == 0: partial[warp] = v
    cuda.syncthreads()
    if warp == 0:
        v = partial[lane] if lane < cuda.blockDim.x // 32 else float32(-np.inf)
        for d in (16, 8, 4, 2, 1):
            v = max(v, cuda.shfl_down_sync(0xFFFFFFFF, v, d))
        if lane == 0: out[0] = v


# %% shuffles-with-masks-of-every-kind
# args: float32[::1], float32[::1]
MASK = (1 << 32) - 1
@cuda.jit
def kernel(x, out):
    v = x[cuda.threadIdx.x]
    v += cuda.shfl_xor_sync(MASK, v, 1)
    v += cuda.shfl_xor_sync(-1, v, 2)
    v += cuda.shfl_xor_sync(cuda.activemask(), v, 4)
    out[0] = v


# %% shuffled-pair
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, out):
    v = x[cuda.threadIdx.x]
    v += cuda.shfl_xor_sync(0xFFFFFFFF, v, 1)[0]
    out[0] = v


# %% reduction-of-the-host
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, out):
    total = cuda.reduce(x)
    out[0] = total


# %% rows-of-a-local-array
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, out):
    y = cuda.local.array(shape=(2, 2), dtype=float32)
    for r in y:
        for c in r:
            out[0] += c


# %% local-array-replaced-by-a-number
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, out):
    y = cuda.local.array(4, float32)
    y = 0
    out[0] = y


# %% tile-shape-joined
# args: float32[::1], float32[::1]
BX = 8
TILE = (BX, BX)
@cuda.jit
def kernel(x, out):
    s = cuda.shared.array(TILE, float32)
    s[cuda.threadIdx.y, cuda.threadIdx.x] = x[0]
    u = cuda.shared.array(TILE + (2,), float32)


# %% tile-size-of-a-display
# args: float32[::1], float32[::1]
BX = 8
@cuda.jit
def kernel(x, out):
    s = cuda.shared.array((BX, BX)[0], float32)


# %% tile-size-of-a-numpy-number
# args: float32[::1], float32[::1]
BX = np.int32(8)
@cuda.jit
def kernel(x, out):
    s = cuda.shared.array(BX, float32)


# %% tile-size-of-a-number-made-whole
# args: float32[::1], float32[::1]
BX = int(8.0)
@cuda.jit
def kernel(x, out):
    s = cuda.shared.array(shape=BX, dtype=float32)
    n = BX * 2
    t = cuda.shared.array(shape=n, dtype=float32)


# %% tile-filled-by-a-helper
# args: float32[::1], float32[::1]
@cuda.jit(device=True)
def fill(s, n, v):
    for i in range(cuda.threadIdx.x, n, cuda.blockDim.x):
        s[i] = v
    cuda.syncthreads()

@cuda.jit
def kernel(x, out):
    s = cuda.shared.array(32, float32)
    fill(s, 32, 0)
    fill(x, x.size, 1.5)


# %% ellipsis-and-texts-alone
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, out):
    """Docstring."""
    i = cuda.grid(1);
    "another"
    ...
    out[i] = (
        x[i]
        + 1.0
    )


# %% elements-at-indices-set
# args: float32[::1], int32[::1]
@cuda.jit
def kernel(x, idx):
    i = cuda.grid(1)
    x[idx[i]] = x[idx[i] + 1] + idx[i]
    x[idx] = 0


# %% place-by-divmod
# args: float32[::1], float32[:, :, ::1]
@cuda.jit
def kernel(x, c):
    n = c.shape[0] * c.shape[1] * c.shape[2]
    i = cuda.grid(1)
    if i < n:
        z, r = divmod(i, c.shape[1] * c.shape[2])
        y, w = divmod(r, c.shape[2])
        c[z, y, w] = x[i]


# %% loop-over-a-list-of-pairs
# args: float32[::1]
@cuda.jit
def kernel(x):
    for a, b in [(0, 1), (2, 3)]:
        x[a] = x[b]


# %% loop-over-a-list-of-lists
# args: float32[::1]
@cuda.jit
def kernel(x):
    for a, b in [[0, 1], [2, 3]]:
        x[a] = x[b]


# %% loop-over-a-list-of-mixed-numbers
# args: float32[::1]
@cuda.jit
def kernel(x):
    for a in [1, 2.0]:
        x[0] = a


# %% loop-over-two-lists-joined
# args: float32[::1]
@cuda.jit
def kernel(x):
    for a in [1, 2] + [3]:
        x[0] = a


# %% loop-over-a-list-on-two-lines
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for a in [n, 4,
              5, ]:
        x[0] = a


# %% cells-that-live
# args: int32[:, ::1], int32[:, ::1]
@cuda.jit
def kernel(grid, new):
    x, y = cuda.grid(2)
    n, m = grid.shape
    if x < n and y < m:
        live = 0
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if dx == 0 and dy == 0:
                    continue
                live += grid[(x + dx) % n, (y + dy) % m]
        if grid[x, y] == 1 and (live < 2 or live > 3):
            new[x, y] = 0
        elif grid[x, y] == 0 and live == 3:
            new[x, y] = 1
        else:
            new[x, y] = grid[x, y]


# %% sort-by-bits
# args: int32[::1]
SIZE = 128

@cuda.jit
def kernel(a):
    s = cuda.shared.array(SIZE, int32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    k = 2
    while k <= SIZE:
        j = k >> 1
        while j:
            p = t ^ j
            if p > t:
                up = not (t & k)
                if (s[t] > s[p]) == up:
                    s[t], s[p] = s[p], s[t]
            cuda.syncthreads()
            j >>= 1
        k <<= 1
    a[t] = s[t]


# %% heat-with-arrays-swapped
# args: float32[::1], float32[::1], int32
@cuda.jit
def kernel(u, v, steps):
    i = cuda.grid(1)
    for s in range(steps):
        if 0 < i < len(u) - 1:
            v[i] = u[i] + float32(0.1) * (u[i - 1] - float32(2) * u[i] + u[i + 1])
        cuda.syncthreads()
        u, v = v, u


# %% arrays-of-two-layouts-swapped
# args: float32[::1], float32[:], int32
@cuda.jit
def kernel(u, v, steps):
    for s in range(steps):
        u, v = v, u
    u[0] = 1


# %% parents-joined-by-compare-and-swap
# args: int32[::1], int32[::1], int32[::1]
@cuda.jit(device=True)
def find(parent, v):
    while parent[v] != v:
        v = parent[v]
    return v

@cuda.jit
def kernel(parent, a, b):
    i = cuda.grid(1)
    u, v = find(parent, a[i]), find(parent, b[i])
    while u != v:
        hi, lo = max(u, v), min(u, v)
        old = cuda.atomic.cas(parent, hi, hi, lo)
        if old == hi:
            break
        u, v = find(parent, old), lo


# %% table-of-hashes
# args: int32[::1], int32[::1], int32[::1]
EMPTY = -1

@cuda.jit
def kernel(keys, table, where):
    i = cuda.grid(1)
    if i < keys.size:
        key = keys[i]
        slot = (key * 2654435761) % table.size
        while True:
            old = cuda.atomic.cas(table, slot, EMPTY, key)
            if old == EMPTY or old == key:
                where[i] = slot
                return
            slot = (slot + 1) % table.size


# %% places-by-a-ballot
# args: float32[::1], float32[::1], int32[::1]
@cuda.jit
def kernel(x, out, count):
    i = cuda.grid(1)
    keep = i < x.size and x[i] > 0
    mask = cuda.ballot_sync(0xFFFFFFFF, keep)
    lane = cuda.laneid
    before = cuda.popc(mask & ((1 << lane) - 1))
    base = 0
    if lane == 0:
        base = cuda.atomic.add(count, 0, cuda.popc(mask))
    base = cuda.shfl_sync(0xFFFFFFFF, base, 0)
    if keep:
        out[base + before] = x[i]


# %% sort-by-one-bit
# args: uint32[::1], uint32[::1], int32
@cuda.jit
def kernel(a, b, bit):
    s = cuda.shared.array(33, int32)
    t = cuda.threadIdx.x
    v = a[t]
    zero = 1 - ((v >> bit) & 1)
    s[t] = zero
    cuda.syncthreads()
    d = 1
    while d < 32:
        u = s[t - d] if t >= d else 0
        cuda.syncthreads()
        s[t] += u
        cuda.syncthreads()
        d *= 2
    total = s[31]
    place = s[t] - 1 if zero else t - s[t] + total
    b[place] = v


# %% sort-with-a-stack-of-ones-own
# args: int32[::1]
@cuda.jit
def kernel(a):
    stack = cuda.local.array(64, int32)
    top = -1
    top += 1; stack[top] = 0
    top += 1; stack[top] = len(a) - 1
    while top >= 0:
        hi = stack[top]; top -= 1
        lo = stack[top]; top -= 1
        p = a[hi]
        i = lo - 1
        for j in range(lo, hi):
            if a[j] <= p:
                i += 1
                a[i], a[j] = a[j], a[i]
        a[i + 1], a[hi] = a[hi], a[i + 1]
        p = i + 1
        if p - 1 > lo:
            top += 1; stack[top] = lo
            top += 1; stack[top] = p - 1
        if p + 1 < hi:
            top += 1; stack[top] = p + 1
            top += 1; stack[top] = hi


# %% sum-with-a-remainder
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, out):
    s = c = float32(0.0)
    for i in range(x.size):
        y = x[i] - c
        t = s + y
        c = (t - s) - y
        s = t
    out[0] = s


# %% checksum-in-32-bits
# args: uint8[::1], uint32[::1]
@cuda.jit
def kernel(data, out):
    crc = uint32(0xFFFFFFFF)
    for i in range(data.size):
        crc ^= data[i]
        for _ in range(8):
            if crc & 1:
                crc = (crc >> 1) ^ 0xEDB88320
            else:
                crc >>= 1
    out[0] = ~crc


# %% distance-of-two-texts
# args: uint8[::1], uint8[::1], int32[::1]
N = 32

@cuda.jit
def kernel(a, b, out):
    row = cuda.local.array(N, int32)
    for j in range(N):
        row[j] = j
    for i in range(1, len(a) + 1):
        prev, row[0] = row[0], i
        for j in range(1, len(b) + 1):
            cur = row[j]
            row[j] = min(row[j] + 1, row[j - 1] + 1, prev + (a[i - 1] != b[j - 1]))
            prev = cur
    out[0] = row[len(b)]


# %% random-bits-in-a-function
# args: uint32[::1], float32[::1]
@cuda.jit(device=True)
def xorshift(s):
    s ^= s << 13
    s ^= s >> 17
    s ^= s << 5
    return uint32(s)

@cuda.jit
def kernel(state, out):
    i = cuda.grid(1)
    state[i] = xorshift(state[i])
    out[i] = float32(state[i] & 0xFFFFFF) / float32(1 << 24)


# %% mean-merged-by-three
# args: float32[::1], float32[::1]
@cuda.jit(device=True)
def combine(na, ma, sa, nb, mb, sb):
    n = na + nb
    if n == 0:
        return 0, 0.0, 0.0
    d = mb - ma
    return n, ma + d * nb / n, sa + sb + d * d * na * nb / n

@cuda.jit
def kernel(x, out):
    n, m, s = 0, 0.0, 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        n, m, s = combine(n, m, s, 1, x[i], 0.0)
    out[0] = m


# %% steps-of-four-slopes
# args: float32[::1], float32, int32
@cuda.jit(device=True)
def f(t, y):
    return -y + math.sin(t)

@cuda.jit
def kernel(y, h, steps):
    i = cuda.grid(1)
    t, v = 0.0, y[i]
    for _ in range(steps):
        k1 = f(t, v)
        k2 = f(t + h / 2, v + h / 2 * k1)
        k3 = f(t + h / 2, v + h / 2 * k2)
        k4 = f(t + h, v + h * k3)
        v += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
    y[i] = v


# %% angles-by-a-power
# args: float32[:, ::1]
@cuda.jit
def kernel(q):
    pos, k = cuda.grid(2)
    d = q.shape[1]
    theta = pos / 10000 ** (2 * k / d)
    c, s = math.cos(theta), math.sin(theta)
    a, b = q[pos, 2 * k], q[pos, 2 * k + 1]
    q[pos, 2 * k] = a * c - b * s
    q[pos, 2 * k + 1] = a * s + b * c


# %% largest-and-its-place
# args: float32[::1], int32[::1]
@cuda.jit
def kernel(x, out):
    v = cuda.shared.array(64, float32)
    idx = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    v[t], idx[t] = x[t], t
    cuda.syncthreads()
    s = 32
    while s:
        if t < s and v[t + s] > v[t]:
            v[t], idx[t] = v[t + s], idx[t + s]
        cuda.syncthreads()
        s //= 2
    if not t:
        out[0] = idx[0]


# %% rows-of-a-sparse-matrix
# args: float32[::1], int32[::1], int32[::1], float32[::1], float32[::1]
@cuda.jit
def kernel(data, indices, indptr, x, y):
    row = cuda.grid(1)
    if row < indptr.shape[0] - 1:
        dot = float32(0)
        for k in range(indptr[row], indptr[row + 1]):
            dot += data[k] * x[indices[k]]
        y[row] = dot


# %% factor-or-none-by-default
# args: float32[::1]
@cuda.jit(device=True)
def scale(v, k=None):
    if k is None:
        return v
    return v * k

@cuda.jit
def kernel(x):
    x[0] = scale(x[0])
    x[1] = scale(x[1], float32(3))


# %% states-in-tuples-grown
# args: float32[::1], float32[::1]
@cuda.jit(device=True)
def merge(a, b):
    return max(a[0], b[0]), a[1] + b[1]

@cuda.jit
def kernel(x, y):
    s = (x[0], float32(1))
    for i in range(1, len(x)):
        s = merge(s, (x[i], float32(1)))
    y[0] = s[0]
    y[1] = s[-1]


# %% sums-in-a-tuple-of-whole-numbers
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, y):
    s = (0, 0)
    for i in range(len(x)):
        s = (s[0] + x[i], s[1] + 1)
    y[0] = s[0] / s[1]


# %% largest-of-pairs
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, out):
    best = (x[0], 0)
    for i in range(x.size):
        best = max(best, (x[i], i))
    out[0] = best[0]


# %% scan-up-and-down
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(g_odata, g_idata):
    n = 128
    temp = cuda.shared.array(128, float32)
    thid = cuda.threadIdx.x
    offset = 1
    temp[2 * thid] = g_idata[2 * thid]
    temp[2 * thid + 1] = g_idata[2 * thid + 1]
    d = n >> 1
    while d > 0:
        cuda.syncthreads()
        if thid < d:
            ai = offset * (2 * thid + 1) - 1
            bi = offset * (2 * thid + 2) - 1
            temp[bi] += temp[ai]
        offset *= 2
        d >>= 1
    if thid == 0:
        temp[n - 1] = 0
    d = 1
    while d < n:
        offset >>= 1
        cuda.syncthreads()
        if thid < d:
            ai = offset * (2 * thid + 1) - 1
            bi = offset * (2 * thid + 2) - 1
            t = temp[ai]
            temp[ai] = temp[bi]
            temp[bi] += t
        d *= 2
    cuda.syncthreads()
    g_odata[2 * thid] = temp[2 * thid]
    g_odata[2 * thid + 1] = temp[2 * thid + 1]


# %% butterfly-of-a-transform
# args: float32[::1], float32[::1], int32
@cuda.jit
def kernel(re, im, half):
    t = cuda.threadIdx.x
    k = t % half
    i = (t // half) * 2 * half + k
    j = i + half
    ang = -math.pi * k / half
    wr, wi = math.cos(ang), math.sin(ang)
    tr = wr * re[j] - wi * im[j]
    ti = wr * im[j] + wi * re[j]
    re[j], im[j] = re[i] - tr, im[i] - ti
    re[i], im[i] = re[i] + tr, im[i] + ti


# %% points-that-escape-in-single
# args: float32, float32, float32, float32, uint8[:, ::1], int32
@cuda.jit(device=True)
def escapes(cr, ci, max_iters):
    zr = zi = float32(0)
    for i in range(max_iters):
        zr, zi = zr * zr - zi * zi + cr, float32(2) * zr * zi + ci
        if zr * zr + zi * zi > float32(4):
            return i
    return 255

@cuda.jit
def kernel(min_x, max_x, min_y, max_y, image, iters):
    h, w = image.shape
    sx, sy = cuda.grid(2)
    gx, gy = cuda.gridsize(2)
    for x in range(sx, w, gx):
        for y in range(sy, h, gy):
            image[y, x] = escapes(min_x + float32(x) * (max_x - min_x) / float32(w), min_y, iters)


# %% colours-unpacked
# args: uint8[:, :, ::1], uint8[:, ::1]
@cuda.jit
def kernel(img, out):
    y, x = cuda.grid(2)
    if y < img.shape[0] and x < img.shape[1]:
        r, g, b = img[y, x]
        out[y, x] = 0.299 * r + 0.587 * g + 0.114 * b


# %% bodies-in-tiles
# args: float32[:, ::1], float32[:, ::1], float32
SOFT = float32(1e-3)

@cuda.jit(device=True)
def accel(px, py, pz, qx, qy, qz, m):
    dx = qx - px
    dy = qy - py
    dz = qz - pz
    r2 = dx * dx + dy * dy + dz * dz + SOFT
    inv = float32(1) / math.sqrt(r2)
    f = m * inv * inv * inv
    return dx * f, dy * f, dz * f

@cuda.jit
def kernel(pos, vel, dt):
    tile = cuda.shared.array((64, 4), float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    n = pos.shape[0]
    ax = ay = az = float32(0)
    for base in range(0, n, 64):
        if base + t < n:
            for c in range(4):
                tile[t, c] = pos[base + t, c]
        cuda.syncthreads()
        for j in range(min(64, n - base)):
            if i < n:
                x, y, z = accel(pos[i, 0], pos[i, 1], pos[i, 2],
                                tile[j, 0], tile[j, 1], tile[j, 2], tile[j, 3])
                ax += x; ay += y; az += z
        cuda.syncthreads()
    if i < n:
        vel[i, 0] += ax * dt
        vel[i, 1] += ay * dt
        vel[i, 2] += az * dt


# %% sizes-made-in-a-loop-around
# args: float32[::1]
if True:
    N = 8
else:
    N = 4
M = N
for k in range(3):
    M *= 2
@cuda.jit
def kernel(x):
    s = cuda.shared.array(M, float32)
    x[0] = s[N]


# %% sum-in-an-inner-function-augmented
# args: float32[::1]
@cuda.jit
def kernel(x):
    total = 0
    def add(v):
        total += v
    add(1)
    x[0] = total


# %% tile-or-argument
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    s = cuda.shared.array(4, float32)
    z = x if n else s
    z[0] = 1


# %% number-then-tuple-in-a-loop
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    t = 0
    for i in range(n):
        x[i] = t
        t = (i, 1)


# %% dtype-called
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    x[0, 0] = x.dtype(3)


# %% dtype-around-called
# args: float32[::1], int32
DT = np.dtype("float32")
@cuda.jit
def kernel(x, n):
    x[0] = DT(n)


# %% grid-of-a-float
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[cuda.grid(1.0)] = 1


# %% everything-imported-from-cuda
# args: float32[::1]
from numba.cuda import *
@jit
def kernel(x):
    i = grid(1)
    t = threadIdx.x
    syncthreads()
    x[i] = t


# %% everything-imported-from-numba
# args: float32[::1], int32
from numba import *
from numba import cuda
@cuda.jit
def kernel(x, n):
    s = cuda.shared.array(4, float32)
    x[0] = s[0]


# %% everything-imported-from-numpy
# args: float32[::1], int32
from numpy import *
@cuda.jit
def kernel(x, n):
    x[0] = float32(n)


# %% debug-with-another-way
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    if __debug__:
        x[0] = 1
    else:
        x[0] = "a"


# %% debug-as-a-value
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    v = __debug__
    x[0] = v


# %% constant-like-an-argument-written
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    c = cuda.const.array_like(x)
    c[0] = 1


# %% constant-like-a-local-array
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    a = cuda.local.array(4, float32)
    c = cuda.const.array_like(a)
    x[0] = c[0]


# %% constant-like-a-number
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    c = cuda.const.array_like(3)
    x[0] = c


# %% rest-of-a-tuple-unpacked
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    a, *b = (1, 2)
    x[0] = a


# %% function-unpacked
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    a, b = math.exp
    x[0] = a


# %% number-unpacked
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    a, b = n
    x[0] = a


# %% function-or-number
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    if n:
        f = math.exp
    else:
        f = 1
    x[0] = f


# %% text-or-number-under-a-name
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    if n:
        f = "a"
    else:
        f = 1
    x[0] = f


# %% array-number-or-tuple
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    a = x
    if n > 1:
        a = 3
    elif n > 0:
        a = (1, 2)
    x[0] = a


# %% pair-or-none-unpacked
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    a = None
    if n > 1:
        a = (1, 2)
    u, v = a
    x[0] = u


# %% element-of-a-module-set
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    math[0] = 1


# %% element-at-none-set
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    x[None] = 1


# %% tile-type-of-a-dtype-made-inside
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    s = cuda.shared.array(4, np.dtype(np.float32))
    x[0] = s[0]


# %% tile-type-before-its-size
# args: float32[::1]
@cuda.jit
def kernel(x):
    s = cuda.shared.array(float32, 8)
    x[1] = s[0]


# %% tile-aligned-to-true
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = cuda.shared.array(4, float32, alignment=True)[0]


# %% tile-aligned-to-none
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = cuda.shared.array(4, float32, alignment=None)[0]


# %% membership-in-a-list-of-constants
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = cuda.threadIdx.x in [1, 2]


# %% tuple-of-a-tuple-made
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = tuple((1, 2))[0]


# %% text-of-hexadecimal
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = hex(3)


# %% whole-number-divided-in-place-by-a-float
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    n /= 2.0
    x[0] = n


# %% halved-in-a-loop-by-a-float
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    h = 32
    while h > 1:
        x[0] += h
        h /= 2.0


# %% whole-element-divided-in-place-by-a-float
# args: int32[::1], int32
@cuda.jit
def kernel(x, n):
    x[0] /= 2.0


# %% whole-element-divided-in-place
# args: int32[::1], int32
@cuda.jit
def kernel(x, n):
    x[0] /= n


# %% whole-number-divided-in-place-by-an-element
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    h = uint8(n)
    h /= x[0]
    x[0] = h


# %% atomic-addition-at-a-comparison
# args: int32[::1], float32[::1]
@cuda.jit
def kernel(h, x):
    cuda.atomic.add(h, x[cuda.grid(1)] > 0, 1)


# %% atomic-addition-at-two-comparisons
# args: int32[:, ::1], float32[::1]
@cuda.jit
def kernel(h, x):
    cuda.atomic.add(h, (x[0] > 0, x[1] > 0), 1)


# %% atomic-swap-at-a-comparison
# args: int32[::1], float32[::1]
@cuda.jit
def kernel(h, x):
    cuda.atomic.cas(h, x[0] > 0, 1, 2)


# %% element-at-two-comparisons
# args: int32[:, ::1], float32[::1]
@cuda.jit
def kernel(h, x):
    h[x[0] > 0, 0] = 1


# %% tuple-part-by-a-comparison
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    x[0] = (x[0], x[1])[n > 1]


# %% tuple-part-by-true
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    t = (1, 2.5)
    x[0] = t[True]


# %% shape-by-a-comparison
# args: float32[:, ::1], int32
@cuda.jit
def kernel(x, n):
    x[0, 0] = x.shape[n > 1]


# %% tuple-part-by-a-comparison-made-whole
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    t = (1, 2)
    x[0] = t[int(n > 1)]
