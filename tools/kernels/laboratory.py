"""What the kernels of the laboratory execute, counted for the chapter about them.

    python -m tools.kernels.laboratory           compile, count, write data/laboratory.json
    python -m tools.kernels.laboratory --check   compare that file with the kernels' text

The kernels stand in book/laboratory.py, and those of a drill are written by
book/copy_loops.py. Each is compiled as for a launch and counted by
`kernellab.lab`. It works in the environment of `make kernels`, which calls it.
"""

import hashlib
import inspect
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from datetime import date
from typing import Any

from tools.kernels import excerpts
from tools.kernels import gate as kernels

STORED = kernels.ROOT / "book" / "data" / "laboratory.json"
COPIES = ("plain", "shifted", "counted", "unsigned", "hoisted", "fours")
ARCH = "sm_80"
D, KEYS, THREADS, BASE = excerpts.D, excerpts.KEYS, excerpts.THREADS, excerpts.BASE
SHOWN = ("plain", "r = x // d")  # a line whose PTX and machine code the chapter prints
# Patches: numbers in a row, threads that share a query, sides; and for how many blocks
# a multiprocessor is to have room, where the compiler is asked to see to that.
WIDTH, ACROSS, SIDES = 32, 16, (1, 4, 8)
SQUEEZED, ROOM = 8, (3, 4)
WHAT = (
    "Warp instructions of machine code that the laboratory's kernels execute, and what"
    " they ask of memory: each basic block's instructions, times how often it runs, as"
    " found by executing the PTX of a launch on ptxsim. Nothing here has run on a GPU."
)

Kernel = Callable[..., None]


# ---- here ----


def gate() -> list[str]:
    """Say if what is stored is of other kernels; `make test-all` asks."""
    stored = json.loads(STORED.read_text("utf-8"))
    same = stored["sources"] == sources()
    return [] if same else [f"{STORED.name} is of other kernels: run `make kernels`"]


def sources() -> str:
    """Return a digest of what decides the counts: the kernels' text, and the lock."""
    texts = [kernels.LOCK.read_text("utf-8")]
    for name in ("laboratory", "copy_loops"):
        text = (excerpts.BOOK / f"{name}.py").read_text("utf-8")
        texts.append(kernels.without_words(text))
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]


def store() -> None:
    """Store what the other environment counts, a list a line."""
    text = json.dumps(excerpts.asked("tools.kernels.laboratory"), indent=1)
    STORED.write_text(re.sub(r"\n {4,}|\n {3}(?=[\]}])", " ", text) + "\n", "utf-8")


def main() -> int:
    return excerpts.command(made, gate, store, "the laboratory")


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
        "sizes": {"d": D, "keys": KEYS, "threads": THREADS},
        "copies": {name: copied(name) for name in COPIES},
        "shown": shown(*SHOWN),
        "patches": [patch(side, None) for side in SIDES]
        + [patch(SQUEEZED, room) for room in ROOM],
        "variants": variants(),
    }


def copied(name: str) -> dict[str, Any]:
    """Return what a kernel executes until its tile is copied, and what it asks for."""
    kernel = _kernel(name)
    found = _counted(kernel)
    first, lines = _until_barrier(kernel)
    python = found.code.python
    inside = range(first, first + len(lines))
    ptx: Counter[int] = Counter()
    for line, one in zip(sorted(python), found.ran.counts, strict=True):
        ptx[python[line]] += one.threads
    by_line = {
        line - first: {kind: n for kind, n in kinds.items() if n}
        for line, kinds in found.by_line().items()
        if line in inside
    }
    return {
        "lines": by_line,
        "instructions": sum(sum(kinds.values()) for kinds in by_line.values()),
        "ptx": sum(ptx[line] for line in inside),
        "loads": _asked(found, "ld.global"),
        "stores": _asked(found, "st.shared"),
        "fours": len(re.findall(r"st\.shared\.v4", found.code.ptx)),
        "machine_fours": sum(x.opcode == "STS.128" for x in _machine(found)),
        "registers": _registers(found.code),
    }


def shown(name: str, line: str) -> dict[str, Any]:
    """Return the PTX and the machine code of one line of Python, written down once."""
    kernel = _kernel(name)
    found = _counted(kernel)
    first, lines = _until_barrier(kernel)
    at = first + next(i for i, text in enumerate(lines) if line in text)
    text = found.code.ptx.splitlines()
    rows = [n for n, python in sorted(found.code.python.items()) if python == at]
    run = [n for place, n in enumerate(rows) if n == rows[0] + place]  # the first turn
    machine = [x for x in _machine(found) if x.ptx in run]
    return {
        "python": line,
        "ptx": [" ".join(text[n - 1].strip(" \t;").split()) for n in run],
        "machine": [f"{x.opcode} {x.operands}" for x in machine],
    }


def patch(side: int, room: int | None) -> dict[str, Any]:
    """Return what a kernel of patches takes of the budgets, and what it executes.

    Of one that was squeezed into fewer registers only the budgets.
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
        "registers": _registers(code),
        "spilled": sum(map(int, re.findall(r"(\d+) bytes spill", code.log))),
        "shared": code.shared,
    }
    if room:
        return budget
    found = lab.execute(code, 1, (Q, K, S), [2])
    np.testing.assert_allclose(S, Q.T @ K, atol=1e-4)
    return budget | {
        "products": n * n * WIDTH,
        "kinds": found.machine.by_kind(),
        "instructions": found.machine.total,
        "wavefronts": found.ran.total("wavefronts"),
    }


def variants() -> dict[str, float]:
    """Return how many instructions a number each loop for the drill executes."""
    from copy_loops import count, texts

    return {text: count(text) for text in texts()}


def _kernel(name: str) -> Kernel:
    import laboratory

    return getattr(laboratory, name)(D, KEYS, THREADS)


def _counted(kernel: Kernel) -> Any:
    """Run a copying kernel, and see that it is right."""
    import numpy as np

    from kernellab import lab

    rng = np.random.default_rng(0)
    K = rng.standard_normal((excerpts.ROWS, D)).astype(np.float32)
    sums = np.zeros(D, np.float32)
    found = lab.count(
        kernel, 1, THREADS, K, sums, np.int32(BASE), outputs=[1], arch=ARCH
    )
    np.testing.assert_allclose(sums, K[BASE : BASE + KEYS].sum(0), atol=1e-4)
    return found


def _until_barrier(kernel: Kernel) -> tuple[int, list[str]]:
    """Return the number of a kernel's first line, and its lines up to the barrier."""
    lines, first = inspect.getsourcelines(kernel)
    stop = next(i for i, text in enumerate(lines) if "syncthreads" in text)
    return first, lines[:stop]


def _asked(found: Any, opcode: str) -> dict[str, int]:
    """Return what the accesses of one kind come to, before and after the barrier."""
    rows = [x for x in found.ran.counts if x.instruction.opcode.startswith(opcode)]
    return {
        what: sum(getattr(x, what) for x in rows)
        for what in ("warps", "sectors", "wavefronts")
    }


def _machine(found: Any) -> list[Any]:
    from kernellab import sass

    return sass.disassemble(found.code.machine)


def _registers(code: Any) -> int:
    return int(re.findall(r"Used (\d+) registers", code.log)[-1])


if __name__ == "__main__":
    sys.exit(main())
