"""What the compiler makes of a kernel, on a machine that needs no GPU for it.

The way is that of a launch. Numba translates a kernel to LTO-IR, an early form of the
program; nvJitLink optimises that once more, makes PTX of it and machine code of the
PTX. Its report says how many registers a thread takes and how much did not fit in them;
the PTX shows whether double precision crept in.

`cuda.jit` goes this way by default wherever nvJitLink is installed (NVIDIA/numba-cuda,
pull request 310). The other way, plain PTX, gives the same answers but other code, with
other registers and other spills.
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
MOST_SHARED = 48 * 1024  # bytes of a block, without asking for more


def compile_report(
    kernel: str | Build, arch: str, *, d: int = 64, dtype: str = "float32"
) -> Report:
    """Return what the compiler says about a kernel.

    Parameters
    ----------
    kernel : {"naive", "tiled", "registers"} or Build
        As it ships for rows of `d` numbers, or in another size.
    arch : {"sm_75", "sm_80", "sm_90a"}
    dtype : {"float32", "float16"}
        That of q, k, v and the output in memory.

    Notes
    -----
    It takes the packages of requirements-gpu.txt, and no GPU; without them it raises a
    RuntimeError that says so.
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
    """Return a kernel as LTO-IR, with the options of `launch.compiled`."""
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
    """Optimise LTO-IR, and make machine code of it unless `wish` is "-ptx".

    Returns the PTX, empty unless wished for, and nvJitLink's report, which says
    something if `wish` is "-verbose". Raises a ValueError with what nvJitLink says, if
    it refuses.
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
    """Raise a RuntimeError that says what to install, if it is not there."""
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
    except (ImportError, RuntimeError):  # no bindings; bindings, but no library
        return False


def environment() -> dict[str, str]:
    """Return the versions that decide what a kernel becomes."""
    python = ".".join(map(str, sys.version_info[:2]))
    return {"Python": python} | {name: version(name) for name in PACKAGES}


def _text(
    linker: int, size: Callable[[int], int], get: Callable[[int, bytearray], None]
) -> str:
    text = bytearray(size(linker))
    get(linker, text)
    return text.decode(errors="replace").rstrip("\0\n")


def _spilled(log: str) -> int:
    """Return the bytes that spills write to memory and read back."""
    return sum(_number(rf"(\d+) bytes spill {way}", log) for way in ("stores", "loads"))


def _number(pattern: str, log: str) -> int:
    found = re.findall(pattern, log)
    return int(found[-1]) if found else 0
