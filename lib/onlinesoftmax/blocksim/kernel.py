"""Kernels: from a function or a text to something that can be launched."""

import math

from .arguments import constant, give_back, take_in
from .launch import TURNS, Launch
from .lowering import functions_in, loops, lower, parameters, statements
from .scalars import Type


MODES = ("race", "full", "plain")


class Program:
    """A kernel's text made ready: it is compiled once and loaded for every launch.

    Attributes
    ----------
    name : str
    meets : bool
        Do its threads meet anywhere?
    returns : set of int
        The lines of its statements in which a thread may leave.
    """

    def __init__(self, source, name, names, file, helpers=None):
        compile(source, file, "exec")  # its syntax errors, before it is changed
        helpers = helpers or {}
        known = {key: helpers[key].meets for key in helpers}
        text = statements(source)
        functions = functions_in(text, known)
        if name not in functions:
            raise ValueError(f"name: expected a function {name!r} in the text")
        self.name = name
        self.names = names
        self.helpers = helpers
        self.meets = functions[name]
        self.parameters = parameters(text, name)
        self.loops = loops(text)
        self.returns = set([line for line, parts in text if "return" in parts])
        for helper in helpers.values():
            self.loops.update(helper.loops)
        self.code = compile(lower(text, functions), file, "exec")

    def load(self, device: dict) -> object:
        """Return the function, with these names instead of the world's."""
        space = dict(self.names)
        space.update(device)
        for name in self.helpers:
            space[name] = self.helpers[name].load(device)
        exec(self.code, space)
        for name in list(space):
            space[name] = on_device(name, space[name], device)
        return space[self.name]


def on_device(name: str, value: object, device: dict) -> object:
    """Return what a name means in a kernel: the GPU's mathematics, types, constants."""
    if value is math:
        return device["math"]
    if hasattr(value, "dtype") and getattr(value, "shape", ()):
        return constant(device["cuda"]._launch, name, value)
    if isinstance(value, Type):
        return Type(value.name, device["float32"].full)
    for each in dir(math):
        if callable(value) and value is getattr(math, each):
            return getattr(device["math"], each)
    return value


class Kernel:
    """A kernel that is launched as on a GPU: ``kernel[grid, block](…)``."""

    def __init__(self, program=None, function=None):
        self.made = program
        self.function = function

    @property
    def program(self) -> Program:
        """The text made ready, on first use."""
        if self.made is None:
            from .functions import program

            self.made = program(self.function)
        return self.made

    def __call__(self, *arguments):
        raise ValueError("a kernel is launched with its grid: kernel[grid, block](…)")

    def __getitem__(self, configuration):
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise ValueError("expected kernel[grid, block] or with stream and bytes")
        grid, block = configuration[0], configuration[1]
        shared = configuration[3] if len(configuration) == 4 else 0

        def launch(*arguments):
            report = run(self, grid, block, *arguments, shared=shared)
            if report.faults:
                raise report.faults[0]

        return launch


def load(source: str, name: str, names: object = None, file="kernel.py") -> Kernel:
    """Return a kernel from text.

    Parameters
    ----------
    source : str
    name : str
        The kernel's; the text may hold device functions besides.
    names : dict, optional
        Further names it may use, such as tile sizes.
    file : str
        What tracebacks call it.
    """
    return Kernel(Program(source, name, dict(names or {}), file))


def run(
    kernel, grid, block, *arguments, mode="race", log=False, beat=None, shared=0,
    turns=TURNS, trace=None,
):  # fmt: skip
    """Launch a kernel and return its report; faults are in it, not raised.

    Parameters
    ----------
    kernel : function or Kernel
    grid, block : int or tuple of int
        (x,), (x, y) or (x, y, z)
    *arguments
        Numbers, numpy arrays, lists; arrays are changed in place.
    mode : {"race", "full", "plain"}
    log : bool
        Keep who touched what.
    beat : callable, optional
        Called whenever a thread gets its turn, as a sign of life.
    shared : int
        Bytes of dynamic shared memory, for ``shared.array(0, …)``.
    turns : int
        How many turns its loops may take before a thread is said not to end.
    trace : callable, optional
        Called with every access, fence and meeting; for tests.
    """
    if mode not in MODES:
        raise ValueError(f"mode: expected one of {MODES}, got {mode!r}")
    program = kernel_of(kernel).program
    if len(arguments) != len(program.parameters):
        wanted = ", ".join(program.parameters)
        raise ValueError(f"arguments: expected {wanted}; got {len(arguments)}")
    launch = Launch(
        program, triple(grid, "grid"), triple(block, "block"), mode, log,
        beat or silent, count(shared, "shared"), turns, trace,
    )  # fmt: skip
    taken = take_in(launch, program.parameters, arguments)
    try:
        return launch.run(taken)
    finally:
        give_back(arguments, taken)


def silent() -> None:
    """Nobody listens for signs of life."""


def triple(extent: object, name: str) -> tuple[int, int, int]:
    """Return (x, y, z) of a grid or block."""
    extents = extent if isinstance(extent, (tuple, list)) else (extent,)
    extents = [count(n, name) for n in extents]
    if not 1 <= len(extents) <= 3 or min(extents) < 1:
        raise ValueError(f"{name}: expected one to three counts from 1, got {extent}")
    return tuple(extents + [1, 1])[:3]


def count(number: object, name: str) -> int:
    """Return a whole number, of Python's or of numpy's."""
    if int(number) != number or number < 0:
        raise ValueError(f"{name}: expected whole numbers from 0, got {number!r}")
    return int(number)


def kernel_of(kernel: object) -> Kernel:
    """Return a kernel, or what becomes one: a function, decorated or not."""
    return kernel if isinstance(kernel, Kernel) else Kernel(function=kernel)


class Jit:
    """``cuda`` outside of kernels: only its decorator means anything there."""

    def jit(self, function=None, **options):
        """Make a kernel, or with ``device=True`` a function for kernels."""
        if function is None or not callable(function):  # with options, or a signature
            return lambda function: Kernel(function=function)
        return Kernel(function=function)
