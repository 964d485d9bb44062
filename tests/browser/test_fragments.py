"""What only the figure of fragments can do: a thread and a number that follow each other."""

import pytest
from playwright.sync_api import Page

from .test_figures import folder, fresh, put, skip, state, visit  # noqa: F401

pytestmark = pytest.mark.browser


COLUMNS = {"S": 16, "A": 16, "B": 8, "C": 8}


def middle(page: Page, key: str) -> tuple[float, float]:
    """Where a number stands in the window."""
    name, row, column = key[0], *map(int, key[1:].split(","))
    grid = page.locator(f".os-stage .matrix-{name} .grid")
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    return (
        box["x"] + (column + 0.5) / COLUMNS[name] * box["width"],
        box["y"] + (row + 0.5) / 16 * box["height"],
    )


def click(page: Page, key: str) -> None:
    page.mouse.click(*middle(page, key))


def shown(page: Page) -> tuple[int, str]:
    now = state(page)
    return now["thread"], now["number"]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_click_on_a_number_finds_its_thread(visit, width: int) -> None:  # noqa: F811
    page = visit("fragments", width=width, reduced_motion="reduce")
    skip(page)
    page.mouse.move(*middle(page, "C3,5"))
    assert shown(page) == (0, ""), "pointing is not picking: the slider is above"
    for key, thread in (("C3,5", 14), ("A8,15", 3), ("B15,7", 31), ("A8,15", 3)):
        click(page, key)
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
    click(page, "C3,5")
    page.locator("[data-control=thread] [type=range]").press("ArrowRight")
    assert shown(page) == (15, "")
    assert page.locator("[data-control=number] select").input_value() == ""
    menu = page.locator("[data-control=number] select")
    menu.press("ArrowDown")
    assert shown(page) == (0, "A0,0")
    put(page, {"number": "C3,5", "view": "next"})
    click(page, "S3,12")
    assert shown(page) == (14, "S3,12")
    put(page, {"view": "one"})
    assert menu.input_value() == "" and state(page)["thread"] == 14


def test_c_is_hidden_until_the_reader_has_predicted(visit) -> None:  # noqa: F811
    """The question is how many threads hold a row of C: the picture must not tell."""
    page = visit("fragments")
    parts = page.locator(".matrix-C .held, .of-C")
    assert parts.count() == 8
    assert not [part for part in parts.all() if part.is_visible()]
    click(page, "C3,5")
    assert shown(page) == (0, "")
    skip(page)
    assert not [part for part in parts.all() if not part.is_visible()]


def test_a_menu_of_numbers_is_set_as_code(visit) -> None:  # noqa: F811
    """The style of its kind of control counts, not the one of all menus."""
    page = visit("fragments")
    menu = page.locator("[data-control=number] select")
    font = menu.evaluate("e => getComputedStyle(e).fontFamily")
    code = page.evaluate("getComputedStyle(document.body).getPropertyValue('--mono')")
    assert font.split(",")[0] == code.split(",")[0].strip()
