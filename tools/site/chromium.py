"""Finds the Chromium, Chrome or Edge that is installed, and starts it."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import IO, Any

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # The suggestions of the address bar are two pages of their own, which every window
    # loads; they took more time than the page under test. Playwright disables the other
    # features itself, but of two such options only the last counts.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,HttpsUpgrades,"
    "MediaRouter,OptimizationHints,PaintHolding,ThirdPartyStoragePartitioning",
]
# WebGPU on a software GPU, which every machine has.
WEBGPU = [flag for flag in FLAGS if flag != "--disable-gpu"]
WEBGPU += ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NAMES += ("microsoft-edge", "chrome", "msedge")
MACOS = ("Chromium", "Google Chrome", "Microsoft Edge")
MISSING = "no Chromium: install Chromium, Chrome or Edge, or set CHROMIUM to its path"
WINDOWS = ("Chromium", "Google/Chrome", "Microsoft/Edge")  # each below these:
PROGRAMS = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")


def find_chromium() -> str | None:
    """Return the path of the installed browser, or what the variable CHROMIUM names."""
    places = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES)]
    places += [f"/Applications/{name}.app/Contents/MacOS/{name}" for name in MACOS]
    for product in WINDOWS:
        name = "msedge.exe" if "Edge" in product else "chrome.exe"
        for programs in filter(None, map(os.environ.get, PROGRAMS)):
            places.append(str(Path(programs, product, "Application", name)))
    return next((place for place in places if place and Path(place).exists()), None)


@contextmanager
def open_chromium() -> Iterator[Any]:
    """Yield a browser of Playwright's."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = find_chromium()
        with playwright.chromium.launch(executable_path=path, args=FLAGS) as browser:
            yield browser


def wait_for_line(output: IO[str], pattern: str) -> re.Match[str]:
    """Read a process's output until a line matches; a thread reads the rest.

    A process whose output is not read would stop once the pipe is full.
    """
    lines = []
    for line in output:
        lines.append(line)
        if match := re.search(pattern, line):
            Thread(target=output.read, daemon=True).start()
            return match
    raise RuntimeError(f"ended before it printed {pattern!r}:\n{''.join(lines)}")
