"""The figure `model` on its page: what is loaded, when, and what a reader can type."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from livepage import figures
from livepage.figures import registry

from .conftest import rest
from .test_figures import folder, put, skip, state, until, write_page  # noqa: F401

pytestmark = pytest.mark.browser

LOADED = "Boolean(window.osLoaded?.model)"
LIVE = "[...osFigures.awake.values()][0]"


@pytest.fixture
def unused(open_page, folder: Path):  # noqa: F811
    """`unused(hash="", **window)` → the page of the figure, of which nobody has used it."""

    def go(hash: str = "", file: str = "model.html", **window) -> Page:
        page = open_page(f"{(folder / file).as_uri()}{hash}", **window)
        page.locator(".os-live").first.wait_for()
        return page

    return go


def test_the_weights_are_loaded_with_the_first_press_and_not_before(unused) -> None:
    page = unused(reduced_motion="reduce")
    text = page.locator(".os-stage").inner_text()
    page.locator("[data-option]").first.click()
    rest(page, 300)  # what has to be loaded is asked for after 200
    assert not page.evaluate(LOADED)
    assert page.locator(".os-stage").inner_text() == text, "the still stands"
    assert "in tiles of 8" in text and "The maximum" in text
    page.get_by_role("button", name="Write").click()
    until(page, f"{LIVE}.here && {LIVE}.shown.step > 50")
    page.get_by_role("button", name="Stop").click()
    drawn = page.locator(".os-stage").inner_text()
    assert drawn != text and page.locator(".os-stage svg").count() == 1


def test_write_goes_on_where_the_still_ends(unused) -> None:
    page = unused(reduced_motion="reduce")
    skip(page)
    page.get_by_role("button", name="Next").click()
    until(page, f"{LIVE}.here && !{LIVE}.late")
    written = page.evaluate(f"{LIVE}.numbers.texts")
    still = registry.module("model").expected(registry.spec("model").defaults())
    assert state(page)["step"] == registry.spec("model").defaults()["step"] + 1
    for text, before in zip(written, still["texts"], strict=True):
        assert text.startswith(before) and text != before


def test_without_the_file_one_sentence_is_said_and_the_page_goes_on(
    unused,
    folder,  # noqa: F811
) -> None:
    (folder / "apart").mkdir(exist_ok=True)
    for name in ("model.js", "host.js", "style.css", "model.html", "block-stepper.js"):
        (folder / "apart" / name).write_text((folder / name).read_text())
    write_page(folder / "apart" / "both.html", ["model", "block-stepper"])
    page = unused(file="apart/both.html", reduced_motion="reduce")
    figure = page.locator("#model")
    figure.locator(".os-skip").click()
    text = figure.locator(".os-stage").inner_text()
    figure.get_by_role("button", name="Write").click()
    missing = "could not be loaded"
    until(page, f"document.querySelector('.os-say').textContent.includes('{missing}')")
    figure.get_by_role("button", name="Write").wait_for()  # it does not go on in vain
    assert figure.locator(".os-stage").inner_text() == text
    until(
        page, f"document.querySelector('.os-aside').textContent.includes('{missing}')"
    )
    page.locator("#block-stepper .os-skip").click()
    page.locator("#block-stepper").get_by_role("button", name="Next").click()
    assert "1 of 4" in page.locator("#block-stepper output").inner_text()
    (folder / "apart" / "model-loaded.js").write_text("")  # cut short
    page.evaluate("window.osLoaded = {}")  # another figure's is there
    figure.get_by_role("button", name="Next").click()
    until(page, f"!{LIVE}.late")
    assert missing in figure.locator(".os-say").inner_text()
    (folder / "apart" / "model-loaded.js").write_text(figures.loaded_script("model"))
    figure.get_by_role("button", name="Next").click()
    until(page, f"{LIVE}.here && !{LIVE}.late")
    assert missing not in figure.locator(".os-say").inner_text()
    assert not [f for f in faults(page) if not re.search("model-loaded.js|ERR_", f)]
    page.tattler.faults.clear()


def faults(page: Page) -> list[str]:
    return page.tattler.faults


def test_a_letter_that_it_does_not_know_is_told_and_nothing_is_lost(unused) -> None:
    page = unused(reduced_motion="reduce")
    skip(page)
    field = page.locator("[data-control=prompt] input")
    complaint = page.locator("[data-control=prompt] .os-complaint")
    field.fill("What is ñ?")
    field.press("Enter")
    assert "“ñ” is none of the letters" in complaint.inner_text()
    assert field.input_value() == "What is ñ?"
    assert state(page) == registry.spec("model").defaults()
    field.fill("What = 3?")
    assert complaint.inner_text() == ""
    field.press("Enter")
    until(page, f"{LIVE}.here && !{LIVE}.late")
    assert (state(page)["prompt"], state(page)["step"]) == ("What = 3?", 0)
    assert page.evaluate(f"{LIVE}.numbers.texts") == ["What = 3?"] * 2
    field.fill("")
    assert complaint.inner_text() == "Type a letter or more."
    page.locator(".os-reset").click()
    until(page, f"{LIVE}.here && !{LIVE}.late")
    field.fill("ñ")
    page.locator(".os-reset").click()
    assert field.input_value() == registry.spec("model").defaults()["prompt"]
    assert complaint.inner_text() == ""
    field.fill("What = 3?")
    field.press("Enter")
    until(page, f"{LIVE}.here && !{LIVE}.late")
    rest(page, 300)  # an address is written after 250
    address = page.evaluate("location.hash")
    again = unused(address)
    skip(again)
    until(again, f"{LIVE}.here && !{LIVE}.late")
    assert (state(again)["prompt"], state(again)["step"]) == ("What = 3?", 0)


def test_what_an_input_method_still_composes_is_not_taken(unused) -> None:
    page = unused(reduced_motion="reduce")
    skip(page)
    field = page.locator("[data-control=prompt] input")
    field.focus()
    keys = page.context.new_cdp_session(page)
    for text in ("ｎｉ", "nihao"):
        ends = {"selectionStart": 0, "selectionEnd": len(text)}
        keys.send("Input.imeSetComposition", {"text": text, **ends})
        assert page.locator("[data-control=prompt] .os-complaint").inner_text() == ""
    field.evaluate(ENTER)
    assert state(page) == registry.spec("model").defaults()
    keys.send("Input.insertText", {"text": "你"})
    assert (
        "“你” is none of the letters"
        in page.locator("[data-control=prompt] .os-complaint").inner_text()
    )


# The key with which an input method is told to take what it has composed.
ENTER = """(field) => field.dispatchEvent(
  new KeyboardEvent("keydown", { key: "Enter", isComposing: true }))"""


def test_a_dragged_slider_waits_for_nothing(unused) -> None:
    """Each of its values is taken at once; the text follows when the hand rests."""
    page = unused(reduced_motion="reduce")
    skip(page)
    put(page, {"mistake": "none"})
    taken = page.evaluate(
        """async () => {
          const [live] = osFigures.awake.values();
          const slide = document.querySelector("[data-control=block] input");
          let computed = 0;
          const { compute } = live;
          live.compute = (state) => (computed += 1, compute(state));
          for (let block = 20; block < 60; block++) {
            slide.value = block;
            slide.dispatchEvent(new Event("input"));
          }
          const before = computed;
          // clock: a pause between two looks
          while (live.late) await new Promise((done) => setTimeout(done, 10));
          return [before, computed, live.shown.block, live.numbers.same];
        }"""
    )
    assert taken == [0, 1, 59, True]


def test_paper_gets_the_still_where_nothing_was_loaded(unused) -> None:
    page = unused()
    text = page.locator(".os-stage").inner_text()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".os-stage").inner_text() == text
    assert page.locator(".os-table").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")


def test_a_listener_is_told_now_and_then_while_it_writes(unused) -> None:
    page = unused(reduced_motion="reduce")
    skip(page)
    put(page, {"mistake": "none", "step": 0})
    aside = page.locator(".os-aside")
    rest(page, 400)  # what is told is told after 300
    before = aside.text_content()
    page.get_by_role("button", name="Write").evaluate(WRITE)
    until(page, f"{LIVE}.shown.step > 3")
    assert aside.text_content() == before, "not with every piece"
    page.evaluate(f"{LIVE}.spoke = -Infinity")
    expect(aside).not_to_have_text(before)
    page.get_by_role("button", name="Stop").click()
    expect(aside).to_have_text(page.locator(".os-say").inner_text())


# And what was told last is not yet five seconds ago, however long this test takes.
WRITE = (
    "button => { button.click(); [...osFigures.awake.values()][0].spoke = Infinity }"
)
