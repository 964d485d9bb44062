"""Kernels for numba-cuda-mlir: the names that they use, and what is said without it.

What the compiler makes of them, `python -m tools.kernels.successor` tries once a week.
"""

import sys
from types import ModuleType, SimpleNamespace

import pytest
from numba import cuda, float32, types

from kernellab import compile, mlir
from tiledattention.gpu import PORTABLE, Build


class Array(SimpleNamespace):
    def __init__(self, dtype: object, ndim: int, layout: str) -> None:
        super().__init__(dtype=dtype, ndim=ndim, layout=layout)


@pytest.fixture
def successor(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A package with the names that kernels use, each an object of its own."""
    package = ModuleType("numba_cuda_mlir")
    package.cuda = object()
    names = ("float32", "float16", "int32", "uint32")
    package.types = SimpleNamespace(Array=Array, **{name: object() for name in names})
    monkeypatch.setitem(sys.modules, "numba_cuda_mlir", package)
    return package


@pytest.mark.parametrize("rung", PORTABLE)
def test_a_rung_is_bound_to_the_successor_s_names(rung: str, successor) -> None:
    kernel = Build.shipped(rung, 64).kernel
    bound = mlir.rebound(kernel)
    assert (
        bound.__code__ is kernel.__code__
        and bound.__globals__["cuda"] is successor.cuda
    )
    cells = [cell.cell_contents for cell in bound.__closure__ or ()]
    held = [*bound.__globals__.values(), *cells]
    assert not [each for each in held if each is cuda or isinstance(each, types.Type)]
    assert kernel.__globals__["cuda"] is cuda  # the rung itself is as it was


def test_the_type_of_an_array_is_the_successor_s(successor) -> None:
    made = mlir.type_of(float32[:, :, ::1], successor.types)
    assert made == Array(successor.types.float32, 3, "C")


def test_a_compiler_that_is_not_known_or_not_there_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    build = Build.shipped("naive", 64)
    with pytest.raises(ValueError, match=r"compiler: expected one of \['numba-cuda', "):
        compile.launched(build, "sm_80", compiler="nvcc")
    monkeypatch.setitem(sys.modules, "numba_cuda_mlir", None)
    with pytest.raises(RuntimeError, match="pip install .*numba-cuda-mlir"):
        compile.launched(build, "sm_80", compiler="numba-cuda-mlir")
