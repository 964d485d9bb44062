"""Traces one turn of a loop, for the figure that steps through its instructions.

    python -m tools.kernels.excerpts           compile, run, write excerpts.json
    python -m tools.kernels.excerpts --check   the same, but compare with that file

The kernels are in book/laboratory.py. Each is compiled as for a launch, and `ptxsim` runs
it. The file holds the first turn of one thread in the loop that copies: every instruction,
its line of Python, and the registers it wrote. `make kernels` calls this command, which
uses the same environment.
"""

import ast
import inspect
import json
import re
import sys
from collections.abc import Callable
from datetime import date
from textwrap import dedent
from typing import Any, NamedTuple

from tools.common import environments, options
from tools.common.paths import ROOT
from tools.kernels import gate as kernels

BOOK = ROOT / "book"
STORED = BOOK / "figures" / "ptx-steps" / "excerpts.json"
LOOPS = ("plain", "mended")
ARCH = "sm_80"
D, KEYS, THREADS = 64, 32, 128
ROWS, BASE, THREAD = 96, 32, 70  # rows of K, the tile's first, the thread we follow
# The value of each name that a line assigns, and the meaning of each number that a turn
# starts with.
VALUES = {"r": THREAD // D, "c": THREAD % D, "x": THREAD + THREADS}
NAMES = {
    THREAD: "x",
    BASE: "base",
    ROWS: "K.shape[0]",
    D: "K.shape[1]",
    THREADS // D * D * 4: f"{THREADS // D * 4} * K.shape[1]",
    len(range(THREAD, KEYS * D, THREADS)) - 1: "left",
}
LAST_EXACT = 2**53  # a page's numbers are exact up to here
WHAT = (
    "What one thread does in its first turn of a loop: PTX as a launch links it, run by"
    " ptxsim. Nothing here has run on a GPU."
)

Loop = dict[str, Any]


class Row(NamedTuple):
    """An instruction that the thread has executed."""

    at: int  # its line of the PTX
    line: int  # of Python
    text: str
    wrote: dict[str, Any]  # the registers it wrote, with their values

    @classmethod
    def of(cls, moment: Any) -> "Row":
        """Return a step of `ptxsim.trace` as a row, its numbers rounded for print."""
        instruction = moment.instruction
        wrote = {
            reg: float(f"{value:.7g}") if isinstance(value, float) else value
            for reg, value in moment.values.items()
        }
        text = " ".join(instruction.text.removesuffix(";").split())
        line = instruction.source[1] if instruction.source else 0
        return cls(instruction.line, line, text, wrote)


# ---- in the book's environment ----


def run_worker(module: str = "tools.kernels.excerpts") -> dict[str, Any]:
    """Return what a module computes in the environment with the compiler."""
    return environments.ask(kernels.PYTHON, module)


def gate() -> list[str]:
    """Make the excerpts again and compare, where there is a compiler.

    `make test-all` calls it.
    """
    if not kernels.PYTHON.exists():
        return []  # `tools.kernels.gate` has printed why
    now, stored = run_worker(), json.loads(STORED.read_text("utf-8"))
    if now["versions"] != stored["versions"]:
        return []  # `tools.kernels.gate` has printed this too
    same = {**now, "made": stored["made"]} == stored
    return [] if same else [f"{STORED.name} is of other kernels: run `make kernels`"]


def store() -> None:
    """Store the excerpts, with a line for each step."""
    text = json.dumps(run_worker(), indent=1, ensure_ascii=False)
    step = r"\[\n\s+(\".*\"),\n\s+(\d+),\n\s+\{\s*(.*?)\s*\}\n\s+\]"
    STORED.write_text(re.sub(step, r"[\1, \2, {\3}]", text) + "\n", "utf-8")


def main() -> int:
    return command(compute, gate, store, f"{len(LOOPS)} loops")


def command(
    compute: Callable[[], dict[str, Any]],
    gate: Callable[[], list[str]],
    store: Callable[[], None],
    name: str,
) -> int:
    """Compute as a worker, check what is stored, or store it, by the command line."""
    chosen = options.parse(["--check", "--worker"])
    if "--worker" in chosen:
        json.dump(compute(), sys.stdout)
        return 0
    wrong = gate() if "--check" in chosen else store() or []
    return options.report(wrong, f"{name}: {len(wrong)} complaints")


# ---- in the environment with the compiler ----


def compute() -> dict[str, Any]:
    """Return the content of the file."""
    from kernellab.compile import environment

    return {
        "what": WHAT,
        "command": "make kernels",
        "made": date.today().isoformat(),
        "sources": sources(),
        "versions": environment(),
        "arch": ARCH,
        "d": D,
        "thread": THREAD,
        "loops": {name: loop(name) for name in LOOPS},
    }


def sources() -> str:
    """Return a digest of what determines the excerpts: the kernels' code and the lock."""
    import laboratory

    texts = [inspect.getsource(getattr(laboratory, name)) for name in LOOPS]
    return kernels.digest_of([kernels.LOCK.read_text("utf-8"), *texts])


def loop(name: str) -> Loop:
    """Compile a kernel, run it, and cut out the first turn of its loop."""
    import laboratory

    kernel = getattr(laboratory, name)(D, KEYS, THREADS)
    ptx = compiled(kernel)
    first, lines = loop_of(kernel)
    rows = executed(ptx)
    start, stop = turn(rows, ptx)
    inside = range(first, first + len(lines))
    return {
        "lines": dedent("\n".join(lines)).split("\n"),
        "once": sum(row.line in inside for row in rows[:start]),
        "turns": sum(row.text.startswith("st.shared") for row in rows),
        "copies": copies(ptx, rows[start].at),
        **excerpt(rows, start, stop, lines, first),
    }


def compiled(kernel: Callable[..., None]) -> str:
    """Return the PTX of a launch, with the lines of Python."""
    from numba import float32, int32

    from kernellab.compile import code_of

    types = (float32[:, ::1], float32[::1], int32)
    return code_of(kernel, types, ARCH, {"fastmath": True}).with_lines()


def loop_of(kernel: Callable[..., None]) -> tuple[int, list[str]]:
    """Return the number of a kernel's first line with a loop, and the loop's lines."""
    lines, start = inspect.getsourcelines(kernel)
    tree = ast.parse(dedent("".join(lines)))
    node = next(n for n in ast.walk(tree) if isinstance(n, ast.For | ast.While))
    text = [line.split("#")[0].rstrip() for line in lines]
    return start + node.lineno - 1, text[node.lineno - 1 : node.end_lineno]


def executed(ptx: str) -> list[Row]:
    """Run the kernel on rows whose numbers encode their index; return the trace."""
    import numpy as np

    import ptxsim

    rows = np.arange(ROWS)[:, None] + np.arange(D) / 100  # K[33, 6] is 33.06
    arguments = rows.astype(np.float32), np.zeros(D, np.float32), np.int32(BASE)
    moments = ptxsim.trace(
        ptx, 1, arguments, thread=THREAD, threads=THREADS, outputs=[1]
    )
    return [Row.of(moment) for moment in moments]


def turn(rows: list[Row], ptx: str) -> tuple[int, int]:
    """Return the rows at which the first and the second turn begin.

    A turn begins with the basic block that copies. An unrolled loop returns to its first
    line within that block.
    """
    store = next(i for i, row in enumerate(rows) if row.text.startswith("st.shared"))
    label = max(at for at in labels(ptx) if at < rows[store].at)
    start = next(i for i, row in enumerate(rows) if row.at > label)
    first = rows[start].line
    left = next(i for i, row in enumerate(rows) if i > start and row.line != first)
    stop = next(i for i, row in enumerate(rows) if i > left and row.line == first)
    return start, stop


def labels(ptx: str) -> list[int]:
    """Return the lines of PTX at which a branch can arrive."""
    lines = ptx.splitlines()
    return [at for at, line in enumerate(lines, 1) if re.match(r"\$\w+:", line)]


def copies(ptx: str, at: int) -> int:
    """Return how often the basic block around a line contains the unrolled turn."""
    bounds = [0, *labels(ptx), len(ptx.splitlines()) + 1]
    begin = max(bound for bound in bounds if bound < at)
    end = min(bound for bound in bounds if bound > at)
    return sum("st.shared" in line for line in ptx.splitlines()[begin : end - 1])


# ---- the excerpt ----


def excerpt(
    rows: list[Row], start: int, stop: int, lines: list[str], first: int
) -> Loop:
    """Return the input registers of a turn, its steps, and the registers read later."""
    wrote = with_addresses(rows[:stop])
    before = {reg: value for each in wrote[:start] for reg, value in each.items()}
    inputs = {reg: before[reg] for reg in needed(rows[start:stop]) if reg in before}
    inside = inputs.keys() | {reg for each in wrote[start:] for reg in each}
    steps = [
        [row.text, row.line - first, each]
        for row, each in zip(rows[start:stop], wrote[start:])
    ]
    return {
        "given": inputs,
        "names": {reg: NAMES[value] for reg, value in inputs.items() if value in NAMES},
        "steps": steps,
        "results": results(steps, targets(lines)),
        "later": [reg for reg in needed(rows[stop:]) if reg in inside],
    }


def with_addresses(rows: list[Row]) -> list[dict[str, Any]]:
    """Return what the rows wrote, an address as an array and the offset in bytes."""
    arrays: dict[str, tuple[str, int]] = {}  # the array that a register points into
    written = []
    for row in rows:
        into = array_of(row, arrays)
        for reg in row.wrote:
            arrays.pop(reg, None)
            if into:
                arrays[reg] = into
        written.append({reg: plain(value, into) for reg, value in row.wrote.items()})
    return written


def array_of(row: Row, arrays: dict[str, tuple[str, int]]) -> tuple[str, int] | None:
    """Return the array that the written address points into, and its first address."""
    if not row.text.startswith(("add", "mov", "cvta", "ld.param")):
        return None
    for reg in read(row):
        if reg in arrays:
            return arrays[reg]
    (value,) = row.wrote.values()
    if "_cudapy_smem" in row.text:
        return "k_tile", value
    # Numba passes an array as several numbers; the fifth is its address.
    return ("K", value) if "_param_4]" in row.text else None


def plain(value: Any, into: tuple[str, int] | None) -> Any:
    """Return a value as the page prints it."""
    if into:
        array, begin = into
        return f"{array} + {value - begin}" if value > begin else array
    if isinstance(value, int) and abs(value) > LAST_EXACT:
        raise ValueError(f"{value} is more than a page can hold exactly")
    return value


def needed(rows: list[Row]) -> list[str]:
    """Return the registers that are read before they are written."""
    is_needed: dict[str, bool] = {}
    for row in rows:
        for reg in read(row):
            is_needed.setdefault(reg, True)
        for reg in row.wrote:
            is_needed.setdefault(reg, False)
    return [reg for reg in is_needed if is_needed[reg]]


def read(row: Row) -> list[str]:
    """Return the registers that an instruction reads."""
    used = re.findall(r"%\w+", row.text)
    for reg in row.wrote:
        used.remove(reg)  # its occurrence as the target
    return used


def targets(lines: list[str]) -> dict[int, str]:
    """Return the names that a loop assigns, by line counted from the loop's first."""
    (tree,) = ast.parse(dedent("\n".join(lines))).body
    names = {}
    for node in ast.walk(tree):
        target = getattr(node, "target", None) or getattr(node, "targets", [None])[0]
        if isinstance(target, ast.Name):
            names[node.lineno - 1] = target.id
    return names


def results(steps: list[list], targets: dict[int, str]) -> dict[str, str]:
    """Return the registers that hold the assigned names at the end, with the names."""
    last = {line: wrote for _, line, wrote in steps if wrote and line in targets}
    names = {}
    for line, wrote in last.items():
        ((reg, value),) = wrote.items()
        if value != VALUES[targets[line]]:
            raise ValueError(f"line {line}: {reg} is {value}, not {targets[line]}")
        names[reg] = targets[line]
    return names


if __name__ == "__main__":
    sys.exit(main())
