"""Checks the block simulator on random kernels against an oracle of all access pairs.

    python -m tools.simulator.fuzz [N [SEED]]     N programs from a seed on; 20,000 from 0

Every other program is run a second time, with its elements reached in other ways: the
same accesses, races and numbers are expected. It prints the seed of every program with a
missed race or a false one; ``tests/kernels/fuzz.py`` runs a single seed.
"""

import argparse
import sys
import time
from multiprocessing import Pool

from tools.common.paths import ROOT

sys.path.insert(0, str(ROOT / "tests"))


def judge(seed: int) -> tuple[str, bool]:
    """Return the complaint about a verdict, and whether the program has a race."""
    from kernels.fuzz import judged

    return judged(seed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("number", nargs="?", type=int, default=20_000, metavar="N")
    parser.add_argument("seed", nargs="?", type=int, default=0, metavar="SEED")
    number, first = vars(parser.parse_args()).values()
    start, wrong, races = time.perf_counter(), 0, 0
    with Pool() as pool:
        seeds = range(first, first + number)
        for complaint, has_race in pool.imap_unordered(judge, seeds, chunksize=50):
            races += has_race
            wrong += bool(complaint)
            print(complaint, end="\n" if complaint else "", flush=True)
    took = time.perf_counter() - start
    print(f"{number} programs from {first}: {races} have a race,", end=" ")
    print(f"{wrong} verdicts are wrong; {took:.0f} s")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
