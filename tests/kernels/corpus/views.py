import numpy as np
from numba import boolean, cuda, float32, int32, int64, types, uint64


# %% slice-from-true
# args: float32[::1], float32
@cuda.jit
def kernel(x, n):
    y = x[True:]
    y[0] = 1


# %% slice-from-an-unsigned-bound
# args: float32[::1], uint64
@cuda.jit
def kernel(x, n):
    y = x[n:]
    y[0] = 1


# %% slice-from-none
# args: float32[::1], uint64
@cuda.jit
def kernel(x, n):
    y = x[None:3]
    y[0] = 1


# %% slice-from-a-float
# args: float32[::1], float32
@cuda.jit
def kernel(x, n):
    y = x[1.5:n]
    y[0] = 1


# %% slice-from-a-tuple
# args: float32[::1], uint64
@cuda.jit
def kernel(x, n):
    y = x[(1, 2) : 3]
    y[0] = 1


# %% slice-with-a-step-of-0
# args: float32[::1], uint64
@cuda.jit
def kernel(x, n):
    y = x[::0]
    y[0] = 1


# %% slice-assigned-a-tuple
# args: float32[::1], uint64
@cuda.jit
def kernel(x, n):
    x[:2] = (1, 2)


# %% slice-assigned-a-mixed-tuple
# args: float32[::1], uint64
@cuda.jit
def kernel(x, n):
    x[:2] = (1, 2.5)


# %% slices-assigned-a-tuple
# args: float32[:,::1], uint64
@cuda.jit
def kernel(x, n):
    x[:] = (1, 2)


# %% slice-of-integers-assigned-a-float
# args: int32[::1], float64
@cuda.jit
def kernel(x, n):
    x[1:] = n


# %% strided-row-assigned-a-number
# args: float32[:,::1], uint64
@cuda.jit
def kernel(x, n):
    x[0, ::2] = n


# %% slice-assigned-an-array
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, n):
    x[:] = n


# %% row-assigned-another-row
# args: float32[:,::1], float32[:,::1]
@cuda.jit
def kernel(x, n):
    x[0] = n[0]


# %% slice-assigned-none
# args: float32[::1], uint64
@cuda.jit
def kernel(x, n):
    x[:] = None


# %% two-slices-of-one-dimension
# args: float32[::1], uint64
@cuda.jit
def kernel(x, n):
    y = x[:, :]
    y[0] = 1


# %% column-by-an-ellipsis
# args: float32[:,::1], uint64
@cuda.jit
def kernel(x, n):
    y = x[..., 0]
    y[0] = 1


# %% ellipsis-as-the-only-index
# args: float32[::1], float32
@cuda.jit
def kernel(x, n):
    y = x[...]
    y[0] = 1


# %% ellipsis-for-no-dimension
# args: float32[:,::1], int32
@cuda.jit
def kernel(x, n):
    y = x[0, :, ...]
    y[0] = 1


# %% ellipsis-twice
# args: float32[:,::1], uint64
@cuda.jit
def kernel(x, n):
    y = x[..., ...]
    y[0, 0] = 1


# %% element-by-an-ellipsis-written-to
# args: float32[:,::1], uint64
@cuda.jit
def kernel(x, n):
    y = x[0, ..., 0]
    y[()] = 1


# %% slice-of-a-row-of-a-slice
# args: float32[:,::1], int32
@cuda.jit
def kernel(x, n):
    y = x[1:][n][2:]
    y[0] = 1


# %% row-or-column
# args: float32[:,::1], int32
@cuda.jit
def kernel(x, n):
    y = x[0]
    if n > 2:
        y = x[:, 1]
    y[0] = 1


# %% array-or-constant-slice
# args: float32[::1], int32
TABLE = np.arange(8, dtype=np.float32)


@cuda.jit
def kernel(x, n):
    y = x
    if n > 2:
        y = TABLE[1:]
    x[0] = y[0]


# %% slice-of-a-constant
# args: float32[::1], int32
TABLE = np.arange(8, dtype=np.float32)


@cuda.jit
def kernel(x, n):
    y = TABLE[1:5]
    x[0] = y[n]


# %% slice-of-a-constant-written
# args: float32[::1], int32
TABLE = np.arange(8, dtype=np.float32)


@cuda.jit
def kernel(x, n):
    y = TABLE[1:5]
    y[0] = y[n]


# %% constant-filled-by-a-slice
# args: float32[::1], int32
TABLE = np.arange(8, dtype=np.float32)


@cuda.jit
def kernel(x, n):
    TABLE[1:5] = 1


# %% constant-memory-of-a-slice
# args: float32[::1], int32
TABLE = np.arange(8, dtype=np.float32)


@cuda.jit
def kernel(x, n):
    y = cuda.const.array_like(TABLE[2:])
    x[0] = y[n]


# %% atomic-on-a-column
# args: float32[:,::1], int32
@cuda.jit
def kernel(x, n):
    cuda.atomic.add(x[:, 1], n, 1)


# %% compare-and-swap-in-a-slice
# args: int32[::1], int32
@cuda.jit
def kernel(x, n):
    cuda.atomic.compare_and_swap(x[2:], n, 1)


# %% element-of-a-slice-augmented
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    x[2:][n] += 1


# %% rows-of-a-slice-iterated
# args: float32[:,::1], int32
@cuda.jit
def kernel(x, n):
    for v in x[1:n]:
        v[0] = 1


# %% slice-iterated
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    for v in x[1:n]:
        x[0] = v


# %% tuple-sliced-by-an-argument
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    t = (1, 2, 3)[n:]
    x[t[0]] = len(t)


# %% shape-sliced
# args: float32[:,:,::1], int32
@cuda.jit
def kernel(x, n):
    a, b = x.shape[1:]
    x[0, 0, 0] = a + b


# %% shape-sliced-backwards
# args: float32[:,:,::1], int32
@cuda.jit
def kernel(x, n):
    a, b = x.shape[::-2]
    x[0, 0, 0] = a + b


# %% mixed-tuple-sliced
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    t = (1, 2.5, x)[:2]
    x[t[0]] = t[1]


# %% number-sliced
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    x[0] = n[1:]


# %% elements-of-two-rows-swapped
# args: float32[:,::1], int32
@cuda.jit
def kernel(x, n):
    a, b = x[0], x[1]
    a[0], b[0] = b[0], a[0]


# %% device-function-returning-a-row
# args: float32[:,::1], int32
@cuda.jit(device=True)
def f(x, n):
    return x[n]


@cuda.jit
def kernel(x, n):
    f(x, n)[0] = 1


# %% device-function-returning-its-array-under-a-name
# args: float32[::1], int32
@cuda.jit(device=True)
def f(x, n):
    y = x
    return y


@cuda.jit
def kernel(x, n):
    f(x, n)[0] = 1


# %% device-function-returning-its-array-written
# args: float32[::1], int32
@cuda.jit(device=True)
def f(x, n):
    x[0] = 2
    return x


@cuda.jit
def kernel(x, n):
    f(x, n)[0] = 1


# %% device-function-returning-either-array
# args: float32[::1], float32[::1]
@cuda.jit(device=True)
def f(x, y):
    if x[0] > 0:
        return x
    return y


@cuda.jit
def kernel(x, n):
    f(x, n)[0] = 1


# %% device-function-returning-a-rebound-parameter
# args: float32[::1], float32[::1]
@cuda.jit(device=True)
def f(x, y):
    x = y
    return x


@cuda.jit
def kernel(x, n):
    f(x, n)[0] = 1


# %% device-function-returning-rows-in-a-tuple
# args: float32[:,::1], int32
@cuda.jit(device=True)
def f(x, n):
    return x[n], x[n + 1]


@cuda.jit
def kernel(x, n):
    a, b = f(x, n)
    a[0] = 1


# %% inner-function-returning-a-row
# args: float32[:,::1], int32
@cuda.jit
def kernel(x, n):
    def f(x, n):
        return x[n]

    f(x, n)[0] = 1


# %% mixed-tuple-argument-unpacked
# args: float32[::1], Tuple((int64, float32))
@cuda.jit
def kernel(x, n):
    a, b = n
    x[a] = b


# %% mixed-tuple-argument-iterated
# args: float32[::1], Tuple((int64, float32))
@cuda.jit
def kernel(x, n):
    for a in n:
        x[0] = a


# %% mixed-tuple-argument-by-a-thread
# args: float32[::1], Tuple((int64, float32))
@cuda.jit
def kernel(x, n):
    x[0] = n[cuda.threadIdx.x]


# %% size-of-a-tuple-in-a-tuple-argument
# args: float32[::1], Tuple((UniTuple(int64, 2), float32))
@cuda.jit
def kernel(x, n):
    s = cuda.local.array(len(n[0]), float32)
    s[0] = 1
    x[0] = s[0]


# %% branch-on-the-length-of-a-tuple-in-an-argument
# args: float32[::1], Tuple((UniTuple(int64, 2), float32))
@cuda.jit
def kernel(x, n):
    if len(n[0]) == 3:
        x[0] = unknown


# %% tuple-of-arrays-argument-iterated
# args: float32[::1], UniTuple(float32[::1], 2)
@cuda.jit
def kernel(x, n):
    for a in n:
        x[0] = a[0]


# %% tuple-of-arrays-argument-by-a-thread
# args: float32[::1], UniTuple(float32[::1], 2)
@cuda.jit
def kernel(x, n):
    x[0] = n[cuda.threadIdx.x][0]


# %% empty-tuple-argument
# args: float32[::1], Tuple(())
@cuda.jit
def kernel(x, n):
    x[0] = len(n)


# %% empty-tuple-argument-iterated
# args: float32[::1], Tuple(())
@cuda.jit
def kernel(x, n):
    for a in n:
        x[0] = 1


# %% element-of-an-empty-tuple-argument
# args: float32[::1], Tuple(())
@cuda.jit
def kernel(x, n):
    x[0] = n[0]


# %% tile-of-a-tuple-argument
# args: float32[::1], UniTuple(int64, 2)
@cuda.jit
def kernel(x, n):
    s = cuda.local.array(n, float32)
    s[0, 0] = 1


# %% element-by-a-tuple-argument
# args: float32[:,::1], UniTuple(int64, 2)
@cuda.jit
def kernel(x, n):
    x[n] = 1


# %% row-by-a-tuple-argument-filled
# args: float32[:,::1], UniTuple(int64, 1)
@cuda.jit
def kernel(x, n):
    x[n] = 1


# %% tuple-argument-written
# args: float32[::1], UniTuple(int64, 1)
@cuda.jit
def kernel(x, n):
    n[0] = 1


# %% nested-tuple-argument-handed-over
# args: float32[::1], Tuple((UniTuple(int64, 2), float32))
@cuda.jit(device=True)
def f(t):
    (a, b), c = t
    return a + b * c


@cuda.jit
def kernel(x, n):
    x[0] = f(n)


# %% device-function-returning-an-array-of-a-tuple
# args: float32[::1], UniTuple(float32[::1], 2)
@cuda.jit(device=True)
def f(t):
    return t[0]


@cuda.jit
def kernel(x, n):
    f(n)[0] = 1


# %% enumerate-from-an-unsigned-start
# args: float32[::1], uint64
@cuda.jit
def kernel(x, n):
    for i, v in enumerate(x, n):
        x[i] = v


# %% enumerate-from-true
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i, v in enumerate(x, True):
        x[i] = v


# %% enumerate-from-a-float
# args: float32[::1], float32
@cuda.jit
def kernel(x, n):
    for i, v in enumerate(x, n):
        x[i] = v


# %% enumerate-with-a-named-start
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i, v in enumerate(x, start=1):
        x[i] = v


# %% enumerate-under-one-name
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for p in enumerate(x):
        x[p[0]] = p[1]


# %% enumerate-named-before
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    e = enumerate(x)
    for i, v in e:
        x[i] = v


# %% enumerate-a-number
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for i, v in enumerate(n):
        x[i] = v


# %% enumerate-a-mixed-tuple
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    for i, v in enumerate((1, 2.5)):
        x[i] = v


# %% enumerate-rows
# args: float32[::1], float32[:,::1]
@cuda.jit
def kernel(x, n):
    for i, v in enumerate(n):
        v[0] = i


# %% enumerate-into-three-names
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    for i, v, w in enumerate(x):
        x[i] = v


# %% length-of-enumerate
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    x[0] = len(enumerate(x))


# %% enumerate-of-enumerate
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    for i, (j, v) in enumerate(enumerate(x)):
        x[i] = v + j


# %% element-after-enumerate
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    for i, v in enumerate(x):
        pass
    x[i] = v


# %% size-from-enumerate
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    for i, v in enumerate((1, 2)):
        s = cuda.local.array(i, float32)


# %% zip-of-nothing
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, n):
    for a in zip():
        x[0] = 1


# %% zip-of-one
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, n):
    for (a,) in zip(x):
        x[0] = a


# %% zip-of-three
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, n):
    for a, b, c in zip(x, n, range(3)):
        x[c] = a + b


# %% zip-of-a-mixed-tuple
# args: float32[::1], Tuple((float32, int64))
@cuda.jit
def kernel(x, n):
    for a, b in zip(x, n):
        x[0] = a + b


# %% zip-strict
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, n):
    for a, b in zip(x, n, strict=True):
        x[0] = a + b


# %% zip-of-a-number
# args: float32[::1], int64
@cuda.jit
def kernel(x, n):
    for a, b in zip(x, n):
        x[0] = a + b


# %% zip-named-before
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, n):
    z = zip(x, n)
    for a, b in z:
        x[0] = a + b


# %% zip-of-zip
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, n):
    for (a, b), c in zip(zip(x, n), x):
        x[0] = a + b + c


# %% zip-of-slices
# args: float32[::1], float32[::1]
@cuda.jit
def kernel(x, n):
    for a, b in zip(x[1:], n[:-1]):
        x[0] = a + b


# %% zip-of-rows
# args: float32[:,::1], float32[::1]
@cuda.jit
def kernel(x, n):
    for a, b in zip(x, n):
        a[0] = b


# %% enumerate-under-a-name
# args: float32[::1], int32
@cuda.jit
def kernel(x, n):
    e = enumerate
    for i, v in e(x):
        x[i] = v
