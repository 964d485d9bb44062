"""A drill's piece of the page, its progress record, and what the book has vendored."""

import gzip
import hashlib
import json
import random
import re
from datetime import date, timedelta
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from py_mini_racer import MiniRacer

from onlinesoftmax.drills import (
    Chapter,
    card_script,
    deck_html,
    page_assets,
    page_html,
    page_script,
    stylesheet,
)
from onlinesoftmax.drills.bank import bank, foreign
from onlinesoftmax.drills.page import HERE, progress_html

# ---- the HTML


@pytest.mark.parametrize("lang", ["en", "es"])
@pytest.mark.parametrize("id", bank())
def test_the_page_is_whole_without_a_script(id: str, lang: str) -> None:
    soup = BeautifulSoup(page_html(id, lang), "html.parser")
    section = soup.select_one(".os-drill")
    assert section["data-drill"] == id and section["id"] == f"drill-{id}"
    assert section.select_one(".os-drill-prompt").get_text(strip=True)
    assert section.details.summary and len(section.details.get_text(strip=True)) > 20
    ids = [tag["id"] for tag in soup.select("[id]")]
    assert len(ids) == len(set(ids))
    assert {label["for"] for label in soup.select("label[for]")} <= set(ids)
    assert not [a for tag in soup.find_all() for a in tag.attrs if a.startswith("on")]
    for script in soup.find_all("script"):
        assert script["type"] == "application/json"
        json.loads(script.string)


@pytest.mark.parametrize("id", bank())
def test_english_on_a_spanish_page_says_so(id: str) -> None:
    soup = BeautifulSoup(page_html(id, "es"), "html.parser")
    data = json.loads(soup.select_one(".os-drill-data").string)
    pieces = soup.select(".os-drill-prompt > *, .os-drill-solution > p:last-child")
    pieces += [
        BeautifulSoup(html, "html.parser").find()
        for key in ("hints", "earned") for html in data[key] if html
    ]
    assert pieces
    for piece in pieces:
        assert piece.name == "pre" or piece["lang"] == "en", piece
    assert " lang=" not in page_html(id, "en")


def test_a_text_in_the_pages_language_has_no_mark() -> None:
    both = {"en": "One.", "es": "Uno."}
    assert foreign(both, "es") == foreign(both, "en") == foreign("One.", "en") == ""
    assert foreign("One.", "es") == foreign({"en": "One."}, "es") == "en"


def test_maths_goes_through_the_site() -> None:
    seen = []
    page_html("rescale-hard", maths=lambda tex, display: seen.append(tex) or "<b>x</b>")
    assert r"\ell = 5" in seen


def test_a_text_cannot_end_its_data_block() -> None:
    html = page_html("rescale-hard", maths=lambda tex, display: "</script>")
    block = BeautifulSoup(html, "html.parser").select_one(".os-drill-data")
    assert "</script>" in json.loads(block.string)["hints"][1]


def test_the_panel_lists_the_drills_it_is_given() -> None:
    html = progress_html("en", ["update", "induction"], pages={"update": "02.html"})
    listed = json.loads(BeautifulSoup(html, "html.parser").script.string)
    assert {id: entry["href"] for id, entry in listed.items()} == {
        "induction": "#drill-induction", "update": "02.html#drill-update",
    }


# ---- the page of all drills

NUMBERS = sorted({d.chapter for d in bank().values()})


def chapter(n: int) -> Chapter:
    ids = [d.id for d in bank().values() if d.chapter == n]
    return Chapter(n, f"<{n}> & more", f"{n:02}-x.html", ids)


CHAPTERS = [chapter(n) for n in [*NUMBERS, 99]]


@pytest.mark.parametrize("lang", ["en", "es"])
def test_every_drill_has_its_row_with_a_link_and_a_folded_solution(lang: str) -> None:
    soup = BeautifulSoup(deck_html(CHAPTERS, lang), "html.parser")
    rows = soup.select(".os-deck-row")
    assert [row["data-drill"] for row in rows] == list(bank())
    for row in rows:
        d = bank()[row["data-drill"]]
        link = row.select_one(".os-deck-facts a")
        assert link["href"] == f"{d.chapter:02}-x.html#drill-{d.id}"
        first = row.select_one(".os-deck-question").find()
        assert first.name == "p", "only a paragraph can become a button"
        assert row.details.summary and not row.details.has_attr("open")
    ids = [tag["id"] for tag in soup.select("[id]")]
    assert len(ids) == len(set(ids))
    assert not {f"drill-{id}" for id in bank()} & set(ids), "the opened drill has it"


def test_chapters_are_named_and_counted_and_those_without_drills_left_out() -> None:
    soup = BeautifulSoup(deck_html(CHAPTERS), "html.parser")
    heads = [(a["href"], a.get_text()) for a in soup.select("h3 a")]
    assert heads == [(f"{n:02}-x.html", f"<{n}> & more") for n in NUMBERS]
    lines = soup.select(".os-deck-line")
    assert [int(line["data-chapter"]) for line in lines] == NUMBERS
    for line, n in zip(lines, NUMBERS):
        count = len(chapter(n).drills)
        assert line.select_one(".os-deck-count").get_text() == f"{count} drills"
        assert soup.select_one(line.a["href"])
    assert soup.select_one(".os-deck-total").get_text() == f"{len(bank())} drills"


def test_the_list_is_light() -> None:
    packed = gzip.compress(deck_html(CHAPTERS).encode())
    assert len(packed) < 600 * len(bank()), "half a kilobyte a drill, without formulas"


@pytest.mark.parametrize("id", ["rescale-hard", "update"])
def test_a_card_is_a_classic_script_that_brings_the_drill(id: str) -> None:
    context = MiniRacer()
    context.eval(card_script(id, "es"))
    assert context.eval(f"onlineSoftmaxCards['{id}']") == page_html(id, "es")


def test_colours_are_tokens() -> None:
    assert not re.search(r"#[0-9a-f]{3,8}\b|rgba?\(|hsla?\(", stylesheet())


def test_the_script_is_classic_and_asks_for_nothing() -> None:
    script = page_script()
    MiniRacer().eval(f"new Function({json.dumps(script)}); 0")  # a module would not do
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", script)


def test_python_and_the_simulator_are_one_classic_script_each() -> None:
    assert set(page_assets()) == {"micropython.js", "simulator.js"}
    assert all(a.startswith(b"globalThis.") for a in page_assets().values())


# ---- progress


@pytest.fixture
def store() -> MiniRacer:
    """The record of a reader whose browser keeps nothing, on 30 January 2025."""
    context = MiniRacer()
    context.eval("var document = {dispatchEvent() {}}; var Event = class {};")
    context.eval((HERE / "page" / "store.js").read_text())
    set_day(context, "2025-01-30")
    return context


def set_day(context: MiniRacer, day: str) -> None:
    context.eval(f"today = () => '{day}'")


def get(context: MiniRacer, expression: str) -> object:
    return json.loads(context.eval(f"JSON.stringify({expression})"))


def test_intervals_grow_from_pass_to_pass(store: MiniRacer) -> None:
    days = []
    for _ in range(6):
        store.eval("store.pass('a', 0)")
        days.append(get(store, "store.get('a')")["due"])
        set_day(store, days[-1])
        assert get(store, "store.due()") == ["a"]
    assert days == [  # 1, 3, 7, 21, 60 and again 60 days
        "2025-01-31", "2025-02-03", "2025-02-10",
        "2025-03-03", "2025-05-02", "2025-07-01",
    ]


def test_any_day_of_the_year_counts_on_rightly(store: MiniRacer) -> None:
    store.eval("const on = (day, n) => (today = () => day, daysFrom(today(), n))")
    for start in range(0, 1500, 7):  # over a leap year and every end of a month
        day = date(2027, 1, 1) + timedelta(start)
        for interval in get(store, "INTERVALS"):
            due = store.eval(f"on('{day}', {interval})")
            assert due == str(day + timedelta(interval))


@pytest.mark.parametrize("seed", range(20))
def test_however_a_reader_fares_a_drill_is_due_on_its_day(store, seed: int) -> None:
    """Right: one interval further. Missed: tomorrow, from the start. Never today."""
    rng = random.Random(seed)
    day, stage = date(2025, 1, 30), 0
    for _ in range(30):
        fate = rng.choice(["right", "right", "right", "missed", "shown"])
        misses = {"right": 0, "missed": 2}.get(fate)
        store.eval(f"store.pass('a', {misses})" if fate != "shown" else "store.shown('a')")
        stage = {"right": min(stage + 1, 5), "missed": 1, "shown": 0}[fate]
        wait = [1, 1, 3, 7, 21, 60][stage]
        assert get(store, "store.get('a').due") == str(day + timedelta(wait)), fate
        set_day(store, str(day + timedelta(wait - 1)))
        assert get(store, "store.due()") == []
        day += timedelta(wait + rng.choice([0, 0, 1, 40]))  # on its day, or late
        set_day(store, str(day))
        assert get(store, "store.due()") == ["a"]


def test_what_is_longest_overdue_comes_first(store: MiniRacer) -> None:
    for day, id in [("20", "late"), ("10", "later"), ("30", "new")]:
        set_day(store, f"2025-01-{day}")
        store.eval(f"store.pass('{id}', 0)")
    assert get(store, "store.due()") == ["later", "late"]


def test_a_pass_before_its_day_changes_nothing(store: MiniRacer) -> None:
    store.eval("store.pass('a', 0)")
    before = get(store, "store.get('a')")
    store.eval("store.pass('a', 0)")
    assert get(store, "store.get('a')") == before


def test_misses_and_solutions_start_over(store: MiniRacer) -> None:
    store.eval("store.pass('a', 0)")
    set_day(store, "2025-01-31")
    store.eval("store.pass('a', 2)")
    assert get(store, "store.get('a')") == {
        "stage": 1, "done": "2025-01-31", "due": "2025-02-01",
    }
    store.eval("store.shown('b')")
    assert get(store, "store.get('b')") == {
        "stage": 0, "done": None, "due": "2025-02-01",
    }


def test_a_saved_file_comes_back(store: MiniRacer) -> None:
    store.eval("store.pass('a', 0); store.keepCode('c', 'x = 1', 'x =')")
    saved = store.eval("store.export()")
    store.eval("store.replace({})")
    assert get(store, f"store.import({json.dumps(saved)})") == 2
    assert get(store, "store.get('c').code") == "x = 1"
    assert get(store, "store.done()") == ["a"]


def test_a_starter_that_nobody_changed_is_not_kept(store: MiniRacer) -> None:
    store.eval("store.keepCode('c', 'x =\\n', 'x =')")
    assert get(store, "Object.keys(store.all())") == []
    store.eval("store.keepCode('c', 'x = 1', 'x ='); store.keepCode('c', 'x =', 'x =')")
    assert "code" not in get(store, "store.get('c')")


OLD = {"stage": 4, "done": "2025-01-02", "due": "2025-01-23", "code": "old"}
NEW = {"stage": 1, "done": "2025-01-29", "due": "2025-01-30"}


@pytest.mark.parametrize(("kept", "loaded"), [(OLD, NEW), (NEW, OLD)])
def test_of_two_records_the_later_stays_and_code_is_kept(store, kept, loaded) -> None:
    store.eval(f"store.replace({json.dumps({'a': kept})})")
    saved = json.dumps({"version": 1, "drills": {"a": loaded}})
    store.eval(f"store.import({json.dumps(saved)})")
    assert get(store, "store.get('a')") == {**NEW, "code": "old"}


OTHER_FILES = [
    "", "[]", "{}", '{"version": 2, "drills": {}}', "null",
    '{"version": 1, "drills": []}', '{"version": 1, "drills": {"a": null}}',
]


@pytest.mark.parametrize("text", OTHER_FILES)
def test_another_file_is_refused_and_nothing_lost(store, text: str) -> None:
    store.eval("store.pass('a', 0)")
    before = get(store, "store.all()")
    attempt = f"try {{ store.import({json.dumps(text)}); 0 }} catch {{ 1 }}"
    assert store.eval(attempt) == 1
    assert get(store, "store.all()") == before


def test_a_doctored_file_cannot_bring_more_than_days_and_code(store: MiniRacer) -> None:
    entry = {"stage": 99, "done": "<b>", "due": 3, "code": 7, "extra": "x"}
    text = json.dumps({"version": 1, "drills": {"a": entry}})
    store.eval(f"store.import({json.dumps(text)})")
    assert get(store, "store.get('a')") == {"stage": 5, "done": None, "due": None}


# ---- vendored files

VENDORED = sorted(Path(__file__).parents[1].glob("book/_vendor/**/VENDOR.yml"))


@pytest.mark.parametrize("record", VENDORED, ids=lambda path: path.parent.name)
def test_vendored_files_are_what_they_were(record: Path) -> None:
    vendor = yaml.safe_load(record.read_text(encoding="utf-8"))
    assert {"name", "version", "licence", "source", "files"} <= vendor.keys()
    for name, checksum in vendor["files"].items():
        content = (record.parent / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == checksum, name
    there = {
        str(path.relative_to(record.parent))
        for path in record.parent.rglob("*")
        if path.is_file() and path != record
    }
    assert there == set(vendor["files"]), "a file without a checksum, or one too many"
    assert any("LICEN" in name.upper() or "OFL" in name.upper() for name in there)


def test_everything_vendored_has_a_record() -> None:
    root = Path(__file__).parents[1] / "book" / "_vendor"
    folders = {record.parent for record in VENDORED}
    for path in root.rglob("*"):
        if path.is_file():
            assert folders & set(path.parents), f"{path} has no VENDOR.yml above it"
