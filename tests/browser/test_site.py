"""The site in a reader's browser: opened from its folder, with the network away."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from livepage import words

from .axe import COLOUR_RULES, WITHOUT_COLOURS, faint, violations, wrong_but_colours
from .conftest import go, rest

pytestmark = pytest.mark.browser

CHAPTER = "02-the-rescaling-trick.html"
PHONE = 390
SHARES = 5  # long walks over all pages are cut, so that both cores share them


def pages(html: Path) -> list[str]:
    return sorted(file.name for file in html.glob("*.html"))


def theme(page: Page) -> str | None:
    return page.evaluate("document.documentElement.dataset.theme ?? null")


def focused(page: Page) -> str:
    return page.evaluate("document.activeElement.textContent.trim()")


# Accessibility ---------------------------------------------------------------


LARGE = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("html { font-size: 200% !important }");
  document.adoptedStyleSheets = [sheet];
}"""


# In these axe finds nothing: `test_figures.py`.
FIGURES = [".os-figure"]
NOTE_WHAT_IS_SHOWN = """() => {
  globalThis.shownParts = () => [...document.querySelectorAll("body, body *")].filter(
    (part) => part.checkVisibility({ visibilityProperty: true }));
  globalThis.shownWide = new Set(shownParts());
}"""
MARK_WHAT_IS_NEW = """() => {
  for (const part of shownParts()) part.toggleAttribute("data-new", !shownWide.has(part));
  return document.querySelectorAll("[data-new]").length;
}"""


def wrong_on_a_phone(page: Page) -> list[str]:
    """What axe finds in that which only a phone shows; what can be scrolled, everywhere.

    Of the rest all has been said on the wide page, and asking again takes as long.
    """
    found = violations(page, runOnly=["scrollable-region-focusable"])
    if page.evaluate(MARK_WHAT_IS_NEW):
        found += violations(page, FIGURES, "[data-new]", rules=WITHOUT_COLOURS)
    return found


def bring_alive(page: Page) -> None:
    """Scroll to the end, so that every figure on the way is mounted; open each."""
    page.evaluate(
        """async () => {
             for (const fold of document.querySelectorAll("details:has(.os-figure)"))
               fold.open = true;
             for (let y = 0; y < document.body.scrollHeight; y += innerHeight) {
               scrollTo(0, y);
               await new Promise((done) => requestAnimationFrame(done));
             }
             scrollTo(0, 0);
           }"""
    )
    expect(page.locator(".os-figure:not(.os-live)")).to_have_count(0)
    page.evaluate(
        "document.querySelectorAll('.os-skip').forEach((skip) => skip.click())"
    )


CROWDED_PLOTS = """() => [...document.querySelectorAll(".os-plot svg")].flatMap((svg) => {
  const picture = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim());
  const boxes = texts.map((text) => text.getBoundingClientRect());
  const inner = (a) => a.left >= picture.left - 3 && a.right <= picture.right + 3;
  // A box is taller than its letters: names on two lines may touch.
  const clear = (a, b) =>
    a.right <= b.left || b.right <= a.left || a.bottom - 4 <= b.top || b.bottom - 4 <= a.top;
  return boxes.flatMap((a, i) => [
    ...(inner(a) ? [] : [`${texts[i].textContent} leaves the picture`]),
    ...texts.slice(i + 1).filter((_, j) => !clear(a, boxes[i + 1 + j]))
      .map((other) => `${texts[i].textContent} runs into ${other.textContent}`),
  ]);
})"""


@pytest.mark.parametrize("share", range(SHARES))
def test_axe_finds_nothing_and_nothing_is_wider_than_the_window(
    reuse_page, html, share
):
    for name in pages(html)[share::SHARES]:
        page = reuse_page(html / name, reduced_motion="reduce")
        bring_alive(page)
        assert faint(page) == wrong_but_colours(page, FIGURES) == [], name
        page.evaluate(NOTE_WHAT_IS_SHOWN)
        page.emulate_media(color_scheme="dark")  # which changes colours and no more
        assert faint(page) == [], f"{name}, dark"
        for width in (1280, 768, 320, PHONE):
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, f"{name} is {wide} px too wide at {width}"
            assert page.evaluate(CROWDED_PLOTS) == [], f"{name} at {width}"
        assert wrong_on_a_phone(page) == [], f"{name} on a phone"
        page.set_viewport_size({"width": 360, "height": 900})
        page.evaluate(LARGE)
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{name} is {wide} px too wide in letters of twice the size"


def test_names_in_a_plot_that_collide_are_found(reuse_page, html):
    page = reuse_page(html / "09-the-tiled-attention-kernel.html")
    assert page.evaluate(CROWDED_PLOTS) == []
    second = """document.querySelectorAll('[aria-label^="A tile of"] text')[1]"""
    page.evaluate(f"{second}.textContent = 'eight '.repeat(25)")
    found = page.evaluate(CROWDED_PLOTS)
    assert any("runs into" in fault for fault in found), found


def test_an_old_address_leads_to_the_room_and_an_unknown_one_nowhere(reuse_page, html):
    page = reuse_page(html / "museum.html")
    for anchor, room in {
        "a-tiny-start": "museum-starts",
        "drill-told-right-answer": "museum-numbers",
        "cell-one-tile-seen": "museum-barriers",
        "ragged-walk:step=3": "museum-masks",
        "how-to-visit": "museum",
        "no-such-anchor": "museum",
    }.items():
        page.goto("about:blank")
        page.goto((html / "museum.html").as_uri() + f"#{anchor}")
        page.wait_for_url(f"**/{room}.html#{anchor}")


def test_axe_finds_the_same_colours_faint(open_page, html):
    """The ratios above are ours: on one page axe is asked too, and looks at more.

    It finds the letters of formulas too short, and those of figures in their own test.
    """
    page = open_page(html / CHAPTER)
    page.evaluate(
        """() => {
             const text = document.createElement("p");
             [text.id, text.textContent, text.style.color] = ["faint", "Faint", "#888"];
             document.querySelector("article").append(text);
           }"""
    )
    (found,) = violations(page, [".katex", ".os-figure"], runOnly=COLOUR_RULES)
    (ours,) = faint(page)
    assert 'id="faint"' in found and ours.startswith("'Faint'")


@pytest.mark.parametrize(
    "plant",
    [
        "<p style='color: #888'>Faint</p>",
        "<p style='opacity: 0.4'>Faint</p>",
        "<div style='opacity: 0.4'><p>Faint</p></div>",
        "<p style='color: rgb(0 0 0 / 40%)'>Faint</p>",
        "<div style='background: #222'><p style='color: #222'>Faint</p></div>",
        "<input value=Faint style='color: #aaa; background: #fff'>",
        "<textarea style='color: #aaa; background: #fff'>Faint</textarea>",
    ],
)
def test_whatever_is_faint_is_found(reuse_page, html, plant):
    page = reuse_page(html / "search.html")
    assert faint(page) == []
    put = "html => document.querySelector('article').insertAdjacentHTML('beforeend', html)"
    page.evaluate(put, plant)
    found = faint(page)
    assert any(fault.startswith("'Faint'") for fault in found), found


OTHER_INK = """() => [...document.querySelectorAll(".katex-html *")].filter((part) => {
  const text = part.closest(".katex").parentElement;
  return getComputedStyle(part).color !== getComputedStyle(text).color;
}).map((part) => part.textContent)"""


def test_a_formula_is_in_the_ink_of_its_text(open_page, html):
    """So that its colour need not be asked: axe finds single letters too short."""
    page = open_page(html / CHAPTER)
    assert page.locator(".katex-html [data-q]").count() > 5
    assert page.evaluate(OTHER_INK) == []
    page.evaluate("document.querySelector('.katex [data-q]').style.color = '#888'")
    assert page.evaluate(OTHER_INK) != []


def test_axe_would_find_what_only_a_phone_shows(open_page, html):
    page = open_page(html / "search.html")
    plant = """() => {
      const [picture, style] = [document.createElement("img"), new CSSStyleSheet()];
      picture.src = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==";
      document.querySelector("article").append(picture);
      style.replaceSync("@media (width > 700px) { article img { display: none } }");
      document.adoptedStyleSheets = [style];
    }"""
    page.evaluate(plant)
    assert wrong_but_colours(page) == []
    page.evaluate(NOTE_WHAT_IS_SHOWN)
    page.set_viewport_size({"width": PHONE, "height": 900})
    assert {fault.split()[0] for fault in wrong_on_a_phone(page)} == {"image-alt"}


def test_axe_would_find_something(open_page, html):
    page = open_page(html / "search.html")
    plant = "document.querySelector('article').append(document.createElement('img'))"
    page.evaluate(plant)
    assert {fault.split()[0] for fault in wrong_but_colours(page)} == {"image-alt"}


# Getting about ---------------------------------------------------------------


def test_the_first_stop_skips_to_the_text(open_page, html):
    page = open_page(html / CHAPTER)
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the text"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "text"


def test_every_stop_on_the_keyboards_way_can_be_seen(open_page, html):
    page = open_page(html / "references.html")
    seen = []
    while len(seen) < 60:
        page.keyboard.press("Tab")
        tag, outline = page.evaluate(
            """[document.activeElement.tagName,
                getComputedStyle(document.activeElement).outlineStyle]"""
        )
        if tag == "BODY":
            break
        seen.append((focused(page), outline))
    assert len(seen) > 5
    assert [name for name, outline in seen if outline == "none"] == []


def test_colours_are_chosen_once_and_kept(open_page, html):
    page = open_page(html / CHAPTER)
    button = page.get_by_role("button", name="Colours")
    assert theme(page) is None
    expect(button).to_have_accessible_name("Colours: as on your device")
    button.click()
    assert theme(page) == "light"
    button.press("Enter")
    assert theme(page) == "dark"
    paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.goto((html / "index.html").as_uri())
    assert theme(page) == "dark"
    assert paper == page.evaluate(
        "getComputedStyle(document.documentElement).backgroundColor"
    )
    page.get_by_role("button", name="Colours: dark").click()
    page.reload()
    assert theme(page) is None


def test_the_device_decides_until_the_reader_does(open_page, html):
    page = open_page(html / CHAPTER, dark=True)
    paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert sum(map(int, re.findall(r"\d+", paper)[:3])) < 3 * 60


def test_on_a_phone_the_road_unfolds(open_page, html):
    page = open_page(html / CHAPTER, width=PHONE)
    road = page.get_by_role("navigation", name="Chapters")
    expect(road).not_to_be_visible()
    page.locator(".menu > summary").click()
    expect(road).to_be_visible()
    page.keyboard.press("Escape")
    expect(road).not_to_be_visible()
    page.locator(".menu > summary").press("Enter")
    road.get_by_role("link", name="References").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("References")


def test_before_and_next_lead_through_the_book(html):
    onward = re.compile(r'<a class="onward-after" rel="next" href="([^"]+)"')
    visited = ["index.html"]
    while found := onward.search((html / visited[-1]).read_text("utf-8")):
        visited.append(found[1])
    aside = {"search.html", "404.html"}
    assert len(visited) == len(set(visited)) == len(set(pages(html)) - aside)


# Search ----------------------------------------------------------------------


def test_search_finds_rescaling_from_a_folder(open_page, html):
    page = open_page(html / "references.html")
    page.keyboard.press("/")
    box = page.get_by_role("searchbox", name="Search the book")
    box.fill("rescaling trick")
    first = page.locator(".find-list a").first
    expect(first).to_contain_text(re.compile("rescal", re.IGNORECASE))
    first.click()
    assert "02-the-rescaling-trick" in page.url


def test_the_search_page_takes_its_question_from_the_address(open_page, html):
    page = open_page((html / "search.html").as_uri() + "?q=largest+score")
    assert page.locator(".find-list li").count() > 1
    page.get_by_role("searchbox").fill("xyzzy")
    expect(page.locator(".find-count")).to_have_text("Nothing found for “xyzzy”")


def test_a_question_of_any_length_and_any_signs_is_answered(open_page, html):
    search = (html / "search.html").as_uri()
    page = open_page(f"{search}?q=" + "a+e+i+o+s+t+" * 800)  # each is nearly everywhere
    box = page.get_by_role("searchbox")
    assert len(box.input_value()) == 200, "a longer one takes seconds"
    page.goto(f"{search}?q=%E2%80%AEsoft%C2%ADmax%00")  # turned, hyphenated, ended
    assert page.locator(".find-list li").count() > 1
    half = "(box) => { box.value = '\\ud83d'; box.dispatchEvent(new Event('input')) }"
    box.evaluate(half)
    expect(page.locator(".find-count")).to_contain_text("Nothing found")


@pytest.mark.parametrize("damaged", [None, "<!doctype html><title>Sorry</title>"])
@pytest.mark.parametrize("file", ["search.js", "search-index.js"])
def test_a_search_that_failed_says_so_and_lists_every_heading(
    open_page, html, file, damaged
):
    page = open_page(html / CHAPTER)
    fulfil = {"body": damaged, "content_type": "text/javascript"}
    missing = damaged is None
    page.route(f"**/{file}", lambda r: r.abort() if missing else r.fulfill(**fulfil))
    page.reload()  # what comes from a disk is held up only if that began before the page
    page.keyboard.press("/")
    page.wait_for_url("**/search.html")
    expect(page.locator("main")).to_contain_text("The search could not be loaded")
    expect(page.locator("#said")).to_contain_text("The search could not be loaded")
    expect(page.locator("main li a")).to_have_count(headings(html))
    page.tattler.faults.clear()


def headings(html: Path) -> int:
    """How many the search page lists for a reader without scripts."""
    page = (html / "search.html").read_text()
    return page.partition("<noscript>")[2].partition("</noscript>")[0].count("<li>")


def places_found(page: Page, asked: str) -> list[str]:
    page.get_by_role("searchbox").fill(asked)
    return page.locator(".find-list a").evaluate_all(
        "all => all.map((one) => one.href)"
    )


@pytest.mark.parametrize(
    "asked, same",
    [
        ("rescale,", "rescale"),
        ('"rescale"', "rescale"),
        ("‘rescale’", "rescale"),
        ("what is α?", "α"),
        ("__syncthreads()", "syncthreads"),
        ("m′", "m'"),
        ("\u2212∞", "-∞"),
    ],
)
def test_search_hears_a_word_as_a_reader_types_it(reuse_page, html, asked, same):
    page = reuse_page(html / "search.html", load=False)
    assert places_found(page, asked) == places_found(page, same) != []


@pytest.mark.parametrize(
    "asked, told",
    [
        ("Gimelshein", "Gimelshein"),
        ("flash-attention", "FlashAttention"),
        ("streaming_softmax", "streaming_softmax"),
        ("one update, any block size", "One update, any block size"),
    ],
)
def test_search_finds_what_a_reader_sees(reuse_page, html, asked, told):
    page = reuse_page(html / "search.html", load=False)
    assert places_found(page, asked)
    expect(page.locator(".find-list")).to_contain_text(told)
    assert page.locator(".find-list mark").count()


def test_search_quotes_a_word_and_not_a_name_in_code(open_page, html):
    page = open_page(html / "search.html")
    assert places_found(page, "softmax")
    expect(page.locator(".find-text").first).not_to_contain_text("import")


def test_search_says_how_many_places_there_are(open_page, html):
    page = open_page(html / "search.html")
    assert len(places_found(page, "softmax")) == 30
    told = page.locator(".find-count").inner_text()
    assert int(re.findall(r"\d+", told)[0]) > 30
    assert told.endswith("(the first 30 are shown)")
    few = len(places_found(page, "Gimelshein"))
    expect(page.locator(".find-count")).to_have_text(f"Places found: {few}")


def test_search_says_in_spanish_that_there_are_more(open_page, html):
    spanish = words.table("site", "es")
    page = open_page("about:blank")
    page.add_init_script(
        f"""document.addEventListener("readystatechange", () => {{
             document.getElementById("words").textContent =
               JSON.stringify({json.dumps(spanish)});
           }});"""
    )
    page.goto((html / "search.html").as_uri())
    assert len(places_found(page, "softmax")) == 30
    count = page.locator(".find-count")
    expect(count).to_contain_text("(se muestran los primeros 30)")


def test_arrows_walk_through_what_was_found_and_escape_closes(open_page, html):
    page = open_page(html / "references.html")
    page.keyboard.press("/")
    box = page.get_by_role("searchbox")
    box.fill("rescaling")
    places = page.locator(".find-list a")
    for key, there in [
        ("ArrowDown", places.nth(0)),
        ("ArrowDown", places.nth(1)),
        ("ArrowUp", places.nth(0)),
        ("ArrowUp", box),
    ]:
        page.keyboard.press(key)
        expect(there).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".find-dialog")).not_to_be_visible()


# One quantity, many appearances ----------------------------------------------


def lit(page: Page) -> set[str]:
    return set(
        page.eval_on_selector_all(".q-on", "all => all.map((one) => one.dataset.q)")
    )


def test_a_letter_lights_the_code_and_the_equation(open_page, html):
    page = open_page(html / CHAPTER)
    letter = page.locator(".q[data-q=l]").first
    letter.focus()
    assert lit(page) == {"l"}
    assert page.locator(".code .q-on").count() and page.locator(".math .q-on").count()
    letter.press("Enter")
    expect(letter).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#said")).to_have_text("ℓ: the running sum")
    page.locator("h1").click()
    assert lit(page) == set()


def test_arrows_walk_through_an_equation(open_page, html):
    page = open_page(html / CHAPTER)
    box = page.locator(".math:has([data-q])").first
    box.focus()
    parts = box.locator("[data-q]")
    names = parts.evaluate_all("all => all.map((one) => one.dataset.q)")
    for name in [*names, names[0]]:
        page.keyboard.press("ArrowRight")
        assert lit(page) == {name}
    page.keyboard.press("Tab")  # on to the next, perhaps a quantity of its own
    focused = page.evaluate("document.activeElement.dataset.q ?? null")
    assert lit(page) == ({focused} if focused else set())


def test_pointing_lights_and_leaving_darkens(open_page, html):
    page = open_page(html / CHAPTER)
    page.locator(".code [data-q=m]").first.hover()
    assert lit(page) == {"m"}
    page.locator("h1").hover()
    assert lit(page) == set()


# The page as it is -----------------------------------------------------------


def test_without_scripts_the_book_can_be_read(open_page, html):
    page = open_page(html / CHAPTER, width=PHONE, java_script_enabled=False)
    page.locator(".menu > summary").click()
    page.get_by_role("navigation", name="Chapters").get_by_text("References").click()
    expect(page.locator("h1")).to_have_text("References")
    page.go_back()
    for picture in page.locator("figure.os-figure").all():
        stills = max(1, picture.locator(".os-stills figure").count())  # a film has some
        assert picture.locator("svg[role=img]:visible").count() == stills
        assert picture.locator("table:visible").count() == 1
    assert not page.locator("#theme").is_visible()
    page.goto((html / "search.html").as_uri())
    assert (
        page.get_by_role("link", name="Two chunks").count()
        or page.locator("noscript a").count()
    )


OUT_OF_REACH = """() => [...document.querySelectorAll("pre, .table, .math")].filter(
  (box) => box.scrollWidth > box.clientWidth + 1 && box.tabIndex < 0
).map((box) => box.textContent)"""


def test_what_a_late_font_widens_can_be_scrolled_from_the_keyboard(open_page, html):
    page = open_page(html / CHAPTER, width=PHONE)
    stops = page.locator(".math[tabindex='0']")
    expect(stops).not_to_have_count(0)
    page.evaluate("document.fonts.ready.then(() => 0)")  # others may be wider
    narrow = stops.count()
    page.evaluate(
        """() => {
             const wide = new CSSStyleSheet();
             wide.replaceSync(".katex { letter-spacing: 0.5em }");
             document.adoptedStyleSheets = [wide];
             document.fonts.dispatchEvent(new Event("loadingdone"));
           }"""
    )
    assert page.evaluate(OUT_OF_REACH) == []
    assert stops.count() > narrow


def test_a_wide_table_keeps_its_names_and_hides_no_number(open_page, html):
    page = open_page(html / "tiles-on-a-cpu.html", width=PHONE)
    wide, gone, hidden = page.evaluate(SCROLLED_TABLES)
    assert wide > 0 and hidden == []
    assert max(abs(x) for x in gone) <= 1


# Of tables wider than the window: how far the first column goes, and what fades.
SCROLLED_TABLES = """() => {
  const wide = [...document.querySelectorAll(".table")].filter(
    (box) => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1);
  const gone = wide.flatMap((box) => {
    box.scrollLeft = 1e4;
    const from = box.getBoundingClientRect().left;
    const names = [...box.querySelectorAll("tr > :first-child")];
    return names.map((name) => name.getBoundingClientRect().left - from);
  });
  const hidden = wide.filter((box) => getComputedStyle(box).maskImage !== "none");
  return [wide.length, gone, hidden.map((box) => box.textContent)];
}"""


# What lies far below, on a fresh visit -----------------------------------------

WHEN_IDLE = "window.tasks = []; window.requestIdleCallback = (task) => tasks.push(task)"
LAST = "getComputedStyle([...document.querySelectorAll('section > section')].at(-1))"


@pytest.fixture
def busy_page(open_page) -> Page:
    """A page of a device that has no time, until `tasks` are called."""
    page = open_page("about:blank")
    page.add_init_script(WHEN_IDLE)
    return page


def waits(page: Page) -> bool:
    return page.evaluate(f"{LAST}.contentVisibility") == "auto"


def test_far_sections_wait_until_the_device_is_idle(busy_page, html):
    go(busy_page, html / CHAPTER, all_of_it=False)
    assert waits(busy_page)
    busy_page.evaluate("() => { for (const task of tasks) task(); }")
    assert not waits(busy_page)
    assert busy_page.evaluate("document.documentElement.dataset.far ?? null") is None


def test_far_sections_do_not_wait_for_who_knows_where_to_go(busy_page, html):
    go(busy_page, html / CHAPTER, all_of_it=False)
    busy_page.reload()
    assert not waits(busy_page)
    go(busy_page, (html / CHAPTER).as_uri() + "?again", all_of_it=False)
    assert waits(busy_page)
    busy_page.keyboard.press("Tab")
    assert not waits(busy_page)
    go(busy_page, (html / CHAPTER).as_uri() + "?once more", all_of_it=False)
    busy_page.locator("a.headerlink").first.click()
    assert not waits(busy_page)
    go(busy_page, (html / CHAPTER).as_uri() + "?other#recap", all_of_it=False)
    assert not waits(busy_page)


def test_fonts_arrive_without_moving_the_text(open_page, html):
    page = open_page("about:blank")
    page.add_init_script(
        """window.moved = 0;
           new PerformanceObserver((list) => {
             for (const entry of list.getEntries()) window.moved += entry.value;
           }).observe({type: "layout-shift", buffered: true});"""
    )
    page.goto((html / CHAPTER).as_uri())
    page.evaluate("document.fonts.ready.then(() => true)")
    rest(page, 300)
    assert page.evaluate("window.moved") < 0.02


def test_who_comes_from_elsewhere_is_there_at_once(open_page, html):
    page = open_page("about:blank")
    page.goto(f"{(html / CHAPTER).as_uri()}#recap")
    height = "document.getElementById('recap').getBoundingClientRect().top"
    rest(page, 0)
    assert 0 <= page.evaluate(height) < 50
    rest(page, 500)  # figures and drills above have come alive
    assert 0 <= page.evaluate(height) < 50


def test_code_can_be_copied(open_page, html):
    page = open_page(html / CHAPTER)
    block = page.locator(".code:visible").first
    block.hover()
    block.get_by_role("button", name="Copy").click()
    expect(page.locator("#said")).to_have_text("Copied")


COPIED = """() => {
  const [from, to] = [...document.querySelectorAll(".math .katex")].slice(0, 2);
  const range = document.createRange();
  range.setStart(from.querySelector(".mord").firstChild, 0);
  range.setEnd(to.querySelector(".mord").firstChild, 1);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  const data = new DataTransfer();
  const copy = new ClipboardEvent("copy", { clipboardData: data, cancelable: true });
  document.dispatchEvent(copy);
  const tex = (formula) => formula.querySelector("annotation").textContent;
  return [data.getData("text"), tex(from), tex(to)];
}"""


def test_formulas_are_copied_as_they_were_typed(open_page, html):
    page = open_page(html / CHAPTER)
    text, first, last = page.evaluate(COPIED)
    assert text.startswith(f"$${first}$$") and text.endswith(f"$${last}$$")
    assert "Copy" not in text and "#" not in text


def test_on_paper_there_is_text_and_no_chrome(open_page, html):
    page = open_page(html / CHAPTER)
    page.emulate_media(media="print")
    assert len(page.pdf(format="A4")) > 50_000
    expect(page.locator(".top")).not_to_be_visible()
    expect(page.locator(".road")).not_to_be_visible()
    expect(page.locator(".math .katex-html").first).to_be_visible()
    for fold in page.locator("article details").all():
        content = fold.locator(":scope > :last-child")
        assert content.bounding_box()["height"] > 0


def test_the_cheat_sheet_is_one_page(open_page, html):
    page = open_page(html / "cheat-sheet.html")
    assert sheets_of_paper(page) == 1, "cut words, not the font"
    page.evaluate("document.querySelector('#cheat-sheet').style.columns = 1")
    assert sheets_of_paper(page) > 1, "the count sees no second page"


def sheets_of_paper(page: Page) -> int:
    return len(re.findall(rb"/Type /Page\b", page.pdf(prefer_css_page_size=True)))


def test_a_broken_policy_would_be_seen(open_page, html):
    page = open_page(html / "references.html")
    page.evaluate(
        """() => {
             const script = document.createElement("script");
             script.textContent = "window.ran = true";
             document.head.append(script);
           }"""
    )
    assert page.evaluate("window.ran") is None
    assert "Content Security Policy" in str(page.tattler.faults)
    page.tattler.faults.clear()
