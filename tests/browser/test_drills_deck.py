"""The page of all drills as a reader meets it, from disk, on days that are known."""

import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from livepage import drills
from livepage.drills.bank import bank

from .test_drills import (
    answer,
    card,
    look,
    run,
    tab,  # noqa: F401
    visit,  # noqa: F401
    write_page,
    write_scripts,
)

pytestmark = pytest.mark.browser

TODAY = date(2025, 1, 30)
CHAPTERS = sorted({d.chapter for d in bank().values()})
STORE = "localStorage.setItem('book-drills', {!r})"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of all drills in two languages, a chapter, and what they load."""
    folder = tmp_path_factory.mktemp("deck")
    write_scripts(folder)
    (folder / "drills" / "cards").mkdir()
    for id in bank():
        script = folder / "drills" / "cards" / f"{id}.js"
        script.write_text(drills.card_script(id, drills.page_html(id)))
    chapters = [
        drills.Chapter(
            n,
            f"Chapter {n}",
            f"{n}.html",
            [d.id for d in bank().values() if d.chapter == name],
        )
        for n, name in enumerate(CHAPTERS, 1)
    ]
    for lang in ("en", "es"):
        write_page(folder / f"{lang}.html", drills.deck_html(chapters, lang), lang)
    ids = ["rescale-hard", "update"]
    body = drills.progress_html(ids=ids, whole="en.html")
    write_page(folder / "2.html", body + "".join(map(drills.page_html, ids)))
    return folder


@pytest.fixture
def deck(site: Path, visit: Callable[[Path], Page]) -> Page:  # noqa: F811
    return visit(site / "en.html")


def day(offset: int) -> str:
    return (TODAY + timedelta(offset)).isoformat()


def record(**due: int) -> str:
    """A stored record: drills done, each due in so many days (l_l for l-l)."""
    entries = {
        id.replace("_", "-"): {"stage": 1, "done": day(-9), "due": day(offset)}
        for id, offset in due.items()
    }
    return json.dumps({"version": 1, "drills": entries})


def on_day(page: Page, offset: int = 0) -> None:
    """Come back to the page on another day."""
    page.clock.set_fixed_time(f"{day(offset)}T12:00:00")
    page.reload()


@pytest.fixture
def dated(site: Path, open_page) -> Callable[..., Page]:
    """The page on a known day, with a stored record."""

    def opened(stored: str, lang: str = "en", **context) -> Page:
        page = open_page(site / f"{lang}.html", **context)
        page.evaluate(STORE.format(stored))
        on_day(page)
        return page

    return opened


def row(page: Page, id: str) -> Locator:
    return page.locator(f"#deck-{id}")


def facts(page: Page, id: str) -> Locator:
    return row(page, id).locator(".os-deck-facts")


def question(page: Page, id: str) -> Locator:
    return row(page, id).locator("button").first


def due(page: Page) -> list[str]:
    rows = page.locator(".os-deck-today .os-deck-row")
    return rows.evaluate_all("rows => rows.map((row) => row.dataset.drill)")


def to_go(page: Page) -> Locator:
    return page.locator(".os-deck-said")


def done(page: Page) -> str:
    return page.locator(".os-deck-total").text_content()


# ---- a drill opened where it stands


def test_a_drill_is_fetched_when_it_is_opened_and_answered_by_keys(deck: Page) -> None:
    asked: list[str] = []
    deck.on("request", lambda request: asked.append(Path(request.url).name))
    deck.reload()
    expect(facts(deck, "rescale-hard")).to_contain_text("new")
    assert "rescale-hard.js" not in asked
    question(deck, "rescale-hard").focus()
    deck.keyboard.press("Enter")
    expect(card(deck, "rescale-hard")).to_be_visible()
    answer(deck, bank()["rescale-hard"])
    expect(card(deck, "rescale-hard")).to_have_attribute("data-state", "right")
    expect(facts(deck, "rescale-hard")).to_contain_text("done, back on")
    line = deck.locator('.os-deck-line[data-chapter="2"]')
    count = sum(d.chapter == bank()["rescale-hard"].chapter for d in bank().values())
    expect(line).to_contain_text(f"1 of {count} done")
    assert done(deck) == f"1 of {len(bank())} done"
    for opened in ("false", "true"):
        question(deck, "rescale-hard").press("Enter")
        button = question(deck, "rescale-hard")
        expect(button).to_have_attribute("aria-expanded", opened)
    expect(card(deck, "rescale-hard").locator("input")).not_to_have_value("")
    assert [name for name in asked if "-" in name] == ["rescale-hard.js"]


def test_code_runs_here_too(deck: Page) -> None:
    question(deck, "update").click()
    section = run(deck, "update", bank()["update"].get("code"))
    expect(section).to_have_attribute("data-state", "right")
    expect(facts(deck, "update")).to_contain_text("done")


def test_a_drill_that_cannot_be_fetched_says_where_else_it_is(
    site: Path, open_page
) -> None:
    page = open_page(site / "en.html")
    page.route("**/cards/*", lambda route: route.abort())
    page.reload()
    question(page, "update").click()
    expect(row(page, "update")).to_contain_text("stands in its chapter as well")
    link = facts(page, "update").get_by_role("link")
    expect(link).to_have_attribute("href", "2.html#drill-update")
    with page.expect_request("**/cards/*"):
        for _ in range(2):  # to close it and open it asks again, and so does the button
            question(page, "update").click()
    expect(row(page, "update")).to_contain_text("stands in its chapter as well")
    page.unroute("**/cards/*")
    row(page, "update").get_by_role("button", name="Try again").click()
    expect(card(page, "update")).to_be_visible()
    page.tattler.faults.clear()


# ---- what is due


def test_what_is_due_comes_first_and_one_after_the_other(dated) -> None:
    page = dated(record(update_lines=0, rescale_hard=-3, zero_five=1, alpha_tie=0))
    assert due(page) == ["rescale-hard", "update-lines", "alpha-tie"]
    expect(to_go(page)).to_have_text("3 to go.")
    expect(card(page, "rescale-hard")).to_be_visible()
    expect(page.locator(".os-deck-card")).to_have_count(1)
    stand = page.get_by_role("link", name="Put the lines of the update in order.")
    expect(stand).to_have_attribute("href", "#deck-update-lines")

    for id, left in [
        ("rescale-hard", "2 to go."),
        ("update-lines", "1 to go."),
        ("alpha-tie", "Nothing more is due today. The next one comes back on 31 Jan."),
    ]:
        expect(card(page, id)).to_be_visible()
        answer(page, bank()[id])
        expect(to_go(page)).to_have_text(left)
    assert due(page) == ["rescale-hard", "update-lines", "alpha-tie"]
    page.reload()
    assert due(page) == []
    assert page.locator(".os-deck-stand").count() == 0


def test_a_drill_comes_back_after_1_3_7_21_and_60_days(dated) -> None:
    page = dated(record())
    expect(to_go(page)).to_have_text("Nothing is due today.")
    question(page, "rescale-hard").click()
    at = 0
    for interval in (1, 3, 7, 21, 60, 60):
        expect(card(page, "rescale-hard")).to_be_visible()
        answer(page, bank()["rescale-hard"])
        expect(to_go(page)).to_contain_text("Nothing more is due today")
        on_day(page, at + interval - 1)
        assert due(page) == []
        at += interval
        on_day(page, at)
        assert due(page) == ["rescale-hard"]


def test_a_solution_that_was_shown_comes_back_tomorrow(dated) -> None:
    page = dated(record())
    question(page, "alpha-tie").click()
    card(page, "alpha-tie").get_by_role("button", name="Show me").click()
    expect(facts(page, "alpha-tie")).to_contain_text("back on 31 Jan")
    assert done(page).startswith("0 of ")
    on_day(page, 1)
    assert due(page) == ["alpha-tie"]


def test_what_was_not_known_comes_once_more_in_the_same_sitting(dated) -> None:
    page = dated(record(rescale_hard=-3, update_lines=0, update=0))
    again = page.locator(".os-deck-again")
    card(page, "rescale-hard").get_by_role("button", name="Show me").click()
    expect(to_go(page)).to_have_text("2 to go.")
    answer(page, bank()["update-lines"])
    run(page, "update", bank()["update"].get("starter"))
    card(page, "update").get_by_role("button", name="Show me").click()
    expect(to_go(page)).to_contain_text("waits below, once more")
    expect(again.get_by_role("button")).to_have_count(1)  # a program is for tomorrow

    again.get_by_role("button").press("Enter")
    expect(again.get_by_role("button")).to_have_count(0)
    assert due(page) == ["update-lines", "update", "rescale-hard"]
    expect(question(page, "rescale-hard")).to_be_focused()
    section = card(page, "rescale-hard")
    expect(section.locator("details")).to_be_hidden()
    expect(section.get_by_label("Your answer")).to_have_value("")
    section.get_by_label("Your answer").fill("1")
    page.keyboard.press("Enter")
    expect(again.get_by_role("button")).to_have_count(0)  # not before it is known
    answer(page, bank()["rescale-hard"])
    expect(again.get_by_role("button")).to_have_count(1)
    again.get_by_role("button").click()
    answer(page, bank()["rescale-hard"])
    expect(section).to_have_attribute("data-state", "right")
    expect(again.get_by_role("button")).to_have_count(0)
    expect(to_go(page)).to_contain_text("Nothing more is due today")
    on_day(page, 1)
    assert due(page) == ["rescale-hard", "update"]


def test_what_was_known_does_not_come_again_for_what_was_tried_after(dated) -> None:
    page = dated(record(rescale_hard=0))
    section = card(page, "rescale-hard")
    answer(page, bank()["rescale-hard"])
    section.get_by_label("Your answer").fill("1")
    page.keyboard.press("Enter")
    expect(section).to_have_attribute("data-state", "wrong")
    answer(page, bank()["rescale-hard"])
    section.get_by_role("button", name="Show me").click()
    expect(page.locator(".os-deck-again").get_by_role("button")).to_have_count(0)
    expect(facts(page, "rescale-hard")).to_contain_text("back on 2 Feb")


def test_own_words_come_once_more_blank_and_stay(dated) -> None:
    page = dated(record(what_to_carry=0))
    section = card(page, "what-to-carry")
    section.get_by_label("In your own words").fill("the sum")
    section.get_by_role("button", name="Compare").click()
    section.get_by_role("button", name="Something was missing").click()
    page.locator(".os-deck-again").get_by_role("button").click()
    expect(section.get_by_label("In your own words")).to_have_value("")
    expect(section.locator(".os-drill-version pre")).to_have_text("the sum")


def test_what_was_not_known_is_forgotten_with_the_rest(dated) -> None:
    page = dated(record(rescale_hard=0))
    card(page, "rescale-hard").get_by_role("button", name="Show me").click()
    expect(page.locator(".os-deck-again").get_by_role("button")).to_have_count(1)
    page.get_by_role("button", name="Forget everything").click()
    page.get_by_role("button", name="Really forget everything?").click()
    expect(page.locator(".os-deck-again").get_by_role("button")).to_have_count(0)
    assert due(page) == []


def test_lines_put_in_order_are_due_again_to_be_written(dated) -> None:
    entry = {"stage": 0, "done": None, "due": day(1), "ordered": day(0)}
    page = dated(json.dumps({"version": 1, "drills": {"update": entry}}))
    expect(facts(page, "update")).to_contain_text("put in order, not yet written")
    assert done(page).startswith("0 of ")
    on_day(page, 1)
    assert due(page) == ["update"]
    expect(facts(page, "update")).to_contain_text("not yet written, due again")
    expect(card(page, "update").locator("textarea")).to_be_visible()
    run(page, "update", bank()["update"].get("code"))
    expect(facts(page, "update")).to_contain_text("done, back on 1 Feb")


def test_another_page_of_the_book_is_noticed(site: Path, dated) -> None:
    page = dated(record(rescale_hard=0))
    chapter = page.context.new_page()
    chapter.clock.set_fixed_time(f"{day(0)}T12:00:00")
    chapter.goto((site / "2.html").as_uri())
    panel = chapter.locator(".os-progress")
    expect(panel).to_contain_text("Drills done: 1 of 2. Due today: 1.")
    answer(chapter, bank()["rescale-hard"])
    expect(to_go(page)).to_contain_text("Nothing more is due today")
    whole = panel.get_by_role("link", name="All drills of the book")
    expect(whole).to_have_attribute("href", "en.html")


# ---- saving, loading, forgetting, and a browser that keeps nothing

BROKEN = [
    "",
    "no JSON",
    "[]",
    '{"version": 1, "drills": []}',
    '{"version": 1, "drills": {"a": null}}',
    "\x00PNG",
]


def test_what_was_saved_can_be_loaded_and_a_broken_file_loses_nothing(
    dated, tmp_path: Path
) -> None:
    page = dated(record(rescale_hard=0, update=5))
    with page.expect_download() as download:
        page.get_by_role("button", name="Save to a file").click()
    file = tmp_path / "drills.json"
    download.value.save_as(file)

    broken = tmp_path / "broken.json"
    box = page.locator("input[type=file]")
    kept = page.evaluate("JSON.stringify(localStorage)")
    for text in BROKEN:
        page.locator(".os-progress-said").evaluate("said => said.textContent = ''")
        broken.write_text(text)
        box.set_input_files(broken)
        expect(page.locator(".os-progress-said")).to_contain_text("holds no drills")
        assert page.evaluate("JSON.stringify(localStorage)") == kept, text
    assert due(page) == ["rescale-hard"]

    page.get_by_role("button", name="Forget everything").click()
    page.get_by_role("button", name="Really forget everything?").click()
    expect(to_go(page)).to_have_text("Nothing is due today.")
    assert due(page) == [] and done(page).startswith("0 of ")
    place = row(page, "rescale-hard").evaluate("row => row.parentNode.children[0].id")
    assert place == "deck-rescale-hard"

    box.set_input_files(file)
    expect(page.locator(".os-progress-said")).to_have_text("Loaded 2 drills.")
    assert due(page) == ["rescale-hard"] and done(page).startswith("2 of ")


def test_a_browser_that_keeps_nothing_has_the_page_all_the_same(
    site: Path, open_page
) -> None:
    page = open_page(site / "en.html")
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw Error('no') }})"
    )
    page.reload()
    expect(page.locator(".os-deck-foot")).to_contain_text("lasts until you leave")
    question(page, "rescale-hard").click()
    expect(card(page, "rescale-hard")).to_be_visible()
    answer(page, bank()["rescale-hard"])
    expect(facts(page, "rescale-hard")).to_contain_text("done")
    assert done(page).startswith("1 of ")


# ---- without a script, on paper, in Spanish, on a phone


def test_without_a_script_it_is_a_list_with_folded_solutions(
    site: Path, open_page
) -> None:
    page = open_page(site / "en.html", java_script_enabled=False)
    assert page.locator(".os-deck-question:visible").count() == len(bank())
    assert page.locator(".os-deck-facts a:visible").count() == len(bank())
    assert page.locator(".os-deck button:visible").count() == 0
    expect(page.locator(".os-deck-today")).to_be_hidden()
    solution = row(page, "update").locator("details")
    expect(solution.locator("pre")).to_be_hidden()
    solution.locator("summary").click()
    expect(solution.locator("pre")).to_be_visible()


@pytest.mark.parametrize("script", [True, False])
def test_on_paper_questions_and_solutions_are_whole(
    site: Path, open_page, script: bool
) -> None:
    page = open_page(site / "en.html", java_script_enabled=script)
    if script:
        question(page, "update").click()
        expect(card(page, "update")).to_be_visible()
    page.emulate_media(media="print")
    expect(card(page, "update")).to_have_count(int(script))
    for id in ("update", "rescale-hard"):
        asked = row(page, id).locator(".os-deck-question p")
        solved = row(page, id).locator("xpath=./details/p")
        for part in [*asked.all(), *solved.all()]:
            assert part.bounding_box()["height"] > 10
        assert not card(page, id).is_visible()


def test_the_page_speaks_spanish(dated) -> None:
    page = dated(record(rescale_hard=0, update=1), lang="es")
    expect(page.get_by_role("heading", name="Para hoy")).to_be_visible()
    expect(facts(page, "update")).to_contain_text("hecho, vuelve el 31 ene")
    expect(row(page, "rescale-hard")).to_contain_text("Tu bolsillo contiene")


@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(dated, width: int) -> None:
    page = dated(record(update_lines=0, rescale_hard=-3, update=2), width=width)
    question(page, "alpha-tie").click()
    expect(page.locator(".os-deck-card .os-drill-live")).to_have_count(2)
    answer(page, bank()["rescale-hard"])
    expect(page.locator(".os-deck-card .os-drill-live")).to_have_count(3)
    look(page)


def test_a_phone_shows_it_all(dated) -> None:
    page = dated(
        record(update_lines=0, update=2), width=320, has_touch=True, is_mobile=True
    )
    question(page, "update").click()
    expect(page.locator(".os-deck-card .os-drill-live")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    low = page.evaluate(
        """() => [...document.querySelectorAll(
            '.os-deck-line, .os-deck :is(button, .os-deck-facts a, input)')]
          .filter((e) => e.offsetParent && e.getBoundingClientRect().height < 44)
          .map((e) => e.outerHTML)"""
    )
    assert low == []
