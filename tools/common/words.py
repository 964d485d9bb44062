"""The words of a command line, for commands that know only a few."""

import sys
from collections.abc import Iterable


def given(known: Iterable[str]) -> list[str]:
    """Return the words after the command's name; stop if one of them is not known.

    A misspelt ``--check`` would otherwise store anew what it was meant to compare.
    """
    words, known = sys.argv[1:], list(known)
    if unknown := [word for word in words if word not in known]:
        expected = ", ".join(known) or "nothing"
        print(f"expected {expected}; got {unknown[0]!r}", file=sys.stderr)
        sys.exit(2)
    return words
