"""What a kernel from another hand comes with: a launch, and what it has to compute.

A module holds a kernel and then its launch::

    @kernel("CUDA samples: vectorAdd")
    def add(out, x, y): …

    @add.launch
    def _(rng):
        return Launch(grid, threads, (out, x, y), outputs={0: x + y}, roundings=1)
"""

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

THEMES = ("samples", "documented", "ordered", "warps", "functions", "models", "methods")
# What the compiler is asked for.
TARGET = (8, 0)


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel, and the arrays that it has to leave.

    Attributes
    ----------
    grid, threads : int or tuple of int
    args : tuple
        Arrays and NumPy numbers.
    outputs, changed : dict of int to array
        What has to be in an argument afterwards: `outputs` hold nothing before. What the
        order of atomic operations decides is None, and not compared.
    dynamic : int
        Bytes of shared memory that the launch adds.
    roundings : float
        How far a number may be off, in half units in the last place of `scale`. None
        may differ unless given.
    scale : float, optional
        The size of the numbers that were rounded on the way; that of the largest result
        unless given.
    relative : bool
        Whether each result has its own scale, which is its size.
    unordered : tuple of int
        Arguments whose elements may stand in any order along the first axis.
    """

    grid: int | tuple[int, ...]
    threads: int | tuple[int, ...]
    args: tuple[Any, ...]
    outputs: dict[int, Any] = field(default_factory=dict)
    changed: dict[int, Any] = field(default_factory=dict)
    dynamic: int = 0
    roundings: float = 0
    scale: float | None = None
    relative: bool = False
    unordered: tuple[int, ...] = ()

    def complaint(self) -> str:
        """Return what is wrong with the arrays after the launch; nothing if all is right."""
        for i, wanted in (self.outputs | self.changed).items():
            if wanted is None:
                continue
            found, wanted = self.args[i], np.asarray(wanted)
            if i in self.unordered:
                found = np.sort(found, 0)
                wanted = np.sort(wanted, 0)
            if found.shape != wanted.shape:
                return f"args[{i}]: expected shape {wanted.shape}, got {found.shape}"
            off = self.distance(found, wanted)
            if not off <= self.roundings:
                at = np.unravel_index(np.argmax(found != wanted), found.shape)
                return (
                    f"args[{i}] is off by {off:.3g}, allowed {self.roundings:.3g};"
                    f" at {list(map(int, at))} expected {wanted[at]}, got {found[at]}"
                )
        return ""

    def distance(self, found: Any, wanted: Any) -> float:
        """Return the largest difference, in half units in the last place of `scale`."""
        same = (found == wanted) | ((found != found) & (wanted != wanted))
        if same.all():
            return 0.0
        if found.dtype.kind != "f":
            return float("inf")
        wanted = wanted.astype("f8")
        sizes = np.abs(wanted)
        largest = sizes.max(initial=0, where=np.isfinite(wanted))
        size = sizes if self.relative else self.scale or largest
        unit = np.maximum(size * np.finfo(found.dtype).eps / 2, 5e-324)
        off = np.abs(found.astype("f8")[~same] - wanted[~same])
        return float((off / np.broadcast_to(unit, wanted.shape)[~same]).max())


@dataclass
class Case:
    """A kernel in the catalogue.

    Attributes
    ----------
    name : str
    function : callable
        The kernel, as Numba compiles it.
    source : str
        Whose algorithm it is.
    listed : bool
        Whether it is one of the 27 on which ptxsim was first judged.
    options : dict
        Of the compiler: fastmath.
    """

    name: str
    function: Callable[..., None]
    source: str
    listed: bool
    options: dict[str, Any]
    launched: Callable[[Any], Launch] | None = None

    def launch(self, function: Callable[[Any], Launch]) -> Callable[[Any], Launch]:
        """Enter the function that makes the kernel's launch from a random generator."""
        self.launched = function
        return function

    def made(self) -> Launch:
        """Return the launch, with the same numbers each time."""
        assert self.launched is not None, self.name
        return self.launched(np.random.default_rng(len(self.name)))


CASES: dict[str, Case] = {}


def kernel(source: str, *, listed: bool = False, **options: Any) -> Callable[..., Case]:
    """Return a decorator that enters a kernel in the catalogue."""

    def enter(function: Callable[..., None]) -> Case:
        name = function.__name__
        assert name not in CASES, name
        CASES[name] = Case(name, function, source, listed, options)
        return CASES[name]

    return enter


def cases() -> dict[str, Case]:
    """Return all kernels by name."""
    for theme in THEMES:
        import_module(f"{__package__}.{theme}")
    return CASES


def digest(case: Case) -> str:
    """Return a digest of a kernel's text, by which stored PTX that is old is noticed."""
    return digest_of(inspect.getsource(case.function))


def digest_of(text: str) -> str:
    """Return a digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def empty(shape: Any, dtype: str) -> Any:
    """Return an array for results, filled with what no kernel writes."""
    array = np.empty(shape, dtype)
    array.view("u1").fill(0xA5)
    return array


def zeros_and(wanted: Any) -> Any:
    """Return an array of zeros like another."""
    return np.zeros_like(wanted)
