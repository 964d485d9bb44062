"""Nothing of the reader's is lost: tabs, the way back, files, no room, a crash."""

import json
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Locator, Page, expect

from livepage import drills
from livepage.drills.bank import bank
from tools.site.chromium import FLAGS

from .conftest import Tattler, new_context, open_chromium
from .test_drills import answer, card, look, said, status, write_page, write_scripts

pytestmark = pytest.mark.browser

KEY = "book-drills"
SOME = [
    "rescale-hard",
    "update",
    "update-lines",
    "trace-123",
    "what-to-carry",
    "shift-nothing",
]
STARTER = bank()["update"].get("starter").rstrip()
MINE, OTHER = "mine = 1\n", "other = 2\n"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with one drill of each kind, in two languages, and a page to go to."""
    folder = tmp_path_factory.mktemp("keep")
    write_scripts(folder)
    for lang in ("en", "es"):
        body = drills.progress_html(lang)
        body += "".join(drills.page_html(id, lang) for id in SOME)
        write_page(folder / f"{lang}.html", body, lang)
    write_page(folder / "other.html", drills.page_html("update"))
    return folder


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and keeps no log."""

    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def reader(site: Path, open_page) -> Page:
    return open_page(site / "en.html")


def another(page: Page, name: str = "en.html") -> Page:
    """A second tab of the same reader, on the same page or on another one."""
    tab = page.context.new_page()
    tab.tattler = Tattler(tab)
    tab.goto(page.url.rpartition("/")[0] + f"/{name}")
    return tab


def editor(page: Page) -> Locator:
    return card(page, "update").locator("textarea")


def versions(page: Page) -> Locator:
    return card(page, "update").locator(".os-drill-version")


def kept(page: Page) -> dict:
    """The drills that the browser has in its storage now."""
    text = page.evaluate("key => localStorage.getItem(key)", KEY)
    return json.loads(text)["drills"] if text else {}


def wait_kept(page: Page, id: str, holds: str) -> None:
    """Wait until the browser has kept something, as it does soon after it was typed."""
    page.wait_for_function(
        """([key, id, holds]) => {
          const text = localStorage.getItem(key);
          if (!text?.startsWith('{"version":1')) return false;
          return JSON.stringify(JSON.parse(text).drills[id] ?? null).includes(holds);
        }""",
        arg=[KEY, id, holds],
    )


def panel(page: Page) -> Locator:
    return page.locator(".os-progress")


def outcome(page: Page) -> Locator:
    return panel(page).locator(".os-progress-said")


def press(page: Page, name: str) -> None:
    panel(page).get_by_role("button", name=name, exact=True).click()


def load(page: Page, file: Path, text: str) -> None:
    file.write_text(text)
    outcome(page).evaluate("said => said.textContent = ''")
    panel(page).locator("input[type=file]").set_input_files(file)


def record(**entries: object) -> str:
    drills_of = {id.replace("_", "-"): entry for id, entry in entries.items()}
    return json.dumps({"version": 1, "drills": drills_of})


def forget(page: Page) -> None:
    press(page, "Forget everything")
    press(page, "Really forget everything?")
    expect(outcome(page)).to_contain_text("Forgotten.")


# ---- tabs, and the way back


@pytest.mark.parametrize("name", ["en.html", "other.html"])
def test_an_older_tab_takes_over_what_another_one_wrote(reader, name: str) -> None:
    tab = another(reader, name)
    editor(tab).fill(MINE)
    wait_kept(reader, "update", "mine")
    expect(editor(reader)).to_have_value(MINE)
    card(tab, "update").get_by_role("button", name="Start again").click()
    expect(editor(reader)).to_have_value(STARTER)
    expect(said(card(reader, "update"))).to_contain_text("started again in another tab")
    expect(card(reader, "update").locator(".os-drill-unkept")).to_be_empty()
    versions(reader).locator("summary").click()
    versions(reader).get_by_role("button", name="Use this one").click()
    expect(editor(tab)).to_have_value(MINE)
    tab.close()
    reader.goto("about:blank")
    reader.go_back()
    expect(editor(reader)).to_have_value(MINE)
    assert kept(reader)["update"]["code"] == MINE


HOLD = "addEventListener('storage', (e) => e.stopImmediatePropagation(), true)"


def test_code_typed_in_two_tabs_is_kept_twice(reader: Page) -> None:
    """One of them slept, as tabs in the background do, and heard of nothing."""
    tab = reader.context.new_page()
    tab.tattler = Tattler(tab)
    tab.add_init_script(HOLD)
    tab.goto(reader.url)
    editor(reader).fill(MINE)
    wait_kept(reader, "update", "mine")
    expect(editor(tab)).to_have_value(STARTER)
    editor(tab).fill(OTHER)
    wait_kept(reader, "update", "other")
    assert kept(reader)["update"]["others"][0]["text"] == MINE

    expect(editor(reader)).to_have_value(OTHER)
    expect(versions(reader)).to_have_count(1)
    summary = versions(reader).locator("summary")
    expect(summary).to_have_text(re.compile("Another version of yours, from .*:"))
    summary.focus()
    reader.keyboard.press("Enter")
    expect(versions(reader).locator("pre")).to_have_text(MINE)
    versions(reader).get_by_role("button", name="Use this one").press("Enter")
    expect(editor(reader)).to_have_value(MINE)
    expect(said(card(reader, "update"))).to_contain_text("changed places")
    expect(versions(reader).locator("pre")).to_have_text(OTHER)
    reader.keyboard.press("Control+z")
    expect(editor(reader)).to_have_value(OTHER)
    reader.reload()
    expect(editor(reader)).to_have_value(OTHER)
    versions(reader).locator("summary").click()
    versions(reader).get_by_role("button", name="Delete it").click()
    versions(reader).get_by_role("button", name="Really delete it?").click()
    expect(versions(reader)).to_have_count(0)
    assert "others" not in kept(reader)["update"]


# A run begins when the test lets it; Python itself is loaded as ever.
HELD = """() => {
  const isHeld = "beginRun" in window;
  window.beginRun = null;
  if (isHeld) return;
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (job, ...rest) {
    const post = () => postMessage.call(this, job, ...rest);
    if (job.wasm) post();
    else window.beginRun = post;
  };
}"""


def run_held(page: Page, press: Locator) -> None:
    """Press what runs a text, and stop short of its first line."""
    page.evaluate(HELD)
    press.click()
    page.wait_for_function("() => Boolean(window.beginRun)")


@pytest.mark.parametrize("how", ["typed over", "started again", "forgotten"])
def test_a_run_whose_text_has_been_replaced_says_nothing(
    reader: Page, how: str
) -> None:
    tab = another(reader)
    editor(reader).fill("this is no Python")
    wait_kept(reader, "update", "no Python")
    expect(editor(tab)).to_have_value("this is no Python")
    main = card(reader, "update").locator(".os-drill-main")
    run_held(reader, main)
    if how == "typed over":
        editor(tab).fill(OTHER)
    elif how == "started again":
        card(tab, "update").get_by_role("button", name="Start again").click()
    else:
        forget(tab)
    expect(editor(reader)).to_have_value(OTHER if how == "typed over" else STARTER)
    reader.evaluate("beginRun()")
    expect(main).not_to_have_attribute("aria-disabled", "true")
    expect(card(reader, "update").locator(".os-drill-verdict")).to_have_count(0)
    expect(card(reader, "update").locator(".os-drill-fault")).to_have_count(0)
    run_held(reader, main)
    reader.evaluate("beginRun()")
    expect(card(reader, "update").locator(".os-drill-verdict")).to_have_count(1)


def test_a_run_on_a_page_that_sleeps_is_not_said_to_be_silent(reader: Page) -> None:
    """As in the Back/Forward cache: page and worker sleep, and the clock goes on."""
    reader.clock.install()
    editor(reader).fill("this is no Python")
    run_held(reader, card(reader, "update").locator(".os-drill-main"))
    reader.evaluate("dispatchEvent(new Event('pagehide'))")
    reader.clock.fast_forward("20:00:00")
    expect(card(reader, "update").locator(".os-drill-verdict")).to_have_count(0)
    reader.evaluate("dispatchEvent(new Event('pageshow')); beginRun()")
    expect(said(card(reader, "update"))).to_contain_text("SyntaxError")


@pytest.fixture
def cached(browser: Browser, chromium: str, address: str) -> Iterator[Page]:
    """A browser that keeps left pages for the way back; Playwright's do not else."""
    evict = ["--disable-back-forward-cache"]
    own = open_chromium(
        browser.browser_type, chromium, FLAGS, ignore_default_args=evict
    )
    page = new_context(own).new_page()
    page.goto(f"{address}/en.html")
    yield page
    own.close()


WATCH = "addEventListener('pageshow', (event) => { window.woken = event.persisted })"


def test_the_page_one_comes_back_to_has_the_newer_code(cached: Page) -> None:
    """From the Back/Forward cache it wakes as it was left, older code and all."""
    cached.evaluate(WATCH)
    editor(cached).fill(MINE)
    cached.evaluate("location.href = 'other.html'")
    cached.wait_for_url("**/other.html")
    expect(editor(cached)).to_have_value(MINE)
    editor(cached).fill(OTHER)
    cached.evaluate("history.back()")  # `go_back` waits for a load that never comes
    cached.wait_for_function("window.woken")
    expect(editor(cached)).to_have_value(OTHER)
    cached.evaluate("history.forward()")
    cached.wait_for_function("location.pathname === '/other.html'")
    expect(editor(cached)).to_have_value(OTHER)
    assert kept(cached)["update"]["code"] == OTHER


def test_what_was_typed_survives_a_crash_of_its_tab(reader: Page) -> None:
    where = reader.url
    editor(reader).press_sequentially("y = 7\n")
    box = card(reader, "rescale-hard").get_by_label("Your answer")
    box.press_sequentially("2.0")  # and no key or click that would leave the box
    wait_kept(reader, "rescale-hard", "2.0")
    with reader.expect_event("crash"), pytest.raises(Error):
        reader.goto("chrome://crash")
    tab = reader.context.new_page()
    tab.goto(where)
    assert "y = 7" in editor(tab).input_value()
    expect(card(tab, "rescale-hard").get_by_label("Your answer")).to_have_value("2.0")


# ---- unfinished answers


def begin(page: Page) -> None:
    """Begin every drill of the page, and finish none."""
    card(page, "rescale-hard").get_by_label("Your answer").fill("5e^-2 +1")
    card(page, "shift-nothing").get_by_role("radio").nth(1).check()
    line = card(page, "update-lines").locator("li").first
    line.locator('[data-move="1"]').click()
    trace = card(page, "trace-123")
    trace.get_by_label("α, row 1").fill("0.5")
    trace.get_by_label("Nothing").check()
    trace.get_by_label("m, row 2").fill("2")
    own = card(page, "what-to-carry")
    own.locator("textarea").fill("The sum, so far.")


def begun(page: Page) -> list[object]:
    """What stands in the drills: typed, chosen, ordered, filled in, written."""
    own, trace = card(page, "what-to-carry"), card(page, "trace-123")
    checked = "boxes => boxes.map((box) => box.checked)"
    return [
        card(page, "rescale-hard").get_by_label("Your answer").input_value(),
        card(page, "rescale-hard").locator("output").text_content(),
        card(page, "shift-nothing").get_by_role("radio").evaluate_all(checked),
        card(page, "update-lines").locator("li .os-drill-letter").all_text_contents(),
        trace.locator("[name=level]:checked").get_attribute("value"),
        trace.locator("td input").evaluate_all("all => all.map((cell) => cell.value)"),
        own.locator("textarea").input_value(),
    ]


def test_unfinished_answers_survive_a_reload_and_a_file(reader, tmp_path) -> None:
    fresh = begun(reader)
    begin(reader)
    before = begun(reader)
    assert not [a for a, b in zip(fresh, before) if a == b], "each is begun"
    assert before[5][1] == "0.5", "what was typed outlives a change of level"
    reader.reload()
    assert begun(reader) == before
    file = tmp_path / "drills.json"
    with reader.expect_download() as download:
        press(reader, "Save to a file")
    download.value.save_as(file)
    forget(reader)
    assert begun(reader) == fresh
    load(reader, file, file.read_text())
    expect(outcome(reader)).to_have_text("Loaded 5 drills.")
    assert begun(reader) == before
    reader.goto("about:blank")
    reader.go_back()
    assert begun(reader) == before


def test_starting_again_takes_an_answer_away_and_keeps_code(reader: Page) -> None:
    begin(reader)
    editor(reader).fill(MINE)
    for id in ("update-lines", "trace-123", "update"):
        card(reader, id).get_by_role("button", name="Start again").click()
    expect(editor(reader)).to_have_value(STARTER)
    reader.reload()
    expect(editor(reader)).to_have_value(STARTER)
    versions(reader).locator("summary").click()
    expect(versions(reader).locator("pre")).to_have_text(MINE)
    letters = card(reader, "update-lines").locator("li .os-drill-letter")
    assert letters.all_text_contents() == sorted(letters.all_text_contents())
    cells = card(reader, "trace-123").locator("td input")
    assert cells.evaluate_all("all => all.every((cell) => !cell.value)")
    assert "update-lines" not in kept(reader)


def test_an_answer_stays_until_its_drill_is_due_again(reader: Page) -> None:
    answer(reader, bank()["rescale-hard"])
    box = card(reader, "rescale-hard").get_by_label("Your answer")
    right = box.input_value()
    reader.reload()
    expect(box).to_have_value(right)
    expect(status(reader, "rescale-hard")).to_contain_text("done")
    reader.clock.set_fixed_time("2100-01-01T12:00:00")
    reader.reload()
    expect(status(reader, "rescale-hard")).to_contain_text("due")
    expect(box).to_have_value("")


# ---- forgetting


def test_what_is_forgotten_stays_forgotten_and_can_be_brought_back(reader) -> None:
    tab = another(reader)
    editor(reader).fill(MINE)
    wait_kept(reader, "update", "mine")
    expect(editor(tab)).to_have_value(MINE)
    forget(reader)
    for page in (reader, tab):
        expect(editor(page)).to_have_value(STARTER)
        page.reload()
        expect(editor(page)).to_have_value(STARTER)
    assert kept(reader) == {}
    editor(reader).fill(MINE)
    for _ in range(2):  # the second time there is nothing to forget, and all to lose
        forget(reader)
        expect(editor(reader)).to_have_value(STARTER)
    press(reader, "Bring it all back")
    expect(editor(reader)).to_have_value(MINE)
    expect(outcome(reader)).to_have_text("It is all back.")
    assert kept(reader)["update"]["code"] == MINE


def test_a_double_click_forgets_nothing(reader: Page) -> None:
    editor(reader).fill(MINE)
    panel(reader).get_by_role("button", name="Forget everything").dblclick()
    expect(editor(reader)).to_have_value(MINE)
    assert kept(reader)["update"]["code"] == MINE


# ---- files


def test_a_file_says_what_it_brought_and_replaces_no_code(reader, tmp_path) -> None:
    file = tmp_path / "drills.json"
    load(reader, file, record(update={"code": OTHER}))
    expect(outcome(reader)).to_have_text("Loaded 1 drill.")
    expect(editor(reader)).to_have_value(OTHER)
    editor(reader).fill(MINE)
    both = "Where you had written something else, both are there"
    for at, shown in [("2020-01-01", MINE), ("2090-01-01", OTHER)]:
        load(reader, file, record(update={"code": OTHER, "at": at}, new={"stage": 1}))
        expect(outcome(reader)).to_contain_text(f"Loaded 2 drills. {both}")
        expect(editor(reader)).to_have_value(shown)
        expect(versions(reader)).to_have_count(1)
    reader.reload()
    expect(editor(reader)).to_have_value(OTHER)
    expect(versions(reader).locator("pre")).to_have_text(MINE)


FILES = {
    "[" * 20_000: "holds no drills of this book",
    '{"version": 1, "drills": {}}': "holds no drills of this book",
    '{"version": 2, "drills": {"update": {}}}': "A newer version of this book wrote",
    record(update=None, rescale_hard={"stage": 1}): "Loaded 1 drill. A part of the fi",
    record(update={"code": "x" * 6_000_000}): "no room for that file. Nothing was loa",
    '{"version": 1, "drills": {"__proto__": {"stage": 1}}}': "Loaded 1 drill.",
}


def test_any_file_is_answered_and_takes_nothing_away(reader, tmp_path) -> None:
    editor(reader).fill(MINE)
    for text, told in FILES.items():
        load(reader, tmp_path / "drills.json", text)
        expect(outcome(reader)).to_contain_text(told)
        expect(editor(reader)).to_have_value(MINE)
        assert kept(reader)["update"] == {**kept(reader)["update"], "code": MINE}


def test_a_day_that_no_calendar_has_is_not_shown(reader: Page) -> None:
    entry = {"stage": 1, "done": "2025-13-45", "due": "2099-99-99"}
    write(reader, record(update=entry, shift_nothing={**entry, "due": "9999-12-31"}))
    expect(reader.locator("body")).not_to_contain_text("Invalid")
    expect(status(reader, "shift-nothing")).to_contain_text("due again")


# ---- a record that is damaged, or newer


def write(page: Page, text: str) -> None:
    page.evaluate("([key, text]) => localStorage.setItem(key, text)", [KEY, text])
    page.reload()


def test_a_damaged_entry_takes_no_other_with_it(reader: Page) -> None:
    due = {"stage": 1, "done": "2025-01-01", "due": "2025-01-02"}
    text = record(update={"code": MINE}, rescale_hard=due, trace_123=None)
    write(reader, text)
    expect(editor(reader)).to_have_value(MINE)
    expect(panel(reader)).to_contain_text("Drills done so far: 1. Due today: 1.")
    expect(panel(reader)).to_contain_text("is damaged")
    editor(reader).fill(OTHER)
    wait_kept(reader, "update", "other")
    assert reader.evaluate(f"localStorage['{KEY}-aside-1']") == text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            '{"version": 2, "of": "later"}',
            "A newer version of this book kept your drills",
        ),
        ("scrambled \x01", "The record of your drills in this browser is damaged"),
    ],
)
def test_a_record_that_cannot_be_read_stays_as_it_is(
    reader: Page, tmp_path: Path, text: str, told: str
) -> None:
    write(reader, text)
    note = panel(reader).locator(".os-progress-asides")
    expect(note).to_contain_text(told)
    assert reader.evaluate(f"localStorage['{KEY}']") == text, "to look changes nothing"
    editor(reader).fill(MINE)
    wait_kept(reader, "update", "mine")
    reader.reload()
    expect(editor(reader)).to_have_value(MINE)
    expect(note).to_contain_text(told)
    with reader.expect_download() as download:
        note.get_by_role("button", name="Save that text to a file").click()
    download.value.save_as(tmp_path / "aside.json")
    assert (tmp_path / "aside.json").read_text() == text
    note.get_by_role("button", name="Delete it").click()
    note.get_by_role("button", name="Really delete it?").click()
    expect(note).to_be_empty()
    assert kept(reader)["update"]["code"] == MINE


# ---- a browser that is full, or keeps nothing

FILL = """() => {
  for (let size = 2 ** 22; size >= 1; size /= 2) {
    try {
      for (let n = 0; ; n += 1) {
        localStorage.setItem(`ballast-${size}-${n}`, "x".repeat(size));
      }
    } catch { /* so much does not fit any more */ }
  }
}"""


def test_a_full_browser_says_so_and_keeps_it_once_there_is_room(reader: Page) -> None:
    reader.evaluate(FILL)
    editor(reader).fill(MINE)
    note = card(reader, "update").locator(".os-drill-unkept")
    expect(note).to_contain_text("This browser has not kept your answer")
    expect(panel(reader)).to_contain_text("no room left")
    card(reader, "shift-nothing").get_by_role("radio").nth(1).check()
    card(reader, "update").get_by_role("button", name="Start again").click()
    expect(versions(reader).locator("pre")).to_have_text(MINE)
    expect(note).not_to_be_empty()
    editor(reader).press("Control+z")
    expect(editor(reader)).to_have_value(MINE)
    beside = card(reader, "shift-nothing").locator(".os-drill-unkept")
    expect(beside).to_contain_text("has not kept your answer")
    with reader.expect_event("dialog") as asked:
        reader.close(run_before_unload=True)
    asked.value.dismiss()
    assert asked.value.type == "beforeunload" and not reader.is_closed()

    tab = another(reader)
    tab.evaluate("localStorage.removeItem('ballast-4194304-0')")
    for said_beside in (note, beside):
        expect(said_beside).to_be_empty()
    expect(panel(reader)).to_contain_text("Kept in this browser")
    expect(editor(tab)).to_have_value(MINE)
    reader.close(run_before_unload=True)
    expect(editor(tab)).to_have_value(MINE)


def test_a_browser_that_keeps_nothing_says_so_beside_the_text(site, open_page) -> None:
    page = open_page(site / "en.html")
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw Error('no') }})"
    )
    page.reload()
    begin(page)
    editor(page).fill(MINE)
    note = card(page, "update").locator(".os-drill-unkept")
    expect(note).to_contain_text("When you leave, it is lost.")
    with page.expect_download() as download:
        note.get_by_role("button", name="Save to a file").click()
    assert json.loads(Path(download.value.path()).read_text())["drills"].keys() >= {
        "update",
        "rescale-hard",
        "what-to-carry",
    }
    forget(page)
    expect(note).to_be_empty()


# ---- how it looks


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("lang", ["en", "es"])
def test_axe_finds_nothing_in_what_is_said(site, open_page, width, lang) -> None:
    page = open_page(site / f"{lang}.html", width=width)
    others = [{"text": OTHER, "at": "2025-01-30T12:00:00Z"}, {"text": "x = 3"}]
    write(page, record(update={"code": MINE, "others": others}, trace_123=None))
    versions(page).first.locator("summary").click()
    page.evaluate(FILL)
    editor(page).fill("z = 1")
    expect(card(page, "update").locator(".os-drill-unkept")).not_to_be_empty()
    look(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
