"""Compiles the kernels by numba-cuda-mlir, which is to succeed numba-cuda.

A kernel names `cuda` and types such as `float32` of Numba. The successor has objects of its
own for them, so it gets the same code with those names bound to its own objects.
"""

from collections.abc import Callable
from types import CellType, FunctionType, ModuleType
from typing import Any

from numba import cuda, types

INSTALL = 'numba-cuda-mlir is not installed: pip install "numba-cuda-mlir[cu12]"'


def early(
    kernel: Callable[..., None],
    arguments: tuple[types.Type, ...],
    target: tuple[int, int],
    options: dict[str, Any],
) -> bytes:
    """Return a kernel as LTO-IR, as `compile.early` does."""
    try:
        from numba_cuda_mlir import compiler, tools
        from numba_cuda_mlir import types as theirs
    except ImportError as error:
        raise RuntimeError(INSTALL) from error
    # Version 0.6 asks the driver for the GPU whatever `cc` is, unless it has asked before.
    tools._cached_cc = target
    code, _ = compiler.compile(
        rebound(kernel),
        theirs.void(*(type_of(each, theirs) for each in arguments)),
        device=False,
        abi="numba",
        output="ltoir",
        cc=target,
        **options,
    )
    return code


def rebound(kernel: Callable[..., None]) -> FunctionType:
    """Return a kernel whose global names and closure hold the successor's objects."""
    assert isinstance(kernel, FunctionType)
    names = {name: theirs(value) for name, value in kernel.__globals__.items()}
    cells = (CellType(theirs(c.cell_contents)) for c in kernel.__closure__ or ())
    code, name, defaults = kernel.__code__, kernel.__name__, kernel.__defaults__
    return FunctionType(code, names, name, defaults, tuple(cells))


def theirs(value: Any) -> Any:
    """Return the successor's object for one of Numba's; anything else as it is."""
    from numba_cuda_mlir import cuda as its_cuda
    from numba_cuda_mlir import types as its_types

    if value is cuda:
        return its_cuda
    return type_of(value, its_types) if isinstance(value, types.Type) else value


def type_of(ours: types.Type, theirs: ModuleType) -> Any:
    """Return the successor's type for a number or a contiguous array of numbers."""
    if isinstance(ours, types.Array):
        return theirs.Array(type_of(ours.dtype, theirs), ours.ndim, ours.layout)
    return getattr(theirs, str(ours))
