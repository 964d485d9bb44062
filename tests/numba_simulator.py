"""Runs the kernels in Numba's own simulator, in a process of its own.

    NUMBA_ENABLE_CUDASIM=1 python tests/numba_simulator.py

It prints, for every rung and case, what is wrong. Numba's simulator has neither
shuffles nor alignment, which rung 3 needs: here they are.
"""

import json
import sys
import threading

import numpy as np
from numba import types
from numba.cuda.simulator import kernelapi
from numba.np.numpy_support import as_dtype


def shfl_xor_sync(self: object, mask: int, value: float, lane_mask: int) -> float:
    """Hand `value` to the lane that differs in `lane_mask`; every thread takes part."""
    me = threading.current_thread().threadIdx.x
    offers = OFFERS.setdefault(id(self), {})
    offers[me] = value
    self.syncthreads()
    other = offers[me ^ lane_mask]
    self.syncthreads()
    return other


def shared_array(
    self: object, shape: tuple[int, ...], dtype: types.Type,
    alignment: int | None = None,
) -> np.ndarray:
    """The block's array that is made on the caller's line, as Numba's own does it."""
    line = sys._getframe(1).f_lineno
    return self._allocations.setdefault(line, np.empty(shape, as_dtype(dtype)))


OFFERS: dict[int, dict[int, float]] = {}
kernelapi.FakeCUDAModule.shfl_xor_sync = shfl_xor_sync
kernelapi.FakeCUDAShared.array = shared_array


def main() -> None:
    from test_gpu import CASES, inputs, wrong

    from onlinesoftmax import gpu

    found = {}
    for name in ("window, first tile hidden", "half precision"):
        case = CASES[name]
        for rung in gpu.RUNGS:
            with np.errstate(all="ignore"):
                answer = gpu.attention(*inputs(case), mask=case.mask, kernel=rung,
                                       return_lse=True)
            found[f"{rung}: {name}"] = wrong(case, *answer)
    print(json.dumps({"device": gpu.device(), "wrong": found}))


if __name__ == "__main__":
    main()
