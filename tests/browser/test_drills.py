"""Every drill as a reader meets it: on a page from disk, under the book's policy."""

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from io import BytesIO
from pathlib import Path

import pytest
from matplotlib.image import imread
from playwright.sync_api import Browser, Locator, Page, expect

from livepage import drills
from livepage.drills.bank import WRITTEN, bank
from livepage.drills.entry import Drill
from livepage.drills.kinds.code import cases as code
from livepage.drills.payload import payload
from livepage.drills.words import in_language
from livepage.figures import tokens
from livepage.markup import inline

from .axe import wrong
from .conftest import AS_FOR_READERS, Tattler, new_context

pytestmark = pytest.mark.browser

POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' blob:; style-src 'self';"
    " style-src-attr 'unsafe-inline'; img-src 'self' data:; font-src 'self';"
    " worker-src blob:; connect-src 'none'; base-uri 'none'; form-action 'none'"
)
PAGE = """<!doctype html>
<html lang="{lang}"><head><meta charset="utf-8"><title>Drills</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<link rel="stylesheet" href="page.css">
<script defer src="drills/drills.js"></script></head>
<body><main><h1>Drills</h1>
{body}</main></body></html>
"""
AROUND = "html { background: var(--paper); color: var(--ink) } body { margin: 1rem }"
CODE = [d for d in bank().values() if d.kind in WRITTEN]
# Some of each kind; of all, `test_drills_answers.py` asks the page's graders.
OTHERS = [d for d in bank().values() if d.kind not in WRITTEN]
SOME = sorted(OTHERS, key=lambda d: d.kind)[::5]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with every drill of the bank, pages with some, and what they load."""
    folder = tmp_path_factory.mktemp("drills")
    write_scripts(folder)
    few = ["rescale-hard", "update", "update-lines", "trace-123", "what-to-carry"]
    for name, ids, lang in [
        ("all", list(bank()), "en"),
        ("code", [d.id for d in CODE], "en"),
        ("few", few, "en"),
        ("es", few, "es"),
        ("some", [d.id for d in SOME], "en"),
    ]:
        body = drills.progress_html(lang)
        body += "".join(drills.page_html(id, lang) for id in ids)
        write_page(folder / f"{name}.html", body, lang)
    return folder


def write_scripts(folder: Path) -> None:
    """Lay out what the pages of a folder load."""
    (folder / "page.css").write_text(tokens() + AROUND + drills.stylesheet())
    (folder / "drills").mkdir()
    (folder / "drills" / "drills.js").write_text(drills.page_script())
    for name, content in drills.page_assets().items():
        (folder / "drills" / name).write_text(content)


def write_page(file: Path, body: str, lang: str = "en") -> None:
    file.write_text(PAGE.format(lang=lang, policy=POLICY, body=body))


@pytest.fixture(scope="module")
def tab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """One page for the tests that need no other: a new one costs a second each."""
    context = new_context(browser, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.tattler = Tattler(page)
    page.blank = tmp_path_factory.mktemp("blank") / "blank.html"
    page.blank.write_text("<!doctype html><title>Blank</title>")
    yield page
    context.close()


@pytest.fixture
def visit(tab: Page) -> Iterator[Callable[[Path], Page]]:
    """Go to a page as a reader who has never been there."""

    def go(file: Path) -> Page:
        tab.goto(file.as_uri())
        return tab

    yield go
    tab.goto(tab.blank.as_uri())  # a page that goes keeps code; so it is left first
    tab.evaluate("localStorage.clear(); sessionStorage.clear()")
    faults, tab.tattler.faults = tab.tattler.faults, []
    assert not faults


@pytest.fixture
def few(site: Path, visit: Callable[[Path], Page]) -> Page:
    return visit(site / "few.html")


def card(page: Page, id: str) -> Locator:
    return page.locator(f"#drill-{id}")


def said(section: Locator) -> Locator:
    return section.locator(".os-drill-feedback")


def run(page: Page, id: str, source: str) -> Locator:
    """Put a source into a code drill, run it, and wait for its verdict."""
    section = card(page, id)
    section.locator("textarea").fill(source)
    section.get_by_role("button", name="Run").click()
    expect(section.locator(".os-drill-verdict")).to_be_visible()
    return section


# ---- answers, by keyboard alone


def answer(page: Page, d: Drill) -> None:
    """Give the right answer with nothing but keys; the form has the focus."""
    section, data = card(page, d.id), payload(d)
    if d.kind == "choice":
        section.locator("input").first.focus()
        page.keyboard.press("Space")
        for _ in range(data["right"]):
            page.keyboard.press("ArrowDown")
        section.get_by_role("button", name="Check").focus()
        page.keyboard.press("Enter")
    elif d.kind == "order":
        sort_lines(page, section, data["shown"])
        section.get_by_role("button", name="Check").focus()
        page.keyboard.press("Enter")
    elif d.kind == "trace":
        for box in section.locator("td input:not([readonly])").all():
            i, j = map(int, box.get_attribute("name").split("-")[1:])
            box.focus()
            page.keyboard.insert_text(str(data["rows"][i][j]))
        page.keyboard.press("Enter")
    else:
        box = section.locator("[name=answer]")
        box.fill("")
        own = "points" in d.fields
        page.keyboard.insert_text("My words." if own else d.get("answer")["value"])
        page.keyboard.press("Tab" if own else "Enter")
        if own:
            page.keyboard.press("Enter")
            say_all(page, section)


def say_all(page: Page, section: Locator) -> None:
    """Say with one key that the text had it all."""
    expect(section.get_by_role("button", name="I had it all")).to_be_focused()
    page.keyboard.press("Enter")


def sort_lines(page: Page, section: Locator, shown: list[int]) -> None:
    """Bring each line to its place with its own button, from the top down."""
    for place in range(len(shown)):
        line = section.locator(f'[data-line="{shown.index(place)}"]')
        line.locator('[data-move="-1"]').focus()
        at = line.evaluate("line => [...line.parentNode.children].indexOf(line)")
        for _ in range(at - place):
            page.keyboard.press("Enter")


def test_drills_of_every_kind_but_code_pass_by_keyboard(site, visit) -> None:
    assert {d.kind for d in SOME} == {d.kind for d in OTHERS}
    page = visit(site / "some.html")
    for d in SOME:
        answer(page, d)
        expect(card(page, d.id)).to_have_attribute("data-state", "right")
        expect(card(page, d.id).locator("details")).to_be_visible()


# ---- the ladder of help


def test_echo_hint_hints_step_solution(few: Page) -> None:
    section = card(few, "rescale-hard")
    section.get_by_label("Your answer").fill("7+1+e^-1")
    expect(section.locator("output")).to_have_text("= 8.3679")
    few.keyboard.press("Enter")
    expect(said(section)).to_contain_text("Not yet. I read 8.3679.")
    expect(said(section)).to_contain_text("still measured from the old maximum")
    box = section.get_by_label("Your answer")
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(section.locator("details")).to_be_hidden()

    box.fill("1234")
    few.keyboard.press("Enter")
    expect(said(section)).to_contain_text("Go through the steps once more")
    expect(said(section)).to_contain_text("look at the solution")


def test_help_comes_one_by_one_and_ends_with_the_solution(few: Page) -> None:
    section = card(few, "rescale-hard")
    d = bank()["rescale-hard"]
    for n in range(1, len([*d.get("hints"), *d.get("steps")]) + 1):
        section.get_by_role("button", name="Hint").click()
        expect(section.locator(".os-drill-hint")).to_have_count(n)
    expect(section.get_by_role("button", name="Hint")).to_have_count(0)

    section.get_by_role("button", name="Show me").click()
    expect(section.locator("details")).to_have_attribute("open", "")
    expect(section.locator("summary")).to_be_focused()
    expect(section).to_contain_text("come back tomorrow")


def test_the_solution_is_offered_once_in_a_visit(few: Page) -> None:
    offer = card(few, "rescale-hard").locator(".os-drill-offer")
    for said_before in (0, 1):
        for n in range(4):
            card(few, "rescale-hard").get_by_label("Your answer").fill(f"{1000 + n}")
            few.keyboard.press("Enter")
            expect(offer).to_have_count(1 if n == 1 and not said_before else 0)
        few.reload()


def test_the_solution_is_not_offered_of_a_drill_that_was_passed(few: Page) -> None:
    section = card(few, "rescale-hard")
    for value in [bank()["rescale-hard"].get("answer")["value"], "11", "12", "13"]:
        section.get_by_label("Your answer").fill(value)
        few.keyboard.press("Enter")
        expect(section.locator(".os-drill-verdict")).to_be_visible()
        expect(section.locator(".os-drill-offer")).to_have_count(0)


def test_an_exhibit_as_it_stands_shows_its_fault_and_keeps_its_diagnosis(
    site: Path, visit
) -> None:
    page = visit(site / "code.html")
    d = bank()["told-right"]
    diagnosis = plain(d.get("mutants")[0]["hint"])
    section = run(page, d.id, d.get("starter") + "\n# as it was")
    expect(said(section)).to_contain_text("It fails on: off in the third digit.")
    expect(said(section).locator("table")).to_be_visible()
    expect(said(section)).to_contain_text("You have not changed the code yet.")
    expect(said(section)).not_to_contain_text(diagnosis)
    section.get_by_role("button", name="Hint").click()
    section = run(page, d.id, d.get("starter"))
    expect(said(section)).to_contain_text(diagnosis)


def test_who_comes_nearer_gets_no_less_help(site: Path, visit) -> None:
    """Two of three holes are mended, and no listed mistake leaves just the third."""
    page = visit(site / "code.html")
    d = bank()["told-right"]
    section = run(page, d.id, code.mutants(d)[1])
    expect(said(section)).to_contain_text(plain(d.get("mutants")[1]["hint"]))
    nearer = d.get("code").replace(
        "if len(row) != len(right)", "if len(row) < len(right)"
    )
    section = run(page, d.id, nearer)
    expect(said(section)).to_contain_text("It fails on: a number too many.")
    expect(section.locator(".os-drill-hint")).to_have_count(1)
    expect(section.locator(".os-drill-hint")).to_contain_text("told wrong by this")


def test_an_unreadable_answer_costs_nothing(few: Page) -> None:
    section = card(few, "rescale-hard")
    for _ in range(3):
        section.get_by_label("Your answer").fill("banana")
        few.keyboard.press("Enter")
    expect(said(section)).to_contain_text("cannot read that as a number")
    expect(said(section)).not_to_contain_text("look at the solution")


def test_own_words_are_compared_by_their_owner_with_one_key(few: Page) -> None:
    section = card(few, "what-to-carry")
    text = section.get_by_label("In your own words")
    verdicts = section.get_by_role("group", name="Does your text say all of it?")
    text.fill("  ")
    section.get_by_role("button", name="Compare").press("Enter")
    expect(said(section)).to_contain_text("Write a sentence first")
    expect(verdicts).to_be_hidden()
    expect(section.locator("details")).to_be_hidden()

    text.fill("The opposite of the answer, in its words: maximum, sum, multiply.")
    section.get_by_role("button", name="Compare").press("Enter")
    expect(verdicts.get_by_role("button", name="I had it all")).to_be_focused()
    points = section.locator("details li")
    expect(points).to_have_count(len(bank()["what-to-carry"].get("points")))
    expect(points.first).to_be_visible()
    expect(section).to_have_attribute("data-state", "")  # nothing is judged yet
    expect(section.locator(".os-drill-status")).to_be_hidden()
    few.keyboard.press("Tab")
    few.keyboard.press("Enter")
    expect(said(section)).to_have_text(
        "Something was missing. This drill will come back tomorrow."
    )
    expect(section).to_have_attribute("data-state", "")
    kept = record(few, "what-to-carry")
    assert (kept["stage"], kept["done"]) == (0, None), "some of it is not done"

    words = text.input_value()
    text.fill("")
    verdicts.get_by_role("button", name="I had it all").click()
    expect(said(section)).to_contain_text("Write a sentence first")
    text.fill(words)
    verdicts.get_by_role("button", name="I had it all").click()
    expect(said(section)).to_have_text("You had it all.")
    expect(section).to_have_attribute("data-state", "right")
    assert record(few, "what-to-carry")["stage"] == 1, "had late it is back as soon"
    expect(text).to_have_value(re.compile("^The opposite"))


def record(page: Page, id: str) -> dict:
    """Return what the browser keeps of a drill."""
    stored = page.evaluate("localStorage.getItem('book-drills')")
    return json.loads(stored)["drills"][id]


NEAR = [  # typed, what is said of it, what is not
    ("8.37", "still measured from the old maximum", "Close"),
    ("2.3", "Close. I read 2.3.Not enough digits are right yet. Give", "measured"),
    ("2.36", "Not yet. I read 2.36.That is not it", "Close"),
    ("2,315,000", "I read 2315000.", "Close"),
    ("2.315.", "cannot read that as a number", "Close"),
    ("", "Type an answer first", "Close"),
]


def test_a_near_miss_is_told_how_exact_and_costs_nothing(few: Page) -> None:
    section = card(few, "rescale-hard")
    box = section.get_by_label("Your answer")
    expect(section.locator(".os-drill-asked")).to_have_text(
        "Give three significant digits; the last may be off by one."
    )
    for _ in range(3):
        box.fill("2.3")
        few.keyboard.press("Enter")
    expect(said(section)).not_to_contain_text("look at the solution")
    for typed, yes, no in NEAR:
        box.fill(typed)
        few.keyboard.press("Enter")
        expect(said(section)).to_contain_text(yes)
        expect(said(section)).not_to_contain_text(no)
    box.fill("2,32")
    few.keyboard.press("Enter")
    expect(said(section)).to_have_text("Right. I read 2.32.")


def test_a_box_is_never_slow_whatever_is_typed(few: Page) -> None:
    box = card(few, "rescale-hard").get_by_label("Your answer")
    long = ("(" * 5000, "1+" * 5000)
    for typed in ("harmonic(inf)", "harmonic(10^12)", "9^9^9^9^9", *long):
        box.fill(typed)
    expect(box).to_have_value("1+" * 5000)


# ---- tables and lines


def test_a_trace_can_be_studied_half_filled_or_blank(few: Page) -> None:
    section = card(few, "trace-123")
    cells = section.locator("form td input")
    expect(section.get_by_label("α, row 1")).to_have_value("")
    section.get_by_label("All of it").check()
    assert cells.evaluate_all("all => all.every((c) => c.value && c.readOnly)")
    section.get_by_role("button", name="Check").click()
    expect(said(section)).to_contain_text("Now try it")

    section.get_by_label("Nothing").check()
    assert cells.evaluate_all("all => all.every((c) => !c.value && !c.readOnly)")
    typed = ["1", "0", "1", "2", "1/e", "2"]
    for box, value in zip(cells.all(), typed):
        box.fill(value)
    few.keyboard.press("Enter")
    wrong = section.get_by_label("ℓ, row 2")
    expect(wrong).to_have_attribute("aria-invalid", "true")
    assert section.locator("[aria-invalid]").count() == 1
    expect(said(section)).to_contain_text("added the newcomer to the old sum as it was")


def test_a_verdict_comes_into_view(site: Path, open_page) -> None:
    page = open_page(site / "few.html", height=320)
    page.locator("#drill-rescale-hard [name=answer]").focus()
    page.evaluate(
        "scrollBy(0, document.activeElement.getBoundingClientRect().bottom - innerHeight)"
    )
    page.keyboard.insert_text("1")
    page.keyboard.press("Enter")
    expect(said(card(page, "rescale-hard"))).to_be_in_viewport(ratio=1)


def test_lines_can_be_dragged_and_say_where_they_are(few: Page) -> None:
    section = card(few, "update-lines")
    letters = section.locator("li .os-drill-letter")
    before = letters.all_text_contents()
    section.scroll_into_view_if_needed()
    first, third = section.locator("li").nth(0), section.locator("li").nth(2)
    start = first.locator(".os-drill-grip").bounding_box()
    goal = third.bounding_box()
    few.mouse.move(start["x"] + 8, start["y"] + 8)
    few.mouse.down()
    few.mouse.move(start["x"] + 8, goal["y"] + goal["height"] - 4, steps=8)
    few.mouse.up()
    assert letters.all_text_contents() == [*before[1:3], before[0], *before[3:]]
    expect(said(section)).to_contain_text(f"Line {before[0]} is now number 3 of 6")

    up = section.get_by_role("button", name=f"Move up: Line {before[0]}")
    up.click()
    expect(up).to_be_focused()
    section.get_by_role("button", name="Start again").click()
    assert letters.all_text_contents() == before


def test_lines_can_be_dragged_by_touch(site: Path, open_page) -> None:
    page = open_page(site / "few.html", width=390, has_touch=True)
    section = card(page, "update-lines")
    letters = section.locator("li .os-drill-letter")
    before = letters.all_text_contents()
    section.scroll_into_view_if_needed()
    grip = section.locator(".os-drill-grip").nth(0).bounding_box()
    goal = section.locator("li").nth(1).bounding_box()
    x, y = grip["x"] + 8, grip["y"] + 8
    touch = page.context.new_cdp_session(page)
    for kind, height in [
        ("touchStart", y),
        ("touchMove", (y + goal["y"]) / 2),
        ("touchMove", goal["y"] + goal["height"] - 3),
        ("touchEnd", None),
    ]:
        points = [] if height is None else [{"x": x, "y": height}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    assert letters.all_text_contents()[:2] == [before[1], before[0]]


# ---- code, in MicroPython


def test_python_is_fetched_on_the_first_run_only(site: Path, open_page) -> None:
    page = open_page(site / "few.html")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    answer(page, bank()["rescale-hard"])
    assert not [url for url in asked if "micropython" in url]
    run(page, "update", "x = 1")
    run(page, "update", "x = 2")
    assert len([url for url in asked if url.endswith("micropython.js")]) == 1


def test_on_the_page_too_answers_pass_and_a_mutant_dies(site: Path, visit) -> None:
    """What the page itself does; `test_drills_code.py` asks its Python of all drills."""
    page = visit(site / "code.html")
    for d in CODE[::6]:
        mutant = "from math import exp, inf, sqrt\n" + code.mutants(d)[1]
        sources = [d.get("code"), mutant]
        right, wrong = page.evaluate(RUN_EACH, [f"drill-{d.id}", sources])
        assert right[0] == "right", d.id
        hint = plain(d.get("mutants")[1]["hint"])
        assert wrong[0] == "wrong" and hint in wrong[1], d.id


# Through the page's own form, one source after the other; a hundred clicks are slower.
RUN_EACH = """async ([id, sources]) => {
  const section = document.getElementById(id);
  const form = section.querySelector("form");
  const told = [];
  for (const source of sources) {
    form.elements.answer.value = source;
    form.requestSubmit();
    // clock: a pause between two looks
    do await new Promise((next) => setTimeout(next, 5)); while (!section.dataset.state);
    told.push([section.dataset.state, section.querySelector("form").textContent]);
  }
  return told;
}"""


def plain(hint: object) -> str:
    """Return a hint as the page's text: markup away, entities read."""
    return unescape(re.sub("<[^>]+>", "", inline(in_language(hint))))


def test_only_the_first_failure_is_shown_yours_beside_expected(few: Page) -> None:
    source = bank()["update"].get("code").replace("alpha * l", "l")
    section = run(few, "update", source.replace("    alpha", "    print(m)\n    alpha"))
    expect(said(section)).to_contain_text("It fails on: ascending. Step 2")
    heads = section.locator("thead th").all_text_contents()
    assert heads == [
        "step",
        "m, ℓ before",
        "block",
        "α",
        "m",
        "ℓ, yours",
        "ℓ, expected",
    ]
    rows = section.locator("tbody tr").all_text_contents()
    assert rows == ["1−∞, 01" + "0" + "1" + "1" + "1", "21, 120.367882✗ 21.3679"]
    expect(section.locator(".os-drill-printed")).to_have_text("-inf\n1\n2")


def test_an_endless_loop_is_ended_and_the_next_run_works(few: Page) -> None:
    loop = "def update(m, l, block):\n    print('here')\n    while True: pass\n"
    few.evaluate(AS_FOR_READERS)
    section = run(few, "update", loop)
    expect(said(section)).to_contain_text(
        "It takes too long, or too much memory. Does a loop never end"
    )
    expect(said(section)).to_contain_text("here")
    few.evaluate("livepagePatience = 60")
    section = run(few, "update", bank()["update"].get("code"))
    expect(section).to_have_attribute("data-state", "right")


def test_a_flood_of_prints_is_dammed(few: Page) -> None:
    loop = "def update(m, l, block):\n    while True:\n        print('x' * 50)\n"
    few.evaluate(AS_FOR_READERS)
    section = run(few, "update", loop)
    printed = section.locator(".os-drill-printed").text_content()
    assert 9_000 < len(printed) <= 10_000
    expect(said(section)).to_contain_text(
        re.compile(r"\d+ more characters are left out")
    )


def test_a_heartbeat_is_no_licence_to_run_for_ever(site: Path, open_page) -> None:
    page = open_page(site / "few.html")
    page.clock.install()
    page.add_init_script(AS_FOR_READERS + BEATING_WORKER)
    page.reload()
    section = card(page, "update")
    section.get_by_role("button", name="Run").click()
    page.clock.run_for(19_000)
    expect(section).to_have_attribute("data-state", "")
    page.clock.run_for(2_000)
    expect(said(section)).to_contain_text("Stopped after 20 seconds")


@pytest.mark.parametrize(("first", "patience"), [(10, 2000), (200, 6000)])
def test_a_mistake_without_end_is_told_without_its_name(
    site: Path, open_page, first: int, patience: int
) -> None:
    """A machine that took longer to find the failure may take longer to name it."""
    page = open_page(site / "few.html")
    page.clock.install()
    page.add_init_script(f"{AS_FOR_READERS}const FIRST_MS = {first};{NAMELESS_WORKER}")
    page.reload()
    section = card(page, "update")
    section.get_by_role("button", name="Run").click()
    page.clock.run_for(first + patience - 100)
    expect(section).to_have_attribute("data-state", "")
    page.clock.run_for(200)
    expect(said(section)).to_contain_text("ZeroDivisionError")


# A worker that is ready at once, fails soon, and beats for ever after that.
NAMELESS_WORKER = """window.livepagePython = {loader: "", wasm: ""};
window.Worker = class {
  postMessage(data) {
    if ("wasm" in data) {
      return void queueMicrotask(() => this.onmessage({data: {ready: true}}));
    }
    const fault = {fault: "raised", word: "raised", slots: {error: "ZeroDivisionError"}};
    const report = {passed: false, case: 0, rows: [], ...fault};
    // clock: the test's own, of Playwright
    setTimeout(() => {
      this.onmessage({data: {first: report}});
      // clock: the test's own, of Playwright
      this.beat = setInterval(() => this.onmessage({data: {alive: true}}), 1000);
    }, FIRST_MS);
  }
  terminate() { clearInterval(this.beat); }
};"""


# A worker that is ready at once, beats every second, and never reports.
BEATING_WORKER = """window.livepagePython = {loader: "", wasm: ""};
window.Worker = class {
  postMessage(data) {
    if ("wasm" in data) {
      return void queueMicrotask(() => this.onmessage({data: {ready: true}}));
    }
    // clock: the test's own, of Playwright
    this.beat = setInterval(() => this.onmessage({data: {alive: true}}), 1000);
  }
  terminate() { clearInterval(this.beat); }
};"""


def test_python_itself_may_break_and_is_started_again(few: Page) -> None:
    deep = "def update(m, l, block):\n    return update(m, l, block)\n"
    expect(said(run(few, "update", deep))).to_contain_text("calls itself")
    leave = "def update(m, l, block):\n    raise SystemExit\n"
    expect(said(run(few, "update", leave))).to_contain_text("ends the program")
    section = run(few, "update", bank()["update"].get("code"))
    expect(section).to_have_attribute("data-state", "right")


ERRORS = [  # a source, what is said about it, the line that is marked
    ("x = 1\n\ny = (", "this ( is never closed", ["3"]),
    ("def update(m, l, block):\n    return m, foo\n", "'foo' isn't defined", ["2"]),
    ("def update(m, l, block):\n    return m, exp(l)\n", "from math import exp", ["2"]),
    ("import numpy\n", "lists, loops and math", ["1"]),
    ("x = [1, *[2]]\n", "a star inside a list", ["1"]),
    ("x = 1", "no function called update", []),
]


def test_an_error_names_its_line(few: Page) -> None:
    for source, message, lines in ERRORS:
        section = run(few, "update", source)
        expect(said(section)).to_contain_text(message)
        faulty = section.locator(".os-drill-gutter .os-drill-fault")
        assert faulty.all_text_contents() == lines, source


def test_where_python_cannot_start_the_page_says_so(site: Path, open_page) -> None:
    page = open_page(site / "few.html")
    page.route("**/micropython.js", lambda route: route.abort())
    page.reload()
    section = card(page, "update")
    section.get_by_role("button", name="Run").click()
    expect(said(section)).to_contain_text("notebook of this chapter has the same drill")
    page.tattler.faults.clear()


# ---- the editor


def test_the_editor_indents_and_lets_go(few: Page) -> None:
    area = card(few, "update").get_by_label("Your code")
    area.fill("")
    area.press_sequentially("def f(x):\nif x:\nreturn 1")
    assert area.input_value() == "def f(x):\n    if x:\n        return 1"
    few.keyboard.press("Enter")
    few.keyboard.press("Backspace")
    few.keyboard.type("y")
    assert area.input_value().endswith("\n    y")
    few.keyboard.press("Home")
    few.keyboard.press("Shift+Tab")
    assert area.input_value().endswith("\ny")
    few.keyboard.press("Tab")
    assert area.input_value().endswith("\n    y")
    few.keyboard.press("Control+z")
    assert area.input_value().endswith("\ny")
    gutter = card(few, "update").locator(".os-drill-gutter span")
    assert gutter.count() == 4
    expect(area).to_be_focused()
    few.keyboard.press("Escape")
    few.keyboard.press("Tab")
    expect(card(few, "update").get_by_role("button", name="Run")).to_be_focused()


def test_the_editor_shows_that_a_line_goes_on(few: Page) -> None:
    """Its right edge is shaded, until the end of the line is reached."""
    area = card(few, "update").get_by_label("Your code")
    area.fill("x = 1")
    short = edge(area)
    area.fill(f"x = {'1' * 400}\n\n\n")
    area.evaluate("area => (area.scrollLeft = 0)")
    assert edge(area) < short - 0.02
    area.evaluate("area => (area.scrollLeft = area.scrollWidth)")
    assert edge(area) == pytest.approx(short, abs=0.01)


def edge(area: Locator) -> float:
    """How light an editor is below its text, at its right edge."""
    picture = imread(BytesIO(area.screenshot()))
    return float(picture[-6:-3, -4:-2, :3].mean())


def test_a_long_text_is_numbered_without_counting_its_lines_again(few: Page) -> None:
    """A browser walks through all lines to count them: a million steps for a thousand."""
    type_lines = """(area, lines) => {
      const gutter = area.parentElement.querySelector(".os-drill-gutter");
      let counts = 0;
      const get = () => { counts += 1; return gutter.children.length; };
      Object.defineProperty(gutter, "childElementCount", { get, configurable: true });
      area.value = Array(lines).fill("x = 1").join("\\n");
      area.dispatchEvent(new Event("input", { bubbles: true }));
      return [counts < 5, gutter.children.length, gutter.lastChild.textContent];
    }"""
    area = card(few, "update").locator("textarea")
    for lines in (1000, 3):
        assert area.evaluate(type_lines, lines) == [True, lines, str(lines)]


def test_starting_again_can_be_undone(few: Page) -> None:
    section = card(few, "update")
    section.get_by_label("Your code").fill("mine = 1")
    section.get_by_role("button", name="Start again").click()
    starter = bank()["update"].get("starter").rstrip()
    expect(section.get_by_label("Your code")).to_have_value(starter)
    few.keyboard.press("Control+z")
    expect(section.get_by_label("Your code")).to_have_value("mine = 1")


def test_several_lines_are_indented_together_and_ctrl_enter_runs(few: Page) -> None:
    area = card(few, "update").get_by_label("Your code")
    area.fill("a = 1\nb = 2")
    few.keyboard.press("Control+a")
    few.keyboard.press("Tab")
    assert area.input_value() == "    a = 1\n    b = 2"
    few.keyboard.press("Shift+Tab")
    assert area.input_value() == "a = 1\nb = 2"
    few.keyboard.press("Control+Enter")
    expect(said(card(few, "update"))).to_contain_text("no function called update")


# ---- progress


def status(page: Page, id: str) -> Locator:
    return card(page, id).locator(".os-drill-status")


def test_progress_code_and_record_outlive_the_page(few: Page, tmp_path: Path) -> None:
    answer(few, bank()["rescale-hard"])
    run(few, "update", "x = 7")
    few.reload()
    expect(status(few, "rescale-hard")).to_contain_text("done")
    expect(card(few, "update").get_by_label("Your code")).to_have_value("x = 7")
    panel = few.locator(".os-progress")
    expect(panel).to_contain_text("Drills done so far: 1. Due today: 0.")

    with few.expect_download() as download:
        panel.get_by_role("button", name="Save to a file").click()
    file = tmp_path / "drills.json"
    download.value.save_as(file)
    assert json.loads(file.read_text())["drills"]["update"]["code"] == "x = 7"

    panel.get_by_role("button", name="Forget everything").click()
    expect(panel).to_contain_text("Drills done so far: 1")
    panel.get_by_role("button", name="Really forget everything?").click()
    expect(panel).to_contain_text("Drills done so far: 0")

    panel.locator("input[type=file]").set_input_files(file)
    expect(panel).to_contain_text("Drills done so far: 1")
    file.write_text("[]")
    panel.locator("input[type=file]").set_input_files(file)
    expect(panel).to_contain_text("holds no drills of this book")


def test_a_drill_comes_back_when_it_is_due(site: Path, open_page) -> None:
    page = open_page(site / "few.html")
    answer(page, bank()["rescale-hard"])
    page.clock.set_fixed_time("2100-01-01T12:00:00")
    page.reload()
    expect(status(page, "rescale-hard")).to_contain_text("due")
    panel = page.locator(".os-progress")
    expect(panel.get_by_role("link")).to_have_attribute("href", "#drill-rescale-hard")


def test_blocked_storage_breaks_nothing(site: Path, open_page) -> None:
    page = open_page(site / "few.html")
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw Error('no') }})"
    )
    page.reload()
    answer(page, bank()["rescale-hard"])
    expect(card(page, "rescale-hard")).to_have_attribute("data-state", "right")
    expect(page.locator(".os-progress")).to_contain_text("Drills done so far: 1")
    expect(page.locator(".os-progress")).to_contain_text("lasts until you leave")


def test_a_full_storage_loses_nothing_while_the_page_is_open(site, open_page) -> None:
    page = open_page(site / "few.html")
    page.add_init_script("Storage.prototype.setItem = () => { throw Error('full') }")
    page.reload()
    expect(page.locator(".os-progress")).to_contain_text("Kept in this browser")
    answer(page, bank()["rescale-hard"])
    expect(card(page, "rescale-hard")).to_have_attribute("data-state", "right")
    expect(page.locator(".os-progress")).to_contain_text("Drills done so far: 1")
    expect(page.locator(".os-progress")).to_contain_text("lasts until you leave")


# ---- without a script, on paper, in Spanish, on a phone


def test_without_a_script_prompt_and_solution_are_there(site: Path, open_page) -> None:
    page = open_page(site / "all.html", java_script_enabled=False)
    assert page.locator(".os-drill-prompt:visible").count() == len(bank())
    assert page.locator(".os-drill-actions:visible").count() == 0
    lines = page.locator("#drill-update textarea")
    assert lines.evaluate("area => area.scrollWidth <= area.clientWidth")
    section = page.locator("#drill-rescale-hard")
    assert not section.locator("details p").first.is_visible()
    section.locator("summary").click()
    assert section.locator("details p").first.is_visible()


@pytest.mark.parametrize("script", [True, False])
def test_on_paper_the_solutions_are_open(site: Path, open_page, script: bool) -> None:
    page = open_page(site / "few.html", java_script_enabled=script)
    solution = page.locator("#drill-rescale-hard details p").last
    assert not solution.is_visible()
    page.emulate_media(media="print")
    assert solution.bounding_box()["height"] > 10
    assert not page.locator("#drill-rescale-hard .os-drill-actions").is_visible()


def test_the_page_speaks_spanish(site: Path, visit) -> None:
    page = visit(site / "es.html")
    section = card(page, "rescale-hard")
    section.get_by_label("Tu respuesta").fill("2,3152")
    page.keyboard.press("Enter")
    expect(said(section)).to_contain_text("Correcto. He leído 2.3152.")
    section.get_by_label("Tu respuesta").fill("1,234")
    page.keyboard.press("Enter")
    expect(said(section)).to_contain_text("He leído 1.234, o si no 1234.")


def test_the_code_of_a_drill_speaks_spanish_and_pythons_errors_say_they_are_english(
    site: Path, visit
) -> None:
    write_page(site / "es-code.html", drills.page_html("stable-softmax", "es"), "es")
    page = visit(site / "es-code.html")
    section = card(page, "stable-softmax")
    english = said(section).locator("span[lang=en]:not([data-untranslated])")
    for body, told, count in [
        ("return [1.0]", "Puntuaciones recibidas: 2; pesos devueltos: 1.", 0),
        ("return scores.shape", "AttributeError", 1),
    ]:
        section.locator("textarea").fill(f"def stable_softmax(scores):\n    {body}\n")
        section.get_by_role("button", name="Ejecutar", exact=True).click()
        expect(said(section)).to_contain_text(told)
        expect(english).to_have_count(count)
    expect(english.locator("code")).to_contain_text("AttributeError")


def look(page: Page) -> None:
    """Let axe look for anything, on a wide page in the light, on a phone in the dark."""
    wide = page.viewport_size["width"] > 700
    page.emulate_media(color_scheme="light" if wide else "dark")
    assert not wrong(page)


@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_wrong_or_right(site: Path, open_page, width: int) -> None:
    page = open_page(site / "few.html", width=width)
    for button in page.get_by_role("button", name="Check").all():
        button.click()
    card(page, "rescale-hard").get_by_label("Your answer").fill("7+1+e^-1")
    page.keyboard.press("Enter")
    for button in page.get_by_role("button", name="Hint").all():
        button.click()
    run(page, "update", bank()["update"].get("code").replace("alpha * l", "l"))
    expect(page.locator("[data-state=wrong]")).to_have_count(4)
    look(page)
    for id in ("rescale-hard", "update-lines", "trace-123", "what-to-carry"):
        answer(page, bank()[id])
    run(page, "update", bank()["update"].get("code"))
    expect(page.locator("[data-state=right]")).to_have_count(5)
    look(page)


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_shows_it_all(site: Path, open_page, width: int) -> None:
    page = open_page(site / "all.html", width=width, has_touch=True, is_mobile=True)
    run(page, "update", bank()["update"].get("code").replace("alpha * l", "l"))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    small = page.evaluate(
        """() => [...document.querySelectorAll('main *')].filter((e) =>
          e.offsetParent && parseFloat(getComputedStyle(e).fontSize) < 12
          && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
          .map((e) => e.outerHTML)"""
    )
    assert small == []
    low = page.evaluate(
        """() => [...document.querySelectorAll(
            '.os-drill :is(button, summary, .os-drill-option, input[type=text])')]
          .filter((e) => e.offsetParent && e.getBoundingClientRect().height < 44)
          .map((e) => e.outerHTML)"""
    )
    assert low == []


def test_ids_in_links_lead_to_drills(site: Path) -> None:
    html = (site / "all.html").read_text()
    assert re.findall(r'id="drill-([\w-]+)" data-drill', html) == list(bank())
