"""Functions of numbers: float32, float64 and float16, plain and fast, and whole numbers.

The bounds are those of NVIDIA's tables, in units in the last place of each result.
"""

import math

import numpy as np
from numba import cuda, float32, float64, int32, int64, uint32, uint64

from .catalogue import CASES, Launch, empty, kernel

N = 60


# ---- one function a kernel ----


def unary(function):
    def apply(out, x):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = function(x[i])

    return apply


def binary(function):
    def apply(out, x, y):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = function(x[i], y[i])

    return apply


def enter(name, make, function, reference, ranges, dtype, ulps, **options):
    """Enter a kernel that applies a function to drawn numbers in some ranges."""

    def launch(rng):
        drawn = [rng.uniform(*ends, N).astype(dtype) for ends in ranges]
        wanted = np.vectorize(reference, otypes=["f8"])(
            *(x.astype("f8") for x in drawn)
        )
        # A unit is two halves; the reference is rounded as well.
        halves = 2 * ulps + 1
        args = empty(N, dtype), *drawn
        return Launch(2, 32, args, {0: wanted}, roundings=halves, relative=True)

    made = make(function)
    made.__name__ = made.__qualname__ = name
    kernel("CUDA math functions", **options)(made).launch(launch)


@cuda.jit(device=True)
def quotient(x, y):
    return x / y


@cuda.jit(device=True)
def cube_root(x):
    return cuda.cbrt(x)


@cuda.jit(device=True)
def reciprocal_root(x):
    return cuda.libdevice.rsqrtf(x)


# The ends of the arguments, and the largest error in units in the last place, in single
# and in double precision.
UNARY = {
    "exp": (-20, 20, 2, 1), "expm1": (-5, 5, 1, 1), "exp2": (-20, 20, 2, 1),
    "log": (1e-3, 50, 1, 1), "log2": (1e-3, 50, 1, 1), "log10": (1e-3, 50, 2, 1),
    "log1p": (-0.9, 9, 1, 1), "sin": (-30, 30, 2, 2), "cos": (-30, 30, 2, 2),
    "tan": (-9, 9, 4, 2), "asin": (-1, 1, 4, 2), "acos": (-1, 1, 3, 2),
    "atan": (-9, 9, 2, 2), "sinh": (-9, 9, 3, 2), "cosh": (-9, 9, 2, 1),
    "tanh": (-4, 4, 2, 2), "asinh": (-9, 9, 3, 3), "acosh": (1, 9, 4, 3),
    "atanh": (-0.99, 0.99, 3, 2), "sqrt": (0, 99, 1, 1), "erf": (-3, 3, 2, 2),
    "erfc": (-3, 8, 4, 5), "gamma": (0.1, 20, 5, 10), "lgamma": (3, 40, 6, 4),
    "floor": (-9, 9, 0, 0), "ceil": (-9, 9, 0, 0), "trunc": (-9, 9, 0, 0),
    "fabs": (-9, 9, 0, 0), "degrees": (-9, 9, 1, 1),
}  # fmt: skip
BINARY = {
    "pow": ((0.01, 20), (-8, 8), 4, 2), "atan2": ((-9, 9), (-9, 9), 3, 2),
    "hypot": ((-9, 9), (-9, 9), 3, 2), "fmod": ((-99, 99), (0.5, 9), 0, 0),
    "copysign": ((-9, 9), (-9, 9), 0, 0), "remainder": ((-99, 99), (0.5, 9), 0, 0),
}  # fmt: skip
for _name, (_low, _high, _single, _double) in UNARY.items():
    for _kind, _ulps in (("f4", _single), ("f8", _double)):
        _function = getattr(math, _name)
        _title = f"{_name}_{'float32' if _kind == 'f4' else 'float64'}"
        enter(_title, unary, _function, _function, [(_low, _high)], _kind, _ulps)
for _name, (*_ranges, _single, _double) in BINARY.items():
    for _kind, _ulps in (("f4", _single), ("f8", _double)):
        _function = getattr(math, _name)
        _title = f"{_name}_{'float32' if _kind == 'f4' else 'float64'}"
        enter(_title, binary, _function, _function, _ranges, _kind, _ulps)
# The error of a fast function is absolute, or grows with its argument.
FAST = {
    "exp": (-3, 3, 4), "log": (2, 50, 4), "sin": (0.5, 2.5, 8), "cos": (-1, 1, 8),
    "tan": (0.3, 1, 16), "sqrt": (0.1, 99, 2), "tanh": (0.5, 2, 4100),
}  # fmt: skip
for _name, (_low, _high, _ulps) in FAST.items():
    _function = getattr(math, _name)
    _title, _ranges = f"{_name}_fast", [(_low, _high)]
    enter(_title, unary, _function, _function, _ranges, "f4", _ulps, fastmath=True)
enter("pow_fast", binary, math.pow, math.pow, [(1, 4), (0, 2)], "f4", 12, fastmath=True)
enter(
    "divide_fast", binary, quotient, lambda x, y: x / y,
    [(-9, 9), (0.5, 9)], "f4", 2, fastmath=True,
)  # fmt: skip
enter("cbrt_float32", unary, cube_root, np.cbrt, [(-99, 99)], "f4", 1)
enter("cbrt_float64", unary, cube_root, np.cbrt, [(-99, 99)], "f8", 1)
enter("rsqrt_float32", unary, reciprocal_root, lambda x: x**-0.5, [(0.1, 99)], "f4", 2)
for _name in ("exp_float32", "sin_float32"):
    CASES[_name].listed = True


@kernel("Mixed functions of float64", listed=True)
def mixed_float64(out, x, y):
    i = cuda.grid(1)
    if i < x.size:
        radius = math.hypot(x[i], y[i])
        angle = math.atan2(y[i], x[i])
        out[i, 0] = math.exp(-radius) * math.sin(angle)
        out[i, 1] = math.log1p(radius) + math.erf(x[i])
        out[i, 2] = math.pow(radius, 1.5) - math.expm1(y[i] / 4)


@mixed_float64.launch
def _(rng):
    x, y = rng.uniform(-3, 3, (2, 40))
    r = np.hypot(x, y)
    erf = np.vectorize(math.erf)(x)
    waves = np.exp(-r) * np.sin(np.arctan2(y, x))
    wanted = np.stack([waves, np.log1p(r) + erf, r**1.5 - np.expm1(y / 4)], 1)
    return Launch(2, 32, (empty((40, 3), "f8"), x, y), {0: wanted}, roundings=12)


# ---- float16 ----


@kernel("Numba: functions of float16", listed=True)
def half_functions(out, x):
    i = cuda.grid(1)
    if i < x.size:
        out[0, i] = cuda.fp16.hexp(x[i])
        out[1, i] = cuda.fp16.hlog(x[i])
        out[2, i] = cuda.fp16.hsqrt(x[i])
        out[3, i] = cuda.fp16.hsin(x[i])


@half_functions.launch
def _(rng):
    x = rng.uniform(0.1, 2, 40).astype("f2")
    wide = x.astype("f8")
    wanted = np.stack([np.exp(wide), np.log(wide), np.sqrt(wide), np.sin(wide)])
    return Launch(2, 32, (empty((4, 40), "f2"), x), {0: wanted}, roundings=3)


@kernel("Numba: more functions of float16")
def half_functions_more(out, x):
    i = cuda.grid(1)
    if i < x.size:
        out[0, i] = cuda.fp16.hexp2(x[i])
        out[1, i] = cuda.fp16.hlog2(x[i])
        out[2, i] = cuda.fp16.hrsqrt(x[i])
        out[3, i] = cuda.fp16.hcos(x[i])
        out[4, i] = cuda.fp16.hrcp(x[i])
        out[5, i] = cuda.fp16.hfloor(x[i])
        out[6, i] = cuda.fp16.hrint(x[i])


@half_functions_more.launch
def _(rng):
    x = rng.uniform(0.2, 2, 40).astype("f2")
    w = x.astype("f8")
    rows = np.exp2(w), np.log2(w), w**-0.5, np.cos(w), 1 / w, np.floor(w), np.rint(w)
    return Launch(2, 32, (empty((7, 40), "f2"), x), {0: np.stack(rows)}, roundings=3)


@kernel("Numba: arithmetic of float16")
def half_arithmetic(out, x, y):
    i = cuda.grid(1)
    if i < x.size:
        out[0, i] = x[i] + y[i]
        out[1, i] = x[i] * y[i]
        out[2, i] = x[i] - y[i]
        out[3, i] = cuda.fp16.hfma(x[i], y[i], x[i])
        out[4, i] = cuda.fp16.hmax(x[i], y[i])
        out[5, i] = abs(-x[i])
        out[6, i] = x[i] / y[i]


@half_arithmetic.launch
def _(rng):
    x, y = rng.uniform(0.5, 4, (2, 40)).astype("f2")
    a, b = x.astype("f8"), y.astype("f8")
    rows = [a + b, a * b, a - b, a * b + a, np.maximum(a, b), a]
    wanted = np.stack([*(row.astype("f2") for row in rows), (a / b).astype("f2")])
    # A quotient is that of single precision, rounded once more.
    return Launch(
        2, 32, (empty((7, 40), "f2"), x, y), {0: wanted}, roundings=2, scale=4
    )


@kernel("A sum of float16 in float32, compared with float16 all the way")
def half_sums(out, x):
    wide, narrow = float32(0), x[0] - x[0]
    for i in range(cuda.threadIdx.x, x.size, 32):
        wide += float32(x[i])
        narrow += x[i]
    out[0, cuda.threadIdx.x], out[1, cuda.threadIdx.x] = wide, float32(narrow)


@half_sums.launch
def _(rng):
    x = rng.random(640).astype("f2")
    by = x.reshape(20, 32)
    narrow = np.zeros(32, "f2")
    for row in by:
        narrow += row
    wanted = np.stack([by.sum(0, dtype="f8"), narrow])
    return Launch(1, 32, (empty((2, 32), "f4"), x), {0: wanted}, roundings=20)


# ---- whole numbers, random numbers ----


@kernel("Division and remainder of int64 and int32, towards zero and towards −∞")
def divisions(out, x, y):
    i = cuda.grid(1)
    if i < x.size:
        out[0, i] = x[i] // y[i]
        out[1, i] = x[i] % y[i]
        out[2, i] = int64(int32(x[i]) // int32(y[i]))
        out[3, i] = int64(int32(x[i]) % int32(y[i]))


@divisions.launch
def _(rng):
    x = rng.integers(-(2**40), 2**40, 50)
    y = rng.integers(1, 2**20, 50) * rng.choice([-1, 1], 50)
    a, b = x.astype("i4").astype("i8"), y
    wanted = np.stack([x // y, x % y, a // b, a % b])
    return Launch(2, 32, (empty((4, 50), "i8"), x, y), {0: wanted})


@kernel("Numba: popc, brev, clz, ffs")
def bit_counts(out, x):
    i = cuda.grid(1)
    if i < x.size:
        out[0, i] = cuda.popc(x[i])
        out[1, i] = cuda.clz(x[i])
        out[2, i] = cuda.ffs(x[i])
        out[3, i] = cuda.brev(x[i])


@bit_counts.launch
def _(rng):
    x = rng.integers(1, 2**32, 40).astype("u4") << rng.integers(0, 9, 40).astype("u4")
    bits = [f"{v:032b}" for v in x]
    rows = [
        [b.count("1") for b in bits],
        [len(b) - len(b.lstrip("0")) for b in bits],
        [len(b) - len(b.rstrip("0")) + 1 if "1" in b else 0 for b in bits],
        [int(b[::-1], 2) for b in bits],
    ]
    return Launch(2, 32, (empty((4, 40), "u4"), x), {0: np.array(rows, "u4")})


@kernel("Appleby: MurmurHash3 of one word, finalised")
def murmur(out, x):
    i = cuda.grid(1)
    if i < x.size:
        h = x[i]
        h ^= h >> uint32(16)
        h = uint32(h * uint32(0x85EBCA6B))
        h ^= h >> uint32(13)
        h = uint32(h * uint32(0xC2B2AE35))
        out[i] = h ^ (h >> uint32(16))


@murmur.launch
def _(rng):
    x = rng.integers(0, 2**32, 50).astype("u4")
    h = x ^ x >> np.uint32(16)
    h *= np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(13)
    h *= np.uint32(0xC2B2AE35)
    return Launch(2, 32, (empty(50, "u4"), x), {0: h ^ h >> np.uint32(16)})


@cuda.jit(device=True)
def rotated(x, k):
    return (x << k) | (x >> (uint64(64) - k))


@kernel("Blackman and Vigna: xoroshiro128+, as in numba.cuda.random")
def xoroshiro(out, states):
    t = cuda.grid(1)
    a, b = states[t, 0], states[t, 1]
    for i in range(out.shape[0]):
        word = a + b
        b ^= a
        a = rotated(a, uint64(24)) ^ b ^ (b << uint64(16))
        b = rotated(b, uint64(37))
        out[i, t] = float64(word >> uint64(11)) * (1.0 / 9007199254740992)
    states[t, 0], states[t, 1] = a, b


def next_xoroshiro(s):
    """Step the two words of each state in place; return the random words."""
    a, b = s[:, 0].copy(), s[:, 1].copy()
    word, b = a + b, b ^ a
    u = np.uint64

    def turn(x, k):
        return x << u(k) | x >> u(64 - k)

    s[:, 0], s[:, 1] = turn(a, 24) ^ b ^ b << u(16), turn(b, 37)
    return word


@xoroshiro.launch
def _(rng):
    states = rng.integers(1, 2**64, (32, 2), dtype="u8")
    s, rows = states.copy(), []
    for _ in range(5):
        rows.append((next_xoroshiro(s) >> np.uint64(11)) * 2.0**-53)
    return Launch(1, 32, (empty((5, 32), "f8"), states), {0: np.stack(rows)}, {1: s})


@kernel("Salmon and others: Philox 4 × 32, ten rounds")
def philox(out, k0, k1):
    i = cuda.grid(1)
    a, b, c, d = uint32(i), uint32(0), uint32(0), uint32(0)
    for _ in range(10):
        first = uint64(a) * uint64(0xD2511F53)
        second = uint64(c) * uint64(0xCD9E8D57)
        a = uint32(second >> uint64(32)) ^ b ^ k0
        c = uint32(first >> uint64(32)) ^ d ^ k1
        b, d = uint32(second), uint32(first)
        k0 = uint32(k0 + uint32(0x9E3779B9))
        k1 = uint32(k1 + uint32(0xBB67AE85))
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a, b, c, d


@philox.launch
def _(rng):
    k0, k1 = 12345, 67890
    keys, mask, rows = [np.uint32(k0), np.uint32(k1)], 2**32 - 1, []
    for i in range(32):
        a, b, c, d, p, q = i, 0, 0, 0, k0, k1
        for _ in range(10):
            first, second = a * 0xD2511F53, c * 0xCD9E8D57
            a, b = second >> 32 ^ b ^ p, second & mask
            c, d = first >> 32 ^ d ^ q, first & mask
            p, q = (p + 0x9E3779B9) & mask, (q + 0xBB67AE85) & mask
        rows.append((a, b, c, d))
    return Launch(1, 32, (empty((32, 4), "u4"), *keys), {0: np.array(rows, "u4")})


@kernel("Powers modulo a prime, in uint64")
def modular_power(out, base, exponent, prime):
    i = cuda.grid(1)
    if i < base.size:
        result, b, e = uint64(1), base[i] % prime, exponent[i]
        while e:
            if e & uint64(1):
                result = result * b % prime
            b = b * b % prime
            e >>= uint64(1)
        out[i] = result


@modular_power.launch
def _(rng):
    prime = 2**31 - 1
    base = rng.integers(1, prime, 40, dtype="u8")
    exponent = rng.integers(0, 2**20, 40, dtype="u8")
    wanted = [pow(int(b), int(e), prime) for b, e in zip(base, exponent)]
    args = empty(40, "u8"), base, exponent, np.uint64(prime)
    return Launch(2, 32, args, {0: np.array(wanted, "u8")})


@kernel("Euclid's greatest common divisor, and Collatz steps")
def divisors_and_steps(divisor, steps, x, y):
    i = cuda.grid(1)
    if i < x.size:
        a, b = x[i], y[i]
        while b:
            a, b = b, a % b
        divisor[i] = a
        n, count = x[i], 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        steps[i] = count


@divisors_and_steps.launch
def _(rng):
    x, y = rng.integers(1, 200, (2, 40))
    steps = []
    for n in x:
        count = 0
        while n != 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        steps.append(count)
    args = empty(40, "i8"), empty(40, "i4"), x, y
    return Launch(2, 32, args, {0: np.gcd(x, y), 1: steps})


@kernel("CRC-32, bit by bit")
def crc32(out, data):
    i = cuda.grid(1)
    if i < data.shape[0]:
        crc = uint32(0xFFFFFFFF)
        for j in range(data.shape[1]):
            crc ^= uint32(data[i, j])
            for _ in range(8):
                low = crc & uint32(1)
                crc >>= uint32(1)
                if low:
                    crc ^= uint32(0xEDB88320)
        out[i] = ~crc


@crc32.launch
def _(rng):
    import zlib

    data = rng.integers(0, 256, (20, 6)).astype("u1")
    wanted = np.array([zlib.crc32(row.tobytes()) for row in data], "u4")
    return Launch(1, 32, (empty(20, "u4"), data), {0: wanted})


@kernel("Conversions: floats to narrow whole numbers and back")
def conversions(bytes_out, shorts, wide, x):
    i = cuda.grid(1)
    if i < x.size:
        bytes_out[i] = int32(x[i])
        shorts[i] = int32(round(x[i] * 100))
        wide[i] = float64(x[i]) + int64(x[i])


@conversions.launch
def _(rng):
    x = rng.uniform(-100, 100, 50).astype("f4")
    hundred = np.rint(x.astype("f8") * 100).astype("i2")
    wanted = {0: x.astype("i1"), 1: hundred, 2: x.astype("f8") + np.trunc(x)}
    args = empty(50, "i1"), empty(50, "i2"), empty(50, "f8"), x
    return Launch(2, 32, args, wanted)


@kernel("Kahan: a sum that keeps what it loses")
def kahan(out, x):
    t = cuda.threadIdx.x
    total = lost = float32(0)
    for i in range(t, x.size, 32):
        y = x[i] - lost
        s = total + y
        lost = (s - total) - y
        total = s
    out[t] = total


@kahan.launch
def _(rng):
    x = rng.random(32 * 60).astype("f4")
    wanted = x.reshape(60, 32).sum(0, dtype="f8")
    return Launch(1, 32, (empty(32, "f4"), x), {0: wanted}, roundings=2)


@kernel("Ackermann-like recursion replaced by a stack in local memory")
def hanoi(out, n):
    stack = cuda.local.array((24, 4), int32)
    moves = cuda.local.array(3, int32)
    for i in range(3):
        moves[i] = 0
    top = 1
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = n[cuda.threadIdx.x], 0, 2, 1
    while top:
        top -= 1
        k, a, b, c = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        if k == 1:
            moves[a] += 1
        elif k > 1:
            for j in range(3):
                stack[top + j, 0] = 1 if j == 1 else k - 1
                stack[top + j, 1] = c if j == 0 else a
                stack[top + j, 2] = c if j == 2 else b
                stack[top + j, 3] = b if j == 2 else (a if j == 0 else c)
            top += 3
    for i in range(3):
        out[cuda.threadIdx.x, i] = moves[i]


@hanoi.launch
def _(rng):
    def moved(k, a=0, b=2, c=1):
        if k == 0:
            return np.zeros(3, int)
        return moved(k - 1, a, c, b) + np.eye(3, dtype=int)[a] + moved(k - 1, c, b, a)

    n = rng.integers(0, 6, 32).astype("i4")
    return Launch(1, 32, (empty((32, 3), "i4"), n), {0: [moved(k) for k in n]})
