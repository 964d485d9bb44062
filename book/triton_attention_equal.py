"""The Triton kernel of `triton_attention.py`, asked for the same work as the Numba rung.

Two things change. The scale is inside the exponents, where one fused multiply-add scales a
score and subtracts the maximum. And tiles that hide no key are not masked: the compiler
unrolls the outer loop, into a loop over these tiles and one over the rest. As in the rung,
the loads of every tile are guarded. The arguments are those of `triton_attention.py`;
`scale` has to be positive.
"""

import triton
import triton.language as tl


@triton.jit
def attention_equal(
    q, k, v, out, lse, n, scale,
    D: tl.constexpr, M: tl.constexpr, N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1)
    i, d = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D)
    rows = head * n * D + i[:, None] * D + d[None, :]
    q_tile = tl.load(q + rows, (i < n)[:, None], other=0.0)
    m = tl.full([M], float("-inf"), tl.float32)
    l = tl.zeros([M], tl.float32)
    o = tl.zeros([M, D], tl.float32)
    end = min(n, tl.program_id(0) * M + M) if CAUSAL else n
    # All rows see all keys of the tiles before this one.
    full = (min(n, tl.program_id(0) * M + 1) if CAUSAL else n) // N * N
    for masked in tl.static_range(2):
        for first in range(full if masked else 0, end if masked else full, N):
            j = first + tl.arange(0, N)
            tile = head * n * D + j[:, None] * D + d[None, :]
            k_tile = tl.load(k + tile, (j < n)[:, None], other=0.0)
            v_tile = tl.load(v + tile, (j < n)[:, None], other=0.0)
            s = tl.dot(q_tile, tl.trans(k_tile))
            if masked:
                seen = (j < n)[None, :]
                if CAUSAL:
                    seen = seen & (j[None, :] <= i[:, None])
                s = tl.where(seen, s, float("-inf"))
            m_new = tl.maximum(m, tl.max(s, 1))
            p = tl.exp2(s * scale - (m_new * scale)[:, None])
            alpha = tl.exp2(m * scale - m_new * scale)
            l = alpha * l + tl.sum(p, 1)
            o = alpha[:, None] * o
            m = m_new
            o = tl.dot(p.to(v_tile.dtype), v_tile, o)
    tl.store(lse + head * n + i, m * scale + tl.log2(l), i < n)
    tl.store(out + rows, (o / l[:, None]).to(out.dtype.element_ty), (i < n)[:, None])
