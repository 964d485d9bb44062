"""Attention as one fold over (m, l, o), at the speed of real machines.

    cpu/       on a CPU, compiled by Numba for the vectors of the machine
    gpu/       on a GPU: a ladder of kernels in Numba CUDA, a file each; a simulator or
               WebGPU runs them where there is no NVIDIA GPU
    cluster/   over chunks of keys that lie anywhere, merged in a tree, on Dask

Each folder's `__init__.py` is its map, and each needs only `onlinesoftmax`, the
mathematics, and what it runs on. `cluster` folds its chunks with `cpu`.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
__all__ = ["cluster", "cpu", "gpu"]


def __getattr__(name: str) -> Any:
    """Load a folder when it is first asked for: Numba and Dask take their time."""
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load(folder: str, module: str, name: str) -> Any:
    """Return a name of a module, or say which extra brings a package that is missing."""
    try:
        return getattr(import_module(f"{__name__}.{folder}.{module}"), name)
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        if missing == __name__:
            raise
        install = f'pip install "{__name__}[{folder}]"'
        told = f"{__name__}.{folder} needs {missing}, which is not installed: {install}"
        raise ModuleNotFoundError(told, name=missing) from error


def __dir__() -> list[str]:
    return sorted(__all__)
