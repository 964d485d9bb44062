// What every figure draws with. Pure strings: the same code runs on the page, in a
// notebook and in V8 while the book is built.

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
export const escape = (text) => String(text).replace(/[&<>"]/g, (c) => ENTITIES[c]);

/** A number as the book prints it: fixed digits, a true minus, −∞ by its sign. */
export function num(x, digits = 3) {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x < 0 ? "−∞" : "∞";
  const fixed = x.toFixed(digits);
  return (Number(fixed) === 0 ? fixed.replace("-", "") : fixed).replace("-", "−");
}

/** "sum {l}" with { l: "2.19" } gives "sum 2.19". */
export function fill(template, values = {}) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

// In words and code, "[l: sum 2.19]" says: this part speaks of the quantity l; and
// "e^{s − m}" that what stands in the braces is raised.
const QUANTITY = /\[([a-z]+): ([^\]]*)\]/g;
const RAISED = /\^\{([^}]*)\}/g;
export const plain = (text) => text.replace(QUANTITY, "$2").replace(RAISED, "^($1)");
export const marked = (text) =>
  escape(text)
    .replace(QUANTITY, '<span data-q="$1">$2</span>')
    .replace(RAISED, "<sup>$1</sup>");

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

export const rect = (attributes) => tag("rect", { rx: 2, ...attributes });
export const line = (attributes) => tag("line", attributes);
export const label = (text, attributes) =>
  tag("text", attributes, escape(text).replace(RAISED, LIFTED));
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

/** The whole picture. `glide` is how long, in ms, its explaining transition takes. */
export function picture({ width, height, title, glide = 400 }, parts) {
  const frame = { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title };
  return tag("svg", { ...frame, "data-glide": glide }, parts.flat(Infinity).join(""));
}
