// What figures and their frame write: numbers, sentences, marks. Pure strings.

import { fixed, grouped, show } from "../../numbers.mjs";

export { grouped, show };

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
export const escape = (text) => String(text).replace(/[&<>"]/g, (c) => ENTITIES[c]);

/** A number with fixed digits: a text that changes in place keeps its width. */
export const num = (x, digits = 3) => fixed(x, digits);

/** As `num`, but a whole number without digits. */
export const tidy = (x, digits = 1) => num(x, Number.isInteger(x) ? 0 : digits);

/** 0.5 as "50%". */
export const percent = (share, digits = 0) => `${num(100 * share, digits)}%`;

/** "sum {l}" with { l: "2.19" } gives "sum 2.19". */
export function fill(template, values = {}) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** One text of several such sentences; those that are empty are left out. */
export const sentences = (templates, values) =>
  templates
    .filter(Boolean)
    .map((each) => fill(each, values))
    .join(" ");

// In words and code, "[l: sum 2.19]" says: this part speaks of the quantity l; and
// "e^{s − m}" that what stands in the braces is raised.
const QUANTITY = /\[([a-z]+): ([^\]]*)\]/g;
export const RAISED = /\^\{([^}]*)\}/g;
export const plain = (text) => text.replace(QUANTITY, "$2").replace(RAISED, "^($1)");
export const marked = (text) =>
  escape(text)
    .replace(QUANTITY, '<span data-q="$1">$2</span>')
    .replace(RAISED, "<sup>$1</sup>");
