"""Checks what a caller asks for, and chooses the device, which chooses the kernel."""

from contextlib import suppress

from numpy.typing import ArrayLike

from onlinesoftmax import inputs
from onlinesoftmax.masks import Mask
from tiledattention.gpu import nvidia, webgpu
from tiledattention.gpu.ladder import LADDER
from tiledattention.gpu.nvidia import print_once
from tiledattention.gpu.plans import Device, Plan, Request
from tiledattention.gpu.simulator import Simulator, no_gpu
from tiledattention.gpu.task import checked_arguments, interval

CUDA, WEBGPU, SIMULATOR = nvidia.DEVICE, webgpu.WebGpu(), Simulator()
ADAPTERS: dict[str, Device] = {one.on: one for one in (CUDA, WEBGPU, SIMULATOR)}
DEVICES = ("auto", *ADAPTERS)
PATIENCE = 30  # the most seconds that a simulation may be expected to take


def plan_to_run(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    mask: Mask | None,
    scale: float | None,
    kernel: str,
    device: str,
    return_lse: bool,
) -> Plan:
    """Return a plan for `attention`; print a choice of kernel, refuse a long run."""
    inputs.flag("return_lse", return_lse)
    plan = make_plan(q, k, v, mask, scale, kernel, device)
    if kernel == "auto":
        print_once(str(plan))
    if plan.seconds > PATIENCE:
        raise ValueError(
            f"q, k: {no_gpu()}, and the block simulator would take about"
            f" {duration(plan.seconds)}; expected at most {PATIENCE} s"
            " of work for it"
        )
    return plan


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
    return plan_checked(checked_arguments(q, k, v, scale), mask, kernel, device)


def plan_checked(
    asked: inputs.Attention, mask: Mask | None, kernel: str, device: str
) -> Plan:
    """Return a plan for arguments, which `checked_arguments` has checked."""
    inputs.one_of("kernel", kernel, ("auto", *LADDER))
    inputs.one_of("device", device, DEVICES)
    rung = None if kernel == "auto" else kernel
    request = Request(asked, interval(mask), rung, device)
    if rung and request.dtype not in LADDER[rung].dtypes:
        raise ValueError(
            f"q, k, v: expected {' or '.join(LADDER[rung].dtypes)}, which is what the"
            f" kernel {rung!r} takes, got {request.dtype}"
        )
    if device == "auto":
        return plan_on_first_device(request)
    return ADAPTERS[device].plan(request)


def plan_on_first_device(request: Request) -> Plan:
    """Return a plan for the first device that is here, but for no GPU in software."""
    if nvidia.numba_launches():
        return CUDA.plan(request)
    if webgpu.is_real():
        with suppress(ValueError):  # the numbers, or the size, do not fit it
            return WEBGPU.plan(request)
    return SIMULATOR.plan(request)


def duration(seconds: float) -> str:
    """Return a time in a unit that makes it short to read.

    >>> duration(2.5), duration(40), duration(7200), duration(4e6)
    ('2.5 s', '40 s', '2.0 hours', '46 days')
    """
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    units = {"minutes": 60, "hours": 3600, "days": 86400}
    fitting = (unit for unit, size in units.items() if seconds < 100 * size)
    unit = next(fitting, "days")
    amount = seconds / units[unit]
    return f"{amount:.1f} {unit}" if amount < 10 else f"{amount:,.0f} {unit}"
