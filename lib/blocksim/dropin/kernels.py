"""What ``cuda.jit`` makes: kernels that launch on the simulator, and a record of it."""

import builtins
import functools
import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blocksim import kernel as simulator
from blocksim.faults import Fault, shown
from blocksim.report import Report
from blocksim.types import SIZES

from .policy import Policy

THREADS = 128  # of a block, where forall is not told
TURNS = 1 << 62  # the limit is one of time
OBJECTS = 200_000  # that a launch makes before Python looks for cycles


class Declined(Exception):
    """The simulator does not take a kernel or an argument, though Numba may."""


@dataclass
class Launched:
    """What a session keeps of a launch.

    Attributes
    ----------
    kernel : str
    faults : list of Fault
        Those that the policy does not pass over.
    passed : list of (Fault, str)
        Those that it does, each with the reason.
    notes : list of Fault
    seconds : float
    """

    kernel: str
    faults: list[Fault]
    passed: list[tuple[Fault, str]]
    notes: list[Fault]
    seconds: float


@dataclass
class Session:
    """The launches since `install`, and the policy that they are judged by."""

    policy: Policy = field(default_factory=Policy)
    mode: str = "rounded"
    launches: list[Launched] = field(default_factory=list)

    def launch(self, kernel: "Dispatcher", where: "Where", arguments: tuple) -> None:
        """Run a kernel; raise the first fault that counts."""
        __tracebackhide__ = True  # pytest then shows the line that launches
        begun = time.monotonic()
        with _seldom_collecting():
            report = self.report(kernel, where, [_taken(x) for x in arguments], begun)
        name, counted, passed = kernel.__name__, [], []
        for fault in report.faults:
            why = self.policy.because(name, fault)
            if why is None:
                counted.append(fault)
            else:
                passed.append((fault, why))
        seconds = time.monotonic() - begun
        self.launches.append(Launched(name, counted, passed, report.notes, seconds))
        if counted:
            raise _own(kernel, counted[0]) from counted[0]

    def report(
        self, kernel: "Dispatcher", where: "Where", arguments: list, begun: float
    ) -> Report:
        limit = self.policy.seconds

        def beat() -> None:
            if time.monotonic() - begun > limit:
                raise TooLong(f"{kernel.__name__} ran for more than {limit:g} seconds")

        report = simulator.run(
            kernel.made, where.grid, where.block, *arguments, mode=self.mode, beat=beat,
            shared=where.shared, turns=TURNS, negative="wraps",
        )  # fmt: skip
        report.show()
        for fault in report.faults:
            if fault.fields.get("declined"):
                raise Declined(str(fault))
        return report

    def summary(self) -> list[str]:
        """Return what happened, in lines."""
        seconds = sum(one.seconds for one in self.launches)
        passed = Counter(
            f"passed over: {one.kernel}: {fault.fields['kind']} ({why})"
            for one in self.launches
            for fault, why in one.passed
        )
        first: dict[tuple[Any, ...], str] = {}  # of all launches
        for one in self.launches:
            for note in one.notes:
                place = note.fields["line"], note.fields.get("array")
                said = f"{one.kernel}: {note.severity}: {note}"
                first.setdefault((one.kernel, note.fields["kind"], *place), said)
        return [
            f"{len(self.launches)} launches in {seconds:.1f} s",
            *(f"{what}, {times} times" for what, times in passed.items()),
            *sorted(first.values()),
        ]


@contextmanager
def _seldom_collecting() -> Iterator[None]:
    """Let Python look for cycles less often: the threads of a block are many objects."""
    usual = gc.get_threshold()
    gc.set_threshold(max(usual[0], OBJECTS) if usual[0] else 0, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


class TooLong(Exception):
    """A launch took longer than the policy allows."""


class Where:
    """The configuration of a launch: ``kernel[grid, block, stream, bytes]``."""

    def __init__(self, grid: Any, block: Any, stream: Any = 0, sharedmem: int = 0):
        self.grid, self.block, self.shared = grid, block, sharedmem


class Dispatcher:
    """A function under ``cuda.jit``."""

    def __init__(
        self,
        function: Callable[..., Any],
        options: dict[str, Any],
        signature: Any,
        session: Session,
    ):
        functools.update_wrapper(self, function)
        self.py_func, self.targetoptions, self.session = function, options, session
        self.made = simulator.Kernel(None, function, "cuda", options, signature)
        self.signature = signature

    @property
    def _device(self) -> bool:
        """Whether this is a device function: Numba's simulator has this attribute."""
        return bool(self.targetoptions.get("device"))

    @property
    def program(self) -> Any:
        """The compiled kernel."""
        return self.made.program

    def __getitem__(self, configuration: Any) -> Callable[..., None]:
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise ValueError("expected kernel[grid, block] or with stream and bytes")
        return self.configure(*configuration)

    def configure(self, *configuration: Any) -> Callable[..., None]:
        """Return the kernel with its grid, as a function of its arguments."""
        where = Where(*configuration)

        def launch(*arguments: Any) -> None:
            __tracebackhide__ = True
            self.session.launch(self, where, arguments)

        return launch

    def forall(
        self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0
    ) -> Callable[..., None]:
        """Return the kernel on so many threads, as a function of its arguments."""
        if ntasks < 0:
            raise ValueError(f"ntasks: expected a number from 0, got {ntasks!r}")
        block = tpb or THREADS
        if ntasks == 0:
            return lambda *arguments: None
        return self.configure(-(-ntasks // block), block, stream, sharedmem)

    def __call__(self, *arguments: Any) -> Any:
        if self.targetoptions.get("device"):
            raise TypeError(f"{self.__name__} is a device function: kernels call it")
        raise ValueError("a kernel is launched with its grid: kernel[grid, block](…)")

    def specialize(self, *arguments: Any) -> "Dispatcher":
        """Return the kernel: it is compiled for the arguments of each launch anyway."""
        return self

    compile = specialize
    extensions: list[Any] = []


def _own(kernel: "Dispatcher", fault: Fault) -> Exception:
    """Return the exception that a kernel under debug=True raised, as Numba words it."""
    said = fault.fields.get("said", "")
    if fault.kind != "error" or "at" not in fault.fields:
        return fault
    try:
        kind = kernel.program.function.find(fault.error).raises
    except (KeyError, AttributeError):
        return fault
    thread, block = fault.fields["at"]
    message = said.partition(": ")[2]
    where = f"tid={thread} ctaid={block}"
    kind = kind or getattr(builtins, fault.error)
    return kind(f"{where}: {message}" if message else where)


def _taken(value: Any) -> Any:
    """Return an argument as the simulator takes it; raise Declined for another kind."""
    if hasattr(value, "__cuda_array_interface__") and not isinstance(value, np.ndarray):
        return np.asarray(value)
    dtype = getattr(value, "dtype", None)
    if isinstance(value, (np.ndarray, np.generic)) and str(dtype) not in SIZES:
        raise Declined(f"numbers of {dtype} are not simulated")
    if isinstance(value, (np.ndarray, np.generic, bool, int, float)):
        return value
    if isinstance(value, tuple):
        parts = [_taken(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    raise Declined(f"{shown(value)} as an argument is not simulated")
