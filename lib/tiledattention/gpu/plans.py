"""A plan: which kernel runs, where, and why. A device makes it and launches it."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from onlinesoftmax import inputs
from onlinesoftmax.inputs import Array
from onlinesoftmax.masks import Mask
from tiledattention.gpu.ladder import LADDER, PORTABLE, Build
from tiledattention.gpu.rung import Work
from tiledattention.gpu.task import Task, fit, name_of


@dataclass(frozen=True)
class Plan:
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
    task : Task
        The arguments, in the form that the kernel takes.
    """

    build: Build
    device: str
    why: str
    task: Task = field(repr=False, compare=False)
    seconds: float = 0.0
    parts: int = 1
    on: str = "simulator"

    def __str__(self) -> str:
        return f"kernel {self.build.rung!r} on {self.device}: {self.why}"


class Request(NamedTuple):
    """What a caller asks for, checked."""

    arguments: inputs.Attention
    mask: Mask
    rung: str | None  # None: the device picks one
    device: str  # one of `DEVICES`

    @property
    def dtype(self) -> str:
        """What the numbers are, such as "bfloat16"."""
        return name_of(self.arguments.dtype)

    @property
    def width(self) -> int:
        """How many numbers are in the longest rows."""
        return max(self.arguments.q.shape[-1], self.arguments.v.shape[-1])

    @property
    def keys(self) -> int:
        """How many keys a head has."""
        return int(self.arguments.k.shape[-2])

    @property
    def work(self) -> Work:
        """How much there is to do, as far as a grid depends on it."""
        *batch, n, _ = self.arguments.q.shape
        group = batch[-1] // max(self.arguments.k.shape[-3], 1) if batch else 1
        return Work(math.prod(batch), n, group)

    def need_portable(self, device: str) -> None:
        """Refuse what only kernels for NVIDIA's GPUs can run."""
        if self.rung not in (None, *PORTABLE):
            raise ValueError(
                f"kernel: expected one of {[*PORTABLE]} for {device}, got"
                f" {self.rung!r}, which has instructions of NVIDIA's GPUs"
            )
        known = {dtype for rung in PORTABLE for dtype in LADDER[rung].dtypes}
        if self.dtype not in known:
            raise ValueError(
                f"q, k, v: expected {' or '.join(sorted(known))} for {device}, got"
                f" {self.dtype}"
            )

    def task(self, build: Build) -> Task:
        """Return the arguments, packed for a kernel."""
        return fit(self.arguments, self.mask, build.d)


class Device(ABC):
    """A kind of device: NVIDIA's GPU, a GPU of any make, or the simulator."""

    on: ClassVar[str]

    @abstractmethod
    def plan(self, request: Request) -> Plan:
        """Return a plan; a ValueError says why the device cannot run the request."""

    @abstractmethod
    def run(self, plan: Plan, arguments: dict[str, Any]) -> None:
        """Run a kernel, and what is launched after it, on arguments by their names."""

    def launch(self, plan: Plan) -> tuple[Array, Array]:
        """Run a plan; return out (heads, n, d) and lse (heads, n)."""
        out = np.zeros_like(plan.task.q)
        lse = np.zeros(out.shape[:2], np.float32)
        if out.size:
            self.run(plan, plan.task.arguments(out, lse, plan.parts))
        return out, lse
