"""The rungs of the ladder: which kernels there are, and in which sizes they ship."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from onlinesoftmax import _inputs as inputs
from onlinesoftmax import costs
from onlinesoftmax.gpu.naive import naive
from onlinesoftmax.gpu.registers import SIDE, registers
from onlinesoftmax.gpu.tiled import tiled

WIDTHS = (64, 128)  # what the kernels ship for; narrower rows are filled up with zeros
# Query rows of a block and keys of a tile, by rung and width.
TILES = {
    "naive": {64: (128, 1), 128: (128, 1)},
    "tiled": {64: (128, 32), 128: (128, 32)},
    "registers": {64: (64, 32), 128: (32, 32)},
}
RUNGS = tuple(TILES)
MOST_THREADS = 1024  # of a block
# So many blocks are to fit on a multiprocessor: the compiler then saves registers.
BLOCKS = {("naive", 64): 3}


@dataclass(frozen=True)
class Build:
    """A kernel in one size.

    Attributes
    ----------
    rung : {"naive", "tiled", "registers"}
    d : int
        Numbers in a row of Q, K, V and O.
    block_q, block_k : int
        Query rows of a block; keys of a tile (1 for "naive", which has none).

    Examples
    --------
    >>> build = Build.shipped("registers", 64)
    >>> build.threads, build.shared
    (128, 36352)
    """

    rung: str
    d: int
    block_q: int
    block_k: int = 1

    def __post_init__(self) -> None:
        known(self.rung)
        for name in ("d", "block_q", "block_k"):
            inputs.block_size(getattr(self, name), name)
        if self.rung == "registers":
            self._check_patches()
        if self.threads > MOST_THREADS:
            raise ValueError(
                f"block_q, block_k: expected at most {MOST_THREADS} threads,"
                f" got {self.threads}"
            )

    def _check_patches(self) -> None:
        """Threads that share a row have to be neighbours in one warp."""
        across, rest = divmod(self.block_k, SIDE)
        if rest or across not in (1, 2, 4, 8, 16, 32):
            raise ValueError(
                f"block_k: expected {SIDE} times a power of two, at most"
                f" {SIDE * costs.WARP}, got {self.block_k}"
            )
        if self.d % self.block_k:
            raise ValueError(
                f"block_k: expected a divisor of d = {self.d}, got {self.block_k}"
            )
        if self.block_q % SIDE:
            raise ValueError(
                f"block_q: expected a multiple of {SIDE}, got {self.block_q}"
            )

    @classmethod
    def shipped(cls, rung: str, d: int) -> "Build":
        """Return a rung as it ships, for rows of at most `d` numbers."""
        d = inputs.block_size(d, "d")
        fitting = [width for width in WIDTHS if width >= d]
        if not fitting:
            raise ValueError(f"d: expected at most {WIDTHS[-1]}, got {d}")
        return cls(rung, fitting[0], *TILES[known(rung)][fitting[0]])

    @classmethod
    def small(cls, rung: str, d: int) -> "Build":
        """Return a rung in a size for the simulator: tiles of eight by eight."""
        width = -(-inputs.block_size(d, "d") // 8) * 8
        return cls(known(rung), width, 8, 1 if rung == "naive" else 8)

    @property
    def threads(self) -> int:
        """Return how many threads a block has."""
        patch = SIDE * SIDE if self.rung == "registers" else self.block_k
        return self.block_q * self.block_k // patch

    @property
    def options(self) -> dict[str, Any]:
        """Return how `cuda.jit` is to compile it: for a launch as for a report.

        `launch_bounds` are the threads of a block, and perhaps how many blocks are to
        fit; `lto` leaves the last optimisation to the linker, Numba's own choice.
        """
        blocks = BLOCKS.get((self.rung, self.d))
        bounds = (self.threads,) if blocks is None else (self.threads, blocks)
        return {"fastmath": True, "launch_bounds": bounds, "lto": True}

    @property
    def shared(self) -> int:
        """Return the bytes of shared memory of a block."""
        if self.rung == "naive":
            return 0
        if self.rung == "tiled":
            return 2 * self.block_k * self.d * 4
        rows = (self.block_q + self.block_k) * (self.d + SIDE)
        return (rows + self.block_q * (self.block_k + 2 * SIDE)) * 4

    @property
    def reads_per_product(self) -> float:
        """Return how many numbers a thread reads for each product of a score or output.

        From global memory in rung 1, from shared memory in the others. In rung 3 a
        thread multiplies four rows with four keys, then their weights with its columns.
        """
        if self.rung != "registers":
            return 1.0
        width = self.d * SIDE // self.block_k
        return (2 / SIDE + 1 / SIDE + 1 / width) / 2

    @cached_property
    def kernel(self) -> Callable[..., None]:
        """Return the kernel, a Python function."""
        if self.rung == "naive":
            return naive(self.d)
        make = tiled if self.rung == "tiled" else registers
        return make(self.d, self.block_q, self.block_k)


def known(rung: str) -> str:
    """Return the name of a rung."""
    if not (isinstance(rung, str) and rung in TILES):
        raise ValueError(f"kernel: expected one of {list(RUNGS)}, got {rung!r}")
    return rung
