// What the card "On your GPU" does once it is asked: predict, run, stop, show.

import {
  MARKS,
  button,
  icon,
  make,
  markLine,
  marked,
  wordsFor,
} from "livepage/drills/page";
import { benches, words } from "livepage/gpu";

import { runCases } from "./cases.mjs";
import { Gpu } from "./device.mjs";
import { runLadder } from "./ladder.mjs";
import { casesResult, ladderResult, wgslOf } from "./result.mjs";
import { Translator } from "./translator.mjs";
import { Trouble } from "./trouble.mjs";

let running = null; // the panel that has the GPU: two would spoil each other's times

class Panel {
  constructor(card) {
    this.card = card;
    this.word = wordsFor(card.drill.section, words);
    const look = { class: "os-gpu-status", role: "status", tabindex: "-1" };
    this.status = make("p", look);
    this.body = make("div", { class: "os-gpu-body" });
    card.element.append(this.status, this.body);
    const { bench } = card.drill.data.payload;
    this.bench = bench && benches[bench.ladder];
  }

  /** Begin with a text that the simulator has passed. */
  begin(text) {
    this.text = text;
    this.say(null);
    if (this.bench) this.predict();
    else this.run();
  }

  say(key, slots = {}) {
    this.status.replaceChildren(...(key ? marked(this.word(key, slots)) : []));
  }

  label = (name) => (name === "yours" ? this.word("yours") : name);

  /** First a guess; then it is settled. */
  predict() {
    const { word } = this;
    const options = ["guessLess", "guessSome", "guessMore", "guessMost"].map((key) =>
      make(
        "label",
        { class: "os-drill-option" },
        make("input", {
          type: "radio",
          name: `${this.card.drill.id}-guess`,
          value: key,
        }),
        make("span", {}, word(key)),
      ),
    );
    const list = make("div", { class: "os-drill-options" }, ...options);
    const ask = make("legend", {}, word("guess"));
    const asked = make("fieldset", { class: "os-gpu-guess" }, ask, list);
    const go = button(word("measure"), () => {
      const guess = asked.querySelector(":checked")?.value;
      if (guess) this.run(guess);
      else this.say("guessFirst");
    });
    const actions = make("div", { class: "os-drill-actions" }, go);
    this.body.replaceChildren(asked, actions);
    asked.querySelector("input").focus();
  }

  async run(guess) {
    if (running) return this.say("otherRuns");
    running = this;
    const ender = new AbortController();
    const end = (why) => ender.abort(new Trouble(why));
    const leave = () => document.hidden && end("hidden");
    const stop = button(this.word("stop"), () => end("stopped"));
    this.end = end;
    this.card.busy(true);
    this.body.replaceChildren(make("div", { class: "os-drill-actions" }, stop));
    stop.focus();
    document.addEventListener("visibilitychange", leave);
    const opened = [];
    const found = await this.work(ender.signal, opened, guess).catch((error) => error);
    for (const one of opened) one.close();
    document.removeEventListener("visibilitychange", leave);
    const isHere = document.activeElement === stop; // or the reader is elsewhere by now
    if (found instanceof Error) this.fail(found);
    else this.show(found);
    running = this.end = null;
    this.card.busy(false);
    if (isHere) this.status.focus({ preventScroll: true });
    return undefined;
  }

  async work(signal, opened, guess) {
    const { word, label, text } = this;
    const { payload } = this.card.drill.data;
    const say = (...said) => this.say(...said);
    say("opens");
    const gpu = await Gpu.open(signal);
    opened.push(gpu);
    const translator = await Translator.open(signal);
    opened.push(translator);
    const run = { gpu, translator, say, label, word };
    if (!this.bench) {
      return casesResult(word, gpu, await runCases(run, text, payload));
    }
    const found = await runLadder(run, text, payload, this.bench);
    return ladderResult({ word, gpu, label }, { ...found, guess });
  }

  show({ said, parts }) {
    this.say(...said);
    this.status.prepend(icon(MARKS.right));
    this.body.replaceChildren(...parts);
  }

  /** One sentence; the page and the simulator go on. */
  fail(error) {
    const isKnown = error instanceof Trouble;
    const { word, slots, line, wgsl } = isKnown
      ? error
      : { word: "unknown", slots: { message: String(error.message ?? error) } };
    this.say(word, slots);
    this.body.replaceChildren(...(wgsl ? [wgslOf(this.word, wgsl)] : []));
    if (line) markLine(this.card.drill.gutter, line, slots.cause);
  }

  /** The text is another one now: what was found is about the old one. */
  forget() {
    this.end?.("stopped");
    this.body.replaceChildren();
    this.say(null);
  }
}

globalThis.livepageGpu = { open: (card) => new Panel(card) };
