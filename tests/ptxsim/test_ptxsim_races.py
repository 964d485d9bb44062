"""ptxsim against a definition of races: random kernels, and every pair of accesses.

Each step of a kernel is done by some of the threads of two warps, of one block or of two: a
store or a load, plain or strong; an atomic sum, whose result is read or not; a fence; a meeting of lanes of each warp, or
of whole warps at a barrier of their own; the end of threads; or a barrier of the block. The definition keeps, for
each access, what every thread knows of the others, and for each word, what was published
there: slow and plain.
"""

import random
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest

import ptx
import ptxsim

THREADS, WARP = 64, 32
TOUCHES = ("store", "load", "atomic", "sum", "strong store", "strong load")
STRONG = ("atomic", "sum", "strong store", "strong load")
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
        steps.append(Step(what, who, word, chance.randrange(2)))
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
        lines.append({
            "store": f"@%p1 st.{space}.u32 {place}, {step.value};",
            "load": f"@%p1 ld.{space}.u32 %r9, {place};",
            "atomic": f"@%p1 atom.{space}.add.u32 %r9, {place}, 0;\nmov.u32 %r8, %r9;",
            "sum": f"@%p1 {('red', 'atom')[step.value]}.{space}.add.u32"
            f" {'%r10, ' * step.value}{place}, 0;",
            "strong store": f"@%p1 st.relaxed.gpu.{space}.u32 {place}, {step.value};",
            "strong load": f"@%p1 ld.volatile.{space}.u32 %r9, {place};",
            "fence": f"@%p1 fence.acq_rel.{'gpu' if step.value else 'cta'};",
            "some": f"@%p1 bar.sync 1, {len(step.who)};",
            "warps": "@%p1 bar.warp.sync %r4;",
            "end": "@%p1 exit;",
        }[step.what])  # fmt: skip
    before = ".shared .align 4 .b8 S[64];\n"
    return ptx.module("\n".join(lines), 2, THREADS // blocks, before)


class Access(NamedTuple):
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
        self.touched: list[Access] = []

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
        if step.what in ("atomic", "strong load"):
            self.known[t] = joined(self.known[t], wide, narrow)
            self.narrow[t] = joined(self.narrow[t], wide, narrow)
            self.wide[t] = joined(self.wide[t], wide)
        self.known[t][t] += 1
        self.touched.append(Access(t, self.known[t][t], step, dict(self.known[t])))
        if step.what in ("atomic", "sum"):
            both = joined(wide, self.wide[t]), joined(narrow, self.narrow[t])
            self.left[step.word] = *both, own
        elif step.what == "strong store":
            self.left[step.word] = self.wide[t], self.narrow[t], own
        elif step.what == "store":
            self.left.pop(step.word, None)

    def meet(self, group: set[int]) -> None:
        for clocks in (self.known, self.wide, self.narrow):
            together = joined(*(clocks[t] for t in group))
            clocks |= {t: dict(together) for t in group}


def is_racy(steps: list[Step], blocks: int) -> bool:
    """Return whether two accesses are in no order that could matter."""
    run = Definition(blocks)
    for step in steps:
        run.do(step)
    return any(collide(a, b) for a, b in combinations(run.touched, 2))


def collide(a: Access, b: Access) -> bool:
    """Return whether two accesses race, the first of which was noted first."""
    if a.step.word != b.step.word or b.known.get(a.thread, 0) >= a.time:
        return False
    kinds = {a.step.what, b.step.what}
    if kinds == {"store"}:  # one instruction may store the same number several times
        return a.step is not b.step
    return not (kinds <= set(STRONG) or kinds <= set(READS))


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
