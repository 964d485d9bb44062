"""Plants faults of synchronization in Triton's kernels; ptxsim has to find each.

    python -m tools.faults.ptx             plant them all, write tests/data/planted.json
    python -m tools.faults.ptx --check     plant them all, compare with what is written
    python -m tools.faults.ptx TEXT …      those of some texts, print

A text is one of tests/data/triton.zip. Its barriers, commits and waits are removed or
loosened, its accesses are moved, its guards are dropped, each at every place. Whether that
matters is decided by tests/ptxsim/happens_before.py, which looks at every pair of accesses
of a run: ptxsim has to raise a fault of the same kind at the same line, or none at all. It
is asked twice, with each of its records of memory.
"""

import argparse
import json
import platform
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import date
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import ptxsim
from ptxsim import launch
from tests import triton_ptx
from tests.ptxsim.happens_before import Conflict, Log
from tools.common import records
from tools.common.options import report
from tools.common.paths import ROOT

FILE = ROOT / "tests" / "data" / "planted.json"
COMMAND = "python -m tools.faults.ptx"
WHAT = (
    "Faults planted in PTX of Triton, and how many of them ptxsim finds. A fault counts if"
    " it makes an access wrong, or leaves two conflicting accesses unordered, in a check of"
    " all pairs. Of the others none may be called a fault; some change numbers only."
)
PLANTED = ["not executed", "counts", "found", "numbers only", "redundant"]
# Of those that are redundant, also their lines in the text.
COLUMNS = ["text", "change", "planted", *PLANTED, "lines"]
RECORDS = {"as launched": launch.synchronizes, "history": lambda kernel: True}
FAR = 1 << 30  # bytes beyond every argument
LIMIT = 20_000  # basic blocks, should a lock never open


# ---- launches ----


class Case(NamedTuple):
    """A launch of a text, as small as its loops and its ragged ends allow."""

    grid: int | tuple[int, ...]
    arguments: tuple[Any, ...]
    outputs: list[int]
    changed: list[int] = []


class Text(NamedTuple):
    """A compiled kernel, what it was compiled for, and how to make a launch of it."""

    name: str
    ptx: str
    sizes: dict[str, int]
    warps: int
    shared: int  # bytes
    case: Callable[[dict[str, int]], Case]


def draw(*shape: int, dtype: str = "f2") -> np.ndarray:
    return np.random.default_rng(shape).standard_normal(shape).astype(dtype)


def attention(n: int, sizes: dict[str, int]) -> Case:
    q, k, v = (draw(1, n, sizes["D"]) * (i + 1) for i in range(3))
    out, lse = np.zeros_like(q), np.zeros((1, n), "f4")
    arguments = q, k, v, out, lse, n, 0.25
    return Case((-(-n // sizes["M"]), 1), arguments, [3, 4])


def matmul(dtype: str, sizes: dict[str, int]) -> Case:
    """One tile, 16 short of whole in every direction; the inner one takes four steps."""
    m, n, k = sizes["M"] - 16, sizes["N"] - 16, 4 * sizes["K"] - 16
    arguments = draw(m, k, dtype=dtype), draw(k, n, dtype=dtype)
    return Case(1, (*arguments, np.zeros((m, n), dtype), m, n, k), [2])


def softmax(rows: int, sizes: dict[str, int]) -> Case:
    x = draw(rows, 781, dtype="f4")
    numbers = (781,) if rows == 1 else (rows, 781)
    return Case(1, (x, np.zeros_like(x), *numbers), [1])


def layer_norm(sizes: dict[str, int]) -> Case:
    x, weight, bias = draw(1, 781), draw(781), draw(781)
    single = np.zeros(1, "f4"), np.zeros(1, "f4")
    return Case(1, (x, weight, bias, np.zeros_like(x), *single, 781, 1e-5), [3, 4, 5])


def locked(sizes: dict[str, int]) -> Case:
    """Six rows for four locks, so that two of them have two rows each."""
    rows, columns, groups = 6, 200, sizes["GROUPS"]
    x, weight, grad = draw(rows, columns), draw(columns), draw(rows, columns)
    single = draw(rows, dtype="f4"), draw(rows, dtype="f4")
    sums = (np.zeros((groups, columns), "f4") for _ in range(2))
    arguments = x, weight, grad, *single, np.zeros_like(x), *sums
    return Case(rows, (*arguments, np.zeros(2 * groups, "i4"), columns), [5, 6, 7], [8])


CASES: dict[str, Callable[[dict[str, int]], Case]] = {
    "attention-32-fp16": partial(attention, 80),
    "attention-64-fp16": partial(attention, 80),
    "attention-64-fp16-2-stages": partial(attention, 80),
    "attention-causal-64-fp16": partial(attention, 80),
    "attention-128-fp16": partial(attention, 40),
    "matmul-fp16": partial(matmul, "f2"),
    "matmul-fp16-2-stages": partial(matmul, "f2"),
    "matmul-tf32": partial(matmul, "f4"),
    "softmax": partial(softmax, 1),
    "softmax-persistent": partial(softmax, 4),
    "layer-norm": layer_norm,
    "layer-norm-backward-locked": locked,
}


def archived(name: str) -> Text:
    """Return a text of the archive."""
    entry = triton_ptx.TEXTS[name]
    compiled = entry["constexprs"], entry["num_warps"], entry["shared"]
    return Text(name, triton_ptx.PTX[name], *compiled, CASES[name])


TEXTS = tuple(map(archived, CASES))


# ---- changes ----

BARRIER, COMMIT = r"bar\.sync\s+0;", r"cp\.async\.commit_group;"
WAIT = r"cp\.async\.wait_group\s+(\d+);"
# The first address of an access to shared memory, and the only one to global memory or the
# second one of a copy: what stands before it, the base, and the offset.
ADDRESS = r"\[\s*([%\w]+)(?:\s*\+\s*(\d+))?\s*\]"
SHARED = rf"((?:(?:ld|st)\.shared|ldmatrix|cp\.async\.c[ag])\b[^;\[]*){ADDRESS}"
GLOBAL = rf"((?:ld|st)\.global\b[^;\[]*|cp\.async\.c[ag]\b[^;\[]*\[[^;\[]*){ADDRESS}"
GUARD = r"@!?%p\d+ ((?:ld|st)\.(?:global|shared)\b)"
SIZE = r"(cp\.async\.c[ag]\b[^;]*), %r\d+;"  # bytes to read: how a copy is guarded
RELEASE = r"(atom\.[^;]*)\.acq_rel\b"
Make = Callable[[re.Match[str], int], str]


def moved(by: int | None) -> Make:
    """Return a function that adds to an address; without `by`, all of shared memory."""

    def make(place: re.Match[str], shared: int) -> str:
        offset = int(place[3] or 0) + (shared if by is None else by)
        return f"{place[1]}[{place[2]}+{offset}]"

    return make


def text(template: str) -> Make:
    return lambda place, shared: place.expand(template)


CHANGES: dict[str, tuple[str, Make]] = {
    "barrier removed": (BARRIER, text("")),
    "commit removed": (COMMIT, text("")),
    "wait removed": (WAIT, text("")),
    "wait for one group less": (
        WAIT,
        lambda place, shared: f"cp.async.wait_group {int(place[1]) + 1};",
    ),
    "shared access 8 bytes on": (SHARED, moved(8)),
    "shared access out of bounds": (SHARED, moved(None)),
    "global access 8 bytes on": (GLOBAL, moved(8)),
    "global access out of bounds": (GLOBAL, moved(FAR)),
    "guard dropped": (GUARD, text(r"\1")),
    "copy not guarded": (SIZE, text(r"\1;")),
    "release removed": (RELEASE, text(r"\1.relaxed")),
}


class Change(NamedTuple):
    """A change at one place of a text."""

    text: Text
    what: str
    line: int
    ptx: str

    def __str__(self) -> str:
        return f"{self.text.name}, line {self.line}: {self.what}"


def changes(text: Text) -> Iterator[Change]:
    """Yield every change of a text."""
    ptx = text.ptx
    for what, (pattern, make) in CHANGES.items():
        for place in re.finditer(pattern, ptx):
            line = ptx.count("\n", 0, place.start()) + 1
            new = ptx[: place.start()] + make(place, text.shared) + ptx[place.end() :]
            yield Change(text, what, line, new)


# ---- what is said of them ----


class Verdict(NamedTuple):
    """What is wrong with a run by the oracle, and the bytes that it leaves."""

    conflicts: set[Conflict]
    executed: set[int]  # lines
    left: list[bytes]


def launched(text: Text, ptx: str, step: Any, **options: Any) -> Case:
    """Run a text, or what a change makes of it; return the case with its arrays."""
    case = text.case(text.sizes)
    ptxsim.run(
        ptx, case.grid, [*case.arguments, *triton_ptx.SCRATCH],
        threads=32 * text.warps, dynamic=text.shared, outputs=case.outputs,
        changed=case.changed, limit=LIMIT, step=step, **options,
    )  # fmt: skip
    return case


def examined(text: Text, ptx: str) -> Verdict:
    """Look at every pair of accesses of a run."""
    case = text.case(text.sizes)
    args = [*case.arguments, *triton_ptx.SCRATCH]
    log = Log(args, case.outputs, case.changed, text.shared)
    left, stopped = [], set()
    try:
        case = launched(text, ptx, log, check=False)
        left = [case.arguments[i].tobytes() for i in (*case.outputs, *case.changed)]
    except ptxsim.Fault as fault:  # it never ends, say
        stopped.add(Conflict(fault.kind, fault.line))
    return Verdict(log.conflicts() | stopped, log.executed, left)


@contextmanager
def recorded(how: str) -> Iterator[None]:
    """Let ptxsim remember accesses as it does, or each of them."""
    launch.synchronizes = RECORDS[how]
    try:
        yield
    finally:
        launch.synchronizes = RECORDS["as launched"]


def raised(text: Text, ptx: str) -> ptxsim.Fault | None:
    """Return the fault that ptxsim raises."""
    try:
        # With a step, as the oracle has, so that the text is translated once for both.
        launched(text, ptx, lambda machine, number, act: None)
    except ptxsim.Fault as fault:
        return fault
    return None


def complaint(conflicts: set[Conflict], fault: ptxsim.Fault | None) -> str:
    """Return how a fault differs from what the oracle finds; empty if it does not."""
    if fault is None:
        return f"not found: {min(conflicts)}" if conflicts else ""
    if not conflicts:
        return f"no fault: {fault}"
    pairs = {(x.kind, line) for x in conflicts for line in (x.line, x.other)}
    return "" if (fault.kind, fault.line) in pairs else f"another fault: {fault}"


def judge(change: Change, original: Verdict) -> tuple[str, list[str]]:
    """Plant a change; return the column it counts for, and what ptxsim says wrongly."""
    if change.line not in original.executed:
        return "not executed", []
    verdict = examined(change.text, change.ptx)
    wrong = []
    for how in RECORDS:
        with recorded(how):
            fault = raised(change.text, change.ptx)
        if said := complaint(verdict.conflicts, fault):
            wrong.append(f"{change} ({how}): {said}")
    if verdict.conflicts:
        return "counts", wrong
    return "redundant" if verdict.left == original.left else "numbers only", wrong


def plant(
    text: Text, wanted: Callable[[Change], bool] = lambda change: True
) -> tuple[list[list[Any]], list[str]]:
    """Plant changes of a text; return the rows of the table, and what is wrong."""
    original, rows, wrong = examined(text, text.ptx), {}, []
    for how in RECORDS:
        with recorded(how):
            if said := complaint(original.conflicts, raised(text, text.ptx)):
                wrong.append(f"{text.name} ({how}): {said}")
    if original.conflicts:
        wrong.append(f"{text.name} is wrong before anything is planted")
    lines: dict[str, list[int]] = defaultdict(list)
    for change in filter(wanted, changes(text)):
        column, said = judge(change, original)
        row = rows.setdefault(change.what, Counter())
        row.update([column, *["found"] * (column == "counts" and not said)])
        lines[change.what] += [change.line] * (column == "redundant")
        wrong += said
    return [
        [
            text.name, what, row.total() - row["found"], *(row[x] for x in PLANTED),
            lines[what],
        ]
        for what, row in rows.items()
    ], wrong  # fmt: skip


# ---- the table ----


def source() -> dict[str, Any]:
    """Return what the table shows, and where it comes from."""
    versions = {"ptxsim": ptxsim.__version__, "NumPy": np.__version__}
    versions |= {"Python": platform.python_version()}
    versions |= {"Triton": triton_ptx.INDEX["versions"]["triton"]}
    return {
        "what": WHAT,
        "command": COMMAND,
        "versions": versions,
        "date": date.today().isoformat(),
        "columns": COLUMNS,
    }


def main() -> int:
    """Plant, print, and write or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("texts", nargs="*", metavar="TEXT")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    if unknown := [name for name in asked.texts if name not in CASES]:
        parser.error(f"no text {', '.join(unknown)}: {list(CASES)}")
    start, rows, wrong = time.perf_counter(), [], []
    chosen = [archived(name) for name in asked.texts] or TEXTS
    with ProcessPoolExecutor(2) as pool:
        for own, said in pool.map(plant, chosen):
            for row in own:
                print(*row, sep=" | ", flush=True)
            rows += own
            wrong += said
    if asked.check and rows != json.loads(FILE.read_text("utf-8"))["rows"]:
        wrong.append(f"{FILE.name} has other rows")
    if not (asked.check or asked.texts or wrong):
        FILE.write_text(records.with_rows(source(), "rows", rows), "utf-8")
    counts = [sum(row[COLUMNS.index(x)] for row in rows) for x in ("counts", "found")]
    took = time.perf_counter() - start
    return report(wrong, f"{took:.0f} s: {counts[1]} of {counts[0]} faults found")


if __name__ == "__main__":
    sys.exit(main())
