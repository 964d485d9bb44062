"""A chapter falls into sittings: of ten to twenty minutes, each closed by a drill."""

import json
import random
from itertools import combinations
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from docutils import nodes

from livepage.drills.bank import bank
from livepage.site import sittings as site
from livepage.site import stretches
from livepage.sittings import LONGEST, SHORTEST, Stretch, excess, sittings
from livepage.words import LANGUAGES, table

# Pages -----------------------------------------------------------------------


def page(seed: int, size: int = 9) -> list[Stretch]:
    """A page with sections of any length, some of them closed by a drill."""
    draw = random.Random(seed)
    return [
        Stretch(
            f"s{n}",
            f"Section {n}",
            f"s{n}",
            reading=draw.choice([0.5, 2.0, 4.5, 9.0]),
            doing=4.0 if closed else 0.0,
            drills=(f"d{n}",) if closed else (),
            stops=closed,
        )
        for n in range(size)
        for closed in [draw.random() < 0.6]
    ]


SEEDS = [seed for seed in range(40) if any(one.stops for one in page(seed))]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_stretch_is_in_one_sitting_and_in_its_order(seed):
    whole = page(seed)
    found = sittings(whole)
    assert [one for sitting in found for one in sitting.stretches] == whole
    total = sum(one.reading + one.doing for one in whole)
    assert sum(sitting.minutes for sitting in found) == pytest.approx(total)
    assert [id for sitting in found for id in sitting.drills] == [
        id for one in whole for id in one.drills
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sitting_ends_where_a_drill_closes_a_section(seed):
    *rest, last = sittings(page(seed))
    assert [sitting for sitting in rest if not sitting.stretches[-1].stops] == []
    assert [one for one in last.stretches if one.stops] != []


@pytest.mark.parametrize("seed", SEEDS)
def test_no_other_division_is_closer_to_the_rule(seed):
    whole = page(seed)
    last = max(n for n, one in enumerate(whole, 1) if one.stops)
    ends = [n for n, one in enumerate(whole, 1) if one.stops and n < last]
    divisions = [cuts for k in range(len(ends) + 1) for cuts in combinations(ends, k)]

    def outside(cuts: tuple[int, ...]) -> float:
        bounds = zip((0, *cuts), (*cuts, len(whole)))
        parts = [whole[a:b] for a, b in bounds]
        return sum(excess(sum(s.reading + s.doing for s in part)) for part in parts)

    found = sum(excess(sitting.minutes) for sitting in sittings(whole))
    assert found == pytest.approx(min(map(outside, divisions)))


def test_a_page_without_a_drill_has_no_sittings():
    assert sittings([one._replace(stops=False) for one in page(1)]) == []
    assert sittings([]) == []


def test_what_follows_the_last_drill_belongs_to_the_last_sitting():
    one = Stretch("a", "A", "a", 10, 2, ("d",), True)
    sources = Stretch("z", "Sources", "z", 1, 0, (), False)
    assert [s.sections for s in sittings([one, one, sources])] == [("a",), ("a", "z")]


def test_a_sitting_that_breaks_the_rule_is_told_by_how_much():
    assert [excess(SHORTEST), excess(LONGEST)] == [0, 0]
    assert [excess(SHORTEST - 1.5), excess(LONGEST + 2)] == [1.5, 2]


# What there is on a page -------------------------------------------------------

QUICK, SLOW = sorted(bank(), key=lambda name: bank()[name].kind == "kernel")[:2]


def drill(name: str) -> nodes.Element:
    html = f'<section class="os-drill" data-drill="{name}"></section>'
    return nodes.container("", nodes.raw("", html, format="html"))


def section(name: str, *parts: nodes.Node) -> nodes.section:
    made = nodes.section("", nodes.title("", name), ids=[name.lower()])
    made.extend(parts)
    return made


def prose(words: int) -> nodes.paragraph:
    return nodes.paragraph("", nodes.Text("word " * words))


def document(*parts: nodes.Node) -> nodes.Element:
    made = nodes.Element()
    made.append(section("Chapter", *parts))
    return made


def measured(*parts: nodes.Node) -> list[Stretch]:
    return stretches.stretches(document(*parts))


def test_a_section_is_a_stretch_and_the_first_has_what_precedes_it():
    first, second = measured(prose(200), section("One", prose(400)), section("Two"))
    assert (first.anchor, first.title, first.section) == ("one", "One", "one")
    assert (first.reading, second.reading) == (3, 0)


def test_subsections_belong_to_their_section():
    [one] = measured(section("One", prose(200), section("Below", prose(200))))
    assert (one.section, one.reading) == ("one", 2)


@pytest.mark.parametrize(
    "minutes, closes", [(0, True), (stretches.AFTERWARDS, True), (4, False)]
)
def test_a_drill_closes_a_section_if_little_follows_it(minutes, closes):
    text = prose(minutes * stretches.WORDS)
    [one] = measured(section("One", prose(900), drill(QUICK), text))
    assert (one.drills, one.stops) == ((QUICK,), closes)


def test_in_a_section_of_drills_each_is_a_stretch():
    few = measured(section("Drills", prose(10), drill(QUICK), drill(SLOW)))
    assert [one.anchor for one in few] == ["drills", f"drill-{SLOW}"]
    assert [one.section for one in few] == ["", "drills"]
    assert [one.drills for one in few] == [(QUICK,), (SLOW,)]
    assert [one for one in few if not one.stops or one.doing == 0] == []
    [text] = measured(section("Text", prose(300), drill(QUICK), drill(SLOW)))
    assert text.drills == (QUICK, SLOW)


def test_a_title_has_no_label():
    heading = nodes.title("", "", nodes.Text("Where it ends "))
    heading += nodes.inline("", "optional", classes=["label"])
    made = nodes.section("", heading, prose(3), ids=["one"])
    [one] = measured(made)
    assert (one.title, one.optional) == ("Where it ends", True)
    assert not measured(section("Optional", prose(3)))[0].optional


def test_a_sitting_that_may_be_left_out_says_so():
    left_out = Stretch("a", "A", "a", 10, 2, ("d",), True, optional=True)
    [whole], parts = sittings([left_out]), sittings([left_out, page(1)[0]])
    words = table("site", "en")
    assert site.about(whole, words) == "optional, about 10 min"
    assert not parts[-1].optional


# On the page -------------------------------------------------------------------


def app_of(page: list[Stretch]) -> SimpleNamespace:
    about = {"line": "A chapter.", "stretches": page}
    env = SimpleNamespace(metadata={"a": about}, titles={"a": None})
    return SimpleNamespace(env=env, config=SimpleNamespace(language="en"))


def built() -> tuple[SimpleNamespace, nodes.Element]:
    """A chapter of three sittings, the last two in a section of drills."""
    text = prose(9 * stretches.WORDS)
    drills = [drill(name) for name in sorted(bank())[:12]]
    made = document(section("One", text, drill(QUICK)), section("Drills", *drills))
    return app_of(stretches.stretches(made)), made


def test_a_place_to_stop_stands_at_the_end_of_each_sitting():
    app, made = built()
    site.mark(app, made, "a")
    places = list(made.findall(site.place_to_stop))
    found = site.of(app.env, "a")
    assert [place["part"] for place in places] == list(range(1, len(found) + 1))
    assert len(found) > 2
    for place, sitting in zip(places, found):
        before = place.parent[place.parent.index(place) - 1]
        assert f'data-drill="{sitting.drills[-1]}"' in before.astext()
    assert [p["following"] for p in places] == [*found[1:], None]


def test_only_a_chapter_has_sittings():
    app, _ = built()
    app.env.metadata["a"]["line"] = ""
    assert site.of(app.env, "a") == [] and site.counts(app.env) == {}


def test_the_script_has_the_sections_and_drills_of_each_sitting():
    app, _ = built()
    text = site.script(app.env).removeprefix("globalThis.bookSittings=")
    data = json.loads(text.rstrip(";\n"))
    found = site.of(app.env, "a")
    assert data == {"a": [[list(s.sections), list(s.drills)] for s in found]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_sittings_are_listed_in_every_language(language):
    app, _ = built()
    words = table("site", language)
    html = BeautifulSoup(site.listed(app.env, "a", "a.html", words), "html.parser")
    found = site.of(app.env, "a")
    links = [link["href"] for link in html.select("li a")]
    assert links == ["a.html", *(f"a.html#{one.anchor}" for one in found[1:])]
    assert len(html.select(".parts > i")) == len(found)
    assert str(len(found)) in html.select_one(".parts")["aria-label"]
    for key in ("stop_next", "stop_last", "stop_whole"):
        assert "{said}" in words[key], key
