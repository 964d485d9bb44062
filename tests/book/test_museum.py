"""The museum: its exhibits fail their own tests, and old addresses lead to its rooms."""

import json
import re
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup

import exhibits
from livepage.drills.bank import bank

BOOK = Path(__file__).parents[2] / "book"
ROOMS = ("museum-starts", "museum-masks", "museum-barriers", "museum-numbers")
# The anchors of the one long page that the museum was, and the room of each now.
OLD = json.loads(
    (BOOK.parent / "tests" / "data" / "museum_anchors.json").read_text("utf-8")
)


@pytest.mark.parametrize("test", exhibits.TESTS, ids=lambda test: test.__name__)
def test_an_exhibit_fails_its_own_test_and_the_definition_passes(test) -> None:
    assert not test(exhibits.TESTS[test])
    assert test(lambda Q, K, V, sees, block: exhibits.by_definition(Q, K, V, sees))


def test_an_attention_that_raises_or_returns_nothing_fails_every_test() -> None:
    names = [test.__name__ for test in exhibits.TESTS]
    assert exhibits.visit(lambda *given: 1 / 0) == names
    assert exhibits.visit(lambda *given: None) == names


@pytest.mark.parametrize("room", ROOMS)
def test_each_exhibit_of_a_room_has_a_heading_and_a_drill(room: str) -> None:
    text = (BOOK / f"{room}.md").read_text("utf-8")
    shown = re.findall(r'^drill\("([\w-]+)"\)$', text, re.M)
    assert text.count("\n## ") == len(shown)
    assert set(shown) == {one.id for one in bank().values() if one.chapter == room}


@pytest.mark.parametrize("room", ("museum", *ROOMS))
def test_its_front_matter_is_short_and_complete(room: str) -> None:
    head = yaml.safe_load((BOOK / f"{room}.md").read_text("utf-8").split("---\n")[1])
    assert 50 <= len(head["description"]) <= 160
    assert head["line"] and head["learn"] and head["need"]


def test_a_figure_that_gives_a_fault_away_is_folded_behind_its_diagnosis(html) -> None:
    page = BeautifulSoup(
        (html / "museum-barriers.html").read_text("utf-8"), "html.parser"
    )
    fold = page.select_one("#key-race").find_parent("details")
    assert fold and not fold.has_attr("open")
    assert fold.find_previous("summary", string="The diagnosis")


def test_a_figure_before_its_drill_shows_nothing_of_the_inside(html) -> None:
    page = BeautifulSoup(
        (html / "museum-starts.html").read_text("utf-8"), "html.parser"
    )
    figure = page.select_one("#low-scores")
    assert figure["data-state"] == "{}"
    assert not figure.select("[data-key=within]")


def moved() -> dict[str, str]:
    """Return the room that the entrance names for each old anchor."""
    front = (BOOK / "museum.md").read_text("utf-8").split("---\n")[1]
    rooms = yaml.safe_load(front)["moved"]
    return {name: room for room, names in rooms.items() for name in names.split()}


def test_the_entrance_knows_the_room_of_every_old_anchor() -> None:
    assert moved() == {name: room for name, room in OLD.items() if room != "museum"}


def test_what_the_entrance_kept_is_still_there(html: Path) -> None:
    page = (html / "museum.html").read_text("utf-8")
    kept = [name for name, room in OLD.items() if room == "museum"]
    assert not [name for name in kept if f'id="{name}"' not in page]


def test_headings_and_drills_have_their_old_names_in_their_rooms(html: Path) -> None:
    pages = {room: (html / f"{room}.html").read_text("utf-8") for room in ROOMS}
    drills = {one.id for one in bank().values() if one.chapter in ROOMS}
    old = {name: room for name, room in OLD.items() if name in drills}
    assert len(old) == 16  # who-is-double is an anchor, too
    for name, room in old.items():
        assert f'id="drill-{name}"' in pages[room], name
