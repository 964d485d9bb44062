"""Parses the command line of commands that take only a few words."""

import sys
from collections.abc import Iterable


def parse(known: Iterable[str]) -> list[str]:
    """Return the words after the command's name; stop if one is unknown.

    Otherwise a misspelt ``--check`` would overwrite the file that it should compare.
    """
    words, known = sys.argv[1:], list(known)
    if unknown := [word for word in words if word not in known]:
        expected = ", ".join(known) or "nothing"
        print(f"expected {expected}; got {unknown[0]!r}", file=sys.stderr)
        sys.exit(2)
    return words
