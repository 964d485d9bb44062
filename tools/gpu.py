"""On a GPU: checks every kernel, times it beside torch, and stores the times.

    python -m tools.gpu            check, then time; writes book/data/gpu-<device>.json
    python -m tools.gpu --check    check only

It works in .venv-gpu, the environment of `make kernels`; what it calls there is
`onlinesoftmax.gpu.trial`. Times beside torch's need torch there as well
(`.venv-gpu/bin/pip install torch`); without it only the kernels are timed. Exit status
3 says that there is no GPU.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NO_GPU = 3


def work() -> int:
    """Check, then time; runs in .venv-gpu."""
    from onlinesoftmax.gpu import trial
    from onlinesoftmax.gpu.launch import has_gpu

    if not has_gpu():
        print("no GPU: Numba finds none here, so nothing was checked and nothing timed")
        return NO_GPU
    wrong = trial.check_all()
    if wrong or "--check" in sys.argv:
        return bool(wrong)
    file = trial.save(trial.time_all(), ROOT / "book" / "data")
    print(f"written: {file.relative_to(ROOT)}")
    return 0


def main() -> int:
    from tools import kernels as gate

    if not sys.platform.startswith(gate.SUPPORTED):
        print("no GPU: kernels run on Linux and Windows only")
        return NO_GPU
    gate.environment()
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "lib")))
    env = {**os.environ, "PYTHONPATH": paths}
    command = [gate.PYTHON, "-m", "tools.gpu", "--here", *sys.argv[1:]]
    return subprocess.call(command, cwd=ROOT, env=env)


if __name__ == "__main__":
    sys.exit(work() if "--here" in sys.argv else main())
