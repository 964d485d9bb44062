"""Counts what the kernels of the laboratory execute, for the chapter about them.

    python -m tools.kernels.laboratory           compile, count, write data/laboratory.json
    python -m tools.kernels.laboratory --check   compare that file with the kernels' code

The kernels are in book/laboratory.py and, with matrix instructions, book/tensor_steps.py;
book/copy_loops.py writes those of a drill. Each is compiled as for a launch, and
`kernellab.lab` counts its instructions. `make kernels` calls this command, which uses the
same environment.
"""

import inspect
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from datetime import date
from typing import Any

from tools.kernels import excerpts, tensor_steps
from tools.kernels import gate as kernels

STORED = excerpts.BOOK / "data" / "laboratory.json"
COPIES = ("plain", "shifted", "counted", "unsigned", "hoisted", "fours")
ARCH = "sm_80"
D, KEYS, THREADS, BASE = excerpts.D, excerpts.KEYS, excerpts.THREADS, excerpts.BASE
SHOWN = ("plain", "r = x // d")  # a line whose PTX and machine code the chapter prints
# Patches: numbers in a row, threads that share a query, sides; and the number of blocks
# for which a multiprocessor has room, where the compiler is asked to ensure it.
WIDTH, ACROSS, SIDES = 32, 16, (1, 4, 8)
SQUEEZED, ROOM = 8, (3, 4)
WHAT = (
    "Warp instructions of machine code that the laboratory's kernels execute, and what"
    " they ask of memory: each basic block's instructions, times how often it runs, as"
    " found by executing the PTX of a launch on ptxsim. Nothing here has run on a GPU."
)

Kernel = Callable[..., None]


# ---- in the book's environment ----


def gate() -> list[str]:
    """Complain if what is stored is of other kernels; `make test-all` calls it."""
    stored = json.loads(STORED.read_text("utf-8"))
    same = stored["sources"] == sources()
    return [] if same else [f"{STORED.name} is of other kernels: run `make kernels`"]


def sources() -> str:
    """Return a digest of what determines the counts: the kernels' code and the lock."""
    texts = [kernels.LOCK.read_text("utf-8")]
    for name in ("laboratory", "copy_loops"):
        text = (excerpts.BOOK / f"{name}.py").read_text("utf-8")
        texts.append(kernels.code_only(text))
    return kernels.digest_of([*texts, *tensor_steps.sources()])


def store() -> None:
    """Store the counts, with a line for each list."""
    text = json.dumps(excerpts.run_worker("tools.kernels.laboratory"), indent=1)
    STORED.write_text(re.sub(r"\n {4,}|\n {3}(?=[\]}])", " ", text) + "\n", "utf-8")


def main() -> int:
    return excerpts.command(compute, gate, store, "the laboratory")


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
        "sizes": {"d": D, "keys": KEYS, "threads": THREADS},
        "copies": {name: count_copy(name) for name in COPIES},
        "shown": shown(*SHOWN),
        "patches": [patch(side, None) for side in SIDES]
        + [patch(SQUEEZED, room) for room in ROOM],
        "variants": variants(),
        "tensor_steps": tensor_steps.compute(),
    }


def count_copy(name: str) -> dict[str, Any]:
    """Return what a kernel executes until its tile is copied, and its accesses."""
    kernel = _kernel(name)
    run = _run_counted(kernel)
    first, lines = _until_barrier(kernel)
    python = run.code.python
    inside = range(first, first + len(lines))
    ptx: Counter[int] = Counter()
    for line, count in zip(sorted(python), run.ran.counts, strict=True):
        ptx[python[line]] += count.threads
    by_line = {
        line - first: {kind: n for kind, n in kinds.items() if n}
        for line, kinds in run.by_line().items()
        if line in inside
    }
    return {
        "lines": by_line,
        "instructions": sum(sum(kinds.values()) for kinds in by_line.values()),
        "ptx": sum(ptx[line] for line in inside),
        "loads": _accesses(run, "ld.global"),
        "stores": _accesses(run, "st.shared"),
        "fours": len(re.findall(r"st\.shared\.v4", run.code.ptx)),
        "machine_fours": sum(x.opcode == "STS.128" for x in _machine(run)),
        "registers": tensor_steps.resources(run.code)["registers"],
    }


def shown(name: str, line: str) -> dict[str, Any]:
    """Return the PTX and the machine code of one line of Python, in its first copy."""
    kernel = _kernel(name)
    run = _run_counted(kernel)
    first, lines = _until_barrier(kernel)
    at = first + next(i for i, text in enumerate(lines) if line in text)
    text = run.code.ptx.splitlines()
    rows = [n for n, python in sorted(run.code.python.items()) if python == at]
    copy = [n for i, n in enumerate(rows) if n == rows[0] + i]
    machine = [x for x in _machine(run) if x.ptx in copy]
    return {
        "python": line,
        "ptx": [" ".join(text[n - 1].strip(" \t;").split()) for n in copy],
        "machine": [f"{x.opcode} {x.operands}" for x in machine],
    }


def patch(side: int, room: int | None) -> dict[str, Any]:
    """Return the resources of a kernel of patches, and what it executes.

    A kernel that is limited to fewer registers is not executed.
    """
    import numpy as np
    from numba import float32

    import laboratory
    from kernellab import lab
    from kernellab.compile import code_of

    kernel = laboratory.patches(WIDTH, side, ACROSS)
    n, threads = side * ACROSS, ACROSS * ACROSS
    rng = np.random.default_rng(0)
    Q, K = rng.standard_normal((2, WIDTH, n)).astype(np.float32)
    S = np.zeros((n, n), np.float32)
    bounds = (threads,) if room is None else (threads, room)
    options = {"fastmath": True, "launch_bounds": bounds}
    code = code_of(kernel, (float32[:, ::1],) * 3, ARCH, options)
    budget = {
        "side": side,
        "room": room,
        "threads": threads,
    } | tensor_steps.resources(code)
    if room:
        return budget
    run = lab.execute(code, 1, (Q, K, S), [2])
    np.testing.assert_allclose(S, Q.T @ K, atol=1e-4)
    return budget | {
        "products": n * n * WIDTH,
        "kinds": run.machine.by_kind(),
        "instructions": run.machine.total,
        "wavefronts": run.ran.total("wavefronts"),
    }


def variants() -> dict[str, float]:
    """Return the instructions for each number in every loop of the drill."""
    from copy_loops import count, texts

    return {text: count(text) for text in texts()}


def _kernel(name: str) -> Kernel:
    import laboratory

    return getattr(laboratory, name)(D, KEYS, THREADS)


def _run_counted(kernel: Kernel) -> Any:
    """Run and count a copying kernel, and check its sums."""
    import numpy as np

    from kernellab import lab

    rng = np.random.default_rng(0)
    K = rng.standard_normal((excerpts.ROWS, D)).astype(np.float32)
    sums = np.zeros(D, np.float32)
    run = lab.count(kernel, 1, THREADS, K, sums, np.int32(BASE), outputs=[1], arch=ARCH)
    np.testing.assert_allclose(sums, K[BASE : BASE + KEYS].sum(0), atol=1e-4)
    return run


def _until_barrier(kernel: Kernel) -> tuple[int, list[str]]:
    """Return the number of a kernel's first line, and its lines up to the barrier."""
    lines, first = inspect.getsourcelines(kernel)
    stop = next(i for i, text in enumerate(lines) if "syncthreads" in text)
    return first, lines[:stop]


def _accesses(run: Any, opcode: str) -> dict[str, int]:
    """Return the totals of the accesses of one kind, before and after the barrier."""
    rows = [x for x in run.ran.counts if x.instruction.opcode.startswith(opcode)]
    names = ("warps", "sectors", "wavefronts")
    return {name: sum(getattr(row, name) for row in rows) for name in names}


def _machine(run: Any) -> list[Any]:
    from kernellab import sass

    return sass.disassemble(run.code.machine)


if __name__ == "__main__":
    sys.exit(main())
