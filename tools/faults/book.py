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
from pathlib import Path
from typing import NamedTuple

from tools.faults import runner
from tools.testing.copies import copy_of_the_book, run_in

CHAPTER = "book/03-the-online-recurrence.md"
LAYOUT = "lib/livepage/site/theme/layout.html"
TILED = "lib/tiledattention/gpu/rungs/tiled.py"
SITE = "tests/livepage/test_site.py"


class Fault(NamedTuple):
    """A text `find` in `file` becomes `replace`; `tests` have to notice."""

    name: str
    file: str
    find: str
    replace: str
    tests: str
    says: str = ""  # a pattern of the complaint, if it is not the name of the tests
    builds: bool = False  # whether the build runs first

    def __str__(self) -> str:
        return self.name


FAULTS = [
    Fault("a broken recurrence in the lib",
          "lib/onlinesoftmax/state.py", "np.exp(m_old - shift(m))",
          "np.exp(shift(m) - m_old)", "tests/onlinesoftmax/test_state.py"),
    Fault("a broken recurrence in the lib stops a chapter",
          "lib/onlinesoftmax/state.py", "np.exp(m_old - shift(m))",
          "np.exp(shift(m) - m_old)", "", r"0\d-.*\.md:\d+, cell", builds=True),
    Fault("a wrong sign in a figure's JavaScript",
          "book/figures/two-chunks/figure.mjs", "Math.exp(old - m)",
          "Math.exp(m - old)", "tests/book/test_figures.py"),
    Fault("a typed-in number in the prose",
          CHAPTER, "\n## Recap", "\nThe sum is then 2.0446.\n\n## Recap", SITE,
          r"2\.0446"),
    Fault("a dead link",
          CHAPTER, "\n## Recap", "\nSee [nowhere](99-nowhere.md).\n\n## Recap", SITE,
          r"99-nowhere", builds=True),
    Fault("a picture without alternative text",
          CHAPTER, "\n## Recap",
          '\n<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">\n\n## Recap', SITE,
          r"img without alt", builds=True),
    Fault("a block simulator that forgets who has read",
          "lib/blocksim/memory.py",
          'self.clash(offset, tick, self.read_at[offset], "overwrite")', "pass",
          "tests/blocksim/test_blocksim.py"),
    Fault("a shared array that anybody may read unwritten",
          "lib/blocksim/memory.py",
          "self.early.setdefault(offset, (self.gpu._now, self.mark()))", "pass",
          "tests/blocksim/test_blocksim.py"),
    Fault("a mutant as a drill's solution",
          "book/drills/02-the-rescaling-trick.yml", "return m_new, alpha * l + added",
          "return m_new, l + added", "tests/livepage/test_drills.py"),
    Fault("a chapter left out of the run",
          "tools/build.py", "edited = [page for page in book.chapters if",
          "edited = [page for page in book.chapters[:-1] if", "",
          r"did not run|has not run", builds=True),
    Fault("an outside request",
          LAYOUT, '<p id="said"',
          '<img alt="" src="https://example.org/pixel.png"><p id="said"', SITE,
          r"example\.org", builds=True),
    Fault("a breach of the Content-Security-Policy",
          LAYOUT, '<p id="said"',
          '<script>document.title += " (inline)"</script><p id="said"', SITE, r"inline",
          builds=True),
    Fault("a mask that looks one key ahead",
          "lib/onlinesoftmax/masks.py", "place + self.right + 1",
          "place + self.right + 2", "tests/onlinesoftmax/test_masks.py"),
    Fault("a barrier left out of a kernel",
          TILED, "cuda.syncthreads()  # nobody overwrites before all have read", "pass",
          "tests/tiledattention/test_gpu.py"),
    Fault("a float64 literal in a kernel",
          TILED, "p = math.exp(s - m_new)", "p = math.exp(s - m_new) * 1.0",
          "tests/kernellab/test_gpu_compile.py::test_planted_faults_turn_the_compiler_s_report_red",
          r"float64 instructions"),
    Fault("an inventory row whose cell no longer checks its fact",
          CHAPTER, "assert later_alphas == [1, 1, 1]", "later_alphas == [1, 1, 1]",
          "tests/book/test_inventory.py"),
]  # fmt: skip


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


def noticed(fault: Fault) -> str:
    """Plant a fault in a fresh copy; return the line that complains of it, or ''."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        copy_of_the_book(folder, with_outputs="left out" not in fault.name)
        file = folder / fault.file
        text = file.read_text("utf-8")
        if fault.find not in text:
            raise runner.Misplanted(f"{fault.file} has no {fault.find!r}")
        file.write_text(text.replace(fault.find, fault.replace, 1), "utf-8")
        said = red(folder, fault)
    line = re.search(rf"^.*(?:{fault.says or 'FAILED ' + fault.tests}).*$", said, re.M)
    if said and not line:
        raise runner.Misplanted(f"red for another reason:\n{said[-2000:]}")
    return line[0].strip() if line else ""


def unharmed() -> str:
    """The same steps on a copy without a fault; returns a complaint or ''."""
    tests = sorted({test for fault in FAULTS for test in fault.tests.split()})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        copy_of_the_book(folder)
        return red(folder, Fault("none", "", "", "", " ".join(tests), builds=True))


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
    tally = runner.run(chosen, noticed)
    print(f"\n{tally.noticed} of {tally.count} planted faults turned the tests red")
    return bool(tally.wrong)
