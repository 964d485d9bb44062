"""Numba's simulator, mended where it is no GPU.

Its threads look for a shared array and, finding none, make one. Two threads can do that
at the same time; then each has an array of its own, and the answer is wrong, now and
then. It also lacks what rung 3 needs: arrays with an alignment, and shuffles.
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
    """Mend Numba's simulator, if kernels run on it here."""
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
    """Return the block's array that is made on the caller's line: one for all threads."""
    dtype = np.dtype(as_dtype(dtype) if isinstance(dtype, types.Type) else dtype)
    if shape == 0:  # of the size that the launch says
        count = self._dynshared_size // dtype.itemsize
        return np.frombuffer(self._dynshared.data, dtype, count)
    caller = sys._getframe(1)
    place = caller.f_code.co_filename, caller.f_lineno
    return self._allocations.setdefault(place, np.empty(shape, dtype))  # in one step


def shfl_xor_sync(self: Any, mask: int, value: float, lane_mask: int) -> float:
    """Hand `value` to the lane that differs in `lane_mask`; every thread takes part."""
    thread: Any = threading.current_thread()
    me = thread.threadIdx.x
    offers = self.__dict__.setdefault("offers", {})
    offers[me] = value
    self.syncthreads()
    other = offers[me ^ lane_mask]
    self.syncthreads()
    return other
