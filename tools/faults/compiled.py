"""Plants faults in compiled kernels, one by one; each has to be noticed.

    python -m tools.faults.compiled          the named ones
    python -m tools.faults.compiled 100      so many random ones for each rung as well

The PTX is what the compile gate leaves (`python -m tools.kernels --check`): of every rung,
and of what is launched after it. A fault is noticed if the PTX machine raises one of its
own, or the numbers are off by more than the accuracy rule allows. What is not noticed
needs its reason in `EXPLAINED`, and does not count then; of the others at least `WANTED`
have to be noticed. A reason fails too where it matches nothing, or what is noticed.

Faults and reasons are tied to what a line does and to its line of Python, not to its
registers, so that they outlive a change of a kernel. The same are drawn each time.
"""

import linecache
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

import ptxsim
from kernellab import trial
from onlinesoftmax import masks
from tiledattention.gpu import PORTABLE, Build
from tools.common.options import report
from tools.faults import runner
from tools.kernels import compiled
from tools.kernels.gate import RUNGS as FOLDER

WANTED = 0.85
LIMIT = 3000  # basic blocks, for a change that makes a loop endless


class Asked(NamedTuple):
    """An attention that a kernel is tried with."""

    mask: masks.Mask | None
    shape: tuple[int, int, int, int]  # heads of queries and of keys, queries, keys
    parts: int = 2  # into which `split` deals out the keys
    absent: tuple[int, ...] = ()  # keys whose scores are −∞, and their values NaN

    def drawn(self, rung: str) -> list[np.ndarray]:
        """Draw queries, keys and values; what no row sees is NaN."""
        q, k, v = trial.drawn(self.of(rung))
        *_, n, keys = self.shape
        if self.mask is not None and keys - n > self.mask.left:
            k[..., : keys - n - int(self.mask.left), :] = np.nan
            v[..., : keys - n - int(self.mask.left), :] = np.nan
        if self.absent:
            q[..., 0] = 1 + abs(q[..., 0])
            k[..., self.absent, 0], v[..., self.absent, :] = -np.inf, np.nan
            v[..., 30, 5] = np.nan  # the rows that see it have a NaN as well
        return [q, k, v]

    def of(self, rung: str) -> trial.Case:
        return trial.Case(rung, 64, "float32", self.mask, self.shape)


# Ragged lengths; rows that see nothing; one row, and more than a block has room for; so
# many of a head that a block of `split` ends inside one; parts without keys; whole tiles.
# Each key of a thread is once the first beyond the end, and at either end of a window;
# each row and each key of those that are copied one after the other is once the last.
# Each key of a thread is once the only one that is absent in its tile.
CASES = [
    Asked(None, (2, 1, 1, 2), parts=5),
    Asked(None, (6, 2, 1, 34)),
    Asked(None, (2, 1, 1, 144), parts=9),
    Asked(masks.window(17, 15) & masks.padding([0, 66]), (3, 1, 61, 66), parts=3),
    Asked(masks.causal(), (1, 1, 75, 50), absent=(7,)),
    Asked(None, (1, 1, 75, 128), absent=(7, 45, 84, 122)),
    Asked(masks.window(50, 8), (2, 1, 71, 93)),
    Asked(masks.padding([34, 45]), (2, 1, 64, 64), parts=4),
    Asked(masks.padding([53, 61]), (2, 1, 64, 64)),
    Asked(masks.window(35, 29), (2, 1, 131, 170), parts=1),
    Asked(masks.window(19, 13), (2, 1, 131, 170)),
    *(Asked(None, (1, 1, n, n)) for n in (*range(1, 32, 2), 36, 44, 52)),
]


class Fault(NamedTuple):
    """A change of a kernel's PTX: the place of a pattern, and what stands there then."""

    name: str
    pattern: str
    change: str
    places: int  # at how many of the places it is planted, spread over all


# A barrier that every second warp of a block passes by.
HALF = (
    "{ .reg .pred %odd; .reg .b32 %half; mov.u32 %half, %tid.x; "
    "setp.gt.u32 %odd, %half, 31; @%odd bar.sync 0; }"
)
NAMED = [
    Fault("a barrier is dropped", r"bar\.sync\s+0;", "", 9),
    Fault("a barrier for half of the threads", r"bar\.sync\s+0;", HALF, 2),
    Fault("a product is not added", r"fma\.rn\S*\.f32(\s+\S+ \S+ \S+), %[^;]+;", r"mul.f32\1;", 3),
    Fault("a factor is another", r"(fma\.rn\S*\.f32\s+\S+) (\S+), (\S+), ([^;]+);", r"\1 \2, \4, \4;", 2),
    Fault("an exponential is left out", r"ex2\.approx\S*", "mov.f32", 2),
    Fault("the largest becomes the smallest", r"max(?=\S*\.f32)", "min", 2),
    Fault("a shuffle hands back its own", r"(shfl\.sync\.bfly\.b32\s+[^,]+, [^,]+), [^,]+,", r"\1, 0,", 2),
    Fault("a global load 1 GB on", r"(ld\.global\S*\s+[^\[]+\[%rd\d+)(\+\d+)?\]", r"\1+1073741824]", 2),
    Fault("a global load 4 bytes on", r"(ld\.global\S*\s+[^\[]+\[%rd\d+)(\+\d+)?\]", r"\1+4]", 2),
    Fault("a global store 4 bytes on", r"(st\.global\S*\s+\[%rd\d+)(\+\d+)?\]", r"\1+4]", 2),
    Fault("a global store is left out", r"st\.global\S*\s+[^;]+;", "", 2),
    Fault("a shared load 4 bytes on", r"(ld\.shared\.v4\S*\s+[^\[]+\[%r\w+)(\+\d+)?\]", r"\1+4]", 1),
    Fault("a shared load 16 bytes on", r"(ld\.shared\S*\s+[^\[]+\[%r\w+)(\+\d+)?\]", r"\1+16]", 2),
    Fault("a shared load 1 MB on", r"(ld\.shared\S*\s+[^\[]+\[%r\w+)(\+\d+)?\]", r"\1+1048576]", 1),
    Fault("a shared store 16 bytes on", r"(st\.shared\S*\s+\[%r\w+)(\+\d+)?\]", r"\1+16]", 1),
    Fault("a shared store is left out", r"st\.shared\S*\s+[^;]+;", "", 2),
    Fault("arrays are aligned to 4 bytes", r"\.shared \.align 16", ".shared .align 4", 1),
    Fault("a logarithm is left out", r"lg2\.approx\S*", "mov.f32", 1),
    Fault("a division the other way", r"(div\.\S+\.f32\s+\S+) (\S+), ([^;]+);", r"\1 \3, \2;", 1),
]  # fmt: skip


class Reason(NamedTuple):
    """Why nobody can notice some changes."""

    kernels: str  # a pattern for their names
    changes: str  # a pattern for what is printed of a change, from its Python on
    why: str


NO_NEGATIVE_INDEX = "an index below 0 would count from the end; there is none"
NO_NEGATIVE_QUOTIENT = "only a quotient below 0 is rounded once more; there is none"
EXPLAINED = [
    # What Python asks for, and never happens here.
    Reason(".*", r"^[^%/]* \| shr\.s64 \S+ \S+ 63; → shl", NO_NEGATIVE_INDEX),
    Reason(".*", r"\| shr\.u64 .*→ shl.*= and\.b64 \S+ -9223372036854775808", NO_NEGATIVE_INDEX),
    Reason(".*", r"\| and\.b64 .*→ and.*= shr\.s64 \S+ 63$", NO_NEGATIVE_INDEX),
    Reason(".*", r"% d \| shr\.s64 .*→ shl.*= selp\.b64", NO_NEGATIVE_INDEX),
    Reason(".*", r"states\[.* \| add\.s64 .*→ sub.*= and\.b64 %\w+, %\w+$", NO_NEGATIVE_INDEX),
    Reason("tiled", r"^for begin in .* \| add\.s64 (%\w+), \1, -32; → sub.*= mov", NO_NEGATIVE_INDEX),
    Reason(".*", r"lengths\[.* \| add\.s64 .*= ld\.param", NO_NEGATIVE_INDEX),
    Reason(".*", r"(//|%) .* \| setp\.lt\.s64 .*= xor", NO_NEGATIVE_QUOTIENT),
    Reason(".*", r"(//|%) .* \| setp\.ne\.s64 .*= .*cvt\.u64\.u32", NO_NEGATIVE_QUOTIENT),
    Reason(".*", r"(//|%) .* \| sub\.s32 .*= mul\.lo\.s32", NO_NEGATIVE_QUOTIENT),
    Reason(".*", r"(//|%) .* \| add\.s64 .*= selp\.s64 -1, 0,", NO_NEGATIVE_QUOTIENT),
    Reason(".*", r"(//|%) .* \| shr\.u64 .*→ shl.*= shr\.s64 \S+ 63$", NO_NEGATIVE_QUOTIENT),
    Reason("split", r"// d \| add\.s64 .*= shr\.u64", NO_NEGATIVE_QUOTIENT),
    Reason(".*", r"% d \| add\.s64 \S+ \S+ 64; → ", NO_NEGATIVE_QUOTIENT),
    Reason(".*", r"(//|%) .* \| (or\.b64 .*→ and|and\.b64 .* -4294967296; → or"
           r"|setp\.eq\.s64 .*= and\.b64 \S+ -4294967296)",
           "32 bits are enough for every division here, and 64 give the same"),
    Reason(".*", r"// .* \| (setp\.eq\.s32 .* -1; → setp\.ne"
           r"|setp\.eq\.s64 .* -9223372036854775808; → "
           r"|and\.pred .*= setp\.eq\.s64 \S+ -9223372036854775808)",
           "only −2⁶³ divided by −1 is too large; nothing here is negative"),
    Reason("split", r"(rows = n \* group \| shl\.b64 \S+ \S+ 32; → shl"
           r"|// n \| setp\.eq\.s64 .* 0; → setp\.eq\.s64 .* 1; .*= shl)",
           "before a division by n it is asked whether n is 0; it never is"),
    Reason(".*", r"shape\[2\] != d.* \| or\.pred",
           "all arrays have rows as wide as the kernel is made for"),
    Reason(".*", r"\| setp\.lt\.s64 \S+ \S+ (1|\d{9,}[13579]); → .*= shl\.b64 %\w+, 32$",
           "what is shifted by 32 is below 2³² · k + 1 if it is below 2³² · k + 2"),
    # Of the kernels.
    Reason(".*", r"^begin = max.* \| and\.b64 .*6; → and\.b64 .*7;",
           "the first tile begins one later if no row sees the key that it leaves out"),
    Reason("tiled", r"^end = .* \| add\.s64 .* 128; → add",
           "a block may go on to keys that none of its rows sees"),
    Reason("patches", r"^end = .* \| add\.s64 .* -1; → sub",
           "a tile that all rows see may be treated as one that not all see"),
    Reason("split", r"^share = .* \| (sub\.s64 .*= min\.s64|add\.s64 .* -1; → sub)",
           "larger shares deal out the same keys, but less evenly"),
    Reason(".*", r"^for base in .* \| (sub\.s64 .*→ add|and\.b64 .* 15; → or"
           r"|setp\.gt\.s64 .*→ setp\.ge.*= add|setp\.ne\.s64 .*= selp\.b64|selp\.b64 .*= setp\.ne"
           r"|add\.s64 (%\w+), (?!\2,).*= selp\.b64 -1, 0)",
           "a turn too many adds nothing: there are no keys left for it"),
    Reason(".*", r"^for \w+ in range.* \| setp\.gt\.s64 .*→ setp\.ge.*= sub",
           "where nothing is left, so many turns come out as 0 either way"),
    Reason("split|merge", r"^(tx = .*|if c == 0:) \| setp\.ne\.s64 .*→ setp\.ne",
           "every thread of a row knows its maximum and its sum, and may write them"),
    Reason("merge", r"^for part in .* \| (setp\.gt\.s64 .*→ setp\.ge|selp\.b64 \S+ -1, 0, .*→ )",
           "there is at least one part, and none beyond the last is read"),
    Reason("split", r"// d \| shr\.s64 \S+ %\w+, 63; → shl.*= cvt\.u64\.u32",
           "a quotient that is rounded up is put right two lines later"),
    Reason("split|merge", r"^alpha = .* \| sub\.f32 .*→ add.* %f\d+ = mov\.f32 0fFF800000;",
           "the first state is empty: its maximum stays −∞, whatever is taken from it"),
]  # fmt: skip


class Change(NamedTuple):
    """A change of one place of a kernel's PTX."""

    build: Build
    line: int  # of the PTX
    python: str  # the line of Python it comes from
    what: str
    start: int
    stop: int
    new: str  # what stands there then, in as many lines

    def __str__(self) -> str:
        return f"{self.build.rung} {self.line}: {self.python} | {self.what}"

    def reason(self) -> Reason | None:
        """Return the reason why nothing notices the change, if that is known."""
        said = f"{self.python} | {self.what}"
        for reason in EXPLAINED:
            ours = re.fullmatch(reason.kernels, self.build.rung)
            if ours and re.search(reason.changes, said):
                return reason
        return None

    def why(self) -> str:
        """Return the reason in words, or ""."""
        reason = self.reason()
        return reason.why if reason else ""

    def made(self, texts: dict[Build, str]) -> dict[Build, str]:
        """The kernels with this change in one of them."""
        old = texts[self.build]
        return texts | {self.build: old[: self.start] + self.new + old[self.stop :]}


class Shipped(NamedTuple):
    """A rung: its kernels, and which lines of them are executed."""

    rung: str
    texts: dict[Build, str]
    reached: dict[Build, dict[int, str]]  # line of the PTX, and its line of Python


def shipped(rung: str) -> Shipped:
    """A rung as it ships, executed once."""
    texts = compiled.texts(rung, 64, "float32")
    reached: dict[Build, dict[int, str]] = {build: {} for build in texts}
    real = ptxsim.run

    def noting(text: str, *args: object, **options: object) -> ptxsim.Result:
        result = real(text, *args, **options)
        (build,) = (build for build, own in texts.items() if own == text)
        for count in result.counts:
            if count.threads:
                source = count.instruction.source or ("", 0)
                reached[build][count.instruction.line] = _python(*source)
        return result

    ptxsim.run = noting
    try:
        if said := noticed(rung, texts):
            raise SystemExit(f"{rung} is wrong before anything is planted: {said}")
    finally:
        ptxsim.run = real
    return Shipped(rung, texts, reached)


def _python(file: str, line: int) -> str:
    path = FOLDER / "rungs" / file
    return linecache.getline(str(path), line).partition("  #")[0].strip()


def noticed(rung: str, texts: dict[Build, str]) -> str:
    """How a changed kernel is noticed; empty if it is not."""
    for asked in CASES:
        try:
            said = compiled.judge(
                asked.of(rung), texts, asked.drawn(rung), parts=asked.parts, limit=LIMIT
            )
        except ptxsim.Fault as fault:
            return str(fault)
        if said:
            return said
    return ""


# ---- named faults ----


def named(kernels: Shipped) -> Iterator[Change]:
    """Yield the named faults, each at some of its places in each kernel."""
    for build, text in kernels.texts.items():
        for fault in NAMED:
            yield from _sites(build, text, kernels.reached[build], fault)


def _sites(
    build: Build, text: str, reached: dict[int, str], fault: Fault
) -> Iterator[Change]:
    """Yield a fault at some of its places, spread over what is declared and executed."""
    found = []
    for site in re.finditer(fault.pattern, text):
        line = text.count("\n", 0, site.start()) + 1
        if line in reached or site[0].startswith("."):
            found.append((line, site))
    step = max(1, len(found) // fault.places)
    for line, site in found[::step][: fault.places]:
        python, new = reached.get(line, ""), site.expand(fault.change)
        yield Change(build, line, python, fault.name, *site.span(), new)


# ---- random changes ----

START = r"^(\s*(?:@!?%p\d+\s+)?)"  # of a line, up to its instruction
ADDRESS = r"\[(%r\w+)(?:\+(-?\d+))?\]"
TURNED = [
    ("add.", "sub."), ("sub.", "add."), ("min.", "max."), ("max.", "min."),
    ("and.", "or."), ("or.", "and."),
    ("shl.b", "shr.u"), ("shr.b", "shl.b"), ("shr.u", "shl.b"), ("shr.s", "shl.b"),
    ("setp.lt.", "setp.le."), ("setp.le.", "setp.lt."), ("setp.gt.", "setp.ge."),
    ("setp.ge.", "setp.gt."), ("setp.eq.", "setp.ne."), ("setp.ne.", "setp.eq."),
]  # fmt: skip
REWRITES: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    *((START + re.escape(right), rf"\1{wrong}") for right, wrong in TURNED),
    (r"fma\.rn\S*\.f32(\s+\S+ \S+ \S+), %.*;", r"mul.f32\1;"),
    (r"(selp\..*\s%\w+), ([^,]+), ([^,]+), (%p)", r"\1, \3, \2, \4"),
    (ADDRESS, lambda at: f"[{at[1]}+{int(at[2] or 0) + 4}]"),
    (ADDRESS, lambda at: f"[{at[1]}+{int(at[2] or 0) + 16}]"),
    (START + r"(bar|st|cp)\..*", ""),
    (
        START + r"((?:add|shl|mul|and|setp)\..*), (\d+);",
        lambda line: f"{line[1]}{line[2]}, {int(line[3]) + 1};",
    ),
]


def mutants(line: str) -> list[str]:
    """Return what a line may become; nothing for a line without an instruction."""
    if not re.match(START + "[a-z]", line):
        return []
    changed = (re.sub(right, wrong, line, count=1) for right, wrong in REWRITES)
    return [other for other in changed if other != line]


def random_ones(kernels: Shipped) -> Iterator[Change]:
    """Yield every change of one executed line, of which some are drawn."""
    for build, text in kernels.texts.items():
        made, start = definitions(text), 0
        for number, line in enumerate(text.split("\n"), 1):
            stop = start + len(line)
            if number in kernels.reached[build]:
                python, old = kernels.reached[build][number], " ".join(line.split())
                known = [f"{x} = {made[x]}" for x in _registers(old) if x in made]
                for new in mutants(line):
                    what = f"{old} → {' '.join(new.split())} | {'; '.join(known)}"
                    yield Change(build, number, python, what, start, stop, new)
            start = stop + 1


def definitions(text: str) -> dict[str, str]:
    """Return what each register is computed by; by "or" where it is in several places."""
    made: dict[str, list[str]] = {}
    for op, register, rest in re.findall(
        r"^\s*(?:@!?%p\d+\s+)?([a-z][\w.:]*)\s+(%\w+), (.*);", text, re.MULTILINE
    ):
        rest = re.sub(r"\[_Z\w+_param_(\d+)\]", r"parameter \1", rest)
        made.setdefault(register, []).append(f"{op} {rest}")
    return {register: " or ".join(found) for register, found in made.items()}


def _registers(line: str) -> list[str]:
    """Return the registers that a line reads."""
    return re.findall(r"%[a-z]+\d+", line.partition(",")[2])


# ---- what is said of them ----


def tried(kernels: Shipped, changes: list[Change], show: bool) -> runner.Tally:
    """Plant changes, one by one; print all of them, or those that nothing notices."""

    def said(change: Change) -> str:
        return noticed(kernels.rung, change.made(kernels.texts))

    return runner.run(changes, said, Change.why, show)


def stale(ladder: list[Shipped]) -> list[str]:
    """Return the named faults and the reasons that match nothing in any kernel."""
    faults = [change for kernels in ladder for change in named(kernels)]
    planted = {change.what for change in faults}
    every = faults + [change for kernels in ladder for change in random_ones(kernels)]
    used = {change.reason() for change in every}
    return [
        f"named fault {fault.name!r}: no kernel has a place for it"
        for fault in NAMED
        if fault.name not in planted
    ] + [
        f"reason {reason.changes!r}, {reason.why!r}: no change matches it"
        for reason in EXPLAINED
        if reason not in used
    ]


def run(ladder: list[Shipped], count: int) -> list[str]:
    """Plant the named faults, and so many random ones a rung; return what is wrong."""
    wrong = stale(ladder)
    total = 0
    for kernels in ladder:
        tally = tried(kernels, list(named(kernels)), show=True)
        print(f"{kernels.rung}: named faults: {tally}", flush=True)
        total += tally.noticed
        wrong += tally.wrong
    print(f"{total} named faults noticed")
    for kernels in ladder if count else []:
        pool = list(random_ones(kernels))
        drawn = random.Random(kernels.rung).sample(pool, min(count, len(pool)))
        tally = tried(kernels, sorted(drawn, key=lambda x: x.line), show=False)
        print(f"{kernels.rung}: random changes: {tally}", flush=True)
        wrong += tally.wrong
        if tally.share < WANTED:
            share = f"only {tally.share:.0%} of the random changes are noticed"
            wrong.append(f"{kernels.rung}: {share}")
    return wrong


def main() -> int:
    if not compiled.programs():
        print("the kernels are not compiled: python -m tools.kernels --check")
        return 2
    count = (sys.argv[1:] or ["0"])[0]
    if not count.isdecimal():
        print(f"expected how many random changes to make in each rung, got {count!r}")
        return 2
    start = time.perf_counter()
    wrong = run([shipped(rung) for rung in PORTABLE], int(count))
    outcome = f"{len(wrong)} complaints" if wrong else "all as they should be"
    return report(wrong, f"{time.perf_counter() - start:.0f} s: {outcome}")


if __name__ == "__main__":
    sys.exit(main())
