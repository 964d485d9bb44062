"""The small library behind *The Rescaling Trick*.

>>> from onlinesoftmax import State, merge
>>> merge(State.of([1.0, 2.0]), State.of([3.0])).m
np.float64(3.0)
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
MODULES = (
    "blocksim", "costs", "dense", "devices", "gpu", "masks", "precision", "state",
    "streaming",
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
