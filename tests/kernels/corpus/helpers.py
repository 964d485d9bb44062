import math
import operator

import numba
import numpy as np
from numba import (boolean, cuda, float32, float64, int8, int16, int32, int64, types,
                   uint8, uint16, uint32, uint64)


# %% device-function
# args: float32[::1]
@cuda.jit(device=True)
def square(v):
    return v * v

@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = square(x[i])


# %% device-function-without-parentheses-option
# args: float32[::1]
@cuda.jit
def square(v):
    return v * v

@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = square(x[i])


# %% plain-function-called
# args: float32[::1]
def square(v):
    return v * v

@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = square(x[i])


# %% cpu-function-called
# args: float32[::1]
@numba.njit
def square(v):
    return v * v

@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = square(x[i])


# %% device-function-defined-after
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = square(x[i])

@cuda.jit(device=True)
def square(v):
    return v * v


# %% device-function-with-too-few-arguments
# args: float32[::1]
@cuda.jit(device=True)
def scaled(v, by):
    return v * by

@cuda.jit
def kernel(x):
    x[0] = scaled(x[0])


# %% device-function-with-a-default
# args: float32[::1]
@cuda.jit(device=True)
def scaled(v, by=float32(2)):
    return v * by

@cuda.jit
def kernel(x):
    x[0] = scaled(x[0])


# %% device-function-by-keyword
# args: float32[::1]
@cuda.jit(device=True)
def scaled(v, by):
    return v * by

@cuda.jit
def kernel(x):
    x[0] = scaled(by=x[1], v=x[0])


# %% device-function-with-an-unknown-keyword
# args: float32[::1]
@cuda.jit(device=True)
def scaled(v, by):
    return v * by

@cuda.jit
def kernel(x):
    x[0] = scaled(x[0], times=x[1])


# %% device-function-with-star-arguments
# args: float32[::1]
@cuda.jit(device=True)
def first(*values):
    return values[0]

@cuda.jit
def kernel(x):
    x[0] = first(x[1], x[2])


# %% device-function-called-with-a-starred-tuple
# args: float32[::1]
@cuda.jit(device=True)
def scaled(v, by):
    return v * by

@cuda.jit
def kernel(x):
    pair = (x[0], x[1])
    x[0] = scaled(*pair)


# %% device-function-returning-a-tuple
# args: float32[::1]
@cuda.jit(device=True)
def merge(m, l, v):
    new = max(m, v)
    return new, l * math.exp(m - new) + math.exp(v - new)

@cuda.jit
def kernel(x):
    m, l = merge(x[0], x[1], x[2])
    x[0] = m
    x[1] = l


# %% device-function-returning-nothing
# args: float32[::1]
@cuda.jit(device=True)
def clear(x, i):
    x[i] = 0

@cuda.jit
def kernel(x):
    clear(x, cuda.threadIdx.x)


# %% device-function-whose-nothing-is-stored
# args: float32[::1]
@cuda.jit(device=True)
def clear(x, i):
    x[i] = 0

@cuda.jit
def kernel(x):
    x[1] = clear(x, 0)


# %% device-function-returning-two-types
# args: float32[::1]
@cuda.jit(device=True)
def half(v):
    if v > 0:
        return v
    return 0

@cuda.jit
def kernel(x):
    x[0] = half(x[0])


# %% device-function-returning-a-value-or-nothing
# args: float32[::1]
@cuda.jit(device=True)
def half(v):
    if v > 0:
        return v

@cuda.jit
def kernel(x):
    h = half(x[0])
    if h is not None:
        x[0] = h


# %% device-function-returning-tuple-or-number
# args: float32[::1]
@cuda.jit(device=True)
def half(v):
    if v > 0:
        return v, v
    return v

@cuda.jit
def kernel(x):
    h = half(x[0])
    x[0] = 1


# %% device-function-returning-its-argument
# args: float32[::1]
@cuda.jit(device=True)
def same(x):
    return x

@cuda.jit
def kernel(x):
    y = same(x)
    y[0] = 1


# %% device-function-returning-a-slice
# args: float32[::1]
@cuda.jit(device=True)
def front(x):
    return x[:4]

@cuda.jit
def kernel(x):
    y = front(x)
    y[0] = 1


# %% device-function-returning-one-of-its-arguments
# args: float32[::1], float32[::1], int64
@cuda.jit(device=True)
def choose(x, y, n):
    if n > 0:
        return x
    return y

@cuda.jit
def kernel(x, y, n):
    z = choose(x, y, n)
    z[0] = 1


# %% device-function-with-a-barrier
# args: float32[::1]
@cuda.jit(device=True)
def meet(tile, t, v):
    tile[t] = v
    cuda.syncthreads()
    return tile[31 - t]

@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    x[t] = meet(tile, t, x[t])


# %% device-function-with-shared-memory-of-its-own
# args: float32[::1]
@cuda.jit(device=True)
def turned(v):
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    tile[t] = v
    cuda.syncthreads()
    return tile[31 - t]

@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    x[t] = turned(x[t])


# %% device-function-recursive
# args: int64[::1]
@cuda.jit(device=True)
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)

@cuda.jit
def kernel(x):
    x[0] = fibonacci(x[0])


# %% device-function-recursive-with-a-signature
# args: int64[::1]
@cuda.jit("int64(int64)", device=True)
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)

@cuda.jit
def kernel(x):
    x[0] = fibonacci(x[0])


# %% device-function-recursive-without-an-end
# args: int64[::1]
@cuda.jit(device=True)
def down(n):
    return down(n - 1)

@cuda.jit
def kernel(x):
    x[0] = down(x[0])


# %% device-functions-calling-each-other
# args: int64[::1]
@cuda.jit(device=True)
def even(n):
    if n == 0:
        return True
    return odd(n - 1)

@cuda.jit(device=True)
def odd(n):
    if n == 0:
        return False
    return even(n - 1)

@cuda.jit
def kernel(x):
    if even(x[0]):
        x[1] = 1


# %% device-function-called-with-two-types
# args: float32[::1], int64
@cuda.jit(device=True)
def twice(v):
    return v + v

@cuda.jit
def kernel(x, n):
    x[0] = twice(x[1])
    x[twice(n)] = 1


# %% device-function-with-a-signature
# args: float32[::1]
@cuda.jit("float32(float32)", device=True)
def square(v):
    return v * v

@cuda.jit
def kernel(x):
    x[0] = square(x[0])


# %% device-function-with-a-signature-of-another-type
# args: float32[::1]
@cuda.jit("float32(float32[::1])", device=True)
def first(v):
    return v[0]

@cuda.jit
def kernel(x):
    x[0] = first(x[0])


# %% device-function-with-an-unknown-name
# args: float32[::1]
@cuda.jit(device=True)
def shifted(v):
    return v + offset

@cuda.jit
def kernel(x):
    x[0] = shifted(x[0])


# %% device-function-never-called
# args: float32[::1]
@cuda.jit(device=True)
def broken(v):
    return [v][unknown]

@cuda.jit
def kernel(x):
    x[0] = 1


# %% device-function-inlined
# args: float32[::1]
@cuda.jit(device=True, inline=True)
def square(v):
    return v * v

@cuda.jit
def kernel(x):
    x[0] = square(x[0])


# %% device-function-as-an-argument
# args: float32[::1]
@cuda.jit(device=True)
def square(v):
    return v * v

@cuda.jit(device=True)
def apply(f, v):
    return f(v)

@cuda.jit
def kernel(x):
    x[0] = apply(square, x[0])


# %% device-function-chosen-by-a-global
# args: float32[::1]
@cuda.jit(device=True)
def square(v):
    return v * v

op = square

@cuda.jit
def kernel(x):
    x[0] = op(x[0])


# %% device-function-through-a-closure
# args: float32[::1]
# kernel: make(square)
@cuda.jit(device=True)
def square(v):
    return v * v

def make(f):
    @cuda.jit
    def kernel(x):
        x[0] = f(x[0])

    return kernel


# %% device-function-of-a-module
# args: float32[::1]
from types import SimpleNamespace

@cuda.jit(device=True)
def square(v):
    return v * v

helpers = SimpleNamespace(square=square)

@cuda.jit
def kernel(x):
    x[0] = helpers.square(x[0])


# %% device-functions-in-a-tuple
# args: float32[::1]
@cuda.jit(device=True)
def square(v):
    return v * v

steps = (square, square)

@cuda.jit
def kernel(x):
    x[0] = steps[0](x[0])


# %% kernel-called-from-a-kernel
# args: float32[::1]
@cuda.jit
def other(x):
    x[0] = 1

@cuda.jit
def kernel(x):
    other(x)


# %% kernel-launched-from-a-kernel
# args: float32[::1]
@cuda.jit
def other(x):
    x[0] = 1

@cuda.jit
def kernel(x):
    other[1, 1](x)


# %% inner-function
# args: float32[::1]
@cuda.jit
def kernel(x):
    def square(v):
        return v * v

    i = cuda.grid(1)
    x[i] = square(x[i])


# %% inner-function-before-a-barrier
# args: float32[::1]
@cuda.jit
def kernel(x):
    def square(v):
        return v * v

    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    tile[t] = square(x[t])
    cuda.syncthreads()
    x[t] = tile[31 - t]


# %% inner-function-with-a-barrier
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x

    def turned(v):
        tile[t] = v
        cuda.syncthreads()
        return tile[31 - t]

    x[t] = turned(x[t])


# %% inner-function-using-outer-names
# args: float32[::1], float32
@cuda.jit
def kernel(x, by):
    def scaled(v):
        return v * by

    i = cuda.grid(1)
    x[i] = scaled(x[i])


# %% inner-function-with-two-returns
# args: float32[::1]
@cuda.jit
def kernel(x):
    def positive(v):
        if v > 0:
            return v
        return float32(0)

    x[0] = positive(x[0])


# %% inner-function-used-twice
# args: float32[::1]
@cuda.jit
def kernel(x):
    def square(v):
        return v * v

    x[0] = square(x[0]) + square(x[1])


# %% inner-function-defined-after-use
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = square(x[0])

    def square(v):
        return v * v


# %% inner-function-recursive
# args: int64[::1]
@cuda.jit
def kernel(x):
    def down(n):
        if n == 0:
            return 0
        return down(n - 1)

    x[0] = down(x[0])


# %% inner-function-with-a-default
# args: float32[::1]
@cuda.jit
def kernel(x):
    def scaled(v, by=2):
        return v * by

    x[0] = scaled(x[0])


# %% inner-function-by-keyword
# args: float32[::1]
@cuda.jit
def kernel(x):
    def scaled(v, by):
        return v * by

    x[0] = scaled(x[0], by=x[1])


# %% inner-function-with-nonlocal
# args: float32[::1]
@cuda.jit
def kernel(x):
    total = float32(0)

    def add(v):
        nonlocal total
        total += v

    add(x[0])
    x[1] = total


# %% inner-function-never-called
# args: float32[::1]
@cuda.jit
def kernel(x):
    def unused(v):
        return [v]

    x[0] = 1


# %% inner-function-as-a-value
# args: float32[::1]
@cuda.jit
def kernel(x):
    def square(v):
        return v * v

    f = square
    x[0] = f(x[0])


# %% inner-function-given-to-a-helper
# args: float32[::1]
@cuda.jit(device=True)
def apply(f, v):
    return f(v)

@cuda.jit
def kernel(x):
    def square(v):
        return v * v

    x[0] = apply(square, x[0])


# %% inner-function-decorated
# args: float32[::1]
@cuda.jit
def kernel(x):
    @cuda.jit(device=True)
    def square(v):
        return v * v

    x[0] = square(x[0])


# %% inner-function-in-a-loop
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(n):
        def square(v):
            return v * v

        x[i] = square(x[i])


# %% inner-function-in-two-branches
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n > 1:
        def change(v):
            return v * v
    else:
        def change(v):
            return v + v

    x[0] = change(x[0])


# %% lambda-called
# args: float32[::1]
@cuda.jit
def kernel(x):
    square = lambda v: v * v
    x[0] = square(x[0])


# %% lambda-called-in-a-loop-with-what-the-loop-assigns
# args: float32[::1]
@cuda.jit
def kernel(x):
    later = lambda v: v + 1
    for i in range(3):
        here = i * 2
        x[later(here)] = x[here]


# %% lambda-made-in-a-while-and-called-there
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.threadIdx.x
    while i < 6:
        later = lambda v: v + i
        here = i * 2
        x[later(here)] = x[here]
        i += 2


# %% lambda-of-two-names-on-two-ways
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    if n > 1:
        change = lambda v: v * v
    else:
        change = lambda v: v + v
    for i in range(3):
        here = x[i]
        x[i] = change(here)


# %% lambda-called-at-once
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = (lambda v: v * v)(x[0])


# %% lambda-global
# args: float32[::1]
square = lambda v: v * v

@cuda.jit
def kernel(x):
    x[0] = square(x[0])


# %% lambda-made-a-device-function
# args: float32[::1]
square = cuda.jit(device=True)(lambda v: v * v)

@cuda.jit
def kernel(x):
    x[0] = square(x[0])


# %% alias-of-the-module
# args: float32[::1]
from numba import cuda as gpu

@gpu.jit
def kernel(x):
    i = gpu.grid(1)
    gpu.syncthreads()
    x[i] = 1


# %% alias-of-a-function
# args: float32[::1]
sync = cuda.syncthreads

@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    sync()
    x[i] = 1


# %% alias-of-a-function-inside
# args: float32[::1]
@cuda.jit
def kernel(x):
    sync = cuda.syncthreads
    i = cuda.grid(1)
    sync()
    x[i] = 1


# %% names-imported-from-cuda
# args: float32[::1]
from numba.cuda import grid, syncthreads

@cuda.jit
def kernel(x):
    i = grid(1)
    syncthreads()
    x[i] = 1


# %% index-imported-from-cuda
# args: float32[::1]
from numba.cuda import blockDim, blockIdx, threadIdx

@cuda.jit
def kernel(x):
    i = blockIdx.x * blockDim.x + threadIdx.x
    x[i] = 1


# %% module-path-in-full
# args: float32[::1]
import numba.cuda

@numba.cuda.jit
def kernel(x):
    i = numba.cuda.grid(1)
    x[i] = 1


# %% index-named-once
# args: float32[::1]
@cuda.jit
def kernel(x):
    index = cuda.threadIdx
    x[index.x] = index.y


# %% module-named-inside
# args: float32[::1]
@cuda.jit
def kernel(x):
    c = cuda
    x[c.threadIdx.x] = 1


# %% barrier-not-called
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.syncthreads
    x[0] = 1


# %% barrier-with-an-argument
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.syncthreads(1)
    x[0] = 1


# %% barrier-misspelt
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.synchthreads()
    x[0] = 1


# %% barrier-without-the-module
# args: float32[::1]
@cuda.jit
def kernel(x):
    syncthreads()
    x[0] = 1


# %% barrier-in-c-style
# args: float32[::1]
@cuda.jit
def kernel(x):
    __syncthreads()
    x[0] = 1


# %% barrier-stored
# args: float32[::1]
@cuda.jit
def kernel(x):
    done = cuda.syncthreads()
    x[0] = 1


# %% index-in-c-style
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = blockIdx.x * blockDim.x + threadIdx.x
    x[i] = 1


# %% index-called
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[cuda.threadIdx.x()] = 1


# %% index-without-an-axis
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[cuda.threadIdx] = 1


# %% index-of-a-fourth-axis
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[cuda.threadIdx.w] = 1


# %% index-assigned
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.threadIdx.x = 0
    x[0] = 1


# %% index-unpacked
# args: float32[::1]
@cuda.jit
def kernel(x):
    i, j, k = cuda.threadIdx
    x[i] = j


# %% grid-of-two
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        x[i, j] = 1


# %% grid-of-three
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    i, j, k = cuda.grid(3)
    x[i, j] = k


# %% grid-as-an-index
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    x[cuda.grid(2)] = 1


# %% grid-of-four
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(4)
    x[0] = 1


# %% grid-of-nothing
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid()
    x[i] = 1


# %% grid-of-a-global
# args: float32[::1]
AXES = 1

@cuda.jit
def kernel(x):
    i = cuda.grid(AXES)
    x[i] = 1


# %% grid-of-an-argument
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    i = cuda.grid(n)
    x[0] = 1


# %% grid-by-keyword
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(ndim=1)
    x[i] = 1


# %% grid-size
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        x[i] = 1


# %% grid-size-of-two
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    down, across = cuda.gridsize(2)
    x[0, 0] = down * across


# %% host-function-in-a-kernel
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = cuda.to_device(x)
    y[0] = 1


# %% device-array-in-a-kernel
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = cuda.device_array(4, float32)
    y[0] = 1


# %% host-synchronize-in-a-kernel
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.synchronize()
    x[0] = 1


# %% time-in-a-kernel
# args: float32[::1]
import time

@cuda.jit
def kernel(x):
    x[0] = time.time()


# %% random-numbers-of-python
# args: float32[::1]
import random

@cuda.jit
def kernel(x):
    x[0] = random.random()


# %% random-numbers-of-numpy
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = np.random.rand()


# %% torch-like-softmax
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    row = x[cuda.threadIdx.x]
    row -= row.max()
    weights = np.exp(row)
    x[cuda.threadIdx.x] = weights / weights.sum()


# %% inner-function-never-called-reading-an-array
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    def f(u):
        return x[0] + u
    x[1] = 1


# %% inner-function-never-called-with-an-argument
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    def f(u):
        return n + u
    x[1] = 1


# %% inner-function-never-called-with-a-number
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    k = 3
    def f(u):
        return k + u
    x[1] = 1


# %% inner-function-never-called-with-none
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    k = None
    def f(u):
        return k
    x[1] = 1


# %% inner-function-never-called-with-an-index
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    i = cuda.threadIdx.x
    def f():
        return i
    x[1] = 1


# %% inner-function-never-called-that-writes
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    def f(u):
        x[0] = u
    x[1] = 1


# %% inner-function-never-called-that-is-wrong
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    def f(u):
        return u + [1]
    x[1] = 1


# %% inner-function-never-called-beside-another
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    def f(u):
        return u + 1
    def g(u):
        return n + u
    x[0] = f(1)
    x[1] = 1


# %% lambda-never-called-with-an-argument
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    g = lambda a: a + n
    x[1] = 1


# %% inner-function-never-called-in-a-branch
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    if n > 1:
        def f(u):
            return n + u
        x[0] = 2
    x[1] = 1


# %% inner-function-never-called-in-dead-code
# args: float32[::1], int32
OFF = None
@cuda.jit
def kernel(x, n):
    if OFF is not None:
        def f(u):
            return n + u
        x[0] = 2
    x[1] = 1


# %% inner-function-called-in-dead-code
# args: float32[::1], int32
OFF = None
@cuda.jit
def kernel(x, n):
    def f(u):
        return n + u
    if OFF is not None:
        x[0] = f(1)
    x[1] = 1


# %% inner-function-defined-twice
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    def f(u):
        return u
    def f(u):
        return u + n
    x[0] = f(1)
    x[1] = 1


# %% inner-function-defined-twice-never-called
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    def f(u):
        return u
    def f(u):
        return u + n
    x[1] = 1


# %% inner-function-under-a-second-name-with-an-argument
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    def f(u):
        return u + n
    g = f
    x[0] = g(1)
    x[1] = 1


# %% inner-function-never-called-in-a-loop
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    for i in range(3):
        def f(u):
            return u + i
    x[1] = 1
