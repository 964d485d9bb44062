"""Attention in cuTile, one head. The text names no thread, no barrier and no copy."""

import cuda.tile as ct
from numpy import inf

Int = ct.Constant[int]  # known when the kernel is compiled
ZERO = ct.PaddingMode.ZERO  # without it the numbers beyond the edge may be NaN


@ct.kernel
def attention(Q, K, V, O, scale, d: Int, block_q: Int, block_k: Int):
    """Attend with a block of queries. `scale` is log2(e) / √d: exp2 then gives exp."""
    block = ct.bid(0)
    q = ct.load(Q, (block, 0), (block_q, d))
    m = ct.full((block_q, 1), -inf, ct.float32)
    l = ct.zeros((block_q, 1), ct.float32)
    o = ct.zeros((block_q, d), ct.float32)
    for tile in range(ct.cdiv(K.shape[0], block_k)):
        k = ct.load(K, (tile, 0), (block_k, d))
        v = ct.load(V, (tile, 0), (block_k, d), padding_mode=ZERO)
        s = ct.mma(q, k.transpose(), ct.zeros((block_q, block_k), ct.float32))
        key = tile * block_k + ct.arange(block_k, dtype=ct.int32)
        s = ct.where(key < K.shape[0], s * scale, -inf)
        m_new = ct.maximum(m, ct.max(s, 1, keepdims=True))
        p = ct.exp2(s - m_new)
        alpha = ct.exp2(m - m_new)
        l = alpha * l + ct.sum(p, 1, keepdims=True)
        o = ct.mma(p.astype(ct.float16), v, alpha * o)
        m = m_new
    ct.store(O, (block, 0), (o / l).astype(ct.float16))
