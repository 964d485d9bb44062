import math
import operator

import numba
import numpy as np
from numba import (boolean, cuda, float32, float64, int8, int16, int32, int64, types,
                   uint8, uint16, uint32, uint64)


# %% list-literal
# args: float32[::1]
@cuda.jit
def kernel(x):
    weights = [1.0, 2.0, 3.0]
    x[cuda.threadIdx.x] = weights[1]


# %% list-built-by-append
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    seen = []
    for i in range(n):
        seen.append(x[i])
    x[0] = seen[0]


# %% list-repeated
# args: float32[::1]
D = 4

@cuda.jit
def kernel(x):
    acc = [0.0] * D
    for i in range(D):
        acc[i] += x[i]
    x[0] = acc[0]


# %% list-comprehension
# args: float32[::1]
@cuda.jit
def kernel(x):
    acc = [0.0 for _ in range(4)]
    x[0] = acc[0]


# %% list-comprehension-of-global-bound
# args: float32[::1], float32[:, ::1]
D = 4

@cuda.jit
def kernel(out, q):
    i = cuda.grid(1)
    row = [q[i, d] for d in range(D)]
    out[i] = row[0]


# %% list-empty-unused
# args: float32[::1]
@cuda.jit
def kernel(x):
    nothing = []
    x[0] = 1


# %% list-literal-unused
# args: float32[::1]
@cuda.jit
def kernel(x):
    nothing = [1, 2]
    x[0] = 1


# %% list-iterated
# args: float32[::1]
@cuda.jit
def kernel(x):
    for step in [1, 2, 4]:
        x[step] = step


# %% tuple-iterated
# args: float32[::1]
@cuda.jit
def kernel(x):
    for step in (1, 2, 4):
        x[step] = step


# %% mixed-tuple-iterated
# args: float32[::1]
@cuda.jit
def kernel(x):
    for step in (1, 2.0):
        x[0] = step


# %% global-list-read
# args: float32[::1]
STEPS = [1, 2, 4]

@cuda.jit
def kernel(x):
    x[0] = STEPS[cuda.threadIdx.x]


# %% global-list-iterated
# args: float32[::1]
STEPS = [1, 2, 4]

@cuda.jit
def kernel(x):
    for step in STEPS:
        x[step] = step


# %% global-tuple-iterated
# args: float32[::1]
STEPS = (1, 2, 4)

@cuda.jit
def kernel(x):
    for step in STEPS:
        x[step] = step


# %% global-tuple-indexed-by-a-thread
# args: float32[::1]
STEPS = (1, 2, 4)

@cuda.jit
def kernel(x):
    x[0] = STEPS[cuda.threadIdx.x]


# %% mixed-global-tuple-indexed-by-a-thread
# args: float32[::1]
STEPS = (1, 2.5)

@cuda.jit
def kernel(x):
    x[0] = STEPS[cuda.threadIdx.x]


# %% mixed-global-tuple-indexed-by-a-literal
# args: float32[::1]
STEPS = (1, 2.5)

@cuda.jit
def kernel(x):
    x[0] = STEPS[1]


# %% global-dictionary
# args: float32[::1]
SIZES = {"rows": 4}

@cuda.jit
def kernel(x):
    x[0] = SIZES["rows"]


# %% dictionary
# args: float32[::1]
@cuda.jit
def kernel(x):
    seen = {}
    seen[0] = x[0]
    x[1] = seen[0]


# %% dictionary-literal
# args: float32[::1]
@cuda.jit
def kernel(x):
    table = {1: 2.0}
    x[1] = table[1]


# %% set-literal
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n in {1, 2, 3}:
        x[0] = 1


# %% membership-in-a-tuple
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n in (1, 2, 3):
        x[0] = 1


# %% membership-not-in-a-tuple
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n not in (1, 2, 3):
        x[0] = 1


# %% membership-in-an-array
# args: float32[::1], float32
@cuda.jit
def kernel(x, v):
    if v in x:
        x[0] = 1


# %% membership-in-a-list
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n in [1, 2, 3]:
        x[0] = 1


# %% membership-in-a-range
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n in range(3):
        x[0] = 1


# %% sum-of-a-generator
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, out):
    out[0] = sum(x[i] for i in range(4))


# %% sum-of-a-comprehension
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, out):
    out[0] = sum([x[i] for i in range(4)])


# %% max-of-a-generator
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, out):
    out[0] = max(x[i] for i in range(4))


# %% sum-of-an-array
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, out):
    out[0] = sum(x)


# %% sum-of-a-tuple
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, out):
    out[0] = sum((x[0], x[1]))


# %% any-of-a-tuple
# args: float32[::1]
@cuda.jit
def kernel(x):
    if any((x[0] > 0, x[1] > 0)):
        x[0] = 1


# %% all-of-an-array
# args: boolean[::1], float32[::1]
@cuda.jit
def kernel(flags, x):
    if all(flags):
        x[0] = 1


# %% sorted-array
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = sorted(x)[0]


# %% try-except
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    try:
        x[n] = 1
    except IndexError:
        x[0] = 1


# %% try-except-bare
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    try:
        x[n] = 1
    except:
        pass


# %% try-finally
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    try:
        x[n] = 1
    finally:
        x[0] = 1


# %% raise-a-class
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n > len(x):
        raise ValueError
    x[0] = 1


# %% raise-with-a-message
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n > len(x):
        raise ValueError("n: too large")
    x[0] = 1


# %% raise-with-a-value
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n > len(x):
        raise ValueError("n", n)
    x[0] = 1


# %% raise-again
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n > len(x):
        raise
    x[0] = 1


# %% raise-an-unknown-name
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n > len(x):
        raise TooLarge
    x[0] = 1


# %% assert-alone
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    assert n > 0
    x[0] = 1


# %% assert-with-a-message
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    assert n > 0, "n must be positive"
    x[0] = 1


# %% assert-with-a-formatted-message
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    assert n > 0, f"n is {n}"
    x[0] = 1


# %% with-statement
# args: float32[::1]
@cuda.jit
def kernel(x):
    with open("log"):
        x[0] = 1


# %% class-in-a-kernel
# args: float32[::1]
@cuda.jit
def kernel(x):
    class Tile:
        size = 4
    x[0] = Tile.size


# %% import-in-a-kernel
# args: float32[::1]
@cuda.jit
def kernel(x):
    import math
    x[0] = math.exp(x[0])


# %% from-import-in-a-kernel
# args: float32[::1]
@cuda.jit
def kernel(x):
    from math import exp
    x[0] = exp(x[0])


# %% global-statement-reading
# args: float32[::1]
COUNT = 3

@cuda.jit
def kernel(x):
    global COUNT
    x[0] = COUNT


# %% global-statement-writing
# args: float32[::1]
COUNT = 3

@cuda.jit
def kernel(x):
    global COUNT
    COUNT = 4
    x[0] = COUNT


# %% global-assigned-without-statement
# args: float32[::1]
COUNT = 3

@cuda.jit
def kernel(x):
    x[0] = COUNT
    COUNT = 4


# %% delete-a-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    v = x[0]
    x[1] = v
    del v


# %% delete-a-name-then-use-it
# args: float32[::1]
@cuda.jit
def kernel(x):
    v = x[0]
    del v
    x[1] = v


# %% delete-an-element
# args: float32[::1]
@cuda.jit
def kernel(x):
    del x[0]


# %% pass-alone
# args: float32[::1]
@cuda.jit
def kernel(x):
    pass


# %% docstring-alone
# args: float32[::1]
@cuda.jit
def kernel(x):
    """Nothing happens here."""


# %% ellipsis-alone
# args: float32[::1]
@cuda.jit
def kernel(x):
    ...


# %% bare-return
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    if i >= n:
        return
    x[i] = 1


# %% return-none
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    if i >= n:
        return None
    x[i] = 1


# %% return-a-value
# args: float32[::1]
@cuda.jit
def kernel(x):
    return x[0]


# %% return-a-number
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = 1
    return 0


# %% return-an-array
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] = 1
    return x


# %% return-a-value-or-nothing
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if n > 3:
        return x[0]
    x[0] = 1


# %% return-a-flag
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    if i >= n:
        return False
    x[i] = 1


# %% yield-in-a-kernel
# args: float32[::1]
@cuda.jit
def kernel(x):
    yield x[0]


# %% async-kernel
# args: float32[::1]
@cuda.jit
async def kernel(x):
    x[0] = 1


# %% while-loop
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    while i < n:
        x[i] = 1
        i += cuda.gridsize(1)


# %% while-true-with-break
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    while True:
        if i >= n:
            break
        x[i] = 1
        i += 1


# %% while-true-for-ever
# args: float32[::1]
@cuda.jit
def kernel(x):
    while True:
        x[0] += 1


# %% while-else
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    i = 0
    while i < n:
        if x[i] > 0:
            break
        i += 1
    else:
        x[0] = -1


# %% for-else
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(n):
        if x[i] > 0:
            break
    else:
        x[0] = -1


# %% continue-in-a-loop
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(n):
        if x[i] > 0:
            continue
        x[i] = 0


# %% nested-loops-with-breaks
# args: float32[:, ::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(n):
        for j in range(n):
            if x[i, j] > 0:
                break
            x[i, j] = j
        else:
            continue
        x[i, 0] = -1


# %% loop-variable-after-the-loop
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(n):
        x[i] = 0
    x[0] = i


# %% loop-variable-changed
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(n):
        i = i * 2
        x[i] = 0


# %% loop-variable-made-a-float
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(n):
        i = i / 2
        x[0] = i


# %% underscore-as-a-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    for _ in range(3):
        x[0] += x[1]


# %% range-of-three
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(cuda.threadIdx.x, n, cuda.blockDim.x):
        x[i] = i


# %% range-backwards
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(n - 1, -1, -1):
        x[i] = i


# %% range-of-a-float
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(n / 2):
        x[i] = i


# %% range-of-a-float-argument
# args: float32[::1], float32
@cuda.jit
def kernel(x, n):
    for i in range(n):
        x[i] = i


# %% range-with-a-float-step
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(0, n, 1.0):
        x[i] = i


# %% range-of-four
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(0, n, 1, 2):
        x[i] = i


# %% range-of-nothing
# args: float32[::1]
@cuda.jit
def kernel(x):
    for i in range():
        x[i] = i


# %% range-by-keyword
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in range(stop=n):
        x[i] = i


# %% range-of-a-truth-value
# args: float32[::1], boolean
@cuda.jit
def kernel(x, flag):
    for i in range(flag):
        x[i] = i


# %% range-named
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    turns = range(n)
    for i in turns:
        x[i] = i


# %% range-length
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = len(range(n))


# %% range-indexed
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[0] = range(n)[2]


# %% numpy-arange-loop
# args: float32[::1]
@cuda.jit
def kernel(x):
    for i in np.arange(4):
        x[i] = i


# %% prange-loop
# args: float32[::1], int64
from numba import prange

@cuda.jit
def kernel(x, n):
    for i in prange(n):
        x[i] = i


# %% enumerate-an-array
# args: float32[::1]
@cuda.jit
def kernel(x):
    for i, v in enumerate(x):
        x[i] = v + v


# %% enumerate-with-a-start
# args: float32[::1]
@cuda.jit
def kernel(x):
    for i, v in enumerate(x, 1):
        x[i - 1] = v


# %% zip-two-arrays
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, y):
    acc = float32(0)
    for a, b in zip(x, y):
        acc += a * b
    y[0] = acc


# %% reversed-range
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in reversed(range(n)):
        x[i] = i


# %% reversed-array
# args: float32[::1]
@cuda.jit
def kernel(x):
    for v in reversed(x):
        x[0] += v


# %% map-in-a-kernel
# args: float32[::1]
@cuda.jit
def kernel(x):
    for v in map(math.exp, x):
        x[0] += v


# %% filter-in-a-kernel
# args: float32[::1]
@cuda.jit
def kernel(x):
    for v in filter(None, x):
        x[0] += v


# %% iterate-an-array
# args: float32[::1]
@cuda.jit
def kernel(x):
    acc = float32(0)
    for v in x:
        acc += v
    x[0] = acc


# %% iterate-a-local-array
# args: float32[::1]
@cuda.jit
def kernel(x):
    own = cuda.local.array(4, float32)
    for i in range(4):
        own[i] = x[i]
    acc = float32(0)
    for v in own:
        acc += v
    x[0] = acc


# %% iterate-rows
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    for row in x:
        row[0] = 1


# %% iterate-a-number
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i in n:
        x[i] = 1


# %% iterate-a-shape
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    for size in x.shape:
        x[0, 0] += size


# %% iterate-a-string
# args: float32[::1]
@cuda.jit
def kernel(x):
    for letter in "abc":
        x[0] += 1


# %% for-with-two-targets
# args: float32[::1]
@cuda.jit
def kernel(x):
    for a, b in ((1, 2), (3, 4)):
        x[a] = b


# %% for-into-an-element
# args: int64[::1]
@cuda.jit
def kernel(x):
    for x[0] in range(4):
        x[1] += x[0]


# %% match-statement
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    match n:
        case 1:
            x[0] = 1
        case 2:
            x[0] = 4
        case _:
            x[0] = 0


# %% match-of-a-tuple
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    match (n, 2):
        case (1, b):
            x[0] = b


# %% print-text
# args: float32[::1]
@cuda.jit
def kernel(x):
    print("here")


# %% print-values
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    print("n", n, x[0])


# %% print-a-formatted-string
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    print(f"n = {n}")


# %% print-with-percent
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    print("n = %d" % n)


# %% print-with-format
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    print("n = {}".format(n))


# %% print-with-an-end
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    print(n, end=" ")


# %% print-nothing
# args: float32[::1]
@cuda.jit
def kernel(x):
    print()


# %% print-an-array
# args: float32[::1]
@cuda.jit
def kernel(x):
    print(x)


# %% print-a-tuple
# args: float32[::1]
@cuda.jit
def kernel(x):
    print((1, 2))


# %% print-a-truth-value
# args: float32[::1]
@cuda.jit
def kernel(x):
    print(x[0] > 0)


# %% print-none
# args: float32[::1]
@cuda.jit
def kernel(x):
    print(None)


# %% chained-comparison
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    if 0 <= i < n:
        x[i] = 1


# %% chained-assignment
# args: float32[::1]
@cuda.jit
def kernel(x):
    a = b = x[0]
    x[1] = x[2] = a + b


# %% swap-names
# args: float32[::1]
@cuda.jit
def kernel(x):
    a, b = x[0], x[1]
    a, b = b, a
    x[0] = a
    x[1] = b


# %% swap-elements
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0], x[1] = x[1], x[0]


# %% nested-unpacking
# args: float32[::1]
@cuda.jit
def kernel(x):
    (a, b), c = (x[0], x[1]), 2
    x[c] = a + b


# %% starred-unpacking
# args: float32[::1]
@cuda.jit
def kernel(x):
    a, *rest = (1, 2, 3)
    x[a] = rest[0]


# %% unpack-too-few
# args: float32[::1]
@cuda.jit
def kernel(x):
    a, b, c = (x[0], x[1])
    x[0] = a


# %% unpack-too-many
# args: float32[::1]
@cuda.jit
def kernel(x):
    a, b = (x[0], x[1], x[2])
    x[0] = a


# %% unpack-an-array
# args: float32[::1]
@cuda.jit
def kernel(x):
    a, b = x
    x[0] = b


# %% unpack-a-shape
# args: float32[:, ::1]
@cuda.jit
def kernel(x):
    rows, columns = x.shape
    x[rows - 1, columns - 1] = 1


# %% unpack-a-shape-of-other-dimension
# args: float32[::1]
@cuda.jit
def kernel(x):
    rows, columns = x.shape
    x[rows - 1] = columns


# %% unpack-a-number
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    a, b = n
    x[a] = b


# %% unpack-a-grid-of-one
# args: float32[::1]
@cuda.jit
def kernel(x):
    i, j = cuda.grid(1)
    x[i] = j


# %% augmented-element
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[cuda.threadIdx.x] += x[0]
    x[0] *= x[1]
    x[1] -= x[2]


# %% augmented-floor-and-power
# args: int64[::1]
@cuda.jit
def kernel(x):
    x[0] //= 2
    x[1] **= 2
    x[2] %= 3
    x[3] <<= 1
    x[4] |= 8


# %% augmented-true-division-of-integers
# args: int64[::1]
@cuda.jit
def kernel(x):
    x[0] /= 2


# %% augmented-and-of-floats
# args: float32[::1]
@cuda.jit
def kernel(x):
    x[0] &= 1


# %% augmented-unknown-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    total += x[0]
    x[0] = total


# %% walrus
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    if (i := cuda.grid(1)) < n:
        x[i] = 1


# %% walrus-of-a-sum
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[(i := n + 1)] = 1
    x[i + 1] = 2


# %% walrus-of-a-size-around-the-kernel
# args: float32[::1]
SIZE = 4

@cuda.jit
def kernel(x):
    x[(i := SIZE)] = 1
    x[i + 1] = 2


# %% walrus-of-two-values
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    x[(i := n if n > 1 else 1)] = 1
    x[i + 1] = 2


# %% annotated-assignment
# args: float32[::1]
@cuda.jit
def kernel(x):
    total: float = 0.0
    for i in range(4):
        total += x[i]
    x[0] = total


# %% annotation-without-a-value
# args: float32[::1]
@cuda.jit
def kernel(x):
    total: float
    total = x[0]
    x[1] = total


# %% annotated-arguments
# args: float32[::1], int64
@cuda.jit
def kernel(x: "array", n: int) -> None:
    x[n] = 1


# %% default-argument-given
# args: float32[::1], int64
@cuda.jit
def kernel(x, n=4):
    x[n] = 1


# %% default-argument-left-out
# args: float32[::1]
@cuda.jit
def kernel(x, n=4):
    x[n] = 1


# %% too-few-arguments
# args: float32[::1]
@cuda.jit
def kernel(x, n):
    x[n] = 1


# %% too-many-arguments
# args: float32[::1], int64, int64
@cuda.jit
def kernel(x, n):
    x[n] = 1


# %% no-arguments
# args:
@cuda.jit
def kernel():
    cuda.syncthreads()


# %% star-arguments
# args: float32[::1], int64
@cuda.jit
def kernel(*args):
    args[0][args[1]] = 1


# %% star-after-named-arguments
# args: float32[::1], int64, int64
@cuda.jit
def kernel(x, *rest):
    x[rest[0]] = rest[1]


# %% double-star-arguments
# args: float32[::1]
@cuda.jit
def kernel(x, **options):
    x[0] = 1


# %% keyword-only-argument
# args: float32[::1], int64
@cuda.jit
def kernel(x, *, n):
    x[n] = 1


# %% positional-only-argument
# args: float32[::1], int64
@cuda.jit
def kernel(x, n, /):
    x[n] = 1


# %% argument-set-anew
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    n = n + 1
    x[n] = 1


# %% argument-set-to-a-float
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    n = n * 0.5
    x[0] = n


# %% array-argument-set-to-a-number
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    y = x
    x = 3
    y[x] = 1


# %% missing-decorator
# args: float32[::1]
def kernel(x):
    x[0] = 1


# %% decorator-called
# args: float32[::1]
@cuda.jit()
def kernel(x):
    x[0] = 1


# %% decorator-of-the-cpu
# args: float32[::1]
@numba.jit
def kernel(x):
    x[0] = 1


# %% decorator-of-the-cpu-njit
# args: float32[::1]
@numba.njit
def kernel(x):
    x[0] = 1


# %% decorator-device
# args: float32[::1]
@cuda.jit(device=True)
def kernel(x):
    x[0] = 1


# %% decorator-fastmath
# args: float32[::1]
@cuda.jit(fastmath=True)
def kernel(x):
    x[0] = math.exp(x[0]) / x[1]


# %% decorator-with-registers-and-bounds
# args: float32[::1]
@cuda.jit(max_registers=64, launch_bounds=128)
def kernel(x):
    x[0] = 1


# %% decorator-with-an-unknown-option
# args: float32[::1]
@cuda.jit(speed=9)
def kernel(x):
    x[0] = 1


# %% decorator-vectorize
# args: float32[::1]
@numba.vectorize
def kernel(x):
    return x + 1


# %% decorator-applied-by-hand
# args: float32[::1]
# kernel: cuda.jit(plain)
def plain(x):
    x[0] = 1


# %% decorator-alias
# args: float32[::1]
jit = cuda.jit

@jit
def kernel(x):
    x[0] = 1


# %% decorator-twice
# args: float32[::1]
@cuda.jit
@cuda.jit
def kernel(x):
    x[0] = 1


# %% decorator-unknown
# args: float32[::1]
@cuda.kernel
def kernel(x):
    x[0] = 1


# %% kernel-as-a-lambda
# args: float32[::1]
# kernel: cuda.jit(kernel)
kernel = lambda x: None


# %% kernel-in-a-class
# args: float32[::1]
# kernel: Kernels.kernel
class Kernels:
    @staticmethod
    @cuda.jit
    def kernel(x):
        x[0] = 1
