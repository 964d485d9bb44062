"""What the book weighs and how fast it is, each as a ratio to its budget.

    python -m tools.site.budgets

Nobody tests these times. A machine is not always as fast, so a budget of time is set for
a machine of one pace: what ten million turns of a Python loop take. The first lines say
how long they take here and now, and every time is stated at the pace of the budgets, and
as measured. The work of a page is the processor's time of its main thread, which other
programs do not lengthen; so its pace is the processor's time of the loop. A frame of a
drag has what a screen of 60 Hz allows for one; the other limits are what was reached, and
about a fifth on top.
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
from threading import Thread
from urllib.request import urlopen

from bs4 import BeautifulSoup
from playwright.sync_api import Browser, ElementHandle, Page, sync_playwright

from tools.build import ROOT, Book
from tools.serve import COMPRESSED
from tools.site.chromium import FLAGS, MISSING, find_chromium
from tools.testing.copies import build_copy, copy_of_the_book, environment_of

BOOK = Book(ROOT, ROOT / "_build")
CODE_DRILL = '.os-drill:is([data-kind="code"], [data-kind="kernel"])'
PACE = 0.4  # s for the loop, on the machine that the budgets are set for
LIVE = 0.5  # s of work until a figure answers
KEYS = 20  # to each slider, there and back
BETWEEN = 100  # ms between two keys: one input is painted before the next one comes
REST_OF_A_BUILD = 5  # s in which a build that can be seen packs the notebooks
REST = 1500  # ms until a page has loaded, or the longest glide is over
# The frames in which the page changed: a change is told with the time of its frame.
FRAMES = """() => {
  window.frames = new Set();
  new MutationObserver(() => window.frames.add(document.timeline.currentTime)).observe(
    document.body,
    { subtree: true, childList: true, attributes: true, characterData: true },
  );
}"""


@dataclass(frozen=True)
class Budget:
    """A measured figure and what it may be; a time is brought to the budgets' pace."""

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
        there = f"{self.ratio * self.limit:8.2f} of {self.limit:g} {self.unit}"
        here = f"({self.measured:.2f} here)" if self.pace != PACE else ""
        mark = "   OVER" if self.over else ""
        return f"  {self.name:60} {there:20} {here:14} {self.ratio:5.2f}{mark}"


def builds(now: float) -> Iterator[Budget]:
    """A build of everything, and what edits take to be seen, in a copy."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        copy_of_the_book(folder, with_outputs=False)
        yield Budget(
            "cold: execute and render everything", _build(folder), 45, "s", now
        )
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
    """`make watch` in a copy; yields what times an edit until the page may reload."""
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
        for line in watcher.stdout:
            if found := re.search(r"The book is at (\S+)", line):
                address = found[1]
                break
        else:
            raise RuntimeError("`make watch` ended before it served the book")
        Thread(target=watcher.stdout.read, daemon=True).start()  # or it would stop
        while after(0) == 0:  # the first build
            pass
        yield seconds
    finally:
        os.killpg(watcher.pid, signal.SIGTERM)  # its builds too
        watcher.wait()


def _build(folder: Path) -> float:
    start = time.perf_counter()
    build_copy(folder)
    return time.perf_counter() - start


def weight(page: Path) -> float:
    """All that a page loads, compressed as a server would, in kB; fonts included."""
    soup = BeautifulSoup(page.read_text("utf-8"), "html.parser")
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
    """What the main thread of a tab has done so far."""

    def __init__(self, tab: Page) -> None:
        self._tools = tab.context.new_cdp_session(tab)
        self._tools.send("Performance.enable", {"timeDomain": "threadTicks"})

    @property
    def seconds(self) -> float:
        told = self._tools.send("Performance.getMetrics")["metrics"]
        return next(row["value"] for row in told if row["name"] == "TaskDuration")


@contextmanager
def opened(browser: Browser) -> Iterator[tuple[Page, Work]]:
    """A tab in a new window, and what works in it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    yield tab, Work(tab)
    context.close()


# Sections above, laid out as they come near, move the figure: it is followed.
SHOWN = """async () => {
  const figure = document.querySelector(".os-figure");
  const isShown = () => figure.querySelector("input, button")
    ?.checkVisibility({ visibilityProperty: true });
  for (const last = Date.now() + 30_000; !isShown();) {
    if (Date.now() > last) throw Error("the figure is not live after 30 s");
    figure.scrollIntoView({ behavior: "instant" });
    await new Promise(requestAnimationFrame);
  }
}"""


def live_figure(browser: Browser, page: Path) -> float:
    """Seconds of work from navigation to a figure that answers, in a new window."""
    with opened(browser) as (tab, work):
        tab.goto(page.as_uri(), wait_until="commit")
        tab.evaluate(
            "document.readyState === 'loading' && new Promise(ready =>"
            " addEventListener('DOMContentLoaded', ready))"
        )
        tab.evaluate(SHOWN)
        return work.seconds


def frame_of_a_drag(browser: Browser, page: Path) -> float:
    """Work in ms for a frame, of the slider that needs most; 0 where there is none."""
    with opened(browser) as (tab, work):
        tab.goto(page.as_uri())
        tab.evaluate(FRAMES)
        tab.wait_for_timeout(REST)
        found = [0.0]
        for figure in tab.query_selector_all(".os-figure"):
            figure.scroll_into_view_if_needed()
            _skip_prediction(tab, figure)
            tab.wait_for_timeout(REST)
            for slider in figure.query_selector_all('input[type="range"]'):
                if slider.is_visible() and slider.is_enabled():
                    found.append(_frame(tab, work, slider))
        return max(found)


def _frame(tab: Page, work: Work, slider: ElementHandle) -> float:
    slider.focus()
    tab.evaluate("window.frames.clear()")
    before = work.seconds
    for i in range(KEYS):
        tab.keyboard.press("ArrowLeft" if i // 10 % 2 else "ArrowRight")
        tab.wait_for_timeout(BETWEEN)
    tab.wait_for_timeout(REST)  # the last glide
    changed = tab.evaluate("window.frames.size")  # none, for a key at a slider's end
    return (work.seconds - before) * 1000 / max(KEYS, changed)


def _skip_prediction(tab: Page, figure) -> None:
    figure.wait_for_selector("button")
    skip = figure.query_selector(".os-skip")
    if skip and skip.is_visible():
        skip.click()


def first_run(browser: Browser, page: Path) -> float:
    """Seconds from the first click on Run of a code drill to its verdict."""
    with opened(browser) as (tab, _):
        tab.goto(page.as_uri())
        drill = tab.query_selector(CODE_DRILL)
        drill.scroll_into_view_if_needed()
        start = time.perf_counter()
        drill.query_selector(".os-drill-main").click()
        drill.wait_for_selector(".os-drill-feedback p", timeout=20_000)
        return time.perf_counter() - start


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        path = find_chromium()
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def pages() -> Iterator[Budget]:
    """What each page weighs, and the work of its figures."""
    files = [BOOK.html / f"{page.name}.html" for page in BOOK.pages]
    worst = max(files, key=weight)
    yield Budget(
        f"page weight, gz, the heaviest: {worst.stem}", weight(worst), 300, "kB"
    )
    with chromium() as browser:
        for file in files:
            if 'class="os-figure"' not in file.read_text("utf-8"):
                continue
            now = pace(time.process_time)  # it changes within minutes
            live = statistics.median(live_figure(browser, file) for _ in range(3))
            yield Budget(
                f"work until a figure is live: {file.stem}", live, LIVE, "s", now
            )
            if frame := frame_of_a_drag(browser, file):
                name = f"work for a frame of a drag: {file.stem}"
                yield Budget(name, frame, 16, "ms", now)


def first_runs(now: float) -> Iterator[Budget]:
    with chromium() as browser:
        for chapter in BOOK.chapters:
            file = BOOK.html / f"{chapter.name}.html"
            if not re.search('data-kind="(code|kernel)"', file.read_text("utf-8")):
                continue
            run = statistics.median(first_run(browser, file) for _ in range(3))
            yield Budget(f"first Run of a code drill: {file.stem}", run, 1, "s", now)


def pace(clock: Callable[[], float]) -> float:
    """Seconds for a loop of plain Python, by this clock."""
    start = clock()
    for i in range(10_000_000):
        i * i
    return clock() - start


def main() -> int:
    if find_chromium() is None:
        sys.exit(MISSING)
    over = 0
    work = pace(time.process_time)
    print(f"  ten million turns of a loop: {work:.2f} s of work here, {PACE} s there")
    clock = pace(time.perf_counter)
    print(f"  and {clock:.2f} s by the clock")
    for budget in chain(pages(), first_runs(clock), builds(clock)):
        print(budget, flush=True)
        over += budget.over
    for command, limit in (("test", 300), ("test-all", 720)):
        last = BOOK.out / f"{command}.seconds"
        if last.exists():
            took = float(last.read_text("utf-8"))
            tests = Budget(
                f"make {command}, the last run, as measured", took, limit, "s"
            )
            print(tests)
            over += tests.over
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
