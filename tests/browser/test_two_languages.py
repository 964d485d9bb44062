"""A reader who changes the language: the same place, the same progress."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from .conftest import rest

pytestmark = pytest.mark.browser

CHAPTER = "02-the-rescaling-trick.html"
SECTION = "one-multiplication-repairs-them-all"


def switch(page: Page) -> None:
    page.locator(".tool.language").click()
    page.evaluate("delete document.documentElement.dataset.far")


def read_to(page: Page, section: str) -> None:
    """Scroll to a section, and stay there for a while."""
    page.locator(f"#{section}").evaluate("part => part.scrollIntoView()")
    expect(page.locator(f'.here a[aria-current][href="#{section}"]')).to_have_count(1)
    rest(page, 2000)


def in_view(page: Page) -> str:
    """The anchor of the section that the reader has before them."""
    return page.evaluate(
        """() => [...document.querySelectorAll("main section > section")].filter(
          (one) => one.getBoundingClientRect().top <= innerHeight / 3).at(-1)?.id ?? "" """
    )


def test_the_other_language_opens_at_the_same_section(open_page, html: Path):
    page = open_page(html / CHAPTER)
    read_to(page, SECTION)
    switch(page)
    expect(page.locator("html")).to_have_attribute("lang", "es")
    expect(page).to_have_url(f"{(html / 'es' / CHAPTER).as_uri()}#{SECTION}")
    assert in_view(page) == SECTION
    rest(page, 2000)
    switch(page)
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page).to_have_url(f"{(html / CHAPTER).as_uri()}#{SECTION}")


def test_from_the_head_of_a_page_it_opens_the_head(open_page, html: Path):
    page = open_page(html / "es" / CHAPTER)
    switch(page)
    expect(page).to_have_url((html / CHAPTER).as_uri())


@pytest.mark.parametrize("place", ["drill-rescale-hard", "cell-running-mean"])
def test_from_the_address_of_a_place_it_opens_the_same_place(open_page, html, place):
    page = open_page((html / "es" / CHAPTER).as_uri() + f"#{place}")
    assert page.locator(f"#{place}").count() == 1
    switch(page)
    expect(page).to_have_url(f"{(html / CHAPTER).as_uri()}#{place}")


def test_an_address_that_leads_nowhere_is_not_kept(open_page, html: Path):
    page = open_page((html / "es" / CHAPTER).as_uri() + "#nowhere%20at%20all")
    switch(page)
    expect(page).to_have_url((html / CHAPTER).as_uri())


def test_the_other_language_is_asked_the_same_question(open_page, html: Path):
    page = open_page((html / "es" / "search.html").as_uri() + "?q=softmax")
    page.locator(".find-input").fill("softmax & máscara")
    switch(page)
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.locator(".find-input")).to_have_value("softmax & máscara")


def test_by_the_keyboard_it_keeps_the_place(open_page, html: Path):
    page = open_page(html / "es" / CHAPTER)
    read_to(page, SECTION)
    page.locator(".tool.language").evaluate("link => link.focus({preventScroll: true})")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page).to_have_url(f"{(html / CHAPTER).as_uri()}#{SECTION}")


def test_the_language_can_be_changed_without_scripts(open_page, html: Path):
    page = open_page(html / CHAPTER, False, java_script_enabled=False)
    page.locator(".tool.language").click()
    expect(page.locator("h1")).to_have_text("El truco del reescalado")
    expect(page.locator("html")).to_have_attribute("lang", "es")


def drill(page: Page, id: str):
    return page.locator(f"#drill-{id}")


def solve(page: Page) -> None:
    box = (
        drill(page, "rescale-hard").locator("input[type=text], input:not([type])").first
    )
    box.fill("7*exp(-2) + 1 + exp(-1)")
    box.press("Enter")


def test_what_is_solved_in_one_language_is_solved_in_both(open_page, html: Path):
    page = open_page(html / "es" / CHAPTER)
    solve(page)
    status = drill(page, "rescale-hard").locator(".os-drill-status")
    expect(status).to_contain_text("hecho")
    switch(page)
    expect(drill(page, "rescale-hard").locator(".os-drill-status")).to_contain_text(
        "done"
    )


def test_a_wrong_answer_is_told_in_the_language_of_the_page(open_page, html: Path):
    page = open_page(html / "es" / CHAPTER)
    box = (
        drill(page, "rescale-hard").locator("input[type=text], input:not([type])").first
    )
    box.fill("7 + 1 + exp(-1)")
    box.press("Enter")
    feedback = drill(page, "rescale-hard").locator(".os-drill-feedback")
    expect(feedback).to_contain_text("máximo anterior")
    assert feedback.locator("[lang=en]").count() == 0


@pytest.mark.parametrize(
    "folder, asked, found", [("es", "reescalado", True), ("", "reescalado", False),
                             ("es", "maximo corriente", True),
                             ("es", "2,147,483,648", True), ("es", "2.147.483.648", True),
                             ("", "2147483648", True), ("es", "0,53", True)],
)  # fmt: skip
def test_search_is_in_the_language_of_the_page(open_page, html, folder, asked, found):
    page = open_page((html / folder / "search.html").as_uri() + f"?q={asked}")
    places = page.locator(".find-list a")
    if found:
        expect(places.first).to_be_visible()
        addresses = [one.evaluate("link => link.href") for one in places.all()[:5]]
        assert not [one for one in addresses if ("/es/" in one) != bool(folder)]
    else:
        expect(page.locator(".find-count")).not_to_be_empty()
        assert places.count() == 0


def test_what_was_not_found_stands_in_the_marks_of_the_language(open_page, html):
    page = open_page((html / "es" / "search.html").as_uri() + "?q=xyzzy")
    expect(page.locator(".find-count")).to_have_text("No hay resultados para «xyzzy»")


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_header_fits(open_page, html: Path, width: int):
    page = open_page(html / "es" / CHAPTER, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator(".tool.language").bounding_box()
    assert box["width"] >= 44 and box["height"] >= 44


TEXT_HEIGHTS = """all => all.map((one) => {
  const range = document.createRange();
  range.selectNodeContents(one);
  return Math.round(range.getBoundingClientRect().height);
})"""


@pytest.mark.parametrize("folder", ["", "es"])
def test_a_number_of_a_chapter_stands_on_one_line(open_page, html, folder):
    page = open_page(html / folder / "drills.html", width=320)
    heights = page.locator(".os-deck-line .os-deck-number").evaluate_all(TEXT_HEIGHTS)
    assert len(heights) > 15 and len(set(heights)) == 1, heights
