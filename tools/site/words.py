"""Counts the words of each page of the built book, and the minutes that it promises.

    python -m tools.site.words

Text, captions, tables, what is folded and what is optional count alike; the prompts of
drills stand apart. Code, formulas and the controls of figures are not words.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

from bs4 import BeautifulSoup

from tools.common.options import parse
from tools.common.paths import HTML
from tools.serve import is_built

NO_WORDS = (
    "pre, script, style, svg, button, input, .katex, .head-facts, .os-inputs, .stop"
)
DRILL = ".os-drill"
PROMPT = ".os-drill-prompt"


class Length(NamedTuple):
    """How long a page is: words of the text and of drill prompts, minutes of each."""

    text: int
    prompts: int
    reading: int
    doing: int


def length(file: Path) -> Length | None:
    """Return how long a chapter is; None for a page that promises no time."""
    article = BeautifulSoup(file.read_text("utf-8"), "html.parser").select_one(
        "article"
    )
    facts = article and article.select_one(".head-facts")
    if not facts:
        return None
    minutes = [int(n) for n in re.findall(r"(\d+) min", facts.get_text(" "))]
    for node in article.select(NO_WORDS):
        node.decompose()
    prompts = sum(count(node.get_text(" ")) for node in article.select(PROMPT))
    for node in article.select(DRILL):
        node.decompose()
    return Length(count(article.get_text(" ")), prompts, *[*minutes, 0][:2])


def count(text: str) -> int:
    """Return the number of words: whatever spaces separate, if it has a letter or digit."""
    return sum(any(c.isalnum() for c in word) for word in text.split())


def main() -> int:
    """Print a line for each chapter, and the sums."""
    parse([])
    if not is_built(HTML):
        print("no built book: run `make book` first", file=sys.stderr)
        return 1
    lengths = {file.stem: length(file) for file in sorted(HTML.glob("*.html"))}
    found = {name: own for name, own in lengths.items() if own}
    found["all"] = Length(*(sum(each) for each in zip(*found.values())))
    print(f"{'':36}" + "".join(f"{name:>9}" for name in Length._fields))
    for name, own in found.items():
        print(f"{name:36}" + "".join(f"{n:9,}" for n in own))
    return 0


if __name__ == "__main__":
    sys.exit(main())
