import math
import operator

import numba
import numpy as np
from numba import (boolean, cuda, float32, float64, int8, int16, int32, int64, types,
                   uint8, uint16, uint32, uint64)


# %% barrier-that-does-nothing
# args: int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sync.py (BSD-2-Clause)
@cuda.jit
def kernel(out):
    i = cuda.grid(1)
    cuda.syncthreads()
    out[i] = i


# %% warp-barrier
# args: int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sync.py (BSD-2-Clause)
@cuda.jit
def kernel(out):
    i = cuda.grid(1)
    cuda.syncwarp()
    out[i] = i


# %% warp-barrier-with-a-mask
# args: int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sync.py (BSD-2-Clause)
@cuda.jit
def kernel(out):
    i = cuda.grid(1)
    cuda.syncwarp(0xFFFF)
    out[i] = i


# %% tree-of-warp-barriers
# args: int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sync.py (BSD-2-Clause)
@cuda.jit
def kernel(total):
    part = cuda.shared.array(32, int32)
    t = cuda.grid(1)
    part[t] = t
    cuda.syncwarp()
    if t < 16:
        part[t] = part[t] + part[t + 16]
        cuda.syncwarp(0xFFFF)
    if t < 8:
        part[t] = part[t] + part[t + 8]
        cuda.syncwarp(0xFF)
    if t == 0:
        total[0] = part[0] + part[1]


# %% one-thread-fills-a-tile
# args: int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sync.py (BSD-2-Clause)
@cuda.jit
def kernel(out):
    N = 100
    tile = cuda.shared.array(N, int32)
    i = cuda.grid(1)
    if i == 0:
        for j in range(N):
            tile[j] = j
    cuda.syncthreads()
    out[i] = tile[i]


# %% tile-of-quotients
# args: float32[:, ::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sync.py (BSD-2-Clause)
@cuda.jit
def kernel(out):
    i, j = cuda.grid(2)
    tile = cuda.shared.array((10, 20), float32)
    tile[i, j] = (i + 1) / (j + 1)
    cuda.syncthreads()
    out[i, j] = tile[i, j]


# %% dynamic-tile
# args: float32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sync.py (BSD-2-Clause)
@cuda.jit
def kernel(out):
    i = cuda.grid(1)
    tile = cuda.shared.array(0, float32)
    tile[i] = i * 2
    cuda.syncthreads()
    out[i] = tile[i]


# %% fence
# args: int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sync.py (BSD-2-Clause)
@cuda.jit
def kernel(out):
    out[0] += 123
    cuda.threadfence()
    out[0] += 321


# %% fence-of-the-block
# args: int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sync.py (BSD-2-Clause)
@cuda.jit
def kernel(out):
    out[0] += 123
    cuda.threadfence_block()
    out[0] += 321


# %% fence-of-the-system
# args: int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sync.py (BSD-2-Clause)
@cuda.jit
def kernel(out):
    out[0] += 123
    cuda.threadfence_system()
    out[0] += 321


# %% barrier-that-counts
# args: int32[::1], int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sync.py (BSD-2-Clause)
@cuda.jit
def kernel(flags, out):
    i = cuda.grid(1)
    out[i] = cuda.syncthreads_count(flags[i])


# %% barrier-that-counts-64-bits
# args: int64[::1], int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sync.py (BSD-2-Clause)
@cuda.jit
def kernel(flags, out):
    i = cuda.grid(1)
    out[i] = cuda.syncthreads_count(flags[i])


# %% barrier-that-ands
# args: int16[::1], int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sync.py (BSD-2-Clause)
@cuda.jit
def kernel(flags, out):
    i = cuda.grid(1)
    out[i] = cuda.syncthreads_and(flags[i])


# %% barrier-that-ors
# args: uint8[::1], int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sync.py (BSD-2-Clause)
@cuda.jit
def kernel(flags, out):
    i = cuda.grid(1)
    out[i] = cuda.syncthreads_or(flags[i])


# %% tiles-in-caller-and-helper
# args:
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sm.py (BSD-2-Clause)
@cuda.jit(device=True)
def inner():
    own = cuda.shared.array(1, dtype=int32)

@cuda.jit
def kernel():
    tile = cuda.shared.array(1, dtype=int32)
    inner()


# %% size-of-a-tile
# args: int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sm.py (BSD-2-Clause)
# kernel: make((2, 3))
def make(shape):
    @cuda.jit
    def kernel(out):
        tile = cuda.shared.array(shape, dtype=int32)
        out[0] = tile.size

    return kernel


# %% size-of-a-tile-of-a-list
# args: int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sm.py (BSD-2-Clause)
# kernel: make([2, 3])
def make(shape):
    @cuda.jit
    def kernel(out):
        tile = cuda.shared.array(shape, dtype=int32)
        out[0] = tile.size

    return kernel


# %% two-tiles-of-double
# args: float64[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sm.py (BSD-2-Clause)
EXAMPLES, WEIGHTS = 64, 5

@cuda.jit
def kernel(costs):
    features = cuda.shared.array((EXAMPLES, WEIGHTS), float64)
    first = cuda.shared.array(7, float64)
    t = cuda.threadIdx.x
    guess = 0
    for j in range(WEIGHTS):
        guess += features[t, j]
    costs[0] = first[0] + guess


# %% chunk-copied-through-a-tile
# args: float32[::1], float32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sm.py (BSD-2-Clause)
THREADS = 16

@cuda.jit
def kernel(x, y):
    tile = cuda.shared.array(THREADS, dtype=float32)
    tx = cuda.threadIdx.x
    bx = cuda.blockIdx.x
    bd = cuda.blockDim.x
    i = bx * bd + tx
    if i < len(x):
        tile[tx] = x[i]
    cuda.syncthreads()
    if tx == 0:
        for j in range(THREADS):
            y[bd * bx + j] = tile[j]


# %% slices-of-dynamic-memory
# args: int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sm.py (BSD-2-Clause)
@cuda.jit
def kernel(x):
    pool = cuda.shared.array(0, dtype=int32)
    left = pool[0:1]
    right = pool[1:3]
    left[0] = 1
    right[0] = 2
    right[1] = 3
    x[0] = pool[0]
    x[1] = pool[1]
    x[2] = pool[2]


# %% slices-of-dynamic-memory-backwards
# args: int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sm.py (BSD-2-Clause)
@cuda.jit
def kernel(x):
    pool = cuda.shared.array(0, dtype=int32)
    low = pool[1::-1]
    high = pool[3:1:-1]
    low[0] = 1
    high[1] = 4
    x[0] = pool[0]
    x[1] = pool[3]


# %% slices-of-dynamic-memory-with-a-step
# args: int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sm.py (BSD-2-Clause)
@cuda.jit
def kernel(x):
    pool = cuda.shared.array(0, dtype=int32)
    even = pool[::2]
    last = pool[-1::-2]
    even[0] = 1
    last[0] = 2
    x[0] = pool[0]


# %% slices-sized-by-an-argument
# args: float32[::1], float32[::1], int64
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sm.py (BSD-2-Clause)
@cuda.jit
def kernel(x, y, chunk):
    pool = cuda.shared.array(0, dtype=float32)
    low = pool[0:chunk]
    high = pool[chunk : chunk * 2]
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < len(x):
        if t < chunk:
            low[t] = x[i]
        else:
            high[t - chunk] = x[i]
    cuda.syncthreads()
    if t == 0:
        for j in range(chunk):
            y[i + j] = low[j]
            y[i + j + chunk] = high[j]


# %% tile-of-objects
# args: float32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sm.py (BSD-2-Clause)
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(10, dtype=np.dtype("O"))
    x[0] = 1


# %% tile-type-in-wrong-quotes
# args: float32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sm.py (BSD-2-Clause)
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(10, dtype="int33")
    x[0] = 1


# %% tile-of-global-list-display
# args: float32[:, ::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sm_creation.py (BSD-2-Clause)
ROWS, COLUMNS = 5, 6

@cuda.jit
def kernel(a):
    tile = cuda.shared.array(shape=[ROWS, COLUMNS], dtype=float32)
    i, j = cuda.grid(2)
    a[i, j] = tile[i, j]


# %% tile-of-global-tuple-display
# args: float32[:, ::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sm_creation.py (BSD-2-Clause)
ROWS, COLUMNS = 5, 6

@cuda.jit
def kernel(a):
    tile = cuda.shared.array(shape=(ROWS, COLUMNS), dtype=float32)
    i, j = cuda.grid(2)
    a[i, j] = tile[i, j]


# %% tile-sized-by-an-element
# args: float32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sm_creation.py (BSD-2-Clause)
@cuda.jit
def kernel(a):
    tile = cuda.shared.array(shape=a[0], dtype=float32)
    i = cuda.grid(1)
    a[i] = tile[i]


# %% tile-sized-by-one-and-an-element
# args: float32[:, ::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_sm_creation.py (BSD-2-Clause)
@cuda.jit
def kernel(a):
    tile = cuda.shared.array(shape=(1, a[0, 0]), dtype=float32)
    i, j = cuda.grid(2)
    a[i, j] = tile[i, j]


# %% local-copy
# args: int32[::1], int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_localmem.py (BSD-2-Clause)
@cuda.jit
def kernel(a, b):
    own = cuda.local.array(1000, dtype=int32)
    for i in range(own.shape[0]):
        own[i] = a[i]
    for i in range(own.shape[0]):
        b[i] = own[i]


# %% local-copy-of-complex-numbers
# args: complex128[::1], complex128[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_localmem.py (BSD-2-Clause)
@cuda.jit
def kernel(a, b):
    own = cuda.local.array(100, dtype=types.complex128)
    for i in range(own.shape[0]):
        own[i] = a[i]
    for i in range(own.shape[0]):
        b[i] = own[i]


# %% local-array-of-a-one-tuple
# args: int32[::1], int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_localmem.py (BSD-2-Clause)
@cuda.jit
def kernel(a, b):
    own = cuda.local.array((5,), dtype=int32)
    for i in range(own.shape[0]):
        own[i] = a[i]
    for i in range(own.shape[0]):
        b[i] = own[i]


# %% enumerate-a-closure-tuple
# args: float64[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_lang.py (BSD-2-Clause)
# kernel: make((1.0, 2.0, 3.0))
def make(values):
    @cuda.jit
    def kernel(a):
        for i, v in enumerate(values):
            a[i] = v

    return kernel


# %% zip-two-closure-tuples
# args: float64[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_lang.py (BSD-2-Clause)
# kernel: make((1, 2, 3), (4, 5, 6))
def make(left, right):
    @cuda.jit
    def kernel(a):
        c = 0
        for i, j in zip(left, right):
            c += i + j
        a[0] = c

    return kernel


# %% names-set-in-loops
# args: float64[:, ::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_lang.py (BSD-2-Clause)
@cuda.jit
def kernel(a):
    for i in range(2):
        tx = cuda.threadIdx.x
    for j in range(3):
        ty = cuda.threadIdx.y
    tile = cuda.shared.array((2, 3), float64)
    tile[tx, ty] = 1.0
    a[tx, ty] = tile[tx, ty]


# %% enumerate-checked
# args: float32[::1], int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_iterators.py (BSD-2-Clause)
@cuda.jit
def kernel(x, wrong):
    count = 0
    for i, v in enumerate(x):
        if count != i:
            wrong[0] = 1
        if v != x[i]:
            wrong[0] = 2
        count += 1
    if count != len(x):
        wrong[0] = 3


# %% enumerate-of-zip
# args: float32[::1], float32[::1], int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_iterators.py (BSD-2-Clause)
@cuda.jit
def kernel(x, y, wrong):
    for i, (a, b) in enumerate(zip(x, y)):
        if a != x[i]:
            wrong[0] = 1
        if b != y[i]:
            wrong[0] = 2


# %% zip-of-enumerate
# args: float32[::1], float32[::1], int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_iterators.py (BSD-2-Clause)
@cuda.jit
def kernel(x, y, wrong):
    for (i, a), b in zip(enumerate(x), y):
        if a != x[i] or b != y[i]:
            wrong[0] = 1


# %% enumerate-a-range-backwards
# args: int64, int64, int64
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_flow_control.py (BSD-2-Clause)
@cuda.jit
def kernel(x, y, out):
    result = 0
    for i, j in enumerate(range(x, y, -1)):
        result += i * j
    out = result


# %% loop-over-a-changed-bound
# args: int64, int64, int64
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_flow_control.py (BSD-2-Clause)
@cuda.jit
def kernel(x, y, out):
    z = 0
    for i in range(x):
        x = 0
        for j in range(x):
            if j == x / 2:
                z += j
                break
        else:
            z += y
    out = z


# %% loop-variable-in-an-else
# args: int64, int64, int64
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_flow_control.py (BSD-2-Clause)
@cuda.jit
def kernel(x, y, out):
    for i in range(x):
        if i == y:
            z = y
            break
    else:
        z = i * 2
    out = z


# %% branches-of-passes
# args: int64, int64, int64
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_flow_control.py (BSD-2-Clause)
@cuda.jit
def kernel(x, y, out):
    if x > 0:
        pass
    elif y > 0:
        pass
    else:
        pass
    out = True


# %% loops-that-never-end
# args: int64, int64
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_flow_control.py (BSD-2-Clause)
@cuda.jit
def kernel(x, y):
    last = x
    i = y
    while True:
        while True:
            if i == last - 1:
                break
            i += 1
        i += 1


# %% floor-not-imported
# args:
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_errors.py (BSD-2-Clause)
@cuda.jit(device=True)
def lower(v):
    return floor(v)

@cuda.jit
def kernel():
    lower(1.5)


# %% helper-compares-a-string
# args: float32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_errors.py (BSD-2-Clause)
@cuda.jit(device=True)
def load(x, mode):
    if mode == "1":
        x[cuda.threadIdx.x] = 1.0
    else:
        x[cuda.threadIdx.x] = 0.0

@cuda.jit
def kernel(x):
    load(x, "1")


# %% shape-out-of-bounds-by-a-thread
# args: float32[:, ::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_exception.py (BSD-2-Clause)
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    if t == 2:
        x.shape[-t]


# %% shape-out-of-bounds-by-a-literal
# args: float32[:, ::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_exception.py (BSD-2-Clause)
@cuda.jit
def kernel(x):
    n = x.shape[2]


# %% loops-around-a-barrier
# args: float64[::1], float64[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_exception.py (BSD-2-Clause)
@cuda.jit
def kernel(x, y):
    t = cuda.threadIdx.x
    threads = cuda.blockDim.x
    if t > 12:
        for i in range(threads):
            y[i] += x[i] // y[i]
    cuda.syncthreads()
    if t < 17:
        for i in range(threads):
            x[i] += x[i] // y[i]


# %% helper-that-raises
# args:
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_exception.py (BSD-2-Clause)
@cuda.jit(device=True)
def fail():
    raise ValueError("nothing fits")

@cuda.jit
def kernel():
    fail()


# %% helper-of-a-helper
# args: float32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_device_func.py (BSD-2-Clause)
@cuda.jit("float32(float32, float32)", device=True)
def plus(a, b):
    return a + b

@cuda.jit("float32(float32, float32)", device=True)
def around(a, b):
    return plus(a, b)

@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = around(x[i], x[i])


# %% colour-packed-into-bits
# args: int32[::1], int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_device_func.py (BSD-2-Clause)
@cuda.jit("int32(int32, int32, int32, int32)", device=True)
def packed(r, g, b, a):
    return (
        ((r & 0xFF) << 16)
        | ((g & 0xFF) << 8)
        | ((b & 0xFF) << 0)
        | ((a & 0xFF) << 24)
    )

@cuda.jit
def kernel(out, parts):
    out[0] = packed(parts[0], parts[1], parts[2], parts[3])


# %% shuffle-of-an-index
# args: int32[::1], int64
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_warp_ops.py (BSD-2-Clause)
@cuda.jit
def kernel(out, lane):
    i = cuda.grid(1)
    out[i] = cuda.shfl_sync(0xFFFFFFFF, i, lane)


# %% shuffle-down
# args: int32[::1], int64
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_warp_ops.py (BSD-2-Clause)
@cuda.jit
def kernel(out, delta):
    i = cuda.grid(1)
    v = cuda.shfl_down_sync(0xFFFFFFFF, i, delta)
    out[i] = v


# %% vote-of-all
# args: int32[::1], int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_warp_ops.py (BSD-2-Clause)
@cuda.jit
def kernel(flags, out):
    i = cuda.grid(1)
    out[i] = cuda.all_sync(0xFFFFFFFF, flags[i])


# %% vote-of-equal
# args: int32[::1], int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_warp_ops.py (BSD-2-Clause)
@cuda.jit
def kernel(flags, out):
    i = cuda.grid(1)
    out[i] = cuda.eq_sync(0xFFFFFFFF, flags[i])


# %% vote-with-a-mask-of-its-own
# args: uint32[::1], int32[::1], int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_warp_ops.py (BSD-2-Clause)
@cuda.jit
def kernel(mask, flags, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = cuda.all_sync(mask[i], flags[i])


# %% vote-of-a-literal
# args: int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_warp_ops.py (BSD-2-Clause)
@cuda.jit
def kernel(out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = cuda.all_sync(0xFFFFFFFF, 1)


# %% ballot-of-all
# args: uint32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_warp_ops.py (BSD-2-Clause)
@cuda.jit
def kernel(out):
    t = cuda.threadIdx.x
    out[t] = cuda.ballot_sync(0xFFFFFFFF, True)


# %% ballots-of-four-groups
# args: uint32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_warp_ops.py (BSD-2-Clause)
@cuda.jit
def kernel(out):
    t = cuda.threadIdx.x
    if t % 4 == 0:
        ballot = cuda.ballot_sync(0x11111111, True)
    elif t % 4 == 1:
        ballot = cuda.ballot_sync(0x22222222, True)
    elif t % 4 == 2:
        ballot = cuda.ballot_sync(0x44444444, True)
    elif t % 4 == 3:
        ballot = cuda.ballot_sync(0x88888888, True)
    out[t] = ballot


# %% match-of-any
# args: int32[::1], int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_warp_ops.py (BSD-2-Clause)
@cuda.jit
def kernel(x, out):
    i = cuda.grid(1)
    out[i] = cuda.match_any_sync(0xFFFFFFFF, x[i])


# %% match-of-all
# args: int32[::1], int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_warp_ops.py (BSD-2-Clause)
@cuda.jit
def kernel(x, out):
    i = cuda.grid(1)
    ballot, same = cuda.match_all_sync(0xFFFFFFFF, x[i])
    out[i] = ballot if same else 0


# %% active-threads
# args: uint32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_warp_ops.py (BSD-2-Clause)
@cuda.jit
def kernel(out):
    i = cuda.grid(1)
    if (i % 2) == 0:
        out[i] = cuda.activemask()
    else:
        out[i] = cuda.activemask()


# %% lanes-below
# args: uint32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_warp_ops.py (BSD-2-Clause)
@cuda.jit
def kernel(out):
    i = cuda.grid(1)
    out[i] = cuda.lanemask_lt()


# %% rows-given-to-a-helper
# args: float32[:, ::1], float32[:, ::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_slicing.py (BSD-2-Clause)
@cuda.jit(device=True)
def copied(x, out):
    for i in range(out.shape[0]):
        out[i] = x[i]

@cuda.jit
def kernel(x, out):
    i = cuda.grid(1)
    copied(x[i, :], out[i, :])


# %% name-set-on-one-path-only
# args: int64[::1], int64
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_ssa.py (BSD-2-Clause)
@cuda.jit
def kernel(out, n):
    if n:
        if n > 0:
            c = 0
        out[0] = c
    else:
        c += 1
        out[0] = c


# %% name-carried-through-turns
# args: float64[::1], int64, float64, int64
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_ssa.py (BSD-2-Clause)
@cuda.jit
def kernel(out, x, v, n):
    for i in range(n):
        if i == 0:
            if i == x:
                pass
            else:
                held = v
        else:
            if i == x:
                pass
            else:
                held = held + v
    out[0] = held


# %% range-of-an-unsigned-number
# args: float32[::1], float32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_ssa.py (BSD-2-Clause)
@cuda.jit
def kernel(out, v):
    s = np.uint32(1)
    for i in range(s):
        v[i] = 1
    for i in range(s, 1):
        pass
    out[0] = v[0]


# %% array-reshaped-in-a-loop
# args: float32[:, ::1], float32[:, ::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_ssa.py (BSD-2-Clause)
@cuda.jit
def kernel(out, x):
    for i in range(1):
        x = x.reshape(3 * 2)
        x = x.reshape(3, 2)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j]


# %% loop-variable-becomes-an-array
# args: float32[::1], int64, float32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_ssa.py (BSD-2-Clause)
TABLE = np.arange(4, dtype=np.float32)

@cuda.jit
def kernel(out, n, data):
    for t in range(1, n):
        for i in range(n):
            t = TABLE
            out[0] += t[0]


# %% print-of-numbers
# args:
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_print.py (BSD-2-Clause)
@cuda.jit
def kernel():
    i = cuda.grid(1)
    print(i, 23, 34.75, 321)


# %% print-of-an-index
# args:
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_print.py (BSD-2-Clause)
@cuda.jit
def kernel():
    print(cuda.threadIdx)


# %% print-of-thirty-three
# args: int64[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_print.py (BSD-2-Clause)
@cuda.jit
def kernel(r):
    print(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11],
          r[12], r[13], r[14], r[15], r[16], r[17], r[18], r[19], r[20], r[21], r[22],
          r[23], r[24], r[25], r[26], r[27], r[28], r[29], r[30], r[31], r[32])


# %% powers-of-a-matrix
# args: float64[:, ::1], int64, float64[:, ::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_powi.py (BSD-2-Clause)
@cuda.jit
def kernel(a, power, out):
    y, x = cuda.grid(2)
    m, n = out.shape
    if x >= n or y >= m:
        return
    out[y, x] = math.pow(a[y, x], int32(power))


# %% powers-in-place
# args: float32[::1], float32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_powi.py (BSD-2-Clause)
@cuda.jit
def kernel(r, x):
    i = cuda.grid(1)
    if i < len(r):
        r[i] **= x[i]


# %% halved-in-place
# args: float32[:, :], int32, int32
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_idiv.py (BSD-2-Clause)
@cuda.jit
def kernel(grid, rows, columns):
    for x in range(rows):
        for y in range(columns):
            grid[x, y] /= 2.0


# %% larger-of-two-types
# args: float32[::1], float64[::1], float64[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_minmax.py (BSD-2-Clause)
@cuda.jit
def kernel(a, b, c):
    i = cuda.grid(1)
    if i >= len(c):
        return
    c[i] = float64(max(a[i], b[i]))


# %% constant-table-in-three-dimensions
# args: float32[:, :, ::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_constmem.py (BSD-2-Clause)
TABLE = np.arange(125, dtype=np.float32).reshape(5, 5, 5)

@cuda.jit
def kernel(a):
    table = cuda.const.array_like(TABLE)
    i, j, k = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    a[i, j, k] = table[i, j, k]


# %% constant-table-that-is-empty
# args: int64[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_constmem.py (BSD-2-Clause)
TABLE = np.array([])

@cuda.jit
def kernel(a):
    table = cuda.const.array_like(TABLE)
    i = cuda.grid(1)
    a[i] = len(table)


# %% tuple-of-tuples
# args: int64[::1], UniTuple(UniTuple(int64, 2), 2)
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_array_args.py (BSD-2-Clause)
@cuda.jit
def kernel(r, x):
    r[0] = len(x)
    r[1] = len(x[0])
    r[2] = x[1][0]


# %% tuple-of-mixed-numbers
# args: int64[::1], float64[::1], Tuple((int64, int64, float64))
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_array_args.py (BSD-2-Clause)
@cuda.jit
def kernel(whole, parts, x):
    whole[0] = x[0]
    whole[1] = x[1]
    parts[0] = x[2]


# %% bits-counted
# args: int32[::1], uint32
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_intrinsics.py (BSD-2-Clause)
@cuda.jit
def kernel(out, c):
    out[0] = cuda.popc(c)


# %% bits-counted-by-a-method
# args: int32[::1], uint32
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_intrinsics.py (BSD-2-Clause)
@cuda.jit
def kernel(out, c):
    out[0] = c.bit_count()


# %% fused-multiply-add
# args: float32[::1], float32, float32, float32
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_intrinsics.py (BSD-2-Clause)
@cuda.jit
def kernel(out, a, b, c):
    out[0] = cuda.fma(a, b, c)


# %% half-precision-fused
# args: float16[::1], float16, float16, float16
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_intrinsics.py (BSD-2-Clause)
@cuda.jit
def kernel(out, a, b, c):
    out[0] = cuda.fp16.hfma(a, b, c)


# %% grid-strides-in-two-dimensions
# args: int64[:, ::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_intrinsics.py (BSD-2-Clause)
@cuda.jit
def kernel(c):
    x0, y0 = cuda.grid(2)
    dx = cuda.gridDim.x * cuda.blockDim.x
    dy = cuda.gridDim.y * cuda.blockDim.y
    height, width = c.shape
    for x in range(x0, width, dx):
        for y in range(y0, height, dy):
            c[y, x] = x + y


# %% index-in-three-dimensions
# args: int32[:, :, ::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_intrinsics.py (BSD-2-Clause)
@cuda.jit
def kernel(out):
    i = cuda.threadIdx.x
    j = cuda.threadIdx.y
    k = cuda.threadIdx.z
    out[i, j, k] = (i + 1) * (j + 1) * (k + 1)


# %% histogram-in-shared-memory
# args: uint32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_atomics.py (BSD-2-Clause)
@cuda.jit(device=True)
def counted(x, index, by, kind, size, add, start):
    t = cuda.threadIdx.x
    tile = cuda.shared.array(size, kind)
    tile[t] = start
    cuda.syncthreads()
    place = index[t] % size
    add(tile, place, by)
    cuda.syncthreads()
    x[t] = tile[t]

@cuda.jit
def kernel(x):
    counted(x, x, 1, uint32, 32, cuda.atomic.add, 0)


# %% atomic-in-two-dimensions
# args: uint32[:, ::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_atomics.py (BSD-2-Clause)
@cuda.jit
def kernel(x):
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    tile = cuda.shared.array((4, 8), uint32)
    tile[tx, ty] = x[tx, ty]
    cuda.syncthreads()
    cuda.atomic.add(tile, (tx, ty), 1)
    cuda.syncthreads()
    x[tx, ty] = tile[tx, ty]


# %% half-precision-comparisons
# args: boolean[::1], float16, float16, float16
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_operator.py (BSD-2-Clause)
@cuda.jit
def kernel(r, a, b, c):
    r[0] = a < b and c >= b


# %% operator-given-by-a-closure
# args: float64[::1], float64[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_operator.py (BSD-2-Clause)
# kernel: make(operator.floordiv)
def make(op):
    @cuda.jit
    def kernel(a, b):
        i = 0
        a[i] = op(a[i], b[i])

    return kernel


# %% fraction-and-whole
# args: float32[::1], float32[::1], float32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/cudapy/test_math.py (BSD-2-Clause)
@cuda.jit
def kernel(a, b, c):
    i = cuda.grid(1)
    b[i], c[i] = math.modf(a[i])


# %% sum-of-a-block-by-doubling-strides
# args: int32[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/doc_examples/test_reduction.py (BSD-2-Clause)
THREADS = 1024

@cuda.jit
def kernel(data):
    t = cuda.threadIdx.x
    size = len(data)
    if t < size:
        i = cuda.grid(1)
        part = cuda.shared.array(THREADS, int32)
        part[t] = data[i]
        cuda.syncthreads()
        s = 1
        while s < cuda.blockDim.x:
            if t % (2 * s) == 0:
                part[t] += part[t + s]
            s *= 2
            cuda.syncthreads()
        if t == 0:
            data[t] = part[t]


# %% product-of-matrices
# args: float32[:, ::1], float32[:, ::1], float32[:, ::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/doc_examples/test_matmul.py (BSD-2-Clause)
@cuda.jit
def kernel(a, b, c):
    """One thread an element; the sum is kept in double precision."""
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


# %% product-of-matrices-by-tiles
# args: float32[:, ::1], float32[:, ::1], float32[:, ::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/doc_examples/test_matmul.py (BSD-2-Clause)
EDGE = 16

@cuda.jit
def kernel(a, b, c):
    left = cuda.shared.array(shape=(EDGE, EDGE), dtype=float32)
    right = cuda.shared.array(shape=(EDGE, EDGE), dtype=float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    total = float32(0.0)
    for turn in range(cuda.gridDim.x):
        left[ty, tx] = 0
        right[ty, tx] = 0
        if y < a.shape[0] and (tx + turn * EDGE) < a.shape[1]:
            left[ty, tx] = a[y, tx + turn * EDGE]
        if x < b.shape[1] and (ty + turn * EDGE) < b.shape[0]:
            right[ty, tx] = b[ty + turn * EDGE, x]
        cuda.syncthreads()
        for j in range(EDGE):
            total += left[ty, j] * right[j, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


# %% heat-with-a-grid-barrier
# args: float32[::1], float32[::1], int64, float32
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/doc_examples/test_laplace.py (BSD-2-Clause)
@cuda.jit
def kernel(old, new, turns, k):
    i = cuda.grid(1)
    if i >= len(old):
        return
    grid = cuda.cg.this_grid()
    for turn in range(turns):
        if (turn % 2) == 0:
            here, there = old, new
        else:
            here, there = new, old
        now = here[i]
        if i == 0:
            then = now + k * (here[i + 1] - (2 * now))
        elif i == len(here) - 1:
            then = now + k * (here[i - 1] - (2 * now))
        else:
            then = now + k * (here[i - 1] - (2 * now) + here[i + 1])
        there[i] = then
        grid.sync()


# %% sessions
# args: int64[::1], int64[::1], int64[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/doc_examples/test_sessionize.py (BSD-2-Clause)
LONGEST = 3600

@cuda.jit
def kernel(user, stamp, found):
    i = cuda.grid(1)
    size = len(user)
    if i >= size:
        return
    if i != 0:
        other = user[i] != user[i - 1]
        late = stamp[i] - stamp[i - 1] > LONGEST
        begins = other or late
    else:
        begins = True
    if begins:
        found[i] = i
        ahead = 1
        while found[i + ahead] == 0:
            found[i + ahead] = i
            ahead += 1
            if i + ahead == size - 1:
                found[i + ahead] = i
                break


# %% ufunc-over-an-array
# args: float64[::1], float64[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/doc_examples/test_ufunc.py (BSD-2-Clause)
@cuda.jit
def kernel(r, x):
    np.sin(x, r)


# %% function-for-both-sides
# args: float64[::1], float64[::1], float64[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/doc_examples/test_cpu_gpu_compat.py (BSD-2-Clause)
pi = math.pi

@numba.njit
def priced(x, y, z):
    return 4 * z * (2 * x - (4 * y) / 2 * pi)

@cuda.jit
def kernel(out, x, y):
    i = cuda.grid(1)
    if i < len(x):
        out[i] = priced(x[i], y[i], x[i])


# %% prices-from-a-global-array
# args: float64[::1], float64[::1]
# source: NVIDIA/numba-cuda numba_cuda/numba/cuda/tests/doc_examples/test_globals.py (BSD-2-Clause)
PRICES = np.array([1.5, 2.0, 4.25])
TAX = 0.08

@cuda.jit
def kernel(amounts, totals):
    i = cuda.grid(1)
    if i < totals.size:
        totals[i] = amounts[i] * PRICES[i] * (1 + TAX)


# %% boxes-that-overlap
# args: int64, float32, float32[:, ::1], int64[::1]
# source: traveller59/second.pytorch second/core/non_max_suppression/nms_gpu.py (MIT)
@cuda.jit(device=True, inline=True)
def overlap(a, b):
    left = max(a[0], b[0])
    right = min(a[2], b[2])
    top = max(a[1], b[1])
    bottom = min(a[3], b[3])
    width = max(right - left + 1, 0.0)
    height = max(bottom - top + 1, 0.0)
    shared = width * height
    size_a = (a[2] - a[0] + 1) * (a[3] - a[1] + 1)
    size_b = (b[2] - b[0] + 1) * (b[3] - b[1] + 1)
    return shared / (size_a + size_b - shared)

@cuda.jit()
def kernel(n, limit, boxes, mask):
    threads = 8 * 8
    row = cuda.blockIdx.y
    column = cuda.blockIdx.x
    tx = cuda.threadIdx.x
    rows = min(n - row * threads, threads)
    columns = min(n - column * threads, threads)
    tile = cuda.shared.array(shape=(64, 5), dtype=numba.float32)
    here = threads * column + tx
    if (tx < columns):
        tile[tx, 0] = boxes[here, 0]
        tile[tx, 4] = boxes[here, 4]
    cuda.syncthreads()
    if (cuda.threadIdx.x < rows):
        mine = threads * row + cuda.threadIdx.x
        t = 0
        start = 0
        if (row == column):
            start = tx + 1
        for i in range(start, columns):
            if overlap(boxes[mine], tile[i]) > limit:
                t |= 1 << i
        blocks = ((n) // (threads) + ((n) % (threads) > 0))
        mask[mine * blocks + column] = t


# %% boxes-in-a-tile-of-a-local-name
# args: float32[:, ::1]
# source: traveller59/second.pytorch second/core/non_max_suppression/nms_gpu.py (MIT)
@cuda.jit()
def kernel(boxes):
    threads = 8 * 8
    tile = cuda.shared.array(shape=(threads, 5), dtype=numba.float32)
    tx = cuda.threadIdx.x
    tile[tx, 0] = boxes[tx, 0]


# %% corners-sorted-in-local-memory
# args: float32[::1], int64
# source: traveller59/second.pytorch second/core/non_max_suppression/nms_gpu.py (MIT)
@cuda.jit(device=True, inline=True)
def put_in_order(points, n):
    if n > 0:
        centre = cuda.local.array((2, ), dtype=numba.float32)
        centre[:] = 0.0
        for i in range(n):
            centre[0] += points[2 * i]
            centre[1] += points[2 * i + 1]
        centre[0] /= n
        centre[1] /= n
        keys = cuda.local.array((16, ), dtype=numba.float32)
        for i in range(n):
            keys[i] = points[2 * i] - centre[0]
        j = 0
        held = 0
        for i in range(1, n):
            if keys[i - 1] > keys[i]:
                held = keys[i]
                j = i
                while j > 0 and keys[j - 1] > held:
                    keys[j] = keys[j - 1]
                    j -= 1
                keys[j] = held

@cuda.jit()
def kernel(points, n):
    put_in_order(points, n)


# %% triangle-of-slices
# args: float32[::1], int64
# source: traveller59/second.pytorch second/core/non_max_suppression/nms_gpu.py (MIT)
@cuda.jit(device=True, inline=True)
def triangle(a, b, c):
    return ((a[0] - c[0]) * (b[1] - c[1]) - (a[1] - c[1]) * (b[0] - c[0])) / 2.0

@cuda.jit()
def kernel(points, n):
    total = 0.0
    for i in range(n - 2):
        total += abs(triangle(points[:2], points[2 * i + 2:2 * i + 4],
                              points[2 * i + 4:2 * i + 6]))
    points[0] = total


# %% puzzle-guard
# args: float64[::1], int64[::1], int64
# source: srush/GPU-Puzzles GPU_puzzlers.py (MIT)
# kernel: cuda.jit(puzzle(cuda))
def puzzle(cuda):
    def call(out, a, size) -> None:
        t = cuda.threadIdx.x
        if t < size:
            out[t] = a[t] + 10

    return call


# %% puzzle-broadcast
# args: float64[:, ::1], int64[:, ::1], int64[:, ::1], int64
# source: srush/GPU-Puzzles GPU_puzzlers.py (MIT)
@cuda.jit
def kernel(out, a, b, size) -> None:
    i = cuda.threadIdx.x
    j = cuda.threadIdx.y
    if i < size and j < size:
        out[i, j] = a[i, 0] + b[0, j]


# %% puzzle-shared
# args: float64[::1], float64[::1], int64
# source: srush/GPU-Puzzles GPU_puzzlers.py (MIT)
TPB = 4

@cuda.jit
def kernel(out, a, size) -> None:
    shared = cuda.shared.array(TPB, numba.float32)
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    t = cuda.threadIdx.x
    if i < size:
        shared[t] = a[i]
        cuda.syncthreads()
        out[i] = shared[t] + 10


# %% puzzle-pooling
# args: float64[::1], int64[::1], int64
# source: srush/GPU-Puzzles GPU_puzzlers.py (MIT)
TPB = 8

@cuda.jit
def kernel(out, a, size) -> None:
    shared = cuda.shared.array(TPB, numba.float32)
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    t = cuda.threadIdx.x
    if i < size:
        shared[t] = a[i]
        cuda.syncthreads()
        acc = 0
        for j in range(3):
            if i - j >= 0:
                acc += shared[t - j]
        out[i] = acc


# %% puzzle-convolution
# args: float64[::1], int64[::1], int64[::1], int64, int64
# source: srush/GPU-Puzzles GPU_puzzlers.py (MIT)
MOST = 4
TPB = 8
WIDE = TPB + MOST

@cuda.jit
def kernel(out, a, b, a_size, b_size) -> None:
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    t = cuda.threadIdx.x
    left = cuda.shared.array(WIDE, numba.float32)
    right = cuda.shared.array(MOST, numba.float32)
    if i < a_size:
        left[t] = a[i]
    if t < b_size:
        right[t] = b[t]
    else:
        u = t - b_size
        if i - b_size + TPB < a_size and u < b_size:
            left[u + TPB] = a[i - b_size + TPB]
    cuda.syncthreads()
    acc = 0
    for j in range(b_size):
        if i + j < a_size:
            acc += left[t + j] * right[j]
    if i < a_size:
        out[i] = acc


# %% puzzle-convolution-sized-inside
# args: float64[::1], int64[::1], int64
# source: srush/GPU-Puzzles GPU_puzzlers.py (MIT)
MOST = 4
TPB = 8

@cuda.jit
def kernel(out, a, size) -> None:
    t = cuda.threadIdx.x
    left = cuda.shared.array(TPB + MOST, numba.float32)
    left[t] = a[t]
    cuda.syncthreads()
    out[t] = left[t + 1]


# %% tensor-map-with-strides
# args: float64[::1], int32[::1], int32[::1], int64, float64[::1], int32[::1], int32[::1]
# source: minitorch/minitorch minitorch/cuda_ops.py (none stated)
# kernel: make(negated)
DIMENSIONS = 32

@cuda.jit(device=True)
def to_index(ordinal, shape, index):
    rest = ordinal + 0
    for i in range(len(shape) - 1, -1, -1):
        size = shape[i]
        index[i] = int(rest % size)
        rest = rest // size

@cuda.jit(device=True)
def to_position(index, strides):
    position = 0
    for i, s in zip(index, strides):
        position += i * s
    return position

@cuda.jit(device=True)
def negated(v):
    return -v

def make(fn):
    def _map(out, out_shape, out_strides, out_size, x, x_shape, x_strides):
        out_index = cuda.local.array(DIMENSIONS, numba.int32)
        x_index = cuda.local.array(DIMENSIONS, numba.int32)
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        if i < out_size:
            to_index(i, out_shape, out_index)
            to_index(i, x_shape, x_index)
            out[to_position(out_index, out_strides)] = fn(x[to_position(x_index,
                                                                        x_strides)])

    return cuda.jit()(_map)


# %% kernel-left-to-the-student
# args: float64[::1], float64[::1], int64
# source: minitorch/minitorch minitorch/cuda_ops.py (none stated)
@cuda.jit()
def kernel(out, a, size) -> None:
    BLOCK = 32
    cache = cuda.shared.array(BLOCK, numba.float64)
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    pos = cuda.threadIdx.x
    raise NotImplementedError("Need to implement")


# %% histogram-of-bytes
# args: uint8[::1], int32[::1]
# source: NVIDIA/accelerated-computing-hub tutorials/accelerated-python/notebooks/kernels/solutions/41__kernel_authoring__book_histogram__SOLUTION.ipynb (Apache-2.0)
EACH = 8

@cuda.jit
def kernel(values, histogram):
  for i in range(EACH):
    value = values[cuda.grid(1) * EACH + i]
    cuda.atomic.add(histogram, value, 1)


# %% histogram-of-a-block-first
# args: uint8[::1], int32[::1]
# source: NVIDIA/accelerated-computing-hub tutorials/accelerated-python/notebooks/kernels/solutions/41__kernel_authoring__book_histogram__SOLUTION.ipynb (Apache-2.0)
BINS = 256
THREADS = 128
EACH = 8

@cuda.jit
def kernel(values, histogram):
  items = cuda.local.array(EACH, dtype=values.dtype)
  base = cuda.grid(1) * EACH
  for i in range(EACH):
    items[i] = values[base + i]
  own = cuda.shared.array(BINS, dtype=histogram.dtype)
  for i in range(0, BINS, THREADS):
    bin = i + cuda.threadIdx.x
    if bin < own.size:
      own[bin] = 0
  cuda.syncthreads()
  for i in range(EACH):
    cuda.atomic.add(own, items[i], 1)
  cuda.syncthreads()
  for i in range(0, BINS, THREADS):
    bin = i + cuda.threadIdx.x
    if bin < histogram.size:
      cuda.atomic.add(histogram, bin, own[bin])


# %% blur-of-an-image
# args: uint8[:, :, ::1], uint8[:, :, ::1]
# source: NVIDIA/accelerated-computing-hub tutorials/accelerated-python/notebooks/kernels/42__kernel_authoring__gaussian_blur.ipynb (Apache-2.0)
@cuda.jit
def kernel(im, out):
    x, y, c = cuda.grid(3)
    if x < im.shape[0] and y < im.shape[1] and c < im.shape[2]:
        out[x, y, c] = (im[x-1, y-1, c] + im[x, y-1, c] + im[x+1, y-1, c]  + \
                        im[x-1, y, c]   + im[x, y, c]   + im[x+1, y, c]    + \
                        im[x-1, y+1, c] + im[x, y+1, c] + im[x+1, y+1, c]) / 9


# %% array-misnamed-in-a-guide
# args: int64[::1], float64[::1]
# source: NVIDIA/accelerated-computing-hub Accelerated_Python_User_Guide/notebooks/Chapter_05_CUDA_Kernels_with_Numba.ipynb (Apache-2.0)
@cuda.jit
def kernel(source, target):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i < an_array.size:
        target[i] = source[i]


# %% strided-copy
# args: int64[::1], int64[::1], int64
# source: NVIDIA/accelerated-computing-hub tutorials/accelerated-python/notebooks/kernels/solutions/40__kernel_authoring__copy__SOLUTION.ipynb (Apache-2.0)
@cuda.jit
def kernel(source, target, each):
  bd = cuda.blockDim.x
  bx = cuda.blockIdx.x
  tx = cuda.threadIdx.x
  items = bd * each
  base = tx + bx * items
  for i in range(0, items, bd):
    target[base + i] = source[base + i]


# %% heat-with-a-halo
# args: float64[:, ::1], float64[:, ::1], float64[:, ::1]
# source: numba/numba-examples legacy/laplace2d/laplace2d-numba-cuda-smem.py (BSD-2-Clause)
@cuda.jit
def kernel(old, new, error):
    tile = cuda.shared.array(shape=(32 + 2, 32 + 2), dtype=types.f8)
    n = old.shape[0]
    m = old.shape[1]
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    j = ty + cuda.blockIdx.y * cuda.blockDim.y
    i = tx + cuda.blockIdx.x * cuda.blockDim.x
    sy = ty + 1
    sx = tx + 1
    tile[sy, sx] = old[j, i]
    if tx == 0 and i >= 1:
        tile[sy, 0] = old[j, i - 1]
    if ty == 31 and j < n - 1:
        tile[33, sx] = old[j + 1, i]
    cuda.syncthreads()
    if j >= 1 and j < n - 1 and i >= 1 and i < m - 1:
        new[j, i] = 0.25 * (tile[sy, sx + 1] + tile[sy, sx - 1] \
                            + tile[sy - 1, sx] + tile[sy + 1, sx])
        error[j, i] = new[j, i] - old[j, i]


# %% bins-or-none
# args: float32[::1], float32, float32, int32[::1]
# source: numba/numba-examples examples/density_estimation/histogram/gpu.py (BSD-2-Clause)
@numba.jit(nopython=True)
def bin_of(x, n, low, high):
    if x == high:
        return n - 1
    bin = np.int32(n * (np.float64(x) - np.float64(low))
                   / (np.float64(high) - np.float64(low)))
    if bin < 0 or bin >= n:
        return None
    else:
        return bin

@cuda.jit
def kernel(x, low, high, out):
    bins = out.shape[0]
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        bin = bin_of(x[i], bins, low, high)
        if bin >= 0 and bin < out.shape[0]:
            cuda.atomic.add(out, bin, 1)


# %% least-and-largest
# args: float32[::1], float32[::1]
# source: numba/numba-examples examples/density_estimation/histogram/gpu.py (BSD-2-Clause)
@cuda.jit
def kernel(x, found):
    low = found[0]
    high = found[1]
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        v = x[i]
        low = min(v, low)
        high = max(v, high)
    cuda.atomic.min(found, 0, low)
    cuda.atomic.max(found, 1, high)


# %% option-prices
# args: float64[::1], float64[::1], float64[::1], float64[::1], float64, float64
# source: numba/numba-examples examples/finance/blackscholes/blackscholes_cuda.py (BSD-2-Clause)
@cuda.jit(device=True)
def normal(d):
    a1, a2, a3 = 0.31938153, -0.356563782, 1.781477937
    k = 1.0 / (1.0 + 0.2316419 * math.fabs(d))
    value = 0.39894228040143267793994605993438 * math.exp(-0.5 * d * d) * (
        k * (a1 + k * (a2 + k * a3)))
    if d > 0:
        value = 1.0 - value
    return value

@cuda.jit
def kernel(call, stock, strike, years, rate, spread):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i >= stock.shape[0]:
        return
    root = math.sqrt(years[i])
    d1 = (math.log(stock[i] / strike[i])
          + (rate + 0.5 * spread * spread) * years[i]) / (spread * root)
    d2 = d1 - spread * root
    call[i] = (stock[i] * normal(d1)
               - strike[i] * math.exp((-1. * rate) * years[i]) * normal(d2))
