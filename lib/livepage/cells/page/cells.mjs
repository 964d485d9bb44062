// What the buttons on a code cell do: run it, open it in the editor, put it back.

import { modules } from "livepage/cells";
import {
  Keeper,
  button,
  isStarted,
  make,
  markLine,
  prepareEditor,
  runCell,
  store,
  translate,
  wordsFor,
} from "livepage/drills/page";

import { isRunnable, keyOf } from "./keys.mjs";
import { note, tellClaims, tellFault, wholeOf } from "./fault.mjs";

class PageCell {
  constructor(element) {
    this.element = element;
    this.id = keyOf(element);
    this.word = wordsFor(element);
    this.code = element.querySelector(".code");
    this.starter = element.querySelector(".code code").textContent.trimEnd();
    this.stored = element.querySelector(":scope > .cell-output");
    this.form = null;
    this.stop = null; // while it runs
    element.querySelector(".os-cell-result")?.remove(); // that nothing could be loaded
    this.result = make("div", { class: "os-cell-result", role: "status" });
    (this.stored ?? element.lastElementChild).after(this.result);
  }

  get text() {
    return this.form?.hidden === false ? this.area.value : this.starter;
  }

  /** Its text, and the names that the text takes and gives, as far as they are known. */
  job() {
    const { binds, needs } = this.element.dataset;
    const changed = this.text.trimEnd() !== this.starter;
    return {
      text: this.text,
      binds: names(binds),
      needs: changed ? null : names(needs),
    };
  }

  // ---- the editor

  edit({ focus = true } = {}) {
    const isNew = !this.form;
    if (isNew) this.makeForm();
    this.open(true);
    this.keeper.refresh();
    // A browser leaves the caret behind the last letter: a phone would show that corner.
    if (isNew) this.area.setSelectionRange(0, 0);
    if (focus) this.area.focus();
  }

  open(open) {
    this.form.hidden = !open;
    this.code.hidden = open;
  }

  makeForm() {
    const { word } = this;
    this.gutter = make("div", { class: "os-drill-gutter", "aria-hidden": "true" });
    this.area = make("textarea", {
      "aria-label": word("editor"),
      spellcheck: "false",
      autocapitalize: "off",
      autocorrect: "off",
      wrap: "off",
    });
    this.area.value = this.starter;
    this.main = button(word("run"), ({ detail }) => detail > 1 || this.run());
    this.main.className = "os-drill-main";
    const reset = button(word("reset"), () => this.reset());
    this.form = make(
      "form",
      { class: "os-cell" },
      make("div", { class: "os-drill-editor" }, this.gutter, this.area),
      make("div", { class: "os-drill-actions" }, this.main, reset),
      make("p", { class: "os-drill-how" }, word("editorHelp")),
    );
    this.code.after(this.form);
    prepareEditor(this.area, this.gutter, () => this.run());
    this.area.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !event.shiftKey) return;
      event.preventDefault(); // as in a notebook
      this.run();
    });
    this.keeper = new Keeper(this.forKeeper());
    this.keeper.wake();
  }

  /** What keeps an editor's text has to know of the cell: the same as of a drill. */
  forKeeper() {
    return {
      id: this.id,
      form: this.form,
      gutter: this.gutter,
      runs: true,
      word: this.word,
      data: { starter: this.starter },
      handler: {},
      markCells() {},
      quiet: () => this.drop(),
      announce: (text) => this.result.replaceChildren(note(text)),
    };
  }

  /** The text and the result that the page came with; what was typed is kept beside. */
  reset() {
    this.keeper.startAgain();
    this.drop();
    this.open(false);
    this.element.querySelector('[data-do="edit"]').focus();
  }

  // ---- a run

  /** End a run, and take away its result: another text stands here now. */
  drop() {
    this.stop?.();
    this.running(null);
    this.quiet();
  }

  async run() {
    if (this.stop) return this.stop();
    this.keeper?.keep();
    let wished = false; // the reader may stop it before it has begun
    this.running(() => {
      wished = true;
    });
    const job = { ...this.job(), above: above(this) };
    const report = await runCell(job, modules, (stop) => {
      this.stop = stop;
      if (wished) stop();
    });
    const isReset = this.stop === null;
    this.running(null);
    if (isReset) return undefined;
    const { fault } = report;
    if (fault?.said && this.word.language !== "en") {
      fault.translated = await translate(this.word, wholeOf(fault));
    }
    this.show(report);
    return undefined;
  }

  running(stop) {
    this.stop = stop;
    const run = this.element.querySelector('[data-do="run"]');
    for (const each of [run, this.main].filter(Boolean)) {
      each.textContent = this.word(stop ? "stop" : "run");
    }
    if (stop) this.say([make("p", {}, this.word(isStarted() ? "running" : "loading"))]);
  }

  show(report) {
    const { word } = this;
    const fault = report.fault ?? null;
    const parts = [make("p", { class: "os-drill-caption" }, word("yourRun"))];
    const text = report.printed?.trimEnd();
    if (text) parts.push(make("pre", { class: "printed", tabindex: "0" }, text));
    if (report.omitted) {
      parts.push(
        make("p", { class: "os-drill-how" }, word("cut", { n: report.omitted })),
      );
    }
    if (fault) parts.push(...tellFault(this, report));
    else if (report.claims) parts.push(...tellClaims(word, report));
    else if (/^\s*assert\b/m.test(this.starter)) parts.push(note(word("noneLeft")));
    else if (!text) parts.push(note(word("printsNothing")));
    this.say(parts);
    const { line } = fault ?? report.doubts?.[0] ?? {};
    if (this.form) markLine(this.gutter, fault?.above ? null : (line ?? null));
  }

  say(parts) {
    this.result.replaceChildren(...parts);
    this.element.classList.add("os-cell-ran");
  }

  /** What was computed when the book was built stands there again. */
  quiet() {
    this.result.replaceChildren();
    this.element.classList.remove("os-cell-ran");
    if (this.form) markLine(this.gutter, null);
  }
}

/** Cells above that may be needed, as the reader has left them. */
function above({ element }) {
  const cells = [
    ...document.querySelectorAll(".cell[data-binds], .cell[data-imports]"),
  ];
  return cells.slice(0, cells.indexOf(element)).map((each) => {
    const imports = { text: each.dataset.imports, binds: [], needs: null };
    return { name: each.id, ...(isRunnable(each) ? of(each).job() : imports) };
  });
}

const names = (text) => text.split(" ").filter(Boolean);

const known = new Map();

function of(element) {
  if (!known.has(element)) known.set(element, new PageCell(element));
  return known.get(element);
}

globalThis.livepageCells = {
  run: (element) => of(element).run(),
  edit: (element) => of(element).edit(),
  restore() {
    for (const element of document.querySelectorAll(".cell[data-binds]")) {
      if (store.get(keyOf(element)).code !== undefined)
        of(element).edit({ focus: false });
    }
  },
};
