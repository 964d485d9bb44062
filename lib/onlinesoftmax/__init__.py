"""The small library behind *The Rescaling Trick*.

One idea runs through it: a block of scores and values is summarised by a state
(m, l, o), and two states merge into one.

>>> from onlinesoftmax import State, merge
>>> merge(State.of([1.0, 2.0]), State.of([3.0])).m
np.float64(3.0)

Read the modules in this order. Each needs only those before it.

The mathematics, with NumPy only:

    masks.py       what each query sees, and so: all, some or none of a tile
    dense.py       the definitions, slow and plainly right
    state.py       the state (m, l, o): how it is measured, rescaled and merged
    exact.py       attention whose bits no block changes; it can wait
    streaming.py   the same answers as `dense`, computed block by block
    backward.py    the gradients of an attention, whose weights are made again by tiles

What it costs, and on which machine:

    precision.py   number formats, and what rounding does to a sum
    devices.py     what makers publish about their GPUs
    costs.py       operations, bytes and tiles of an attention, as closed forms
    cpu/           the same attention at the speed of a CPU; `cpu/__init__.py` is its map
    cluster/       the same over chunks that lie anywhere, merged in a tree, on Dask
    gpu/           attention kernels; `gpu/__init__.py` says where to begin

`_inputs.py` checks arguments for all of them; it can be skipped.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
MODULES = (
    "backward", "cluster", "costs", "cpu", "dense", "devices", "exact", "gpu", "masks",
    "precision", "state", "streaming",
)  # fmt: skip
__all__ = ["State", "merge", *MODULES]


def __getattr__(name: str) -> Any:
    """Load a module when it is first asked for (PEP 562)."""
    if name in MODULES:
        return import_module(f"{__name__}.{name}")
    if name in __all__:
        return getattr(import_module(f"{__name__}.state"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
