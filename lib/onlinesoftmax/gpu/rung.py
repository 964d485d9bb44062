"""What a rung of the ladder is: a kernel, and all that is particular to it.

A rung is one file of `gpu/rungs`. It makes its kernel, says what a launch of it takes,
and ends with `RUNG = …`, an object of a class derived from `Rung`. That is how the
ladder finds it: no list names the rungs.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar, NamedTuple

Kernel = Callable[..., None]
THREAD_REGISTERS = 255  # the most that a thread can have


class Size(NamedTuple):
    """The size a kernel is made in.

    Attributes
    ----------
    d : int
        Numbers in a row of Q, K, V and O.
    block_q : int
        Query rows of a block.
    block_k : int
        Keys of a tile; 1 for a rung without tiles.
    """

    d: int
    block_q: int
    block_k: int = 1


class Rung(ABC):
    """A rung of the ladder.

    Attributes
    ----------
    name : str
        That of its file, and of the argument `kernel` of `gpu.attention`.
    below : str or None
        The rung it improves on; None for the lowest one.
    merit : str
        What it does better than the rung below, for the end of a sentence.
    shipped : mapping of int to (int, int)
        For rows of so many numbers: the `block_q` and `block_k` in which it ships.
    blocks : mapping of int to int
        For rows of so many numbers: how many blocks are to fit on a multiprocessor at
        the same time. The compiler then uses fewer registers. Empty: as it likes.
    has_tiles : bool
        Whether a block's threads share tiles of keys and values.
    for_simulator : bool
        Whether the block simulator takes it, unless another rung is asked for.
    """

    name: ClassVar[str]
    below: ClassVar[str | None]
    merit: ClassVar[str]
    shipped: ClassVar[Mapping[int, tuple[int, int]]]
    blocks: ClassVar[Mapping[int, int]] = {}
    has_tiles: ClassVar[bool] = True
    for_simulator: ClassVar[bool] = False

    @abstractmethod
    def kernel(self, size: Size) -> Kernel:
        """Return the kernel, a Python function.

        Its arguments are those of every rung; `rungs/naive.py` describes them.
        """

    @abstractmethod
    def threads(self, size: Size) -> int:
        """Return how many threads a block has."""

    @abstractmethod
    def shared(self, size: Size) -> int:
        """Return the bytes of shared memory that a block takes."""

    @abstractmethod
    def kept(self, size: Size) -> int:
        """Return how many numbers a thread keeps, in registers if they fit."""

    def reads_per_product(self, size: Size) -> float:
        """Return how many numbers a thread reads for each product.

        A score takes `d` products, and so does what one key adds to a row of the
        output. Reads count from shared memory, or from global memory if the rung has
        no tiles.
        """
        return 1.0

    def check(self, size: Size) -> None:  # noqa: B027 (most come in any size)
        """Raise a ValueError that names the argument if there is no such kernel."""

    def missing(self) -> str:
        """Return what it needs and Numba lacks here, for a GPU; empty if nothing."""
        return ""

    def spills(self, size: Size) -> bool:
        """Return whether a thread keeps more numbers than it can have registers."""
        return self.kept(size) > THREAD_REGISTERS

    @property
    def source(self) -> Path:
        """The file it is written in."""
        return Path(inspect.getfile(type(self)))
