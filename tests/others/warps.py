"""Threads of a warp together: shuffles, votes, matches, masks, syncwarp."""

import numpy as np
from numba import cuda, float32, int32, uint32

from .catalogue import Launch, empty, kernel, zeros_and

ALL = 0xFFFFFFFF


# ---- votes, masks ----


@kernel("CUDA blog: warp-aggregated atomics, by a vote", listed=True)
def warp_aggregated(out, count, x):
    i, lane = cuda.grid(1), cuda.laneid
    keep = i < x.size and x[i] > 0
    mask = cuda.ballot_sync(ALL, keep)
    if mask != 0:
        leader = cuda.ffs(mask) - 1
        base = int32(0)
        if lane == leader:
            base = cuda.atomic.add(count, 0, cuda.popc(mask))
        base = cuda.shfl_sync(ALL, base, leader)
        if keep:
            out[base + cuda.popc(mask & cuda.lanemask_lt())] = x[i]


@warp_aggregated.launch
def _(rng):
    x = rng.integers(-50, 50, 120).astype("i4")
    kept, wanted = x[x > 0], np.full(120, -1, "i4")
    wanted[: len(kept)] = kept
    args = np.full(120, -1, "i4"), np.zeros(1, "i4"), x
    return Launch(2, 64, args, changed={0: wanted, 1: [len(kept)]}, unordered=(0,))


@kernel("CUDA programming guide: activemask, opportunistic", listed=True)
def active_mask(count, x):
    i = cuda.grid(1)
    if x[i] % 3 == 0:
        mask = cuda.activemask()
        if cuda.popc(mask & cuda.lanemask_lt()) == 0:
            cuda.atomic.add(count, 0, cuda.popc(mask))


@active_mask.launch
def _(rng):
    x = rng.integers(0, 100, 96).astype("i4")
    wanted = [np.count_nonzero(x % 3 == 0)]
    return Launch(3, 32, (np.zeros(1, "i4"), x), changed={0: wanted})


@kernel("CUDA guide: shuffles in half warps, each under a mask", listed=True)
def half_warps(out, x):
    t = cuda.threadIdx.x
    mine = x[t]
    if t < 16:
        for step in (8, 4, 2, 1):
            mine += cuda.shfl_xor_sync(0xFFFF, mine, step)
    else:
        for step in (8, 4, 2, 1):
            mine = max(mine, cuda.shfl_xor_sync(0xFFFF0000, mine, step))
    if t % 16 == 0:
        out[t // 16] = mine


@half_warps.launch
def _(rng):
    x = rng.integers(0, 1000, 32).astype("i4")
    return Launch(1, 32, (empty(2, "i4"), x), {0: [x[:16].sum(), x[16:].max()]})


@kernel("CUDA guide: groups of eight lanes, with a mask in a register")
def groups_of_eight(out, x):
    i, lane = cuda.grid(1), cuda.laneid
    mask = uint32(0xFF) << uint32(lane & 24)
    mine = x[i]
    for step in (4, 2, 1):
        mine += cuda.shfl_xor_sync(mask, mine, step)
    if lane % 8 == 0:
        out[i // 8] = mine


@groups_of_eight.launch
def _(rng):
    x = rng.random(64).astype("f4")
    wanted = x.reshape(8, 8).sum(1, dtype="f8")
    return Launch(2, 32, (empty(8, "f4"), x), {0: wanted}, roundings=4)


@kernel("CUDA guide: the lanes that are left shuffle under a vote's mask")
def ragged_tail(out, x):
    i = cuda.grid(1)
    mask = cuda.ballot_sync(ALL, i < x.size)
    if i < x.size:
        leader = 31 - cuda.clz(mask)
        last = cuda.shfl_sync(mask, x[i], leader)
        out[i] = x[i] - last


@ragged_tail.launch
def _(rng):
    x = rng.integers(0, 99, 75).astype("i4")
    ends = np.minimum(np.arange(75) // 32 * 32 + 31, 74)
    return Launch(3, 32, (empty(75, "i4"), x), {0: x - x[ends]})


@kernel("CUDA blog: match_any, a histogram aggregated in the warp")
def match_histogram(bins, x):
    i, lane = cuda.grid(1), cuda.laneid
    mask = cuda.match_any_sync(ALL, x[i])
    if lane == cuda.ffs(mask) - 1:
        cuda.atomic.add(bins, x[i], cuda.popc(mask))


@match_histogram.launch
def _(rng):
    x = rng.integers(0, 8, 96).astype("i4")
    wanted = np.bincount(x, minlength=8).astype("i4")
    return Launch(3, 32, (zeros_and(wanted), x), changed={0: wanted})


@kernel("Numba: match_all")
def match_all(out, x):
    i = cuda.grid(1)
    mask, same = cuda.match_all_sync(ALL, x[i // 2 * 2])
    out[i] = mask if same else uint32(0)


@match_all.launch
def _(rng):
    x = np.repeat(rng.integers(0, 9, 3), 32).astype("i4")
    x[64:] = np.arange(32)
    wanted = np.repeat([2**32 - 1, 2**32 - 1, 0], 32)
    return Launch(3, 32, (empty(96, "u4"), x), {0: wanted})


@kernel("Numba: votes of all, of any, and equal")
def votes(out, x):
    i = cuda.grid(1)
    every = cuda.all_sync(ALL, x[i] > 0)
    some = cuda.any_sync(ALL, x[i] > 8)
    alike = cuda.eq_sync(ALL, x[i] > 4)
    if cuda.laneid == 0:
        out[i // 32] = (4 if every else 0) + (2 if some else 0) + (1 if alike else 0)


@votes.launch
def _(rng):
    x = np.concatenate([np.arange(32), np.full(32, 9), np.full(32, -1)]).astype("i4")
    return Launch(1, 96, (empty(3, "i4"), x), {0: [2, 7, 1]})


@kernel("Numba: syncthreads_count, and, or")
def block_votes(out, x):
    i, b = cuda.grid(1), cuda.blockIdx.x
    count = cuda.syncthreads_count(x[i] % 2)
    every = cuda.syncthreads_and(int32(x[i] >= 0))
    some = cuda.syncthreads_or(int32(x[i] > 95))
    if cuda.threadIdx.x == 0:
        out[b, 0], out[b, 1], out[b, 2] = count, every != 0, some != 0


@block_votes.launch
def _(rng):
    x = rng.integers(0, 90, 192).astype("i4")
    x[70], x[150] = -5, 99
    y = x.reshape(3, 64)
    wanted = np.stack([(y % 2).sum(1), (y >= 0).all(1), (y > 95).any(1)], 1)
    return Launch(3, 64, (empty((3, 3), "i4"), x), {0: wanted})


# ---- shuffles ----


@kernel("CUDA samples: largest value and where, by shuffles")
def warp_argmax(best, where, x):
    i, row = cuda.threadIdx.x, cuda.blockIdx.x
    value, at = x[row, i], int32(i)
    for step in (16, 8, 4, 2, 1):
        other = cuda.shfl_down_sync(ALL, value, step)
        there = cuda.shfl_down_sync(ALL, at, step)
        if other > value or (other == value and there < at):
            value, at = other, there
    if i == 0:
        best[row], where[row] = value, at


@warp_argmax.launch
def _(rng):
    x = rng.integers(0, 20, (4, 32)).astype("f4")
    args = empty(4, "f4"), empty(4, "i4"), x
    return Launch(4, 32, args, {0: x.max(1), 1: x.argmax(1)})


@kernel("Bitonic sort of a warp, by exchanges of shuffles")
def warp_sort(x):
    t = cuda.threadIdx.x
    mine = x[cuda.grid(1)]
    size = 2
    while size <= 32:
        step = size // 2
        while step > 0:
            other = cuda.shfl_xor_sync(ALL, mine, step)
            up = (t & size) == 0 or size == 32
            small = (t & step) == 0
            mine = min(mine, other) if up == small else max(mine, other)
            step //= 2
        size *= 2
    x[cuda.grid(1)] = mine


@warp_sort.launch
def _(rng):
    x = rng.integers(0, 1000, 64).astype("i4")
    wanted = np.sort(x.reshape(2, 32), 1).ravel()
    return Launch(2, 32, (x,), changed={0: wanted})


@kernel("A warp passes rows around a ring: dot products of all pairs")
def ring_of_lanes(out, x):
    t = cuda.threadIdx.x
    mine = travelling = x[t]
    total = float32(0)
    for _ in range(32):
        total += mine * travelling
        travelling = cuda.shfl_sync(ALL, travelling, (t + 1) % 32)
    out[t] = total


@ring_of_lanes.launch
def _(rng):
    x = rng.random(32).astype("f4")
    wanted = x * x.sum(dtype="f8")
    return Launch(1, 32, (empty(32, "f4"), x), {0: wanted}, roundings=40)


@kernel("Shuffles of float64 and int64, in two words")
def wide_shuffles(out, wholes, x, k):
    t = cuda.threadIdx.x
    total, all_bits = x[t], k[t]
    for step in (1, 2, 4, 8, 16):
        total += cuda.shfl_xor_sync(ALL, total, step)
        all_bits ^= cuda.shfl_xor_sync(ALL, all_bits, step)
    if t == 0:
        out[0], wholes[0] = total, all_bits


@wide_shuffles.launch
def _(rng):
    x, k = rng.random(32), rng.integers(-(2**62), 2**62, 32)
    args = empty(1, "f8"), empty(1, "i8"), x, k
    outputs = {0: [x.sum()], 1: [np.bitwise_xor.reduce(k)]}
    return Launch(1, 32, args, outputs, roundings=6)


@kernel("A warp transposes 4 × 8 in registers")
def warp_transpose(out, x):
    t = cuda.threadIdx.x
    row, column = t // 4, t % 4
    out[row, column] = cuda.shfl_sync(ALL, x[t // 8, t % 8], column * 8 + row)


@warp_transpose.launch
def _(rng):
    x = rng.integers(0, 99, (4, 8)).astype("i4")
    return Launch(1, 32, (empty((8, 4), "i4"), x), {0: x.T})


@kernel("Sengupta and others: segmented scan of a warp, heads from a vote")
def segmented_scan(out, x, heads):
    i, lane = cuda.grid(1), cuda.laneid
    mask = uint32(cuda.ballot_sync(ALL, heads[i] != 0) | 1)
    here = uint32(cuda.lanemask_lt()) | (uint32(1) << uint32(lane))
    first = 31 - cuda.clz(uint32(mask & here))
    mine = x[i]
    for step in (1, 2, 4, 8, 16):
        other = cuda.shfl_up_sync(ALL, mine, step)
        if lane - step >= first:
            mine += other
    out[i] = mine


@segmented_scan.launch
def _(rng):
    x = rng.integers(0, 50, 64).astype("i4")
    heads = (rng.random(64) < 0.2).astype("i1")
    wanted, total = [], 0
    for i in range(64):
        total = x[i] if heads[i] or i % 32 == 0 else total + x[i]
        wanted.append(total)
    return Launch(2, 32, (empty(64, "i4"), x, heads), {0: wanted})


# ---- shared memory within a warp ----


@kernel("Prefix sums of a warp in shared memory, with syncwarp")
def syncwarp_scan(out, x):
    s = cuda.shared.array(128, int32)
    t, lane = cuda.threadIdx.x, cuda.threadIdx.x % 32
    s[t] = x[cuda.grid(1)]
    cuda.syncwarp()
    step = 1
    while step < 32:
        other = s[t - step] if lane >= step else int32(0)
        cuda.syncwarp()
        s[t] += other
        cuda.syncwarp()
        step *= 2
    out[cuda.grid(1)] = s[t]


@syncwarp_scan.launch
def _(rng):
    x = rng.integers(-9, 9, 256).astype("i4")
    wanted = np.cumsum(x.reshape(8, 32), 1).ravel()
    return Launch(2, 128, (empty(256, "i4"), x), {0: wanted})


@kernel("Two halves of a warp, each behind its own syncwarp mask")
def syncwarp_halves(out, x):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if t < 16:
        cuda.syncwarp(0xFFFF)
        out[t] = s[15 - t]
    else:
        cuda.syncwarp(0xFFFF0000)
        out[t] = s[16 + (t + 1) % 16] * float32(2)


@syncwarp_halves.launch
def _(rng):
    x = rng.integers(0, 99, 32).astype("f4")
    wanted = np.concatenate([x[15::-1], 2 * np.roll(x[16:], -1)])
    return Launch(1, 32, (empty(32, "f4"), x), {0: wanted})


@kernel("Billeter and others: stream compaction of a block, votes and a scan")
def compaction(out, count, x):
    warps = cuda.shared.array(4, int32)
    t, lane = cuda.threadIdx.x, cuda.laneid
    keep = x[t] % 3 == 0
    mask = cuda.ballot_sync(ALL, keep)
    if lane == 0:
        warps[t // 32] = cuda.popc(mask)
    cuda.syncthreads()
    base = int32(0)
    for w in range(t // 32):
        base += warps[w]
    if keep:
        out[base + cuda.popc(mask & cuda.lanemask_lt())] = x[t]
    if t == 127:
        count[0] = base + warps[3]


@compaction.launch
def _(rng):
    x = rng.integers(0, 1000, 128).astype("i4")
    kept, wanted = x[x % 3 == 0], np.full(128, -1, "i4")
    wanted[: len(kept)] = kept
    args = np.full(128, -1, "i4"), empty(1, "i4"), x
    return Launch(1, 128, args, {1: [len(kept)]}, {0: wanted})


@kernel("Merrill and Grimshaw: a pass of radix sort, ranks from votes")
def radix_pass(out, x, shift):
    counts = cuda.shared.array((4, 4), int32)
    t, lane, warp = cuda.threadIdx.x, cuda.laneid, cuda.threadIdx.x // 32
    digit = (x[t] >> shift) & 3
    rank = int32(0)
    for d in range(4):
        mask = cuda.ballot_sync(ALL, digit == d)
        if digit == d:
            rank = cuda.popc(mask & cuda.lanemask_lt())
        if lane == 0:
            counts[d, warp] = cuda.popc(mask)
    cuda.syncthreads()
    base = int32(0)
    for d in range(4):
        for w in range(4):
            if d < digit or (d == digit and w < warp):
                base += counts[d, w]
    out[base + rank] = x[t]


@radix_pass.launch
def _(rng):
    x = rng.integers(0, 256, 128).astype("i4")
    wanted = x[np.argsort(x >> 2 & 3, kind="stable")]
    return Launch(1, 128, (empty(128, "i4"), x, np.int32(2)), {0: wanted})


@kernel("Hoberock-like reduce by key: runs in a warp end at votes")
def run_lengths(lengths, count, x):
    t = cuda.threadIdx.x
    before = cuda.shfl_up_sync(ALL, x[t], 1)
    head = t == 0 or x[t] != before
    mask = cuda.ballot_sync(ALL, head)
    if head:
        rest = uint32(mask) & ~(uint32(cuda.lanemask_lt()) | (uint32(1) << uint32(t)))
        end = cuda.ffs(rest) - 1 if rest != 0 else 32
        lengths[cuda.popc(mask & cuda.lanemask_lt())] = end - t
    if t == 0:
        count[0] = cuda.popc(mask)


@run_lengths.launch
def _(rng):
    x = np.sort(rng.integers(0, 8, 32)).astype("i4")
    found = np.unique(x, return_counts=True)[1]
    wanted = np.zeros(32, "i4")
    wanted[: len(found)] = found
    args = np.zeros(32, "i4"), empty(1, "i4"), x
    return Launch(1, 32, args, {1: [len(found)]}, {0: wanted})
