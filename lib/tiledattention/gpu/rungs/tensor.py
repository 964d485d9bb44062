"""Rung 6, the tensor cores: a warp multiplies small matrices in one instruction.

The tiles and the fold are those of rung 5, and numbers have 16 bits. The instruction is
`mma`: it adds a product of 16 × 16 and 16 × 8 numbers to 16 × 8 sums in float32. Each
matrix is spread over the 32 threads of a warp, and the part of a thread is called a
fragment. A warp has 32 rows of queries, two strips of 16, so that each fragment of K or V
that it reads serves two products. A row of scores lies in four threads.

The weights never leave the registers: where `mma` puts a pair of scores, it also wants
the pair of weights for the product with V. Tiles go to shared memory by copies that no
thread waits for: V is on its way while the scores are made, and the next K during the
product with V.

A hidden key has the weight 0, and 0 · NaN is NaN. Looking for NaN among the values would
cost every tile something. So the result is looked at, once: where a number of a row is
not finite, the warp computes that row again, key by key, and leaves hidden keys out.
"""

import math
from inspect import signature

from numba import cuda, float32, int32, types, uint32, uint64

from tiledattention.gpu.rung import WARP, Kernel, Rung, Size

ALL = 0xFFFFFFFF  # every thread of the warp takes part in a shuffle
LN_2 = math.log(2.0)
TINY = 2.0**-126  # the least normal number of float32
NOT_FINITE = 0x7F800000  # the bits of infinity; those of NaN are more
STRIP = 16  # query rows of one product
STRIPS = 2  # of a warp
DEEP = 16  # numbers that one product adds up
TILE = 8  # columns of one product
FOUR = 4  # sums of a thread in one product; registers of what it multiplies
PIECE = 16  # bytes that are copied or read at once: eight numbers
LINE = 128  # bytes: pieces change places within such a part of a row
# Where a fragment's pairs lie: thread 4 · g + j has columns 2 · j and 2 · j + 1 of the
# rows g and g + 8.
GROUP = 4
FIRST_OF_GROUP = 0x11111111


def tensor(d: int, block_q: int, block_k: int) -> Kernel:
    """Return the kernel for tiles of `block_q` rows and `block_k` keys.

    Parameters
    ----------
    d : int
        Numbers in a row, a multiple of 64.
    block_q, block_k : int
        It runs in blocks of `block_q` threads: a warp for 32 rows.

    Returns
    -------
    function
        The kernel; its arguments are those of `naive`, but Q, K, V and O are float16, or
        the bits of bfloat16 in uint16. `scale` is not negative.
    """
    from tiledattention.gpu.rungs import _ptx as ptx  # only here: it needs numba-cuda

    threads = block_q
    row_bytes = 2 * d
    pieces = row_bytes // PIECE
    high = threads // pieces  # rows that are copied at the same time
    k_offset = block_q * row_bytes  # Q is first in shared memory, then K, then V
    v_offset = k_offset + block_k * row_bytes
    size = v_offset + block_k * row_bytes
    columns = d // TILE  # tiles of sums of a strip, in the output
    keys_across = block_k // TILE  # and among the scores
    d_steps = d // DEEP
    k_steps = block_k // DEEP
    share = d // (2 * WARP)  # pairs of a row for each thread, where it is computed again
    inlined = cuda.jit(device=True, inline="always")

    @inlined
    def copy_rows(count, to, source, rows):
        """Start to copy every `high`-th row of a tile; from `rows` on they become 0."""
        for i in range(count // high):
            ptx.copy(
                uint32(to + i * high * row_bytes),
                uint64(source + uint64(i * high * row_bytes)),
                uint32(PIECE) if i * high < rows else uint32(0),
            )

    @inlined
    def step_to(place, step):
        """Return where a fragment is, two pieces further right for each step."""
        within = step * 2 * PIECE % LINE
        return (place ^ uint32(within)) + uint32(step * 2 * PIECE - within)

    @inlined
    def multiply(array, a, b, c, strip, tile):
        """Add a · b to a fragment of c."""
        x = c[strip, tile]
        x[0], x[1], x[2], x[3] = ptx.mma(array, a, b, (x[0], x[1], x[2], x[3]))

    @inlined
    def make_scores(K, s, q_place, k_place):
        """Multiply the warp's queries with the keys of a tile."""
        for strip in range(STRIPS):
            for tile in range(keys_across):
                for e in range(FOUR):
                    s[strip, tile, e] = float32(0.0)
        for step in range(d_steps):
            q_step = step_to(q_place, step)
            k_step = step_to(k_place, step)
            upper = ptx.ldmatrix(uint32(q_step))
            lower = ptx.ldmatrix(uint32(q_step + STRIP * row_bytes))
            for pair in range(keys_across // 2):
                b = ptx.ldmatrix(uint32(k_step + pair * 2 * TILE * row_bytes))
                multiply(K, upper, (b[0], b[1]), s, 0, 2 * pair)
                multiply(K, upper, (b[2], b[3]), s, 0, 2 * pair + 1)
                multiply(K, lower, (b[0], b[1]), s, 1, 2 * pair)
                multiply(K, lower, (b[2], b[3]), s, 1, 2 * pair + 1)

    @inlined
    def hide(s, here, left, right, length):
        """Give hidden keys the score −∞.

        `here` is the place of my first row, and `length` the number of real keys, both
        counted from my first key of the tile.
        """
        for strip in range(STRIPS):
            for half in range(2):
                place = int32(here + strip * STRIP + half * 8)
                first = int32(place - left)
                stop = int32(min(place + right + 1, length))
                for tile in range(keys_across):
                    for e in range(2):
                        key = tile * TILE + e
                        if key < first or key >= stop:
                            s[strip, tile, 2 * half + e] = float32(-math.inf)

    @inlined
    def weigh(K, s, p, o, m, l, doublings):
        """Turn scores into weights, and rescale the state: chapter 2, for each row."""
        for strip in range(STRIPS):
            for half in range(2):
                x = 2 * half
                m_new = m[strip, half]
                for tile in range(keys_across):
                    m_new = max(m_new, max(s[strip, tile, x], s[strip, tile, x + 1]))
                m_new = max(m_new, cuda.shfl_xor_sync(ALL, m_new, 1))
                m_new = max(m_new, cuda.shfl_xor_sync(ALL, m_new, 2))
                shift = float32(0.0)
                if m_new > float32(-math.inf):
                    shift = m_new * doublings
                alpha = ptx.exp2(m[strip, half] * doublings - shift)
                m[strip, half] = m_new
                total = l[strip, half] * alpha
                for tile in range(keys_across):
                    even = ptx.exp2(s[strip, tile, x] * doublings - shift)
                    odd = ptx.exp2(s[strip, tile, x + 1] * doublings - shift)
                    total += even + odd
                    p[strip, tile // 2, tile % 2 * 2 + half] = ptx.pack(K, even, odd)
                l[strip, half] = total
                for tile in range(columns):
                    o[strip, tile, x] *= alpha
                    o[strip, tile, x + 1] *= alpha

    @inlined
    def add_values(V, p, o, v_place):
        """Multiply the weights with the values of a tile."""
        for step in range(k_steps):
            upper = (p[0, step, 0], p[0, step, 1], p[0, step, 2], p[0, step, 3])
            lower = (p[1, step, 0], p[1, step, 1], p[1, step, 2], p[1, step, 3])
            for pair in range(columns // 2):
                place = step_to(v_place, pair)
                b = ptx.ldmatrix_trans(uint32(place + step * DEEP * row_bytes))
                multiply(V, upper, (b[0], b[1]), o, 0, 2 * pair)
                multiply(V, upper, (b[2], b[3]), o, 0, 2 * pair + 1)
                multiply(V, lower, (b[0], b[1]), o, 1, 2 * pair)
                multiply(V, lower, (b[2], b[3]), o, 1, 2 * pair + 1)

    @inlined
    def attend_alone(Q, K, V, O, LSE, head, shared_head, i, place, length, left, right, doublings, lane):
        """Compute a row by all threads of a warp, one visible key after the other."""
        q = cuda.local.array((share, 2), float32)
        r = cuda.local.array((share, 2), float32)
        mine = uint64(lane * uint32(4))
        q_row = (uint64(head) * uint64(Q.shape[1]) + uint64(i)) * uint64(row_bytes) + mine
        for c in range(share):
            word = ptx.load(uint64(ptx.address(Q) + q_row + uint64(c * WARP * 4)))
            q[c, 0], q[c, 1] = ptx.unpack(Q, word)
            r[c, 0] = float32(0.0)
            r[c, 1] = float32(0.0)
        m_alone = float32(-math.inf)
        l_alone = float32(0.0)
        for j in range(max(place - left, 0), min(place + right + 1, length)):
            kv_row = (uint64(shared_head) * uint64(K.shape[1]) + uint64(j)) * uint64(row_bytes) + mine
            x = float32(0.0)
            for c in range(share):
                word = ptx.load(uint64(ptx.address(K) + kv_row + uint64(c * WARP * 4)))
                even, odd = ptx.unpack(K, word)
                x += q[c, 0] * even + q[c, 1] * odd
            for hop in range(5):
                x += cuda.shfl_xor_sync(ALL, x, 1 << hop)
            x *= doublings
            if x != float32(-math.inf):
                m_new = max(m_alone, x)
                alpha = ptx.exp2(m_alone - m_new)
                weight = ptx.exp2(x - m_new)
                m_alone = m_new
                l_alone = alpha * l_alone + weight
                for c in range(share):
                    word = ptx.load(uint64(ptx.address(V) + kv_row + uint64(c * WARP * 4)))
                    even, odd = ptx.unpack(V, word)
                    r[c, 0] = alpha * r[c, 0] + weight * even
                    r[c, 1] = alpha * r[c, 1] + weight * odd
        inverse = float32(1.0) / l_alone if l_alone != float32(0.0) else float32(0.0)
        for c in range(share):
            word = ptx.pack(O, r[c, 0] * inverse, r[c, 1] * inverse)
            ptx.store(uint64(ptx.address(O) + q_row + uint64(c * WARP * 4)), word)
        if lane == uint32(0):
            if l_alone != float32(0.0):
                m_alone += math.log2(l_alone)
            LSE[head, i] = m_alone * float32(LN_2)

    def kernel(Q, K, V, O, LSE, lengths, scale, left, right, group):
        t = uint32(cuda.threadIdx.x)
        lane = t % uint32(WARP)
        warp = t // uint32(WARP)
        top = int32(cuda.blockIdx.x * block_q)
        head = uint32(cuda.blockIdx.y)
        n = int32(Q.shape[1])
        keys = int32(K.shape[1])
        length = lengths[head]
        place = int32(top + keys - n)  # of the block's first row
        # exp(x) is exp2(x / LN_2). A scale of 0 must not make a number of −∞.
        doublings = max(scale * float32(1 / LN_2), float32(TINY))

        memory = cuda.shared.array(size, types.uint8, alignment=LINE)
        s = cuda.local.array((STRIPS, keys_across, FOUR), float32)
        p = cuda.local.array((STRIPS, k_steps, FOUR), uint32)  # pairs of weights
        o = cuda.local.array((STRIPS, columns, FOUR), float32)
        m = cuda.local.array((STRIPS, 2), float32)
        l = cuda.local.array((STRIPS, 2), float32)  # my keys' share of each sum

        # Piece c of row r is at c ^ (r % 8): so eight pieces below each other, which
        # ldmatrix reads at the same time, are in different banks.
        start = ptx.shared_address(memory)
        r = t // uint32(pieces)
        c = t % uint32(pieces)
        to = start + r * uint32(row_bytes) + (c ^ r % uint32(8)) * uint32(PIECE)
        r16 = lane % uint32(16)
        c16 = lane // uint32(16)
        corner = r16 * uint32(row_bytes) + (c16 ^ r16 % uint32(8)) * uint32(PIECE)
        corner = start + corner
        q_place = corner + warp * uint32(STRIPS * STRIP * row_bytes)
        v_place = corner + uint32(v_offset)
        r8 = lane % uint32(8)
        k_place = (lane // uint32(16) * uint32(8) + r8) * uint32(row_bytes) + (lane // uint32(8) % uint32(2) ^ r8) * uint32(PIECE)
        k_place = start + uint32(k_offset) + k_place

        begin = int32(max(place - left, 0) // block_k * block_k)
        last = int32(min(block_q, n - top) - 1)
        end = int32(min(place + last + right + 1, length))
        my_part = uint64(r * uint32(row_bytes) + c * uint32(PIECE))
        q_row = uint64(head) * uint64(n) + uint64(top)
        kv_row = uint64(head // uint32(group)) * uint64(keys) + uint64(begin)
        q_from = ptx.address(Q) + q_row * uint64(row_bytes) + my_part
        k_from = ptx.address(K) + kv_row * uint64(row_bytes) + my_part
        v_from = ptx.address(V) + kv_row * uint64(row_bytes) + my_part
        copy_rows(block_q, to, q_from, int32(n - top - r))
        ahead = int32(length - begin - r)  # keys from my first to the last real one
        copy_rows(block_k, to + k_offset, k_from, ahead)
        ptx.commit()

        mine = int32(warp * uint32(STRIPS * STRIP))  # the warp's first row
        down = int32(lane // uint32(GROUP))  # my first row of a strip
        across = int32(lane % uint32(GROUP) * uint32(2))  # my first column of a tile
        for strip in range(STRIPS):
            for half in range(2):
                m[strip, half] = float32(-math.inf)
                l[strip, half] = float32(0.0)
            for tile in range(columns):
                for e in range(FOUR):
                    o[strip, tile, e] = float32(0.0)
        # All rows of the warp see the keys from `latest` to `soonest`.
        latest = int32(place + mine + STRIPS * STRIP - 1 - left)
        soonest = int32(min(place + mine + right + 1, length))

        base = begin
        while base < end:
            ptx.wait()
            cuda.syncthreads()  # K is here, and everybody has read the last V
            copy_rows(block_k, to + v_offset, v_from, ahead)
            ptx.commit()
            make_scores(K, s, q_place, k_place)
            ptx.wait()
            cuda.syncthreads()  # V is here, and everybody has read K
            k_from += uint64(block_k * row_bytes)
            v_from += uint64(block_k * row_bytes)
            ahead = int32(ahead - block_k)
            base = int32(base + block_k)
            if base < end:
                copy_rows(block_k, to + k_offset, k_from, ahead)
            ptx.commit()
            if base - block_k < latest or base > soonest:
                mine_first = int32(base - block_k + across)
                hide(s, int32(place + mine + down - mine_first), left, right, int32(length - mine_first))
            weigh(K, s, p, o, m, l, doublings)
            add_values(V, p, o, v_place)

        again = uint32(0)  # a bit for each row of the warp: the order is of no account
        for strip in range(STRIPS):
            for half in range(2):
                total = l[strip, half]
                total += cuda.shfl_xor_sync(ALL, total, 1)
                total += cuda.shfl_xor_sync(ALL, total, 2)
                inverse = float32(1.0) / total if total != float32(0.0) else float32(0.0)
                worst = int32(0)
                for tile in range(columns):
                    for e in range(2):
                        worst = max(worst, ptx.magnitude(o[strip, tile, 2 * half + e]))
                worst = max(worst, cuda.shfl_xor_sync(ALL, worst, 1))
                worst = max(worst, cuda.shfl_xor_sync(ALL, worst, 2))
                i = int32(top + mine + down + strip * STRIP + half * 8)
                whole = worst < int32(NOT_FINITE)
                rows = uint32(cuda.ballot_sync(ALL, i < n and not whole))
                again |= (rows & uint32(FIRST_OF_GROUP)) << uint32(2 * strip + half)
                if i < n and whole:
                    out = ptx.address(O) + uint64(across * 2)
                    out += (uint64(head) * uint64(n) + uint64(i)) * uint64(row_bytes)
                    for tile in range(columns):
                        even = o[strip, tile, 2 * half] * inverse
                        odd = o[strip, tile, 2 * half + 1] * inverse
                        ptx.store(uint64(out + uint64(tile * PIECE)), ptx.pack(O, even, odd))
                    if across == 0:
                        lse = m[strip, half] * doublings
                        if total != float32(0.0):
                            lse += math.log2(total)
                        LSE[head, i] = lse * float32(LN_2)
        while again != uint32(0):
            bit = int32(cuda.ffs(again) - 1)
            again &= again - uint32(1)
            row = int32(mine + bit // 4 + bit % 4 // 2 * STRIP + bit % 2 * 8)
            attend_alone(Q, K, V, O, LSE, head, head // uint32(group), int32(top + row), int32(place + row), length, left, right, doublings, lane)

    return kernel


class Tensor(Rung):
    """Products of small matrices by tensor cores; scores and weights in registers."""

    name = "tensor"
    below = "patches"
    merit = "tensor cores multiply"
    shipped = {64: (128, 64), 128: (128, 32)}
    aligned = True

    def kernel(self, size: Size) -> Kernel:
        return tensor(*size)

    def threads(self, size: Size) -> int:
        return size.block_q

    def shared(self, size: Size) -> int:
        d, block_q, block_k = size
        return (block_q + 2 * block_k) * 2 * d

    def kept(self, size: Size) -> int:
        d, block_q, block_k = size
        return d + block_k


RUNG = Tensor()
