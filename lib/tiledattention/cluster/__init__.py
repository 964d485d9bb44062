"""Attention over keys that no machine holds alone: chunks, states and one tree.

faults.py      what is said when a run fails
sources.py     where keys lie (Zarr, Dask, NumPy), and how a chunk of them is read
chunk.py       what a worker does: reads a chunk, folds it, leaves a state
tree.py        which states are merged with which; the same ones whoever is first
running.py     hands the tasks to Dask, on this machine or on others, and waits
forward.py     `attention` and `softmax_dot`
network.py     what all this takes, as closed forms and as a simulation

Dask is needed, for stored arrays Zarr, and for other machines `distributed`.
"""

from importlib import import_module

_HOME = {
    "ClusterError": "faults",
    "attention": "forward",
    "softmax_dot": "forward",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    """Load what is asked for, when it is: Dask takes its time."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
