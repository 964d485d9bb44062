import math
import operator

import numba
import numpy as np
from numba import (boolean, cuda, float32, float64, int8, int16, int32, int64, types,
                   uint8, uint16, uint32, uint64)


# %% while-of-a-false-global
# args: float32[::1]
DEBUG = False

@cuda.jit
def kernel(x):
    while DEBUG:
        x[0] = unknown
    x[0] = 1


# %% while-false
# args: float32[::1]
@cuda.jit
def kernel(x):
    while False:
        x[0] = unknown
    x[0] = 1


# %% while-of-a-global-comparison
# args: float32[::1]
D = 4
@cuda.jit
def kernel(x):
    while D > 8:
        x[0] = unknown
    x[0] = 1


# %% while-there-is-a-mask
# args: float32[::1], none
@cuda.jit
def kernel(x, mask):
    while mask is not None:
        x[0] = unknown
    x[0] = 1


# %% not-of-a-global-under-a-name
# args: float32[::1]
DEBUG = False
@cuda.jit
def kernel(x):
    flag = not DEBUG
    if not flag:
        x[0] = unknown


# %% while-of-a-second-name
# args: float32[::1]
DEBUG = False
@cuda.jit
def kernel(x):
    flag = DEBUG
    while flag:
        x[0] = unknown


# %% scale-or-none-around
# args: float32[::1]
SCALE = None
@cuda.jit
def kernel(x):
    if SCALE is None:
        x[0] = 1
    else:
        x[0] = SCALE * x[0] + unknown


# %% none-as-a-condition
# args: float32[::1], none
@cuda.jit
def kernel(x, mask):
    if mask:
        x[0] = unknown
    x[0] = 1


# %% mask-or-none-under-a-name
# args: float32[::1], none
@cuda.jit
def kernel(x, mask):
    has = mask is not None
    if has:
        x[0] = mask[0]
    x[0] = 1


# %% dimensions-under-a-second-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    y = x
    if y.ndim == 2:
        x[0] = unknown
    x[0] = 1


# %% length-of-a-tuple-around
# args: float32[::1]
T = (1, 2)
@cuda.jit
def kernel(x):
    if len(T) == 3:
        x[0] = unknown
    x[0] = 1


# %% length-of-a-tuple-argument
# args: float32[::1], UniTuple(int64, 2)
@cuda.jit
def kernel(x, t):
    if len(t) == 3:
        x[0] = unknown
    x[0] = 1


# %% length-of-a-tile
# args: float32[::1]
B = 16
@cuda.jit
def kernel(x):
    tile = cuda.shared.array(B, float32)
    if len(tile) == 3:
        x[0] = unknown
    x[0] = 1


# %% bit-of-a-global
# args: float32[::1]
MASK = 5
@cuda.jit
def kernel(x):
    if MASK & 2:
        x[0] = unknown
    x[0] = 1


# %% sum-of-globals-compared
# args: float32[::1]
A, B = 3, 4
@cuda.jit
def kernel(x):
    if A + 1 != B:
        x[0] = unknown
    x[0] = 1


# %% global-between-two-numbers
# args: float32[::1]
A, B = 3, 4
@cuda.jit
def kernel(x):
    if 0 < A < 2:
        x[0] = unknown
    x[0] = 1


# %% numpy-number-around-compared
# args: float32[::1]
A = np.float32(0)
@cuda.jit
def kernel(x):
    if A > 1:
        x[0] = unknown
    x[0] = 1


# %% element-of-a-tuple-around-compared
# args: float32[::1]
A = (1, 2)
@cuda.jit
def kernel(x):
    if A[0] == 2:
        x[0] = unknown
    x[0] = 1


# %% constant-handed-to-a-function
# args: float32[::1]
@cuda.jit(device=True)
def f(v, causal):
    if causal:
        return unknown
    return v

@cuda.jit
def kernel(x):
    x[0] = f(x[0], False)


# %% default-of-a-function-as-a-condition
# args: float32[::1]
@cuda.jit(device=True)
def f(v, causal=False):
    if causal:
        return unknown
    return v

@cuda.jit
def kernel(x):
    x[0] = f(x[0])


# %% constant-handed-to-an-inner-function
# args: float32[::1]
@cuda.jit
def kernel(x):
    def f(v, causal):
        if causal:
            return unknown
        return v
    x[0] = f(x[0], False)


# %% while-of-a-test-and-a-false-global
# args: float32[::1]
DEBUG = False
@cuda.jit
def kernel(x):
    while x[0] > 0 and DEBUG:
        x[0] = unknown


# %% a-test-or-a-true-global
# args: float32[::1]
DEBUG = True
@cuda.jit
def kernel(x):
    if x[0] > 0 or DEBUG:
        x[0] = 1
    else:
        x[0] = unknown


# %% truth-of-a-literal
# args: float32[::1]
@cuda.jit
def kernel(x):
    if bool(0):
        x[0] = unknown


# %% comparison-compared
# args: float32[::1]
N = 8
@cuda.jit
def kernel(x):
    if (N < 4) == True:
        x[0] = unknown


# %% number-that-is-none
# args: float32[::1], int64
class C:
    N = 8
@cuda.jit
def kernel(x, n):
    if n is None:
        x[0] = unknown


# %% argument-equal-to-none
# args: float32[::1], none
@cuda.jit
def kernel(x, m):
    if m == None:
        x[0] = 1
    else:
        x[0] = m[0]


# %% array-that-is-none
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, m):
    if m is None:
        x[0] = unknown
    else:
        x[0] = m[0]


# %% pi-compared
# args: float32[::1]
@cuda.jit
def kernel(x):
    if math.pi > 4:
        x[0] = unknown


# %% dimensions-of-a-table-around
# args: float32[::1]
V = np.array([1, 2], np.float32)
@cuda.jit
def kernel(x):
    if V.ndim == 2:
        x[0] = unknown
    if V.shape[0] == 3:
        x[0] = unknown


# %% one-constant-on-both-ways
# args: float32[::1]
@cuda.jit
def kernel(x):
    if x[0] > 0:
        n = 16
    else:
        n = 16
    if n == 8:
        x[0] = unknown


# %% size-set-to-one-number-on-both-ways
# args: float32[::1]
@cuda.jit
def kernel(x):
    if x[0] > 0:
        n = 16
    else:
        n = 16
    tile = cuda.shared.array(n, float32)


# %% rows-of-an-unpacked-display
# args: float32[::1]
@cuda.jit
def kernel(x):
    rows, cols = 8, 4
    if rows == 4:
        x[0] = unknown


# %% rows-of-an-unpacked-tuple-around
# args: float32[::1]
S = (8, 4)
@cuda.jit
def kernel(x):
    rows, cols = S
    if rows == 4:
        x[0] = unknown


# %% rows-of-an-unpacked-pair
# args: float32[::1], int64
R = 4
@cuda.jit
def kernel(x, n):
    rows, cols = R, n
    if rows == 8:
        x[0] = unknown


# %% none-stored-where-a-mask-is-given
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, m):
    if m != None:
        x[0] = m[0]
    else:
        x[0] = m


# %% argument-replaced-where-it-is-none
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, m):
    if m is None:
        m = x[0]
    x[0] = m[0]


# %% none-replaced-by-an-array
# args: float32[::1], none
@cuda.jit
def kernel(x, m):
    if m is None:
        m = x
    x[0] = m[0]


# %% best-so-far-or-none
# args: float32[::1]
@cuda.jit
def kernel(x):
    best = None
    for i in range(8):
        if best is None:
            best = x[i]
        else:
            best = max(best, x[i])
    x[0] = best


# %% while-not-done-yet
# args: float32[::1]
@cuda.jit
def kernel(x):
    done = True
    while not done:
        x[0] = unknown
        done = True
    x[0] = 1


# %% while-of-what-a-name-is-before
# args: float32[::1]
@cuda.jit
def kernel(x):
    i = 10
    while i > 20 or x[i] > 3:
        i -= 1
    x[1] = i


# %% source-chosen-by-a-global
# args: float32[::1]
USE_SHARED = True
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    if USE_SHARED:
        tile = cuda.shared.array(32, float32)
        tile[t] = x[t]
        cuda.syncthreads()
        src = tile
    else:
        src = x
    x[t] = src[31 - t]


# %% neither-of-two-modes
# args: float32[::1]
MODE = 2
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    if not (MODE == 1 or MODE == 2):
        x[t] = missing(x[t])
    if not (MODE == 2 and True):
        x[t] = missing(x[t])


# %% not-of-a-comparison-under-a-name
# args: float32[::1]
MODE = 2
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    fast = MODE == 1
    slow = not fast
    if fast:
        x[t] = missing(x[t])
    if slow:
        x[t] = 1
    else:
        x[t] = missing(x[t])


# %% conditional-constant-compared
# args: float32[::1]
MODE = 2
@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    v = 1.0 if MODE == 2 else missing
    if v < 0:
        x[0] = missing


# %% constant-compared-in-a-loop
# args: float32[::1]
MODE = 2
@cuda.jit
def kernel(x):
    v = MODE
    for i in range(4):
        if v < 0:
            x[0] = missing


# %% constant-set-anew-in-a-loop
# args: float32[::1]
MODE = 2
@cuda.jit
def kernel(x):
    v = MODE
    for i in range(4):
        if v < 0:
            x[0] = missing
        v = 2


# %% first-turn-told-by-a-name
# args: float32[::1]
@cuda.jit
def kernel(x):
    first = True
    for i in range(4):
        if first:
            x[0] = 1
        else:
            x[0] = missing
        first = False


# %% name-set-in-each-turn
# args: float32[::1]
@cuda.jit
def kernel(x):
    for i in range(4):
        first = True
        if first:
            x[0] = 1
        else:
            x[0] = missing


# %% shape-of-a-local-array-compared
# args: float32[::1]
D = 64
@cuda.jit
def kernel(x):
    acc = cuda.local.array(D, float32)
    if acc.shape[0] > 128:
        x[0] = missing


# %% scale-or-none-inside
# args: float32[::1]
@cuda.jit
def kernel(x):
    def scale(v, by=None):
        if by is None:
            return v
        return v * by
    x[0] = scale(x[0])
    x[1] = scale(x[0], 2)


# %% none-replaced-in-a-function
# args: float32[::1]
@cuda.jit(device=True)
def scale(v, by):
    if by is None:
        by = 1
    return v * by

@cuda.jit
def kernel(x):
    x[0] = scale(x[0], None)
    x[1] = scale(x[0], float32(2))


# %% flags-unpacked
# args: float32[::1]
FLAGS = (True, False)
@cuda.jit
def kernel(x):
    a, b = FLAGS
    if b:
        x[0] = missing


# %% flag-of-a-tuple-around
# args: float32[::1]
FLAGS = (True, False)
@cuda.jit
def kernel(x):
    if FLAGS[1]:
        x[0] = missing


# %% numpy-number-around-divided-in-a-loop
# args: float32[::1]
LIMIT = np.float32(8)
@cuda.jit
def kernel(x):
    v = LIMIT
    while v > 1:
        v = v / LIMIT
    x[0] = missing
