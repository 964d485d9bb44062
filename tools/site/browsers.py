"""Walks a reader's main paths through the built book, in three browser engines.

    python -m tools.site.browsers [chromium] [firefox] [webkit]

From a server and from the disk, each engine opens every page, moves every slider, gives a
wrong answer and the right one, runs a drill in Python and one on the simulated GPU, runs a
cell of a chapter, searches, plays the film, and reloads a page for what was done before.
The console has to stay empty. A missing engine is reported; where the variable CI is set,
it is a failure.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path

import rescaling  # noqa: F401  (registers the book with the kit)
from livepage.drills.bank import bank
from tools.common import options
from tools.common.paths import HTML
from tools.serve import is_built, serving
from tools.site.engines import ENGINES
from tools.site.engines.engine import Engine, Missing, ScriptFailed

NUMBER, CODE, KERNEL = "rescale-hard", "update", "neighbour"
LISTEN = '<script src="_static/listen.js"></script>'

# The beginning of all scripts. `until` waits for a condition.
COMMON = """
const until = async (holds, what) => {
  for (const end = Date.now() + 20000; Date.now() < end; ) {
    const found = await holds();
    if (found) return found;
    await new Promise((again) => setTimeout(again, 30));
  }
  throw new Error(`it never came: ${what}`);
};
const one = (selector, inside = document) => {
  const found = inside.querySelector(selector);
  if (!found) throw new Error(`nothing on the page is ${selector}`);
  return found;
};
// The layout of sections above moves a figure, so `alive` scrolls again and again.
const alive = (figure) =>
  until(() => {
    figure.scrollIntoView({ behavior: "instant" });
    return figure.matches(".os-live");
  }, `${figure.id} alive`);
const write = (box, text) => {
  box.focus();
  box.value = text;
  box.dispatchEvent(new InputEvent("input", { bubbles: true }));
};
"""

FIGURES = """async () => {
  const unmoved = [];
  let sliders = 0;
  for (const figure of document.querySelectorAll(".os-figure")) {
    figure.closest("details")?.setAttribute("open", "");
    await alive(figure);
    figure.querySelector(".os-question:not([hidden]) .os-skip")?.click();
    for (const slider of figure.querySelectorAll(".os-inputs input[type=range]")) {
      if (slider.disabled || !slider.checkVisibility()) continue;
      sliders += 1;
      const before = figure.innerHTML;
      const other = [slider.min, slider.max].find((end) => end !== slider.value);
      write(slider, other);
      slider.dispatchEvent(new Event("change", { bubbles: true }));
      const moved = () => figure.innerHTML !== before;
      const what = `${figure.id} moved by a slider`;
      await until(moved, what).catch((error) => unmoved.push(String(error)));
    }
  }
  return { unmoved, sliders };
}"""

ANSWER = """async (id, answer, verdict) => {
  const drill = one(`#drill-${id}`);
  drill.scrollIntoView();
  const box = await until(() => drill.querySelector("[name=answer]"), "a box");
  write(box, answer);
  one("form", drill).requestSubmit();
  await until(() => drill.dataset.state === verdict, `${answer} judged ${verdict}`);
}"""

WRITE = """async (id, code, verdict) => {
  const drill = one(`#drill-${id}`);
  drill.scrollIntoView();
  const box = await until(() => drill.querySelector("textarea"), "an editor");
  write(box, code);
  const buttons = [...drill.querySelectorAll("button")];
  buttons.find((each) => each.textContent.trim() === "Run").click();
  await until(() => drill.dataset.state === verdict, `judged ${verdict}`);
}"""

CELL = """async () => {
  const cell = [...document.querySelectorAll(".cell[data-binds]")].at(-1);
  if (!cell) throw new Error("no cell of this page can be run");
  cell.scrollIntoView();
  const run = await until(() => cell.querySelector('[data-do="run"]'), "a button Run");
  run.click();
  const result = await until(() => cell.querySelector(".os-cell-result"), "a result");
  await until(() => result.textContent.trim(), "something printed");
  return result.textContent;
}"""

SEARCH = """async () => {
  await until(() => document.querySelectorAll("#search-page a").length > 2, "results");
}"""

FILM = """async () => {
  const figure = one('.os-figure[data-figure="one-factor"]');
  await alive(figure);
  const button = (name) => [...figure.querySelectorAll("button")].find(
    (each) => each.textContent.trim() === name || each.ariaLabel === name);
  const picture = () => one(".os-stage", figure).innerHTML;
  const before = picture();
  button("Play").click();
  await until(() => picture() !== before, "motion");
  button("Pause").click();
}"""

STORED = """async (id) => {
  const drill = one(`#drill-${id}`);
  const status = () => one(".os-drill-status", drill).textContent;
  await until(() => status().includes("done"), "what was done before");
}"""


def paths() -> Iterator[tuple[str, str, str, list[object]]]:
    """Yield the name of a path, its page or "", its script and the script's arguments."""
    for page in sorted(HTML.glob("*.html")):
        yield f"figures of {page.stem}", page.name, FIGURES, []
    drills = bank()
    number, code, kernel = (drills[name] for name in (NUMBER, CODE, KERNEL))
    answer = number.get("answer")["value"]
    page = f"{number.chapter}.html"
    yield "a wrong answer", page, ANSWER, [number.id, "1234.5", "wrong"]
    yield "the right answer", "", ANSWER, [number.id, answer, "right"]
    for drill in (code, kernel):
        name = f"{drill.chapter}.html"
        yield f"{drill.id} as it begins", name, WRITE, [drill.id, "x = 1", "wrong"]
        yield f"{drill.id} solved", "", WRITE, [drill.id, drill.get("code"), "right"]
    yield "a cell of a chapter", "01-stable-softmax.html", CELL, []
    yield "search", "search.html?q=largest+score", SEARCH, []
    yield "the film", "02-the-rescaling-trick.html", FILM, []
    yield "a solved drill after a reload", page, STORED, [number.id]


def walk(engine: Engine, site: str) -> list[str]:
    """Walk every path; return complaints."""
    wrong = []
    for name, page, script, arguments in paths():
        try:
            if page:
                engine.open(site + page)
            function = f"async (...all) => {{{COMMON} return ({script})(...all); }}"
            answer = engine.run(function, *arguments)
            unmoved = answer["unmoved"] if isinstance(answer, dict) else []
            wrong += [f"{name}: {line}" for line in unmoved]
        except (ScriptFailed, RuntimeError) as error:
            wrong.append(f"{name}: {error}")
        wrong += [f"{name}: console: {line}" for line in engine.faults()]
    return wrong


def with_listener(folder: Path, listener: str) -> Path:
    """Return a copy of the site whose pages begin with the engine's listener."""
    if not listener:
        return HTML
    copy = folder / "html"
    shutil.copytree(HTML, copy)
    (copy / "_static" / "listen.js").write_text(listener, "utf-8")
    for page in copy.glob("*.html"):
        text = page.read_text("utf-8").replace("<title>", f"{LISTEN}<title>", 1)
        page.write_text(text, "utf-8")
    return copy


ORIGINS: dict[str, Callable] = {
    "from a server": serving,
    "from the disk": lambda html: nullcontext(html.as_uri() + "/"),
}


def visit(name: str) -> list[str]:
    """Walk with one engine, from both origins; return complaints."""
    wrong = []
    for origin, open_site in ORIGINS.items():
        start = time.perf_counter()
        with ExitStack() as stack:
            engine = stack.enter_context(ENGINES[name]())
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            html = with_listener(Path(folder), engine.listener)
            faults = walk(engine, stack.enter_context(open_site(html)))
        took = time.perf_counter() - start
        print(f"  {name} {origin}: {len(faults)} faults, {took:.0f} s", flush=True)
        print("".join(f"    {line}\n" for line in faults), end="", flush=True)
        wrong += faults
    return wrong


def main() -> int:
    names = options.parse(ENGINES) or ENGINES
    if not is_built(HTML):
        print("no built book: run `make book` first", file=sys.stderr)
        return 1
    wrong = []
    for name in names:
        try:
            wrong += visit(name)
        except Missing as missing:
            print(f"  {missing}")
            wrong += [str(missing)] if os.environ.get("CI") else []
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
