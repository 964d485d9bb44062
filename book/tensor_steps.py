"""The steps to tensor cores: kernels that multiply queries with tiles of keys.

Numbers are float16, and sums float32. Each step has one idea more than the one before:
how a warp reads its fragments from shared memory, and how the tiles get there. The names
are those of the rung `tensor`, which has all the ideas. Each kernel is made by a function,
so that the sizes are constants to the compiler. The module can be imported without
numba-cuda; the functions need it.

The loop over `step` makes the products. Thread 4 · g + j of a warp has columns 2 · j and
2 · j + 1 of rows g and g + 8 of a product.
"""

from collections.abc import Callable
from typing import Any

from numba import cuda, float32, uint32, uint64

Kernel = Callable[..., None]
Function = Any  # a function that kernels call
# The shape of a product: 16 rows, 8 columns, sums of 16 terms.
STRIP, TILE, DEPTH = 16, 8, 16
WARP = 32
SUMS = 4  # of a thread in a product
PIECE = 16  # bytes that are copied or read at once: eight numbers
LINE = 128  # bytes of all banks
PADDING = 8  # unused numbers that move each row to other banks than the row above


# ---- step by step ----


def loads(d: int, keys: int, warps: int, padding: int = 0) -> Kernel:
    """Return the kernel that loads each register of a fragment by itself.

    Parameters
    ----------
    d : int
        Numbers in a row, a multiple of 64.
    keys : int
        Rows of a tile of keys, a multiple of 16.
    warps : int
        Warps of a block; each has 16 queries.
    padding : int
        Unused numbers after each row in shared memory, a multiple of 8.

    Returns
    -------
    function
        The kernel. Its arguments are `Q` and `K`, rows of float16, and `S`, the matrix of
        their products in float32. `K` has any number of tiles.
    """
    multiply = multiplication()

    @inlined
    def product(K, s, tiles, row, key, lane):
        g, j = lane // uint32(4), lane % uint32(4)

        for step in range(d // DEPTH):
            c = uint32(step * DEPTH // 2) + j  # two numbers are one word
            a = (
                tiles[row + g, c],
                tiles[row + g + uint32(8), c],
                tiles[row + g, c + uint32(4)],
                tiles[row + g + uint32(8), c + uint32(4)],
            )
            for tile in range(keys // TILE):
                r = key + uint32(tile * TILE) + g
                b = (tiles[r, c], tiles[r, c + uint32(4)])
                multiply(K, a, b, s, 0, tile)

    return in_turn(product, in_rows(d + padding), d, keys, warps, padding=padding)


def ldmatrix(d: int, keys: int, warps: int, padding: int = 0) -> Kernel:
    """Return the kernel in which one instruction loads four registers of all threads.

    The parameters, and the kernel's arguments, are those of `loads`.
    """
    from tiledattention.gpu.rungs import _ptx as ptx

    place_of = in_rows(d + padding)
    row_bytes = 2 * (d + padding)
    multiply, places = multiplication(), places_by(place_of)

    @inlined
    def product(K, s, tiles, row, key, lane):
        q_place, k_place = places(tiles, row, key, lane)

        for step in range(d // DEPTH):
            right = uint32(step * 2 * PIECE)
            a = ptx.ldmatrix(q_place + right)
            for tile in range(0, keys // TILE, 2):
                down = uint32(tile * TILE * row_bytes)
                b = ptx.ldmatrix(k_place + right + down)
                multiply(K, a, (b[0], b[1]), s, 0, tile)
                multiply(K, a, (b[2], b[3]), s, 0, tile + 1)

    return in_turn(product, place_of, d, keys, warps, padding=padding)


def padded(d: int, keys: int, warps: int) -> Kernel:
    """Return the kernel of `ldmatrix` for rows of `d + 8` numbers."""
    return ldmatrix(d, keys, warps, PADDING)


def swizzled(d: int, keys: int, warps: int) -> Kernel:
    """Return the kernel of `ldmatrix` with pieces that change places within a row.

    The parameters, and the kernel's arguments, are those of `loads`.
    """
    from tiledattention.gpu.rungs import _ptx as ptx

    place_of, advance = swizzle(d)
    multiply, places = multiplication(), places_by(place_of)

    @inlined
    def product(K, s, tiles, row, key, lane):
        q_place, k_place = places(tiles, row, key, lane)

        for step in range(d // DEPTH):
            a = ptx.ldmatrix(advance(q_place, step))
            place = advance(k_place, step)
            for tile in range(0, keys // TILE, 2):
                b = ptx.ldmatrix(place + uint32(tile * TILE * 2 * d))
                multiply(K, a, (b[0], b[1]), s, 0, tile)
                multiply(K, a, (b[2], b[3]), s, 0, tile + 1)

    return in_turn(product, place_of, d, keys, warps)


def strips(d: int, keys: int, warps: int, order: Any = None) -> Kernel:
    """Return the kernel of `swizzled` in which a fragment of K serves two products.

    The parameters, and the kernel's arguments, are those of `loads`. But a warp has 32
    queries, two strips of 16. `order` is `in_turn` or `ahead`.
    """
    from tiledattention.gpu.rungs import _ptx as ptx

    place_of, advance = swizzle(d)
    multiply, places = multiplication(), places_by(place_of)

    @inlined
    def product(K, s, tiles, row, key, lane):
        q_place, k_place = places(tiles, row, key, lane)

        for step in range(d // DEPTH):
            place = advance(q_place, step)
            upper = ptx.ldmatrix(place)
            lower = ptx.ldmatrix(place + uint32(STRIP * 2 * d))
            place = advance(k_place, step)
            for tile in range(0, keys // TILE, 2):
                b = ptx.ldmatrix(place + uint32(tile * TILE * 2 * d))
                multiply(K, upper, (b[0], b[1]), s, 0, tile)
                multiply(K, upper, (b[2], b[3]), s, 0, tile + 1)
                multiply(K, lower, (b[0], b[1]), s, 1, tile)
                multiply(K, lower, (b[2], b[3]), s, 1, tile + 1)

    return (order or in_turn)(product, place_of, d, keys, warps, strips=2)


def two_tiles(d: int, keys: int, warps: int) -> Kernel:
    """Return the kernel of `strips` that copies the next tile while it multiplies."""
    return strips(d, keys, warps, ahead)


# ---- what the steps share ----


def inlined(function: Callable[..., Any]) -> Function:
    """Return a function for kernels, of which each call becomes the function's text."""
    return cuda.jit(device=True, inline="always")(function)


def multiplication() -> Function:
    """Return the function that adds a · b to a thread's sums of a tile."""
    from tiledattention.gpu.rungs import _ptx as ptx

    @inlined
    def multiply(array, a, b, c, strip, tile):
        x = c[strip, tile]
        x[0], x[1], x[2], x[3] = ptx.mma(array, a, b, (x[0], x[1], x[2], x[3]))

    return multiply


def in_rows(width: int) -> Function:
    """Return the function that says where a piece is, in rows of `width` numbers."""

    @inlined
    def place_of(row, piece):
        return row * uint32(2 * width) + piece * uint32(PIECE)

    return place_of


def swizzle(d: int) -> tuple[Function, Function]:
    """Return two functions: where a piece is, and where the one `2 * step` further is."""

    @inlined
    def place_of(row, piece):
        return row * uint32(2 * d) + (piece ^ row % uint32(8)) * uint32(PIECE)

    @inlined
    def advance(place, step):
        within = step * 2 * PIECE % LINE
        return (place ^ uint32(within)) + uint32(step * 2 * PIECE - within)

    return place_of, advance


def places_by(place_of: Function) -> Function:
    """Return the function for the addresses in Q and K that a thread gives `ldmatrix`.

    The instruction reads four squares of 8 × 8 numbers. Of Q the second is below the
    first, of K beside it.
    """
    from tiledattention.gpu.rungs import _ptx as ptx

    @inlined
    def places(tiles, row, key, lane):
        start = ptx.shared_address(tiles)
        q_row = row + lane % uint32(16)
        q_place = start + place_of(q_row, lane // uint32(16))
        k_row = key + lane // uint32(16) * uint32(8) + lane % uint32(8)
        k_place = start + place_of(k_row, lane // uint32(8) % uint32(2))
        return q_place, k_place

    return places


def ends(
    place_of: Function, d: int, keys: int, warps: int, strips: int
) -> tuple[Function, ...]:
    """Return what is before and after a product: four functions, in their order."""
    from tiledattention.gpu.rungs import _ptx as ptx

    pieces = 2 * d // PIECE
    high = warps * WARP // pieces  # rows that are copied at the same time

    @inlined
    def mine():
        """Return my number in the warp, and the warp's first row."""
        t = uint32(cuda.threadIdx.x)
        return t % uint32(WARP), t // uint32(WARP) * uint32(strips * STRIP)

    @inlined
    def copy(array, first, count, tiles, row):
        """Start to copy `count` rows, from `first` on, to `row` and the rows below it."""
        t = uint32(cuda.threadIdx.x)
        down, piece = t // uint32(pieces), t % uint32(pieces)
        target = ptx.shared_address(tiles)
        byte = uint64(first + down) * uint64(2 * d) + uint64(piece * uint32(PIECE))
        source = ptx.address(array) + byte
        for i in range(0, count, high):
            place = target + place_of(row + uint32(i) + down, piece)
            ptx.copy(place, source + uint64(i * 2 * d), uint32(PIECE))

    @inlined
    def clear(s):
        """Set my sums to 0."""
        for strip in range(strips):
            for tile in range(keys // TILE):
                for e in range(SUMS):
                    s[strip, tile, e] = float32(0.0)

    @inlined
    def write(S, s, row, base, lane):
        """Write my sums; they begin at this row and this column."""
        down, across = row + lane // uint32(4), base + lane % uint32(4) * uint32(2)
        for strip in range(strips):
            for tile in range(keys // TILE):
                for e in range(SUMS):
                    y = down + uint32(strip * STRIP + e // 2 * 8)
                    x = across + uint32(tile * TILE + e % 2)
                    S[y, x] = s[strip, tile, e]

    return mine, copy, clear, write


def in_turn(
    product: Function,
    place_of: Function,
    d: int,
    keys: int,
    warps: int,
    *,
    strips: int = 1,
    padding: int = 0,
) -> Kernel:
    """Return the kernel that copies a tile, waits for it and multiplies, tile by tile."""
    from tiledattention.gpu.rungs import _ptx as ptx

    queries = warps * strips * STRIP
    shape = (queries + keys, (d + padding) // 2)
    sums = (strips, keys // TILE, SUMS)
    mine, copy, clear, write = ends(place_of, d, keys, warps, strips)

    def kernel(Q, K, S):
        lane, row = mine()
        tiles = cuda.shared.array(shape, uint32, alignment=LINE)
        s = cuda.local.array(sums, float32)
        copy(Q, uint32(0), queries, tiles, uint32(0))

        base, total = uint32(0), uint32(K.shape[0])
        while base < total:
            copy(K, base, keys, tiles, uint32(queries))
            ptx.commit()
            ptx.wait()
            cuda.syncthreads()  # all copies of the tile have arrived
            clear(s)
            product(K, s, tiles, row, uint32(queries), lane)
            cuda.syncthreads()  # all warps have read the tile
            write(S, s, row, base, lane)
            base += uint32(keys)

    return kernel


def ahead(
    product: Function, place_of: Function, d: int, keys: int, warps: int, *, strips: int
) -> Kernel:
    """Return the kernel that starts to copy the next tile before it multiplies one."""
    from tiledattention.gpu.rungs import _ptx as ptx

    queries = warps * strips * STRIP
    shape = (queries + 2 * keys, d // 2)
    sums = (strips, keys // TILE, SUMS)
    mine, copy, clear, write = ends(place_of, d, keys, warps, strips)

    def kernel(Q, K, S):
        lane, row = mine()
        tiles = cuda.shared.array(shape, uint32, alignment=LINE)
        s = cuda.local.array(sums, float32)
        here, there = uint32(queries), uint32(queries + keys)
        copy(Q, uint32(0), queries, tiles, uint32(0))
        copy(K, uint32(0), keys, tiles, here)
        ptx.commit()

        base, total = uint32(0), uint32(K.shape[0])
        while base < total:
            ptx.wait()
            cuda.syncthreads()  # this tile has arrived, and the last one is read
            if base + uint32(keys) < total:
                copy(K, base + uint32(keys), keys, tiles, there)
            ptx.commit()
            clear(s)
            product(K, s, tiles, row, here, lane)
            write(S, s, row, base, lane)
            here, there = there, here
            base += uint32(keys)

    return kernel


# ---- a tile's way to shared memory ----


def through_registers(d: int, keys: int, threads: int, number: Any = uint32) -> Kernel:
    """Return the kernel that loads 16 bytes and then stores them.

    Parameters
    ----------
    d : int
        Numbers of 16 bits in a row.
    keys : int
        Rows of the tile.
    threads : int
        Threads of a block.
    number : type
        What an instruction loads: uint16, uint32 or uint64.

    Returns
    -------
    function
        The kernel. Its arguments are `K` and `out`, arrays of `keys` rows of such numbers.
        It copies `K` to shared memory, and from there to `out`.
    """
    width = 16 * d // number.bitwidth
    few = 8 * PIECE // number.bitwidth
    high = threads * few // width

    def kernel(K, out):
        t = uint32(cuda.threadIdx.x)
        tile = cuda.shared.array((keys, width), number, alignment=PIECE)
        row = t // uint32(width // few)
        c = t % uint32(width // few) * uint32(few)
        for i in range(0, keys, high):
            r = uint32(i) + row
            for e in range(few):
                tile[r, c + uint32(e)] = K[r, c + uint32(e)]
        cuda.syncthreads()

        for i in range(0, keys, high):
            r = uint32(keys - 1 - i) - row  # other threads have copied this row
            for e in range(few):
                out[r, c + uint32(e)] = tile[r, c + uint32(e)]

    return kernel


def asynchronous(d: int, keys: int, threads: int) -> Kernel:
    """Return the kernel that starts all copies, and then waits for them.

    The parameters, and the kernel's arguments, are those of `through_registers`, for
    numbers of 32 bits.
    """
    from tiledattention.gpu.rungs import _ptx as ptx

    width = d // 2
    few = PIECE // 4
    high = threads * few // width

    def kernel(K, out):
        t = uint32(cuda.threadIdx.x)
        tile = cuda.shared.array((keys, width), uint32, alignment=PIECE)
        row = t // uint32(width // few)
        c = t % uint32(width // few) * uint32(few)
        place = ptx.shared_address(tile) + t * uint32(PIECE)
        source = ptx.address(K) + uint64(t * uint32(PIECE))
        for i in range(0, keys, high):
            down = i * 2 * d
            ptx.copy(place + uint32(down), source + uint64(down), uint32(PIECE))
        ptx.commit()
        ptx.wait()
        cuda.syncthreads()

        for i in range(0, keys, high):
            r = uint32(keys - 1 - i) - row  # other threads have copied this row
            for e in range(few):
                out[r, c + uint32(e)] = tile[r, c + uint32(e)]

    return kernel
