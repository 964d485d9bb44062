"""What the compiler makes of a kernel; no GPU is needed for that.

A kernel is compiled as for a launch. Numba translates it to LTO-IR, an early form of
the program. nvJitLink optimises that once more, makes PTX of it, and machine code of
the PTX. Its report tells how many registers a thread takes, and how much did not fit in
them. The PTX shows whether something is computed in double precision.

`cuda.jit` does this by default where nvJitLink is installed (NVIDIA/numba-cuda, pull
request 310). Without it Numba makes PTX itself. The answers are then the same, but the
code is not, and so registers and spills differ.
"""

import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from difflib import SequenceMatcher
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from numba import cuda, float32, int32, types

from kernellab import mlir
from kernellab.reports import Report, compiled_for
from tiledattention.gpu.ladder import Build

PACKAGES = (
    "numba-cuda",
    "numba",
    "llvmlite",
    "nvidia-nvjitlink-cu12",
    "nvidia-cuda-nvdisasm",
)
COMPILERS = ("numba-cuda", "numba-cuda-mlir")
MOST_SHARED = 48 * 1024  # bytes that a block gets unless a launch asks for more


def compile_report(
    kernel: str | Build, arch: str, *, d: int = 64, dtype: str = "float32"
) -> Report:
    """Return what the compiler says about a kernel.

    Parameters
    ----------
    kernel : str or Build
        A rung, one of `gpu.RUNGS`, as it ships for rows of `d` numbers; or a build of
        any size.
    arch : str
        One of `reports.ARCHS`.
    d : int
        Numbers in a row, for a rung; a build has its own.
    dtype : {"float32", "float16", "bfloat16"}
        That of q, k, v and the output in memory, one of those the rung takes.

    Returns
    -------
    Report

    Notes
    -----
    It needs the packages of requirements-gpu.txt, but no GPU. Without them it raises a
    RuntimeError that says what is missing.
    """
    build = kernel if isinstance(kernel, Build) else Build.shipped(kernel, d)
    archs, dtypes = compiled_for(build.rung)
    check("arch", arch, archs)
    check("dtype", dtype, dtypes)
    need_compiler()
    return report_of(build, arch, dtype, launched(build, arch, dtype, lines=False))


def report_of(build: Build, arch: str, dtype: str, code: "Code") -> Report:
    """Return the report of a build from its code, as `launched` returns it."""
    fits = bool(code.machine)
    return Report(
        build.rung,
        build.d,
        dtype,
        arch,
        build.block_q,
        build.block_k,
        build.threads,
        _number(r"Used (\d+) registers", code.log) if fits else None,
        _spilled(code.log) if fits else None,
        code.shared,
        len(re.findall(r"\.f64\b", code.ptx)),
        len(re.findall(r"\.local\b", code.ptx)),
    )


def check(name: str, value: object, known: tuple[str, ...]) -> None:
    """Raise an error unless an argument is one of a few known texts."""
    if value not in known:
        raise ValueError(f"{name}: expected one of {list(known)}, got {value!r}")


def to_ltoir(build: Build, arch: str, dtype: str = "float32") -> bytes:
    """Return a kernel as LTO-IR, compiled with the options of `nvidia.compiled`."""
    return early(build.kernel, arguments_of(build, dtype), arch, options_of(build))


def arguments_of(build: Build, dtype: str) -> tuple[types.Type, ...]:
    """Return the types of the arguments of a build's kernel, in their order."""
    known = argument_types(dtype)
    return tuple(known[name] for name in build.arguments)


def options_of(build: Build) -> dict[str, Any]:
    """Return those options of a build that `cuda.compile` knows."""
    return {name: build.options[name] for name in ("fastmath", "launch_bounds")}


def early(
    kernel: Callable[..., None],
    arguments: tuple[types.Type, ...],
    arch: str,
    options: dict[str, Any],
    compiler: str = COMPILERS[0],
) -> bytes:
    """Return any kernel as LTO-IR, the early form that `link` continues with.

    `arguments` are Numba's types, and `options` those of `cuda.compile`, such as
    `fastmath` and `launch_bounds`. `compiler` is one of `COMPILERS`.
    """
    check("compiler", compiler, COMPILERS)
    digits = arch.removeprefix("sm_")
    target = (int(digits.rstrip("a")[:-1]), int(digits.rstrip("a")[-1]))
    if compiler == "numba-cuda-mlir":
        return mlir.early(kernel, arguments, target, options)
    with _lines_of_inlined_functions():
        code, _ = cuda.compile(
            kernel,
            arguments,
            device=False,
            abi="numba",
            output="ltoir",
            cc=(*target, "a") if digits.endswith("a") else target,
            **options,
        )
    return code


def _lines_of_inlined_functions() -> AbstractContextManager[object]:
    """Return a context in which Numba keeps the lines of inlined functions.

    numba-cuda takes every line above a kernel's `def` for a decorator, and puts its
    instructions down to the `def`. A function that is inlined may stand there too.
    """
    from numba.cuda.lowering import BaseLower

    def line_of(lower: BaseLower, line: int) -> int:
        kernel, at = lower.func_ir.loc, lower.defn_loc.line
        decorator = kernel.line <= line < at
        return at if decorator or lower.loc.filename != kernel.filename else line

    return patch.object(BaseLower, "_adjust_line_if_prologue", line_of, create=True)


def argument_types(dtype: str) -> dict[str, types.Type]:
    """Return the types of everything that `Task.arguments` hands to kernels, by name."""
    number = {
        "float32": float32,
        "float16": types.float16,
        "bfloat16": types.uint16,  # its bits
    }[dtype]
    known = dict.fromkeys(("Q", "K", "V", "O"), number[:, :, ::1])
    known |= dict.fromkeys(("left", "right", "group"), int32)
    known |= {"lengths": int32[::1], "scale": float32}
    return known | {"LSE": float32[:, ::1], "states": float32[:, :, ::1]}


def launched(
    build: Build,
    arch: str,
    dtype: str = "float32",
    *,
    lines: bool = True,
    compiler: str = COMPILERS[0],
) -> "Code":
    """Return the code that a launch of a build runs, with its lines if `lines` says so."""
    kernel, arguments = build.kernel, arguments_of(build, dtype)
    how = options_of(build)
    return code_of(kernel, arguments, arch, how, lines=lines, compiler=compiler)


class Code(NamedTuple):
    """The code of a kernel that a launch runs.

    Attributes
    ----------
    ptx : str
        PTX, as the linker has made it.
    python : dict of int to int
        For each line of `ptx` that is an instruction: the line of Python it is for.
    file : str
        The name of the file that those lines are in.
    machine : bytes
        Machine code, a cubin; it knows of each instruction which line of `ptx` it is
        for. Empty if a block would take more shared memory than a launch gives it.
    log : str
        What the linker said.
    """

    ptx: str
    python: dict[int, int]
    file: str
    machine: bytes
    log: str

    @property
    def shared(self) -> int:
        """The bytes of shared memory that a block takes."""
        return _shared(self.ptx)

    def with_lines(self) -> str:
        """Return the PTX with the lines of Python written in, as `.loc`."""
        text, now = [], 0
        for number, line in enumerate(self.ptx.splitlines(), 1):
            if self.python.get(number, now) != now:
                now = self.python[number]
                text.append(f"\t.loc 1 {now} 0")
            text.append(line)
        return "\n".join([*text, f'\t.file 1 "{self.file}"', ""])


def code_of(
    kernel: Callable[..., None],
    arguments: tuple[Any, ...],
    arch: str,
    options: dict[str, Any],
    *,
    lines: bool = True,
    compiler: str = COMPILERS[0],
) -> Code:
    """Return the code of a kernel that a launch runs, and which line made what.

    Parameters
    ----------
    kernel, arguments, arch, options, compiler
        As for `early`.
    lines : bool
        Whether it is to be known which line each instruction is for.

    Returns
    -------
    Code

    Notes
    -----
    Numba is asked twice. With its information about lines the linker now and then
    swaps two factors, or numbers registers in another order. So what a launch runs is
    taken from the text without it, and the lines of Python from the other, instruction
    by instruction.
    """
    as_launched = early(kernel, arguments, arch, options, compiler)
    ptx = link(as_launched, arch, "-ptx").ptx
    python: dict[int, int] = {}
    if lines:
        with_lines = options | {"lineinfo": True}
        lined = early(kernel, arguments, arch, with_lines, compiler)
        python = _python_lines(ptx, link(lined, arch, "-ptx", "-lineinfo").ptx)
    file = Path(kernel.__code__.co_filename).name
    made = Linked("", b"", "")
    if _shared(ptx) <= MOST_SHARED:
        wishes = ("-verbose", "-lineinfo") if lines else ("-verbose",)
        made = link(as_launched, arch, *wishes)
    return Code(ptx, python, file, made.machine, made.log)


def _shared(ptx: str) -> int:
    """Return how many bytes of shared memory a block takes."""
    return sum(map(int, re.findall(r"\.shared \.align[^;]*\[(\d+)\];", ptx)))


class Linked(NamedTuple):
    """What the linker made; what was not wished for is empty."""

    ptx: str
    machine: bytes
    log: str


def link(code: bytes, arch: str, *wishes: str) -> Linked:
    """Optimise LTO-IR, and make PTX or machine code of it.

    If nvJitLink refuses, a ValueError tells what it complains of.

    Parameters
    ----------
    code : bytes
        LTO-IR.
    arch : str
        One of `reports.ARCHS`.
    wishes : str
        Options of nvJitLink: "-ptx" makes PTX, anything else machine code; "-verbose"
        adds a report, "-lineinfo" which instruction is for which line.

    Returns
    -------
    Linked
    """
    from cuda.bindings import nvjitlink as linkers

    options = [f"-arch={arch}", "-lto", *wishes]
    linker = linkers.create(len(options), options)
    try:
        linkers.add_data(linker, linkers.InputType.LTOIR, code, len(code), "kernel")
        linkers.complete(linker)
        log = _text(linker, linkers.get_info_log_size, linkers.get_info_log)
        if "-ptx" in wishes:
            ptx = _text(linker, linkers.get_linked_ptx_size, linkers.get_linked_ptx)
            return Linked(ptx, b"", log)
        machine = bytearray(linkers.get_linked_cubin_size(linker))
        linkers.get_linked_cubin(linker, machine)
        return Linked("", bytes(machine), log)
    except linkers.nvJitLinkError:
        said = _text(linker, linkers.get_error_log_size, linkers.get_error_log)
        raise ValueError(f"arch {arch}: {said}") from None
    finally:
        linkers.destroy(linker)


def _python_lines(ptx: str, lined: str) -> dict[int, int]:
    """Return the line of Python of each instruction of `ptx`, found in its twin."""
    ours, theirs = _instructions(ptx), _instructions(lined)
    same = SequenceMatcher(
        None, [one.opcode for one in ours], [one.opcode for one in theirs], False
    )
    found = {}
    for here, there, count in same.get_matching_blocks():
        for one, twin in zip(ours[here:][:count], theirs[there:][:count], strict=True):
            found[one.line] = twin.python
    now = 0
    for one in ours:  # where the twin differs: the line of what goes before
        now = found.setdefault(one.line, now)
    return found


class _Instruction(NamedTuple):
    opcode: str
    line: int
    python: int


def _instructions(ptx: str) -> list[_Instruction]:
    """Return the instructions of a text, with the line of Python last named."""
    found, python = [], 0
    for number, line in enumerate(ptx.splitlines(), 1):
        if place := re.match(r"\s*\.loc\s+\d+\s+(\d+)", line):
            # Line 0 is for what the compiler cannot put down to any line.
            python = int(place[1]) or python
        elif opcode := re.match(r"\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)", line):
            found.append(_Instruction(opcode[1], number, python))
    return found


def need_compiler() -> None:
    """Raise a RuntimeError that says what to install, if there is no compiler."""
    compiles = getattr(cuda, "compile", None)
    if compiles is None or "launch_bounds" not in signature(compiles).parameters:
        missing = "the package numba-cuda, and no simulator in its place"
    elif not has_linker():
        missing = "nvJitLink 12.3 or later"
    else:
        return
    raise RuntimeError(
        f"compile_report needs {missing}: requirements-gpu.txt lists"
        " what to install; it takes no GPU"
    )


def has_linker() -> bool:
    """Return whether there is an nvJitLink that `cuda.jit` can link with."""
    try:
        from cuda.bindings import nvjitlink

        return nvjitlink.version() >= (12, 3)
    except (ImportError, RuntimeError):  # no bindings, or no library under them
        return False


def environment() -> dict[str, str]:
    """Return the versions of everything that decides what a kernel becomes."""
    python = ".".join(map(str, sys.version_info[:2]))
    return {"Python": python} | {name: version(name) for name in PACKAGES}


def _text(
    linker: int, size: Callable[[int], int], get: Callable[[int, bytearray], None]
) -> str:
    text = bytearray(size(linker))
    get(linker, text)
    return text.decode(errors="replace").rstrip("\0\n")


def _spilled(log: str) -> int:
    """Return how many bytes spills write to memory and read back."""
    return sum(_number(rf"(\d+) bytes spill {way}", log) for way in ("stores", "loads"))


def _number(pattern: str, log: str) -> int:
    found = re.findall(pattern, log)
    return int(found[-1]) if found else 0
