"""Random kernels on the block simulator, against an oracle of all pairs of accesses.

    python -m tools.simulator.fuzz [N [SEED]]     N programs from a seed on; 20,000 from 0

It prints every program with a race that was missed, or told where there is none, by its
seed; ``tests/kernels/fuzz.py`` looks at one again.
"""

import sys
import time
from multiprocessing import Pool
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))


def look(seed: int) -> tuple[str, bool]:
    """What is wrong with the verdict on a program, and whether it has a race."""
    from kernels.fuzz import judged

    return judged(seed)


def main() -> int:
    words = sys.argv[1:]
    if len(words) > 2 or not all(map(str.isdecimal, words)):
        print(
            f"expected [N [SEED]], two numbers; got {' '.join(words)}", file=sys.stderr
        )
        return 2
    given = list(map(int, words))
    number, first = given + [20_000, 0][len(given) :]
    start, wrong, races = time.perf_counter(), 0, 0
    with Pool() as pool:
        seeds = range(first, first + number)
        for said, race in pool.imap_unordered(look, seeds, chunksize=50):
            races += race
            if said:
                wrong += 1
                print(said, flush=True)
    took = time.perf_counter() - start
    print(f"{number} programs from {first}: {races} have a race, {wrong} verdicts are"
          f" wrong; {took:.0f} s")  # fmt: skip
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
