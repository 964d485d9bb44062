"""What only the figure of fragments can do: a thread and a number that follow each other."""

import pytest
from playwright.sync_api import Page

from .test_figures import folder, fresh, put, skip, state, visit  # noqa: F401

pytestmark = pytest.mark.browser


def number(page: Page, key: str):
    return page.locator(f'.os-stage .target[data-pick-one="{key}"]')


def shown(page: Page) -> tuple[int, str]:
    now = state(page)
    return now["thread"], now["number"]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_click_on_a_number_finds_its_thread(visit, width: int) -> None:  # noqa: F811
    page = visit("fragments", width=width, reduced_motion="reduce")
    skip(page)
    number(page, "C3,5").hover()
    assert shown(page) == (0, ""), "pointing is not picking: the slider is above"
    for key, thread in (("C3,5", 14), ("A8,15", 3), ("B15,7", 31), ("A8,15", 3)):
        number(page, key).click()
        assert shown(page) == (thread, key)
        assert (
            page.locator("[data-control=thread] [type=range]").input_value()
            == f"{thread}"
        )
        assert page.locator("[data-control=number] select").input_value() == key


def test_a_register_in_the_list_is_its_number(visit) -> None:  # noqa: F811
    page = visit("fragments", reduced_motion="reduce")
    skip(page)
    put(page, {"thread": 14})
    page.locator('.of-B [data-pick-one="B13,3"]').click()
    assert shown(page) == (14, "B13,3")


def test_another_thread_lets_the_number_go(visit) -> None:  # noqa: F811
    page = visit("fragments", reduced_motion="reduce")
    skip(page)
    number(page, "C3,5").click()
    page.locator("[data-control=thread] [type=range]").press("ArrowRight")
    assert shown(page) == (15, "")
    assert page.locator("[data-control=number] select").input_value() == ""
    menu = page.locator("[data-control=number] select")
    menu.press("ArrowDown")
    assert shown(page) == (0, "A0,0")
    put(page, {"number": "C3,5", "view": "next"})
    number(page, "S3,12").click()
    assert shown(page) == (14, "S3,12")
    put(page, {"view": "one"})
    assert menu.input_value() == "" and state(page)["thread"] == 14


def test_c_is_hidden_until_the_reader_has_predicted(visit) -> None:  # noqa: F811
    """The question is how many threads hold a row of C: the picture must not tell."""
    page = visit("fragments")
    parts = page.locator(".matrix-C .held, .of-C")
    assert parts.count() == 8
    assert not [part for part in parts.all() if part.is_visible()]
    number(page, "C3,5").click(force=True)
    assert shown(page) == (0, "")
    skip(page)
    assert not [part for part in parts.all() if not part.is_visible()]
