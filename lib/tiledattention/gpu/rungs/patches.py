"""Rung 4, wider patches: 8 × 4 scores a thread, and tiles that set out early.

It is rung 3 with fewer instructions around the multiplications. A thread has eight rows
instead of four, so that what it reads serves twice as many products. A tile where every
row sees every key is multiplied without asking for each weight whether it is hidden.
Weights are powers of 2 instead of e, since a GPU computes those in one instruction. And
nobody stands waiting for a tile: each thread asks for its part of the next one before
it multiplies, and puts it down afterwards. Until then the numbers are on their way to
its registers: in flight.

Rows of 128 numbers have outputs twice as wide. There a thread has four rows again.
"""

import math

from numba import cuda, float32, int32, uint32

from tiledattention.gpu.rung import Kernel, Size
from tiledattention.gpu.rungs.registers import ALL, HIDDEN, LOW, PAD, SIDE, Registers

DEEP = 2 * SIDE  # columns of Q and K that a thread multiplies in one step
LN_2 = math.log(2.0)


def tallness(d: int) -> int:
    """Return how many rows a thread has, where rows have `d` numbers."""
    return 8 if d <= 64 else 4


def patches(d: int, block_q: int, block_k: int) -> Kernel:
    """Return the kernel for tiles of `block_q` rows and `block_k` keys.

    Parameters
    ----------
    d : int
        Numbers in a row.
    block_q, block_k : int
        As for rung 3, but with `tallness` rows to a thread.

    Returns
    -------
    function
        The kernel; its arguments are those of `naive`.
    """
    across = block_k // SIDE  # threads that share a row
    tall = tallness(d)  # rows of a thread
    down = block_q // tall  # threads that share a key; a thread's rows are `down` apart
    threads = across * down
    hops = across.bit_length() - 1  # shuffles until all threads of a row know
    width = d // across  # output columns of a thread
    fours = d // SIDE  # a row of Q, K or V is kept in groups of four numbers
    wide = math.gcd(threads, fours)  # threads that copy side by side
    high = threads // wide  # rows that are copied at the same time
    turns_down = block_k // high  # a thread copies so many fours of a tile: down …
    turns_across = fours // wide  # … times across
    # Rows in shared memory are padded, so that those that are read at the same time
    # begin in different banks.
    padded = fours + PAD
    p_padded = across + 2 * PAD

    def kernel(Q, K, V, O, LSE, lengths, scale, left, right, group):
        if Q.shape[2] != d or K.shape[2] != d or V.shape[2] != d or O.shape[2] != d:
            return  # never; but now the compiler knows how far apart two rows are
        t = cuda.threadIdx.x & LOW
        tx = t % across  # which keys, and which columns of the output
        ty = t // across  # which rows
        cx = t % wide  # which columns to copy
        cy = t // wide
        top = cuda.blockIdx.x * block_q
        head = cuda.blockIdx.y
        n = Q.shape[1]
        keys = K.shape[1]
        shared_head = uint32(head // group)
        length = lengths[head]
        place = top + keys - n  # of the block's first row
        doublings = scale * float32(1 / LN_2)  # exp(x) is exp2(x / LN_2)

        # As in rung 3, tile[r, f, e] is number e * fours + f of a row.
        q_tile = cuda.shared.array((block_q, padded, SIDE), float32, alignment=16)
        kv_tile = cuda.shared.array((block_k, padded, SIDE), float32, alignment=16)
        p_tile = cuda.shared.array((block_q, p_padded, SIDE), float32, alignment=16)
        x = cuda.local.array((turns_down, turns_across, SIDE), float32)  # in flight
        a = cuda.local.array((tall, DEEP), float32)  # my rows, eight columns
        b = cuda.local.array((SIDE, DEEP), float32)  # my keys, the same columns
        s = cuda.local.array((tall, SIDE), float32)  # my rows, my keys
        o = cuda.local.array((tall, width), float32)  # my rows, my columns
        m = cuda.local.array(tall, float32)
        l = cuda.local.array(tall, float32)  # my keys' share of each sum
        for i in range(turns_down):
            for j in range(turns_across):
                for e in range(SIDE):
                    x[i, j, e] = float32(0.0)  # beyond the end it does not matter
        for y in range(0, block_q, high):
            r = (y + cy) & LOW
            row = uint32(top) + r
            for z in range(0, fours, wide):
                f = (z + cx) & LOW
                for e in range(SIDE):
                    if row < n:
                        x[0, 0, e] = float32(Q[head, row, e * fours + f]) * doublings
                for e in range(SIDE):
                    q_tile[r, f, e] = x[0, 0, e]
        for i in range(tall):
            m[i] = float32(-math.inf)
            l[i] = float32(0.0)
            for c in range(width):
                o[i, c] = float32(0.0)

        last = min(block_q, n - top) - 1  # the block's last row
        begin = max(place - left, 0) // block_k * block_k
        end = min(place + last + right + 1, length)
        latest = place + last - left  # every row sees the keys from here …
        soonest = min(place + right + 1, length)  # … to here
        # The first K sets out.
        ahead = int32(end - begin - cy)  # keys from my first to the end
        for i in range(turns_down):
            key = uint32(begin) + ((i * high + cy) & LOW)
            for j in range(turns_across):
                f = (j * wide + cx) & LOW
                for e in range(SIDE):
                    if i * high < ahead:
                        x[i, j, e] = float32(K[shared_head, key, e * fours + f])
        for base in range(begin, end, block_k):
            cuda.syncthreads()  # the last tile's V and P have been read
            for i in range(turns_down):
                r = (i * high + cy) & LOW
                for j in range(turns_across):
                    f = (j * wide + cx) & LOW
                    for e in range(SIDE):
                        kv_tile[r, f, e] = x[i, j, e]
            cuda.syncthreads()  # K is here
            # V sets out now, and arrives while the scores are made.
            ahead = int32(end - base - cy)
            for i in range(turns_down):
                key = uint32(base) + ((i * high + cy) & LOW)
                for j in range(turns_across):
                    f = (j * wide + cx) & LOW
                    for e in range(SIDE):
                        if i * high < ahead:
                            x[i, j, e] = float32(V[shared_head, key, e * fours + f])

            for i in range(tall):
                for j in range(SIDE):
                    s[i, j] = float32(0.0)
            step = 0  # with `while`, since a `for` counts twice
            while step < fours:
                for e in range(DEEP):
                    f = step + e // SIDE
                    for i in range(tall):
                        a[i, e] = q_tile[ty + i * down, f, e % SIDE]
                    for j in range(SIDE):
                        b[j, e] = kv_tile[tx + j * across, f, e % SIDE]
                for i in range(tall):
                    for j in range(SIDE):
                        for e in range(DEEP):
                            s[i, j] += a[i, e] * b[j, e]
                step += DEEP // SIDE

            whole = latest <= base and base + block_k <= soonest
            if not whole:  # some row does not see all of this tile
                for i in range(tall):
                    here = place + ty + i * down
                    for j in range(SIDE):
                        key = base + tx + j * across
                        if key < here - left or key > here + right or key >= length:
                            s[i, j] = float32(-math.inf)

            lowest = float32(math.inf)
            for i in range(tall):
                m_new = m[i]
                for j in range(SIDE):
                    m_new = max(m_new, s[i, j])
                for hop in range(hops):
                    other = cuda.shfl_xor_sync(ALL, m_new, 1 << hop)
                    m_new = max(m_new, other)
                shift = m_new if m_new > float32(-math.inf) else float32(0.0)
                alpha = math.exp2(m[i] - shift)
                m[i] = m_new
                l[i] = alpha * l[i]
                for j in range(SIDE):
                    p = math.exp2(s[i, j] - shift)
                    l[i] += p
                    p_tile[ty + i * down, tx, j] = p  # of key tx + j * across
                for c in range(width):
                    o[i, c] = alpha * o[i, c]
            for i in range(tall):
                for j in range(SIDE):
                    lowest = min(lowest, s[i, j])
            for hop in range(hops):
                other = cuda.shfl_xor_sync(ALL, lowest, 1 << hop)
                lowest = min(lowest, other)
            whole = lowest > float32(-math.inf)  # my rows see every key
            if not whole:
                for i in range(tall):
                    for j in range(SIDE):
                        if s[i, j] == float32(-math.inf):
                            p_tile[ty + i * down, tx, j] = float32(HIDDEN)
            cuda.syncthreads()  # everybody has read K

            for i in range(turns_down):
                r = (i * high + cy) & LOW
                for j in range(turns_across):
                    f = (j * wide + cx) & LOW
                    for e in range(SIDE):
                        kv_tile[r, f, e] = x[i, j, e]
            cuda.syncthreads()  # V and P are here
            ahead = int32(end - base - block_k - cy)  # the next K sets out
            for i in range(turns_down):
                key = uint32(base + block_k) + ((i * high + cy) & LOW)
                for j in range(turns_across):
                    f = (j * wide + cx) & LOW
                    for e in range(SIDE):
                        if i * high < ahead:
                            x[i, j, e] = float32(K[shared_head, key, e * fours + f])

            step = 0
            while step < across and whole:
                for i in range(tall):
                    for e in range(SIDE):
                        a[i, e] = p_tile[ty + i * down, step, e]
                for e in range(SIDE):
                    r = step + e * across
                    for c in range(width):
                        v = kv_tile[r, c // SIDE * across + tx, c % SIDE]
                        for i in range(tall):
                            o[i, c] += a[i, e] * v
                step += 1
            while step < across:  # the same, with hidden keys
                for i in range(tall):
                    for e in range(SIDE):
                        a[i, e] = p_tile[ty + i * down, step, e]
                for e in range(SIDE):
                    r = step + e * across
                    for c in range(width):
                        v = kv_tile[r, c // SIDE * across + tx, c % SIDE]
                        for i in range(tall):
                            if a[i, e] >= float32(0.0):  # not HIDDEN
                                o[i, c] += a[i, e] * v
                step += 1

        for i in range(tall):
            total = l[i]
            for hop in range(hops):
                other = cuda.shfl_xor_sync(ALL, total, 1 << hop)
                total += other
            row = uint32(top) + ty + i * down
            inverse = float32(1.0) / total if total != float32(0.0) else float32(0.0)
            if row < n:
                for c in range(width):
                    f = c // SIDE * across + tx
                    O[head, row, c % SIDE * fours + f] = o[i, c] * inverse
                if total != float32(0.0):
                    m[i] += math.log2(total)
                if tx == 0:
                    LSE[head, row] = m[i] * float32(LN_2)

    return kernel


class Patches(Registers):
    """Wider patches of scores than in rung 3; tiles that set out early."""

    name = "patches"
    below = "registers"
    merit = "a thread needs the fewest instructions for each product"

    def kernel(self, size: Size) -> Kernel:
        return patches(*size)

    def threads(self, size: Size) -> int:
        return size.block_q * size.block_k // (tallness(size.d) * SIDE)

    def kept(self, size: Size) -> int:
        tall = tallness(size.d)
        factors_and_scores = (tall + SIDE) * DEEP + tall * SIDE
        in_flight = size.block_k * size.d // self.threads(size)
        return factors_and_scores + in_flight + tall * (self._width(size) + 2)

    def reads_per_product(self, size: Size) -> float:
        """Eight rows times four keys, then eight rows times columns."""
        return (2 / tallness(size.d) + 1 / SIDE + 1 / self._width(size)) / 2

    def check(self, size: Size) -> None:
        """A thread has all of its rows, and all columns of a step."""
        super().check(size)
        if size.d % DEEP:
            raise ValueError(f"d: expected a multiple of {DEEP}, got {size.d}")
        tall = tallness(size.d)
        if size.block_q % tall:
            raise ValueError(
                f"block_q: expected a multiple of {tall}, got {size.block_q}"
            )


RUNG = Patches()
