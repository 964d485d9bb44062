"""The kernels of the laboratory: small ones, taken from their Python to instructions.

Each is made by a function, as the rungs of the ladder are, so that the sizes are
constants to the compiler. They copy a tile of keys to shared memory, as the rungs do,
and then add up its columns, so that there is something to check. They differ in how a
thread finds its place in the tile, and give the same sums.
"""

from collections.abc import Callable

import numpy as np
from numba import cuda, float32, uint32

Kernel = Callable[..., None]


def plain(d: int, keys: int, threads: int) -> Kernel:
    """Return the copy as one writes it first: every number signed, `//` and `%`.

    Parameters
    ----------
    d : int
        Numbers in a row.
    keys : int
        Rows of the tile.
    threads : int
        Threads of a block, at least `d`.

    Returns
    -------
    function
        The kernel. Its arguments are `K`, the rows; `sums`, an array of `d` numbers; and
        `base`, the first row of the tile.
    """
    tile = keys * d

    def kernel(K, sums, base):
        t = cuda.threadIdx.x
        k_tile = cuda.shared.array((keys, d), float32)
        for x in range(t, tile, threads):  # neighbours copy neighbours
            r = x // d
            c = x % d
            k_tile[r, c] = K[base + r, c]
        cuda.syncthreads()  # nobody reads before all have written

        if t < d:
            total = float32(0.0)
            for j in range(keys):
                total += k_tile[j, t]
            sums[t] = total

    return kernel


def mended(d: int, keys: int, threads: int) -> Kernel:
    """Return the same copy in numbers that cannot be negative, and with a `while`.

    A number without a sign needs no mending after a division, and as an index cannot
    count from the end. A `while` has no length to work out first, and no turns to count.

    Parameters
    ----------
    d, keys, threads : int

    Returns
    -------
    function
        The kernel; its arguments are those of `plain`.
    """
    tile = keys * d
    width = np.uint32(d)

    def kernel(K, sums, base):
        t = cuda.threadIdx.x
        k_tile = cuda.shared.array((keys, d), float32)
        x = uint32(t)
        while x < tile:
            r = x // width
            c = x % width
            k_tile[r, c] = K[uint32(base) + r, c]
            x += uint32(threads)
        cuda.syncthreads()

        if t < d:
            total = float32(0.0)
            for j in range(keys):
                total += k_tile[j, t]
            sums[t] = total

    return kernel


# ---- the copy loop, mended step by step ----


def shifted(d: int, keys: int, threads: int) -> Kernel:
    """Return the copy with a shift in place of `//`, and a mask in place of `%`.

    Parameters
    ----------
    d : int
        A power of two, as in all that follow.
    keys, threads : int

    Returns
    -------
    function
        The kernel; its arguments are those of `plain`.
    """
    tile = keys * d
    bits, low = d.bit_length() - 1, d - 1

    def kernel(K, sums, base):
        t = cuda.threadIdx.x
        k_tile = cuda.shared.array((keys, d), float32)
        for x in range(t, tile, threads):
            r = x >> bits
            c = x & low
            k_tile[r, c] = K[base + r, c]
        cuda.syncthreads()

        if t < d:
            total = float32(0.0)
            for j in range(keys):
                total += k_tile[j, t]
            sums[t] = total

    return kernel


def counted(d: int, keys: int, threads: int) -> Kernel:
    """Return the copy of `shifted`, with a loop that is equally long for every thread.

    Parameters
    ----------
    d, keys, threads : int
        The threads share the tile out evenly, here and in all that follow.

    Returns
    -------
    function
        The kernel; its arguments are those of `plain`.
    """
    tile = keys * d
    bits, low = d.bit_length() - 1, d - 1

    def kernel(K, sums, base):
        t = cuda.threadIdx.x
        k_tile = cuda.shared.array((keys, d), float32)
        for start in range(0, tile, threads):
            x = start + t
            r = x >> bits
            c = x & low
            k_tile[r, c] = K[base + r, c]
        cuda.syncthreads()

        if t < d:
            total = float32(0.0)
            for j in range(keys):
                total += k_tile[j, t]
            sums[t] = total

    return kernel


def unsigned(d: int, keys: int, threads: int) -> Kernel:
    """Return the copy of `counted`, in numbers that cannot be negative.

    Parameters
    ----------
    d, keys, threads : int

    Returns
    -------
    function
        The kernel; its arguments are those of `plain`.
    """
    tile = keys * d
    width = np.uint32(d)

    def kernel(K, sums, base):
        t = cuda.threadIdx.x
        k_tile = cuda.shared.array((keys, d), float32)
        for start in range(0, tile, threads):
            x = uint32(start + t)
            r = x // width
            c = x % width
            k_tile[r, c] = K[uint32(base) + r, c]
        cuda.syncthreads()

        if t < d:
            total = float32(0.0)
            for j in range(keys):
                total += k_tile[j, t]
            sums[t] = total

    return kernel


def hoisted(d: int, keys: int, threads: int) -> Kernel:
    """Return the copy of `unsigned`, with row and column worked out once.

    Parameters
    ----------
    d, keys, threads : int
        `d` divides the number of threads, so a thread keeps to its column.

    Returns
    -------
    function
        The kernel; its arguments are those of `plain`.
    """
    width, down = np.uint32(d), threads // d

    def kernel(K, sums, base):
        t = cuda.threadIdx.x
        k_tile = cuda.shared.array((keys, d), float32)
        row = uint32(t) // width
        c = uint32(t) % width
        for start in range(0, keys, down):
            r = uint32(start) + row
            k_tile[r, c] = K[uint32(base) + r, c]
        cuda.syncthreads()

        if t < d:
            total = float32(0.0)
            for j in range(keys):
                total += k_tile[j, t]
            sums[t] = total

    return kernel


def fours(d: int, keys: int, threads: int) -> Kernel:
    """Return the copy of `hoisted`, with four neighbouring numbers for each thread.

    Parameters
    ----------
    d, keys, threads : int
        A quarter of `d` divides the number of threads.

    Returns
    -------
    function
        The kernel; its arguments are those of `plain`.
    """
    width, down = np.uint32(d // 4), threads * 4 // d

    def kernel(K, sums, base):
        t = cuda.threadIdx.x
        k_tile = cuda.shared.array((keys, d), float32, alignment=16)
        row = uint32(t) // width
        c = uint32(t) % width * uint32(4)
        for start in range(0, keys, down):
            r = uint32(start) + row
            for e in range(4):
                k_tile[r, c + uint32(e)] = K[uint32(base) + r, c + uint32(e)]
        cuda.syncthreads()

        if t < d:
            total = float32(0.0)
            for j in range(keys):
                total += k_tile[j, t]
            sums[t] = total

    return kernel


# ---- more work for a thread ----


def patches(d: int, side: int, across: int) -> Kernel:
    """Return a kernel that multiplies queries and keys, with a patch for each thread.

    Parameters
    ----------
    d : int
        Numbers in a row.
    side : int
        Queries and keys of a thread.
    across : int
        Threads that share a query, and threads that share a key: a block has that many
        times itself.

    Returns
    -------
    function
        The kernel. Its arguments are `Q` and `K`, with a column for each query and each
        key, `side` times `across` of them; and `S`, the matrix of their products.
    """
    threads = across * across
    wide = side * across
    rows, own = np.uint32(wide), np.uint32(side)
    tile = d * wide

    def kernel(Q, K, S):
        t = uint32(cuda.threadIdx.x)
        tx = t % uint32(across)
        ty = t // uint32(across)
        q_tile = cuda.shared.array((d, wide), float32, alignment=16)
        k_tile = cuda.shared.array((d, wide), float32, alignment=16)
        a = cuda.local.array(side, float32)
        b = cuda.local.array(side, float32)
        s = cuda.local.array((side, side), float32)
        for start in range(0, tile, threads):
            x = uint32(start + t)
            q_tile[x // rows, x % rows] = Q[x // rows, x % rows]
            k_tile[x // rows, x % rows] = K[x // rows, x % rows]
        for i in range(side):
            for j in range(side):
                s[i, j] = float32(0.0)
        cuda.syncthreads()

        for step in range(d):
            c = uint32(step)
            for i in range(side):
                a[i] = q_tile[c, ty * own + uint32(i)]
                b[i] = k_tile[c, tx * own + uint32(i)]
            for i in range(side):
                for j in range(side):
                    s[i, j] += a[i] * b[j]
        for i in range(side):
            for j in range(side):
                S[ty * own + uint32(i), tx * own + uint32(j)] = s[i, j]

    return kernel
