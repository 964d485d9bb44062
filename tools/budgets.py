"""What the book weighs and how fast it is, each as a ratio to its budget.

    python -m tools.budgets

Times are of this machine, now; they are printed and tested by nobody. The first line
says how fast it is at the moment: only runs of the same pace can be compared.
"""

import gzip
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page, sync_playwright

from tools.build import ROOT, Book
from tools.chromium import FLAGS, MISSING, find_chromium
from tools.faults import copy_of_the_book
from tools.serve import COMPRESSED

BOOK = Book(ROOT, ROOT / "_build")
CODE_DRILL = '.os-drill:is([data-kind="code"], [data-kind="kernel"])'
PACE = 100  # ms between two keys: one input is painted before the next one comes
REST_OF_A_BUILD = 5  # s in which a build that can be seen packs the notebooks
REST = 1500  # ms until a page has loaded, or the longest glide is over
LATENCY = """() => {
  window.latencies = [];
  addEventListener('input', event => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => latencies.push(performance.now() - event.timeStamp);
    port2.postMessage(0);
  }), true);
}"""


@dataclass(frozen=True)
class Budget:
    """A measured figure and what it may be."""

    name: str
    value: float
    limit: float
    unit: str

    def __str__(self) -> str:
        ratio = self.value / self.limit
        mark = "" if ratio <= 1 else "   OVER"
        figures = f"{self.value:8.2f} of {self.limit:g} {self.unit}"
        return f"  {self.name:58} {figures:26} {ratio:5.2f}{mark}"


def builds() -> Iterator[Budget]:
    """A build of everything, and what edits take to be seen, in a copy."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        copy_of_the_book(folder, with_outputs=False)
        yield Budget("cold: execute and render everything", _build(folder), 30, "s")
        page = folder / "book" / BOOK.chapters[0].source.name
        _edit(page, "\n## ", "\nMore.\n\n## ")
        yield Budget("an edit of the prose, to the page", _build(folder), 5, "s")
        style = folder / "lib" / "livepage" / "site" / "assets" / "base.css"
        with watched(folder) as seconds:
            took = seconds(lambda: _edit(page, "\nMore.\n", "\nEven more.\n"))
            yield Budget("watched: an edit of the prose", took, 3, "s")
            took = seconds(lambda: _edit(style, "}", "outline-offset: 3px; }"))
            yield Budget("watched: an edit of the style", took, 2, "s")


def _edit(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text("utf-8").replace(old, new, 1), "utf-8")


@contextmanager
def watched(folder: Path) -> Iterator[Callable[[Callable[[], None]], float]]:
    """`make watch` in a copy; yields what times an edit until the page may reload."""
    port = 8765
    command = [sys.executable, "-m", "tools.watch", str(port)]
    watcher = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)

    def after(seen: int) -> int:
        with suppress(URLError):
            address = f"http://127.0.0.1:{port}/.watch?seen={seen}"
            with urlopen(address) as answer:
                return json.load(answer)["number"]
        time.sleep(0.1)  # the watcher is still starting
        return seen

    def seconds(edit: Callable[[], None]) -> float:
        time.sleep(REST_OF_A_BUILD)
        seen, start = after(-1), time.perf_counter()
        edit()
        while after(seen) == seen:
            pass
        return time.perf_counter() - start

    try:
        while after(0) == 0:
            pass
        yield seconds
    finally:
        time.sleep(REST_OF_A_BUILD)
        watcher.terminate()
        watcher.wait()


def _build(folder: Path) -> float:
    start = time.perf_counter()
    command = [sys.executable, "-m", "tools.build"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
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


def _size(file: Path) -> int:
    content = file.read_bytes()
    packed = file.suffix in COMPRESSED
    return len(content if packed else gzip.compress(content, 6))


def live_figure(browser: Browser, page: Path) -> float:
    """Seconds from navigation to a figure that answers, in a new context."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    start = time.perf_counter()
    tab.goto(page.as_uri(), wait_until="commit")
    tab.evaluate(
        "document.readyState === 'loading' && new Promise(ready =>"
        " addEventListener('DOMContentLoaded', ready))"
    )
    tab.evaluate(
        "document.querySelector('.os-figure').scrollIntoView({ behavior: 'instant' })"
    )
    tab.wait_for_selector(".os-figure input, .os-figure button")
    took = time.perf_counter() - start
    context.close()
    return took


def input_to_paint(browser: Browser, page: Path) -> float:
    """The 95th percentile over every slider of a page, in ms; 0 where there is none."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    tab.goto(page.as_uri())
    tab.evaluate(LATENCY)
    tab.wait_for_timeout(REST)
    for figure in tab.query_selector_all(".os-figure"):
        figure.scroll_into_view_if_needed()
        _skip_prediction(tab, figure)
        tab.wait_for_timeout(REST)
        for slider in figure.query_selector_all('input[type="range"]'):
            if slider.is_visible() and slider.is_enabled():
                slider.focus()
                for i in range(20):
                    tab.keyboard.press("ArrowLeft" if i // 10 % 2 else "ArrowRight")
                    tab.wait_for_timeout(PACE)
    tab.wait_for_timeout(200)
    found = sorted(tab.evaluate("latencies"))
    context.close()
    return statistics.quantiles(found, n=20)[-1] if len(found) > 1 else 0


def _skip_prediction(tab: Page, figure) -> None:
    figure.wait_for_selector("button")
    skip = figure.query_selector(".os-skip")
    if skip and skip.is_visible():
        skip.click()


def first_run(browser: Browser, page: Path) -> float:
    """Seconds from the first click on Run of a code drill to its verdict."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    tab.goto(page.as_uri())
    drill = tab.query_selector(CODE_DRILL)
    drill.scroll_into_view_if_needed()
    start = time.perf_counter()
    drill.query_selector(".os-drill-main").click()
    drill.wait_for_selector(".os-drill-feedback p", timeout=20_000)
    took = time.perf_counter() - start
    context.close()
    return took


def pages() -> Iterator[Budget]:
    files = [BOOK.html / f"{page.name}.html" for page in BOOK.pages]
    worst = max(files, key=weight)
    yield Budget(
        f"page weight, gz, the heaviest: {worst.stem}", weight(worst), 300, "kB"
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=FLAGS
        )
        with_figures = [f for f in files if 'class="os-figure"' in f.read_text("utf-8")]
        for file in with_figures:
            live = statistics.median(live_figure(browser, file) for _ in range(3))
            yield Budget(f"time to a live figure: {file.stem}", live, 0.7, "s")
            if paint := input_to_paint(browser, file):
                yield Budget(f"input to paint, p95: {file.stem}", paint, 16, "ms")
        with_code = [f for f in files if f.stem[:1].isdigit()]
        for file in with_code:
            run = statistics.median(first_run(browser, file) for _ in range(3))
            yield Budget(f"first Run of a code drill: {file.stem}", run, 1, "s")
        browser.close()


def pace() -> float:
    """Seconds for a loop of plain Python: the same machine is not always as fast."""
    start = time.perf_counter()
    for i in range(10_000_000):
        i * i
    return time.perf_counter() - start


def main() -> int:
    if find_chromium() is None:
        sys.exit(MISSING)
    over = 0
    print(f"  ten million turns of a Python loop take {pace():.2f} s here and now")
    for group in (pages, builds):
        for budget in group():
            print(budget, flush=True)
            over += budget.value > budget.limit
    last = BOOK.out / "tests.seconds"
    if last.exists():
        tests = Budget(
            "make test, the last run", float(last.read_text("utf-8")) / 60, 9, "min"
        )
        print(tests)
        over += tests.value > tests.limit
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
