"""Attention on a GPU, NVIDIA's or any; without one, on the block simulator.

A launch is planned, then launched. The planner checks the arguments and picks a device;
the device picks a kernel and packs the arguments into a task, all in one `Plan`. Then
the device runs the plan, and the output is unpacked into the form of the arguments.
"""

import numpy as np
from numpy.typing import ArrayLike

from onlinesoftmax import inputs
from onlinesoftmax.inputs import Array
from onlinesoftmax.masks import Mask
from tiledattention.gpu.ladder import Build
from tiledattention.gpu.nvidia import device, no_gpu, numba_launches, print_once
from tiledattention.gpu.planner import ADAPTERS, make_plan
from tiledattention.gpu.plans import Plan
from tiledattention.gpu.task import Task

__all__ = ["Plan", "attention", "device", "launch", "plan"]
PATIENCE = 30  # the most seconds that a simulation may be expected to take


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    kernel: str = "auto",
    device: str = "auto",
    return_lse: bool = False,
) -> Array | tuple[Array, Array]:
    """Return softmax(q kᵀ · scale) v from one of the kernels.

    Parameters
    ----------
    q : array_like, (..., heads, queries, d) or (queries, d), float32 or float16
    k, v : array_like, as for `dense.attention`
        At most 128 numbers wide on a GPU.
    mask : Mask, optional
        Made of `causal`, `window` and `padding`, which show each row an interval.
    scale : float, optional
        1/√d unless given.
    kernel : str
        One of `gpu.RUNGS`; "auto" picks one, and prints which and why.
    device : str
        "cuda": NVIDIA's GPU, by Numba; "webgpu": a GPU of any make, by the package
        wgpu, even one in software; "simulator". "auto" takes the first of them that is
        here, but no GPU in software.
    return_lse : bool
        Whether to return the logsumexp of each row of scores as well.

    Returns
    -------
    out : ndarray, (..., heads, queries, columns)
        In the dtype of q, k, v; 0 for a row that sees nothing.
    lse : ndarray, (..., heads, queries), float32
        −∞ for a row that sees nothing.

    Notes
    -----
    It runs on a GPU if there is one; arrays are copied there and back at every call.
    Without a GPU, small inputs run in the block simulator, and large ones raise a
    ValueError that says how long they would take. The simulator adds up in double
    precision, unless numbers can come up that float32 cannot hold.

    WebGPU lets a compiler assume that there is neither ∞ nor NaN. So numbers that hold
    one, or whose scores come near the largest of float32, are refused for "webgpu", and
    "auto" leaves them to the simulator. Tiles are cut to the shared memory of the GPU,
    and launches into slices, so that no driver takes it for hung.

    On every device, and with every kernel, NaN and ∞ come out at the same places, and
    numbers agree as far as rounding allows: each kernel adds in an order of its own,
    and the number of parts of the keys depends on the GPU. A key whose score is −∞
    counts as hidden. One case is unspecified: a NaN or ∞ in the value of a key whose
    weight underflows in float32.
    """
    inputs.flag("return_lse", return_lse)
    chosen = make_plan(q, k, v, mask, scale, kernel, device)
    if kernel == "auto":
        print_once(str(chosen))
    if chosen.seconds > PATIENCE:
        raise ValueError(
            f"q, k: {no_gpu()}, and the block simulator would take about"
            f" {duration(chosen.seconds)}; expected at most {PATIENCE} s"
            " of work for it"
        )
    out, lse = launch(chosen.build, chosen.task, chosen.parts, chosen.on)
    shape = np.shape(q)[:-1]
    out = out[..., : np.shape(v)[-1]].reshape(*shape, np.shape(v)[-1])
    return (out, lse.reshape(shape)) if return_lse else out


def plan(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: Mask | None = None,
    kernel: str = "auto",
    device: str = "auto",
) -> Plan:
    """Return which kernel `attention` would run, where, and why.

    Parameters
    ----------
    q, k, v, mask, kernel, device
        As for `attention`.

    Returns
    -------
    Plan
    """
    return make_plan(q, k, v, mask, None, kernel, device)


def launch(
    build: Build, task: Task, parts: int = 1, on: str = "auto"
) -> tuple[Array, Array]:
    """Run a kernel, and what is launched after it; return out (heads, n, d) and lse.

    `on` is one of `DEVICES`; "auto" is Numba's device if there is one, or the
    simulator.
    """
    out = np.zeros_like(task.q)
    lse = np.zeros(task.q.shape[:2], np.float32)
    if not out.size:
        return out, lse
    if on == "auto":
        on = "cuda" if numba_launches() else "simulator"
    return ADAPTERS[on].run(build, task, parts, out, lse)


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
