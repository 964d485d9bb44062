// One drill on the page: its form, its help, its verdict.

import * as kinds from "livepage/drill-kinds";

import { markLine } from "./editor.mjs";
import { MARKS, fault, icon, tell } from "./feedback.mjs";
import { GpuCard } from "./gpu.mjs";
import { isMiss, isUnexplained } from "./grade.mjs";
import { Keeper } from "./keeper.mjs";
import { announceKernel } from "./kernel.mjs";
import { PuzzleCard } from "./puzzle.mjs";
import { isStarted, runPython } from "./python.mjs";
import { today } from "./record.mjs";
import { reportInLanguage } from "./said.mjs";
import { store } from "./store.mjs";
import { fromBank, make, wordsFor } from "./words.mjs";

const FORMS = Object.assign({}, ...Object.values(kinds).map(({ forms }) => forms));

export class PageDrill {
  constructor(section) {
    this.section = section;
    this.data = JSON.parse(section.querySelector(".os-drill-data").textContent);
    this.id = this.data.id;
    this.kind = section.dataset.kind;
    this.runs = this.data.form === "code"; // the answer is a text that is run
    this.word = wordsFor(section);
    this.form = section.querySelector("form");
    this.out = section.querySelector(".os-drill-feedback");
    this.help = section.querySelector(".os-drill-help");
    this.solution = section.querySelector(".os-drill-solution");
    this.own = section.querySelector(".os-drill-own");
    this.handler = FORMS[this.data.form];
    this.misses = 0;
    this.knownOn = null; // the day of the last pass without a miss
    this.released = 0;
    this.busy = false;
    this.helps = [
      ...this.data.hints.map((html, i) => [this.hintLabel(i), html]),
      ...this.data.steps.map((html) => [this.word(this.runs ? "lines" : "step"), html]),
    ];
  }

  hintLabel(i) {
    return this.word("hintOf", { n: i + 1, all: this.data.hints.length });
  }

  wake() {
    const actions = this.form.querySelector(":scope > .os-drill-actions");
    actions.hidden = false;
    this.section.classList.add("os-drill-live");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.check();
    });
    this.form.addEventListener("click", (event) => {
      const act = event.target.closest("[data-do]")?.dataset.do;
      if (act) this[act](event.target.closest("[data-do]"));
    });
    this.handler.prepare(this);
    this.keeper = new Keeper(this);
    this.keeper.wake();
    if (this.kind === "kernel") this.gpu = new GpuCard(this);
    if (this.data.puzzle) this.puzzle = new PuzzleCard(this);
    if (this.helps.length === 0) actions.querySelector('[data-do="hint"]').remove();
    this.drawStatus();
    document.addEventListener("os-drills-changed", () => this.drawStatus());
  }

  /** Whether the reader has given the answer today at once; later misses do not count. */
  get isKnown() {
    return this.knownOn === today();
  }

  /** The puzzle, while it stands in the editor's place. */
  get ordering() {
    return this.puzzle?.isOpen ? this.puzzle.panel : null;
  }

  read() {
    return (this.ordering ?? this.handler).read(this);
  }

  async check() {
    if (this.busy) return undefined;
    if (this.ordering?.isEmpty)
      return this.showVerdict([make("p", {}, this.word("orderNone"))], "");
    const answer = this.read();
    if (this.data.form === "own") return this.compare(answer);
    if (this.data.form === "trace" && this.form.elements.level.value === "full") {
      return this.showVerdict([make("p", {}, this.word("studied"))], "");
    }
    const outcome = this.runs
      ? await this.run(answer)
      : kinds[this.kind].mark(this.data.payload, answer, this.word.language);
    if (!outcome) return undefined;
    if (!this.ordering) this.gpu?.judged(outcome.passed ? answer : null);
    return outcome.passed ? this.pass(outcome) : this.miss(outcome);
  }

  /**
   * Run the reader's code; the button waits, and the answer is kept. Gives null if another
   * text took its place meanwhile: a verdict would stand beside a text that did not run.
   */
  async run(answer, payload = this.data.payload) {
    const { ordering } = this;
    const starter = ordering ? "" : this.data.starter; // with it, a text is "unchanged"
    const main = this.form.querySelector(".os-drill-main");
    this.busy = true;
    this.replaced = false;
    main.setAttribute("aria-disabled", "true");
    this.keeper.keep();
    this.showVerdict(
      [make("p", {}, this.word(isStarted() ? "running" : "loading"))],
      "",
    );
    const found = await runPython({ ...payload, starter }, answer);
    const report = await reportInLanguage(this.word, found, this.data.said);
    announceKernel(this.id, answer, report.log);
    this.busy = false;
    main.removeAttribute("aria-disabled");
    if (this.replaced) return null;
    // Python blames the line after the last for a bracket that never closes.
    if (report.line) {
      report.line = Math.min(report.line, answer.split("\n").length);
      report.slots.line = report.line;
    }
    const { gutter } = ordering ?? this;
    markLine(gutter, report.line ?? null, report.slots?.earlier);
    return report;
  }

  /** Run a kernel on more blocks than it takes to mark it. */
  async larger() {
    if (this.busy) return;
    const { payload } = this.data;
    const [{ grid, block }] = payload.larger;
    const answer = this.handler.read(this);
    const cases = payload.larger;
    const report = await this.run(answer, { ...payload, cases });
    if (!report) return;
    if (!report.passed) {
      this.gpu?.judged(null);
      this.showVerdict([make("p", {}, ...fault(this.word, report))], "wrong");
      return;
    }
    const counts = { blocks: grid[0] * grid[1], threads: block[0] * block[1] };
    this.showVerdict([make("p", {}, this.word("largerRight", counts))], "right");
  }

  pass(outcome) {
    if (this.ordering) return this.passPuzzle(outcome);
    this.showVerdict(tell(this, outcome), "right");
    this.markCells(outcome);
    store.pass(this.id, this.misses);
    if (this.misses && !this.isKnown) this.forgotten();
    if (!this.misses) this.knownOn = today();
    this.misses = 0;
    return this.openSolution();
  }

  /** Whoever has put the lines in order has not written them yet: that is for tomorrow. */
  passPuzzle(outcome) {
    const isWritten = store.isDoneToday(this.id);
    const note = isWritten ? [] : [make("p", {}, this.word("orderedNow"))];
    this.showVerdict([...tell(this, outcome), ...note], "right");
    this.ordering.solved();
    store.ordered(this.id);
    this.openSolution();
  }

  miss(outcome) {
    const parts = [...tell(this, outcome), ...(this.ordering?.missed(outcome) ?? [])];
    if (isMiss(outcome)) {
      this.misses += 1;
      if (this.misses >= 2) {
        parts.push(...(this.puzzle?.offer() ?? []), ...this.offerOnce());
      }
      // Whoever was told something before, and comes nearer, is told no less.
      if (this.misses >= 2 && isUnexplained(outcome)) this.releaseHint();
    }
    this.showVerdict(parts, "wrong");
    if (!this.ordering) this.markCells(outcome);
  }

  /** The offer to look at the solution: once in a visit, and not of what was passed. */
  offerOnce() {
    this.section.classList.add("os-drill-offered");
    if (store.get(this.id).done || !offersFirst(this.id)) return [];
    return [make("p", { class: "os-drill-offer" }, this.word("offerShow"))];
  }

  /** Show a verdict. Words and a sign say what it is; a colour only repeats that. */
  showVerdict(parts, state) {
    this.section.dataset.state = state;
    this.out.replaceChildren(...parts);
    this.out.scrollIntoView({ block: "nearest" });
  }

  announce(text) {
    this.out.replaceChildren(make("p", { class: "os-drill-quiet" }, text));
  }

  /** What was said, or is being found out, was about what stood here before. */
  quiet() {
    this.replaced = true;
    this.section.dataset.state = "";
    this.out.replaceChildren();
  }

  /** Mark the box that is wrong, for the eye and for assistive technology. */
  markCells(outcome) {
    const faulty = outcome.cell ? `cell-${outcome.cell.join("-")}` : "answer";
    for (const box of this.form.querySelectorAll("input[type=text], textarea")) {
      const wrong = !outcome.passed && box.name === faulty;
      if (wrong) box.setAttribute("aria-invalid", "true");
      else box.removeAttribute("aria-invalid");
    }
  }

  hint(button) {
    this.release();
    if (!button.isConnected) this.form.querySelector('[data-do="show"]').focus();
  }

  /** The next hint without being asked; a first step is only for whoever asks. */
  releaseHint() {
    if (this.released < this.data.hints.length) this.release();
  }

  release() {
    const [label, html] = this.helps[this.released];
    const item = make("div", { class: "os-drill-hint" });
    item.append(make("p", { class: "os-drill-caption" }, label), fromBank("div", html));
    this.help.append(item);
    this.released += 1;
    if (this.released < this.helps.length) return;
    this.form.querySelector('[data-do="hint"]').remove();
  }

  show() {
    this.openSolution();
    this.solution.querySelector("summary").focus();
    if (this.isKnown) return;
    store.shown(this.id);
    this.forgotten();
    this.misses += 1; // who has seen the solution has not found the answer alone
    this.announce(`${this.word("shown")} ${this.word("tomorrow")}`);
  }

  /** Tell the page that the answer was not known: a short drill can return at once. */
  forgotten() {
    if (this.runs) return;
    this.section.dispatchEvent(new Event("os-drill-forgotten", { bubbles: true }));
  }

  /** Show the drill as it opens for whoever has not answered it yet. */
  startOver() {
    if (this.keeper.text) this.keeper.startAgain();
    else this.keeper.showAnswer();
  }

  openSolution() {
    this.section.classList.add("os-drill-open");
    this.solution.open = true;
  }

  /** Nobody marks free text: the reader compares it with the answer, and says. */
  compare(text) {
    if (!text.trim())
      return this.showVerdict([make("p", {}, this.word("emptyOwn"))], "");
    this.openSolution();
    this.showVerdict([make("p", {}, this.word("compareNow"))], "");
    this.own.hidden = false;
    this.section.classList.add("os-drill-compared");
    return this.own.querySelector("button").focus();
  }

  hadAll() {
    if (!this.read().trim()) return this.compare("");
    store.pass(this.id, this.misses);
    this.misses = 0;
    return this.showVerdict([make("p", {}, this.word("ownAll"))], "right");
  }

  hadLess() {
    store.shown(this.id);
    this.misses = 1;
    this.forgotten();
    const said = [this.word("ownLess"), " ", this.word("tomorrow")];
    this.showVerdict([make("p", {}, ...said)], "");
  }

  again() {
    (this.ordering ?? this.handler).again(this);
    this.quiet();
  }

  drawStatus() {
    const line = this.section.querySelector(".os-drill-status");
    const status = statusOf(this.word, store.get(this.id));
    line.hidden = status.length === 0;
    line.replaceChildren(...status);
  }
}

const OFFERED = "book-drills-offered"; // which solutions were offered in this visit
const offered = new Set();

/** Whether a solution is offered for the first time; from now on it is not. */
function offersFirst(id) {
  try {
    for (const each of JSON.parse(sessionStorage.getItem(OFFERED) ?? "[]"))
      offered.add(each);
    sessionStorage.setItem(OFFERED, JSON.stringify([...offered, id]));
  } catch {
    // a browser that keeps nothing: then it is known as long as the page is open
  }
  const first = !offered.has(id);
  offered.add(id);
  return first;
}

/**
 * A drill's record as a sign and words: done or put in order, due again, or when it comes
 * back.
 */
export function statusOf(word, { done, due, ordered }) {
  if (!due) return [];
  const late = due <= today();
  const back = late ? word("due") : word("comesBack", { date: dayInWords(word, due) });
  const mark = done && !ordered && !late ? MARKS.right : MARKS.wrong;
  const before = ordered ? word("ordered") : done && word("done");
  return [icon(mark), before ? `${before}, ${back}` : back];
}

/** A day as one says it: 3 Mar. */
export function dayInWords(word, day) {
  const format = { day: "numeric", month: "short" };
  return new Date(`${day}T12:00`).toLocaleDateString(word("dates"), format);
}
