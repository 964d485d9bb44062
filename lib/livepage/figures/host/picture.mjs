// A picture as a whole: its frame, its scales, what can be dragged and what fades in.

import { group, round, tag } from "./shapes.mjs";

/** How an element fades in, in the part `at` of the transition, if `moving`. */
export const fading = (at, moving) => ({
  opacity: 1,
  at,
  from: moving && { opacity: 0 },
});

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
