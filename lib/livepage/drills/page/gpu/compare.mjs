// What a kernel wrote, against what is right.

export const CLOSE = 1e-4; // float32, in whatever order a kernel adds

const known = { inf: Infinity, "-inf": -Infinity, nan: NaN };

/** A number of a drill's case: JSON knows no infinity, so some come as words. */
export const number = (x) => (typeof x === "number" ? x : known[x]);

export const flat = (list) =>
  Array.isArray(list) ? list.flatMap(flat) : [number(list)];

export const shapeOf = (list) =>
  Array.isArray(list) ? [list.length, ...shapeOf(list[0])] : [];

/** How far numbers are off, large ones in proportion; NaN is infinitely far off. */
export function distance(mine, right) {
  let worst = 0;
  right.forEach((x, i) => {
    const off = mine[i] === x ? 0 : Math.abs(mine[i] - x) / Math.max(1, Math.abs(x));
    worst = Math.max(worst, Number.isNaN(off) ? Infinity : off);
  });
  return worst;
}
