"""Runs the kernels in Numba's own simulator, in a process of its own.

    NUMBA_ENABLE_CUDASIM=1 python tests/numba_simulator.py

It prints, for every rung and case, what is wrong.
"""

import json

import numpy as np


def main() -> None:
    from onlinesoftmax import gpu
    from test_gpu import CASES, inputs, wrong

    found = {}
    for name in ("window, first tile hidden", "half precision"):
        case = CASES[name]
        for rung in gpu.RUNGS:
            with np.errstate(all="ignore"):
                answer = gpu.attention(
                    *inputs(case), mask=case.mask, kernel=rung, return_lse=True
                )
            found[f"{rung}: {name}"] = wrong(case, *answer)
    print(json.dumps({"device": gpu.device(), "wrong": found}))


if __name__ == "__main__":
    main()
