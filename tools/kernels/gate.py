"""Compiles every kernel for every architecture, without a GPU.

    python -m tools.kernels            compile, check, write kernels.json and counts.json
    python -m tools.kernels --check    compile what ships, compare with these files
    python -m tools.kernels --check --every    the same, for every architecture and size

The compiler runs in an environment of its own, .venv-gpu, with the packages that
requirements-gpu.txt locks. Its results are cached; the key covers the sources.
"""

import ast
import hashlib
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import product
from pathlib import Path

from tools.common import environments, options, records
from tools.common.paths import BUILD, ROOT

LIB = ROOT / "lib"
RUNGS = LIB / "tiledattention" / "gpu"
LAB = LIB / "kernellab"
STORED = LAB / "kernels.json"
COUNTS = LAB / "counts.json"
# The files that determine a kernel.
DECIDE = (
    "tiledattention/gpu/rungs/*.py",
    "tiledattention/gpu/rung.py",
    "tiledattention/gpu/ladder.py",
    "kernellab/compile.py",
)
LOCK = ROOT / "requirements-gpu.txt"
VENV = ROOT / ".venv-gpu"
PYTHON = environments.python_of(VENV)
CACHE = BUILD / "kernels"
SUPPORTED = ("linux", "win32")  # the systems for which NVIDIA publishes its compiler
# The sizes on chapter 9's sliders: rungs, query rows and keys of a tile.
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
# The architectures on the pages: their instructions are counted, and the sizes of the
# sliders are compiled for them. For the others, only what ships is compiled.
ON_PAGES = ("sm_75", "sm_80", "sm_90a")
# `make test-all` counts this combination again, and compiles for this architecture.
GATE = ("float32", "sm_80")

Kernel = tuple[str, int, int, int, str, str]  # rung, d, block_q, block_k, dtype, arch


def to_compile(gate: bool = False) -> list[Kernel]:
    """Return every kernel to compile: as they ship, then the sizes of the sliders.

    The gate compiles what ships, for one architecture: the other results depend on the
    same sources and the same compiler.
    """
    from kernellab.reports import compiled_for
    from tiledattention.gpu.ladder import LADDER, WIDTHS, Build

    sizes = product(LADDER, WIDTHS)
    shipped = [one for size in sizes for one in Build.shipped(*size).launches]
    builds = []
    for build in shipped:
        archs, dtypes = compiled_for(build.rung)
        builds += product([build], dtypes, [GATE[1]] if gate else archs)
    if not gate:
        others = [Build(*size) for size in product(SLIDERS, WIDTHS, ROWS, KEYS)]
        others = [build for build in others if build not in shipped]
        builds += product(others, ["float32"], ON_PAGES)
    return [
        (b.rung, b.d, b.block_q, b.block_k, dtype, arch) for b, dtype, arch in builds
    ]


def environment() -> None:
    """Create .venv-gpu, or update it to requirements-gpu.txt."""
    environments.environment(VENV, LOCK)


def to_count(gate: bool = False) -> list[Kernel]:
    """Return the rungs whose instructions are counted, in the size in which they ship.

    A kernel that is launched after a rung counts with the rung. The gate counts a few
    again: enough to detect a change of the compiler or of the counting code.
    """
    from kernellab.reports import compiled_for
    from tiledattention.gpu.ladder import LADDER, WIDTHS

    every = [one for one in to_compile(gate=True) if one[0] in LADDER]
    if gate:
        return [one for one in every if one[1] == WIDTHS[0] and one[4:] == GATE]
    # The PTX is the same for every architecture: one worker gets all of a kernel's.
    return [
        (*one[:5], arch)
        for arch in ON_PAGES
        for one in every
        if arch in compiled_for(one[0])[0]
    ]


def compile_all(kernels: list[Kernel], counted: list[Kernel]) -> dict:
    """Return the results of all workers, from the cache if they are there.

    "columns" and "rows" are those of the reports, "kinds" and "counts" those of the
    counts; "ptx" holds the PTX of what ships, for one architecture with the lines of
    Python; "versions" is for all.
    """
    file = CACHE / f"{key(kernels, counted)}.json"
    return records.cached(file, lambda: _compile(kernels, counted))


def _compile(kernels: list[Kernel], counted: list[Kernel]) -> dict:
    workers = os.cpu_count() or 1
    shares = [
        {"kernels": kernels[i::workers], "counted": counted[i::workers]}
        for i in range(workers)
    ]
    ask = partial(environments.ask, PYTHON, "tools.kernels")
    with ThreadPoolExecutor(workers) as pool:
        parts = list(pool.map(ask, shares))
    result = parts[0] | {
        name: _in_order(order, [part[name] for part in parts])
        for name, order in (("rows", kernels), ("counts", counted))
    }
    result["ptx"] = {name: text for part in parts for name, text in part["ptx"].items()}
    return result


def _in_order(order: list[Kernel], shares: list[list]) -> list:
    """Merge the workers' results, which were dealt out in turn, in their first order."""
    return [shares[i % len(shares)][i // len(shares)] for i in range(len(order))]


def key(kernels: list[Kernel], counted: list[Kernel]) -> str:
    """Return the digest of what the results depend on: sources, sizes, Python.

    Counts also depend on the line numbers of the rungs, and on the code that counts.
    """
    inputs = [sources(), kernels, counted, sys.version_info[:2]]
    if counted:
        rungs = sorted(RUNGS.glob("rungs/*.py"))
        inputs += [file.read_text("utf-8") for file in rungs]
        files = [*RUNGS.glob("*.py"), *LAB.glob("*.py")]
        files += (LIB / "ptxsim").rglob("*.py")
        inputs += [code_only(file.read_text("utf-8")) for file in sorted(files)]
    return digest_of(inputs)


def sources() -> str:
    """Return a digest of what determines a kernel: its code and the lock."""
    files = [file for pattern in DECIDE for file in sorted(LIB.glob(pattern))]
    code = [code_only(file.read_text("utf-8")) for file in files]
    return digest_of([LOCK.read_text("utf-8"), *code])


def digest_of(value: object) -> str:
    """Return a digest of a value that JSON can hold."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


@cache
def code_only(source: str) -> str:
    """Return a program without comments, docstrings and layout."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if documented and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def worker() -> None:
    """Compile and count the kernels that stdin lists; write the results to stdout."""
    from kernellab import compile as compiler
    from kernellab.lab import counts_of
    from kernellab.reports import Report
    from kernellab.sass import KINDS
    from tiledattention.gpu.ladder import Build

    share = json.load(sys.stdin)
    texts = {}

    @cache
    def compiled(build: Build, arch: str, dtype: str) -> compiler.Code:
        code = compiler.launched(build, arch, dtype)
        texts[f"{build.rung}-{build.d}-{dtype}-{arch}"] = code.with_lines()
        return code

    counts = []
    for *size, dtype, arch in share["counted"]:
        count = counts_of(Build(*size), arch, dtype, compiled)._asdict()
        lines = {
            line: [n.get(kind, 0) for kind in KINDS]
            for line, n in count["lines"].items()
        }
        counts.append(count | {"lines": lines})
    rows = []
    shipped = {one[:4] for one in to_compile(gate=True)}
    for *size, dtype, arch in share["kernels"]:
        build = Build(*size)
        if tuple(size) in shipped and arch == GATE[1]:
            code = compiled(build, arch, dtype)
        else:
            code = compiler.launched(build, arch, dtype, lines=False)
            if tuple(size) in shipped:
                texts[f"{build.rung}-{build.d}-{dtype}-{arch}"] = code.ptx
        rows.append(compiler.report_of(build, arch, dtype, code))
    result = {"versions": compiler.environment(), "columns": Report._fields}
    result |= {"rows": rows, "kinds": KINDS, "counts": counts, "ptx": texts}
    json.dump(result, sys.stdout)


def complaints(results: dict) -> list[str]:
    """Return the faults of kernels that ship, such as spilled registers."""
    from kernellab.reports import Report
    from tiledattention.gpu.ladder import Build

    wrong = []
    for row in results["rows"]:
        report = Report(*row)
        build = Build(report.rung, report.d, report.block_q, report.block_k)
        name = f"{report.rung} d={report.d} {report.dtype} {report.arch}"
        if report.shared != build.shared:
            wrong.append(
                f"{name}: {report.shared} bytes of shared memory, not the"
                f" {build.shared} of `Build.shared`"
            )
        # NVIDIA's compiler for Blackwell unrolls less, and keeps the widest patches in
        # memory. That is stored, but it is no fault of the kernels.
        shipped = build == Build.shipped(report.rung, report.d)
        if shipped and report.arch in ON_PAGES:
            wrong += [f"{name}: {fault}" for fault in report.faults()]
    return wrong


def differences(results: dict, stored: dict) -> list[str]:
    """Return the kernels whose stored reports differ from the compiler's."""
    if results["columns"] != stored["columns"]:
        return ["kernels.json has other columns"]
    then = {tuple(row[:6]): row[6:] for row in stored["rows"]}
    now = {tuple(row[:6]): row[6:] for row in results["rows"]}
    return [
        f"{' '.join(map(str, one))}: {now[one]}, stored is {then.get(one)}"
        for one in sorted(now)
        if now[one] != then.get(one)
    ]


def miscounted(counts: list[dict], stored: list[dict]) -> list[str]:
    """Return the kernels that execute other instructions than their stored counts."""

    def name(count: dict) -> str:
        return "{rung} d={d} {dtype} {arch}".format(**count)

    then = {name(count): count for count in stored}
    return [
        f"{COUNTS.name}: {name(count)} executes {count['warp_instructions']} warp"
        " instructions, or others by line: run `make kernels`"
        for count in counts
        if count != then.get(name(count))
    ]


def check(results: dict) -> list[str]:
    """Return complaints about the kernels, or about what is stored of them."""
    wrong = complaints(results)
    if not STORED.exists():
        return [*wrong, f"{STORED.relative_to(ROOT)} is missing: run `make kernels`"]
    stored = json.loads(STORED.read_text("utf-8"))
    if results["versions"] != stored["versions"]:
        print(
            f"  stored figures are from {stored['versions']}, these from"
            f" {results['versions']}: not compared"
        )
        return wrong
    if stored.get("sources") != sources():
        wrong.append(f"{STORED.name} is of other kernels: run `make kernels`")
    counts = json.loads(COUNTS.read_text("utf-8"))["kernels"]
    wrong += miscounted(results.get("counts", []), counts)
    return wrong + differences(results, stored)


def write(results: dict) -> None:
    """Store the reports and the counts where pages and figures read them."""
    head = {"command": "make kernels", "sources": sources()}
    head["versions"] = results["versions"]
    reports = {"what": WHAT, **head, "columns": results["columns"]}
    text = records.with_rows(reports, "rows", results["rows"])
    STORED.write_text(text, "utf-8")
    counts = {"what": COUNTED, **head, "of": "SASS", "kinds": results["kinds"]}
    text = records.with_rows(counts, "kernels", results["counts"])
    COUNTS.write_text(text, "utf-8")


def gate_results() -> Path:
    """Return the cached results of all kernels if they exist, else those of the gate."""
    every, gated = (
        CACHE / f"{key(to_compile(gate), to_count(gate))}.json"
        for gate in (False, True)
    )
    return every if every.exists() else gated


def gate(every: bool = False) -> list[str]:
    """Compile what ships and compare with what is stored; `make test-all` calls it.

    With `every`, compile for each architecture, and in the sizes of the sliders.
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
    return check(compile_all(to_compile(not every), to_count(not every)))


def main() -> int:
    if sys.argv[1:] == ["--worker"]:
        worker()
        return 0
    chosen = options.parse(["--check", "--every"])
    if not sys.platform.startswith(SUPPORTED):
        print("the compiler for GPUs is published for Linux and Windows only")
        return 2
    start = time.perf_counter()
    if "--check" in chosen:
        wrong = gate(every="--every" in chosen)
    else:
        try:
            environment()
        except environments.NotInstalled as problem:
            print(problem)
            return 2
        results = compile_all(to_compile(), to_count())
        wrong = complaints(results)
        if not wrong:
            write(results)
    took = time.perf_counter() - start
    return options.report(wrong, f"{took:.0f} s: {len(wrong)} complaints")
