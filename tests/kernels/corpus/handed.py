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


@cuda.jit(device=True)
def call(x, op):
    return op(x)


@cuda.jit(device=True)
def add(a, b):
    return a + b


@cuda.jit(device=True)
def spread(func, *args):
    return func(*args)


@cuda.jit(device=True)
def in_a_tile(x, dtype, n):
    t = cuda.shared.array(n, dtype)
    t[0] = dtype(x[0])
    x[0] = t[0]


@cuda.jit(device=True)
def double(x):
    return x * 2


@cuda.jit(device=True)
def triple(x):
    return x * 3


# %% handed-type-to-device
# args: float32[::1]
N = 4

@cuda.jit
def kernel(x):
    in_a_tile(x, float32, 8)
    n = 8
    in_a_tile(x, float32, n)
    in_a_tile(x, float32, N)


# %% handed-size-computed-to-device
# args: float32[::1]
N = 4
@cuda.jit
def kernel(x):
    in_a_tile(x, float32, N * 2)


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


# %% handed-functions-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, op):
    return op(x, x)

@cuda.jit
def kernel(x):
    x[0] = call(x[0], math.sin)
    x[0] = f(x[0], max)
    x[0] = call(x[0], abs)
    x[0] = call(x[0], int)
    x[0] = call(x[0], lambda v: v * 2)
    x[0] = call(x[0], lambda v, k=2: v * k)


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
@cuda.jit
def kernel(x):
    x[0] = call(x[0], double)


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
@cuda.jit
def kernel(x):
    def g(v):
        return v + 1
    x[0] = call(x[0], g)


# %% handed-closure-over-const-to-device
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = 3
    def g(v):
        return v + y
    x[0] = call(x[0], g)


# %% handed-closure-over-variable-to-device
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = x[1]
    def g(v):
        return v + y
    x[0] = call(x[0], g)


# %% handed-lambdas
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = (lambda v: v * 2)(x[0])
    ops = (lambda v: v * 2, lambda v: v * 3)
    x[0] = ops[1](x[0])


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
@cuda.jit
def kernel(x):
    f = double if x[0] > 0 else triple
    x[0] = f(x[0])


# %% handed-function-by-constant
# args: float32[::1]
FAST = True

@cuda.jit
def kernel(x):
    f = math.sin if FAST else math.cos
    x[0] = f(x[0])
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
OPS = (double, triple)
@cuda.jit
def kernel(x):
    x[0] = OPS[1](x[0])


# %% handed-tuple-of-local-functions
# args: float32[::1]
@cuda.jit
def kernel(x):
    ops = (math.sin, math.cos)
    x[0] = ops[1](x[0])


# %% handed-returned
# args: float32[::1]
@cuda.jit(device=True)
def function():
    return double

@cuda.jit(device=True)
def type_():
    return float32

@cuda.jit(device=True)
def closure():
    def g(v):
        return v * 2
    return g

@cuda.jit
def kernel(x):
    x[0] = function()(x[0])
    x[0] = type_()(x[0])
    x[0] = closure()(x[0])


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


# %% handed-functions-of-cuda
# args: float32[::1]
@cuda.jit(device=True)
def meet(x, op):
    op()

@cuda.jit(device=True)
def number(x, op):
    return op(1)

@cuda.jit(device=True)
def in_a_tile(x, op):
    t = op(8, float32)
    t[0] = 1
    x[0] = t[0]

@cuda.jit(device=True)
def count(x, op):
    op(x, 0, 1)

@cuda.jit
def kernel(x):
    meet(x, cuda.syncthreads)
    x[0] = number(x, cuda.grid)
    in_a_tile(x, cuda.shared.array)
    count(x, cuda.atomic.add)


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


# %% handed-dtypes-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, t):
    a = cuda.shared.array(8, t)
    return x

@cuda.jit
def kernel(x):
    x[0] = f(x[0], "float32")
    x[0] = f(x[0], x.dtype)


# %% handed-types-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, t):
    a = cuda.shared.array(8, t)
    return t(x)

@cuda.jit
def kernel(x):
    x[0] = f(x[0], np.float32)
    x[0] = f(x[0], x.dtype.type)


# %% handed-none
# args: float32[::1]
@cuda.jit(device=True)
def f(x, t):
    if t is None:
        return x
    return t(x)

@cuda.jit
def kernel(x):
    x[0] = f(x[0], None)
    x[0] = f(x[0], math.sin)


# %% handed-index-to-device
# args: float32[::1]
@cuda.jit(device=True)
def f(x, t, i):
    x[0] = t[i]

@cuda.jit
def kernel(x):
    f(x, (1, 2.5), 1)


# %% handed-grid-dim
# args: float32[::1]
@cuda.jit(device=True)
def f(x, i):
    x[0] = cuda.grid(i)

@cuda.jit(device=True)
def f1(x, i):
    j = i
    x[0] = cuda.grid(j)

@cuda.jit
def kernel(x):
    f(x, 1)
    f1(x, 1)


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


# %% handed-sizes
# args: float32[::1]
@cuda.jit(device=True)
def copied(x, n):
    m = n
    t = cuda.shared.array(m, float32)
    t[0] = 1
    x[0] = t[0]

@cuda.jit(device=True)
def shape(x, n):
    t = cuda.shared.array((n, 4), float32)
    t[0, 0] = 1
    x[0] = t[0, 0]

@cuda.jit(device=True)
def whole_shape(x, dtype, n):
    t = cuda.shared.array(n, dtype)
    t[0, 0] = dtype(x[0])
    x[0] = t[0, 0]

@cuda.jit
def kernel(x):
    copied(x, 8)
    shape(x, 8)
    def inner(x, n):
        t = cuda.shared.array(n, float32)
        t[0] = 1
        x[0] = t[0]
    inner(x, 8)
    whole_shape(x, float32, (4, 8))


# %% handed-defaults
# args: float32[::1]
@cuda.jit(device=True)
def by_size(x, n=8):
    t = cuda.shared.array(n, float32)
    t[0] = 1
    x[0] = t[0]

@cuda.jit(device=True)
def by_dtype(x, n, dtype=float32):
    t = cuda.shared.array(n, dtype)
    t[0] = 1
    x[0] = t[0]

@cuda.jit(device=True)
def by_function(x, op=math.sin):
    x[0] = op(x[0])

@cuda.jit
def kernel(x):
    by_size(x)
    by_dtype(x, 8)
    by_function(x)
    def inner(a, b=2):
        return a + b
    x[0] = inner(x[0])


# %% handed-star-calls
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = spread(math.atan2, x[0], x[1])
    x[0] = spread(add, x[0], 2)
    t = (x[0], 2)
    x[0] = add(*t)
    x[0] = add(*(x[0], 2))
    x[0] = add(1, *x.shape)
    x[0] = add(*x.shape, *x.shape)
    x[0] = add(*x.shape, 3)
    t = (x[0], x[1])
    x[0] = max(*t)


# %% handed-star-parameters
# args: float32[::1]
@cuda.jit(device=True)
def sums(*args):
    return args[0] + args[1] + len(args)

@cuda.jit(device=True)
def total(*args):
    s = 0.0
    for a in args:
        s += a
    return s

@cuda.jit(device=True)
def three(a, b, c):
    return a + b + c
@cuda.jit(device=True)
def one_more(*args):
    return three(1, *args)

@cuda.jit(device=True)
def constant():
    return 3

@cuda.jit
def kernel(x):
    x[0] = sums(x[0], 2)
    x[0] = total(x[0], x[1])
    x[0] = one_more(x[0], x[1])
    x[0] = spread(constant)


# %% handed-star-with-keyword
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = add(*x.shape, b=3)


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
@cuda.jit
def kernel(x):
    z = 3
    y = z
    def g(v):
        return v + y
    x[0] = call(x[0], g)


# %% handed-escape-global-const
# args: float32[::1]
N = 3
@cuda.jit
def kernel(x):
    y = N
    def g(v):
        return v + y
    x[0] = call(x[0], g)


# %% handed-escape-pi
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = math.pi
    def g(v):
        return v + y
    x[0] = call(x[0], g)


# %% handed-escape-tuple
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = (1, 2)
    def g(v):
        return v + y[1]
    x[0] = call(x[0], g)


# %% handed-escape-two-defs
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = 1
    y = 2
    def g(v):
        return v + y
    x[0] = call(x[0], g)


# %% handed-escape-parameter
# args: float32[::1], int32
@cuda.jit
def kernel(x, y):
    def g(v):
        return v + y
    x[0] = call(x[0], g)


# %% handed-escape-parameter-of-device
# args: float32[::1]
@cuda.jit(device=True)
def outer(x, op):
    def g(v):
        return op(v)
    return call(x, g)
@cuda.jit
def kernel(x):
    x[0] = outer(x[0], math.sin)


# %% handed-escape-closure
# args: float32[::1]
@cuda.jit
def kernel(x):
    def h(v):
        return v * 2
    def g(v):
        return h(v)
    x[0] = call(x[0], g)


# %% handed-escape-and-called
# args: float32[::1]
@cuda.jit
def kernel(x):
    def g(v):
        return v * 2
    x[0] = call(x[0], g) + g(x[1])


# %% handed-escape-named
# args: float32[::1]
@cuda.jit
def kernel(x):
    def g(v):
        return v * 2
    h = g
    x[0] = call(x[0], h)


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


# %% handed-lambda-captures
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = x[1]
    x[0] = (lambda v: v * y)(x[0])


# %% handed-in-a-name
# args: float32[::1]
grid = cuda.grid

@cuda.jit
def kernel(x):
    t = float32
    a = cuda.shared.array(4, t)
    a[0] = 1
    x[0] = t(a[0])
    t = cuda.atomic.add
    t(x, 0, 1)
    x[0] = grid(1)


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


# %% operator-names
# args: float32[::1]
from operator import add

plus = operator.add

import operator as op

@cuda.jit
def kernel(x):
    x[0] = add(x[1], x[2])
    x[0] = plus(x[1], x[2])
    x[0] = op.mul(x[0], 2)


# %% operator-tuples
# args: float32[::1]
@cuda.jit
def kernel(x):
    t = operator.add((1, 2), (3, 4))
    x[0] = t[3]


# %% operator-array
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = operator.add(x, 1)


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


# %% operator-neg-bool
# args: bool_[::1], int32[::1]
@cuda.jit
def kernel(x, y):
    y[0] = operator.neg(x[0])


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


# %% enum-int-as-number
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = x[1] + Shape.circle
    if x[1] > Shape.square:
        x[0] = 1
    for i in range(Shape.circle):
        x[i] = 1
    x[0] = Shape.circle
    x[0] = Shape.circle.value
    x[0] = Color.red.value
    x[0] = Shape.circle | Shape.square
    x[0] = -Shape.circle
    t = (Shape.circle, Shape.square)
    x[0] = t[1]
    cuda.atomic.add(x, Shape.circle, Shape.square)
    x[0] = x[0] % Shape.circle
    x[0] = int16(Shape.circle) + uint32(Shape.square)


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


# %% enum-values
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = Half.a.value
    x[0] = Planet.EARTH.value[1]
    x[0] = math.sqrt(Shape.circle)
    pair = (Shape.circle, 2)
    x[0] = pair[0] + pair[1]


# %% enum-name
# args: int32[::1]
@cuda.jit
def kernel(x):
    n = Color.red.name
    x[0] = 1


# %% enum-comparisons
# args: bool_[::1]
@cuda.jit
def kernel(x):
    x[0] = Color.red == Color.green
    x[1] = Color.red != Color.green
    x[0] = Color.red is Color.green
    x[1] = Color.red is not Color.green
    x[0] = Color["red"] == Color["green"]
    x[0] = Shape.circle == 2
    x[0] = Shape.circle is Shape.square


# %% enum-store
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = Color.red


# %% enum-global
# args: int32[::1]
RED = Color.red

C = Shape.circle

@cuda.jit
def kernel(x):
    if RED == Color.red:
        x[0] = 1
    x[0] = C + 1
    if C == 3:
        x[0] = nothing


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


# %% enum-loop-over
# args: int32[::1]
@cuda.jit
def kernel(x):
    for c in Shape:
        x[0] += c


# %% raise-and-assert
# args: float32[::1]
class Mine(Exception):
    pass

@cuda.jit
def kernel(x):
    if x[0] > 3:
        raise ValueError("a")
    x[0] = 1
    if x[0] > 3:
        raise ValueError
    if x[0] > 3:
        raise ValueError("a", 1)
    assert x[0] > 3
    x[0] = 1
    assert x[0] > 3, "too small"
    if x[0] > 3:
        raise Mine("a")


# %% raise-number
# args: float32[::1]
@cuda.jit
def kernel(x):
    if x[0] > 3:
        raise ValueError(x[0])


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


# %% enum-in-a-tuple-by-index
# args: float32[::1]
@cuda.jit
def kernel(x):
    both = (Shape.circle, Shape.square)
    x[0] = both[cuda.threadIdx.x % 2]


# %% enum-by-index
# args: float32[::1]
@cuda.jit
def kernel(x):
    both = (Shape.circle, Shape.square)
    x[0] = both[cuda.threadIdx.x % 2] + 1
    for shape in (Shape.circle, Shape.square):
        x[0] += shape + 1


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


# %% enum-from-a-loop
# args: float32[::1]
@cuda.jit
def kernel(x):
    for shape in (Shape.circle, Shape.square):
        x[0] = shape


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


# %% size-handed-over
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


# %% nested-functions-in-tuples
# args: float32[::1]
@cuda.jit
def kernel(x):
    def both(n):
        def more(value):
            return value + 1

        return more, n

    pair = both(2)
    x[0] = pair[0](x[0])
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
