"""What one multiprocessor can hold and do: occupancy, and the least time for some work.

Closed forms over the limits that `devices` lists. A bound is not a measurement.
"""

from math import inf
from typing import NamedTuple

from kernellab.devices import PARTITIONS, REGISTER_UNIT, WARP, Multiprocessor
from onlinesoftmax import inputs
from onlinesoftmax.costs import tiles_along
from onlinesoftmax.inputs import amount, at_least


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
    rows, keys = (
        at_least("block_q", block_q),
        at_least("block_k", block_k),
    )
    numbers = rows * at_least("d", d) + 2 * keys * d + rows * keys
    return numbers * at_least("itemsize", itemsize)


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
    >>> from kernellab.devices import multiprocessor
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
    if at_least("shared", shared, 0) > on.shared_block:
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
    >>> from kernellab.devices import multiprocessor
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
        amount(name, count)
    inputs.instance("on", on, Multiprocessor)
    needs = {
        "issue": issued / PARTITIONS,
        "fp32": products * WARP / on.fp32,
        "memory": float(wavefronts),
        "special": special * WARP / on.special,
    }
    limit = max(needs, key=needs.__getitem__)
    return Bound(needs[limit], limit, needs)
