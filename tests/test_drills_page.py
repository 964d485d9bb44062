"""A drill's piece of the page, its progress record, and what the book has vendored."""

import hashlib
import json
import re
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from py_mini_racer import MiniRacer

from onlinesoftmax.drills import page_assets, page_html, page_script, stylesheet
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


def test_colours_are_tokens() -> None:
    assert not re.search(r"#[0-9a-f]{3,8}\b|rgba?\(|hsla?\(", stylesheet())


def test_the_script_is_classic_and_asks_for_nothing() -> None:
    script = page_script()
    MiniRacer().eval(f"new Function({json.dumps(script)}); 0")  # a module would not do
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", script)


def test_python_is_one_classic_script() -> None:
    (name, content), = page_assets().items()
    assert name == "micropython.js" and content.startswith(b"globalThis.")


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
    store.eval("store.pass('a', 0); store.keepCode('c', 'x = 1')")
    saved = store.eval("store.export()")
    store.eval("store.replace({})")
    assert get(store, f"store.import({json.dumps(saved)})") == 2
    assert get(store, "store.get('c').code") == "x = 1"
    assert get(store, "store.done()") == ["a"]


OTHER_FILES = ["", "[]", "{}", '{"version": 2, "drills": {}}', "null"]


@pytest.mark.parametrize("text", OTHER_FILES)
def test_another_file_is_refused(store: MiniRacer, text: str) -> None:
    attempt = f"try {{ store.import({json.dumps(text)}); 0 }} catch {{ 1 }}"
    assert store.eval(attempt) == 1


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
