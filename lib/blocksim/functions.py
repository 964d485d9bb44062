"""Reads kernels that are Python functions: their source, and the names they use.

It needs CPython. On the book's pages kernels are texts, and do without this file.
"""

import builtins
import inspect
import sys
from enum import Enum, EnumType
from types import CodeType, FunctionType, ModuleType
from weakref import WeakKeyDictionary

from .program import Program
from .source import builtin, resolved, whole_tuple
from .things import KNOWN, Thing, type_of_name
from .tree import Node, clone, parse
from .values import Function, Unusable

PACKAGES = ("numba", "numba_cuda", "numba_cuda_mlir")  # Numba's
MODULES = ("numba.cuda", "numba_cuda_mlir.cuda")
# Functions are told apart by their trees, so each has one.
TREES: WeakKeyDictionary[FunctionType, Node] = WeakKeyDictionary()
# A function that is defined anew, as a factory does, has the same code.
PARSED: WeakKeyDictionary[CodeType, Node] = WeakKeyDictionary()


class Unreadable(ValueError):
    """A function without a readable def; ``what`` is a noun that says what it is."""

    def __init__(self, what: str, message: str = ""):
        super().__init__(message or what)
        self.what = what


def program(kernel: object) -> Program:
    """Return the program of a function, with or without a ``cuda.jit`` decorator."""
    function = bare(kernel)
    if function is None:
        raise ValueError(f"kernel: expected a function, got {kernel!r}")
    overrides: dict[str, object] = {}
    try:
        return Program(compilable(kernel, overrides), overrides)
    except Unreadable as error:
        wanted = "a function made by def, in a file or a cell, or what load returns"
        message = f"kernel: expected {wanted}; got {error.what}"
        raise Unreadable(error.what, message) from None


def compilable(kernel: object, overrides: dict[str, object]) -> Function:
    """Return a function for the compiler; ``overrides`` come before the names around it."""
    function = bare(kernel)
    names = used(function)

    def find(name: str) -> object:
        if name in overrides:
            return resolved(overrides[name], None)
        if name in names:
            return stand_in(names[name], overrides)
        if name == "print":
            return Thing("print")
        if hasattr(builtins, name):
            return builtin(name)
        raise KeyError(name)

    if function not in TREES:
        if function.__code__ not in PARSED:
            PARSED[function.__code__] = definition(function)
        TREES[function] = clone(PARSED[function.__code__])
    signature = getattr(kernel, "signature", None)
    resolve = lambda value: stand_in(value, overrides)
    made = Function(function.__name__, TREES[function], find, resolve, signature)
    made.inline = getattr(kernel, "targetoptions", {}).get("inline") in (True, "always")
    return made


def definition(function: FunctionType) -> Node:
    """Return the tree of a function's def."""
    code = function.__code__
    if code.co_name == "<lambda>":
        raise Unreadable("a lambda")
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise Unreadable("a function made by async def")
    try:
        first = (parse(text(function)) or [None])[0]
    except OSError:  # no file has it, as after exec
        first = None
    # Python finds another function's text if the file has changed since its import.
    if getattr(first, "name", None) != code.co_name:
        raise Unreadable("a function whose text Python does not find")
    return first


def stand_in(value: object, overrides: dict[str, object]) -> object:
    """Return what the compiler uses for a value around a kernel."""
    if isinstance(value, Enum | EnumType) or is_exception(value):
        return resolved(value, None)
    if is_numbas(value):
        known = numbas(value)
        return known if isinstance(known, Unusable) else resolved(known, None)
    if isinstance(value, tuple):
        return whole_tuple(value, [stand_in(part, overrides) for part in value])
    if isinstance(value, FunctionType):
        return Unusable(
            "{name} is a plain function of Python's",
            "put @cuda.jit(device=True) above it",
        )
    if isinstance(value, ModuleType) and value.__name__ not in (
        "math",
        "numpy",
        "operator",
    ):
        return value  # the reader's own module, with functions or constants
    if isinstance(value, slice):
        return Cut(value)
    function = bare(value)
    if function is not None:
        try:
            return compilable(value, overrides)
        except Unreadable as what:
            instead = "a def under @cuda.jit(device=True), in a file or a cell"
            return Unusable(f"{{name}} is {what}", instead, "functions")
    return resolved(value, None)


class Cut(Unusable):
    """A slice around a kernel, which an index may name."""

    def __init__(self, value: slice):
        super().__init__("{name} is a slice", "use it as an index", "asking")
        self.bounds = value.start, value.stop, value.step


def is_exception(value: object) -> bool:
    """Return whether a value is a class of exceptions."""
    return isinstance(value, type) and issubclass(value, Exception)


def is_numbas(value: object) -> bool:
    """Return whether a value is part of Numba, rather than a function of the reader's."""
    if isinstance(value, ModuleType):
        return value.__name__.split(".")[0] in PACKAGES
    own = (getattr(value, "__module__", "") or "").split(".")[0]
    if bare(value) is not None:
        return isinstance(value, FunctionType) and own in PACKAGES
    return own in PACKAGES or type(value).__module__.split(".")[0] in PACKAGES


def numbas(value: object) -> object:
    """Return the stand-in for one of Numba's modules, types or functions."""
    name = value.__name__ if isinstance(value, ModuleType) else ""
    if name in PACKAGES:
        return Thing("numba")
    if name in MODULES:
        return Thing("cuda")
    # Numba has several modules with the same types.
    if name.endswith(".types"):
        return Thing("numba.types")
    dtype = type_of_name(str(getattr(value, "name", "") or ""))
    if dtype is not None:
        return dtype
    for cuda in [sys.modules[name] for name in MODULES if name in sys.modules]:
        for path in KNOWN:
            if path.startswith("cuda."):
                known = cuda
                for part in path.split(".")[1:]:
                    known = getattr(known, part, None)
                if known is value:
                    return Thing(path)
    return Unusable("{name} is nothing that a kernel can use", "", "library")


def text(kernel: object) -> str:
    """Return a kernel's source, padded so that its line numbers are the file's."""
    # Of a function that wraps another one, its own code.
    lines, first = inspect.getsourcelines(bare(kernel).__code__)
    depth = len(lines[0]) - len(lines[0].lstrip())
    # A comment may be indented less than the function around it.
    lines = [line if line[:depth].strip() else line[depth:] or "\n" for line in lines]
    return "\n" * (first - 1) + "".join(lines)


def bare(value: object) -> FunctionType | None:
    """Return the Python function inside a kernel of Numba, its simulator, or ours."""
    for attribute in ("py_func", "fn", "function"):
        value = getattr(value, attribute, value)
    return value if isinstance(value, FunctionType) else None


def used(function: FunctionType) -> dict[str, object]:
    """Return a function's global and closure variables, with their values."""
    names = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # the variable has no value yet
            names.pop(name, None)
    return names
