"""Attention on a CPU, as fast as the machine: the same fold, compiled by Numba.

lanes.py       vectors of numbers, as wide as this machine has them
steps.py       the inner loops, written for those vectors
tiles.py       what the kernels do with a tile besides multiplying
arguments.py   the arguments, in the form that the kernels read
rows.py        `softmax`
folding.py     folds keys and values into the states of some queries
decoding.py    `decode`: one query or a few, and many keys
forward.py     `attention`
backward.py    `attention_grad`
compiled.py    compiles the kernels once, and keeps them on disk
pool.py        shares the work between threads
"""

from tiledattention import load

_HOME = {
    "attention": "forward",
    "attention_grad": "backward",
    "decode": "decoding",
    "machine": "lanes",
    "softmax": "rows",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    """Load what is asked for, when it is: Numba takes its time."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load("cpu", _HOME[name], name)
