"""Rung 2, the tiled kernel: a block of threads shares tiles of keys and values.

There is still a thread for each row, and the same recurrence. But the threads of a
block copy a tile of keys and values to shared memory together, and then all read it
there. So a key is read from global memory once for each block, not once for each row.
Two barriers keep copying and reading apart. Queries and outputs come and go by the same
tile, so that neighbours always read and write neighbours.

A thread has at most 64 columns of its row; two threads share a row of 128.
"""

import math

from numba import cuda, float32, uint32

from tiledattention.gpu.rung import Kernel, Rung, Size

MOST = 64  # columns of a thread
PAD = 4  # unused numbers at the end of a piece of a row in shared memory
LOW = 1023  # bits of a number below 1024: so the compiler knows that it is not negative
ALL = 0xFFFFFFFF  # every thread of the warp takes part in a shuffle


def tiled(d: int, block_q: int, block_k: int) -> Kernel:
    """Return the kernel for tiles of `block_q` rows and `block_k` keys.

    Parameters
    ----------
    d : int
        Numbers in a row: at most 64, or 64 times a power of two.
    block_q, block_k : int
        It runs in blocks of `block_q` threads, and twice as many for `d` = 128.

    Returns
    -------
    function
        The kernel; its arguments are those of `naive`.
    """
    width = min(d, MOST)  # columns of a thread
    parts = d // width  # threads that share a row; each has a part of it
    hops = parts.bit_length() - 1  # shuffles until they all know
    threads = block_q * parts
    across = math.gcd(threads, d)  # threads that copy side by side
    down = threads // across  # rows that are copied at the same time
    padded = width + PAD
    some = min(block_q, block_k)  # rows of Q and O that the tile takes at once

    def kernel(Q, K, V, O, LSE, lengths, scale, left, right, group):
        if Q.shape[2] != d or K.shape[2] != d or V.shape[2] != d or O.shape[2] != d:
            return  # never; but now the compiler knows how far apart two rows are
        t = cuda.threadIdx.x & LOW
        mine, part = t // parts, t % parts
        ty, tx = t // across, t % across
        top = cuda.blockIdx.x * block_q  # the block's first row
        i = top + mine  # my row
        head = cuda.blockIdx.y
        n = Q.shape[1]
        keys = K.shape[1]
        shared_head = uint32(head // group)
        length = lengths[head]
        place = i + keys - n
        first = max(place - left, 0)
        stop = min(place + right + 1, length)

        k_tile = cuda.shared.array((block_k, parts, padded), float32, alignment=16)
        v_tile = cuda.shared.array((block_k, parts, padded), float32, alignment=16)
        q = cuda.local.array(width, float32)
        o = cuda.local.array(width, float32)
        m = float32(-math.inf)
        l = float32(0.0)
        for c in range(width):
            q[c] = float32(0.0)
            o[c] = float32(0.0)
        for begin in range(0, block_q, some):
            for y in range(0, some, down):  # neighbours copy neighbours
                r = (y + ty) & LOW
                row = uint32(top + begin) + r
                if row < n:
                    for x in range(0, d, across):
                        c = (x + tx) & LOW
                        k_tile[r, c // width, c % width] = float32(Q[head, row, c])
            cuda.syncthreads()
            if i < n and begin <= mine < begin + some:
                for c in range(width):
                    q[c] = k_tile[mine - begin, part, c] * scale
            cuda.syncthreads()  # all have their queries

        # The keys that some row of the block sees: from its first row's to its last's.
        begin = max(top + keys - n - left, 0) // block_k * block_k
        end = min(min(top + block_q, n) + keys - n + right, length)
        for base in range(begin, end, block_k):
            for y in range(0, block_k, down):
                r = (y + ty) & LOW
                key = uint32(base) + r
                if key < length:  # the last tile may be short
                    for x in range(0, d, across):
                        c = (x + tx) & LOW
                        k = float32(K[shared_head, key, c])
                        v = float32(V[shared_head, key, c])
                        k_tile[r, c // width, c % width] = k
                        v_tile[r, c // width, c % width] = v
            cuda.syncthreads()  # nobody reads before all have written

            for j in range(min(end - base, block_k)):  # everybody at the same key
                s = float32(0.0)
                for c in range(width):
                    s += q[c] * k_tile[j, part, c]
                for hop in range(hops):
                    s += cuda.shfl_xor_sync(ALL, s, 1 << hop)
                if first <= base + j < stop and s != float32(-math.inf):
                    m_new = max(m, s)
                    alpha = math.exp(m - m_new)
                    p = math.exp(s - m_new)
                    m = m_new
                    l = alpha * l + p
                    for c in range(width):
                        o[c] = alpha * o[c] + p * v_tile[j, part, c]
            cuda.syncthreads()  # nobody overwrites before all have read

        inverse = float32(1.0) / l if l != float32(0.0) else float32(0.0)
        for begin in range(0, block_q, some):
            if begin <= mine < begin + some:
                for c in range(width):
                    k_tile[mine - begin, part, c] = o[c] * inverse
            cuda.syncthreads()
            for y in range(0, some, down):
                r = (y + ty) & LOW
                row = uint32(top + begin) + r
                if row < n:
                    for x in range(0, d, across):
                        c = (x + tx) & LOW
                        O[head, row, c] = k_tile[r, c // width, c % width]
            cuda.syncthreads()
        if i < n and part == 0:
            if l != float32(0.0):
                m += math.log(l)
            LSE[head, i] = m

    return kernel


class Tiled(Rung):
    """A thread for each row; tiles of keys and values in shared memory."""

    name = "tiled"
    below = "naive"
    merit = "a block reads each key once for all of its rows"
    shipped = {64: (128, 32), 128: (64, 32)}
    aligned = True
    for_simulator = True

    def kernel(self, size: Size) -> Kernel:
        return tiled(size.d, size.block_q, size.block_k)

    def threads(self, size: Size) -> int:
        return size.block_q * self._parts(size)

    def shared(self, size: Size) -> int:
        return 2 * size.block_k * (size.d + PAD * self._parts(size)) * 4

    def kept(self, size: Size) -> int:
        return 2 * size.d // self._parts(size)  # the query, and its output

    def check(self, size: Size) -> None:
        """What threads copy together has to come out even."""
        d, block_q, block_k = size
        if d > MOST and d not in (MOST * parts for parts in (2, 4, 8, 16, 32)):
            raise ValueError(
                f"d: expected at most {MOST}, or {MOST} times a power of two, got {d}"
            )
        threads = self.threads(size)
        down = threads // math.gcd(threads, d)
        if block_q % min(block_q, block_k) or block_q % down or block_k % down:
            raise ValueError(
                f"block_q, block_k: expected multiples of {down}, and block_q one of"
                f" block_k if it is larger, got {block_q} and {block_k}"
            )

    def _parts(self, size: Size) -> int:
        """Return how many threads share a row."""
        return max(size.d // MOST, 1)


RUNG = Tiled()
