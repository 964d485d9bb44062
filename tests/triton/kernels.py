"""Triton kernels, whose PTX is test data for ptxsim, and the table of what is compiled.

`python -m tools.kernels.triton` compiles them. Sizes with capital names are known at
compile time; matrices are row-major and dense. Forward kernels of attention are in book/.
"""

from typing import NamedTuple

import triton
import triton.language as tl

from triton_attention import attention  # noqa: F401, which TEXTS names
from triton_attention_equal import attention_equal  # noqa: F401, which TEXTS names

# ---- elements and rows ----


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) >= p
    kept = tl.load(x + i, i < n) / (1 - p)
    tl.store(out + i, tl.where(keep, kept, 0.0), i < n)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    scores = tl.load(x + row * columns + j, j < columns, other=float("-inf"))
    weights = tl.exp(scores - tl.max(scores, 0))
    tl.store(out + row * columns + j, weights / tl.sum(weights, 0), j < columns)


@triton.jit
def softmax_persistent(
    x, out, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr
):
    j = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        scores = tl.load(x + row * columns + j, j < columns, other=float("-inf"))
        weights = tl.exp(scores - tl.max(scores, 0))
        tl.store(out + row * columns + j, weights / tl.sum(weights, 0), j < columns)


@triton.jit
def layer_norm(x, weight, bias, out, mean, rstd, columns, eps, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + j, j < columns, other=0.0).to(tl.float32)
    average = tl.sum(values, 0) / columns
    centred = tl.where(j < columns, values - average, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / columns + eps)
    tl.store(mean + row, average)
    tl.store(rstd + row, scale)
    w, b = tl.load(weight + j, j < columns), tl.load(bias + j, j < columns)
    tl.store(out + row * columns + j, centred * scale * w + b, j < columns)


@triton.jit
def normed_gradient(x, weight, grad, mean, rstd, row, columns, BLOCK: tl.constexpr):
    """Return what one row adds to the gradients of x, of the weight and of the bias."""
    j = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + j, j < columns, other=0.0).to(tl.float32)
    dy = tl.load(grad + row * columns + j, j < columns, other=0.0).to(tl.float32)
    w = tl.load(weight + j, j < columns, other=0.0).to(tl.float32)
    scale = tl.load(rstd + row)
    normed = tl.where(j < columns, (values - tl.load(mean + row)) * scale, 0.0)
    along = tl.sum(normed * w * dy, 0) / columns
    dx = (w * dy - normed * along - tl.sum(w * dy, 0) / columns) * scale
    return dx, dy * normed, dy


@triton.jit
def layer_norm_backward(
    x, weight, grad, mean, rstd, dx, dw, db, rows, columns, BLOCK: tl.constexpr
):  # fmt: skip
    """Each program adds up its own rows; another kernel adds up the programs."""
    program, j = tl.program_id(0), tl.arange(0, BLOCK)
    dw_sum = tl.zeros([BLOCK], tl.float32)
    db_sum = tl.zeros([BLOCK], tl.float32)
    for row in range(program, rows, tl.num_programs(0)):
        own, of_w, of_b = normed_gradient(
            x, weight, grad, mean, rstd, row, columns, BLOCK
        )
        tl.store(dx + row * columns + j, own, j < columns)
        dw_sum += of_w
        db_sum += of_b
    tl.store(dw + program * columns + j, dw_sum, j < columns)
    tl.store(db + program * columns + j, db_sum, j < columns)


@triton.jit
def layer_norm_backward_locked(
    x, weight, grad, mean, rstd, dx, dw, db, locks, columns,
    GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Rows of one group add to one partial sum, under the group's lock."""
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    own, of_w, of_b = normed_gradient(x, weight, grad, mean, rstd, row, columns, BLOCK)
    tl.store(dx + row * columns + j, own, j < columns)
    group = row % GROUPS
    lock, count = locks + group, locks + GROUPS + group
    dw += group * columns + j
    db += group * columns + j
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        of_w += tl.load(dw, j < columns)
        of_b += tl.load(db, j < columns)
    tl.store(dw, of_w, j < columns)
    tl.store(db, of_b, j < columns)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def layer_norm_backward_atomic(
    x, weight, grad, mean, rstd, dx, dw, db, columns, BLOCK: tl.constexpr
):  # fmt: skip
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    own, of_w, of_b = normed_gradient(x, weight, grad, mean, rstd, row, columns, BLOCK)
    tl.store(dx + row * columns + j, own, j < columns)
    tl.atomic_add(dw + j, of_w, j < columns)
    tl.atomic_add(db + j, of_b, j < columns)


@triton.jit
def column_sums(x, out, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([ROWS, BLOCK], tl.float32)
    for first in range(0, rows, ROWS):
        i = first + tl.arange(0, ROWS)
        inside = (i < rows)[:, None] & (j < columns)[None, :]
        total += tl.load(x + i[:, None] * columns + j[None, :], inside, other=0.0)
    tl.store(out + j, tl.sum(total, 0), j < columns)


# ---- reductions, scans and sorting ----


@triton.jit
def total(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + i, i < n, other=0.0), 0))


@triton.jit
def maximum(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_max(out, tl.max(tl.load(x + i, i < n, other=float("-inf")), 0))


@triton.jit
def argmax(x, out, columns, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + j, j < columns, other=float("-inf"))
    tl.store(out + row, tl.argmax(values, 0))


@triton.jit
def running_sums(x, out, columns, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + j, j < columns, other=0.0)
    tl.store(out + row * columns + j, tl.cumsum(values, 0), j < columns)


@triton.jit
def after(a, b, later_a, later_b):
    """Compose two steps x → a·x + b."""
    return a * later_a, b * later_a + later_b


@triton.jit
def recurrence(a, b, out, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Solve h[j] = a[j]·h[j-1] + b[j] along each row, as a scan."""
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.arange(0, BLOCK)
    at = i[:, None] * columns + j[None, :]
    inside = (j < columns)[None, :]
    factors = tl.load(a + at, inside, other=1.0)
    terms = tl.load(b + at, inside, other=0.0)
    _, states = tl.associative_scan((factors, terms), 1, after)
    tl.store(out + at, states, inside)


@triton.jit
def sort(x, out, columns, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + j, j < columns, other=float("inf"))
    tl.store(out + row * columns + j, tl.sort(values), j < columns)


@triton.jit
def histogram(x, out, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x + i, i < n, other=0), BINS, i < n)
    tl.atomic_add(out + tl.arange(0, BINS), counts)


# ---- matrix products ----


@triton.jit
def tile_of(program, m, n, M: tl.constexpr, N: tl.constexpr, GROUP: tl.constexpr):
    """Return the row and the column of a tile; `GROUP` rows of tiles are kept together."""
    rows, columns = tl.cdiv(m, M), tl.cdiv(n, N)
    first = program // (GROUP * columns) * GROUP
    height = min(rows - first, GROUP)
    within = program % (GROUP * columns)
    return first + within % height, within // height


@triton.jit
def tile_product(
    a, b, i, j, m, n, k, begin, end, step,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    """Return the sum of the products of tiles at begin, begin + step, … below end."""
    sums_of = tl.int32 if a.dtype.element_ty == tl.int8 else tl.float32
    sums = tl.zeros([M, N], sums_of)
    for first in range(begin, end, step):
        inner = first + tl.arange(0, K)
        left = a + i[:, None] * k + inner[None, :]
        right = b + inner[:, None] * n + j[None, :]
        left = tl.load(left, (i < m)[:, None] & (inner < k)[None, :], other=0)
        right = tl.load(right, (inner < k)[:, None] & (j < n)[None, :], other=0)
        sums = tl.dot(left, right, sums, out_dtype=sums_of)
    return sums


@triton.jit
def matmul(
    a, b, c, m, n, k,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    row, column = tile_of(tl.program_id(0), m, n, M, N, GROUP)
    i, j = row * M + tl.arange(0, M), column * N + tl.arange(0, N)
    sums = tile_product(a, b, i, j, m, n, k, 0, k, K, M, N, K)
    at = c + i[:, None] * n + j[None, :]
    tl.store(at, sums.to(c.dtype.element_ty), (i < m)[:, None] & (j < n)[None, :])


@triton.jit
def matmul_split(
    a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):  # fmt: skip
    """The programs of one tile share its inner dimension, and add to one result."""
    row, column = tile_of(tl.program_id(0), m, n, M, N, 1)
    i, j = row * M + tl.arange(0, M), column * N + tl.arange(0, N)
    begin, step = tl.program_id(1) * K, tl.num_programs(1) * K
    sums = tile_product(a, b, i, j, m, n, k, begin, k, step, M, N, K)
    at = c + i[:, None] * n + j[None, :]
    tl.atomic_add(at, sums, (i < m)[:, None] & (j < n)[None, :])


@triton.jit
def matmul_persistent(
    a, b, c, m, n, k,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """Each program computes several tiles, one after the other."""
    for tile in range(
        tl.program_id(0), tl.cdiv(m, M) * tl.cdiv(n, N), tl.num_programs(0)
    ):
        row, column = tile_of(tile, m, n, M, N, GROUP)
        i, j = row * M + tl.arange(0, M), column * N + tl.arange(0, N)
        sums = tile_product(a, b, i, j, m, n, k, 0, k, K, M, N, K)
        at = c + i[:, None] * n + j[None, :]
        tl.store(at, sums.to(c.dtype.element_ty), (i < m)[:, None] & (j < n)[None, :])


# ---- attention: q, k, v and out are heads × n × D ----


@triton.jit
def attention_delta(out, grad, delta, n, D: tl.constexpr, M: tl.constexpr):
    """Sum each row of out · grad, as both kernels of the gradients need it."""
    head = tl.program_id(1)
    i, d = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D)
    at = head * n * D + i[:, None] * D + d[None, :]
    o = tl.load(out + at, (i < n)[:, None], other=0.0).to(tl.float32)
    do = tl.load(grad + at, (i < n)[:, None], other=0.0).to(tl.float32)
    tl.store(delta + head * n + i, tl.sum(o * do, 1), i < n)


@triton.jit
def weights_of(queries, keys, lse, i, j, n, scale, CAUSAL: tl.constexpr):
    """Recompute the weights of a tile from the logarithms of their rows' sums."""
    seen = (i < n)[:, None] & (j < n)[None, :]
    if CAUSAL:
        seen = seen & (j[None, :] <= i[:, None])
    scores = tl.dot(queries, tl.trans(keys)) * scale
    return tl.where(seen, tl.exp2(scores - lse[:, None]), 0.0)


@triton.jit
def attention_backward_kv(
    q, k, v, grad, lse, delta, dk, dv, n, scale, natural,
    D: tl.constexpr, M: tl.constexpr, N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """A program for a tile of keys. `natural` is `scale` without log2(e)."""
    head = tl.program_id(1)
    j, d = tl.program_id(0) * N + tl.arange(0, N), tl.arange(0, D)
    tile = head * n * D + j[:, None] * D + d[None, :]
    keys = tl.load(k + tile, (j < n)[:, None], other=0.0)
    values = tl.load(v + tile, (j < n)[:, None], other=0.0)
    dk_sum = tl.zeros([N, D], tl.float32)
    dv_sum = tl.zeros([N, D], tl.float32)
    begin = tl.program_id(0) * N // M * M if CAUSAL else 0
    for first in range(begin, n, M):
        i = first + tl.arange(0, M)
        at = head * n * D + i[:, None] * D + d[None, :]
        queries = tl.load(q + at, (i < n)[:, None], other=0.0)
        do = tl.load(grad + at, (i < n)[:, None], other=0.0)
        sums = tl.load(lse + head * n + i, i < n, other=0.0)
        weights = weights_of(queries, keys, sums, i, j, n, scale, CAUSAL)
        dv_sum = tl.dot(tl.trans(weights.to(do.dtype)), do, dv_sum)
        rows = tl.load(delta + head * n + i, i < n, other=0.0)
        ds = weights * (tl.dot(do, tl.trans(values)) - rows[:, None])
        dk_sum = tl.dot(tl.trans(ds.to(queries.dtype)), queries, dk_sum)
    tl.store(dv + tile, dv_sum.to(dv.dtype.element_ty), (j < n)[:, None])
    dk_sum = dk_sum * natural
    tl.store(dk + tile, dk_sum.to(dk.dtype.element_ty), (j < n)[:, None])


@triton.jit
def attention_backward_q(
    q, k, v, grad, lse, delta, dq, n, scale, natural,
    D: tl.constexpr, M: tl.constexpr, N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """A program for a tile of queries. `natural` is `scale` without log2(e)."""
    head = tl.program_id(1)
    i, d = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D)
    at = head * n * D + i[:, None] * D + d[None, :]
    queries = tl.load(q + at, (i < n)[:, None], other=0.0)
    do = tl.load(grad + at, (i < n)[:, None], other=0.0)
    sums = tl.load(lse + head * n + i, i < n, other=0.0)
    rows = tl.load(delta + head * n + i, i < n, other=0.0)
    dq_sum = tl.zeros([M, D], tl.float32)
    end = min(n, tl.program_id(0) * M + M) if CAUSAL else n
    for first in range(0, end, N):
        j = first + tl.arange(0, N)
        tile = head * n * D + j[:, None] * D + d[None, :]
        keys = tl.load(k + tile, (j < n)[:, None], other=0.0)
        values = tl.load(v + tile, (j < n)[:, None], other=0.0)
        weights = weights_of(queries, keys, sums, i, j, n, scale, CAUSAL)
        ds = weights * (tl.dot(do, tl.trans(values)) - rows[:, None])
        dq_sum = tl.dot(ds.to(keys.dtype), keys, dq_sum)
    dq_sum = dq_sum * natural
    tl.store(dq + at, dq_sum.to(dq.dtype.element_ty), (i < n)[:, None])


# ---- what is compiled ----


class Text(NamedTuple):
    """A kernel with the types of its arguments, as Triton's own compiler takes them.

    ``:16`` promises a multiple of 16, as a launch finds out of addresses and sizes.
    A number is a constexpr.
    """

    kernel: str
    signature: str
    num_warps: int = 4
    num_stages: int = 3


F32, F16, BF16, I32, I8 = "*fp32:16", "*fp16:16", "*bf16:16", "*i32:16", "*i8:16"


def of(*arguments: str | int) -> str:
    return ", ".join(map(str, arguments))


TEXTS = {
    "add": Text("add", of(F32, F32, F32, "i32", 1024)),
    "add-1": Text("add", of(F32, F32, F32, "i32", 256), num_warps=1),
    "add-8": Text("add", of(F16, F16, F16, "i32:16", 2048), num_warps=8),
    "dropout": Text("dropout", of(F32, F32, "i32", "fp32", "i32", 1024)),
    "softmax": Text("softmax", of(F32, F32, "i32", 1024)),
    "softmax-1": Text("softmax", of(F32, F32, "i32", 1024), num_warps=1),
    "softmax-8": Text("softmax", of(F32, F32, "i32:16", 1024), num_warps=8),
    "softmax-persistent": Text(
        "softmax_persistent", of(F32, F32, "i32", "i32", 1024, 2)
    ),
    "layer-norm": Text(
        "layer_norm", of(F16, F16, F16, F16, F32, F32, "i32", "fp32", 1024)
    ),
    "layer-norm-backward": Text(
        "layer_norm_backward",
        of(F16, F16, F16, F32, F32, F16, F32, F32, "i32", "i32", 256),
    ),
    "layer-norm-backward-locked": Text(
        "layer_norm_backward_locked",
        of(F16, F16, F16, F32, F32, F16, F32, F32, I32, "i32", 4, 256),
    ),
    "layer-norm-backward-atomic": Text(
        "layer_norm_backward_atomic",
        of(F16, F16, F16, F32, F32, F16, F32, F32, "i32", 256),
    ),
    "column-sums": Text("column_sums", of(F32, F32, "i32", "i32", 32, 64)),
    "total": Text("total", of(F32, F32, "i32", 1024)),
    "maximum": Text("maximum", of(F32, F32, "i32", 1024)),
    "argmax": Text("argmax", of(F32, I32, "i32", 1024)),
    "running-sums": Text("running_sums", of(F32, F32, "i32", 1024)),
    "recurrence": Text("recurrence", of(F32, F32, F32, "i32", 4, 128)),
    "sort": Text("sort", of(F32, F32, "i32", 256)),
    "histogram": Text("histogram", of(I32, I32, "i32", 64, 1024)),
}
RAGGED, WHOLE = ("i32",) * 3, ("i32:16",) * 3  # m, n, k
TEXTS |= {
    "matmul-fp16": Text("matmul", of(F16, F16, F16, *WHOLE, 64, 64, 32, 4)),
    "matmul-fp16-1-stage": Text(
        "matmul", of(F16, F16, F16, *WHOLE, 64, 64, 32, 4), num_stages=1
    ),
    "matmul-fp16-2-stages": Text(
        "matmul", of(F16, F16, F16, *WHOLE, 32, 64, 32, 4), num_stages=2
    ),
    "matmul-fp16-1-warp": Text(
        "matmul", of(F16, F16, F16, *WHOLE, 32, 32, 32, 4), num_warps=1
    ),
    "matmul-fp16-8-warps": Text(
        "matmul", of(F16, F16, F16, *WHOLE, 128, 64, 32, 4), num_warps=8
    ),
    "matmul-fp16-ragged": Text("matmul", of(F16, F16, F16, *RAGGED, 64, 32, 32, 2)),
    "matmul-bf16": Text("matmul", of(BF16, BF16, BF16, *WHOLE, 64, 64, 32, 4)),
    "matmul-bf16-ragged": Text("matmul", of(BF16, BF16, BF16, *RAGGED, 64, 32, 32, 2)),
    "matmul-tf32": Text("matmul", of(F32, F32, F32, *WHOLE, 64, 64, 32, 4)),
    "matmul-tf32-ragged": Text("matmul", of(F32, F32, F32, *RAGGED, 64, 32, 32, 2)),
    "matmul-int8": Text("matmul", of(I8, I8, I32, *WHOLE, 64, 64, 32, 4)),
    "matmul-split": Text("matmul_split", of(F16, F16, F32, *WHOLE, 32, 32, 32)),
    "matmul-persistent": Text(
        "matmul_persistent", of(F16, F16, F16, *WHOLE, 32, 64, 32, 4)
    ),
}


def attention_text(
    d: int, kind: str, causal: bool, kernel: str = "attention", **options: int
) -> Text:
    arguments = (kind, kind, kind, kind, F32, "i32", "fp32")
    rows, keys = (64, 32) if d < 128 else (64, 16)
    return Text(kernel, of(*arguments, d, rows, keys, int(causal)), **options)


for width in (16, 32, 64, 128):
    for kind, name in ((F16, "fp16"), (BF16, "bf16")):
        TEXTS |= {
            f"attention-{width}-{name}": attention_text(width, kind, False),
            f"attention-causal-{width}-{name}": attention_text(width, kind, True),
        }
TEXTS |= {
    "attention-64-fp16-1-stage": attention_text(64, F16, False, num_stages=1),
    "attention-64-fp16-2-stages": attention_text(64, F16, False, num_stages=2),
    "attention-64-fp16-8-warps": attention_text(64, F16, True, num_warps=8),
} | {
    f"attention-equal{order}-{width}-{name}": attention_text(
        width, kind, bool(order), "attention_equal"
    )
    for width in (64, 128)
    for kind, name in ((F16, "fp16"), (BF16, "bf16"))
    for order in ("", "-causal")
}
TEXTS |= {
    "attention-delta": Text("attention_delta", of(F16, F16, F32, "i32", 64, 64)),
}
BACKWARD = (F16, F16, F16, F16, F32, F32)
SCALES = ("i32", "fp32", "fp32")
for causal, name in ((0, ""), (1, "-causal")):
    sizes = (64, 32, 32, causal)
    TEXTS |= {
        f"attention-backward-kv{name}": Text(
            "attention_backward_kv", of(*BACKWARD, F16, F16, *SCALES, *sizes)
        ),
        f"attention-backward-q{name}": Text(
            "attention_backward_q", of(*BACKWARD, F16, *SCALES, *sizes)
        ),
    }
