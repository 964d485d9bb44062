"""Counts what attention on tensor cores executes: the rung of Numba, and Triton's kernels.

    python -m tools.kernels.tensor            compile, count, write data/tensor.json
    python -m tools.kernels.tensor --check    compare that file with the kernels' code

The rung is lib/tiledattention/gpu/rungs/tensor.py. Triton's kernels are those of
book/triton_attention.py and, for the same work as the rung, of triton_attention_equal.py.
Triton compiles them at a grid of sizes, in .venv-triton; the assembler, in .venv-gpu, makes
machine code of each text. The file holds the kernels at the tiles of the rung, and the best
of each grid. Its counts of the rung are totals; those by line are in
lib/kernellab/counts.json. `make kernels` calls this command.
"""

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tools.common import environments, options
from tools.common.paths import ROOT
from tools.kernels import gate as kernels
from tools.kernels import triton

DATA = ROOT / "book" / "data"
STORED = DATA / "tensor.json"
SHOWN = DATA / "attention-triton.ptx"
RUNG = kernels.RUNGS / "rungs" / "tensor.py"
# What the file calls a kernel of Triton, and where that is.
TRITON = {
    "attention": ("triton", triton.ATTENTION),
    "attention_equal": ("triton-equal", triton.EQUAL),
}
SOURCES = (
    RUNG,
    RUNG.with_name("_ptx.py"),
    *(file for _, file in TRITON.values()),
    kernels.LOCK,
    triton.LOCK,
)
ARCH, DTYPE = "sm_80", "float16"
OWN = {64: (128, 64), 128: (128, 32)}  # the tiles of the rung as it ships
TILES = ((128, 32), (128, 64), (128, 128), (64, 32), (64, 64))
WARPS, STAGES = (4, 8), (2, 3, 4)
OWN_WARPS, OWN_STAGES = 4, (2, 3)
SHOWN_STAGES = 3  # Triton's default
MOST_SHARED = 163 << 10  # bytes of a block on sm_80
# The count is for the keys of the second number beyond those of the first: full tiles.
QUERIES, KEYS = 128, (512, 640)
PAIRS = QUERIES * (KEYS[1] - KEYS[0])
NUMBERS = {"rtol": 0, "atol": 4e-3}  # of the output, whose numbers are below 2
WHAT = (
    "Warp instructions of machine code in the loop over tiles of keys, where every tile is"
    " full and nothing is hidden: each basic block's instructions, times how often it runs."
    " That was found by executing the PTX on ptxsim. `static` counts the PTX of the loop,"
    " `written` the calls in the source. Nothing here has run on a GPU."
)
# What is counted in the PTX of the loop, and which calls of the source write it.
STATIC = {
    "mma": r"\bmma\.sync",
    "ldmatrix": r"\bldmatrix\.(?!\S*\.trans)",
    "ldmatrix_trans": r"\bldmatrix\.\S*\.trans",
    "cp_async": r"\bcp\.async\.c[ag]\b",
    "commits": r"\bcp\.async\.commit_group",
    "barriers": r"\bbar(?:rier)?\.sync",
    "shuffles": r"\bshfl\.sync",
}
WAIT = r"\bcp\.async\.wait_group\s+(\d+)"
WRITTEN = {
    "products": {"mma", "dot"},
    "ldmatrix": {"ldmatrix", "ldmatrix_trans"},
    "copies": {"copy"},
    "commits": {"commit"},
    "waits": {"wait"},
    "barriers": {"syncthreads", "syncthreads_or", "debug_barrier"},
    "shuffles": {"shfl_xor_sync"},
    "swizzles": {"place_of", "advance"},
}

Kernel = dict[str, Any]


# ---- in the book's environment ----


def gate() -> list[str]:
    """Complain if what is stored is of other kernels; `make test-all` calls it."""
    stored = json.loads(STORED.read_text("utf-8"))
    same = stored["sources"] == sources()
    return [] if same else [f"{STORED.name} is of other kernels: run `make kernels`"]


def sources() -> str:
    """Return a digest of what determines the counts: kernels, their lines, the locks."""
    return kernels.digest_of([file.read_text("utf-8") for file in SOURCES])


def texts() -> dict[str, list[Any]]:
    """Return Triton's kernels at every size of the grid, for its compiler."""
    half, single = "*fp16:16", "*fp32:16"
    kinds = (half, half, half, half, single, "i32", "fp32")
    return {
        f"{kernel}-{d}-{rows}-{keys}-{warps}-{stages}": [
            kernel, ", ".join(map(str, (*kinds, d, rows, keys, 0))), warps, stages
        ]
        for kernel, d, (rows, keys), warps, stages in product(
            TRITON, OWN, TILES, WARPS, STAGES
        )
    }  # fmt: skip


def store() -> None:
    """Compile, count, and store what the page shows."""
    made = triton.texts_of(texts())
    counted = environments.ask(kernels.PYTHON, "tools.kernels.tensor", made)
    file = {
        "what": WHAT,
        "command": "make kernels",
        "made": date.today().isoformat(),
        "sources": sources(),
        "versions": counted["versions"] | triton_version(),
        "arch": ARCH,
        "kernels": [*counted["numba"], *chosen(counted["triton"])],
    }
    SHOWN.write_text(shown(made), "utf-8")
    STORED.write_text(compact(file), "utf-8")


def triton_version() -> dict[str, str]:
    """Return the version of Triton that the lock names."""
    lock = triton.LOCK.read_text("utf-8")
    return dict(re.findall(r"^(triton)==(\S+)", lock, re.M))


def chosen(found: list[Kernel]) -> Iterator[Kernel]:
    """Yield Triton's kernels at the tiles of the rung, and each one's best for each d.

    The best has the fewest instructions for a pair of a query and a key, without spills.
    That is not the fewest for each mma: where warps outnumber strips of 16 rows, Triton
    lets several warps compute the same products.
    """
    for (text, _), d in product(TRITON.values(), OWN):
        some = [x for x in found if (x["text"], x["d"]) == (text, d)]
        best = min(
            (x for x in some if not x["spills"]), key=lambda x: x["instructions"]
        )
        for one in some:
            same = has_own_tiles(one)
            if same or one is best:
                yield one | {"same_tiles": same, "best": one is best}


def has_own_tiles(one: Kernel) -> bool:
    """Return whether a text has the tiles and warps of the rung, and few stages."""
    size = one["block_q"], one["block_k"], one["warps"]
    return size == (*OWN[one["d"]], OWN_WARPS) and one["stages"] in OWN_STAGES


def shown(made: dict[str, list[Any]]) -> str:
    """Return the PTX of which the page deletes barriers."""
    d = min(OWN)
    rows, keys = OWN[d]
    return made[f"attention-{d}-{rows}-{keys}-{OWN_WARPS}-{SHOWN_STAGES}"][1]


def compact(file: dict[str, Any]) -> str:
    """Return JSON with a line for each innermost list or mapping."""
    text = json.dumps(file, indent=1, ensure_ascii=False)
    inner = r"[\[{][^\[\]{}]*[\]}]"
    return re.sub(inner, lambda x: re.sub(r"\s*\n\s*", " ", x[0]), text) + "\n"


def main() -> int:
    chosen_options = options.parse(["--check", "--worker"])
    if "--worker" in chosen_options:
        json.dump(count_all(json.load(sys.stdin)), sys.stdout)
        return 0
    wrong = gate() if "--check" in chosen_options else store() or []
    return options.report(wrong, f"tensor cores: {len(wrong)} complaints")


# ---- in the environment with the assembler ----


def count_all(made: dict[str, list[Any]]) -> dict[str, Any]:
    """Return the counts of the rung, and of each text of Triton that may be chosen."""
    from kernellab.compile import environment

    return {
        "versions": environment(),
        "numba": [count_rung(d) for d in OWN],
        "triton": [*count_texts(made)],
    }


def count_texts(made: dict[str, list[Any]]) -> Iterator[Kernel]:
    """Yield the counts of Triton's texts that a block can run.

    Those that spill are left out, unless they have the rung's tiles: they cannot be the
    best, and machine code that spills a lot takes very long to count.
    """
    for entry, ptx in made.values():
        if entry["shared"] <= MOST_SHARED:
            machine, log = assembled(ptx)
            if has_own_tiles(size_of(entry)) or not resources(log)["spills"]:
                yield count_text(entry, ptx, machine, log)


def count_rung(d: int) -> Kernel:
    """Return what the rung executes: by kind, as stored by line in counts.json."""
    import numpy as np

    import ptxsim
    from kernellab import counts, lab
    from kernellab.compile import launched, report_of
    from tiledattention.gpu.ladder import Build

    build = Build.shipped("tensor", d)
    code = launched(build, ARCH, DTYPE)
    report = report_of(build, ARCH, DTYPE, code)
    stored = counts.stored("tensor", d, ARCH, dtype=DTYPE)
    task = lab.full_tiles(build, DTYPE, lab.KEYS[0])
    out, lse = np.zeros_like(task.q), np.zeros(task.q.shape[:2], np.float32)
    given = task.arguments(out, lse)
    args = [given[name] for name in build.arguments]
    places = [build.arguments.index(name) for name in ("O", "LSE")]
    grid = task.grid(build)
    ran = ptxsim.run(code.with_lines(), grid, args, outputs=places, profile=True)
    check_numbers(task.q, task.k, task.v, out)
    kinds = stored.by_kind()
    return {
        "text": "numba",
        **sizes(d, build.block_q, build.block_k, build.threads // 32),
        "stages": 1,
        "registers": report.registers,
        "spills": report.spills,
        "shared": code.shared,
        "pairs": stored.pairs,
        "mma": kinds["tensor"],
        "instructions": stored.warp_instructions,
        "kinds": kinds,
        **loop_and_source(code.ptx, RUNG, ran),
    }


def count_text(entry: dict[str, Any], ptx: str, machine: bytes, log: str) -> Kernel:
    """Return what a text of Triton executes for `PAIRS`, by line and by kind."""
    from kernellab import counting, sass

    blocks = sass.blocks_of(sass.disassemble(machine))
    lines: dict[int, Counter[str]] = {}
    for keys, sign in zip(KEYS, (-1, 1), strict=True):
        ran = executed(entry, ptx, keys)
        rows = [
            counting.Executed(
                x.instruction.line, x.instruction.opcode, x.threads, x.warps, x.taken
            )
            for x in ran.counts
        ]
        count = counting.count(blocks, rows)
        for line, kinds in count.by_line(source_lines(ran)).items():
            row = lines.setdefault(line, Counter())
            row.update({kind: sign * n for kind, n in kinds.items()})
    by_line = {
        line: found
        for line, row in sorted(lines.items())
        if (found := {kind: n for kind, n in row.items() if n})
    }
    kinds = {
        kind: sum(row.get(kind, 0) for row in by_line.values()) for kind in sass.KINDS
    }
    text, source = TRITON[entry["kernel"]]
    return {
        "text": text,
        **size_of(entry),
        **resources(log),
        "shared": entry["shared"],
        "pairs": PAIRS,
        "mma": kinds["tensor"],
        "instructions": sum(kinds.values()),
        "kinds": kinds,
        "lines": by_line,
        **loop_and_source(ptx, source, ran),
    }


def size_of(entry: dict[str, Any]) -> Kernel:
    """Return the sizes of a text of Triton, as the file has them."""
    d, rows, keys = (entry["constexprs"][name] for name in "DMN")
    own = sizes(d, rows, keys, entry["num_warps"])
    return own | {"stages": entry["num_stages"]}


def sizes(d: int, rows: int, keys: int, warps: int) -> dict[str, Any]:
    return {"d": d, "dtype": DTYPE, "block_q": rows, "block_k": keys, "warps": warps}


def resources(log: str) -> dict[str, int]:
    """Return the registers of a thread, and the bytes that did not fit in them."""
    spilled = re.findall(r"(\d+) bytes spill", log)
    registers = int(re.findall(r"Used (\d+) registers", log)[-1])
    return {"registers": registers, "spills": sum(map(int, spilled))}


def executed(entry: dict[str, Any], ptx: str, keys: int) -> Any:
    """Run one program of a text, whose tiles are all full; check the numbers."""
    import numpy as np

    import ptxsim

    d, rows = entry["constexprs"]["D"], entry["constexprs"]["M"]
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((3, 1, keys, d)).astype(np.float16)
    out, lse = np.zeros_like(q), np.zeros((1, keys), np.float32)
    scale = np.float32(d**-0.5 * np.log2(np.e))
    ran = ptxsim.run(
        ptx,
        (QUERIES // rows, 1),
        [q, k, v, out, lse, keys, scale, None, None],
        threads=32 * entry["num_warps"],
        dynamic=entry["shared"],
        changed=[3, 4],
        profile=True,
    )
    check_numbers(q[:, :QUERIES], k, v, out[:, :QUERIES])
    return ran


def check_numbers(q: Any, k: Any, v: Any, out: Any) -> None:
    """Compare an output with that of the definition."""
    import numpy as np

    from onlinesoftmax import dense

    wide = (x.astype(np.float64) for x in (q, k, v))
    np.testing.assert_allclose(out, dense.attention(*wide), **NUMBERS)


def assembled(ptx: str) -> tuple[bytes, str]:
    """Return the machine code of PTX, and the assembler's report."""
    (program,) = kernels.VENV.glob("lib/*/site-packages/nvidia/cuda_nvcc/bin/ptxas")
    with TemporaryDirectory() as folder:
        text, machine = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        text.write_text(ptx, "utf-8")
        command = [program, "-v", "-lineinfo", f"-arch={ARCH}", "-o", machine, text]
        done = subprocess.run(command, capture_output=True, encoding="utf-8")
        if done.returncode:
            raise ValueError(f"ptx: ptxas refuses it: {done.stderr.strip()}")
        return machine.read_bytes(), done.stderr


def source_lines(ran: Any) -> dict[int, int]:
    """Return the line of the source of each line of PTX."""
    found = (x.instruction for x in ran.counts)
    return {one.line: one.source[1] for one in found if one.source}


# ---- the loop over tiles, and what its source writes ----


def loop_and_source(ptx: str, source: Path, ran: Any) -> dict[str, Any]:
    """Return what is counted in the PTX of the loop, and in the source."""
    loads = [x for x in ran.counts if x.instruction.words[0] == "ldmatrix" and x.warps]
    first, last = loop_of(ptx)
    loop = "\n".join(ptx.splitlines()[first - 1 : last])
    static: dict[str, Any] = {x: len(re.findall(y, loop)) for x, y in STATIC.items()}
    return {
        "static": static | {"waits": [int(x) for x in re.findall(WAIT, loop)]},
        "written": written(source.read_text("utf-8")),
        "ldmatrix_wavefronts": sum(x.wavefronts for x in loads)
        / sum(x.warps for x in loads),
    }


def loop_of(ptx: str) -> tuple[int, int]:
    """Return the first and the last line of the loop over tiles of keys.

    It is the smallest of the loops that have the most matrix products.
    """
    lines = ptx.splitlines()
    labels = {
        label[1]: at
        for at, line in enumerate(lines, 1)
        if (label := re.match(r"\s*(\$\w+):", line))
    }
    loops = []
    for at, line in enumerate(lines, 1):
        goes = re.search(r"\bbra(?:\.uni)?\s+(\$\w+)", line)
        if goes and labels[goes[1]] < at:
            first = labels[goes[1]]
            products = sum("mma.sync" in text for text in lines[first - 1 : at])
            loops.append((-products, at - first, first, at))
    return min(loops)[2:]


def written(source: str) -> dict[str, int]:
    """Return how often a source calls what makes each of the loop's instructions."""
    calls = Counter(
        getattr(node.func, "attr", getattr(node.func, "id", ""))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
    )
    return {what: sum(calls[x] for x in names) for what, names in WRITTEN.items()}


if __name__ == "__main__":
    sys.exit(main())
