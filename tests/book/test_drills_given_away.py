"""No answer stands on the page above its drill: a number is asked for to be found.

The built pages are read as a reader reads them, from the top down to the drill: prose,
code and what it printed, pictures and their descriptions. Folded solutions are left out.
"""

import re
from fractions import Fraction
from functools import cache
from math import isfinite
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, NavigableString, Tag

from livepage.drills.bank import bank
from livepage.drills.entry import Drill
from livepage.drills.payload import payload

# A number has this many digits before it gives anything away: 3 or 16 stand everywhere.
TELLING = 3

# Where the number above is not the answer to the drill, though it is the same number.
ELSEWHERE = {
    "exponentials": "It is the number of words, which the question itself names.",
}

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.]*\d)", re.I)
UNSEEN = "script, style, template, .os-drill-solution, annotation"
SPOKEN = ("alt", "aria-label", "aria-valuetext", "title")


@cache
def page(file: Path) -> BeautifulSoup:
    soup = BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")
    for element in soup.select(UNSEEN):
        element.decompose()
    return soup


def above(soup: BeautifulSoup, id: str) -> str:
    """Return all that is written above a drill, descriptions of pictures included."""
    drill = soup.find(id=f"drill-{id}")
    article = soup.find("main") or soup
    parts: list[str] = []
    for element in article.descendants:
        if element is drill:
            break
        if isinstance(element, NavigableString):
            parts.append(str(element))
        elif isinstance(element, Tag):
            parts += [str(element[key]) for key in SPOKEN if key in element.attrs]
    return " ".join(parts)


def numbers(text: str) -> list[str]:
    """Return every number of a text as plain digits, thousands put together."""
    text = text.replace("−", "-").replace("\u202f", "").replace("{,}", "")
    return NUMBER.findall(re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text))


def telling(number: str) -> bool:
    """Say whether a number has digits enough; noughts at its ends are none."""
    mantissa = number.lower().lstrip("-").partition("e")[0]
    if "." in mantissa:
        mantissa = mantissa.rstrip("0")
    return len(mantissa.replace(".", "").lstrip("0")) >= TELLING


def gives_away(number: str, answer: float) -> bool:
    """Say whether a number is the answer, rounded to as many digits as it has."""
    mantissa, _, power = number.lower().lstrip("-").partition("e")
    if not telling(number):
        return False
    places = len(mantissa.partition(".")[2]) - int(power or 0)
    unit = Fraction(10) ** -places
    return abs(Fraction(number) - Fraction(answer)) <= unit / 2


def given_away(soup: BeautifulSoup, drill: Drill) -> list[str]:
    """Return the numbers above a drill that are its answer."""
    answer = float(payload(drill)["goal"]["value"])
    if not isfinite(answer) or not telling(f"{answer:.6g}"):
        return []
    return [n for n in numbers(above(soup, drill.id)) if gives_away(n, answer)]


NUMERIC = [d for d in bank().values() if d.kind == "numeric"]


@pytest.mark.parametrize("drill", NUMERIC, ids=lambda d: d.id)
def test_no_answer_is_printed_above_its_drill(html: Path, drill: Drill) -> None:
    found = given_away(page(html / f"{drill.chapter}.html"), drill)
    assert bool(found) == (drill.id in ELSEWHERE), found


def test_an_answer_above_its_drill_is_found() -> None:
    drill = bank()["rescale-hard"]
    here = f'<i id="drill-{drill.id}"></i>'
    for html in (
        "<p>so the sum is 2.315, and</p>",
        "<pre>2.31523</pre>",
        '<img alt="at 2.32">',
        "<svg><text>2.32</text></svg>",
        "<p>2.3152264</p>",
        "<p>ℓ=2.32.</p>",
    ):
        soup = BeautifulSoup(f"<main>{html}{here}</main>", "html.parser")
        assert given_away(soup, drill), html
    for html in ("<p>2.3, 2.33, 12.315, 2.3159</p>", f"{here}2.315"):
        soup = BeautifulSoup(f"<main>{html}{here}</main>", "html.parser")
        assert not given_away(soup, drill), html
