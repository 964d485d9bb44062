# A type checker cannot see the names that `__getattr__` imports on first use.

from .drills.notebook import check, drill
from .drills.uses import with_your_kernel
from .figures.plots import plot
from .figures.sweeps import sweep
from .figures.widget import figure
from .measurements import measured
from .prose import glue

__all__ = [
    "check",
    "drill",
    "figure",
    "glue",
    "measured",
    "plot",
    "sweep",
    "with_your_kernel",
]

__version__: str
HOME: dict[str, str]
