// The furniture around a picture, as HTML: title, prediction, controls, sentence, code,
// table. One source for the page before any script runs and for the figure come alive, so
// that nothing jumps when it wakes. No ids: one figure may stand on a page twice.

import { escape, fill, marked } from "./kit.mjs";
import ui from "./ui.json" with { type: "json" };

/** A figure with its words in one language; what is not translated stays English. */
export function spoken(figure, language) {
  const words = { ...figure.strings.en, ...figure.strings[language] };
  return { ...figure, words, ui: ui[language] ?? ui.en };
}

/** Everything inside <figure>: `parts` are the ready-made svg, sentence, code, table. */
export function frame(spec, words, ui, parts) {
  const steps = spec.controls.find((control) => control.kind === "step");
  const inputs = spec.controls.filter((control) => INPUT[control.kind]);
  return [
    `<figcaption class="os-title">${escape(words.title)}</figcaption>`,
    spec.prediction ? question(words, ui) : "",
    `<div class="os-inputs os-locked">${inputs.map((c) => INPUT[c.kind](c, words, ui)).join("")}${presets(spec, words)}</div>`,
    `<div class="os-stage">${parts.stage}</div>`,
    `<p class="os-say">${marked(parts.sentence)}</p>`,
    `<p class="os-aside" aria-live="polite"></p>`,
    parts.code ? `<ol class="os-code">${code(parts.code)}</ol>` : "",
    `<div class="os-bar">${steps ? transport(steps, words, ui) : ""}${tools(ui)}</div>`,
    `<div class="os-table" role="group" aria-label="${escape(parts.table.caption)}" tabindex="0">
      ${table(parts.table)}</div>`,
  ].join("");
}

function question(words, ui) {
  const option = (text, i) => `<button type="button" data-option="${i}">${marked(text)}</button>`;
  return `<fieldset class="os-question"><legend><span>${escape(ui.predict)}</span> ${marked(words.ask)}</legend>
    <div class="os-options">${words.options.map(option).join("")}
      <button type="button" class="os-skip">${escape(ui.skip)}</button></div>
    <p class="os-verdict" aria-live="polite"></p></fieldset>`;
}

const name = (control, words) => escape(words.controls[control.name]);

const INPUT = {
  range: (c, words) => `<div class="os-control" data-control="${c.name}">
    <label><span>${name(c, words)}</span>${slider(c)}</label>
    <input type="number" min="${c.low}" max="${c.high}" step="${c.step}" value="${c.default}" aria-label="${name(c, words)}"></div>`,
  choice: (c, words) => `<fieldset class="os-control os-choice" data-control="${c.name}">
    <legend>${name(c, words)}</legend><div>${c.of.map((value, i) => radio(value, i, words)).join("")}</div></fieldset>`,
  toggle: (c, words) => `<label class="os-control os-toggle" data-control="${c.name}">
    <input type="checkbox"><span>${name(c, words)}</span></label>`,
  row: (c, words) => `<fieldset class="os-control os-choice os-row" data-control="${c.name}">
    <legend>${name(c, words)}</legend><div>${Array.from({ length: c.most }, (_, i) => radio(i + 1, i, words)).join("")}</div>
    <input type="range" min="${c.low}" max="${c.high}" step="${c.step}">
    <input type="number" min="${c.low}" max="${c.high}" step="${c.step}"></fieldset>`,
  pairs: (c, words, ui) => `<fieldset class="os-control os-pairs" data-control="${c.name}">
    <legend>${name(c, words)}</legend><div class="os-items"></div>
    <button type="button" class="os-undo">${escape(ui.undo)}</button>
    <button type="button" class="os-rest">${escape(ui.rest)}</button></fieldset>`,
  again: (c, words) =>
    `<button type="button" class="os-control" data-control="${c.name}">${name(c, words)}</button>`,
};

function presets(spec, words) {
  if (spec.presets.length === 0) return "";
  const button = (name, i) => `<button type="button" data-preset="${i}">${escape(name)}</button>`;
  return `<div class="os-presets">${words.presets.map(button).join("")}</div>`;
}

const slider = (c) =>
  `<input type="range" min="${c.low}" max="${c.high}" step="${c.step}" value="${c.default}">`;

const radio = (value, i, words) =>
  `<label><input type="radio" value="${i}"><span>${escape(words.choices?.[value] ?? value)}</span></label>`;

function transport(control, words, ui) {
  const button = (go, text) => `<button type="button" data-go="${go}">${escape(text)}</button>`;
  return `<div class="os-steps os-locked" data-control="${control.name}">
    ${button("back", ui.back)}${button("play", ui.play)}${button("next", ui.next)}
    <label><span class="os-unseen">${name(control, words)}</span>
    <input type="range" min="0" max="1" step="1" value="0"></label><output></output></div>`;
}

const tools = (ui) => `<div class="os-tools">
  <button type="button" class="os-reset os-locked">${escape(ui.reset)}</button>
  <button type="button" class="os-as-table" aria-expanded="false">${escape(ui.table)}</button></div>`;

/** Lines of code, each with the value it has right now: [{ q, text, value }]. */
export const code = (lines) => lines.map(({ q, text, value, fault }) =>
  `<li data-q="${q}"${fault ? ' class="fault"' : ""}><code>${marked(text)}</code> <samp>${marked(value)}</samp></li>`).join("");

export function table({ caption, head, rows }) {
  const cell = (tag, scope = "") => (value) => `<${tag}${scope}>${escape(value)}</${tag}>`;
  const body = rows.map((row) => `<tr>${row.map(cell("td")).join("")}</tr>`).join("");
  return `<table><caption>${escape(caption)}</caption>
    <thead><tr>${head.map(cell("th", ' scope="col"')).join("")}</tr></thead><tbody>${body}</tbody></table>`;
}

/** "{at} of {end}", for the step slider. */
export const position = (ui, at, end) => fill(ui.position, { at, end });
