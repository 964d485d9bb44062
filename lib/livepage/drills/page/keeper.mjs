// Keeps what the reader does in the form of one drill, soon after it is done, and shows
// what was done before. What stands in a textarea is a text; all other boxes together are
// an answer.

import { typeInto, typedIn } from "./boxes.mjs";
import { Draft } from "./draft.mjs";
import { drawGutter, insert, markLine } from "./editor.mjs";
import { button, saveFile, sureButton } from "./progress.mjs";
import { alike } from "./record.mjs";
import { store } from "./store.mjs";
import { make } from "./words.mjs";

const SOON_MS = 400;

export class Keeper {
  constructor(drill) {
    this.drill = drill;
    this.timer = null;
    this.area = drill.form.querySelector("textarea");
    this.opening = answerOf(drill.form);
    this.answer = new Draft(drill.id, "answer");
    this.text = this.area && new Draft(drill.id, drill.runs ? "code" : "words");
    this.versions = make("div", { class: "os-drill-versions" });
    this.unkept = make("p", { class: "os-drill-unkept", role: "status" });
  }

  wake() {
    const { form } = this.drill;
    // Below the buttons: a click that leaves the text must not move them away.
    form.querySelector(":scope > .os-drill-actions").after(this.unkept, this.versions);
    for (const kind of ["input", "change"]) {
      form.addEventListener(kind, ({ type, target }) => {
        (target === this.area ? this.text : this.answer).edited = true;
        if (type === "change") this.keep();
        else this.timer ??= setTimeout(() => this.keep(), SOON_MS);
      });
    }
    document.addEventListener("os-drills-changed", () => this.refresh());
    this.refresh();
  }

  keep() {
    clearTimeout(this.timer);
    this.timer = null;
    this.text?.keep(this.readText());
    this.answer.keep(this.readAnswer());
    this.draw();
  }

  /** Keep what was done here; then show what was done elsewhere. */
  refresh() {
    this.keep();
    const [text, answer] = [this.text?.update(), this.answer.update()];
    if (text) this.showText(text.value);
    if (answer) this.showAnswer(answer.value);
    if (text || answer) this.forgetVerdict();
    if (text?.cleared) this.drill.announce(this.drill.word("clearedElsewhere"));
    this.draw();
  }

  draw() {
    if (this.text) this.drawVersions();
    this.drawUnkept();
  }

  /** Take the verdict away: it was about what stood here before. */
  forgetVerdict() {
    this.drill.quiet();
    this.drill.gpu?.check();
    this.drill.markCells({ passed: true });
  }

  // ---- the text

  get starter() {
    return this.drill.data.starter?.trimEnd() ?? "";
  }

  /** Undefined if the reader changed nothing, so that a newer starter can be shown. */
  readText() {
    const { value } = this.area;
    return value.trimEnd() === this.starter ? undefined : value;
  }

  /** The text stays, as a version: one may tap by mistake, and a phone has no Ctrl+Z. */
  startAgain() {
    const text = this.readText();
    this.area.select();
    insert(this.area, this.starter);
    this.keep();
    if (text?.trim()) store.putBeside(this.drill.id, text);
  }

  showText(text = this.starter) {
    this.area.value = text;
    if (!this.drill.runs) return;
    drawGutter(this.area, this.drill.gutter);
    markLine(this.drill.gutter, null);
  }

  drawVersions() {
    const { others = [] } = store.get(this.drill.id);
    const texts = others.map(({ text }) => text);
    if (alike(texts, this.drawn)) return;
    this.drawn = texts;
    this.versions.replaceChildren(...others.map((other) => this.version(other)));
  }

  /** A text that another tab or a file had; it can change places with the one above. */
  version({ text, at }) {
    const { word, id } = this.drill;
    const use = button(word("useVersion"), () => {
      this.area.select();
      insert(this.area, text); // Ctrl+Z brings the other one back
      this.keep();
      this.drill.announce(word("versionUsed"));
    });
    const remove = sureButton(word("delete"), word("deleteSure"), () => {
      store.discard(id, text);
      this.drill.announce(word("deleted"));
      this.area.focus();
    });
    const name = at ? word("versionOf", { time: momentOf(word, at) }) : word("version");
    return make(
      "details",
      { class: "os-drill-version" },
      make("summary", {}, name),
      make("pre", { tabindex: "0" }, text),
      make("div", { class: "os-drill-actions" }, use, remove),
    );
  }

  /** Where the browser has not taken what was done, say so beside it. */
  drawUnkept() {
    const { word, id } = this.drill;
    const kept = store.stored().drills.get(id) ?? {};
    const missing = (draft) =>
      draft?.lastKnown !== undefined && !alike(kept[draft.name], draft.lastKnown);
    const beside = !alike(kept.others, store.get(id).others);
    // Where the browser keeps all, an answer is missing only if another tab removed it.
    const lost =
      missing(this.text) || (!store.kept && (missing(this.answer) || beside));
    if (lost === this.unkept.hasChildNodes()) return;
    const save = button(word("export"), saveFile);
    this.unkept.replaceChildren(...(lost ? [word("unkept"), " ", save] : []));
    warnIfLost();
  }

  // ---- the answer

  /** What differs from the form as it opens; undefined if nothing does. */
  readAnswer() {
    const answer = inOrder({ ...this.answer.lastKnown, ...answerOf(this.drill.form) });
    return alike(answer, inOrder(this.opening)) ? undefined : answer;
  }

  showAnswer(answer = this.opening) {
    const { form, handler } = this.drill;
    for (const box of boxesOf(form)) {
      const value = Object.hasOwn(answer, box.name) ? answer[box.name] : "";
      if (box.type === "text") typeInto(box, value);
      else box.checked = value === box.value;
    }
    const lines = form.querySelector(".os-drill-lines");
    if (lines) sortLines(lines, answer.lines);
    handler.restored?.(this.drill);
  }
}

/** The boxes of a form that hold an answer. */
function boxesOf(form) {
  return [...form.querySelectorAll("input[name]")];
}

/** What a form holds, by name: what is typed or chosen, and the order of lines. */
function answerOf(form) {
  const answer = {};
  for (const box of boxesOf(form)) {
    if (box.type === "text") answer[box.name] = typedIn(box);
    else if (box.checked) answer[box.name] = box.value;
  }
  const lines = form.querySelectorAll(".os-drill-lines > li");
  const order = [...lines].map((line) => line.dataset.line).join();
  return order ? { ...answer, lines: order } : answer;
}

/** An answer in a fixed order and without what is empty, so that two can be compared. */
function inOrder(answer) {
  return Object.fromEntries(
    Object.entries(answer)
      .filter(([, value]) => value)
      .sort(),
  );
}

/** Put lines into an order that was kept, unless it is one of other lines. */
function sortLines(list, order = "") {
  const lines = [...list.children];
  const sorted = order.split(",").map((n) => lines.find((l) => l.dataset.line === n));
  const each = new Set(sorted).size === lines.length && sorted.every(Boolean);
  if (each && sorted.length === lines.length) list.append(...sorted);
}

/** While something would be lost, the browser asks before it leaves the page. */
function warnIfLost() {
  const lost = document.querySelector(".os-drill-unkept:not(:empty)");
  (lost ? addEventListener : removeEventListener)("beforeunload", askToStay);
}

function askToStay(event) {
  event.preventDefault();
}

/** A moment as one says it: 3 Mar, 14:05. */
function momentOf(word, at) {
  const format = { day: "numeric", month: "short", hour: "numeric", minute: "2-digit" };
  return new Date(at).toLocaleString(word("dates"), format);
}
