// What came of a run on the GPU, as elements: sentences, bars, a table, and a text to copy.

import { button, make, show } from "livepage/drills/page";

const GUESSES = { guessLess: 1, guessSome: 2, guessMore: 5, guessMost: Infinity };

/** What came of a drill's cases. */
export function casesResult(word, gpu, { count, worst, wgsl }) {
  const slots = { n: count, name: gpu.name, off: show(worst, 2) };
  const parts = gpu.isSoftware ? [note(word("software"))] : [];
  return { said: ["casesRight", slots], parts: [...parts, wgslOf(word, wgsl)] };
}

/** What came of the ladder. */
export function ladderResult({ word, gpu, label }, found) {
  const yours = found.rows.find(({ name }) => name === "yours");
  const naive = found.rows.find(({ name }) => name === "naive");
  const slots = { name: gpu.name, off: show(yours.off, 2), n: found.n };
  const ratio = show(naive.ms / yours.ms, 2);
  const told = { word, gpu, label, found, naive };
  const parts = [
    ...(gpu.isSoftware ? [note(`${word("software")} ${word("softwareTimes")}`)] : []),
    note(settled(told)),
    bars(told),
    table(told),
    ...found.refused.map((rung) => small(refusal(told, rung))),
    copier(told),
    reasons(word),
    wgslOf(word, found.wgsl),
  ];
  return { said: ["ladderRight", { ...slots, ratio }], parts };
}

const note = (text) => make("p", {}, text);
const small = (text) => make("p", { class: "os-drill-how" }, text);

/** The guess, beside what was measured. */
function settled({ word, found, naive }) {
  const tiled = found.rows.find(({ name }) => name === "tiled");
  if (!tiled) return word("noTiled");
  const ratio = naive.ms / tiled.ms;
  const key = Object.keys(GUESSES).find((each) => ratio <= GUESSES[each]);
  const slots = { guess: word(found.guess), ratio: show(ratio, 2) };
  return word(key === found.guess ? "guessRight" : "guessWrong", slots);
}

const refusal = ({ word, label }, { name, word: why, slots }) =>
  word("unfit", { name: label(name), why: word(why, slots) });

/** Bars as long as the rates, for the eye; the table says the same. */
function bars({ word, label, found }) {
  const most = Math.max(...found.rows.map(({ rate }) => rate));
  const rows = found.rows.map(({ name, rate }) => {
    const bar = make("span", { class: "os-gpu-bar" });
    bar.style.inlineSize = `${(100 * rate) / most}%`;
    const track = make("span", { class: "os-gpu-track" }, bar);
    const value = make("span", { class: "os-gpu-rate" }, show(rate, 3));
    const look = name === "yours" ? "os-gpu-row os-gpu-yours" : "os-gpu-row";
    return make("div", { class: look }, make("span", {}, label(name)), track, value);
  });
  const title = make("p", { class: "os-drill-caption" }, word("rates"));
  return make("div", { class: "os-gpu-bars", "aria-hidden": "true" }, title, ...rows);
}

const COLUMNS = ["kernel", "tile", "ms", "rate", "share", "times"];

/** The table's rows as texts. */
function cells({ word, label, found, naive }) {
  return found.rows.map(({ name, tile, ms, rate }) => [
    label(name),
    tile && tile[1] > 1 ? tile.join(" × ") : "–",
    show(ms, 3),
    show(rate, 3),
    word("percent", { n: show((100 * rate) / found.roof, 2) }),
    `× ${show(naive.ms / ms, 2)}`,
  ]);
}

function table(told) {
  const { word, gpu, label, found } = told;
  const heads = COLUMNS.map((key) => make("th", { scope: "col" }, word(`col_${key}`)));
  const rows = cells(told).map(([first, ...rest]) =>
    make(
      "tr",
      { class: first === label("yours") && "os-gpu-mine" },
      make("th", { scope: "row" }, first),
      ...rest.map((text) => make("td", {}, text)),
    ),
  );
  const caption = word("caption", { n: found.n, name: gpu.name });
  const made = make(
    "table",
    { class: "os-drill-table", "aria-label": caption },
    make("thead", {}, make("tr", {}, ...heads)),
    make("tbody", {}, ...rows),
  );
  const around = { class: "os-drill-scroll", tabindex: "0", role: "group" };
  const roof = small(word("roof", { rate: show(found.roof, 3) }));
  const how = small(word("how", found));
  const scrolled = make("div", { ...around, "aria-label": caption }, made);
  const title = make(
    "p",
    { class: "os-drill-caption", "aria-hidden": "true" },
    caption,
  );
  return make("div", {}, title, scrolled, roof, how);
}

/** All of it as lines of text. */
function asText(told) {
  const { word, gpu, found } = told;
  const lines = [COLUMNS.map((key) => word(`col_${key}`)), ...cells(told)];
  return [
    word("caption", { n: found.n, name: gpu.name }),
    ...(gpu.isSoftware ? [word("software"), word("softwareTimes")] : []),
    ...lines.map((line) => line.join("\t")),
    ...found.refused.map((rung) => refusal(told, rung)),
    word("roof", { rate: show(found.roof, 3) }),
    navigator.userAgent,
  ].join("\n");
}

/** A button that copies it; where the browser forbids that, the text stands there. */
function copier(told) {
  const { word } = told;
  const said = make("span", { class: "os-drill-quiet", role: "status" });
  const text = asText(told);
  const around = make("div", {});
  const copy = button(word("copy"), async () => {
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = word("copied");
    } catch {
      around.append(make("pre", { tabindex: "0" }, text));
      said.textContent = word("copyBelow");
      copy.remove();
    }
  });
  around.append(make("div", { class: "os-drill-actions" }, copy, said));
  return around;
}

function reasons(word) {
  const keys = ["whyMore", "whyCache", "whySmall", "whyDriver", "whySoftware"];
  const items = keys.map((key) => make("li", {}, word(key)));
  const judge = note(word("judge"));
  const summary = make("summary", {}, word("why"));
  const look = { class: "os-gpu-fold" };
  return make("details", look, summary, make("ul", {}, ...items), judge);
}

/** The text that the GPU is given. */
export function wgslOf(word, wgsl) {
  const text = make("pre", { tabindex: "0" }, wgsl);
  const summary = make("summary", {}, word("wgsl"));
  return make("details", { class: "os-gpu-fold" }, summary, text);
}
