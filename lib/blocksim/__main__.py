"""Runs a program with its CUDA kernels on the simulator.

    python -m blocksim [--policy FILE] [--mode MODE] script.py [arguments]
    python -m blocksim … -m module [arguments]

The program sees the arguments that follow its name. The first fault ends it with its
traceback; at the end stands how many launches there were.
"""

import argparse
import runpy
import sys
from pathlib import Path

from blocksim.dropin import Declined, install, policy
from blocksim.kernel import MODES


def main() -> int:
    """Run the program; return 1 if a kernel was declined."""
    words = argparse.ArgumentParser("python -m blocksim", description=__doc__)
    words.formatter_class = argparse.RawDescriptionHelpFormatter
    words.add_argument("--policy", metavar="FILE", type=Path)
    words.add_argument("--mode", choices=MODES, default="rounded")
    words.add_argument("-m", dest="module", action="store_true", help="run a module")
    words.add_argument("program")
    words.add_argument("arguments", nargs=argparse.REMAINDER)
    given = words.parse_args()
    try:
        rules = policy.read(given.policy) if given.policy else policy.Policy()
    except ValueError as error:
        words.error(str(error))
    session = install(rules, given.mode)
    sys.argv = [given.program, *given.arguments]
    try:
        if given.module:
            sys.path.insert(0, "")
            runpy.run_module(given.program, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, str(Path(given.program).resolve().parent))
            runpy.run_path(given.program, run_name="__main__")
    except Declined as reason:
        print(f"blocksim: {reason}", file=sys.stderr)
        return 1
    finally:
        print(*session.summary(), sep="\n", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
