// The shapes that every figure draws with. Pure strings: the same code runs on the page,
// in a notebook and in V8 while the book is built.

import { escape, RAISED } from "./text.mjs";

export const round = (x) => Math.round(x * 100) / 100;
const SHORT = {
  key: "data-key",
  q: "data-q",
  from: "data-from",
  at: "data-at",
  sway: "data-sway",
};

/**
 * One SVG element. Attributes that are null, undefined or false are left out. Five
 * names are short for data attributes the host understands (see motion.mjs and
 * drag.mjs):
 *   key   who this is, from one picture to the next: keyed elements glide
 *   q     the quantity it shows: pointing at it lights the same quantity elsewhere
 *   from  where it comes from when it enters: { height: 0, y: 100 }
 *   at    the part of the transition in which it moves: [0, 0.5]
 *   sway  that it goes a little too far and comes back to rest
 */
export function tag(name, attributes = {}, inside = "") {
  let out = `<${name}`;
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    out += ` ${SHORT[attribute] ?? attribute}="${written(attribute, value)}"`;
  }
  return inside === "" ? `${out}/>` : `${out}>${inside}</${name}>`;
}

function written(attribute, value) {
  if (attribute === "from") return Object.entries(value).map(pair).join(";");
  if (attribute === "at") return value.map(round).join(" ");
  return typeof value === "number" ? round(value) : escape(value);
}

const pair = ([name, value]) => `${name}:${round(value)}`;

// The shapes. `look` is an element's class, or all of its other attributes.
const looks = (look) => (typeof look === "string" ? { class: look } : look);
export const rect = (attributes) => tag("rect", { rx: 2, ...attributes });
export const line = (attributes) => tag("line", attributes);
/** A line at the height y, from x1 to x2. */
export const level = (y, x1, x2, look) =>
  line({ ...looks(look), x1, x2, y1: y, y2: y });
/** A line at x, from y1 to y2. */
export const upright = (x, y1, y2, look) =>
  line({ ...looks(look), x1: x, x2: x, y1, y2 });
export const circle = (cx, cy, r, look) => tag("circle", { ...looks(look), cx, cy, r });
export const label = (text, x, y, look) =>
  tag("text", { ...looks(look), x, y }, escape(text).replace(RAISED, LIFTED));
const LIFTED =
  '<tspan dy="-0.45em" font-size="78%">$1</tspan><tspan dy="0.35em">\u200b</tspan>';
export const group = (attributes, ...parts) => tag("g", attributes, parts.join(""));
