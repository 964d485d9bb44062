"""Layers of neural networks, as they are written in plain CUDA."""

import math

import numpy as np
from numba import cuda, float32, int8, int32, uint32
from numba.types import float16

from .catalogue import Launch, empty, kernel

ALL = 0xFFFFFFFF


def normal(rng, *shape, dtype="f4"):
    return rng.standard_normal(shape).astype(dtype)


def softmax_of(x):
    weights = np.exp(x - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


@cuda.jit(device=True)
def warp_sum(x):
    for step in (16, 8, 4, 2, 1):
        x += cuda.shfl_xor_sync(ALL, x, step)
    return x


@cuda.jit(device=True)
def warp_max(x):
    for step in (16, 8, 4, 2, 1):
        x = max(x, cuda.shfl_xor_sync(ALL, x, step))
    return x


# ---- softmax, norms, losses ----


@kernel("Softmax of a row by a block, maximum and sum in shared memory")
def softmax_block(out, x):
    s = cuda.shared.array(64, float32)
    t, row, n = cuda.threadIdx.x, cuda.blockIdx.x, x.shape[1]
    top = float32(-math.inf)
    for i in range(t, n, 64):
        top = max(top, x[row, i])
    s[t] = top
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] = max(s[t], s[t + step])
        cuda.syncthreads()
        step //= 2
    top = s[0]
    cuda.syncthreads()
    total = float32(0)
    for i in range(t, n, 64):
        total += math.exp(x[row, i] - top)
    s[t] = total
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    for i in range(t, n, 64):
        out[row, i] = math.exp(x[row, i] - top) / s[0]


@softmax_block.launch
def _(rng):
    x = normal(rng, 3, 150)
    args = empty((3, 150), "f4"), x
    return Launch(3, 64, args, {0: softmax_of(x.astype("f8"))}, roundings=30)


@kernel("Milakov and Gimelshein: online softmax, a warp a row", fastmath=True)
def softmax_online(out, x):
    t, row, n = cuda.threadIdx.x, cuda.blockIdx.x, x.shape[1]
    top, total = float32(-math.inf), float32(0)
    for i in range(t, n, 32):
        higher = max(top, x[row, i])
        total = total * math.exp(top - higher) + math.exp(x[row, i] - higher)
        top = higher
    highest = warp_max(top)
    total = warp_sum(total * math.exp(top - highest))
    for i in range(t, n, 32):
        out[row, i] = math.exp(x[row, i] - highest) / total


@softmax_online.launch
def _(rng):
    x = normal(rng, 3, 150)
    args = empty((3, 150), "f4"), x
    return Launch(3, 32, args, {0: softmax_of(x.astype("f8"))}, roundings=60)


@kernel("Layer norm with Welford's update, a warp a row", listed=True)
def layer_norm(out, x, weight, bias, eps):
    t, row, n = cuda.threadIdx.x, cuda.blockIdx.x, x.shape[1]
    mean = squares = count = float32(0)
    for i in range(t, n, 32):
        count += float32(1)
        delta = x[row, i] - mean
        mean += delta / count
        squares += delta * (x[row, i] - mean)
    for step in (16, 8, 4, 2, 1):
        other_mean = cuda.shfl_xor_sync(ALL, mean, step)
        other_squares = cuda.shfl_xor_sync(ALL, squares, step)
        other_count = cuda.shfl_xor_sync(ALL, count, step)
        total = count + other_count
        delta = other_mean - mean
        squares += other_squares + delta * delta * count * other_count / total
        mean = (mean * count + other_mean * other_count) / total
        count = total
    scale = float32(1) / math.sqrt(squares / float32(n) + eps)
    for i in range(t, n, 32):
        out[row, i] = (x[row, i] - mean) * scale * weight[i] + bias[i]


def normed(x, weight, bias, eps):
    x = x.astype("f8")
    centred = x - x.mean(1, keepdims=True)
    return centred / np.sqrt(x.var(1, keepdims=True) + eps) * weight + bias


@layer_norm.launch
def _(rng):
    x, weight, bias = normal(rng, 3, 100), normal(rng, 100), normal(rng, 100)
    eps = np.float32(1e-5)
    wanted = normed(x, weight, bias, eps)
    args = empty((3, 100), "f4"), x, weight, bias, eps
    return Launch(3, 32, args, {0: wanted}, roundings=40)


@kernel("Layer norm, backward: gradients of weights by atomic sums")
def layer_norm_weights(grad_weight, grad_bias, grad, x, mean, scale):
    i = cuda.threadIdx.x
    total = plain = float32(0)
    for row in range(cuda.blockIdx.x, x.shape[0], cuda.gridDim.x):
        g = grad[row, i]
        total += g * (x[row, i] - mean[row]) * scale[row]
        plain += g
    cuda.atomic.add(grad_weight, i, total)
    cuda.atomic.add(grad_bias, i, plain)


@layer_norm_weights.launch
def _(rng):
    x, grad = normal(rng, 10, 48), normal(rng, 10, 48)
    mean, scale = x.mean(1), 1 / x.std(1)
    hat = (x - mean[:, None].astype("f8")) * scale[:, None]
    changed = {0: (grad * hat).sum(0), 1: grad.sum(0, dtype="f8")}
    args = np.zeros(48, "f4"), np.zeros(48, "f4"), grad, x, mean, scale
    return Launch(3, 48, args, changed=changed, roundings=40)


@kernel("RMSNorm of float16, summed in float32")
def rms_norm_half(out, x, weight, eps):
    t, row, n = cuda.threadIdx.x, cuda.blockIdx.x, x.shape[1]
    total = float32(0)
    for i in range(t, n, 32):
        total += float32(x[row, i]) * float32(x[row, i])
    scale = float32(1) / math.sqrt(warp_sum(total) / float32(n) + eps)
    for i in range(t, n, 32):
        out[row, i] = float16(float32(x[row, i]) * scale * float32(weight[i]))


@rms_norm_half.launch
def _(rng):
    x, weight = normal(rng, 3, 96, dtype="f2"), normal(rng, 96, dtype="f2")
    wide, eps = x.astype("f8"), np.float32(1e-6)
    wanted = wide / np.sqrt((wide**2).mean(1, keepdims=True) + eps) * weight
    return Launch(
        3, 32, (empty((3, 96), "f2"), x, weight, eps), {0: wanted}, roundings=2
    )


@kernel("Cross-entropy of a row, and its gradient")
def cross_entropy(loss, grad, logits, labels):
    t, row, n = cuda.threadIdx.x, cuda.blockIdx.x, logits.shape[1]
    top = float32(-math.inf)
    for i in range(t, n, 32):
        top = max(top, logits[row, i])
    top = warp_max(top)
    total = float32(0)
    for i in range(t, n, 32):
        total += math.exp(logits[row, i] - top)
    total = warp_sum(total)
    label = labels[row]
    for i in range(t, n, 32):
        chance = math.exp(logits[row, i] - top) / total
        grad[row, i] = chance - (float32(1) if i == label else float32(0))
    if t == 0:
        loss[row] = math.log(total) + top - logits[row, label]


@cross_entropy.launch
def _(rng):
    x, labels = normal(rng, 4, 70), rng.integers(0, 70, 4).astype("i4")
    p = softmax_of(x.astype("f8"))
    hot = np.eye(70)[labels]
    args = empty(4, "f4"), empty((4, 70), "f4"), x, labels
    outputs = {0: -np.log((p * hot).sum(1)), 1: p - hot}
    return Launch(4, 32, args, outputs, roundings=30)


@kernel("Logarithm of a sum of exponentials, float64")
def log_sum_exp(out, x):
    row = cuda.grid(1)
    if row < x.shape[0]:
        top = -math.inf
        for i in range(x.shape[1]):
            top = max(top, x[row, i])
        total = 0.0
        for i in range(x.shape[1]):
            total += math.exp(x[row, i] - top)
        out[row] = top + math.log(total)


@log_sum_exp.launch
def _(rng):
    x = rng.standard_normal((20, 15))
    wanted = np.log(np.exp(x).sum(1))
    return Launch(1, 32, (empty(20, "f8"), x), {0: wanted}, roundings=20)


# ---- activations, positions, optimisers ----


@kernel("GELU, by erf and by tanh")
def gelu(exact, approximate, x):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        inner = float32(0.7978845608) * (v + float32(0.044715) * v * v * v)
        exact[i] = float32(0.5) * v * (float32(1) + math.erf(v * float32(0.70710678)))
        approximate[i] = float32(0.5) * v * (float32(1) + math.tanh(inner))


@gelu.launch
def _(rng):
    x = (3 * rng.standard_normal(80)).astype("f4")
    w = x.astype("f8")
    erf = np.vectorize(math.erf)(w / math.sqrt(2))
    tanh = np.tanh(math.sqrt(2 / math.pi) * (w + 0.044715 * w**3))
    args = empty(80, "f4"), empty(80, "f4"), x
    return Launch(
        3, 32, args, {0: w / 2 * (1 + erf), 1: w / 2 * (1 + tanh)}, roundings=8
    )


@kernel("SwiGLU of float16", fastmath=True)
def swiglu_half(out, gate, up):
    i = cuda.grid(1)
    if i < gate.size:
        g = float32(gate[i])
        out[i] = float16(g / (float32(1) + math.exp(-g)) * float32(up[i]))


@swiglu_half.launch
def _(rng):
    gate, up = normal(rng, 2, 70, dtype="f2")
    g = gate.astype("f8")
    args = empty(70, "f2"), gate, up
    return Launch(3, 32, args, {0: g / (1 + np.exp(-g)) * up}, roundings=2)


@kernel("Rotary position embedding, halves rotated")
def rope(x, base):
    position, head, i = cuda.blockIdx.x, cuda.blockIdx.y, cuda.threadIdx.x
    half = x.shape[2] // 2
    exponent = float32(-2.0) * float32(i) / float32(x.shape[2])
    angle = float32(position) * math.pow(base, exponent)
    c, s = math.cos(angle), math.sin(angle)
    a, b = x[position, head, i], x[position, head, i + half]
    x[position, head, i] = a * c - b * s
    x[position, head, i + half] = a * s + b * c


@rope.launch
def _(rng):
    x = normal(rng, 6, 2, 32)
    i = np.arange(16)
    angle = (np.arange(6)[:, None] * 10000.0 ** (-2 * i / 32))[:, None]
    a, b = x[..., :16].astype("f8"), x[..., 16:].astype("f8")
    c, s = np.cos(angle), np.sin(angle)
    wanted = np.concatenate([a * c - b * s, a * s + b * c], -1)
    args = x, np.float32(10000)
    # A rounding of an angle up to 6 moves its sine by as many units.
    return Launch((6, 2), 16, args, changed={0: wanted}, roundings=40)


@kernel("Adam's step")
def adam(p, m, v, g, rate, step):
    i = cuda.grid(1)
    if i < p.size:
        m[i] = float32(0.9) * m[i] + float32(0.1) * g[i]
        v[i] = float32(0.999) * v[i] + float32(0.001) * g[i] * g[i]
        mean = m[i] / (float32(1) - math.pow(float32(0.9), step))
        square = v[i] / (float32(1) - math.pow(float32(0.999), step))
        p[i] -= rate * mean / (math.sqrt(square) + float32(1e-8))


@adam.launch
def _(rng):
    p, g, m = normal(rng, 3, 50)
    v = rng.random(50).astype("f4")
    m2 = 0.9 * m.astype("f8") + 0.1 * g
    v2 = 0.999 * v.astype("f8") + 0.001 * g.astype("f8") ** 2
    # 1 − 0.999³ of single precision has lost the bits of three roundings, times 500.
    mean, square = m2 / (1 - 0.9**3), v2 / (1 - 0.999**3)
    moved = p - 0.01 * mean / (np.sqrt(square) + 1e-8)
    args = p, m, v, g, np.float32(0.01), np.float32(3)
    launch = Launch(2, 32, args, changed={0: moved, 1: m2, 2: v2}, roundings=12)
    return launch


@kernel("Dropout by a counter's hash, kept numbers scaled")
def dropout(out, x, keep, seed):
    i = cuda.grid(1)
    if i < x.size:
        h = uint32((uint32(i) + seed) * uint32(2654435761))
        h ^= h >> uint32(15)
        h = uint32(h * uint32(2246822519))
        h ^= h >> uint32(13)
        chance = float32(h >> uint32(8)) * float32(2.0**-24)
        out[i] = x[i] / keep if chance < keep else float32(0)


@dropout.launch
def _(rng):
    x, keep = normal(rng, 90), np.float32(0.75)
    h = (np.arange(90, dtype="u4") + np.uint32(7)) * np.uint32(2654435761)
    h ^= h >> np.uint32(15)
    h *= np.uint32(2246822519)
    h ^= h >> np.uint32(13)
    wanted = np.where((h >> np.uint32(8)) * 2.0**-24 < 0.75, x / 0.75, 0)
    args = empty(90, "f4"), x, keep, np.uint32(7)
    return Launch(3, 32, args, {0: wanted}, roundings=1)


# ---- embeddings, quantisation, sampling ----


@kernel("Embedding: gradients of rows by atomic sums")
def embedding_gradient(grad_table, grad, tokens):
    i = cuda.blockIdx.x
    cuda.atomic.add(
        grad_table, (tokens[i], cuda.threadIdx.x), grad[i, cuda.threadIdx.x]
    )


@embedding_gradient.launch
def _(rng):
    grad, tokens = normal(rng, 12, 32), rng.integers(0, 5, 12).astype("i4")
    wanted = np.eye(5)[tokens].T @ grad
    args = np.zeros((5, 32), "f4"), grad, tokens
    return Launch(12, 32, args, changed={0: wanted}, roundings=12)


@kernel("Quantise rows to int8 by the largest size")
def quantise(out, scales, x):
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    top = float32(0)
    for i in range(t, x.shape[1], 32):
        top = max(top, abs(x[row, i]))
    scale = warp_max(top) / float32(127)
    if t == 0:
        scales[row] = scale
    for i in range(t, x.shape[1], 32):
        out[row, i] = int8(cuda.libdevice.float2int_rn(x[row, i] / scale))


@quantise.launch
def _(rng):
    x = normal(rng, 3, 80)
    scale = np.abs(x).max(1) / np.float32(127)
    wanted = np.rint(x / scale[:, None]).astype("i1")
    args = empty((3, 80), "i1"), empty(3, "f4"), x
    return Launch(3, 32, args, {0: wanted, 1: scale})


@kernel("int8 products summed in int32, four bytes at a time")
def dot_int8(out, a, b):
    i, j = cuda.grid(2)
    if i < b.shape[0] and j < a.shape[0]:
        total = int32(0)
        for k in range(0, a.shape[1], 4):
            for q in range(4):
                total += int32(a[j, k + q]) * int32(b[i, k + q])
        out[j, i] = total


@dot_int8.launch
def _(rng):
    a, b = (rng.integers(-128, 128, (n, 16)).astype("i1") for n in (5, 7))
    wanted = a.astype(int) @ b.T.astype(int)
    return Launch((1, 1), (8, 8), (empty((5, 7), "i4"), a, b), {0: wanted})


@kernel("Weights of four bits: unpacked, scaled, multiplied by a vector")
def matvec_int4(out, packed, scales, x):
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    total = float32(0)
    for i in range(t, packed.shape[1], 32):
        word = packed[row, i]
        for q in range(8):
            nibble = int32((word >> uint32(4 * q)) & uint32(15)) - 8
            total += float32(nibble) * x[8 * i + q] * scales[row, i // 4]
    total = warp_sum(total)
    if t == 0:
        out[row] = total


@matvec_int4.launch
def _(rng):
    packed = rng.integers(0, 2**32, (4, 16)).astype("u4")
    scales, x = rng.random((4, 4)).astype("f4"), normal(rng, 128)
    weights = (packed[..., None] >> (4 * np.arange(8, dtype="u4")) & 15).astype(int) - 8
    wide = weights.reshape(4, 128) * np.repeat(scales, 32, 1).astype("f8")
    each = wide * x
    most = np.abs(each).sum(1).max()
    args = empty(4, "f4"), packed, scales, x
    return Launch(4, 32, args, {0: each.sum(1)}, roundings=20, scale=most)


@kernel("Top three of a row, by maxima found again and again")
def top_k(values, places, x):
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    mine = x[row, t]
    for k in range(3):
        top = warp_max(mine)
        mask = cuda.ballot_sync(ALL, mine == top)
        first = cuda.ffs(mask) - 1
        if t == first:
            values[row, k], places[row, k] = top, t
            mine = float32(-math.inf)


@top_k.launch
def _(rng):
    x = normal(rng, 4, 32)
    order = np.argsort(-x, 1)[:, :3]
    args = empty((4, 3), "f4"), empty((4, 3), "i4"), x
    outputs = {0: np.take_along_axis(x, order, 1), 1: order}
    return Launch(4, 32, args, outputs)


@kernel("A token drawn by the running sum of chances")
def sample_token(out, chances, draws):
    s = cuda.shared.array(64, float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    s[t] = chances[row, t]
    step = 1
    while step < 64:
        cuda.syncthreads()
        mine = s[t] + (s[t - step] if t >= step else float32(0))
        cuda.syncthreads()
        s[t] = mine
        step *= 2
    cuda.syncthreads()
    before = s[t - 1] if t > 0 else float32(0)
    if before <= draws[row] < s[t]:
        out[row] = t


@sample_token.launch
def _(rng):
    # Sums of whole numbers are exact, so that no draw is near an end.
    chances = rng.integers(1, 20, (5, 64)).astype("f4")
    total = np.cumsum(chances, 1)
    draws = (rng.integers(0, total[:, -1]) + 0.5).astype("f4")
    wanted = (total <= draws[:, None]).sum(1)
    return Launch(5, 64, (empty(5, "i4"), chances, draws), {0: wanted})


# ---- attention, products ----


def attention_of(q, k, v, causal=False):
    q, k, v = (x.astype("f8") for x in (q, k, v))
    scores = q @ k.T / math.sqrt(q.shape[1])
    if causal:
        scores = np.where(np.tri(*scores.shape, dtype=bool), scores, -np.inf)
    return softmax_of(scores) @ v


@kernel("Attention, a thread a query, three passes")
def attention_naive(out, q, k, v, scale):
    i = cuda.grid(1)
    if i >= q.shape[0]:
        return
    top = float32(-math.inf)
    for j in range(k.shape[0]):
        dot = float32(0)
        for c in range(q.shape[1]):
            dot += q[i, c] * k[j, c]
        top = max(top, dot * scale)
    total = float32(0)
    for c in range(v.shape[1]):
        out[i, c] = 0
    for j in range(k.shape[0]):
        dot = float32(0)
        for c in range(q.shape[1]):
            dot += q[i, c] * k[j, c]
        weight = math.exp(dot * scale - top)
        total += weight
        for c in range(v.shape[1]):
            out[i, c] += weight * v[j, c]
    for c in range(v.shape[1]):
        out[i, c] /= total


@attention_naive.launch
def _(rng):
    q, k, v = normal(rng, 10, 8), normal(rng, 12, 8), normal(rng, 12, 8)
    args = empty((10, 8), "f4"), q, k, v, np.float32(8**-0.5)
    return Launch(1, 32, args, {0: attention_of(q, k, v)}, roundings=60)


@kernel("FlashAttention as in tutorials: tiles of keys, causal, online softmax")
def attention_tiled(out, q, k, v, scale):
    sk = cuda.shared.array((16, 8), float32)
    sv = cuda.shared.array((16, 8), float32)
    mine = cuda.local.array(8, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 16 + t
    top, total = float32(-math.inf), float32(0)
    for c in range(8):
        mine[c] = 0
    for tile in range(cuda.blockIdx.x + 1):
        for c in range(8):
            sk[t, c], sv[t, c] = k[tile * 16 + t, c], v[tile * 16 + t, c]
        cuda.syncthreads()
        for j in range(16):
            if tile * 16 + j <= i:
                dot = float32(0)
                for c in range(8):
                    dot += q[i, c] * sk[j, c]
                higher = max(top, dot * scale)
                shrink, weight = math.exp(top - higher), math.exp(dot * scale - higher)
                total = total * shrink + weight
                for c in range(8):
                    mine[c] = mine[c] * shrink + weight * sv[j, c]
                top = higher
        cuda.syncthreads()
    for c in range(8):
        out[i, c] = mine[c] / total


@attention_tiled.launch
def _(rng):
    q, k, v = normal(rng, 3, 32, 8)
    args = empty((32, 8), "f4"), q, k, v, np.float32(8**-0.5)
    return Launch(2, 16, args, {0: attention_of(q, k, v, True)}, roundings=80)


@kernel("Attention of float16, a warp a query, lanes over keys", fastmath=True)
def attention_half(out, q, k, v, scale):
    row = cuda.shared.array(32, float32)
    t, i = cuda.threadIdx.x, cuda.blockIdx.x
    row[t] = float32(q[i, t])
    cuda.syncwarp()
    dot = float32(0)
    for c in range(32):
        dot += row[c] * float32(k[t, c])
    top = warp_max(dot * scale)
    weight = math.exp(dot * scale - top)
    total = warp_sum(weight)
    mine = float32(0)
    for j in range(32):
        mine += cuda.shfl_sync(ALL, weight, j) * float32(v[j, t])
    out[i, t] = float16(mine / total)


@attention_half.launch
def _(rng):
    q, k, v = normal(rng, 3, 32, 32, dtype="f2")
    args = empty((8, 32), "f2"), q[:8].copy(), k, v, np.float32(32**-0.5)
    return Launch(8, 32, args, {0: attention_of(q[:8], k, v)}, roundings=2)


@kernel("Decoding: keys split between blocks, the last one combines")
def attention_split(out, parts, tops, totals, ticket, q, k, v, scale):
    last = cuda.shared.array(1, int32)
    t, b, n = cuda.threadIdx.x, cuda.blockIdx.x, cuda.gridDim.x
    dot = float32(0)
    for c in range(32):
        dot += q[c] * k[b * 32 + t, c]
    top = warp_max(dot * scale)
    weight = math.exp(dot * scale - top)
    total = warp_sum(weight)
    mine = float32(0)
    for j in range(32):
        mine += cuda.shfl_sync(ALL, weight, j) * v[b * 32 + j, t]
    parts[b, t] = mine
    if t == 0:
        tops[b], totals[b] = top, total
    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        last[0] = cuda.atomic.add(ticket, 0, 1) == n - 1
    cuda.syncthreads()
    if last[0]:
        cuda.threadfence()
        highest = float32(-math.inf)
        for j in range(n):
            highest = max(highest, tops[j])
        mine = total = float32(0)
        for j in range(n):
            shrink = math.exp(tops[j] - highest)
            mine += parts[j, t] * shrink
            total += totals[j] * shrink
        out[t] = mine / total


@attention_split.launch
def _(rng):
    q, (k, v) = normal(rng, 32), normal(rng, 2, 96, 32)
    scale = np.float32(32**-0.5)
    scores = (k.astype("f8") @ q * scale).reshape(3, 32)
    tops = scores.max(1)
    weights = np.exp(scores - tops[:, None])
    parts = np.stack([w @ x for w, x in zip(weights, v.reshape(3, 32, 32))])
    arrays = empty(32, "f4"), empty((3, 32), "f4"), empty(3, "f4"), empty(3, "f4")
    args = *arrays, np.zeros(1, "i4"), q, k, v, scale
    wanted = attention_of(q[None], k, v)[0]
    outputs = {0: wanted, 1: parts, 2: tops, 3: weights.sum(1)}
    return Launch(3, 32, args, outputs, {4: [3]}, roundings=80)


@kernel("Product with tiles in registers and two buffers in shared memory")
def gemm_pipelined(c, a, b):
    sa = cuda.shared.array((2, 8, 16), float32)
    sb = cuda.shared.array((2, 8, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    t = ty * 8 + tx
    total = cuda.local.array((2, 2), float32)
    for i in range(2):
        for j in range(2):
            total[i, j] = 0
    for e in range(t, 128, 64):
        sa[0, e % 8, e // 8], sb[0, e // 16, e % 16] = (
            a[e // 8, e % 8],
            b[e // 16, e % 16],
        )
    cuda.syncthreads()
    for k in range(0, a.shape[1], 8):
        now = (k // 8) % 2
        if k + 8 < a.shape[1]:
            for e in range(t, 128, 64):
                sa[1 - now, e % 8, e // 8] = a[e // 8, k + 8 + e % 8]
                sb[1 - now, e // 16, e % 16] = b[k + 8 + e // 16, e % 16]
        for q in range(8):
            for i in range(2):
                for j in range(2):
                    total[i, j] += sa[now, q, ty * 2 + i] * sb[now, q, tx * 2 + j]
        cuda.syncthreads()
    for i in range(2):
        for j in range(2):
            c[ty * 2 + i, tx * 2 + j] = total[i, j]


@gemm_pipelined.launch
def _(rng):
    a, b = rng.random((16, 24)).astype("f4"), rng.random((24, 16)).astype("f4")
    wanted = a.astype("f8") @ b
    return Launch(1, (8, 8), (empty((16, 16), "f4"), a, b), {0: wanted}, roundings=26)


@kernel("Product of float16 matrices, summed in float32")
def gemm_half(c, a, b):
    sa = cuda.shared.array((8, 8), float16)
    sb = cuda.shared.array((8, 8), float16)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for k in range(0, a.shape[1], 8):
        sa[ty, tx], sb[ty, tx] = a[row, k + tx], b[k + ty, column]
        cuda.syncthreads()
        for q in range(8):
            total += float32(sa[ty, q]) * float32(sb[q, tx])
        cuda.syncthreads()
    c[row, column] = float16(total)


@gemm_half.launch
def _(rng):
    a, b = normal(rng, 16, 24, dtype="f2"), normal(rng, 24, 8, dtype="f2")
    wanted = a.astype("f8") @ b.astype("f8")
    args = empty((16, 8), "f2"), a, b
    return Launch((1, 2), (8, 8), args, {0: wanted}, roundings=2)


@kernel("Convolution of images, many channels, weights in shared memory")
def convolution_2d(out, x, weights):
    s = cuda.shared.array((3, 3, 3), float32)
    t = cuda.threadIdx.y * 8 + cuda.threadIdx.x
    o = cuda.blockIdx.z
    if t < 27:
        s[t // 9, t // 3 % 3, t % 3] = weights[o, t // 9, t // 3 % 3, t % 3]
    cuda.syncthreads()
    i, j = (
        cuda.blockIdx.x * 8 + cuda.threadIdx.x,
        cuda.blockIdx.y * 8 + cuda.threadIdx.y,
    )
    if i < out.shape[2] and j < out.shape[1]:
        total = float32(0)
        for c in range(3):
            for p in range(3):
                for q in range(3):
                    total += x[c, j + p, i + q] * s[c, p, q]
        out[o, j, i] = total


@convolution_2d.launch
def _(rng):
    x, weights = normal(rng, 3, 10, 12), normal(rng, 2, 3, 3, 3)
    wide = np.lib.stride_tricks.sliding_window_view(x.astype("f8"), (3, 3), (1, 2))
    wanted = np.einsum("cjipq,ocpq->oji", wide, weights)
    args = empty((2, 8, 10), "f4"), x, weights
    return Launch((2, 1, 2), (8, 8), args, {0: wanted}, roundings=28)


@kernel("Largest of windows of 2 × 2, and where")
def max_pool(out, where, x):
    i, j = cuda.grid(2)
    if i < out.shape[1] and j < out.shape[0]:
        best, at = x[2 * j, 2 * i], int32(0)
        for q in range(1, 4):
            value = x[2 * j + q // 2, 2 * i + q % 2]
            if value > best:
                best, at = value, int32(q)
        out[j, i], where[j, i] = best, at


@max_pool.launch
def _(rng):
    x = rng.integers(0, 9, (12, 14)).astype("f4")
    windows = x.reshape(6, 2, 7, 2).swapaxes(1, 2).reshape(6, 7, 4)
    args = empty((6, 7), "f4"), empty((6, 7), "i4"), x
    return Launch((1, 1), (8, 8), args, {0: windows.max(-1), 1: windows.argmax(-1)})
