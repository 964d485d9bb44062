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
from importlib.metadata import version
from inspect import signature

from numba import cuda, float32, int32, types

from onlinesoftmax.gpu.ladder import Build
from onlinesoftmax.gpu.reports import ARCHS, DTYPES, Report

PACKAGES = ("numba-cuda", "numba", "llvmlite", "nvidia-nvjitlink-cu12")
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
    arch : {"sm_75", "sm_80", "sm_90a"}
    d : int
        Numbers in a row, for a rung; a build has its own.
    dtype : {"float32", "float16"}
        That of q, k, v and the output in memory.

    Returns
    -------
    Report

    Notes
    -----
    It needs the packages of requirements-gpu.txt, but no GPU. Without them it raises a
    RuntimeError that says what is missing.
    """
    build = kernel if isinstance(kernel, Build) else Build.shipped(kernel, d)
    for name, value, known in (("arch", arch, ARCHS), ("dtype", dtype, DTYPES)):
        if value not in known:
            raise ValueError(f"{name}: expected one of {list(known)}, got {value!r}")
    _need_compiler()
    code = to_ltoir(build, arch, dtype)
    ptx, _ = link(code, arch, "-ptx")
    shared = sum(map(int, re.findall(r"\.shared \.align[^;]*\[(\d+)\];", ptx)))
    registers = spills = None
    if shared <= MOST_SHARED:
        _, log = link(code, arch, "-verbose")
        registers, spills = _number(r"Used (\d+) registers", log), _spilled(log)
    return Report(
        build.rung,
        build.d,
        dtype,
        arch,
        build.block_q,
        build.block_k,
        build.threads,
        registers,
        spills,
        shared,
        len(re.findall(r"\.f64\b", ptx)),
        len(re.findall(r"\.local\b", ptx)),
    )


def to_ltoir(build: Build, arch: str, dtype: str = "float32") -> bytes:
    """Return a kernel as LTO-IR, compiled with the options of `launch.compiled`.

    Parameters
    ----------
    build : Build
    arch : {"sm_75", "sm_80", "sm_90a"}
    dtype : {"float32", "float16"}

    Returns
    -------
    bytes
    """
    number = {"float32": float32, "float16": types.float16}[dtype]
    array = number[:, :, ::1]
    arguments = (
        array,
        array,
        array,
        array,
        float32[:, ::1],
        int32[::1],
        float32,
        int32,
        int32,
        int32,
    )
    digits = arch.removeprefix("sm_")
    target = (int(digits.rstrip("a")[:-1]), int(digits.rstrip("a")[-1]))
    options = {name: build.options[name] for name in ("fastmath", "launch_bounds")}
    code, _ = cuda.compile(
        build.kernel,
        arguments,
        device=False,
        abi="numba",
        output="ltoir",
        cc=(*target, "a") if digits.endswith("a") else target,
        **options,
    )
    return code


def link(code: bytes, arch: str, wish: str) -> tuple[str, str]:
    """Optimise LTO-IR, and make PTX or machine code of it.

    If nvJitLink refuses, a ValueError tells what it complains of.

    Parameters
    ----------
    code : bytes
        LTO-IR.
    arch : {"sm_75", "sm_80", "sm_90a"}
    wish : {"-ptx", "-verbose"}
        An option of nvJitLink: "-ptx" makes PTX, "-verbose" machine code and a report.

    Returns
    -------
    ptx, report : str
        What was not wished for is empty.
    """
    from cuda.bindings import nvjitlink as linkers

    options = [f"-arch={arch}", "-lto", wish]
    linker = linkers.create(len(options), options)
    try:
        linkers.add_data(linker, linkers.InputType.LTOIR, code, len(code), "kernel")
        linkers.complete(linker)
        ptx = ""
        if wish == "-ptx":
            ptx = _text(linker, linkers.get_linked_ptx_size, linkers.get_linked_ptx)
        return ptx, _text(linker, linkers.get_info_log_size, linkers.get_info_log)
    except linkers.nvJitLinkError:
        said = _text(linker, linkers.get_error_log_size, linkers.get_error_log)
        raise ValueError(f"arch {arch}: {said}") from None
    finally:
        linkers.destroy(linker)


def _need_compiler() -> None:
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
    """Return whether there is an nvJitLink that `cuda.jit` can link with.

    Returns
    -------
    bool
    """
    try:
        from cuda.bindings import nvjitlink

        return nvjitlink.version() >= (12, 3)
    except (ImportError, RuntimeError):  # no bindings, or no library under them
        return False


def environment() -> dict[str, str]:
    """Return the versions of everything that decides what a kernel becomes.

    Returns
    -------
    dict of str to str
        Version by package, and Python's.
    """
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
