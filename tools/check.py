"""The inner loop: layout, lint, spelling, types, imports, and the tests of the ideas.

    python -m tools.check             every step, two at a time: what `make check` calls
    python -m tools.check STEP …      these steps
    python -m tools.check --format    lay the code out as the steps want it

Nothing is built and no browser opens; `make test` does that. Each step is one line. A
step that fails shows what it said and how to run it alone.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IDEAS = ("attention", "autograd", "backward", "costs", "dense", "exact_blocks", "masks")
IDEAS += ("package", "precision", "state", "streaming")
QUICK = ("-p", "tools.testing.speeds", "--quick=")
# The longest first: the others are run beside it.
STEPS = {
    "tests": [
        "pytest",
        "-q",
        *QUICK,
        *(f"tests/onlinesoftmax/test_{i}.py" for i in IDEAS),
    ],
    "types": ["mypy"],
    "imports": ["lint-imports", "--no-logo"],
    "spelling": ["codespell"],
    "yaml": ["yamllint", "--strict", "."],
    "python-layout": ["ruff", "format", "--check", "."],
    "python-lint": ["ruff", "check", "--output-format", "concise", "."],
    "javascript-layout": ["oxfmt", "--check"],
    "javascript-lint": ["oxlint"],
    "clocks": ["tools.testing.clocks"],
    "workflows": ["zizmor", "--offline", "--no-progress", ".github"],
}
LAYOUT = [["ruff", "check", "--fix", "."], ["ruff", "format", "."], ["oxfmt"]]


def command(words: list[str]) -> list[str]:
    """The words with the full path of a tool that is installed beside this Python."""
    if words[0] in (
        "pytest",
        "tools.testing.clocks",
    ):  # as a module, so that it finds the folder it starts in
        return [sys.executable, "-m", *words]
    path = shutil.which(words[0], path=sysconfig.get_path("scripts"))
    if path is None:
        raise SystemExit(
            f"{words[0]} is missing: run `python3 tools/environment.py test`"
        )
    return [path, *words[1:]]


def run(name: str) -> tuple[int, str, float]:
    """Run one step: its exit status, what it said, and the seconds it took."""
    start = time.perf_counter()
    done = subprocess.run(
        command(STEPS[name]),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    return done.returncode, done.stdout.strip(), time.perf_counter() - start


def check(names: list[str]) -> list[str]:
    """Run the steps, print a line for each as it ends; return those that failed."""
    failed = []
    with ThreadPoolExecutor(max_workers=2) as two:
        steps = {two.submit(run, name): name for name in names}
        for step in as_completed(steps):
            name, (status, said, took) = steps[step], step.result()
            print(
                f"  {'FAILED' if status else 'ok':7}{name:20}{took:5.1f} s", flush=True
            )
            if status:
                failed.append(name)
                print(f"{said}\n\n  alone: {alone(name)}\n", flush=True)
    return failed


def alone(name: str) -> str:
    """The command line that runs one step."""
    words = command(STEPS[name])
    return shlex.join([os.path.relpath(words[0], ROOT), *words[1:]])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("steps", nargs="*", metavar="STEP", help=", ".join(STEPS))
    parser.add_argument("--format", action="store_true", help="lay the code out")
    options = parser.parse_args()
    if unknown := [name for name in options.steps if name not in STEPS]:
        parser.error(f"no step {', '.join(unknown)}; there are {', '.join(STEPS)}")
    if options.format:
        return max(subprocess.call(command(words), cwd=ROOT) for words in LAYOUT)
    start = time.perf_counter()
    failed = check(options.steps or list(STEPS))
    print(f"{'FAILED: ' + ', '.join(failed) if failed else 'all is well'},", end=" ")
    print(f"{time.perf_counter() - start:.0f} s")
    return len(failed) > 0


if __name__ == "__main__":
    sys.exit(main())
