"""Plants faults in compiled kernels, one by one; each has to be noticed.

    python -m tools.compiled_faults          the named ones
    python -m tools.compiled_faults 100      so many random ones for each rung as well

The PTX is what the compile gate leaves (`python -m tools.kernels --check`). A fault is
noticed if the PTX machine raises one of its own, or the numbers are off by more than the
accuracy rule allows. Of random changes at least `WANTED` have to be noticed; those that
are not, on lines that were executed, are listed. Faults are found by what a line does
and not by its registers, so that they outlive a change of a kernel.
"""

import random
import re
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import ptxsim
from onlinesoftmax import masks
from onlinesoftmax.gpu import RUNGS, Build, trial
from tools import compiled

WANTED = 0.85
LIMIT = 20_000  # basic blocks, for a change that makes a loop endless
# Heads of queries and of keys, queries, keys: ragged, and some rows see nothing.
CASES = [
    (masks.causal() & masks.window(50), (2, 1, 70, 90)),
    (masks.window(30, 3) & masks.padding([45, 0]), (1, 1, 40, 60)),
]


class Fault(NamedTuple):
    """A change of a kernel's PTX: the place of a pattern, and what stands there then."""

    name: str
    pattern: str
    change: str
    places: int  # at how many of the places it is planted, spread over all


NAMED = [
    Fault("a barrier is dropped", r"bar\.sync\s+0;", "", 9),
    Fault("a barrier for half of the threads", r"bar\.sync\s+0;", "HALF", 2),
    Fault("a product is not added", r"fma\.rn\S*\.f32(\s+\S+ \S+ \S+), %[^;]+;", r"mul.f32\1;", 3),
    Fault("a factor is another", r"(fma\.rn\S*\.f32\s+\S+) (\S+), (\S+), ([^;]+);", r"\1 \2, \4, \4;", 2),
    Fault("an exponential is left out", r"ex2\.approx\S*", "mov.f32", 2),
    Fault("the largest becomes the smallest", r"max(?=\S*\.f32)", "min", 2),
    Fault("a shuffle hands back its own", r"(shfl\.sync\.bfly\.b32\s+[^,]+, [^,]+), [^,]+,", r"\1, 0,", 2),
    Fault("a global load 1 GB on", r"(ld\.global\S*\s+[^\[]+\[%rd\d+)(\+\d+)?\]", r"\1+1073741824]", 2),
    Fault("a global load 4 bytes on", r"(ld\.global\.v4\S*\s+[^\[]+\[%rd\d+)(\+\d+)?\]", r"\1+4]", 1),
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

# What changes nothing that anybody could see: the rung, the fault, which place; and why.
EQUIVALENT: dict[tuple[str, str, int], str] = {}


def sites(text: str, fault: Fault, reached: set[int]) -> list[re.Match[str]]:
    """Some of the places of a fault, spread over what is declared and executed."""
    found = [
        site
        for site in re.finditer(fault.pattern, text)
        if site[0].startswith(".") or text.count("\n", 0, site.start()) + 1 in reached
    ]
    step = max(1, len(found) // fault.places)
    return found[::step][: fault.places]


def planted(text: str, site: re.Match[str], fault: Fault) -> str:
    """The text with the fault in one place, in as many lines as before."""
    change = site.expand(fault.change)
    if fault.change == "HALF":
        change = "setp.gt.u32 %odd, %half, 31; @%odd bar.sync 0;"
        declared = "{ .reg .pred %odd; .reg .b32 %half; mov.u32 %half, %tid.x; "
        change = f"{declared}{change} }}"
    return text[: site.start()] + change + text[site.end() :]


def noticed(rung: str, texts: dict[Build, str]) -> str:
    """How a changed kernel is noticed; empty if it is not."""
    for mask, shape in CASES:
        case = trial.Case(rung, 64, "float32", mask, shape)
        try:
            said = compiled.judge(case, texts, limit=LIMIT)
        except ptxsim.Fault as fault:
            return str(fault)
        if said:
            return said
    return ""


def texts_of(rung: str) -> dict[Build, str]:
    return compiled.texts(rung, 64, "float32")


def named() -> Iterator[str]:
    """Plant every named fault in every rung; yield what nobody noticed."""
    count = 0
    for rung in RUNGS:
        texts = texts_of(rung)
        reached = executed(rung, texts)
        for (build, text), fault in ((x, y) for x in texts.items() for y in NAMED):
            lines = {line for name, line in reached if name == build.rung}
            for place, site in enumerate(sites(text, fault, lines)):
                changed = texts | {build: planted(text, site, fault)}
                said, count = noticed(rung, changed), count + 1
                why = EQUIVALENT.get((build.rung, fault.name, place), "")
                what = f"{build.rung}: {fault.name} ({place + 1})"
                print(f"  {what:52} {(said or why or 'NOT NOTICED')[:90]}", flush=True)
                if bool(said) == bool(why):
                    yield what + (
                        ": noticed, though listed as equivalent" if said else ""
                    )
    print(f"{count} named faults")


# ---- random changes ----

TURNED = {"add": "sub", "sub": "add", "min": "max", "max": "min", "and": "or", "or": "and",
          "shl": "shr", "shr": "shl"}  # fmt: skip
COMPARED = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "eq": "ne", "ne": "eq"}
DROPPED = ("bar.", "st.", "cp.")


def mutants(line: str) -> list[str]:
    """What might become of a line."""
    body = re.sub(r"^\s*(@!?%p\d+\s+)?", "", line)
    if not re.match(r"[a-z]", body) or body.startswith(("ld.param", "ret")):
        return []
    found = []
    op = body.split(".")[0]
    if op in TURNED:
        new = body.replace(op, TURNED[op], 1).replace("shr.b", "shr.u")
        found.append(line.replace(body, re.sub(r"shl\.[us]", "shl.b", new)))
    if known := re.search(r"setp\.(\w\w)\.", body):
        found.append(
            line.replace(known[0], f"setp.{COMPARED.get(known[1], known[1])}.")
        )
    if op == "fma":
        found.append(
            re.sub(r"fma\.rn\S*\.f32(\s+\S+ \S+ \S+), %.*;", r"mul.f32\1;", line)
        )
    if op == "selp":
        found.append(
            re.sub(r"(\s%\w+), ([^,]+), ([^,]+), (%p)", r"\1, \3, \2, \4", line)
        )
    if place := re.search(r"\[(%r\w+)(?:\+(-?\d+))?\]", body):
        for step in (4, 16):
            new = f"[{place[1]}+{int(place[2] or 0) + step}]"
            found.append(line.replace(place[0], new))
    if body.startswith(DROPPED):
        found.append("")
    if (number := re.search(r", (\d+);", body)) and op in (
        "add",
        "shl",
        "mul",
        "and",
        "setp",
    ):
        found.append(line.replace(number[0], f", {int(number[1]) + 1};"))
    if op == "bra" and "@" in line:
        found.append(
            line.replace("@!", "@") if "@!" in line else line.replace("@", "@!")
        )
    return [x for x in found if x != line]


def executed(rung: str, texts: dict[Build, str]) -> set[tuple[str, int]]:
    """The kernels and lines that the cases come to."""
    found: set[tuple[str, int]] = set()
    real = ptxsim.run

    def noting(text: str, *args: object, **options: object) -> ptxsim.Result:
        result = real(text, *args, **options)
        (build,) = (build for build, own in texts.items() if own == text)
        lines = (x.instruction.line for x in result.counts if x.threads)
        found.update((build.rung, line) for line in lines)
        return result

    ptxsim.run = noting
    try:
        if said := noticed(rung, texts):
            raise SystemExit(f"{rung} is wrong before anything is planted: {said}")
    finally:
        ptxsim.run = real
    return found


def random_ones(count: int) -> Iterator[str]:
    """Plant random changes on executed lines; yield a rung where too few are noticed."""
    for rung in RUNGS:
        texts = texts_of(rung)
        reached = executed(rung, texts)
        pool = [
            (build, i, new)
            for build, text in texts.items()
            for i, line in enumerate(text.splitlines())
            for new in (mutants(line) if (build.rung, i + 1) in reached else [])
        ]
        chosen = random.Random(rung).sample(pool, min(count, len(pool)))
        left = [one for one in chosen if not _seen(rung, texts, *one)]
        share = 1 - len(left) / len(chosen)
        print(
            f"{rung}: {share:.0%} of {len(chosen)} random changes noticed; not these:"
        )
        for build, i, new in sorted(left, key=lambda one: one[1]):
            line = texts[build].splitlines()[i]
            print(
                f"    {build.rung} {i + 1}: {' '.join(line.split())}  →  {' '.join(new.split())}"
            )
        if share < WANTED:
            yield f"{rung}: only {share:.0%} of the random changes are noticed"


def _seen(rung: str, texts: dict[Build, str], build: Build, i: int, new: str) -> bool:
    lines = texts[build].splitlines()
    lines[i] = new
    return bool(noticed(rung, texts | {build: "\n".join(lines)}))


def main() -> int:
    if not compiled.programs():
        print("the kernels are not compiled: python -m tools.kernels --check")
        return 2
    start = time.perf_counter()
    left = list(named())
    if sys.argv[1:]:
        left += random_ones(int(sys.argv[1]))
    print(*left, sep="\n", end="\n" if left else "")
    print(
        f"{time.perf_counter() - start:.0f} s:",
        f"{len(left)} left" if left else "all noticed",
    )
    return bool(left)


if __name__ == "__main__":
    sys.exit(main())
