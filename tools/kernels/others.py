"""Compiles the kernels of tests/others, which other hands designed, for ptxsim's tests.

    python -m tools.kernels.others            compile, write tests/data/numba.zip
    python -m tools.kernels.others --check    compile, say what differs from that file

The compiler runs in .venv-gpu, like that of `tools.kernels`, and needs no GPU.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from tools.common import environments, options
from tools.common.paths import ROOT
from tools.kernels import gate as kernels
from tools.kernels import stored

STORED = ROOT / "tests" / "data" / "numba.zip"
WHAT = "PTX of the kernels in tests/others. Nothing here has run on a GPU."


def main() -> int:
    return command("tools.kernels.others", compute, STORED)


def command(module: str, compute: Callable[[], dict[str, Any]], path: Path) -> int:
    """Compile as a worker, check what is stored, or store it, by the command line."""
    chosen = options.parse(["--check", "--worker"])
    if "--worker" in chosen:
        json.dump(compute(), sys.stdout)
        return 0
    try:
        kernels.environment()
    except environments.NotInstalled as problem:
        print(problem)
        return 2
    made = environments.ask(kernels.PYTHON, module)
    wrong = stored.settle(path, made["index"], made["texts"], "--check" in chosen)
    count = len(made["texts"])
    return options.report(wrong, f"{count} kernels: {len(wrong)} complaints")


# ---- in the environment with the compiler ----


def compute() -> dict[str, Any]:
    """Return the index, and the PTX of every kernel by its name."""
    from kernellab.compile import environment
    from tests.others.catalogue import TARGET, cases, digest

    texts, signatures, sources = {}, {}, {}
    for name, case in cases().items():
        types = tuple(map(type_of, case.made().args))
        texts[name] = compiled(case, types)
        signatures[name] = ", ".join(map(str, types))
        sources[name] = digest(case)
    index = {
        "what": WHAT,
        "command": "python -m tools.kernels.others",
        "target": "sm_{}{}".format(*TARGET),
        "versions": environment(),
        "signatures": signatures,
        "sources": sources,
    }
    return {"index": index, "texts": texts}


def compiled(case: Any, types: tuple[Any, ...]) -> str:
    """Return the PTX of a kernel, with short names for those of Numba.

    Numba's names count what was compiled before. Those in the section ``.debug_str``,
    which tell where a line was inlined, are left out.
    """
    from numba import cuda
    from numba.cuda import dispatcher
    from numba.cuda.cudadrv import nvrtc

    from tests.others.catalogue import TARGET

    how = {"device": False, "abi": "numba", "lineinfo": True, "cc": TARGET}
    how |= case.options
    # A function that a kernel calls is compiled for the GPU at hand. Here is none.
    device = SimpleNamespace(compute_capability=TARGET)
    with patch.object(dispatcher, "get_current_device", lambda: device):
        ptx, _ = cuda.compile(case.function, types, output="ptx", **how)
        if ".extern .func" in ptx:
            with patch.object(nvrtc, "Program", Source):
                parts, _ = cuda.compile_all(case.function, types, output="ptx", **how)
            ptx = joined(*parts)
    ptx = re.sub(r"\.section\s+\.debug_str\s*\{[^}]*\}", "", stored.plain(ptx))
    ptx = re.sub(r"(\.loc\s+\d+\s+\d+\s+\d+)[^\n]*", r"\1", ptx)
    long = re.search(r"\.entry\s+([\w$]+)", ptx).group(1)
    ptx = ptx.replace(long, case.name)
    for pattern, short in ((r"\b_Z[\w$]+", case.name), (r"\b_cudapy_\w+", "shared")):
        others = dict.fromkeys(re.findall(pattern, ptx))
        names = {name: f"{short}_{i}" for i, name in enumerate(others, 1)}
        ptx = re.sub(pattern, lambda match, names=names: names[match[0]], ptx)
    return ptx


class Source:
    """A program in C++ that becomes PTX; `cuda.core` would look for a GPU's driver."""

    def __init__(self, text: str, kind: str, options: Any) -> None:
        self.text, self.options = text, options.as_bytes("nvrtc")

    def compile(self, target: str, logs: Any) -> str:
        """Return the PTX."""
        from cuda.bindings import nvrtc

        _, program = nvrtc.nvrtcCreateProgram(self.text.encode(), b"", 0, [], [])
        (status,) = nvrtc.nvrtcCompileProgram(program, len(self.options), self.options)
        assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, status
        _, size = nvrtc.nvrtcGetPTXSize(program)
        text = b" " * size
        nvrtc.nvrtcGetPTX(program, text)
        return text.decode().rstrip("\0")


def joined(kernel: str, *libraries: str) -> str:
    """Return the PTX of a kernel with the functions that it declares as external."""
    head = re.search(r".*\.address_size 64\n", kernel, re.S).group()
    body = kernel.removeprefix(head)
    body = re.sub(r"\.extern \.func[^;]*;", "", body)
    functions = (text.partition(".address_size 64\n")[2] for text in libraries)
    lines = re.sub(r"\t\.(loc|file)[^\n]*", "", "".join(functions))
    return head + lines + body


def type_of(value: Any) -> Any:
    """Return Numba's type of an argument of a launch."""
    import numpy as np
    from numba import from_dtype, types

    kind = from_dtype(value.dtype)
    return types.Array(kind, value.ndim, "C") if isinstance(value, np.ndarray) else kind


if __name__ == "__main__":
    sys.exit(main())
