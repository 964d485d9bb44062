"""The laboratory: what any kernel executes, compiled and counted without a GPU.

`count` takes a kernel and arguments, as a launch would. It compiles the kernel the way
of a launch, lets the PTX machine execute it, and counts the machine code. So a change
of a line shows at once in what the GPU would have to do. It needs the packages of
requirements-gpu.txt, but no GPU.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype, types

import ptxsim
from kernellab import compile as compiler
from kernellab import counting, sass
from kernellab.compile import Code
from kernellab.counts import Counts, digest, source
from kernellab.reports import ARCHS
from ptxsim import Result
from tiledattention.gpu.ladder import Build
from tiledattention.gpu.rung import Kernel
from tiledattention.gpu.task import Task, to_bits

PROFILED = ("sectors", "requests", "wavefronts", "turns")
Compiled = Callable[[Build, str, str], Code]
QUERIES = 256  # rows of one head: full blocks in every rung
KEYS = (64, 128)  # full tiles in every rung; the count is for the second half


class Counted(NamedTuple):
    """What a kernel executed, once as PTX and once as machine code.

    Attributes
    ----------
    code : Code
        Both texts, and which line of Python each instruction is for.
    ran : ptxsim.Result
        What the PTX machine counted.
    machine : Count
        Warp instructions of machine code, by line and kind.
    """

    code: Code
    ran: Result
    machine: counting.Count

    def by_line(self) -> dict[int, dict[str, int]]:
        """Return warp instructions of machine code by line of Python, and by kind."""
        return self.machine.by_line(self.code.python)


def count(
    kernel: Kernel,
    grid: int | Sequence[int],
    threads: int,
    *args: Any,
    outputs: Sequence[int] = (),
    arch: str = "sm_80",
) -> Counted:
    """Compile a kernel, execute it, and count what its machine code executes.

    Parameters
    ----------
    kernel : function
        What `cuda.jit` would take.
    grid : int or up to three ints
        How many blocks of threads.
    threads : int
        Threads of a block.
    args : arrays and NumPy numbers
        The arguments. Arrays are C-contiguous; what the kernel writes is written to
        them.
    outputs : sequence of int
        The places, among the arguments, of the arrays that it writes.
    arch : str
        Such as "sm_80".

    Returns
    -------
    Counted

    Notes
    -----
    A fault of memory, or a race, raises a `ptxsim.Fault` that names the line.
    """
    compiler.check("arch", arch, ARCHS)
    compiler.need_compiler()
    options = {"fastmath": True, "launch_bounds": (threads,)}
    kinds = tuple(_type_of(place, value) for place, value in enumerate(args))
    code = compiler.code_of(kernel, kinds, arch, options)
    return execute(code, grid, args, outputs)


def execute(
    code: Code, grid: int | Sequence[int], args: Sequence[Any], outputs: Sequence[int]
) -> Counted:
    """Execute code that a launch would run, and count.

    `outputs` are the indices, among the arguments, of the arrays that it writes.
    """
    ran = ptxsim.run(code.with_lines(), grid, args, outputs=outputs, profile=True)
    return in_machine_code(code, ran)


def in_machine_code(code: Code, ran: Result) -> Counted:
    """Return the counts of PTX together with the count of its machine code."""
    executed = [
        counting.Executed(
            line, one.instruction.opcode, one.threads, one.warps, one.taken
        )
        for line, one in zip(sorted(code.python), ran.counts, strict=True)
    ]
    blocks = sass.blocks_of(sass.disassemble(code.machine))
    return Counted(code, ran, counting.count(blocks, executed))


def full_tiles(build: Build, dtype: str, keys: int) -> Task:
    """Return a task in which every tile of a build is full and nothing is hidden."""
    rng = np.random.default_rng(0)
    numbers = (
        rng.standard_normal((1, rows, build.d)).astype(np.float32)
        for rows in (QUERIES, keys, keys)
    )
    q, k, v = (to_bits(x) if dtype == "bfloat16" else x.astype(dtype) for x in numbers)
    far = np.int32(QUERIES + keys)
    scale = np.float32(build.d**-0.5)
    return Task(q, k, v, np.array([keys], np.int32), scale, far, far, np.int32(1))


def counts_of(
    build: Build, arch: str, dtype: str, compiled: Compiled = compiler.launched
) -> Counts:
    """Return what each further pair of a query and a key makes a build execute.

    Every tile is full, and nothing is hidden. The count is the difference of two runs,
    one with twice as many keys as the other: what a kernel does once for each row,
    however many keys there are, is not in it.

    Parameters
    ----------
    build : Build
    arch : str
    dtype : {"float32", "float16", "bfloat16"}
    compiled : function, optional
        What returns the code of a build, an architecture and a dtype.

    Returns
    -------
    Counts
        Of all that is launched: of the second kernel, too, if there is one.
    """
    codes = [compiled(each, arch, dtype) for each in build.launches]
    total: Counter[tuple[int, str] | str] = Counter()
    for keys, sign in zip(KEYS, (-1, 1), strict=True):
        ran = _run(build, dtype, keys, tuple(map(_for_any, codes)))
        for counted in map(in_machine_code, codes, ran):
            for line, kinds in counted.by_line().items():
                total.update({(line, kind): sign * n for kind, n in kinds.items()})
            total.update({what: sign * counted.ran.total(what) for what in PROFILED})
    lines: dict[int, dict[str, int]] = {}
    for place, number in total.items():
        if isinstance(place, tuple) and number:
            lines.setdefault(place[0], {})[place[1]] = number
    return Counts(
        *(build.rung, build.d, build.block_q, build.block_k, dtype, arch),
        digest(source(build.rung)),
        QUERIES * (KEYS[1] - KEYS[0]),
        sum(sum(kinds.values()) for kinds in lines.values()),
        dict(sorted(lines.items())),
        *(total[what] for what in PROFILED),
    )


@cache
def _run(build: Build, dtype: str, keys: int, texts: tuple[str, ...]) -> list[Result]:
    """Execute the PTX of all that is launched where every tile is full."""
    task = full_tiles(build, dtype, keys)
    heads, n, _ = task.q.shape
    given = task.arguments(np.zeros_like(task.q), np.zeros((heads, n), np.float32))
    found = []
    for each, text in zip(build.launches, texts, strict=True):
        names = each.arguments
        fills = ("O", "LSE") if "O" in names else ("states",)
        args = [given[name] for name in names]
        places = [names.index(name) for name in fills]
        grid = task.grid(each)
        found.append(ptxsim.run(text, grid, args, outputs=places, profile=True))
    return found


def _for_any(code: Code) -> str:
    """Return PTX without its architecture, and without the numbers in Numba's names.

    The text is then the same for every architecture, and is executed once for all.
    """
    text = re.sub(r"\.target \w+", ".target sm_80", code.with_lines())
    kernel = re.search(r"\.entry\s+([\w$]+)", text)
    assert kernel, "PTX without a kernel"
    text = text.replace(kernel[1], "kernel")
    arrays = list(dict.fromkeys(re.findall(r"_cudapy_smem_\d+", text)))
    return re.sub(
        r"_cudapy_smem_\d+", lambda found: f"array_{arrays.index(found[0])}", text
    )


def _type_of(place: int, value: Any) -> types.Type:
    """Return the type that Numba gives to an argument."""
    if isinstance(value, np.ndarray) and value.flags.c_contiguous:
        return types.Array(from_dtype(value.dtype), value.ndim, "C")
    if isinstance(value, np.generic):
        return from_dtype(value.dtype)
    raise TypeError(
        f"args[{place}]: expected a C-contiguous array or a NumPy number such as"
        f" np.int32(4), got {value!r}"
    )
