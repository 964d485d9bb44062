"""Runs kernels on Numba's own simulator: sources in, numbers out, as JSON.

A process of its own, because Numba reads NUMBA_ENABLE_CUDASIM when it is imported.
"""

import json
import sys
import warnings

import numpy as np

from blocksim import cudasim

cudasim.mend()
warnings.simplefilter("ignore")
sys.setswitchinterval(1e-4)  # its threads are polled; the default waits 5 ms a turn
answers = []
for seed, source in enumerate(json.load(sys.stdin)):
    space = {}
    exec(compile(source, f"<program {seed}>", "exec"), space)
    x = np.random.default_rng(seed).normal(size=16).astype(np.float32)
    y = np.zeros(16, np.float32)
    space["kernel"][2, 8](x, y)
    answers.append([float(number) for number in y])
json.dump(answers, sys.stdout)
