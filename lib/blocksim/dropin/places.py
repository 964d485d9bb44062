"""Finds the file that a line of a fault is in: a kernel's own, or a device function's."""

import linecache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from blocksim.faults import Fault
from blocksim.functions import bare, used


def places(kernel: FunctionType, fault: Fault) -> list[str]:
    """Return "file:line: text" for each line that a fault names."""
    lines = [fault.fields.get("line"), fault.fields.get("earlier")]
    codes, found = [function.__code__ for function in called(kernel)], []
    for line in dict.fromkeys(line for line in lines if line):
        holding = [code for code in codes if line in own_lines(code)[1:]]
        holding = holding or [code for code in codes if line in spanned(code)]
        for file in dict.fromkeys(code.co_filename for code in holding):
            text = linecache.getline(file, line).strip()
            found.append(f"{short(file)}:{line}: {text}")
    return found


def called(kernel: FunctionType) -> list[FunctionType]:
    """Return a kernel and the functions that it may call, each once."""
    found, left = [], [kernel]
    while left:
        function = left.pop()
        if function not in found:
            found.append(function)
            left += [f for f in map(bare, _named(function)) if f is not None]
    return found


def _named(function: FunctionType) -> list[Any]:
    """Return the values that a function's text may name."""
    names, around = _names(function.__code__), used(function)
    values = [around[name] for name in names if name in around]
    modules = [value for value in values if isinstance(value, ModuleType)]
    inside = [m.__dict__.get(name) for m in modules for name in names]
    return [v for v in values + inside if not isinstance(v, FunctionType)]


def _names(code: CodeType) -> list[str]:
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    own = [*code.co_names, *code.co_freevars]
    return own + [name for one in inner for name in _names(one)]


def own_lines(code: CodeType) -> list[int]:
    """Return the lines of a function that have code, with those of functions in it."""
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    own = {line for _, _, line in code.co_lines() if line is not None}
    return sorted({code.co_firstlineno, *own}.union(*map(own_lines, inner)))


def spanned(code: CodeType) -> range:
    """Return all lines of a function, from its first decorator on."""
    return range(code.co_firstlineno, own_lines(code)[-1] + 1)


def short(file: str) -> str:
    """Return a file's name as seen from the folder that the program runs in."""
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else file
