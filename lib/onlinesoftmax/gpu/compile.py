"""What the compiler makes of a kernel, on a machine that needs no GPU for it.

Numba turns a kernel into PTX, an assembly language for no GPU in particular, and
nvJitLink turns that into machine code for one: the way a launch goes as well. Its
report says how many registers a thread takes and how much did not fit in them; the PTX
shows whether double precision crept in.
"""

import re
import sys
from importlib.metadata import version

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
    It takes the packages of requirements-gpu.txt, and no GPU.
    """
    build = kernel if isinstance(kernel, Build) else Build.shipped(kernel, d)
    for name, value, known in (("arch", arch, ARCHS), ("dtype", dtype, DTYPES)):
        if value not in known:
            raise ValueError(f"{name}: expected one of {list(known)}, got {value!r}")
    ptx = to_ptx(build, arch, dtype)
    shared = sum(map(int, re.findall(r"\.shared \.align[^;]*\[(\d+)\];", ptx)))
    if shared <= MOST_SHARED:
        log = assemble(ptx, arch)
        registers, spills = _number(r"Used (\d+) registers", log), _spilled(log)
    else:
        registers = spills = None
    return Report(
        build.rung, build.d, dtype, arch, build.block_q, build.block_k, build.threads,
        registers, spills, shared, len(re.findall(r"\.f64\b", ptx)),
        len(re.findall(r"\.local\b", ptx)),
    )


def to_ptx(build: Build, arch: str, dtype: str = "float32") -> str:
    """Return a kernel as PTX."""
    number = {"float32": float32, "float16": types.float16}[dtype]
    array = number[:, :, ::1]
    signature = (array, array, array, array, float32[:, ::1], int32[::1],
                 float32, int32, int32, int32)
    digits = arch.removeprefix("sm_")
    target = (int(digits.rstrip("a")[:-1]), int(digits.rstrip("a")[-1]))
    ptx, _ = cuda.compile(
        build.kernel, signature, device=False, abi="numba", fastmath=True,
        cc=(*target, "a") if digits.endswith("a") else target,
        launch_bounds=build.bounds,
    )
    return ptx


def assemble(ptx: str, arch: str) -> str:
    """Assemble PTX to machine code; return the assembler's report.

    Raises a ValueError with what the assembler says, if it refuses.
    """
    from cuda.bindings import nvjitlink

    code, options = ptx.encode(), [f"-arch={arch}", "-verbose"]
    linker = nvjitlink.create(len(options), options)
    try:
        nvjitlink.add_data(linker, nvjitlink.InputType.PTX, code, len(code), "kernel")
        nvjitlink.complete(linker)
    except nvjitlink.nvJitLinkError:
        size, get = nvjitlink.get_error_log_size(linker), nvjitlink.get_error_log
        raise ValueError(f"arch {arch}: {_text(linker, size, get)}") from None
    else:
        size, get = nvjitlink.get_info_log_size(linker), nvjitlink.get_info_log
        return _text(linker, size, get)
    finally:
        nvjitlink.destroy(linker)


def environment() -> dict[str, str]:
    """Return the versions that decide what a kernel becomes."""
    python = ".".join(map(str, sys.version_info[:2]))
    return {"Python": python} | {name: version(name) for name in PACKAGES}


def _text(linker: int, size: int, get) -> str:
    text = bytearray(size)
    get(linker, text)
    return text.decode(errors="replace").rstrip("\0\n")


def _spilled(log: str) -> int:
    """Return the bytes that spills write to memory and read back."""
    return sum(_number(rf"(\d+) bytes spill {way}", log) for way in ("stores", "loads"))


def _number(pattern: str, log: str) -> int:
    found = re.findall(pattern, log)
    return int(found[-1]) if found else 0
