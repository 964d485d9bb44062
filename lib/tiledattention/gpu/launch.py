"""Attention on a GPU, NVIDIA's or any; without one, on the block simulator.

A launch is planned, then launched. The planner checks the arguments and picks a device;
the device picks a kernel and packs the arguments into a task, all in one `Plan`. Then
the device runs the plan, and the output is unpacked into the form of the arguments.
"""

import numpy as np
from numpy.typing import ArrayLike

from onlinesoftmax.inputs import Array
from onlinesoftmax.masks import Mask
from tiledattention.gpu.nvidia import device
from tiledattention.gpu.planner import ADAPTERS, make_plan, plan_to_run
from tiledattention.gpu.plans import Plan
from tiledattention.gpu.task import BITS

__all__ = ["Plan", "attention", "device", "plan"]


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
    q : array_like, (..., heads, queries, d) or (queries, d)
        float32, float16, or bfloat16 as the package ml_dtypes has it; the description
        of each rung says which it takes.
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
    chosen = plan_to_run(q, k, v, mask, scale, kernel, device, return_lse)
    out, lse = ADAPTERS[chosen.on].launch(chosen)
    if out.dtype == BITS:
        out = out.view(np.asarray(q).dtype)
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
