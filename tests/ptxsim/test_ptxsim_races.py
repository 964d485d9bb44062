"""ptxsim against a definition of races: random kernels, and every pair of accesses.

Each step of a kernel is done by some of the threads of two warps, of one block or of two: a
store or a load, plain or strong; an atomic sum, whose result is read or not; a fence; a meeting of lanes of each warp, or
of whole warps at a barrier of their own; the end of threads; or a barrier of the block. The definition keeps, for
each access, what every thread knows of the others, and for each word, what was published
there: slow and plain.
"""

import random
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest

import ptx
import ptxsim

THREADS, WARP = 64, 32
UPDATES = ("atomic", "sum", "release atomic")
STORES = ("strong store", "release store")
STRONG = (*UPDATES, *STORES, "strong load")
TOUCHES = ("store", "load", *STRONG)
READS = ("load", "strong load")
# Threads of these kernels meet at barriers only, and of the others in every way.
BARRIERS = ["store", "store", "load", "sum", "block", "end"]
EVERYTHING = [
    *TOUCHES,
    "store",
    "load",
    "warps",
    "some",
    "block",
    "end",
    "fence",
    "fence",
]
START = """mov.u32 %r0, %tid.x;
mov.u32 %r1, %ctaid.x;
mad.lo.u32 %r0, %r1, 32, %r0;
ld.param.u64 %rd1, [p4];
ld.param.u64 %rd2, [p11];
mov.u32 %r2, %laneid;
setp.gt.u32 %p9, %r0, 31;
mov.u32 %r1, %tid.x;
setp.eq.u32 %p8, %r1, 0;
"""
INITIAL = "".join(f"@%p8 st.{{}} [{{}}+{4 * i}], 0;\n" for i in range(4))


class Step(NamedTuple):
    """What the threads of a set do; `word` is a number of shared or of global memory."""

    what: str
    who: frozenset[int]
    word: tuple[str, int] = ("shared", 0)
    value: int = 0


def drawn(chance: random.Random, kinds: list[str], blocks: int) -> list[Step]:
    """Draw a kernel."""
    some = [
        range(32), range(64), range(16), range(16, 32), [0], [5], [40], [0, 1], [0, 33],
        range(0, 64, 2), range(32, 64), range(8), range(60, 64), [31, 32],
    ]  # fmt: skip
    steps = []
    for _ in range(chance.randint(2, 12)):
        what = chance.choice(kinds)
        who = frozenset(chance.choice(some))
        if what == "some":
            some_warps = [range(32), range(32, 64), range(64)]
            who = frozenset(chance.choice(some_warps[: 3 if blocks == 1 else 2]))
        if what == "end" and chance.random() < 0.4:
            continue
        spaces = ["shared", "shared", "global"] if blocks == 1 else ["global"]
        if what == "some" and any(step.what == "end" for step in steps):
            continue  # a barrier for so many threads waits for those that have ended, too
        word = (chance.choice(spaces), chance.randrange(2))
        value = chance.randrange(2)
        if what.startswith("release") and blocks > 1:
            value = 1  # the scope of the block would race with the other one
        steps.append(Step(what, who, word, value))
    return steps


def text_of(steps: list[Step], blocks: int) -> str:
    """Write a kernel as PTX."""
    lines = [START, "bar.sync 0;"]
    if blocks == 1:
        lines[1:1] = [INITIAL.format(*("shared.u32", "S") * 4)]
        lines[1:1] = [INITIAL.format(*("global.u32", "%rd2") * 4)]
    for step in steps:
        if step.what == "block":
            lines.append("bar.sync 0;")
            continue
        masks = [sum(1 << t % WARP for t in step.who if t // WARP == w) for w in (0, 1)]
        lines.append(
            f"selp.b32 %r4, {masks[1]}, {masks[0]}, %p9;\nshr.u32 %r5, %r4, %r2;"
        )
        lines.append("and.b32 %r5, %r5, 1;\nsetp.eq.u32 %p1, %r5, 1;")
        space, number = step.word
        place = f"[{'S' if space == 'shared' else '%rd2'}+{4 * number}]"
        scope = "gpu" if step.value else "cta"
        lines.append({
            "store": f"@%p1 st.{space}.u32 {place}, {step.value};",
            "load": f"@%p1 ld.{space}.u32 %r9, {place};",
            "atomic": f"@%p1 atom.{space}.add.u32 %r9, {place}, 0;\nmov.u32 %r8, %r9;",
            "sum": f"@%p1 {('red', 'atom')[step.value]}.{space}.add.u32"
            f" {'%r10, ' * step.value}{place}, 0;",
            "strong store": f"@%p1 st.relaxed.gpu.{space}.u32 {place}, {step.value};",
            "release store": f"@%p1 st.release.{scope}.{space}.u32 {place}, 5;",
            "release atomic": f"@%p1 atom.acq_rel.{scope}.{space}.add.u32 %r9, {place}, 0;\n"
            "mov.u32 %r8, %r9;",
            "strong load": f"@%p1 ld.volatile.{space}.u32 %r9, {place};",
            "fence": f"@%p1 fence.acq_rel.{scope};",
            "some": f"@%p1 bar.sync 1, {len(step.who)};",
            "warps": "@%p1 bar.warp.sync %r4;",
            "end": "@%p1 exit;",
        }[step.what])  # fmt: skip
    before = ".shared .align 4 .b8 S[64];\n"
    return ptx.module("\n".join(lines), 2, THREADS // blocks, before)


@dataclass(eq=False)
class Access:
    """An access of a thread: its number among those of the thread, and what it knew."""

    thread: int
    time: int
    step: Step
    known: dict[int, int]


Clock = dict[int, int]


def joined(*clocks: Clock) -> Clock:
    """Return the latest time of each thread."""
    together: Clock = {}
    for clock in clocks:
        for thread, time in clock.items():
            together[thread] = max(time, together.get(thread, 0))
    return together


class Definition:
    """What threads know while the steps of a kernel are done, one after the other."""

    def __init__(self, blocks: int) -> None:
        self.size = THREADS // blocks
        self.alive = set(range(THREADS))
        self.known: dict[int, Clock] = {t: {t: 0} for t in self.alive}
        # What threads have published: for all, and for their block only.
        self.wide: dict[int, Clock] = {t: {} for t in self.alive}
        self.narrow: dict[int, Clock] = {t: {} for t in self.alive}
        self.left: dict[tuple[str, int], tuple[Clock, Clock, int]] = {}
        # What each thread has released at a word: for all, and for its block only.
        self.released: dict[tuple[int, tuple[str, int]], tuple[Clock, Clock]] = {}
        self.touched: list[Access] = []
        # The last strong store to a word, and the updates after it: each saw the others.
        self.chains: dict[tuple[str, int], list[Access]] = {}
        self.saw: dict[Access, list[Access]] = {}

    def do(self, step: Step) -> None:
        who = self.alive & step.who
        if step.what in TOUCHES:
            for t in sorted(who):
                self.touch(t, step)
        elif step.what == "end":
            self.alive = self.alive - who
        elif step.what == "fence":
            self.narrow |= {t: dict(self.known[t]) for t in who}
            self.wide |= {t: dict(self.known[t]) for t in who if step.value}
        elif step.what == "block":
            for b in range(THREADS // self.size):
                self.meet({t for t in self.alive if t // self.size == b})
        elif step.what == "warps":
            for warp in (0, 1):
                self.meet({t for t in who if t // WARP == warp})
        else:
            self.meet(who)

    def touch(self, t: int, step: Step) -> None:
        wide, narrow, block = self.left.get(step.word, ({}, {}, 0))
        own = t // self.size
        narrow = narrow if block == own else {}
        if step.what in ("atomic", "release atomic", "strong load"):
            self.known[t] = joined(self.known[t], wide, narrow)
            self.narrow[t] = joined(self.narrow[t], wide, narrow)
            self.wide[t] = joined(self.wide[t], wide)
        if step.what.startswith("release"):
            old = self.released.get((t, step.word), ({}, {}))
            now = dict(self.known[t])
            self.released[t, step.word] = (now if step.value else old[0]), now
        mine = self.released.get((t, step.word), ({}, {}))
        mine = joined(self.wide[t], mine[0]), joined(self.narrow[t], mine[1])
        self.known[t][t] += 1
        access = Access(t, self.known[t][t], step, dict(self.known[t]))
        self.note(access)
        if step.what in UPDATES:
            self.left[step.word] = joined(wide, mine[0]), joined(narrow, mine[1]), own
        elif step.what in STORES:
            self.left[step.word] = *mine, own
        elif step.what == "store":
            self.left.pop(step.word, None)

    def note(self, access: Access) -> None:
        """Remember an access, and which ones it saw."""
        self.touched.append(access)
        chain = self.chains.setdefault(access.step.word, [])
        if access.step.what in ("atomic", "release atomic", "strong load"):
            for one in chain:
                self.saw.setdefault(one, []).append(access)
        if access.step.what in (*STORES, "store"):
            chain.clear()
        if access.step.what in (*UPDATES, *STORES):
            chain.append(access)

    def is_ordered(self, a: Access, b: Access) -> bool:
        """Return whether `b` is behind `a`, or behind what saw `a`."""
        return any(
            b.known.get(c.thread, 0) >= c.time for c in (a, *self.saw.get(a, ()))
        )

    def meet(self, group: set[int]) -> None:
        for clocks in (self.known, self.wide, self.narrow):
            together = joined(*(clocks[t] for t in group))
            clocks |= {t: dict(together) for t in group}


def is_racy(steps: list[Step], blocks: int) -> bool:
    """Return whether two accesses are in no order that could matter."""
    run = Definition(blocks)
    for step in steps:
        run.do(step)
    return any(
        collide(a, b) and not run.is_ordered(a, b)
        for a, b in combinations(run.touched, 2)
    )


def collide(a: Access, b: Access) -> bool:
    """Return whether two accesses race if nothing orders them."""
    if a.step.word != b.step.word:
        return False
    kinds = {a.step.what, b.step.what}
    if kinds == {"store"}:  # one instruction may store the same number several times
        return a.step is not b.step
    if kinds <= set(READS):
        return False
    return not kinds <= set(STRONG)


def is_found(steps: list[Step], blocks: int, role: str) -> bool:
    """Return whether ptxsim calls the kernel racy."""
    out, words = np.zeros(1, "u4"), np.zeros(4, "u4")
    try:
        ptxsim.run(text_of(steps, blocks), blocks, (out, words), **{role: [1]})
    except ptxsim.Fault as fault:
        assert fault.kind == "race", fault
        return True
    return False


KERNELS = {
    "barriers": (BARRIERS, 1, "outputs"),
    "everything": (EVERYTHING, 1, "outputs"),
    "barriers of two blocks": (BARRIERS, 2, "changed"),
    "everything in two blocks": (EVERYTHING, 2, "changed"),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", range(4))
def test_races_are_those_of_the_definition(seed: int, name: str) -> None:
    chance, (kinds, blocks, role) = random.Random(seed), KERNELS[name]
    verdicts = set()
    for _ in range(30):
        steps = drawn(chance, kinds, blocks)
        racy = is_racy(steps, blocks)
        verdicts.add(racy)
        assert is_found(steps, blocks, role) == racy, steps
    assert verdicts == {True, False}
