"""Finds the Chromium, Chrome or Edge that is installed, and says how it is started."""

import os
import shutil
from pathlib import Path

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # The address bar's list of suggestions is two pages of its own, loaded with every
    # window; it took more time than the page under test. The rest of the list is what
    # Playwright switches off itself: of two such options only the last one counts.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,HttpsUpgrades,"
    "MediaRouter,OptimizationHints,PaintHolding,ThirdPartyStoragePartitioning",
]
# WebGPU on a GPU in software, which every machine has.
WEBGPU = [flag for flag in FLAGS if flag != "--disable-gpu"]
WEBGPU += ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NAMES += ("microsoft-edge", "chrome", "msedge")
MACOS = ("Chromium", "Google Chrome", "Microsoft Edge")
MISSING = "no Chromium: install Chromium, Chrome or Edge, or set CHROMIUM to its path"
WINDOWS = ("Chromium", "Google/Chrome", "Microsoft/Edge")  # each below these:
PROGRAMS = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")


def find_chromium() -> str | None:
    """The installed Chromium, Chrome or Edge, or what the variable CHROMIUM names."""
    places = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES)]
    places += [f"/Applications/{name}.app/Contents/MacOS/{name}" for name in MACOS]
    for product in WINDOWS:
        name = "msedge.exe" if "Edge" in product else "chrome.exe"
        for programs in filter(None, map(os.environ.get, PROGRAMS)):
            places.append(str(Path(programs, product, "Application", name)))
    return next((place for place in places if place and Path(place).exists()), None)
