"""The text of a kernel, and beside each line what it costs, by kind of instruction.

What is counted are instructions that warps execute, from `make kernels`; nothing here
has run on a GPU. Lines that hardly cost anything are folded, but a loop or a branch
around a line that does cost something keeps its head.

Prediction. Which line of rung 1 costs most? Why wrong answers tempt. "The scores":
products of queries and keys are what attention is about. "The same": both long lines
have an FMA and a read for each column. "The exponentials": they are the slow
instructions. What settles it: the bars of rung 1, where the line of the output also
multiplies each column by α.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from kernellab import counts, devices
from kernellab.counts import NO_LINE, Counts
from livepage.figures.spec import Choice, Evidence, Log, Pick, Prediction, Spec, Values
from livepage.quantities import quantities
from tiledattention.gpu import RUNGS

D, ARCH = 64, "sm_80"
LEAST = 0.005  # of all instructions: a line that costs less is folded
LOOKS = ("fma", "float", "shared", "global", "integer", "control")  # then the rest

# ---- the listing: which lines stand in it ----

Row = tuple[int, int, int, str]  # first and last line, depth, text; none of a fold


def listing(text: str, lines: Mapping[int, int]) -> list[Row]:
    """The rows of a kernel: lines that cost something, what they stand in, and folds."""
    code, begins = joined(text)
    costs: Counter[int] = Counter()
    for at, cost in lines.items():
        costs[begins.get(at, at)] += cost
    least = LEAST * sum(lines.values())
    ends = {begin: end for end, begin in begins.items()}  # the last of each stays
    rows: list[Row] = []
    for first, last in functions(text, lines):
        costly = {at for at in range(first, last + 1) if costs[at] >= least}
        kept = costly.union(*(heads(code, at, first) for at in costly), {first})
        edge = depth(code[first - 1])
        rows += [
            (at, ends.get(to, to), level - edge, words)
            for at, to, level, words in folded(code, first, last, kept)
        ]
    if costs[NO_LINE] >= least:
        rows.append((NO_LINE, NO_LINE, 0, ""))
    return rows


def joined(text: str) -> tuple[list[str], dict[int, int]]:
    """The lines of a program, a statement on its first; and where the others begin."""
    code, begins = text.splitlines(), {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)):
            first, last = node.lineno, node.end_lineno or node.lineno
            if last > first:
                code[first - 1] = " " * node.col_offset + ast.unparse(node)
            for at in range(first + 1, last + 1):
                code[at - 1], begins[at] = "", first
    return code, begins


def functions(text: str, counted: Iterable[int]) -> list[tuple[int, int]]:
    """First and last lines of the functions that hold the counted lines, in order."""
    spans = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
    ]
    found = set()
    for line in set(counted) - {NO_LINE}:
        around = [span for span in spans if span[0] <= line <= span[1]]
        if around:  # the text may have changed since: test_counts says so
            found.add(max(around))  # the innermost begins last
    return sorted(found)


def depth(line: str) -> int:
    """How far a line is indented, in levels."""
    return (len(line) - len(line.lstrip())) // 4


def heads(code: list[str], at: int, first: int) -> Iterator[int]:
    """The lines that a line stands in: its loops, its branches, its function."""
    within = depth(code[at - 1])
    for above in range(at - 1, first - 1, -1):
        line = code[above - 1]
        if line.strip() and depth(line) < within:
            within = depth(line)
            yield above


def folded(code: list[str], first: int, last: int, kept: set[int]) -> Iterator[Row]:
    """Every row from `first` to `last`: a line that is kept, or several that are not."""
    hidden: list[int] = []
    for at in range(first, last + 2):
        if at in kept or at > last:
            yield from fold(code, hidden)
            hidden = []
        elif code[at - 1].split("#")[0].strip():
            hidden.append(at)
        if at in kept:
            yield at, at, depth(code[at - 1]), code[at - 1].strip()


def fold(code: list[str], hidden: list[int]) -> Iterator[Row]:
    """One row for several lines; a single line stands as it is, for it takes no more."""
    level = min((depth(code[at - 1]) for at in hidden), default=0)
    if len(hidden) == 1:
        yield hidden[0], hidden[0], level, code[hidden[0] - 1].strip()
    elif hidden:
        yield hidden[0], hidden[-1], level, ""


# ---- what the picture is given, and what it has to find ----


def rows_of(found: Counts) -> list[Row]:
    """The listing of a rung."""
    totals = {at: sum(kinds.values()) for at, kinds in found.lines.items()}
    return listing(counts.source(found.rung), totals)


def by_look(kinds: Mapping[str, int]) -> list[int]:
    """Instructions of each of `LOOKS`, and all others."""
    known = [kinds.get(look, 0) for look in LOOKS]
    return [*known, sum(kinds.values()) - sum(known)]


def within(found: Counts, first: int, last: int) -> list[int]:
    """What the lines from `first` to `last` cost together, by look."""
    inside = [by_look(by) for at, by in found.lines.items() if first <= at <= last]
    return [sum(column) for column in zip(by_look({}), *inside)]


def kernel(found: Counts) -> Values:
    """What the figure's script is given of one kernel."""
    rows = [[*row, *within(found, row[0], row[1])] for row in rows_of(found)]
    return {"pairs": found.pairs, "all": by_look(found.by_kind()), "rows": rows}


COUNTED = {
    found.rung: found
    for found in counts.all_stored()
    if (found.d, found.arch, found.dtype) == (D, ARCH, "float32")
}
ORDER = tuple(rung for rung in RUNGS if rung in COUNTED)
KERNELS = {rung: kernel(COUNTED[rung]) for rung in ORDER}


def expected(state: Values) -> Values:
    """The lib's account of the kernel: all of it, and each row."""
    found = COUNTED[state["rung"]]
    return {
        "total": found.a_pair(found.warp_instructions),
        "fma": found.by_kind()["fma"] / found.warp_instructions,
        "rows": [
            {"at": at, "cost": found.a_pair(sum(within(found, at, to)))}
            for at, to, *_ in rows_of(found)
        ],
    }


def states(random: np.random.Generator) -> Iterator[Values]:
    """Every rung, with and without its bars, at every line and at none."""
    for _ in range(200):
        rung = ORDER[random.integers(len(ORDER))]
        lines = ["", "none", *(str(row[0]) for row in KERNELS[rung]["rows"])]
        yield {
            "rung": rung,
            "bars": bool(random.integers(2)),
            "line": lines[random.integers(len(lines))],
        }


def costliest(rung: str) -> int:
    """The line of a rung that costs most."""
    return max(KERNELS[rung]["rows"], key=lambda row: sum(row[4:]))[0]


MOST = {"rung": ORDER[0], "bars": True, "line": str(costliest(ORDER[0]))}

SPEC = Spec(
    controls=(
        Choice("rung", ORDER[0], of=ORDER),
        Evidence("bars"),
        Pick("line"),
        Log("kernels", KERNELS),
    ),
    still={"bars": True},
    prediction=Prediction(answer=1, shown_by=(MOST,) * 4),
    constants={
        "LOOKS": (*LOOKS, "rest"),
        "WARP": devices.WARP,
        "LANGUAGE": counts.language(),
        "ARCH": ARCH,
        "D": D,
        "NAMES": {code: name for name, q in quantities().items() for code in q.code},
    },
    expected=expected,
    states=states,
)
