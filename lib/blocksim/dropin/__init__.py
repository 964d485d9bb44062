"""blocksim in the place of ``numba.cuda``, for projects that are not written for it.

``install()`` puts it behind the names of Numba: a program that is run afterwards launches
its kernels here, and nothing of it has to change. ``python -m blocksim script.py`` and
``pytest --blocksim`` do that from the command line.

install() -> Session
    Call it before the program imports ``numba``. Every launch is added to the session's
    ``launches``. A fault is raised in the launch that has it, and `Declined` where the
    simulator does not take a kernel or an argument.
Policy
    Which faults are known to be benign, and how long a launch may take.

``arrays`` has the arrays of a device, ``devices`` the device itself, its streams and
events, ``random`` its random numbers, and ``kernels`` what ``cuda.jit`` makes.
``arguments`` takes what a launch is given, ``signatures`` what a decorator declares, and
``places`` finds the file of a fault.
``declined`` stands for what is not simulated. A device array is a NumPy array with Numba's
methods, so what only fails on a GPU because it was never copied to the host works here; a
new one is filled with NaN, or with numbers that nobody takes for a result. Nothing is
asynchronous: every call is complete when it returns.
"""

from .declined import Declined
from .install import install
from .kernels import Launched, Session
from .policy import Policy

__all__ = ["Declined", "Launched", "Policy", "Session", "install"]
