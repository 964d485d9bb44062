"""Measures the weight and the speed of the book, each as a ratio to its budget.

    python -m tools.site.budgets

No test depends on these times. Budgets of time are for a machine of one pace: the seconds
of ten million iterations of a Python loop. The first lines print the pace of this machine
now, and every time is printed scaled to the pace of the budgets, and as measured. The work
of a page is the CPU time of its main thread, which other programs do not lengthen; it is
scaled by the CPU time of the loop. The budget of a frame is that of a 60 Hz screen; the
other budgets exceed what was measured by about a fifth.
"""

import gzip
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from urllib.request import urlopen

from bs4 import BeautifulSoup
from playwright.sync_api import Browser, ElementHandle, Page

from tools.build import HERE as BOOK
from tools.serve import COMPRESSED
from tools.site.chromium import MISSING, find_chromium, open_chromium, wait_for_line
from tools.testing.copies import build_copy, copy_of_the_book, environment_of

CODE_DRILL = '.os-drill:is([data-kind="code"], [data-kind="kernel"])'
PACE = 0.4  # s for the loop, on the machine of the budgets
LIVE = 0.5  # s of work until a figure answers
KEYS = 20  # key presses at each slider, back and forth
BETWEEN = 100  # ms between two keys, in which the page is painted
REST_OF_A_BUILD = 5  # s in which a build packs the notebooks after it has rendered
REST = 1500  # ms until a page has loaded, or the longest animation has ended
# Collects the frames in which the page changes, each identified by its time.
FRAMES = """() => {
  window.frames = new Set();
  new MutationObserver(() => window.frames.add(document.timeline.currentTime)).observe(
    document.body,
    { subtree: true, childList: true, attributes: true, characterData: true },
  );
}"""


@dataclass(frozen=True)
class Budget:
    """A measured value and its limit; a time is scaled to the pace of the budgets."""

    name: str
    measured: float
    limit: float
    unit: str
    pace: float = PACE

    @property
    def ratio(self) -> float:
        return self.measured * PACE / self.pace / self.limit

    @property
    def over(self) -> bool:
        return self.ratio > 1

    def __str__(self) -> str:
        scaled = f"{self.ratio * self.limit:8.2f} of {self.limit:g} {self.unit}"
        here = f"({self.measured:.2f} here)" if self.pace != PACE else ""
        mark = "   OVER" if self.over else ""
        return f"  {self.name:60} {scaled:20} {here:14} {self.ratio:5.2f}{mark}"


def builds(now: float) -> Iterator[Budget]:
    """Yield the times of a clean build, and of edits until they appear, in a copy."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        copy_of_the_book(folder, with_outputs=False)
        yield Budget("cold: run and render everything", _build(folder), 45, "s", now)
        page = folder / "book" / BOOK.chapters[0].source.name
        _edit(page, "\n## ", "\nMore.\n\n## ")
        yield Budget("an edit of the prose, to the page", _build(folder), 5, "s", now)
        style = folder / "lib" / "livepage" / "site" / "assets" / "base.css"
        with watched(folder) as seconds:
            took = seconds(lambda: _edit(page, "\nMore.\n", "\nEven more.\n"))
            yield Budget("watched: an edit of the prose", took, 3, "s", now)
            took = seconds(lambda: _edit(style, "}", "outline-offset: 3px; }"))
            yield Budget("watched: an edit of the style", took, 2, "s", now)


def _edit(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text("utf-8").replace(old, new, 1), "utf-8")


@contextmanager
def watched(folder: Path) -> Iterator[Callable[[Callable[[], None]], float]]:
    """Run `make watch` in a copy; yield a function that times an edit until a reload."""
    command = [sys.executable, "-m", "tools.watch", "0"]
    watcher = subprocess.Popen(
        command,
        cwd=folder,
        env=environment_of(folder),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )

    def after(seen: int) -> int:
        with urlopen(f"{address}.watch?seen={seen}") as answer:
            return json.load(answer)["number"]

    def seconds(edit: Callable[[], None]) -> float:
        time.sleep(REST_OF_A_BUILD)
        seen, start = after(-1), time.perf_counter()
        edit()
        while after(seen) == seen:
            pass
        return time.perf_counter() - start

    try:
        address = wait_for_line(watcher.stdout, r"The book is at (\S+)")[1]
        while after(0) == 0:  # the first build
            pass
        yield seconds
    finally:
        os.killpg(watcher.pid, signal.SIGTERM)  # with its builds
        watcher.wait()


def _build(folder: Path) -> float:
    start = time.perf_counter()
    build_copy(folder)
    return time.perf_counter() - start


def weight(page: Path, soup: BeautifulSoup | None = None) -> float:
    """Return the kB that a page loads, compressed as by a server, fonts included.

    A caller that has parsed the page may hand it over.
    """
    soup = soup or BeautifulSoup(page.read_text("utf-8"), "html.parser")
    names = [tag.get("src") for tag in soup.select("script[src], img[src]")]
    names += [tag.get("href") for tag in soup.select('link[rel~="stylesheet"]')]
    files = {page.parent / n.split("?")[0] for n in names if not n.startswith("data:")}
    for sheet in [file for file in files if file.suffix == ".css"]:
        files |= set(sheet.parent.rglob("*.woff2"))
    return (_size(page) + sum(map(_size, files))) / 1000


@cache
def _size(file: Path) -> int:
    content = file.read_bytes()
    packed = file.suffix in COMPRESSED
    return len(content if packed else gzip.compress(content, 6))


class Work:
    """Measures the CPU time of a tab's main thread."""

    def __init__(self, tab: Page) -> None:
        self._tools = tab.context.new_cdp_session(tab)
        self._tools.send("Performance.enable", {"timeDomain": "threadTicks"})

    @property
    def seconds(self) -> float:
        rows = self._tools.send("Performance.getMetrics")["metrics"]
        return next(row["value"] for row in rows if row["name"] == "TaskDuration")


@contextmanager
def open_tab(browser: Browser) -> Iterator[tuple[Page, Work]]:
    """Yield a tab in a new window, and its work."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    yield tab, Work(tab)
    context.close()


# The layout of sections above moves the figure, so the script scrolls again and again.
SHOWN = """async () => {
  const figure = document.querySelector(".os-figure");
  figure.closest("details")?.setAttribute("open", "");
  const isShown = () => figure.querySelector("input, button")
    ?.checkVisibility({ visibilityProperty: true });
  for (const last = Date.now() + 30_000; !isShown();) {
    if (Date.now() > last) throw Error("the figure is not live after 30 s");
    figure.scrollIntoView({ behavior: "instant" });
    await new Promise(requestAnimationFrame);
  }
}"""


def live_figure(browser: Browser, page: Path) -> float:
    """Return the seconds of work from navigation to a live figure."""
    with open_tab(browser) as (tab, work):
        tab.goto(page.as_uri(), wait_until="commit")
        tab.evaluate(
            "document.readyState === 'loading' && new Promise(ready =>"
            " addEventListener('DOMContentLoaded', ready))"
        )
        tab.evaluate(SHOWN)
        return work.seconds


def frame_of_a_drag(browser: Browser, page: Path) -> float:
    """Return the ms of work for a frame of the most expensive slider; 0 without one."""
    with open_tab(browser) as (tab, work):
        tab.goto(page.as_uri())
        tab.evaluate(FRAMES)
        tab.wait_for_timeout(REST)
        frames = [0.0]
        for figure in tab.query_selector_all(".os-figure"):
            figure.evaluate("one => one.closest('details')?.setAttribute('open', '')")
            figure.scroll_into_view_if_needed()
            _skip_prediction(tab, figure)
            tab.wait_for_timeout(REST)
            for slider in figure.query_selector_all('input[type="range"]'):
                if slider.is_visible() and slider.is_enabled():
                    frames.append(_frame(tab, work, slider))
        return max(frames)


def _frame(tab: Page, work: Work, slider: ElementHandle) -> float:
    slider.focus()
    tab.evaluate("window.frames.clear()")
    before = work.seconds
    for i in range(KEYS):
        tab.keyboard.press("ArrowLeft" if i // 10 % 2 else "ArrowRight")
        tab.wait_for_timeout(BETWEEN)
    tab.wait_for_timeout(REST)  # the last animation
    changed = tab.evaluate("window.frames.size")  # 0 for a key at a slider's end
    return (work.seconds - before) * 1000 / max(KEYS, changed)


def _skip_prediction(tab: Page, figure) -> None:
    figure.wait_for_selector("button")
    skip = figure.query_selector(".os-skip")
    if skip and skip.is_visible():
        skip.click()


def first_run(browser: Browser, page: Path) -> float:
    """Return the seconds from the first click on Run of a code drill to its verdict."""
    with open_tab(browser) as (tab, _):
        tab.goto(page.as_uri())
        drill = tab.query_selector(CODE_DRILL)
        drill.scroll_into_view_if_needed()
        start = time.perf_counter()
        drill.query_selector(".os-drill-main").click()
        drill.wait_for_selector(".os-drill-feedback p", timeout=20_000)
        return time.perf_counter() - start


def pages() -> Iterator[Budget]:
    """Yield the weight of the heaviest page, and the work of each page's figures."""
    files = [BOOK.html / f"{page.name}.html" for page in BOOK.pages]
    worst = max(files, key=weight)
    yield Budget(f"the heaviest page, gz: {worst.stem}", weight(worst), 300, "kB")
    with open_chromium() as browser:
        for file in files:
            if 'class="os-figure"' not in file.read_text("utf-8"):
                continue
            now = pace(time.process_time)  # it changes within minutes
            live = statistics.median(live_figure(browser, file) for _ in range(3))
            name = f"work until a figure is live: {file.stem}"
            yield Budget(name, live, LIVE, "s", now)
            if frame := frame_of_a_drag(browser, file):
                name = f"work for a frame of a drag: {file.stem}"
                yield Budget(name, frame, 16, "ms", now)


def first_runs(now: float) -> Iterator[Budget]:
    with open_chromium() as browser:
        for chapter in BOOK.chapters:
            file = BOOK.html / f"{chapter.name}.html"
            if not re.search('data-kind="(code|kernel)"', file.read_text("utf-8")):
                continue
            run = statistics.median(first_run(browser, file) for _ in range(3))
            yield Budget(f"first Run of a code drill: {file.stem}", run, 1, "s", now)


def pace(clock: Callable[[], float]) -> float:
    """Return the seconds of a loop of plain Python by this clock."""
    start = clock()
    for i in range(10_000_000):
        i * i
    return clock() - start


def main() -> int:
    if find_chromium() is None:
        sys.exit(MISSING)
    over = 0
    work = pace(time.process_time)
    print(f"  ten million iterations: {work:.2f} s of CPU time here, {PACE} s there")
    clock = pace(time.perf_counter)
    print(f"  and {clock:.2f} s by the clock")
    for budget in chain(pages(), first_runs(clock), builds(clock), tests()):
        print(budget, flush=True)
        over += budget.over
    return bool(over)


def tests() -> Iterator[Budget]:
    """Yield the times of the last runs of the tests, as measured."""
    for command, limit in (("test", 300), ("test-all", 720)):
        last = BOOK.out / f"{command}.seconds"
        if last.exists():
            took = float(last.read_text("utf-8"))
            yield Budget(f"make {command}, the last run", took, limit, "s")


if __name__ == "__main__":
    sys.exit(main())
