"""Attention kernels in Numba CUDA: a ladder of rungs, and what runs it.

    rungs/         the kernels, a file each: naive, tiled, registers, patches, split, tensor
    rung.py        what belongs to a rung besides its kernel: sizes, threads, memory
    ladder.py      the rungs in their order; `Build`, a kernel in one size
    task.py        the arguments of attention in the form that kernels take
    plans.py       `Plan`: which kernel, where, why; a `Device` makes and runs plans
    simulator.py   the block simulator as a device
    nvidia.py      an NVIDIA GPU as a device, by Numba
    webgpu.py      a GPU of any make as a device, by WebGPU
    planner.py     checks the arguments, and chooses the device
    launch.py      `attention`: makes a plan and runs it

Every kernel is the fold of the first chapters: a state (m, l, o) for each row, rescaled
when the maximum rises, starting from (−∞, 0, 0).
"""

from tiledattention import load

_HOME = {
    "Build": "ladder",
    "PORTABLE": "ladder",
    "Plan": "plans",
    "RUNGS": "ladder",
    "WIDTHS": "ladder",
    "attention": "launch",
    "device": "nvidia",
    "plan": "launch",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    """Load what is asked for, when it is: Numba takes its time."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load("gpu", _HOME[name], name)
