"""What a rung of the ladder is: a kernel, and all that is particular to it.

A rung is one file of `gpu/rungs`. It makes its kernel, says what a launch of it takes,
and ends with `RUNG = …`, an object of a class derived from `Rung`. That is how the
ladder finds it: no list names the rungs.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import ClassVar, NamedTuple

from numba import cuda

Kernel = Callable[..., None]
THREAD_REGISTERS = 255  # the most that a thread can have
WARP = 32  # threads that run together


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


class Work(NamedTuple):
    """How much there is to do, as far as a grid depends on it.

    Attributes
    ----------
    heads : int
        Heads of queries in all sequences together.
    n : int
        Query rows of a head.
    group : int
        How many heads of queries share a head of keys.
    parts : int
        Into how many parts the keys are dealt out, in a rung that does so.
    """

    heads: int
    n: int
    group: int = 1
    parts: int = 1


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
    aligned : bool
        Whether its tiles are placed so that four numbers can be read at once. That
        takes the package numba-cuda.
    dtypes : tuple of str
        The dtypes of q, k, v and the output that it takes. Bits of bfloat16 come in
        uint16, since NumPy lacks that dtype.
    portable : bool
        Whether its kernel runs on every kind of device. Otherwise it has instructions
        of NVIDIA's, and no simulator or WebGPU takes it.
    capability : (int, int)
        The lowest compute capability of NVIDIA's GPUs that it runs on.
    proven : tuple of str
        For a kernel that is not portable: the compute capabilities, such as "9.0", of
        GPUs on which `make gpu` has found it right. It is picked on no others, and runs
        there only if it is asked for by name.
    for_simulator : bool
        Whether the block simulator takes it, unless another rung is asked for.
    small : (int, int) or None
        The `block_q` and `block_k` for the simulator; None: tiles of eight by eight.
    for_few_rows : bool
        Whether it is for few rows that see many keys. Then it is picked where `pays`
        says so; of the others, the highest one is.
    then : Rung or None
        Whose kernel is launched after this one and finishes the work, if its own kernel
        leaves states behind in place of the output. It is no rung of the ladder.
    """

    name: ClassVar[str]
    below: ClassVar[str | None]
    merit: ClassVar[str]
    shipped: ClassVar[Mapping[int, tuple[int, int]]]
    blocks: ClassVar[Mapping[int, int]] = {}
    has_tiles: ClassVar[bool] = True
    aligned: ClassVar[bool] = False
    dtypes: ClassVar[tuple[str, ...]] = ("float32", "float16")
    portable: ClassVar[bool] = True
    capability: ClassVar[tuple[int, int]] = (0, 0)
    proven: ClassVar[tuple[str, ...]] = ()
    for_simulator: ClassVar[bool] = False
    small: ClassVar[tuple[int, int] | None] = None
    for_few_rows: ClassVar[bool] = False
    then: ClassVar["Rung | None"] = None

    @abstractmethod
    def kernel(self, size: Size) -> Kernel:
        """Return the kernel, a Python function.

        A launch gives it what its arguments are called; `Task.arguments` lists the
        names, and `rungs/naive.py` describes the arguments.
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

    def grid(self, size: Size, work: Work) -> tuple[int, ...]:
        """Return how many blocks are launched.

        Most have so many for the rows of a head, and so many heads.
        """
        return -(-work.n // size.block_q), work.heads

    def parts(self, size: Size, work: Work, keys: int, room: int) -> int:
        """Return into how many parts the keys are dealt out; in most rungs they are
        not.

        `room` is how many blocks the device can run at the same time.
        """
        return 1

    def pays(self, work: Work, block_q: int, multiprocessors: int) -> bool:
        """Return whether it is better than a rung whose blocks have `block_q` rows."""
        return True

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
        if not self.aligned or "alignment" in signature(cuda.shared.array).parameters:
            return ""
        return "aligns its tiles, which takes the package numba-cuda"

    def spills(self, size: Size) -> bool:
        """Return whether a thread keeps more numbers than it can have registers."""
        return self.kept(size) > THREAD_REGISTERS

    @property
    def source(self) -> Path:
        """The file it is written in."""
        return Path(inspect.getfile(type(self)))
