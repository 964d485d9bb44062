import math
import operator

import numba
import numpy as np
from numba import (boolean, cuda, float32, float64, int8, int16, int32, int64, types,
                   uint8, uint16, uint32, uint64)


# %% votes-and-shuffles
# args: float32[::1], int32[::1]
@cuda.jit
def kernel(x, out):
    t = cuda.threadIdx.x
    v = x[t]
    step = 16
    while step > 0:
        v += cuda.shfl_xor_sync(0xFFFFFFFF, v, step)
        step //= 2
    if cuda.laneid == 0:
        x[0] = v
    out[t] = cuda.popc(cuda.ballot_sync(0xFFFFFFFF, v > 0))


# %% shuffle-without-a-mask
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    x[t] = cuda.shfl_xor_sync(x[t], 16)


# %% shuffle-with-a-width
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    x[t] = cuda.shfl_sync(0xFFFFFFFF, x[t], 0, 16)


# %% shuffle-of-the-old-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    x[t] = cuda.shfl(x[t], 0)


# %% shuffle-of-an-unsigned-number
# args: uint32[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    x[t] = cuda.shfl_sync(0xFFFFFFFF, x[t], 0)


# %% shuffle-of-half-precision
# args: float16[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    x[t] = cuda.shfl_sync(0xFFFFFFFF, x[t], 0)


# %% shuffle-of-a-truth-value
# args: boolean[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    x[t] = cuda.shfl_sync(0xFFFFFFFF, x[t], 0)


# %% shuffle-by-a-float
# args: float32[::1], float32
@cuda.jit
def kernel(x, lane):
    t = cuda.threadIdx.x
    x[t] = cuda.shfl_sync(0xFFFFFFFF, x[t], lane)


# %% shuffle-mask-minus-one
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    x[t] = cuda.shfl_down_sync(-1, x[t], 1)


# %% shuffle-mask-global
# args: float32[::1]
FULL = 0xFFFFFFFF

@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    x[t] = cuda.shfl_down_sync(FULL, x[t], 1)


# %% shuffle-by-keywords
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    x[t] = cuda.shfl_sync(mask=0xFFFFFFFF, value=x[t], src_lane=0)


# %% two-shuffles-in-one-expression
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    t = cuda.threadIdx.x
    x[t] = (cuda.shfl_up_sync(-1, x[t], 1) if n > 1
            else cuda.shfl_down_sync(-1, x[t], 1))


# %% ballot-of-a-comparison
# args: float32[::1], uint32[::1]
@cuda.jit
def kernel(x, out):
    t = cuda.threadIdx.x
    out[t] = cuda.ballot_sync(0xFFFFFFFF, x[t] > 0)


# %% ballot-of-a-float
# args: float32[::1], uint32[::1]
@cuda.jit
def kernel(x, out):
    t = cuda.threadIdx.x
    out[t] = cuda.ballot_sync(0xFFFFFFFF, x[t])


# %% ballot-without-a-mask
# args: float32[::1], uint32[::1]
@cuda.jit
def kernel(x, out):
    t = cuda.threadIdx.x
    out[t] = cuda.ballot_sync(x[t] > 0)


# %% any-of-a-comparison
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    if cuda.any_sync(0xFFFFFFFF, x[t] > 0):
        x[t] = 0


# %% count-of-a-comparison
# args: float32[::1], int32[::1]
@cuda.jit
def kernel(x, out):
    t = cuda.threadIdx.x
    out[0] = cuda.syncthreads_count(x[t] > 0)


# %% count-of-a-float
# args: float32[::1], int32[::1]
@cuda.jit
def kernel(x, out):
    t = cuda.threadIdx.x
    out[0] = cuda.syncthreads_count(x[t])


# %% count-of-an-integer-made-of-a-comparison
# args: float32[::1], int32[::1]
@cuda.jit
def kernel(x, out):
    t = cuda.threadIdx.x
    out[0] = cuda.syncthreads_count(int(x[t] > 0))


# %% count-of-nothing
# args: int32[::1]
@cuda.jit
def kernel(out):
    out[0] = cuda.syncthreads_count()


# %% and-of-a-conditional
# args: float32[::1], int32[::1]
@cuda.jit
def kernel(x, out):
    t = cuda.threadIdx.x
    out[0] = cuda.syncthreads_and(1 if x[t] > 0 else 0)


# %% or-as-a-condition
# args: int32[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    if cuda.syncthreads_or(x[t]):
        x[t] = 1


# %% warp-barrier-by-keyword
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.syncwarp(mask=0xFF)
    x[0] = 1


# %% warp-barrier-of-a-float
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.syncwarp(1.5)
    x[0] = 1


# %% active-mask-given-to-a-shuffle
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    x[t] = cuda.shfl_sync(cuda.activemask(), x[t], 0)


# %% lane-called
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[cuda.laneid()] = 1


# %% lane-and-warp
# args: float32[::1]
@cuda.jit
def kernel(x):
    warp = cuda.threadIdx.x // cuda.warpsize
    x[warp] = cuda.laneid


# %% lanes-below-of-another-kind
# args: uint32[::1]
@cuda.jit
def kernel(x):
    x[0] = cuda.lanemask_le()


# %% fence-with-an-argument
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.threadfence(1)
    x[0] = 1


# %% sleep
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.nanosleep(100)
    x[0] = 1


# %% clock
# args: int64[::1]
@cuda.jit
def kernel(x):
    x[0] = cuda.clock64()


# %% grid-barrier
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[cuda.grid(1)] = 1
    cuda.cg.this_grid().sync()
    x[0] = 2


# %% atomic-addition
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, total):
    i = cuda.grid(1)
    cuda.atomic.add(total, 0, x[i])


# %% atomic-addition-with-its-result
# args: int32[::1], int32[::1]
@cuda.jit
def kernel(x, total):
    place = cuda.atomic.add(total, 0, 1)
    x[place] = cuda.threadIdx.x


# %% atomic-addition-without-an-index
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.add(x, 1.0)


# %% atomic-addition-to-an-element
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.add(x[0], 1.0)


# %% atomic-addition-to-a-number
# args: float32[::1]
@cuda.jit
def kernel(x):
    total = float32(0)
    cuda.atomic.add(total, 0, x[0])


# %% atomic-addition-of-a-double-to-a-single
# args: float32[::1], float64
@cuda.jit
def kernel(x, v):
    cuda.atomic.add(x, 0, v)


# %% atomic-addition-of-a-float-to-an-integer
# args: int32[::1], float32
@cuda.jit
def kernel(x, v):
    cuda.atomic.add(x, 0, v)


# %% atomic-addition-by-a-tuple
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    i, j = cuda.grid(2)
    cuda.atomic.add(x, (i, j), 1)


# %% atomic-addition-by-one-index-of-two
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    cuda.atomic.add(x, 0, 1)


# %% atomic-addition-by-a-tuple-of-one
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.add(x, (0,), 1)


# %% atomic-addition-by-a-float-index
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.add(x, x[0], 1)


# %% atomic-addition-to-a-row
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    cuda.atomic.add(x[0], 1, 1)


# %% atomic-addition-in-shared-memory
# args: float32[::1]
@cuda.jit
def kernel(x):
    total = cuda.shared.array(1, float32)
    if cuda.threadIdx.x == 0:
        total[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(total, 0, x[cuda.threadIdx.x])
    cuda.syncthreads()
    x[0] = total[0]


# %% atomic-addition-in-local-memory
# args: float32[::1]
@cuda.jit
def kernel(x):
    own = cuda.local.array(1, float32)
    own[0] = 0
    cuda.atomic.add(own, 0, x[0])
    x[0] = own[0]


# %% atomic-addition-to-bytes
# args: uint8[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.add(x, 0, 1)


# %% atomic-addition-to-half-precision
# args: float16[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.add(x, 0, x[1])


# %% atomic-addition-by-keyword
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.add(ary=x, idx=0, val=1)


# %% atomic-addition-to-a-constant
# args: float32[::1]
TABLE = np.zeros(4, np.float32)

@cuda.jit
def kernel(x):
    cuda.atomic.add(TABLE, 0, x[0])


# %% atomic-without-an-operation
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.atomic(x, 0, 1)


# %% atomic-multiplication
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.mul(x, 0, 2)


# %% atomic-maximum
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, top):
    cuda.atomic.max(top, 0, x[cuda.threadIdx.x])


# %% atomic-maximum-past-nan
# args: float64[::1], float64[::1]
@cuda.jit
def kernel(x, top):
    cuda.atomic.nanmax(top, 0, x[cuda.threadIdx.x])


# %% atomic-minimum-of-integers
# args: int32[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.min(x, 0, x[cuda.threadIdx.x])


# %% atomic-subtraction
# args: int64[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.sub(x, 0, 1)


# %% atomic-and-without-an-underscore
# args: int32[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.xor(x, 0, 1)
    cuda.atomic.or_(x, 1, 2)
    cuda.atomic.and_(x, 2, 3)


# %% atomic-and-of-floats
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.and_(x, 0, 1)


# %% atomic-increment
# args: uint32[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.inc(x, 0, 7)


# %% atomic-increment-of-signed
# args: int32[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.inc(x, 0, 7)


# %% atomic-exchange
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[1] = cuda.atomic.exch(x, 0, 5)


# %% atomic-exchange-of-singles
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[1] = cuda.atomic.exch(x, 0, float32(5))


# %% atomic-compare-and-swap
# args: int32[::1]
@cuda.jit
def kernel(x):
    while cuda.atomic.cas(x, 0, 0, 1) != 0:
        pass
    cuda.threadfence()
    cuda.atomic.exch(x, 0, 0)


# %% atomic-compare-and-swap-of-the-first
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[1] = cuda.atomic.compare_and_swap(x, 0, 1)


# %% atomic-compare-and-swap-without-an-index
# args: int32[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.cas(x, 0, 1)


# %% atomic-compare-and-swap-of-singles
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.cas(x, 0, float32(0), float32(1))


# %% atomic-compare-and-swap-in-two-dimensions
# args: int32[:, ::1]
@cuda.jit
def kernel(x):
    cuda.atomic.cas(x, (0, 1), 0, 1)


# %% atomic-through-an-alias
# args: int32[::1]
add = cuda.atomic.add

@cuda.jit
def kernel(x):
    add(x, 0, 1)


# %% atomic-module-through-an-alias
# args: int32[::1]
atomic = cuda.atomic

@cuda.jit
def kernel(x):
    atomic.add(x, 0, 1)


# %% bits
# args: uint32[::1]
@cuda.jit
def kernel(x):
    x[0] = cuda.popc(x[0])
    x[1] = cuda.clz(x[1])
    x[2] = cuda.ffs(x[2])
    x[3] = cuda.brev(x[3])


# %% bits-of-a-float
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = cuda.popc(x[0])


# %% first-bit-of-a-float
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = cuda.ffs(x[0])


# %% fused-with-too-few
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = cuda.fma(x[0], x[1])


# %% fused-with-a-literal
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = cuda.fma(x[0], x[1], 0.5)


# %% cube-root
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = cuda.cbrt(x[0])


# %% selection
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = cuda.selp(x[0] > 0, x[1], x[2])


# %% selection-of-mixed-numbers
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = cuda.selp(x[0] > 0, x[1], 0)


# %% reciprocal-square-root-of-libdevice
# args: float32[::1]
from numba.cuda import libdevice

@cuda.jit
def kernel(x):
    x[0] = libdevice.rsqrtf(x[0])


# %% fast-exponential-of-libdevice
# args: float32[::1]
from numba.cuda import libdevice

@cuda.jit
def kernel(x):
    x[0] = libdevice.fast_expf(x[0])


# %% vector-type
# args: float32[::1]
@cuda.jit
def kernel(x):
    v = cuda.float32x4(x[0], x[1], x[2], x[3])
    x[0] = v.x + v.w


# %% intrinsic-unknown
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = cuda.rsqrt(x[0])


# %% element-of-two-dimensions-by-one-index
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    x[0] = 1


# %% element-of-one-dimension-by-two-indices
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0, 0] = 1


# %% element-read-by-too-few-indices
# args: float32[:, ::1], float32[::1]
@cuda.jit
def kernel(x, y):
    y[0] = x[0]


# %% element-by-two-brackets
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    x[0][1] = x[1][0]


# %% element-by-a-tuple
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    place = (0, 1)
    x[place] = 1


# %% element-by-a-negative-index
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[-1] = x[-2]


# %% element-by-an-array
# args: float32[::1], int64[::1]
@cuda.jit
def kernel(x, order):
    x[0] = x[order]


# %% element-by-an-ellipsis
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    x[..., 0] = 1


# %% slice-assigned-a-number
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[:4] = 0


# %% slice-assigned-a-slice
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[:4] = x[4:8]


# %% row-assigned-a-number
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    x[0] = 0


# %% row-assigned-a-row
# args: float32[:, ::1], float32[:, ::1]
@cuda.jit
def kernel(x, y):
    i = cuda.grid(1)
    x[i, :] = y[i, :]


# %% row-augmented
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    x[0, :] += 1


# %% row-taken-and-written
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    row = x[cuda.grid(1)]
    for j in range(len(row)):
        row[j] *= float32(2)


# %% row-sum-by-a-method
# args: float32[:, ::1], float32[::1]
@cuda.jit
def kernel(x, y):
    i = cuda.grid(1)
    y[i] = x[i].sum()


# %% row-maximum-by-a-method
# args: float32[:, ::1], float32[::1]
@cuda.jit
def kernel(x, y):
    i = cuda.grid(1)
    y[i] = x[i].max()


# %% row-maximum-by-numpy
# args: float32[:, ::1], float32[::1]
@cuda.jit
def kernel(x, y):
    i = cuda.grid(1)
    y[i] = np.max(x[i])


# %% row-maximum-by-the-builtin
# args: float32[:, ::1], float32[::1]
@cuda.jit
def kernel(x, y):
    i = cuda.grid(1)
    y[i] = max(x[i])


# %% rows-multiplied
# args: float32[:, ::1], float32[::1]
@cuda.jit
def kernel(x, y):
    i = cuda.grid(1)
    y[i] = (x[i] * x[i]).sum()


# %% rows-at-sign
# args: float32[:, ::1], float32[::1]
@cuda.jit
def kernel(x, y):
    i = cuda.grid(1)
    y[i] = x[i] @ x[i]


# %% rows-dot
# args: float32[:, ::1], float32[::1]
@cuda.jit
def kernel(x, y):
    i = cuda.grid(1)
    y[i] = np.dot(x[i], x[i])


# %% array-times-a-number
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = x * 2
    x[0] = y[0]


# %% array-augmented-by-a-number
# args: float32[::1]
@cuda.jit
def kernel(x):
    x += 1


# %% array-compared
# args: float32[::1]
@cuda.jit
def kernel(x):
    if (x > 0).all():
        x[0] = 1


# %% array-filled
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, float32)
    tile.fill(0)
    cuda.syncthreads()
    x[0] = tile[1]


# %% array-filled-by-a-slice
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, float32)
    tile[:] = 0
    cuda.syncthreads()
    x[0] = tile[1]


# %% array-copied
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = x.copy()
    x[0] = y[1]


# %% array-transposed
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    y = x.T
    y[0, 1] = 1


# %% array-flattened
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    x.flat[3] = 1


# %% array-raveled
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    y = x.ravel()
    y[3] = 1


# %% array-reshaped
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = x.reshape(4, 8)
    y[1, 1] = 1


# %% array-reshaped-by-a-tuple
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = x.reshape((4, 8))
    y[1, 1] = 1


# %% tile-reshaped
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, float32).reshape(4, 8)
    tile[0, 0] = x[0]
    x[1] = tile[0, 0]


# %% array-viewed-as-another-type
# args: float32[::1]
@cuda.jit
def kernel(x):
    bits = x.view(np.int32)
    bits[0] = 0


# %% array-converted
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = x.astype(np.float64)
    x[0] = y[0]


# %% shape-by-a-variable
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    for axis in range(2):
        x[0, 0] = x.shape[axis]


# %% shape-beyond
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = x.shape[1]


# %% shape-compared
# args: float32[:, ::1], float32[:, ::1]
@cuda.jit
def kernel(x, y):
    if x.shape == y.shape:
        x[0, 0] = 1


# %% shape-assigned
# args: float32[::1]
@cuda.jit
def kernel(x):
    x.shape = (4, 8)


# %% dimensions-and-size
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    x[0, 0] = x.ndim + x.size + len(x) + x.shape[0] * x.shape[1]


# %% attribute-unknown
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = x.length


# %% attribute-of-a-number
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = n.size


# %% length-of-a-number
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = len(n)


# %% length-of-a-tuple
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = len((1, 2, 3))


# %% array-called
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = x(1)


# %% number-indexed
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = n[0]


# %% number-called
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = 2(n)


# %% array-of-zero-dimensions
# args: Array(float32, 0, "C")
@cuda.jit
def kernel(x):
    x[()] = 1


# %% array-of-four-dimensions
# args: float32[:, :, :, ::1]
@cuda.jit
def kernel(x):
    x[0, 1, 2, 3] = x[3, 2, 1, 0]


# %% array-not-contiguous
# args: float32[:, :]
@cuda.jit
def kernel(x):
    i, j = cuda.grid(2)
    x[i, j] = x[j, i]


# %% array-in-fortran-order
# args: float32[::1, :]
@cuda.jit
def kernel(x):
    i, j = cuda.grid(2)
    x[i, j] = 1


# %% array-in-two-layouts
# args: float32[:, ::1], float32[:, :], int64
@cuda.jit
def kernel(x, y, n):
    z = x if n > 0 else y
    z[0, 0] = 1


# %% array-of-two-dimensions-or-one
# args: float32[:, ::1], float32[::1], int64
@cuda.jit
def kernel(x, y, n):
    z = x if n > 0 else y
    z[0] = 1


# %% array-slice-or-array
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    y = x
    if n > 0:
        y = x[::2]
    y[0] = 1


# %% array-identity
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, y):
    if x is y:
        x[0] = 1


# %% array-of-truth-values
# args: boolean[::1], float32[::1]
@cuda.jit
def kernel(mask, x):
    i = cuda.grid(1)
    if mask[i]:
        x[i] = 0


# %% array-of-truth-values-inverted
# args: boolean[::1]
@cuda.jit
def kernel(mask):
    i = cuda.grid(1)
    mask[i] = not mask[i]


# %% array-of-truth-values-by-a-tilde
# args: boolean[::1], float32[::1]
@cuda.jit
def kernel(mask, x):
    i = cuda.grid(1)
    if ~mask[i]:
        x[i] = 0


# %% record-array
# args: Array(Record.make_c_struct([("m", float32), ("l", float32)]), 1, "C")
@cuda.jit
def kernel(x):
    x[0].m = x[1].l


# %% record-array-by-name
# args: Array(Record.make_c_struct([("m", float32), ("l", float32)]), 1, "C")
@cuda.jit
def kernel(x):
    x[0]["m"] = x[1]["l"]


# %% array-with-newaxis
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = x[np.newaxis, :]
    y[0, 0] = 1


# %% array-of-numpy-in-the-kernel
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = np.array([1.0, 2.0])
    x[0] = y[0]


# %% array-printed-by-elements
# args: float32[::1]
@cuda.jit
def kernel(x):
    print(x[0], x[1])


# %% shuffle-from-a-lane-by-a-comparison
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    v = cuda.shfl_sync(-1, x[0], n > 1)
    x[1] = v


# %% shuffle-from-a-lane-of-eight-bits
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    v = cuda.shfl_sync(-1, x[0], uint8(n))
    x[1] = v


# %% shuffle-by-a-lane-of-64-bits
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    v = cuda.shfl_xor_sync(-1, x[0], len(x))
    x[1] = v


# %% ballot-under-a-comparison
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    v = cuda.ballot_sync(n > 1, n)
    x[1] = v


# %% ballot-under-eight-bits
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    v = cuda.ballot_sync(uint8(n), n)
    x[1] = v


# %% match-under-a-comparison
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    v = cuda.match_any_sync(n > 1, n)
    x[1] = v


# %% shuffle-under-a-float
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    v = cuda.shfl_sync(x[0], x[0], 0)
    x[1] = v


# %% parts-of-floats
# args: float32[::1], int32[::1]
@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    part, exponent = math.frexp(x[i])
    rest, whole = math.modf(x[i])
    x[i] = math.ldexp(part + rest, exponent) + math.remainder(whole, x[i])
    n[i] = exponent


# %% the-next-float
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = math.nextafter(x[i], float32(math.inf))


# %% rounded-to-digits
# args: float32[::1], int32
@cuda.jit
def kernel(x, digits):
    i = cuda.grid(1)
    x[i] = round(x[i], digits)


# %% divmod-of-floats
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, y):
    i = cuda.grid(1)
    x[i], y[i] = divmod(x[i], y[i])


# %% bits-of-bytes
# args: uint8[::1], int16[::1]
@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    n[i] = cuda.popc(x[i]) + cuda.clz(x[i]) + x[i].bit_count()
    x[i] = cuda.brev(x[i]) >> 24


# %% first-bit-of-a-byte
# args: uint8[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = cuda.ffs(x[i])


# %% halves
# args: float16[::1], float16[::1], float32[::1]
@cuda.jit
def kernel(a, b, x):
    i = cuda.grid(1)
    total = cuda.fp16.hfma(a[i], b[i], a[i])
    total = cuda.fp16.hadd(total, 2.5)
    if cuda.fp16.hlt(total, b[i]) and total != a[i]:
        total = cuda.fp16.hmax(total, cuda.fp16.hsqrt(cuda.fp16.habs(b[i])))
    x[i] = a[i] * b[i] + total


# %% a-half-as-a-truth
# args: float16[::1], boolean[::1]
@cuda.jit
def kernel(a, b):
    i = cuda.grid(1)
    b[i] = a[i]


# %% a-half-by-the-name-of-the-header
# args: float16[::1]
@cuda.jit
def kernel(a):
    i = cuda.grid(1)
    a[i] = cuda.fp16.__hadd_sat(a[i], a[i])


# %% no-such-half
# args: float16[::1]
@cuda.jit
def kernel(a):
    i = cuda.grid(1)
    a[i] = cuda.fp16.htan(a[i])
