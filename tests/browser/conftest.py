"""A reader's browser: the Chromium that is installed, and a page that tattles.

Playwright drives it; its own browser download is not used. Every `open_page(...)` fails
the test if the page logs an error, breaks its Content-Security-Policy or asks the
network for anything.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    BrowserType,
    Page,
    Playwright,
    expect,
    sync_playwright,
)

from patience import PATIENCE_MS
from tools.site.chromium import FLAGS, MISSING, find_chromium

LOCAL = ("file:", "data:", "blob:", "about:", "http://127.0.0.1:", "http://localhost:")
# No name but these leads anywhere, so that a request to elsewhere leaves no machine.
ALONE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where the installed Chromium is."""
    path = find_chromium()
    if path is None:
        pytest.fail(MISSING) if os.environ.get("CI") else pytest.skip(MISSING)
    return path


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """What drives browsers; there can be one in a process."""
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright: Playwright, chromium: str) -> Iterator[Browser]:
    """One Chromium for the whole run of one worker."""
    started = open_chromium(playwright.chromium, chromium, [*FLAGS, ALONE])
    yield started
    started.close()


def open_chromium(
    kind: BrowserType, chromium: str, args: list[str], **options
) -> Browser:
    """A Chromium for which a test waits with patience."""
    return kind.launch(
        executable_path=chromium, args=args, timeout=PATIENCE_MS, **options
    )


def new_context(browser: Browser, **options) -> BrowserContext:
    """A context whose pages are waited for with patience."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE_MS)
    context.add_init_script("globalThis.livepagePatience ??= 60")  # see patience.mjs
    return context


class Tattler:
    """Collects what a page must never do."""

    def __init__(self, page: Page) -> None:
        self.faults: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"page error: {error}"))
        page.on("request", self._request)

    def _console(self, message) -> None:
        if message.type == "error":
            self.faults.append(f"console: {message.text}")

    def _request(self, request) -> None:
        if not request.url.startswith(LOCAL):
            self.faults.append(f"outside request: {request.url}")


def new_window(browser: Browser, width=1280, height=900, dark=False, **context) -> Page:
    """An empty window of its own, whose page tattles."""
    new = new_context(
        browser,
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        **context,
    )
    page = new.new_page()
    page.tattler = Tattler(page)
    return page


# The page's own limits are under test. What it waits for never comes, so that a busy
# machine cannot change what happens.
AS_FOR_READERS = "globalThis.livepagePatience = 1;"


def address(where: Path | str) -> str:
    return where.as_uri() if isinstance(where, Path) else where


def go(page: Page, where: Path | str, all_of_it: bool = True) -> Page:
    """Load a page, and lay out all of it, as it would do by itself a moment later."""
    page.goto(address(where))
    if all_of_it:
        page.evaluate("delete document.documentElement.dataset.far")
    return page


def rest(page: Page, ms: int) -> None:
    """Let so much time pass on the page, and two frames more.

    A timer that the page set before, for a time no longer, has gone off by then, however
    busy the machine is; and a picture has come to rest that glides for no longer.
    """
    page.evaluate(REST, ms)


# clock: timers of one page go off in their order
REST = """(ms) => new Promise((done) => setTimeout(
  () => requestAnimationFrame(() => requestAnimationFrame(() => done())), ms))"""


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """`open_page(address, all_of_it=True, width=1280, dark=False, **context)` → a page.

    `page.tattler.faults` lists what went wrong so far; whatever is left there when the
    test ends fails it. A test that plants a fault clears the list.
    """
    opened = []

    def open_one(where: Path | str, all_of_it: bool = True, **window) -> Page:
        opened.append(new_window(browser, **window))
        return go(opened[-1], where, all_of_it)

    yield open_one
    for page in opened:
        page.context.close()
    assert not [fault for page in opened for fault in page.tattler.faults]


@pytest.fixture(scope="session")
def windows(browser: Browser) -> Iterator[dict[str, Page]]:
    """Windows that stay open from test to test, by what they were opened with."""
    kept: dict[str, Page] = {}
    yield kept
    for page in kept.values():
        page.context.close()


@pytest.fixture
def reuse_page(browser: Browser, windows) -> Iterator[Callable[..., Page]]:
    """`open_page` in a window that is open already, for pages that store nothing.

    To open a window takes longer than most tests of a figure. With `load=False` a
    page that is there already is not loaded again.
    """
    used = []

    def open_one(where: Path | str, load: bool = True, **window) -> Page:
        key = repr(sorted(window.items()))
        page = windows.get(key) or new_window(browser, **window)
        windows[key] = page
        used.append(page)
        there = page.url.split("#")[0] == address(where).split("#")[0]
        if there and load:
            go(page, "about:blank")  # or another #place would not load the page anew
        page.emulate_media(
            media="null", color_scheme="dark" if window.get("dark") else "light"
        )
        page.set_viewport_size(
            {"width": window.get("width", 1280), "height": window.get("height", 900)}
        )
        return page if there and not load else go(page, where)

    yield open_one
    faults = [fault for page in used for fault in page.tattler.faults]
    for page in used:
        page.tattler.faults.clear()
    assert not faults
