"""The ladder: which rungs there are, in their order, and a kernel in one size."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from inspect import signature
from pkgutil import iter_modules
from typing import Any

from onlinesoftmax import inputs
from tiledattention.gpu import rungs
from tiledattention.gpu.rung import Kernel, Rung, Size, Work

WIDTHS = (64, 128)  # what the kernels ship for; narrower rows are padded with zeros
MOST_THREADS = 1024  # the most that a block can have
SMALL = 8  # query rows and keys of a tile, in the simulator


def find_rungs() -> dict[str, Rung]:
    """Return the rungs of the folder `rungs`, by name, from the lowest up."""
    names = [module.name for module in iter_modules(rungs.__path__)]
    modules = [
        import_module(f"{rungs.__name__}.{name}")
        for name in names
        if not name.startswith("_")
    ]
    return in_order(module.RUNG for module in modules)


def in_order(found: Iterable[Rung]) -> dict[str, Rung]:
    """Return rungs by name, each after the one it stands on."""
    by_name = {rung.name: rung for rung in found}
    for rung in by_name.values():
        if rung.below not in (None, *by_name):
            raise ValueError(
                f"below of the rung {rung.name!r}: expected one of {list(by_name)},"
                f" got {rung.below!r}"
            )

    def height(rung: Rung) -> int:
        return 0 if rung.below is None else 1 + height(by_name[rung.below])

    ordered = sorted(by_name.values(), key=lambda rung: (height(rung), rung.name))
    return {rung.name: rung for rung in ordered}


LADDER = find_rungs()
RUNGS = tuple(LADDER)
PORTABLE = tuple(name for name, rung in LADDER.items() if rung.portable)


@dataclass(frozen=True)
class Build:
    """A kernel in one size.

    Attributes
    ----------
    rung : str
        The name of a rung, one of `RUNGS`, or of what is launched after one.
    d : int
        Numbers in a row of Q, K, V and O.
    block_q, block_k : int
        Query rows of a block; keys of a tile (1 for a rung without tiles).

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
        rung_named(self.rung)
        for name in ("d", "block_q", "block_k"):
            inputs.block_size(getattr(self, name), name)
        if not 1 <= self.threads <= MOST_THREADS:
            raise ValueError(
                f"block_q, block_k: expected sizes for 1 to {MOST_THREADS} threads, got"
                f" {self.block_q} and {self.block_k}, which are for {self.threads}"
            )
        self._rung.check(self.size)

    @classmethod
    def shipped(cls, rung: str, d: int) -> "Build":
        """Return a rung as it ships, in the next of `WIDTHS` that is at least `d`."""
        d = inputs.block_size(d, "d")
        fitting = [width for width in WIDTHS if width >= d]
        if not fitting:
            raise ValueError(f"d: expected at most {WIDTHS[-1]}, got {d}")
        return cls(rung, fitting[0], *rung_named(rung).shipped[fitting[0]])

    @classmethod
    def small(cls, rung: str, d: int) -> "Build":
        """Return a rung in a size for the simulator: most with tiles of eight by eight.

        The width is the next multiple of eight; above 64, the next power of two.
        """
        d = inputs.block_size(d, "d")
        width = -(-d // SMALL) * SMALL if d <= WIDTHS[0] else 1 << (d - 1).bit_length()
        tile = SMALL, SMALL if rung_named(rung).has_tiles else 1
        return cls(rung, width, *(rung_named(rung).small or tile))

    @property
    def _rung(self) -> Rung:
        return rung_named(self.rung)

    @property
    def size(self) -> Size:
        """The size without the rung."""
        return Size(self.d, self.block_q, self.block_k)

    @property
    def threads(self) -> int:
        """How many threads a block has."""
        return self._rung.threads(self.size)

    @property
    def options(self) -> dict[str, Any]:
        """How `cuda.jit` is to compile it: for a launch as for a report.

        `launch_bounds` are the threads of a block, and perhaps how many blocks are to
        fit on a multiprocessor; `lto` leaves the last optimisation to the linker,
        which is Numba's own choice.
        """
        blocks = self._rung.blocks.get(self.d)
        bounds = (self.threads,) if blocks is None else (self.threads, blocks)
        return {"fastmath": True, "launch_bounds": bounds, "lto": True}

    @property
    def shared(self) -> int:
        """The bytes of shared memory that a block takes."""
        return self._rung.shared(self.size)

    @property
    def reads_per_product(self) -> float:
        """How many numbers a thread reads for each product, as its `Rung` says."""
        return self._rung.reads_per_product(self.size)

    @property
    def spills(self) -> bool:
        """Whether a thread keeps more numbers than it can have registers."""
        return self._rung.spills(self.size)

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel, a Python function."""
        return self._rung.kernel(self.size)

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the arguments of the kernel are called."""
        return tuple(signature(self.kernel).parameters)

    def grid(self, work: Work) -> tuple[int, ...]:
        """Return how many blocks are launched."""
        return self._rung.grid(self.size, work)

    def parts(self, work: Work, keys: int, multiprocessors: int) -> int:
        """Return into how many parts the keys are dealt out: 1 in most rungs."""
        room = multiprocessors * self._rung.blocks.get(self.d, 1)
        return self._rung.parts(self.size, work, keys, room)

    @property
    def launches(self) -> tuple["Build", ...]:
        """What is launched, in this order: itself, and what finishes its work."""
        then = self._rung.then
        return (self,) if then is None else (self, Build(then.name, self.d, block_q=1))


def rung_named(name: str) -> Rung:
    """Return a rung by its name, or what is launched after one."""
    after = [rung.then for rung in LADDER.values() if rung.then]
    known = {rung.name: rung for rung in after} | LADDER
    if not (isinstance(name, str) and name in known):
        raise ValueError(f"kernel: expected one of {list(LADDER)}, got {name!r}")
    return known[name]
