// The card "On your GPU" under a kernel. What runs there is fetched when a reader asks.

import { button } from "./progress.mjs";
import { HOME, loadScript } from "./python.mjs";
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
    this.note = make("p", { class: "os-drill-how", id: `${id}-note` });
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
    if (text !== this.text) this.panel?.forget();
    this.text = text;
    this.draw();
  }

  /** A text that was changed has to be passed anew. */
  check() {
    if (this.text !== this.drill.handler.read(this.drill)) this.judged(null);
  }

  busy(isBusy) {
    this.isBusy = isBusy;
    this.draw();
  }

  draw() {
    const { word, data } = this.drill;
    const isReady = this.text !== null;
    this.element.hidden = !isReady && !data.payload.bench;
    const key = isReady ? "onGpuReady" : "onGpuNotYet";
    this.note.textContent = word(key);
    this.start.setAttribute("aria-disabled", String(!isReady || this.isBusy));
  }

  async press() {
    this.check();
    if (this.text === null || this.isBusy) return;
    try {
      await load();
    } catch {
      this.note.textContent = this.drill.word("onGpuMissing");
      return;
    }
    if (this.text === null) return; // changed while it was fetched
    this.panel ??= globalThis.livepageGpu.open(this);
    this.panel.begin(this.text);
  }
}

/** Fetch the runner and its style. */
async function load() {
  if (globalThis.livepageGpu) return;
  const style = make("link", { rel: "stylesheet", href: `${HOME}gpu.css` });
  document.head.append(style);
  await loadScript(`${HOME}gpu.js`);
}
