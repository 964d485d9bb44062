// A reader's kernel, put to a use that the book has for it, besides the drill it is from.

import {
  button,
  inLanguage,
  make,
  runPython,
  sentence,
  store,
  wordsFor,
} from "livepage/drills/page";

import { argument, jobOf } from "./cases.mjs";
import { Gpu } from "./device.mjs";
import { Panel } from "./panel.mjs";
import { wgslOf } from "./result.mjs";
import { define, openSimulator, simulate } from "./simulator.mjs";
import { launchAll } from "./together.mjs";
import { openTranslator, prepare } from "./translator.mjs";
import { Trouble, unless } from "./trouble.mjs";

const TEXT_IS_AT_FAULT = ["notPassed", "noNames"];

export class UsePanel extends Panel {
  isTimed = false;

  /** `use` is what the book has for it: the drill, its own kernel, and what is done. */
  constructor(section, use, busy) {
    super(section, section, busy);
    this.use = use;
    this.section = section;
    this.drillWord = wordsFor(section);
    this.passed = new Set(); // texts that the simulator has passed since the page came
  }

  async work(signal, opened, { way, book }) {
    const { names, device, run } = this.use.ways[way];
    const kernel = await this.kernel(signal, book);
    const simulator = await openSimulator(signal);
    opened.push(simulator);
    const named = { text: kernel.text, name: this.use.payload.function, names };
    const missing = await define(simulator, named);
    if (missing.length) throw new Trouble("noNames", { names: missing.join(", ") });
    const at = this.around(kernel);
    const open = device === "gpu" ? this.onGpu(signal, opened, named) : null;
    const { gpu, launch } = (await open) ?? this.onSimulator(simulator, at);
    return run({ ...at, gpu, launch, names, signal });
  }

  /** The reader's text, if the simulator passes it as it stands now; or the book's. */
  async kernel(signal, book) {
    const { code, payload, drill } = this.use;
    const text = store.get(drill).code;
    if (book || text === undefined) return { text: code, whose: "bookKernel" };
    if (!this.passed.has(text)) {
      this.say("passesAnew");
      const report = await unless(signal, runPython(payload, text));
      if (!report.passed) {
        const slots = await inLanguage(this.drillWord, report.slots);
        const why = sentence(this.drillWord, report.word, slots);
        throw new Trouble("notPassed", { why });
      }
      this.passed.add(text);
    }
    return { text, whose: "yourKernel" };
  }

  /** What the book's module works with, whatever launches the kernel. */
  around({ whose }) {
    const words = wordsFor(this.section, this.use.words);
    const kernel = this.word(whose);
    const word = (key, slots = {}) => words(key, { kernel, ...slots });
    const shows = (...parts) => this.body.append(...parts);
    const say = (...said) => this.status.replaceChildren(word(...said));
    const tick = { launched() {} };
    return { word, shows, say, tick };
  }

  onSimulator(simulator, { tick }) {
    const told = { drillWord: this.drillWord, launched: () => tick.launched() };
    return { launch: (cases) => simulate(simulator, cases, told) };
  }

  async onGpu(signal, opened, { text, name }) {
    this.say("opens");
    const gpu = await Gpu.open(signal, this.word("unnamed"));
    opened.push(gpu);
    const translator = await openTranslator(signal);
    opened.push(translator);
    let kernel = null;
    const launch = async (cases) => {
      const lists = cases.map(({ args }) => args.map(argument));
      const job = jobOf(text, name, cases[0], lists[0]);
      kernel ??= await prepare(gpu, translator, job);
      return launchAll({ gpu, translator }, kernel, cases[0].grid, lists);
    };
    return { gpu, launch };
  }

  show({ said, parts = [] }) {
    this.status.replaceChildren(said);
    this.body.querySelector(".os-drill-actions").remove();
    this.body.append(...parts);
  }

  fail(error) {
    const written = [...this.body.children].slice(1); // what was shown stays
    super.fail(error);
    if (TEXT_IS_AT_FAULT.includes(error.word)) {
      const take = button(this.word("takeBook"), () =>
        this.run({ ...this.asked, book: true }),
      );
      written.push(make("div", { class: "os-drill-actions" }, take));
    }
    this.body.append(
      ...written,
      ...(error.wgsl ? [wgslOf(this.word, error.wgsl)] : []),
    );
  }

  begin(way) {
    this.asked = { way };
    this.say(null);
    return this.run(this.asked);
  }
}
