"""Walks a reader's main paths through the built book, in three browser engines.

    python -m tools.site.browsers [chromium] [firefox] [webkit]

From a server and from the disk, each engine opens every page, moves every slider, answers
a question wrong and right, runs a drill in Python and one on the simulated GPU, runs a
cell of a chapter, searches, plays the film, and finds on the next page what it had done.
Nothing may appear in the console meanwhile. What is not installed is told; where CI is
set, that is a failure.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread

import rescaling  # noqa: F401  (hands the book in)
from livepage.drills.bank import bank
from tools import serve
from tools.site.engines import ENGINES
from tools.site.engines.engine import Engine, Missing, ScriptFailed

HTML = serve.HTML
NUMBER, CODE, KERNEL = "rescale-hard", "update", "neighbour"
LISTEN = '<script src="_static/listen.js"></script>'

# What all scripts begin with. `until` waits for something the page makes happen.
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
// Sections above, laid out as they come near, move a figure: it is followed.
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

KEPT = """async (id) => {
  const drill = one(`#drill-${id}`);
  const status = () => one(".os-drill-status", drill).textContent;
  await until(() => status().includes("done"), "what was done before");
}"""


def paths() -> Iterator[tuple[str, str, str, list[object]]]:
    """Yield what is done, the page, the script and what it is given."""
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
    yield "what was done is kept", page, KEPT, [number.id]


def walk(engine: Engine, site: str) -> list[str]:
    """Go every path; return what went wrong."""
    wrong = []
    for what, page, script, given in paths():
        try:
            if page:
                engine.open(site + page)
            answer = engine.run(
                f"async (...given) => {{{COMMON} return ({script})(...given); }}",
                *given,
            )
            wrong += [f"{what}: {line}" for line in unmoved(answer)]
        except (ScriptFailed, RuntimeError) as error:
            wrong.append(f"{what}: {error}")
        wrong += [f"{what}: console: {line}" for line in engine.faults()]
    return wrong


def unmoved(answer: object) -> list[str]:
    """Figures that a slider did not move."""
    return answer["unmoved"] if isinstance(answer, dict) else []


# ---- where the book is ----


def listening(folder: Path, listener: str) -> Path:
    """A copy of the site whose pages begin with the engine's listener."""
    if not listener:
        return HTML
    copy = folder / "html"
    shutil.copytree(HTML, copy)
    (copy / "_static" / "listen.js").write_text(listener, "utf-8")
    for page in copy.glob("*.html"):
        text = page.read_text("utf-8").replace("<title>", f"{LISTEN}<title>", 1)
        page.write_text(text, "utf-8")
    return copy


@contextmanager
def served(html: Path) -> Iterator[str]:
    with serve.server(html) as running:
        Thread(target=running.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{running.server_port}/"
        finally:
            running.shutdown()


@contextmanager
def on_disk(html: Path) -> Iterator[str]:
    yield html.as_uri() + "/"


PLACES: dict[str, Callable] = {"from a server": served, "from the disk": on_disk}


def visit(name: str) -> list[str]:
    """Walk with one engine, in both places; return what went wrong."""
    wrong = []
    for place, give in PLACES.items():
        start = time.perf_counter()
        with ExitStack() as stack:
            engine = stack.enter_context(ENGINES[name]())
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            site = stack.enter_context(give(listening(Path(folder), engine.listener)))
            found = walk(engine, site)
        took = time.perf_counter() - start
        print(f"  {name} {place}: {len(found)} faults, {took:.0f} s", flush=True)
        print("".join(f"    {line}\n" for line in found), end="", flush=True)
        wrong += found
    return wrong


def main(asked: list[str]) -> int:
    if unknown := [name for name in asked if name not in ENGINES]:
        print(f"expected {', '.join(ENGINES)}; got {unknown[0]}", file=sys.stderr)
        return 2
    if not (HTML / "index.html").exists():
        print("no built book: run `make book` first", file=sys.stderr)
        return 1
    wrong = []
    for name in asked or ENGINES:
        try:
            wrong += visit(name)
        except Missing as missing:
            print(f"  {missing}")
            wrong += [str(missing)] if os.environ.get("CI") else []
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
