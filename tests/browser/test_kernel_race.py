"""What only the kernel race can do: show the kernel that the reader has just run."""

import json

import numpy as np
import pytest
from playwright.sync_api import Page

import blocksim
from livepage import figures

pytestmark = pytest.mark.browser

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self';"
    " style-src-attr 'unsafe-inline'"
)
IMPATIENT = """\
def impatient(x, y):
    t = cuda.threadIdx.x
    s = cuda.shared.array(4, float32)
    s[t] = x[t]
    # no barrier here
    y[t] = s[3 - t]
"""
PATIENT = IMPATIENT.replace("# no barrier here", "cuda.syncthreads()")


def log_of(source: str) -> dict:
    """What the simulator tells of four threads."""
    kernel = blocksim.load(source, "impatient", whole=False)
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    return blocksim.run(kernel, 1, 4, x, y, log=True).log


def run_event(source: str) -> str:
    """What a drill sends after a run, as an expression."""
    log = log_of(source)
    detail = json.dumps({"drill": "neighbour", "source": source, "log": log})
    return f"document.dispatchEvent(new CustomEvent('os-kernel', {{detail: {detail}}}))"


@pytest.fixture
def race(open_page, tmp_path):
    """`race(above=0)` → a page with the figure, so many pixels below its top."""

    def go(above: int = 0) -> Page:
        (tmp_path / "host.js").write_text(figures.host_script())
        (tmp_path / "figure.js").write_text(figures.page_script("kernel-race"))
        (tmp_path / "style.css").write_text(figures.tokens() + figures.stylesheet())
        (tmp_path / "page.html").write_text(
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            "<title>Race</title>"
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            '<meta name="viewport" content="width=device-width">'
            '<link rel="stylesheet" href="style.css">'
            '<script defer src="host.js"></script><script defer src="figure.js"></script>'
            f'</head><body><div style="height: {above}px"></div>'
            '<figure class="os-figure" id="kernel-race"'
            ' data-figure="kernel-race" data-state="{}">'
            f"{figures.still('kernel-race', {})}</figure></body></html>"
        )
        return open_page(tmp_path / "page.html", reduced_motion="reduce")

    return go


def said(page: Page) -> str:
    return page.locator(".os-say").inner_text()


def test_a_race_of_the_reader_is_drawn_and_named(race) -> None:
    page = race()
    page.locator(".os-live .os-skip").click()
    page.evaluate(run_event(IMPATIENT))
    assert page.get_by_label("yours").is_checked()
    assert page.locator(".os-stage .touch.wrong").count() > 1
    assert page.locator(".os-stage .clash").count()
    race, *_ = log_of(IMPATIENT)["faults"]
    (reader, writer), (place,) = race["threads"], race["index"]
    told = f"Thread {reader} reads s[{place}] in line 6 and thread {writer} writes it"
    assert f"{told} in line 4" in said(page)
    assert "y[t] = s[3 - t]" in page.locator(".os-code .fault").all_inner_texts()[1]


def test_the_mended_kernel_shows_its_barrier_and_no_collision(race) -> None:
    page = race()
    page.locator(".os-live .os-skip").click()
    page.evaluate(run_event(IMPATIENT))
    page.evaluate(run_event(PATIENT))
    assert page.locator(".os-stage .touch.wrong").count() == 0
    assert page.locator(".os-stage line.barrier").count() == 1
    assert "This run has no race" in said(page)


def test_a_reset_keeps_the_readers_kernel(race) -> None:
    page = race()
    page.locator(".os-live .os-skip").click()
    page.evaluate(run_event(IMPATIENT))
    page.locator(".os-reset").click()
    page.get_by_label("yours").check()
    page.locator("[data-go=next]").click()
    assert "4 of 4 threads" in said(page)


def test_a_figure_that_still_sleeps_hears_of_it(race) -> None:
    page = race(above=5000)
    assert page.locator(".os-live").count() == 0
    page.evaluate(run_event(IMPATIENT))
    assert "reads s[" not in said(page)  # that would answer the question
    page.locator(".os-live .os-skip").click()
    assert "reads s[" in said(page)


def test_a_run_that_stopped_is_not_called_clean(race) -> None:
    page = race()
    page.locator(".os-live .os-skip").click()
    page.evaluate(run_event(PATIENT.replace("3 - t", "9 - t")))
    assert "The run stopped early" in said(page)
    assert "no race" not in said(page)


def test_a_quiet_end_is_passed_over(race) -> None:
    page = race()
    page.locator(".os-live .os-skip").click()
    page.evaluate(run_event(PATIENT + "    cuda.syncthreads()\n"))
    assert "4 of 4 threads" in said(page)


def test_in_the_museum_it_is_folded_and_shows_the_readers_kernel(
    open_page, html
) -> None:
    page = open_page(html / "museum-barriers.html")
    race = page.locator("#key-race")
    page.locator("details", has=race).locator("summary").first.click()
    page.locator("#key-race.os-live").wait_for()
    assert "nobody knows who is first" in said(page)
    page.evaluate(run_event(PATIENT))
    assert "nobody knows who is first" not in said(page)


def test_an_address_unfolds_the_figure_that_it_names(open_page, html) -> None:
    page = open_page(html / "museum-barriers.html")
    page.goto((html / "museum-barriers.html").as_uri() + "#key-race:step=1")
    page.locator("#key-race .os-say").wait_for(state="visible")
    assert "Phase 1 of 7" in said(page)


def test_in_chapter_9_the_figure_does_not_ask_again(open_page, html) -> None:
    page = open_page(html / "09-the-tiled-attention-kernel.html")
    page.locator("#your-kernel").scroll_into_view_if_needed()
    page.locator("#your-kernel.os-live").wait_for()
    assert page.locator("#your-kernel .os-question").count() == 0
    page.locator("#your-kernel [data-go=back]").click()
    assert "Phase 1" in page.locator("#your-kernel .os-say").inner_text()
