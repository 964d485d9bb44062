// The model writes with a reader's kernel: one query of each head, in the first of n rows.

import { make, show } from "livepage/drills/page";
import { model } from "livepage/loaded";

const { sizes, vocabulary, layers, definition } = model;
const { width, heads, context } = sizes;
const d = width / heads;
const LAUNCHES = heads * layers.length; // for a token
const PROMPT = { simulator: "The largest score", gpu: "The maximum" };
const LENGTH = 60; // tokens of a paragraph
const HEAT = 0.6;
const ROUNDING = 1e-3; // of logits: float32, through all layers
const LIKELIEST = 5;

// A tile of the simulator is small, as in the drill: its threads take turns.
export const ways = {
  simulator: { names: { BR: 8, BC: 4, D: d }, device: "simulator", run: oneToken },
  gpu: { names: { BR: 32, BC: 16, D: d }, device: "gpu", run: paragraph },
};

// ---- the model, with an attention that takes its time --------------------------------

class Text {
  constructor() {
    this.kvCache = layers.map(() => []);
    this.position = 0;
    this.logits = null;
  }

  /** Read one token; `attend` gives what all heads find for a query. */
  async read(token, attend) {
    let x = model.embedded(token);
    for (const [i, layer] of layers.entries()) {
      const one = model.asked(layer, x, this.position);
      this.kvCache[i] = [...this.kvCache[i], one].slice(-context);
      x = model.fed(layer, x, await attend(one.q, this.kvCache[i]));
    }
    this.position += 1;
    this.logits = model.logitsOf(x);
  }
}

/** A text that has read all of a prompt but its last token, by the definition. */
async function begun(before) {
  const text = new Text();
  for (const token of before) await text.read(token, definition);
  return text;
}

/** The attention of all heads, each one launch of a kernel. */
function byKernel({ launch, names }) {
  return async (q, rows) => {
    const cases = Array.from({ length: heads }, (_, h) => caseOf(q, rows, h, names));
    const seen = new Float64Array(width);
    for (const [h, { O }] of (await launch(cases)).entries()) {
      seen.set(O.slice(0, d), h * d);
    }
    return seen;
  };
}

/** The launch for one head. The kernel has as many queries as keys: one is asked. */
function caseOf(q, rows, head, names) {
  const n = rows.length;
  const part = (x) => Array.from(x.slice(head * d, (head + 1) * d));
  const nobody = Array(d).fill(0);
  const args = [
    ["Q", "floats", rows.map((_, i) => (i ? nobody : part(q)))],
    ["K", "floats", rows.map(({ k }) => part(k))],
    ["V", "floats", rows.map(({ v }) => part(v))],
    ["O", "out", [n, d]],
    ["n", "number", n],
    ["scale", "number", d ** -0.5],
  ];
  return { names, grid: [Math.ceil(n / names.BR), 1], block: [names.BR, 1], args };
}

// ---- what comes of it ----------------------------------------------------------------

const noNumbers = (logits) => logits.filter(Number.isNaN).length;
const off = (mine, right) => Math.max(...mine.map((x, i) => Math.abs(x - right[i])));
const named = (token) => vocabulary[token].replace("\n", "¶");
const shown = (token) => named(token).replaceAll(" ", "␣");
const likeliest = (logits) => model.sample(logits, 0);

/** One token on the simulator, beside the definition's. */
async function oneToken(at) {
  const { word, say, shows, tick } = at;
  const prompt = PROMPT.simulator;
  say("reads", { prompt, all: LAUNCHES });
  const bar = make("progress", {
    max: LAUNCHES,
    value: 0,
    "aria-label": word("progress"),
  });
  shows(bar);
  tick.launched = () => {
    bar.value += 1;
  };
  const tokens = model.tokenize(prompt);
  const last = tokens.pop();
  const [own, right] = [await begun(tokens), await begun(tokens)];
  await own.read(last, byKernel(at));
  await right.read(last, definition);
  bar.remove();
  return {
    said: word(...verdict(own.logits, right.logits)),
    parts: [table(word, own, right)],
  };
}

function verdict(mine, right) {
  const all = vocabulary.length;
  const slots = { all, right: named(likeliest(right)), off: show(off(mine, right), 2) };
  const count = noNumbers(mine);
  if (count) return ["tokenNone", { ...slots, count }];
  const isNear = off(mine, right) <= ROUNDING;
  const isSame = likeliest(mine) === likeliest(right);
  const words = isSame ? ["tokenRight", "tokenOff"] : ["tokenNear", "tokenOther"];
  return [words[isNear ? 0 : 1], { ...slots, token: named(likeliest(mine)) }];
}

/** The likeliest tokens with their probabilities, for both. */
function table(word, ...texts) {
  const columns = texts.map(({ logits }) => ranked(logits));
  const head = ["rank", "byKernel", "byDefinition"].map((key) =>
    make("th", { scope: "col" }, word(key)),
  );
  const cell = (found) => make("td", {}, found ? word("chance", found) : "NaN");
  const rows = Array.from({ length: LIKELIEST }, (_, i) => {
    const cells = columns.map((column) => cell(column[i]));
    return make("tr", {}, make("th", { scope: "row" }, String(i + 1)), ...cells);
  });
  const caption = word("likeliest", { prompt: PROMPT.simulator });
  return make(
    "table",
    { class: "os-drill-table" },
    make("caption", {}, caption),
    make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...rows),
  );
}

function ranked(logits) {
  if (noNumbers(logits)) return [];
  const most = Math.max(...logits);
  const terms = Array.from(logits, (x) => Math.exp(x - most));
  const sum = terms.reduce((a, b) => a + b);
  const order = terms.map((_, i) => i).sort((a, b) => terms[b] - terms[a]);
  const chance = (i) => show((100 * terms[i]) / sum, 3);
  return order.slice(0, LIKELIEST).map((i) => ({ token: shown(i), chance: chance(i) }));
}

let seed = 0; // each paragraph is another one

/** A paragraph on a GPU; the definition writes it too, and they are compared. */
async function paragraph(at) {
  const { word, say, shows, gpu } = at;
  const prompt = PROMPT.gpu;
  if (gpu.isSoftware) shows(make("p", {}, word("software")));
  say("writes", { all: LENGTH, name: gpu.name, launches: LAUNCHES });
  seed += 1;
  const page = make("p", { class: "os-use-text", lang: "en" }, make("b", {}, prompt));
  shows(page);
  const tokens = model.tokenize(prompt);
  const last = tokens.pop();
  const [own, right] = [await begun(tokens), await begun(tokens)];
  const found = { n: 0, worst: 0, ms: 0, parted: null, broken: 0 };
  await writes(at, { own, right, last, page, found });
  const { n, ms, parted } = found;
  const parts = parted ? [other(word, prompt, found)] : [];
  const slots = { name: gpu.name, n, rate: show((1000 * n) / ms, 2), ...told(found) };
  return { said: word(outcome(found), slots), parts };
}

async function writes(at, { own, right, last, page, found }) {
  const attend = byKernel(at);
  const draws = model.uniform(seed);
  let [mine, its] = [last, last];
  found.definition = "";
  for (; found.n < LENGTH; found.n += 1) {
    const start = performance.now();
    await own.read(mine, attend);
    found.ms += performance.now() - start;
    await right.read(its, definition);
    found.broken = noNumbers(own.logits);
    if (found.broken) return;
    const draw = draws.next().value;
    [mine, its] = [own, right].map(({ logits }) => model.sample(logits, HEAT, draw));
    if (!found.parted) compare(found, own, right, [mine, its]);
    found.definition += vocabulary[its];
    page.append(found.parted ? make("mark", {}, vocabulary[mine]) : vocabulary[mine]);
  }
}

/** As long as both have read the same, their logits can be compared. */
function compare(found, own, right, [mine, its]) {
  const far = off(own.logits, right.logits);
  found.worst = Math.max(found.worst, far);
  if (mine !== its)
    found.parted = { place: found.n + 1, own: mine, right: its, off: far };
}

function outcome({ broken, parted, worst }) {
  if (broken) return "noNumbers";
  if (parted) return parted.off <= ROUNDING ? "partsNear" : "partsWrong";
  return worst <= ROUNDING ? "same" : "sameOff";
}

function told({ broken, parted, worst }) {
  const slots = { count: broken, all: vocabulary.length, off: show(worst, 2) };
  if (!parted) return slots;
  const [own, right] = [named(parted.own), named(parted.right)];
  return { ...slots, place: parted.place, own, right, off: show(parted.off, 2) };
}

function other(word, prompt, { definition: text }) {
  const caption = make("p", { class: "os-drill-caption" }, word("byDefinition"));
  const look = { class: "os-use-text", lang: "en" };
  return make("div", {}, caption, make("p", look, make("b", {}, prompt), text));
}
