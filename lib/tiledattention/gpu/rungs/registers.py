"""Rung 3, the register tiles: a thread computes 4 × 4 scores, and a patch of outputs.

In rung 2 each multiplication reads a number from shared memory. Here a thread reads
four rows and four keys into registers, and multiplies each row with each key: 16
products for 8 reads. So the scores of a row belong to several threads, neighbours in a
warp. They find its maximum together, by handing numbers from register to register:
shuffles. From there on the state is that of chapter 2 again, with one rescale for each
tile.

A tile is multiplied as a whole, with its hidden keys. For those a weight of 0 is not
enough, since 0 · NaN is NaN. So their weight is HIDDEN, and their values are left out.
"""

import math

from numba import cuda, float32, uint32

from tiledattention.gpu.rung import WARP, Kernel, Rung, Size

SIDE = 4  # rows and keys of a thread; four numbers of float32 are read at once
PAD = 1  # unused fours at the end of a row in shared memory
LOW = 1023  # bits of a number below 1024: so the compiler knows that it is not negative
HIDDEN = -1  # the weight of a hidden key: no real weight is below 0
ALL = 0xFFFFFFFF  # every thread of the warp takes part in a shuffle


def registers(d: int, block_q: int, block_k: int) -> Kernel:
    """Return the kernel for tiles of `block_q` rows and `block_k` keys.

    Parameters
    ----------
    d : int
        Numbers in a row.
    block_q, block_k : int
        It runs in blocks of block_q · block_k / 16 threads. `block_k` is 4 times a
        power of two, at most 128, and divides `d`.

    Returns
    -------
    function
        The kernel; its arguments are those of `naive`.
    """
    across = block_k // SIDE  # threads that share a row
    down = block_q // SIDE  # threads that share a key; a thread's rows are `down` apart
    threads = across * down
    hops = across.bit_length() - 1  # shuffles until all threads of a row know
    width = d // across  # output columns of a thread
    fours = d // SIDE  # a row of Q, K or V is kept in groups of four numbers
    wide = math.gcd(threads, fours)  # threads that copy side by side
    high = threads // wide  # rows that are copied at the same time
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

        # Four numbers that lie together are a quarter of a row apart in global memory:
        # tile[r, f, e] is number e * fours + f. So neighbours copy neighbours, and yet
        # a thread writes four numbers at once.
        q_tile = cuda.shared.array((block_q, padded, SIDE), float32, alignment=16)
        kv_tile = cuda.shared.array((block_k, padded, SIDE), float32, alignment=16)
        p_tile = cuda.shared.array((block_q, p_padded, SIDE), float32, alignment=16)
        x = cuda.local.array(SIDE, float32)  # four numbers to be copied
        a = cuda.local.array((SIDE, SIDE), float32)  # my rows, four columns
        b = cuda.local.array((SIDE, SIDE), float32)  # my keys, the same columns
        s = cuda.local.array((SIDE, SIDE), float32)  # my rows, my keys
        o = cuda.local.array((SIDE, width), float32)  # my rows, my columns
        m = cuda.local.array(SIDE, float32)
        l = cuda.local.array(SIDE, float32)  # my keys' share of each sum
        for e in range(SIDE):
            x[e] = float32(0.0)  # what is copied beyond the end does not matter
        for y in range(0, block_q, high):
            r = (y + cy) & LOW
            row = uint32(top) + r
            for z in range(0, fours, wide):
                f = (z + cx) & LOW
                for e in range(SIDE):
                    if row < n:
                        x[e] = float32(Q[head, row, e * fours + f]) * scale
                for e in range(SIDE):
                    q_tile[r, f, e] = x[e]
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
            for y in range(0, block_k, high):
                r = (y + cy) & LOW
                key = uint32(base) + r
                for z in range(0, fours, wide):
                    f = (z + cx) & LOW
                    for e in range(SIDE):
                        if key < length:
                            x[e] = float32(K[shared_head, key, e * fours + f])
                    for e in range(SIDE):
                        kv_tile[r, f, e] = x[e]
            cuda.syncthreads()  # K is here

            for i in range(SIDE):
                for j in range(SIDE):
                    s[i, j] = float32(0.0)
            step = 0  # with `while`, since a `for` counts twice
            while step < fours:
                for i in range(SIDE):
                    for e in range(SIDE):
                        a[i, e] = q_tile[ty + i * down, step, e]
                        b[i, e] = kv_tile[tx + i * across, step, e]
                for i in range(SIDE):
                    for j in range(SIDE):
                        for e in range(SIDE):
                            s[i, j] += a[i, e] * b[j, e]
                step += 1

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

            for y in range(0, block_k, high):
                r = (y + cy) & LOW
                key = uint32(base) + r
                for z in range(0, fours, wide):
                    f = (z + cx) & LOW
                    for e in range(SIDE):
                        if key < length:
                            x[e] = float32(V[shared_head, key, e * fours + f])
                    for e in range(SIDE):
                        kv_tile[r, f, e] = x[e]
            cuda.syncthreads()  # V and P are here

            step = 0
            while step < across:
                for i in range(SIDE):
                    for e in range(SIDE):
                        a[i, e] = p_tile[ty + i * down, step, e]
                for e in range(SIDE):
                    for c in range(width):
                        v = kv_tile[step * SIDE + e, c // SIDE * across + tx, c % SIDE]
                        for i in range(SIDE):
                            if a[i, e] >= float32(0.0):  # not HIDDEN
                                o[i, c] += a[i, e] * v
                step += 1

        for i in range(SIDE):
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
                    m[i] += math.log(total)
                if tx == 0:
                    LSE[head, row] = m[i]

    return kernel


class Registers(Rung):
    """A thread for each patch of scores; tiles of Q as well, and of the weights."""

    name = "registers"
    below = "tiled"
    merit = "what a thread reads serves many products"
    shipped = {64: (64, 32), 128: (32, 32)}
    aligned = True

    def kernel(self, size: Size) -> Kernel:
        return registers(*size)

    def threads(self, size: Size) -> int:
        return size.block_q * size.block_k // (SIDE * SIDE)

    def shared(self, size: Size) -> int:
        d, block_q, block_k = size
        q_and_keys = (block_q + block_k) * (d // SIDE + PAD)
        weights = block_q * (block_k // SIDE + 2 * PAD)
        return (q_and_keys + weights) * SIDE * 4

    def kept(self, size: Size) -> int:
        factors_and_scores = 3 * SIDE * SIDE
        return factors_and_scores + SIDE * (self._width(size) + 2)  # o; m and l

    def reads_per_product(self, size: Size) -> float:
        """As for every rung: four rows times four keys, then weights times columns."""
        return (2 / SIDE + 1 / SIDE + 1 / self._width(size)) / 2

    def _width(self, size: Size) -> int:
        """Return how many output columns a thread has."""
        return size.d * SIDE // size.block_k

    def check(self, size: Size) -> None:
        """Threads that share a row have to be neighbours in one warp."""
        d, block_q, block_k = size
        across, rest = divmod(block_k, SIDE)
        if rest or across not in (1, 2, 4, 8, 16, 32):
            raise ValueError(
                f"block_k: expected {SIDE} times a power of two, at most"
                f" {SIDE * WARP}, got {block_k}"
            )
        if d % block_k:
            raise ValueError(f"block_k: expected a divisor of d = {d}, got {block_k}")
        if block_q % SIDE:
            raise ValueError(f"block_q: expected a multiple of {SIDE}, got {block_q}")
        threads = self.threads(size)
        high = threads // math.gcd(threads, d // SIDE)
        if block_q % high or block_k % high:
            raise ValueError(
                f"block_q, block_k: expected multiples of {high}, the rows that"
                f" {threads} threads copy at a time, got {block_q} and {block_k}"
            )


RUNG = Registers()
