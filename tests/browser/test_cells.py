"""Code cells that run on the page, as a reader meets them: run, edit, reset."""

import re
import shutil
from html import escape
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from livepage import cells, drills

from .axe import wrong
from .conftest import rest
from .test_drills import write_page, write_scripts
from .test_drills_keep import another, run_held, wait_kept

pytestmark = pytest.mark.browser

CHAPTER = [
    ("imports", "from math import exp, isclose\nimport numpy as np", ""),
    ("first", "scores = [1.0, 2.0]\nprint(scores)", "[1.0, 2.0]"),
    ("numpy", "rows = np.ones(2)\nprint(rows)", "[1. 1.]"),
    ("second", "total = sum(scores)\nassert total == 3\nprint(total)", "3.0"),
    ("quiet", "def twice(x):\n    return 2 * x", ""),
]
NOTEBOOK = (
    '<ul class="head-facts"><li><a href="page.ipynb" download>Notebook</a></li></ul>'
)


def on_page(name: str, text: str, printed: str, cell: cells.Cell) -> str:
    """A cell as the site writes it."""
    needs = f' data-needs="{" ".join(cell.needs)}"'
    runs = f'data-binds="{" ".join(cell.binds)}"{needs}' if cell.runs else ""
    runs = runs or f'data-imports="{escape(cell.imports)}"'
    out = f'<div class="cell-output"><pre class="printed" tabindex="0">{printed}</pre></div>'
    return (
        f'<div class="cell" id="cell-{name}" {runs}><div class="cell-input"><div class="code">'
        f'<pre tabindex="0"><code>{escape(text)}</code></pre></div></div>'
        f"{out if printed else ''}</div>\n"
    )


@pytest.fixture(scope="session")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cells")
    write_scripts(folder)
    (folder / "drills" / "cells.js").write_text(cells.page_script())
    with (folder / "page.css").open("a") as style:
        style.write(".code, .cell { position: relative } " + cells.stylesheet())
    plan = cells.plan([text for _, text, _ in CHAPTER])
    body = "".join(on_page(*row, cell) for row, cell in zip(CHAPTER, plan, strict=True))
    write_page(folder / "page.html", NOTEBOOK + body + drills.progress_html("en"))
    return folder / "page.html"


@pytest.fixture
def page(page_file: Path, open_page) -> Page:
    return open_page(page_file)


def cell(page: Page, name: str) -> Locator:
    return page.locator(f"#cell-{name}")


def press(page: Page, name: str, what: str) -> None:
    cell(page, name).locator(f'.code-bar [data-do="{what}"]').click()


def result(page: Page, name: str) -> Locator:
    return cell(page, name).locator(".os-cell-result")


def edit(page: Page, name: str, text: str) -> Locator:
    press(page, name, "edit")
    area = cell(page, name).locator("textarea")
    area.fill(text)
    return area


def test_a_run_takes_the_cells_it_needs_and_stands_where_the_output_stood(page):
    scripts = page.evaluate("[...document.scripts].map((s) => s.src).join()")
    assert "cells.js" not in scripts  # nothing is fetched before it is asked for
    press(page, "second", "run")
    expect(result(page, "second").locator(".printed")).to_have_text("3.0")
    expect(cell(page, "second").locator(".cell-output")).to_be_hidden()
    press(page, "quiet", "run")
    expect(result(page, "quiet")).to_contain_text("printed nothing")
    links = page.locator(".code-bar a")
    assert links.evaluate_all("all => all.map((a) => a.closest('.cell').id)") == [
        "cell-imports",
        "cell-numpy",
    ]


def test_an_edited_cell_runs_fails_with_its_values_and_is_reset(page):
    edit(page, "first", "scores = [1.0, 2.5]")  # the next cell takes it as it is now
    press(page, "second", "run")
    said = result(page, "second")
    expect(said).to_contain_text("Line 2: total == 3 is false.")
    expect(said.locator("dt")).to_have_text(["total"])
    expect(said.locator("dd")).to_have_text(["3.5"])
    cell(page, "first").get_by_role("button", name="Reset").click()
    expect(cell(page, "first").locator("textarea")).to_be_hidden()
    expect(cell(page, "first").locator(".cell-output")).to_be_visible()
    press(page, "second", "run")
    expect(said).to_contain_text("Every assertion holds.")


def test_that_assertions_hold_has_to_be_earned(page):
    said = result(page, "second")
    edit(page, "second", "assert (1 == 2, 'not so')\nassert 1 == 1").press(
        "Control+Enter"
    )
    expect(said).to_contain_text(
        "Line 1: this assertion cannot fail. (1 == 2, 'not so')"
    )
    expect(said).to_contain_text("The other assertions hold.")
    expect(said).not_to_contain_text("Every assertion holds")
    expect(cell(page, "second").locator(".os-drill-fault")).to_have_text("1")
    area = cell(page, "second").locator("textarea")
    for text, words in [
        ("def f():\n    assert 1 == 2", "Line 2: this assertion never ran."),
        ("total = 3  # assert total == 4", "No assertion is left in it."),
    ]:
        area.fill(text)
        area.press("Control+Enter")
        expect(said).to_contain_text(words)
        expect(said).not_to_contain_text("hold")


def test_numpy_is_said_to_be_in_the_notebook_and_lines_are_the_cells_own(page):
    area = edit(page, "first", "x = 1\nimport numpy")
    area.press("Control+Enter")
    expect(result(page, "first")).to_contain_text("no NumPy")
    expect(result(page, "first").get_by_role("link")).to_have_attribute(
        "href", re.compile(r"page\.ipynb$")
    )
    expect(cell(page, "first").locator(".os-drill-fault")).to_have_text("2")


def test_what_is_typed_survives_a_reload_and_is_forgotten_when_told(page):
    edit(page, "first", "mine = 1")
    wait_kept(page, "page#cell-first", "mine")
    page.reload()
    area = cell(page, "first").locator("textarea")
    expect(area).to_have_value("mine = 1")
    page.get_by_role("button", name="Forget everything").click()
    page.get_by_role("button", name="Really forget everything?").click()
    expect(area).to_have_value(CHAPTER[1][1])
    page.reload()
    expect(cell(page, "first").locator(".code")).to_be_visible()
    expect(area).to_have_count(0)


def test_a_run_whose_text_another_tab_replaced_is_ended(page):
    area = edit(page, "quiet", "print('mine')")
    wait_kept(page, "page#cell-quiet", "mine")
    tab = another(page, "page.html")
    expect(cell(tab, "quiet").locator("textarea")).to_have_value("print('mine')")
    main = cell(page, "quiet").locator(".os-drill-main")
    run_held(page, main)
    cell(tab, "quiet").locator("textarea").fill("print('other')")
    expect(area).to_have_value("print('other')")
    expect(main).to_have_text("Run")
    run_held(page, main)
    expect(main).to_have_text("Stop")
    page.evaluate("beginRun()")
    expect(result(page, "quiet").locator(".printed")).to_have_text("other")


def test_keys_alone_open_run_stop_and_reset(page):
    cell(page, "first").locator('[data-do="edit"]').focus()
    page.keyboard.press("Enter")
    area = cell(page, "first").locator("textarea")
    expect(area).to_be_focused()
    area.fill("while True:\n    pass")
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    stop = cell(page, "first").get_by_role("button", name="Stop").last
    expect(stop).to_be_focused()
    rest(
        page, 300
    )  # the loop runs, most likely; stopped before, it ends in the same words
    page.keyboard.press("Enter")
    expect(result(page, "first")).to_contain_text("Stopped.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # Reset
    expect(cell(page, "first").locator('[data-do="edit"]')).to_be_focused()
    press(page, "second", "run")  # nothing of the endless loop is left
    expect(result(page, "second").locator(".printed")).to_have_text("3.0")


@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(page_file, open_page, width: int):
    page = open_page(page_file, width=width, dark=width < 500)
    edit(page, "first", "scores = [1.0]\nassert scores == [2.0]").press("Control+Enter")
    expect(result(page, "first").locator("dd")).to_have_text("[1.0]")
    press(page, "second", "run")
    expect(result(page, "second")).to_contain_text("A cell above")
    assert not wrong(page)


def test_where_the_script_is_missing_the_button_says_so(page_file, tmp_path, open_page):
    lost = shutil.copytree(page_file.parent, tmp_path / "lost") / "page.html"
    script = lost.parent / "drills" / "cells.js"
    script.rename(script.with_suffix(".away"))
    page = open_page(lost)
    press(page, "second", "run")
    expect(cell(page, "second").get_by_role("status")).to_contain_text("notebook")
    page.tattler.faults.clear()
    script.with_suffix(".away").rename(script)
    press(page, "second", "run")
    expect(result(page, "second").locator(".printed")).to_have_text("3.0")


def test_a_cell_is_edited_from_its_first_letter(page: Page) -> None:
    press(page, "second", "edit")
    area = cell(page, "second").locator("textarea")
    expect(area).to_be_focused()
    assert area.evaluate("(area) => [area.selectionStart, area.scrollLeft]") == [0, 0]


RACES = """from numba import cuda

@cuda.jit
def shift(x, y):
    t = cuda.threadIdx.x
    x[t] = t
    y[t] = x[3 - t]

shift[1, 4]([0.0] * 4, [0.0] * 4)
"""


def test_a_spanish_page_says_in_spanish_what_the_simulator_finds(
    page_file: Path, open_page
) -> None:
    """A cell with a race; and an error of Python, which is English and marked as such."""
    file = page_file.with_name("spanish.html")
    plan = cells.plan([RACES])
    body = on_page("race", RACES, "", plan[0])
    write_page(file, NOTEBOOK + body + drills.progress_html("es"), "es")
    page = open_page(file)
    press(page, "race", "run")
    said = result(page, "race").locator(".os-cell-said")
    expect(said).to_contain_text("no hay barrera entre los dos")
    expect(said).not_to_contain_text("thread")
    edit(page, "race", "int('one')").press("Control+Enter")
    expect(said.locator("[lang=en]")).to_contain_text("ValueError")
