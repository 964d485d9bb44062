"""Reads simple command lines, and prints the outcome of a check."""

import sys
from collections.abc import Iterable


def parse(known: Iterable[str]) -> list[str]:
    """Return the arguments of the command; exit with status 2 at an unknown one.

    A misspelt ``--check`` would otherwise overwrite the file it was meant to compare.
    """
    arguments, known = sys.argv[1:], list(known)
    if unknown := [argument for argument in arguments if argument not in known]:
        expected = ", ".join(known) or "nothing"
        print(f"expected {expected}; got {unknown[0]!r}", file=sys.stderr)
        sys.exit(2)
    return arguments


def report(complaints: list[str], summary: str) -> int:
    """Print each complaint and a summary; return the exit status."""
    print(*complaints, summary, sep="\n")
    return bool(complaints)
