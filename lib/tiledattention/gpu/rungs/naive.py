"""Rung 1, the naive kernel: a thread for each query row, keys from global memory.

It is the recurrence of chapter 4, one key at a time, in as many threads as there are
rows. A row's state is in the registers of its thread. Nothing is shared, so no thread
waits for another.
"""

import math

from numba import cuda, float32, uint32

from tiledattention.gpu.rung import Kernel, Rung, Size

MOST = 64  # with more columns of the output a thread has too few registers


def naive(d: int) -> Kernel:
    """Return the kernel for rows of `d` numbers.

    Parameters
    ----------
    d : int

    Returns
    -------
    function
        The kernel. Launch it over a grid of (blocks of rows, heads).

    Notes
    -----
    The arguments of the kernel, and of those of all rungs:

    Q, O : (heads, n, d), float32 or float16
    K, V : (heads // group, keys, d), as Q
    LSE : (heads, n), float32
    lengths : (heads,), int32
        How many keys are real; the others are padding.
    scale : float32
    left, right : int32
        How many keys before and after its own place a row sees.
    group : int32
        How many heads of queries share a head of keys and values.
    """

    width = min(d, MOST)  # columns of the output that a thread has at a time

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
        o = cuda.local.array(width, float32)  # some columns of (d,)
        for c in range(d):
            q[c] = float32(Q[head, i, c]) * scale

        for edge in range(0, d, width):  # all columns at once, if they are not too many
            for c in range(width):
                o[c] = float32(0.0)
            m = float32(-math.inf)
            l = float32(0.0)

            for j in range(first, stop):  # hidden keys are not even read
                s = float32(0.0)
                for c in range(d):
                    s += q[c] * float32(K[shared_head, j, c])
                if s == float32(-math.inf):
                    continue  # the key adds nothing
                m_new = max(m, s)
                alpha = math.exp(m - m_new)
                p = math.exp(s - m_new)
                m = m_new
                l = alpha * l + p
                for c in range(width):
                    o[c] = alpha * o[c] + p * float32(
                        V[shared_head, j, uint32(edge) + c]
                    )

            inverse = float32(1.0) / l if l != float32(0.0) else float32(0.0)
            for c in range(width):
                O[head, i, uint32(edge) + c] = o[c] * inverse
            if l != float32(0.0):
                m += math.log(l)
            LSE[head, i] = m

    return kernel


class Naive(Rung):
    """A thread for each row; nothing is shared."""

    name = "naive"
    below = None
    merit = "every row has a thread of its own"
    shipped = {64: (128, 1), 128: (128, 1)}
    blocks = {64: 3}
    has_tiles = False

    def kernel(self, size: Size) -> Kernel:
        return naive(size.d)

    def threads(self, size: Size) -> int:
        return size.block_q

    def shared(self, size: Size) -> int:
        return 0

    def check(self, size: Size) -> None:
        """A thread has the same number of columns each time."""
        if size.d > MOST and size.d % MOST:
            raise ValueError(
                f"d: expected at most {MOST}, or a multiple of it, got {size.d}"
            )

    def kept(self, size: Size) -> int:
        return size.d + min(size.d, MOST)  # the query, and its output


RUNG = Naive()
