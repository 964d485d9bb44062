"""What only the figures of chapter 1 can do: pull on one of a row, deal, a bent axis."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page

from tests.browser.test_figures import folder, fresh, skip, state, until, visit  # noqa: F401

pytestmark = pytest.mark.browser


def pull(page: Page, handle: Locator, across: float, up: float) -> None:
    """Drag a handle by so many pixels."""
    handle.scroll_into_view_if_needed()
    box = handle.locator(".ring").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + across, y - up, steps=5)
    page.mouse.up()


@pytest.fixture
def bars(visit: Callable[..., Page]) -> Page:  # noqa: F811
    """The page of softmax-bars, unlocked, without motion."""
    page = visit("softmax-bars", reduced_motion="reduce")
    skip(page)
    return page


def test_a_handle_pulls_one_score_and_the_slider_takes_it_up(bars: Page) -> None:
    pull(bars, bars.locator('[data-item="2"]'), 0, -40)
    first, second, third = state(bars)["scores"]
    assert [first, second] == [1, 2] and third < 2
    slider = bars.get_by_role("slider", name="score 3")
    assert float(slider.input_value()) == third
    slider.focus()
    bars.keyboard.press("End")
    assert state(bars)["scores"] == [1, 2, 6]


def test_which_score_the_slider_moves_is_chosen_by_keys(bars: Page) -> None:
    bars.get_by_role("radio", name="1", exact=True).focus()
    bars.keyboard.press("ArrowRight")
    bars.keyboard.press("Tab")
    bars.keyboard.press("Home")
    assert state(bars)["scores"] == [1, -2, 3]
    box = bars.get_by_role("spinbutton", name="score 2")
    box.fill("99")
    box.press("Enter")
    assert state(bars)["scores"] == [1, 6, 3]


def test_a_new_sample_brings_eight_scores_and_always_the_same(bars: Page) -> None:
    deal = bars.get_by_role("button", name="new sample")
    seen = []
    for _ in range(3):
        deal.click()
        seen.append(tuple(state(bars)["scores"]))
    for scores in seen:
        assert len(scores) == 8 and -2 <= min(scores) and max(scores) <= 6
    assert len(set(seen)) == 3
    bars.get_by_role("button", name="Reset").click()
    deal.click()
    assert tuple(state(bars)["scores"]) == seen[0]


def test_presets_and_their_address(bars: Page) -> None:
    bars.get_by_role("button", name="101, 102, 103").click()
    assert state(bars)["shift"] == 100 and state(bars)["scores"] == [1, 2, 3]
    bars.get_by_role("button", name="1, 2, 1").click()
    until(bars, "location.hash === '#softmax-bars:scores=1,2,1'")


@pytest.mark.parametrize(
    ("asked", "scores"),
    [("2,2,5,0", [2, 2, 5, 0]), ("9,1", [6, 1]), ("a,1", [1, 2, 3]), ("", [1, 2, 3])],
)
def test_a_row_in_the_address(visit, asked: str, scores: list[float]) -> None:  # noqa: F811
    page = visit("softmax-bars", f"#softmax-bars:scores={asked}")
    skip(page)
    assert state(page)["scores"] == scores


def test_a_handle_on_a_bent_axis_stays_under_the_pointer(visit) -> None:  # noqa: F811
    page = visit("overflow", reduced_motion="reduce")
    skip(page)
    handle = page.locator('[data-drag="logit"]')
    for across in (150, -310, 40):
        before = handle.locator(".ring").bounding_box()["x"]
        pull(page, handle, across, 0)
        assert abs(handle.locator(".ring").bounding_box()["x"] - before - across) < 3
