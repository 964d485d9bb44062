"""Chooses where a kernel runs: the device, which then chooses the kernel."""

from contextlib import suppress

from numpy.typing import ArrayLike

from onlinesoftmax import inputs
from onlinesoftmax.masks import Mask
from tiledattention.gpu import nvidia, webgpu
from tiledattention.gpu.ladder import LADDER
from tiledattention.gpu.nvidia import Nvidia
from tiledattention.gpu.plans import Device, Plan
from tiledattention.gpu.simulator import Simulator
from tiledattention.gpu.task import checked_arguments, interval
from tiledattention.gpu.webgpu import WebGpu

ADAPTERS: dict[str, Device] = {
    "cuda": Nvidia(),
    "webgpu": WebGpu(),
    "simulator": Simulator(nvidia.no_gpu),
}
DEVICES = ("auto", *ADAPTERS)


def make_plan(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    mask: Mask | None,
    scale: float | None,
    kernel: str,
    device: str,
) -> Plan:
    """Return a plan for arguments, which are checked first."""
    asked, mask = checked_arguments(q, k, v, scale), interval(mask)
    inputs.one_of("kernel", kernel, ("auto", *LADDER))
    rung = None if kernel == "auto" else kernel
    inputs.one_of("device", device, DEVICES)
    if device == "cuda" and not nvidia.numba_launches():
        raise ValueError(
            'device: "cuda" needs an NVIDIA GPU, and Numba finds none here'
        )
    if device == "auto" and not nvidia.numba_launches() and webgpu.is_real():
        with suppress(ValueError):  # the numbers, or the size, do not fit it
            return ADAPTERS["webgpu"].plan(asked, mask, rung, named=False)
    on = device
    if on == "auto":
        on = "cuda" if nvidia.numba_launches() else "simulator"
    return ADAPTERS[on].plan(asked, mask, rung, named=on == device)
