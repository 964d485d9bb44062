"""Kernels: how a function or a text becomes something that can be launched."""

from .arguments import give_back, take_in
from .faults import shown
from .launch import TURNS, Launch
from .program import Program
from .source import Source
from .things import Thing, Type, signature_of
from .values import Refusal

MODES = ("race", "rounded", "full", "plain")


class Kernel:
    """A kernel with CUDA's launch syntax: ``kernel[grid, block](…)``."""

    def __init__(
        self, program=None, function=None, by="cuda", options=None, signature=None
    ):
        if not isinstance(program, (Program, type(None))):
            raise ValueError(f"program: expected a Program, got {shown(program)}")
        self.made = program
        self.function = function
        self.by = by  # the module of its decorator: "cuda" or "numba"
        self.options = options or {}
        self.signature = signature  # the types given in the decorator, if any

    @property
    def program(self) -> Program:
        """The kernel's program, created on first use."""
        if self.made is None:
            from .functions import program

            self.made = program(self.function)
            if self.signature is not None:
                self.made.function.signature = self.signature
        return self.made

    def __call__(self, *arguments):
        raise ValueError("a kernel is launched with its grid: kernel[grid, block](…)")

    def __getitem__(self, configuration):
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise ValueError("expected kernel[grid, block] or with stream and bytes")
        grid, block = configuration[0], configuration[1]
        shared = configuration[3] if len(configuration) == 4 else 0

        def launch(*arguments):
            report = run(self, grid, block, *arguments, shared=shared)
            report.show()
            if report.faults:
                raise report.faults[0]

        return launch


class Decorating(Thing):
    """``cuda`` or ``numba`` outside of kernels, where ``jit`` decorates functions."""

    def child(self, name: str) -> object:
        """Return the attribute with this name, or None."""
        if name in ("jit", "njit") and name != self.path:
            return self.decorate
        child = super().child(name)
        return Decorating("cuda") if getattr(child, "path", "") == "cuda" else child

    def decorate(self, function=None, *signature, **options) -> object:
        """Decorate a kernel, or with ``device=True`` a device function."""
        if callable(function) and not isinstance(function, (Thing, Type)):
            return Kernel(None, function, self.path, options)
        signed = None if function is None else signature_of(function)
        return lambda function: Kernel(None, function, self.path, options, signed)

    def imported(self, path: str) -> object:
        """Return the stand-in for an import from Numba, NumPy or ``operator``."""
        if path.split(".")[0] in ("numpy", "operator"):
            value, parts = module(path.split(".")[0]), path.split(".")[1:]
        else:
            value, parts = self, path.split(".")[1:]
        for part in parts:
            if part == "*":
                raise ImportError(f"{path}: import by its name what a kernel uses")
            if not hasattr(value, part):
                raise ImportError(f"{path}: nothing that a kernel can use")
            value = getattr(value, part)
        return value


def module(name: str) -> object:
    """Return a Python module, or a stand-in if it is not installed."""
    try:
        return __import__(name)
    except ImportError:
        return Thing(name)


cuda, numba = Decorating("cuda"), Decorating("numba")


def load(source: str, name: str, names: object = None, file="kernel.py", whole=True):
    """Return a kernel from text.

    Parameters
    ----------
    source : str
    name : str
        The kernel's name; the text may also define device functions.
    names : dict, optional
        Further names it may use, such as tile sizes.
    file : str
        Its name in tracebacks.
    whole : bool
        Is the text a whole file, which has to import what it uses and to have
        ``@cuda.jit``, as for a GPU? Otherwise it is a function cut out of a file.
    """
    for what, value in (("source", source), ("name", name)):
        if not isinstance(value, str):
            raise ValueError(f"{what}: expected a text, got {shown(value)}")
    try:
        overrides = dict(names or {})
    except (TypeError, ValueError):
        raise ValueError(f"names: expected a dict, got {shown(names)}") from None
    text = Source(source, file, overrides, numba, whole)
    if name not in text.functions:
        raise ValueError(f"name: expected a function {name!r} in the text")
    node = text.functions[name]
    made = text.around().get(name) if whole else None
    line = (node.decorators or [node])[0].line
    refused = no_kernel(name, made, line) or no_method(node) if whole else None
    signature = getattr(made, "signature", None)
    function = text.function(Kernel(function=Named(name), signature=signature))
    function.source = text
    options = getattr(made, "options", None)
    return Kernel(Program(function, overrides, refused), None, "cuda", options)


def no_kernel(name: str, value: object, line: int) -> Refusal | None:
    """Return why the value of a name in a text cannot be launched, or None if it can."""
    if not isinstance(value, Kernel) or value.by != "cuda":
        plain = "a plain function of Python's"
        what = "a function for the CPU" if isinstance(value, Kernel) else plain
        return Refusal(line, f"{name} is {what}", "put @cuda.jit above it")
    if value.options.get("device"):
        return Refusal(
            line,
            f"{name} is a device function: it cannot be launched",
            "@cuda.jit without device=True",
        )
    for option in sorted(value.options):
        checks = option == "boundscheck" and value.options[option]
        if option not in OPTIONS or checks:
            return Refusal(line, f"cuda.jit knows no option {option}")
    return None


def no_method(node: object) -> Refusal | None:
    """Return a refusal if ``@cuda.jit`` is applied to a method, else None."""
    for decorator in node.decorators:
        method = getattr(decorator, "id", None)
        if method in ("staticmethod", "classmethod", "property"):
            message = (
                f"cuda.jit takes a function, and {method} makes something else of it"
            )
            return Refusal(decorator.line, message, f"@cuda.jit without @{method}")
    return None


OPTIONS = (
    "device inline link debug opt lineinfo cache fastmath max_registers"
    " launch_bounds lto bind boundscheck forceinline shared_memory_carveout"
).split()


class Named:
    """Stands for a function of the text, by its name."""

    def __init__(self, name: str):
        self.__name__ = name


def run(
    kernel, grid, block, *arguments, mode="race", log=False, beat=None, shared=0,
    turns=TURNS, trace=None, negative="fault",
):  # fmt: skip
    """Launch a kernel and return its report; faults are in it, not raised.

    Parameters
    ----------
    kernel : function or Kernel
    grid, block : int or tuple of int
        (x,), (x, y) or (x, y, z)
    *arguments
        Numbers, numpy arrays, lists, tuples of these; arrays are changed in place.
    mode : {"race", "rounded", "full", "plain"}
    log : bool
        Keep a log of the accesses.
    beat : callable, optional
        Called whenever a thread continues, as a sign of life.
    shared : int
        Bytes of dynamic shared memory, for ``shared.array(0, …)``.
    turns : int
        How many iterations its loops may take before a thread is reported as endless.
    trace : callable, optional
        Called with every access, fence and meeting; for tests.
    negative : {"fault", "wraps"}
        What a negative index is: a fault, or an index from the end, as Numba has it, with
        a note.
    """
    if negative not in ("fault", "wraps"):
        raise ValueError(f'negative: expected "fault" or "wraps", got {negative!r}')
    if mode not in MODES:
        raise ValueError(f"mode: expected one of {MODES}, got {mode!r}")
    program = kernel_of(kernel).program
    if len(arguments) != len(program.parameters):
        wanted = ", ".join(program.parameters)
        raise ValueError(f"arguments: expected {wanted}; got {len(arguments)}")
    shape = program, triple(grid, "grid"), triple(block, "block"), mode, log
    debug = bool(kernel_of(kernel).options.get("debug"))
    beat, trace = callback(beat, "beat"), callback(trace, "trace")
    options = beat or silent, count(shared, "shared"), count(turns, "turns", 1), trace

    def prepared(**how):
        """Return a launch, the types of its arguments, and its arrays."""
        wraps = negative == "wraps"
        launch = Launch(*shape, *options, wraps=wraps, debug=debug, **how)
        kinds, taken = take_in(launch, program.parameters, arguments)
        return launch, kinds, program.fitted(taken, kinds)

    launch, kinds, taken = prepared()
    try:
        report = launch.run(kinds, taken)
        if not trace:
            report, taken = again(launch, report, taken, prepared)
    finally:
        give_back(arguments, taken)
    return report


def again(launch: Launch, report: object, taken: list, prepared: object) -> tuple:
    """Run a launch in another order where that may change its verdict.

    A loop may be endless only because it never gives way to other threads. And a kernel
    may be right only if the block with the last number comes last: CUDA promises no order
    of blocks. Returns the report that counts, and its arrays.
    """
    stuck = endless(report) and launch.total() > 1 and not launch.code.waits
    if not stuck and not (report and launch.order.blocks_communicate):
        return report, taken
    other, kinds, fresh = prepared(fair=stuck, backwards=not stuck)
    found = other.run(kinds, fresh)
    if stuck:
        return (report, taken) if endless(found) else (found, fresh)
    return (report if found else found), taken


def endless(report: object) -> bool:
    """Return whether a thread did not end."""
    return "endless" in [fault.fields["kind"] for fault in report.faults]


def silent() -> None:
    """Ignore the signs of life of a launch."""


def triple(extent: object, name: str) -> tuple[int, int, int]:
    """Return the extents (x, y, z) of a grid or block."""
    extents = extent if isinstance(extent, (tuple, list)) else (extent,)
    extents = [count(n, name, 1) for n in extents]
    if not 1 <= len(extents) <= 3:
        raise ValueError(f"{name}: expected one to three counts from 1, got {extent}")
    return tuple(extents + [1, 1])[:3]


def count(number: object, name: str, least: int = 0) -> int:
    """Return a whole number as an int; refuse anything else, or one below ``least``."""
    try:
        whole = int(number)
    except (TypeError, ValueError, OverflowError):
        whole = None
    if whole is None or whole != number or whole < least:
        wanted = f"{name}: expected whole numbers from {least}"
        raise ValueError(f"{wanted}, got {number!r}")
    return whole


def callback(function: object, name: str) -> object:
    """Return a callback of a launch, or None; refuse anything else."""
    if function is not None and not callable(function):
        raise ValueError(f"{name}: expected a function, got {shown(function)}")
    return function


def kernel_of(kernel: object) -> Kernel:
    """Return a kernel; wrap a function, decorated or not."""
    if isinstance(kernel, Kernel):
        return kernel
    return Kernel(None, kernel, "cuda", getattr(kernel, "targetoptions", None))
