// What the card "On your GPU" does once it is asked: predict, run, stop, show.

import { MARKS, button, icon, make, markLine } from "livepage/drills/page";
import { benches } from "livepage/gpu";

import { runCases } from "./cases.mjs";
import { Gpu } from "./device.mjs";
import { runLadder } from "./ladder.mjs";
import { Panel } from "./panel.mjs";
import { casesResult, ladderResult, wgslOf } from "./result.mjs";
import { openTranslator } from "./translator.mjs";
import { UsePanel } from "./use.mjs";

class CardPanel extends Panel {
  constructor(card) {
    super(card.drill.section, card.element, (isBusy) => card.busy(isBusy));
    this.card = card;
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
    this.lead(asked.querySelector("input"));
  }

  async work(signal, opened, guess) {
    const { word, label, text } = this;
    const { payload } = this.card.drill.data;
    const say = (...said) => this.say(...said);
    say("opens");
    const gpu = await Gpu.open(signal, this.word("unnamed"));
    opened.push(gpu);
    const translator = await openTranslator(signal);
    opened.push(translator);
    const run = { gpu, translator, say, label, word };
    if (!this.bench) {
      return casesResult(word, gpu, await runCases(run, text, payload));
    }
    const found = await runLadder(run, text, payload, this.bench);
    return ladderResult({ word, gpu, label }, { ...found, guess });
  }

  show(found) {
    super.show(found);
    this.status.prepend(icon(MARKS.right));
  }

  fail(error) {
    super.fail(error);
    const { line, wgsl, slots } = error;
    this.body.replaceChildren(...(wgsl ? [wgslOf(this.word, wgsl)] : []));
    if (line) markLine(this.card.drill.gutter, line, slots.cause);
  }
}

globalThis.livepageGpu = {
  open: (card) => new CardPanel(card),
  use: (...given) => new UsePanel(...given),
};
