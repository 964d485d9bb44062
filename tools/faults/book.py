"""Plants one fault at a time in a copy of the book; each has to turn the tests red.

    python -m tools.faults            all of them, and the unharmed copy first
    python -m tools.faults WORD …     those whose name contains a word

A fault counts as caught when the build stops or a test fails, and the line that says so
is shown: red for another reason is no proof. Only the tests named for a fault run; they
are part of `make test-all`.
"""

import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools.testing.copies import copy_of_the_book, run_in

CHAPTER = "book/03-the-online-recurrence.md"
LAYOUT = "lib/livepage/site/theme/layout.html"


@dataclass(frozen=True)
class Fault:
    """A text `find` in `file` becomes `replace`; `tests` have to notice."""

    name: str
    file: str
    find: str
    replace: str
    tests: str
    says: str  # a regular expression that the complaint has to match
    builds: bool = True  # whether the build runs first


FAULTS = [
    Fault(
        "a broken recurrence in the lib",
        "lib/onlinesoftmax/state.py",
        "np.exp(m_old - shift(m))",
        "np.exp(shift(m) - m_old)",
        "tests/onlinesoftmax/test_state.py",
        r"FAILED tests/onlinesoftmax/test_state",
        builds=False,
    ),
    Fault(
        "a broken recurrence in the lib stops a chapter",
        "lib/onlinesoftmax/state.py",
        "np.exp(m_old - shift(m))",
        "np.exp(shift(m) - m_old)",
        "",
        r"0\d-.*\.md:\d+, cell",
    ),
    Fault(
        "a wrong sign in a figure's JavaScript",
        "book/figures/two-chunks/figure.mjs",
        "Math.exp(old - m)",
        "Math.exp(m - old)",
        "tests/book/test_figures.py",
        r"FAILED tests/book/test_figures",
        builds=False,
    ),
    Fault(
        "a typed-in number in the prose",
        CHAPTER,
        "\n## Recap",
        "\nThe sum is then 2.0446.\n\n## Recap",
        "tests/livepage/test_site.py",
        r"2\.0446",
        builds=False,
    ),
    Fault(
        "a dead link",
        CHAPTER,
        "\n## Recap",
        "\nSee [nowhere](99-nowhere.md).\n\n## Recap",
        "tests/livepage/test_site.py",
        r"99-nowhere",
    ),
    Fault(
        "a picture without alternative text",
        CHAPTER,
        "\n## Recap",
        '\n<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">\n\n## Recap',
        "tests/livepage/test_site.py",
        r"img without alt",
    ),
    Fault(
        "a block simulator that forgets who has read",
        "lib/blocksim/memory.py",
        'self.clash(offset, tick, self.read_at[offset], "overwrite")',
        "pass",
        "tests/blocksim/test_blocksim.py",
        r"FAILED tests/blocksim/test_blocksim",
        builds=False,
    ),
    Fault(
        "a shared array that anybody may read unwritten",
        "lib/blocksim/memory.py",
        "self.early.setdefault(offset, (self.gpu._now, self.mark()))",
        "pass",
        "tests/blocksim/test_blocksim.py",
        r"FAILED tests/blocksim/test_blocksim",
        builds=False,
    ),
    Fault(
        "a mutant as a drill's solution",
        "book/drills/02-the-rescaling-trick.yml",
        "return m_new, alpha * l + added",
        "return m_new, l + added",
        "tests/livepage/test_drills.py",
        r"FAILED tests/livepage/test_drills",
        builds=False,
    ),
    Fault(
        "a chapter left out of the run",
        "tools/build.py",
        "edited = [page for page in book.chapters if",
        "edited = [page for page in book.chapters[:-1] if",
        "",
        r"did not run|has not run",
    ),
    Fault(
        "an outside request",
        LAYOUT,
        '<p id="said"',
        '<img alt="" src="https://example.org/pixel.png"><p id="said"',
        "tests/livepage/test_site.py",
        r"example\.org",
    ),
    Fault(
        "a breach of the Content-Security-Policy",
        LAYOUT,
        '<p id="said"',
        '<script>document.title += " (inline)"</script><p id="said"',
        "tests/livepage/test_site.py",
        r"inline",
    ),
    Fault(
        "a mask that looks one key ahead",
        "lib/onlinesoftmax/masks.py",
        "place + self.right + 1",
        "place + self.right + 2",
        "tests/onlinesoftmax/test_masks.py",
        r"FAILED tests/onlinesoftmax/test_masks",
        builds=False,
    ),
    Fault(
        "a barrier left out of a kernel",
        "lib/tiledattention/gpu/rungs/tiled.py",
        "cuda.syncthreads()  # nobody overwrites before all have read",
        "pass",
        "tests/tiledattention/test_gpu.py",
        r"FAILED tests/tiledattention/test_gpu",
        builds=False,
    ),
    Fault(
        "a float64 literal in a kernel",
        "lib/tiledattention/gpu/rungs/tiled.py",
        "p = math.exp(s - m_new)",
        "p = math.exp(s - m_new) * 1.0",
        "tests/kernellab/test_gpu_compile.py::test_planted_faults_turn_the_compiler_s_report_red",
        r"float64 instructions",
        builds=False,
    ),
    Fault(
        "an inventory row whose cell no longer checks its fact",
        CHAPTER,
        "assert later_alphas == [1, 1, 1]",
        "later_alphas == [1, 1, 1]",
        "tests/book/test_inventory.py",
        r"FAILED tests/book/test_inventory",
        builds=False,
    ),
]


def red(folder: Path, fault: Fault) -> str:
    """What the build or the tests complain of in `folder`; empty if nothing."""
    steps = [["-m", "tools.build"]] if fault.builds else []
    if fault.tests:
        steps.append(["-m", "pytest", "-q", "-x", "-n0", *fault.tests.split()])
    for step in steps:
        done = run_in(folder, *step)
        if done.returncode:
            return done.stdout + done.stderr
    return ""


def try_one(fault: Fault) -> str:
    """Plant `fault` in a fresh copy; return what is wrong with the result, or ''."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        copy_of_the_book(folder, with_outputs="left out" not in fault.name)
        file = folder / fault.file
        text = file.read_text("utf-8")
        if fault.find not in text:
            return f"cannot be planted: {fault.file} has no {fault.find!r}"
        file.write_text(text.replace(fault.find, fault.replace, 1), "utf-8")
        said = red(folder, fault)
    if not said:
        return "NOT NOTICED"
    found = re.search(rf"^.*(?:{fault.says}).*$", said, re.M)
    if not found:
        return f"red for another reason:\n{said[-2000:]}"
    print(f"      {found[0].strip()[:110]}")
    return ""


def unharmed() -> str:
    """The same steps on a copy without a fault; returns a complaint or ''."""
    tests = sorted({test for fault in FAULTS for test in fault.tests.split()})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        copy_of_the_book(folder)
        return red(folder, Fault("none", "", "", "", " ".join(tests), ""))


def main() -> int:
    words = sys.argv[1:]
    chosen = [f for f in FAULTS if not words or any(w in f.name for w in words)]
    if not chosen:
        print(f"no fault's name contains {' or '.join(words)}", file=sys.stderr)
        return 2
    print("  the unharmed copy …", flush=True)
    if said := unharmed():
        print(f"is red already:\n{said[-3000:]}")
        return 1
    missed = 0
    for fault in chosen:
        print(f"  {fault.name} …", flush=True)
        if problem := try_one(fault):
            missed += 1
            print(f"      {problem}")
    print(
        f"\n{len(chosen) - missed} of {len(chosen)} planted faults turned the tests red"
    )
    return bool(missed)
