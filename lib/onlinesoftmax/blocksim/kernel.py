"""Kernels: from a function or a text to something that can be launched."""

import math

from .launch import Launch
from .lowering import functions_in, loops, lower, parameters, statements
from .memory import Array
from .scalars import Type, type_name


MODES = ("race", "full", "plain")


class Program:
    """A kernel's text made ready: it is compiled once and loaded for every launch.

    Attributes
    ----------
    name : str
    meets : bool
        Do its threads meet anywhere?
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
            space[name] = on_device(space[name], device)
        return space[self.name]


def on_device(value: object, device: dict) -> object:
    """Return what a name means in a kernel: the GPU's mathematics and types."""
    if value is math:
        return device["math"]
    if isinstance(value, Type):
        return Type(value.name, device["float32"].full)
    for name in dir(math):
        if callable(value) and value is getattr(math, name):
            return getattr(device["math"], name)
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
        grid, block = configuration[0], configuration[1]

        def launch(*arguments):
            report = run(self, grid, block, *arguments)
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


def run(kernel, grid, block, *arguments, mode="race", log=False, beat=None):
    """Launch a kernel and return its report; faults are in it, not raised.

    Parameters
    ----------
    kernel : function or Kernel
    grid, block : int or tuple of int
        (x,) or (x, y)
    *arguments
        Numbers, numpy arrays, lists; arrays are changed in place.
    mode : {"race", "full", "plain"}
    log : bool
        Keep who touched what.
    beat : callable, optional
        Called whenever a thread gets its turn, as a sign of life.
    """
    if mode not in MODES:
        raise ValueError(f"mode: expected one of {MODES}, got {mode!r}")
    program = kernel_of(kernel).program
    if len(arguments) != len(program.parameters):
        wanted = ", ".join(program.parameters)
        raise ValueError(f"arguments: expected {wanted}; got {len(arguments)}")
    launch = Launch(program, pair(grid), pair(block), mode, log, beat or silent)
    taken = [
        taken_in(launch, name, value)
        for name, value in zip(program.parameters, arguments)
    ]
    try:
        return launch.run(taken)
    finally:
        for value, array in zip(arguments, taken):
            if isinstance(array, Array):
                give_back(value, array)


def silent() -> None:
    """Nobody listens for signs of life."""


def pair(extent: object) -> tuple[int, int]:
    """Return (x, y) of a grid or block."""
    extent = tuple(extent) if isinstance(extent, (tuple, list)) else (extent,)
    extent = tuple([int(n) for n in extent])
    while len(extent) > 2 and extent[-1] == 1:
        extent = extent[:-1]
    if len(extent) > 2 or min(extent) < 1:
        raise ValueError(f"grid, block: expected one or two counts, got {extent}")
    return extent if len(extent) == 2 else (extent[0], 1)


def kernel_of(kernel: object) -> Kernel:
    """Return a kernel, or what becomes one: a function, decorated or not."""
    return kernel if isinstance(kernel, Kernel) else Kernel(function=kernel)


# ---- arguments


def taken_in(launch: Launch, name: str, value: object) -> object:
    """Return an argument as the kernel gets it: a number, or an array of its own."""
    if isinstance(value, list):
        data, shape = flat(value)
        kind = "int32" if data and all([type(x) is int for x in data]) else "float32"
        return launch.memory(
            launch, name, "global", shape, Type(kind, launch.full), data
        )
    if getattr(value, "shape", ()):
        kind = Type(type_name(value.dtype), launch.full)
        data = value.ravel().tolist()
        return launch.memory(launch, name, "global", value.shape, kind, data)
    if hasattr(value, "dtype"):  # a scalar of numpy's
        return Type(type_name(value.dtype), launch.full)(value.item())
    return value


def flat(value: list) -> tuple[list, tuple]:
    """Return the numbers of a list of lists, and its shape."""
    if not (value and isinstance(value[0], list)):
        return list(value), (len(value),)
    data, shape = [], None
    for row in value:
        numbers, inner = flat(row)
        if shape not in (None, inner):
            raise ValueError(f"arguments: rows of different shapes, {shape}, {inner}")
        data += numbers
        shape = inner
    return data, (len(value),) + shape


def give_back(value: object, array: Array) -> None:
    """Put what the kernel wrote where the argument came from."""
    if not array.changed:
        return
    if isinstance(value, list):
        fill(value, iter(array.data))
    else:
        value.flat = array.data  # numpy's, whatever its strides are


def fill(value: list, numbers: object) -> None:
    """Write numbers into a list of lists, row by row."""
    for i in range(len(value)):
        if isinstance(value[i], list):
            fill(value[i], numbers)
        else:
            value[i] = next(numbers)


class Jit:
    """``cuda`` outside of kernels: only its decorator means anything there."""

    def jit(self, function=None, **options):
        """Make a kernel, or with ``device=True`` a function for kernels."""
        if function is None or not callable(function):  # with options, or a signature
            return lambda function: Kernel(function=function)
        return Kernel(function=function)
