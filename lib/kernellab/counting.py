"""How many instructions of machine code a kernel executes, found without a GPU.

The PTX machine (`ptxsim`) executes the PTX that a launch makes, and counts. But a GPU
runs machine code, which one more compiler makes of the PTX: it joins instructions,
splits them and moves them about. What it hardly ever changes is where control goes. So
each basic block of machine code is given the number of times that it runs, and that
number, times its instructions, is the count.

How often a block runs is worked out, not guessed. Machine code knows for which line of
PTX each of its instructions is, and the machine has counted those lines. Of the numbers
is asked

- that as many threads leave a block as enter it, along each edge of the graph;
- that memory, barriers and shuffles are come to as often as the PTX says, since no
  compiler may leave these out or repeat them;
- and, where this leaves a choice, that a block runs as often as most of the lines that
  its instructions are for.

If no numbers fulfil the first two, there is an error and no count.

What is counted is what a GPU issues: an instruction whose predicate is false for every
thread of a warp takes its place among the others, and counts as well.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kernellab.sass import KINDS, NEVER, Block, Instruction

# What others can notice. Spills are not among it: they are machine code's own affair.
EFFECTS = ("LDS", "STS", "ATOMS", "LDG", "STG", "ATOMG", "RED", "SHFL", "BAR")
SLACK = 0.25  # threads by which rounding may put the solution off
FREE = 1e-6  # a number that can move less than so far is settled


class Executed(NamedTuple):
    """How often an instruction of PTX was executed.

    Attributes
    ----------
    line : int
        Of the PTX.
    opcode : str
        Such as "ld.shared.v4.f32".
    threads, warps : int
        How many threads executed it, and how many warps did for their threads.
    taken : int
        Of a branch: how many of the threads it sent elsewhere.
    """

    line: int
    opcode: str
    threads: int
    warps: int
    taken: int = 0


class Runs(NamedTuple):
    """How often a basic block runs: for how many threads, and for how many warps."""

    threads: int
    warps: int


class Mismatch(Exception):
    """The counts of PTX and its machine code do not fit together."""


class Count(NamedTuple):
    """What a kernel executes in one launch.

    Attributes
    ----------
    warps : mapping of (int, str) to int
        Warp instructions, by line of PTX and by kind, one of `sass.KINDS`.
    """

    warps: Mapping[tuple[int, str], int]

    @property
    def total(self) -> int:
        """All warp instructions."""
        return sum(self.warps.values())

    def by_kind(self) -> dict[str, int]:
        """Return warp instructions by kind, every kind in the order of `KINDS`."""
        found = dict.fromkeys(KINDS, 0)
        for (_, kind), count in self.warps.items():
            found[kind] += count
        return found

    def by_line(self, python: Mapping[int, int]) -> dict[int, dict[str, int]]:
        """Return warp instructions by line of Python, and by kind.

        `python` gives the line of Python for each line of PTX; 0 stands for all others.
        """
        found: dict[int, dict[str, int]] = {}
        for (line, kind), count in self.warps.items():
            row = found.setdefault(python.get(line, 0), dict.fromkeys(KINDS, 0))
            row[kind] += count
        return dict(sorted(found.items()))


def count(blocks: Sequence[Block], executed: Iterable[Executed]) -> Count:
    """Return what a kernel executes, from its machine code and what its PTX did."""
    total: Counter[tuple[int, str]] = Counter()
    for block, runs in zip(blocks, runs_of(blocks, executed), strict=True):
        for one in block.body:
            total[one.ptx, one.kind] += runs.warps
    return Count(+total)


def runs_of(blocks: Sequence[Block], executed: Iterable[Executed]) -> list[Runs]:
    """Return how often each basic block of machine code runs."""
    lines = {one.line: one for one in executed}
    entered = max((one.threads for one in lines.values() if _is_end(one)), default=0)
    size = len(blocks) + sum(len(block.after) for block in blocks)
    must = _Equations(size)
    _ask_for_flow(must, blocks, entered)
    _ask_for_effects(must, blocks, lines)
    votes = sorted((x for block in blocks for x in _votes(block, lines)), reverse=True)
    votes += _votes_of_branches(blocks, lines)
    threads = _solve(must, votes, len(blocks))
    return [
        _in_warps(block, number, lines)
        for block, number in zip(blocks, threads, strict=True)
    ]


class Vote(NamedTuple):
    """So many instructions say that a block, or an edge, has so many threads."""

    voices: int
    unknown: int
    threads: int


class _Equations:
    """Linear equations: unknown are the threads of each block, then of each edge."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.left: list[dict[int, float]] = []
        self.right: list[float] = []

    def ask(self, left: Mapping[int, float], right: float) -> None:
        self.left.append(dict(left))
        self.right.append(right)

    def matrix(self) -> np.ndarray:
        found = np.zeros((len(self.left), self.size))
        for row, values in zip(found, self.left, strict=True):
            row[list(values)] = list(values.values())
        return found


def _ask_for_flow(must: _Equations, blocks: Sequence[Block], entered: int) -> None:
    """As many threads enter a block as it runs for, and as many go on from it."""
    edges = _edges(blocks)
    for block in blocks:
        own = {block.number: -1.0}
        goes = {at: 1.0 for at, edge in enumerate(edges, len(blocks))
                if edge[0] == block.number}  # fmt: skip
        comes = {at: 1.0 for at, edge in enumerate(edges, len(blocks))
                 if edge[1] == block.number}  # fmt: skip
        called = {x.number: 1.0 for x in blocks if x.calls == block.number}
        if not block.leaves:
            must.ask(own | goes, 0)
        must.ask(own | comes | called, 0 if block.number else -entered)


def _ask_for_effects(
    must: _Equations, blocks: Sequence[Block], lines: Mapping[int, Executed]
) -> None:
    """What others can notice happens as often as the PTX says, wherever it stands.

    An access of PTX may have become several smaller ones: then each does a share of it,
    by its bytes. Several may have become one, which stands for the first of them.
    """
    places: dict[int, dict[int, float]] = {}
    left_out = set()  # lines that some thread of a block may leave out
    for block in blocks:
        for one in block.body:
            if one.ptx not in lines or not _has_effect(one) or one.guard == NEVER:
                continue
            share = min(1.0, _width(one.opcode) / _width(lines[one.ptx].opcode))
            here = places.setdefault(one.ptx, {})
            here[block.number] = here.get(block.number, 0.0) + share
            if one.guard:
                left_out.add(one.ptx)
    for line, shares in places.items():
        if line not in left_out:
            must.ask(shares, lines[line].threads)
        elif sum(shares.values()) > 1:
            raise Mismatch(
                f"line {line} of the PTX is written out several times, with conditions:"
                " nobody can tell how often each runs"
            )


def _solve(must: _Equations, votes: Sequence[Vote], count: int) -> list[int]:
    """Return the threads of the first `count` unknown, the blocks.

    They fulfil the equations, and as many votes as these leave free.
    Votes are heard in their order. One is passed over if the number is already settled,
    or if it would leave fewer than no thread for another block or edge.
    """
    left, right = must.matrix(), np.array(must.right)
    found = np.linalg.lstsq(left, right, rcond=None)[0]
    off = np.abs(left @ found - right)
    if off.max() > SLACK:
        at = int(off.argmax())
        raise Mismatch(
            f"blocks {must.left[at]} of {len(must.left)} equations should make"
            f" {right[at]:.0f} threads, and come to {left[at] @ found:.1f}"
        )
    free = _null_space(left)
    for vote in votes:
        way = free[vote.unknown]  # how the number moves in each free direction
        if way @ way < FREE:
            continue
        step = free @ way / (way @ way)
        wish = found + step * (vote.threads - found[vote.unknown])
        still_free = free - np.outer(step, way)
        settled = (still_free**2).sum(1) < FREE
        if wish[settled].min() > -SLACK:
            found, free = wish, still_free
    settled = (free**2).sum(1) < FREE  # between two blocks there may be two ways
    if found[settled].min() < -SLACK or not settled[:count].all():
        raise Mismatch("no number of runs fits the blocks and the lines of the PTX")
    return [round(x) for x in found[:count]]


def _null_space(matrix: np.ndarray) -> np.ndarray:
    """Return the directions in which a solution can move, as columns."""
    _, sizes, rows = np.linalg.svd(matrix)
    rank = int((sizes > sizes.max() * 1e-10).sum())
    return rows[rank:].T


def _votes(block: Block, lines: Mapping[int, Executed]) -> list[Vote]:
    """Return how often the instructions of a block say that it runs."""
    known = Counter(lines[one.ptx].threads for one in block.body if one.ptx in lines)
    return [Vote(voices, block.number, threads) for threads, voices in known.items()]


def _votes_of_branches(
    blocks: Sequence[Block], lines: Mapping[int, Executed]
) -> list[Vote]:
    """Return how many threads branches send elsewhere, if they are those of the PTX.

    They are heard last: a compiler may turn a branch round.
    """
    found = []
    for at, (start, stop) in enumerate(_edges(blocks), len(blocks)):
        block = blocks[start]
        line = lines.get(block.body[-1].ptx)
        if len(block.after) == 2 and line and line.opcode.startswith("bra"):
            goes = stop == block.after[0]
            found.append(Vote(1, at, line.taken if goes else line.threads - line.taken))
    return found


def _edges(blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """Return the ways from block to block, in the order of their unknowns."""
    return [(block.number, after) for block in blocks for after in block.after]


def _in_warps(block: Block, threads: int, lines: Mapping[int, Executed]) -> Runs:
    """Return how often a block runs, with the warps that this takes.

    Where threads of a warp part, it runs with some of them only. How many take part is
    that of the PTX.
    """
    known = [lines[one.ptx] for one in block.body if one.ptx in lines]
    same = [one for one in known if one.threads == threads] or known
    shares = Counter(one.warps / one.threads for one in same if one.threads)
    share = shares.most_common(1)[0][0] if shares else 1 / 32
    return Runs(threads, round(threads * share))


def _has_effect(one: Instruction) -> bool:
    return one.name in EFFECTS


def _is_end(one: Executed) -> bool:
    return one.opcode.split(".")[0] in ("ret", "exit")


def _width(opcode: str) -> int:
    """Return how many bytes an access moves, of PTX or of machine code.

    >>> _width("ld.shared.v4.f32"), _width("LDS.128"), _width("STG.E"), _width("BAR")
    (16, 16, 4, 4)
    """
    parts = opcode.replace("_", ".").split(".")
    bits = [
        int(part.lstrip("bUufsS")) for part in parts if part.lstrip("bUufsS").isdigit()
    ]
    lanes = next((int(part[1:]) for part in parts if part in ("v2", "v4")), 1)
    return (max(bits) // 8 if bits else 4) * lanes
