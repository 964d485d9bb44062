// What runs once it is asked: it says how far it is, can be stopped, shows what it found.

import { button, inLanguage, make, marked, wordsFor } from "livepage/drills/page";
import { words } from "livepage/gpu";

import { Trouble } from "./trouble.mjs";

let running = null; // the panel that has the GPU: two would spoil each other's times

/** A message within a sentence, which has a full stop of its own. */
const clause = (message) => String(message).replace(/\.$/, "");

export class Panel {
  isTimed = true; // so it ends with the tab's being shown: a hidden one is slowed down

  /** `work(signal, opened, asked)` does it; `busy` is told when it begins and ends. */
  constructor(section, element, busy) {
    this.element = element;
    this.busy = busy;
    this.word = wordsFor(section, words);
    const look = { class: "os-gpu-status", role: "status", tabindex: "-1" };
    this.status = make("p", look);
    this.body = make("div", { class: "os-gpu-body" });
    element.append(this.status, this.body);
  }

  say(key, slots = {}) {
    this.status.replaceChildren(...(key ? marked(this.word(key, slots)) : []));
  }

  /** Bring the keyboard to what comes next, unless the reader has gone elsewhere. */
  lead(control) {
    const at = document.activeElement;
    if (at === document.body || this.element.contains(at)) control.focus();
  }

  async run(asked) {
    if (running) return this.say("otherRuns");
    running = this;
    const ender = new AbortController();
    const end = (why) => ender.abort(new Trouble(why));
    const leave = () => this.isTimed && document.hidden && end("hidden");
    const stop = button(this.word("stop"), () => end("stopped"));
    this.end = end;
    this.busy(true);
    this.body.replaceChildren(make("div", { class: "os-drill-actions" }, stop));
    this.lead(stop);
    document.addEventListener("visibilitychange", leave);
    const opened = [];
    const told = await this.work(ender.signal, opened, asked).then(
      (found) => () => this.show(found),
      (error) => this.readable(error ?? new Error("?")),
    );
    for (const one of opened) one.close();
    document.removeEventListener("visibilitychange", leave);
    const isHere = document.activeElement === stop; // or the reader is elsewhere by now
    running = this.end = null; // first: should that fail, the next run begins all the same
    this.busy(false);
    told();
    if (isHere) this.status.focus({ preventScroll: true });
    return undefined;
  }

  show({ said, parts }) {
    this.say(...said);
    this.body.replaceChildren(...parts);
  }

  /** Give what tells of an error, with its words in the language of the page. */
  async readable(error) {
    if (error instanceof Trouble) {
      error.slots = await inLanguage(this.word, error.slots);
    }
    return () => this.fail(error);
  }

  /** One sentence; the page and the simulator go on. */
  fail(error) {
    const isKnown = error instanceof Trouble;
    const { word, slots } = isKnown
      ? error
      : { word: "unknown", slots: { message: clause(error.message ?? error) } };
    this.say(word, slots);
    this.body.replaceChildren();
  }

  /** What was found is about another text. */
  forget() {
    this.end?.("stopped");
    this.body.replaceChildren();
    this.say(null);
  }
}
