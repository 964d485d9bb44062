"""A reader's browser: the Chromium that is installed, and a page that tattles.

Playwright drives it; its own browser download is not used. Every `open_page(...)` fails
the test if the page logs an error, breaks its Content-Security-Policy or asks the
network for anything.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
MACOS = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
LOCAL = ("file:", "data:", "blob:", "about:", "http://127.0.0.1:", "http://localhost:")


def find_chromium() -> str | None:
    """The installed Chromium or Chrome, or what the variable CHROMIUM names."""
    candidates = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES), MACOS]
    return next((c for c in candidates if c and Path(c).exists()), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for the whole run of one worker."""
    path = find_chromium()
    if path is None:
        say = "no Chromium: install chromium or Chrome, or set CHROMIUM to its path"
        pytest.fail(say) if os.environ.get("CI") else pytest.skip(say)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


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


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """`open_page(path_or_url, width=1280, dark=False, **context)` → a loaded page.

    `page.tattler.faults` lists what went wrong so far; whatever is left there when the
    test ends fails it. A test that plants a fault clears the list.
    """
    contexts, tattlers = [], []

    def open_one(
        where: Path | str,
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        **context,
    ) -> Page:
        new = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            **context,
        )
        contexts.append(new)
        new.route(
            "**/*",
            lambda route: (
                route.continue_()
                if route.request.url.startswith(LOCAL)
                else route.abort()
            ),
        )
        page = new.new_page()
        page.tattler = Tattler(page)
        tattlers.append(page.tattler)
        page.goto(where.as_uri() if isinstance(where, Path) else where)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not [fault for tattler in tattlers for fault in tattler.faults]
