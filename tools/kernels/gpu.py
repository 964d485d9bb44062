"""On a GPU: checks every kernel, times the kernels in turn, and stores the times.

    python -m tools.kernels.gpu            check, time, write book/data/gpu-<device>.json
    python -m tools.kernels.gpu --check    check only
    python -m tools.kernels.gpu --webgpu   by WebGPU, even on a GPU of NVIDIA

Numba drives a GPU of NVIDIA, in .venv-gpu, the environment of `make kernels`. The package
wgpu drives any other GPU, in .venv: by Vulkan, Metal or Direct3D 12. Both run
`kernellab.trial`. A comparison with torch needs an NVIDIA GPU, and torch in .venv-gpu
(`.venv-gpu/bin/pip install torch`); without torch only the kernels are timed.

Exit status 3 means that there is no GPU, and 4 that there is only one in software: there
the kernels are checked, but no time is stored.
"""

import shutil
import sys

from tools.common import options
from tools.common.paths import ROOT

NO_GPU, IN_SOFTWARE = 3, 4


def by_numba() -> int:
    """Check and time on a GPU of NVIDIA; runs in .venv-gpu."""
    from tiledattention.gpu.nvidia import has_gpu

    if not has_gpu():
        print("Numba finds no GPU here")
        return NO_GPU
    return try_out("cuda")


def by_webgpu() -> int:
    """Check and time on a GPU of any make."""
    from blocksim import webgpu

    try:
        gpu = webgpu.device()
    except webgpu.NoDevice as error:
        print(f"no GPU, so nothing was checked and nothing timed: {error}")
        return NO_GPU
    if not gpu.software:
        return try_out("webgpu")
    if try_out("webgpu", checks_only=True):
        return 1
    return 0 if "--check" in sys.argv else compare_in_software(gpu.name)


def try_out(on: str, checks_only: bool = False) -> int:
    """Check the kernels, time them, store the times; return the exit status."""
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


def compare_in_software(name: str) -> int:
    """Print the kernels' relative speeds, which are no measurement of a GPU."""
    from kernellab import trial

    speeds = (f"{way} {ratio:.2f}" for way, ratio in trial.ratios("webgpu").items())
    print(f"times as fast as the lowest rung: {', '.join(speeds)}")
    print(f"{name} is no hardware GPU, so no time was stored")
    return IN_SOFTWARE


def by_driver() -> int:
    """Check and time in .venv-gpu, where NVIDIA's driver is installed."""
    from tools.kernels import gate

    if not (shutil.which("nvidia-smi") and sys.platform.startswith(gate.SUPPORTED)):
        return NO_GPU
    module = "tools.kernels.gpu"
    return gate.environments.hand_over(module, gate.VENV, gate.LOCK, NO_GPU)


def main() -> int:
    chosen = options.parse(["--check", "--webgpu"])
    status = NO_GPU if "--webgpu" in chosen else by_driver()
    return by_webgpu() if status == NO_GPU else status


if __name__ == "__main__":
    sys.exit(by_numba() if "--here" in sys.argv else main())
