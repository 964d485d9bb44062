"""The attention kernel of the chapter about tensor cores, as Triton takes it.

A program computes a tile of `M` rows of one head, and reads the keys in tiles of `N`.
Arrays are heads × n × `D`, row-major and dense. `scale` includes log2(e), because powers
of 2 are cheaper than powers of e, and so `lse` gets base-2 logarithms of the sums.
"""

import triton
import triton.language as tl


@triton.jit
def attention(
    q, k, v, out, lse, n, scale,
    D: tl.constexpr, M: tl.constexpr, N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    # before the loop: the queries and an empty state
    head = tl.program_id(1)
    i, d = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D)
    rows = head * n * D + i[:, None] * D + d[None, :]
    q_tile = tl.load(q + rows, (i < n)[:, None], other=0.0)
    m = tl.full([M], float("-inf"), tl.float32)
    l = tl.zeros([M], tl.float32)
    o = tl.zeros([M, D], tl.float32)
    end = min(n, tl.program_id(0) * M + M) if CAUSAL else n
    for first in range(0, end, N):
        # 1. load
        j = first + tl.arange(0, N)
        tile = head * n * D + j[:, None] * D + d[None, :]
        k_tile = tl.load(k + tile, (j < n)[:, None], other=0.0)
        v_tile = tl.load(v + tile, (j < n)[:, None], other=0.0)
        # 2. scores
        s = tl.dot(q_tile, tl.trans(k_tile)) * scale
        seen = (j < n)[None, :]
        if CAUSAL:
            seen = seen & (j[None, :] <= i[:, None])
        s = tl.where(seen, s, float("-inf"))
        # 3. maximum
        m_new = tl.maximum(m, tl.max(s, 1))
        # 4. weights
        p = tl.exp2(s - m_new[:, None])
        # 5. rescale
        alpha = tl.exp2(m - m_new)
        l = alpha * l + tl.sum(p, 1)
        o = alpha[:, None] * o
        m = m_new
        # 6. values
        o = tl.dot(p.to(v_tile.dtype), v_tile, o)
    # after the loop: divide o by l
    tl.store(lse + head * n + i, m + tl.log2(l), i < n)
    o = o / l[:, None]
    tl.store(out + rows, o.to(out.dtype.element_ty), (i < n)[:, None])
