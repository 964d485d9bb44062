"""What attention costs: operations, bytes moved, bytes held, tiles, and a GPU's limits.

All of them are closed forms. The tests compare each with a counter that walks through
the loops. No function here predicts a measured time: `roofline` is a ceiling.

All of it is for one head, with n queries and `keys` keys, in rows of d numbers. A block
has `block_q` queries and a tile has `block_k` keys; the last ones may be shorter.
"""

from collections import Counter
from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from onlinesoftmax import _inputs as inputs
from onlinesoftmax.devices import Multiprocessor

WARP = 32  # threads that run together
REGISTER_UNIT = 256  # a warp gets its registers in multiples of so many
PARTITIONS = 4  # a multiprocessor has so many parts; a warp's registers come from one
SECTOR = 32  # bytes: memory is read and written in pieces of this size
BANKS = 32  # parts of shared memory that can each hand out a word at the same time
WORD = 4  # bytes that a bank hands out at once


# ---- arithmetic ----


def matmul_flops(rows: int, inner: int, columns: int) -> int:
    """Return the multiplications and additions of a product of two matrices.

    Parameters
    ----------
    rows, inner, columns : int
        The product is (rows, inner) @ (inner, columns).

    Returns
    -------
    int
    """
    return 2 * _size("rows", rows) * _size("inner", inner) * _size("columns", columns)


def flops(n: int, d: int, *, keys: int | None = None) -> int:
    """Return the operations of the two products Q·Kᵀ and P·V: 4·n·keys·d.

    Dense or streamed, it is the same number.

    Parameters
    ----------
    n, d : int
        Queries; numbers in a row of q, k and v.
    keys : int, optional
        As many as queries unless given.

    Returns
    -------
    int

    Examples
    --------
    >>> f"{flops(8192, 64):.4g}"
    '1.718e+10'
    """
    n, d, keys = _shape(n, d, keys)
    return matmul_flops(n, d, keys) + matmul_flops(n, keys, d)


def backward_flops(n: int, d: int, *, keys: int | None = None) -> int:
    """Return the operations of the backward pass, 10·n·keys·d: those of five products.

    They are the scores Q·Kᵀ, made again, dP = dO·Vᵀ, dV = Pᵀ·dO, dQ = dS·K and
    dK = dSᵀ·Q. Where the table of weights was kept, there are four.

    Parameters
    ----------
    n, d : int
        Queries; numbers in a row of q, k and v.
    keys : int, optional
        As many as queries unless given.

    Returns
    -------
    int

    Examples
    --------
    >>> backward_flops(8192, 64) / flops(8192, 64)
    2.5
    """
    n, d, keys = _shape(n, d, keys)
    table, to_rows, to_keys = (n, d, keys), (n, keys, d), (keys, n, d)
    products = [table, table, to_keys, to_rows, to_keys]
    return sum(matmul_flops(*product) for product in products)


def rescale_flops(n: int, d: int, block_k: int, *, keys: int | None = None) -> int:
    """Return the multiplications that streaming adds, to rescale its states.

    α·ℓ and α·o are 1 + d multiplications, for every row and tile.

    Parameters
    ----------
    n, d : int
        Queries; numbers in a row of q, k and v.
    block_k : int
        Keys of a tile.
    keys : int, optional
        As many as queries unless given.

    Returns
    -------
    int

    Examples
    --------
    >>> rescale_flops(8192, 64, 64) / flops(8192, 64)
    0.00396728515625
    """
    n, d, keys = _shape(n, d, keys)
    return n * tiles_along(keys, block_k, "block_k") * (1 + d)


def exponentials(n: int, block_k: int | None = None, *, keys: int | None = None) -> int:
    """Return how many exponentials are taken.

    One for each score; and if the keys come in tiles, one for the α of each row and
    tile.

    Parameters
    ----------
    n : int
        Queries.
    block_k : int, optional
        Keys of a tile. Without it all keys come at once, and there is no α.
    keys : int, optional
        As many as queries unless given.

    Returns
    -------
    int
    """
    n, _, keys = _shape(n, 1, keys)
    if block_k is None:
        return n * keys
    return n * keys + n * tiles_along(keys, block_k, "block_k")


# ---- bytes ----


def dense_footprint(n: int, *, keys: int | None = None, itemsize: int = 2) -> int:
    """Return the bytes of the score matrix, not counting q, k, v and the output.

    Weights may overwrite their scores. Code that keeps both needs twice as much.

    Parameters
    ----------
    n : int
        Queries.
    keys : int, optional
        As many as queries unless given.
    itemsize : int
        Bytes of a number.

    Returns
    -------
    int

    Examples
    --------
    >>> dense_footprint(65536) / 2**30
    8.0
    """
    n, _, keys = _shape(n, 1, keys)
    return n * keys * _size("itemsize", itemsize)


def state_footprint(rows: int, d: int, *, itemsize: int = 4) -> int:
    """Return the bytes of the states of some rows: m, ℓ and the d numbers of o.

    Parameters
    ----------
    rows, d : int
    itemsize : int
        Bytes of a number.

    Returns
    -------
    int

    Examples
    --------
    >>> state_footprint(1, 128)
    520
    """
    return _size("rows", rows) * (2 + _size("d", d)) * _size("itemsize", itemsize)


def tiled_footprint(block_q: int, block_k: int, d: int, *, itemsize: int = 4) -> int:
    """Return the bytes streaming holds at once, not counting q, k, v and the output.

    These are the states of `block_q` rows, and one tile of scores. They do not depend
    on the number of queries or keys.

    Parameters
    ----------
    block_q, block_k : int
        Queries of a block; keys of a tile.
    d : int
        Numbers in a row of v.
    itemsize : int
        Bytes of a number.

    Returns
    -------
    int
    """
    scores = _size("block_q", block_q) * _size("block_k", block_k)
    return state_footprint(block_q, d, itemsize=itemsize) + scores * itemsize


def kept_footprint(n: int, *, itemsize: int = 4) -> int:
    """Return the bytes that are kept for the backward pass: one LSE for each query.

    q, k, v and the output, which are kept as well, are not counted. By the definition
    it would be the table of weights, `dense_footprint`.

    Parameters
    ----------
    n : int
        Queries.
    itemsize : int
        Bytes of a number.

    Returns
    -------
    int

    Examples
    --------
    >>> dense_footprint(65536) // kept_footprint(65536)
    32768
    """
    return _size("n", n) * _size("itemsize", itemsize)


def dense_backward_footprint(
    n: int, *, keys: int | None = None, itemsize: int = 2
) -> int:
    """Return the bytes of the two tables that a dense backward pass holds at once.

    They are P, kept since the forward pass, and dP, which dS may overwrite. Not counted
    are the arguments, the output and all gradients.

    Parameters
    ----------
    n : int
        Queries.
    keys : int, optional
        As many as queries unless given.
    itemsize : int
        Bytes of a number.

    Returns
    -------
    int

    Examples
    --------
    >>> dense_backward_footprint(65536) / 2**30
    16.0
    """
    return 2 * dense_footprint(n, keys=keys, itemsize=itemsize)


def tiled_backward_footprint(
    block_q: int, block_k: int, d: int, *, itemsize: int = 4
) -> int:
    """Return the bytes that a backward pass by tiles holds at once.

    These are a tile of P and one of dP, which dS may overwrite; and for each query of
    the block its LSE, its Δ and its row of dQ. Not counted are the arguments, the
    output and all gradients.

    Parameters
    ----------
    block_q, block_k : int
        Queries of a block; keys of a tile.
    d : int
        Numbers in a row of q.
    itemsize : int
        Bytes of a number.

    Returns
    -------
    int

    Examples
    --------
    >>> tiled_backward_footprint(64, 64, 128)
    66048
    """
    tiles = 2 * _size("block_q", block_q) * _size("block_k", block_k)
    rows = block_q * (2 + _size("d", d))
    return (tiles + rows) * _size("itemsize", itemsize)


def dense_traffic(n: int, d: int, *, keys: int | None = None, itemsize: int = 2) -> int:
    """Return the bytes three separate steps move: S = Q·Kᵀ, P = softmax(S), O = P·V.

    Each step reads what it needs and writes what it made. So S and P are each written
    once and read once: 4·n·keys numbers, besides q, k, v and the output.

    Parameters
    ----------
    n, d : int
        Queries; numbers in a row of q, k and v.
    keys : int, optional
        As many as queries unless given.
    itemsize : int
        Bytes of a number.

    Returns
    -------
    int

    Examples
    --------
    >>> dense_traffic(8192, 64)
    541065216
    """
    steps = dense_steps(n, d, keys=keys, itemsize=itemsize)
    return sum(moved for _, moved in steps)


def dense_steps(
    n: int, d: int, *, keys: int | None = None, itemsize: int = 2
) -> list[tuple[int, int]]:
    """Return operations and bytes moved of the three steps S, P and O.

    The exponentials are not counted among the operations.

    Parameters
    ----------
    n, d : int
        Queries; numbers in a row of q, k and v.
    keys : int, optional
        As many as queries unless given.
    itemsize : int
        Bytes of a number.

    Returns
    -------
    list of (int, int)

    Examples
    --------
    >>> dense_steps(10, 4, itemsize=1)
    [(800, 180), (0, 200), (800, 180)]
    """
    n, d, keys = _shape(n, d, keys)
    table, rows, size = n * keys, (n + keys) * d, _size("itemsize", itemsize)
    product = matmul_flops(n, d, keys), (rows + table) * size
    return [product, (0, 2 * table * size), product]


def tiled_traffic(
    n: int, d: int, block_q: int, *, keys: int | None = None, itemsize: int = 2
) -> int:
    """Return the bytes the streaming loop moves, if nothing is ever found in a cache.

    q and the output are moved once, all keys and values once for every block of
    queries.

    Parameters
    ----------
    n, d : int
        Queries; numbers in a row of q, k and v.
    block_q : int
        Queries of a block.
    keys : int, optional
        As many as queries unless given.
    itemsize : int
        Bytes of a number.

    Returns
    -------
    int

    Examples
    --------
    >>> tiled_traffic(8192, 64, block_q=128)
    136314880
    """
    n, d, keys = _shape(n, d, keys)
    reads = key_reads(n, block_q)
    return (2 * n * d + 2 * keys * d * reads) * _size("itemsize", itemsize)


def key_reads(n: int, block_q: int) -> int:
    """Return how often each key is read: once for every block of queries.

    Parameters
    ----------
    n, block_q : int
        Queries, in all and of a block.

    Returns
    -------
    int

    Examples
    --------
    >>> key_reads(8192, 128)
    64
    """
    return tiles_along(_size("n", n), block_q, "block_q")


# ---- tiles ----


def tiles_along(length: int, block: int, name: str = "block") -> int:
    """Return how many blocks cover a length; the last one may be shorter.

    Parameters
    ----------
    length, block : int
    name : str
        The argument that `block` comes from, for an error about it.

    Returns
    -------
    int
    """
    return -(-_size("length", length) // _size(name, block))


class Tiles(NamedTuple):
    """How many tiles there are of each kind.

    Attributes
    ----------
    full, partial, skipped : int
        Tiles of which all, some and none is seen.
    """

    full: int
    partial: int
    skipped: int


def causal_tiles(
    n: int, block_q: int, block_k: int, *, keys: int | None = None
) -> Tiles:
    """Return how many tiles the causal mask shows in full, in part and not at all.

    The last query stands at the last key, as for `masks.causal`.

    Parameters
    ----------
    n : int
        Queries.
    block_q, block_k : int
        Queries of a block; keys of a tile.
    keys : int, optional
        As many as queries unless given.

    Returns
    -------
    Tiles

    Examples
    --------
    >>> causal_tiles(1024, 128, 64)
    Tiles(full=56, partial=16, skipped=56)
    """
    n, _, keys = _shape(n, 1, keys)
    across, full, touched = tiles_along(keys, block_k, "block_k"), 0, 0
    for start in range(0, n, _size("block_q", block_q)):
        stop = min(start + block_q, n)
        first, last = (min(max(row + keys - n, 0), keys) for row in (start + 1, stop))
        full += across if first == keys else first // block_k
        touched += -(-last // block_k)
    rows = tiles_along(n, block_q, "block_q")
    return Tiles(full, touched - full, rows * across - touched)


# ---- the roofline ----


def intensity(operations: float, moved: float) -> float:
    """Return the operations for each byte moved.

    Parameters
    ----------
    operations, moved : float

    Returns
    -------
    float
    """
    return _positive("operations", operations) / _positive("moved", moved)


def ridge(peak: float, bandwidth: float) -> float:
    """Return the intensity above which arithmetic is the limit, and no longer memory.

    Parameters
    ----------
    peak : float
        Operations a second.
    bandwidth : float
        Bytes a second.

    Returns
    -------
    float
        Operations for each byte.

    Examples
    --------
    >>> ridge(312e12, 2.039e12).__round__()
    153
    """
    return _positive("peak", peak) / _positive("bandwidth", bandwidth)


def roofline(per_byte: float, peak: float, bandwidth: float) -> float:
    """Return the most operations a second that peak and bandwidth allow.

    It holds if all bytes come from the memory with that bandwidth. Bytes found in a
    cache come faster, so a program that reads some bytes again may be faster than this.

    Parameters
    ----------
    per_byte : float
        Operations for each byte moved, as `intensity` gives them.
    peak : float
        Operations a second.
    bandwidth : float
        Bytes a second.

    Returns
    -------
    float
    """
    memory = _positive("per_byte", per_byte) * _positive("bandwidth", bandwidth)
    return min(_positive("peak", peak), memory)


def least_time(operations: float, moved: float, peak: float, bandwidth: float) -> float:
    """Return the seconds that arithmetic or memory needs, whichever is slower.

    That is the operations divided by their `roofline`. A program that waits for
    anything else takes longer.

    Parameters
    ----------
    operations, moved : float
        Of the whole program; `moved` are bytes.
    peak : float
        Operations a second.
    bandwidth : float
        Bytes a second.

    Returns
    -------
    float
    """
    return max(
        _amount("operations", operations) / _positive("peak", peak),
        _amount("moved", moved) / _positive("bandwidth", bandwidth),
    )


# ---- a multiprocessor ----


def shared_memory(block_q: int, block_k: int, d: int, *, itemsize: int = 4) -> int:
    """Return the bytes of shared memory for a tile of Q, of K, of V and of the scores.

    Parameters
    ----------
    block_q, block_k : int
        Queries of a block; keys of a tile.
    d : int
        Numbers in a row of q, k and v.
    itemsize : int
        Bytes of a number.

    Returns
    -------
    int

    Examples
    --------
    >>> shared_memory(32, 32, 64), shared_memory(32, 32, 128)
    (28672, 53248)
    """
    rows, keys = _size("block_q", block_q), _size("block_k", block_k)
    numbers = rows * _size("d", d) + 2 * keys * d + rows * keys
    return numbers * _size("itemsize", itemsize)


class Occupancy(NamedTuple):
    """How many blocks of a kernel fit on a multiprocessor, and why not more.

    Attributes
    ----------
    blocks : int
        How many fit.
    share : float
        Their threads, as a share of those that a multiprocessor can hold.
    limit : str
        The resource that allows the fewest blocks.
    limits : dict of str to float
        How many blocks each resource alone would allow; infinity for one that a block
        does not use.
    """

    blocks: int
    share: float
    limit: str
    limits: dict[str, float]


def occupancy(
    threads: int, registers: int, shared: int, on: Multiprocessor
) -> Occupancy:
    """Return how many blocks of a kernel fit on a multiprocessor at the same time.

    Parameters
    ----------
    threads : int
        Threads of a block, at most 1,024.
    registers : int
        Registers of a thread, at most 255.
    shared : int
        Bytes of shared memory of a block.
    on : Multiprocessor

    Returns
    -------
    Occupancy

    Examples
    --------
    >>> from onlinesoftmax.devices import multiprocessor
    >>> occupancy(128, 128, 34 * 1024, multiprocessor("8.0")).blocks
    4
    """
    inputs.integer("threads", threads, 1, 1024, "an integer from 1 to 1024")
    inputs.integer("registers", registers, 0, 255, "an integer from 0 to 255")
    inputs.instance("on", on, Multiprocessor)
    warps = tiles_along(threads, WARP)
    limits = {
        "threads": on.threads // (warps * WARP),
        "blocks": on.blocks,
        "registers": _register_limit(registers, warps, on),
        "shared": _shared_limit(shared, on),
    }
    limit = min(limits, key=limits.__getitem__)
    blocks = int(limits[limit])
    return Occupancy(blocks, blocks * warps * WARP / on.threads, limit, limits)


def _register_limit(registers: int, warps: int, on: Multiprocessor) -> float:
    """Return how many blocks of so many warps get their registers."""
    portions = tiles_along(registers * WARP, REGISTER_UNIT) if registers else 0
    if not portions:
        return inf
    quarter = on.registers // PARTITIONS
    return PARTITIONS * (quarter // (portions * REGISTER_UNIT)) // warps


def _shared_limit(shared: int, on: Multiprocessor) -> float:
    """Return how many blocks get their shared memory, the system's part included."""
    if _size("shared", shared, 0) > on.shared_block:
        return 0
    each = shared + on.shared_reserved
    portion = -(-each // on.shared_unit) * on.shared_unit
    return on.shared // portion if portion else inf


class Bound(NamedTuple):
    """What a multiprocessor needs at least for some work, and what it needs it for.

    Attributes
    ----------
    clocks : float
        As many as its busiest part is busy.
    limit : str
        Which part that is.
    needs : dict of str to float
        The clocks of each part alone: "issue", where each of four schedulers begins one
        instruction of a warp in a clock; "fp32", which multiplies; "memory", shared
        and first cache in one, which serves one wavefront in a clock; and "special"
        functions.
    """

    clocks: float
    limit: str
    needs: dict[str, float]


def bound(
    issued: float,
    products: float,
    wavefronts: float,
    special: float,
    on: Multiprocessor,
) -> Bound:
    """Return the fewest clocks in which a multiprocessor can execute instructions.

    It is not a measurement. It takes for granted that a warp can always go on,
    that nothing waits for memory, and that the parts work at the same time.

    Parameters
    ----------
    issued : float
        All instructions, each counted once for a warp.
    products : float
        Those of them that multiply or add in float32.
    wavefronts : float
        In how many portions shared memory is read and written, at the least
        (`least_wavefronts`), and the first cache, which is the same memory; an access
        to global memory is one at least.
    special : float
        Those that compute special functions.
    on : Multiprocessor

    Returns
    -------
    Bound

    Examples
    --------
    >>> from onlinesoftmax.devices import multiprocessor
    >>> half = bound(100, 50, 20, 1, multiprocessor("9.0"))
    >>> half.clocks, half.limit, half.needs["fp32"]
    (25.0, 'issue', 12.5)
    """
    counts = {
        "issued": issued,
        "products": products,
        "wavefronts": wavefronts,
        "special": special,
    }
    for name, count in counts.items():
        _amount(name, count)
    inputs.instance("on", on, Multiprocessor)
    needs = {
        "issue": issued / PARTITIONS,
        "fp32": products * WARP / on.fp32,
        "memory": float(wavefronts),
        "special": special * WARP / on.special,
    }
    limit = max(needs, key=needs.__getitem__)
    return Bound(needs[limit], limit, needs)


# ---- a warp's memory accesses ----


def transactions(addresses: Iterable[int], width: int, *, sector: int = SECTOR) -> int:
    """Return how many sectors of memory hold the numbers that a warp's threads want.

    Parameters
    ----------
    addresses : iterable of int
        The byte at which each thread's number begins.
    width : int
        Bytes of a number.
    sector : int
        Bytes of a sector.

    Returns
    -------
    int

    Examples
    --------
    >>> transactions(range(0, 128, 4), 4), transactions(range(0, 4096, 128), 4)
    (4, 32)
    """
    last = _size("width", width) - 1
    sector = _size("sector", sector)
    spans = (
        range(a // sector, (a + last) // sector + 1) for a in _addresses(addresses)
    )
    return len({piece for span in spans for piece in span})


def strided_transactions(
    stride: int, width: int = 4, *, start: int = 0, sector: int = SECTOR
) -> int:
    """Return the sectors for a warp whose thread i wants number start + i · stride.

    Parameters
    ----------
    stride : int
        How many numbers neighbouring threads are apart.
    width : int
        Bytes of a number, a divisor of `sector`; the numbers lie side by side.
    start : int
        The number that thread 0 wants.
    sector : int
        Bytes of a sector.

    Returns
    -------
    int

    Examples
    --------
    >>> [strided_transactions(stride) for stride in (0, 1, 2, 8, 64)]
    [1, 4, 8, 32, 32]
    """
    stride, start = _size("stride", stride, 0), _size("start", start, 0)
    per_sector, rest = divmod(_size("sector", sector), _size("width", width))
    if rest:
        came = inputs.shown(width)
        raise ValueError(
            f"width: expected a divisor of the sector, {sector}, got {came}"
        )
    if stride >= per_sector:
        return WARP
    return (start + (WARP - 1) * stride) // per_sector - start // per_sector + 1


def wavefronts(addresses: Iterable[int], width: int = WORD) -> int:
    """Return how often shared memory has to hand out words until a warp has its own.

    Word w lies in bank w mod 32, and in one wavefront each bank hands out one word. A
    word that several threads want is handed out once, to all of them (NVIDIA, CUDA C++
    Programming Guide, "Shared Memory"). Loads of 8 bytes are served half a warp at a
    time, loads of 16 bytes a quarter (NVIDIA, Programming Tensor Cores, GTC 2019,
    S9593). Writing is no different. GPUs may serve two of those parts together, where
    neighbours want the same; `least_wavefronts` says how few that may be.

    Parameters
    ----------
    addresses : iterable of int
        The byte at which each thread's number begins, in the order of the threads, at
        most 32; multiples of `width`, as a GPU demands.
    width : int
        Bytes that a thread reads at once: 1, 2, 4, 8 or 16.

    Returns
    -------
    int

    Examples
    --------
    >>> column, padded = range(0, 32 * 128, 128), range(0, 32 * 132, 132)
    >>> wavefronts(column), wavefronts(padded)
    (32, 1)
    >>> wavefronts(32 * [0]), wavefronts(32 * [0], 16)
    (1, 4)
    """
    if _size("width", width) not in (1, 2, 4, 8, 16):
        raise ValueError(f"width: expected 1, 2, 4, 8 or 16, got {inputs.shown(width)}")
    starts = [_aligned(address, width) for address in _addresses(addresses)]
    if len(starts) > WARP:
        raise ValueError(f"addresses: expected at most {WARP}, got {len(starts)}")
    together = WARP * WORD // max(width, WORD)
    parts = (starts[i : i + together] for i in range(0, len(starts), together))
    return sum(_longest_queue(part, width) for part in parts)


def least_wavefronts(counted: float, accesses: float) -> float:
    """Return the fewest wavefronts that some GPU may take for what was counted.

    `wavefronts` counts each part of a wide load by itself. GPUs may serve two parts
    together where neighbours want the same, and so halve the number: for 7.0 to 7.5 an
    answer in NVIDIA's developer forum says so (topic 77228), on 8.6 and 9.0 a reader of
    it saw it in NVIDIA's profiler (topic 373160). An access still takes one at least.

    Parameters
    ----------
    counted : float
        By `wavefronts`, over all accesses.
    accesses : float
        How many instructions of a warp they are.

    Returns
    -------
    float

    Examples
    --------
    >>> least_wavefronts(wavefronts(32 * [0], 16), 1), least_wavefronts(1, 1)
    (2.0, 1)
    """
    return max(_amount("accesses", accesses), _amount("counted", counted) / 2)


def _aligned(address: int, width: int) -> int:
    """Return the address, which has to be a multiple of `width`."""
    if address % width:
        raise ValueError(f"addresses: expected multiples of {width}, got {address!r}")
    return address


def _longest_queue(starts: list[int], width: int) -> int:
    """Return how many different words are wanted of the bank that is wanted most."""
    words = {byte // WORD for start in starts for byte in range(start, start + width)}
    return max(Counter(word % BANKS for word in words).values())


# ---- arguments ----


def _shape(n: int, d: int, keys: int | None) -> tuple[int, int, int]:
    """Return n, d and the number of keys, which is n unless given; all checked."""
    n, d = _size("n", n), _size("d", d)
    return n, d, n if keys is None else _size("keys", keys)


def _size(name: str, number: int, low: int = 1) -> int:
    """Return an integer of at least `low`."""
    return inputs.integer(name, number, low, inf, f"an integer of at least {low}")


def _positive(name: str, number: float) -> float:
    """Return a number above 0."""
    if not inputs.real(number) > 0:
        raise ValueError(
            f"{name}: expected a number above 0, got {inputs.shown(number)}"
        )
    return number


def _amount(name: str, number: float) -> float:
    """Return a number of at least 0."""
    if not inputs.real(number) >= 0:
        raise ValueError(f"{name}: expected 0 or more, got {inputs.shown(number)}")
    return number


def _addresses(addresses: Iterable[int]) -> list[int]:
    """Return addresses, all of them integers of at least 0."""
    if not isinstance(addresses, Iterable):
        came = inputs.shown(addresses)
        raise ValueError(f"addresses: expected several integers, got {came}")
    return [inputs.count("addresses", address) for address in addresses]
