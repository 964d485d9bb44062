// What every figure draws with. Pure strings: the same code runs on the page, in a
// notebook and in V8 while the book is built.

import { escape, RAISED } from "./text.mjs";

const round = (x) => Math.round(x * 100) / 100;
const SHORT = { key: "data-key", q: "data-q", from: "data-from", at: "data-at" };

/**
 * One SVG element. Attributes that are null, undefined or false are left out. Four
 * names are short for data attributes the host understands (see motion.mjs and
 * drag.mjs):
 *   key   who this is, from one picture to the next: keyed elements glide
 *   q     the quantity it shows: pointing at it lights the same quantity elsewhere
 *   from  where it comes from when it enters: { height: 0, y: 100 }
 *   at    the part of the transition in which it moves: [0, 0.5]
 */
export function tag(name, attributes = {}, inside = "") {
  let out = `<${name}`;
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    out += ` ${SHORT[attribute] ?? attribute}="${escape(written(attribute, value))}"`;
  }
  return inside === "" ? `${out}/>` : `${out}>${inside}</${name}>`;
}

function written(attribute, value) {
  if (attribute === "from") return Object.entries(value).map(pair).join(";");
  if (attribute === "at") return value.map(round).join(" ");
  return typeof value === "number" ? round(value) : value;
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

/**
 * A ring to drag along an axis, at (x, y): a wide quiet target and two small arrows.
 * `low` and `high` are where, along the axis, the control's ends lie; `item` says which
 * number of a row it moves, `bend` that the axis is drawn as asinh(value / bend).
 */
export function handle({ control, item, axis, x, y, low, high, bend }) {
  const drag = {
    "data-drag": control,
    "data-item": item,
    "data-axis": axis,
    "data-low": low,
    "data-high": high,
    "data-bend": bend,
  };
  const where = {
    key: `${control}${item ?? ""}-handle`,
    transform: `translate(${round(x)} ${round(y)})`,
  };
  const arrows = "M-3.5 -2.5l3.5 -3.5l3.5 3.5M-3.5 2.5l3.5 3.5l3.5 -3.5";
  return group(
    { class: "os-handle", "data-place": axis === "x" ? x : y, ...drag, ...where },
    tag("circle", { class: "target", r: 22 }),
    tag("circle", { class: "ring", r: 11 }),
    tag("path", {
      class: "arrows",
      d: arrows,
      transform: axis === "x" && "rotate(90)",
    }),
  );
}

/** From a value to its place in a picture: `least` stands at `from`, `most` at `to`. */
export const scale = (least, most, from, to) => (value) =>
  from + ((value - least) / (most - least || 1)) * (to - from);

/** Numbers in [0, 1) that look drawn at random, the same from the same seed: Mulberry32. */
export function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** The whole picture. `glide` is how long, in ms, its explaining transition takes. */
export function picture({ width, height, title, glide = 400 }, parts) {
  const frame = { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title };
  return tag("svg", { ...frame, "data-glide": glide }, parts.flat(Infinity).join(""));
}
