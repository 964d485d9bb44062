// HTML as text: elements, and what the inputs of controls are made of. The still and the
// live figure get the same.

import { tag } from "./shapes.mjs";
import { escape, marked } from "./text.mjs";

/** An HTML element; `look` is its class or all of its attributes. */
export function element(name, look, ...inside) {
  const attributes = typeof look === "string" ? { class: look } : look;
  return `${tag(name, attributes).slice(0, -2)}>${inside.join("")}</${name}>`;
}

export const div = (look, ...inside) => element("div", look, ...inside);
export const span = (text, look = {}) => element("span", look, text);
export const input = (type, rest = {}) => tag("input", { type, ...rest });
export const button = (text, look = {}) =>
  element("button", { type: "button", ...look }, marked(text));

/** What a control is called. */
export const labelled = (control, words) => escape(words.controls[control.name]);

/** The attributes of an input for a number. */
export const ends = (c) => ({ min: `${c.low}`, max: `${c.high}`, step: `${c.step}` });

/** The element around the input of a control. */
export const box = (name, { name: control }, look, ...inside) =>
  element(name, { class: `os-control ${look}`, "data-control": control }, ...inside);

/** Where an input says why it does not take what was typed. */
export const complaint = element("p", { class: "os-complaint", role: "alert" });

/** A group of inputs under one name. */
export function several(control, words, look, ...inside) {
  const legend = element("legend", {}, labelled(control, words));
  return box("fieldset", control, look, legend, ...inside);
}

/** A radio button for each value. */
export function radios(values, words) {
  const name = (value) => span(escape(words.choices?.[value] ?? value));
  const made = values.map((value, i) =>
    element("label", {}, input("radio", { value: i }), name(value)),
  );
  return div({}, ...made);
}
