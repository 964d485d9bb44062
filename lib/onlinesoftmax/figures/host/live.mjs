// A figure come alive: it holds the state, and shows it everywhere at once.

import { fit, same } from "./address.mjs";
import { wake } from "./controls.mjs";
import { draggable } from "./drag.mjs";
import { code, frame, table } from "./frame.mjs";
import { gate } from "./gate.mjs";
import { marked, plain } from "./kit.mjs";
import { Picture } from "./motion.mjs";

const WIDE = 600; // CSS px; a narrower stage gets the narrow drawing
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** New words in a place; the quantities that are lit there stay lit. */
function rewrite(box, html) {
  const lit = new Set(
    [...box.querySelectorAll(".q-on")].map(({ dataset }) => dataset.q),
  );
  box.innerHTML = html;
  for (const q of lit) {
    for (const part of box.querySelectorAll(`[data-q="${q}"]`))
      part.classList.add("q-on");
  }
}

/** Text that once grew stays tall: what stands below it does not jump about. */
function keepRoom(box) {
  const height = box.offsetHeight;
  if (height > (parseFloat(box.style.minHeight) || 0))
    box.style.minHeight = `${height}px`;
}

export class Live {
  /** `figure` is { spec, words, ui, compute, draw, say, table, code }. */
  constructor(root, id, figure, overrides = {}) {
    Object.assign(this, { root, id, overrides }, figure);
    const defaults = this.spec.controls.map(({ name, default: value }) => [
      name,
      value,
    ]);
    this.opening = { ...Object.fromEntries(defaults), ...overrides };
    this.state = this.fitted({ ...this.opening });
    this.heard = new Set();
    this.set = this.set.bind(this);
    this.furnish();
    this.render(false);
    gate(root, this, () => {
      this.locked = false;
      this.unlocked?.();
    });
  }

  furnish() {
    this.locked = Boolean(this.spec.prediction);
    if (!this.root.querySelector(".os-stage"))
      this.root.innerHTML = frame(this.spec, this.words, this.ui, this.parts());
    const part = (name) => this.root.querySelector(`.os-${name}`);
    this.at = {
      stage: part("stage"),
      say: part("say"),
      aside: part("aside"),
      code: part("code"),
      table: part("table"),
    };
    this.picture = new Picture(this.at.stage);
    this.refresh = wake(this.root, this);
    draggable(this.at.stage, this);
    part("reset").onclick = () => {
      this.stop();
      this.set(this.opening, true);
    };
    part("as-table").onclick = ({ currentTarget }) => this.showTable(currentTarget);
    this.at.table.hidden = true;
    this.watchSize();
    this.root.classList.add("os-live");
  }

  /** What the frame needs, drawn from the current state. */
  parts() {
    this.numbers = this.compute(this.state);
    const [state, numbers, words] = [this.state, this.numbers, this.words];
    return {
      stage: "",
      sentence: this.say(state, numbers, words),
      code: this.code?.(state, numbers, words),
      table: this.table(state, numbers, words),
    };
  }

  /** Change some controls; `moving` says whether the picture may take its time. */
  set(changes, moving = false) {
    const before = this.state;
    this.state = this.fitted({ ...before, ...changes });
    if (this.unchanged(before)) return this.refresh();
    this.render(moving && !calm(), before);
    for (const hear of this.heard) hear(this.state, before);
  }

  /** A kernel of the reader's ran: show what it did, but first let the reader answer. */
  hearOf(run) {
    const { log, ...changes } = this.hear(run);
    this.opening = { ...this.opening, log }; // a reset keeps it
    const show = () => this.set({ ...changes, log }, true);
    if (this.locked) this.unlocked = show;
    else show();
  }

  unchanged(before) {
    return this.spec.controls.every(({ name }) => same(this.state[name], before[name]));
  }

  /** Every control within its bounds; an impossible value changes nothing. */
  fitted(wanted) {
    for (const control of this.spec.controls) {
      wanted[control.name] =
        fit(control, wanted[control.name]) ??
        this.state?.[control.name] ??
        control.default;
    }
    this.numbers = this.compute(wanted);
    const step = this.spec.controls.find(({ kind }) => kind === "step");
    if (!step || wanted[step.name] <= this.numbers.steps) return wanted;
    wanted[step.name] = this.numbers.steps;
    this.numbers = this.compute(wanted);
    return wanted;
  }

  render(moving, was = null) {
    const { state, numbers, words } = this;
    const sentence = this.say(state, numbers, words);
    const view = {
      wide: this.wide,
      words,
      title: plain(sentence),
      was: moving ? was : null,
    };
    this.picture.show(this.draw(state, numbers, view), moving);
    this.refresh();
    rewrite(this.at.say, marked(sentence));
    if (this.at.code) rewrite(this.at.code, code(this.code(state, numbers, words)));
    if (!this.at.table.hidden) this.fillTable();
    if (was) this.announce(plain(sentence));
  }

  fillTable() {
    rewrite(this.at.table, table(this.table(this.state, this.numbers, this.words)));
  }

  /** To screen readers, once the reader's hand rests. */
  announce(sentence) {
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => {
      this.at.aside.textContent = sentence;
    }, 300);
  }

  showTable(button) {
    const { table: box } = this.at;
    box.hidden = !box.hidden;
    button.setAttribute("aria-expanded", !box.hidden);
    if (!box.hidden) this.fillTable();
  }

  /** Step on until the end; from the end, begin again. */
  play(name) {
    if (this.state[name] >= this.numbers.steps) this.set({ [name]: 0 });
    this.playing = setInterval(() => this.forward(name), this.spec.pace);
    this.forward(name);
  }

  forward(name) {
    this.set({ [name]: this.state[name] + 1 }, true);
    if (this.state[name] >= this.numbers.steps) this.stop();
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    this.refresh();
  }

  watchSize() {
    const { stage } = this.at;
    const grow = [this.at.say, this.at.code].filter(Boolean);
    const wide = () => stage.clientWidth >= WIDE;
    this.wide = wide();
    this.observer = new ResizeObserver(() => {
      if (this.onScreen) return;
      grow.forEach(keepRoom);
      if (this.wide === wide()) return;
      for (const box of grow) box.style.minHeight = "";
      this.layOut(wide());
      this.render(false);
    });
    for (const box of [stage, ...grow]) this.observer.observe(box);
  }

  /** Another width is another drawing, made anew. */
  layOut(wide) {
    if (this.wide !== wide) this.at.stage.replaceChildren();
    this.wide = wide;
  }

  /** On paper goes what is on the screen, wide; of a figure nobody touched, its still. */
  toPaper() {
    this.onScreen = { state: this.state, wide: this.wide };
    this.layOut(true);
    const still = { ...this.opening, ...this.spec.still, ...this.overrides };
    this.state = this.fitted(this.unchanged(this.opening) ? still : { ...this.state });
    this.render(false);
    this.fillTable();
  }

  fromPaper() {
    if (!this.onScreen) return;
    this.layOut(this.onScreen.wide);
    this.state = this.fitted({ ...this.onScreen.state });
    this.onScreen = null;
    this.render(false);
  }

  /** Call `hear(state, before)` after every change; gives the way to stop it. */
  on(hear) {
    this.heard.add(hear);
    return () => this.heard.delete(hear);
  }

  leave() {
    this.stop();
    this.observer.disconnect();
    this.picture.settle();
  }
}
