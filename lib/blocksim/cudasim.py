"""Repairs of Numba's simulator, where it does not do what a GPU does.

Numba's simulator runs every thread of a block as a thread of Python's. A thread looks for
a shared array, and makes one if it finds none. When two threads do so at the same time,
each gets an array of its own, and now and then the answer is wrong. The simulator also
lacks shared arrays with an alignment, and shuffles.
"""

import sys
import threading
from functools import cache
from typing import Any

import numpy as np
from numba import config, types
from numba.np.numpy_support import as_dtype


@cache
def mend() -> None:
    """Repair Numba's simulator, if that is what kernels run on here."""
    if config.ENABLE_CUDASIM:
        from numba.cuda.simulator import kernelapi

        kernelapi.FakeCUDAModule.shfl_xor_sync = shfl_xor_sync
        kernelapi.FakeCUDAShared.array = shared_array


def shared_array(
    self: Any,
    shape: int | tuple[int, ...],
    dtype: types.Type | type,
    alignment: int | None = None,
) -> np.ndarray:
    """Return the shared array of the line that called: one for all threads of a block.

    Parameters
    ----------
    self : object
        The simulator's `cuda.shared` of that block.
    shape : int or tuple of int
        0 is an array in the block's dynamic shared memory.
    dtype : Numba type or NumPy dtype
    alignment : int, optional
        It has no meaning in the simulator.

    Returns
    -------
    ndarray
    """
    dtype = np.dtype(as_dtype(dtype) if isinstance(dtype, types.Type) else dtype)
    if shape == 0:
        count = self._dynshared_size // dtype.itemsize
        return np.frombuffer(self._dynshared.data, dtype, count)
    caller = sys._getframe(1)
    line = caller.f_code.co_filename, caller.f_lineno
    # setdefault looks and stores in one step, so no other thread can come between.
    return self._allocations.setdefault(line, np.empty(shape, dtype))


def shfl_xor_sync(self: Any, mask: int, value: float, lane_mask: int) -> float:
    """Return the value of the thread whose number differs in the bits of `lane_mask`.

    Every thread of the block has to take part.

    Parameters
    ----------
    self : object
        The simulator's `cuda` module.
    mask : int
        The threads that take part; not looked at.
    value : float
        What this thread offers.
    lane_mask : int

    Returns
    -------
    float
    """
    thread: Any = threading.current_thread()
    me = thread.threadIdx.x
    offers = self.__dict__.setdefault("offers", {})
    offers[me] = value
    self.syncthreads()
    other = offers[me ^ lane_mask]
    self.syncthreads()
    return other
