"""Where each thread of a batch of blocks is: its index, whether it runs, what is next.

A *lane* is an element of the machine's arrays. Blocks of threads lie one after the
other, filled up to whole warps.
"""

import math
from typing import Any

import numpy as np

from ptxsim.faults import Fault
from ptxsim.syntax import Instruction

WARP = 32


class Lanes:
    """The lanes of a machine.

    Attributes
    ----------
    grid, block : tuple of int
        How many blocks, and how many threads of a block, along x, y and z.
    padded : int
        Lanes of a block.
    blocks : int
        Blocks of a batch.
    count : int
    inside : ndarray
        The place of a lane in its block.
    everywhere : ndarray
        The place of a lane among those of all blocks of the grid.
    alive : ndarray of bool
        Which threads run.
    launched : ndarray of bool
        Which threads there are.
    """

    def __init__(
        self, grid: tuple[int, ...], block: tuple[int, ...], lanes: int
    ) -> None:
        self.grid, self.block = (*grid, 1, 1)[:3], (*block, 1, 1)[:3]
        self.threads = math.prod(self.block)
        self.padded = -(-self.threads // WARP) * WARP
        self.total = math.prod(self.grid)
        self.blocks = max(1, min(self.total, lanes // self.padded))
        self.count = self.blocks * self.padded
        self.inside = np.arange(self.count, dtype="i4") % self.padded
        self.lane = (self.inside % WARP).astype("u4")
        self.names = self._special()

    def _special(self) -> dict[str, Any]:
        """Return the special registers, by their name in translated code."""
        x, y, _ = self.block
        place = self.inside % x, self.inside // x % y, self.inside // (x * y)
        names: dict[str, Any] = {}
        for i, axis in enumerate("xyz"):
            names[f"tid_{axis}"] = place[i].astype("u4")
            names[f"ctaid_{axis}"] = np.zeros(self.count, "u4")
            names[f"ntid_{axis}"] = np.uint32(self.block[i])
            names[f"nctaid_{axis}"] = np.uint32(self.grid[i])
        one = np.uint32(1) << self.lane
        names |= {"laneid": self.lane, "warpid": (self.inside // WARP).astype("u4")}
        names |= {"lanemask_eq": one, "lanemask_lt": one - np.uint32(1)}
        names |= {"lanemask_le": one | (one - np.uint32(1))}
        names |= {
            "lanemask_gt": ~names["lanemask_le"],
            "lanemask_ge": ~(one - np.uint32(1)),
        }
        return {f"special_{name}": value for name, value in names.items()}

    def begin_batch(self, first: int) -> None:
        """Take up the blocks from a number on."""
        self.first = first
        number = first + np.arange(self.count) // self.padded
        count = min(self.blocks, self.total - first)
        self.launched = (self.inside < self.threads) & (number < first + count)
        self.alive = self.launched
        self.everywhere = number * self.padded + self.inside
        x, y, _ = self.grid
        place = number % x, number // x % y, number // (x * y)
        for i, axis in enumerate("xyz"):
            self.names[f"special_ctaid_{axis}"][:] = place[i]

    def block_index(self, lane: int) -> tuple[int, ...]:
        """Return the index of the block of a lane, with as many numbers as it needs."""
        return self.index_of(self.first + lane // self.padded)

    def index_of(self, number: int) -> tuple[int, ...]:
        """Return the index of a block, with as many numbers as it needs."""
        x, y, z = self.grid
        index = number % x, number // x % y, number // (x * y)
        return index if z > 1 else index[:2]

    def fault(self, kind: str, detail: str, one: Instruction, lane: int) -> Fault:
        """Return a fault of a thread at an instruction."""
        return Fault(
            kind,
            detail,
            line=one.line,
            text=one.text,
            source=one.source,
            inlined=one.inlined,
            block=self.block_index(lane),
            thread=int(self.inside[lane]),
        )
