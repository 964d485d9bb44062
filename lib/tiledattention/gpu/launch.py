"""Attention on a GPU, NVIDIA's or any; without one, on the block simulator.

`attention` brings its arguments into the form that kernels take: rows filled up to
their width with zeros, all heads in one array, the mask as an interval of keys for each
row. It launches a kernel, and brings the output back into the form of the arguments.
`plan` tells beforehand which kernel would run, where, and why.
"""

import math
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numba import config, cuda
from numpy.typing import ArrayLike, NDArray

import blocksim
from blocksim import cudasim
from blocksim import kernel as simulator
from onlinesoftmax import inputs
from onlinesoftmax.inputs import Array, DType
from onlinesoftmax.masks import Mask, checked
from tiledattention.gpu.ladder import LADDER, Build
from tiledattention.gpu.rung import Rung, Work

MOST_HEADS = 65_535  # the most blocks that CUDA allows in a grid's second dimension
STATE = 2  # numbers of a state besides o: m and l
MOST = float(np.finfo(np.float32).max)
SIMULATED = 108  # multiprocessors of the GPU that a simulation plays: those of an A100
DEVICES = ("auto", "cuda", "webgpu", "simulator")
PATIENCE = 30  # the most seconds that a simulation may be expected to take
OTHER_CODE = (  # printed where a kernel is not compiled as its stored report tells
    "compiled without numba-cuda's nvJitLink: registers and spills are not"
    " those of `reports.stored`"
)


class Plan(NamedTuple):
    """Which kernel runs an attention, where, and why.

    Attributes
    ----------
    build : Build
    device : str
        As `device()` names it.
    why : str
    seconds : float
        How long the simulator is expected to take; 0 on a GPU.
    parts : int
        Into how many parts the keys are dealt out, in a rung that does so.
    on : str
        The kind of device, one of `DEVICES` besides "auto".
    """

    build: Build
    device: str
    why: str
    seconds: float = 0.0
    parts: int = 1
    on: str = "simulator"

    def __str__(self) -> str:
        return f"kernel {self.build.rung!r} on {self.device}: {self.why}"


class Task(NamedTuple):
    """The arguments of an attention, in the form that kernels take.

    They are those of every kernel, and `rungs/naive.py` describes them.
    """

    q: Array  # (heads, n, d), float32 or float16
    k: Array  # (heads // group, keys, d)
    v: Array
    lengths: NDArray[np.int32]  # (heads,)
    scale: np.float32
    left: np.int32
    right: np.int32
    group: np.int32

    def grid(self, build: Build, parts: int = 1) -> tuple[int, ...]:
        """Return how many blocks are launched.

        Parameters
        ----------
        build : Build
        parts : int
            Into how many parts the keys are dealt out, in a rung that does so.

        Returns
        -------
        tuple of int
            For most: how many for the rows of a head, and how many heads.
        """
        heads, n, _ = self.q.shape
        return build.grid(Work(heads, n, int(self.group), parts))

    def given(self, out: Array, lse: Array, parts: int = 1) -> dict[str, Any]:
        """Return all that a kernel may ask for, by the names of its arguments.

        Parameters
        ----------
        out, lse : ndarray
            What the last kernel fills.
        parts : int

        Returns
        -------
        dict of str to ndarray or number
            `states` has a row for each part, head and query; `rungs/split.py` says
            what is in it.
        """
        heads, n, d = self.q.shape
        states = np.zeros((parts, heads * n, d + STATE), np.float32)
        names = ("Q", "K", "V", "lengths", "scale", "left", "right", "group")
        return dict(zip(names, self)) | {"O": out, "LSE": lse, "states": states}

    def visits(self) -> int:
        """Return how many numbers of K all rows together read."""
        heads, n, d = self.q.shape
        place = np.arange(n) + self.k.shape[1] - n
        stop = np.minimum(place + self.right + 1, self.lengths[:, None])
        seen = np.maximum(stop - np.maximum(place - self.left, 0), 0)
        return int(seen.sum()) * d + heads * n * d

    def mode(self) -> str:
        """Return the mode that the block simulator needs: "plain", or "full".

        "plain" computes in double precision. There a number too large for float32
        stays finite, which it does not on a GPU. If such numbers can come up, it takes
        "full", which is slow.
        """
        return "plain" if self.bound() < MOST else "full"

    def bound(self) -> float:
        """Return what no score and no sum of values exceeds, of finite numbers."""
        q, k, v = (largest(x) for x in self[:3])
        score = q * abs(float(self.scale)) * k * self.q.shape[2]
        return max(score, v * self.k.shape[1])


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
        "cuda": NVIDIA's GPU, by Numba; "webgpu": a GPU of any make, by the package wgpu,
        be it one in software; "simulator". "auto" takes the first of them that is here,
        and no GPU in software.
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

    Whichever kernel runs and wherever, NaN and ∞ come out at the same places, and
    numbers agree as far as rounding allows: every kernel adds in an order of its own,
    and a GPU decides into how many parts keys are dealt out. A key whose score is −∞
    counts as hidden. Left open is only what becomes of NaN or ∞ in the value of a key
    whose weight is too small for float32.
    """
    inputs.flag("return_lse", return_lse)
    asked = _asked(q, k, v, scale)
    chosen = _plan(asked, mask, kernel, device)
    if _rung(kernel) is None:
        _print_once(str(chosen))
    if chosen.seconds > PATIENCE:
        raise ValueError(
            f"q, k: {_no_gpu()}, and the block simulator would take about"
            f" {duration(chosen.seconds)}; expected at most {PATIENCE} s"
            " of work for it"
        )
    task = fit(asked, mask, chosen.build.d)
    out, lse = launch(chosen.build, task, chosen.parts, chosen.on)
    columns = asked.v.shape[-1]
    out = out[..., :columns].reshape(*asked.q.shape[:-1], columns)
    return (out, lse.reshape(asked.shape[:-1])) if return_lse else out


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
    return _plan(_asked(q, k, v, None), mask, kernel, device)


def device() -> str:
    """Return what kernels under Numba's `cuda.jit` run on: a GPU, or a simulator.

    Returns
    -------
    str
    """
    if config.ENABLE_CUDASIM:
        return "Numba's simulator"
    if not has_gpu():
        return "the block simulator"
    gpu = cuda.get_current_device()
    name = gpu.name.decode() if isinstance(gpu.name, bytes) else gpu.name
    return f"{name} (sm_{''.join(map(str, gpu.compute_capability))})"


@cache
def multiprocessors() -> int:
    """Return how many multiprocessors the GPU has.

    Returns
    -------
    int
    """
    return int(cuda.get_current_device().MULTIPROCESSOR_COUNT)


def numba_launches() -> bool:
    """Return whether Numba can launch a kernel: on a GPU, or on its own simulator.

    Returns
    -------
    bool
    """
    return bool(config.ENABLE_CUDASIM) or has_gpu()


@cache
def has_gpu() -> bool:
    """Return whether Numba finds a GPU that it can use.

    Returns
    -------
    bool
    """
    return not config.ENABLE_CUDASIM and cuda.is_available()


def fit(asked: inputs.Attention, mask: Mask | None, width: int) -> Task:
    """Return the arguments of an attention in the form that kernels take.

    Parameters
    ----------
    asked : Attention
        The arguments, checked.
    mask : Mask, optional
    width : int
        The numbers in a row that the kernel is made for.

    Returns
    -------
    Task
    """
    mask = interval(mask)
    batch, n = asked.q.shape[:-2], asked.q.shape[-2]
    keys = asked.k.shape[-2]
    lengths = np.full(batch, keys, np.int32)
    if mask.lengths is not None:
        if (longest := mask.lengths.max(initial=0)) > keys:
            raise ValueError(
                f"lengths: expected at most {keys}, the keys, got {longest}"
            )
        lengths[...] = inputs.spread("lengths", mask.lengths, batch[:-1])[..., None]
    shared = asked.k.shape[-3] if batch else 1
    q, k, v = (_rows(x, asked.dtype, width) for x in (asked.q, asked.k, asked.v))
    left, right = (np.int32(min(reach, n + keys)) for reach in (mask.left, mask.right))
    group = np.int32((batch[-1] if batch else 1) // shared)
    scale = np.float32(asked.scale)
    return Task(q, k, v, lengths.reshape(-1), scale, left, right, group)


def interval(mask: Mask | None) -> Mask:
    """Return a mask that shows each row an interval of keys; kernels take no other.

    Parameters
    ----------
    mask : Mask, optional

    Returns
    -------
    Mask
    """
    mask = checked(mask)
    if mask.ids is not None or mask.slopes is not None or mask.biases:
        raise ValueError(
            "mask: expected one made of causal, window and padding, got"
            " documents, a bias or alibi"
        )
    return mask


def launch(
    build: Build, task: Task, parts: int = 1, on: str = "auto"
) -> tuple[Array, Array]:
    """Run a kernel, and what is launched after it, on the device or in the simulator.

    Parameters
    ----------
    build : Build
    task : Task
    parts : int
        Into how many parts the keys are dealt out, in a rung that does so.
    on : str
        One of `DEVICES`; "auto" is Numba's device if there is one, or the simulator.

    Returns
    -------
    out : ndarray, (heads, n, d)
    lse : ndarray, (heads, n)
    """
    out = np.zeros_like(task.q)
    lse = np.zeros(task.q.shape[:2], np.float32)
    if not out.size:
        return out, lse
    if on == "webgpu":
        _webgpu().launch(build, task, parts, out, lse)
        return out, lse
    given = task.given(out, lse, parts)
    if on == "simulator" or not numba_launches():
        for each in build.launches:
            arguments = (given[name] for name in each.arguments)
            where = simulated(each), task.grid(each, parts), each.threads
            report = blocksim.run(*where, *arguments, mode=task.mode())
            if report.faults:
                raise report.faults[0]
        return out, lse
    if len(task.q) > MOST_HEADS:
        raise ValueError(
            f"q: expected at most {MOST_HEADS} heads in all sequences"
            f" together, got {len(task.q)}"
        )
    given |= {name: cuda.to_device(x) for name, x in given.items() if np.ndim(x)}
    cudasim.mend()
    for run in launches(build, task, given, parts):
        run()
    return given["O"].copy_to_host(), given["LSE"].copy_to_host()


def launches(
    build: Build, task: Task, given: dict[str, Any], parts: int = 1
) -> list[Callable[[], None]]:
    """Return what to call, one after the other, to run a kernel on a GPU.

    Parameters
    ----------
    build : Build
    task : Task
    given : dict of str to device array or number
        As `Task.given` returns it.
    parts : int

    Returns
    -------
    list of callable
        One for the kernel, and one for what is launched after it, if anything is.
    """
    return [
        partial(
            compiled(each)[task.grid(each, parts), each.threads],
            *(given[name] for name in each.arguments),
        )
        for each in build.launches
    ]


# A kernel of a build is made of the build alone, so it can be kept. A reader's function
# cannot: what stands around it may change.
@cache
def simulated(build: Build) -> simulator.Kernel:
    """Return a kernel for the simulator or for WebGPU; its text is parsed once.

    Parameters
    ----------
    build : Build

    Returns
    -------
    blocksim.kernel.Kernel
    """
    return simulator.Kernel(function=build.kernel)


@cache
def compiled(build: Build) -> Any:
    """Return a kernel ready to be launched on a GPU.

    It is compiled with `Build.options`, as for its stored report, where Numba can do
    that. Elsewhere its answers are the same, but the compiler may give it other
    registers; then a sentence about it is printed, once.

    Parameters
    ----------
    build : Build

    Returns
    -------
    Numba's dispatcher
        `compiled(build)[grid, threads](…)` launches it.
    """
    known = {"fastmath", *signature(cuda.jit).parameters}
    options = {name: x for name, x in build.options.items() if name in known}
    try:
        jit = cuda.jit(**options)
    except RuntimeError:  # numba-cuda raises it if there is no nvJitLink
        jit = cuda.jit(**options | {"lto": False})
        known.discard("lto")
    if has_gpu() and not build.options.keys() <= known:
        _print_once(OTHER_CODE)
    return jit(build.kernel)


def _asked(
    q: ArrayLike, k: ArrayLike, v: ArrayLike, scale: float | None
) -> inputs.Attention:
    """Return the arguments, checked; kernels take float32 and float16."""
    asked = inputs.attention(q, k, v, scale, None, None)
    if asked.dtype not in (np.float32, np.float16):
        raise ValueError(
            "q, k, v: expected float32 or float16, which is what the"
            f" kernels take, got {asked.dtype}"
        )
    if abs(asked.scale) > MOST:
        raise ValueError(
            f"scale: expected a number that float32 can hold, got {scale!r}"
        )
    return asked


def _plan(asked: inputs.Attention, mask: Mask | None, kernel: str, device: str) -> Plan:
    """Return a plan for arguments that have been checked."""
    mask, rung = interval(mask), _rung(kernel)
    inputs.one_of("device", device, DEVICES)
    if device == "cuda" and not numba_launches():
        raise ValueError(
            'device: "cuda" needs an NVIDIA GPU, and Numba finds none here'
        )
    if device == "webgpu":
        return _on_webgpu(asked, mask, rung)
    if device in ("auto", "cuda") and has_gpu():
        return _on_cuda(asked, rung)
    if device == "auto" and not numba_launches() and _webgpu().is_real():
        with suppress(ValueError):  # the numbers, or the size, are not for it
            return _on_webgpu(asked, mask, rung)
    return _simulated(asked, mask, rung, device)


def _on_cuda(asked: inputs.Attention, rung: str | None) -> Plan:
    """Return a plan for a GPU of NVIDIA."""
    width, work = _width(asked), _work(asked)
    rung, why = _best(work, width) if rung is None else (rung, "as asked")
    build = Build.shipped(rung, width)
    parts = build.parts(work, asked.k.shape[-2], multiprocessors())
    why = f"{why}; rows of {build.d} numbers"
    return Plan(build, device(), why, parts=parts, on="cuda")


def _on_webgpu(asked: inputs.Attention, mask: Mask, rung: str | None) -> Plan:
    """Return a plan for a GPU of any make; refuse numbers that it may get wrong."""
    webgpu = _webgpu()
    name, width, work = webgpu.name(), _width(asked), _work(asked)
    build = webgpu.fitting(rung or webgpu.best(work, width), width)
    if why := webgpu.unfit(webgpu.settled(fit(asked, mask, build.d))):
        raise ValueError(why)
    parts = build.parts(work, asked.k.shape[-2], webgpu.CORES)
    guess = f"; {webgpu.CORES} multiprocessors assumed, for WebGPU tells none"
    few = LADDER[build.rung].for_few_rows
    why = f"tiles that fit it; rows of {build.d} numbers{guess if few else ''}"
    return Plan(build, name, why, parts=parts, on="webgpu")


def _simulated(
    asked: inputs.Attention, mask: Mask, rung: str | None, device: str
) -> Plan:
    """Return a plan for a simulator: Numba's if it is switched on, or the book's."""
    build = Build.small(rung or _best_to_simulate(), _width(asked))
    on = "cuda" if config.ENABLE_CUDASIM and device != "simulator" else "simulator"
    task = fit(asked, mask, build.d)
    seconds = task.visits() * _seconds_per_visit(build.rung, task.mode(), on)
    parts = build.parts(_work(asked), asked.k.shape[-2], SIMULATED)
    name = "Numba's simulator" if on == "cuda" else "the block simulator"
    why = "as asked" if device == "simulator" else _no_gpu()
    return Plan(build, name, f"{why}; small tiles", seconds, parts, on)


def _webgpu() -> Any:
    """Return the module for a GPU of any make, which stands on this one."""
    return import_module("tiledattention.gpu.webgpu")


def _width(asked: inputs.Attention) -> int:
    """Return how many numbers are in the longest rows."""
    return max(asked.q.shape[-1], asked.v.shape[-1])


def _work(asked: inputs.Attention) -> Work:
    """Return how much there is to do."""
    *batch, n, _ = asked.q.shape
    group = batch[-1] // max(asked.k.shape[-3], 1) if batch else 1
    return Work(math.prod(batch), n, group)


def _rung(kernel: str) -> str | None:
    """Return the rung that is asked for; None for "auto"."""
    inputs.one_of("kernel", kernel, ("auto", *LADDER))
    return None if kernel == "auto" else kernel


def _best(work: Work, width: int) -> tuple[str, str]:
    """Return the rung for a GPU, and why it.

    It is the highest that Numba can compile here; where rows are few, one for few rows.
    """
    rung, why = _highest()
    block_q = Build.shipped(rung.name, width).block_q
    for other in LADDER.values():
        if other.for_few_rows and other.pays(work, block_q, multiprocessors()):
            return other.name, other.merit
    return rung.name, why


def _highest() -> tuple[Rung, str]:
    """Return the highest rung that Numba can compile here for a GPU, and why it."""
    passed_over = ""
    for number, rung in reversed(list(enumerate(LADDER.values(), 1))):
        if rung.for_few_rows:
            continue
        missing = rung.missing()
        if not missing:
            return rung, passed_over or rung.merit
        passed_over = passed_over or f"rung {number} {missing}"
    raise RuntimeError(f"no kernel can run here: {passed_over}")


def _best_to_simulate() -> str:
    """Return the highest rung of those for the simulator."""
    return [rung.name for rung in LADDER.values() if rung.for_simulator][-1]


def _no_gpu() -> str:
    """Return why there is no GPU to run on."""
    if config.ENABLE_CUDASIM:
        return "NUMBA_ENABLE_CUDASIM is set"
    return "Numba finds no GPU here"


@cache
def _seconds_per_visit(rung: str, mode: str, on: str) -> float:
    """Return how long the simulator takes for one number of K; it measures that now."""
    rows = np.full((1, 16, 8), 0.0 if mode == "plain" else MOST, np.float32)
    lengths, far = np.array([16], np.int32), np.int32(32)
    task = Task(rows, rows, rows, lengths, np.float32(1), far, far, np.int32(1))
    start = time.perf_counter()
    launch(Build.small(rung, 8), task, on=on)
    return (time.perf_counter() - start) / task.visits()


def duration(seconds: float) -> str:
    """Return a time in a unit that makes it short to read.

    Parameters
    ----------
    seconds : float

    Returns
    -------
    str

    Examples
    --------
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


@cache
def _print_once(text: str) -> None:
    """Print a sentence, if it was not printed before."""
    print(text)


def largest(x: Array) -> float:
    """Return the largest finite magnitude.

    Parameters
    ----------
    x : ndarray

    Returns
    -------
    float
    """
    return float(np.abs(x[np.isfinite(x)]).max(initial=0))


def _rows(x: Array, dtype: DType, width: int) -> Array:
    """Return x (..., n, d) as (all heads, n, width), filled up with zeros."""
    *batch, n, d = x.shape
    rows = np.zeros((*batch, n, width), dtype)
    rows[..., :d] = x
    return rows.reshape(int(np.prod(batch)), n, width)
