"""Compiles every kernel for every architecture; no GPU is needed, and none runs.

    python -m tools.kernels            compile, check, write kernels.json beside the kernels
    python -m tools.kernels --check    compile what ships, compare with what is written

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
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "lib" / "onlinesoftmax" / "gpu"
STORED = SOURCES / "kernels.json"
DECIDE = ("rungs/*.py", "rung.py", "ladder.py", "compile.py")  # the files that count
LOCK = ROOT / "requirements-gpu.txt"
VENV = ROOT / ".venv-gpu"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
CACHE = ROOT / "_build" / "kernels"
SUPPORTED = ("linux", "win32")  # NVIDIA publishes its compiler for these
# The sizes that chapter 9's sliders offer: query rows and keys of a tile.
ROWS, KEYS = (32, 64, 128), (16, 32, 64)
WHAT = (
    "Registers of a thread, bytes spilled and bytes of shared memory of a block, as"
    " nvJitLink reports them of LTO-IR, the way of a launch. Nothing here has run on a"
    " GPU."
)

Wanted = tuple[str, int, int, int, str, str]  # rung, d, block_q, block_k, dtype, arch


def wanted(sliders: bool = True) -> list[Wanted]:
    """Return every kernel to compile: as they ship, then the sizes of the sliders."""
    from onlinesoftmax.gpu.ladder import LADDER, WIDTHS, Build
    from onlinesoftmax.gpu.reports import ARCHS, DTYPES

    shipped = [Build.shipped(rung, d) for rung, d in product(LADDER, WIDTHS)]
    builds = [(build, dtype) for build, dtype in product(shipped, DTYPES)]
    if sliders:
        with_tiles = [rung.name for rung in LADDER.values() if rung.has_tiles]
        sizes = product(with_tiles, WIDTHS, ROWS, KEYS)
        others = [Build(*size) for size in sizes]
        builds += [(build, "float32") for build in others if build not in shipped]
    return [
        (b.rung, b.d, b.block_q, b.block_k, dtype, arch)
        for (b, dtype), arch in product(builds, ARCHS)
    ]


class NoCompiler(Exception):
    """The packages of requirements-gpu.txt could not be installed."""


def environment() -> None:
    """Make .venv-gpu, or bring it up to date with requirements-gpu.txt."""
    ready = VENV / "ready"
    now = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if ready.exists() and ready.read_text("utf-8") == now:
        return
    print("  making an environment in .venv-gpu (a minute or two) …", flush=True)
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    pip = [PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    done = subprocess.run([*pip, "-r", LOCK], capture_output=True, encoding="utf-8")
    if done.returncode:
        raise NoCompiler(f"pip could not install {LOCK.name}:\n{done.stderr[-1000:]}")
    ready.write_text(now, "utf-8")


def compile_all(wanted: list[Wanted], workers: int | None = None) -> dict:
    """Return {"versions", "columns", "rows"} of all reports, perhaps from the cache."""
    kept = CACHE / f"{key(wanted)}.json"
    if kept.exists():
        return json.loads(kept.read_text("utf-8"))
    workers = workers or os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        parts = list(pool.map(_compile, [wanted[i::workers] for i in range(workers)]))
    rows = {
        tuple(part["wanted"][i]): row
        for part in parts
        for i, row in enumerate(part["rows"])
    }
    result = {
        "versions": parts[0]["versions"],
        "columns": parts[0]["columns"],
        "rows": [rows[one] for one in wanted],
    }
    CACHE.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(result), "utf-8")
    return result


def key(wanted: list[Wanted]) -> str:
    """Return what the reports depend on: sources, sizes, Python."""
    what = [sources(), wanted, sys.version_info[:2]]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]


def sources() -> str:
    """Return a digest of what decides a kernel: its code without words, and the lock."""
    files = [file for pattern in DECIDE for file in sorted(SOURCES.glob(pattern))]
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


def _compile(part: list[Wanted]) -> dict:
    """Compile some kernels in a process of the other environment."""
    path = os.pathsep.join(map(str, (ROOT, ROOT / "lib")))
    env = {**os.environ, "PYTHONPATH": path}
    env.pop("NUMBA_ENABLE_CUDASIM", None)
    done = subprocess.run(
        [PYTHON, "-m", "tools.kernels", "--worker"], input=json.dumps(part),
        capture_output=True, encoding="utf-8", env=env, cwd=ROOT,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"compiling the kernels failed:\n{done.stderr[-3000:]}")
    return {"wanted": part} | json.loads(done.stdout)


def worker() -> None:
    """Compile the kernels that stdin lists; write their reports to stdout."""
    from onlinesoftmax.gpu.compile import compile_report, environment
    from onlinesoftmax.gpu.ladder import Build
    from onlinesoftmax.gpu.reports import Report

    rows = [
        compile_report(Build(*size), arch, dtype=dtype)
        for *size, dtype, arch in json.load(sys.stdin)
    ]
    result = {"versions": environment(), "columns": Report._fields, "rows": rows}
    json.dump(result, sys.stdout)


def complaints(found: dict) -> list[str]:
    """Return what a kernel does that no kernel that ships may do."""
    from onlinesoftmax.gpu.ladder import Build
    from onlinesoftmax.gpu.reports import Report

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
        if build == Build.shipped(report.rung, report.d):
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
    return said + differences(found, stored)


def write(found: dict) -> None:
    """Store the reports where pages and figures find them, a row a line."""
    head = {"what": WHAT, "command": "make kernels", "sources": sources()} | found
    rows = ",\n".join(f"    {json.dumps(row)}" for row in head.pop("rows"))
    text = json.dumps(head, indent=2, ensure_ascii=False).removesuffix("\n}")
    STORED.write_text(f'{text},\n  "rows": [\n{rows}\n  ]\n}}\n', "utf-8")


def gate() -> list[str]:
    """Compile what ships and compare; `make test` calls it. One line where it cannot.

    The sizes of the sliders are not compiled again: they are of the same sources.
    """
    if not sys.platform.startswith("linux"):
        print("  kernels are not compiled here: the gate runs on Linux")
        return []
    try:
        environment()
    except NoCompiler as problem:
        if os.environ.get("CI"):
            return [str(problem)]
        print(f"  kernels are not compiled here: {LOCK.name} could not be installed")
        return []
    return check(compile_all(wanted(sliders=False)))


def main() -> int:
    if sys.argv[1:] == ["--worker"]:
        worker()
        return 0
    if not sys.platform.startswith(SUPPORTED):
        print("the compiler for GPUs is published for Linux and Windows only")
        return 2
    start = time.perf_counter()
    if "--check" in sys.argv:
        said = gate()
    else:
        try:
            environment()
        except NoCompiler as problem:
            print(problem)
            return 2
        found = compile_all(wanted())
        said = complaints(found)
        if not said:
            write(found)
    print(*said, sep="\n", end="\n" if said else "")
    print(
        f"{len(wanted())} kernels, {time.perf_counter() - start:.0f} s:",
        f"{len(said)} complaints" if said else "all as they should be",
    )
    return bool(said)


if __name__ == "__main__":
    sys.exit(main())
