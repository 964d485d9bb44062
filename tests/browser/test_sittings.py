"""The parts of a chapter: a place to stop, marks for what is done, and where to go on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from livepage.drills.bank import bank

from .axe import wrong
from .test_drills import answer

pytestmark = pytest.mark.browser

FIRST, SECOND = "01-stable-softmax", "02-the-rescaling-trick"
DONE = {"stage": 1, "done": "2020-01-01", "due": "2999-01-01"}
OLD = Path(__file__).parents[1] / "data" / "progress-0.1.0.json"


@pytest.fixture
def cover(open_page, html: Path) -> Page:
    return open_page(html / "index.html")


def parts_of(page: Page, name: str) -> list[list[list[str]]]:
    """Sections and drills of each part of a chapter."""
    return page.evaluate("name => bookSittings[name]", name)


def keep(page: Page, drills: list[str], pages: dict | str | None = None) -> None:
    """Let some drills be done and some sections be read, and open the page again."""
    record = {"version": 1, "drills": dict.fromkeys(drills, DONE)}
    text = pages if isinstance(pages, str) else json.dumps(pages or {})
    page.evaluate(
        "([drills, pages]) => {"
        "  localStorage.setItem('book-drills', drills);"
        "  localStorage.setItem('book-pages', pages);"
        "}",
        [json.dumps(record), text],
    )
    page.reload()


def begin(page: Page) -> Locator:
    return page.locator(".begin a")


def marks(page: Page, name: str) -> Locator:
    return page.locator(f"main .parts[data-page='{name}']").first


def counted(page: Page, name: str, done: int, begun: int) -> str:
    """What the marks of a chapter are called."""
    return f"{len(parts_of(page, name))} parts: {done} done, {begun} begun"


def states(page: Page, name: str) -> list[str]:
    read = "marks => [...marks.children].map((mark) => mark.dataset.state)"
    return marks(page, name).evaluate(read)


def back_on_the_cover(page: Page, html: Path) -> Page:
    page.goto((html / "index.html").as_uri())
    return page


def test_a_new_reader_begins_with_the_first_chapter(cover: Page) -> None:
    expect(begin(cover)).to_contain_text("Begin")
    expect(begin(cover)).to_contain_text("Chapter 1, part 1")
    assert set(states(cover, FIRST)) == {"open"}
    begin(cover).press("Enter")
    expect(cover).to_have_url(re.compile(f"{FIRST}.html$"))


def test_whoever_does_the_drills_of_part_1_goes_on_with_part_2(cover, html) -> None:
    (_, drills), (sections, _), *_ = parts_of(cover, FIRST)
    begin(cover).click()
    stop = cover.locator(".stop").first
    for done, id in enumerate(drills):
        expect(stop.locator(".stop-said")).to_have_text(
            f" Drills done: {done} of {len(drills)}." if done else ""
        )
        cover.locator(f"#drill-{id} form").scroll_into_view_if_needed()
        answer(cover, bank()[id])
    expect(stop).to_contain_text("All its drills are done.")
    expect(stop.locator(".parts")).to_have_attribute(
        "aria-label", counted(cover, FIRST, 1, 0)
    )
    back_on_the_cover(cover, html).reload()
    expect(begin(cover)).to_contain_text("Continue")
    expect(begin(cover)).to_contain_text("Chapter 1, part 2")
    assert states(cover, FIRST)[:2] == ["done", "open"]
    begin(cover).click()
    expect(cover).to_have_url(re.compile(f"{FIRST}.html#{sections[0]}$"))
    expect(cover.locator(f"#{sections[0]} h2").first).to_be_in_viewport()


def test_the_part_where_the_reader_was_comes_first(cover: Page) -> None:
    """What was left out before it has its mark, and comes when the road has ended."""
    (_, skipped), (sections, _), *_ = parts_of(cover, SECOND)
    pages = {SECOND: {"seen": [sections[0]], "at": "2025-01-02T10:00:00Z"}}
    pages["museum"] = {"seen": ["how-to-visit"], "at": "2025-01-01T10:00:00Z"}
    keep(cover, skipped[1:], pages)
    expect(begin(cover)).to_contain_text("Chapter 2, part 2")
    assert states(cover, SECOND)[:3] == ["begun", "begun", "open"]
    pages["museum"]["at"] = "2025-01-03T10:00:00Z"
    keep(cover, skipped[1:], pages)
    expect(begin(cover)).to_contain_text("part 1: How to visit")


def test_a_chapter_that_was_read_is_left_behind(cover: Page) -> None:
    keep(cover, [], {FIRST: {"read": "2025-01-01"}})
    expect(begin(cover)).to_contain_text("Chapter 2, part 1")
    assert set(states(cover, FIRST)) == {"begun"}


def test_after_the_last_part_come_those_with_open_drills_and_then_all_drills(
    cover: Page,
) -> None:
    everything = cover.evaluate("Object.values(bookSittings).flat()")
    drills = [id for _, ids in everything for id in ids]
    last = cover.evaluate("Object.values(bookSittings).at(-1).at(-1)[1].at(-1)")
    first = parts_of(cover, SECOND)[1][1][0]
    keep(cover, [id for id in drills if id not in (first, last)])
    assert states(cover, SECOND)[:3] == ["done", "begun", "done"]
    keep(cover, [id for id in drills if id != first])
    expect(begin(cover)).to_contain_text("Chapter 2, part 2")
    keep(cover, drills)
    expect(begin(cover)).to_contain_text("Every part is done")
    begin(cover).click()
    expect(cover).to_have_url(re.compile("drills.html$"))


def test_all_is_saved_forgotten_and_loaded(cover: Page, html: Path, tmp_path) -> None:
    (sections, drills), *_ = parts_of(cover, FIRST)
    pages = {FIRST: {"seen": sections, "at": "2025-01-02T10:00:00.000Z"}}
    keep(cover, drills, pages)
    cover.goto((html / "drills.html").as_uri())
    foot = cover.locator(".os-deck-foot")
    with cover.expect_download() as saved:
        foot.get_by_role("button", name="Save to a file").click()
    saved.value.save_as(tmp_path / "drills.json")
    foot.get_by_role("button", name="Forget everything", exact=True).click()
    foot.get_by_role("button", name="Really forget everything?").click()
    expect(cover.locator(f".road .parts[data-page='{FIRST}']")).to_have_attribute(
        "aria-label", counted(cover, FIRST, 0, 0)
    )
    expect(begin(back_on_the_cover(cover, html))).to_contain_text("Begin")
    cover.goto((html / "drills.html").as_uri())
    cover.locator("input[type=file]").set_input_files(tmp_path / "drills.json")
    expect(cover.locator(".os-progress-said")).to_contain_text("Loaded")
    assert json.loads(cover.evaluate("localStorage['book-pages']")) == pages
    expect(begin(back_on_the_cover(cover, html))).to_contain_text("Chapter 1, part 2")
    assert states(cover, FIRST)[:2] == ["done", "open"]


def test_another_tab_may_forget_while_the_cover_is_open(cover: Page) -> None:
    keep(cover, parts_of(cover, FIRST)[0][1])
    expect(begin(cover)).to_contain_text("Continue")
    tab = cover.context.new_page()
    tab.goto(cover.url)
    tab.evaluate("localStorage.clear()")
    expect(begin(cover)).to_contain_text("Begin")
    expect(begin(cover)).to_have_attribute("href", f"{FIRST}.html")


def test_the_record_of_version_0_1_0_is_read(cover: Page) -> None:
    saved = json.loads(OLD.read_text("utf-8"))
    pages = saved.pop("pages")
    cover.evaluate(
        "([drills, pages]) => {"
        "  localStorage.setItem('book-drills', drills);"
        "  localStorage.setItem('book-pages', pages);"
        "}",
        [json.dumps(saved), json.dumps(pages)],
    )
    cover.reload()
    expect(begin(cover)).to_contain_text("Continue")


DAMAGED = ["", "[", "[1]", '{"x": 1}', f'{{"{FIRST}": {{"seen": 3, "at": []}}}}']


@pytest.mark.parametrize("damaged", DAMAGED)
def test_a_damaged_record_breaks_nothing(cover: Page, damaged: str) -> None:
    keep(cover, [], damaged)
    expect(begin(cover)).to_contain_text("Begin")
    cover.evaluate("localStorage.setItem('book-drills', '{')")
    cover.reload()
    expect(begin(cover)).to_contain_text("Begin")
    assert set(states(cover, FIRST)) == {"open"}


def test_the_marks_follow_what_is_read(open_page, html: Path) -> None:
    page = open_page("about:blank")
    page.clock.install()
    page.goto((html / f"{FIRST}.html").as_uri())
    [first, *_], *_ = parts_of(page, FIRST)
    here = page.locator(f".road .parts[data-page='{FIRST}']")
    expect(here).to_have_attribute("aria-label", counted(page, FIRST, 0, 0))
    there = "section => section.scrollIntoView({block: 'end', behavior: 'instant'})"
    page.locator(f"section#{first[0]}").evaluate(there)
    page.clock.run_for(3000)
    expect(here).to_have_attribute("aria-label", counted(page, FIRST, 0, 1))


def test_without_scripts_the_parts_are_there(open_page, html: Path) -> None:
    page = open_page(html / "index.html", java_script_enabled=False)
    expect(begin(page)).to_contain_text("Begin")
    fold = page.locator(".map-parts").first
    fold.locator("summary").click()
    expect(fold.locator("li").nth(1)).to_contain_text("about")
    fold.locator("li a").nth(1).click()
    stops = page.locator(".stop")
    expect(stops.first).to_contain_text(
        re.compile(r"A place to stop. Part 1 of \d ends here. Next:")
    )
    expect(stops.last).to_contain_text("and with it the chapter.")
    expect(page.locator(".road .parts").first).to_have_attribute(
        "aria-label", re.compile(r"^\d parts$")
    )


@pytest.mark.parametrize("width, dark", [(1280, False), (390, True)])
@pytest.mark.parametrize("name", ["index", FIRST])
def test_axe_finds_nothing(
    open_page: Callable[..., Page], html: Path, name: str, width: int, dark: bool
) -> None:
    page = open_page(html / f"{name}.html", width=width, dark=dark)
    keep(page, parts_of(page, FIRST)[0][1][:2], {SECOND: {"read": "2025-01-01"}})
    if name == "index":
        page.locator(".map-parts summary").first.click()
    assert wrong(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
