"""Kernels on what numbers, names and statements mean, for who translates kernels.

Each is the body of a kernel for x and y, sixteen numbers of float32. Those of ALONE run
in two blocks of eight threads, those of TOGETHER in one block of 64.
"""

HEAD = """import math
from numba import cuda, float32, int32, uint32, int64, int8, uint8, boolean
from numba.types import float16
import numpy as np
INF = math.inf
THREE = float32(3)
ZERO = 0
PAIR = (2, 5.5)

@cuda.jit(device=True)
def ends(array, r):
    low, high = array[r, 0], array[r, 0]
    for c in range(1, 3):
        low = min(low, array[r, c])
        high = max(high, array[r, c])
    return low, high

@cuda.jit(device=True)
def total(row):
    s = float32(0)
    for c in range(row.shape[0]):
        s += row[c]
    return s

@cuda.jit(device=True)
def sign_of(v):
    if v > 0:
        return 1
    elif v < 0:
        return -1
    return 0

@cuda.jit(device=True)
def first_bigger(x, v):
    for k in range(x.shape[0]):
        if x[k] > v:
            return k
    return -1

@cuda.jit
def kernel(x, y):
    i = cuda.grid(1)
"""
ALONE = {
    "floors": "y[i] = (i-8) // 3 * 1000 + (i-8) % 3 * 100 + (i-8) // -4 * 10 + (i-8) % -4 + (i-8) // 4 + (i-8) % 8 + (8-i) // 5",
    "zero division": "y[i] = i // (i - 3) + i % (i - 4) + 7 // ZERO + i // ZERO",
    "float floors": "v = x[i]; y[i] = v // float32(0.75) + v % float32(0.75) + v ** 2 + (i - 8) ** 3 + abs(i - 8) + float32(i) / 4 + i / 5 + v % float32(-0.75) + v // float32(-0.75)",
    "powers": "y[i] = float32(2) ** (i - 8) + abs(x[i]) ** float32(0.5) + 2 ** i + (-1) ** i + x[i] ** 3 + pow(x[i], 2) + 3 ** (i - 12)",
    "ints become floats": """total = 0
    for k in range(i, 0, -3):
        total += x[k] * k
    y[i] = total + (i > 3) + int(x[i] * 4)""",
    "break, continue, after": """s = 0
    for k in range(20):
        if k % 3 == 1:
            continue
        if k > i:
            break
        s += k
    while True:
        s += 1
        if s % 7 == 0:
            break
    y[i] = s * 100 + k""",
    "else of loops": """s = 0
    for k in range(4):
        if k == i:
            break
        s += 10
    else:
        s += 1000
    n = i
    while n > 3:
        n -= 3
        if n == 7:
            break
    else:
        s += 500
    y[i] = s + n""",
    "bits": "y[i] = ((i << 3) ^ 0x5A | i & 6) >> 1 & ~i + (-i >> 1)",
    "shifts": "y[i] = (1 << (i % 5)) + ((i - 8) >> 1) + (uint32(3000000000) >> (i % 4)) // 1000",
    "popc": "y[i] = cuda.popc(int32(i)) + 10 * cuda.clz(int32(i)) + 100 * cuda.ffs(int32(i)) + (cuda.brev(uint32(i)) >> 24)",
    "pairs": """own = cuda.local.array((2, 3), float32)
    for r in range(2):
        for c in range(3):
            own[r, c] = x[i] * r + c
    low, high = ends(own, i % 2)
    low, high = high, low
    row = own[1]
    y[i] = low * 10 + high + row[2] + total(own[1]) + (low if low < high < 9 else total(row))""",
    "truths": """odd = i % 2 == 1
    far = not odd and (i > 4 or x[i] > 0)
    n = i or 99
    m = i and 5
    y[i] = 4 * odd + 2 * far + n * (1 if odd != far else -1) + (3 if i and not far else 0) + m""",
    "tuples": """p = (i, x[i], 3)
    q = p + (4.5,)
    a, (b, c) = i, (x[i] * 2, 7)
    s = 0
    for v in (1, 2, 3):
        if v == 2 and i == 5:
            continue
        s += v
    for v in (x[i], x[0]):
        s += v
    y[i] = p[0] + p[1] * p[2] + q[3] + a + b + c + s + PAIR[0] + PAIR[1] + (4, 5, 6)[i % 3] + len(p)""",
    "a pair turned around": """p = (x[i], x[0])
    for k in range(i):
        p = (p[1], p[0] + k)
    y[i] = p[0] * 10 + p[1]""",
    "pairs in a loop": """s, m = 0, float("-inf")
    for a, (b, c) in ((1, (2, x[i])), (i, (3, x[0]))):
        s += a * b + c
    for _ in range(2):
        s += _
    for _x in (i, 2):
        s += _x
    y[i] = s + (((1, 2), (3, 4))[i % 2])[1] + (m == -math.inf)""",
    "early returns": "y[i] = sign_of(x[i]) * 10 + first_bigger(x, x[i])",
    "closures": """k = i * 2
    def twice(a):
        return a * 2 + k
    def more(a):
        if a > 20:
            return twice(a)
        return x[i] + twice(a + 1)
    k += 1
    add = lambda a, b: a + b * k
    y[i] = more(i) + add(i, 3)""",
    "mixed types": """u = uint32(i)
    v = int32(i) - 8
    y[i] = (1 if v < u else 0) + 10 * (u - 3 > 0) + 100 * (v // u) + (v % (u + 1)) + (u * 3 - 50) // 4""",
    "unsigned": """u = uint32(4000000000)
    w = u + i
    y[i] = float32(u // 1000 % 1000) + float32(uint32(w) % 77) + (1000 if u > i else 0) + uint32(u) // uint32(i + 1) % uint32(1000)""",
    "one name, two types": """v = i
    w = v // 2
    v = x[i]
    t = v
    if i % 2:
        t = i
    n = 3
    if i > 4:
        n = 2.5
    y[i] = v + w + t + n""",
    "casts": "y[i] = int32(x[i] * 3) + int8(i * 40) + uint8(i * 40) + bool(x[i]) + float32(float16(x[i] * float32(1.2345))) + round(x[i]) + int(-x[i])",
    "maths": """v = abs(x[i]) + float32(0.1)
    y[i] = math.exp(-v) + math.log(v) + math.sqrt(v) + math.floor(x[i]) + math.ceil(x[i]) + math.trunc(x[i]) + math.exp2(v) + math.log2(v) + math.log10(v) + math.log1p(v) + math.expm1(v) + math.tanh(v) + math.fabs(x[i]) + math.atan2(x[i], v) + math.hypot(v, x[i]) + math.fmod(x[i], float32(0.7)) + math.copysign(v, x[i]) + math.pow(v, float32(1.5)) + cuda.fma(v, v, v) + cuda.cbrt(v) + math.cosh(v) + math.sin(v)""",
    "tests": "y[i] = math.isinf(x[i] * float32(INF)) + 2 * math.isnan(x[i]) + 4 * math.isfinite(x[i]) + cuda.selp(i > 3, 5, 6)",
    "infinities": """m = float32(-math.inf)
    l = float32(0)
    for k in range(i):
        s = x[k]
        if k % 3 == 0:
            s = -INF
        new = max(m, s)
        shift = new if new > -math.inf else float32(0)
        l = l * math.exp(m - shift) + math.exp(s - shift)
        m = new
    y[i] = m if l == 0 else m + math.log(l)""",
    "aug in place": """y[i] = x[i]
    y[i] += 2
    y[i] *= i
    y[i] -= x[(i + 1) % 16]
    y[i] //= 2
    y[i] %= 5
    y[i] /= 3""",
    "ordered": """own = cuda.local.array(2, float32)
    own[0] = 1
    own[1] = 2
    def bump(a):
        a[0] += 10
        return a[0]
    y[i] = own[0] + bump(own) * 100 + own[0] + (bump(own) if i % 2 else 7) + own[0]""",
    "ordered arguments": """own = cuda.local.array(2, float32)
    own[0] = x[i]
    def bump(a):
        a[0] += 10
        return a[0]
    a, b, c = own[0], bump(own), own[0]
    less = own[0] < bump(own) < own[0] + 1
    y[i] = a + b * 100 + c * 10000 + less + max(own[0], bump(own), own[0])""",
    "no number": "y[i] = math.nan if i == 3 else x[i]",
    "short circuit": """own = cuda.local.array(1, int32)
    own[0] = 0
    def note(a, v):
        a[0] += 1
        return v
    if note(own, i > 3) and note(own, i > 5) or note(own, i == 2):
        own[0] += 100
    y[i] = own[0] + (1 if i < 3 or note(own, True) else 0)""",
    "local in loop": """s = float32(0)
    for k in range(3):
        a = cuda.local.array(2, float32)
        a[0] = k
        a[1] = i
        s += a[0] * a[1]
    y[i] = s""",
    "views of views": """a = cuda.local.array((2, 2, 3), int32)
    for k in range(12):
        a[k // 6, k // 3 % 2, k % 3] = k
    b = a[i % 2]
    c = b[1]
    s = 0
    for v in c:
        s += v
    for r in b:
        s += r[0] * 100
    y[i] = s + len(b) + b.shape[1] * 10 + b.size * 1000 + a.ndim""",
    "names": "var, let, fn, array, f32, loop, P, place, thread, block = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10\n    _x = i; __y = 2; main = 3; t1 = 4\n    for turn in range(3):\n        t1 += turn\n    y[i] = var + let * fn + array + f32 + loop + P + place + thread + block + _x + __y + main + t1",
    "long chain": "y[i] = " + " + ".join(f"x[{k % 16}] * {k}" for k in range(60)),
    "divmod": "a, b = divmod(i - 8, 3); y[i] = a * 10 + b",
    "min max mixed": "y[i] = max(i, 3, 5) + min(x[i], 1) + min(i, x[i]) + max(-1, -i)",
    "unused results": "sign_of(x[i]); i + 1; y[i] = 1; cuda.nanosleep(5)",
}
TOGETHER = {
    "shuffles": (
        """t = cuda.laneid
    up = cuda.shfl_up_sync(0xffffffff, x[i % 16], 3)
    down = cuda.shfl_down_sync(0xffffffff, t, 2)
    first = cuda.shfl_sync(0xffffffff, up + 1, 5)
    near = cuda.shfl_xor_sync(0xffffffff, up, 3)
    if 16 <= i < 32:
        y[i - 16] = up + 10 * down + 100 * first + 1000 * near"""
    ),
    "votes": """b = cuda.ballot_sync(0xffffffff, i % 3 == 0)
    a = cuda.all_sync(0xffffffff, i >= 0)
    n = cuda.any_sync(0xffffffff, i == 99)
    e = cuda.eq_sync(0xffffffff, i > 40)
    m = cuda.match_any_sync(0xffffffff, i % 4)
    k, same = cuda.match_all_sync(0xffffffff, i // 64)
    c = cuda.syncthreads_count(i % 5)
    d = cuda.syncthreads_and(int32(i < 32))
    o = cuda.syncthreads_or(int32(i > 40))
    if i < 16:
        y[i] = b % 1000 + a * 1000 + n * 2000 + e * 4000 + m % 997 + k + same + c * 3 + d * 7 + o""",
    "largest by atomics": """most = cuda.shared.array(2, float32)
    count = cuda.shared.array(1, int32)
    bits = cuda.shared.array(4, uint32)
    if i < 2:
        most[i] = float32(-math.inf)
    if i < 4:
        bits[i] = 0
    if i == 0:
        count[0] = 0
    cuda.syncthreads()
    cuda.atomic.max(most, i % 2, x[i % 16])
    cuda.atomic.add(count, 0, 2)
    cuda.atomic.or_(bits, 0, 1 << (i % 8))
    cuda.atomic.xor(bits, 1, i)
    cuda.atomic.inc(bits, 2, 9)
    cuda.atomic.add(bits, 3, i)
    cuda.syncthreads()
    if i < 16:
        y[i] = most[i % 2] + count[0] + bits[0] + bits[1] + bits[2] + bits[3]
    cuda.syncthreads()
    cuda.atomic.add(y, 0, float32(1)) if i > 16 else 0
    cuda.syncthreads()
    cuda.atomic.cas(count, 0, 128, 5)
    cuda.syncthreads()
    cuda.atomic.add(y, 1, count[0]) if i == 5 else 0""",
    "bound in shared": """s = cuda.shared.array(2, int32)
    if i == 0:
        s[0] = 3
        s[1] = 2
    cuda.syncthreads()
    n = s[0]
    total = float32(0)
    for k in range(n):
        cuda.syncthreads()
        total += x[k]
    while s[1] > 0:
        cuda.syncthreads()
        if i == 0:
            s[1] -= 1
        cuda.syncthreads()
    if i < 16:
        y[i] = total""",
    "global between barriers": """if i < 16:
        y[i] = x[i]
    cuda.syncthreads()
    v = y[(i + 1) % 16]
    cuda.syncthreads()
    if i < 16:
        y[i] = v
    cuda.syncwarp()""",
    "three dims": """if i < 16:
        y[i] = cuda.threadIdx.y + cuda.blockDim.x * 10 + cuda.gridDim.x + cuda.warpsize + cuda.gridsize(1) + cuda.blockIdx.z""",
}


def text(body: str) -> str:
    """The text of a kernel with this body."""
    return f"{HEAD}    {body}\n"
