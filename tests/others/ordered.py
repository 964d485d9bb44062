"""Threads that order each other without a barrier: flags, fences, locks, tickets.

Each follows the memory model: what is read after a flag was stored before it, with fences
on both sides, and flags are read by atomic operations.
"""

import numpy as np
from numba import cuda, float32, float64, int32, uint32, uint64

from .catalogue import Launch, empty, kernel

# ---- one pass over many blocks ----


@kernel("Merrill and Garland: scan with decoupled look-back, flags", listed=True)
def lookback_flags(out, flags, sums, prefixes, ticket, x):
    s = cuda.shared.array(32, int32)
    note = cuda.shared.array(2, int32)
    t = cuda.threadIdx.x
    if t == 0:
        note[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = note[0]
    mine = x[tile * 32 + t]
    for step in (1, 2, 4, 8, 16):
        other = cuda.shfl_up_sync(0xFFFFFFFF, mine, step)
        if t >= step:
            mine += other
    s[t] = mine
    cuda.syncthreads()
    if t == 0:
        total, before = s[31], int32(0)
        if tile > 0:
            sums[tile] = total
            cuda.threadfence()
            cuda.atomic.exch(flags, tile, 1)
        back = tile - 1
        while back >= 0:
            state = cuda.atomic.add(flags, back, 0)
            if state != 0:
                cuda.threadfence()
                before += prefixes[back] if state == 2 else sums[back]
                back = -1 if state == 2 else back - 1
        prefixes[tile] = before + total
        cuda.threadfence()
        cuda.atomic.exch(flags, tile, 2)
        note[1] = before
    cuda.syncthreads()
    out[tile * 32 + t] = mine + note[1]


@lookback_flags.launch
def _(rng):
    x = rng.integers(-50, 50, 160).astype("i4")
    flags, ticket = np.zeros(5, "i4"), np.zeros(1, "i4")
    sums, prefixes = np.zeros(5, "i4"), empty(5, "i4")
    total = np.cumsum(x, dtype="i4")
    before = x.reshape(5, 32).sum(1).astype("i4")
    before[0] = 0
    changed = {1: np.full(5, 2), 2: before, 4: [5]}
    args = empty(160, "i4"), flags, sums, prefixes, ticket, x
    return Launch(5, 32, args, {0: total, 3: total[31::32]}, changed)


@kernel("Merrill and Garland: scan with decoupled look-back, value and flag in a word")
def lookback_packed(out, states, ticket, x):
    note = cuda.shared.array(2, int32)
    t = cuda.threadIdx.x
    if t == 0:
        note[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = note[0]
    mine = x[tile * 32 + t]
    for step in (1, 2, 4, 8, 16):
        other = cuda.shfl_up_sync(0xFFFFFFFF, mine, step)
        if t >= step:
            mine = int32(mine + other)
    if t == 31:
        before = int32(0)
        if tile > 0:
            cuda.atomic.exch(states, tile, (uint64(1) << uint64(32)) | uint64(mine))
            back = tile - 1
            while back >= 0:
                word = cuda.atomic.or_(states, back, uint64(0))
                state = word >> uint64(32)
                if state != 0:
                    before = int32(before + int32(word))
                    back = -1 if state == 2 else back - 1
        cuda.atomic.exch(
            states, tile, (uint64(2) << uint64(32)) | uint64(before + mine)
        )
        note[1] = before
    cuda.syncthreads()
    out[tile * 32 + t] = mine + note[1]


@lookback_packed.launch
def _(rng):
    x = rng.integers(0, 1000, 128).astype("i4")
    total = np.cumsum(x, dtype="i4")
    args = empty(128, "i4"), np.zeros(4, "u8"), np.zeros(1, "i4"), x
    states = (2 << 32) + total[31::32].astype("u8")
    return Launch(4, 32, args, {0: total}, {1: states, 2: [4]})


@kernel("Yan and others: StreamScan, each block waits for the one before")
def chained_scan(out, ready, carry, ticket, x):
    s = cuda.shared.array(64, float32)
    note = cuda.shared.array(1, int32)
    before = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        note[0] = cuda.atomic.add(ticket, 0, 1)
    cuda.syncthreads()
    tile = note[0]
    s[t] = x[tile * 64 + t]
    step = 1
    while step < 64:
        cuda.syncthreads()
        mine = s[t] + (s[t - step] if t >= step else float32(0))
        cuda.syncthreads()
        s[t] = mine
        step *= 2
    cuda.syncthreads()
    if t == 0:
        before[0] = 0
        if tile > 0:
            while cuda.atomic.cas(ready, tile - 1, 1, 1) != 1:
                pass
            cuda.threadfence()
            before[0] = carry[tile - 1]
        carry[tile] = before[0] + s[63]
        cuda.threadfence()
        cuda.atomic.exch(ready, tile, 1)
    cuda.syncthreads()
    out[tile * 64 + t] = before[0] + s[t]


@chained_scan.launch
def _(rng):
    x = rng.random(192).astype("f4")
    total = np.cumsum(x, dtype="f8")
    flags, ticket = np.zeros(3, "i4"), np.zeros(1, "i4")
    args = empty(192, "f4"), flags, empty(3, "f4"), ticket, x
    outputs = {0: total, 2: total[63::64]}
    return Launch(3, 64, args, outputs, {1: np.ones(3), 3: [3]}, roundings=12)


# ---- flags, barriers ----


@kernel("CUDA programming guide: a flag between two blocks")
def producer_consumer(out, box, flag, x):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 1:
        box[t] = 2 * x[t]
        cuda.threadfence()
        cuda.syncthreads()
        if t == 0:
            cuda.atomic.exch(flag, 0, 1)
    else:
        if t == 0:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
        cuda.syncthreads()
        cuda.threadfence()
        out[t] = box[t] + 1


@producer_consumer.launch
def _(rng):
    x = rng.random(64).astype("f4")
    args = empty(64, "f4"), empty(64, "f4"), np.zeros(1, "i4"), x
    return Launch(2, 64, args, {0: 2 * x + 1, 1: 2 * x}, {2: [1]}, roundings=1)


@kernel("A ring of four slots between a writing and a reading block, by two counters")
def ring_buffer(out, slots, written, read, x):
    t, n = cuda.threadIdx.x, x.shape[0]
    if cuda.blockIdx.x == 0:
        for i in range(n):
            if t == 0:
                while i - cuda.atomic.add(read, 0, 0) >= 4:
                    pass
                cuda.threadfence()
            cuda.syncthreads()
            slots[i % 4, t] = x[i, t]
            cuda.threadfence()
            cuda.syncthreads()
            if t == 0:
                cuda.atomic.add(written, 0, 1)
    else:
        total = int32(0)
        for i in range(n):
            if t == 0:
                while cuda.atomic.add(written, 0, 0) <= i:
                    pass
            cuda.syncthreads()
            cuda.threadfence()
            total = total * 3 + slots[i % 4, t]
            cuda.threadfence()
            cuda.syncthreads()
            if t == 0:
                cuda.atomic.add(read, 0, 1)
        out[t] = total


@ring_buffer.launch
def _(rng):
    x = rng.integers(0, 10, (9, 32)).astype("i4")
    wanted = (3 ** np.arange(8, -1, -1)) @ x
    counters = np.zeros(1, "i4"), np.zeros(1, "i4")
    args = empty(32, "i4"), empty((4, 32), "i4"), *counters, x
    slots = x[[8, 5, 6, 7]]
    return Launch(2, 32, args, {0: wanted, 1: slots}, {2: [9], 3: [9]})


@kernel("Grid-wide barrier: a ticket, and a sense that turns")
def grid_barrier(x, y, count, sense):
    i, n = cuda.grid(1), x.size
    for step in range(4):
        left, right = (i + n - 1) % n, (i + 1) % n
        if step % 2 == 0:
            y[i] = x[left] + x[right]
        else:
            x[i] = y[left] + y[right]
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            turn = (step + 1) & 1
            cuda.threadfence()
            if cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1:
                cuda.atomic.exch(count, 0, 0)
                cuda.threadfence()
                cuda.atomic.exch(sense, 0, turn)
            else:
                while cuda.atomic.add(sense, 0, 0) != turn:
                    pass
            cuda.threadfence()
        cuda.syncthreads()


@grid_barrier.launch
def _(rng):
    x = rng.integers(0, 10, 96).astype("i4")
    steps = [x]
    for _ in range(4):
        steps.append(np.roll(steps[-1], 1) + np.roll(steps[-1], -1))
    args = x, np.zeros(96, "i4"), np.zeros(1, "i4"), np.zeros(1, "i4")
    changed = {0: steps[4], 1: steps[3], 2: [0], 3: [0]}
    return Launch(3, 32, args, changed=changed)


@kernel("Xiao and Feng: grid barrier without atomics on one word, a flag a block")
def grid_barrier_flags(out, partial, arrive, leave, x):
    t, b, n = cuda.threadIdx.x, cuda.blockIdx.x, cuda.gridDim.x
    if t == 0:
        partial[b] = x[b] * x[b]
        cuda.threadfence()
        cuda.atomic.exch(arrive, b, 1)
    if b == 0:
        if t < n:
            while cuda.atomic.or_(arrive, t, 0) != 1:
                pass
        cuda.syncthreads()
        cuda.threadfence()
        if t < n:
            cuda.atomic.exch(leave, t, 1)
    if t == 0:
        while cuda.atomic.or_(leave, b, 0) != 1:
            pass
        cuda.threadfence()
        total = float32(0)
        for j in range(n):
            total += partial[j]
        out[b] = x[b] / total


@grid_barrier_flags.launch
def _(rng):
    x = (rng.random(4) + 1).astype("f4")
    squares = x.astype("f8") ** 2
    args = empty(4, "f4"), empty(4, "f4"), np.zeros(4, "i4"), np.zeros(4, "i4"), x
    outputs = {0: x / squares.sum(), 1: squares}
    ones = np.ones(4)
    return Launch(4, 32, args, outputs, {2: ones, 3: ones}, roundings=8)


@kernel("Warps of one block: a flag in shared memory, threadfence_block")
def warp_flag(out, x):
    box = cuda.shared.array(32, float32)
    flag = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        flag[0] = 0
    cuda.syncthreads()
    if t >= 32:
        box[t - 32] = x[t - 32] * x[t - 32]
        cuda.threadfence_block()
        cuda.syncwarp()
        if t == 32:
            cuda.atomic.exch(flag, 0, 1)
    else:
        if t == 0:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
        cuda.syncwarp()
        cuda.threadfence_block()
        out[t] = box[31 - t]


@warp_flag.launch
def _(rng):
    x = rng.random(32).astype("f4")
    return Launch(1, 64, (empty(32, "f4"), x), {0: (x * x)[::-1]})


@kernel("cuBLAS-like split-K: blocks add to a tile in turn, by a semaphore")
def split_k_semaphore(c, turn, a, b):
    t, k = cuda.threadIdx.x, cuda.blockIdx.x
    i, j = t // 8, t % 8
    mine = float32(0)
    for q in range(k * 8, k * 8 + 8):
        mine += a[i, q] * b[q, j]
    if t == 0:
        while cuda.atomic.add(turn, 0, 0) != k:
            pass
    cuda.syncthreads()
    cuda.threadfence()
    c[i, j] = mine if k == 0 else c[i, j] + mine
    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(turn, 0, 1)


@split_k_semaphore.launch
def _(rng):
    a, b = rng.random((8, 32)).astype("f4"), rng.random((32, 8)).astype("f4")
    args = empty((8, 8), "f4"), np.zeros(1, "i4"), a, b
    return Launch(4, 64, args, {0: a.astype("f8") @ b}, {1: [4]}, roundings=40)


# ---- locks ----


@kernel("CUDA by Example: a lock for a block's result", listed=True)
def spin_lock(total, lock, x, y):
    s = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] * y[i]
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        total[0] += s[0]
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)


@spin_lock.launch
def _(rng):
    x, y = rng.random(256).astype("f4"), rng.random(256).astype("f4")
    args = np.zeros(1, "f4"), np.zeros(1, "i4"), x, y
    changed = {0: [x.astype("f8") @ y], 1: [0]}
    return Launch(4, 64, args, changed=changed, roundings=12)


@kernel("A mutex for each bin, threads of a warp against each other")
def mutex_bins(count, total, locks, bins, x):
    i = cuda.grid(1)
    b = bins[i]
    waiting = True
    while waiting:
        if cuda.atomic.cas(locks, b, 0, 1) == 0:
            cuda.threadfence()
            count[b] += 1
            total[b] += x[i]
            cuda.threadfence()
            cuda.atomic.exch(locks, b, 0)
            waiting = False


@mutex_bins.launch
def _(rng):
    bins = rng.integers(0, 8, 64).astype("i4")
    x = rng.integers(0, 100, 64).astype("f4")
    count = np.bincount(bins, minlength=8)
    total = np.bincount(bins, x, 8)
    args = np.zeros(8, "i4"), np.zeros(8, "f4"), np.zeros(8, "i4"), bins, x
    return Launch(2, 32, args, changed={0: count, 1: total, 2: np.zeros(8)})


@kernel("A ticket lock: first come, first served")
def ticket_lock(data, ticket, serving):
    if cuda.threadIdx.x == 0:
        mine = cuda.atomic.add(ticket, 0, 1)
        while cuda.atomic.add(serving, 0, 0) != mine:
            cuda.nanosleep(uint32(32))
        cuda.threadfence()
        data[0], data[1] = data[1], data[0] + data[1]
        cuda.threadfence()
        cuda.atomic.add(serving, 0, 1)


@ticket_lock.launch
def _(rng):
    data = np.array([0, 1], "i4")
    args = data, np.zeros(1, "i4"), np.zeros(1, "i4")
    return Launch(10, 32, args, changed={0: [55, 89], 1: [10], 2: [10]})


@kernel("Readers and a writer: a lock whose sign says which")
def readers_writer(state, value, seen):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if b % 2 == 0:
            while cuda.atomic.cas(state, 0, 0, -1) != 0:
                pass
            cuda.threadfence()
            value[0] += 1
            value[1] += 1
            cuda.threadfence()
            cuda.atomic.exch(state, 0, 0)
        else:
            old = cuda.atomic.add(state, 0, 0)
            while old < 0 or cuda.atomic.cas(state, 0, old, old + 1) != old:
                old = cuda.atomic.add(state, 0, 0)
            cuda.threadfence()
            seen[b // 2] = value[0] - value[1]
            cuda.threadfence()
            cuda.atomic.sub(state, 0, 1)


@readers_writer.launch
def _(rng):
    args = np.zeros(1, "i4"), np.zeros(2, "i4"), empty(3, "i4")
    return Launch(6, 32, args, {2: np.zeros(3)}, {0: [0], 1: [3, 3]})


# ---- tickets, queues, structures ----


@kernel("Persistent blocks take tiles by a ticket")
def persistent_tiles(out, owners, ticket, x):
    note = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    while True:
        cuda.syncthreads()
        if t == 0:
            note[0] = cuda.atomic.add(ticket, 0, 1)
        cuda.syncthreads()
        tile = note[0]
        if tile * 32 >= x.size:
            break
        out[tile * 32 + t] = x[tile * 32 + t] * tile
        if t == 0:
            cuda.atomic.add(owners, cuda.blockIdx.x, 1)


@persistent_tiles.launch
def _(rng):
    x = rng.integers(0, 99, 224).astype("i4")
    args = empty(224, "i4"), np.zeros(3, "i4"), np.zeros(1, "i4"), x
    changed = {1: None, 2: [7 + 3]}
    return Launch(3, 32, args, {0: x * (np.arange(224) // 32)}, changed)


@kernel("Merrill and others: a level of a breadth-first search")
def bfs_level(level, frontier, count, starts, edges, now, depth):
    i = cuda.grid(1)
    if i < now.size:
        v = now[i]
        for e in range(starts[v], starts[v + 1]):
            u = edges[e]
            if cuda.atomic.cas(level, u, -1, depth) == -1:
                frontier[cuda.atomic.add(count, 0, 1)] = u


@bfs_level.launch
def _(rng):
    near = rng.random((40, 40)) < 0.06
    starts = np.concatenate([[0], near.sum(1).cumsum()]).astype("i4")
    edges = np.nonzero(near)[1].astype("i4")
    level, now = np.full(40, -1, "i4"), np.arange(6, dtype="i4")
    level[now] = 0
    wanted = level.copy()
    found = np.setdiff1d(np.nonzero(near[:6].any(0))[0], now)
    wanted[found] = 1
    frontier, left = np.full(40, -1, "i4"), np.full(40, -1)
    left[: len(found)] = found
    count = np.zeros(1, "i4")
    args = level, frontier, count, starts, edges, now, np.int32(1)
    changed = {0: wanted, 1: left, 2: [len(found)]}
    return Launch(1, 32, args, changed=changed, unordered=(1,))


@kernel("Jaiganesh and Burtscher: connected components by hooking roots")
def union_find(parent, out, edges):
    t = cuda.threadIdx.x
    if t < edges.shape[0]:
        u, v = edges[t, 0], edges[t, 1]
        while True:
            up = cuda.atomic.add(parent, u, 0)
            while up != u:
                u = up
                up = cuda.atomic.add(parent, u, 0)
            up = cuda.atomic.add(parent, v, 0)
            while up != v:
                v = up
                up = cuda.atomic.add(parent, v, 0)
            if u == v:
                break
            high, low = max(u, v), min(u, v)
            if cuda.atomic.cas(parent, high, high, low) == high:
                break
    cuda.syncthreads()
    if t < out.size:
        root = t
        while parent[root] != root:
            root = parent[root]
        out[t] = root


@union_find.launch
def _(rng):
    edges = rng.integers(0, 48, (30, 2)).astype("i4")
    label = np.arange(48)
    for _ in range(48):
        for u, v in edges:
            label[[u, v]] = min(label[u], label[v])
    args = np.arange(48, dtype="i4"), empty(48, "i4"), edges
    return Launch(1, 64, args, {1: label}, {0: None})


@kernel("Farrell: a hash table with linear probing, by compare and swap")
def hash_table(table, counts, found, keys, asked):
    t, slots = cuda.threadIdx.x, table.size
    at = (keys[t] * uint32(2654435761)) % uint32(slots)
    while True:
        old = cuda.atomic.cas(table, at, uint32(0xFFFFFFFF), keys[t])
        if old == uint32(0xFFFFFFFF) or old == keys[t]:
            cuda.atomic.add(counts, at, 1)
            break
        at = (at + uint32(1)) % uint32(slots)
    cuda.syncthreads()
    at = (asked[t] * uint32(2654435761)) % uint32(slots)
    while table[at] != uint32(0xFFFFFFFF) and table[at] != asked[t]:
        at = (at + uint32(1)) % uint32(slots)
    found[t] = counts[at] if table[at] == asked[t] else 0


@hash_table.launch
def _(rng):
    keys = rng.integers(0, 60, 64).astype("u4")
    asked = rng.integers(0, 80, 64).astype("u4")
    wanted = (keys == asked[:, None]).sum(1)
    table = np.full(101, 2**32 - 1, "u4")
    args = table, np.zeros(101, "i4"), empty(64, "i4"), keys, asked
    return Launch(1, 64, args, {2: wanted}, {0: None, 1: None})


@kernel("Linked lists: a node's successor is the head that it replaces")
def linked_lists(heads, following, total, keys):
    t = cuda.threadIdx.x
    following[t] = cuda.atomic.exch(heads, keys[t] % heads.size, t)
    cuda.syncthreads()
    if t < heads.size:
        node, mine = heads[t], int32(0)
        while node >= 0:
            mine += keys[node]
            node = following[node]
        total[t] = mine


@linked_lists.launch
def _(rng):
    keys = rng.integers(0, 1000, 64).astype("i4")
    wanted = [keys[keys % 7 == i].sum() for i in range(7)]
    args = np.full(7, -1, "i4"), np.zeros(64, "i4"), empty(7, "i4"), keys
    return Launch(1, 64, args, {2: wanted}, {0: None, 1: None})


@kernel("A worklist that grows while it is worked off")
def worklist(out, queue, tail, n):
    t = cuda.threadIdx.x
    head, end = 0, 1
    while head < end:
        cuda.syncthreads()
        if head + t < end:
            node = queue[head + t]
            out[node] = node * node
            for child in range(2 * node + 1, min(2 * node + 3, n)):
                queue[cuda.atomic.add(tail, 0, 1)] = child
        cuda.syncthreads()
        head, end = end, tail[0]


@worklist.launch
def _(rng):
    queue, tail = np.zeros(50, "i4"), np.ones(1, "i4")
    args = empty(50, "i4"), queue, tail, np.int32(50)
    i = np.arange(50)
    return Launch(1, 32, args, {0: i * i}, {1: i, 2: [50]}, unordered=(1,))


# ---- atomic operations on numbers ----


@kernel("Numba: atomic.max and min of floats", listed=True)
def atomic_extremes(high, low, x):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(high, i % 4, x[i])
        cuda.atomic.min(low, i % 4, x[i])


@atomic_extremes.launch
def _(rng):
    x = rng.standard_normal(100).astype("f4")
    by = x.reshape(25, 4)
    args = np.full(4, -np.inf, "f4"), np.full(4, np.inf, "f4"), x
    return Launch(4, 32, args, changed={0: by.max(0), 1: by.min(0)})


@kernel("Numba: atomic.nanmax of float64")
def atomic_nanmax(high, x):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.nanmax(high, 0, x[i])


@atomic_nanmax.launch
def _(rng):
    x = rng.standard_normal(50)
    x[::7] = np.nan
    args = np.full(1, -np.inf), x
    return Launch(2, 32, args, changed={0: [np.nanmax(x)]})


@kernel("Atomic sums of float64 and of int64")
def atomic_sums(floats, wholes, x, k):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(floats, i % 3, x[i])
        cuda.atomic.add(wholes, i % 5, k[i])


@atomic_sums.launch
def _(rng):
    x, k = rng.random(90), rng.integers(-(2**60), 2**60, 90)
    args = np.zeros(3), np.zeros(5, "u8"), x, k.astype("u8")
    floats = x.reshape(30, 3).sum(0)
    wholes = k.astype("u8").reshape(18, 5).sum(0)
    return Launch(3, 32, args, changed={0: floats, 1: wholes}, roundings=30)


@kernel("Largest value and where, packed in one word")
def packed_argmax(best, x):
    i = cuda.grid(1)
    if i < x.size:
        word = (uint64(x[i]) << uint64(32)) | uint64(i)
        cuda.atomic.max(best, 0, word)


@packed_argmax.launch
def _(rng):
    x = rng.permutation(100).astype("u4")
    wanted = (99 << 32) | int(x.argmax())
    return Launch(4, 32, (np.zeros(1, "u8"), x), changed={0: [wanted]})


# ---- what looks like a fault and is none ----


@kernel("CUDA guide since Volta: threads return before a barrier", listed=True)
def early_return(out, x, n):
    s = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i >= n:
        return
    s[t] = x[i]
    cuda.syncthreads()
    last = min(64, n - cuda.blockIdx.x * 64) - 1
    out[i] = s[last - t]


@early_return.launch
def _(rng):
    x = rng.random(100).astype("f4")
    wanted = np.concatenate([x[63::-1], x[:63:-1]])
    args = empty(100, "f4"), x, np.int32(100)
    return Launch(2, 64, args, {0: wanted})


@kernel("All lanes store the same sum to one word", listed=True)
def redundant_stores(out, x):
    mine = x[cuda.grid(1)]
    for step in (16, 8, 4, 2, 1):
        mine += cuda.shfl_xor_sync(0xFFFFFFFF, mine, step)
    out[cuda.blockIdx.x] = mine


@redundant_stores.launch
def _(rng):
    x = rng.random(96).astype("f4")
    wanted = x.reshape(3, 32).sum(1, dtype="f8")
    return Launch(3, 32, (empty(3, "f4"), x), {0: wanted}, roundings=6)


@kernel("Two unsized shared arrays are one memory", listed=True)
def two_unsized(out, x, n):
    floats = cuda.shared.array(0, float32)
    wholes = cuda.shared.array(0, int32)
    t = cuda.threadIdx.x
    floats[t] = x[t]
    wholes[n + t] = t * t
    cuda.syncthreads()
    out[t] = floats[n - 1 - t] + wholes[2 * n - 1 - t]


@two_unsized.launch
def _(rng):
    x = rng.integers(0, 100, 32).astype("f4")
    wanted = (x + np.arange(32) ** 2)[::-1]
    args = empty(32, "f4"), x, np.int32(32)
    return Launch(1, 32, args, {0: wanted}, dynamic=256)


@kernel("Numba: dynamic shared memory, cut into parts by slices", listed=True)
def dynamic_shared(out, x, n):
    rows = cuda.shared.array(0, float64)
    first, second = rows[:n], rows[n:]
    t = cuda.threadIdx.x
    first[t] = x[t]
    second[t] = 2 * x[t]
    cuda.syncthreads()
    out[t] = first[n - 1 - t] + second[(t + 1) % n]


@dynamic_shared.launch
def _(rng):
    x = rng.integers(0, 100, 64).astype("f8")
    wanted = x[::-1] + 2 * np.roll(x, -1)
    args = empty(64, "f8"), x, np.int32(64)
    return Launch(1, 64, args, {0: wanted}, dynamic=1024)
