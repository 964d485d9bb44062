"""Repairs Numba's simulator where it differs from a GPU.

Numba's simulator runs every thread of a block as a Python thread. A thread looks up a
shared array, and creates it if there is none. Two threads that do so at the same time may
get separate arrays, and then the result is wrong now and then. The simulator also lacks
shared arrays with an alignment, and shuffles.
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
    """Repair Numba's simulator, if kernels run on it here."""
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
    """Return the shared array of the calling line: one for all threads of a block.

    Parameters
    ----------
    self : object
        The simulator's `cuda.shared` of that block.
    shape : int or tuple of int
        0 means the block's dynamic shared memory.
    dtype : Numba type or NumPy dtype
    alignment : int, optional
        Ignored: it has no meaning in the simulator.

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
    # setdefault is atomic: no other thread can run between its lookup and its store.
    return self._allocations.setdefault(line, np.empty(shape, dtype))


def shfl_xor_sync(self: Any, mask: int, value: float, lane_mask: int) -> float:
    """Return the value of the thread whose number differs in the bits of `lane_mask`.

    Every thread of the block has to call it.

    Parameters
    ----------
    self : object
        The simulator's `cuda` module.
    mask : int
        The threads that take part; ignored.
    value : float
        The value that this thread offers.
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
