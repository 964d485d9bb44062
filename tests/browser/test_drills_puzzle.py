"""The lines of a solution put in order: by keys, by mouse, by finger; made easier, kept."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from livepage import drills
from livepage.drills.bank import bank
from livepage.drills.kinds.code.puzzle import Puzzle, puzzle

from .test_drills import card, look, plain, run, said, status, write_page, write_scripts
from .test_drills_keep import kept

pytestmark = pytest.mark.browser

SMALL, KERNEL = "stable-softmax", "guarded-terms"
IDS = [SMALL, KERNEL]
START = "Put its lines in order instead"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with a function and a kernel to write, in two languages."""
    folder = tmp_path_factory.mktemp("puzzle")
    write_scripts(folder)
    for lang in ("en", "es"):
        body = drills.progress_html(lang)
        body += "".join(drills.page_html(id, lang) for id in IDS)
        write_page(folder / f"{lang}.html", body, lang)
    return folder


@pytest.fixture
def reader(site: Path, open_page) -> Page:
    return open_page(site / "en.html")


def puzzle_of(id: str) -> Puzzle:
    found = puzzle(bank()[id])
    assert found
    return found


def wrong_texts(id: str) -> list[str]:
    return [line.text.strip() for line in puzzle_of(id).wrong]


def miss_twice(page: Page, id: str) -> Locator:
    for n in range(2):
        section = run(page, id, f"def nothing():\n    return {n}\n")
    return section


def start(page: Page, id: str = SMALL) -> Locator:
    """Miss twice, and press the button of the puzzle."""
    section = miss_twice(page, id)
    section.get_by_role("button", name=START).click()
    expect(section.locator(".os-puzzle")).to_be_visible()
    return section


def rows(section: Locator) -> list[str]:
    """The program as it is shown, without its indentation."""
    found = section.locator(".os-puzzle-program code").all_inner_texts()
    return [text.strip() for text in found]


def piece(section: Locator, number: int) -> Locator:
    """One line that can be moved: of the solution, or a wrong one after these."""
    return section.locator(f'.os-puzzle-piece[data-row="{number}"]')


def announced(section: Locator) -> Locator:
    return section.locator(".os-puzzle-said")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def place_by_keys(page: Page, section: Locator, order: list[int]) -> None:
    """Put lines into the program, from the pool, with nothing but keys.

    The arrows lead from line to line; Tab would leave the lines.
    """
    for number in order:
        for _ in range(20):
            row = "document.activeElement.closest('.os-puzzle-piece')?.dataset.row"
            now = page.evaluate(row)
            if now == str(number):
                break
            press(page, "ArrowDown")
        else:
            press(page, *["ArrowUp"] * 20)
            place_by_keys(page, section, [number])
            continue
        press(page, "Space", "ArrowUp", "Space")


# ---- the offer


def test_it_is_offered_after_two_misses_and_not_before(reader: Page) -> None:
    section = card(reader, SMALL)
    offer = section.get_by_role("button", name=START)
    for source in (bank()[SMALL].get("starter"), "def nothing():\n    return 1\n"):
        run(reader, SMALL, source)
        expect(offer).to_be_hidden()
    run(reader, SMALL, "def nothing():\n    return 2\n")
    expect(offer).to_be_visible()
    expect(said(section)).to_contain_text("put the lines of a solution in order")
    assert not reader.evaluate("Boolean(globalThis.livepagePuzzle)"), "nobody asked yet"


def test_what_shows_it_may_be_missing(tmp_path: Path, open_page) -> None:
    write_scripts(tmp_path)
    write_page(tmp_path / "en.html", drills.page_html(SMALL))
    script = tmp_path / "drills" / "puzzle.js"
    text = script.read_text()
    script.unlink()
    page = open_page(tmp_path / "en.html")
    section = miss_twice(page, SMALL)
    section.get_by_role("button", name=START).click()
    expect(said(section)).to_contain_text("could not be loaded. Press again.")
    expect(section.locator("textarea")).to_be_visible()
    page.tattler.faults.clear()  # of the script that is missing
    script.write_text(text)
    section.get_by_role("button", name=START).click()
    expect(section.locator(".os-puzzle")).to_be_visible()


def test_it_speaks_spanish(site: Path, open_page) -> None:
    page = open_page(site / "es.html")
    section = card(page, SMALL)
    for n in range(2):
        section.locator("textarea").fill(f"x = {n}")
        section.locator(".os-drill-main").click()
        expect(section).to_have_attribute("data-state", "wrong")
    section.get_by_role("button", name="Mejor ordenar sus líneas").click()
    expect(section.locator(".os-puzzle")).to_contain_text("Dos de ellas están mal")


# ---- by keyboard alone


def test_it_is_solved_by_keyboard_alone(reader: Page) -> None:
    its = puzzle_of(SMALL)
    section = miss_twice(reader, SMALL)
    section.get_by_role("button", name=START).focus()
    press(reader, "Enter")
    expect(section.locator(".os-puzzle-line").first).to_be_focused()
    last = len(its.pieces) - 1
    place_by_keys(reader, section, [last, *range(last)])
    press(reader, "Control+Enter")
    expect(section).to_have_attribute("data-state", "wrong")
    expect(said(section)).to_contain_text("It fails on")
    expect(section.locator(".os-drill-fault code")).to_have_text(
        its.text(its.pieces[last]).strip()
    )
    piece(section, last).locator(".os-puzzle-line").focus()
    press(reader, "Enter", *["ArrowDown"] * last, "Escape", "Control+Enter")
    expect(section).to_have_attribute("data-state", "right")
    expect(said(section)).to_contain_text("comes back tomorrow, for you to write it")
    expect(status(reader, SMALL)).to_contain_text("put in order, not yet written")
    expect(section.locator("details")).to_be_visible()
    entry = kept(reader)[SMALL]
    assert entry["ordered"] and not entry["done"] and entry["stage"] == 0


def test_each_move_is_announced_and_the_focus_stays(reader: Page) -> None:
    section = start(reader)
    line = section.locator(".os-puzzle-pool .os-puzzle-line").first
    expect(line).to_be_focused()
    text = line.locator("code").inner_text()
    row = section.locator(".os-puzzle-piece:has(:focus)").get_attribute("data-row")
    mine = piece(section, int(row)).locator(".os-puzzle-line")
    press(reader, "Space")
    expect(mine).to_have_attribute("aria-pressed", "true")
    expect(announced(section)).to_have_text("Picked up: below the program, not in it")
    press(reader, "ArrowUp")
    above = '"""Return the weight of every score, as a list."""'
    expect(announced(section)).to_have_text(f"Moved: line 4, below: {above}")
    assert rows(section)[-1] == text.strip()
    press(reader, "ArrowUp", "ArrowUp", "ArrowUp")
    expect(announced(section)).to_have_text("Moved: line 1, at the top")
    press(reader, "Escape")
    expect(announced(section)).to_have_text("Put down: line 1, at the top")
    expect(mine).to_have_attribute("aria-pressed", "false")
    press(reader, "ArrowUp", "ArrowDown", "ArrowUp")  # to the next line, and back
    expect(mine).to_be_focused()
    press(reader, "Delete")
    expect(announced(section)).to_have_text("Moved: below the program, not in it")
    expect(mine).to_be_focused()
    tabs = section.locator('.os-puzzle-line[tabindex="0"]')
    expect(tabs).to_have_count(1)


# ---- with a mouse, with a finger


def drag(page: Page, what: Locator, *boxes: Callable[[], dict]) -> None:
    """Drag a line to the lower edge of a box, or of several in turn."""
    what.scroll_into_view_if_needed()
    box = what.locator(".os-puzzle-line").bounding_box()
    page.mouse.move(box["x"] + 30, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + box["height"] / 2 - 10)
    for end in (each() for each in boxes):
        page.mouse.move(box["x"] + 40, end["y"] + end["height"] - 2, steps=8)
    page.mouse.up()


def end_of_program(section: Locator) -> Callable[[], dict]:
    return section.locator(".os-puzzle-program").bounding_box


def test_a_kernel_is_put_in_order_with_a_mouse(reader: Page) -> None:
    its = puzzle_of(KERNEL)
    section = start(reader, KERNEL)
    numbers = [*range(len(its.pieces))]
    wrong = its.wrong[0]
    assert wrong.place == len(numbers) - 1, "else the right line has to go up"
    numbers[wrong.place] = len(numbers)
    for number in numbers:
        drag(reader, piece(section, number), end_of_program(section))
    assert rows(section)[len(its.fixed) + wrong.place] == wrong.text.strip()
    other = section.locator(f'ul:has(> [data-row="{wrong.place}"])')
    expect(other).to_have_attribute("aria-label", "One of these is right")
    section.get_by_role("button", name="Run").click()
    expect(section).to_have_attribute("data-state", "wrong")
    hint = plain(bank()[KERNEL].get("mutants")[wrong.mutant]["hint"])
    expect(said(section)).to_contain_text(hint)
    # Out with the wrong line, in with the right one.
    pool = section.locator(".os-puzzle-pool")
    drag(reader, piece(section, len(its.pieces)), pool.bounding_box)
    drag(reader, piece(section, wrong.place), end_of_program(section))
    section.get_by_role("button", name="Run").click()
    expect(section).to_have_attribute("data-state", "right")
    expect(status(reader, KERNEL)).to_contain_text("put in order, not yet written")


def test_a_line_that_is_dragged_replaces_the_other_one_of_two(reader: Page) -> None:
    its = puzzle_of(SMALL)
    section = start(reader)
    wrong, right = len(its.pieces), its.wrong[0].place
    replaced = f"It replaces: {its.text(its.pieces[right]).strip()}"
    for number in (right, wrong):
        drag(reader, piece(section, number), end_of_program(section))
    expect(announced(section)).to_contain_text(replaced)
    assert rows(section)[-1] == its.wrong[0].text.strip()
    drag(reader, piece(section, right), end_of_program(section))
    before = rows(section)
    pool = section.locator(".os-puzzle-pool")
    drag(reader, piece(section, wrong), end_of_program(section), pool.bounding_box)
    expect(announced(section)).to_have_text("Put down: below the program, not in it")
    assert rows(section) == before, "the right one is there again"


def test_a_click_is_no_drag_and_a_drag_no_click(reader: Page) -> None:
    section = start(reader)
    line = piece(section, 0).locator(".os-puzzle-line")
    line.click()
    expect(line).to_have_attribute("aria-pressed", "true")
    drag(reader, piece(section, 0), end_of_program(section))
    expect(line).to_have_attribute("aria-pressed", "false")
    line.click()
    expect(line).to_have_attribute("aria-pressed", "true")


def test_a_finger_drags_the_handle_or_taps_the_arrows(site: Path, open_page) -> None:
    page = open_page(site / "en.html", width=390, has_touch=True)
    section = start(page)
    piece(section, 0).locator(".os-puzzle-line").tap()
    piece(section, 0).get_by_role("button", name="Move up").tap()
    first = puzzle_of(SMALL).text([puzzle_of(SMALL).pieces[0][0]]).strip()
    assert rows(section)[-1] == first
    grip = piece(section, 2).locator(".os-drill-grip")
    grip.scroll_into_view_if_needed()
    box = grip.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    top = piece(section, 0).bounding_box()
    touch = page.context.new_cdp_session(page)
    for kind, at in [
        ("touchStart", y),
        ("touchMove", y - 20),
        ("touchMove", top["y"] + 2),
        ("touchEnd", None),
    ]:
        points = [] if at is None else [{"x": x, "y": at}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    expect(announced(section)).to_contain_text("Put down: line 4")
    assert rows(section)[-1] == first, "the other one stands above"


# ---- what is right


def test_nothing_placed_is_no_miss_and_too_few_lines_are_counted(reader: Page) -> None:
    section = start(reader)
    section.get_by_role("button", name="Run").click()
    expect(said(section)).to_have_text("Put a line into the program first.")
    expect(section.get_by_role("button", name="Make it easier")).to_be_hidden()
    press(reader, "Shift+Tab")
    piece(section, 0).locator(".os-puzzle-line").focus()
    press(reader, "Space", "ArrowUp", "Space", "Control+Enter")
    expect(said(section)).to_contain_text("The program has 3 lines too few.")


SUBMIT = f"document.querySelector('[data-drill={SMALL}] form').requestSubmit()"
MOVES = {
    "a line is moved": """
      const line = document.activeElement;
      line.click();
      line.parentElement.querySelector("[data-move='-1']").click();
    """,
    "another tab closes the puzzle": f"""
      const record = JSON.parse(localStorage.getItem("book-drills"));
      record.drills["{SMALL}"].puzzle.open = "";
      localStorage.setItem("book-drills", JSON.stringify(record));
      dispatchEvent(new Event("storage"));
    """,
    "another tab takes a line out": f"""
      const record = JSON.parse(localStorage.getItem("book-drills"));
      const {{ puzzle }} = record.drills["{SMALL}"];
      puzzle.order = puzzle.order.replace(" 0", "");
      localStorage.setItem("book-drills", JSON.stringify(record));
      dispatchEvent(new Event("storage"));
    """,
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_a_verdict_about_another_order_is_not_given(reader: Page, move: str) -> None:
    """The lines change while they run: nothing is said of them, and nothing is done."""
    section = start(reader)
    place_by_keys(reader, section, [*range(len(puzzle_of(SMALL).pieces))])
    reader.evaluate(f"() => {{ {SUBMIT}; {SUBMIT}; {move} }}")
    main = section.locator(".os-drill-main")
    expect(main).not_to_have_attribute("aria-disabled", "true")
    expect(section).to_have_attribute("data-state", "")
    expect(said(section)).to_be_empty()
    entry = kept(reader)[SMALL]
    assert not entry["done"] and not entry.get("ordered")
    assert not entry["puzzle"]["solved"]


# ---- made easier


def test_it_is_made_easier_step_by_step(reader: Page) -> None:
    section = start(reader)
    easier = section.get_by_role("button", name="Make it easier")
    expect(easier).to_be_hidden()
    used = len(puzzle_of(SMALL).pieces) + 1  # the second of the wrong lines
    piece(section, used).locator(".os-puzzle-line").focus()
    press(reader, "Space", "ArrowUp", "Space", "Control+Enter")
    expect(said(section)).to_contain_text("lines too few")
    texts = wrong_texts(SMALL)
    for gone in (texts[1], texts[0]):
        easier.click()
        expect(announced(section)).to_have_text(
            f"This line was wrong and is gone: {gone}"
        )
        expect(section.locator("code").get_by_text(gone, exact=True)).to_have_count(0)
    easier.click()
    expect(announced(section)).to_contain_text("because they belong together")
    expect(section.locator(".os-puzzle-piece")).to_have_count(3)
    expect(easier).to_be_hidden()
    expect(section.get_by_role("button", name="Run")).to_be_focused()
    assert not kept(reader)[SMALL].get("due"), "whoever asks loses nothing"


# ---- nothing is lost


def test_a_reload_keeps_the_lines_and_the_code(reader: Page) -> None:
    section = start(reader)
    place_by_keys(reader, section, [1, 0])
    press(reader, "Control+Enter")
    expect(said(section)).to_contain_text("lines too few")
    section.get_by_role("button", name="Make it easier").click()
    before = rows(section)
    reader.reload()
    expect(section.locator(".os-puzzle")).to_be_visible()
    assert rows(section) == before
    expect(section.locator(".os-puzzle-piece")).to_have_count(5)
    expect(section.get_by_role("button", name="Make it easier")).to_be_visible()
    expect(section.locator("textarea")).to_be_hidden()
    section.get_by_role("button", name="Back to writing").click()
    expect(section.locator("textarea")).to_be_focused()
    expect(section.locator("textarea")).to_have_value("def nothing():\n    return 1\n")
    reader.reload()
    expect(section.locator("textarea")).to_be_visible()
    section.get_by_role("button", name=START).click()
    expect(section.locator(".os-puzzle")).to_be_visible()
    assert rows(section) == before


def test_a_file_takes_the_lines_along(reader: Page, site: Path, open_page, tmp_path):
    section = start(reader)
    place_by_keys(reader, section, [2])
    before = rows(section)
    with reader.expect_download() as saved:
        reader.get_by_role("button", name="Save to a file").click()
    file = tmp_path / "drills.json"
    saved.value.save_as(file)
    other = open_page(site / "en.html")
    other.locator("input[type=file]").set_input_files(file)
    section = card(other, SMALL)
    expect(section.locator(".os-puzzle")).to_be_visible()
    assert rows(section) == before


def test_start_again_takes_the_lines_out_and_leaves_the_code(reader: Page) -> None:
    section = start(reader)
    place_by_keys(reader, section, [0, 1])
    section.get_by_role("button", name="Start again").click()
    expect(section.locator(".os-puzzle-program .os-puzzle-piece")).to_have_count(0)
    section.get_by_role("button", name="Back to writing").click()
    expect(section.locator("textarea")).to_have_value("def nothing():\n    return 1\n")


def test_the_lines_of_another_solution_are_not_taken_over(reader: Page) -> None:
    state = {"key": "older", "open": "yes", "order": "- - - 0 1"}
    entry = {"stage": 0, "done": None, "due": None, "puzzle": state}
    record = json.dumps({"version": 1, "drills": {SMALL: entry}})
    reader.evaluate("text => localStorage.setItem('book-drills', text)", record)
    reader.reload()
    expect(card(reader, SMALL).locator("textarea")).to_be_visible()
    section = start(reader)
    expect(section.locator(".os-puzzle-program .os-puzzle-piece")).to_have_count(0)


DAMAGED = {
    "fixed lines that are not there": {"order": "-9 0 - - -"},
    "no number": {"order": "-Infinity - - -", "joined": "NaN", "wrong": "x"},
    "as long as a page": {"order": "0 " * 9999, "wrong": "4 " * 9999, "joined": "9e9"},
    "other types": {"order": [0, 1], "wrong": None, "joined": 2, "tried": {"a": 1}},
}


@pytest.mark.parametrize("state", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_order_stands_in_nobodys_way(reader: Page, state: dict) -> None:
    its = puzzle_of(SMALL)
    state = {"key": its.data()["key"], "open": "yes", **state}
    entry = {"stage": 0, "done": None, "due": None, "puzzle": state, "code": "x = 1"}
    record = json.dumps({"version": 1, "drills": {SMALL: entry}})
    reader.evaluate("text => localStorage.setItem('book-drills', text)", record)
    reader.reload()
    section = card(reader, SMALL)
    expect(section.locator(".os-puzzle")).to_be_visible()
    assert len(rows(section)) == len(its.fixed)
    assert kept(reader)[SMALL]["code"] == "x = 1"
    section.get_by_role("button", name="Back to writing").click()
    expect(section.locator("textarea")).to_have_value("x = 1")
    assert not kept(reader)[SMALL]["done"]


def test_the_day_after_it_wants_to_be_written(reader: Page) -> None:
    reader.clock.set_fixed_time("2025-01-30T12:00:00")
    reader.reload()
    section = start(reader)
    place_by_keys(reader, section, [*range(len(puzzle_of(SMALL).pieces))])
    press(reader, "Control+Enter")
    expect(section).to_have_attribute("data-state", "right")
    reader.reload()
    expect(section.locator(".os-puzzle")).to_be_visible()
    reader.clock.set_fixed_time("2025-01-31T12:00:00")
    reader.reload()
    expect(section.locator("textarea")).to_be_visible()
    expect(section.locator(".os-puzzle")).to_have_count(0)
    expect(status(reader, SMALL)).to_have_text(
        "put in order, not yet written, due again"
    )
    run(reader, SMALL, bank()[SMALL].get("code"))
    expect(section).to_have_attribute("data-state", "right")
    expect(status(reader, SMALL)).to_contain_text("done")
    entry = kept(reader)[SMALL]
    assert entry["done"] == "2025-01-31" and not {"ordered", "puzzle"} & set(entry)


@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_wrong_with_a_puzzle(
    site: Path, open_page, width: int
) -> None:
    page = open_page(site / "en.html", width=width)
    section = start(page)
    look(page)
    place_by_keys(page, section, [1, 0])
    press(page, "Space", "Control+Enter")
    expect(section).to_have_attribute("data-state", "wrong")
    look(page)
    wide = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert wide, "no line is wider than the page"
