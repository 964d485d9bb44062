"""Kernel drills as a reader meets them: a race on the page, named, mended, kept."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from livepage.drills import progress_html
from livepage.drills.bank import read
from livepage.drills.forms import Card
from livepage.markup import plain_maths

from .test_drills import write_page, write_scripts

pytestmark = pytest.mark.browser

DRILL = read(Path(__file__).parents[1] / "kernels")["neighbour"]
FORGETFUL = DRILL.get("code").replace("    cuda.syncthreads()\n", "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages with one kernel drill, English and Spanish."""
    folder = tmp_path_factory.mktemp("kernels")
    write_scripts(folder)
    for lang in ("en", "es"):
        body = progress_html(lang) + Card(DRILL, lang, plain_maths).section()
        write_page(folder / f"{lang}.html", body, lang)
    return folder


LISTEN = """document.addEventListener("os-kernel", (event) => {
  (globalThis.heard ??= []).push(event.detail);
});"""


def run(page: Page, source: str, button: str = "Run"):
    """Run a kernel in the page's drill and wait for the verdict."""
    section = page.locator("#drill-neighbour")
    section.locator("textarea").fill(source)
    section.get_by_role("button", name=button, exact=True).click()
    expect(section).not_to_have_attribute("data-state", "")
    return section


def test_forget_a_barrier_see_the_two_threads_mend_it_pass(site, open_page) -> None:
    page = open_page(site / "en.html", width=390)
    page.evaluate(LISTEN)
    section = run(page, FORGETFUL)
    said = section.locator(".os-drill-feedback")
    expect(said).to_contain_text("It fails on: one block.")
    expect(said).to_contain_text(
        "Thread 0 reads tile[1] on line 13. Thread 1 writes it on line 10, and no"
        " barrier makes the reader wait."
    )
    expect(said).to_contain_text("Who makes sure that a neighbour has written")
    marked = section.locator(".os-drill-gutter .os-drill-fault")
    assert marked.all_text_contents() == ["13"]
    other = section.locator(".os-drill-gutter .os-drill-other")
    assert other.all_text_contents() == ["10"]
    section = run(page, DRILL.get("code"))
    expect(section).to_have_attribute("data-state", "right")
    expect(said).to_contain_text("All 4 cases pass.")
    missing, mended = page.evaluate("heard")
    assert missing["drill"] == "neighbour" and missing["source"] == FORGETFUL
    assert missing["log"]["faults"][0]["threads"] == [0, 1]
    assert mended["log"]["faults"] == []
    phases = mended["log"]["blocks"][0]["phases"]
    assert [phase["barrier"] for phase in phases] == [11, None]
    assert page.evaluate("globalThis.livepageKernel.log.kernel") == "neighbour"


def test_a_kernel_that_passes_has_a_card_and_a_page_to_keep(site, open_page) -> None:
    page = open_page(site / "en.html")
    named = "<meta property='og:site_name' content='Squares'>"
    page.evaluate("meta => document.head.insertAdjacentHTML('beforeend', meta)", named)
    section = run(page, DRILL.get("code"))
    card = section.locator(".os-drill-score")
    expect(card).to_contain_text("48; 48 would do (× 1)")
    expect(card).to_contain_text("16 bytes")
    expect(card).to_contain_text("single, throughout")
    with page.expect_download() as kept:
        section.get_by_role("button", name="Keep this page").click()
    assert kept.value.suggested_filename == "neighbour.html"
    html = Path(kept.value.path()).read_text(encoding="utf-8")
    assert "cuda.syncthreads()" in html and "48; 48 would do" in html
    assert "<script" not in html and "Written in the book Squares, run on" in html
    section = run(page, DRILL.get("code"), "Run larger")
    expect(section).to_contain_text("larger launch: 16 blocks of 4 threads")
    section = run(page, FORGETFUL, "Run larger")
    expect(section).to_contain_text("Thread 0 reads tile[1] on line 13")


def test_the_simulator_is_fetched_with_the_first_kernel_only(site, open_page) -> None:
    page = open_page(site / "en.html")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rsplit("/")[-1]))
    run(page, FORGETFUL)
    run(page, FORGETFUL)
    assert asked.count("simulator.js") == asked.count("micropython.js") == 1


SPANISH = [  # what is done to the kernel, and what is said of it
    ("    cuda.syncthreads()\n", "", "El hilo 0 lee tile[1] en la línea 13. El hilo 1 lo"),
    ("tile[t] =", "tile[t + 9] =", "toca tile[9] en la línea 10. La forma de tile es (4)"),
    ("t + 1", "len(str(t))",
     "El simulador no acepta la línea 14, aunque Numba quizá sí: str no tiene sitio en un"
     " kernel. En su lugar: escribe números en un array."),
    ("t + 1", "t + one", "La línea 14 no se compila: el nombre one no está definido."),
    ("    cuda.syncthreads()\n", "    while t < 99:\n        pass\n",
     "El hilo 0 da vueltas sin fin: nada cambia de una vuelta a otra"),
]  # fmt: skip


def test_spanish_readers_are_told_in_spanish(site, open_page) -> None:
    page = open_page(site / "es.html")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rsplit("/")[-1]))
    for was, now, told in SPANISH:
        section = run(page, DRILL.get("code").replace(was, now), "Ejecutar")
        said = section.locator(".os-drill-feedback")
        expect(said).to_contain_text(told)
        expect(said.locator("span[lang=en]:not([data-untranslated])")).to_have_count(0)
    assert asked.count("sentences-es.js") == 1


def test_english_pages_fetch_no_translations(site, open_page) -> None:
    page = open_page(site / "en.html")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rsplit("/")[-1]))
    section = run(page, DRILL.get("code").replace("t + 1", "t + one"))
    expect(section).to_contain_text("the name one is not defined")
    assert not [name for name in asked if name.startswith("sentences")]


ENDLESS = """from numba import cuda

@cuda.jit
def neighbour(x, y, n):
    while True:
        pass
"""
BROKEN = [
    ("x = (", "this ( is never closed"),
    ("x = 1", "no function called neighbour"),
    (
        DRILL.get("code").replace("t + 1", "t + one"),
        "Line 14 does not compile: the name one is not defined",
    ),
    (ENDLESS, re.compile("loops more than 50000 times|loops for ever")),
    (DRILL.get("code"), "All 4 cases pass."),
]


def test_whatever_happens_the_next_run_works(site, open_page) -> None:
    page = open_page(site / "en.html")
    for source, message in BROKEN:
        expect(run(page, source)).to_contain_text(message)


def test_the_card_is_data_and_no_markup(site, open_page) -> None:
    page = open_page(site / "en.html")
    planted = DRILL.get("code") + "\n# <img src=x onerror=alert(1)></pre><script>"
    section = run(page, planted)
    with page.expect_download() as kept:
        section.get_by_role("button", name="Keep this page").click()
    html = Path(kept.value.path()).read_text(encoding="utf-8")
    assert "<img" not in html and "<script" not in html
    assert json.loads(page.evaluate("JSON.stringify(livepageKernel.log)"))
