"""On a GPU: checks every kernel, times the kernels in turn, and stores the times.

    python -m tools.kernels.gpu            check, time, write book/data/gpu-<device>.json
    python -m tools.kernels.gpu --check    check only
    python -m tools.kernels.gpu --webgpu   by WebGPU, even on a GPU of NVIDIA

A GPU of NVIDIA is reached by Numba, in .venv-gpu, the environment of `make kernels`, and
any other one by the package wgpu, in .venv: by Vulkan, Metal or Direct3D 12. What is
called there is `kernellab.trial`. Times beside torch's need an NVIDIA GPU, and
torch there as well (`.venv-gpu/bin/pip install torch`); without it only the kernels are
timed.

Exit status 3 says that there is no GPU, and 4 that there is only one in software: on that
the kernels are checked, and no time is stored.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.common import words

ROOT = Path(__file__).resolve().parents[2]
NO_GPU, IN_SOFTWARE = 3, 4


def by_numba() -> int:
    """Check, then time, on a GPU of NVIDIA; runs in .venv-gpu."""
    from tiledattention.gpu.nvidia import has_gpu

    if not has_gpu():
        print("Numba finds no GPU here")
        return NO_GPU
    return tried("cuda")


def by_webgpu() -> int:
    """Check, then time, on a GPU of any make."""
    from blocksim import webgpu

    try:
        gpu = webgpu.device()
    except webgpu.NoDevice as error:
        print(f"no GPU, so nothing was checked and nothing timed: {error}")
        return NO_GPU
    if not gpu.software:
        return tried("webgpu")
    if tried("webgpu", checks_only=True):
        return 1
    return 0 if "--check" in sys.argv else in_software(gpu.name)


def tried(on: str, checks_only: bool = False) -> int:
    """Check, then time and store; return the exit status."""
    from kernellab import trial

    if trial.check_all(on):
        return 1
    if checks_only or "--check" in sys.argv:
        return 0
    rows = trial.time_all(on=on)
    if not rows:
        print("every kernel was too slow to be timed")
        return 1
    file = trial.save(rows, ROOT / "book" / "data", on=on)
    print(f"written: {file.relative_to(ROOT)}")
    return 0


def in_software(name: str) -> int:
    """Say how the kernels compare there, and why that is no measurement."""
    from kernellab import trial

    found = (f"{way} {ratio:.2f}" for way, ratio in trial.ratios("webgpu").items())
    print(f"times as fast as the lowest rung: {', '.join(found)}")
    print(f"{name}: it says nothing about a GPU, so no time was stored")
    return IN_SOFTWARE


def by_driver() -> int:
    """Check, then time, in .venv-gpu, where there is a driver of NVIDIA."""
    from tools.kernels import gate

    if not (shutil.which("nvidia-smi") and sys.platform.startswith(gate.SUPPORTED)):
        return NO_GPU
    try:
        gate.environment()
    except gate.environments.NotInstalled as problem:
        print(problem)
        return NO_GPU
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "lib")))
    env = {**os.environ, "PYTHONPATH": paths}
    command = [gate.PYTHON, "-m", "tools.kernels.gpu", "--here", *sys.argv[1:]]
    return subprocess.call(command, cwd=ROOT, env=env)


def main() -> int:
    asked = words.given(["--check", "--webgpu"])
    status = NO_GPU if "--webgpu" in asked else by_driver()
    return by_webgpu() if status == NO_GPU else status


if __name__ == "__main__":
    sys.exit(by_numba() if "--here" in sys.argv else main())
