"""Rung 2, the tiled kernel: a block of threads shares tiles of keys and values.

There is still a thread for each row, and the same recurrence. But the threads of a
block copy a tile of keys and values to shared memory together, and then all read it
there. So a key is read from global memory once for each block, not once for each row.
Two barriers keep copying and reading apart.
"""

import math

from numba import cuda, float32

from onlinesoftmax.gpu.rung import Kernel, Rung, Size


def tiled(d: int, block_q: int, block_k: int) -> Kernel:
    """Return the kernel for tiles of `block_q` rows and `block_k` keys.

    Parameters
    ----------
    d : int
        Numbers in a row.
    block_q, block_k : int
        It runs in blocks of `block_q` threads.

    Returns
    -------
    function
        The kernel; its arguments are those of `naive`.
    """
    tile = block_k * d

    def kernel(Q, K, V, O, LSE, lengths, scale, left, right, group):
        t = cuda.threadIdx.x
        top = cuda.blockIdx.x * block_q  # the block's first row
        i = top + t  # my row
        head = cuda.blockIdx.y
        n = Q.shape[1]
        keys = K.shape[1]
        shared_head = head // group
        length = lengths[head]
        place = i + keys - n
        first = max(place - left, 0)
        stop = min(place + right + 1, length)

        k_tile = cuda.shared.array((block_k, d), float32)  # (Bc, d)
        v_tile = cuda.shared.array((block_k, d), float32)  # (Bc, d)
        q = cuda.local.array(d, float32)  # (d,)
        o = cuda.local.array(d, float32)  # (d,)
        for c in range(d):
            q[c] = float32(0.0)
            o[c] = float32(0.0)
        if i < n:  # threads beyond the last row still copy, and come to every barrier
            for c in range(d):
                q[c] = float32(Q[head, i, c]) * scale
        m = float32(-math.inf)
        l = float32(0.0)

        # The keys that some row of the block sees: from its first row's to its last's.
        begin = max(top + keys - n - left, 0) // block_k * block_k
        end = min(min(top + block_q, n) + keys - n + right, length)
        for base in range(begin, end, block_k):
            for x in range(t, tile, block_q):  # neighbours copy neighbours
                r = x // d
                c = x % d
                if base + r < length:  # the last tile may be short
                    k_tile[r, c] = float32(K[shared_head, base + r, c])
                    v_tile[r, c] = float32(V[shared_head, base + r, c])
            cuda.syncthreads()  # nobody reads before all have written

            for j in range(min(end - base, block_k)):  # everybody at the same key
                if first <= base + j < stop:
                    s = float32(0.0)
                    for c in range(d):
                        s += q[c] * k_tile[j, c]
                    m_new = max(m, s)
                    shift = m_new if m_new > float32(-math.inf) else float32(0.0)
                    alpha = math.exp(m - shift)
                    p = math.exp(s - shift)
                    m = m_new
                    l = alpha * l + p
                    for c in range(d):
                        o[c] = alpha * o[c] + p * v_tile[j, c]
            cuda.syncthreads()  # nobody overwrites before all have read

        if i < n:
            inverse = float32(1.0) / l if l != float32(0.0) else float32(0.0)
            for c in range(d):
                O[head, i, c] = o[c] * inverse
            if l != float32(0.0):
                m += math.log(l)
            LSE[head, i] = m

    return kernel


class Tiled(Rung):
    """A thread for each row; tiles of keys and values in shared memory."""

    name = "tiled"
    below = "naive"
    merit = "a block reads each key once for all of its rows"
    shipped = {64: (128, 32), 128: (128, 32)}
    for_simulator = True

    def kernel(self, size: Size) -> Kernel:
        return tiled(size.d, size.block_q, size.block_k)

    def threads(self, size: Size) -> int:
        return size.block_q

    def shared(self, size: Size) -> int:
        return 2 * size.block_k * size.d * 4

    def kept(self, size: Size) -> int:
        return 2 * size.d  # the query, and its output


RUNG = Tiled()
