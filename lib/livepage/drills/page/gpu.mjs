// The card "On your GPU" under a kernel. What runs there is fetched when a reader asks.

import { button } from "./progress.mjs";
import { HOME, loadScript, loadStyle } from "./python.mjs";
import { make } from "./words.mjs";

export class GpuCard {
  constructor(drill) {
    const { word } = drill;
    this.drill = drill;
    this.text = null; // what the simulator has just passed
    this.panel = null;
    this.isBusy = false;
    const id = `${drill.section.id}-gpu`;
    const title = make("p", { id }, make("strong", {}, word("onGpu")));
    const look = { class: "os-drill-how", id: `${id}-note`, role: "status" };
    this.note = make("p", look);
    this.start = button(word("runOnGpu"), () => this.press());
    this.start.setAttribute("aria-describedby", this.note.id);
    const actions = make("div", { class: "os-drill-actions" }, this.start);
    const around = { class: "os-gpu", role: "group", "aria-labelledby": id };
    this.element = make("div", around, title, this.note, actions);
    drill.form.after(this.element);
    for (const kind of ["input", "change"]) {
      drill.form.addEventListener(kind, () => this.check());
    }
    this.draw();
  }

  /** The simulator has passed a text, or has found a fault in it: null. */
  judged(text) {
    const passed = text === this.drill.handler.read(this.drill) ? text : null;
    if (passed !== this.text) this.panel?.forget();
    this.text = passed;
    this.draw();
  }

  /** A text that was changed has to be passed anew, whoever changed it. */
  check() {
    this.judged(this.text);
  }

  busy(isBusy) {
    this.isBusy = isBusy;
    this.draw();
  }

  draw() {
    const { word, data } = this.drill;
    const isReady = this.text !== null;
    this.element.hidden = !isReady && !data.payload.bench;
    this.tell(word(isReady ? "onGpuReady" : "onGpuNotYet"));
    this.start.setAttribute("aria-disabled", String(!isReady || this.isBusy));
  }

  /** Say something beside the button, once: what is said anew is read out anew. */
  tell(text) {
    if (this.note.textContent !== text) this.note.textContent = text;
  }

  async press() {
    this.check();
    if (this.text === null || this.isBusy) return;
    this.busy(true); // who presses twice is answered once
    const isThere = await loadGpu().then(
      () => true,
      () => false,
    );
    this.busy(false);
    if (!isThere) return this.tell(this.drill.word("onGpuMissing"));
    if (this.text === null) return undefined; // changed while it was fetched
    this.panel ??= globalThis.livepageGpu.open(this);
    return this.panel.begin(this.text);
  }
}

/** Fetch the runner and its style. */
export async function loadGpu() {
  await loadStyle(`${HOME}gpu.css`);
  await loadScript(`${HOME}gpu.js`, () => globalThis.livepageGpu);
}
