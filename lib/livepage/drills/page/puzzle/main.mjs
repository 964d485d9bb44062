// A puzzle on the page: the program, the lines that are left, and what moves them.

import { button, icon, make, wordsFor } from "livepage/drills/page";
import { words } from "livepage/puzzle";

import { prepareDrag } from "./drag.mjs";
import { Lines } from "./lines.mjs";
import { gripOf, moveButtons, rowsOf } from "./rows.mjs";

const TITLES = ["pool", "poolOne", "poolTwo"]; // with so many wrong lines

class Puzzle {
  /** `card` is the drill's PuzzleCard, `state` what the record has of the puzzle. */
  constructor(card, state) {
    this.card = card;
    this.drill = card.drill;
    this.word = wordsFor(this.drill.section, words);
    this.lines = new Lines(this.drill.data.puzzle);
    this.isOpen = false;
    this.picked = null; // the row that the arrows move
    this.items = new Map(); // row → its list item
    this.build();
    this.take(state);
  }

  // ---- what stands on the page

  build() {
    const { word, drill } = this;
    const id = `${drill.section.id}-puzzle`;
    const title = (name, ...text) =>
      make("p", { class: "os-drill-caption", id: `${id}-${name}` }, ...text);
    this.program = make("ol", {
      class: "os-puzzle-program",
      "aria-labelledby": `${id}-program`,
    });
    this.gap = make(
      "li",
      { class: "os-puzzle-gap", "aria-hidden": "true" },
      word("gap"),
    );
    this.units = this.lines.pool.map(() => make("ul", { class: "os-puzzle-unit" }));
    this.nothing = make("p", { class: "os-drill-how" }, word("nothing"));
    this.pool = make(
      "div",
      { class: "os-puzzle-pool", role: "group", "aria-labelledby": `${id}-pool` },
      ...this.units,
      this.nothing,
    );
    this.title = title("pool");
    const how = { class: "os-drill-how", id: `${id}-how` };
    this.said = make("p", { class: "os-drill-how os-puzzle-said", role: "status" });
    this.element = make(
      "div",
      { class: "os-puzzle", role: "group", "aria-label": word("name") },
      title("program", word("program")),
      this.program,
      this.title,
      this.pool,
      make("p", how, word("help")),
      this.said,
    );
    this.element.hidden = true;
    const actions = drill.form.querySelector(":scope > .os-drill-actions");
    actions.before(this.element);
    this.easier = button(word("easier"), () => this.ease());
    this.back = button(word("back"), () => this.leave());
    for (const each of [this.easier, this.back]) each.hidden = true;
    actions.append(this.easier, this.back);
    this.element.addEventListener("click", (event) => this.click(event));
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("focusin", ({ target }) => this.focused(target));
    this.stopDragging = prepareDrag(this);
  }

  /** The list item of a row; a piece has a handle, a button, and buttons that move it. */
  item(row) {
    if (!this.items.has(row)) this.items.set(row, this.newItem(row));
    return this.items.get(row);
  }

  newItem(row) {
    const rows = rowsOf(this.lines.text(row), this.word);
    if (row < 0) return make("li", { class: "os-puzzle-fixed" }, ...rows);
    const line = make(
      "button",
      {
        type: "button",
        class: "os-puzzle-line",
        "aria-pressed": "false",
        "aria-describedby": `${this.drill.section.id}-puzzle-how`,
        tabindex: "-1",
      },
      ...rows,
    );
    const parts = [gripOf(icon), line, moveButtons(this.drill.word, icon)];
    return make("li", { class: "os-puzzle-piece", "data-row": String(row) }, ...parts);
  }

  draw() {
    const { lines } = this;
    const begun = lines.placed.length > 0;
    const rows = lines.program.map((row) => this.item(row));
    if (!begun) rows.splice(lines.entry, 0, this.gap);
    arrange(this.program, rows);
    for (const [i, unit] of lines.pool.entries()) {
      this.drawUnit(this.units[i], unit, lines.isChoice(i));
    }
    this.title.textContent = this.word(TITLES[lines.wrong.length]);
    this.nothing.hidden = lines.pool.some((unit) => unit.length);
    for (const [row, item] of this.items) this.drawItem(row, item);
    this.easier.hidden = !this.isOpen || !this.tried || !lines.canBeEasier;
  }

  /** Lines of which one is right stand together; the other one is marked as such, too. */
  drawUnit(list, rows, isChoice) {
    arrange(
      list,
      rows.map((row) => this.item(row)),
    );
    list.hidden = rows.length === 0;
    list.dataset.or = isChoice ? this.word("or") : "";
    if (isChoice) list.setAttribute("aria-label", this.word("either"));
    else list.removeAttribute("aria-label");
  }

  drawItem(row, item) {
    if (row < 0) return;
    const isPicked = row === this.picked;
    item.classList.toggle("os-puzzle-picked", isPicked);
    const [line, moves] = item.querySelectorAll(".os-puzzle-line, .os-drill-moves");
    line.setAttribute("aria-pressed", String(isPicked));
    line.tabIndex = item === this.current ? 0 : -1;
    moves.hidden = !isPicked;
  }

  /** The items in the order of the page; one of them can be reached with Tab. */
  get movable() {
    return [...this.element.querySelectorAll(".os-puzzle-piece")];
  }

  get current() {
    return this.movable.find((item) => item === this.wanted) ?? this.movable[0];
  }

  /** What the lines of a fault are marked in. */
  get gutter() {
    return { children: this.program.querySelectorAll(".os-puzzle-row") };
  }

  // ---- opening and leaving

  /** Show the puzzle in the editor's place. A verdict about the editor's text goes. */
  reveal() {
    this.isOpen = true;
    this.drill.quiet();
    this.drill.section.classList.add("os-drill-ordering");
    this.element.hidden = this.back.hidden = false;
    this.card.start.hidden = true;
    this.draw();
  }

  show() {
    this.reveal();
    this.keep();
    this.focusOn(this.pool.querySelector(".os-puzzle-piece") ?? this.current);
  }

  leave() {
    this.close();
    this.keep();
    this.drill.form.elements.answer.focus();
  }

  close() {
    this.isOpen = false;
    this.picked = null;
    this.drill.quiet();
    this.drill.section.classList.remove("os-drill-ordering");
    this.element.hidden = this.back.hidden = this.easier.hidden = true;
    this.card.start.hidden = false;
  }

  // ---- the record

  keep() {
    this.card.keep({
      open: this.isOpen ? "yes" : "",
      tried: this.tried ? "yes" : "",
      solved: this.isSolved,
      ...this.lines.write(),
    });
  }

  /** Take over what the record has: from before, or from another tab. */
  take(state) {
    this.stopDragging();
    this.picked = null;
    for (const [row, item] of this.items) if (row >= 0) item.remove();
    this.items.clear();
    this.lines.restore(state);
    this.tried = Boolean(state.tried);
    this.isSolved = Boolean(state.solved);
    if (this.isOpen) this.drill.quiet();
    if (this.isOpen && !state.open) this.close();
    this.draw();
  }

  // ---- what the drill asks

  read() {
    return this.lines.read();
  }

  get isEmpty() {
    return this.lines.placed.length === 0;
  }

  /** A wrong try: from now on it can be made easier. Returns what is said besides. */
  missed() {
    this.tried = true;
    this.keep();
    this.draw();
    const n = this.lines.lacking;
    if (n <= 0) return [];
    return [make("p", {}, this.word(n === 1 ? "lacksOne" : "lacks", { n }))];
  }

  solved() {
    this.isSolved = true;
    this.keep();
  }

  again() {
    this.lines.takeAllOut();
    this.picked = null;
    this.changed();
    this.say("allOut");
  }

  // ---- moving

  /** A verdict that is being found out would be about another order. */
  changed() {
    if (this.drill.busy) this.drill.quiet();
    this.isSolved = false;
    this.draw();
    this.keep();
  }

  say(key, slots) {
    this.said.textContent = this.word(key, slots);
  }

  /** Say where a row is now, and which line it has replaced. */
  sayWhere(key, row, rival) {
    const where = this.word(key, { where: this.where(row) });
    const code = rival === undefined ? "" : this.lines.text(rival).trim();
    this.said.textContent = code ? this.word("instead", { where, code }) : where;
  }

  /** Where a row is, in words: its line, and the line above. */
  where(row) {
    const at = this.lines.program.indexOf(row);
    if (at < 0) return this.word("atPool");
    const above = this.lines.program.slice(0, at).map((each) => this.lines.text(each));
    const n = above.join("\n").split("\n").length + (at > 0 ? 1 : 0);
    if (at === 0) return this.word("atTop", { n });
    return this.word("atLine", { n, code: above.at(-1).split("\n").at(-1).trim() });
  }

  pick(row) {
    this.picked = row;
    this.draw();
    this.sayWhere("picked", row);
  }

  drop(row, rival) {
    this.picked = null;
    this.draw();
    this.sayWhere("dropped", row, rival);
  }

  step(row, by) {
    const focused = document.activeElement;
    const rival = this.lines.rival(row);
    if (!this.lines.step(row, by)) return;
    this.changed();
    focused.focus(); // what moves in the document loses the focus
    focused.closest(".os-puzzle-piece")?.scrollIntoView({ block: "nearest" });
    this.sayWhere("moved", row, rival);
  }

  out(row) {
    if (!this.lines.isPlaced(row)) return;
    this.lines.takeOut(row);
    this.picked = null;
    this.changed();
    this.focusOn(this.item(row));
    this.sayWhere("moved", row);
  }

  click({ target }) {
    const item = target.closest(".os-puzzle-piece");
    const row = Number(item?.dataset.row);
    const move = target.closest("[data-move]");
    if (move) this.step(row, Number(move.dataset.move));
    else if (target.closest(".os-puzzle-line, .os-drill-grip")) {
      this.picked === row ? this.drop(row) : this.pick(row);
    }
  }

  key(event) {
    const item = event.target.closest(".os-puzzle-piece");
    const act = item && this.keys(item, event)[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** What the keys do at a piece; Space and Enter press the button that it is. */
  keys(item, { ctrlKey, metaKey, target }) {
    const row = Number(item.dataset.row);
    const isPicked = this.picked === row;
    const isLine = target.matches(".os-puzzle-line");
    if (ctrlKey || metaKey) return { Enter: () => this.drill.form.requestSubmit() };
    const escape = { Escape: isPicked ? () => this.letGo(item, row) : null };
    if (!isLine) return escape;
    const go = (by) => () => (isPicked ? this.step(row, by) : this.goTo(item, by));
    const remove = () => this.out(row);
    return {
      ...escape,
      ArrowUp: go(-1),
      ArrowDown: go(1),
      Delete: remove,
      Backspace: remove,
    };
  }

  letGo(item, row) {
    this.drop(row);
    this.focusOn(item);
  }

  goTo(item, by) {
    const items = this.movable;
    this.focusOn(items[items.indexOf(item) + by]);
  }

  focusOn(item) {
    item?.querySelector(".os-puzzle-line").focus();
  }

  focused(target) {
    const item = target.closest(".os-puzzle-piece");
    if (!item) return;
    this.wanted = item;
    for (const each of this.movable) {
      each.querySelector(".os-puzzle-line").tabIndex = each === item ? 0 : -1;
    }
  }

  // ---- making it easier

  ease() {
    const { gone, joined } = this.lines.ease();
    for (const [row, item] of this.items) if (row >= 0) item.remove();
    this.items.clear(); // a joined piece has another text now
    this.picked = null;
    this.changed();
    if (this.easier.hidden) this.drill.form.querySelector(".os-drill-main").focus();
    if (gone) this.say("gone", { code: gone.trim() });
    else {
      const [a, b] = joined.map((text) => text.split("\n"));
      this.say("joined", { a: a.at(-1).trim(), b: b[0].trim() });
    }
  }
}

/** Let a list have these items, in this order; what is in place is not touched. */
function arrange(list, items) {
  for (const item of [...list.children]) if (!items.includes(item)) item.remove();
  for (const [i, item] of items.entries()) {
    if (list.children[i] !== item) list.insertBefore(item, list.children[i] ?? null);
  }
}

globalThis.livepagePuzzle = { open: (card, state) => new Puzzle(card, state) };
