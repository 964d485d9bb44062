"""A plan: which kernel runs, where, and why. A device makes it and runs it."""

import math
from dataclasses import dataclass, field
from typing import Protocol

from onlinesoftmax import inputs
from onlinesoftmax.inputs import Array
from onlinesoftmax.masks import Mask
from tiledattention.gpu.ladder import Build
from tiledattention.gpu.rung import Work
from tiledattention.gpu.task import Task


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


class Device(Protocol):
    """A kind of device: NVIDIA's GPU, a GPU of any make, or the simulator."""

    def plan(
        self, asked: inputs.Attention, mask: Mask, rung: str | None, named: bool
    ) -> Plan:
        """Return a plan for checked arguments; `named`: the caller chose the device."""
        ...

    def run(
        self, build: Build, task: Task, parts: int, out: Array, lse: Array
    ) -> tuple[Array, Array]:
        """Run a kernel, and what is launched after it; return `out` and `lse`."""
        ...


def width_of(asked: inputs.Attention) -> int:
    """Return how many numbers are in the longest rows."""
    return max(asked.q.shape[-1], asked.v.shape[-1])


def work_of(asked: inputs.Attention) -> Work:
    """Return how much there is to do, as far as a grid depends on it."""
    *batch, n, _ = asked.q.shape
    group = batch[-1] // max(asked.k.shape[-3], 1) if batch else 1
    return Work(math.prod(batch), n, group)
