"""What only the run on a cluster can do: a worker dies while it plays."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page

from livepage.figures import registry
from tests.browser.test_figures import (  # noqa: F401
    OWN_CLOCK,
    folder,
    fresh,
    put,
    skip,
    state,
    visit,
)

pytestmark = pytest.mark.browser

ID = "cluster-run"
figure = registry.module(ID)
RUNS = figure.RUNS


@pytest.fixture
def page(reuse_page: Callable[..., Page], folder) -> Page:  # noqa: F811
    """The figure's page, on a clock that goes on when told: `tick(ms)`."""
    page = reuse_page(folder / f"{ID}.html")
    page.locator(".os-live").wait_for()
    page.evaluate(OWN_CLOCK)
    skip(page)
    return page


def kill(page: Page, run: str) -> None:
    words = registry.strings(ID)["en"]["choices"]
    page.get_by_role("radio", name=words[run], exact=True).check(force=True)


def drawn(page: Page, look: str) -> int:
    """How many chunks look so in the tree, which comes first."""
    return page.locator(f".os-stage rect.cell.{look}").count()


def values(page: Page) -> list[str]:
    return page.locator(".os-stage text.strong").all_text_contents()[-4:]


def test_a_worker_is_killed_while_the_film_plays(page: Page) -> None:
    page.get_by_role("button", name="Play").click()
    page.evaluate("tick(500)")
    kill(page, "states")
    page.evaluate("tick(500)")
    assert state(page) == {"run": "states", "t": 1.0}
    page.evaluate(f"tick({1000 * (figure.DEATH - 1.0)})")
    assert state(page)["t"] == pytest.approx(figure.DEATH, abs=0.02)
    (worker,) = [e["worker"] for e in figure.EVENTS["states"] if e["event"] == "died"]
    assert page.locator(".os-say").inner_text().startswith(f"{worker} dies.")
    assert page.locator(".os-stage .cross").count() == 1


@pytest.mark.parametrize("run", RUNS)
def test_at_the_end_all_is_merged_and_what_was_lost_stays_on_its_lane(
    page: Page, run: str
) -> None:
    put(page, {"run": run, "t": figure.SECONDS})
    found = figure.expected({"run": run, "t": figure.SECONDS})
    gone = [fold for fold in found["folds"] if fold[2] == figure.LOST]
    assert drawn(page, "lost") == len(gone) + 1  # and one in the legend
    assert values(page)[:2] == [str(n) for n in found["counts"]]
    assert (found["counts"][1] > 0) == (run != "calm")
    chunks, nodes = figure.CHUNKS, len(found["nodes"])
    merged = len(found["folds"]) - len(gone)
    assert drawn(page, "merged") == merged + chunks + nodes + 1


def test_who_holds_a_merge_takes_eight_chunks_with_it(page: Page) -> None:
    lost = []
    for run in ("states", "merge"):
        at = figure.when(run, "died")
        put(page, {"run": run, "t": at - 0.02})
        assert drawn(page, "lost") == 1
        put(page, {"run": run, "t": at + 0.02})
        lost.append(drawn(page, "lost"))
    assert lost[1] - lost[0] >= figure.FAN


@pytest.mark.parametrize("language", ["", "-es"])
@pytest.mark.parametrize("width", [320, 1280])
def test_nothing_that_is_written_leaves_the_picture(
    reuse_page,
    folder,  # noqa: F811
    width: int,
    language: str,
) -> None:
    page = reuse_page(folder / f"{ID}{language}.html", width=width)
    page.locator(".os-live").wait_for()
    skip(page)
    for run in RUNS:
        for t in np.linspace(0, figure.SECONDS, 7).tolist():
            put(page, {"run": run, "t": t})
            assert page.evaluate(OUTSIDE) == [], (run, t)


# A hair's breadth is left for the edges of letters.
OUTSIDE = """() => {
  const panel = document.querySelector(".os-figure").getBoundingClientRect();
  return [...document.querySelectorAll(".os-stage text")].filter((text) => {
    const { left, right } = text.getBoundingClientRect();
    return left < panel.left + 1 || right > panel.right - 1;
  }).map((text) => text.textContent);
}"""


def test_words_do_not_lie_on_one_another(page: Page) -> None:
    """But for the counts of arrows that come at one moment."""
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        for run in RUNS:
            put(page, {"run": run, "t": figure.SECONDS})
            assert page.evaluate(OVERLAPS) == [], (width, run)


OVERLAPS = """() => {
  const all = [...document.querySelectorAll(".os-stage text:not(.count)")];
  const boxes = all.map((text) => [text.getBoundingClientRect(), text.textContent]);
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
    && a.top < b.bottom - 2 && b.top < a.bottom - 2;
  return boxes.flatMap(([a, one], i) => boxes.slice(i + 1)
    .filter(([b]) => meet(a, b)).map(([, other]) => `${one} / ${other}`));
}"""


def test_where_nothing_may_move_the_slider_shows_any_moment(visit) -> None:  # noqa: F811
    page = visit(ID, reduced_motion="reduce")
    skip(page)
    kill(page, "merge")
    slider = page.get_by_role("slider", name="time")
    slider.focus()
    page.keyboard.press("End")
    assert state(page) == {"run": "merge", "t": figure.SECONDS}
    said = page.locator(".os-say").inner_text()
    assert re.search(r"The answer is there after \d+\.\d s\.", said)
    assert page.locator(".os-stage svg").first.is_visible()
