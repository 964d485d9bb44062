"""How the memory accesses of a warp are served: sectors and banks.

Global memory is read in sectors of 32 bytes. Shared memory lies in 32 banks, each of
which hands out one word of 4 bytes at a time.
"""

from collections import Counter
from collections.abc import Iterable

from kernellab.devices import WARP
from onlinesoftmax import inputs
from onlinesoftmax.inputs import amount, at_least

SECTOR = 32  # bytes: global memory is read and written in units of this size
BANKS = 32  # parts of shared memory that can each hand out a word at the same time
WORD = 4  # bytes that a bank hands out at once


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
    stride, start = (
        at_least("stride", stride, 0),
        at_least("start", start, 0),
    )
    per_sector, rest = divmod(at_least("sector", sector), at_least("width", width))
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
    if at_least("width", width) not in (1, 2, 4, 8, 16):
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
    return max(amount("accesses", accesses), amount("counted", counted) / 2)


def _aligned(address: int, width: int) -> int:
    """Return the address, which has to be a multiple of `width`."""
    if address % width:
        raise ValueError(f"addresses: expected multiples of {width}, got {address!r}")
    return address


def _longest_queue(starts: list[int], width: int) -> int:
    """Return how many different words are wanted of the bank that is wanted most."""
    words = {byte // WORD for start in starts for byte in range(start, start + width)}
    return max(Counter(word % BANKS for word in words).values())


def _addresses(addresses: Iterable[int]) -> list[int]:
    """Return addresses, all of them integers of at least 0."""
    if not isinstance(addresses, Iterable):
        came = inputs.shown(addresses)
        raise ValueError(f"addresses: expected several integers, got {came}")
    return [inputs.count("addresses", address) for address in addresses]
