// What stands around a picture, as HTML: title, prediction, controls, sentence, code,
// table. One source for the page before any script runs and for the live figure, so that
// nothing jumps when it wakes. No ids: one figure may stand on a page twice.

import * as kinds from "livepage/kinds";
import ui from "livepage/words.json" with { type: "json" };

import { button, div, element, span } from "./html.mjs";
import { escape, marked } from "./text.mjs";

/** A figure with its words in one language, English where a translation is missing; its
 *  prediction is left out unless it `asks`. */
export function spoken(figure, language, asks = true) {
  const words = { ...figure.strings.en, ...figure.strings[language] };
  const spec = asks ? figure.spec : { ...figure.spec, prediction: null };
  return { ...figure, spec, words, ui: ui[language] ?? ui.en };
}

/** Everything inside <figure>; `parts`: its svg, stills, sentence, code and
 *  table. */
export function frame(spec, words, ui, parts) {
  const inputs = (below) =>
    spec.controls
      .filter(({ kind }) => kinds[kind].html && Boolean(kinds[kind].below) === below)
      .map((control) => kinds[control.kind].html(control, words, ui));
  const name = { role: "group", "aria-label": parts.table.caption, tabindex: 0 };
  return [
    element("figcaption", "os-title", escape(words.title)),
    spec.prediction ? question(words, ui) : "",
    div("os-inputs os-locked", ...inputs(false), presets(spec, words)),
    div("os-stage", parts.stage),
    parts.stills,
    element("p", "os-say", marked(parts.sentence)),
    element("p", { class: "os-aside", "aria-live": "polite" }),
    parts.code ? element("ol", "os-code", code(parts.code)) : "",
    div("os-bar", ...inputs(true), tools(ui)),
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

export function table({ caption, head, rows }) {
  const cells = (name, values, look = {}) =>
    element("tr", {}, ...values.map((value) => element(name, look, escape(value))));
  return element(
    "table",
    {},
    element("caption", {}, escape(caption)),
    element("thead", {}, cells("th", head, { scope: "col" })),
    element("tbody", {}, ...rows.map((row) => cells("td", row))),
  );
}
