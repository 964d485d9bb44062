import math
import operator

import numba
import numpy as np
from numba import (boolean, cuda, float32, float64, int8, int16, int32, int64, types,
                   uint8, uint16, uint32, uint64)


# %% scores-by-rows
# args: float32[:, ::1], float32[:, ::1], float32[:, ::1], float32
@cuda.jit
def kernel(q, k, out, scale):
    i, j = cuda.grid(2)
    if i < q.shape[0] and j < k.shape[0]:
        dot = float32(0.0)
        for d in range(q.shape[1]):
            dot += q[i, d] * k[j, d]
        out[i, j] = dot * scale


# %% scores-scaled-by-a-root
# args: float32[:, ::1], float32[:, ::1], float32[:, ::1]
@cuda.jit
def kernel(q, k, out):
    i, j = cuda.grid(2)
    if i < q.shape[0] and j < k.shape[0]:
        dot = 0.0
        for d in range(q.shape[1]):
            dot += q[i, d] * k[j, d]
        out[i, j] = dot / math.sqrt(q.shape[1])


# %% softmax-of-a-row-by-a-thread
# args: float32[:, ::1], float32[:, ::1]
@cuda.jit
def kernel(x, out):
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    m = float32(-math.inf)
    for j in range(x.shape[1]):
        m = max(m, x[i, j])
    total = float32(0)
    for j in range(x.shape[1]):
        total += math.exp(x[i, j] - m)
    for j in range(x.shape[1]):
        out[i, j] = math.exp(x[i, j] - m) / total


# %% softmax-online
# args: float32[:, ::1], float32[:, ::1]
@cuda.jit
def kernel(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        m, l = float32(-math.inf), float32(0)
        for j in range(x.shape[1]):
            v = x[i, j]
            new = max(m, v)
            l = l * math.exp(m - new) + math.exp(v - new)
            m = new
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - m) / l


# %% softmax-online-in-double
# args: float32[:, ::1], float32[:, ::1]
@cuda.jit
def kernel(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        m, l = -math.inf, 0.0
        for j in range(x.shape[1]):
            new = max(m, x[i, j])
            l = l * math.exp(m - new) + math.exp(x[i, j] - new)
            m = new
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - m) / l


# %% maximum-of-a-block
# args: float32[::1], float32[::1]
B = 128

@cuda.jit
def kernel(x, out):
    part = cuda.shared.array(B, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.shape[0] else float32(-math.inf)
    cuda.syncthreads()
    step = B // 2
    while step > 0:
        if t < step:
            part[t] = max(part[t], part[t + step])
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


# %% maximum-of-a-block-halved-by-division
# args: float32[::1], float32[::1]
B = 128

@cuda.jit
def kernel(x, out):
    part = cuda.shared.array(B, float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    cuda.syncthreads()
    step = B / 2
    while step >= 1:
        if t < step:
            part[t] = max(part[t], part[t + step])
        cuda.syncthreads()
        step /= 2
    out[0] = part[0]


# %% sum-of-a-warp
# args: float32[::1], float32[::1]
@cuda.jit(device=True)
def warp_sum(v):
    for step in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, step)
    return v

@cuda.jit
def kernel(x, out):
    v = warp_sum(x[cuda.grid(1)])
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, v)


# %% attention-by-a-thread-a-query
# args: float32[:, ::1], float32[:, ::1], float32[:, ::1], float32[:, ::1], float32
D = 64

@cuda.jit
def kernel(q, k, v, out, scale):
    i = cuda.grid(1)
    if i >= q.shape[0]:
        return
    acc = cuda.local.array(D, float32)
    for d in range(D):
        acc[d] = 0
    m = float32(-math.inf)
    l = float32(0)
    for j in range(k.shape[0]):
        s = float32(0)
        for d in range(D):
            s += q[i, d] * k[j, d]
        s *= scale
        new = max(m, s)
        fade = math.exp(m - new)
        p = math.exp(s - new)
        l = l * fade + p
        for d in range(D):
            acc[d] = acc[d] * fade + p * v[j, d]
        m = new
    for d in range(D):
        out[i, d] = acc[d] / l


# %% attention-by-tiles
# args: float32[:, ::1], float32[:, ::1], float32[:, ::1], float32[:, ::1], float32
BR, BC, D = 32, 16, 64

@cuda.jit
def kernel(q, k, v, out, scale):
    keys = cuda.shared.array((BC, D), float32)
    values = cuda.shared.array((BC, D), float32)
    query = cuda.local.array(D, float32)
    acc = cuda.local.array(D, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * BR + t
    n = k.shape[0]
    for d in range(D):
        query[d] = q[i, d] * scale if i < q.shape[0] else float32(0)
        acc[d] = float32(0)
    m = float32(-math.inf)
    l = float32(0)
    for start in range(0, n, BC):
        for x in range(t, BC * D, BR):
            row, column = x // D, x % D
            inside = start + row < n
            keys[row, column] = k[start + row, column] if inside else float32(0)
            values[row, column] = v[start + row, column] if inside else float32(0)
        cuda.syncthreads()
        for j in range(min(BC, n - start)):
            s = float32(0)
            for d in range(D):
                s += query[d] * keys[j, d]
            new = max(m, s)
            fade, p = math.exp(m - new), math.exp(s - new)
            l = l * fade + p
            for d in range(D):
                acc[d] = acc[d] * fade + p * values[j, d]
            m = new
        cuda.syncthreads()
    if i < q.shape[0]:
        for d in range(D):
            out[i, d] = acc[d] / l


# %% attention-by-tiles-sized-by-the-array
# args: float32[:, ::1], float32[:, ::1], float32[:, ::1]
BC = 16

@cuda.jit
def kernel(q, k, out):
    d = q.shape[1]
    keys = cuda.shared.array((BC, d), float32)
    t = cuda.threadIdx.x
    keys[t, 0] = k[t, 0]
    cuda.syncthreads()
    out[t, 0] = keys[0, 0] * q[t, 0]


# %% attention-by-padded-tiles
# args: float32[:, ::1], float32[:, ::1], float32[:, ::1]
BC, D = 16, 64

@cuda.jit
def kernel(q, k, out):
    keys = cuda.shared.array((BC, D + 1), float32)
    t = cuda.threadIdx.x
    keys[t, 0] = k[t, 0]
    cuda.syncthreads()
    out[t, 0] = keys[0, 0] * q[t, 0]


# %% attention-by-tiles-padded-outside
# args: float32[:, ::1], float32[:, ::1], float32[:, ::1]
BC, D = 16, 64
WIDE = D + 1

@cuda.jit
def kernel(q, k, out):
    keys = cuda.shared.array((BC, WIDE), float32)
    t = cuda.threadIdx.x
    keys[t, 0] = k[t, 0]
    cuda.syncthreads()
    out[t, 0] = keys[0, 0] * q[t, 0]


# %% attention-with-a-causal-constant
# args: float32[:, ::1], float32[:, ::1]
# kernel: make(True)
def make(causal):
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        last = i + 1 if causal else x.shape[0]
        total = float32(0)
        for j in range(last):
            total += x[i, j]
        out[i, 0] = total

    return kernel


# %% attention-with-a-mask-or-none
# args: float32[:, ::1], none
@cuda.jit
def kernel(x, mask):
    i, j = cuda.grid(2)
    if mask is not None and not mask[i, j]:
        x[i, j] = -math.inf


# %% attention-with-a-mask-given
# args: float32[:, ::1], boolean[:, ::1]
@cuda.jit
def kernel(x, mask):
    i, j = cuda.grid(2)
    if mask is not None and not mask[i, j]:
        x[i, j] = -math.inf


# %% attention-in-half-precision
# args: float16[:, ::1], float16[:, ::1], float32[:, ::1]
@cuda.jit
def kernel(q, k, out):
    i, j = cuda.grid(2)
    if i < q.shape[0] and j < k.shape[0]:
        dot = float32(0)
        for d in range(q.shape[1]):
            dot += float32(q[i, d]) * float32(k[j, d])
        out[i, j] = dot


# %% attention-in-half-precision-throughout
# args: float16[:, ::1], float16[:, ::1], float16[:, ::1]
@cuda.jit
def kernel(q, k, out):
    i, j = cuda.grid(2)
    dot = types.float16(0)
    for d in range(q.shape[1]):
        dot += q[i, d] * k[j, d]
    out[i, j] = dot


# %% merge-of-two-halves
# args: float32[::1], float32[::1], float32[:, ::1], float32[::1]
@cuda.jit(device=True)
def merged(m, l, other_m, other_l):
    top = max(m, other_m)
    return top, l * math.exp(m - top) + other_l * math.exp(other_m - top)

@cuda.jit
def kernel(m, l, acc, out):
    top, total = m[0], l[0]
    for part in range(1, len(m)):
        top, total = merged(top, total, m[part], l[part])
    for d in range(len(out)):
        acc_d = float32(0)
        for part in range(len(m)):
            acc_d += acc[part, d] * math.exp(m[part] - top)
        out[d] = acc_d / total


# %% last-block-reads-the-total
# args: float32[::1], float32[::1], int32[::1], float32[::1]
@cuda.jit
def kernel(x, total, done, out):
    t = cuda.threadIdx.x
    last = cuda.shared.array(1, int32)
    cuda.atomic.add(total, 0, x[cuda.grid(1)])
    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        last[0] = cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0] and t == 0:
        out[0] = total[0]


# %% lock-around-an-update
# args: float32[::1], int32[::1]
@cuda.jit
def kernel(state, lock):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            cuda.nanosleep(100)
        cuda.threadfence()
        state[0] += float32(1)
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)


# %% double-buffer-by-parity
# args: float32[::1]
B = 32

@cuda.jit
def kernel(x):
    tiles = cuda.shared.array((2, B), float32)
    t = cuda.threadIdx.x
    tiles[0, t] = x[t]
    for turn in range(1, 4):
        tiles[turn % 2, t] = x[turn * B + t]
        cuda.syncthreads()
        x[t] += tiles[(turn - 1) % 2, B - 1 - t]
        cuda.syncthreads()


# %% double-buffer-by-names
# args: float32[::1]
B = 32

@cuda.jit
def kernel(x):
    one = cuda.shared.array(B, float32)
    two = cuda.shared.array(B, float32)
    t = cuda.threadIdx.x
    here, there = one, two
    for turn in range(4):
        there[t] = x[turn * B + t]
        cuda.syncthreads()
        here, there = there, here
        x[t] += here[B - 1 - t]
        cuda.syncthreads()


# %% tile-of-rows-by-index
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array((8, 8), float32)
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    tile[i][j] = x[i][j]
    cuda.syncthreads()
    x[i, j] = tile[j][i]


# %% tile-row-given-to-a-helper
# args: float32[:, ::1], float32[::1]
D = 8

@cuda.jit(device=True)
def dot(a, b):
    total = float32(0)
    for d in range(D):
        total += a[d] * b[d]
    return total

@cuda.jit
def kernel(x, out):
    tile = cuda.shared.array((8, D), float32)
    t = cuda.threadIdx.x
    for d in range(D):
        tile[t, d] = x[t, d]
    cuda.syncthreads()
    out[t] = dot(tile[t], tile[0])


# %% registers-in-a-list
# args: float32[:, ::1], float32[::1]
D = 8

@cuda.jit
def kernel(x, out):
    t = cuda.threadIdx.x
    row = [float32(0)] * D
    for d in range(D):
        row[d] = x[t, d]
    out[t] = sum(row)


# %% registers-in-a-tuple
# args: float32[:, ::1], float32[::1]
@cuda.jit
def kernel(x, out):
    t = cuda.threadIdx.x
    row = (x[t, 0], x[t, 1], x[t, 2], x[t, 3])
    total = float32(0)
    for v in row:
        total += v
    out[t] = total


# %% tuple-written
# args: float32[::1]
@cuda.jit
def kernel(x):
    row = (x[0], x[1])
    row[0] = float32(1)
    x[0] = row[0]


# %% tuple-grown
# args: float32[::1]
@cuda.jit
def kernel(x):
    row = ()
    for i in range(3):
        row = row + (x[i],)
    x[0] = row[0]


# %% tuple-joined
# args: float32[::1]
@cuda.jit
def kernel(x):
    row = (x[0],) + (x[1], x[2])
    x[0] = row[2]


# %% tuple-repeated
# args: float32[::1]
@cuda.jit
def kernel(x):
    row = (float32(0),) * 4
    x[0] = row[2]


# %% tuple-sliced
# args: float32[::1]
@cuda.jit
def kernel(x):
    row = (x[0], x[1], x[2])[1:]
    x[0] = row[0]


# %% tuple-compared
# args: float32[::1]
@cuda.jit
def kernel(x):
    if (x[0], x[1]) < (x[2], x[3]):
        x[0] = 1


# %% strings-joined
# args: float32[::1]
@cuda.jit
def kernel(x):
    name = "a" + "b"
    if name == "ab":
        x[0] = 1


# %% names-in-another-alphabet
# args: float32[::1]
@cuda.jit
def kernel(x):
    größe = len(x)
    α = float32(0.5)
    for í in range(größe):
        x[í] *= α


# %% names-with-underscores
# args: float32[::1]
@cuda.jit
def kernel(x):
    __v = x[0]
    _ = __v
    x[1] = _


# %% names-of-soft-keywords
# args: float32[::1]
@cuda.jit
def kernel(x):
    match = x[0]
    case = x[1]
    type = match + case
    x[2] = type


# %% numbers-in-every-spelling
# args: float32[::1], int64[::1]
@cuda.jit
def kernel(x, y):
    y[0] = 1_000 + 0x_FF + 0o17 + 0b1010 + 00
    x[0] = float32(1e-3) + float32(1_0.5) + float32(.5) + float32(5.) + float32(1E2)


# %% several-statements-on-a-line
# args: float32[::1]
@cuda.jit
def kernel(x):
    a = x[0]; b = x[1]; x[2] = a + b;


# %% body-on-the-line-of-its-head
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n > 1: x[0] = 1
    else: x[0] = 2
    for i in range(n): x[i] = i
    while n > 5: n -= 1


# %% kernel-on-one-line
# args: float32[::1]
@cuda.jit
def kernel(x): x[0] = 1


# %% lines-continued
# args: float32[::1], int64
@cuda.jit
def kernel(
    x,
    n,
):
    if n > 1 \
            and x[0] > 0:
        x[0] = (
            x[1]  # the first
            + x[2]
        )


# %% comments-anywhere
# args: float32[::1]
# a comment above
@cuda.jit  # a comment beside
# a comment between
def kernel(x):  # a comment here

# a comment at the margin
    x[0] = 1  # and here

        # a comment too deep
    x[1] = 2


# %% docstring-before-the-code
# args: float32[::1]
@cuda.jit
def kernel(x):
    """What it does.

    if this were code: it would not be.
    """
    'another string'
    x[0] = 1


# %% tabs-as-indents
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
	if n > 1:
		x[0] = 1
	else:
		x[0] = 2


# %% lines-of-windows
# args: float32[::1]
# newlines: crlf
@cuda.jit
def kernel(x):
    """Two
    lines."""
    t = cuda.threadIdx.x
    if t < len(x):
        x[t] = 1


# %% indents-of-three-and-five
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
   if n > 1:
        x[0] = 1
   x[1] = 2


# %% brackets-without-need
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if (n > 1):
        (x[0]) = ((x[1]) + (2))
    (a, b) = (1, 2)
    [c, d] = a, b
    x[c] = d


# %% string-quotes-of-every-kind
# args: float32[::1]
@cuda.jit
def kernel(x):
    'one'
    "two"
    r"\three"
    '''four'''
    "five" "six"
    x[0] = 1


# %% statement-without-effect
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    n
    n + 1
    x[0]
    None
    x[0] = 1


# %% dead-code-that-would-not-compile
# args: float32[::1]
@cuda.jit
def kernel(x):
    if False:
        x[0] = [1][unknown]
    x[0] = 1


# %% dead-code-under-a-local-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    debug = False
    if debug:
        x[0] = unknown
    x[0] = 1


# %% dead-code-under-a-global-comparison
# args: float32[::1]
D = 64

@cuda.jit
def kernel(x):
    if D > 128:
        x[0] = unknown
    x[0] = 1


# %% dead-code-under-two-conditions
# args: float32[::1], int64
CAUSAL = False

@cuda.jit
def kernel(x, n):
    if CAUSAL and n > 1:
        x[0] = unknown
    x[0] = 1


# %% dead-code-under-not
# args: float32[::1]
CAUSAL = True

@cuda.jit
def kernel(x):
    if not CAUSAL:
        x[0] = unknown
    x[0] = 1


# %% dead-code-after-raise
# args: float32[::1]
@cuda.jit
def kernel(x):
    raise ValueError("never")
    x[0] = unknown


# %% dead-code-after-a-loop-for-ever
# args: float32[::1]
@cuda.jit
def kernel(x):
    while True:
        x[0] = 1
    x[0] = unknown


# %% conditional-expression-of-a-constant
# args: float32[::1]
CAUSAL = False

@cuda.jit
def kernel(x):
    x[0] = unknown if CAUSAL else x[1]


# %% conditional-expressions-nested
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = x[1] if n > 2 else x[2] if n > 1 else x[3]


# %% not-in-front-of-in
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if not n in (1, 2):
        x[0] = 1


# %% is-of-numbers
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n is 1:
        x[0] = 1


# %% equal-to-none
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n == None:
        x[0] = 1


# %% array-equal-to-none
# args: float32[::1]
@cuda.jit
def kernel(x):
    if x == None:
        x[0] = 1


# %% matrix-product-sign
# args: float32[::1], float32
@cuda.jit
def kernel(x, v):
    x[0] = v @ v


# %% increment-in-c-style
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    ++n
    x[n] = 1


# %% power-with-a-negative-base
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = -x[1] ** 2


# %% shifts-and-masks
# args: int64[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    x[t] = (t >> 5) & 31 ^ 1 | t << 2


# %% two-functions-of-one-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = unknown

@cuda.jit
def kernel(x):
    x[0] = 1


# %% statements-after-the-kernel
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = WIDTH

WIDTH = 2
WIDTH = WIDTH + 1
