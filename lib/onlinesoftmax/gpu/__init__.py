"""Attention kernels in Numba CUDA: a ladder of three rungs, and what runs it.

    naive.py       rung 1: a thread for each row, keys from global memory
    tiled.py       rung 2: tiles of keys and values in shared memory
    registers.py   rung 3: a thread computes a patch of scores, in registers
    ladder.py      the rungs, and the sizes they ship in
    launch.py      `attention`: fits, picks, launches; a simulator where no GPU is
    cudasim.py     Numba's simulator, mended where it is no GPU
    compile.py     `compile_report`: what the compiler makes of a kernel, without a GPU

Every kernel is the fold of the first chapters: a state (m, l, o) for each row, rescaled
when the maximum rises, starting from (−∞, 0, 0).
"""

from importlib import import_module

_HOME = {
    "Build": "ladder",
    "Plan": "launch",
    "RUNGS": "ladder",
    "WIDTHS": "ladder",
    "attention": "launch",
    "compile_report": "compile",
    "device": "launch",
    "plan": "launch",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    """Load what is asked for, when it is: Numba takes its time."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
