"""A film plays when asked, holds when paused, and stands still where nothing may move."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from livepage.figures import registry
from tests.browser.test_figures import (  # noqa: F401
    OWN_CLOCK,
    folder,
    fresh,
    put,
    state,
    until,
    visit,
)

from .conftest import rest

pytestmark = pytest.mark.browser

FILM = "one-factor"
LAST = registry.spec(FILM).still["t"]
PLAYING = "Boolean([...osFigures.awake.values()][0].playing)"
# The clock, the frames asked for, and whether the tab is hidden are the test's own.
HIDE = """() => {
  Object.defineProperty(document, "hidden", { value: true, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture
def film(reuse_page: Callable[..., Page], folder) -> Page:  # noqa: F811
    """The film's page, on a clock that goes on when told: `tick(ms)`."""
    page = reuse_page(folder / f"{FILM}.html")
    page.locator(".os-live").wait_for()
    page.evaluate(OWN_CLOCK)
    return page


def play(page: Page) -> None:
    page.get_by_role("button", name="Play").click()


def tick(page: Page, seconds: float) -> float:
    """One frame, so many seconds later; gives the film's time."""
    page.evaluate(f"tick({1000 * seconds})")
    return state(page)["t"]


def test_it_plays_with_the_clock_and_pause_holds_it(film: Page) -> None:
    play(film)
    assert [tick(film, 0.5), tick(film, 2.25)] == [0.5, 2.75]
    film.keyboard.press("Space")  # on the button, which has the focus
    assert not film.evaluate(PLAYING)
    assert tick(film, 3) == 2.75
    film.keyboard.press("Space")
    assert tick(film, 1) == 3.75


def test_at_its_end_it_stops_and_begins_again_when_asked(film: Page) -> None:
    put(film, {"t": LAST - 1})
    play(film)
    assert tick(film, 5) == LAST
    assert not film.evaluate(PLAYING)
    assert film.evaluate("waiting()") == 0
    play(film)
    assert tick(film, 0.25) == 0.25


def test_no_frame_is_asked_for_while_it_does_not_play(film: Page) -> None:
    assert film.evaluate("waiting()") == 0
    play(film)
    assert film.evaluate("waiting()") == 1
    film.get_by_role("button", name="Reset").click()
    tick(film, 1)
    assert film.evaluate("waiting()") == 0 and state(film)["t"] == 0


def test_a_hidden_tab_pauses(film: Page) -> None:
    play(film)
    tick(film, 4)
    film.evaluate(HIDE)
    assert not film.evaluate(PLAYING)
    assert tick(film, 9) == 4


def test_the_slider_goes_to_any_moment_and_pauses(film: Page) -> None:
    play(film)
    tick(film, 1)
    slider = film.get_by_role("slider", name="time")
    slider.focus()
    film.keyboard.press("End")
    assert state(film)["t"] == LAST and not film.evaluate(PLAYING)
    film.keyboard.press("ArrowLeft")
    assert state(film)["t"] == LAST - 0.1
    film.keyboard.press("Shift+ArrowLeft")
    assert state(film)["t"] == LAST - 1.1
    assert slider.get_attribute("aria-valuetext") == "18 of 20 s"


def test_played_and_dragged_the_picture_is_the_same(film: Page) -> None:
    play(film)
    for _ in range(19):
        tick(film, 0.5)
    played = film.locator(".os-figure > .os-stage").first.inner_html()
    put(film, {"t": 0})
    put(film, {"t": 9.5})
    assert film.locator(".os-figure > .os-stage").first.inner_html() == played


def test_whoever_sets_the_time_stops_it(film: Page) -> None:
    play(film)
    tick(film, 1)
    put(film, {"t": 12})
    assert tick(film, 1) == 12 and not film.evaluate(PLAYING)


def test_a_click_on_the_picture_plays_and_pauses(film: Page) -> None:
    picture = film.locator(".os-figure > .os-stage").first
    picture.click()
    assert film.evaluate(PLAYING)
    picture.click()
    assert not film.evaluate(PLAYING)


PUT_AT_ONCE = """times => {
  const [live] = osFigures.awake.values();
  for (const t of times) live.set({ t });
}"""


def test_each_caption_is_told_once(visit) -> None:  # noqa: F811
    page = visit(FILM)
    page.evaluate(
        """() => {
          window.told = [];
          const aside = document.querySelector(".os-aside");
          new MutationObserver(() => told.push(aside.textContent))
            .observe(aside, { childList: true });
        }"""
    )
    first, second, third = registry.module(FILM).CAPTIONS[:3]
    page.evaluate(PUT_AT_ONCE, [first + 0.1, second, second + 0.1, second + 0.2])
    until(page, "told.length")
    put(page, {"t": second + 0.3})
    rest(page, 400)  # what is told is told after 300
    assert page.evaluate("told") == ["The largest so far counts as 1."]


# ---- where nothing moves ----


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("why", ["calm", "paper", "no scripts"])
def test_four_stills_stand_where_nothing_moves(
    reuse_page,
    folder,  # noqa: F811
    why: str,
    width: int,
) -> None:
    window = {
        "calm": {"reduced_motion": "reduce"},
        "paper": {},
        "no scripts": {"java_script_enabled": False},
    }[why]
    page = reuse_page(folder / f"{FILM}.html", width=width, **window)
    if why == "paper":
        page.emulate_media(media="print")
    stills = page.locator(".os-stills figure:visible")
    assert stills.count() == 4
    boxes = [still.bounding_box() for still in stills.all()]
    assert len({round(box["x"]) for box in boxes}) == (2 if width > 700 else 1)
    assert stills.locator("figcaption:visible").count() == 4
    assert page.locator(".os-stage svg:visible").count() == 4
    assert not page.locator(".os-film:visible").count()


def test_where_it_may_move_no_still_stands(visit) -> None:  # noqa: F811
    page = visit(FILM)
    assert not page.locator(".os-stills:visible").count()
    assert page.locator(".os-film").is_visible()
