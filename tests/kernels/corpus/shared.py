import math
import operator

import numba
import numpy as np
from numba import (boolean, cuda, float32, float64, int8, int16, int32, int64, types,
                   uint8, uint16, uint32, uint64)


# %% tile-of-a-constant
# args: float32[::1], float32[::1], int64
T = 32

@cuda.jit
def kernel(x, y, n):
    tile = cuda.shared.array(T, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if i < n:
        tile[t] = x[i]
    cuda.syncthreads()
    if i < n:
        y[i] = tile[T - 1 - t]


# %% tile-of-an-argument
# args: float32[::1], float32[::1], int64
@cuda.jit
def kernel(x, y, n):
    tile = cuda.shared.array(n, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    y[t] = tile[n - 1 - t]


# %% tile-of-the-block-size
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, y):
    tile = cuda.shared.array(cuda.blockDim.x, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    y[t] = tile[0]


# %% tile-of-a-minimum
# args: float32[:, ::1], float32[:, ::1], int64
BC = 16
D = 8

@cuda.jit
def kernel(k, out, n):
    tile = cuda.shared.array((2 * min(BC, n), D), float32)
    t = cuda.threadIdx.x
    tile[t, 0] = k[t, 0]
    cuda.syncthreads()
    out[t, 0] = tile[t, 0]


# %% tile-of-a-minimum-of-constants
# args: float32[:, ::1], float32[:, ::1]
BC = 16
D = 8

@cuda.jit
def kernel(k, out):
    tile = cuda.shared.array((min(BC, 32), D), float32)
    t = cuda.threadIdx.x
    tile[t, 0] = k[t, 0]
    cuda.syncthreads()
    out[t, 0] = tile[t, 0]


# %% tile-of-a-product-of-constants
# args: float32[:, ::1], float32[:, ::1]
BC = 16
D = 8

@cuda.jit
def kernel(k, out):
    tile = cuda.shared.array((2 * BC, D + 1), float32)
    t = cuda.threadIdx.x
    tile[t, 0] = k[t, 0]
    cuda.syncthreads()
    out[t, 0] = tile[t, 0]


# %% tile-of-a-literal-product
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(4 * 8, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-of-a-local-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    T = 16
    tile = cuda.shared.array(T, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[T - 1 - t]


# %% tile-of-a-local-product
# args: float32[::1]
@cuda.jit
def kernel(x):
    rows = 4
    T = rows * 4
    tile = cuda.shared.array(T, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[T - 1 - t]


# %% tile-of-a-name-set-twice
# args: float32[::1]
@cuda.jit
def kernel(x):
    T = 16
    tile = cuda.shared.array(T, float32)
    T = 8
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[T - 1 - t]


# %% tile-of-a-name-set-in-two-branches
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n > 8:
        T = 16
    else:
        T = 8
    tile = cuda.shared.array(T, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[T - 1 - t]


# %% tile-of-an-augmented-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    T = 16
    T += 1
    tile = cuda.shared.array(T, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[T - 1 - t]


# %% tile-of-a-length
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(len(x), float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% tile-of-a-shape
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(x.shape, float32)
    t = cuda.threadIdx.x
    tile[t, 0] = x[t, 0]
    cuda.syncthreads()
    x[t, 0] = tile[0, 0]


# %% tile-of-a-shape-element
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array((x.shape[1], 4), float32)
    t = cuda.threadIdx.x
    tile[t, 0] = x[t, 0]
    cuda.syncthreads()
    x[t, 0] = tile[0, 0]


# %% tile-of-a-float
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(16.0, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% tile-of-a-true-division
# args: float32[::1]
T = 64

@cuda.jit
def kernel(x):
    tile = cuda.shared.array(T / 2, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% tile-of-a-floor-division
# args: float32[::1]
T = 64

@cuda.jit
def kernel(x):
    tile = cuda.shared.array(T // 2, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% tile-of-a-power
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(2**5, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% tile-of-a-global-power
# args: float32[::1]
E5 = 5

@cuda.jit
def kernel(x):
    tile = cuda.shared.array(2**E5, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% tile-of-a-shift
# args: float32[::1]
E5 = 5

@cuda.jit
def kernel(x):
    tile = cuda.shared.array(1 << E5, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% tile-of-a-negated-global
# args: float32[::1]
T = -32

@cuda.jit
def kernel(x):
    tile = cuda.shared.array(-T, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% tile-of-a-conditional-constant
# args: float32[::1]
T = 64

@cuda.jit
def kernel(x):
    tile = cuda.shared.array(T if T < 128 else 128, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% tile-of-int-of-a-constant
# args: float32[::1]
T = 64

@cuda.jit
def kernel(x):
    tile = cuda.shared.array(int(T), float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% tile-of-a-numpy-integer
# args: float32[::1]
T = np.int64(64)

@cuda.jit
def kernel(x):
    tile = cuda.shared.array(T, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% tile-of-a-global-tuple
# args: float32[:, ::1]
SHAPE = (8, 4)

@cuda.jit
def kernel(x):
    tile = cuda.shared.array(SHAPE, float32)
    t = cuda.threadIdx.x
    tile[t, 0] = x[t, 0]
    cuda.syncthreads()
    x[t, 0] = tile[0, 0]


# %% tile-of-a-global-list
# args: float32[:, ::1]
SHAPE = [8, 4]

@cuda.jit
def kernel(x):
    tile = cuda.shared.array(SHAPE, float32)
    t = cuda.threadIdx.x
    tile[t, 0] = x[t, 0]
    cuda.syncthreads()
    x[t, 0] = tile[0, 0]


# %% tile-of-a-local-tuple
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    shape = (8, 4)
    tile = cuda.shared.array(shape, float32)
    t = cuda.threadIdx.x
    tile[t, 0] = x[t, 0]
    cuda.syncthreads()
    x[t, 0] = tile[0, 0]


# %% tile-of-a-list
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array([8, 4], float32)
    t = cuda.threadIdx.x
    tile[t, 0] = x[t, 0]
    cuda.syncthreads()
    x[t, 0] = tile[0, 0]


# %% tile-of-a-tuple-element
# args: float32[:, ::1]
SHAPE = (8, 4)

@cuda.jit
def kernel(x):
    tile = cuda.shared.array((SHAPE[0], SHAPE[1] + 1), float32)
    t = cuda.threadIdx.x
    tile[t, 0] = x[t, 0]
    cuda.syncthreads()
    x[t, 0] = tile[0, 0]


# %% tile-of-one-in-a-tuple
# args: float32[::1]
T = 32

@cuda.jit
def kernel(x):
    tile = cuda.shared.array((T,), float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[T - 1 - t]


# %% tile-of-three-dimensions
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array((2, 4, 8), float32)
    i, j, k = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    tile[i, j, k] = x[i]
    cuda.syncthreads()
    x[i] = tile[i, k, j]


# %% tile-by-keywords
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(shape=32, dtype=float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-by-keywords-swapped
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(dtype=float32, shape=(32,))
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-without-a-type
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-with-a-wrong-keyword
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(size=32, dtype=float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-type-of-numpy
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-type-of-numba
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, dtype=numba.float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-type-in-quotes
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, "float32")
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-type-in-short-quotes
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, "f4")
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-type-of-python
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, float)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-type-of-python-int
# args: int64[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, int)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-type-of-types
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, types.f4)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-type-as-a-dtype-object
# args: float32[::1]
SINGLE = np.dtype(np.float32)

@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, SINGLE)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-type-of-an-argument
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, x.dtype)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-type-named-before
# args: float32[::1]
real = float32

@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, real)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-type-unknown
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, float33)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-aligned
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, float32, alignment=16)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-aligned-by-a-global
# args: float32[::1]
WIDE = 16

@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, float32, alignment=WIDE)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-aligned-to-no-power-of-two
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, float32, alignment=12)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-aligned-by-an-argument
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    tile = cuda.shared.array(32, float32, alignment=n)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-of-size-zero
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-of-size-zero-in-two-dimensions
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array((0, 4), float32)
    t = cuda.threadIdx.x
    tile[t, 0] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t, 0]


# %% tile-of-negative-size
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(-4, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% tile-too-large
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array((128, 128), float32)
    t = cuda.threadIdx.x
    tile[t, 0] = x[t]
    cuda.syncthreads()
    x[t] = tile[0, t]


# %% tile-of-just-48-kib
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(12288, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[12287 - t]


# %% tile-in-a-loop
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    for turn in range(4):
        tile = cuda.shared.array(32, float32)
        tile[t] = x[t]
        cuda.syncthreads()
        x[t] = tile[31 - t]
        cuda.syncthreads()


# %% tile-in-a-branch
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    t = cuda.threadIdx.x
    if n > 4:
        tile = cuda.shared.array(32, float32)
    else:
        tile = cuda.shared.array(64, float32)
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-of-two-types-in-branches
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    t = cuda.threadIdx.x
    if n > 4:
        tile = cuda.shared.array(32, float32)
    else:
        tile = cuda.shared.array(32, float64)
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-shared-or-local
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    t = cuda.threadIdx.x
    if n > 4:
        tile = cuda.shared.array(32, float32)
    else:
        tile = cuda.local.array(32, float32)
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-through-an-alias
# args: float32[::1]
shared = cuda.shared

@cuda.jit
def kernel(x):
    tile = shared.array(32, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-through-an-alias-of-the-function
# args: float32[::1]
tile_of = cuda.shared.array

@cuda.jit
def kernel(x):
    tile = tile_of(32, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-from-a-helper
# args: float32[::1]
@cuda.jit(device=True)
def fresh():
    return cuda.shared.array(32, float32)

@cuda.jit
def kernel(x):
    tile = fresh()
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-sized-by-a-helper's-argument
# args: float32[::1]
@cuda.jit(device=True)
def fresh(size):
    return cuda.shared.array(size, float32)

@cuda.jit
def kernel(x):
    tile = fresh(32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% tile-sized-by-a-closure
# args: float32[::1]
# kernel: make(32)
def make(T):
    @cuda.jit
    def kernel(x):
        tile = cuda.shared.array(T, float32)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        cuda.syncthreads()
        x[t] = tile[T - 1 - t]

    return kernel


# %% tile-with-spaces-in-the-call
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda . shared . array (32, float32)
    t = cuda.threadIdx.x
    tile [t] = x [t]
    cuda . syncthreads ()
    x[t] = tile[31 - t]


# %% tile-stored-nowhere
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.shared.array(32, float32)
    x[0] = 1


# %% local-array
# args: float32[::1]
@cuda.jit
def kernel(x):
    own = cuda.local.array(4, float32)
    for i in range(4):
        own[i] = x[i]
    x[cuda.threadIdx.x] = own[3] + own[0]


# %% local-array-of-an-argument
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    own = cuda.local.array(n, float32)
    for i in range(n):
        own[i] = x[i]
    x[cuda.threadIdx.x] = own[3] + own[0]


# %% local-array-of-two-dimensions
# args: float32[::1]
@cuda.jit
def kernel(x):
    own = cuda.local.array((2, 2), dtype=np.float32)
    own[0, 0] = x[0]
    own[1, 1] = x[1]
    x[cuda.threadIdx.x] = own[0, 0] + own[1, 1]


# %% local-array-aligned
# args: float32[::1]
@cuda.jit
def kernel(x):
    own = cuda.local.array(4, float32, alignment=16)
    own[0] = x[0]
    x[cuda.threadIdx.x] = own[0]


# %% local-array-of-size-zero
# args: float32[::1]
@cuda.jit
def kernel(x):
    own = cuda.local.array(0, float32)
    x[cuda.threadIdx.x] = len(own)


# %% constant-array-like
# args: float32[::1]
WEIGHTS = np.arange(8, dtype=np.float32)

@cuda.jit
def kernel(x):
    weights = cuda.const.array_like(WEIGHTS)
    t = cuda.threadIdx.x
    x[t] = weights[t]


# %% constant-array-like-a-list
# args: float32[::1]
WEIGHTS = [1.0, 2.0]

@cuda.jit
def kernel(x):
    weights = cuda.const.array_like(WEIGHTS)
    t = cuda.threadIdx.x
    x[t] = weights[t]


# %% global-array-read
# args: float32[::1]
WEIGHTS = np.arange(8, dtype=np.float32)

@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    x[t] = WEIGHTS[t] + WEIGHTS[-1]


# %% global-array-written
# args: float32[::1]
WEIGHTS = np.arange(8, dtype=np.float32)

@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    WEIGHTS[t] = x[t]


# %% empty-array-of-numpy
# args: float32[::1]
@cuda.jit
def kernel(x):
    own = np.empty(4, np.float32)
    own[0] = x[0]
    x[cuda.threadIdx.x] = own[0]


# %% zeros-of-numpy
# args: float32[::1]
@cuda.jit
def kernel(x):
    own = np.zeros(4, dtype=np.float32)
    own[0] += x[0]
    x[cuda.threadIdx.x] = own[0]
