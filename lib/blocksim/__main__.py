"""Runs a program with its CUDA kernels on the simulator.

    python -m blocksim [--policy FILE] [--mode MODE] script.py [arguments]
    python -m blocksim … -m module [arguments]

The program sees the arguments that follow its name. The first fault ends it with its
traceback; at the end stands how many launches there were.
"""

import argparse
import importlib.util
import runpy
import sys
import traceback
from pathlib import Path
from types import TracebackType

from blocksim.kernel import MODES

NEEDED = (("numpy",), ("numba", "numba_cuda_mlir"))  # one of each


def parsed(words: argparse.ArgumentParser) -> argparse.Namespace:
    """Return the command line; leave with what is missing for it."""
    words.formatter_class = argparse.RawDescriptionHelpFormatter
    words.add_argument("--policy", metavar="FILE", type=Path)
    words.add_argument("--mode", choices=MODES, default="rounded")
    words.add_argument("-m", dest="module", action="store_true", help="run a module")
    words.add_argument("program")
    words.add_argument("arguments", nargs=argparse.REMAINDER)
    given = words.parse_args()
    missing = [
        names[0] for names in NEEDED if not any(map(importlib.util.find_spec, names))
    ]
    if missing:
        both = " ".join(missing)
        words.error(f"expected {both} to be installed: pip install {both}")
    if not given.module and not Path(given.program).exists():
        words.error(f"{given.program}: expected a Python file, and there is none")
    return given


def main() -> int:
    """Run the program; return 1 if it failed, or a kernel was declined or has a fault.

    It is 1, too, where the program caught the exception, or lost it in a thread.
    """
    words = argparse.ArgumentParser("python -m blocksim", description=__doc__)
    given = parsed(words)
    from blocksim.dropin import Declined, install, policy

    try:
        rules = policy.read(given.policy) if given.policy else policy.Policy()
    except ValueError as error:
        words.error(str(error))
    session = install(rules, given.mode)
    sys.argv = [given.program, *given.arguments]
    try:
        run(given.program, given.module)
    except Declined as reason:
        print(f"blocksim: {reason}", file=sys.stderr)
        return 1
    except Exception as error:
        traceback.print_exception(error.with_traceback(own(error.__traceback__)))
        return 1
    except SystemExit as end:
        if end.code:
            raise
    finally:
        sys.stdout.flush()
        print(*session.summary(), sep="\n", file=sys.stderr)
    lost = [*session.declined, *session.unexpected()]
    if lost:
        print(f"blocksim: caught or lost: {lost[0]}", file=sys.stderr)
    return len(lost) > 0


def run(program: str, module: bool) -> None:
    """Run a file, a folder with ``__main__.py``, or a module."""
    if module:
        sys.path.insert(0, "")
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        return
    if not Path(program).is_dir():  # else runpy does it
        sys.path.insert(0, str(Path(program).resolve().parent))
    runpy.run_path(program, run_name="__main__")


def own(entry: TracebackType | None) -> TracebackType | None:
    """Return the program's part of a traceback: between ``runpy`` and the simulator."""
    begin = entry
    while entry is not None:
        around = entry.tb_frame.f_globals
        if around is globals() or around.get("__name__") == "runpy":
            begin = entry.tb_next
        inner = entry.tb_next
        if inner is not None and "__tracebackhide__" in inner.tb_frame.f_locals:
            entry.tb_next = None
        entry = entry.tb_next
    return begin


if __name__ == "__main__":
    sys.exit(main())
