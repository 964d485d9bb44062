"""Kernels that are Python functions, in CPython: their text, and the names they use.

On the book's pages kernels come as text, and this file is not needed there.
"""

import inspect
import textwrap
from types import FunctionType

from .kernel import Program
from .scalars import SIZES, Type


def program(kernel: object) -> Program:
    """Return the program of a function, decorated by anyone's ``cuda.jit`` or not."""
    function = bare(kernel)
    if function is None:
        raise ValueError(f"kernel: expected a function, got {kernel!r}")
    names, helpers = {}, {}
    for name, value in used(function).items():
        helper = bare(value)
        if helper is not None and helper is not function:
            helpers[name] = program(value)
        else:
            names[name] = stand_in(value)
    file = inspect.getfile(function)
    return Program(text(function), function.__name__, names, file, helpers)


def text(kernel: object) -> str:
    """Return the text of a kernel, each line at its number in its file or cell."""
    lines, first = inspect.getsourcelines(bare(kernel))
    return "\n" * (first - 1) + textwrap.dedent("".join(lines))


def bare(value: object) -> FunctionType | None:
    """Return the Python function inside: Numba's and its simulator's, or our own."""
    for attribute in ("py_func", "fn", "function"):
        value = getattr(value, attribute, value)
    return value if isinstance(value, FunctionType) else None


def used(function: FunctionType) -> dict[str, object]:
    """Return the names a function uses from around it, with their values."""
    found = inspect.getclosurevars(function)
    return {**found.globals, **found.nonlocals}


def stand_in(value: object) -> object:
    """Return a type of Numba's as one of the simulator's; anything else as it is."""
    name = getattr(value, "name", None)
    numbas = type(value).__module__.startswith("numba.")
    return Type(name) if numbas and name in SIZES else value
