"""A drill's piece of the page, its progress record, and what the book has vendored."""

import gzip
import json
import re
from collections.abc import Callable, Iterator

import pytest
from bs4 import BeautifulSoup

from livepage import modules, sentences, translations
from livepage.drills import (
    Chapter,
    card_script,
    deck_html,
    page_assets,
    page_html,
    page_script,
    stylesheet,
)
from livepage.drills.bank import bank
from livepage.drills.page import HERE, progress_html
from livepage.drills.words import foreign
from livepage.engine import new_engine as engine

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


@pytest.fixture
def untranslated(monkeypatch) -> None:
    """A book without a translation."""
    monkeypatch.setattr(translations, "catalogue", lambda language: {})


@pytest.mark.parametrize(
    "id", ["rescale-hard", "induction", "update", "tiled-attention"]
)
def test_english_on_a_spanish_page_says_so(id: str, untranslated) -> None:
    soup = BeautifulSoup(page_html(id, "es"), "html.parser")
    data = json.loads(soup.select_one(".os-drill-data").string)
    pieces = soup.select(
        ".os-drill-prompt > :not(.os-drill-asked), .os-drill-solution > p:last-child"
    )
    pieces += [
        BeautifulSoup(html, "html.parser").find()
        for key in ("hints", "earned")
        for html in data[key]
        if html
    ]
    assert pieces
    for piece in pieces:
        marks = piece.get("lang"), piece.get("data-untranslated")
        assert piece.name == "pre" or marks == ("en", "aún en inglés"), piece
    assert " lang=" not in page_html(id, "en")


def test_a_text_in_the_pages_language_has_no_mark(untranslated) -> None:
    both = {"en": "One thing.", "es": "Una cosa."}
    assert (
        foreign(both, "es") == foreign(both, "en") == foreign("One thing.", "en") == ""
    )
    assert foreign("$x = 1$", "es") == ""  # a formula has no language
    for text in ("One thing.", {"en": "One thing."}):
        assert foreign(text, "es").startswith('lang="en" ')


def test_maths_goes_through_the_site() -> None:
    seen = []
    page_html("rescale-hard", maths=lambda tex, display: seen.append(tex) or "<b>x</b>")
    assert r"\ell = 7" in seen


def test_a_text_cannot_end_its_data_block() -> None:
    html = page_html("rescale-hard", maths=lambda tex, display: "</script>")
    block = BeautifulSoup(html, "html.parser").select_one(".os-drill-data")
    assert "</script>" in json.loads(block.string)["hints"][1]


def test_the_panel_lists_the_drills_it_is_given() -> None:
    html = progress_html("en", ["update", "induction"], pages={"update": "02.html"})
    listed = json.loads(BeautifulSoup(html, "html.parser").script.string)
    assert {id: entry["href"] for id, entry in listed.items()} == {
        "induction": "#drill-induction",
        "update": "02.html#drill-update",
    }


# ---- the scripts that a page fetches when they are asked for

SCRIPTS = """
class URL { constructor(href) { this.href = href; } }
const added = []; // the scripts on their way
const document = { baseURI: "", head: { append: (script) => added.push(script) } };
document.createElement = () => ({});
const said = [];
const there = {};
const ask = (name) => $python.loadScript(name, () => there[name]).then(
  () => said.push("loaded"), ({ message }) => said.push(`no ${message}`));
const end = (how) => {
  const script = added.pop();
  there[script.src] = how === "whole";
  (how === "missing" ? script.onerror : script.onload)();
};
"""


@pytest.fixture
def scripts() -> Iterator[Callable[[str], object]]:
    """Scripts whose end a test decides: whole, cut short, or missing."""
    v8 = engine()
    v8.eval(SCRIPTS + modules.script(HERE / "page" / "python.mjs", {}) + "0")
    yield lambda text: v8.eval(f"{text}; JSON.stringify([added.length, said])")
    v8.close()


def test_a_script_is_fetched_once_for_all_who_ask_meanwhile(scripts) -> None:
    """Two copies of what has the GPU would not know of each other."""
    assert scripts('ask("a"), ask("a")') == "[1,[]]"
    scripts('end("whole")')
    assert scripts("0") == '[0,["loaded","loaded"]]'
    scripts('ask("a")')
    assert scripts("0") == '[0,["loaded","loaded","loaded"]]'


@pytest.mark.parametrize("how", ["missing", "cut short"])
def test_a_script_that_failed_is_fetched_again_when_it_is_asked_for(how, scripts):
    scripts('ask("a"), ask("a")')
    scripts(f'end("{how}")')
    assert scripts("0") == '[0,["no a","no a"]]'
    assert scripts('ask("a")') == '[1,["no a","no a"]]'
    scripts('end("whole")')
    assert scripts("0") == '[0,["no a","no a","loaded"]]'


# ---- the page of all drills

NAMES = sorted({d.chapter for d in bank().values()})


def chapter(n: int, name: str) -> Chapter:
    ids = [d.id for d in bank().values() if d.chapter == name]
    return Chapter(n, f"<{n}> & more", f"{name}.html", ids)


CHAPTERS = [chapter(n, name) for n, name in enumerate([*NAMES, "without-drills"], 1)]


@pytest.mark.parametrize("lang", ["en", "es"])
def test_every_drill_has_its_row_with_a_link_and_a_folded_solution(lang: str) -> None:
    soup = BeautifulSoup(deck_html(CHAPTERS, lang), "html.parser")
    rows = soup.select(".os-deck-row")
    assert [row["data-drill"] for row in rows] == [
        id for each in CHAPTERS for id in each.drills
    ]
    assert len(rows) == len(bank())
    for row in rows:
        d = bank()[row["data-drill"]]
        link = row.select_one(".os-deck-facts a")
        assert link["href"] == f"{d.chapter}.html#drill-{d.id}"
        first = row.select_one(".os-deck-question").find()
        assert first.name == "p", "only a paragraph can become a button"
        assert row.details.summary and not row.details.has_attr("open")
    ids = [tag["id"] for tag in soup.select("[id]")]
    assert len(ids) == len(set(ids))
    assert not {f"drill-{id}" for id in bank()} & set(ids), "the opened drill has it"


def test_chapters_are_named_and_counted_and_those_without_drills_left_out() -> None:
    soup = BeautifulSoup(deck_html(CHAPTERS), "html.parser")
    heads = [(a["href"], a.get_text()) for a in soup.select("h3 a")]
    numbered = list(enumerate(NAMES, 1))
    assert heads == [(f"{name}.html", f"<{n}> & more") for n, name in numbered]
    lines = soup.select(".os-deck-line")
    assert [int(line["data-chapter"]) for line in lines] == [n for n, _ in numbered]
    for line, (n, name) in zip(lines, numbered):
        count = len(chapter(n, name).drills)
        assert line.select_one(".os-deck-count").get_text() == (
            "1 drill" if count == 1 else f"{count} drills"
        )
        assert soup.select_one(line.a["href"])
    assert soup.select_one(".os-deck-total").get_text() == f"{len(bank())} drills"


@pytest.mark.parametrize(("lang", "count"), [("en", "1 drill"), ("es", "1 ejercicio")])
def test_a_chapter_with_one_drill_says_so(lang: str, count: str) -> None:
    alone = [Chapter(1, "Alone", "alone.html", ["rescale-hard"])]
    soup = BeautifulSoup(deck_html(alone, lang), "html.parser")
    counts = [soup.select_one(f".os-deck-{name}") for name in ("count", "total")]
    assert [element.get_text() for element in counts] == [count, count]


def test_the_list_is_light() -> None:
    packed = gzip.compress(deck_html(CHAPTERS).encode())
    assert len(packed) < 600 * len(bank()), "half a kilobyte a drill, without formulas"


@pytest.mark.parametrize("id", ["rescale-hard", "update"])
def test_a_card_is_a_classic_script_that_brings_the_drill(id: str) -> None:
    context = engine()
    context.eval(card_script(id, page_html(id, "es")))
    assert context.eval(f"livepageCards['{id}']") == page_html(id, "es")


def test_colours_are_tokens() -> None:
    assert not re.search(r"#[0-9a-f]{3,8}\b|rgba?\(|hsla?\(", stylesheet())


def test_the_script_is_classic_and_asks_for_nothing() -> None:
    script = page_script()
    engine().eval(f"new Function({json.dumps(script)}); 0")  # a module would not do
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", script)


def test_python_and_the_simulator_are_one_classic_script_each() -> None:
    files = {"micropython.js", "simulator.js"}
    on_demand = {
        f"{name}.{kind}" for name in ("gpu", "puzzle") for kind in ("js", "css")
    }
    said = {f"sentences-{language}.js" for language in sentences.languages()}
    assert set(page_assets()) == files | on_demand | said
    for name in files:
        assert page_assets()[name].startswith("globalThis."), name


def test_the_simulator_on_the_page_has_no_need_of_cpython() -> None:
    script = page_assets()["simulator.js"]
    for name in ("inspect", "numpy", "ast", "typing"):
        assert f"\\nimport {name}" not in script, "at the start of a line of a module"


def test_a_worker_is_one_classic_script_too() -> None:
    """WebKit's workers import nothing on ``file://``, and cannot read a blob."""
    v8 = engine()
    v8.eval("globalThis.self = globalThis;" + page_assets()["micropython.js"])
    worker = (HERE / "page" / "worker.js").read_text("utf-8")
    assert "import(" not in worker and "Blob" not in worker
    v8.eval(f"new Function(livepagePython.loader + {json.dumps(worker)}); 0")


# ---- vendored files
