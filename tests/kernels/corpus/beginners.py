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
