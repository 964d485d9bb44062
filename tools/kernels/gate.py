"""Compiles every kernel for every architecture; no GPU is needed, and none runs.

    python -m tools.kernels            compile, check, write kernels.json beside the kernels
    python -m tools.kernels --check    compile what ships, compare with what is written
    python -m tools.kernels --check --every    the same, for every architecture and size

It works in an environment of its own, .venv-gpu, with the packages that
requirements-gpu.txt locks. What was compiled from the same sources before is kept.
"""

import ast
import hashlib
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import product
from pathlib import Path

from tools.common import environments, words

ROOT = Path(__file__).resolve().parents[2]
LIB = ROOT / "lib"
RUNGS = LIB / "tiledattention" / "gpu"
LAB = LIB / "kernellab"
STORED = LAB / "kernels.json"
COUNTS = LAB / "counts.json"
# The files that decide what a kernel is.
DECIDE = (
    "tiledattention/gpu/rungs/*.py",
    "tiledattention/gpu/rung.py",
    "tiledattention/gpu/ladder.py",
    "kernellab/compile.py",
)
LOCK = ROOT / "requirements-gpu.txt"
VENV = ROOT / ".venv-gpu"
PYTHON = environments.python_of(VENV)
CACHE = ROOT / "_build" / "kernels"
SUPPORTED = ("linux", "win32")  # NVIDIA publishes its compiler for these
# The sizes that chapter 9's sliders offer: rungs, query rows and keys of a tile.
SLIDERS = ("tiled", "registers")
ROWS, KEYS = (32, 64, 128), (16, 32, 64)
WHAT = (
    "Registers of a thread, bytes spilled and bytes of shared memory of a block, as"
    " nvJitLink reports them of LTO-IR, the way of a launch. Nothing here has run on a"
    " GPU."
)
COUNTED = (
    "Warp instructions of machine code by line of Python, where every tile is full and"
    " nothing is hidden: each basic block's instructions, times how often it runs. That"
    " was found by executing the PTX of a launch on ptxsim. Nothing here has run on a"
    " GPU."
)
# The architectures whose figures stand on pages: they are counted, and the sizes of the
# sliders are for them. On the others it is known that what ships compiles.
ON_PAGES = ("sm_75", "sm_80", "sm_90a")
GATE = (
    "float32",
    "sm_80",
)  # what `make test-all` counts again; of the second it runs all

Wanted = tuple[str, int, int, int, str, str]  # rung, d, block_q, block_k, dtype, arch


def wanted(gate: bool = False) -> list[Wanted]:
    """Return every kernel to compile: as they ship, then the sizes of the sliders.

    The gate compiles those that ship, for one architecture: the others are of the same
    sources and of the same compiler.
    """
    from kernellab.reports import ARCHS, DTYPES
    from tiledattention.gpu.ladder import LADDER, WIDTHS, Build

    sizes = product(LADDER, WIDTHS)
    shipped = [one for size in sizes for one in Build.shipped(*size).launches]
    builds = list(product(shipped, DTYPES, [GATE[1]] if gate else ARCHS))
    if not gate:
        others = [Build(*size) for size in product(SLIDERS, WIDTHS, ROWS, KEYS)]
        others = [build for build in others if build not in shipped]
        builds += product(others, ["float32"], ON_PAGES)
    return [
        (b.rung, b.d, b.block_q, b.block_k, dtype, arch) for b, dtype, arch in builds
    ]


def environment() -> None:
    """Make .venv-gpu, or bring it up to date with requirements-gpu.txt."""
    environments.environment(VENV, LOCK)


def to_count(gate: bool = False) -> list[Wanted]:
    """Return the rungs whose instructions are counted, in the size in which they ship.

    What is launched after a rung counts with it. The gate counts a few again: enough to
    see whether the compiler, or what counts, has changed.
    """
    from tiledattention.gpu.ladder import LADDER, WIDTHS

    every = [one for one in wanted(gate=True) if one[0] in LADDER]
    if gate:
        return [one for one in every if one[1] == WIDTHS[0] and one[4:] == GATE]
    # The PTX is the same for every architecture: one worker gets a kernel for all.
    return [(*one[:5], arch) for arch in ON_PAGES for one in every]


def compile_all(
    wanted: list[Wanted], counted: list[Wanted], workers: int | None = None
) -> dict:
    """Return what all workers found together, perhaps from the cache.

    "columns" and "rows" are those of the reports, "kinds" and "counts" those of the
    counts; "ptx" holds the texts of what ships, for one architecture with the lines of
    Python; "versions" is for all.
    """
    kept = CACHE / f"{key(wanted, counted)}.json"
    if kept.exists():
        return json.loads(kept.read_text("utf-8"))
    workers = workers or os.cpu_count() or 1
    shares = [
        {"wanted": wanted[i::workers], "counted": counted[i::workers]}
        for i in range(workers)
    ]
    with ThreadPoolExecutor(workers) as pool:
        parts = list(pool.map(_work, shares))
    result = parts[0] | {
        name: _in_order(order, [part[name] for part in parts])
        for name, order in (("rows", wanted), ("counts", counted))
    }
    result["ptx"] = {name: text for part in parts for name, text in part["ptx"].items()}
    CACHE.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(result), "utf-8")
    return result


def _in_order(order: list[Wanted], shares: list[list]) -> list:
    """Return what was dealt out to workers one by one, in its order again."""
    return [shares[i % len(shares)][i // len(shares)] for i in range(len(order))]


def key(wanted: list[Wanted], counted: list[Wanted]) -> str:
    """Return what the results depend on: sources, sizes, Python.

    Where something is counted, the lines of the rungs belong to it, and all that counts.
    """
    what = [sources(), wanted, counted, sys.version_info[:2]]
    if counted:
        rungs = sorted(RUNGS.glob("rungs/*.py"))
        what += [file.read_text("utf-8") for file in rungs]
        files = [
            *RUNGS.glob("*.py"),
            *LAB.glob("*.py"),
            *(LIB / "ptxsim").rglob("*.py"),
        ]
        what += [without_words(file.read_text("utf-8")) for file in sorted(files)]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]


def sources() -> str:
    """Return a digest of what decides a kernel: its code without words, and the lock."""
    files = [file for pattern in DECIDE for file in sorted(LIB.glob(pattern))]
    code = [without_words(file.read_text("utf-8")) for file in files]
    what = [LOCK.read_text("utf-8"), *code]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]


def without_words(source: str) -> str:
    """Return a program without comments, docstrings and layout."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if documented and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _work(share: dict) -> dict:
    """Compile some kernels, and count some, in a process of the other environment."""
    path = os.pathsep.join(map(str, (ROOT, ROOT / "lib")))
    env = {**os.environ, "PYTHONPATH": path}
    env.pop("NUMBA_ENABLE_CUDASIM", None)
    done = subprocess.run(
        [PYTHON, "-m", "tools.kernels", "--worker"], input=json.dumps(share),
        capture_output=True, encoding="utf-8", env=env, cwd=ROOT,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"compiling the kernels failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout)


def worker() -> None:
    """Do what stdin asks for; write what was found to stdout."""
    from kernellab import compile as compiler
    from kernellab.lab import counts_of
    from kernellab.reports import Report
    from kernellab.sass import KINDS
    from tiledattention.gpu.ladder import Build

    asked = json.load(sys.stdin)
    texts = {}

    @cache
    def compiled(build: Build, arch: str, dtype: str) -> compiler.Code:
        code = compiler.launched(build, arch, dtype)
        texts[f"{build.rung}-{build.d}-{dtype}-{arch}"] = code.with_lines()
        return code

    counts = []
    for *size, dtype, arch in asked["counted"]:
        found = counts_of(Build(*size), arch, dtype, compiled)._asdict()
        lines = {
            line: [n.get(kind, 0) for kind in KINDS]
            for line, n in found["lines"].items()
        }
        counts.append(found | {"lines": lines})
    rows = []
    ship = {one[:4] for one in wanted(gate=True)}
    for *size, dtype, arch in asked["wanted"]:
        build = Build(*size)
        if tuple(size) in ship and arch == GATE[1]:
            code = compiled(build, arch, dtype)
        else:
            code = compiler.launched(build, arch, dtype, lines=False)
            if tuple(size) in ship:
                texts[f"{build.rung}-{build.d}-{dtype}-{arch}"] = code.ptx
        rows.append(compiler.report_of(build, arch, dtype, code))
    result = {"versions": compiler.environment(), "columns": Report._fields}
    result |= {"rows": rows, "kinds": KINDS, "counts": counts, "ptx": texts}
    json.dump(result, sys.stdout)


def complaints(found: dict) -> list[str]:
    """Return what a kernel does that no kernel that ships may do."""
    from kernellab.reports import Report
    from tiledattention.gpu.ladder import Build

    said = []
    for row in found["rows"]:
        report = Report(*row)
        build = Build(report.rung, report.d, report.block_q, report.block_k)
        name = f"{report.rung} d={report.d} {report.dtype} {report.arch}"
        if report.shared != build.shared:
            said.append(
                f"{name}: {report.shared} bytes of shared memory, not the"
                f" {build.shared} of `Build.shared`"
            )
        # On Blackwell NVIDIA's compiler is another one, which unrolls less: there the
        # widest patches are kept in memory. It is stored, and not held against them.
        shipped = build == Build.shipped(report.rung, report.d)
        if shipped and report.arch in ON_PAGES:
            said += [f"{name}: {fault}" for fault in report.faults()]
    return said


def differences(found: dict, stored: dict) -> list[str]:
    """Return where the stored figures are not what the compiler says now."""
    if found["columns"] != stored["columns"]:
        return ["kernels.json has other columns"]
    then = {tuple(row[:6]): row[6:] for row in stored["rows"]}
    now = {tuple(row[:6]): row[6:] for row in found["rows"]}
    return [
        f"{' '.join(map(str, one))}: {now[one]}, stored is {then.get(one)}"
        for one in sorted(now)
        if now[one] != then.get(one)
    ]


def miscounted(found: list[dict], stored: list[dict]) -> list[str]:
    """Return which kernels do not execute what is stored of them."""
    then = {_named(each): each for each in stored}
    return [
        f"{COUNTS.name}: {_named(each)} executes {each['warp_instructions']} warp"
        " instructions, or others by line: run `make kernels`"
        for each in found
        if each != then.get(_named(each))
    ]


def _named(counts: dict) -> str:
    return "{rung} d={d} {dtype} {arch}".format(**counts)


def check(found: dict) -> list[str]:
    """Return what is wrong with the kernels, or with the figures that are stored."""
    said = complaints(found)
    if not STORED.exists():
        return [*said, f"{STORED.relative_to(ROOT)} is missing: run `make kernels`"]
    stored = json.loads(STORED.read_text("utf-8"))
    if found["versions"] != stored["versions"]:
        print(
            f"  stored figures are from {stored['versions']}, these from"
            f" {found['versions']}: not compared"
        )
        return said
    if stored.get("sources") != sources():
        said.append(f"{STORED.name} is of other kernels: run `make kernels`")
    counts = json.loads(COUNTS.read_text("utf-8"))["kernels"]
    said += miscounted(found.get("counts", []), counts)
    return said + differences(found, stored)


def write(found: dict) -> None:
    """Store the reports and counts where pages and figures find them, a row a line."""
    head = {"command": "make kernels", "sources": sources()}
    head["versions"] = found["versions"]
    reports = {"what": WHAT, **head, "columns": found["columns"]}
    _write(STORED, reports, "rows", found["rows"])
    counts = {"what": COUNTED, **head, "of": "SASS", "kinds": found["kinds"]}
    _write(COUNTS, counts, "kernels", found["counts"])


def _write(file: Path, head: dict, name: str, rows: list) -> None:
    """Write a file whose last entry is a list, an item a line."""
    text = json.dumps(head, indent=2, ensure_ascii=False).removesuffix("\n}")
    lines = ",\n".join(f"    {json.dumps(row)}" for row in rows)
    file.write_text(f'{text},\n  "{name}": [\n{lines}\n  ]\n}}\n', "utf-8")


def gated() -> Path:
    """Return the file of what the gate found, or of all where all has been compiled."""
    files = [
        CACHE / f"{key(wanted(gate), to_count(gate))}.json" for gate in (False, True)
    ]
    return files[0] if files[0].exists() else files[1]


def gate(every: bool = False) -> list[str]:
    """Compile what ships and compare; `make test-all` calls it. One line where it cannot.

    With `every`, that is done for each architecture, and for the sizes of the sliders.
    """
    if not sys.platform.startswith("linux"):
        print("  kernels are not compiled here: the gate runs on Linux")
        return []
    try:
        environment()
    except environments.NotInstalled as problem:
        if os.environ.get("CI"):
            return [str(problem)]
        print(f"  kernels are not compiled here: {LOCK.name} could not be installed")
        return []
    return check(compile_all(wanted(not every), to_count(not every)))


def main() -> int:
    if sys.argv[1:] == ["--worker"]:
        worker()
        return 0
    asked = words.given(["--check", "--every"])
    if not sys.platform.startswith(SUPPORTED):
        print("the compiler for GPUs is published for Linux and Windows only")
        return 2
    start = time.perf_counter()
    if "--check" in asked:
        said = gate(every="--every" in asked)
    else:
        try:
            environment()
        except environments.NotInstalled as problem:
            print(problem)
            return 2
        found = compile_all(wanted(), to_count())
        said = complaints(found)
        if not said:
            write(found)
    print(*said, sep="\n", end="\n" if said else "")
    print(
        f"{time.perf_counter() - start:.0f} s:",
        f"{len(said)} complaints" if said else "all as they should be",
    )
    return bool(said)
