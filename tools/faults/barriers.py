"""Removes or loosens each barrier, commit and wait of the book's Triton kernel, in turn.

    python -m tools.faults.barriers            plant all, write book/data/tensor.json
    python -m tools.faults.barriers --check    plant all, compare with that file

The text is book/data/attention-triton.ptx. A barrier is *needed* if without it the check of
all pairs (tests/ptxsim/happens_before.py) finds two accesses that nothing orders; ptxsim
has to raise the same fault, with each of its records of memory. `make kernels` calls this
command after the one that compiles the kernel.
"""

import json
import re
import sys
from functools import cache, partial
from typing import Any

import ptxsim
from tests.ptxsim.happens_before import Conflict
from tools.common.options import parse, report
from tools.faults import ptx as faults
from tools.kernels import tensor

NAME = "attention-triton"
ROWS = 256  # two programs, and four tiles of keys for each
KINDS = {
    "barrier removed": ("barrier", "removed"),
    "commit removed": ("commit", "removed"),
    "wait removed": ("wait", "removed"),
    "wait for one group less": ("wait", "one group less"),
}

Row = dict[str, Any]


@cache
def text() -> faults.Text:
    """Return the kernel as it was compiled, with a launch of some rows."""
    kernel = shown(json.loads(tensor.STORED.read_text("utf-8")))
    sizes = dict(zip("DMN", (kernel[x] for x in ("d", "block_q", "block_k"))))
    compiled = sizes, kernel["warps"], kernel["shared"]
    ptx = tensor.SHOWN.read_text("utf-8")
    return faults.Text(NAME, ptx, *compiled, partial(faults.attention, ROWS))


def shown(stored: dict[str, Any]) -> Row:
    """Return the stored counts of the kernel whose PTX this is."""
    d, stages = min(tensor.OWN), tensor.SHOWN_STAGES
    return next(
        x
        for x in stored["kernels"]
        if (x["text"], x["d"], x["stages"]) == ("triton", d, stages) and x["same_tiles"]
    )


def changes() -> list[faults.Change]:
    """Return what is planted."""
    return [one for one in faults.changes(text()) if one.what in KINDS]


@cache
def original() -> faults.Verdict:
    """Return what the check of all pairs says of the text as it is."""
    return faults.examined(text(), text().ptx)


@cache
def source_lines() -> dict[int, int]:
    """Return the line of the source of each line of PTX that a run executes."""
    lines = {}

    def note(machine: Any, number: int, act: Any) -> None:
        one = machine.program.instructions[number]
        lines[one.line] = one.source[1] if one.source else 0

    faults.launched(text(), text().ptx, note)
    return lines


def planted() -> list[Row]:
    """Return the verdict of each change; a wrong verdict of ptxsim is an error."""
    if original().conflicts:
        raise ValueError(f"{NAME} is wrong before anything is planted")
    return [verdict(change) for change in changes()]


def verdict(change: faults.Change) -> Row:
    """Return what a change does to a run, by ptxsim and by the check of all pairs."""
    found = faults.examined(change.text, change.ptx)
    fault = agreed(change, found.conflicts)
    kind, how = KINDS[change.what]
    first, last = tensor.loop_of(text().ptx)
    line = source_lines()[change.line]
    return {
        "ptx_line": change.line,
        "text": text().ptx.splitlines()[change.line - 1].strip(),
        "kind": kind,
        "change": how,
        "source_line": line,
        "source": tensor.triton.ATTENTION.read_text("utf-8")
        .splitlines()[line - 1]
        .strip(),
        "in_loop": first <= change.line <= last,
        "fault": fault and described(fault, found.conflicts),
        "right": found.left == original().left,
        "needed": bool(found.conflicts),
    }


def agreed(change: faults.Change, conflicts: set[Conflict]) -> ptxsim.Fault | None:
    """Return the fault that ptxsim raises, which has to be one of the conflicts."""
    fault = None
    for how in reversed(faults.RECORDS):
        with faults.recorded(how):
            fault = faults.raised(change.text, change.ptx)
        if said := faults.complaint(conflicts, fault):
            raise ValueError(f"{change} ({how}): {said}")
    return fault


def described(fault: ptxsim.Fault, conflicts: set[Conflict]) -> Row:
    """Return a fault with both of its sides: lines of the PTX and of the source."""
    named = {int(x) for x in re.findall(r"\bline (\d+)", str(fault))}
    pairs = [
        {x.line, x.other}
        for x in sorted(conflicts)
        if x.kind == fault.kind and fault.line in (x.line, x.other)
    ]
    sides = max(pairs, key=lambda pair: len(pair & named))
    lines = source_lines()
    return {
        "kind": fault.kind,
        "message": str(fault),
        "lines": [{"ptx": x, "source": lines[x]} for x in sorted(sides) if x],
    }


def main() -> int:
    check = "--check" in parse(["--check"])
    stored, rows, wrong = json.loads(tensor.STORED.read_text("utf-8")), planted(), []
    if check and rows != stored.get("planted"):
        wrong.append(f"{tensor.STORED.name} has other verdicts")
    if not check:
        tensor.STORED.write_text(tensor.compact({**stored, "planted": rows}), "utf-8")
    races = [row for row in rows if row["needed"]]
    right = sum(row["right"] for row in races)
    said = f"{len(rows)} changes, {len(races)} faults, {right} with right numbers"
    return report(wrong, said)


if __name__ == "__main__":
    sys.exit(main())
