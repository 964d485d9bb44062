"""What ``cuda.jit`` makes: kernels that launch on the simulator, and a record of it."""

import builtins
import copy
import functools
import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from types import MethodType
from typing import Any

from blocksim import kernel as simulator
from blocksim.faults import FATAL, Fault, TooLong
from blocksim.functions import Unreadable
from blocksim.report import Report

from .arguments import taken
from .declined import Declined, DeclinedAttribute
from .places import places
from .policy import Policy

THREADS = 128  # of a block, where forall is not told
TURNS = 1 << 62  # the limit is one of time
# What Numba compiles and the simulator declines, and what is never meant: a fault here.
MISTAKES = ("mention",)
RAISED = {"compile", "launch", "error"}  # of faults that Numba raises, too
MOST_NOTES = 4  # of an exception, on what else its launch shows
# What Numba's kernels tell of the code that was compiled: here is none.
OF_COMPILER = (
    "overloads signatures nopython_signatures stats specialized specializations"
    " inspect_asm inspect_llvm inspect_types inspect_sass inspect_lto_ptx"
    " get_regs_per_thread get_shared_mem_per_block get_const_mem_size"
    " get_local_mem_per_thread get_max_threads_per_block get_annotation_info"
    " get_call_template get_compile_result compile_device recompile bind"
    " enable_caching disable_compile _compile_for_args launch_config_sensitive"
).split()
OBJECTS = 200_000  # that a launch makes before Python looks for cycles
LOCK = Lock()
# Of Python's collector, before each launch that runs; there is one for each thread.
THRESHOLDS: list[tuple[int, int, int]] = []


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
    """The launches since `install`, and the policy that they are judged by.

    ``declined`` has the reason of each launch that was declined.
    """

    policy: Policy = field(default_factory=Policy)
    mode: str = "rounded"
    launches: list[Launched] = field(default_factory=list)
    declined: list[str] = field(default_factory=list)

    def launch(self, kernel: "Dispatcher", where: "Where", arguments: tuple) -> None:
        """Run a kernel; raise the first fault that counts."""
        __tracebackhide__ = True  # pytest then shows the line that launches
        begun = time.monotonic()
        after: list[Callable[[], Any]] = []
        try:
            given = self.given(kernel, arguments, after)
            with seldom_collecting():
                report = self.report(kernel, where, given, begun)
        except Declined as reason:
            self.declined.append(str(reason))
            raise reason.with_traceback(None) from None
        except ValueError as error:  # about the grid or an argument
            raise error.with_traceback(None) from None
        for each in after:
            each()
        counted = self.judged(kernel.__name__, report, time.monotonic() - begun)
        if counted:
            error = _own(kernel, counted[0])
            _add_notes(error, counted[1:], report.notes)
            raise error.with_traceback(None) from None

    def judged(self, name: str, report: Report, seconds: float) -> list[Fault]:
        """Keep what a launch has done; return the faults that count."""
        counted, passed = [], []
        for fault in report.faults:
            fault.__traceback__ = fault.__context__ = None  # which hold arrays
            why = self.policy.because(name, fault)
            if why is None or fault.fields.get("late"):  # no policy changes its limit
                counted.append(fault)
            else:
                passed.append((fault, why))
        self.launches.append(Launched(name, counted, passed, report.notes, seconds))
        return counted

    def given(
        self, kernel: "Dispatcher", arguments: tuple, after: list[Callable[[], Any]]
    ) -> list[Any]:
        """Return the arguments as the simulator takes them."""
        __tracebackhide__ = True
        try:
            return taken(kernel.py_func, arguments, kernel.extensions, after)
        except (TypeError, ValueError) as error:
            raise error.with_traceback(None) from None

    def report(
        self, kernel: "Dispatcher", where: "Where", given: list[Any], begun: float
    ) -> Report:
        """Run a kernel; return its report, or raise Declined."""
        limit, name = self.policy.seconds, kernel.__name__

        def beat() -> None:
            if time.monotonic() - begun > limit:
                raise TooLong(f"{name} ran for more than {limit:g} seconds")

        try:
            report = simulator.run(
                kernel.made, where.grid, where.block, *given, mode=self.mode, beat=beat,
                shared=where.shared, turns=TURNS, negative="wraps",
            )  # fmt: skip
        except Unreadable as error:
            raise Declined(f"{name} is {error.what}, so it is not simulated") from None
        report.show()
        for fault in report.faults:
            declined = fault.fields.get("declined")
            if declined and declined not in MISTAKES:
                at = [place.partition(": ") for place in places(kernel.py_func, fault)]
                raise Declined(f"{fault.text} ({at[0][0]})" if at else str(fault))
        return report

    def unexpected(self, since: int = 0) -> list[Fault]:
        """Return the faults of the launches from one on that no program can expect."""
        faults = (fault for one in self.launches[since:] for fault in one.faults)
        return [fault for fault in faults if fault.kind not in RAISED]

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
        faulty = sum(bool(one.faults) for one in self.launches)
        counts = f", {faulty} with faults" if faulty else ""
        counts += f"; {len(self.declined)} declined" if self.declined else ""
        return [
            f"{len(self.launches)} launches in {seconds:.1f} s{counts}",
            *(f"{what}, {times} times" for what, times in passed.items()),
            *sorted(first.values()),
        ]


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Let Python look for cycles less often: the threads of a block are many objects."""
    with LOCK:
        usual = gc.get_threshold()
        THRESHOLDS.append(usual)
        gc.set_threshold(max(usual[0], OBJECTS) if usual[0] else 0, *usual[1:])
    try:
        yield
    finally:
        with LOCK:
            usual = THRESHOLDS.pop()
            if not THRESHOLDS:  # of the launches of all threads, the last one ends
                gc.set_threshold(*usual)


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
        self.extensions = list(options.get("extensions") or [])

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
        count, block = simulator.count(ntasks, "ntasks"), simulator.count(tpb, "tpb")
        if count == 0:
            return lambda *arguments: None
        block = block or THREADS
        return self.configure(-(-count // block), block, stream, sharedmem)

    def __call__(self, *arguments: Any) -> Any:
        if self.targetoptions.get("device"):
            raise TypeError(f"{self.__name__} is a device function: kernels call it")
        wanted = "expected kernel[grid, block](…)"
        raise ValueError(f"Kernel launch configuration was not specified: {wanted}")

    def specialize(self, *arguments: Any) -> "Dispatcher":
        """Return the kernel: it is compiled for the arguments of each launch anyway."""
        return self

    compile = specialize

    def __reduce__(self) -> str:
        """Return its name: a copy is the kernel itself, as it is for a function."""
        return self.__qualname__

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else MethodType(self, owner)

    def __getattr__(self, name: str) -> Any:
        if name in OF_COMPILER:
            raise DeclinedAttribute(f"{name} of a kernel is not simulated")
        raise AttributeError(f"a kernel has no {name}")


def _own(kernel: "Dispatcher", fault: Fault) -> Exception:
    """Return what a launch raises: a fault, with the files and lines that it names.

    For an exception that a kernel under debug=True raised, it is that exception, as Numba
    words it.
    """
    # The session keeps the fault itself, without the traceback of what is raised.
    error = _raised(kernel, copy.copy(fault))
    for place in places(kernel.py_func, fault):
        error.add_note(place)
    return error


def _raised(kernel: "Dispatcher", fault: Fault) -> Exception:
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


def _add_notes(error: Exception, others: list[Fault], notes: list[Fault]) -> None:
    """Add to an exception what else its launch shows: that may be the cause."""
    first = sorted(others, key=lambda fault: fault.kind not in FATAL)
    lines = [f"also: {other}" for other in first] + [f"note: {note}" for note in notes]
    for line in lines[:MOST_NOTES]:
        error.add_note(line)
