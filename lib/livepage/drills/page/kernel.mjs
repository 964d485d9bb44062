// What only kernels have: a score card, and a log for the figures.

import { button, download } from "./progress.mjs";
import { make, sentence } from "./words.mjs";

const KERNEL_EVENT = "os-kernel";

/** Hand the log of a run to the figures of the page, also to those that open later. */
export function announceKernel(drill, source, log) {
  if (!log) return;
  const detail = { drill, source, log };
  globalThis.livepageKernel = detail;
  document.dispatchEvent(new CustomEvent(KERNEL_EVENT, { detail }));
}

/** The card in the page, and a button that saves a page with card and code. */
export function scoreCard(drill, score) {
  const { word } = drill;
  const rows = score.rows.map(([name, key, slots]) => [
    word(name),
    sentence(word, key, slots),
  ]);
  const body = make("tbody", {}, ...tableRows(rows));
  const caption = make("caption", {}, word("score"));
  const look = "os-drill-table os-drill-score";
  const table = make("table", { class: look }, caption, body);
  const counted = word("scoreOn", { name: score.case });
  const on = make("p", { class: "os-drill-how" }, counted);
  const keep = button(word("keep"), () => save(drill, rows, score.case));
  const actions = make("div", { class: "os-drill-actions" }, keep);
  return make("div", { class: "os-drill-card" }, table, on, actions);
}

const tableRows = (rows) =>
  rows.map(([name, value]) =>
    make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value)),
  );

/** A page of its own, with no script in it: what was asked, the card, the code. */
function save(drill, rows, name) {
  const { word } = drill;
  const kept = document.implementation.createHTMLDocument(word("score"));
  kept.documentElement.lang = word.language;
  const prompt = inWords(drill.section.querySelector(".os-drill-prompt"));
  const date = new Date().toLocaleDateString(word("dates"), { dateStyle: "long" });
  const book = document.querySelector("[property='og:site_name']")?.content ?? "";
  const note = word("keepNote", { book, date }).replaceAll("*", "");
  kept.body.append(
    make("h1", {}, word("score")),
    make("p", {}, prompt),
    make("table", {}, ...tableRows(rows)),
    make("p", {}, word("scoreOn", { name })),
    make("pre", {}, drill.read()),
    make("p", {}, note),
  );
  // Put together as text: the policy of this page forbids to make a style element.
  const whole = kept.documentElement.outerHTML.replace("<head>", `<head>${KEPT_HEAD}`);
  const html = `<!doctype html>\n${whole}\n`;
  download(`${drill.id}.html`, new Blob([html], { type: "text/html" }));
}

/** A text with its formulas as they are written, since the page kept has no fonts. */
function inWords(element) {
  const copy = element.cloneNode(true);
  for (const formula of copy.querySelectorAll(".katex")) {
    formula.replaceWith(formula.querySelector("annotation")?.textContent ?? "");
  }
  return copy.textContent.trim().replace(/\s+/g, " ");
}

const KEPT_HEAD = `<meta charset="utf-8"><style>
body { font: 1rem/1.5 Georgia, serif; max-width: 42rem; margin: 2rem auto;
  padding: 0 1rem }
table { border-collapse: collapse }
th, td { text-align: left; padding: .3rem 1rem .3rem 0; border-bottom: 1px solid }
th { font-weight: normal }
pre { font: .85rem/1.5 monospace; white-space: pre-wrap }
</style>`;
