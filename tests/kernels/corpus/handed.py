import enum
import math
import operator

import numpy as np
from numba import (boolean, cuda, float32, float64, int16, int32, uint32)


class Color(enum.Enum):
    red = 1
    green = 2


class Shape(enum.IntEnum):
    circle = 2
    square = 500


class Planet(enum.Enum):
    VENUS = (4.8, 6.05)
    EARTH = (5.9, 6.37)


class Half(enum.Enum):
    a = 0.5
    b = 1.5


class Flags(enum.IntFlag):
    x = 1
    y = 2


# %% handed-type-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, dtype, n):
    t = cuda.shared.array(n, dtype)
    t[0] = dtype(x[0])
    x[0] = t[0]

@cuda.jit
def kernel(x):
    f(x, float32, 8)


# %% handed-size-by-name-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, dtype, n):
    t = cuda.shared.array(n, dtype)
    t[0] = dtype(x[0])
    x[0] = t[0]

@cuda.jit
def kernel(x):
    n = 8
    f(x, float32, n)


# %% handed-size-computed-to-device
# args: float32[::1]
N = 4
@cuda.jit(device=True)
def f(x, dtype, n):
    t = cuda.shared.array(n, dtype)
    t[0] = dtype(x[0])
    x[0] = t[0]

@cuda.jit
def kernel(x):
    f(x, float32, N * 2)


# %% handed-size-global-to-device
# args: float32[::1]
N = 4
@cuda.jit(device=True)
def f(x, dtype, n):
    t = cuda.shared.array(n, dtype)
    t[0] = dtype(x[0])
    x[0] = t[0]

@cuda.jit
def kernel(x):
    f(x, float32, N)


# %% handed-size-and-value-to-device
# args: float32[::1]
N = 4
@cuda.jit(device=True)
def f(x, dtype, n, v):
    t = cuda.shared.array(n, dtype)
    t[0] = dtype(x[0])
    x[0] = t[0] + v

@cuda.jit
def kernel(x):
    f(x, float32, N, 1)
    f(x, float32, N, 2)


# %% handed-shape-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, dtype, n):
    t = cuda.shared.array(n, dtype)
    t[0, 0] = dtype(x[0])
    x[0] = t[0, 0]

@cuda.jit
def kernel(x):
    f(x, float32, (4, 8))


# %% handed-flag-to-device-prunes
# args: float32[::1]
@cuda.jit(device=True)
def f(x, flag):
    if flag:
        x[0] = 1
    else:
        x[0] = nothing

@cuda.jit
def kernel(x):
    f(x, True)


# %% handed-atomic-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    op(x, 0, 1)

@cuda.jit
def kernel(x):
    f(x, cuda.atomic.add)


# %% handed-math-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x)

@cuda.jit
def kernel(x):
    x[0] = f(x[0], math.sin)


# %% handed-operator-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x, x)

@cuda.jit
def kernel(x):
    x[0] = f(x[0], operator.add)


# %% handed-device-to-device
# args: float32[::1]
@cuda.jit(device=True)
def g(x):
    return x * 2

@cuda.jit(device=True)
def f(x, op):
    return op(x)

@cuda.jit
def kernel(x):
    x[0] = f(x[0], g)


# %% handed-builtin-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x, x)

@cuda.jit
def kernel(x):
    x[0] = f(x[0], max)


# %% handed-abs-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x)

@cuda.jit
def kernel(x):
    x[0] = f(x[0], abs)


# %% handed-int-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x)

@cuda.jit
def kernel(x):
    x[0] = f(x[0], int)


# %% handed-float-as-dtype-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    t = cuda.shared.array(8, op)
    return op(x)

@cuda.jit
def kernel(x):
    x[0] = f(x[0], float)


# %% handed-module-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, m):
    return m.sin(x)

@cuda.jit
def kernel(x):
    x[0] = f(x[0], math)


# %% handed-closure-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x)

@cuda.jit
def kernel(x):
    def g(v):
        return v + 1
    x[0] = f(x[0], g)


# %% handed-closure-over-const-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x)

@cuda.jit
def kernel(x):
    y = 3
    def g(v):
        return v + y
    x[0] = f(x[0], g)


# %% handed-closure-over-variable-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x)

@cuda.jit
def kernel(x):
    y = x[1]
    def g(v):
        return v + y
    x[0] = f(x[0], g)


# %% handed-lambda-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x)

@cuda.jit
def kernel(x):
    x[0] = f(x[0], lambda v: v * 2)


# %% handed-lambda-called
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = (lambda v: v * 2)(x[0])


# %% handed-lambda-global
# args: float32[::1]
f = cuda.jit(device=True)(lambda v: v * 2)
@cuda.jit
def kernel(x):
    x[0] = f(x[0])


# %% handed-lambda-plain-global
# args: float32[::1]
f = lambda v: v * 2
@cuda.jit
def kernel(x):
    x[0] = f(x[0])


# %% handed-lambda-in-conditional
# args: float32[::1]
@cuda.jit
def kernel(x):
    f = (lambda v: v * 2) if x[0] > 0 else (lambda v: v * 3)
    x[0] = f(x[0])


# %% handed-function-in-conditional
# args: float32[::1]
@cuda.jit
def kernel(x):
    f = math.sin if x[0] > 0 else math.cos
    x[0] = f(x[0])


# %% handed-same-function-in-conditional
# args: float32[::1]
@cuda.jit
def kernel(x):
    f = math.sin if x[0] > 0 else math.sin
    x[0] = f(x[0])


# %% handed-function-in-branches
# args: float32[::1]
@cuda.jit
def kernel(x):
    if x[0] > 0:
        f = math.sin
    else:
        f = math.cos
    x[0] = f(x[0])


# %% handed-device-function-in-conditional
# args: float32[::1]
@cuda.jit(device=True)
def a(x):
    return x * 2
@cuda.jit(device=True)
def b(x):
    return x * 3
@cuda.jit
def kernel(x):
    f = a if x[0] > 0 else b
    x[0] = f(x[0])


# %% handed-function-by-constant-conditional
# args: float32[::1]
FAST = True
@cuda.jit
def kernel(x):
    f = math.sin if FAST else math.cos
    x[0] = f(x[0])


# %% handed-function-by-constant-branches
# args: float32[::1]
FAST = True
@cuda.jit
def kernel(x):
    if FAST:
        f = math.sin
    else:
        f = math.cos
    x[0] = f(x[0])


# %% handed-tuple-of-functions
# args: float32[::1]
OPS = (math.sin, math.cos)
@cuda.jit
def kernel(x):
    x[0] = OPS[1](x[0])


# %% handed-tuple-of-device-functions
# args: float32[::1]
@cuda.jit(device=True)
def a(x):
    return x * 2
@cuda.jit(device=True)
def b(x):
    return x * 3
OPS = (a, b)
@cuda.jit
def kernel(x):
    x[0] = OPS[1](x[0])


# %% handed-tuple-of-local-functions
# args: float32[::1]
@cuda.jit
def kernel(x):
    ops = (math.sin, math.cos)
    x[0] = ops[1](x[0])


# %% handed-function-returned
# args: float32[::1]
@cuda.jit(device=True)
def a(x):
    return x * 2
@cuda.jit(device=True)
def pick():
    return a
@cuda.jit
def kernel(x):
    x[0] = pick()(x[0])


# %% handed-type-returned
# args: float32[::1]
@cuda.jit(device=True)
def pick():
    return float32
@cuda.jit
def kernel(x):
    x[0] = pick()(x[0])


# %% handed-math-returned
# args: float32[::1]
@cuda.jit(device=True)
def pick():
    return math.sin
@cuda.jit
def kernel(x):
    x[0] = pick()(x[0])


# %% handed-cuda-atomic-global
# args: float32[::1]
add = cuda.atomic.add
@cuda.jit
def kernel(x):
    add(x, 0, 1)


# %% handed-cuda-atomic-global-passed
# args: float32[::1]
add = cuda.atomic.add
@cuda.jit(device=True)
def f(x, op):
    op(x, 0, 1)
@cuda.jit
def kernel(x):
    f(x, add)


# %% handed-syncthreads-passed
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    op()
@cuda.jit
def kernel(x):
    f(x, cuda.syncthreads)


# %% handed-grid-passed
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(1)
@cuda.jit
def kernel(x):
    x[0] = f(x, cuda.grid)


# %% handed-sharedarray-passed
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    t = op(8, float32)
    t[0] = 1
    x[0] = t[0]
@cuda.jit
def kernel(x):
    f(x, cuda.shared.array)


# %% handed-grid-global
# args: float32[::1]
grid = cuda.grid
@cuda.jit
def kernel(x):
    x[0] = grid(1)


# %% handed-threadidx-global
# args: float32[::1]
t = cuda.threadIdx
@cuda.jit
def kernel(x):
    x[0] = t.x


# %% handed-text-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, t):
    return x
@cuda.jit
def kernel(x):
    x[0] = f(x[0], "a")


# %% handed-text-dtype-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, t):
    a = cuda.shared.array(8, t)
    return x
@cuda.jit
def kernel(x):
    x[0] = f(x[0], "float32")


# %% handed-np-dtype-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, t):
    a = cuda.shared.array(8, t)
    return t(x)
@cuda.jit
def kernel(x):
    x[0] = f(x[0], np.float32)


# %% handed-dtype-of-array-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, t):
    a = cuda.shared.array(8, t)
    return x
@cuda.jit
def kernel(x):
    x[0] = f(x[0], x.dtype)


# %% handed-dtype-type-of-array-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, t):
    a = cuda.shared.array(8, t)
    return t(x)
@cuda.jit
def kernel(x):
    x[0] = f(x[0], x.dtype.type)


# %% handed-none-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, t):
    if t is None:
        return x
    return t(x)
@cuda.jit
def kernel(x):
    x[0] = f(x[0], None)


# %% handed-none-or-op-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, t):
    if t is None:
        return x
    return t(x)
@cuda.jit
def kernel(x):
    x[0] = f(x[0], math.sin)


# %% handed-index-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, t, i):
    x[0] = t[i]

@cuda.jit
def kernel(x):
    f(x, (1, 2.5), 1)


# %% handed-grid-dim-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, i):
    x[0] = cuda.grid(i)

@cuda.jit
def kernel(x):
    f(x, 1)


# %% handed-grid-dim-copied
# args: float32[::1]
@cuda.jit(device=True)
def f(x, i):
    j = i
    x[0] = cuda.grid(j)

@cuda.jit
def kernel(x):
    f(x, 1)


# %% handed-literal-through-two
# args: float32[::1]
@cuda.jit(device=True)
def g(x, i):
    x[0] = cuda.grid(i)
@cuda.jit(device=True)
def f(x, i):
    g(x, i)

@cuda.jit
def kernel(x):
    f(x, 1)


# %% handed-size-copied
# args: float32[::1]
@cuda.jit(device=True)
def f(x, n):
    m = n
    t = cuda.shared.array(m, float32)
    t[0] = 1
    x[0] = t[0]
@cuda.jit
def kernel(x):
    f(x, 8)


# %% handed-size-tuple-made
# args: float32[::1]
@cuda.jit(device=True)
def f(x, n):
    t = cuda.shared.array((n, 4), float32)
    t[0, 0] = 1
    x[0] = t[0, 0]
@cuda.jit
def kernel(x):
    f(x, 8)


# %% handed-size-to-closure
# args: float32[::1]
@cuda.jit
def kernel(x):
    def f(x, n):
        t = cuda.shared.array(n, float32)
        t[0] = 1
        x[0] = t[0]
    f(x, 8)


# %% handed-size-by-default
# args: float32[::1]
@cuda.jit(device=True)
def f(x, n=8):
    t = cuda.shared.array(n, float32)
    t[0] = 1
    x[0] = t[0]
@cuda.jit
def kernel(x):
    f(x)


# %% handed-dtype-by-default
# args: float32[::1]
@cuda.jit(device=True)
def f(x, n, dtype=float32):
    t = cuda.shared.array(n, dtype)
    t[0] = 1
    x[0] = t[0]
@cuda.jit
def kernel(x):
    f(x, 8)


# %% handed-op-by-default
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op=math.sin):
    x[0] = op(x[0])
@cuda.jit
def kernel(x):
    f(x)


# %% handed-star-args
# args: float32[::1]
@cuda.jit(device=True)
def g(a, b):
    return a + b
@cuda.jit(device=True)
def f(func, *args):
    return func(*args)
@cuda.jit
def kernel(x):
    x[0] = f(g, x[0], 2)


# %% handed-star-args-math
# args: float32[::1]
@cuda.jit(device=True)
def f(func, *args):
    return func(*args)
@cuda.jit
def kernel(x):
    x[0] = f(math.atan2, x[0], x[1])


# %% handed-star-args-empty
# args: float32[::1]
@cuda.jit(device=True)
def g():
    return 3
@cuda.jit(device=True)
def f(func, *args):
    return func(*args)
@cuda.jit
def kernel(x):
    x[0] = f(g)


# %% handed-star-args-read
# args: float32[::1]
@cuda.jit(device=True)
def f(*args):
    return args[0] + args[1] + len(args)
@cuda.jit
def kernel(x):
    x[0] = f(x[0], 2)


# %% handed-star-args-loop
# args: float32[::1]
@cuda.jit(device=True)
def f(*args):
    s = 0.0
    for a in args:
        s += a
    return s
@cuda.jit
def kernel(x):
    x[0] = f(x[0], x[1])


# %% handed-star-after-value
# args: float32[::1]
@cuda.jit(device=True)
def g(a, b, c):
    return a + b + c
@cuda.jit(device=True)
def f(*args):
    return g(1, *args)
@cuda.jit
def kernel(x):
    x[0] = f(x[0], x[1])


# %% handed-star-local-tuple
# args: float32[::1]
@cuda.jit(device=True)
def g(a, b):
    return a + b
@cuda.jit
def kernel(x):
    t = (x[0], 2)
    x[0] = g(*t)


# %% handed-star-literal-tuple
# args: float32[::1]
@cuda.jit(device=True)
def g(a, b):
    return a + b
@cuda.jit
def kernel(x):
    x[0] = g(*(x[0], 2))


# %% handed-star-shape
# args: float32[::1]
@cuda.jit(device=True)
def g(a, b):
    return a + b
@cuda.jit
def kernel(x):
    x[0] = g(1, *x.shape)


# %% handed-star-two
# args: float32[::1]
@cuda.jit(device=True)
def g(a, b):
    return a + b
@cuda.jit
def kernel(x):
    x[0] = g(*x.shape, *x.shape)


# %% handed-star-before-value
# args: float32[::1]
@cuda.jit(device=True)
def g(a, b):
    return a + b
@cuda.jit
def kernel(x):
    x[0] = g(*x.shape, 3)


# %% handed-star-to-builtin
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = (x[0], x[1])
    x[0] = max(*t)


# %% handed-star-with-keyword
# args: float32[::1]
@cuda.jit(device=True)
def g(a, b):
    return a + b
@cuda.jit
def kernel(x):
    x[0] = g(*x.shape, b=3)


# %% handed-star-size
# args: float32[::1]
@cuda.jit(device=True)
def f(x, *shape):
    t = cuda.shared.array(shape, float32)
    t[0, 0] = 1
    x[0] = t[0, 0]
@cuda.jit
def kernel(x):
    f(x, 8, 4)


# %% handed-star-keyword-parameters
# args: float32[::1]
@cuda.jit(device=True)
def f(x, **kw):
    x[0] = 1
@cuda.jit
def kernel(x):
    f(x)


# %% handed-star-keyword-only
# args: float32[::1]
@cuda.jit(device=True)
def f(x, *, k):
    x[0] = k
@cuda.jit
def kernel(x):
    f(x, k=1)


# %% handed-positional-only
# args: float32[::1]
@cuda.jit(device=True)
def f(x, /, k):
    x[0] = k
@cuda.jit
def kernel(x):
    f(x, k=1)


# %% handed-star-closure
# args: float32[::1]
@cuda.jit
def kernel(x):
    def f(*args):
        return args[0] + 1
    x[0] = f(x[0])


# %% handed-closure-default
# args: float32[::1]
@cuda.jit
def kernel(x):
    def f(a, b=2):
        return a + b
    x[0] = f(x[0])


# %% handed-kernel-with-default
# args: float32[::1]
@cuda.jit
def kernel(x, k=2):
    x[0] = k


# %% handed-kernel-with-star
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, *rest):
    x[0] = 2


# %% handed-escape-copied-const
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x)
@cuda.jit
def kernel(x):
    z = 3
    y = z
    def g(v):
        return v + y
    x[0] = f(x[0], g)


# %% handed-escape-global-const
# args: float32[::1]
N = 3
@cuda.jit(device=True)
def f(x, op):
    return op(x)
@cuda.jit
def kernel(x):
    y = N
    def g(v):
        return v + y
    x[0] = f(x[0], g)


# %% handed-escape-pi
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x)
@cuda.jit
def kernel(x):
    y = math.pi
    def g(v):
        return v + y
    x[0] = f(x[0], g)


# %% handed-escape-tuple
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x)
@cuda.jit
def kernel(x):
    y = (1, 2)
    def g(v):
        return v + y[1]
    x[0] = f(x[0], g)


# %% handed-escape-two-defs
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x)
@cuda.jit
def kernel(x):
    y = 1
    y = 2
    def g(v):
        return v + y
    x[0] = f(x[0], g)


# %% handed-escape-parameter
# args: float32[::1], int32
@cuda.jit(device=True)
def f(x, op):
    return op(x)
@cuda.jit
def kernel(x, y):
    def g(v):
        return v + y
    x[0] = f(x[0], g)


# %% handed-escape-parameter-of-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x)
@cuda.jit(device=True)
def outer(x, op):
    def g(v):
        return op(v)
    return f(x, g)
@cuda.jit
def kernel(x):
    x[0] = outer(x[0], math.sin)


# %% handed-escape-closure
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x)
@cuda.jit
def kernel(x):
    def h(v):
        return v * 2
    def g(v):
        return h(v)
    x[0] = f(x[0], g)


# %% handed-escape-and-called
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x)
@cuda.jit
def kernel(x):
    def g(v):
        return v * 2
    x[0] = f(x[0], g) + g(x[1])


# %% handed-escape-named
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x)
@cuda.jit
def kernel(x):
    def g(v):
        return v * 2
    h = g
    x[0] = f(x[0], h)


# %% handed-closure-to-closure
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = x[1]
    def g(v):
        return v * y
    def a(v, op):
        return op(v)
    x[0] = a(x[0], g)


# %% handed-closure-returned
# args: float32[::1]
@cuda.jit(device=True)
def pick():
    def g(v):
        return v * 2
    return g
@cuda.jit
def kernel(x):
    x[0] = pick()(x[0])


# %% handed-lambda-captures
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = x[1]
    x[0] = (lambda v: v * y)(x[0])


# %% handed-lambda-default
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x)
@cuda.jit
def kernel(x):
    x[0] = f(x[0], lambda v, k=2: v * k)


# %% handed-lambda-in-tuple
# args: float32[::1]
@cuda.jit
def kernel(x):
    ops = (lambda v: v * 2, lambda v: v * 3)
    x[0] = ops[1](x[0])


# %% handed-type-in-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = float32
    a = cuda.shared.array(4, t)
    a[0] = 1
    x[0] = t(a[0])


# %% handed-atomic-in-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = cuda.atomic.add
    t(x, 0, 1)


# %% handed-function-compared
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    if op is None:
        return x
    return op(x)
@cuda.jit
def kernel(x):
    x[0] = f(x[0], math.sin)


# %% handed-device-as-test
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    if op:
        return x
    return x
@cuda.jit
def kernel(x):
    x[0] = f(x[0], math.sin)


# %% handed-function-stored
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    x[0] = op
@cuda.jit
def kernel(x):
    f(x, math.sin)


# %% handed-return-literal-twice
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(op(x))
@cuda.jit(device=True)
def g(x):
    return f(x, math.sin)
@cuda.jit
def kernel(x):
    x[0] = f(x[0], g)


# %% handed-constant-exponent
# args: float32[::1]
@cuda.jit(device=True)
def f(x, n):
    return x ** n
@cuda.jit
def kernel(x):
    x[0] = f(x[0], 2)


# %% handed-type-in-branches
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = float32 if x[0] > 0 else float64
    x[0] = t(x[1])


# %% handed-none-default
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op=None):
    if op is None:
        return x
    return op(x)
@cuda.jit
def kernel(x):
    x[0] = f(x[0]) + f(x[0], math.sin)


# %% operator-add-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.add(x[1], x[2])


# %% operator-add-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.add(x[1], x[2])


# %% operator-sub-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.sub(x[1], x[2])


# %% operator-sub-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.sub(x[1], x[2])


# %% operator-mul-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.mul(x[1], x[2])


# %% operator-mul-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.mul(x[1], x[2])


# %% operator-truediv-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.truediv(x[1], x[2])


# %% operator-truediv-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.truediv(x[1], x[2])


# %% operator-floordiv-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.floordiv(x[1], x[2])


# %% operator-floordiv-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.floordiv(x[1], x[2])


# %% operator-mod-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.mod(x[1], x[2])


# %% operator-mod-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.mod(x[1], x[2])


# %% operator-pow-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.pow(x[1], x[2])


# %% operator-pow-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.pow(x[1], x[2])


# %% operator-and-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.and_(x[1], x[2])


# %% operator-and-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.and_(x[1], x[2])


# %% operator-or-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.or_(x[1], x[2])


# %% operator-or-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.or_(x[1], x[2])


# %% operator-xor-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.xor(x[1], x[2])


# %% operator-xor-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.xor(x[1], x[2])


# %% operator-lshift-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.lshift(x[1], x[2])


# %% operator-lshift-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.lshift(x[1], x[2])


# %% operator-rshift-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.rshift(x[1], x[2])


# %% operator-rshift-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.rshift(x[1], x[2])


# %% operator-eq-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.eq(x[1], x[2])


# %% operator-eq-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.eq(x[1], x[2])


# %% operator-ne-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.ne(x[1], x[2])


# %% operator-ne-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.ne(x[1], x[2])


# %% operator-lt-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.lt(x[1], x[2])


# %% operator-lt-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.lt(x[1], x[2])


# %% operator-le-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.le(x[1], x[2])


# %% operator-le-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.le(x[1], x[2])


# %% operator-gt-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.gt(x[1], x[2])


# %% operator-gt-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.gt(x[1], x[2])


# %% operator-ge-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.ge(x[1], x[2])


# %% operator-ge-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.ge(x[1], x[2])


# %% operator-iadd-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.iadd(x[1], x[2])


# %% operator-iadd-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.iadd(x[1], x[2])


# %% operator-isub-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.isub(x[1], x[2])


# %% operator-isub-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.isub(x[1], x[2])


# %% operator-imul-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.imul(x[1], x[2])


# %% operator-imul-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.imul(x[1], x[2])


# %% operator-itruediv-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.itruediv(x[1], x[2])


# %% operator-itruediv-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.itruediv(x[1], x[2])


# %% operator-ifloordiv-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.ifloordiv(x[1], x[2])


# %% operator-ifloordiv-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.ifloordiv(x[1], x[2])


# %% operator-imod-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.imod(x[1], x[2])


# %% operator-imod-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.imod(x[1], x[2])


# %% operator-ipow-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.ipow(x[1], x[2])


# %% operator-ipow-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.ipow(x[1], x[2])


# %% operator-iand-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.iand(x[1], x[2])


# %% operator-iand-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.iand(x[1], x[2])


# %% operator-ior-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.ior(x[1], x[2])


# %% operator-ior-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.ior(x[1], x[2])


# %% operator-ixor-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.ixor(x[1], x[2])


# %% operator-ixor-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.ixor(x[1], x[2])


# %% operator-ilshift-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.ilshift(x[1], x[2])


# %% operator-ilshift-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.ilshift(x[1], x[2])


# %% operator-irshift-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.irshift(x[1], x[2])


# %% operator-irshift-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.irshift(x[1], x[2])


# %% operator-is-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.is_(x[1], x[2])


# %% operator-is-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.is_(x[1], x[2])


# %% operator-is-not-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.is_not(x[1], x[2])


# %% operator-is-not-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.is_not(x[1], x[2])


# %% operator-matmul-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.matmul(x[1], x[2])


# %% operator-matmul-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.matmul(x[1], x[2])


# %% operator-contains-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.contains(x[1], x[2])


# %% operator-contains-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.contains(x[1], x[2])


# %% operator-getitem-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.getitem(x[1], x[2])


# %% operator-getitem-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.getitem(x[1], x[2])


# %% operator-neg-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.neg(x[1])


# %% operator-neg-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.neg(x[1])


# %% operator-pos-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.pos(x[1])


# %% operator-pos-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.pos(x[1])


# %% operator-invert-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.invert(x[1])


# %% operator-invert-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.invert(x[1])


# %% operator-inv-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.inv(x[1])


# %% operator-inv-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.inv(x[1])


# %% operator-not-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.not_(x[1])


# %% operator-not-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.not_(x[1])


# %% operator-truth-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.truth(x[1])


# %% operator-truth-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.truth(x[1])


# %% operator-abs-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.abs(x[1])


# %% operator-abs-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.abs(x[1])


# %% operator-index-f
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.index(x[1])


# %% operator-index-i
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.index(x[1])


# %% operator-global-name
# args: float32[::1]
from operator import add
@cuda.jit
def kernel(x):
    x[0] = add(x[1], x[2])


# %% operator-global-assigned
# args: float32[::1]
plus = operator.add
@cuda.jit
def kernel(x):
    x[0] = plus(x[1], x[2])


# %% operator-dunder
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.__add__(x[1], x[2])


# %% operator-keywords
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.add(a=x[1], b=x[2])


# %% operator-too-few
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.add(x[1])


# %% operator-tuples
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = operator.add((1, 2), (3, 4))
    x[0] = t[3]


# %% operator-none
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.eq(None, None)


# %% operator-array
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = operator.add(x, 1)


# %% operator-iadd-array
# args: float32[::1]
@cuda.jit
def kernel(x):
    operator.iadd(x, 1)


# %% operator-unknown
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.plus(x[1], 1)


# %% operator-setitem
# args: float32[::1]
@cuda.jit
def kernel(x):
    operator.setitem(x, 0, 1)


# %% operator-itemgetter
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.itemgetter(1)(x)


# %% operator-pow-const
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.pow(x[0], 2)


# %% operator-not-none
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.not_(None)


# %% operator-not-array
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.not_(x)


# %% operator-not-half
# args: float16[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.not_(x[0])


# %% operator-truth-half
# args: float16[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.truth(x[0])


# %% operator-eq-prunes
# args: float32[::1]
@cuda.jit
def kernel(x):
    if operator.eq(1, 2):
        x[0] = nothing


# %% operator-size
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = cuda.shared.array(operator.add(4, 4), float32)
    t[0] = 1


# %% operator-bools
# args: bool_[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.and_(x[0], x[1])


# %% operator-neg-bool
# args: bool_[::1], int32[::1]
@cuda.jit
def kernel(x, y):
    y[0] = operator.neg(x[0])


# %% operator-module-named
# args: float32[::1]
import operator as op
@cuda.jit
def kernel(x):
    x[0] = op.mul(x[0], 2)


# %% operator-dict
# args: float32[::1]
OPS = {"+": operator.add}
@cuda.jit
def kernel(x):
    x[0] = OPS["+"](x[0], 2)


# %% operator-factory
# args: float32[::1]
# kernel: make(operator.add, float32)
def make(op, dtype):
    @cuda.jit
    def kernel(x):
        tile = cuda.shared.array(8, dtype)
        tile[0] = op(x[0], x[1])
        x[0] = tile[0]
    return kernel


# %% enum-int-add
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = x[1] + Shape.circle


# %% enum-int-add-int
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = x[1] + Shape.circle


# %% enum-int-compare
# args: int32[::1]
@cuda.jit
def kernel(x):
    if x[1] > Shape.square:
        x[0] = 1


# %% enum-int-cast
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = int16(Shape.circle) + int(Shape.square)


# %% enum-int-index
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[Shape.circle] = 1


# %% enum-int-size
# args: int32[::1]
@cuda.jit
def kernel(x):
    t = cuda.shared.array(Shape.circle, int32)
    t[0] = 1


# %% enum-int-range
# args: int32[::1]
@cuda.jit
def kernel(x):
    for i in range(Shape.circle):
        x[i] = 1


# %% enum-int-store
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = Shape.circle


# %% enum-int-value
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = Shape.circle.value


# %% enum-value
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = Color.red.value


# %% enum-half-value
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = Half.a.value


# %% enum-name
# args: int32[::1]
@cuda.jit
def kernel(x):
    n = Color.red.name
    x[0] = 1


# %% enum-eq
# args: bool_[::1]
@cuda.jit
def kernel(x):
    x[0] = Color.red == Color.green
    x[1] = Color.red != Color.green


# %% enum-is
# args: bool_[::1]
@cuda.jit
def kernel(x):
    x[0] = Color.red is Color.green
    x[1] = Color.red is not Color.green


# %% enum-lt
# args: bool_[::1]
@cuda.jit
def kernel(x):
    x[0] = Color.red < Color.green


# %% enum-getitem
# args: bool_[::1]
@cuda.jit
def kernel(x):
    x[0] = Color["red"] == Color["green"]


# %% enum-call
# args: bool_[::1]
@cuda.jit
def kernel(x):
    x[0] = Color(1) == Color["green"]


# %% enum-eq-int
# args: bool_[::1]
@cuda.jit
def kernel(x):
    x[0] = Color.red == 1


# %% enum-int-eq-other
# args: bool_[::1]
@cuda.jit
def kernel(x):
    x[0] = Shape.circle == 2


# %% enum-int-is-int
# args: bool_[::1]
@cuda.jit
def kernel(x):
    x[0] = Shape.circle is Shape.square


# %% enum-different
# args: bool_[::1]
@cuda.jit
def kernel(x):
    x[0] = Color.red == Half.a


# %% enum-add
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = Color.red + 1


# %% enum-store
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = Color.red


# %% enum-member-global
# args: int32[::1]
RED = Color.red
@cuda.jit
def kernel(x):
    if RED == Color.red:
        x[0] = 1


# %% enum-int-member-global
# args: int32[::1]
C = Shape.circle
@cuda.jit
def kernel(x):
    x[0] = C + 1


# %% enum-int-member-global-size
# args: int32[::1]
C = Shape.circle
@cuda.jit
def kernel(x):
    t = cuda.shared.array(C, int32)
    t[0] = 1


# %% enum-flags
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = Flags.x


# %% enum-flags-or
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = Flags.x | Flags.y


# %% enum-int-or
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = Shape.circle | Shape.square


# %% enum-int-neg
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = -Shape.circle


# %% enum-int-test
# args: int32[::1]
@cuda.jit
def kernel(x):
    if Shape.circle:
        x[0] = 1


# %% enum-test
# args: int32[::1]
@cuda.jit
def kernel(x):
    if Color.red:
        x[0] = 1


# %% enum-prunes
# args: int32[::1]
@cuda.jit
def kernel(x):
    if Color.red == Color.green:
        x[0] = nothing


# %% enum-int-prunes
# args: int32[::1]
@cuda.jit
def kernel(x):
    if Shape.circle == Shape.square:
        x[0] = nothing


# %% enum-int-global-prunes
# args: int32[::1]
C = Shape.circle
@cuda.jit
def kernel(x):
    if C == 3:
        x[0] = nothing


# %% enum-to-device
# args: int32[::1]
@cuda.jit(device=True)
def f(x, c):
    if c == Color.red:
        x[0] = 1
@cuda.jit
def kernel(x):
    f(x, Color.red)


# %% enum-int-to-device
# args: int32[::1]
@cuda.jit(device=True)
def f(x, c):
    x[0] = c + 1
@cuda.jit
def kernel(x):
    f(x, Shape.circle)


# %% enum-returned
# args: int32[::1]
@cuda.jit(device=True)
def f(x):
    return Color.red if x[0] > 0 else Color.green
@cuda.jit
def kernel(x):
    if f(x) == Color.red:
        x[0] = 1


# %% enum-in-branches
# args: int32[::1]
@cuda.jit
def kernel(x):
    c = Color.red
    if x[0] > 2:
        c = Color.green
    if c == Color.red:
        x[0] = 1


# %% enum-int-in-branches
# args: int32[::1]
@cuda.jit
def kernel(x):
    c = Shape.circle
    if x[0] > 2:
        c = Shape.square
    x[0] = c


# %% enum-int-in-branches-with-int
# args: int32[::1]
@cuda.jit
def kernel(x):
    c = Shape.circle
    if x[0] > 2:
        c = 7
    x[0] = c


# %% enum-int-in-loop
# args: int32[::1]
@cuda.jit
def kernel(x):
    c = Shape.circle
    for i in range(3):
        c += 1
    x[0] = c


# %% enum-tuple
# args: int32[::1]
@cuda.jit
def kernel(x):
    t = (Shape.circle, Shape.square)
    x[0] = t[1]


# %% enum-tuple-value
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = Planet.EARTH.value[1]


# %% enum-unknown
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = Shape.triangle


# %% enum-atomic
# args: int32[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.add(x, Shape.circle, Shape.square)


# %% enum-min
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = min(Shape.circle, x[0])


# %% enum-float32
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = float32(Shape.circle)


# %% enum-math
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = math.sqrt(Shape.circle)


# %% enum-mod
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = x[0] % Shape.circle


# %% enum-loop-over
# args: int32[::1]
@cuda.jit
def kernel(x):
    for c in Shape:
        x[0] += c


# %% raise-kernel
# args: float32[::1]
@cuda.jit
def kernel(x):
    if x[0] > 3:
        raise ValueError("a")
    x[0] = 1


# %% raise-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    if x[0] > 3:
        raise ValueError


# %% raise-own
# args: float32[::1]
class Mine(Exception):
    pass
@cuda.jit
def kernel(x):
    if x[0] > 3:
        raise Mine("a")


# %% raise-number
# args: float32[::1]
@cuda.jit
def kernel(x):
    if x[0] > 3:
        raise ValueError(x[0])


# %% raise-two
# args: float32[::1]
@cuda.jit
def kernel(x):
    if x[0] > 3:
        raise ValueError("a", 1)


# %% raise-fstring
# args: float32[::1]
@cuda.jit
def kernel(x):
    if x[0] > 3:
        raise ValueError(f"a {x[0]}")


# %% raise-from
# args: float32[::1]
@cuda.jit
def kernel(x):
    if x[0] > 3:
        raise ValueError("a") from None


# %% raise-bare
# args: float32[::1]
@cuda.jit
def kernel(x):
    if x[0] > 3:
        raise


# %% raise-undefined
# args: float32[::1]
@cuda.jit
def kernel(x):
    if x[0] > 3:
        raise Nothing("a")


# %% raise-no-exception
# args: float32[::1]
@cuda.jit
def kernel(x):
    if x[0] > 3:
        raise 3


# %% raise-device
# args: float32[::1]
@cuda.jit(device=True)
def f(v):
    if v > 3:
        raise ValueError("a")
    return v
@cuda.jit
def kernel(x):
    x[0] = f(x[0])


# %% raise-always
# args: float32[::1]
@cuda.jit(device=True)
def f(v):
    raise ValueError("a")
@cuda.jit
def kernel(x):
    f(x[0])


# %% raise-always-used
# args: float32[::1]
@cuda.jit(device=True)
def f(v):
    raise ValueError("a")
@cuda.jit
def kernel(x):
    x[0] = f(x[0])


# %% assert-kernel
# args: float32[::1]
@cuda.jit
def kernel(x):
    assert x[0] > 3
    x[0] = 1


# %% assert-message
# args: float32[::1]
@cuda.jit
def kernel(x):
    assert x[0] > 3, "too small"


# %% assert-message-number
# args: float32[::1]
@cuda.jit
def kernel(x):
    assert x[0] > 3, x[0]


# %% assert-array
# args: float32[::1]
@cuda.jit
def kernel(x):
    assert x


# %% assert-constant
# args: float32[::1]
N = 4
@cuda.jit
def kernel(x):
    assert N == 4
    x[0] = 1


# %% assert-constant-false
# args: float32[::1]
N = 4
@cuda.jit
def kernel(x):
    assert N == 5
    x[0] = 1


# %% enum-int16
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = int16(Shape.circle) + uint32(Shape.square)


# %% enum-bool
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = bool(Shape.circle)


# %% enum-boolean
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = boolean(Shape.circle)


# %% enum-float-atomic
# args: float32[::1]
@cuda.jit
def kernel(x):
    cuda.atomic.add(x, 0, Shape.circle)


# %% enum-in-a-tuple
# args: float32[::1]
@cuda.jit
def kernel(x):
    pair = (Shape.circle, 2)
    x[0] = pair[0]


# %% enum-in-a-tuple-sum
# args: float32[::1]
@cuda.jit
def kernel(x):
    pair = (Shape.circle, 2)
    x[0] = pair[0] + pair[1]


# %% enum-in-a-tuple-by-index
# args: float32[::1]
@cuda.jit
def kernel(x):
    both = (Shape.circle, Shape.square)
    x[0] = both[cuda.threadIdx.x % 2]


# %% enum-in-a-tuple-by-index-sum
# args: float32[::1]
@cuda.jit
def kernel(x):
    both = (Shape.circle, Shape.square)
    x[0] = both[cuda.threadIdx.x % 2] + 1


# %% enum-in-a-mixed-tuple-by-index
# args: float32[::1]
@cuda.jit
def kernel(x):
    both = (Shape.circle, 7)
    x[0] = both[cuda.threadIdx.x % 2] + 1


# %% enum-members-by-index
# args: float32[::1]
@cuda.jit
def kernel(x):
    both = (Color.red, Color.green)
    if both[cuda.threadIdx.x % 2] == Color.red:
        x[0] = 1


# %% enum-in-a-tuple-as-index
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = (1, 2, 3)[Shape.circle]


# %% enum-from-a-loop
# args: float32[::1]
@cuda.jit
def kernel(x):
    for shape in (Shape.circle, Shape.square):
        x[0] = shape


# %% enum-from-a-loop-sum
# args: float32[::1]
@cuda.jit
def kernel(x):
    for shape in (Shape.circle, Shape.square):
        x[0] += shape + 1


# %% enum-from-zip
# args: float32[::1]
@cuda.jit
def kernel(x):
    for i, shape in zip((0, 1), (Shape.circle, Shape.square)):
        x[i] = x[shape]


# %% enum-from-enumerate
# args: float32[::1]
@cuda.jit
def kernel(x):
    for i, shape in enumerate((Shape.circle, Shape.square)):
        x[i] = shape


# %% enum-given-back
# args: float32[::1]
@cuda.jit(device=True)
def shape():
    return Shape.circle


@cuda.jit
def kernel(x):
    x[0] = shape()


# %% enum-given-back-sum
# args: float32[::1]
@cuda.jit(device=True)
def shape():
    return Shape.circle


@cuda.jit
def kernel(x):
    x[0] = shape() + 1


# %% enum-given-back-in-a-tuple
# args: float32[::1]
@cuda.jit(device=True)
def shapes():
    return Shape.circle, 1


@cuda.jit
def kernel(x):
    shape, one = shapes()
    x[0] = shape


# %% enum-given-back-in-a-tuple-by-number
# args: float32[::1]
@cuda.jit(device=True)
def shapes():
    return Shape.circle, 1


@cuda.jit
def kernel(x):
    both = shapes()
    x[0] = both[0]


# %% enum-handed-over-as-index
# args: float32[::1]
@cuda.jit(device=True)
def element(x, i):
    return x[i]


@cuda.jit
def kernel(x):
    x[0] = element(x, Shape.circle)


# %% enum-handed-over-beside-its-number
# args: float32[::1]
@cuda.jit(device=True)
def next(i):
    return i + 1


@cuda.jit
def kernel(x):
    x[0] = next(Shape.circle) + next(2)


# %% enum-through-a-closure
# args: float32[::1]
@cuda.jit
def kernel(x):
    def same(shape):
        return shape

    x[0] = same(Shape.circle)


# %% enum-math-two
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = math.pow(Shape.circle, 2)


# %% enum-as-float
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = float(Shape.circle)


# %% tuple-times-a-number
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = ((1, 2) * 2)[3]


# %% functions-in-a-loop
# args: float32[::1]
@cuda.jit(device=True)
def more(x):
    return x + 1


@cuda.jit
def kernel(x):
    for f in (more, more):
        x[0] = f(x[0])


# %% size-in-a-tuple-around
# args: float32[::1]
SIZES = (4, 5)


@cuda.jit
def kernel(x):
    tile = cuda.local.array(SIZES[1], float32)
    tile[0] = x[0]
    x[1] = tile[0]


# %% size-in-a-tuple-with-a-float
# args: float32[::1]
SIZES = (4, 5.5)


@cuda.jit
def kernel(x):
    tile = cuda.local.array(SIZES[0], float32)
    tile[0] = x[0]
    x[1] = tile[0]


# %% size-in-a-tuple-with-a-type
# args: float32[::1]
SIZES = (4, int32)


@cuda.jit
def kernel(x):
    tile = cuda.local.array(SIZES[0], SIZES[1])
    tile[0] = x[0]
    x[1] = tile[0]


# %% size-in-a-nested-tuple-around
# args: float32[::1]
SIZES = (4, (5, 6))


@cuda.jit
def kernel(x):
    tile = cuda.local.array(SIZES[1][0], float32)
    tile[0] = x[0]
    x[1] = tile[0]


# %% size-unpacked-from-a-tuple-with-a-float
# args: float32[::1]
SIZES = (4, 5.5)


@cuda.jit
def kernel(x):
    n, scale = SIZES
    tile = cuda.local.array(n, float32)
    tile[0] = x[0]
    x[1] = tile[0] * scale


# %% size-in-a-nested-tuple
# args: float32[::1]
@cuda.jit
def kernel(x):
    sizes = ((4, x[0]), x[1])
    tile = cuda.local.array(sizes[0][0], float32)
    tile[0] = x[0]
    x[1] = tile[0]


# %% size-handed-over-from-a-tuple
# args: float32[::1]
@cuda.jit(device=True)
def first(x, n):
    tile = cuda.local.array(n, float32)
    tile[0] = x[0]
    return tile[0]


@cuda.jit
def kernel(x):
    sizes = (4, 5)
    n, m = sizes
    x[1] = first(x, sizes[0]) + first(x, m) + first(x, sizes[::-1][0])


# %% size-handed-over-from-a-tuple-of-dimensions
# args: float32[::1]
@cuda.jit(device=True)
def first(x, n):
    tile = cuda.local.array(n, float32)
    tile[0] = x[0]
    return tile[0]


@cuda.jit
def kernel(x):
    sizes = (x.ndim, 5)
    x[1] = first(x, sizes[0])


# %% tuple-slice-by-a-tuple
# args: float32[::1]
BOUNDS = (1, 5)


@cuda.jit
def kernel(x):
    parts = (1, 2.5, 3)
    x[0] = parts[BOUNDS[0]:][0]


# %% tuple-slice-by-a-name
# args: float32[::1]
BOUND = 1


@cuda.jit
def kernel(x):
    parts = (1, 2.5, 3)
    x[0] = parts[BOUND:][0]


# %% half-by-its-name
# args: float16[::1]
from numba.cuda import fp16
from numba.cuda.fp16 import hadd, heq


@cuda.jit
def kernel(x):
    if heq(hadd(x[0], x[1]), fp16.hneg(x[2])):
        x[0] = hadd(x[1], x[2])


# %% branch-on-an-unpacked-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    pair = (0, x[0])
    flag, value = pair
    if flag:
        x[1] = None
    else:
        x[1] = value


# %% branch-on-one-of-four
# args: float32[::1]
@cuda.jit
def kernel(x):
    flag, a, b, c = 0, x[0], x[1], x[2]
    if flag:
        x[3] = None
    else:
        x[3] = a + b + c


# %% branch-on-one-of-two
# args: float32[::1]
@cuda.jit
def kernel(x):
    flag, value = 0, x[0]
    if flag:
        x[1] = None
    else:
        x[1] = value


# %% branch-on-one-of-two-under-two-names
# args: float32[::1]
@cuda.jit
def kernel(x):
    flag, value = pair, other = 0, x[0]
    if flag:
        x[1] = None
    else:
        x[1] = value


# %% nested-function-given-back-by-a-nested-function
# args: float32[::1]
@cuda.jit
def kernel(x):
    def adder(n):
        def add(value):
            return value + n

        return add

    x[0] = adder(1)(x[0])


# %% nested-function-given-back-in-a-tuple
# args: float32[::1]
@cuda.jit
def kernel(x):
    def both(n):
        def more(value):
            return value + 1

        return more, n

    pair = both(2)
    x[0] = pair[0](x[0])


# %% nested-function-in-a-tuple
# args: float32[::1]
@cuda.jit
def kernel(x):
    def more(value):
        return value + 1

    pair = (more, 1)
    x[0] = pair[0](x[0])


# %% nested-function-with-a-variable-in-a-tuple
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)

    def more(value):
        return value + i

    pair = (more, 1)
    x[0] = pair[0](x[0])


# %% nested-function-beside-a-number
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)

    def more(value):
        return value + i

    f, n = more, 1
    x[n] = f(x[0])


# %% dtypes-compared
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, y):
    if x.dtype == y.dtype:
        x[0] = y[0]
