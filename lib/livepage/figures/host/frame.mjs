// What stands around a picture, as HTML: title, prediction, controls, sentence, code,
// table. One source for the page before any script runs and for the live figure, so that
// nothing jumps when it wakes. No ids: one figure may stand on a page twice.

import * as kinds from "livepage/kinds";
import ui from "livepage/words.json" with { type: "json" };

import { speak } from "../../numbers.mjs";
import { button, div, element, span } from "./html.mjs";
import { escape, marked } from "./text.mjs";

/** A figure with its words in one language, English where a translation is missing; its
 *  prediction is left out unless it `asks`. */
export function spoken(figure, language, asks = true) {
  speak(language);
  const words = { ...figure.strings.en, ...figure.strings[language] };
  const spec = asks ? figure.spec : { ...figure.spec, prediction: null };
  return { ...figure, spec, words, ui: ui[language] ?? ui.en };
}

/** Everything inside <figure>; `parts`: its svg, stills, sentence, code and
 *  table. */
export function frame(spec, words, ui, parts) {
  const place = ({ kind, name }) =>
    kinds[kind].below ? "bar" : spec.below?.includes(name) ? "below" : "above";
  const inputs = (where) =>
    spec.controls
      .filter((control) => kinds[control.kind].html && place(control) === where)
      .map((control) => kinds[control.kind].html(control, words, ui));
  const name = { role: "group", "aria-label": parts.table.caption, tabindex: 0 };
  return [
    element("figcaption", "os-title", escape(words.title)),
    spec.prediction ? question(words, ui) : "",
    div("os-inputs os-locked", ...inputs("above"), presets(spec, words)),
    div("os-stage", parts.stage),
    parts.stills,
    element("p", "os-say", marked(parts.sentence)),
    element("p", { class: "os-aside", "aria-live": "polite" }),
    parts.code ? element("ol", "os-code", code(parts.code)) : "",
    spec.below ? div("os-inputs os-locked os-below", ...inputs("below")) : "",
    div("os-bar", ...inputs("bar"), tools(ui)),
    div({ class: "os-table", ...name }, table(parts.table)),
  ].join("");
}

function question(words, ui) {
  const options = words.options.map((text, i) => button(text, { "data-option": i }));
  const skip = button(ui.skip, { class: "os-skip" });
  const ask = `${span(escape(ui.predict))} ${marked(words.ask)}`;
  return element(
    "fieldset",
    "os-question",
    element("legend", {}, ask),
    div("os-options", ...options, skip),
    div(
      "os-settle",
      element("p", { class: "os-verdict", "aria-live": "polite" }),
      button(ui.show, { class: "os-proof", hidden: "" }),
      button(ui.why, { class: "os-why", hidden: "" }),
    ),
  );
}

function presets(spec, words) {
  if (spec.presets.length === 0) return "";
  const made = words.presets.map((text, i) => button(text, { "data-preset": i }));
  return div("os-presets", ...made);
}

const tools = (ui) =>
  div(
    "os-tools",
    button(ui.reset, { class: "os-reset os-locked" }),
    button(ui.table, { class: "os-as-table", "aria-expanded": "false" }),
  );

/** Lines of code, each with the value it has right now: [{ q, text, value }]. */
export function code(lines) {
  const row = ({ q, text, value, fault }) =>
    element(
      "li",
      { "data-q": q, class: fault && "fault" },
      element("code", {}, marked(text)),
      " ",
      element("samp", {}, marked(value)),
    );
  return lines.map(row).join("");
}

const LONGEST = 14; // letters of a number with its unit
const NUMBER = /^[<≈+−-]?[\d∞]/;
const isNumber = (cell) => NUMBER.test(cell) && `${cell}`.length <= LONGEST;

/** A table. Columns of numbers are set right, words left; the last cell of a short row
 *  reaches to the end. */
export function table({ caption, head, rows }) {
  const whole = rows.filter((row) => row.length === head.length);
  const looks = head.map((_, i) => {
    const column = whole.map((row) => row[i]).filter((cell) => cell !== "");
    const numbers = column.filter(isNumber).length;
    const short = column.every((cell) => `${cell}`.length <= LONGEST);
    const mostly = 2 * numbers >= column.length;
    return mostly || (numbers && short) ? null : "words"; // 32, or "refused"
  });
  const heading = (text, i) =>
    element("th", { scope: "col", class: looks[i] }, escape(text));
  const cell = (text, i, row) => {
    const span = i === row.length - 1 && head.length - i;
    if (!(span > 1)) return element("td", { class: looks[i] }, escape(text));
    return element(
      "td",
      { class: "words", colspan: `${span}` },
      element("p", {}, escape(text)),
    );
  };
  const line = (cells, draw) => element("tr", {}, ...cells.map(draw));
  return element(
    "table",
    {},
    element("caption", {}, escape(caption)),
    element("thead", {}, line(head, heading)),
    element("tbody", {}, ...rows.map((row) => line(row, cell))),
  );
}
