"""What a reader did, as the page keeps it: days, texts, tabs, files, broken records."""

import json
import random
from datetime import date, timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from py_mini_racer import MiniRacer

from livepage import book, modules
from livepage.drills.bank import bank
from livepage.drills.page import HERE
from livepage.engine import new_engine as engine

KEY = "book-drills"

# A browser's storage that can be full or shut, and tabs that share it. In each tab one
# editor does what the page's own does: see keeper.js.
BROWSER = """
const RealDate = Date;
let now = "2025-01-30T12:00:00";
class Clock extends RealDate {
  constructor(...parts) { super(...(parts.length ? parts : [now])); }
}
Date = Clock;
const kept = {};
const put = (name, value) => Object.defineProperty(kept, name, {value, writable: true});
put("room", Infinity);
put("shut", false);
put("getItem", (key) => {
  if (kept.shut) throw Error("shut");
  return Object.hasOwn(kept, key) ? kept[key] : null;
});
put("setItem", (key, text) => {
  const others = Object.entries(kept).filter(([other]) => other !== key);
  const used = others.reduce((sum, [other, its]) => sum + other.length + its.length, 0);
  if (kept.shut || used + key.length + text.length > kept.room) throw Error("full");
  kept[key] = text;
});
put("removeItem", (key) => { delete kept[key]; });
const refuse = (name) => {
  const { [name]: works } = kept;
  kept[name] = () => { throw Error(`no ${name}`); };
  return () => { kept[name] = works; };
};

class Event { constructor(type) { this.type = type; } }
function openTab(id = "d", name = "code") {
  const heard = [];
  const document = {
    addEventListener: (kind, act) => heard.push(act),
    dispatchEvent: () => heard.forEach((act) => act()),
  };
  const localStorage = new Proxy(kept, {
    get: (_, key) => {
      if (kept.shut) throw Error("shut");
      return kept[key];
    },
  });
  SOURCES
  const { store } = $store;
  const draft = new $draft.Draft(id, name);
  const editor = {
    store, draft, pages: $pages.pages, value: "starter",
    type(text) { this.value = text; draft.edited = true; },
    keep() { draft.keep(this.value === "starter" ? undefined : this.value); },
    refresh() {
      this.keep();
      const update = draft.update();
      if (update) this.value = update.value ?? "starter";
    },
    hear() { store.retry(); },
  };
  document.addEventListener("os-drills-changed", () => editor.refresh());
  editor.refresh();
  return editor;
}
"""


@pytest.fixture
def browser() -> MiniRacer:
    """A browser on 30 January 2025, with one tab, ``a``."""
    return new_browser()


def new_browser() -> MiniRacer:
    sources = modules.script(HERE / "page" / "draft.mjs")  # and all that it imports
    context = engine()
    context.eval(BROWSER.replace("SOURCES", sources))
    context.eval("const tabs = {}; tabs.a = openTab(); const store = tabs.a.store;")
    return context


def set_day(context: MiniRacer, day: str) -> None:
    context.eval(f"now = '{day}T12:00:00'; 0")


def get(context: MiniRacer, expression: str) -> object:
    """The value of an expression; entries come as a table."""
    return json.loads(context.eval(f"JSON.stringify(({expression}) ?? null)"))


def entry(context: MiniRacer, id: str = "d") -> dict:
    return get(context, f"store.get('{id}')")


def stored(context: MiniRacer) -> dict:
    return json.loads(get(context, f"kept['{KEY}']"))


def record(**drills: object) -> str:
    return json.dumps({"version": 1, "drills": drills})


def keep_record(context: MiniRacer, text: str) -> None:
    context.eval(f"kept['{KEY}'] = {json.dumps(text)}; tabs.a.hear()")


def load(context: MiniRacer, text: str) -> dict:
    return get(context, f"store.import({json.dumps(text)})")


# ---- days


def test_intervals_grow_from_pass_to_pass(browser: MiniRacer) -> None:
    days = []
    for _ in range(6):
        browser.eval("store.pass('a', 0)")
        days.append(entry(browser, "a")["due"])
        set_day(browser, days[-1])
        assert get(browser, "store.due()") == ["a"]
    assert days == [  # 1, 3, 7, 21, 60 and again 60 days
        "2025-01-31",
        "2025-02-03",
        "2025-02-10",
        "2025-03-03",
        "2025-05-02",
        "2025-07-01",
    ]


def test_any_day_of_the_year_counts_on_rightly(browser: MiniRacer) -> None:
    browser.eval(modules.script(HERE / "page" / "record.mjs"))
    browser.eval("const { INTERVALS, daysFrom } = $record;")
    for start in range(0, 1500, 7):  # over a leap year and every end of a month
        day = date(2027, 1, 1) + timedelta(start)
        for interval in get(browser, "INTERVALS"):
            due = browser.eval(f"daysFrom('{day}', {interval})")
            assert due == str(day + timedelta(interval))


@pytest.mark.parametrize("seed", range(20))
def test_however_a_reader_fares_a_drill_is_due_on_its_day(browser, seed: int) -> None:
    """Right: one interval further. Missed: tomorrow, from the start. Never today."""
    rng = random.Random(seed)
    day, stage = date(2025, 1, 30), 0
    for _ in range(30):
        fate = rng.choice(["right", "right", "right", "missed", "shown"])
        misses = {"right": 0, "missed": 2}.get(fate)
        act = "shown('a')" if fate == "shown" else f"pass('a', {misses})"
        browser.eval(f"store.{act}")
        stage = {"right": min(stage + 1, 5), "missed": 1, "shown": 0}[fate]
        wait = [1, 1, 3, 7, 21, 60][stage]
        assert entry(browser, "a")["due"] == str(day + timedelta(wait)), fate
        set_day(browser, str(day + timedelta(wait - 1)))
        assert get(browser, "store.due()") == []
        day += timedelta(wait + rng.choice([0, 0, 1, 40]))  # on its day, or late
        set_day(browser, str(day))
        assert get(browser, "store.due()") == ["a"]


def test_what_is_longest_overdue_comes_first(browser: MiniRacer) -> None:
    for day, id in [("20", "late"), ("10", "later"), ("30", "new")]:
        set_day(browser, f"2025-01-{day}")
        browser.eval(f"store.pass('{id}', 0)")
    assert get(browser, "store.due()") == ["later", "late"]


def test_a_pass_before_its_day_changes_nothing(browser: MiniRacer) -> None:
    browser.eval("store.pass('a', 0)")
    before = entry(browser, "a")
    browser.eval("store.pass('a', 0)")
    assert entry(browser, "a") == before


def test_misses_and_solutions_start_over(browser: MiniRacer) -> None:
    browser.eval("store.pass('a', 0)")
    set_day(browser, "2025-01-31")
    browser.eval("store.pass('a', 2)")
    assert entry(browser, "a") == {
        "stage": 1,
        "done": "2025-01-31",
        "due": "2025-02-01",
    }
    browser.eval("store.shown('b')")
    assert entry(browser, "b") == {"stage": 0, "done": None, "due": "2025-02-01"}


def test_wrong_answers_after_a_pass_do_not_start_over(browser: MiniRacer) -> None:
    browser.eval("store.pass('a', 0)")
    set_day(browser, "2025-01-31")
    browser.eval("store.pass('a', 0)")
    known = entry(browser, "a")
    browser.eval("store.pass('a', 2)")
    assert entry(browser, "a") == known
    set_day(browser, "2025-02-01")  # it is not due yet, and was forgotten since
    browser.eval("store.pass('a', 2)")
    assert entry(browser, "a")["due"] == "2025-02-02"


def test_lines_put_in_order_come_back_tomorrow_to_be_written(browser) -> None:
    browser.eval("store.keep('a', 'puzzle', {order: '- 0 -'})")
    browser.eval("store.ordered('a')")
    kept = {"stage": 0, "done": None, "due": "2025-01-31", "ordered": "2025-01-30"}
    assert kept.items() <= entry(browser, "a").items()
    assert entry(browser, "a")["puzzle"] == {"order": "- 0 -"}
    assert get(browser, "store.done()") == []
    set_day(browser, "2025-01-31")
    assert get(browser, "store.due()") == ["a"]
    browser.eval("store.pass('a', 0)")
    written = {"stage": 1, "done": "2025-01-31", "due": "2025-02-01"}
    assert written.items() <= entry(browser, "a").items()
    assert not {"ordered", "puzzle"} & set(entry(browser, "a"))


def test_a_drill_that_was_done_may_be_put_in_order_later(browser: MiniRacer) -> None:
    browser.eval("store.pass('a', 0)")
    set_day(browser, "2025-01-31")
    browser.eval("store.ordered('a')")
    assert entry(browser, "a") == {
        "stage": 0,
        "done": "2025-01-30",
        "due": "2025-02-01",
        "ordered": "2025-01-31",
    }


def test_what_was_put_in_order_and_then_written_is_written(browser) -> None:
    browser.eval("store.pass('a', 0)")
    set_day(browser, "2025-01-31")
    browser.eval("store.ordered('a'); store.pass('a', 0)")
    written = {"stage": 1, "done": "2025-01-31", "due": "2025-02-01"}
    assert entry(browser, "a") == written


def test_what_was_written_today_may_be_put_in_order_as_well(browser) -> None:
    browser.eval("store.pass('a', 0)")
    written = entry(browser, "a")
    browser.eval("store.ordered('a')")
    assert entry(browser, "a") == written


def test_a_clock_that_was_ahead_puts_no_drill_off_for_years(browser) -> None:
    set_day(browser, "2031-05-01")
    browser.eval("store.pass('a', 0)")
    set_day(browser, "2025-01-30")
    assert get(browser, "store.due()") == ["a"]
    browser.eval("store.pass('a', 0)")
    assert entry(browser, "a")["due"] == "2025-02-02", "it counts as due, so it goes on"


def test_a_clock_that_is_behind_loses_no_day(browser: MiniRacer) -> None:
    browser.eval("store.pass('a', 0)")
    before = stored(browser)["drills"]["a"]
    set_day(browser, "1999-12-31")
    browser.eval("store.pass('b', 0); tabs.a.type('mine'); tabs.a.keep()")
    set_day(browser, "2025-01-30")
    assert stored(browser)["drills"]["a"] == before


# ---- texts and answers


def type_in(context: MiniRacer, tab: str, text: str) -> None:
    context.eval(f"tabs.{tab}.type({json.dumps(text)}); tabs.{tab}.keep()")


def shown(context: MiniRacer, tab: str) -> str:
    return get(context, f"tabs.{tab}.value")


def texts(context: MiniRacer) -> list[str]:
    """All texts of the drill that the record has, the one of the editor first."""
    kept = entry(context)
    own = [kept[name] for name in ("code", "words") if name in kept]
    return own + [other["text"] for other in kept.get("others", [])]


def test_a_starter_that_nobody_changed_is_not_kept(browser: MiniRacer) -> None:
    type_in(browser, "a", "starter")
    assert get(browser, "[...store.all().keys()]") == []
    type_in(browser, "a", "mine")
    type_in(browser, "a", "starter")
    assert texts(browser) == [] and "mine" not in json.dumps(get(browser, "kept"))


def test_a_page_that_only_looked_writes_nothing(browser: MiniRacer) -> None:
    """As after Back: an older page must not bring its older code."""
    browser.eval("tabs.b = openTab()")
    type_in(browser, "b", "newer")
    browser.eval("tabs.a.keep()")
    assert texts(browser) == ["newer"]
    browser.eval("tabs.a.hear()")
    assert shown(browser, "a") == "newer"


def test_two_tabs_that_typed_at_once_are_both_kept(browser: MiniRacer) -> None:
    browser.eval("tabs.b = openTab(); tabs.b.type('from b')")
    type_in(browser, "a", "from a")
    browser.eval("tabs.b.keep()")
    assert texts(browser) == ["from b", "from a"]
    browser.eval("tabs.a.hear()")
    assert shown(browser, "a") == "from b"
    type_in(browser, "a", "from b, and more")
    assert texts(browser) == ["from b, and more", "from a"]


def test_two_versions_change_places_and_one_can_be_deleted(browser: MiniRacer) -> None:
    browser.eval("tabs.b = openTab(); tabs.b.type('from b')")
    type_in(browser, "a", "from a")
    browser.eval("tabs.b.keep(); tabs.a.hear()")
    for own, other in [("from a", "from b"), ("from b", "from a")]:  # there and back
        type_in(browser, "a", own)
        assert texts(browser) == [own, other]
    browser.eval("store.discard('d', 'from a')")
    assert texts(browser) == ["from b"]


def test_a_text_typed_anew_for_a_due_drill_leaves_the_last_one_there(browser) -> None:
    browser.eval("tabs.a = openTab('d', 'words')")
    type_in(browser, "a", "first time")
    browser.eval("store.pass('d', 0)")
    browser.eval("tabs.b = openTab('d', 'words')")
    assert shown(browser, "b") == "first time", "until it is due"
    set_day(browser, "2025-01-31")
    browser.eval("tabs.c = openTab('d', 'words')")
    assert shown(browser, "c") == "starter", "from memory again"
    type_in(browser, "c", "second time")
    assert texts(browser) == ["second time", "first time"]
    browser.eval("tabs.d = openTab('d', 'words')")
    assert shown(browser, "d") == "second time", "half an answer of today stays"


def test_code_stays_when_its_drill_is_due_again(browser: MiniRacer) -> None:
    type_in(browser, "a", "mine")
    browser.eval("store.pass('d', 0)")
    set_day(browser, "2025-02-03")
    browser.eval("tabs.b = openTab()")
    assert shown(browser, "b") == "mine"


def test_what_is_forgotten_is_gone_in_every_tab(browser: MiniRacer) -> None:
    browser.eval("tabs.b = openTab()")
    type_in(browser, "a", "mine")
    browser.eval("tabs.b.hear(); back = store.forget(); tabs.b.hear()")
    assert [shown(browser, tab) for tab in "ab"] == ["starter", "starter"]
    browser.eval("tabs.a.keep(); tabs.b.keep()")
    assert texts(browser) == [] and "mine" not in json.dumps(get(browser, "kept"))
    browser.eval("back(); tabs.b.hear()")
    assert [shown(browser, tab) for tab in "ab"] == ["mine", "mine"]


@pytest.mark.parametrize("name", ["code", "words"])
def test_a_text_that_is_taken_away_in_one_tab_stays_beside_the_other(name: str) -> None:
    """Both show the start; the tab that only looked on keeps what it had shown."""
    browser = new_browser()
    browser.eval(f"for (const tab of 'abc') tabs[tab] = openTab('d', '{name}')")
    type_in(browser, "a", "mine")
    browser.eval("tabs.b.hear(); tabs.c.hear()")
    type_in(browser, "a", "starter")
    assert texts(browser) == [], "where nobody looks on, it goes"
    browser.eval("tabs.b.hear(); tabs.c.hear(); tabs.a.hear()")
    assert [shown(browser, tab) for tab in "abc"] == ["starter"] * 3
    assert texts(browser) == ["mine"]
    type_in(browser, "b", "anew")
    browser.eval("tabs.a.hear()")
    assert shown(browser, "a") == "anew" and texts(browser) == ["anew", "mine"]
    assert "cleared" not in entry(browser)


def test_a_record_that_vanished_takes_no_text_from_the_page(browser: MiniRacer) -> None:
    type_in(browser, "a", "mine")
    browser.eval(f"delete kept['{KEY}']; tabs.a.hear(); store.pass('other', 0)")
    assert shown(browser, "a") == "mine"
    saved = json.loads(get(browser, "store.export()"))["drills"]
    assert saved["d"]["code"] == "mine" and saved.keys() == {"d", "other"}
    browser.eval("tabs.b = openTab('e'); tabs.b.store.forget(); tabs.a.hear()")
    assert json.loads(get(browser, "store.export()"))["drills"] == {}


def test_a_record_that_cannot_be_read_any_more_is_as_it_was_last_read(browser) -> None:
    browser.eval("store.pass('other', 0); kept.shut = true; tabs.a.hear()")
    assert get(browser, "[store.done(), store.kept]") == [["other"], False]
    assert "other" in json.loads(get(browser, "store.export()"))["drills"]


# ---- a browser that is full, or keeps nothing


def test_a_full_browser_is_tried_again(browser: MiniRacer) -> None:
    type_in(browser, "a", "mine")
    browser.eval("kept.room = 10; tabs.b = openTab()")
    type_in(browser, "a", "mine, longer")
    assert get(browser, "store.kept") is False and texts(browser) == ["mine, longer"]
    assert stored(browser)["drills"]["d"]["code"] == "mine"
    browser.eval("kept.room = Infinity")
    type_in(browser, "b", "from b")
    browser.eval("tabs.a.hear()")
    assert get(browser, "store.kept") is True
    assert sorted(texts(browser)) == ["from b", "mine, longer"]


def test_what_cannot_be_read_for_a_while_is_not_written_over(browser) -> None:
    browser.eval("store.pass('e', 0); tabs.a.pages.put('p', {read: '2025-01-01'})")
    browser.eval("tabs.b = openTab('f'); again = refuse('getItem'); tabs.c = openTab()")
    type_in(browser, "c", "mine")
    browser.eval("tabs.c.pages.put('q', {read: '2025-01-02'}); 0")
    assert get(browser, "tabs.c.store.kept") is False
    browser.eval("again(); tabs.c.hear()")
    assert sorted(stored(browser)["drills"]) == ["d", "e"]
    assert sorted(get(browser, "tabs.b.pages.all()")) == ["p", "q"]


def test_where_nothing_can_be_removed_it_is_forgotten_till_the_page_closes(browser):
    keep_record(browser, record(**DAMAGED))
    type_in(browser, "a", "mine")
    browser.eval("tabs.a.pages.put('p', {read: '2025-01-01'})")
    browser.eval("['setItem', 'removeItem'].map(refuse); tabs.a.hear()")
    browser.eval("store.drop(store.asides()[0].text); back = store.forget()")
    assert get(browser, "[[...store.all().keys()], tabs.a.value]") == [[], "starter"]
    assert get(browser, "[store.kept, tabs.a.pages.isRead('p')]") == [False, False]
    browser.eval("back()")
    assert "good" in get(browser, "[...store.all().keys()]")
    assert shown(browser, "a") == "mine" and get(browser, "tabs.a.pages.isRead('p')")


def test_pages_that_wait_for_room_take_none_of_another_tab_away(browser) -> None:
    browser.eval("tabs.b = openTab('e'); kept.room = 0")
    browser.eval("tabs.a.pages.put('p', {read: '2025-01-01'})")
    assert get(browser, "[store.kept, tabs.a.pages.isRead('p')]") == [False, True]
    browser.eval("kept.room = 2000; tabs.b.pages.put('q', {read: '2025-01-02'})")
    assert sorted(get(browser, "tabs.a.pages.all()")) == ["p", "q"]
    browser.eval("tabs.a.hear()")
    assert get(browser, "store.kept")
    assert sorted(get(browser, "tabs.b.pages.all()")) == ["p", "q"]


def test_what_waits_does_not_hide_what_other_tabs_keep(browser: MiniRacer) -> None:
    browser.eval("tabs.b = openTab('e'); kept.room = 10")
    type_in(browser, "a", "mine")
    browser.eval("kept.room = Infinity")
    type_in(browser, "b", "theirs")
    assert get(browser, "[...store.all().keys()].sort()") == ["d", "e"]
    browser.eval("tabs.a.hear()")
    assert sorted(stored(browser)["drills"]) == ["d", "e"]


def test_a_browser_that_keeps_nothing_keeps_it_while_the_page_is_open(browser) -> None:
    browser.eval("kept.shut = true; tabs.a = openTab(); s = tabs.a.store")
    browser.eval("tabs.a.type('mine'); tabs.a.keep(); s.pass('d', 0)")
    assert get(browser, "[s.kept, s.get('d').code, s.done()]") == [False, "mine", ["d"]]
    assert get(browser, "s.import(s.export())")["count"] == 1
    browser.eval("s.forget()")
    assert get(browser, "[s.kept, s.done(), tabs.a.value]") == [False, [], "starter"]


def test_a_file_without_room_is_refused_and_blocks_nothing(browser: MiniRacer) -> None:
    type_in(browser, "a", "mine")
    browser.eval("kept.room = 2000")
    said = load(browser, record(d={"code": "x" * 5000}))
    assert said == {"count": 0, "read": 0, "both": 0, "fault": "full"}
    type_in(browser, "a", "mine, still kept")
    assert get(browser, "store.kept") and texts(browser) == ["mine, still kept"]


# ---- files


def test_a_saved_file_comes_back_whole(browser: MiniRacer) -> None:
    browser.eval("store.pass('a', 0); tabs.b = openTab(); tabs.b.type('b')")
    type_in(browser, "a", "a")
    browser.eval("tabs.b.keep()")
    browser.eval("tabs.n = openTab('n', 'answer'); tabs.n.draft.edited = true")
    browser.eval("tabs.n.draft.keep({answer: '2.04', level: 'half'})")
    saved, before = get(browser, "store.export()"), get(browser, "[...store.all()]")
    browser.eval("store.forget()")
    assert load(browser, saved) == {"count": 3, "read": 0, "both": 0, "fault": None}
    assert get(browser, "[...store.all()]") == before
    assert shown(browser, "a") == "b"


OLD = {"stage": 4, "done": "2025-01-02", "due": "2025-01-23", "code": "old"}
NEW = {"stage": 1, "done": "2025-01-29", "due": "2025-01-30"}


@pytest.mark.parametrize(("mine", "loaded"), [(OLD, NEW), (NEW, OLD)])
def test_of_two_records_the_later_counts_and_code_stays(browser, mine, loaded) -> None:
    keep_record(browser, record(d=mine))
    load(browser, record(d=loaded))
    assert entry(browser) == {**NEW, "code": "old"}


ORDERED = {"stage": 0, "done": None, "due": "2025-01-31", "ordered": "2025-01-30"}


@pytest.mark.parametrize("before", [OLD, NEW])
@pytest.mark.parametrize("order", [1, -1])
def test_lines_put_in_order_later_count_and_earlier_do_not(
    browser, before, order: int
) -> None:
    later = {**ORDERED, "done": before["done"]}
    for mine, loaded in [[before, later][::order]]:
        keep_record(browser, record(d=mine))
        load(browser, record(d=loaded))
    progress = ("stage", "done", "due", "ordered")
    assert {name: entry(browser)[name] for name in progress} == later
    written = {"stage": 1, "done": "2025-02-01", "due": "2025-02-02"}
    load(browser, record(d=written))
    assert "ordered" not in entry(browser)
    assert written.items() <= entry(browser).items()


@pytest.mark.parametrize(
    ("at", "first"), [("2025-01-01", "mine"), ("2025-06-01", "theirs"), (None, "mine")]
)
def test_of_two_texts_the_later_is_shown_and_both_are_kept(browser, at, first) -> None:
    type_in(browser, "a", "mine")
    other = {"code": "theirs", "others": [{"text": "mine"}, {"text": "third"}]}
    said = load(browser, record(d={**other, "at": at} if at else other))
    assert said == {"count": 1, "read": 0, "both": 1, "fault": None}
    assert shown(browser, "a") == texts(browser)[0] == first
    assert sorted(texts(browser)) == ["mine", "theirs", "third"]


NO_FILES = {
    "": "unreadable",
    "no JSON": "unreadable",
    "[]": "unreadable",
    "{}": "unreadable",
    "null": "unreadable",
    "3": "unreadable",
    "[" * 100_000: "unreadable",
    '{"version": 1}': "unreadable",
    '{"version": 1, "drills": []}': "unreadable",
    '{"version": 1, "drills": {}}': None,
    '{"version": 1, "drills": {"a": null}}': "damaged",
    '{"version": 2, "drills": {}}': "newer",
}


@pytest.mark.parametrize("text", NO_FILES)
def test_another_file_is_refused_and_nothing_lost(browser, text: str) -> None:
    browser.eval("store.pass('a', 0)")
    before = get(browser, "kept")
    assert load(browser, text) == {
        "count": 0,
        "read": 0,
        "both": 0,
        "fault": NO_FILES[text],
    }
    assert get(browser, "kept") == before


def test_what_a_newer_page_knows_makes_the_round_trip(browser: MiniRacer) -> None:
    """Drills and details that this page has never heard of."""
    newer = {**OLD, "medal": {"of": [1]}}
    keep_record(browser, record(later=newer))
    type_in(browser, "a", "mine")
    browser.eval("store.pass('later', 2)")
    assert stored(browser)["drills"]["later"]["medal"] == {"of": [1]}
    saved = get(browser, "store.export()")
    browser.eval("store.forget()")
    load(browser, saved)
    assert stored(browser)["drills"]["later"]["medal"] == {"of": [1]}


@pytest.mark.parametrize("id", ["__proto__", "constructor", "hasOwnProperty"])
def test_a_drill_may_have_any_name(browser: MiniRacer, id: str) -> None:
    text = json.dumps({"version": 1, "drills": {id: {"stage": 1, "code": "x"}}})
    assert load(browser, text)["count"] == 1
    type_in(browser, "a", "mine")
    assert stored(browser)["drills"][id]["code"] == "x"
    assert json.loads(get(browser, "store.export()"))["drills"][id]["code"] == "x"
    assert get(browser, "({}).code") is None


# ---- a record that is damaged, or newer


DAMAGED = {
    "good": {"stage": 2, "done": "2025-01-01", "due": "2025-02-01", "code": "kept"},
    "nothing": None,
    "number": 3,
    "list": [1],
    "days": {"stage": 1, "done": "2025-02-30", "due": "2025-13-01"},
    "stage": {"stage": "many", "due": "2025-02-01"},
    "parts": {
        "code": 7,
        "others": [{"text": "kept too"}, {"text": 3}, None],
        "answer": {"answer": "2", "x": {}},
        "puzzle": {"order": "- 1", "joined": 3},
        "ordered": "2025-02-30",
        "at": "yesterday",
    },
}


def test_a_damaged_record_is_mended_entry_by_entry(browser: MiniRacer) -> None:
    keep_record(browser, record(**DAMAGED))
    assert get(browser, "[...store.all().keys()]") == ["good", "days", "stage", "parts"]
    assert entry(browser, "good")["code"] == "kept"
    assert entry(browser, "days") == {"stage": 1, "done": None, "due": None}
    assert entry(browser, "stage") == {"stage": 0, "done": None, "due": "2025-02-01"}
    assert entry(browser, "parts") == {
        "stage": 0,
        "done": None,
        "due": None,
        "answer": {"answer": "2"},
        "puzzle": {"order": "- 1"},
        "others": [{"text": "kept too"}],
    }


NOT_EVEN_TEXT = {"toString": 1, "valueOf": 1}  # no operator of JavaScript takes it
ANYTHING = [None, True, -1, 1e308, "", "x", [], [[]], {}, NOT_EVEN_TEXT]
PARTS = ["stage", "done", "due", "code", "words", "at", "others", "answer", "cleared"]
PARTS += ["puzzle", "ordered"]


@pytest.mark.parametrize("part", [*PARTS, "text", "moment", "forgotten", "version"])
def test_any_value_at_any_place_is_read(browser: MiniRacer, part: str) -> None:
    good = {"stage": 2, "done": "2025-01-01", "due": "2025-02-01", "code": "kept"}
    for value in ANYTHING:
        other = {"text": "t", **({part: value} if part == "text" else {"at": value})}
        bad = {"others": [other]} if part in ("text", "moment") else {part: value}
        keep_record(
            browser, json.dumps({"version": 1, "drills": {"d": bad, "good": good}})
        )
        assert entry(browser, "good")["code"] == "kept"
        others = entry(browser)["others"] if part == "moment" else []
        assert not [one for one in others if "at" in one]
        whole = {"version": 1, "drills": {"good": good}, part: value}
        said = load(browser, json.dumps(whole))
        assert said["count"] == (part != "version")


def test_a_stage_that_is_no_number_is_told_and_kept(browser: MiniRacer) -> None:
    keep_record(browser, record(d={"stage": "3", "code": "mine"}))
    assert get(browser, "store.asides()[0].fault") == "damaged"


UNREAD = {
    "damaged": record(**DAMAGED),
    "unreadable": "\x00not JSON",
    "newer": json.dumps({"version": 2, "things": ["mine"]}),
}


@pytest.mark.parametrize("fault", UNREAD)
def test_what_cannot_be_read_is_kept_as_it_is(browser: MiniRacer, fault: str) -> None:
    text = UNREAD[fault]
    keep_record(browser, text)
    asides = "store.asides().map(({key, text, fault}) => [key, text, fault])"
    assert get(browser, asides) == [[KEY, text, fault]]
    assert get(browser, "kept") == {KEY: text}, "to look changes nothing"
    for words in ("mine", "mine and more"):
        type_in(browser, "a", words)
        assert get(browser, asides) == [[f"{KEY}-aside-1", text, fault]]
    keep_record(browser, "another one")
    type_in(browser, "a", "and again")
    assert [aside[1] for aside in get(browser, asides)] == [text, "another one"]
    browser.eval(f"store.drop({json.dumps(text)})")
    assert [aside[1] for aside in get(browser, asides)] == ["another one"]
    browser.eval("back = store.forget()")
    assert get(browser, asides) == []
    browser.eval("back()")
    assert [aside[1] for aside in get(browser, asides)] == ["another one"]


@pytest.mark.parametrize("fault", UNREAD)
def test_without_room_beside_it_nothing_is_written_over_it(browser, fault: str) -> None:
    keep_record(browser, UNREAD[fault])
    browser.eval(f"kept.room = {len(UNREAD[fault]) + 30}")
    type_in(browser, "a", "mine")
    assert get(browser, "kept")[KEY] == UNREAD[fault]
    assert texts(browser)[0] == "mine" and not get(browser, "store.kept")
    drop = f"store.drop({json.dumps(UNREAD[fault])})"
    browser.eval(drop)  # once the reader has it in a file
    if fault == "damaged":
        assert "good" in get(browser, "[...store.all().keys()]")
    browser.eval(f"kept.room = 2000; tabs.a.hear(); {drop}")  # again: it has gone
    assert stored(browser)["drills"]["d"]["code"] == "mine"
    assert get(browser, "store.asides()") == []


# ---- whatever happens


class Reader(RuleBasedStateMachine):
    """Two tabs of one drill. A text that was on the screen leaves by its reader's hand.

    ``alive`` are the texts that nobody replaced: typed, loaded or swapped in somewhere,
    and neither edited since nor deleted nor forgotten.
    """

    tab = st.sampled_from("ab")

    def __init__(self) -> None:
        super().__init__()
        self.context = new_browser()
        self.context.eval("tabs.b = openTab()")
        self.alive: set[str] = set()
        self.number = count()
        self.files: list[str] = []
        self.broken: set[str] = set()  # no longer in the record, only on a screen

    def js(self, code: str) -> object:
        return get(self.context, code)

    def held(self) -> set[str]:
        """Every text on a screen, in the record, or waiting for room."""
        entries = [self.js(f"tabs.{tab}.store.get('d')") for tab in "ab"]
        found = {self.js(f"tabs.{tab}.value") for tab in "ab"}
        for kept in entries:
            found.add(kept.get("code"))
            found |= {other["text"] for other in kept.get("others", [])}
        return found

    @rule(tab=tab, whole=st.booleans())
    def edit(self, tab: str, whole: bool) -> None:
        before = self.js(f"tabs.{tab}.value")
        self.alive.discard(before)
        text = f"text {next(self.number)}" if whole else f"{before}+{tab}"
        self.alive.add(text)
        self.context.eval(f"tabs.{tab}.type({json.dumps(text)})")

    @rule(tab=tab)
    def start_again(self, tab: str) -> None:
        self.alive.discard(self.js(f"tabs.{tab}.value"))
        self.context.eval(f"tabs.{tab}.type('starter')")

    @rule(tab=tab)
    def wait(self, tab: str) -> None:
        self.context.eval(f"tabs.{tab}.keep()")

    @rule(tab=tab)
    def come_back(self, tab: str) -> None:
        self.context.eval(f"tabs.{tab}.hear()")

    @precondition(lambda self: self.js("kept.room") is None)  # Infinity, in JSON
    @rule(tab=tab)
    def reload(self, tab: str) -> None:
        self.alive -= self.broken & {self.js(f"tabs.{tab}.value")}
        self.context.eval(f"tabs.{tab}.hear(); tabs.{tab} = openTab()")

    @rule(tab=tab)
    def swap(self, tab: str) -> None:
        others = self.js(f"tabs.{tab}.store.get('d').others") or []
        if others:
            self.wait(tab)
            text = json.dumps(others[-1]["text"])
            self.context.eval(f"tabs.{tab}.type({text}); tabs.{tab}.keep()")

    @rule(tab=tab)
    def delete(self, tab: str) -> None:
        others = self.js(f"tabs.{tab}.store.get('d').others") or []
        if others:
            self.alive.discard(others[0]["text"])
            text = json.dumps(others[0]["text"])
            self.context.eval(f"tabs.{tab}.store.discard('d', {text})")

    @rule(tab=tab)
    def save(self, tab: str) -> None:
        self.wait(tab)
        self.files.append(self.js(f"tabs.{tab}.store.export()"))

    @precondition(lambda self: self.files)
    @rule(tab=tab, data=st.data())
    def load(self, tab: str, data: st.DataObject) -> None:
        text = data.draw(st.sampled_from(self.files))
        self.wait(tab)
        said = self.js(f"tabs.{tab}.store.import({json.dumps(text)})")
        if said["fault"] != "full":
            loaded = json.loads(text)["drills"].get("d", {})
            self.alive |= {loaded["code"]} if "code" in loaded else set()
            self.alive |= {other["text"] for other in loaded.get("others", [])}

    @rule(tab=tab)
    def forget(self, tab: str) -> None:
        self.wait(tab)
        other = "ab".replace(tab, "")
        at = f"tabs.{other}"
        typing = self.js(f"{at}.draft.edited || {at}.store.waiting.size")
        self.alive &= {self.js(f"tabs.{other}.value")} if typing else set()
        self.context.eval(f"tabs.{tab}.store.forget()")

    @rule(room=st.sampled_from(["300", "Infinity", "Infinity"]))
    def fill(self, room: str) -> None:
        self.context.eval(f"kept.room = {room}; 0")

    @rule(day=st.integers(1, 28))
    def turn_the_clock(self, day: int) -> None:
        set_day(self.context, f"2025-03-{day:02}")

    @rule(text=st.sampled_from([*UNREAD.values(), '{"version": 9}']))
    def break_the_record(self, text: str) -> None:
        """What was in it is gone, but what stands on a screen still stands there."""
        self.broken = {self.js(f"tabs.{tab}.value") for tab in "ab"}
        self.alive &= self.broken
        self.context.eval(f"kept['{KEY}'] = {json.dumps(text)}; 0")

    @invariant()
    def nothing_is_lost(self) -> None:
        assert self.alive <= self.held()


Reader.TestCase.settings = settings(stateful_step_count=25)
test_no_text_is_ever_lost = Reader.TestCase


# ---- files that readers have saved


SAVED = sorted((Path(__file__).parents[1] / "data").glob("progress-*.json"))


@pytest.mark.parametrize("file", SAVED, ids=lambda file: file.stem)
def test_what_an_earlier_version_saved_is_read_whole(
    browser: MiniRacer, file: Path
) -> None:
    """Each file is as a page of its time saved it. None is ever changed."""
    text = file.read_text("utf-8")
    saved = json.loads(text)
    assert load(browser, text)["fault"] is None
    exported = json.loads(get(browser, "store.export()"))
    assert exported["drills"] == saved["drills"]
    assert exported["pages"] == saved["pages"]


@pytest.mark.parametrize("file", SAVED, ids=lambda file: file.stem)
def test_the_drills_and_pages_of_an_earlier_version_have_kept_their_names(
    file: Path,
) -> None:
    """Under another name, what a reader has done would count for nothing."""
    saved = json.loads(file.read_text("utf-8"))
    assert set(saved["drills"]) <= set(bank())
    folder = book.current().folder
    assert set(saved["pages"]) <= {file.stem for file in folder.glob("*.md")}
