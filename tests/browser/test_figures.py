"""Figures as a reader meets them: by keyboard, by touch, in print, on a phone.

The tests go over every figure, on a page of their own that is opened from `file://`
under the site's Content-Security-Policy. What only one figure can do is at the end.
"""

import json
import re
import runpy
import shutil
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path

import ipywidgets
import numpy as np
import pytest
from matplotlib.image import imread
from playwright.sync_api import Locator, Page

from golden import cases, differences
from livepage import figures
from livepage.drills import check
from livepage.drills.bank import bank
from livepage.figures import pack, registry, sweep, v8
from livepage.figures.widget import Figure
from patience import wait_until

from .axe import faint, faint_in_pictures, wrong, wrong_but_colours
from .conftest import rest

pytestmark = pytest.mark.browser

ids = pytest.mark.parametrize("id", registry.ids())
# How every figure is laid out: only a change of the figures can change it.
looks = pytest.mark.slow
asking = pytest.mark.parametrize(
    "id", [id for id in registry.ids() if registry.spec(id).prediction]
)
stepping = pytest.mark.parametrize(
    "id",
    [
        id
        for id in registry.ids()
        if any(control.kind == "step" for control in registry.spec(id).controls)
    ],
)

POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' blob:; style-src 'self';"
    " style-src-attr 'unsafe-inline'; img-src 'self' data:; font-src 'self'"
)
BLANK = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Blank</title></html>'
)
STYLE = """
body { margin: 0; background: var(--paper); color: var(--ink); }
main { max-width: 760px; margin: auto; padding: 0 1rem; }
"""


# ---- the page ----


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """Scripts, styles, and one page for each figure."""
    home = tmp_path_factory.mktemp("figures")
    (home / "blank.html").write_text(BLANK)
    (home / "host.js").write_text(figures.host_script())
    (home / "style.css").write_text(figures.tokens() + figures.stylesheet() + STYLE)
    for id in registry.ids():
        own = figures.tokens() + figures.stylesheet([id]) + STYLE
        (home / f"{id}-alone.css").write_text(own)
        (home / f"{id}.js").write_text(figures.page_script(id))
        write_page(home / f"{id}.html", [id])
        (home / f"{id}-es.js").write_text(figures.page_script(id, "es"))
        if later := figures.loaded_script(id):
            (home / f"{id}-loaded.js").write_text(later)
        write_page(home / f"{id}-es.html", [id], language="es")
    return home


def write_page(
    file: Path,
    names: list[str],
    body: str = "",
    scripts: str = "",
    language: str = "en",
) -> Path:
    hosts = "".join(host(id, language) for id in names)
    end = "" if language == "en" else f"-{language}"
    own = "".join(f'<script defer src="{id}{end}.js"></script>' for id in names)
    file.write_text(
        f'<!doctype html><html lang="{language}"><head>'
        '<meta charset="utf-8"><title>Figures</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="style.css">'
        f'{own}{scripts}<script defer src="host.js"></script></head>'
        f"<body><main><h1>Figures</h1>{hosts}{body}</main></body></html>"
    )
    return file


def host(id: str, language: str = "en") -> str:
    """What the site puts into a page for `figure(id)`."""
    return (
        f'<figure class="os-figure" id="{id}" data-figure="{id}" data-state="{{}}">'
        f"{figures.still(id, {}, language)}</figure>"
    )


@pytest.fixture
def fresh(reuse_page, folder) -> Callable[..., Page]:
    """`fresh(html, hash="", **options)` → a page of the folder that is written anew.

    That is a third of the work of loading it. What a test changes of the browser's own
    functions would stay: such a test loads its page.
    """

    def write(html: str, hash: str = "", **options) -> Page:
        page = reuse_page(folder / "blank.html", load=False, **options)
        page.evaluate(CLEAR, hash)
        page.set_content(html)
        return page

    return write


# What the page before has left: globals, timers, its place in the address.
CLEAR = """hash => {
  globalThis.empty ??= new Set(Object.keys(globalThis));
  for (const name of Object.keys(globalThis))
    if (!empty.has(name) && name !== "empty") delete globalThis[name];
  // clock: only its number is used
  for (let timer = setTimeout(() => 0); timer; timer -= 1) clearTimeout(timer);
  for (let frame = requestAnimationFrame(() => 0); frame; frame -= 1)
    cancelAnimationFrame(frame);
  history.replaceState(null, "", location.pathname + hash);
  scrollTo(0, 0);
}"""


@pytest.fixture
def visit(fresh, folder) -> Callable[..., Page]:
    """`visit(id, hash="", **options)` → the page of one figure, awake.

    What the figure would load when it is first used is there.
    """

    def go(id: str, hash: str = "", **options) -> Page:
        page = fresh((folder / f"{id}.html").read_text(), hash, **options)
        page.locator(".os-live").wait_for()
        page.evaluate(LOAD)
        return page

    return go


LOAD = """Promise.all([...osFigures.awake.values()].map((live) => {
  live.bare = live.compute; // quick: what the controls need
  return live.catchUp();
}))"""


def state(page: Page) -> dict:
    return page.evaluate("[...osFigures.awake.values()][0].state")


def put(page: Page, changes: dict, moving: bool = False) -> None:
    page.evaluate(PUT, [changes, moving])


# What takes longer than a frame waits for a hand that rests.
PUT = """async ([changes, moving]) => {
  const [live] = osFigures.awake.values();
  live.set(changes, moving);
  // clock: a pause between two looks
  while (live.late) await new Promise((done) => setTimeout(done, 10));
}"""


def settle(page: Page) -> None:
    """Wait until the picture has glided to its end: a glide asks for every frame."""
    page.evaluate("""async () => {
      const [live] = osFigures.awake.values();
      const { picture } = live;
      let before = 0;
      while (live.late || before !== picture.frame) {
        before = picture.frame;
        await new Promise(requestAnimationFrame);
      }
    }""")


def until(page: Page, holds: str) -> None:
    """Wait until an expression holds (Playwright's own way needs `unsafe-eval`)."""
    wait_until(lambda: page.evaluate(holds), holds)


def skip(page: Page) -> None:
    """Where the figure asks nothing, nothing is skipped."""
    page.evaluate("document.querySelector('.os-skip')?.click()")


def press(page: Page, button: str) -> None:
    """Press a button that is not hidden; a mouse would wait for two frames each time."""
    assert page.locator(button).is_visible()
    page.evaluate(PRESS, button)


PRESS = """selector => {
  const button = document.querySelector(selector);
  button.focus();
  button.click();
}"""


def opening(id: str) -> dict:
    return json.loads(v8.to_json(registry.spec(id).defaults()))


def answered(id: str) -> dict:
    """Where a figure stands once its question is answered: it shows its evidence."""
    return opening(id) | registry.spec(id).evidence()


def another(id: str) -> dict:
    """What differs from the opening: in the still, or in what settles the question."""
    spec = registry.spec(id)
    for changes in (spec.still, *shown_by(id)):
        found = {k: v for k, v in changes.items() if v != answered(id)[k]}
        if found:
            return found
    raise AssertionError(f"{id}: nothing to change")


# ---- predict, then reveal ----


@ids
def test_a_figure_waits_at_its_opening_and_reset_goes_back(visit, id) -> None:
    page = visit(id)
    assert state(page) == opening(id)
    it_computes_what_the_lib_computes(page, id)
    if registry.spec(id).prediction:
        the_controls_are_locked_until_the_reader_has_predicted(page, id)
    settle(page)
    before = page.locator(".os-stage").first.inner_html()
    rest(page, 300)
    assert page.locator(".os-stage").first.inner_html() == before, "it moves by itself"
    assert state(page) == answered(id), "it has moved by itself"
    put(page, another(id))
    press(page, ".os-reset")
    assert state(page) == answered(id)
    until(page, "location.hash === ''")


def the_controls_are_locked_until_the_reader_has_predicted(page: Page, id: str) -> None:
    locked = page.locator(".os-locked")
    assert set(locked.evaluate_all(INERT)) == {True}
    drag_every_handle(page)
    assert state(page) == opening(id)
    page.locator(".os-skip").click()
    assert not page.locator(".os-question").is_visible()
    assert set(locked.evaluate_all(INERT)) <= {False}


INERT = "parts => parts.map((part) => part.inert)"


def it_computes_what_the_lib_computes(page: Page, id: str) -> None:
    """What is packed into a page; `tests/book/test_figures.py` asks for many more states."""
    states = cases(id)[:4]
    texts = page.evaluate(COMPUTED, [v8.to_json(state) for state in states])
    for state_now, text in zip(states, texts, strict=True):
        spec, got = registry.spec(id), v8.from_json(text)
        wrong = list(differences(spec.expected(state_now), got, room=spec.room))
        assert not wrong, state_now


COMPUTED = """states => {
  const live = [...osFigures.awake.values()][0];
  const number = (_, x) => (x === "Infinity" || x === "-Infinity" ? Number(x) : x);
  const finite = (_, x) => (typeof x === "number" && !Number.isFinite(x) ? `${x}` : x);
  const computed = (state) => live.compute(JSON.parse(state, number));
  return states.map((state) => JSON.stringify(computed(state), finite));
}"""


def drag_every_handle(page: Page) -> None:
    for handle in page.locator(".os-handle .ring").all()[:2]:
        box = handle.bounding_box()
        page.mouse.move(box["x"] + 5, box["y"] + 5)
        page.mouse.down()
        page.mouse.move(box["x"] + 40, box["y"] - 40)
        page.mouse.up()


@asking
def test_every_answer_leads_to_the_state_that_settles_it(visit, id) -> None:
    """One after the other, on a phone: verdict and picture are in sight together."""
    prediction = registry.spec(id).prediction
    hints = registry.strings(id)["en"]["hints"]
    page = visit(id, width=390, height=844, reduced_motion="reduce")
    for chosen, settled in enumerate(prediction.shown_by):
        press(page, f'[data-option="{chosen}"]')
        verdict = page.locator(".os-verdict").inner_text()
        if chosen == prediction.answer:
            assert verdict.startswith("Right.")
        else:
            assert verdict[:30] in re.sub(r"\^\{(.*?)\}", r"\1", hints[chosen])
        press(page, ".os-proof")
        assert settled.items() <= state(page).items()
        verdict_and_picture_are_in_sight(page)
        if page.locator(".os-why").is_visible():
            why_brings_the_question_back(page)
    press(page, ".os-proof")
    who_sees_it_is_not_moved(page)


def verdict_and_picture_are_in_sight(page: Page) -> None:
    """Together, in one window, and the focus stays."""
    verdict, picture = page.evaluate(SEEN)
    assert verdict["top"] >= -1 and picture["bottom"] <= 845
    assert page.evaluate("document.activeElement.className") == "os-proof"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def who_sees_it_is_not_moved(page: Page) -> None:
    page.evaluate("scrollBy(0, 5)")
    here = page.evaluate("scrollY")
    if page.evaluate(SEEN)[0]["top"] >= 0:
        press(page, ".os-proof")
        assert page.evaluate("scrollY") == here, "what is in sight does not jump"


def why_brings_the_question_back(page: Page) -> None:
    press(page, ".os-why")
    assert page.locator(".os-options").is_visible()
    assert not page.locator(".os-why").is_visible()


SEEN = """[".os-verdict", ".os-stage"].map(
  (part) => document.querySelector(part).getBoundingClientRect().toJSON())"""


@asking
def test_evidence_shows_itself_with_the_answer(visit, id) -> None:
    """No toggle is left between the answer and what settles it."""
    spec = registry.spec(id)
    for control in spec.controls:
        if control.kind == "toggle" and hides(id, control.name):
            on = [shown.get(control.name) for shown in spec.prediction.shown_by]
            assert not all(on), f"{control.name} hides what answers the question"
    page = visit(id, reduced_motion="reduce")
    page.locator("[data-option]").first.click()
    assert state(page) == answered(id)
    if spec.evidence():
        before = page.locator(".os-stage").inner_text()
        put(page, dict.fromkeys(spec.evidence(), False))
        assert page.locator(".os-stage").inner_text() != before


def hides(id: str, toggle: str) -> bool:
    """Whether a toggle only adds numbers, where the question is settled."""
    settled = registry.spec(id).defaults() | shown_by(id)[0]
    found = (v8.run(id, "compute", settled | {toggle: x}) for x in (True, False))
    on, off = (set(re.findall(r"-?\d[\d.e-]*", text)) for text in found)
    return off <= on


@asking
def test_on_a_phone_what_is_locked_leaves_the_picture_in_sight(visit, id) -> None:
    page = visit(id, width=390)
    inputs = page.locator(".os-inputs")
    assert [each for each in inputs.all() if each.is_visible()] == []
    page.locator("[data-option]").first.click()
    kinds = {control.kind for control in registry.spec(id).controls}
    if kinds & {"choice", "menu", "range", "toggle", "pick"}:
        assert inputs.first.is_visible()


def test_a_locked_control_leads_to_the_question(visit) -> None:
    page = visit("balance", width=700, reduced_motion="reduce")
    asked = page.locator(".os-question.os-asked")
    page.locator("[data-control=m]").scroll_into_view_if_needed()
    page.mouse.click(*middle(page.locator("[data-control=m]")))
    assert asked.is_visible() and state(page) == opening("balance")
    page.locator("[data-option]").first.click()
    assert not asked.count()


# ---- the keyboard ----


@ids
def test_the_keyboard_alone_reaches_everything(visit, id) -> None:
    page = visit(id, reduced_motion="reduce")
    if registry.spec(id).prediction:
        press_until(page, ".os-skip")
        page.keyboard.press("Enter")
    wanted = page.locator(".os-figure").evaluate(REACHABLE)
    for _ in range(len(wanted) + 8):
        page.keyboard.press("Tab")
    assert set(wanted) <= set(page.evaluate("reached"))


REACHABLE = """figure => {
  const one = new Set();  // of radio buttons, the chosen one
  const parts = [...figure.querySelectorAll("button, input, select")].filter((part) =>
    part.checkVisibility() && !part.disabled && !part.closest("[inert]")
    && (part.type !== "radio" || part.checked));
  document.activeElement.blur();
  window.reached = [];
  addEventListener("focusin", ({ target }) => reached.push(target.dataset.test));
  return parts.map((part, i) => (part.dataset.test = `part${i}`));
}"""


def press_until(page: Page, selector: str) -> None:
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate(f"document.activeElement.matches({selector!r})"):
            return
    raise AssertionError(f"{selector} cannot be reached")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("id", ["six-steps", "triton-barriers"])
def test_a_step_that_is_drawn_can_be_clicked(visit, id, width: int) -> None:
    """Then the keyboard goes on from there."""
    page = visit(id, width=width, reduced_motion="reduce")
    places = page.locator(".os-stage [data-step]")
    steps = [int(x) for x in places.evaluate_all(STEP_OF)]
    assert steps == [*range(1, page.evaluate(LAST_STEP) + 1)]
    places.nth(2).click()
    assert state(page)["step"] == 0, "before the prediction"
    skip(page)
    for at in (2, 4, 0):
        places.nth(at).click()
        assert state(page)["step"] == steps[at]
    page.keyboard.press("ArrowRight")
    assert state(page)["step"] == steps[1]
    if width == 390:
        heights = places.evaluate_all(
            "all => all.map((each) => each.getBoundingClientRect().height)"
        )
        assert min(heights) >= 24


STEP_OF = "places => places.map(({ dataset }) => dataset.step)"
LAST_STEP = "[...osFigures.awake.values()][0].numbers.steps"


@stepping
def test_the_arrow_keys_step(visit, id) -> None:
    page = visit(id, reduced_motion="reduce")
    skip(page)
    put(page, {"step": 0})
    page.locator(".os-steps input").focus()
    for key, step in [("ArrowRight", 1), ("ArrowUp", 2), ("ArrowLeft", 1), ("Home", 0)]:
        page.keyboard.press(key)
        assert state(page)["step"] == step
    page.keyboard.press("End")
    last = page.evaluate("[...osFigures.awake.values()][0].numbers.steps")
    assert state(page)["step"] == last
    page.keyboard.press("Home")
    page.keyboard.press("Shift+ArrowRight")
    assert state(page)["step"] == min(10, last)
    shown = page.locator(".os-stage").inner_html()  # reduced motion: a jump
    rest(page, 0)
    assert page.locator(".os-stage").inner_html() == shown


# ---- playing ----


@stepping
def test_play_goes_to_the_end_and_pause_stops(visit, id) -> None:
    page = visit(id)
    skip(page)
    put(page, {"step": 0})
    page.evaluate(
        "(live => (live.spec.pace = Math.min(40, 400 / live.numbers.steps)))"
        "([...osFigures.awake.values()][0])"
    )
    words = registry.strings(id)["en"]
    play = page.get_by_role("button", name=words.get("play", "Play"))
    play.click()
    last = page.evaluate("[...osFigures.awake.values()][0].numbers.steps")
    until(page, f"[...osFigures.awake.values()][0].state.step === {last}")
    play.wait_for()
    page.evaluate("[...osFigures.awake.values()][0].spec.pace = 1e9")
    play.click()  # from the end it begins again
    page.get_by_role("button", name=words.get("pause", "Pause")).click()
    assert state(page)["step"] == 1


# ---- the address ----


@stepping
def test_a_link_to_a_moment_stops_what_plays(visit, id) -> None:
    page = visit(id)
    skip(page)
    put(page, {"step": 0})
    page.evaluate("[...osFigures.awake.values()][0].spec.pace = 1e9")
    words = registry.strings(id)["en"]
    page.get_by_role("button", name=words.get("play", "Play")).click()
    page.get_by_role("button", name=words.get("pause", "Pause")).wait_for()
    page.evaluate(f"location.hash = '#{id}:step=2'")
    until(page, "[...osFigures.awake.values()][0].state.step === 2")
    page.get_by_role("button", name=words.get("play", "Play")).wait_for()


@ids
def test_a_deep_link_waits_for_the_prediction(visit, id) -> None:
    spec = registry.spec(id)
    kinds = {control.name: control.kind for control in spec.controls}
    wanted = spec.still if spec.still.keys() - spec.evidence().keys() else another(id)
    silent = ("data", "row", "evidence")
    asked = {name: x for name, x in wanted.items() if kinds[name] not in silent}
    values = {k: str(v).lower() if isinstance(v, bool) else v for k, v in asked.items()}
    hash = f"#{id}:" + "&".join(f"{name}={value}" for name, value in values.items())
    page = visit(id, hash)
    if spec.prediction:
        assert state(page) == opening(id)
        skip(page)
    assert asked.items() <= state(page).items()
    expected = {k: v for k, v in asked.items() if v != spec.defaults()[k]}
    put(page, {"step": 0} if "step" in expected else {})
    rest(page, 300)  # an address is written after 250
    left = page.evaluate("decodeURIComponent(location.hash)")
    for name in expected:
        if name != "step":
            assert f"{name}={values[name]}" in left


def test_an_address_within_the_page_is_followed(visit) -> None:
    page = visit("block-stepper")
    skip(page)
    page.evaluate("location.hash = '#block-stepper:block=8&step=2&forget=true'")
    until(page, "[...osFigures.awake.values()][0].state.step === 2")
    now = state(page)
    assert (now["block"], now["step"], now["forget"]) == (8, 2, True)


@pytest.mark.parametrize(
    "hash", ["#block-stepper:block=99", "#block-stepper:nonsense=1&step=x", "#%E0%A4%A"]
)
def test_a_broken_address_harms_nothing(visit, hash: str) -> None:
    page = visit("block-stepper", hash)
    skip(page)
    now = state(page)
    assert now["step"] == 0 and 1 <= now["block"] <= 16


# ---- what is said and shown ----


SAYS_WHAT_IS_DRAWN = """(() => {
  const words = (text) => text.split(/\\s+/).filter(Boolean).join(" ");
  const drawn = document.querySelector(".os-stage svg").getAttribute("aria-label");
  const said = words(document.querySelector(".os-aside").textContent);
  return said !== "" && said === words(drawn);
})()"""


TOLD_AT_ONCE = """changes => {
  [...osFigures.awake.values()][0].set(changes);
  return document.querySelector(".os-aside").textContent;
}"""


@ids
def test_sentence_table_and_quantities(visit, id) -> None:
    page = visit(id, reduced_motion="reduce")
    skip(page)
    changes = registry.spec(id).still or another(id)
    told = page.evaluate(TOLD_AT_ONCE, changes)
    put(page, changes)
    if not registry.spec(id).loads:  # what loads first answers when the hand has rested
        assert told == ""
    the_table_can_be_shown(page)
    has_quantities = "no quantity" not in registry.module(id).__doc__
    if has_quantities:
        quantities_are_addressed(page)
    aside = page.locator(".os-aside")
    assert aside.get_attribute("aria-live") == "polite"
    until(page, SAYS_WHAT_IS_DRAWN)
    if has_quantities and "step" in registry.spec(id).defaults():
        a_lit_quantity_stays_lit(page)


def the_table_can_be_shown(page: Page) -> None:
    button = page.locator(".os-as-table")
    assert not page.locator(".os-table").is_visible()
    press(page, ".os-as-table")
    assert button.get_attribute("aria-expanded") == "true"
    assert page.locator(".os-table td:visible").count() >= 3
    press(page, ".os-as-table")
    assert not page.locator(".os-table").is_visible()


def quantities_are_addressed(page: Page) -> None:
    found = "parts => parts.map((part) => part.dataset.q)"
    drawn = set(page.locator(".os-stage [data-q]").evaluate_all(found))
    assert drawn & set(page.locator(".os-say [data-q]").evaluate_all(found))
    if page.locator(".os-code").count():
        assert drawn & set(page.locator(".os-code [data-q]").evaluate_all(found))


def a_lit_quantity_stays_lit(page: Page) -> None:
    """While the figure goes on: the very element stays."""
    q = page.locator(".os-stage [data-q]").first.get_attribute("data-q")
    part = f"document.querySelector('.os-stage [data-q={q}]')"
    page.evaluate(f"{part}.classList.add('q-on')")
    put(page, {"step": state(page)["step"] - 1})
    assert page.locator(".os-stage .q-on").count()
    said = page.locator(".os-say [data-q]").first
    said.evaluate("part => part.classList.add('q-on')")
    put(page, {"step": state(page)["step"] + 1})
    again = f'.os-say [data-q="{said.get_attribute("data-q")}"]'
    assert page.locator(f"{again}.q-on").count() == page.locator(again).count()


numbered = pytest.mark.parametrize(
    "id",
    [
        id
        for id in registry.ids()
        if any(
            control.kind in ("range", "row") for control in registry.spec(id).controls
        )
    ],
)


@numbered
def test_a_number_that_is_not_taken_is_told(visit, id) -> None:
    """Both ends, and whatever the field held before."""
    page = visit(id)
    skip(page)
    for control in registry.spec(id).controls:
        if control.kind not in ("range", "row"):
            continue
        box = page.locator(f"[data-control={control.name}]")
        field, complaint = box.locator("[type=number]"), box.locator(".os-complaint")
        for given, end in ((control.high + 1000, "high"), (control.low - 1000, "low")):
            field.fill(f"{given}")
            assert not complaint.is_visible()
            field.press("Enter")
            field.blur()
            said = complaint.inner_text()
            assert f"{given}" in said and field.input_value() in said, end
        field.fill(f"{control.low}")
        field.press("Enter")
        assert not complaint.is_visible(), "it was taken"
        field.fill(f"{control.high + 1000}")
        field.press("Enter")
        press(page, ".os-reset")
        assert not complaint.is_visible()


@numbered
def test_what_is_being_typed_stays_while_the_figure_goes_on(visit, id) -> None:
    page = visit(id)
    skip(page)
    render = "[...osFigures.awake.values()][0].render(false)"
    for control in registry.spec(id).controls:
        if control.kind not in ("range", "row"):
            continue
        field = page.locator(f"[data-control={control.name}] [type=number]")
        shown = field.input_value()
        field.fill(f"{control.high + 1000}")
        page.evaluate(render)
        assert field.input_value() == f"{control.high + 1000}", "it is being typed"
        field.press("Enter")
        page.evaluate(render)
        assert float(field.input_value()) <= control.high, "it was taken"
        taken = field.input_value()
        field.fill("")
        page.evaluate(render)
        assert field.input_value() == "", "the next number is about to be typed"
        field.blur()
        assert field.input_value() == taken
        field.fill(shown)
        press(page, ".os-reset")
        assert field.input_value() == shown


@looks
@ids
def test_a_table_sets_words_left_and_keeps_its_names_in_sight(visit, id) -> None:
    """On a phone the first column and the head stay, however far it is scrolled."""
    page = visit(id, width=390, reduced_motion="reduce")
    skip(page)
    put(page, another(id))
    press(page, ".os-as-table")
    table = page.locator(".os-table")
    table.scroll_into_view_if_needed()
    long, names, heads = table.evaluate(SCROLLED)
    assert not [text for text, align in long if align not in ("left", "start")]
    assert max(abs(x) for x in names) <= 1 and max(abs(y) for y in heads) <= 1


# How far the names of rows and columns have gone from their edges.
SCROLLED = """(box) => {
  const cells = [...box.querySelectorAll("tbody td")];
  const long = cells.filter(({ textContent: text }) => /\\p{L}{4}/u.test(text) && text.length > 16);
  box.scrollTo(1e4, 1e4);
  const { left, top } = box.getBoundingClientRect();
  const at = (part) => part.getBoundingClientRect();
  const rows = [...box.querySelectorAll("tr > :first-child")];
  const scrolled = box.scrollTop > at(box.querySelector("caption")).height;
  return [
    long.map((each) => [each.textContent, getComputedStyle(each).textAlign]),
    rows.map((part) => at(part).left - left),
    scrolled ? [...box.querySelectorAll("th")].map((part) => at(part).top - top) : [0],
  ];
}"""


# ---- transitions ----


def test_a_rescale_is_seen_to_happen_to_everything_old_at_once(
    reuse_page, folder
) -> None:
    """Mid-way every old bar has shrunk by one factor, and no new one has risen.

    The clock is taken from a page that goes away afterwards.
    """
    page = reuse_page(folder / "block-stepper.html")
    page.locator(".os-live").wait_for()
    skip(page)
    put(page, {"step": 1})
    page.evaluate(OWN_CLOCK)
    put(page, {"step": 2}, True)
    page.evaluate("tick(450)")
    bars = heights(page, '.weight[data-key^="w"]')
    shrunk = np.divide(bars[:4], heights(page, ".ghost"))
    assert 0.45 < shrunk[0] < 0.95 and np.allclose(shrunk, shrunk[0], rtol=0.02)
    assert bars[4:] == [0, 0, 0, 0]
    page.evaluate("tick(2000)")
    assert min(heights(page, ".weight.new")) > 0


def heights(page: Page, bars: str) -> list[float]:
    code = "bars => bars.map((bar) => Number(bar.getAttribute('height')))"
    return page.locator(bars).evaluate_all(code)


OWN_CLOCK = """() => {
  let now = 0;
  let asked = 0;
  const frames = new Map();
  performance.now = () => now;
  window.requestAnimationFrame = (act) => frames.set((asked += 1), act) && asked;
  window.cancelAnimationFrame = (id) => frames.delete(id);
  window.waiting = () => frames.size;
  window.tick = (span) => {
    now += span;
    const due = [...frames.values()];
    frames.clear();
    due.forEach((act) => act(now));
  };
}"""


@stepping
def test_a_transition_never_delays_input(visit, id) -> None:
    """Four presses in a row, while the first is still gliding: four steps."""
    page = visit(id)
    skip(page)
    put(page, {"step": 0})
    page.evaluate("""() => {
        const next = document.querySelector('[data-go=next]');
        for (let i = 0; i < 4; i++) next.click();
    }""")
    last = page.evaluate("[...osFigures.awake.values()][0].numbers.steps")
    assert state(page)["step"] == min(4, last)
    settle(page)
    glided = page.locator(".os-stage").inner_html()
    fresh = page.evaluate("""() => {
        const live = [...osFigures.awake.values()][0];
        live.at.stage.replaceChildren();
        live.render(false);
        return live.at.stage.innerHTML;
    }""")
    assert attributes(glided) == attributes(fresh)


def attributes(svg: str) -> list[str]:
    """The picture without what only tells how it came to be."""
    svg = re.sub(r' data-(from|at|sway|glide)="[^"]*"', "", svg)
    return sorted(re.findall(r"<[^/][^>]*>", svg))


# ---- hands ----

HANDLES = [("two-chunks", "top", (0, -40)), ("cover", "step", (90, 0))]


@pytest.mark.parametrize(("id", "control", "way"), HANDLES)
def test_a_handle_follows_the_mouse(visit, id, control, way) -> None:
    page = visit(id)
    skip(page)
    before = state(page)[control]
    x, y = middle(page.locator(".os-handle .ring").first)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + way[0] / 2, y + way[1] / 2)
    page.mouse.move(x + way[0], y + way[1])
    page.mouse.up()
    assert state(page)[control] > before
    settle(page)
    now = middle(page.locator(".os-handle .ring").first)
    assert now == pytest.approx((x + way[0], y + way[1]), abs=12)


@pytest.mark.parametrize(("id", "control", "way"), HANDLES)
def test_a_handle_follows_a_finger_and_the_page_stays(visit, id, control, way) -> None:
    page = visit(id, width=390, height=700, has_touch=True, is_mobile=True)
    skip(page)
    page.locator(".os-handle").first.scroll_into_view_if_needed()
    before, scrolled = state(page)[control], page.evaluate("scrollY")
    x, y = middle(page.locator(".os-handle .ring").first)
    touch = page.context.new_cdp_session(page)
    send(touch, "touchStart", [(x, y)])
    for part in (0.3, 0.6, 1):
        send(touch, "touchMove", [(x + part * way[0], y + part * way[1])])
    send(touch, "touchEnd", [])
    assert state(page)[control] > before
    assert page.evaluate("scrollY") == scrolled


def middle(part: Locator) -> tuple[float, float]:
    box = part.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def send(session, kind: str, points: list[tuple[float, float]]) -> None:
    touches = [{"x": x, "y": y} for x, y in points]
    session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})


# ---- sizes, print, no scripts ----


@looks
@ids
def test_a_phone_shows_all_of_it(visit, id) -> None:
    page = visit(id, width=390, has_touch=True, is_mobile=True)
    skip(page)
    targets = page.locator(f".os-figure :is({TARGETS}):visible").evaluate_all(
        "parts => parts.filter((part) => part.getBoundingClientRect().height < 43.5)"
        ".map((part) => part.outerHTML)"
    )
    assert not targets
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        all_is_in_sight(page, id, width)


@looks
@ids
def test_spanish_fits_on_a_phone_as_well(visit, id) -> None:
    page = visit(f"{id}-es", width=390)
    skip(page)
    assert page.locator(".os-title").inner_text() == registry.strings(id)["es"]["title"]
    all_is_in_sight(page, id, 390)


def is_laid_out(page: Page, width: int) -> None:
    wide = str(width > 700).lower()
    until(page, f"[...osFigures.awake.values()][0].wide === {wide}")


def all_is_in_sight(page: Page, id: str, width: int) -> None:
    is_laid_out(page, width)
    for state_now in ({}, registry.spec(id).still, *shown_by(id)):
        put(page, state_now)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        out, small = page.evaluate(MEASURED)
        assert not out
        assert not small or width < 390


@looks
@ids
def test_names_and_numbers_are_clear_of_each_other(visit, id) -> None:
    """Wherever the controls may stand, in both languages, wide and narrow: no text runs
    into another one, off the picture, across an edge, or under a line, and wide none is small."""
    page = visit(id)
    strings = registry.strings(id)
    spoken = [strings["en"], strings["en"] | strings["es"]]
    # What is loaded takes long to compute, and has few words in its picture.
    page.evaluate(STATES_COMPUTED, 40 if registry.spec(id).loads else 120)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        is_laid_out(page, width)
        assert page.evaluate(CROWDED, spoken) == {}, width


STATES_COMPUTED = """(most) => {
  const [live] = osFigures.awake.values();
  const { controls, prediction, presets, still } = live.spec;
  const kinds = {
    toggle: () => [false, true],
    choice: ({ of }) => of,
    menu: ({ of }) => of,
    range: ({ low, high }) => [0, 0.1, 0.3, 0.6, 1].map((at) => low + at * (high - low)),
    film: ({ seconds }) => [0.2, 0.4, 0.6, 0.8, 0.87, 0.95, 1].map((at) => at * seconds),
    step: (_, { steps }) => [0, 0.2, 0.4, 0.7, 1].map((at) => Math.round(at * steps)),
  };
  const whole = (part) => {
    const wanted = live.fitted({ ...live.opening, ...part });
    return live.within(wanted, live.bare(wanted));
  };
  // So many of them at most, taken evenly: a state is expensive to make whole.
  const some = (list, most) => {
    const unlike = [...new Map(list.map((each) => [JSON.stringify(each), each])).values()];
    return unlike.filter((_, i) => i % Math.ceil(unlike.length / most) === 0);
  };
  let states = [{}, still, ...(prediction?.shown_by ?? []), ...presets];
  for (const control of controls.filter(({ kind }) => kinds[kind])) {
    const values = (state) =>
      kinds[control.kind](control, control.kind === "step" && live.bare(whole(state)));
    const turned = (state) => values(state).map((x) => ({ ...state, [control.name]: x }));
    states = some([...states, ...states.flatMap(turned)], most);
  }
  states = some(states.map(whole), most);
  window.osComputed = states.map((state) => [state, live.compute(state)]);
}"""

CROWDED = """(languages) => {
  const [live] = osFigures.awake.values();
  const stage = live.at.stage.cloneNode(false);
  stage.style.width = live.wide ? "720px" : "320px";
  live.root.append(stage);
  const touch = (a, b, gap) =>
    a.left < b.right + gap && b.left < a.right + gap && a.top < b.bottom && b.top < a.bottom;
  const within = (a, b) => a.left >= b.left - 2 && a.right <= b.right + 2
    && a.top >= b.top - 2 && a.bottom <= b.bottom + 2;
  const HALO = 6; // px: a thinner one leaves a line between two words
  const seen = new Set();
  const faults = (state, numbers, words) => {
    const view = { wide: live.wide, words, title: "", was: null };
    const picture = live.draw(state, numbers, view);
    if (seen.has(picture)) return [];  // whose words are the same in both languages
    seen.add(picture);
    stage.innerHTML = picture;
    const all = stage.firstChild.getBoundingClientRect();
    const parts = (names) => [...stage.querySelectorAll(names)].map((part) => {
      const { left, right, top, bottom } = part.getBoundingClientRect();
      return { part, left, right, top, bottom, look: getComputedStyle(part) };
    });
    const texts = parts("text").filter(({ part, look }) => part.textContent.trim() && look.opacity > 0);
    for (const text of texts) {  // from its box to its ink
      const size = parseFloat(text.look.fontSize);
      text.bottom -= 0.2 * size;
      text.top = text.bottom - 0.74 * size;
      const halo = text.look.paintOrder.startsWith("stroke");
      text.smears = !halo && text.look.stroke !== "none";
      text.halo = halo && parseFloat(text.look.strokeWidth) >= HALO;
    }
    const [rects, lines] = [parts("rect:not(.band)"), parts("line")];
    const grounds = parts("rect:not(.band), circle").reverse();  // the uppermost first
    const shown = ({ look }) => look.stroke !== "none" || look.fill !== "none";
    const upright = (a) => Math.min(a.right - a.left, a.bottom - a.top) < 3;
    const under = (text) => grounds.find((each) => within(text, each) && shown(each))?.part;
    const before = (one, other) =>
      one.part.compareDocumentPosition(other.part) & Node.DOCUMENT_POSITION_FOLLOWING;
    return texts.flatMap((text, i) => {
      const name = text.part.textContent;
      const ground = under(text);
      const hidden = ({ part }) =>
        ground && part.compareDocumentPosition(ground) & Node.DOCUMENT_POSITION_FOLLOWING;
      return [
        within(text, { left: all.left - 3, right: all.right + 3, top: all.top, bottom: all.bottom })
          ? [] : `${name} leaves the picture`,
        live.wide && parseFloat(text.look.fontSize) < 12 ? `${name} is small` : [],
        texts.slice(i + 1).filter((other) => touch(text, other, 2) && !(ground && under(other)))
          .map(({ part }) => `${name} runs into ${part.textContent}`),
        text.smears ? `${name} smears: it has a stroke, and no halo` : [],
        lines.filter((each) => touch(text, each, 0) && upright(each) && !hidden(each) && !(text.halo && before(each, text)))
          .map(({ part }) => `${name} is struck by ${part.dataset.key ?? part.getAttribute("class")}`),
        ground ? [] : rects.filter((each) => touch(text, each, -1) && !within(text, each) && shown(each) && !(text.halo && before(each, text)))
          .map(({ part }) => `${name} crosses the edge of ${part.getAttribute("class")}`),
      ].flat();
    });
  };
  const found = {};
  for (const [state, numbers] of window.osComputed)
    for (const words of languages)
      for (const fault of faults(state, numbers, words)) found[fault] ??= JSON.stringify(state);
  stage.remove();
  return found;
}"""


@looks
@ids
def test_a_figure_looks_the_same_beside_all_others(visit, id) -> None:
    """No other figure's style reaches what it draws."""
    page = visit(id)
    page.evaluate(STATES_COMPUTED, 40)
    together = page.evaluate(LOOKS)
    page.evaluate(ONLY_STYLE, f"{id}-alone.css")
    alone = page.evaluate(LOOKS)
    changed = {name: (alone[name], look) for name, look in together.items()}
    assert {name: pair for name, pair in changed.items() if pair[0] != pair[1]} == {}


# How the parts of its pictures look, by their names and classes.
LOOKS = """() => {
  const [live] = osFigures.awake.values();
  const stage = live.at.stage.cloneNode(false);
  live.root.append(stage);
  const looks = {};
  for (const [state, numbers] of window.osComputed) {
    stage.innerHTML = live.draw(state, numbers, { ...live, title: "", was: null });
    for (const part of stage.querySelectorAll("svg :is(text, line, rect, path, circle)")) {
      const own = getComputedStyle(part);
      const shown = [own.opacity];
      if (own.stroke !== "none") shown.push(own.stroke, own.strokeWidth, own.paintOrder);
      if (part.nodeName !== "line") shown.push(own.fill);
      if (part.nodeName === "text") shown.push(own.fontSize, own.fontWeight);
      const within = part.closest("g[class]")?.getAttribute("class") ?? "";
      const name = `${within} ${part.nodeName}.${part.getAttribute("class")}`;
      looks[name] ??= shown.join(", ");
    }
  }
  stage.remove();
  return looks;
}"""

ONLY_STYLE = """(href) => new Promise((loaded) => {
  const before = document.querySelector("link[rel=stylesheet]");
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
  link.onload = () => { before.remove(); loaded(); };
  document.head.append(link);
})"""


@pytest.mark.parametrize("width", [1280, 390])
def test_of_two_programs_under_a_roof_the_upper_one_has_the_upper_name(visit, width):
    page = visit("roofline", width=width)
    assert page.evaluate(MISNAMED) == []


MISNAMED = """() => {
  const [live] = osFigures.awake.values();
  const all = (name) => live.spec.controls.find((control) => control.name === name).of;
  const stage = document.createElement("div");
  const at = (key, place) => Number(stage.querySelector(`[data-key=${key}]`).getAttribute(place));
  const found = [];
  for (const gpu of all("gpu"))
    for (const format of all("format"))
      for (const d of all("d"))
        for (const rows of all("rows")) {
          const state = live.fitted({ ...live.opening, gpu, format, d, rows });
          const view = { wide: live.wide, words: live.words, title: "", was: null };
          stage.innerHTML = live.draw(state, live.compute(state), view);
          const near = Math.abs(at("dot0", "cx") - at("dot1", "cx")) < 30;
          const dots = at("dot0", "cy") - at("dot1", "cy");
          const names = at("name0", "y") - at("name1", "y");
          if (near && Math.abs(dots) > 1 && dots * names < 0) found.push(state);
        }
  return found;
}"""


TARGETS = (
    "button, select, [type=range], [type=number], label:has([type=radio]), .os-toggle"
)


def shown_by(id: str) -> tuple[dict, ...]:
    prediction = registry.spec(id).prediction
    return prediction.shown_by if prediction else ()


MEASURED = """() => {
  const stage = document.querySelector('.os-figure').getBoundingClientRect();
  const texts = [...document.querySelectorAll('.os-stage text')]
    .filter((text) => text.textContent.trim() && text.checkVisibility());
  const scale = document.querySelector('.os-stage svg').getScreenCTM().a;
  const out = texts.filter((text) => {
    const box = text.getBoundingClientRect();
    return box.left < stage.left - 1 || box.right > stage.right + 1;
  });
  const size = (text) => parseFloat(getComputedStyle(text).fontSize) * scale;
  const small = texts.filter((text) => size(text) < 12);
  return [out, small].map((list) => list.map((text) => text.textContent));
}"""


@pytest.fixture(scope="session")
def gallery(folder) -> Path:
    """One page with every figure, which notes what room their stills take."""
    (folder / "asleep.js").write_text(f"window.asleep = ({ROOM})();")
    scripts = '<script defer src="asleep.js"></script>'
    return write_page(folder / "gallery.html", list(registry.ids()), "", scripts)


# How far down the parts of each figure are, and its end.
ROOM = """() => Object.fromEntries(
  [...document.querySelectorAll(".os-figure")].map((figure) => {
    const box = figure.getBoundingClientRect();
    const tops = ["title", "question", "inputs", "stage", "say"].map((name) => {
      const part = figure.querySelector(`.os-${name}`);
      return part?.checkVisibility() ? part.getBoundingClientRect().top - box.top : 0;
    });
    return [figure.id, [...tops, box.height]];
  }))"""


@pytest.mark.parametrize("width", [1280, 390])
def test_waking_moves_nothing_and_paper_gets_all(reuse_page, gallery, width) -> None:
    """The still takes the very room that the live figure takes."""
    page = reuse_page(gallery, width=width)
    for id in registry.ids():
        page.locator(f"#{id}").scroll_into_view_if_needed()
        page.locator(f"#{id}.os-live").wait_for()
    asleep, awake = page.evaluate("asleep"), page.evaluate(ROOM)
    assert asleep.keys() == awake.keys() == set(registry.ids())
    for id in asleep:
        moved = np.subtract(awake[id], asleep[id])
        assert np.abs(moved[:-1]).max() <= SHIFT and moved[-1] <= SHIFT, (id, moved)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for id, live in live_states(page).items():
        assert registry.spec(id).still.items() <= live.items(), id
        figure = page.locator(f"#{id}")
        pictures = figure.locator(".os-stage svg:visible").count()
        assert pictures in (1, len(stills(id))), id
        assert figure.locator(".os-table").is_visible(), id
    for part in (".os-bar", ".os-inputs", ".os-question"):
        assert not page.locator(f"{part}:visible").count(), part
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert live_states(page) == {id: opening(id) for id in registry.ids()}


# CSS px, a row of buttons: those for what a reader adds come with the live figure. What
# follows the sentence may rise: that of a still may have more lines.
SHIFT = 41


def live_states(page: Page) -> dict[str, dict]:
    return page.evaluate(
        "Object.fromEntries("
        "[...osFigures.awake].map(([{ id }, { state }]) => [id, state]))"
    )


def stills(id: str) -> list:
    """The times of the pictures that stand for a film."""
    return [t for c in registry.spec(id).controls for t in getattr(c, "stills", ())]


def test_without_scripts_the_stills_stand(reuse_page, gallery) -> None:
    page = reuse_page(gallery, java_script_enabled=False)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert not page.locator(".os-bar:visible").count()
        for id in registry.ids():
            figure = page.locator(f"#{id}")
            shown = figure.locator(".os-stage svg:visible").count()
            assert shown == (len(stills(id)) or 1), id
            assert figure.locator(".os-say").is_visible() or stills(id), id
            assert figure.locator(".os-table").is_visible(), id


def test_a_figure_that_throws_leaves_its_still_standing(open_page, folder) -> None:
    spoilt = "compute() { throw new Error('planted'); }"
    (folder / "spoilt.js").write_text(
        f"window.osFigures.push(['two-chunks', () => ({{ spec: {{ controls: [] }},"
        f" strings: {{ en: {{}} }}, {spoilt} }})]);"
    )
    scripts = '<script defer src="spoilt.js"></script>'
    file = write_page(
        folder / "spoilt.html", ["two-chunks", "block-stepper"], "", scripts
    )
    page = open_page(file)
    page.locator("#two-chunks.os-failed").wait_for()
    page.locator("#block-stepper.os-live").wait_for()  # its neighbour lives
    figure = page.locator("#two-chunks")
    assert figure.locator(".os-stage svg:visible").count() == 1
    assert figure.locator(".os-table").is_visible()
    assert not figure.locator(".os-bar").is_visible()
    faults = page.tattler.faults
    assert len(faults) == 1 and "two-chunks" in faults[0] and "planted" in faults[0]
    faults.clear()


def test_a_figure_wakes_when_it_nears_the_window(open_page, folder) -> None:
    file = folder / "far.html"
    write_page(file, ["block-stepper"])
    text = file.read_text().replace("<h1>", '<div style="height: 6000px"></div><h1>')
    file.write_text(text)
    page = open_page(file)
    rest(page, 200)
    assert not page.locator(".os-live").count()
    page.locator(".os-figure").scroll_into_view_if_needed()
    page.locator(".os-live").wait_for()


# ---- a sweep, a notebook ----


def test_a_sweep_slides_over_its_results(open_page, folder) -> None:
    made = sweep(
        lambda block: f"sum in blocks of {block}", values=[1, 4, 16], label="block"
    )
    page = open_page(write_page(folder / "sweep.html", [], made._repr_html_()))
    slider = page.get_by_role("slider", name="block")
    shown = page.locator(".os-case:visible")
    assert shown.count() == 1 and shown.inner_text() == "sum in blocks of 1"
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert shown.inner_text() == "sum in blocks of 16"
    assert slider.get_attribute("aria-valuetext") == "16"


def test_without_scripts_a_sweep_shows_every_result(open_page, folder) -> None:
    made = sweep(
        lambda block: f"sum in blocks of {block}", values=[1, 4, 16], label="block"
    )
    file = write_page(folder / "still-sweep.html", [], made._repr_html_())
    page = open_page(file, java_script_enabled=False)
    assert page.locator(".os-case:visible").count() == 3


@pytest.fixture
def notebook(fresh) -> Callable[..., "Notebook"]:
    """`notebook(widget, …)` → those figures in a notebook, shown and unlocked."""

    def show(*widgets: Figure) -> Notebook:
        return Notebook(fresh(BLANK), widgets)

    return show


class Notebook:
    """Widgets of this process and their figures on a page, as JupyterLab ties them.

    As there, the kernel reads what the browser sent only when its cell has ended.
    """

    def __init__(self, page: Page, widgets: tuple[Figure, ...]) -> None:
        self.page, self.widgets, self.sent = page, widgets, []
        for at, widget in enumerate(widgets):
            widget._send = partial(self._from_kernel, at)
            source = pack.widget_module(widget.figure_id)
            traits = json.loads(json.dumps(widget.get_state(), default=str))
            page.evaluate(NOTEBOOK, [source, traits])
        page.evaluate(
            "document.querySelectorAll('.os-skip').forEach((it) => it.click())"
        )
        self.settle()

    def _from_kernel(self, at: int, message: dict, **_: object) -> None:
        # The browser leaves out what merely repeats its own words, the echo.
        if message["method"] == "update":
            self.sent.append((at, "fromKernel", message["state"]))
        elif message["method"] == "custom":
            self.sent.append((at, "hear", message["content"]))

    def settle(self) -> int:
        """Carry messages both ways until none is left; gives the browser's count."""
        count = 0
        for _ in range(20):
            while self.sent:
                to = self.sent.pop(0)
                self.page.evaluate("([at, way, it]) => models[at][way](it)", to)
            back = self.page.evaluate("messages.splice(0)")
            if not back:
                return count
            count += len(back)
            for at, changes in back:
                self.widgets[at].set_state(changes)
        raise AssertionError("figure and kernel never agree")

    def shown(self, at: int = 0) -> dict:
        """What the browser's model holds of a figure's controls."""
        names = list(registry.spec(self.widgets[at].figure_id).defaults())
        return self.page.evaluate(
            "([at, names]) => Object.fromEntries("
            "names.map((name) => [name, models[at].get(name)]))",
            [at, names],
        )

    def position(self, at: int = 0) -> str:
        return self.page.locator(".os-steps output").nth(at).inner_text()


# A model that behaves as that of ipywidgets: it tells of every change at once, and
# sends on what the browser changed, not what the kernel has just said.
NOTEBOOK = """async ([source, traits]) => {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { default: widget } = await import(url);
  const alike = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const heard = [];
  let changes = {};
  window.models ??= [];
  window.messages ??= [];
  const at = models.length;
  const put = (state) => {
    const news = Object.keys(state).filter((name) => !alike(traits[name], state[name]));
    Object.assign(traits, state);
    for (const name of news)
      heard.filter(([event]) => event === `change:${name}`).forEach(([, act]) => act());
    return news;
  };
  const model = {
    get: (name) => traits[name],
    set(name, value) {
      if (!alike(traits[name], value)) changes[name] = value;
      put({ [name]: value });
    },
    save_changes() {
      if (Object.keys(changes).length) messages.push([at, changes]);
      changes = {};
    },
    on: (event, act) => heard.push([event, act]),
    off(event, act) {
      const found = heard.findIndex((each) => each[0] === event && each[1] === act);
      if (found >= 0) heard.splice(found, 1);
    },
    fromKernel: put,
    hear(said) {
      heard.filter(([event]) => event === "msg:custom").forEach(([, act]) => act(said));
    },
    show() {
      const el = document.body.appendChild(document.createElement("div"));
      return widget.render({ model, el });
    },
  };
  models.push(model);
  window.leave = model.show();
}"""


@ids
def test_a_notebook_shows_the_figure_and_shares_its_traits(notebook, id) -> None:
    """The packed module, called as anywidget calls it."""
    widget = figures.figure(id)
    book = notebook(widget)
    changes = another(id)
    widget.state = changes
    book.settle()
    name, value = next(iter(changes.items()))
    assert book.shown()[name] == widget.state[name] == value
    press(book.page, ".os-reset")
    assert book.settle() > 0
    assert book.shown() == widget.state == answered(id)
    assert book.page.evaluate(TAKEN) == []
    book.page.evaluate("leave()")
    press(book.page, ".os-as-table")
    widget.state = changes  # nobody listens any more
    assert book.settle() == 0


def test_a_cell_that_sets_several_traits_is_not_overruled(notebook) -> None:
    widget = figures.figure("block-stepper")
    book = notebook(widget)
    widget.step, widget.forget, widget.block = 3, True, 2
    assert book.settle() == 0
    wanted = opening("block-stepper") | {"step": 3, "forget": True, "block": 2}
    assert widget.state == book.shown() == wanted
    assert book.position() == "3 of 8"


def test_a_loop_in_a_cell_ends_at_its_last_value(notebook) -> None:
    widget = figures.figure("block-stepper")
    book = notebook(widget)
    for step in range(5):
        widget.step = step
    assert book.settle() == 0
    assert widget.step == book.shown()["step"] == 4
    assert book.position() == "4 of 4"


def test_a_state_set_at_once_arrives_whole(notebook) -> None:
    widget = figures.figure("block-stepper")
    book = notebook(widget)
    widget.state = {"step": 3, "forget": True, "block": 2}
    assert book.settle() == 0
    assert (widget.step, widget.forget, widget.block) == (3, True, 2)
    assert book.shown() == widget.state


def test_a_kernel_marked_in_a_notebook_is_drawn(notebook, tmp_path) -> None:
    widget = figures.figure("kernel-race")
    book = notebook(widget)
    cell = tmp_path / "cell.py"
    code = bank()["neighbour"].get("code").replace("    cuda.syncthreads()\n", "")
    cell.write_text(code.replace("from numba", "from blocksim"))
    kernel = runpy.run_path(str(cell))["larger"]
    assert not check("neighbour", kernel)
    book.settle()
    assert widget.kernel == "yours" and "def larger" in widget.log["source"]
    collided = book.page.locator(".os-code .fault code").all_inner_texts()
    assert "s[t] = scores[i]" in collided


def test_a_step_beyond_the_end_comes_back_fitted(notebook) -> None:
    widget = figures.figure("block-stepper")
    book = notebook(widget)
    for _ in range(2):  # the second time the figure has nothing new to say
        widget.step = 7
        book.settle()
        assert widget.step == widget.state["step"] == book.shown()["step"] == 4


def test_a_figure_that_opens_beyond_its_end_says_so(notebook) -> None:
    widget = figures.figure("block-stepper", step=7)
    notebook(widget)
    assert widget.step == 4


def test_a_step_beyond_the_end_for_a_moment_is_kept(notebook) -> None:
    """With blocks of 8 there is no step 3, but then the cell sets smaller blocks."""
    widget = figures.figure("block-stepper", block=8)
    book = notebook(widget)
    widget.step = 3
    widget.block = 2
    book.settle()
    assert (widget.step, widget.block) == (3, 2)
    assert book.shown() == widget.state
    assert book.position() == "3 of 8"


def test_one_click_that_changes_several_traits_arrives_whole(notebook) -> None:
    widget = figures.figure("block-stepper")
    book = notebook(widget)
    book.page.evaluate("models[0].show()")  # the same figure once more
    widget.state = {"block": 1, "step": 7, "forget": True}
    book.settle()
    book.page.get_by_role("button", name="Reset").first.click()
    book.settle()
    assert widget.state == book.shown() == opening("block-stepper")
    assert book.position(0) == book.position(1)


@pytest.mark.parametrize("where", ["kernel", "browser"])
def test_linked_figures_stay_in_step(notebook, where) -> None:
    """Also where the one has fewer steps than the other."""
    long = figures.figure("block-stepper", block=1)
    short = figures.figure("block-stepper", name="short", block=8)
    book = notebook(long, short)
    if where == "kernel":
        ipywidgets.link((long, "step"), (short, "step"))
    else:
        book.page.evaluate(JSLINK, "step")
    for step in (1, 2, 1):
        long.step = step
        book.settle()
        assert long.step == short.step == step
        assert book.shown(0)["step"] == book.shown(1)["step"] == step
    for _ in range(3):
        book.page.get_by_role("button", name="Next").first.click()
    book.settle()
    assert long.step == short.step == 2
    assert book.shown(0)["step"] == book.shown(1)["step"] == 2


JSLINK = """name => {
  let busy = false;
  const tie = (source, target) => source.on(`change:${name}`, () => {
    if (busy) return;
    busy = true;
    target.set(name, source.get(name));
    target.save_changes();
    busy = false;
  });
  tie(models[0], models[1]);
  tie(models[1], models[0]);
}"""


def test_in_a_notebook_buttons_made_later_keep_their_keys(notebook) -> None:
    book = notebook(figures.figure("merge-tree", asks=False))
    book.page.locator(".os-items button").first.click()
    assert book.page.evaluate(TAKEN) == []


# JupyterLab leaves alone only the keys of elements that say so.
TAKEN = """[...document.querySelectorAll(".os-figure :is(input, button, [tabindex])")]
  .filter((each) => each.dataset.lmSuppressShortcuts !== "true")
  .map((each) => each.outerHTML)"""


@pytest.mark.parametrize(
    ("id", "name", "wanted"),
    [("two-chunks", "top", 2.5), ("softmax-bars", "scores", [2.5, 2.0, 3.0])],
    ids=["range", "row"],
)
def test_in_a_notebook_enter_applies_a_typed_number(notebook, id, name, wanted) -> None:
    """There the browser fires no `change`: the cell takes the key."""
    widget = figures.figure(id, asks=False)
    book = notebook(widget)
    book.page.evaluate(
        """() => {
          const take = (event) => event.key === "Enter" && event.preventDefault();
          document.addEventListener("keydown", take);
        }"""
    )
    field = book.page.locator(f'[data-control="{name}"] [type=number]')
    field.select_text()
    field.press_sequentially("2.5")
    field.press("Enter")
    book.settle()
    assert getattr(widget, name) == wanted


@pytest.mark.parametrize(("typed", "shown"), [("2.5", 2.5), ("99", 8)])
def test_enter_in_a_number_field_applies_it_once(visit, typed, shown) -> None:
    """On a page the browser fires `change` for the key too."""
    page = visit("two-chunks")
    skip(page)
    page.evaluate(
        """() => {
          window.heard = [];
          [...osFigures.awake.values()][0].on(({ top }) => heard.push(top));
        }"""
    )
    field = page.locator("[data-control=top] [type=number]")
    field.select_text()
    field.press_sequentially(typed)
    field.press("Enter")
    assert page.evaluate("heard") == [shown]
    field.blur()
    assert page.evaluate("heard") == [shown] and field.input_value() == str(shown)


@pytest.mark.parametrize("forced", ["none", "active"])
def test_a_slider_has_its_track_in_forced_colours_too(visit, forced: str) -> None:
    page = visit("two-chunks", forced_colors=forced)
    skip(page)
    slider = page.locator("[data-control=top] [type=range]")
    picture = imread(BytesIO(slider.screenshot()))
    row = picture[len(picture) // 2, :, :3]
    colours, counts = np.unique(row, axis=0, return_counts=True)
    assert sum(counts > row.shape[0] // 10) >= 2, "the way gone, and the way to go"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_in_forced_colours_states_and_pictures_can_be_told(visit, theme: str) -> None:
    """Also where the page's theme is the contrary of the colours that are forced."""
    page = visit("balance", forced_colors="active", dark=theme == "light")
    page.evaluate("theme => (document.documentElement.dataset.theme = theme)", theme)
    skip(page)
    assert darkness(page.locator(".os-stage"), 0, 0) == (theme == "dark")
    options = page.locator("[data-control=rescale] label")
    chosen, other = (imread(BytesIO(options.nth(i).screenshot())) for i in (0, 1))
    assert np.abs(chosen[4, 4, :3] - other[4, 4, :3]).max() > 0.3, "which is chosen"
    assert darkness(page.locator(".os-stage svg"), 0.9, 0.99) == (theme == "dark")


def darkness(part: Locator, across: float, down: float) -> bool:
    """Whether a part of the page is dark at some place of it."""
    picture = imread(BytesIO(part.screenshot()))
    at = [int(share * (n - 1)) for share, n in zip((down, across), picture.shape)]
    return picture[at[0], at[1], :3].mean() < 0.5


@pytest.mark.parametrize(
    ("width", "dark"), [(1280, False), (390, True)], ids=["light", "phone-dark"]
)
def test_axe_finds_nothing(open_page, folder, html, width: int, dark: bool) -> None:
    """Figures before, while and after the prediction, every table open.

    Under the site's own style sheet: the walk over its pages asks nobody again whether
    the colours in a figure can be told apart.
    """
    file = write_page(folder / "all.html", list(registry.ids()))
    shutil.copytree(html / "_static", folder / "site", dirs_exist_ok=True)
    own = file.read_text().replace('"style.css"', '"site/book.css"')
    file.write_text(own)
    page = open_page(file, width=width, dark=dark, reduced_motion="reduce")
    for id in registry.ids():
        figure = page.locator(f"#{id}")
        figure.scroll_into_view_if_needed()
        page.locator(f"#{id}.os-live").wait_for()
    assert faint(page) == []
    if not dark:  # what else is there before the prediction is there after it as well
        assert wrong_but_colours(page) == faint_in_pictures(page) == []
    for i, id in enumerate(registry.ids()):
        figure = page.locator(f"#{id}")
        if registry.spec(id).prediction:
            chosen = i % len(registry.spec(id).prediction.shown_by)
            figure.locator(f'[data-option="{chosen}"]').click()
        figure.get_by_role("button", name="As a table").click()
    assert wrong(page) == faint_in_pictures(page) == []


# ---- what only one figure can do ----


@pytest.mark.parametrize("width", [1280, 390])
def test_the_beam_tips_to_its_heavier_side_and_comes_to_rest(visit, width) -> None:
    page = visit("balance", width=width, reduced_motion="reduce")
    skip(page)
    for rescale in ("both", "l", "o", "neither"):
        for m in (1, 2, 3, 4.5):
            put(page, {"rescale": rescale, "m": m})
            turn, fallen, off = page.evaluate(BEAM)
            assert fallen == (off > 10.5 - 7.525) and abs(turn) <= 7
            # Held left of where it balances, it sinks on the right, and so clockwise.
            wanted = 0 if fallen or abs(off) < 1e-9 else -np.sign(off)
            assert np.sign(turn) == wanted, (rescale, m)


BEAM = """() => {
  const { numbers } = [...osFigures.awake.values()][0];
  const beam = document.querySelector('[data-key="beam"]').getAttribute("transform");
  const [, fall, turn] = beam.match(/translate\\(0 (\\S+)\\) rotate\\((\\S+)/).map(Number);
  return [turn, fall > 0, numbers.answer - numbers.truth];
}"""


def test_a_line_is_picked_by_pointing_at_it_and_from_the_menu(visit) -> None:
    page = visit("cost-by-line", reduced_motion="reduce")
    rows = page.locator(".os-stage [data-pick-one]")
    keys = rows.evaluate_all("rows => rows.map((row) => row.dataset.pickOne)")
    menu, said = page.locator("[data-control=line] select"), page.locator(".os-say")
    rows.nth(3).hover()
    assert state(page)["line"] == "", "before the prediction"
    skip(page)
    for at in (4, 0, 5):
        rows.nth(at).hover()
        assert state(page)["line"] == menu.input_value() == keys[at]
    assert re.match(rf"Lines? {keys[5]}\b", said.inner_text())
    page.mouse.move(0, 0)
    menu.focus()
    page.keyboard.press("ArrowDown")
    assert state(page)["line"] == keys[6]
    assert rows.nth(6).locator(".lit").count() == 1


def test_a_line_is_picked_by_a_finger_and_said_in_sight(visit) -> None:
    page = visit("cost-by-line", width=390, height=600, has_touch=True, is_mobile=True)
    skip(page)
    last = registry.spec("cost-by-line").controls[0].of[-1]
    put(page, {"rung": last, "bars": True})
    rows = page.locator(".os-stage [data-pick-one]")
    rows.nth(8).tap()
    assert state(page)["line"] == rows.nth(8).get_attribute("data-pick-one") != ""
    box = page.locator(".os-say").bounding_box()
    assert 0 <= box["y"] <= 600 - box["height"] + 1
    put(page, {"rung": registry.spec("cost-by-line").controls[0].of[0]})
    first = page.locator("[data-control=line] option").first
    assert first.evaluate("option => option.selected"), "this kernel has no such line"


def test_the_queue_of_swizzled_pieces_waits_for_the_prediction(visit) -> None:
    """It is neither drawn nor said; who answers, skips or prints sees it."""
    page = visit("swizzle", reduced_motion="reduce")
    served = page.locator(".os-stage .weight")
    marked = page.locator(".os-stage .numbers, .os-stage .score")
    assert served.count() == 0 and marked.count() == 64
    for text in (page.locator(".os-say").inner_text(), label_of(page)):
        assert "0,4 to 7,4" in text and "wavefront" not in text
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert served.count() == 8
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert served.count() == 0
    press(page, '[data-option="0"]')
    assert served.count() == 8
    assert "8 wavefronts" in label_of(page)


def label_of(page: Page) -> str:
    """The words of the picture."""
    return page.locator(".os-stage svg").get_attribute("aria-label") or ""


def test_the_pieces_that_go_together_are_picked_by_pointing_at_one(visit) -> None:
    page = visit("swizzle", reduced_motion="reduce")
    piece = page.locator('[data-key="p3-5"]')
    piece.hover()
    assert state(page)["at"] == opening("swizzle")["at"], "before the prediction"
    skip(page)
    menu = page.locator("[data-control=at] select")
    for access, picked, named in (
        ("copy", "3", "3,0 – 3,7"),
        ("square", "5", "0,5 – 7,5"),
    ):
        put(page, {"access": access, "at": "0"})
        page.mouse.move(0, 0)
        piece.hover()
        assert state(page)["at"] == menu.input_value() == picked
        assert menu.locator("option:checked").inner_text() == named
        lit = page.locator(".os-stage [data-pick-one]:has(.score)")
        assert lit.count() == 8 and piece.locator(".score").count() == 1
    put(page, {"d": 32})  # which has no sixth column: the first is shown
    assert menu.locator("option:checked").inner_text() == "0,0 – 7,0"
