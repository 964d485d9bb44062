"""What attention costs: operations, bytes moved, bytes held, tiles.

All of them are closed forms. The tests compare each with a counter that walks through
the loops. No function here predicts a measured time: `roofline` is a ceiling.

Arguments mean the same everywhere. There is one head, with `n` queries and `keys` keys,
as many as queries unless given; a row of q, k and v has `d` numbers of `itemsize`
bytes. A block has `block_q` queries and a tile `block_k` keys; the last ones may be
shorter. `peak` is in operations a second, `bandwidth` in bytes a second, and `moved` in
bytes.
"""

from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from onlinesoftmax.inputs import amount, at_least, positive
from onlinesoftmax.moved import warn

# ---- arithmetic ----


def matmul_flops(rows: int, inner: int, columns: int) -> int:
    """Return the multiplications and additions of (rows, inner) @ (inner, columns)."""
    return (
        2
        * at_least("rows", rows)
        * at_least("inner", inner)
        * at_least("columns", columns)
    )


def flops(n: int, d: int, *, keys: int | None = None) -> int:
    """Return the operations of the two products Q·Kᵀ and P·V: 4·n·keys·d.

    Dense or streamed, it is the same number.

    >>> f"{flops(8192, 64):.4g}"
    '1.718e+10'
    """
    n, d, keys = _shape(n, d, keys)
    return matmul_flops(n, d, keys) + matmul_flops(n, keys, d)


def backward_flops(n: int, d: int, *, keys: int | None = None) -> int:
    """Return the operations of the backward pass, 10·n·keys·d: those of five products.

    They are the recomputed scores Q·Kᵀ, dP = dO·Vᵀ, dV = Pᵀ·dO, dQ = dS·K and
    dK = dSᵀ·Q. Code that stores the matrix of weights needs four.

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

    >>> rescale_flops(8192, 64, 64) / flops(8192, 64)
    0.00396728515625
    """
    n, d, keys = _shape(n, d, keys)
    return n * tiles_along(keys, block_k, "block_k") * (1 + d)


# ---- bytes ----


def dense_footprint(n: int, *, keys: int | None = None, itemsize: int = 2) -> int:
    """Return the bytes of the score matrix, not counting q, k, v and the output.

    Weights may overwrite their scores. Code that keeps both needs twice as much.

    >>> dense_footprint(65536) / 2**30
    8.0
    """
    n, _, keys = _shape(n, 1, keys)
    return n * keys * at_least("itemsize", itemsize)


def state_footprint(rows: int, d: int, *, itemsize: int = 4) -> int:
    """Return the bytes of the states of some rows: m, ℓ and the d numbers of o.

    >>> state_footprint(1, 128)
    520
    """
    return (
        at_least("rows", rows) * (2 + at_least("d", d)) * at_least("itemsize", itemsize)
    )


def tiled_footprint(block_q: int, block_k: int, d: int, *, itemsize: int = 4) -> int:
    """Return the bytes streaming holds at once, not counting q, k, v and the output.

    These are the states of `block_q` rows, and one tile of scores. They do not depend
    on the number of queries or keys.
    """
    scores = at_least("block_q", block_q) * at_least("block_k", block_k)
    return state_footprint(block_q, d, itemsize=itemsize) + scores * itemsize


def kept_footprint(n: int, *, itemsize: int = 4) -> int:
    """Return the bytes stored for the backward pass: one LSE for each query.

    q, k, v and the output, which are stored as well, are not counted. By the
    definition, the matrix of weights is stored instead: `dense_footprint`.

    >>> dense_footprint(65536) // kept_footprint(65536)
    32768
    """
    return at_least("n", n) * at_least("itemsize", itemsize)


def dense_traffic(n: int, d: int, *, keys: int | None = None, itemsize: int = 2) -> int:
    """Return the bytes three separate steps move: S = Q·Kᵀ, P = softmax(S), O = P·V.

    Each step reads what it needs and writes its result. So S and P are each written
    once and read once: 4·n·keys numbers, besides q, k, v and the output.

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

    >>> dense_steps(10, 4, itemsize=1)
    [(800, 180), (0, 200), (800, 180)]
    """
    n, d, keys = _shape(n, d, keys)
    table, rows, size = n * keys, (n + keys) * d, at_least("itemsize", itemsize)
    product = matmul_flops(n, d, keys), (rows + table) * size
    return [product, (0, 2 * table * size), product]


def tiled_traffic(
    n: int, d: int, block_q: int, *, keys: int | None = None, itemsize: int = 2
) -> int:
    """Return the bytes the streaming loop moves, if no read hits a cache.

    q and the output are moved once, all keys and values once for every block of
    queries.

    >>> tiled_traffic(8192, 64, block_q=128)
    136314880
    """
    n, d, keys = _shape(n, d, keys)
    reads = key_reads(n, block_q)
    return (2 * n * d + 2 * keys * d * reads) * at_least("itemsize", itemsize)


def key_reads(n: int, block_q: int) -> int:
    """Return how often each key is read: once for every block of queries.

    >>> key_reads(8192, 128)
    64
    """
    return tiles_along(at_least("n", n), block_q, "block_q")


# ---- tiles ----


def tiles_along(length: int, block: int, name: str = "block") -> int:
    """Return how many blocks cover a length; the last one may be shorter.

    `name` is the argument that `block` comes from, for an error about it.
    """
    return -(-at_least("length", length) // at_least(name, block))


class Tiles(NamedTuple):
    """How many tiles there are of each kind: all, some or none of their scores seen."""

    full: int
    partial: int
    skipped: int


def causal_tiles(
    n: int, block_q: int, block_k: int, *, keys: int | None = None
) -> Tiles:
    """Return how many tiles the causal mask shows in full, in part and not at all.

    The last query stands at the last key, as for `masks.causal`.

    >>> causal_tiles(1024, 128, 64)
    Tiles(full=56, partial=16, skipped=56)
    """
    n, _, keys = _shape(n, 1, keys)
    across, full, touched = tiles_along(keys, block_k, "block_k"), 0, 0
    for start in range(0, n, at_least("block_q", block_q)):
        stop = min(start + block_q, n)
        first, last = (min(max(row + keys - n, 0), keys) for row in (start + 1, stop))
        full += across if first == keys else first // block_k
        touched += -(-last // block_k)
    rows = tiles_along(n, block_q, "block_q")
    return Tiles(full, touched - full, rows * across - touched)


# ---- the roofline ----


def intensity(operations: float, moved: float) -> float:
    """Return the operations for each byte moved."""
    return positive("operations", operations) / positive("moved", moved)


def ridge(peak: float, bandwidth: float) -> float:
    """Return the intensity above which arithmetic is the limit, and no longer memory.

    >>> ridge(312e12, 2.039e12).__round__()
    153
    """
    return positive("peak", peak) / positive("bandwidth", bandwidth)


def roofline(per_byte: float, peak: float, bandwidth: float) -> float:
    """Return the most operations a second that peak and bandwidth allow.

    It holds if all bytes come from the memory with that bandwidth. Cache hits are
    faster, so a program that reads some bytes again may exceed it.
    """
    memory = positive("per_byte", per_byte) * positive("bandwidth", bandwidth)
    return min(positive("peak", peak), memory)


def least_time(operations: float, moved: float, peak: float, bandwidth: float) -> float:
    """Return the seconds that arithmetic or memory needs, whichever is slower.

    That is the operations divided by their `roofline`. A program that waits for
    anything else takes longer.
    """
    return max(
        amount("operations", operations) / positive("peak", peak),
        amount("moved", moved) / positive("bandwidth", bandwidth),
    )


# ---- arguments ----


def _shape(n: int, d: int, keys: int | None) -> tuple[int, int, int]:
    """Return n, d and the number of keys, which is n unless given; all checked."""
    n, d = at_least("n", n), at_least("d", d)
    return n, d, n if keys is None else at_least("keys", keys)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Find what `kernellab` holds now; the old names warn, and go with 1.0."""
        for home in ("limits", "banks", "devices") if name[0] != "_" else ():
            with suppress(ImportError, AttributeError):
                moved = getattr(import_module(f"kernellab.{home}"), name)
                warn(f"{__name__}.{name}", f"kernellab.{home}.{name}")
                return moved
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
