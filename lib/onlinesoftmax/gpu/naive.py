"""Rung 1, the naive kernel: a thread for each query row, keys from global memory.

Chapter 3's recurrence, one key at a time, in as many threads as there are rows. A row's
state lives in its thread's registers; nothing is shared, so nobody waits.
"""

import math
from collections.abc import Callable

from numba import cuda, float32


def naive(d: int) -> Callable[..., None]:
    """Return the kernel for rows of `d` numbers.

    Launch it over (blocks of rows, heads). The arguments are those of all rungs:

    Q, O : (heads, n, d), float32 or float16
    K, V : (heads // group, keys, d), as Q
    LSE : (heads, n), float32
    lengths : (heads,), int32
        How many keys are real.
    scale : float32
    left, right : int32
        How many keys before and after its own place a row sees.
    group : int32
        How many heads of queries share a head of keys and values.
    """

    def kernel(Q, K, V, O, LSE, lengths, scale, left, right, group):
        i = cuda.grid(1)  # my row
        head = cuda.blockIdx.y
        n = Q.shape[1]
        if i >= n:  # the last block reaches beyond the last row
            return
        shared_head = head // group  # whose keys my head reads
        place = i + K.shape[1] - n  # the last query stands at the last key
        first = max(place - left, 0)
        stop = min(place + right + 1, lengths[head])

        q = cuda.local.array(d, float32)  # (d,)
        o = cuda.local.array(d, float32)  # (d,)
        for c in range(d):
            q[c] = float32(Q[head, i, c]) * scale
            o[c] = float32(0.0)
        m = float32(-math.inf)
        l = float32(0.0)

        for j in range(first, stop):  # hidden keys are not even read
            s = float32(0.0)
            for c in range(d):
                s += q[c] * float32(K[shared_head, j, c])
            m_new = max(m, s)
            shift = m_new if m_new > float32(-math.inf) else float32(0.0)
            alpha = math.exp(m - shift)
            p = math.exp(s - shift)
            m = m_new
            l = alpha * l + p
            for c in range(d):
                o[c] = alpha * o[c] + p * float32(V[shared_head, j, c])

        inverse = float32(1.0) / l if l != float32(0.0) else float32(0.0)
        for c in range(d):
            O[head, i, c] = o[c] * inverse
        if l != float32(0.0):
            m += math.log(l)
        LSE[head, i] = m

    return kernel
