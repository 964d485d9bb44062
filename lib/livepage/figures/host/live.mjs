// A live figure: it holds the state, and shows it in all parts of the figure.

import * as kinds from "livepage/kinds";

import { same } from "./address.mjs";
import { wake } from "./controls.mjs";
import { draggable } from "./drag.mjs";
import { code, frame, table } from "./frame.mjs";
import { gate } from "./gate.mjs";
import { stills } from "./stills.mjs";
import { marked, plain } from "./text.mjs";
import { calm, Picture } from "./motion.mjs";

const WIDE = 600; // CSS px; a narrower stage gets the narrow drawing
const REST = 200; // ms without a change: what takes longer than a frame may begin
const TOLD = 5000; // ms between two sentences to a listener while a figure plays

const written = new WeakMap(); // box → the words last put there

/** New words in a box; the quantities that are lit there stay lit. */
function rewrite(box, html) {
  if (written.get(box) === html) return;
  written.set(box, html);
  const lit = new Set(
    [...box.querySelectorAll(".q-on")].map(({ dataset }) => dataset.q),
  );
  box.innerHTML = html;
  for (const q of lit) {
    for (const part of box.querySelectorAll(`[data-q="${q}"]`))
      part.classList.add("q-on");
  }
}

/** A box keeps the height it once had, so that what stands below it does not jump. */
function keepRoom(box) {
  const height = box.offsetHeight;
  if (height > (parseFloat(box.style.minHeight) || 0))
    box.style.minHeight = `${height}px`;
}

export class Live {
  /** `figure` is { spec, words, ui, compute, draw, say, table, code }, and `bring` where
   *  something has to be loaded first: until then the still stands. */
  constructor(root, id, figure, overrides = {}) {
    Object.assign(this, { root, id, overrides }, figure);
    this.here = !figure.bring;
    const defaults = this.spec.controls.map((each) => [each.name, each.default]);
    this.opening = { ...Object.fromEntries(defaults), ...overrides };
    this.take(this.opening);
    this.listeners = new Set();
    this.set = this.set.bind(this);
    this.stop = this.stop.bind(this);
    this.setUp();
    this.render(false);
    gate(root, this, () => {
      const waited = this.waiting;
      this.locked = false;
      if (waited) this.render(false);
      this.unlocked?.();
    });
  }

  /** Put the frame into the page if it is not there, and wake what is in it. */
  setUp() {
    this.locked = Boolean(this.spec.prediction);
    if (!this.root.querySelector(".os-stage"))
      this.root.innerHTML = frame(this.spec, this.words, this.ui, this.parts());
    const part = (name) => this.root.querySelector(`.os-${name}`);
    this.at = {
      stage: part("stage"),
      say: part("say"),
      aside: part("aside"),
      reset: part("reset"),
      code: part("code"),
      table: part("table"),
    };
    this.picture = new Picture(this.at.stage);
    this.refresh = wake(this.root, this);
    draggable(this.at.stage, this);
    this.at.reset.onclick = () => {
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
    const { state, numbers, words } = this;
    return {
      stills: stills(this, state),
      stage: "",
      sentence: this.say(state, numbers, words, this.waiting),
      code: this.code?.(state, numbers, words),
      table: this.table(state, numbers, words),
    };
  }

  /** Whether the prediction is still to come; on paper nothing comes. */
  get waiting() {
    return this.locked && !this.onScreen;
  }

  /** Change some controls; `moving` says whether the picture glides. */
  set(changes, moving = false) {
    const before = this.state;
    const asked = this.fitted({ ...before, ...changes });
    if (!this.soon(asked)) return this.putOff(asked, moving);
    if (!this.take(asked)) return this.refresh();
    this.render(moving && !calm(), before);
    this.tell(before);
  }

  tell(before) {
    for (const listen of this.listeners) listen(this.state, before);
  }

  /** Whether the numbers of a state are there within a frame. */
  soon(state) {
    return this.here && (this.isShown(state) || (this.quick?.(state) ?? true));
  }

  /** The controls go on, and the picture follows once the hand rests. */
  putOff(asked, moving) {
    const before = this.state;
    this.state = asked;
    this.refresh();
    clearTimeout(this.late);
    const rest = moving ? 0 : REST;
    this.late = setTimeout(() => this.catchUp(moving, before), rest);
    if (!this.isAt(before)) this.tell(before);
  }

  async catchUp(moving = false, before = this.state) {
    if (!this.here && !(await this.brought())) return;
    if (this.take(this.state)) this.render(moving && !calm(), before);
  }

  /** Load what is missing; if that fails, say so, and the next change tries again. */
  async brought() {
    rewrite(this.at.say, marked(this.ui.loading));
    try {
      Object.assign(this, await this.bring());
      this.here = true;
    } catch {
      this.stop();
      this.late = null;
      rewrite(this.at.say, marked(this.ui.missing));
      this.announce(this.ui.missing);
    }
    return this.here;
  }

  /** The reader has run a kernel: show what it did, but not before the prediction. */
  hearOf(run) {
    const { log, ...changes } = this.hear(run);
    this.opening = { ...this.opening, log }; // a reset keeps it
    const show = () => this.set({ ...changes, log }, true);
    if (this.locked) this.unlocked = show;
    else show();
  }

  /** Take over a state, as near as the controls allow, and compute its numbers; returns
   *  whether it differs from the old one. */
  take(wanted) {
    clearTimeout(this.late);
    this.late = null;
    const asked = this.fitted(wanted);
    if (this.isShown(asked)) return false;
    let numbers = this.compute(asked);
    const allowed = this.within(asked, numbers);
    if (allowed !== asked) {
      if (this.isShown(allowed)) return false;
      numbers = this.compute(allowed);
    }
    [this.state, this.numbers] = [allowed, numbers];
    this.shown = this.here && allowed;
    return true;
  }

  isAt(state, now = this.state) {
    return now && this.spec.controls.every(({ name }) => same(state[name], now[name]));
  }

  /** Whether the numbers are those of a state, and the controls too. */
  isShown(state) {
    return this.isAt(state) && this.isAt(state, this.shown);
  }

  /** Every control within its bounds, and in agreement with the others; an impossible
   *  value changes nothing. */
  fitted(wanted) {
    const fitted = (control) =>
      kinds[control.kind].fit(control, wanted[control.name]) ??
      this.state?.[control.name] ??
      control.default;
    const asked = Object.fromEntries(
      this.spec.controls.map((each) => [each.name, fitted(each)]),
    );
    return this.reconcile?.(asked, this.state) ?? asked;
  }

  /** The state with no count of steps beyond the last one; itself if none is. */
  within(state, numbers) {
    const beyond = this.spec.controls.filter(
      ({ kind, name }) => state[name] > (kinds[kind].last?.(numbers) ?? Infinity),
    );
    if (beyond.length === 0) return state;
    const ends = beyond.map(({ kind, name }) => [name, kinds[kind].last(numbers)]);
    return { ...state, ...Object.fromEntries(ends) };
  }

  render(moving, was = null) {
    if (!this.here) return this.refresh();
    const { state, numbers, words, waiting } = this;
    const sentence = this.say(state, numbers, words, waiting);
    const view = {
      wide: this.wide,
      words,
      title: plain(sentence),
      was: moving ? was : null,
      live: true,
      waiting,
    };
    this.picture.show(this.draw(state, numbers, view), moving);
    this.refresh();
    const news = sentence !== this.sentence;
    this.sentence = sentence;
    if (news) rewrite(this.at.say, marked(sentence));
    if (this.at.code) rewrite(this.at.code, code(this.code(state, numbers, words)));
    if (!this.at.table.hidden) this.fillTable();
    if (was && news) this.announce(plain(sentence));
  }

  fillTable() {
    rewrite(this.at.table, table(this.table(this.state, this.numbers, this.words)));
  }

  /** Tell screen readers the sentence, once the reader has stopped moving things. */
  announce(sentence) {
    clearTimeout(this.speaking);
    const say = () => {
      this.spoke = performance.now();
      this.at.aside.textContent = sentence;
    };
    // Quick steps would put it off to the end of them all.
    if (this.playing && performance.now() - this.spoke > TOLD) say();
    else this.speaking = setTimeout(say, 300);
  }

  showTable(button) {
    const { table: box } = this.at;
    box.hidden = !box.hidden;
    button.setAttribute("aria-expanded", !box.hidden);
    if (!box.hidden && this.here) this.fillTable();
  }

  /** Step forward until the end; at the end, start again from the beginning. */
  play(name) {
    if (this.state[name] >= this.numbers.steps) this.set({ [name]: 0 });
    this.run(() => {
      const steps = setInterval(() => this.forward(name), this.spec.pace);
      return () => clearInterval(steps);
    });
    this.forward(name);
  }

  /** Begin what moves by itself: `begin` returns what ends it. */
  run(begin) {
    this.spoke = performance.now();
    this.playing = begin();
    this.refresh();
  }

  forward(name) {
    this.set({ [name]: this.state[name] + 1 }, true);
    if (this.state[name] >= this.numbers.steps) this.stop();
  }

  stop() {
    this.playing?.();
    this.playing = null;
    this.refresh();
  }

  watchSize() {
    const { stage } = this.at;
    const grow = [this.at.say, this.at.code].filter(Boolean);
    const wide = () => stage.clientWidth >= WIDE;
    this.wide = wide();
    const fit = () => {
      if (this.onScreen) return;
      grow.forEach(keepRoom);
      if (this.wide === wide()) return;
      for (const box of grow) box.style.minHeight = "";
      this.layOut(wide());
      this.render(false);
    };
    // What is resized while the observer tells is told as an error: so a frame later.
    this.observer = new ResizeObserver(() => requestAnimationFrame(fit));
    for (const box of [stage, ...grow]) this.observer.observe(box);
  }

  /** Take the drawing for another width; none of the old one's elements stay. */
  layOut(wide) {
    if (this.wide !== wide && this.here) this.at.stage.replaceChildren();
    this.wide = wide;
  }

  /** Print what is on the screen, drawn wide; if nobody touched the figure, its still. */
  toPaper() {
    if (!this.here) return; // its still stands
    this.onScreen = { state: this.state, wide: this.wide };
    this.layOut(true);
    const still = { ...this.opening, ...this.spec.still, ...this.overrides };
    this.take(this.isAt(this.opening) ? still : this.state);
    this.render(false);
    this.fillTable();
  }

  fromPaper() {
    if (!this.onScreen) return;
    this.layOut(this.onScreen.wide);
    this.take(this.onScreen.state);
    this.onScreen = null;
    this.render(false);
  }

  /** Call `listen(state, before)` after every change; returns what stops that. */
  on(listen) {
    this.listeners.add(listen);
    return () => this.listeners.delete(listen);
  }

  leave() {
    this.stop();
    clearTimeout(this.late);
    this.observer.disconnect();
    this.picture.settle();
  }
}
