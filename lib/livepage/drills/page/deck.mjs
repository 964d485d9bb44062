// The page with all drills: those due today first, each opened where it stands.

import { PageDrill, dayInWords, statusOf } from "./drill.mjs";
import { button, panelFoot } from "./progress.mjs";
import { HOME, loadScript } from "./python.mjs";
import { store } from "./store.mjs";
import { make, wordsFor } from "./words.mjs";

export class Deck {
  constructor(element) {
    this.element = element;
    this.word = wordsFor(element);
    this.today = element.querySelector(".os-deck-today");
    this.list = this.today.querySelector(".os-deck-rows");
    const rows = [...element.querySelectorAll(".os-deck-row")];
    this.rows = new Map(rows.map((row) => [row.dataset.drill, new DeckRow(row)]));
    this.due = [];
    this.again = new Set(); // drills due today that were not known, to come once more
    this.waiting = make("div", { class: "os-deck-again" });
    this.list.after(this.waiting);
  }

  wake() {
    for (const row of this.rows.values()) row.wake();
    const all = this.element.querySelector(".os-deck-all");
    all.append(make("div", { class: "os-deck-foot" }, ...panelFoot(this.word)));
    this.element.classList.add("os-deck-live");
    this.draw();
    this.today.hidden = false;
    document.addEventListener("os-drills-changed", () => this.draw());
    this.list.addEventListener("os-drill-forgotten", ({ target }) => {
      this.again.add(target.dataset.drill);
      this.draw();
    });
  }

  draw() {
    const drills = store.all();
    for (const row of this.rows.values()) row.draw(store.get(row.id, drills));
    const before = this.due.join();
    this.due = store.due().filter((id) => this.rows.has(id));
    this.arrange(drills);
    this.drawAgain();
    this.count();
    this.today.querySelector(".os-deck-said").textContent = this.summary(drills);
    if (this.due.join() !== before) this.openNext();
  }

  /** Move the rows due today up. They stay there, though answered, until the page closes. */
  arrange(drills) {
    for (const id of this.due) this.rows.get(id).moveTo(this.list);
    for (const [id, row] of this.rows) {
      if (drills.get(id)?.due) continue;
      row.moveHome();
      this.again.delete(id);
    }
  }

  /** What was not known waits below, until the reader asks for it once more. */
  drawAgain() {
    const rows = [...this.again].map((id) => this.rows.get(id));
    const buttons = rows.map((row) => {
      const text = row.button.firstElementChild.cloneNode(true);
      const ask = make("button", { type: "button" }, text);
      ask.addEventListener("click", () => this.askAgain(row));
      return make("li", { class: "os-deck-question" }, ask);
    });
    const heading = make("p", {}, this.word("onceMore"));
    this.waiting.replaceChildren(
      ...(buttons.length ? [heading, make("ul", {}, ...buttons)] : []),
    );
  }

  askAgain(row) {
    this.again.delete(row.id);
    this.list.append(row.element);
    row.startOver();
    this.draw();
  }

  /** One drill at a time: when one is answered, the next unfolds below it. */
  openNext() {
    const waiting = this.due.map((id) => this.rows.get(id));
    if (waiting.length && !waiting.some((row) => row.isOpen)) waiting[0].toggle(true);
  }

  summary(drills) {
    const n = this.due.length;
    if (n) return this.word("dueSome", { n });
    if (this.again.size) return this.word("dueAgain");
    const known = [...this.rows.keys()].map((id) => store.get(id, drills).due);
    const [next] = known.filter(Boolean).sort();
    if (!next) return this.word("dueNone");
    return this.word("dueNext", { date: dayInWords(this.word, next) });
  }

  /** How many are done: of each chapter, and of all. */
  count() {
    const done = new Set(store.done());
    const tally = (box, rows) => {
      const [passed, all] = [rows.filter(({ id }) => done.has(id)).length, rows.length];
      box.textContent = this.word("deckDone", { done: passed, all });
      return passed / all;
    };
    const rows = [...this.rows.values()];
    for (const line of this.element.querySelectorAll(".os-deck-line")) {
      const here = rows.filter((row) => row.chapter === line.dataset.chapter);
      const part = tally(line.querySelector(".os-deck-count"), here);
      line.style.setProperty("--done", part);
    }
    tally(this.element.querySelector(".os-deck-total"), rows);
  }
}

class DeckRow {
  constructor(element) {
    this.element = element;
    this.id = element.dataset.drill;
    this.chapter = element.dataset.chapter;
    this.word = wordsFor(element);
    this.card = null;
    this.standIn = null; // what stands here while the row is in the list of those due today
  }

  get isOpen() {
    return this.button.getAttribute("aria-expanded") === "true";
  }

  /** The question becomes the button that opens the drill. */
  wake() {
    const question = this.element.querySelector(".os-deck-question").firstElementChild;
    const text = make("span", { class: "os-deck-text" }, ...question.childNodes);
    this.button = make("button", { type: "button", "aria-expanded": "false" }, text);
    this.button.addEventListener("click", () => this.toggle(!this.isOpen));
    question.append(this.button);
    this.state = make("span", { class: "os-deck-state" });
    this.element.querySelector(".os-deck-facts span").after(this.state);
  }

  draw(entry) {
    const status = statusOf(this.word, entry);
    this.state.replaceChildren(...(status.length ? status : [this.word("fresh")]));
  }

  toggle(open) {
    this.button.setAttribute("aria-expanded", String(open));
    this.element.classList.toggle("os-deck-open", open);
    if (open) this.card ??= this.mount();
  }

  /** Fetch the drill; where that fails, it is tried again when the reader asks. */
  async mount() {
    this.element.querySelector(".os-deck-card")?.remove();
    const card = make("div", { class: "os-deck-card" });
    this.element.append(card);
    try {
      const script = `${HOME}cards/${this.id}.js`;
      await loadScript(script, () => globalThis.livepageCards?.[this.id]);
      card.innerHTML = globalThis.livepageCards[this.id]; // the book's own HTML
      this.drill = new PageDrill(card.querySelector(".os-drill"));
      this.drill.wake();
    } catch (error) {
      console.error(`drill ${this.id}: ${error.message}`);
      const again = button(this.word("tryAgain"), () => this.toggle(true));
      card.replaceChildren(make("p", {}, this.word("noCard")), again);
      this.card = null;
    }
  }

  /** Ask once more: a new card, blank. */
  async startOver() {
    this.card = this.mount();
    this.toggle(true);
    this.button.focus();
    await this.card;
    this.drill?.startOver();
  }

  moveTo(list) {
    if (this.standIn) return;
    const text = this.button.firstElementChild.cloneNode(true);
    const link = make("a", { href: `#${this.element.id}` }, text);
    this.standIn = make(
      "li",
      { class: "os-deck-stand" },
      make("div", { class: "os-deck-question" }, link),
      make("p", { class: "os-deck-facts" }, this.word("dueAbove")),
    );
    this.element.replaceWith(this.standIn);
    list.append(this.element);
  }

  moveHome() {
    this.standIn?.replaceWith(this.element);
    this.standIn = null;
  }
}
