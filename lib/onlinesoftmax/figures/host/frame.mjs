// The furniture around a picture, as HTML: title, prediction, controls, sentence, code,
// table. One source for the page before any script runs and for the figure come alive,
// so that nothing jumps when it wakes. No ids: one figure may stand on a page twice.

import { escape, fill, marked, tag } from "./kit.mjs";
import ui from "./ui.json" with { type: "json" };

/** A figure with its words in one language, and without its question if it is not to ask.
 *  What is not translated stays English. */
export function spoken(figure, language, asks = true) {
  const words = { ...figure.strings.en, ...figure.strings[language] };
  const spec = asks ? figure.spec : { ...figure.spec, prediction: null };
  return { ...figure, spec, words, ui: ui[language] ?? ui.en };
}

/** An HTML element; `look` is its class or all of its attributes. */
function element(name, look, ...inside) {
  const attributes = typeof look === "string" ? { class: look } : look;
  return `${tag(name, attributes).slice(0, -2)}>${inside.join("")}</${name}>`;
}

const div = (look, ...inside) => element("div", look, ...inside);
const span = (text, look = {}) => element("span", look, text);
const input = (type, rest = {}) => tag("input", { type, ...rest });
const button = (text, look = {}) =>
  element("button", { type: "button", ...look }, marked(text));

/** Everything inside <figure>; `parts`: its svg, sentence, code and table. */
export function frame(spec, words, ui, parts) {
  const steps = spec.controls.find((control) => control.kind === "step");
  const inputs = spec.controls.filter((control) => INPUT[control.kind]);
  const made = inputs.map((control) => INPUT[control.kind](control, words, ui));
  const name = { role: "group", "aria-label": parts.table.caption, tabindex: 0 };
  return [
    element("figcaption", "os-title", escape(words.title)),
    spec.prediction ? question(words, ui) : "",
    div("os-inputs os-locked", ...made, presets(spec, words)),
    div("os-stage", parts.stage),
    element("p", "os-say", marked(parts.sentence)),
    element("p", { class: "os-aside", "aria-live": "polite" }),
    parts.code ? element("ol", "os-code", code(parts.code)) : "",
    div("os-bar", steps ? transport(steps, words, ui) : "", tools(ui)),
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
    element("p", { class: "os-verdict", "aria-live": "polite" }),
  );
}

const labelled = (control, words) => escape(words.controls[control.name]);
const ends = (c) => ({ min: `${c.low}`, max: `${c.high}`, step: `${c.step}` });
const from = (c) => ({ ...ends(c), value: `${c.default}` });
const box = (name, { name: control }, look, ...inside) =>
  element(name, { class: `os-control ${look}`, "data-control": control }, ...inside);

/** A group of inputs under one name. */
function several(control, words, look, ...inside) {
  const legend = element("legend", {}, labelled(control, words));
  return box("fieldset", control, look, legend, ...inside);
}

const radios = (values, words) =>
  div(
    {},
    ...values.map((value, i) =>
      element(
        "label",
        {},
        input("radio", { value: i }),
        span(escape(words.choices?.[value] ?? value)),
      ),
    ),
  );

/** The inputs of a control, by its kind. */
const INPUT = {
  range: (c, words) =>
    box(
      "div",
      c,
      "os-range",
      element("label", {}, span(labelled(c, words)), input("range", from(c))),
      input("number", { ...from(c), "aria-label": words.controls[c.name] }),
    ),

  choice: (c, words) => several(c, words, "os-choice", radios(c.of, words)),

  toggle: (c, words) =>
    box("label", c, "os-toggle", input("checkbox"), span(labelled(c, words))),

  row: (c, words) =>
    several(
      c,
      words,
      "os-choice os-row",
      radios(
        Array.from({ length: c.most }, (_, i) => i + 1),
        words,
      ),
      input("range", ends(c)),
      input("number", ends(c)),
    ),

  pairs: (c, words, ui) =>
    several(
      c,
      words,
      "os-pairs",
      div("os-items"),
      button(ui.undo, { class: "os-undo" }),
      button(ui.rest, { class: "os-rest" }),
    ),

  again: (c, words) =>
    button(words.controls[c.name], { class: "os-control", "data-control": c.name }),
};

function presets(spec, words) {
  if (spec.presets.length === 0) return "";
  const made = words.presets.map((text, i) => button(text, { "data-preset": i }));
  return div("os-presets", ...made);
}

function transport(control, words, ui) {
  const go = (where) => button(ui[where], { "data-go": where });
  const slider = input("range", { min: 0, max: 1, step: 1, value: 0 });
  const name = span(labelled(control, words), { class: "os-unseen" });
  return div(
    { class: "os-steps os-locked", "data-control": control.name },
    go("back"),
    go("play"),
    go("next"),
    element("label", {}, name, slider),
    element("output", {}),
  );
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

/** "{at} of {end}", for the step slider. */
export const position = (ui, at, end) => fill(ui.position, { at, end });
