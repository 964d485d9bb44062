"""What a reader has read: earned section by section, kept here, shown on the cover."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

CHAPTER = "02-the-rescaling-trick"
ENDS = "article > section > section[id]:not(:has(.sources))"
DONE = {"stage": 1, "done": "2020-01-01", "due": "2020-01-02"}


@pytest.fixture
def chapter(open_page, html: Path) -> Page:
    """A chapter whose clock the test moves on."""
    page = open_page("about:blank")
    page.clock.install()
    page.goto((html / f"{CHAPTER}.html").as_uri())
    return page


def read_line(page: Page) -> Locator:
    return page.locator(".os-progress-read")


def stand_at(page: Page, section: Locator, seconds: int) -> None:
    """Let the end of a section stand in view."""
    there = "section => section.scrollIntoView({block: 'end', behavior: 'instant'})"
    section.evaluate(there)
    page.clock.run_for(seconds * 1000)


def stop(page: Page, name: str = CHAPTER) -> Locator:
    return page.locator(f".map-stop[data-page='{name}']")


def cover(page: Page, html: Path) -> Page:
    page.goto((html / "index.html").as_uri())
    return page


def test_a_chapter_is_read_once_every_section_was_in_view(chapter: Page, html) -> None:
    sections = chapter.locator(ENDS).all()
    for section in sections:  # flung past, it does not count
        stand_at(chapter, section, seconds=0)
    stand_at(chapter, sections[-1], seconds=3)
    expect(read_line(chapter)).to_contain_text("Not read yet")
    for section in sections[:3]:
        stand_at(chapter, section, seconds=3)
    chapter.reload()  # half today, the rest tomorrow
    for section in sections[3:]:
        stand_at(chapter, section, seconds=3)
    expect(read_line(chapter)).to_contain_text("You have read this chapter.")
    expect(stop(cover(chapter, html))).to_contain_text("read")
    expect(chapter.locator(".map-said")).to_contain_text("Chapters read: 1 of")


def test_the_reader_may_say_otherwise_with_keys(chapter: Page, html: Path) -> None:
    read_line(chapter).get_by_role("button", name="I have read it").press("Enter")
    expect(read_line(chapter)).to_contain_text("You have read this chapter.")
    chapter.keyboard.press("Enter")  # the button that takes it back has the focus
    expect(read_line(chapter)).to_contain_text("Not read yet")
    expect(cover(chapter, html).locator(".map-read")).to_have_count(0)


def test_the_road_says_how_far_one_has_come(open_page, html: Path) -> None:
    page = cover(open_page("about:blank"), html)
    expect(page.locator(".map-there")).not_to_have_count(0)
    expect(page.locator(".map-progress, .map-said, .map-read")).to_have_count(0)
    first, *_, last = stop(page).get_attribute("data-drills").split()
    record = {
        "version": 1,
        "drills": {first: DONE, last: {**DONE, "due": "2999-01-01"}},
    }
    keep = "([key, record]) => localStorage.setItem(key, JSON.stringify(record))"
    page.evaluate(keep, ["book-drills", record])
    page.reload()
    total = len(stop(page).get_attribute("data-drills").split())
    expect(stop(page)).to_contain_text(f"2 of {total} drills done · 2 due today")
    expect(page.locator(".map-progress")).to_have_count(1)
    page.get_by_role("link", name="Due today: 2.").click()
    assert page.url.endswith("drills.html")


def test_what_was_read_is_saved_loaded_and_forgotten(
    chapter: Page, tmp_path: Path
) -> None:
    panel = chapter.locator(".os-progress")

    def press(name: str) -> None:
        panel.get_by_role("button", name=name, exact=True).click()

    press("I have read it")
    with chapter.expect_download() as saved:
        press("Save to a file")
    text = Path(saved.value.path()).read_text("utf-8")
    assert list(json.loads(text)["pages"]) == [CHAPTER]
    for _ in range(2):
        press("Forget everything")
        press("Really forget everything?")
        expect(read_line(chapter)).to_contain_text("Not read yet")
        # What has been in view since then may have been noted anew; what was read is gone.
        kept = chapter.evaluate("localStorage.getItem('book-pages')") or "{}"
        assert not [name for name, page in json.loads(kept).items() if "read" in page]
        press("Bring it all back")
        expect(read_line(chapter)).to_contain_text("You have read")
    press("Not yet")
    (tmp_path / "saved.json").write_text(text)
    panel.locator("input[type=file]").set_input_files(tmp_path / "saved.json")
    expect(panel).to_contain_text("Chapters that you have read: 1.")
    expect(read_line(chapter)).to_contain_text("You have read")


@pytest.mark.parametrize("damaged", ["", "[", "[1]", '{"x": 1, "y": {"read": "soon"}}'])
def test_a_damaged_list_of_pages_breaks_nothing(open_page, html, damaged: str) -> None:
    page = cover(open_page("about:blank"), html)
    page.evaluate("text => localStorage.setItem('book-pages', text)", damaged)
    page.reload()
    expect(page.locator(".map-said")).to_have_count(0)
    page.goto((html / f"{CHAPTER}.html").as_uri())
    read_line(page).get_by_role("button", name="I have read it").click()
    expect(read_line(page)).to_contain_text("You have read")
    expect(cover(page, html).locator(".map-read")).to_have_count(1)


def test_without_scripts_the_road_says_what_takes_how_long(open_page, html) -> None:
    page = open_page(html / "index.html", java_script_enabled=False)
    expect(stop(page).locator(".map-times")).to_contain_text("min to read")
    expect(page.locator(".map-rule")).to_contain_text("words")
    expect(page.locator(".map-progress")).to_have_count(0)
