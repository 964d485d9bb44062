"""What attention costs: operations, bytes moved, bytes held, tiles, and a GPU's limits.

Closed forms all of them, and the tests hold each to a counter that walks the loops. No
time is computed here that anybody has measured: `roofline` gives a ceiling, not a speed.

One head has n queries and `keys` keys (n, unless given), each d numbers wide, as are the
values. Query blocks are `block_q` rows, key tiles `block_k` keys; the last may be short.
Bytes follow from `itemsize`, the bytes of one number.
"""

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from onlinesoftmax import _inputs as inputs
from onlinesoftmax.devices import Multiprocessor

WARP = 32  # threads that are scheduled together
REGISTER_UNIT = 256  # registers are handed out to a warp in such portions,
PARTITIONS = 4  # from the quarter of the multiprocessor that the warp runs in
SECTOR = 32  # bytes: the smallest piece of memory that is moved


# ---- arithmetic ----


def matmul_flops(rows: int, inner: int, columns: int) -> int:
    """Return the multiplications and additions of (rows, inner) @ (inner, columns)."""
    return 2 * _size("rows", rows) * _size("inner", inner) * _size("columns", columns)


def flops(n: int, d: int, *, keys: int | None = None) -> int:
    """Return the operations of the two products Q·Kᵀ and P·V: 4·n·keys·d.

    Dense or streamed, it is the same number.

    Examples
    --------
    >>> f"{flops(8192, 64):.4g}"
    '1.718e+10'
    """
    n, d, keys = _shape(n, d, keys)
    return matmul_flops(n, d, keys) + matmul_flops(n, keys, d)


def rescale_flops(n: int, d: int, block_k: int, *, keys: int | None = None) -> int:
    """Return what streaming adds: α·ℓ and α·o, so 1 + d multiplications a row and tile.

    Examples
    --------
    >>> rescale_flops(8192, 64, 64) / flops(8192, 64)
    0.00396728515625
    """
    n, d, keys = _shape(n, d, keys)
    return n * tiles_along(keys, block_k) * (1 + d)


def exponentials(n: int, block_k: int | None = None, *, keys: int | None = None) -> int:
    """Return how often exp is taken: once a score, and once for α a row and tile.

    Without `block_k` all at once: there is no α.
    """
    n, _, keys = _shape(n, 1, keys)
    return n * keys + (n * tiles_along(keys, block_k) if block_k is not None else 0)


# ---- bytes ----


def dense_footprint(n: int, *, keys: int | None = None, itemsize: int = 2) -> int:
    """Return the bytes of the score matrix, beside q, k, v and the output.

    Its weights may overwrite it; an implementation that keeps both needs twice as much.

    Examples
    --------
    >>> dense_footprint(65536) / 2**30
    8.0
    """
    n, _, keys = _shape(n, 1, keys)
    return n * keys * _size("itemsize", itemsize)


def state_footprint(rows: int, d: int, *, itemsize: int = 4) -> int:
    """Return the bytes of so many rows' states: m, ℓ and the d numbers of o.

    Examples
    --------
    >>> state_footprint(1, 128)
    520
    """
    return _size("rows", rows) * (2 + _size("d", d)) * _size("itemsize", itemsize)


def tiled_footprint(block_q: int, block_k: int, d: int, *, itemsize: int = 4) -> int:
    """Return the bytes streaming holds at once beside q, k, v and the output.

    The states of `block_q` rows and one tile of scores: n is not in it.
    """
    scores = _size("block_q", block_q) * _size("block_k", block_k)
    return state_footprint(block_q, d, itemsize=itemsize) + scores * itemsize


def dense_traffic(n: int, d: int, *, keys: int | None = None, itemsize: int = 2) -> int:
    """Return the bytes three separate steps move: S = Q·Kᵀ, P = softmax(S), O = P·V.

    Each reads what it needs and writes what it made, so S and P are each written once
    and read once: 4·n·keys numbers, beside q, k, v and the output.

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
    """Return operations and bytes moved of the three steps, S, P and O.

    The exponentials are not counted among the operations.

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
    """Return the bytes the streaming loop moves, if nothing is ever in a cache.

    q once, the output once, and all keys and values once for every query block.

    Examples
    --------
    >>> tiled_traffic(8192, 64, block_q=128)
    136314880
    """
    n, d, keys = _shape(n, d, keys)
    reads = key_reads(n, block_q)
    return (2 * n * d + 2 * keys * d * reads) * _size("itemsize", itemsize)


def key_reads(n: int, block_q: int) -> int:
    """Return how often each key is read: once for every query block.

    Examples
    --------
    >>> key_reads(8192, 128)
    64
    """
    return tiles_along(n, block_q, "block_q")


# ---- tiles ----


def tiles_along(length: int, block: int, name: str = "block_k") -> int:
    """Return how many blocks cover a length; the last may be short."""
    return -(-_size("length", length) // _size(name, block))


class Tiles(NamedTuple):
    """How many tiles a mask sees all of, some of, nothing of."""

    full: int
    partial: int
    skipped: int


def causal_tiles(
    n: int, block_q: int, block_k: int, *, keys: int | None = None
) -> Tiles:
    """Return how the causal mask sorts the tiles; the last query sees the last key.

    Examples
    --------
    >>> causal_tiles(1024, 128, 64)
    Tiles(full=56, partial=16, skipped=56)
    """
    n, _, keys = _shape(n, 1, keys)
    across, full, touched = tiles_along(keys, block_k), 0, 0
    for start in range(0, n, _size("block_q", block_q)):
        stop = min(start + block_q, n)
        first, last = (min(max(row + keys - n, 0), keys) for row in (start + 1, stop))
        full += across if first == keys else first // block_k
        touched += -(-last // block_k)
    rows = tiles_along(n, block_q, "block_q")
    return Tiles(full, touched - full, rows * across - touched)


# ---- the roofline ----


def intensity(operations: float, moved: float) -> float:
    """Return operations per byte moved."""
    return _positive("operations", operations) / _positive("moved", moved)


def ridge(peak: float, bandwidth: float) -> float:
    """Return the intensity from which on arithmetic, not memory, is the limit.

    Examples
    --------
    >>> ridge(312e12, 2.039e12).__round__()
    153
    """
    return _positive("peak", peak) / _positive("bandwidth", bandwidth)


def roofline(per_byte: float, peak: float, bandwidth: float) -> float:
    """Return the ceiling in operations a second, at so many operations per byte.

    It holds for bytes that come from the memory with that bandwidth. Those found in a
    cache come faster, and a program that reads them again may go above it.
    """
    memory = _positive("per_byte", per_byte) * _positive("bandwidth", bandwidth)
    return min(_positive("peak", peak), memory)


def least_time(operations: float, moved: float, peak: float, bandwidth: float) -> float:
    """Return the seconds that the slower of arithmetic and memory needs.

    It is the work over its ceiling, for a program that waits for nothing else.
    """
    return max(
        operations / _positive("peak", peak), moved / _positive("bandwidth", bandwidth)
    )


# ---- a multiprocessor ----


def shared_memory(block_q: int, block_k: int, d: int, *, itemsize: int = 4) -> int:
    """Return the bytes of shared memory for a tile of Q, of K, of V and of the scores.

    Examples
    --------
    >>> shared_memory(32, 32, 64), shared_memory(32, 32, 128)
    (28672, 53248)
    """
    rows, keys = _size("block_q", block_q), _size("block_k", block_k)
    numbers = rows * _size("d", d) + 2 * keys * d + rows * keys
    return numbers * _size("itemsize", itemsize)


class Occupancy(NamedTuple):
    """How many blocks fit on a multiprocessor, the share of its threads, and why.

    `limits` says, for each resource, how many blocks it alone would allow; what a block
    does not use has no limit. `limit` names the scarcest.
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
        Of a block, at most 1,024.
    registers : int
        Of a thread, at most 255.
    shared : int
        Bytes of a block.
    on : Multiprocessor

    Examples
    --------
    >>> from onlinesoftmax.devices import multiprocessor
    >>> occupancy(128, 128, 34 * 1024, multiprocessor("8.0")).blocks
    4
    """
    inputs.integer("threads", threads, 1, 1024, "an integer from 1 to 1024")
    inputs.integer("registers", registers, 0, 255, "an integer from 0 to 255")
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
    """Return how many blocks of so many warps the registers last for."""
    portions = tiles_along(registers * WARP, REGISTER_UNIT) if registers else 0
    if not portions:
        return inf
    quarter = on.registers // PARTITIONS
    return PARTITIONS * (quarter // (portions * REGISTER_UNIT)) // warps


def _shared_limit(shared: int, on: Multiprocessor) -> float:
    """Return for how many blocks there is room, with what the system keeps of each."""
    if _size("shared", shared, 0) > on.shared_block:
        return 0
    each = shared + on.shared_reserved
    portion = -(-each // on.shared_unit) * on.shared_unit
    return on.shared // portion if portion else inf


# ---- a warp's memory accesses ----


def transactions(addresses: Iterable[int], width: int, *, sector: int = SECTOR) -> int:
    """Return how many sectors of memory hold what a warp's threads ask for.

    Parameters
    ----------
    addresses : iterable of int
        The byte at which each thread's number begins.
    width : int
        Bytes of that number.

    Examples
    --------
    >>> transactions(range(0, 128, 4), 4), transactions(range(0, 4096, 128), 4)
    (4, 32)
    """
    last = _size("width", width) - 1
    sector = _size("sector", sector)
    spans = (range(a // sector, (a + last) // sector + 1) for a in addresses)
    return len({piece for span in spans for piece in span})


def strided_transactions(
    stride: int, width: int = 4, *, start: int = 0, sector: int = SECTOR
) -> int:
    """Return the sectors of a warp whose thread i wants number start + i·stride.

    Numbers are `width` bytes, a divisor of the sector, and lie one behind the other.

    Examples
    --------
    >>> [strided_transactions(stride) for stride in (0, 1, 2, 8, 64)]
    [1, 4, 8, 32, 32]
    """
    stride, start = _size("stride", stride, 0), _size("start", start, 0)
    per_sector, rest = divmod(_size("sector", sector), _size("width", width))
    if rest:
        raise ValueError(f"width: expected a divisor of {sector}, got {width!r}")
    if stride >= per_sector:
        return WARP
    return (start + (WARP - 1) * stride) // per_sector - start // per_sector + 1


# ---- what comes in ----


def _shape(n: int, d: int, keys: int | None) -> tuple[int, int, int]:
    """Return n, d and the number of keys, which is n unless given."""
    n, d = _size("n", n), _size("d", d)
    return n, d, n if keys is None else _size("keys", keys)


def _size(name: str, number: int, low: int = 1) -> int:
    """Return an integer of at least `low`."""
    return inputs.integer(name, number, low, inf, f"an integer of at least {low}")


def _positive(name: str, number: float) -> float:
    """Return a number above 0."""
    if not number > 0:
        raise ValueError(f"{name}: expected a number above 0, got {number!r}")
    return number
