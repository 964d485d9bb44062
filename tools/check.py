"""The inner loop: layout, lint, spelling, types, imports, and the tests of the ideas.

    python -m tools.check             every step, two at a time: what `make check` calls
    python -m tools.check STEP …      these steps
    python -m tools.check --format    format the code

It needs no built book and no browser; `make test` does. Each step prints a line; a step
that fails prints its output too, and the command that runs it alone.
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

from tools.common.paths import ROOT

IDEAS = "attention autograd backward costs dense exact_blocks masks package precision"
IDEAS += " state streaming"
TESTS = [f"tests/onlinesoftmax/test_{name}.py" for name in IDEAS.split()]
# The longest step first: the others run beside it.
STEPS = {
    "tests": ["pytest", "-q", "-p", "tools.testing.speeds", "--quick=", *TESTS],
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


def command(step: list[str]) -> list[str]:
    """Return the command line of a step, with the full path of its program."""
    name, *options = step
    if name in ("pytest", "tools.testing.clocks"):  # a module finds its own folder
        return [sys.executable, "-m", *step]
    path = shutil.which(name, path=sysconfig.get_path("scripts"))
    if path is None:
        raise SystemExit(f"{name} is missing: run `python3 tools/environment.py test`")
    return [path, *options]


def run(name: str) -> tuple[int, str, float]:
    """Run one step; return its exit status, its output and its seconds."""
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
    with ThreadPoolExecutor(max_workers=2) as pool:
        steps = {pool.submit(run, name): name for name in names}
        for step in as_completed(steps):
            name, (status, output, took) = steps[step], step.result()
            outcome = "FAILED" if status else "ok"
            print(f"  {outcome:7}{name:20}{took:5.1f} s", flush=True)
            if status:
                failed.append(name)
                alone = shell_command(command(STEPS[name]))
                print(f"{output}\n\n  alone: {alone}\n", flush=True)
    return failed


def shell_command(command: list[str]) -> str:
    """Return a command as a shell takes it, its program relative to the root."""
    program, *options = command
    return shlex.join([os.path.relpath(program, ROOT), *options])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("steps", nargs="*", metavar="STEP", help=", ".join(STEPS))
    parser.add_argument("--format", action="store_true", help="format the code")
    options = parser.parse_args()
    if unknown := [name for name in options.steps if name not in STEPS]:
        parser.error(f"no step {', '.join(unknown)}; there are {', '.join(STEPS)}")
    if options.format:
        return max(subprocess.call(command(step), cwd=ROOT) for step in LAYOUT)
    start = time.perf_counter()
    failed = check(options.steps or list(STEPS))
    print(f"{'FAILED: ' + ', '.join(failed) if failed else 'all is well'},", end=" ")
    print(f"{time.perf_counter() - start:.0f} s")
    return len(failed) > 0


if __name__ == "__main__":
    sys.exit(main())
