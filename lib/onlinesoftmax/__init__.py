"""The small library behind *The Rescaling Trick*.

One idea runs through it: a block of scores and values is summarised by a state
(m, l, o), and two states merge into one.

>>> from onlinesoftmax import State, merge
>>> merge(State.of([1.0, 2.0]), State.of([3.0])).m
np.float64(3.0)

Read the modules in this order. Each needs only those before it, and all of them need
NumPy only:

    masks.py       what each query sees, and so whether a tile is needed
    dense.py       the definitions, slow and plainly right
    state.py       the state (m, l, o): how it is measured, rescaled and merged
    exact.py       attention whose bits no block changes; it can wait
    streaming.py   the same answers as `dense`, computed block by block
    backward.py    the gradients of attention, with weights recomputed tile by tile
    precision.py   number formats, and what rounding does to a sum
    costs.py       operations, bytes and tiles of attention, as closed forms

`inputs.py` checks arguments for all of them; it can be skipped. The same fold on real
machines is the package `tiledattention`; what a compiler makes of its kernels is
`kernellab`.
"""

import sys
from importlib import import_module
from typing import Any

from onlinesoftmax.moved import Moved

__version__ = "0.1.0"
MODULES = (
    "backward", "costs", "dense", "exact", "masks", "precision", "state", "streaming",
)  # fmt: skip
OLD_NAMES = ("cluster", "cpu", "devices", "gpu")
__all__ = ["State", "merge", *MODULES]
sys.meta_path.append(Moved)


def __getattr__(name: str) -> Any:
    """Load a module when it is first asked for (PEP 562)."""
    if name in MODULES or name in OLD_NAMES:
        return import_module(f"{__name__}.{name}")
    if name in __all__:
        return getattr(import_module(f"{__name__}.state"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
