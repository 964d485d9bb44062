"""Runs the kernels in Numba's own simulator, in a process of its own.

    NUMBA_ENABLE_CUDASIM=1 python tests/tiledattention/numba_simulator.py

It prints, for every rung and case, what is wrong.
"""

import json

import numpy as np

CHOSEN = ("window, first tile hidden",)
FEW_ROWS = "one row, one key", "few rows, half precision"


def main() -> None:
    from test_gpu import CASES, inputs, wrong

    from tiledattention import gpu
    from tiledattention.gpu.ladder import LADDER, PORTABLE

    found = {}
    for rung in PORTABLE:
        # Each shuffle costs Numba's simulator two barriers of its own threads.
        for name in FEW_ROWS if LADDER[rung].for_few_rows else CHOSEN:
            case = CASES[name]
            with np.errstate(all="ignore"):
                answer = gpu.attention(
                    *inputs(case), mask=case.mask, kernel=rung, return_lse=True
                )
            found[f"{rung}: {name}"] = wrong(case, *answer)
    print(json.dumps({"device": gpu.device(), "wrong": found}))


if __name__ == "__main__":
    main()
