"""The same kernels in Numba's own simulator: a second opinion on what they compute.

The simulator is chosen by a variable that has to be set before Numba is imported, so it
runs in a process of its own.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from tiledattention import gpu

HERE = Path(__file__).resolve().parents[1]


def simulated(*command: str | Path) -> str:
    """Return what a Python program prints while Numba simulates."""
    root = HERE.parent
    paths = map(str, (Path(__file__).parent, HERE, root, root / "lib", root / "book"))
    env = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    env["PYTHONPATH"] = os.pathsep.join(paths)
    done = subprocess.run(
        [sys.executable, *command], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_numbas_simulator_agrees() -> None:
    said = json.loads(
        simulated(Path(__file__).with_name("numba_simulator.py")).splitlines()[-1]
    )
    assert said["device"] == "Numba's simulator"
    assert len(said["wrong"]) > len(gpu.PORTABLE)
    assert not any(said["wrong"].values()), said["wrong"]


SHARED_BY_ALL = """
import threading, time
import numpy as np
from numba import cuda, float32
from blocksim import cudasim

@cuda.jit
def turn(out):
    t = cuda.threadIdx.x
    tile = cuda.shared.array(4, float32)
    late = cuda.shared.array(0, float32)
    tile[t] = late[t] = t
    cuda.syncthreads()
    out[t] = tile[t ^ 1] + late[t ^ 1]

def runs():
    out = np.zeros(4, np.float32)
    turn[1, 4, 0, 16](out)
    return out.tolist()

empty, all_four = np.empty, threading.Barrier(4)
np.empty = lambda *arguments: (all_four.wait(), empty(*arguments))[1]
print(runs() == [2, 0, 6, 4])
cudasim.mend()
# clock: time for a second array, which must not be made
np.empty = lambda *arguments: (time.sleep(0.05), empty(*arguments))[1]
print(runs() == [2, 0, 6, 4])
"""


def test_all_threads_of_numbas_simulator_have_one_shared_array() -> None:
    """Its own threads each make one, if they come together; mended, they share one."""
    assert simulated("-c", SHARED_BY_ALL).split() == ["False", "True"]
