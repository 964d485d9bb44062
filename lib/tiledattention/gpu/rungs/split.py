"""Split keys: a row's keys are dealt out to many blocks, and their states are merged.

In the other rungs a block has rows of its own, and reads all the keys that they see. A
model that writes a text asks one query at a time, about thousands of keys. Then there
is one row for each head, and most multiprocessors have nothing to do.

So here the keys are dealt out, to the blocks of the grid and to the teams of a block. A
team is eight threads; each has every eighth column. What a team has read is a state
(m, l, o), and states are merged twice, by the same lines: those of the teams through
shared memory, those of the blocks by a second kernel.
"""

import math

from numba import cuda, float32, int32, uint32

from tiledattention.gpu.rung import Kernel, Rung, Size, Work

TEAM = 8  # threads that share a key: in float32, eight columns are a sector of 32 bytes
HOPS = 3  # shuffles until all eight know a sum
ALL = 0xFFFFFFFF  # every thread of the warp takes part in a shuffle
TURNS = 4  # a part has enough keys for so many turns: its merge costs about as much
DEARER = 4  # a row costs about so many times the instructions of one in a full tile
PAD = 8  # unused numbers at the end of a row in shared memory, against bank conflicts


def split(d: int, block_q: int, block_k: int) -> Kernel:
    """Return the kernel that folds a part of the keys.

    Parameters
    ----------
    d : int
        Numbers in a row; a multiple of 8.
    block_q : int
        Rows of a block. Heads that share their keys put their rows together.
    block_k : int
        Teams of a block, and so keys that it takes in at a time. It runs in blocks of
        8 · block_k threads, over a grid of (parts of the keys, blocks of rows, heads of
        keys).

    Returns
    -------
    function
        The kernel; its arguments are those of `naive`, but for the output. That is

        states : (parts, heads · n, d + 2), float32
            For each part and each row o, then m, then l.
    """
    width = d // TEAM  # columns of a thread
    threads = TEAM * block_k
    padded = d + PAD

    def kernel(Q, K, V, states, lengths, scale, left, right, group):
        if K.shape[2] != d or V.shape[2] != d:
            return  # never; but now the compiler knows how far apart two keys are
        t = cuda.threadIdx.x & 1023  # at most 1024: no index is negative
        tx = t % TEAM  # which columns
        ty = t // TEAM  # which keys
        part = cuda.blockIdx.x
        parts = cuda.gridDim.x
        shared_head = uint32(cuda.blockIdx.z)
        n = int32(Q.shape[1])
        keys = int32(K.shape[1])
        rows = n * group  # of all heads that share these keys
        top = cuda.blockIdx.y * block_q  # the block's first row
        count = min(block_q, rows - top)

        # The keys that some row sees, and of these the part that is this block's.
        begin = max(keys - n - left, 0)
        end = min(keys + right, lengths[shared_head * group])
        share = (max(end - begin, 0) + parts - 1) // parts
        begin += part * share
        end = min(begin + share, end)
        last = int32(end - 1)

        q = cuda.local.array((block_q, width), float32)
        k = cuda.local.array(width, float32)
        v = cuda.local.array(width, float32)
        first = cuda.local.array(block_q, int32)
        stop = cuda.local.array(block_q, int32)
        team_m = cuda.local.array(block_q, float32)
        team_l = cuda.local.array(block_q, float32)
        team_o = cuda.local.array((block_q, width), float32)
        head = shared_head * group + top // n
        i = top % n
        for r in range(block_q):
            team_m[r] = float32(-math.inf)
            team_l[r] = float32(0.0)
            for c in range(width):
                q[r, c] = float32(0.0)
                team_o[r, c] = float32(0.0)
            if r < count:
                place = i + keys - n
                first[r] = max(place - left, begin)
                stop[r] = min(place + right + 1, end)
                for c in range(width):
                    q[r, c] = float32(Q[head, i, c * TEAM + tx]) * scale
            i += 1
            if i == n:  # the next row is another head's first
                i = 0
                head += 1

        for base in range(begin, end, block_k):
            key = int32(base + ty)
            near = uint32(min(key, last))  # beyond the end, the last key once more
            for c in range(width):
                k[c] = float32(K[shared_head, near, c * TEAM + tx])
                v[c] = float32(V[shared_head, near, c * TEAM + tx])
            for r in range(block_q):
                if r < count:
                    s = float32(0.0)
                    for c in range(width):
                        s += q[r, c] * k[c]
                    for hop in range(HOPS):
                        s += cuda.shfl_xor_sync(ALL, s, 1 << hop)
                    # A score of −∞ is no key: its weight is 0, but 0 · NaN is NaN.
                    if first[r] <= key < stop[r] and s != float32(-math.inf):
                        m_new = max(team_m[r], s)
                        alpha = math.exp(team_m[r] - m_new)
                        p = math.exp(s - m_new)
                        team_m[r] = m_new
                        team_l[r] = alpha * team_l[r] + p
                        for c in range(width):
                            team_o[r, c] = alpha * team_o[r, c] + p * v[c]

        m_tile = cuda.shared.array((block_q, block_k), float32)
        l_tile = cuda.shared.array((block_q, block_k), float32)
        o_tile = cuda.shared.array((block_q, block_k, padded), float32)
        for r in range(block_q):
            if tx == 0:
                m_tile[r, ty] = team_m[r]
                l_tile[r, ty] = team_l[r]
            for c in range(width):
                o_tile[r, ty, c * TEAM + tx] = team_o[r, c]
        cuda.syncthreads()  # the states of all teams are here

        for x in range(t, count * d, threads):
            r = x // d
            c = x % d
            m = float32(-math.inf)
            l = float32(0.0)
            o = float32(0.0)
            for team in range(block_k):
                m_part = m_tile[r, team]
                l_part = l_tile[r, team]
                o_part = o_tile[r, team, c]
                m_new = max(m, m_part)
                shift = m_new if m_new > float32(-math.inf) else float32(0.0)
                alpha = math.exp(m - shift)
                beta = math.exp(m_part - shift)
                m = m_new
                l = alpha * l + beta * l_part
                o = alpha * o + beta * o_part
            row = shared_head * rows + top + r
            states[part, row, c] = o
            if c == 0:
                states[part, row, d] = m
                states[part, row, d + 1] = l

    return kernel


def merge(d: int) -> Kernel:
    """Return the kernel that merges the states of all parts.

    Parameters
    ----------
    d : int
        Numbers in a row. It runs in blocks of d threads, one for each row, over a grid
        of (rows, heads).

    Returns
    -------
    function
        The kernel; its arguments are `states` as `split` leaves them, O and LSE.
    """

    def kernel(states, O, LSE):
        c = cuda.threadIdx.x  # my column
        i = cuda.blockIdx.x  # my row
        head = cuda.blockIdx.y
        row = head * O.shape[1] + i
        m = float32(-math.inf)
        l = float32(0.0)
        o = float32(0.0)
        for part in range(states.shape[0]):
            m_part = states[part, row, d]
            l_part = states[part, row, d + 1]
            o_part = states[part, row, c]
            m_new = max(m, m_part)
            shift = m_new if m_new > float32(-math.inf) else float32(0.0)
            alpha = math.exp(m - shift)
            beta = math.exp(m_part - shift)
            m = m_new
            l = alpha * l + beta * l_part
            o = alpha * o + beta * o_part

        inverse = float32(1.0) / l if l != float32(0.0) else float32(0.0)
        O[head, i, c] = o * inverse
        if c == 0:
            if l != float32(0.0):
                m += math.log(l)
            LSE[head, i] = m

    return kernel


class Merge(Rung):
    """A block for each row, a thread for each column."""

    name = "merge"
    below = None
    merit = "it merges the states of all parts"
    shipped = {64: (1, 1), 128: (1, 1)}
    has_tiles = False

    def kernel(self, size: Size) -> Kernel:
        return merge(size.d)

    def threads(self, size: Size) -> int:
        return size.d

    def shared(self, size: Size) -> int:
        return 0

    def kept(self, size: Size) -> int:
        return 3  # a column of a state


class Split(Rung):
    """A block for each part of the keys; a team of threads for each key."""

    name = "split"
    below = "patches"
    merit = "few rows keep all multiprocessors busy"
    shipped = {64: (4, 16), 128: (4, 16)}
    blocks = {64: 4, 128: 2}
    small = (2, 4)
    has_tiles = False
    for_few_rows = True
    then = Merge()

    def kernel(self, size: Size) -> Kernel:
        return split(*size)

    def threads(self, size: Size) -> int:
        return TEAM * size.block_k

    def shared(self, size: Size) -> int:
        d, block_q, block_k = size
        return block_q * block_k * (d + PAD + 2) * 4

    def kept(self, size: Size) -> int:
        rows = 2 * size.d // TEAM + 4  # q and o; m, l and the interval
        return size.block_q * rows + 2 * size.d // TEAM  # k and v

    def grid(self, size: Size, work: Work) -> tuple[int, ...]:
        rows = work.n * work.group
        return work.parts, -(-rows // size.block_q), work.heads // work.group

    def parts(self, size: Size, work: Work, keys: int, room: int) -> int:
        """As many as there is room for, if none becomes too small."""
        blocks = max(1, math.prod(self.grid(size, work._replace(parts=1))))
        enough = -(-keys // (TURNS * size.block_k))
        return max(1, min(room // blocks, enough))

    def pays(self, work: Work, block_q: int, multiprocessors: int) -> bool:
        """Return whether few of the rows that a rung with tiles has room for are there.

        Its blocks have `block_q` rows each, and do the work of so many even if there is
        a single one. They run in waves, one on each multiprocessor.
        """
        blocks = work.heads * -(-work.n // block_q)
        waves = -(-blocks // multiprocessors)
        return DEARER * work.heads * work.n < waves * multiprocessors * block_q

    def reads_per_product(self, size: Size) -> float:
        """All rows of a block share what it reads of K and V."""
        return 1 / size.block_q

    def check(self, size: Size) -> None:
        """Every thread of a team has as many columns; warps are whole."""
        if size.d % TEAM:
            raise ValueError(f"d: expected a multiple of {TEAM}, got {size.d}")
        if size.block_k % 4:
            raise ValueError(
                f"block_k: expected a multiple of 4, the teams of a warp, got"
                f" {size.block_k}"
            )


RUNG = Split()
