import math
import operator

import numba
import numpy as np
from numba import (boolean, cuda, float32, float64, int8, int16, int32, int64, types,
                   uint8, uint16, uint32, uint64)


# %% none-then-a-number
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    m = None
    for i in range(n):
        if m is None or x[i] > m:
            m = x[i]
    x[0] = m


# %% none-then-a-number-in-straight-line
# args: float32[::1]
@cuda.jit
def kernel(x):
    m = None
    m = x[0]
    x[1] = m


# %% none-compared-in-a-branch
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    m = None
    if n > 2:
        m = x[0]
    if m is not None:
        x[1] = m


# %% none-stored-in-an-element
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = None


# %% none-added
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    m = None
    if n > 2:
        m = x[0]
    x[1] = m + x[2]


# %% none-added-at-once
# args: float32[::1]
@cuda.jit
def kernel(x):
    m = None
    x[0] = m + 1


# %% none-as-an-argument
# args: float32[::1], none
@cuda.jit
def kernel(x, mask):
    if mask is None:
        x[0] = 1
    else:
        x[0] = mask[0]


# %% none-as-an-index
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    i = None
    if n > 1:
        i = n
    x[i] = 1


# %% none-global
# args: float32[::1]
MASK = None

@cuda.jit
def kernel(x):
    if MASK is None:
        x[0] = 1
    else:
        x[0] = MASK[0]


# %% optional-in-max
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    m = None
    for i in range(n):
        m = x[i] if m is None else max(m, x[i])
    x[0] = m


# %% optional-array
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    row = None
    if n > 1:
        row = x
    row[0] = 1


# %% number-or-array
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    v = 0
    if n > 1:
        v = x
    x[0] = 1


# %% number-or-tuple
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    v = 0
    if n > 1:
        v = (1, 2)
    x[0] = 1


# %% tuples-of-two-lengths
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n > 1:
        v = (1, 2)
    else:
        v = (1, 2, 3)
    x[0] = v[0]


# %% tuples-of-two-types
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n > 1:
        v = (1, 2)
    else:
        v = (1.5, 2)
    x[0] = v[0]


# %% number-or-string
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    v = 0
    if n > 1:
        v = "one"
    x[0] = 1


# %% string-or-string
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    mode = "causal" if n > 1 else "full"
    if mode == "causal":
        x[0] = 1


# %% string-global-compared
# args: float32[::1]
MODE = "causal"

@cuda.jit
def kernel(x):
    if MODE == "causal":
        x[0] = 1
    else:
        x[0] = 2


# %% integer-then-float
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    acc = 0
    for i in range(n):
        acc += x[i]
    x[0] = acc


# %% float-literal-accumulator
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    acc = 0.0
    for i in range(n):
        acc += x[i]
    x[0] = acc


# %% single-accumulator
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    acc = float32(0.0)
    for i in range(n):
        acc += x[i]
    x[0] = acc


# %% single-accumulator-of-numpy
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    acc = np.float32(0.0)
    for i in range(n):
        acc += x[i] * x[i]
    x[0] = acc


# %% accumulator-of-a-global-single
# args: float32[::1], int64
ZERO = np.float32(0)

@cuda.jit
def kernel(x, n):
    acc = ZERO
    for i in range(n):
        acc += x[i]
    x[0] = acc


# %% accumulator-of-a-global-numpy-double
# args: float32[::1], int64
ZERO = np.float64(0)

@cuda.jit
def kernel(x, n):
    acc = ZERO
    for i in range(n):
        acc += x[i]
    x[0] = acc


# %% minus-infinity
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    m = -math.inf
    for i in range(n):
        m = max(m, x[i])
    x[0] = m


# %% minus-infinity-single
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    m = float32(-math.inf)
    for i in range(n):
        m = max(m, x[i])
    x[0] = m


# %% minus-infinity-of-float
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    m = float("-inf")
    for i in range(n):
        m = max(m, x[i])
    x[0] = m


# %% minus-infinity-global-of-float
# args: float32[::1], int64
LOWEST = float("-inf")

@cuda.jit
def kernel(x, n):
    m = LOWEST
    for i in range(n):
        m = max(m, x[i])
    x[0] = m


# %% minus-infinity-of-numpy
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    m = -np.inf
    for i in range(n):
        m = max(m, x[i])
    x[0] = m


# %% scale-of-a-square-root
# args: float32[::1], int64
@cuda.jit
def kernel(x, d):
    scale = float32(1 / math.sqrt(d))
    x[0] *= scale


# %% scale-of-a-global-square-root
# args: float32[::1]
D = 64

@cuda.jit
def kernel(x):
    scale = float32(1 / math.sqrt(D))
    x[0] *= scale


# %% scale-single-throughout
# args: float32[::1], float32
@cuda.jit
def kernel(x, d):
    x[0] *= float32(1) / math.sqrt(d)


# %% half-by-a-literal
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = x[i] * 0.5


# %% twice-by-an-integer
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = x[i] * 2


# %% a-third-by-a-literal
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = x[i] * 0.3


# %% added-to-a-third
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = x[i] * 0.3 + x[i] * 0.7


# %% exponential-of-a-product
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = math.exp(x[i] * 2)


# %% exponential-of-a-difference
# args: float32[::1], float32
@cuda.jit
def kernel(x, m):
    i = cuda.grid(1)
    x[i] = math.exp(x[i] - m)


# %% square-by-a-power
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = x[i] ** 2


# %% root-by-a-power
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = x[i] ** 0.5


# %% power-of-two-integers
# args: int64[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = n ** x[1]


# %% power-of-a-variable-integer
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = x[1] ** n


# %% mean-by-a-count
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    acc = float32(0)
    for i in range(n):
        acc += x[i]
    x[0] = acc / n


# %% mean-by-a-length
# args: float32[::1]
@cuda.jit
def kernel(x):
    acc = float32(0)
    for v in x:
        acc += v
    x[0] = acc / float32(len(x))


# %% reciprocal
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = 1 / x[0]


# %% reciprocal-single
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = float32(1) / x[0]


# %% maximum-with-zero
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = max(x[i], 0)


# %% maximum-with-a-float-zero
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = max(x[i], 0.0)


# %% maximum-of-three
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = max(x[0], x[1], x[2])


# %% maximum-of-a-tuple
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = max((x[0], x[1]))


# %% maximum-of-one-number
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = max(x[0])


# %% maximum-with-a-default
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = max(x, default=0)


# %% maximum-of-numbers-and-truth
# args: float32[::1], boolean
@cuda.jit
def kernel(x, flag):
    x[0] = max(x[0], flag)


# %% conditional-of-mixed-numbers
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    x[i] = x[i] if i < n else 0


# %% conditional-of-float-and-single
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    x[i] = x[i] if i < n else 0.0


# %% conditional-of-singles
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    x[i] = x[i] if i < n else float32(0)


# %% conditional-with-none
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    x[i] = x[i] if i < n else None


# %% or-as-a-value
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = n or 3


# %% and-as-a-value
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = n and x[1]


# %% not-as-a-value
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = not n


# %% comparison-as-a-value
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = (n > 2) * x[1]


# %% comparison-added
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] += x[1] > 0


# %% array-as-a-condition
# args: float32[::1]
@cuda.jit
def kernel(x):
    if x:
        x[0] = 1


# %% not-of-an-array
# args: float32[::1]
@cuda.jit
def kernel(x):
    if not x:
        x[0] = 1


# %% tuple-as-a-condition
# args: float32[::1]
@cuda.jit
def kernel(x):
    if (1, 2):
        x[0] = 1


# %% float-as-a-condition
# args: float32[::1]
@cuda.jit
def kernel(x):
    if x[0]:
        x[0] = 1


# %% string-as-a-condition
# args: float32[::1]
@cuda.jit
def kernel(x):
    if "yes":
        x[0] = 1


# %% bit-operation-on-floats
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = x[0] & x[1]


# %% shift-by-a-float
# args: int64[::1], float32
@cuda.jit
def kernel(x, v):
    x[0] = x[0] << v


# %% inversion-of-a-float
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = ~x[0]


# %% conditions-joined-by-bits
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    if (i < n) & (x[i] > 0):
        x[i] = 1


# %% conditions-joined-without-brackets
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    if i < n & x[i] > 0:
        x[i] = 1


# %% floor-division-of-floats
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = x[1] // x[2]


# %% remainder-of-floats
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = x[1] % x[2]


# %% divmod-of-integers
# args: int64[::1], int64
@cuda.jit
def kernel(x, n):
    q, r = divmod(n, 3)
    x[0] = q + r


# %% division-of-integers-by-zero
# args: int64[::1]
@cuda.jit
def kernel(x):
    x[0] = 1 // 0


# %% true-division-by-zero
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = 1 / 0


# %% remainder-by-zero
# args: int64[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = n % 0


# %% division-into-an-integer-element
# args: int64[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = n / 2


# %% float-into-an-integer-element
# args: int32[::1], float32
@cuda.jit
def kernel(x, v):
    x[0] = v


# %% float-literal-into-an-integer-element
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = 1.5


# %% truth-into-a-float-element
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = n > 2


# %% complex-into-a-float-element
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = 1j


# %% complex-arithmetic
# args: complex64[::1]
@cuda.jit
def kernel(x):
    x[0] = x[1] * x[2] + x[3].real


# %% tuple-into-an-element
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = (1, 2)


# %% array-into-an-element
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, y):
    x[0] = y


# %% string-into-an-element
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = "one"


# %% float-as-an-index
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[n / 2] = 1


# %% float-literal-as-an-index
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[1.0] = 1


# %% truth-as-an-index
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[n > 2] = 1


# %% unsigned-as-an-index
# args: float32[::1], uint32
@cuda.jit
def kernel(x, n):
    x[n] = x[n + 1]


# %% small-integer-as-an-index
# args: float32[::1], int8
@cuda.jit
def kernel(x, n):
    x[n] = 1


# %% single-conversion-of-a-literal
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = x[i] * float32(0.3)


# %% integer-conversion-of-a-float
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[int(x[0])] = 1


# %% integer-conversion-of-a-division
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(int(n / 2)):
        x[i] = 1


# %% integer-conversion-of-a-string
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[int("3")] = 1


# %% integer-conversion-with-a-base
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[int("11", 2)] = 1


# %% float-conversion-of-an-integer
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = float(n)


# %% truth-conversion
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = bool(n)


# %% rounding
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = round(x[1])


# %% rounding-to-digits
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = round(x[1], 2)


# %% absolute-value
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = abs(x[1])


# %% absolute-value-of-numpy
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = np.abs(x[1])


# %% ceiling-as-a-bound
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(math.ceil(n / 4)):
        x[i] = 1


# %% ceiling-by-floor-division
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range((n + 3) // 4):
        x[i] = 1


# %% ceiling-as-an-index
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[math.floor(n / 4)] = 1


# %% exponential-of-numpy
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = np.exp(x[i])


# %% maximum-of-numpy
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = np.maximum(x[i], 0)


# %% exponential-unknown-to-math
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = math.exponential(x[0])


# %% cube-root-of-math
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = math.cbrt(x[0])


# %% factorial-of-math
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = math.factorial(n)


# %% distance-of-math
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = math.dist((1, 2), (3, 4))


# %% sum-of-products-of-math
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = math.fsum(x)


# %% two-arguments-to-exp
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = math.exp(x[0], x[1])


# %% no-argument-to-exp
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = math.exp()


# %% logarithm-with-a-base
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = math.log(x[0], 2)


# %% exponential-of-an-array
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = math.exp(x)


# %% hypotenuse-of-three
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = math.hypot(x[0], x[1], x[2])


# %% math-function-through-an-alias
# args: float32[::1]
exp = math.exp

@cuda.jit
def kernel(x):
    x[0] = exp(x[0])


# %% math-function-through-a-local-alias
# args: float32[::1]
@cuda.jit
def kernel(x):
    exp = math.exp
    x[0] = exp(x[0])


# %% math-module-through-an-alias
# args: float32[::1]
import math as m

@cuda.jit
def kernel(x):
    x[0] = m.exp(x[0])


# %% math-function-chosen-in-a-branch
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n > 1:
        f = math.exp
    else:
        f = math.log
    x[0] = f(x[0])


# %% operator-module
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = operator.add(x[1], x[2])


# %% integer-wraps
# args: int32[::1]
@cuda.jit
def kernel(x):
    x[0] = 2147483647 + 1


# %% integer-beyond-64-bits
# args: int64[::1]
@cuda.jit
def kernel(x):
    x[0] = 18446744073709551616


# %% integer-global-beyond-64-bits
# args: int64[::1]
HUGE = 2**70

@cuda.jit
def kernel(x):
    x[0] = HUGE


# %% integer-of-64-bits-unsigned
# args: uint64[::1]
@cuda.jit
def kernel(x):
    x[0] = 0xFFFFFFFFFFFFFFFF


# %% float16-arithmetic
# args: float16[::1]
@cuda.jit
def kernel(x):
    x[0] = x[1] * x[2] + x[3]


# %% float16-times-single
# args: float16[::1], float32[::1]
@cuda.jit
def kernel(x, y):
    y[0] = x[0] * y[1]


# %% float16-by-a-literal
# args: float16[::1]
@cuda.jit
def kernel(x):
    x[0] = x[1] * 2


# %% float16-power
# args: float16[::1]
@cuda.jit
def kernel(x):
    x[0] = x[1] ** 2


# %% float16-conversion
# args: float16[::1], float32[::1]
@cuda.jit
def kernel(x, y):
    x[0] = np.float16(y[0])


# %% float16-exponential
# args: float16[::1]
@cuda.jit
def kernel(x):
    x[0] = math.exp(x[1])


# %% float16-maximum
# args: float16[::1]
@cuda.jit
def kernel(x):
    x[0] = max(x[1], x[2])


# %% float16-as-a-condition
# args: float16[::1]
@cuda.jit
def kernel(x):
    if x[0]:
        x[1] = x[2]


# %% unsigned-minus-one
# args: uint32[::1]
@cuda.jit
def kernel(x):
    x[0] = x[1] - 1


# %% unsigned-and-signed-64-bits
# args: float32[::1], uint64, int64
@cuda.jit
def kernel(x, a, b):
    x[0] = a + b


# %% unsigned-or-signed-64-bits
# args: float32[::1], uint64, int64
@cuda.jit
def kernel(x, a, b):
    c = a
    if b > 1:
        c = b
    x[0] = c


# %% used-before-assigned
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = v
    v = 1


# %% assigned-in-one-branch-only
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n > 1:
        v = x[1]
    x[0] = v


# %% assigned-in-a-loop-only
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(n):
        v = x[i]
    x[0] = v


# %% assigned-after-use-in-a-loop
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(n):
        if i > 0:
            x[i] = v
        v = x[i]


# %% undefined-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = offset


# %% undefined-name-in-a-dead-branch
# args: float32[::1]
CAUSAL = False

@cuda.jit
def kernel(x):
    if CAUSAL:
        x[0] = offset
    x[1] = 1


# %% undefined-name-after-return
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = 1
    return
    x[1] = offset


# %% undefined-function
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = softmax(x[0])


# %% mistyped-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    total = float32(0)
    for i in range(4):
        total += x[i]
    x[0] = totel


# %% builtin-used-as-a-value
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = max


# %% builtin-shadowed
# args: float32[::1]
@cuda.jit
def kernel(x):
    max = x[0]
    x[1] = max


# %% kernel-name-as-a-value
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = kernel


# %% global-of-a-custom-class
# args: float32[::1]
class Sizes:
    rows = 4

sizes = Sizes()

@cuda.jit
def kernel(x):
    x[0] = sizes.rows


# %% global-class-attribute
# args: float32[::1]
class Sizes:
    rows = 4

@cuda.jit
def kernel(x):
    x[0] = Sizes.rows


# %% global-named-tuple
# args: float32[::1]
from collections import namedtuple

Sizes = namedtuple("Sizes", "rows columns")
sizes = Sizes(4, 8)

@cuda.jit
def kernel(x):
    x[0] = sizes.rows


# %% global-enumeration
# args: float32[::1]
from enum import IntEnum

class Mode(IntEnum):
    FULL = 0
    CAUSAL = 1

@cuda.jit
def kernel(x):
    x[0] = Mode.CAUSAL


# %% global-truth
# args: float32[::1]
CAUSAL = True

@cuda.jit
def kernel(x):
    if CAUSAL:
        x[0] = 1


# %% global-set-after-the-kernel
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = LATE

LATE = 3


# %% closure-of-a-type
# args: float32[::1]
# kernel: make(float32)
def make(number):
    @cuda.jit
    def kernel(x):
        acc = number(0)
        for v in x:
            acc += v
        x[0] = acc

    return kernel


# %% closure-of-a-float
# args: float32[::1]
# kernel: make(0.5)
def make(scale):
    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        x[i] *= scale

    return kernel


# %% closure-of-a-list
# args: float32[::1]
# kernel: make([1, 2])
def make(steps):
    @cuda.jit
    def kernel(x):
        x[0] = steps[1]

    return kernel


# %% tuple-argument
# args: float32[::1], UniTuple(int64, 2)
@cuda.jit
def kernel(x, shape):
    rows, columns = shape
    x[rows] = columns


# %% tuple-of-arrays-argument
# args: UniTuple(float32[::1], 2)
@cuda.jit
def kernel(pair):
    pair[0][0] = pair[1][0]


# %% string-argument
# args: float32[::1], unicode_type
@cuda.jit
def kernel(x, mode):
    if mode == "causal":
        x[0] = 1


# %% truth-argument
# args: float32[::1], boolean
@cuda.jit
def kernel(x, causal):
    if causal:
        x[0] = 1


# %% double-argument
# args: float32[::1], float64
@cuda.jit
def kernel(x, scale):
    i = cuda.grid(1)
    x[i] = x[i] * scale


# %% double-argument-made-single
# args: float32[::1], float64
@cuda.jit
def kernel(x, scale):
    i = cuda.grid(1)
    x[i] = x[i] * float32(scale)


# %% double-array
# args: float64[::1]
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = x[i] + 1


# %% double-copied
# args: float64[::1], float64[::1]
@cuda.jit
def kernel(x, y):
    i = cuda.grid(1)
    y[i] = x[i]


# %% isinstance-in-a-kernel
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if isinstance(n, int):
        x[0] = 1


# %% type-of-a-value
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if type(n) == int:
        x[0] = 1


# %% hasattr-in-a-kernel
# args: float32[::1]
@cuda.jit
def kernel(x):
    if hasattr(x, "shape"):
        x[0] = 1


# %% id-in-a-kernel
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = id(x)


# %% input-in-a-kernel
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = float(input())


# %% string-length
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = len("four")


# %% character-code
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = ord("a")


# %% bytes-indexed
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = b"abc"[1]


# %% slice-object
# args: float32[::1]
@cuda.jit
def kernel(x):
    part = slice(0, 4)
    x[part][0] = 1


# %% conversion-by-the-array's-type
# args: float32[::1]
@cuda.jit
def kernel(x):
    acc = x.dtype.type(0)
    for v in x:
        acc += v
    x[0] = acc


# %% zero-of-the-array's-type
# args: float32[::1]
@cuda.jit
def kernel(x):
    acc = x[0] * 0
    for v in x:
        acc += v
    x[0] = acc


# %% used-in-a-branch-above-the-assignment
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n > 1:
        x[0] = v
    else:
        v = 1


# %% set-in-a-branch-used-in-the-other
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n > 1:
        v = 1
    else:
        x[0] = v


# %% set-before-the-loop-and-at-its-end
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    v = float32(0)
    for i in range(n):
        x[i] = v
        v = x[i]


# %% optional-maximum-guarded
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    m = None
    for i in range(n):
        if m is None:
            m = x[i]
        elif x[i] > m:
            m = x[i]
    x[0] = m


# %% optional-times-a-number
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    scale = None
    if n > 1:
        scale = float32(2)
    x[0] = math.exp(x[0] * scale)


# %% optional-given-to-math
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    v = None
    if n > 1:
        v = x[0]
    x[0] = math.exp(v)


# %% optional-as-a-bound
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    last = None
    if n > 1:
        last = n
    for i in range(last):
        x[i] = 1


# %% optional-compared-with-a-number
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    v = None
    if n > 1:
        v = x[0]
    if v == 1:
        x[0] = 2


# %% optional-ordered-with-a-number
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    v = None
    if n > 1:
        v = x[0]
    if v > 1:
        x[0] = 2


# %% optional-as-a-condition
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    v = None
    if n > 1:
        v = x[0]
    if v:
        x[0] = 2


# %% optional-in-the-larger-of-two
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    v = None
    if n > 1:
        v = x[0]
    x[0] = max(v, x[1])


# %% optional-made-single
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    v = None
    if n > 1:
        v = x[0]
    x[0] = float32(v)


# %% none-compared-with-a-number
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    v = None
    if v == 1:
        x[0] = 2


# %% list-of-one-indexed-at-once
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = [x[1]][0]


# %% list-literal-unpacked
# args: float32[::1]
@cuda.jit
def kernel(x):
    a, b = [x[0], x[1]]
    x[2] = a + b


# %% list-of-names-iterated
# args: float32[::1]
@cuda.jit
def kernel(x):
    for v in [x[0], x[1]]:
        x[2] += v


# %% list-length
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = len([1, 2, 3])


# %% list-in-max
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = max([x[0], x[1]])


# %% tuple-of-a-generator
# args: float32[::1]
@cuda.jit
def kernel(x):
    row = tuple(x[i] for i in range(4))
    x[0] = row[0]


# %% tuple-of-a-list
# args: float32[::1]
@cuda.jit
def kernel(x):
    row = tuple([x[0], x[1]])
    x[0] = row[0]


# %% size-from-a-closure-tuple
# args: float32[:, ::1]
# kernel: make((8, 4))
def make(shape):
    @cuda.jit
    def kernel(x):
        tile = cuda.shared.array(shape, float32)
        t = cuda.threadIdx.x
        tile[t, 0] = x[t, 0]
        cuda.syncthreads()
        x[t, 0] = tile[0, 0]

    return kernel


# %% size-from-closure-arithmetic
# args: float32[::1]
# kernel: make(8)
def make(T):
    @cuda.jit
    def kernel(x):
        tile = cuda.shared.array(T * 2, float32)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        cuda.syncthreads()
        x[t] = tile[0]

    return kernel


# %% size-through-a-second-name
# args: float32[::1]
T = 16

@cuda.jit
def kernel(x):
    size = T
    tile = cuda.shared.array(size, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% size-of-a-folded-local
# args: float32[::1]
@cuda.jit
def kernel(x):
    size = 4 * 8
    tile = cuda.shared.array(size, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% size-of-a-truth-value
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(True, float32)
    tile[0] = x[0]
    cuda.syncthreads()
    x[1] = tile[0]


# %% size-of-a-length-of-a-global
# args: float32[::1]
TABLE = (1, 2, 3, 4)

@cuda.jit
def kernel(x):
    tile = cuda.shared.array(len(TABLE), float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% size-of-another-tile
# args: float32[::1]
@cuda.jit
def kernel(x):
    one = cuda.shared.array(32, float32)
    two = cuda.shared.array(one.shape, float32)
    t = cuda.threadIdx.x
    two[t] = x[t]
    cuda.syncthreads()
    x[t] = two[0]


# %% size-of-an-unpacked-tuple
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    rows, columns = 8, 4
    tile = cuda.shared.array((rows, columns), float32)
    t = cuda.threadIdx.x
    tile[t, 0] = x[t, 0]
    cuda.syncthreads()
    x[t, 0] = tile[0, 0]


# %% size-set-before-a-loop-and-after
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    T = 16
    tile = cuda.shared.array(T, float32)
    t = cuda.threadIdx.x
    for i in range(n):
        tile[t] = x[t]
        T = i
    cuda.syncthreads()
    x[t] = tile[T]


# %% size-of-a-conversion
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(int32(16), float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% size-negative-by-a-literal
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array((4, -1), float32)
    tile[0, 0] = x[0]
    cuda.syncthreads()
    x[1] = tile[0, 0]


# %% size-of-four-dimensions
# args: float32[::1]
@cuda.jit
def kernel(x):
    tile = cuda.shared.array((2, 2, 2, 2), float32)
    tile[0, 1, 0, 1] = x[0]
    cuda.syncthreads()
    x[1] = tile[1, 0, 1, 0]


# %% tile-of-a-global-type-in-quotes
# args: float32[::1]
KIND = "float32"

@cuda.jit
def kernel(x):
    tile = cuda.shared.array(32, KIND)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% tile-type-chosen-by-an-argument
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    kind = float32 if n > 1 else float64
    tile = cuda.shared.array(32, kind)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% tile-type-named-inside
# args: float32[::1]
@cuda.jit
def kernel(x):
    kind = float32
    tile = cuda.shared.array(32, kind)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[0]


# %% function-defined-in-one-branch
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n > 4:
        def f(a):
            return a + 1
    x[0] = f(x[0])


# %% size-set-in-one-branch
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n > 2:
        T = 8
    s = cuda.shared.array(T, float32)
    s[0] = x[0]
    x[0] = s[0]


# %% name-set-in-one-branch-under-an-index
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    while n > 0:
        v = n
        n -= 1
    x[v] = 1


# %% function-that-grows-by-calling-itself
# args: float32[::1]
@cuda.jit(device=True)
def f(a):
    return f((a, a))


@cuda.jit
def kernel(x):
    x[0] = f(1)


# %% tuples-of-scalars-and-tables
# args: float32[::1], int64
import numpy

SCALES = numpy.float32(0.5), numpy.float32(2)
TABLES = numpy.arange(4, dtype=numpy.float32), numpy.ones(4, numpy.float32)


@cuda.jit
def kernel(x, n):
    x[n] = x[0] * SCALES[n % 2] + TABLES[0][n] * TABLES[1][1]


# %% default-of-a-function-under-a-shadowed-name
# args: float32[::1], int64
K = 2


@cuda.jit(device=True)
def f(a, k=K):
    return a + k


@cuda.jit(device=True)
def g(K):
    return f(K)


@cuda.jit
def kernel(x, n):
    K = 50.0
    x[n] = f(n) + K + g(n)


# %% kernel-that-returns-a-number-on-one-way
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n > 4:
        return 0
    x[0] = 1
