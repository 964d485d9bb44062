"""Lists the sittings of each chapter of the built book, and which break the rule.

    python -m tools.site.sittings

A sitting takes ten to twenty minutes and ends in a drill. Minutes are the book's own
count, before they are rounded for the page.
"""

import pickle
import sys

from livepage.site.sittings import of
from livepage.sittings import Sitting, excess
from tools.common.options import parse
from tools.common.paths import BUILD

ENVIRONMENT = BUILD / ".doctrees" / "environment.pickle"


def chapters() -> dict[str, list[Sitting]]:
    """Return the sittings of each chapter, as it was last built."""
    env = pickle.loads(ENVIRONMENT.read_bytes())
    return {page: found for page in sorted(env.titles) if (found := of(env, page))}


def lines(page: str, sittings: list[Sitting]) -> list[str]:
    """Return a line for a chapter, and one for each of its sittings."""
    total = sum(one.minutes for one in sittings)
    return [f"{page:48}{total:6.1f}", *map(_line, sittings)]


def _line(sitting: Sitting) -> str:
    minutes, drills = sitting.minutes, len(sitting.drills)
    outside = excess(minutes)
    long = "too long" if minutes > 15 else "too short"
    mark = f"   {outside:.1f} {long}" if outside else ""
    return f"  {sitting.title[:44]:46}{minutes:6.1f}{drills:4} drills{mark}"


def main() -> int:
    """Print the sittings; return 1 if there is no built book."""
    parse([])
    if not ENVIRONMENT.exists():
        print("no built book: run `make book` first", file=sys.stderr)
        return 1
    for page, sittings in chapters().items():
        print(*lines(page, sittings), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
