"""One turn of a loop, instruction by instruction, for the figure that steps through it.

    python -m tools.kernels.excerpts           compile, run, write the excerpts.json
    python -m tools.kernels.excerpts --check   the same, but compare with what is written

The kernels stand in book/laboratory.py. Each is compiled as for a launch, and `ptxsim`
runs it. Of one thread, what it does in its first turn of the loop that copies is stored:
every instruction, the line of Python it is for, and what it wrote. It works in the
environment of `make kernels`, which calls it.
"""

import ast
import hashlib
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from textwrap import dedent
from typing import Any, NamedTuple

from tools.common import words
from tools.kernels import gate as kernels

ROOT = kernels.ROOT
BOOK = ROOT / "book"
STORED = BOOK / "figures" / "ptx-steps" / "excerpts.json"
LOOPS = ("plain", "mended")
ARCH = "sm_80"
D, KEYS, THREADS = 64, 32, 128
ROWS, BASE, THREAD = 96, 32, 70  # rows of K, the tile's first, the thread we follow
# What the thread's names hold once a line has given them a value, and what each number
# is that a turn is given.
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
    wrote: dict[str, Any]  # what it left in which registers

    @classmethod
    def of(cls, moment: Any) -> "Row":
        """Return a moment of `ptxsim.trace` as a row, its numbers as they are printed."""
        one = moment.instruction
        wrote = {
            reg: float(f"{value:.7g}") if isinstance(value, float) else value
            for reg, value in moment.values.items()
        }
        text = " ".join(one.text.removesuffix(";").split())
        return cls(one.line, one.source[1] if one.source else 0, text, wrote)


# ---- here ----


def asked(module: str = "tools.kernels.excerpts") -> dict[str, Any]:
    """Return what a module's worker makes of the kernels, where the compiler is."""
    path = os.pathsep.join(map(str, (ROOT, ROOT / "lib", BOOK)))
    env = {**os.environ, "PYTHONPATH": path}
    env.pop("NUMBA_ENABLE_CUDASIM", None)
    done = subprocess.run(
        [kernels.PYTHON, "-m", module, "--worker"],
        capture_output=True, encoding="utf-8", env=env, cwd=ROOT,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{module} failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout)


def gate() -> list[str]:
    """Make the excerpts again and compare, where there is a compiler.

    `make test-all` asks.
    """
    if not kernels.PYTHON.exists():
        return []  # `tools.kernels.gate` has said why
    found, stored = asked(), json.loads(STORED.read_text("utf-8"))
    if found["versions"] != stored["versions"]:
        return []  # and this
    same = {**found, "made": stored["made"]} == stored
    return [] if same else [f"{STORED.name} is of other kernels: run `make kernels`"]


def write(found: dict[str, Any]) -> None:
    """Store the excerpts, a step a line."""
    text = json.dumps(found, indent=1, ensure_ascii=False)
    step = r"\[\n\s+(\".*\"),\n\s+(\d+),\n\s+\{\s*(.*?)\s*\}\n\s+\]"
    STORED.write_text(re.sub(step, r"[\1, \2, {\3}]", text) + "\n", "utf-8")


def main() -> int:
    return command(made, gate, lambda: write(asked()), f"{len(LOOPS)} loops")


def command(
    made: Callable[[], dict[str, Any]],
    gate: Callable[[], list[str]],
    store: Callable[[], None],
    what: str,
) -> int:
    """Do what the command line asks for: make it, check what is stored, or store it."""
    options = words.given(["--check", "--worker"])
    if "--worker" in options:
        json.dump(made(), sys.stdout)
        return 0
    said = gate() if "--check" in options else []
    if "--check" not in options:
        store()
    print(*said, sep="\n", end="\n" if said else "")
    print(f"{what}: {len(said)} complaints")
    return bool(said)


# ---- where the compiler is ----


def made() -> dict[str, Any]:
    """Return all that is stored."""
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
    """Return a digest of what decides the excerpts: the kernels' text, and the lock."""
    import laboratory

    texts = [inspect.getsource(getattr(laboratory, name)) for name in LOOPS]
    what = [kernels.LOCK.read_text("utf-8"), *texts]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]


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
        **told(rows, start, stop, lines, first),
    }


def compiled(kernel: Callable[..., None]) -> str:
    """Return the PTX of a launch, with the lines of Python in it."""
    from numba import float32, int32

    from kernellab.compile import code_of

    types = (float32[:, ::1], float32[::1], int32)
    return code_of(kernel, types, ARCH, {"fastmath": True}).with_lines()


def loop_of(kernel: Callable[..., None]) -> tuple[int, list[str]]:
    """Return the number of a kernel's first line with a loop, and the loop's lines."""
    lines, start = inspect.getsourcelines(kernel)
    tree = ast.parse(dedent("".join(lines)))
    found = next(n for n in ast.walk(tree) if isinstance(n, ast.For | ast.While))
    text = [line.split("#")[0].rstrip() for line in lines]
    return start + found.lineno - 1, text[found.lineno - 1 : found.end_lineno]


def executed(ptx: str) -> list[Row]:
    """Run the kernel on rows whose numbers tell their place; return the thread's way."""
    import numpy as np

    import ptxsim

    rows = np.arange(ROWS)[:, None] + np.arange(D) / 100  # K[33, 6] is 33.06
    arguments = rows.astype(np.float32), np.zeros(D, np.float32), np.int32(BASE)
    moments = ptxsim.trace(
        ptx, 1, arguments, thread=THREAD, threads=THREADS, outputs=[1]
    )
    return [Row.of(moment) for moment in moments]


def turn(rows: list[Row], ptx: str) -> tuple[int, int]:
    """Return where the first turn begins among the rows, and where the second does.

    A turn begins where the block of code that copies does. A loop that the compiler has
    written down several times over comes back to its first line before that.
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
    """Return how often the block of code around a line has the turn written down."""
    bounds = [0, *labels(ptx), len(ptx.splitlines()) + 1]
    begin = max(bound for bound in bounds if bound < at)
    end = min(bound for bound in bounds if bound > at)
    return sum("st.shared" in line for line in ptx.splitlines()[begin : end - 1])


# ---- what is told of the turn ----


def told(rows: list[Row], start: int, stop: int, lines: list[str], first: int) -> Loop:
    """Return the registers a turn is given, its steps, and what is read after it."""
    wrote = with_addresses(rows[:stop])
    left = {reg: value for each in wrote[:start] for reg, value in each.items()}
    given = {reg: left[reg] for reg in needed(rows[start:stop]) if reg in left}
    inside = given.keys() | {reg for each in wrote[start:] for reg in each}
    steps = [
        [row.text, row.line - first, each]
        for row, each in zip(rows[start:stop], wrote[start:])
    ]
    return {
        "given": given,
        "names": {reg: NAMES[value] for reg, value in given.items() if value in NAMES},
        "steps": steps,
        "results": results(steps, targets(lines)),
        "later": [reg for reg in needed(rows[stop:]) if reg in inside],
    }


def with_addresses(rows: list[Row]) -> list[dict[str, Any]]:
    """Return what the rows wrote; an address as an array and the bytes from its start."""
    arrays: dict[str, tuple[str, int]] = {}  # which array a register points into
    told = []
    for row in rows:
        into = array_of(row, arrays)
        for reg in row.wrote:
            arrays.pop(reg, None)
            if into:
                arrays[reg] = into
        told.append({reg: plain(value, into) for reg, value in row.wrote.items()})
    return told


def array_of(row: Row, arrays: dict[str, tuple[str, int]]) -> tuple[str, int] | None:
    """Return the array that what was written points into, and where that begins."""
    if not row.text.startswith(("add", "mov", "cvta", "ld.param")):
        return None
    for reg in read(row):
        if reg in arrays:
            return arrays[reg]
    (value,) = row.wrote.values()
    if "_cudapy_smem" in row.text:
        return "k_tile", value
    # The fifth of the numbers by which Numba passes an array is where it begins.
    return ("K", value) if "_param_4]" in row.text else None


def plain(value: Any, into: tuple[str, int] | None) -> Any:
    """Return a value as a page shows it."""
    if into:
        array, begin = into
        return f"{array} + {value - begin}" if value > begin else array
    if isinstance(value, int) and abs(value) > LAST_EXACT:
        raise ValueError(f"{value} is more than a page can hold exactly")
    return value


def needed(rows: list[Row]) -> list[str]:
    """Return the registers that are read before anything is written to them."""
    found: dict[str, bool] = {}
    for row in rows:
        for reg in read(row):
            found.setdefault(reg, True)
        for reg in row.wrote:
            found.setdefault(reg, False)
    return [reg for reg, is_needed in found.items() if is_needed]


def read(row: Row) -> list[str]:
    """Return the registers that an instruction reads."""
    used = re.findall(r"%\w+", row.text)
    for reg in row.wrote:
        used.remove(reg)  # where it stands as the one written to
    return used


def targets(lines: list[str]) -> dict[int, str]:
    """Return the names that lines of a loop give a value, by line from its first."""
    (tree,) = ast.parse(dedent("\n".join(lines))).body
    found = {}
    for node in ast.walk(tree):
        target = getattr(node, "target", None) or getattr(node, "targets", [None])[0]
        if isinstance(target, ast.Name):
            found[node.lineno - 1] = target.id
    return found


def results(steps: list[list], targets: dict[int, str]) -> dict[str, str]:
    """Return the registers that end up holding what a line gives a name to."""
    last = {line: wrote for _, line, wrote in steps if wrote and line in targets}
    found = {}
    for line, wrote in last.items():
        ((reg, value),) = wrote.items()
        if value != VALUES[targets[line]]:
            raise ValueError(f"line {line}: {reg} is {value}, not {targets[line]}")
        found[reg] = targets[line]
    return found


if __name__ == "__main__":
    sys.exit(main())
