"""Rung 3, the register tiles: a thread computes 4 × 4 scores, and a patch of outputs.

In rung 2 each multiplication reads a number from shared memory. Here a thread takes
four rows and four keys into registers and multiplies each with each: 16 products for 8
reads. So a row's scores belong to several threads, neighbours in a warp. They agree on
its maximum by handing numbers from register to register (shuffles), and then the state
is that of chapter 2 again: one rescale for each tile.

A tile is multiplied as a whole, hidden keys and all. A weight of 0 would not do for
those: 0 · NaN is NaN. So a hidden key's weight says HIDDEN, and its value is left out.
"""

import math
from collections.abc import Callable

from numba import cuda, float32

SIDE = 4  # rows and keys of a thread; four float32 are one read of 16 bytes
HIDDEN = -1  # no weight is below 0
ALL = 0xFFFFFFFF  # every thread of the warp takes part in a shuffle


def registers(d: int, block_q: int, block_k: int) -> Callable[..., None]:
    """Return the kernel for tiles of `block_q` rows and `block_k` keys.

    It runs in block_q · block_k / 16 threads. `block_k` is 4 times a power of two, at
    most 128, and divides `d`. Arguments as for `naive`.
    """
    across = block_k // SIDE  # threads that share a row
    down = block_q // SIDE  # and that share a key; a thread's rows lie so far apart
    threads = across * down
    hops = across.bit_length() - 1  # shuffles until all of them know
    width = d // across  # output columns of a thread
    fours, p_fours = d // SIDE + 1, block_k // SIDE + 2  # longer: other banks
    q_size, tile = block_q * d, block_k * d

    def kernel(Q, K, V, O, LSE, lengths, scale, left, right, group):
        t = cuda.threadIdx.x & 1023  # at most 1024: no index is negative
        tx = t % across  # which keys, and which columns of the output
        ty = t // across  # which rows
        top = cuda.blockIdx.x * block_q
        head = cuda.blockIdx.y
        n = Q.shape[1]
        keys = K.shape[1]
        shared_head = head // group
        length = lengths[head]
        place = top + keys - n  # of the block's first row

        q_tile = cuda.shared.array((block_q, fours, SIDE), float32, alignment=16)
        kv_tile = cuda.shared.array((block_k, fours, SIDE), float32, alignment=16)
        p_tile = cuda.shared.array((block_q, p_fours, SIDE), float32, alignment=16)
        a = cuda.local.array((SIDE, SIDE), float32)  # my rows, four columns
        b = cuda.local.array((SIDE, SIDE), float32)  # my keys, the same columns
        s = cuda.local.array((SIDE, SIDE), float32)  # my rows, my keys
        o = cuda.local.array((SIDE, width), float32)  # my rows, my columns
        m = cuda.local.array(SIDE, float32)
        l = cuda.local.array(SIDE, float32)  # my keys' share of each sum
        for x in range(t, q_size, threads):
            r = x // d
            c = x % d
            q_tile[r, c // SIDE, c % SIDE] = float32(0.0)
            if top + r < n:
                q_tile[r, c // SIDE, c % SIDE] = float32(Q[head, top + r, c]) * scale
        for i in range(SIDE):
            m[i] = float32(-math.inf)
            l[i] = float32(0.0)
            for c in range(width):
                o[i, c] = float32(0.0)

        last = min(block_q, n - top) - 1  # the block's last row
        begin = max(place - left, 0) // block_k * block_k
        end = min(place + last + right + 1, length)
        latest = place + last - left  # every row sees the keys from here …
        soonest = min(place + right + 1, length)  # … to here
        for base in range(begin, end, block_k):
            cuda.syncthreads()  # the last tile's V and P have been read
            for x in range(t, tile, threads):
                r = x // d
                c = x % d
                kv_tile[r, c // SIDE, c % SIDE] = float32(0.0)
                if base + r < length:
                    k = float32(K[shared_head, base + r, c])
                    kv_tile[r, c // SIDE, c % SIDE] = k
            cuda.syncthreads()  # K is here

            for i in range(SIDE):
                for j in range(SIDE):
                    s[i, j] = float32(0.0)
            for step in range(d // SIDE):
                for i in range(SIDE):
                    for e in range(SIDE):
                        a[i, e] = q_tile[ty + i * down, step, e]
                        b[i, e] = kv_tile[tx + i * across, step, e]
                for i in range(SIDE):
                    for j in range(SIDE):
                        for e in range(SIDE):
                            s[i, j] += a[i, e] * b[j, e]

            if base < latest or base + block_k > soonest:
                for i in range(SIDE):  # some row does not see all of this tile
                    here = place + ty + i * down
                    for j in range(SIDE):
                        key = base + tx + j * across
                        if key < here - left or key > here + right or key >= length:
                            s[i, j] = float32(-math.inf)

            for i in range(SIDE):
                m_new = m[i]
                for j in range(SIDE):
                    m_new = max(m_new, s[i, j])
                for hop in range(hops):
                    other = cuda.shfl_xor_sync(ALL, m_new, 1 << hop)
                    m_new = max(m_new, other)
                shift = m_new if m_new > float32(-math.inf) else float32(0.0)
                alpha = math.exp(m[i] - shift)
                m[i] = m_new
                l[i] = alpha * l[i]
                for j in range(SIDE):
                    p = math.exp(s[i, j] - shift)
                    l[i] += p
                    key = tx + j * across
                    seen = s[i, j] > float32(-math.inf)
                    p_tile[ty + i * down, key // SIDE, key % SIDE] = (
                        p if seen else float32(HIDDEN)
                    )
                for c in range(width):
                    o[i, c] = alpha * o[i, c]
            cuda.syncthreads()  # everybody has read K

            for x in range(t, tile, threads):
                r = x // d
                c = x % d
                if base + r < length:
                    v = float32(V[shared_head, base + r, c])
                    kv_tile[r, c // SIDE, c % SIDE] = v
            cuda.syncthreads()  # V and P are here

            for step in range(block_k // SIDE):
                for i in range(SIDE):
                    for e in range(SIDE):
                        a[i, e] = p_tile[ty + i * down, step, e]
                for e in range(SIDE):
                    for c in range(width):
                        v = kv_tile[step * SIDE + e, c // SIDE * across + tx, c % SIDE]
                        for i in range(SIDE):
                            if a[i, e] >= float32(0.0):  # not HIDDEN
                                o[i, c] += a[i, e] * v

        for i in range(SIDE):
            total = l[i]
            for hop in range(hops):
                other = cuda.shfl_xor_sync(ALL, total, 1 << hop)
                total += other
            row = top + ty + i * down
            inverse = float32(1.0) / total if total != float32(0.0) else float32(0.0)
            if row < n:
                for c in range(width):
                    column = (c // SIDE * across + tx) * SIDE + c % SIDE
                    O[head, row, column] = o[i, c] * inverse
                if total != float32(0.0):
                    m[i] += math.log(total)
                if tx == 0:
                    LSE[head, row] = m[i]

    return kernel
