"""What only the merge tree can do: bring any two together, by letters, tap or drag."""

import itertools
import re

import pytest
from playwright.sync_api import Page

from livepage import figures

pytestmark = pytest.mark.browser

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self';"
    " style-src-attr 'unsafe-inline'"
)


@pytest.fixture
def tree(open_page, tmp_path):
    """`tree(**options)` → a page with the merge tree, the prediction skipped."""

    def go(**options) -> Page:
        (tmp_path / "host.js").write_text(figures.host_script())
        (tmp_path / "figure.js").write_text(figures.page_script("merge-tree"))
        (tmp_path / "style.css").write_text(figures.tokens() + figures.stylesheet())
        (tmp_path / "page.html").write_text(
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            "<title>Tree</title>"
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            '<meta name="viewport" content="width=device-width">'
            '<link rel="stylesheet" href="style.css">'
            '<script defer src="host.js"></script><script defer src="figure.js"></script>'
            '</head><body><figure class="os-figure" id="merge-tree"'
            ' data-figure="merge-tree" data-state="{}">'
            f"{figures.still('merge-tree', {})}</figure></body></html>"
        )
        page = open_page(tmp_path / "page.html", reduced_motion="reduce", **options)
        page.locator(".os-live .os-skip").click()
        return page

    return go


def merges(page: Page) -> str:
    return page.evaluate("[...osFigures.awake.values()][0].state.merges")


def letters(page: Page) -> list[str]:
    return page.locator(".os-items button").all_inner_texts()


def answer(page: Page) -> str | None:
    found = re.search(r"o/ℓ = (\d\.\d+)", page.locator(".os-stage").inner_text())
    return found and found[1]


def test_two_letters_merge_by_keyboard_and_the_focus_stays(tree) -> None:
    page = tree()
    page.locator(".os-items button").first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".os-items [aria-pressed=true]").inner_text() == "A"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert merges(page) == "AC" and letters(page) == ["AC", "B", "D", "E"]
    assert page.evaluate("document.activeElement.closest('.os-items') !== null")
    assert "A and C" in page.locator(".os-say").inner_text()


def test_the_same_letter_twice_lets_go_again(tree) -> None:
    page = tree()
    for _ in range(2):
        page.locator(".os-items button", has_text="B").click()
    assert page.locator(".os-items [aria-pressed=true]").count() == 0
    assert merges(page) == ""


def test_undo_takes_back_one_merge(tree) -> None:
    page = tree()
    for letter in "ABCD":
        page.locator(".os-items button", has_text=letter).click()
    assert merges(page) == "AB.CD"
    page.locator(".os-undo").click()
    assert merges(page) == "AB" and letters(page) == ["AB", "C", "D", "E"]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_chunk_dragged_onto_another_merges_with_it(tree, width: int) -> None:
    page = tree(width=width)
    drag(page, "D", "B")
    assert merges(page) == "DB" and letters(page) == ["A", "BD", "C", "E"]
    drag(page, "B", None)  # dropped where nothing is
    assert merges(page) == "DB"
    assert page.locator(".os-stage [transform^=translate]").count() == 0


def drag(page: Page, key: str, onto: str | None) -> None:
    page.locator(f"rect.band[data-pick={key}]").scroll_into_view_if_needed()
    start = middle(page, key)
    end = middle(page, onto) if onto else (start[0], start[1] + 220)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=4)
    page.mouse.up()


def middle(page: Page, key: str) -> tuple[float, float]:
    box = page.locator(f"rect.band[data-pick={key}]").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_two_taps_merge_on_a_touch_screen(tree) -> None:
    page = tree(width=390, has_touch=True)
    for key in "EA":
        page.touchscreen.tap(*middle(page, key))
    assert merges(page) == "EA"


def test_nothing_merges_before_the_prediction(tree, open_page, tmp_path) -> None:
    tree()
    page = open_page(tmp_path / "page.html")
    page.locator(".os-live").wait_for()
    drag(page, "A", "C")
    assert merges(page) == ""


def test_the_rest_at_random_ends_in_one_and_then_begins_anew(tree) -> None:
    page = tree()
    page.locator(".os-items button", has_text="A").click()
    page.locator(".os-items button", has_text="E").click()
    seen = set()
    for _ in range(8):
        page.locator(".os-rest").click()
        assert len(letters(page)) == 1
        seen.add(merges(page))
    assert len(seen) > 1
    first = min(seen, key=lambda tree: not tree.startswith("AE"))
    assert first.startswith("AE")


def test_a_chunk_that_is_switched_off_changes_no_bit(tree) -> None:
    page = tree()
    page.locator("[data-control=masked] input").check()
    plain = answer_of(page, "AB.CD.AC.AE.AF")
    for place in range(5):
        pairs = ["AB", "CD", "AC", "AE"]
        pairs.insert(place, "FA" if place > 0 else "FC")
        assert answer_of(page, ".".join(pairs)) == plain


def test_every_order_shows_the_same_six_digits(tree) -> None:
    page = tree()
    seen = set()
    for order in itertools.islice(itertools.permutations("ABCDE"), 0, 120, 7):
        seen.add(answer_of(page, ".".join(order[0] + other for other in order[1:])))
    assert len(seen) > 1 and len({found[:7] for found in seen}) == 1


def answer_of(page: Page, tree: str) -> str:
    code = "merges => [...osFigures.awake.values()][0].set({ merges })"
    page.evaluate(code, tree)
    return answer(page)
