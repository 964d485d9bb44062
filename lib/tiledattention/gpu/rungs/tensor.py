"""Rung 6, the tensor cores: a warp multiplies small matrices with one instruction.

Numbers have 16 bits, and sums 32. The instruction is `mma`: it adds the product of 16 × 16
and 16 × 8 numbers to 16 × 8 sums. Each matrix is spread over the 32 threads of a warp; the
part of a thread is called a fragment. A warp has 32 rows of queries, two strips of 16, so
each fragment of K or V that it reads serves two products.

A row of scores lies in four neighbouring threads, and two shuffles find its maximum. The
weights never leave the registers: where `mma` leaves a pair of scores, it also takes the
pair of weights for the product with V. Tiles go to shared memory by copies that no thread
waits for. V is on its way while the scores are made, and the next K while V is multiplied.

A hidden key has the weight 0, but 0 · NaN is NaN. To look for NaN in every tile would cost
time, so the block looks at its output instead, once. If a number is not finite, the block
starts anew with 0 in place of all values that are not finite. That is right for rows that
see none of them. The others are then computed once more, key by key.
"""

import math

from numba import cuda, float32, int32, uint32, uint64

from tiledattention.gpu.rung import WARP, Kernel, Rung, Size

ALL = 0xFFFFFFFF  # every thread of the warp takes part in a shuffle
LN_2 = math.log(2.0)
TINY = 2.0**-126  # the least normal number of float32
INFINITY = 0x7F800000  # its bits; those of NaN are a larger integer
# The shape of a product: 16 rows, 8 columns, sums of 16 terms.
STRIP, TILE, DEPTH = 16, 8, 16
ROWS = 2 * STRIP  # query rows of a warp
SUMS = 4  # of a thread in a product; it also has four registers of the left factor
PIECE = 16  # bytes that are copied or read at once: eight numbers
LINE = 128  # bytes of all banks: within so many, pieces of a row change places
# Thread 4 · g + j has columns 2 · j and 2 · j + 1 of rows g and g + 8 of a product.
GROUP = 4
LEADERS = 0x11111111  # a bit for thread 0 of each group


def tensor(d: int, block_q: int, block_k: int) -> Kernel:
    """Return the kernel for tiles of `block_q` rows and `block_k` keys.

    Parameters
    ----------
    d : int
        Numbers in a row, a multiple of 64.
    block_q, block_k : int
        It runs in blocks of `block_q` threads, a warp for 32 rows.

    Returns
    -------
    function
        The kernel; its arguments are those of `naive`. But Q, K, V and O are float16, or
        the bits of bfloat16 in uint16, and `scale` is at least 0.
    """
    # Only here, since it needs numba-cuda.
    from tiledattention.gpu.rungs import _ptx as ptx

    row_bytes = 2 * d
    pieces = row_bytes // PIECE
    high = block_q // pieces  # rows that are copied at the same time
    # Q, K and V one after the other in shared memory.
    k_offset = block_q * row_bytes
    v_offset = k_offset + block_k * row_bytes
    words = (v_offset + block_k * row_bytes) // 4
    d_steps = d // DEPTH  # products for a tile of scores
    k_steps = block_k // DEPTH  # products for a tile of the output
    s_tiles = block_k // TILE
    o_tiles = d // TILE
    pairs = d // (2 * WARP)  # of a thread, in a row that a warp computes again
    inlined = cuda.jit(device=True, inline="always")

    # ---- where things are ----

    @inlined
    def row_of(array, head, row):
        """Return the address of a row in global memory."""
        index = uint64(head) * uint64(array.shape[1]) + uint64(row)
        return ptx.address(array) + index * uint64(row_bytes)

    @inlined
    def place_of(row, piece):
        """Return where a piece of a row is in a tile.

        Eight pieces one below the other are in eight places that share no bank.
        """
        return row * uint32(row_bytes) + (piece ^ row % uint32(8)) * uint32(PIECE)

    @inlined
    def advance(place, step):
        """Return the place two pieces further right for each step."""
        within = step * 2 * PIECE % LINE
        return (place ^ uint32(within)) + uint32(step * 2 * PIECE - within)

    # ---- the steps of the kernel ----

    @inlined
    def copy_rows(count, place, source, left_over):
        """Start to copy my piece of every `high`-th row; rows from `left_over` on are 0."""
        for i in range(0, count, high):
            ptx.copy(
                uint32(place + i * row_bytes),
                uint64(source + uint64(i * row_bytes)),
                uint32(PIECE) if i < left_over else uint32(0),
            )

    @inlined
    def clean_rows(V, tiles, place):
        """Put 0 in place of numbers that are not finite, in the pieces that I copied."""
        low = ptx.infinity(V)
        high_half = low << uint32(16)
        for i in range(0, block_k, high):
            for e in range(PIECE // 4):
                at = place // uint32(4) + uint32(i * row_bytes // 4 + e)
                pair = tiles[at]
                if pair & low == low:
                    pair &= uint32(0xFFFF0000)
                if pair & high_half == high_half:
                    pair &= uint32(0x0000FFFF)
                tiles[at] = pair

    @inlined
    def multiply(array, a, b, c, strip, tile):
        """Add a · b to my fragment of a tile of c."""
        x = c[strip, tile]
        x[0], x[1], x[2], x[3] = ptx.mma(array, a, b, (x[0], x[1], x[2], x[3]))

    @inlined
    def make_scores(K, s, q_place, k_place):
        """Multiply the warp's queries with the keys of the tile."""
        for strip in range(2):
            for tile in range(s_tiles):
                for e in range(SUMS):
                    s[strip, tile, e] = float32(0.0)
        for step in range(d_steps):
            place = advance(q_place, step)
            upper = ptx.ldmatrix(uint32(place))
            lower = ptx.ldmatrix(uint32(place + STRIP * row_bytes))
            place = advance(k_place, step)
            for tile in range(0, s_tiles, 2):
                b = ptx.ldmatrix(uint32(place + tile * TILE * row_bytes))
                multiply(K, upper, (b[0], b[1]), s, 0, tile)
                multiply(K, upper, (b[2], b[3]), s, 0, tile + 1)
                multiply(K, lower, (b[0], b[1]), s, 1, tile)
                multiply(K, lower, (b[2], b[3]), s, 1, tile + 1)

    @inlined
    def hide(s, place, left, right, length):
        """Set the scores of hidden keys to −∞.

        `place`, that of my first row, and `length` count from my first key of the tile.
        """
        for strip in range(2):
            for half in range(2):
                first = int32(place + strip * STRIP + half * 8 - left)
                stop = int32(place + strip * STRIP + half * 8 + right + 1)
                stop = int32(min(stop, length))
                for tile in range(s_tiles):
                    for e in range(2):
                        key = tile * TILE + e
                        if key < first or key >= stop:
                            s[strip, tile, 2 * half + e] = float32(-math.inf)

    @inlined
    def weigh(K, s, p, o, m, l, doublings):
        """Turn scores into weights, and rescale the state, once for the whole tile."""
        for strip in range(2):
            for half in range(2):
                x = 2 * half
                m_new = m[strip, half]
                for tile in range(s_tiles):
                    m_new = max(m_new, max(s[strip, tile, x], s[strip, tile, x + 1]))
                m_new = max(m_new, cuda.shfl_xor_sync(ALL, m_new, 1))
                m_new = max(m_new, cuda.shfl_xor_sync(ALL, m_new, 2))
                shift = float32(0.0)
                if m_new > float32(-math.inf):
                    shift = m_new * doublings
                alpha = ptx.exp2(m[strip, half] * doublings - shift)
                m[strip, half] = m_new
                total = l[strip, half] * alpha
                for tile in range(s_tiles):
                    even = ptx.exp2(s[strip, tile, x] * doublings - shift)
                    odd = ptx.exp2(s[strip, tile, x + 1] * doublings - shift)
                    total += even + odd
                    p[strip, tile // 2, tile % 2 * 2 + half] = ptx.pack(K, even, odd)
                l[strip, half] = total
                for tile in range(o_tiles):
                    o[strip, tile, x] *= alpha
                    o[strip, tile, x + 1] *= alpha

    @inlined
    def add_values(V, p, o, v_place):
        """Multiply the weights with the values of the tile."""
        for step in range(k_steps):
            upper = (p[0, step, 0], p[0, step, 1], p[0, step, 2], p[0, step, 3])
            lower = (p[1, step, 0], p[1, step, 1], p[1, step, 2], p[1, step, 3])
            for tile in range(0, o_tiles, 2):
                place = advance(v_place, tile // 2)
                b = ptx.ldmatrix_trans(uint32(place + step * DEPTH * row_bytes))
                multiply(V, upper, (b[0], b[1]), o, 0, tile)
                multiply(V, upper, (b[2], b[3]), o, 0, tile + 1)
                multiply(V, lower, (b[0], b[1]), o, 1, tile)
                multiply(V, lower, (b[2], b[3]), o, 1, tile + 1)

    @inlined
    def rows_with_infinity(o, i, n):
        """Return which rows of the warp have a number that is not finite.

        Bit 4 · g + 2 · strip + half is for row g of half a strip. `i` is my first row.
        """
        found = uint32(0)
        for strip in range(2):
            for half in range(2):
                largest = int32(0)
                for tile in range(o_tiles):
                    for e in range(2):
                        x = ptx.magnitude(o[strip, tile, 2 * half + e])
                        largest = max(largest, x)
                largest = max(largest, cuda.shfl_xor_sync(ALL, largest, 1))
                largest = max(largest, cuda.shfl_xor_sync(ALL, largest, 2))
                odd = i + strip * STRIP + half * 8 < n and largest >= int32(INFINITY)
                rows = uint32(cuda.ballot_sync(ALL, odd))
                found |= (rows & uint32(LEADERS)) << uint32(2 * strip + half)
        return found

    @inlined
    def attend_by_key(Q, K, V, O, LSE, head, shared_head, i, first, stop, doublings):
        """Compute a row with the whole warp, key by key; write it if it is not finite."""
        lane = cuda.threadIdx.x % WARP
        mine = uint64(lane * 4)  # byte of my first pair; pairs are a warp apart
        q = cuda.local.array((pairs, 2), float32)
        r = cuda.local.array((pairs, 2), float32)  # my part of the output
        m_row = float32(-math.inf)
        l_row = float32(0.0)
        row = row_of(Q, head, i) + mine
        for c in range(pairs):
            q[c, 0], q[c, 1] = ptx.unpack(Q, ptx.load(row + uint64(c * WARP * 4)))
            r[c, 0], r[c, 1] = float32(0.0), float32(0.0)
        for j in range(first, stop):
            row = row_of(K, shared_head, j) + mine
            x = float32(0.0)
            for c in range(pairs):
                even, odd = ptx.unpack(K, ptx.load(row + uint64(c * WARP * 4)))
                x += q[c, 0] * even + q[c, 1] * odd
            for hop in range(5):
                x += cuda.shfl_xor_sync(ALL, x, 1 << hop)
            x *= doublings
            if x != float32(-math.inf):  # a score of −∞ is no key
                m_new = max(m_row, x)
                alpha = ptx.exp2(m_row - m_new)
                weight = ptx.exp2(x - m_new)
                m_row = m_new
                l_row = alpha * l_row + weight
                row = row_of(V, shared_head, j) + mine
                for c in range(pairs):
                    even, odd = ptx.unpack(V, ptx.load(row + uint64(c * WARP * 4)))
                    r[c, 0] = alpha * r[c, 0] + weight * even
                    r[c, 1] = alpha * r[c, 1] + weight * odd
        largest = int32(0)
        for c in range(pairs):
            for e in range(2):
                largest = max(largest, ptx.magnitude(r[c, e]))
        for hop in range(5):
            largest = max(largest, cuda.shfl_xor_sync(ALL, largest, 1 << hop))
        if largest >= int32(INFINITY):
            inverse = float32(1.0) / l_row
            row = row_of(O, head, i) + mine
            for c in range(pairs):
                pair = ptx.pack(O, r[c, 0] * inverse, r[c, 1] * inverse)
                ptx.store(row + uint64(c * WARP * 4), pair)
            if lane == 0:
                LSE[head, i] = (m_row + math.log2(l_row)) * float32(LN_2)

    def kernel(Q, K, V, O, LSE, lengths, scale, left, right, group):
        t = uint32(cuda.threadIdx.x)
        lane = t % uint32(WARP)
        warp = int32(t // uint32(WARP))
        top = int32(cuda.blockIdx.x * block_q)
        head = uint32(cuda.blockIdx.y)
        shared_head = head // uint32(group)
        n = int32(Q.shape[1])
        length = lengths[head]
        place = int32(top + K.shape[1] - n)  # of the block's first row
        # exp(x) is exp2(x / LN_2). If the scale is 0, −∞ must not become NaN.
        doublings = max(scale * float32(1 / LN_2), float32(TINY))

        tiles = cuda.shared.array(words, uint32, alignment=LINE)
        s = cuda.local.array((2, s_tiles, SUMS), float32)  # scores: strip, tile, sum
        p = cuda.local.array((2, k_steps, SUMS), uint32)  # pairs of weights
        o = cuda.local.array((2, o_tiles, SUMS), float32)
        m = cuda.local.array((2, 2), float32)  # of my rows: strip, half of it
        l = cuda.local.array((2, 2), float32)  # my keys' share of each sum

        # The rows whose addresses I name for `ldmatrix`. It reads four squares of 8 × 8
        # numbers: of Q and V the second is below the first, of K beside it.
        start = ptx.shared_address(tiles)
        q_place = start + place_of(lane % uint32(16), lane // uint32(16))
        v_place = q_place + uint32(v_offset)
        q_place += uint32(warp * ROWS * row_bytes)
        k_row = lane // uint32(16) * uint32(8) + lane % uint32(8)
        k_place = start + place_of(k_row, lane // uint32(8) % uint32(2))
        k_place += uint32(k_offset)

        begin = int32(max(place - left, 0) // block_k * block_k)
        end = int32(min(place + min(block_q, n - top) + right, length))
        my_row = t // uint32(pieces)  # what I copy
        my_piece = t % uint32(pieces)
        mine = place_of(my_row, my_piece)
        byte = uint64(my_piece * uint32(PIECE))
        q_source = row_of(Q, head, top + int32(my_row)) + byte
        copy_rows(block_q, start + mine, q_source, int32(n - top - my_row))

        first_row = int32(place + warp * ROWS)  # the place of the warp's first row
        # All rows of the warp see the keys from `latest` to `soonest`.
        latest = int32(first_row + ROWS - 1 - left)
        soonest = int32(min(first_row + right + 1, length))
        down = int32(lane // uint32(GROUP))  # my first row of a strip
        across = int32(lane % uint32(GROUP) * uint32(2))  # my first column of a tile
        i = int32(top + warp * ROWS + down)  # my first row
        again = uint32(0)  # rows of the warp, as bits
        turn = 0
        while turn < 2:  # the second time if a number is not finite
            for strip in range(2):
                for half in range(2):
                    m[strip, half] = float32(-math.inf)
                    l[strip, half] = float32(0.0)
                for tile in range(o_tiles):
                    for e in range(SUMS):
                        o[strip, tile, e] = float32(0.0)
            k_source = row_of(K, shared_head, begin + int32(my_row)) + byte
            v_source = row_of(V, shared_head, begin + int32(my_row)) + byte
            left_over = int32(length - begin - my_row)
            copy_rows(block_k, start + mine + k_offset, k_source, left_over)
            ptx.commit()
            base = begin
            while base < end:
                ptx.wait()
                cuda.syncthreads()  # K is here, and everybody has read the last V
                copy_rows(block_k, start + mine + v_offset, v_source, left_over)
                ptx.commit()
                make_scores(K, s, q_place, k_place)
                ptx.wait()
                if turn == 1:
                    clean_rows(V, tiles, mine + uint32(v_offset))
                cuda.syncthreads()  # V is here, and everybody has read K
                k_source += uint64(block_k * row_bytes)
                v_source += uint64(block_k * row_bytes)
                left_over = int32(left_over - block_k)
                if base + block_k < end:
                    copy_rows(block_k, start + mine + k_offset, k_source, left_over)
                ptx.commit()
                if base < latest or base + block_k > soonest:
                    key = int32(base + across)
                    rest = int32(length - key)
                    hide(s, int32(first_row + down - key), left, right, rest)
                weigh(K, s, p, o, m, l, doublings)
                add_values(V, p, o, v_place)
                base = int32(base + block_k)
            ptx.wait()  # for the first K, if no tile has been multiplied
            turn += 2
            if turn == 2:
                again = rows_with_infinity(o, i, n)
                if cuda.syncthreads_or(int32(again)):
                    turn = 1

        for strip in range(2):
            for half in range(2):
                x = 2 * half
                total = l[strip, half]
                total += cuda.shfl_xor_sync(ALL, total, 1)
                total += cuda.shfl_xor_sync(ALL, total, 2)
                inverse = float32(0.0)
                if total != float32(0.0):
                    inverse = float32(1.0) / total
                row = int32(i + strip * STRIP + half * 8)
                if row < n:
                    target = row_of(O, head, row) + uint64(2 * across)
                    for tile in range(o_tiles):
                        even = o[strip, tile, x] * inverse
                        odd = o[strip, tile, x + 1] * inverse
                        ptx.store(target + uint64(tile * PIECE), ptx.pack(O, even, odd))
                    lse = m[strip, half] * doublings
                    if total != float32(0.0):
                        lse += math.log2(total)
                    if across == 0:
                        LSE[head, row] = lse * float32(LN_2)
        cuda.syncwarp()  # other threads may write these rows once more
        while again != uint32(0):
            bit = int32(cuda.ffs(again) - 1)
            again &= again - uint32(1)
            y = int32(warp * ROWS + bit // 4 + bit % 2 * 8 + bit % 4 // 2 * STRIP)
            first = int32(max(place + y - left, 0))
            stop = int32(min(place + y + right + 1, length))
            attend_by_key(
                Q, K, V, O, LSE, head, shared_head, top + y, first, stop, doublings
            )

    return kernel


class Tensor(Rung):
    """Products of small matrices by tensor cores; scores and weights in registers."""

    name = "tensor"
    below = "patches"
    merit = "tensor cores multiply small matrices"
    shipped = {64: (128, 64), 128: (128, 32)}
    aligned = True
    dtypes = ("float16", "bfloat16")
    portable = False
    capability = (8, 0)

    def kernel(self, size: Size) -> Kernel:
        return tensor(*size)

    def threads(self, size: Size) -> int:
        return size.block_q

    def shared(self, size: Size) -> int:
        d, block_q, block_k = size
        return (block_q + 2 * block_k) * 2 * d

    def kept(self, size: Size) -> int:
        d, _, block_k = size
        scores, weights, output = block_k, block_k // 2, d
        return scores + weights + output + 8  # m and l of four rows

    def reads_per_product(self, size: Size) -> float:
        """A fragment of eight numbers serves 256 products of a thread, or of Q more."""
        return (2 / ROWS + 1 / size.block_k) / 2

    def check(self, size: Size) -> None:
        """Warps, tiles and what threads copy together have to be whole."""
        d, block_q, block_k = size
        if d % (LINE // 2):
            raise ValueError(f"d: expected a multiple of {LINE // 2}, got {d}")
        pieces = 2 * d // PIECE
        whole = math.lcm(ROWS, pieces)
        if block_q % whole:
            raise ValueError(f"block_q: expected a multiple of {whole}, got {block_q}")
        whole = math.lcm(DEPTH, block_q // pieces)
        if block_k % whole:
            raise ValueError(f"block_k: expected a multiple of {whole}, got {block_k}")


RUNG = Tensor()
