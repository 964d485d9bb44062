"""The same kernels in Numba's own simulator: a second opinion on what they compute.

The simulator is chosen by a variable that has to be set before Numba is imported, so it
runs in a process of its own, once for all cases.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from onlinesoftmax import gpu

HERE = Path(__file__).resolve().parent


def test_numbas_simulator_agrees() -> None:
    paths = map(str, (HERE, HERE.parent, HERE.parent / "lib"))
    env = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    env["PYTHONPATH"] = os.pathsep.join(paths)
    done = subprocess.run(
        [sys.executable, HERE / "numba_simulator.py"],
        env=env, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["device"] == "Numba's simulator"
    assert len(said["wrong"]) >= 2 * len(gpu.RUNGS)
    assert not any(said["wrong"].values()), said["wrong"]
